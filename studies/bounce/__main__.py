"""Study of PABO's parameters theta and lambda: numbers, tables and figures of the page.

`make studies` runs it; `python -m studies.bounce --page` runs nothing and takes the committed CSV.
"""

from studies import common
from studies.bounce import figures
from studies.bounce.numbers import (
    ALL_FCT,
    BOUNCING_VARIANTS,
    ENTROPY,
    QCT,
    REFERENCES,
    SHORT_FCT,
    STUDY,
    Case,
    Plan,
    Row,
    run_study,
)
from studies.common import (
    Page,
    format_difference,
    format_table,
    format_value,
    group_by_label,
    parse_arguments,
)

Cells = common.Cells[Case]


COLUMN_HEADS = {
    SHORT_FCT: "FCT p99, up to 100 KB (ms)",
    ALL_FCT: "FCT p99, all (ms)",
    QCT: "QCT mean (ms)",
    ENTROPY: "entropy (nat)",
    "drop_ratio": "lost (%)",
    "timeouts": "timeouts",
}
REFERENCES_BY_METRIC = {SHORT_FCT: REFERENCES, QCT: REFERENCES, ALL_FCT: ("dctcp_k32",)}
REFERENCE_NAMES = {
    "drop": "drop",
    "dctcp_k32": "DCTCP",
    "dctcp_k32_rto_1ms": "DCTCP (RTO 1 ms)",
    "dctcp_k32_shared": "DCTCP (shared)",
}
METRIC_NAMES = {SHORT_FCT: "FCT p99 up to 100 KB", QCT: "QCT mean", ALL_FCT: "FCT p99 of all"}


def mean_table(first: str, cells: Cells) -> str:
    """Table of the means of several metrics, one line for each configuration."""
    body = (
        [name, *(format_value(by_metric[one]) for one in COLUMN_HEADS)] for name, by_metric in cells.items()
    )
    return format_table([first, *COLUMN_HEADS.values()], body)


def difference_table(first: str, cells: Cells) -> str:
    """Table of paired differences from the references in ms, one line for each configuration."""
    pairs = [(metric, reference) for metric, names in REFERENCES_BY_METRIC.items() for reference in names]
    heads = (f"{METRIC_NAMES[metric]} minus {REFERENCE_NAMES[reference]}" for metric, reference in pairs)
    body = (
        [name, *(format_difference(cell[metric], one) for metric, one in pairs)]
        for name, cell in cells.items()
    )
    return format_table([first, *heads], body)


def tables(found: list[Row]) -> dict[str, str]:
    """Returns every table of the study's page by its name."""
    grid = [row for row in found if row.case.series == "grid"]
    made: dict[str, tuple[str, Cells]] = {}
    for variant in BOUNCING_VARIANTS:
        chosen = [row for row in grid if row.case.variant == variant]
        made[variant] = ("θ, λ", group_by_label(chosen, lambda row: f"{row.case.theta}, {row.case.lambda_}"))
    loads = [row for row in found if row.case.series == "load"]
    for load in dict.fromkeys(row.case.load for row in loads):
        chosen = [row for row in loads if row.case.load == load]
        made[f"load {load}"] = ("variant", group_by_label(chosen, lambda row: f"`{row.case.variant}`"))
    told = {name: mean_table(*one) for name, one in made.items()}
    return told | {f"{name}, differences": difference_table(*one) for name, one in made.items()}


def main(arguments: list[str] | None = None) -> None:
    """Performs the missing runs of the study, then writes its CSV file, tables and figures."""
    given = parse_arguments("bounce", __doc__, arguments)
    page = Page("bounce", STUDY, tables, figures.draw)
    page.publish(None if given.page else lambda: run_study(Plan(jobs=given.jobs), given.out))


if __name__ == "__main__":
    main()
