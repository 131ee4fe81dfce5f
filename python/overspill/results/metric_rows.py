"""Every metric of all variants over their seeds: intervals, comparisons, and the best variant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from overspill import stats
from overspill.results import metrics
from overspill.results.fairness import Fairness
from overspill.results.metric_key import Key
from overspill.results.metrics import Metric
from overspill.results.unequal_variants import UnequalVariants
from overspill.stats import bootstrap
from overspill.stats.bootstrap import Interval
from overspill.stats.quantiles import Value

DROPS_KEY = Key("drops")
AllValues = Mapping[str, Mapping[int, Mapping[Key, Value]]]  # variant -> seed -> metric


@dataclass(frozen=True)
class MetricCell:
    """Metric of one variant, with one value per seed (`None` for a seed without a value)."""

    seeds: Sequence[int]
    values: Sequence[Value | None]
    best: bool = False
    resampled: Interval | None = None  # 95% interval, if it is not Student's t
    samples_needed: int = 0  # samples that a percentile needs to be more than the largest
    resolution_share: float = 0.0  # possible error, as a share of a value

    @property
    def known_values(self) -> list[float]:
        """Values of the metric in those seeds that have one."""
        return [one.value for one in self.values if one is not None]

    @property
    def censored(self) -> bool:
        """True if any value is only a lower bound."""
        return any(one is not None and one.censored for one in self.values)

    @property
    def mean(self) -> float | None:
        """Mean over seeds; a lower bound if `censored`."""
        return stats.mean(self.known_values) if self.known_values else None

    @property
    def resolution(self) -> float:
        """Possible error of a mean that is computed from midpoints of buckets."""
        return self.resolution_share * abs(self.mean or 0.0)

    @property
    def span(self) -> Interval | None:
        """Least and largest value if there are two; more have an interval."""
        known = self.known_values
        two = 1 < len(known) < stats.MIN_SEEDS_FOR_INTERVAL and not self.censored
        return (min(known), max(known)) if two else None

    @property
    def interval(self) -> Interval | None:
        """95% interval of the mean; `None` with fewer than three seeds, or if `censored`."""
        if self.censored or len(self.known_values) < stats.MIN_SEEDS_FOR_INTERVAL:
            return None
        return self.resampled or stats.mean_interval(self.known_values)

    @property
    def ci95(self) -> float | None:
        """Half-width of the mean's 95% interval; `None` without an interval."""
        bounds = self.interval
        if bounds is None:
            return None
        return (bounds[1] - bounds[0]) / 2 if self.resampled else stats.half_width(self.known_values)

    @property
    def few_samples(self) -> int | None:
        """Smallest number of samples of any seed, if it is too small for the percentile; `None` otherwise."""
        counts = [one.samples for one in self.values if one is not None and one.samples is not None]
        return min(counts) if counts and min(counts) < self.samples_needed else None

    @property
    def samples(self) -> int | None:
        """Number of samples in all seeds together; `None` if it is not known."""
        counts = [one.samples for one in self.values if one is not None and one.samples is not None]
        return sum(counts) if counts else None

    @property
    def exact_values(self) -> dict[int, float] | None:
        """Value by seed; `None` unless every seed has an uncensored value."""
        if self.censored or len(self.known_values) < len(self.values) or not self.values:
            return None
        return dict(zip(self.seeds, self.known_values, strict=True))


@dataclass(frozen=True)
class MetricRow:
    """Table row of a metric, with the values of all variants."""

    metric: Metric
    cells: dict[str, MetricCell]
    comparison: stats.Comparison | None
    note: str = ""  # statement beside a star, or reason against one although all intervals exclude 0

    @property
    def has_value(self) -> bool:
        """True if any run has a value of the metric."""
        return any(cell.known_values for cell in self.cells.values())

    @property
    def is_visible(self) -> bool:
        """True if the metric has a row in the table: some counts have one only if they are not 0."""
        counted = any(number for cell in self.cells.values() for number in cell.known_values)
        return self.has_value and (self.metric.zero_shown or counted)


def build_rows(values: AllValues, rules: ComparisonRules) -> list[MetricRow]:
    """Returns the table rows of every metric of any run, in registry order; `rules` limit comparisons.

    All bootstrapped intervals are computed together, which is faster.
    """
    drafts = [draft_row(values, key) for key in all_metric_keys(values)]
    of_cells = bootstrap_intervals(sample for one in drafts for sample in one.values_to_bootstrap.values())
    return [finish_row(one, of_cells, rules) for one in drafts]


def all_metric_keys(values: AllValues) -> list[Key]:
    """Returns the keys of every metric that any run has, in registry order."""
    keys: dict[Key, None] = {}
    for by_seed in values.values():
        for found in by_seed.values():
            keys.update(dict.fromkeys(found))
    for key in metrics.single_size_metrics(keys):
        del keys[key]
    order = {name: index for index, name in enumerate(metrics.REGISTRY)}
    return sorted(keys, key=lambda key: order[key.registered])


