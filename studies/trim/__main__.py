"""The study of cut packets and their queues: its numbers, and the tables and figures of its page.

`make studies` runs it; `python -m studies.trim --page` runs nothing and takes the committed CSV.
"""

from collections.abc import Iterable, Sequence

from studies import common
from studies.common import Page, asked, by_case, value, written
from studies.trim import figures
from studies.trim.numbers import (
    BACKGROUND,
    BACKGROUND_TAIL,
    MAIN,
    QCT,
    QCT_TAIL,
    STUDY,
    UNHEARD,
    Case,
    Plan,
    Row,
    Rows,
    own,
    relative_difference,
    run,
)

TIMES = {
    QCT: "QCT median",
    QCT_TAIL: "QCT p99",
    BACKGROUND: "background FCT mean",
    BACKGROUND_TAIL: "background FCT p99",
}
COUNTS = {
    "trims": "cut",
    UNHEARD: "cuts without a PACK",
    "drops": "lost",
    "timeouts": "timeouts",
    "retransmits": "retransmissions",
}
COMPARED = {**TIMES, "trims": "cut", "timeouts": "timeouts"}
CHANGED = {one: name for one, name in COMPARED.items() if one != BACKGROUND_TAIL}
PAIRS = (
    ("cp", "dctcp"),
    ("strict", "dctcp"),
    ("strict", "cp"),
    ("quarter", "strict"),
    ("quarter", "cp"),
)


def points(found: Iterable[Row]) -> list[Case]:
    """Returns every point as a case without a variant.

    The order is by rate; then the points with degree 32, by buffer; then the others.
    """
    every = dict.fromkeys(Case(*row.case.point, "") for row in found)
    return sorted(every, key=lambda at: (int(at.rate), at.degree != "32", int(at.buffer), int(at.degree)))


def place_of(at: Case) -> list[str]:
    """Formats a point as the first cells of a table's line."""
    return [f"{at.rate} Gb/s", f"{at.buffer} KB", at.degree]


HEADS = ["links", "memory for each Gb/s", "degree"]


def percent(rows: Rows, case: Case, metric: str, name: str) -> str:
    """Formats a difference in percent."""
    return common.percent(relative_difference(rows, case, metric, name))


def differences(found: Sequence[Row], variant: str, name: str) -> str:
    """Table of a variant's differences from a reference at every point, in percent of the reference."""
    rows = by_case(found)
    body = [
        [
            *place_of(at),
            *(percent(rows, Case(*at.point, variant), one, name) for one in COMPARED),
        ]
        for at in points(found)
    ]
    return written([*HEADS, *(f"{one} (%)" for one in COMPARED.values())], body)


def means(found: Sequence[Row], metric: str) -> str:
    """Table of a metric for each main variant at every point."""
    rows = by_case(found)
    body = []
    for at in points(found):
        there = (rows.get((Case(*at.point, name), metric)) for name in MAIN)
        body.append([*place_of(at), *("–" if one is None else value(one) for one in there)])
    return written([*HEADS, *(f"`{name}`" for name in MAIN)], body)


def asides(found: Sequence[Row], at: Case) -> str:
    """Table of each aside's differences from the variant of which it changes one thing, at a point."""
    rows = by_case(found)
    here = dict.fromkeys(row.case.variant for row in found if row.case.point == at.point)
    body = []
    for variant in (name for name in here if name not in MAIN):
        case, of = Case(*at.point, variant), own(variant)
        there = (rows.get((case, one)) for one in (QCT, QCT_TAIL, "unfinished_flows"))
        row = [f"`{variant}`", f"`{of}`", *("–" if one is None else value(one) for one in there)]
        row += [percent(rows, case, one, of) for one in CHANGED]
        body.append([*row, *(percent(rows, case, one, "twin") for one in (QCT, QCT_TAIL))])
    heads = ["aside", "compared with", "QCT median (ms)", "QCT p99 (ms)", "unfinished flows"]
    heads += [f"{one} (%)" for one in CHANGED.values()]
    return written([*heads, "QCT median minus that of `cp` (%)", "QCT p99 minus that of `cp` (%)"], body)


def tables(found: Sequence[Row]) -> dict[str, str]:
    """Returns every table of the page by its name."""
    made = {f"{variant} less {name}": differences(found, variant, name) for variant, name in PAIRS}
    made |= {str(metric): means(found, metric) for metric in (*TIMES, *COUNTS)}
    for at in points(found):
        if any(row.case.point == at.point and row.case.variant not in MAIN for row in found):
            made[f"asides, {' '.join(at.point)}"] = asides(found, at)
    return made


def main(arguments: list[str] | None = None) -> None:
    """Runs what the store lacks, then writes the CSV file, the tables and the figures."""
    given = asked("trim", __doc__, arguments)
    page = Page("trim", STUDY, tables, figures.draw)
    page.publish(None if given.page else lambda: run(Plan(jobs=given.jobs), given.out))


if __name__ == "__main__":
    main()
