"""Study of PAUSE and PFC compared with DIBS: numbers, tables and figures of the page.

`make studies` runs it; `python -m studies.pause --page` runs nothing and takes the committed CSV.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from overspill import Key
from studies import common
from studies.common import format_number, format_table, parse_arguments
from studies.pause import figures
from studies.pause.numbers import (
    REFERENCES,
    SHORT_MEAN,
    SHORT_P99,
    SINGLE_CHANGES,
    TIERS,
    Plan,
    Row,
    read_rows,
    run_study,
    write_rows,
)

COLUMN_HEADS: dict[str, str] = {
    "qct_mean": "QCT mean (ms)",
    "qct_p99": "QCT p99 (ms)",
    SHORT_MEAN: "short FCT mean (ms)",
    SHORT_P99: "short FCT p99 (ms)",
    "drops": "lost packets",
    Key("drops", traffic="background"): "lost background packets",
    "timeouts": "timeouts",
    "detoured_share": "detoured packets (%)",
}
PAUSE_COLUMN_HEADS: dict[str, str] = {
    **{Key("paused_fraction_mean", tier=tier): f"{tier} ports paused (%)" for tier in TIERS},
    "pause_length_mean": "mean pause (ms)",
    "saturation_depth_mean": "depth, mean (links)",
    "saturation_depth_max": "depth, max (links)",
    "saturation_hosts_mean": "hosts, mean",
    "saturation_hosts_max": "hosts, max",
}
COMPARED_METRICS = {"qct_mean": "QCT mean", SHORT_MEAN: "short FCT mean"}
Cells = dict[str, dict[str, Row]]  # variant, metric

HERE = Path(__file__).parent


def format_value(row: Row | None) -> str:
    """Formats a mean with its interval: `4.1 (3.9 to 4.3)`."""
    if row is None:
        return "–"
    if not row.high:
        return "0"
    ends = (format_number(max(0.0, one) * row.display_factor) for one in (row.low, row.high))
    return f"{format_number(row.mean * row.display_factor)} ({' to '.join(ends)})"


def format_difference(row: Row, reference: str) -> str:
    """Formats a difference with its interval, in bold if the interval excludes 0."""
    found = row.differences.get(reference)
    if found is None:
        return "–"
    mean, low, high = (one * row.display_factor for one in found)
    mark = "**" if row.differs(reference) else ""
    half = (high - low) / 2
    return f"{mark}{'+' if mean > 0 else ''}{format_number(mean)}{mark} ± {format_number(half)}"


def tables(found: Iterable[Row]) -> dict[str, str]:
    """Returns every table of the study's page by its name."""
    by_rate: dict[str, Cells] = {}
    for row in found:
        aside = row.case.variant in SINGLE_CHANGES
        name = f"asides {row.case.qps}" if aside else row.case.qps
        by_rate.setdefault(name, {}).setdefault(row.case.variant, {})[row.metric] = row
    made = {}
    for rate, cells in by_rate.items():
        paused = {name: metrics for name, metrics in cells.items() if "pause_length_mean" in metrics}
        made[rate] = mean_table(COLUMN_HEADS, cells)
        made[f"{rate}, differences"] = difference_table(cells)
        if paused:
            made[f"{rate}, pauses"] = mean_table(PAUSE_COLUMN_HEADS, paused)
    return made


def mean_table(heads: Mapping[str, str], cells: Cells) -> str:
    """Table of the means of several metrics, one line for each variant."""
    body = (
        [f"`{name}`", *(format_value(metrics.get(one)) for one in heads)] for name, metrics in cells.items()
    )
    return format_table(["variant", *heads.values()], body)


def difference_table(cells: Cells) -> str:
    """Table of paired differences from the references in ms, one line for each variant."""
    pairs = [(metric, reference) for metric in COMPARED_METRICS for reference in REFERENCES]
    heads = (f"{COMPARED_METRICS[metric]} minus `{reference}` (ms)" for metric, reference in pairs)
    rows = {name: metrics for name, metrics in cells.items() if metrics["qct_mean"].differences}
    body = (
        [f"`{name}`", *(format_difference(metrics[one], other) for one, other in pairs)]
        for name, metrics in rows.items()
    )
    return format_table(["variant", *heads], body)


def insert_tables(text: str, made: Mapping[str, str]) -> str:
    """Inserts tables into the text of the page; tables without markers are only in the CSV file."""
    return common.insert_tables(
        text, {name: body for name, body in made.items() if f"<!-- {name} -->\n" in text}
    )


def main(arguments: list[str] | None = None) -> None:
    """Performs the missing runs of the study, then writes its CSV file, tables and figures."""
    given = parse_arguments("pause", __doc__, arguments)
    numbers, page = HERE / common.NUMBERS_FILE, HERE / "README.md"
    if not given.page:
        write_rows(run_study(Plan(jobs=given.jobs), given.out), numbers)
        print(figures.draw_saturation_trees(HERE / "images/tree.png", given.jobs))
    found = read_rows(numbers)
    page.write_text(insert_tables(page.read_text(encoding="utf-8"), tables(found)), encoding="utf-8")
    for path in figures.draw(found, HERE / "images"):
        print(path)


if __name__ == "__main__":
    main()
