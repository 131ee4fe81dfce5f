"""Confidence intervals over seeds, and comparison of variants paired on the same seeds."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from overspill.stats import bootstrap
from overspill.stats.bootstrap import Interval

CONFIDENCE_LEVEL = 0.95
MIN_SEEDS_FOR_INTERVAL = 3  # seeds: with fewer, no interval decides a comparison
MIN_SEEDS_FOR_BOOTSTRAP = (
    10  # seeds: with fewer, order statistics are not bootstrapped, and intervals are rough
)


@lru_cache(maxsize=256)
def t_quantile(confidence: float, degrees: int) -> float:
    """Returns the t value that encloses a share `confidence` of Student's distribution on both sides of 0."""
    from scipy.special import stdtrit  # slow to load, and not needed for one seed

    return float(stdtrit(degrees, 0.5 + confidence / 2))


def mean(values: Sequence[float]) -> float:
    """Returns the mean, computed from an exactly rounded sum."""
    return math.fsum(values) / len(values)


def half_width(values: Sequence[float], confidence: float = CONFIDENCE_LEVEL) -> float | None:
    """Returns the half-width of the mean's interval (Student's t); `None` with fewer than two values."""
    count = len(values)
    return None if count < 2 else t_quantile(confidence, count - 1) * standard_error(values)


def standard_error(values: Sequence[float]) -> float:
    """Returns the standard error of the mean of at least two values."""
    centre = mean(values)
    variance = math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1)
    return math.sqrt(variance / len(values))


def p_value(differences: Sequence[float]) -> float:
    """Returns the two-sided p-value of the paired t-test for a mean difference of 0."""
    from scipy.special import stdtr

    error, centre = standard_error(differences), mean(differences)
    if error == 0.0:
        return 1.0 if centre == 0.0 else 0.0
    return float(2 * stdtr(len(differences) - 1, -abs(centre) / error))


@dataclass(frozen=True)
class Difference:
    """Mean difference between two variants with its interval: Holm-corrected, or the range for two seeds.

    `compare_variants` subtracts each other variant from the best one. `differences_from_baseline` subtracts
    the baseline from each other variant.
    """

    variant: str
    mean: float
    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        """True if the interval is entirely on one side of 0."""
        return self.low > 0.0 or self.high < 0.0


@dataclass(frozen=True)
class Comparison:
    """Differences between the variant with the best mean and every other one, over `n` common seeds."""

    best: str
    n: int
    against: tuple[Difference, ...]
    fair: bool = True

    @property
    def is_best_distinct(self) -> bool:
        """True if the best variant differs from every other one, in a fair comparison with enough seeds."""
        told = self.fair and self.n >= MIN_SEEDS_FOR_INTERVAL
        return told and bool(self.against) and all(one.excludes_zero for one in self.against)


def difference_with_range(name: str, differences: Sequence[float]) -> Difference:
    """Returns a mean difference with the range of the differences as its interval."""
    return Difference(name, mean(differences), min(differences), max(differences))


def holm_differences(best: str, others: Mapping[str, Sequence[float]]) -> tuple[Difference, ...]:
    """Returns the mean paired difference from each variant, with Holm-corrected t intervals (Holm 1979).

    In order of p, the j-th of m differences has confidence 1 - 0.05 / (m - j + 1), until one does not exclude
    0. The rest keep the confidence of that one. A bootstrap of few differences would exclude 0 far too often.
    """
    order = sorted(others, key=lambda name: (p_value(others[name]), name))
    found: dict[str, Difference] = {}
    left, rejecting = len(order), True
    for name in order:
        centre, half = mean(others[name]), half_width(others[name], holm_confidence(left)) or 0.0
        found[name] = Difference(name, centre, centre - half, centre + half)
        rejecting = rejecting and found[name].excludes_zero
        left -= rejecting
    return tuple(found[name] for name in others)


def benjamini_hochberg(samples: Sequence[Sequence[float]]) -> list[bool]:
    """Returns by sample whether its mean differs from 0, among many samples (Benjamini and Hochberg 1995).

    Rejects the k smallest of m p-values, for the largest k whose p-value is at most 0.05·k/m. If no mean
    differs from 0, any sample is named in one case of twenty. Of the samples named, one in twenty is named by
    chance.
    """
    # `scipy.stats.false_discovery_control` decides equally, but takes 0.4 s to load.
    known = [p_value(values) for values in samples]
    ordered, count = sorted(known), len(known)
    limits = [one for at, one in enumerate(ordered, 1) if one <= (1 - CONFIDENCE_LEVEL) * at / count]
    return [bool(limits) and one <= limits[-1] for one in known]


