"""The study of PAUSE and PFC compared with DIBS: its numbers, and the tables and figures of its page.

`make studies` runs it; `python -m studies.pause --page` runs nothing and takes the committed CSV.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from overspill import Key
from studies import common
from studies.common import asked, number, written
from studies.pause import figures
from studies.pause.numbers import (
    ASIDES,
    REFERENCES,
    SHORT_MEAN,
    SHORT_P99,
    TIERS,
    Plan,
    Row,
    read,
    run,
    write,
)

HEADS: dict[str, str] = {
    "qct_mean": "QCT mean (ms)",
    "qct_p99": "QCT p99 (ms)",
    SHORT_MEAN: "short FCT mean (ms)",
    SHORT_P99: "short FCT p99 (ms)",
    "drops": "lost",
    Key("drops", traffic="background"): "lost of background",
    "timeouts": "timeouts",
    "detoured_share": "detoured (%)",
}
REACH: dict[str, str] = {
    **{Key("paused_fraction_mean", tier=tier): f"{tier} (%)" for tier in TIERS},
    "pause_length_mean": "mean pause (ms)",
    "saturation_depth_mean": "depth mean",
    "saturation_depth_max": "depth max",
    "saturation_hosts_mean": "hosts mean",
    "saturation_hosts_max": "hosts max",
}
COMPARED = {"qct_mean": "QCT mean", SHORT_MEAN: "short FCT mean"}
Cells = dict[str, dict[str, Row]]  # variant, metric

HERE = Path(__file__).parent


def value(row: Row | None) -> str:
    """Formats the mean and its interval."""
    if row is None:
        return "–"
    if not row.high:
        return "0"
    ends = (number(max(0.0, one) * row.scale) for one in (row.low, row.high))
    return f"{number(row.mean * row.scale)} ({' to '.join(ends)})"


def less(row: Row, reference: str) -> str:
    """Formats a difference with its interval, in bold if the interval excludes 0."""
    found = row.less.get(reference)
    if found is None:
        return "–"
    mean, low, high = (one * row.scale for one in found)
    mark = "**" if row.differs(reference) else ""
    half = (high - low) / 2
    return f"{mark}{'+' if mean > 0 else ''}{number(mean)}{mark} ± {number(half)}"


def tables(found: Iterable[Row]) -> dict[str, str]:
    """Returns every table of the page by its name."""
    by_rate: dict[str, Cells] = {}
    for row in found:
        aside = row.case.variant in ASIDES
        name = f"asides {row.case.qps}" if aside else row.case.qps
        by_rate.setdefault(name, {}).setdefault(row.case.variant, {})[row.metric] = row
    made = {}
    for rate, cells in by_rate.items():
        paused = {name: metrics for name, metrics in cells.items() if "pause_length_mean" in metrics}
        made[rate] = means(HEADS, cells)
        made[f"{rate}, differences"] = differences(cells)
        if paused:
            made[f"{rate}, pauses"] = means(REACH, paused)
    return made


def means(heads: Mapping[str, str], cells: Cells) -> str:
    """Table of means."""
    body = ([f"`{name}`", *(value(metrics.get(one)) for one in heads)] for name, metrics in cells.items())
    return written(["variant", *heads.values()], body)


def differences(cells: Cells) -> str:
    """Table of paired differences in ms."""
    pairs = [(metric, reference) for metric in COMPARED for reference in REFERENCES]
    heads = (f"{COMPARED[metric]} minus `{reference}`" for metric, reference in pairs)
    rows = {name: metrics for name, metrics in cells.items() if metrics["qct_mean"].less}
    body = (
        [f"`{name}`", *(less(metrics[one], other) for one, other in pairs)] for name, metrics in rows.items()
    )
    return written(["variant", *heads], body)


def place(text: str, made: Mapping[str, str]) -> str:
    """Returns the page's text with its tables inserted; tables without markers are only in the CSV file."""
    return common.place(text, {name: body for name, body in made.items() if f"<!-- {name} -->\n" in text})


def main(arguments: list[str] | None = None) -> None:
    """Runs what the store lacks, then writes the CSV file, the tables and the figures."""
    given = asked("pause", __doc__, arguments)
    numbers, page = HERE / "numbers.csv", HERE / "README.md"
    if not given.page:
        write(run(Plan(jobs=given.jobs), given.out), numbers)
        print(figures.trees(HERE / "images/tree.png", given.jobs))
    found = read(numbers)
    page.write_text(place(page.read_text(encoding="utf-8"), tables(found)), encoding="utf-8")
    for path in figures.draw(found, HERE / "images"):
        print(path)


if __name__ == "__main__":
    main()
