"""The study of theta and lambda of PABO: its numbers, and the tables and figures of its page.

`make studies` runs it; `python -m studies.bounce --page` runs nothing and takes the committed CSV.
"""

from studies import common
from studies.bounce import figures
from studies.bounce.numbers import ALL, BOUNCING, ENTROPY, QCT, REFERENCES, SHORT, STUDY, Case, Plan, Row, run
from studies.common import Page, asked, less, lines, value, written

Cells = common.Cells[Case]


HEADS = {
    SHORT: "FCT p99, up to 100 KB (ms)",
    ALL: "FCT p99, all (ms)",
    QCT: "QCT mean (ms)",
    ENTROPY: "entropy (nat)",
    "drop_ratio": "lost (%)",
    "timeouts": "timeouts",
}
COMPARED = {SHORT: REFERENCES, QCT: REFERENCES, ALL: ("dctcp_k32",)}
NAMES = {
    "drop": "drop",
    "dctcp_k32": "DCTCP",
    "dctcp_k32_rto_1ms": "DCTCP (RTO 1 ms)",
    "dctcp_k32_shared": "DCTCP (shared)",
}
TOLD = {SHORT: "FCT p99 up to 100 KB", QCT: "QCT mean", ALL: "FCT p99 of all"}


def values(first: str, cells: Cells) -> str:
    """Table of means."""
    body = ([name, *(value(by_metric[one]) for one in HEADS)] for name, by_metric in cells.items())
    return written([first, *HEADS.values()], body)


def differences(first: str, cells: Cells) -> str:
    """Table of paired differences in ms."""
    pairs = [(metric, reference) for metric, names in COMPARED.items() for reference in names]
    heads = (f"{TOLD[metric]} minus {NAMES[reference]}" for metric, reference in pairs)
    body = ([name, *(less(cell[metric], one) for metric, one in pairs)] for name, cell in cells.items())
    return written([first, *heads], body)


def tables(found: list[Row]) -> dict[str, str]:
    """Returns every table of the page by its name."""
    grid = [row for row in found if row.case.series == "grid"]
    made: dict[str, tuple[str, Cells]] = {}
    for variant in BOUNCING:
        chosen = [row for row in grid if row.case.variant == variant]
        made[variant] = ("θ, λ", lines(chosen, lambda row: f"{row.case.theta}, {row.case.lambda_}"))
    loads = [row for row in found if row.case.series == "load"]
    for load in dict.fromkeys(row.case.load for row in loads):
        chosen = [row for row in loads if row.case.load == load]
        made[f"load {load}"] = ("variant", lines(chosen, lambda row: f"`{row.case.variant}`"))
    told = {name: values(*one) for name, one in made.items()}
    return told | {f"{name}, differences": differences(*one) for name, one in made.items()}


def main(arguments: list[str] | None = None) -> None:
    """Runs what the store lacks, then writes the CSV file, the tables and the figures."""
    given = asked("bounce", __doc__, arguments)
    page = Page("bounce", STUDY, tables, figures.draw)
    page.publish(None if given.page else lambda: run(Plan(jobs=given.jobs), given.out))


if __name__ == "__main__":
    main()
