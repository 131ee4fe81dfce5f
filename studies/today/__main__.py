"""Study of occupancy sampling (QCN-OS) in modern networks: numbers, tables and figures of the page.

`make studies` runs it; `python -m studies.today --page` runs nothing and takes the committed CSV.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from studies import common
from studies.common import format_number, format_table, parse_arguments
from studies.today import figures
from studies.today.numbers import (
    BASE_BUFFER,
    CNMS,
    CNMS_TO_VICTIMS,
    CULPRIT_GOODPUT,
    HOT_FLOW_GOODPUTS,
    HOT_GOODPUT,
    LATE_HOT,
    LATE_VICTIMS,
    NOT_RECOVERED,
    PAUSED_FRACTION,
    PAUSED_HOST_FRACTION,
    READS_MEDIAN,
    READS_TAIL,
    RECOVERY,
    REFERENCES,
    RING_GOODPUT,
    RING_MEAN,
    RING_MEDIAN,
    RING_TAIL,
    SATURATED_HOSTS,
    STUDY,
    THIRD_OF_BUFFER,
    VICTIM_GOODPUT,
    VICTIMS_GOODPUT,
    VICTIMS_JAIN,
    WRITES_MEAN,
    WRITES_TAIL,
    Plan,
    Row,
    read_goodput_steps,
    run_study,
    write_goodput_steps,
)

HOTSPOT_HEADS = {
    VICTIMS_GOODPUT: "victims (Gb/s)",
    LATE_VICTIMS: "victims, last third (Gb/s)",
    VICTIMS_JAIN: "Jain's index of victims",
    HOT_GOODPUT: "hot link (Gb/s)",
    LATE_HOT: "hot link, last third (Gb/s)",
    READS_MEDIAN: "reads, median (µs)",
    READS_TAIL: "reads, p99 (ms)",
    PAUSED_FRACTION: "ports paused (%)",
    PAUSED_HOST_FRACTION: "hosts paused (%)",
    SATURATED_HOSTS: "most hosts paused by a tree",
    CNMS: "CNMs",
    CNMS_TO_VICTIMS[0]: "CNMs to victims",
    "cnps": "CNPs",
}
REDUCE_HEADS = {
    RING_MEAN: "all-reduce, mean (ms)",
    RING_MEDIAN: "all-reduce, median (ms)",
    RING_TAIL: "all-reduce, p95 (ms)",
    RING_GOODPUT: "ring (Gb/s)",
    WRITES_MEAN: "writes, mean (ms)",
    WRITES_TAIL: "writes, p95 (ms)",
    PAUSED_FRACTION: "ports paused (%)",
    PAUSED_HOST_FRACTION: "hosts paused (%)",
    CNMS: "CNMs",
    CNMS_TO_VICTIMS[2]: "CNMs to the ring",
    "cnps": "CNPs",
}
MANY_FLOWS_HEADS = {
    VICTIM_GOODPUT: "victim (Gb/s)",
    CULPRIT_GOODPUT: "culprit (Gb/s)",
    HOT_FLOW_GOODPUTS[0]: "the other four (Gb/s)",
    RECOVERY: "victim back at 90% (ms)",
    PAUSED_FRACTION: "ports paused (%)",
    CNMS: "CNMs",
    CNMS_TO_VICTIMS[1]: "CNMs to the victim",
}
COMPARED_METRICS = {
    "hotspot": (VICTIMS_GOODPUT, HOT_GOODPUT, READS_TAIL, PAUSED_FRACTION),
    "reduce": (RING_MEAN, RING_GOODPUT, WRITES_MEAN, PAUSED_FRACTION),
}
COLUMN_HEADS = {"hotspot": HOTSPOT_HEADS, "reduce": REDUCE_HEADS, "many": MANY_FLOWS_HEADS}
Cells = dict[str, dict[str, Row]]  # variant, metric

HERE = Path(__file__).parent


def display_factor(row: Row) -> float:
    """Factor to the unit that tables show: Gb/s for rates, µs for the median read, else as in all studies."""
    return 1e-9 if row.unit == "bit/s" else 1e6 if row.metric == READS_MEDIAN else row.display_factor


def format_value(row: Row | None) -> str:
    """Formats a mean with the half-width of its interval."""
    if row is None:
        return "–"
    if not row.high:
        return "0"
    factor = display_factor(row)
    return f"{format_number(row.mean * factor)} ± {format_number((row.high - row.low) / 2 * factor)}"


def format_cell(metrics: Mapping[str, Row], metric: str) -> str:
    """Formats the cell of a metric in the table of means.

    The other hot flows share a cell with their lowest and highest mean. A recovery that some seeds do not
    reach is shown as a lower bound, or as the number of seeds that recover.
    """
    if metric == HOT_FLOW_GOODPUTS[0]:
        found = [metrics[one].mean * display_factor(metrics[one]) for one in HOT_FLOW_GOODPUTS]
        low, high = format_number(min(found)), format_number(max(found))
        return low if low == high else f"{low} to {high}"
    never = metrics.get(NOT_RECOVERED)
    if metric == RECOVERY and never is not None and never.mean > 0:
        row = metrics[metric]
        seeds = round(never.mean * never.n)
        return (
            f"> {format_number(row.high * display_factor(row))}"
            if seeds == never.n
            else f"{never.n - seeds} of {never.n}"
        )
    return format_value(metrics.get(metric))


def rows_of_point(found: Sequence[Row], series: str, point: str) -> Cells:
    """Returns the rows of one configuration, by variant and metric."""
    made: Cells = {}
    for row in found:
        if (row.case.series, row.case.point) == (series, point):
            made.setdefault(row.case.variant, {})[row.metric] = row
    return made


def mean_table(heads: Mapping[str, str], of: Cells) -> str:
    """Table of the means of several metrics by variant; columns without values are left out."""
    shown = {one: name for one, name in heads.items() if any(one in metrics for metrics in of.values())}
    body = ([f"`{name}`", *(format_cell(metrics, one) for one in shown)] for name, metrics in of.items())
    return format_table(["variant", *shown.values()], body)


def difference_table(series: str, of: Cells) -> str:
    """Table of each variant's difference from each reference in percent, in bold if significant."""
    heads = COLUMN_HEADS[series]
    pairs = [(metric, name) for metric in COMPARED_METRICS[series] for name in REFERENCES]
    body = []
    for variant, metrics in of.items():
        row = [f"`{variant}`"]
        for metric, name in pairs:
            found, other = metrics.get(metric), of.get(name, {}).get(metric)
            less = found.differences.get(name) if found is not None else None
            if less is None or other is None or not other.mean:
                row.append("–")
                continue
            mean, low, high = (100 * one / other.mean for one in less)
            mark = "**" if low > 0 or high < 0 else ""
            row.append(f"{mark}{mean:+.0f}{mark} ± {format_number((high - low) / 2)}")
        body.append(row)
    named = [f"{heads[metric].split(' (')[0]} minus `{name}` (%)" for metric, name in pairs]
    return format_table(["variant", *named], body)


