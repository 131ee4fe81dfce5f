"""The study of occupancy sampling today: its numbers, and the tables and figures of its page.

`make studies` runs it; `python -m studies.today --page` runs nothing and takes the committed CSV.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from studies import common
from studies.common import asked, number, written
from studies.today import figures
from studies.today.numbers import (
    BACK,
    BASE,
    CULPRIT,
    HOT,
    HOTS,
    JAIN,
    LATE_HOT,
    LATE_VICTIMS,
    NOT_BACK,
    PAUSED,
    PAUSED_HOSTS,
    READ,
    READS,
    REFERENCES,
    RING,
    RING_GOODPUT,
    RING_TAIL,
    RINGS,
    STUDY,
    THIRD,
    TOLD,
    TOLD_VICTIMS,
    TREE,
    VICTIM,
    VICTIMS,
    WRITES,
    WRITES_TAIL,
    Plan,
    Row,
    read_courses,
    run,
    write_courses,
)

HOTSPOT = {
    VICTIMS: "victims (Gb/s)",
    LATE_VICTIMS: "victims, last third",
    JAIN: "Jain's index of victims",
    HOT: "hot link (Gb/s)",
    LATE_HOT: "hot link, last third",
    READ: "reads, median (µs)",
    READS: "reads, p99 (ms)",
    PAUSED: "ports paused (%)",
    PAUSED_HOSTS: "hosts paused (%)",
    TREE: "most hosts paused by a tree",
    TOLD: "CNMs",
    TOLD_VICTIMS[0]: "CNMs to victims",
    "cnps": "CNPs",
}
REDUCE = {
    RING: "all-reduce, mean (ms)",
    RINGS: "all-reduce, median (ms)",
    RING_TAIL: "all-reduce, p95 (ms)",
    RING_GOODPUT: "ring (Gb/s)",
    WRITES: "writes, mean (ms)",
    WRITES_TAIL: "writes, p95 (ms)",
    PAUSED: "ports paused (%)",
    PAUSED_HOSTS: "hosts paused (%)",
    TOLD: "CNMs",
    TOLD_VICTIMS[2]: "CNMs to the ring",
    "cnps": "CNPs",
}
MANY = {
    VICTIM: "victim (Gb/s)",
    CULPRIT: "culprit (Gb/s)",
    HOTS[0]: "the other four (Gb/s)",
    BACK: "victim back at 90% (ms)",
    PAUSED: "ports paused (%)",
    TOLD: "CNMs",
    TOLD_VICTIMS[1]: "CNMs to the victim",
}
COMPARED = {
    "hotspot": (VICTIMS, HOT, READS, PAUSED),
    "reduce": (RING, RING_GOODPUT, WRITES, PAUSED),
}
HEADS = {"hotspot": HOTSPOT, "reduce": REDUCE, "many": MANY}
Cells = dict[str, dict[str, Row]]  # variant, metric

HERE = Path(__file__).parent


def scale(row: Row) -> float:
    """Factor to the unit shown: Gb/s for rates, µs for the median read, else that of all studies."""
    return 1e-9 if row.unit == "bit/s" else 1e6 if row.metric == READ else row.scale


def value(row: Row | None) -> str:
    """Formats mean and half-width."""
    if row is None:
        return "–"
    if not row.high:
        return "0"
    return f"{number(row.mean * scale(row))} ± {number((row.high - row.low) / 2 * scale(row))}"


def cell(metrics: Mapping[str, Row], metric: str) -> str:
    """Formats a cell of the table of means.

    The other hot flows share a cell with their lowest and highest mean. A recovery that some seeds do not
    reach is shown as a lower bound, or as the number of seeds that recover.
    """
    if metric == HOTS[0]:
        found = [metrics[one].mean * scale(metrics[one]) for one in HOTS]
        low, high = number(min(found)), number(max(found))
        return low if low == high else f"{low} to {high}"
    never = metrics.get(NOT_BACK)
    if metric == BACK and never is not None and never.mean > 0:
        row = metrics[metric]
        seeds = round(never.mean * never.n)
        return f"> {number(row.high * scale(row))}" if seeds == never.n else f"{never.n - seeds} of {never.n}"
    return value(metrics.get(metric))


def cells(found: Sequence[Row], series: str, point: str) -> Cells:
    """Returns the rows of a point by variant and metric."""
    made: Cells = {}
    for row in found:
        if (row.case.series, row.case.point) == (series, point):
            made.setdefault(row.case.variant, {})[row.metric] = row
    return made


def means(heads: Mapping[str, str], of: Cells) -> str:
    """Table of means; columns that no variant has are left out."""
    shown = {one: name for one, name in heads.items() if any(one in metrics for metrics in of.values())}
    body = ([f"`{name}`", *(cell(metrics, one) for one in shown)] for name, metrics in of.items())
    return written(["variant", *shown.values()], body)


def differences(series: str, of: Cells) -> str:
    """Table of each variant's differences from each reference in percent, bold if the interval excludes 0."""
    heads = HEADS[series]
    pairs = [(metric, name) for metric in COMPARED[series] for name in REFERENCES]
    body = []
    for variant, metrics in of.items():
        row = [f"`{variant}`"]
        for metric, name in pairs:
            found, other = metrics.get(metric), of.get(name, {}).get(metric)
            less = found.less.get(name) if found is not None else None
            if less is None or other is None or not other.mean:
                row.append("–")
                continue
            mean, low, high = (100 * one / other.mean for one in less)
            mark = "**" if low > 0 or high < 0 else ""
            row.append(f"{mark}{mean:+.0f}{mark} ± {number((high - low) / 2)}")
        body.append(row)
    named = [f"{heads[metric].split(' (')[0]} minus `{name}` (%)" for metric, name in pairs]
    return written(["variant", *named], body)


def tables(found: Sequence[Row]) -> dict[str, str]:
    """Returns every table of the page by its name."""
    made = {}
    for series, point in dict.fromkeys((row.case.series, row.case.point) for row in found):
        of = cells(found, series, point)
        made[f"{series}, {point}"] = means(HEADS[series], of)
        if series in COMPARED and point in (BASE, THIRD):
            made[f"{series}, {point}, differences"] = differences(series, of)
    return made


def place(text: str, made: Mapping[str, str]) -> str:
    """Returns the page's text with its tables inserted; tables without markers are only in the CSV file."""
    return common.place(text, {name: body for name, body in made.items() if f"<!-- {name} -->\n" in text})


def main(arguments: list[str] | None = None) -> None:
    """Runs what the stores lack, then writes the CSV files, the tables and the figures."""
    given = asked("today", __doc__, arguments)
    numbers, over_time, page = HERE / "numbers.csv", HERE / "course.csv", HERE / "README.md"
    if not given.page:
        rows, made = run(Plan(jobs=given.jobs), given.out)
        STUDY.write(rows, numbers)
        write_courses(made, over_time)
    found, courses = STUDY.read(numbers), read_courses(over_time)
    page.write_text(place(page.read_text(encoding="utf-8"), tables(found)), encoding="utf-8")
    for path in figures.draw(found, courses, HERE / "images"):
        print(path)


if __name__ == "__main__":
    main()
