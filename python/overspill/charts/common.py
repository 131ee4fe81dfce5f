"""Common parts of figures: variants, their line styles, seeds, and time ranges."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from tomllib import TOMLDecodeError
from typing import TYPE_CHECKING, Any

import numpy as np

from overspill import stats
from overspill.charts import chart_spec
from overspill.charts.chart_spec import Axis, Chart, EventLine, LegendEntry, LineStyle, Mark, Panel, Span
from overspill.engine import core
from overspill.errors import BadInput
from overspill.results import formats, identical_variants, measures
from overspill.results.rundata import RunData

if TYPE_CHECKING:
    from overspill.results.results import Results

MAX_PANELS_HEIGHT = 10.0  # inches of all panels of a figure
MAX_MAP_COLUMNS = 240  # columns of a map over time
MIN_SEEDS_FOR_INTERVALS = 3  # seeds; intervals of two seeds would be too wide
BOOTSTRAP_NOTE = f"BCa bootstrap from {stats.MIN_SEEDS_FOR_BOOTSTRAP} seeds on, else Student's t"
GREY_NOTE = "Grey: outside the measurement window."
FIRST_SEEDS_NOTE = f"First seed of each variant. {GREY_NOTE}"
MAX_CHANGES_MARKED = 40  # most network changes that a panel marks
MAX_CURVE_STEPS = 1200  # steps of a curve over time


def line_style_of_variant(results: Results, variant: str) -> LineStyle:
    """Returns the line style of a variant, equal in every figure of all results of the same scenario."""
    return chart_spec.line_style_of_index(variant_index(results.facts, results.variants, variant))


def variant_index(facts: Mapping[str, Any], variants: Sequence[str], variant: str) -> int:
    """Returns the position of a variant in its scenario file, or in `variants` if the file is not known."""
    every = parse_declared_variants(str(facts.get("scenario", {}).get("text", "")))
    return (every if set(variants) <= set(every) else tuple(variants)).index(variant)


@lru_cache(maxsize=8)
def parse_declared_variants(text: str) -> tuple[str, ...]:
    """Returns the names of the variants in a scenario file's text, in its order; empty if it is not valid."""
    try:
        return tuple(core.parse_toml("the scenario", text).get("variants", ()))
    except (BadInput, TOMLDecodeError):
        return ()


def variant_legend(results: Results, variants: Iterable[str]) -> list[LegendEntry]:
    """Returns a legend entry for each of the variants."""
    return [
        LegendEntry(variant, group_label(results, variant), line_style_of_variant(results, variant))
        for variant in variants
    ]


def group_label(results: Results, variant: str) -> str:
    """Returns a variant's label, followed by the labels of identical variants."""
    group = next((group for group in results.groups if variant in group), (variant,))
    return identical_variants.group_label([results.label(one) for one in group])


def variants_with_runs(results: Results) -> list[str]:
    """Returns the variants that have a finished run; of variants with identical runs only the first."""
    return [group[0] for group in results.groups]


def first_runs(results: Results) -> dict[str, RunData]:
    """Returns the first seed's run of every variant."""
    return {variant: results.runs_of(variant)[0] for variant in variants_with_runs(results)}


def first_runs_with_table(results: Results, table: str) -> dict[str, RunData]:
    """Returns the first seed's run of each variant, if that run has rows in the table."""
    return {variant: run for variant, run in first_runs(results).items() if has_rows(run, table)}


def variants_with_table(results: Results, table: str) -> list[str]:
    """Returns the variants that have rows in the table in at least one run."""
    return [
        one
        for one in variants_with_runs(results)
        if any(has_rows(run, table) for run in results.runs_of(one))
    ]


def has_rows(run: RunData, table: str) -> bool:
    """Returns true if a run has rows in a table."""
    return any(batch.num_rows for batch in run.batches(table))


def sum_by_key(parts: Iterable[tuple[np.ndarray, ...]]) -> dict[Any, float]:
    """Returns the sums of amounts by key: a number, or a tuple for a row of numbers."""
    sums: dict[Any, float] = {}
    for what, amounts in parts:
        known, index = np.unique(what, axis=0 if what.ndim > 1 else None, return_inverse=True)
        found = np.zeros(len(known))
        np.add.at(found, index.reshape(-1), amounts.astype(np.float64))
        keys = map(tuple, known.tolist()) if what.ndim > 1 else known.tolist()
        for key, amount in zip(keys, found.tolist(), strict=True):
            sums[key] = sums.get(key, 0.0) + amount
    return sums


