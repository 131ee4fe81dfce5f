"""Study of packet trimming and its queues: numbers, tables and figures of the page.

`make studies` runs it; `python -m studies.trim --page` runs nothing and takes the committed CSV.
"""

from collections.abc import Iterable, Sequence

from studies import common
from studies.common import Page, format_table, format_value, index_by_case, parse_arguments
from studies.trim import figures
from studies.trim.numbers import (
    BACKGROUND,
    BACKGROUND_TAIL,
    MAIN_VARIANTS,
    QCT,
    QCT_TAIL,
    STUDY,
    UNNOTIFIED_TRIMS,
    Case,
    Plan,
    Row,
    Rows,
    base_variant,
    relative_difference,
    run_study,
)

TIME_NAMES = {
    QCT: "QCT median",
    QCT_TAIL: "QCT p99",
    BACKGROUND: "background FCT mean",
    BACKGROUND_TAIL: "background FCT p99",
}
COUNT_METRICS = {
    "trims": "cut",
    UNNOTIFIED_TRIMS: "cuts without a PACK",
    "drops": "lost",
    "timeouts": "timeouts",
    "retransmits": "retransmissions",
}
COMPARED_METRICS = {**TIME_NAMES, "trims": "cut", "timeouts": "timeouts"}
SINGLE_CHANGE_METRICS = {one: name for one, name in COMPARED_METRICS.items() if one != BACKGROUND_TAIL}
VARIANT_PAIRS = (
    ("cp", "dctcp"),
    ("strict", "dctcp"),
    ("strict", "cp"),
    ("quarter", "strict"),
    ("quarter", "cp"),
)


def distinct_configurations(found: Iterable[Row]) -> list[Case]:
    """Returns every configuration without its variant.

    The order is by rate; then the points with degree 32, by buffer; then the others.
    """
    every = dict.fromkeys(Case(*row.case.point, "") for row in found)
    return sorted(every, key=lambda at: (int(at.rate), at.degree != "32", int(at.buffer), int(at.degree)))


def point_cells(at: Case) -> list[str]:
    """Formats a configuration as the first cells of a table line."""
    return [f"{at.rate} Gb/s", f"{at.buffer} KB", at.degree]


COLUMN_HEADS = ["links", "memory for each Gb/s", "senders"]


def format_relative_difference(rows: Rows, case: Case, metric: str, name: str) -> str:
    """Formats a difference from a reference in percent."""
    return common.format_percent(relative_difference(rows, case, metric, name))


def difference_table(found: Sequence[Row], variant: str, name: str) -> str:
    """Table of a variant's difference from a reference in each configuration, in percent of the reference."""
    rows = index_by_case(found)
    body = [
        [
            *point_cells(at),
            *(
                format_relative_difference(rows, Case(*at.point, variant), one, name)
                for one in COMPARED_METRICS
            ),
        ]
        for at in distinct_configurations(found)
    ]
    return format_table([*COLUMN_HEADS, *(f"{one} (%)" for one in COMPARED_METRICS.values())], body)


def mean_table(found: Sequence[Row], metric: str) -> str:
    """Table of a metric for each main variant in each configuration."""
    rows = index_by_case(found)
    body = []
    for at in distinct_configurations(found):
        there = (rows.get((Case(*at.point, name), metric)) for name in MAIN_VARIANTS)
        body.append([*point_cells(at), *("–" if one is None else format_value(one) for one in there)])
    return format_table([*COLUMN_HEADS, *(f"`{name}`" for name in MAIN_VARIANTS)], body)


def single_change_table(found: Sequence[Row], at: Case) -> str:
    """Table of single-change variants' differences from the variants they change, in one configuration."""
    rows = index_by_case(found)
    here = dict.fromkeys(row.case.variant for row in found if row.case.point == at.point)
    body = []
    for variant in (name for name in here if name not in MAIN_VARIANTS):
        case, of = Case(*at.point, variant), base_variant(variant)
        there = (rows.get((case, one)) for one in (QCT, QCT_TAIL, "unfinished_flows"))
        row = [f"`{variant}`", f"`{of}`", *("–" if one is None else format_value(one) for one in there)]
        row += [format_relative_difference(rows, case, one, of) for one in SINGLE_CHANGE_METRICS]
        body.append([*row, *(format_relative_difference(rows, case, one, "twin") for one in (QCT, QCT_TAIL))])
    heads = ["aside", "compared with", "QCT median (ms)", "QCT p99 (ms)", "unfinished flows"]
    heads += [f"{one} (%)" for one in SINGLE_CHANGE_METRICS.values()]
    heads += [f"{one} minus that of the aside of `cp` (%)" for one in ("QCT median", "QCT p99")]
    return format_table(heads, body)


def tables(found: Sequence[Row]) -> dict[str, str]:
    """Returns every table of the study's page by its name."""
    made = {
        f"{variant} less {name}": difference_table(found, variant, name) for variant, name in VARIANT_PAIRS
    }
    made |= {str(metric): mean_table(found, metric) for metric in (*TIME_NAMES, *COUNT_METRICS)}
    for at in distinct_configurations(found):
        if any(row.case.point == at.point and row.case.variant not in MAIN_VARIANTS for row in found):
            made[f"asides, {' '.join(at.point)}"] = single_change_table(found, at)
    return made


def main(arguments: list[str] | None = None) -> None:
    """Performs the missing runs of the study, then writes its CSV file, tables and figures."""
    given = parse_arguments("trim", __doc__, arguments)
    page = Page("trim", STUDY, tables, figures.draw)
    page.publish(None if given.page else lambda: run_study(Plan(jobs=given.jobs), given.out))


if __name__ == "__main__":
    main()
