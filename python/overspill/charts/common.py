"""What the figures of all subjects share: variants, their looks, seeds, and parts of time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from tomllib import TOMLDecodeError
from typing import TYPE_CHECKING, Any

import numpy as np

from overspill import stats
from overspill.charts import spec
from overspill.charts.spec import Axis, Chart, Entry, Instant, Look, Mark, Panel, Span
from overspill.engine import core
from overspill.errors import BadInput
from overspill.results import equal_variants, formats, measures
from overspill.results.rundata import RunData

if TYPE_CHECKING:
    from overspill.results.results import Results

TALLEST = 10.0  # inches of all panels together
COLUMNS_SHOWN = 240  # columns of a map over time
INTERVALS_FROM = 3  # seeds; those of two are so wide that they hide everything
RESAMPLED = f"BCa bootstrap from {stats.ENOUGH} seeds on, else Student's t"
GREY = "Grey: outside the measurement window."
FIRST_SEEDS = f"First seed of each variant. {GREY}"
INSTANTS_SHOWN = 40  # at which the network changes
STEPS_SHOWN = 1200  # steps of a curve over time


def look(results: Results, variant: str) -> Look:
    """A variant's look: the same in every figure of the results, and of others of the same scenario."""
    return spec.look(place(results.facts, results.variants, variant))


def place(facts: Mapping[str, Any], variants: Sequence[str], variant: str) -> int:
    """Which variant of its scenario it is, also where only some were chosen; else of these."""
    every = declared(str(facts.get("scenario", {}).get("text", "")))
    return (every if set(variants) <= set(every) else tuple(variants)).index(variant)


@lru_cache(maxsize=8)
def declared(text: str) -> tuple[str, ...]:
    """The variants that a scenario's text has, in its order."""
    try:
        return tuple(core.parsed("the scenario", text).get("variants", ()))
    except (BadInput, TOMLDecodeError):
        return ()


def legend(results: Results, variants: Iterable[str]) -> list[Entry]:
    """An entry for each of the variants."""
    return [Entry(variant, label(results, variant), look(results, variant)) for variant in variants]


def label(results: Results, variant: str) -> str:
    """Returns a variant's label, followed by the labels of identical variants."""
    group = next((group for group in results.groups if variant in group), (variant,))
    return equal_variants.label([results.label(one) for one in group])


def with_runs(results: Results) -> list[str]:
    """Variants that have a finished run; of those that are one and the same run the first, for all."""
    return [group[0] for group in results.groups]


def first_runs(results: Results) -> dict[str, RunData]:
    """The first seed of every variant."""
    return {variant: results.runs_of(variant)[0] for variant in with_runs(results)}


def with_rows(results: Results, table: str) -> dict[str, RunData]:
    """First seeds that have rows in a table."""
    return {variant: run for variant, run in first_runs(results).items() if has(run, table)}


def having(results: Results, table: str) -> list[str]:
    """Variants of which a run has rows in a table."""
    return [one for one in with_runs(results) if any(has(run, table) for run in results.runs_of(one))]


def has(run: RunData, table: str) -> bool:
    """Whether a run has rows in a table."""
    return any(batch.num_rows for batch in run.batches(table))


def summed(parts: Iterable[tuple[np.ndarray, ...]]) -> dict[Any, float]:
    """Amounts added up by what they are of, which is a number, or a row of numbers and becomes a tuple."""
    sums: dict[Any, float] = {}
    for what, amounts in parts:
        known, index = np.unique(what, axis=0 if what.ndim > 1 else None, return_inverse=True)
        found = np.zeros(len(known))
        np.add.at(found, index.reshape(-1), amounts.astype(np.float64))
        keys = map(tuple, known.tolist()) if what.ndim > 1 else known.tolist()
        for key, amount in zip(keys, found.tolist(), strict=True):
            sums[key] = sums.get(key, 0.0) + amount
    return sums


def most_first(sums: Mapping[Any, float]) -> list[Any]:
    """What has most comes first, of equals the smaller."""
    return sorted(sums, key=lambda one: (-sums[one], one))


def columns_of(count: int) -> int:
    """Panels of variants side by side: one below the other, or in two columns where they are many."""
    return 1 if count <= 6 else 2


