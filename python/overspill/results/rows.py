"""Every metric of all variants over their seeds: intervals, comparisons, and who is best."""

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
    """A metric of one variant: a value per seed (`None` where a seed has none)."""

    seeds: Sequence[int]
    values: Sequence[Value | None]
    best: bool = False
    resampled: Interval | None = None  # its 95% interval where that is not Student's t
    needed: int = 0  # samples, for a percentile to be more than the largest
    within: float = 0.0  # the share of a value by which it may be off

    @property
    def known(self) -> list[float]:
        """The values that there are."""
        return [one.value for one in self.values if one is not None]

    @property
    def censored(self) -> bool:
        """Whether any value is only a lower bound."""
        return any(one is not None and one.censored for one in self.values)

    @property
    def mean(self) -> float | None:
        """The mean over seeds; a lower bound where `censored`."""
        return stats.mean(self.known) if self.known else None

    @property
    def resolution(self) -> float:
        """By how much the mean may be off since its values are middles of buckets."""
        return self.within * abs(self.mean or 0.0)

    @property
    def span(self) -> Interval | None:
        """Its least and largest value where there are two; more have an interval."""
        known = self.known
        two = 1 < len(known) < stats.FEWEST and not self.censored
        return (min(known), max(known)) if two else None

    @property
    def interval(self) -> Interval | None:
        """Its 95% interval; none of fewer than three seeds or where `censored`."""
        if self.censored or len(self.known) < stats.FEWEST:
            return None
        return self.resampled or stats.interval(self.known)

    @property
    def ci95(self) -> float | None:
        """Half-width of its 95% interval."""
        bounds = self.interval
        if bounds is None:
            return None
        return (bounds[1] - bounds[0]) / 2 if self.resampled else stats.half_width(self.known)

    @property
    def few_samples(self) -> int | None:
        """The fewest samples that a value rests on, where this is too few for its percentile."""
        counts = [one.samples for one in self.values if one is not None and one.samples is not None]
        return min(counts) if counts and min(counts) < self.needed else None

    @property
    def samples(self) -> int | None:
        """Number of samples that its values rest on, of all seeds; `None` where that is not known."""
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
    """A metric of all variants."""

    metric: Metric
    cells: dict[str, Cell]
    comparison: stats.Comparison | None
    note: str = ""  # what stands beside a star, or why there is none although all intervals exclude 0

    @property
    def known(self) -> bool:
        """Whether any run has a value of it."""
        return any(cell.known for cell in self.cells.values())

    @property
    def visible(self) -> bool:
        """Returns true if the metric has a row in the table: some counts have one only if they are not 0."""
        counted = any(number for cell in self.cells.values() for number in cell.known)
        return self.known and (self.metric.zero_shown or counted)


def build(values: AllValues, rules: Rules) -> list[Row]:
    """Every metric that any run has, in the order of the registry; `rules` say which may be compared.

    All intervals that are resampled are made at once, since that takes time.
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
    """Frames that a variant lost, the mean over its seeds."""
    known = [values[DROPS].value for values in seeds if DROPS in values]
    return stats.mean(known) if known else 0.0


@dataclass(frozen=True)
class Rules:
    """Rules that forbid to call a variant best, or add a statement beside the best one."""

    fairness: Fairness
    unequal: Unequal
    lost: Mapping[str, float]  # frames by variant

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
        # Who loses the frames that would have waited longest has the shorter waits.
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
    """A metric of all variants before its intervals are known."""

    metric: Metric
    cells: dict[str, Cell]
    pairs: stats.Pairs | None

    @property
    def cells_resampled(self) -> dict[str, Values]:
        """Values of the cells whose interval is resampled."""
        if not self.metric.order_statistic:
            return {}
        found = {name: tuple(cell.known) for name, cell in self.cells.items() if not cell.censored}
        return {name: values for name, values in found.items() if len(values) >= stats.ENOUGH}


Known = dict[Values, Interval | None]


def draft(values: AllValues, key: Key) -> Draft:
    """One metric of all variants, in pairs on their common seeds."""
    metric, cells = metrics.find(key), cells_of(values, key)
    exact = {variant: cell.exact for variant, cell in cells.items()}
    complete = {variant: one for variant, one in exact.items() if one is not None}
    return Draft(metric, cells, stats.pair(complete, metric.better) if len(complete) == len(cells) else None)


def resample(samples: Iterable[Values]) -> Known:
    """The intervals of all samples."""
    by_length: dict[int, dict[Values, None]] = {}
    for values in samples:
        by_length.setdefault(len(values), {})[values] = None
    known: Known = {}
    for several in by_length.values():
        made = bootstrap.intervals(list(several), [stats.LEVEL])
        known |= {values: one[0] for values, one in zip(several, made, strict=True)}
    return known


def row(one: Draft, known: Known, rules: Rules) -> Row:
    """One metric of all variants, compared; `known` are intervals that are resampled."""
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
    """Returns how many samples the values of each variant rest on, where that is known."""
    return {variant: cell.samples for variant, cell in cells.items()}


def varies(cells: Mapping[str, Cell]) -> bool:
    """Returns true if the values of any variant differ between seeds, so that intervals are meaningful."""
    return any(len(set(cell.known)) > 1 for cell in cells.values())
