"""Confidence over seeds, and comparison of variants paired on the same seeds."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from overspill.stats import bootstrap
from overspill.stats.bootstrap import Interval

LEVEL = 0.95
FEWEST = 3  # seeds from which on there are intervals to tell by
ENOUGH = 10  # seeds from which on order statistics are bootstrapped, and intervals are more than rough

# The interval of a difference, by the other variant's name and the confidence.


@lru_cache(maxsize=256)
def t_quantile(confidence: float, degrees: int) -> float:
    """Two-sided quantile of Student's t: half of what is left out lies on either side."""
    from scipy.special import stdtrit  # slow to load, and of no use to one seed

    return float(stdtrit(degrees, 0.5 + confidence / 2))


def mean(values: Sequence[float]) -> float:
    """The mean, summed exactly."""
    return math.fsum(values) / len(values)


def half_width(values: Sequence[float], confidence: float = LEVEL) -> float | None:
    """Half-width of the interval of the mean (Student's t); `None` with fewer than two values."""
    count = len(values)
    return None if count < 2 else t_quantile(confidence, count - 1) * standard_error(values)


def standard_error(values: Sequence[float]) -> float:
    """Standard error of the mean of at least two values."""
    centre = mean(values)
    variance = math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1)
    return math.sqrt(variance / len(values))


def p_value(differences: Sequence[float]) -> float:
    """Two-sided p of the paired t-test that the mean difference is 0."""
    from scipy.special import stdtr

    error, centre = standard_error(differences), mean(differences)
    if error == 0.0:
        return 1.0 if centre == 0.0 else 0.0
    return float(2 * stdtr(len(differences) - 1, -abs(centre) / error))


@dataclass(frozen=True)
class Difference:
    """The best variant's value less another's, with its Holm-corrected interval; of two seeds, its range."""

    variant: str
    mean: float
    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval lies wholly on one side of 0."""
        return self.low > 0.0 or self.high < 0.0


@dataclass(frozen=True)
class Comparison:
    """The variant with the best mean against every other, over `n` common seeds."""

    best: str
    n: int
    against: tuple[Difference, ...]
    fair: bool = True

    @property
    def marked(self) -> bool:
        """Whether the best differs from every other, and may be told."""
        told = self.fair and self.n >= FEWEST
        return told and bool(self.against) and all(one.excludes_zero for one in self.against)


def ranged(name: str, differences: Sequence[float]) -> Difference:
    """A mean difference with the least and the largest."""
    return Difference(name, mean(differences), min(differences), max(differences))


def holm(best: str, others: Mapping[str, Sequence[float]]) -> tuple[Difference, ...]:
    """Intervals of paired differences by Student's t, Holm-corrected (Holm 1979).

    In order of p, the j-th of m gets confidence 1 - 0.05 / (m - j + 1), until one does not exclude 0; the
    rest keep that one's confidence. Of few seeds a bootstrap of differences excludes 0 far too often.
    """
    order = sorted(others, key=lambda name: (p_value(others[name]), name))
    found: dict[str, Difference] = {}
    left, rejecting = len(order), True
    for name in order:
        centre, half = mean(others[name]), half_width(others[name], corrected(left)) or 0.0
        found[name] = Difference(name, centre, centre - half, centre + half)
        rejecting = rejecting and found[name].excludes_zero
        left -= rejecting
    return tuple(found[name] for name in others)


def rejected(samples: Sequence[Sequence[float]]) -> list[bool]:
    """Of which samples the mean differs from 0, of many that hang together (Benjamini and Hochberg 1995).

    The k smallest of m values of p, for the largest k whose own is 0.05·k/m or less: where no mean differs,
    any is named in one case of twenty, and of those that are named one in twenty is so by chance.
    """
    known = [p_value(values) for values in samples]
    ordered, count = sorted(known), len(known)
    limits = [one for at, one in enumerate(ordered, 1) if one <= (1 - LEVEL) * at / count]
    return [bool(limits) and one <= limits[-1] for one in known]


def corrected(left: int) -> float:
    """The confidence where so many comparisons are left."""
    return 1 - (1 - LEVEL) / left


def subtract(left: float, right: float) -> float:
    """The difference; 0 where it is no more than rounding, which must not make anybody best."""
    difference = left - right
    return 0.0 if abs(difference) <= 1e-12 * max(abs(left), abs(right)) else difference


@dataclass(frozen=True)
class Pairs:
    """The variant with the best mean, and its differences from every other one, seed by seed."""

    best: str
    n: int
    others: Mapping[str, Sequence[float]]

    def compared(self) -> Comparison:
        """With Holm-corrected intervals; with ranges where seeds are too few for them."""
        if self.n < FEWEST:
            ranges = tuple(ranged(name, values) for name, values in self.others.items())
            return Comparison(self.best, self.n, ranges)
        return Comparison(self.best, self.n, holm(self.best, self.others))


def pair(values: Mapping[str, Mapping[int, float]], better: str) -> Pairs | None:
    """Variants (`variant -> seed -> value`) on their common seeds; `better` is `lower` or `higher`.

    `None` where nothing can be said: one variant, or fewer than two seeds that all share.
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
        name: [subtract(values[best][seed], by_seed[seed]) for seed in seeds]
        for name, by_seed in values.items()
        if name != best
    }
    return Pairs(best, len(seeds), others)


def from_baseline(values: Mapping[str, Mapping[int, float]], baseline: str) -> list[tuple[Difference, int]]:
    """Returns the difference of every other variant from a named one, paired on their common seeds.

    Each comes with its number of seeds: three or more give a Holm-corrected interval, two a range.
    """
    base = values[baseline]
    paired = {
        name: [subtract(one[seed], base[seed]) for seed in sorted(base.keys() & one.keys())]
        for name, one in values.items()
        if name != baseline
    }
    known = {one.variant: one for one in holm(baseline, chosen(paired, FEWEST, math.inf))}
    known |= {name: ranged(name, few) for name, few in chosen(paired, 2, FEWEST).items()}
    return [(known[name], len(every)) for name, every in paired.items() if name in known]


def chosen(paired: Mapping[str, Sequence[float]], least: int, below: float) -> dict[str, Sequence[float]]:
    """Returns the samples with at least so many values, and less than so many."""
    return {name: every for name, every in paired.items() if least <= len(every) < below}


def compare(values: Mapping[str, Mapping[int, float]], better: str) -> Comparison | None:
    """Compare variants as `pair` takes them."""
    pairs = pair(values, better)
    return None if pairs is None else pairs.compared()


def interval(values: Sequence[float], order_statistic: bool = False) -> Interval | None:
    """The 95% interval of the mean over seeds; of many, `bootstrap.intervals` is faster."""
    half = half_width(values)
    if half is None:
        return None
    many = order_statistic and len(values) >= ENOUGH
    made = bootstrap.intervals([values], [LEVEL])[0][0] if many else None
    return made or (mean(values) - half, mean(values) + half)