def tables(found: Sequence[Row]) -> dict[str, str]:
    """Returns every table of the study's page by its name."""
    made = {}
    for series, point in dict.fromkeys((row.case.series, row.case.point) for row in found):
        of = rows_of_point(found, series, point)
        made[f"{series}, {point}"] = mean_table(COLUMN_HEADS[series], of)
        if series in COMPARED_METRICS and point in (BASE_BUFFER, THIRD_OF_BUFFER):
            made[f"{series}, {point}, differences"] = difference_table(series, of)
    return made


def insert_tables(text: str, made: Mapping[str, str]) -> str:
    """Inserts tables into the text of the page; tables without markers are only in the CSV file."""
    return common.insert_tables(
        text, {name: body for name, body in made.items() if f"<!-- {name} -->\n" in text}
    )


def main(arguments: list[str] | None = None) -> None:
    """Performs the missing runs of the study, then writes its CSV files, tables and figures."""
    given = parse_arguments("today", __doc__, arguments)
    numbers, over_time, page = HERE / common.NUMBERS_FILE, HERE / "course.csv.gz", HERE / "README.md"
    if not given.page:
        rows, made = run_study(Plan(jobs=given.jobs), given.out)
        STUDY.write(rows, numbers)
        write_goodput_steps(made, over_time)
    found, courses = STUDY.read(numbers), read_goodput_steps(over_time)
    page.write_text(insert_tables(page.read_text(encoding="utf-8"), tables(found)), encoding="utf-8")
    for path in figures.draw(found, courses, HERE / "images"):
        print(path)


if __name__ == "__main__":
    main()
