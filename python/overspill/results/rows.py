"""Every metric of all variants over their seeds: intervals, comparisons, and the best variant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from overspill import stats
from overspill.results import metrics
from overspill.results.fairness import Fairness
from overspill.results.key import Key
from overspill.results.metrics import Metric
from overspill.results.unequal import Unequal
from overspill.stats import bootstrap
from overspill.stats.bootstrap import Interval
from overspill.stats.quantiles import Value

DROPS = Key("drops")
AllValues = Mapping[str, Mapping[int, Mapping[Key, Value]]]  # variant -> seed -> metric


@dataclass(frozen=True)
class Cell:
    """Metric of one variant, with a value per seed (`None` for a seed without one)."""

    seeds: Sequence[int]
    values: Sequence[Value | None]
    best: bool = False
    resampled: Interval | None = None  # 95% interval, if it is not Student's t
    needed: int = 0  # samples that a percentile needs to be more than the largest
    within: float = 0.0  # possible error, as a share of a value

    @property
    def known(self) -> list[float]:
        """Values of the seeds that have one."""
        return [one.value for one in self.values if one is not None]

    @property
    def censored(self) -> bool:
        """True if any value is only a lower bound."""
        return any(one is not None and one.censored for one in self.values)

    @property
    def mean(self) -> float | None:
        """Mean over seeds; a lower bound if `censored`."""
        return stats.mean(self.known) if self.known else None

    @property
    def resolution(self) -> float:
        """Possible error of the mean, since its values are midpoints of buckets."""
        return self.within * abs(self.mean or 0.0)

    @property
    def span(self) -> Interval | None:
        """Least and largest value if there are two; more have an interval."""
        known = self.known
        two = 1 < len(known) < stats.FEWEST and not self.censored
        return (min(known), max(known)) if two else None

    @property
    def interval(self) -> Interval | None:
        """95% interval; `None` with fewer than three seeds, or if `censored`."""
        if self.censored or len(self.known) < stats.FEWEST:
            return None
        return self.resampled or stats.interval(self.known)

    @property
    def ci95(self) -> float | None:
        """Half-width of the 95% interval."""
        bounds = self.interval
        if bounds is None:
            return None
        return (bounds[1] - bounds[0]) / 2 if self.resampled else stats.half_width(self.known)

    @property
    def few_samples(self) -> int | None:
        """Fewest samples of a seed, if they are too few for the percentile."""
        counts = [one.samples for one in self.values if one is not None and one.samples is not None]
        return min(counts) if counts and min(counts) < self.needed else None

    @property
    def samples(self) -> int | None:
        """Number of samples in all seeds; `None` if it is not known."""
        counts = [one.samples for one in self.values if one is not None and one.samples is not None]
        return sum(counts) if counts else None

    @property
    def exact(self) -> dict[int, float] | None:
        """Value by seed, if every seed has one that is not censored."""
        if self.censored or len(self.known) < len(self.values) or not self.values:
            return None
        return dict(zip(self.seeds, self.known, strict=True))


@dataclass(frozen=True)
class Row:
    """Metric of all variants."""

    metric: Metric
    cells: dict[str, Cell]
    comparison: stats.Comparison | None
    note: str = ""  # statement beside a star, or reason against one although all intervals exclude 0

    @property
    def known(self) -> bool:
        """True if any run has a value of the metric."""
        return any(cell.known for cell in self.cells.values())

    @property
    def visible(self) -> bool:
        """True if the metric has a row in the table: some counts have one only if they are not 0."""
        counted = any(number for cell in self.cells.values() for number in cell.known)
        return self.known and (self.metric.zero_shown or counted)


def build(values: AllValues, rules: Rules) -> list[Row]:
    """Returns every metric that any run has, in the order of the registry; `rules` limit comparisons.

    All bootstrapped intervals are computed together, which is faster.
    """
    drafts = [draft(values, key) for key in every_key(values)]
    of_cells = resample(sample for one in drafts for sample in one.cells_resampled.values())
    return [row(one, of_cells, rules) for one in drafts]


def every_key(values: AllValues) -> list[Key]:
    """Returns every metric that any run has, in the order of the registry."""
    keys: dict[Key, None] = {}
    for by_seed in values.values():
        for found in by_seed.values():
            keys.update(dict.fromkeys(found))
    for key in metrics.one_size(keys):
        del keys[key]
    order = {name: index for index, name in enumerate(metrics.REGISTRY)}
    return sorted(keys, key=lambda key: order[key.registered])


def cells_of(values: AllValues, key: Key) -> dict[str, Cell]:
    """Returns the values of a metric by variant."""
    needed, within = metrics.needed(key), metrics.find(key).within
    cells = {}
    for variant, by_seed in values.items():
        seeds = sorted(by_seed)
        found = [by_seed[seed].get(key) for seed in seeds]
        cells[variant] = Cell(seeds, found, needed=needed, within=within)
    return cells


def losses(seeds: Iterable[Mapping[Key, Value]]) -> float:
    """Returns the frames that a variant lost, as the mean over its seeds."""
    known = [values[DROPS].value for values in seeds if DROPS in values]
    return stats.mean(known) if known else 0.0


@dataclass(frozen=True)
class Rules:
    """Rules that forbid calling a variant best, or add a statement beside the best one."""

    fairness: Fairness
    unequal: Unequal
    lost: Mapping[str, float]  # lost frames by variant

    @staticmethod
    def from_values(values: AllValues, fairness: Fairness, unequal: Unequal) -> Rules:
        """Returns the rules for these values."""
        lost = {variant: losses(by_seed.values()) for variant, by_seed in values.items()}
        return Rules(fairness, unequal, lost)

    def reason(
        self, metric: Metric, cells: Mapping[str, Cell], best: str, against: Sequence[stats.Difference]
    ) -> str:
        """Returns why the variant may not be called better than these; empty if it may."""
        why = self.fairness.reason(metric.name)
        if why or not varies(cells):
            return why or "all seeds gave the same value"
        # The variant that loses the frames with the longest waits shows shorter waits.
        if metric.survivors and any(self.lost[best] > self.lost[one.variant] for one in against):
            return "the best variant lost more frames"
        coarse = metric.within and any(
            min(abs(of.low), abs(of.high)) <= cells[best].resolution + cells[of.variant].resolution
            for of in against
        )
        return "within the resolution of histograms" if coarse else ""


Values = tuple[float, ...]


@dataclass(frozen=True)
class Draft:
    """Metric of all variants before its intervals are known."""

    metric: Metric
    cells: dict[str, Cell]
    pairs: stats.Pairs | None

    @property
    def cells_resampled(self) -> dict[str, Values]:
        """Values of the cells whose interval is bootstrapped."""
        if not self.metric.order_statistic:
            return {}
        found = {name: tuple(cell.known) for name, cell in self.cells.items() if not cell.censored}
        return {name: values for name, values in found.items() if len(values) >= stats.ENOUGH}


Known = dict[Values, Interval | None]


def draft(values: AllValues, key: Key) -> Draft:
    """Returns one metric of all variants, paired on their common seeds."""
    metric, cells = metrics.find(key), cells_of(values, key)
    exact = {variant: cell.exact for variant, cell in cells.items()}
    complete = {variant: one for variant, one in exact.items() if one is not None}
    return Draft(metric, cells, stats.pair(complete, metric.better) if len(complete) == len(cells) else None)


def resample(samples: Iterable[Values]) -> Known:
    """Returns the bootstrapped intervals of all samples."""
    by_length: dict[int, dict[Values, None]] = {}
    for values in samples:
        by_length.setdefault(len(values), {})[values] = None
    known: Known = {}
    for several in by_length.values():
        made = bootstrap.intervals(list(several), [stats.LEVEL])
        known |= {values: one[0] for values, one in zip(several, made, strict=True)}
    return known


def row(one: Draft, known: Known, rules: Rules) -> Row:
    """Returns the row of a metric with its comparison; `known` has the bootstrapped intervals."""
    cells = dict(one.cells)
    for variant, values in one.cells_resampled.items():
        cells[variant] = replace(cells[variant], resampled=known[values])
    if one.pairs is None:
        return Row(one.metric, cells, None)
    comparison = one.pairs.compared()
    if not comparison.marked:
        return Row(one.metric, cells, comparison)
    reason = rules.reason(one.metric, cells, comparison.best, comparison.against)
    if reason:
        return Row(one.metric, cells, replace(comparison, fair=False), f"no *: {reason}")
    cells[comparison.best] = replace(cells[comparison.best], best=True)
    return Row(one.metric, cells, comparison, rules.unequal.text(one.metric, samples(cells)))


def samples(cells: Mapping[str, Cell]) -> dict[str, int | None]:
    """Returns the number of samples of each variant's values; `None` if it is not known."""
    return {variant: cell.samples for variant, cell in cells.items()}


def varies(cells: Mapping[str, Cell]) -> bool:
    """Returns true if the values of any variant differ between seeds, so that intervals are meaningful."""
    return any(len(set(cell.known)) > 1 for cell in cells.values())