def height_of(count: int, wish: float) -> float:
    """Inches of each panel of so many variants, so that all stay on a screen."""
    return min(wish, TALLEST / -(-count // columns_of(count)))


def height_of_networks(panels: int, columns: int, even: bool) -> float:
    """Inches of a panel with a network; `even` ones are as wide as high."""
    if panels == 1:
        return 4.8 if even else 3.4
    each = TALLEST / -(-panels // columns)
    return min(3.7, each) if even else max(1.9, min(2.6, each))


def seeds_text(results: Results, variants: Iterable[str] | None = None) -> str:
    """`5 seeds`, as many as the variants have at most."""
    names = with_runs(results) if variants is None else variants
    most = max((len(results.runs_of(variant)) for variant in names), default=0)
    return f"{most} seed{'' if most == 1 else 's'}"


def means_told(results: Results) -> str:
    """What a file says of lines that are means, where there are no bands, which are told of with them."""
    most = max((len(results.runs_of(variant)) for variant in with_runs(results)), default=0)
    return "" if most >= INTERVALS_FROM else band_text(results)


def means_over(results: Results, what: str, variants: Iterable[str] | None = None) -> str:
    """What a file says of what is a mean over seeds."""
    text = seeds_text(results, variants)
    return "One seed." if text == "1 seed" else f"{what} over {text}."


def pooled_told(results: Results, variants: Iterable[str]) -> str:
    """What a file says of lines that are of all seeds together."""
    text = seeds_text(results, variants)
    return "One seed." if text == "1 seed" else f"Lines: the samples of {text} pooled."


def part_told(shown: int, variants: int) -> str:
    """What a file says where it has no room for all variants."""
    return f"{shown} of {variants} variants, the first." if variants > shown else ""


def band_text(results: Results, how: str = "Student's t") -> str:
    """What bands mean, where there are any."""
    most = max((len(results.runs_of(variant)) for variant in with_runs(results)), default=0)
    if most < INTERVALS_FROM:
        return f"Lines are means over {most} seeds." if most > 1 else "One seed: no intervals."
    rough = " With fewer than 10 seeds these are rough." if most < 10 else ""
    return f"Lines are means over {most} seeds, bands their 95% intervals ({how}).{rough}"


def mean_and_interval(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean of each column, and the ends of its 95% interval; of one row all three are equal.

    What is never below 0 has no mean below 0 either.
    """
    rows = values.shape[0]
    middle = values.mean(axis=0)
    if rows < INTERVALS_FROM:
        return middle, middle, middle
    half = stats.t_quantile(stats.LEVEL, rows - 1) * values.std(axis=0, ddof=1) / math.sqrt(rows)
    return middle, np.where(middle >= 0, np.maximum(middle - half, 0), middle - half), middle + half


def percentile_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The mean over seeds of a percentile, and the ends of its interval as tables have it."""
    middle = stats.mean(values)
    made = stats.interval(values, True) if len(values) >= INTERVALS_FROM else None
    return middle, *(made or (middle, middle))


def thinned(count: int, shown: int = 1500, tail: int = 200) -> np.ndarray:
    """Which of so many sorted samples a curve shows: few of the body, all of the tail."""
    if count <= shown:
        return np.arange(count)
    return np.union1d(np.linspace(0, count - 1, shown, dtype=int), np.arange(count - tail, count))


@dataclass(frozen=True)
class Period:
    """The part of the time that a figure shows, in ps: where something happens."""

    start: int
    end: int

    @property
    def seconds(self) -> tuple[float, float]:
        """From when to when."""
        return self.start * measures.PS, self.end * measures.PS

    def bins(self, run: RunData, shown: int) -> tuple[int, int, int]:
        """First bin, number of groups of bins, and bins in a group, so that no more than `shown` remain."""
        width_ps = int(run.summary["bin_ps"])
        first = self.start // width_ps
        count = max(1, -(-self.end // width_ps) - first)
        width = -(-count // shown)
        return first, -(-count // width), width

    def edges(self, run: RunData, shown: int) -> np.ndarray:
        """Where these groups begin and end, in seconds."""
        first, groups, width = self.bins(run, shown)
        bins = first + np.arange(groups + 1, dtype=np.int64) * width
        return bins * int(run.summary["bin_ps"]) * measures.PS

    def sums(self, run: RunData, shown: int, data: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """Values by bin, added up in each of these groups."""
        first, groups, width = self.bins(run, shown)
        bins, values = data
        keep = (bins >= first) & (bins < first + groups * width)
        found = np.zeros(groups)
        np.add.at(found, (bins[keep].astype(np.int64) - first) // width, values[keep])
        return found

    def axis(self) -> Axis:
        """The x axis of what this period shows."""
        return Axis("time", "time", shown=self.seconds)


OVER_TIME = ("queue_trace", "activity")


def period_of(results: Results, tables: Sequence[str] = OVER_TIME) -> Period:
    """From the first bin to the last in which first seeds have rows; from 0 if that is early."""
    bins = [(run, run.column(table, "bin")) for run in first_runs(results).values() for table in tables]
    pairs = [(int(run.summary["bin_ps"]), one) for run, one in bins if len(one)]
    start = min((width * int(one.min()) for width, one in pairs), default=0)
    end = max((width * (int(one.max()) + 1) for width, one in pairs), default=1)
    margin = (end - start) // 40
    return Period(0 if start < end // 4 else start - margin, end + margin)


def outside(run: RunData, period: Period) -> list[Span]:
    """Grey where nothing is measured."""
    start, end = run.window_ps
    ends = ((period.start, start), (end, period.end))
    clipped = [(max(left, period.start), min(right, period.end)) for left, right in ends]
    return [Span(left * measures.PS, right * measures.PS, GREY) for left, right in clipped if right > left]


def changes(run: RunData, period: Period) -> list[Instant]:
    """The instants at which the network changed; none where they would hide all else."""
    texts: dict[int, list[str]] = {}
    for change in run.changes:
        if change.at_ps < run.end_ps and period.start <= change.at_ps <= period.end:
            texts.setdefault(change.at_ps, []).append(change.text)
    if len(texts) > INSTANTS_SHOWN:
        return []
    return [Instant(at * measures.PS, formats.listing(every, 2)) for at, every in texts.items()]


def title_of(results: Results, variant: str, run: RunData) -> str:
    """The title of a panel with one run."""
    return f"{label(results, variant)} (seed {run.seed})"


def panel_of(title: str, run: RunData, axes: tuple[Period, Axis], marks: Sequence[Mark]) -> Panel:
    """Marks over time, and what is not measured and what changes meanwhile."""
    period, y = axes
    return Panel(title, period.axis(), y, [*outside(run, period), *changes(run, period), *marks])


def over_time(
    what: tuple[str, str, str], panels: Sequence[Panel], legend: Sequence[Entry], wish: float = 1.9
) -> Chart:
    """Panels over one time, with one range of y; `what` is the figure's name, title and caption."""
    height, columns = height_of(len(panels), wish), columns_of(len(panels))
    return Chart(*what, panels, columns, height, legend, share_x=True, share_y=True, down=True)


def counted(count: float, what: str) -> str:
    """`1 flow`, `12 flows`."""
    return f"{formats.number(count)} {what}{'' if count == 1 else 's'}"