def holm_confidence(left: int) -> float:
    """Returns the confidence level of the next comparison in Holm's method, with `left` comparisons left."""
    return 1 - (1 - CONFIDENCE_LEVEL) / left


def subtract_ignoring_rounding(left: float, right: float) -> float:
    """Subtracts two numbers; returns 0 if the difference is only rounding."""
    difference = left - right
    return 0.0 if abs(difference) <= 1e-12 * max(abs(left), abs(right)) else difference


@dataclass(frozen=True)
class PairedSamples:
    """Variant with the best mean, and for every other variant its paired differences by seed."""

    best: str
    n: int
    others: Mapping[str, Sequence[float]]

    def compare(self) -> Comparison:
        """Returns the comparison, with Holm-corrected intervals, or with ranges for too few seeds."""
        if self.n < MIN_SEEDS_FOR_INTERVAL:
            ranges = tuple(difference_with_range(name, values) for name, values in self.others.items())
            return Comparison(self.best, self.n, ranges)
        return Comparison(self.best, self.n, holm_differences(self.best, self.others))


def pair_on_seeds(values: Mapping[str, Mapping[int, float]], better: str) -> PairedSamples | None:
    """Pairs variants (`variant -> seed -> value`) on their common seeds; `better` is `lower` or `higher`.

    Returns `None` for another `better`, a single variant, or fewer than two common seeds.
    """
    if better not in ("lower", "higher") or len(values) < 2:
        return None
    seeds = sorted(set.intersection(*(set(by_seed) for by_seed in values.values())))
    if len(seeds) < 2:
        return None
    sign = 1.0 if better == "lower" else -1.0
    means = {name: mean([by_seed[seed] for seed in seeds]) for name, by_seed in values.items()}
    best = min(means, key=lambda name: sign * means[name])
    others = {
        name: [subtract_ignoring_rounding(values[best][seed], by_seed[seed]) for seed in seeds]
        for name, by_seed in values.items()
        if name != best
    }
    return PairedSamples(best, len(seeds), others)


def differences_from_baseline(
    values: Mapping[str, Mapping[int, float]], baseline: str
) -> list[tuple[Difference, int]]:
    """Returns the paired differences of every other variant from a named one, over common seeds.

    Each comes with its number of seeds: three or more give a Holm-corrected interval, two a range.
    """
    base = values[baseline]
    paired = {
        name: [subtract_ignoring_rounding(one[seed], base[seed]) for seed in sorted(base.keys() & one.keys())]
        for name, one in values.items()
        if name != baseline
    }
    known = {
        one.variant: one
        for one in holm_differences(baseline, samples_of_size(paired, MIN_SEEDS_FOR_INTERVAL, math.inf))
    }
    known |= {
        name: difference_with_range(name, few)
        for name, few in samples_of_size(paired, 2, MIN_SEEDS_FOR_INTERVAL).items()
    }
    return [(known[name], len(every)) for name, every in paired.items() if name in known]


def samples_of_size(
    paired: Mapping[str, Sequence[float]], least: int, below: float
) -> dict[str, Sequence[float]]:
    """Selects the samples that have at least `least` and fewer than `below` values."""
    return {name: every for name, every in paired.items() if least <= len(every) < below}


def compare_variants(values: Mapping[str, Mapping[int, float]], better: str) -> Comparison | None:
    """Compares variants (`variant -> seed -> value`) with the best; `None` if they cannot be paired."""
    pairs = pair_on_seeds(values, better)
    return None if pairs is None else pairs.compare()


def mean_interval(values: Sequence[float], order_statistic: bool = False) -> Interval | None:
    """Returns the 95% interval of the mean over seeds; `None` with fewer than two values.

    The mean of an order statistic is bootstrapped from `MIN_SEEDS_FOR_BOOTSTRAP` values on.
    `bootstrap.bca_intervals` is faster for many samples.
    """
    half = half_width(values)
    if half is None:
        return None
    many = order_statistic and len(values) >= MIN_SEEDS_FOR_BOOTSTRAP
    made = bootstrap.bca_intervals([values], [CONFIDENCE_LEVEL])[0][0] if many else None
    return made or (mean(values) - half, mean(values) + half)