def metric_cells(values: AllValues, key: Key) -> dict[str, MetricCell]:
    """Returns the values of a metric by variant and seed, as table cells."""
    needed, within = metrics.samples_needed(key), metrics.find_metric(key).resolution
    cells = {}
    for variant, by_seed in values.items():
        seeds = sorted(by_seed)
        found = [by_seed[seed].get(key) for seed in seeds]
        cells[variant] = MetricCell(seeds, found, samples_needed=needed, resolution_share=within)
    return cells


def mean_losses(seeds: Iterable[Mapping[Key, Value]]) -> float:
    """Returns the frames that a variant lost, as a mean over its seeds."""
    known = [values[DROPS_KEY].value for values in seeds if DROPS_KEY in values]
    return stats.mean(known) if known else 0.0


@dataclass(frozen=True)
class ComparisonRules:
    """Rules that forbid calling a variant best, or add a statement to the best variant."""

    fairness: Fairness
    unequal: UnequalVariants
    mean_losses: Mapping[str, float]  # lost frames by variant

    @staticmethod
    def from_values(values: AllValues, fairness: Fairness, unequal: UnequalVariants) -> ComparisonRules:
        """Returns the rules of comparison for these values."""
        lost = {variant: mean_losses(by_seed.values()) for variant, by_seed in values.items()}
        return ComparisonRules(fairness, unequal, lost)

    def reason(
        self, metric: Metric, cells: Mapping[str, MetricCell], best: str, against: Sequence[stats.Difference]
    ) -> str:
        """Returns the reason why a variant may not be called better than others; empty if it may."""
        why = self.fairness.reason(metric.name)
        if why or not varies_between_seeds(cells):
            return why or "all seeds gave the same value"
        # The variant that loses the frames with the longest waits shows shorter waits.
        if metric.of_delivered_frames and any(
            self.mean_losses[best] > self.mean_losses[one.variant] for one in against
        ):
            return "the best variant lost more frames"
        coarse = metric.resolution and any(
            min(abs(of.low), abs(of.high)) <= cells[best].resolution + cells[of.variant].resolution
            for of in against
        )
        return "within the resolution of histograms" if coarse else ""


CellValues = tuple[float, ...]


@dataclass(frozen=True)
class RowDraft:
    """Table row of a metric before its intervals are computed."""

    metric: Metric
    cells: dict[str, MetricCell]
    pairs: stats.PairedSamples | None

    @property
    def values_to_bootstrap(self) -> dict[str, CellValues]:
        """Values of those cells whose interval is bootstrapped."""
        if not self.metric.order_statistic:
            return {}
        found = {name: tuple(cell.known_values) for name, cell in self.cells.items() if not cell.censored}
        return {
            name: values for name, values in found.items() if len(values) >= stats.MIN_SEEDS_FOR_BOOTSTRAP
        }


KnownIntervals = dict[CellValues, Interval | None]


def draft_row(values: AllValues, key: Key) -> RowDraft:
    """Returns the unfinished table row of one metric, with variants paired on their common seeds."""
    metric, cells = metrics.find_metric(key), metric_cells(values, key)
    exact = {variant: cell.exact_values for variant, cell in cells.items()}
    complete = {variant: one for variant, one in exact.items() if one is not None}
    return RowDraft(
        metric, cells, stats.pair_on_seeds(complete, metric.better) if len(complete) == len(cells) else None
    )


def bootstrap_intervals(samples: Iterable[CellValues]) -> KnownIntervals:
    """Returns the bootstrapped 95% interval of each sample, those of equal length computed together."""
    by_length: dict[int, dict[CellValues, None]] = {}
    for values in samples:
        by_length.setdefault(len(values), {})[values] = None
    known: KnownIntervals = {}
    for several in by_length.values():
        made = bootstrap.bca_intervals(list(several), [stats.CONFIDENCE_LEVEL])
        known |= {values: one[0] for values, one in zip(several, made, strict=True)}
    return known


def finish_row(one: RowDraft, known: KnownIntervals, rules: ComparisonRules) -> MetricRow:
    """Returns the table row of a metric with its comparison; `known` has the bootstrapped intervals."""
    cells = dict(one.cells)
    for variant, values in one.values_to_bootstrap.items():
        cells[variant] = replace(cells[variant], resampled=known[values])
    if one.pairs is None:
        return MetricRow(one.metric, cells, None)
    comparison = one.pairs.compare()
    if not comparison.is_best_distinct:
        return MetricRow(one.metric, cells, comparison)
    reason = rules.reason(one.metric, cells, comparison.best, comparison.against)
    if reason:
        return MetricRow(one.metric, cells, replace(comparison, fair=False), f"no *: {reason}")
    cells[comparison.best] = replace(cells[comparison.best], best=True)
    note = rules.unequal.describe_differences(one.metric, count_samples(cells))
    return MetricRow(one.metric, cells, comparison, note)


def count_samples(cells: Mapping[str, MetricCell]) -> dict[str, int | None]:
    """Returns the number of samples of each variant's values; `None` if it is not known."""
    return {variant: cell.samples for variant, cell in cells.items()}


def varies_between_seeds(cells: Mapping[str, MetricCell]) -> bool:
    """Returns true if the values of any variant differ between seeds, so that intervals are meaningful."""
    return any(len(set(cell.known_values)) > 1 for cell in cells.values())