def sort_by_amount(sums: Mapping[Any, float]) -> list[Any]:
    """Returns the keys by descending amount; keys with equal amounts are in ascending order."""
    return sorted(sums, key=lambda one: (-sums[one], one))


def count_panel_columns(count: int) -> int:
    """Returns the number of columns of panels: one, or two for more than six panels."""
    return 1 if count <= 6 else 2


def panel_height(count: int, wish: float) -> float:
    """Returns the height in inches of each of `count` panels: `wish`, or less so that all fit on a screen."""
    return min(wish, MAX_PANELS_HEIGHT / -(-count // count_panel_columns(count)))


def network_panel_height(panels: int, columns: int, even: bool) -> float:
    """Returns the height in inches of a panel with a network; `even` networks are as wide as high."""
    if panels == 1:
        return 4.8 if even else 3.4
    each = MAX_PANELS_HEIGHT / -(-panels // columns)
    return min(3.7, each) if even else max(1.9, min(2.6, each))


def format_seed_count(results: Results, variants: Iterable[str] | None = None) -> str:
    """Formats the largest number of seeds that any of the variants has: `5 seeds`."""
    names = variants_with_runs(results) if variants is None else variants
    most = max((len(results.runs_of(variant)) for variant in names), default=0)
    return f"{most} seed{'' if most == 1 else 's'}"


def mean_lines_note(results: Results) -> str:
    """Returns the note for saved figures that lines are means; empty if bands are drawn around the lines."""
    most = max((len(results.runs_of(variant)) for variant in variants_with_runs(results)), default=0)
    return "" if most >= MIN_SEEDS_FOR_INTERVALS else describe_band(results)


def means_over_seeds_note(results: Results, what: str, variants: Iterable[str] | None = None) -> str:
    """Returns the note for saved figures that values are means over a number of seeds."""
    text = format_seed_count(results, variants)
    return "One seed." if text == "1 seed" else f"{what} over {text}."


def pooled_seeds_note(results: Results, variants: Iterable[str]) -> str:
    """Returns the note that lines pool the samples of all seeds, for saved figures."""
    text = format_seed_count(results, variants)
    return "One seed." if text == "1 seed" else f"Lines: samples of {text} pooled."


def omitted_variants_note(shown: int, variants: int) -> str:
    """Returns the note that only the first variants are shown, for saved figures; empty if all are."""
    return f"The first {shown} of {variants} variants." if variants > shown else ""


def describe_band(results: Results, how: str = "Student's t") -> str:
    """Returns the sentence of a caption that explains means, and the bands around them if there are any."""
    most = max((len(results.runs_of(variant)) for variant in variants_with_runs(results)), default=0)
    if most < MIN_SEEDS_FOR_INTERVALS:
        return f"Lines are means over {most} seeds." if most > 1 else "One seed: no intervals."
    rough = " With fewer than 10 seeds, intervals are rough." if most < 10 else ""
    return f"Lines are means over {most} seeds, bands their 95% intervals ({how}).{rough}"


def mean_and_interval(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns the mean of each column and the ends of its 95% interval; all are the mean for too few rows.

    The lower end of values that are never negative is at least 0.
    """
    rows = values.shape[0]
    middle = values.mean(axis=0)
    if rows < MIN_SEEDS_FOR_INTERVALS:
        return middle, middle, middle
    half = stats.t_quantile(stats.CONFIDENCE_LEVEL, rows - 1) * values.std(axis=0, ddof=1) / math.sqrt(rows)
    return middle, np.where(middle >= 0, np.maximum(middle - half, 0), middle - half), middle + half


def percentile_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Returns the mean of a percentile over seeds, and the ends of its interval as in tables."""
    middle = stats.mean(values)
    made = stats.mean_interval(values, True) if len(values) >= MIN_SEEDS_FOR_INTERVALS else None
    return middle, *(made or (middle, middle))


def select_curve_samples(count: int, shown: int = 1500, tail: int = 200) -> np.ndarray:
    """Returns indices of the sorted samples that a curve shows: evenly spaced ones, and all of the tail."""
    if count <= shown:
        return np.arange(count)
    return np.union1d(np.linspace(0, count - 1, shown, dtype=int), np.arange(count - tail, count))


@dataclass(frozen=True)
class Period:
    """Range of simulated time in ps that a figure shows."""

    start: int
    end: int

    @property
    def seconds(self) -> tuple[float, float]:
        """Begin and end of the time range in seconds."""
        return self.start * measures.SECONDS_PER_PS, self.end * measures.SECONDS_PER_PS

    def bin_groups(self, run: RunData, shown: int) -> tuple[int, int, int]:
        """Groups bins into at most `shown` groups; returns first bin, number of groups and bins per group."""
        width_ps = int(run.summary["bin_ps"])
        first = self.start // width_ps
        count = max(1, -(-self.end // width_ps) - first)
        width = -(-count // shown)
        return first, -(-count // width), width

    def group_edges(self, run: RunData, shown: int) -> np.ndarray:
        """Returns the edges of all groups of time bins in seconds: one more edge than groups."""
        first, groups, width = self.bin_groups(run, shown)
        bins = first + np.arange(groups + 1, dtype=np.int64) * width
        return bins * int(run.summary["bin_ps"]) * measures.SECONDS_PER_PS

    def sum_groups(self, run: RunData, shown: int, data: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """Returns the sums of values over each group of time bins."""
        first, groups, width = self.bin_groups(run, shown)
        bins, values = data
        keep = (bins >= first) & (bins < first + groups * width)
        found = np.zeros(groups)
        np.add.at(found, (bins[keep].astype(np.int64) - first) // width, values[keep])
        return found

    def axis(self) -> Axis:
        """Returns the time axis of this range."""
        return Axis("time", "time", range=self.seconds)


TIME_SERIES_TABLES = ("queue_trace", "activity")


def period_of(results: Results, tables: Sequence[str] = TIME_SERIES_TABLES) -> Period:
    """Returns the time range of the rows of first seeds' runs.

    It begins at 0 if the first row is in the first quarter of the time until the last.
    """
    bins = [(run, run.column(table, "bin")) for run in first_runs(results).values() for table in tables]
    pairs = [(int(run.summary["bin_ps"]), one) for run, one in bins if len(one)]
    start = min((width * int(one.min()) for width, one in pairs), default=0)
    end = max((width * (int(one.max()) + 1) for width, one in pairs), default=1)
    margin = (end - start) // 40
    return Period(0 if start < end // 4 else start - margin, end + margin)


def grey_spans(run: RunData, period: Period) -> list[Span]:
    """Returns grey spans over the times outside of the measurement window."""
    start, end = run.window_ps
    ends = ((period.start, start), (end, period.end))
    clipped = [(max(left, period.start), min(right, period.end)) for left, right in ends]
    return [
        Span(left * measures.SECONDS_PER_PS, right * measures.SECONDS_PER_PS, GREY_NOTE)
        for left, right in clipped
        if right > left
    ]


def change_marks(run: RunData, period: Period) -> list[EventLine]:
    """Returns vertical lines at the network changes; none if there are too many to see anything else."""
    texts: dict[int, list[str]] = {}
    for change in run.changes:
        if change.at_ps < run.end_ps and period.start <= change.at_ps <= period.end:
            texts.setdefault(change.at_ps, []).append(change.text)
    if len(texts) > MAX_CHANGES_MARKED:
        return []
    return [
        EventLine(at * measures.SECONDS_PER_PS, formats.format_listing(every, 2))
        for at, every in texts.items()
    ]


def run_title(results: Results, variant: str, run: RunData) -> str:
    """Returns the title of a panel with one run."""
    return f"{group_label(results, variant)} (seed {run.seed})"


def time_panel(title: str, run: RunData, axes: tuple[Period, Axis], marks: Sequence[Mark]) -> Panel:
    """Returns a panel of `marks` over time, with network changes, and grey outside the measurement window."""
    period, y = axes
    return Panel(title, period.axis(), y, [*grey_spans(run, period), *change_marks(run, period), *marks])


def chart_over_time(
    what: tuple[str, str, str], panels: Sequence[Panel], legend: Sequence[LegendEntry], wish: float = 1.9
) -> Chart:
    """Returns a figure of panels over time with a common y range; `what` is name, title and caption."""
    height, columns = panel_height(len(panels), wish), count_panel_columns(len(panels))
    return Chart(*what, panels, columns, height, legend, share_x=True, share_y=True, fill_columns_first=True)


def format_count(count: float, what: str) -> str:
    """Formats a count with its noun: `1 flow`, `12 flows`."""
    return f"{formats.format_number(count)} {what}{'' if count == 1 else 's'}"
