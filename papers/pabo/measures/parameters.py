"""Figures 3, 5 and 6: the probability of a bounce, and how theta and lambda bear on the order of arrivals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from overspill import Failed
from overspill import curve as mechanism_curve
from overspill.papers.common import (
    Curve,
    along,
    extent,
    jackknife,
    line,
    lossy,
    measured,
    quotient,
    quotients,
    rank_correlation,
    spread,
)
from overspill.papers.spec import Measure, Measured, Runs, Sweeps

from .raw_packets import LAMBDA, THETA

THRESHOLD = 0.5
DECAY = 5  # lambda of panel a
BOUNCED = (0, 1, 2)
DECAYS = (5, 15, 25)  # lambda of panel b, of packets that were never bounced
PLACE = 0.75  # of the curves, where rows ask
PLACES = np.linspace(0, 1, 201)  # utilisations

Curves = tuple[np.ndarray, np.ndarray]  # places, and a row of P for each curve
ENTROPY, TIME_RATIO, VARIANCE = "reorder_entropy", "time_above_theta", "utilisation_variance"


def curves(decay: float) -> Curves:
    """P over the utilisation of a queue, a row for each of `BOUNCED` (PABO eq. 4)."""
    found = mechanism_curve("bounce", [f"theta={THRESHOLD}", f"lambda={decay}"], 1, PLACES.tolist())
    if found is None:
        raise Failed("bounce: the core has no curve of it")
    return PLACES, np.array(found["asked"])[list(BOUNCED)]


def by_decay() -> Curves:
    """The curves of panel b."""
    found = [curves(decay) for decay in DECAYS]
    return found[0][0], np.array([values[0] for _, values in found])


def figure_3(_: Sweeps) -> Iterator[Measured]:
    """Figure 3 at its ends, in the middle, and what its curves have in common."""
    yield from rows_of_panels(curves(DECAY), by_decay())


def rows_of_panels(left: Curves, right: Curves) -> Iterator[Measured]:
    """The rows of both panels; what is between theta and 1 lies strictly there."""
    places, every = left[0], np.concatenate((left[1], right[1]))
    inner = (places > THRESHOLD) & (places < 1)
    yield measured("u <= theta", "P_max", [every[:, places <= THRESHOLD].max()])
    yield measured("u = 1", "P_min", [every[:, places == 1].min()])
    middle = int(np.argmin(abs(places - PLACE)))
    for bounces, curve in zip(BOUNCED, left[1], strict=True):
        yield measured(f"3a u={PLACE} np={bounces}", "P", [curve[middle]])
    for decay, curve in zip(DECAYS, right[1], strict=True):
        yield measured(f"3b u={PLACE} lambda={decay}", "P", [curve[middle]])
    yield measured("3a", "least_fall_per_bounce", [-np.diff(left[1][:, inner], axis=0).max()])
    yield measured("3b", "least_rise_with_lambda", [np.diff(right[1][:, inner], axis=0).min()])
    bends = np.diff(every[:, places >= THRESHOLD], n=2, axis=1)
    yield measured("3a and 3b", "largest_second_difference", [bends.max()])


@dataclass(frozen=True)
class Cut:
    """One panel of figure 6: a parameter swept, the other held."""

    runs: Runs
    path: str
    held: float

    @property
    def other(self) -> str:
        """The parameter that is held."""
        return LAMBDA if self.path == THETA else THETA

    @property
    def name(self) -> str:
        """What is swept, as rows call it."""
        return self.path.rpartition(".")[2]

    @property
    def case(self) -> str:
        """What is held, as rows call it."""
        return f"{self.other.rpartition('.')[2]}={self.held:g}"

    @property
    def places(self) -> list[float]:
        """The values swept."""
        return line(self.runs, self.path, {self.other: self.held})[0]

    def curves(self, name: str) -> Curve:
        """A metric, seeds by values swept."""
        points = line(self.runs, self.path, {self.other: self.held})[1]
        return along(self.runs, name, "pabo", points)

    def at(self, name: str, place: float) -> np.ndarray:
        """A metric at one value, by seed."""
        return np.asarray(self.curves(name)[:, self.places.index(place)])

    def between(self, name: str, low: float, high: float) -> Curve:
        """A metric at values from `low` to `high`."""
        keep = [low <= place <= high for place in self.places]
        return self.curves(name)[:, keep]

    def note(self) -> str:
        """Which seeds lost packets."""
        return lossy(self.runs, "pabo", line(self.runs, self.path, {self.other: self.held})[1])


# Figure 5.


def grid(sweeps: Sweeps) -> Iterator[Measured]:
    """Figure 5: entropy along theta and along lambda."""
    runs = sweeps["tree"]
    note = lossy(runs, "pabo", runs.points)
    for held in (20, 50, 100):
        cut = Cut(runs, THETA, held)
        for more, less in ((0.1, 0.5), (0.5, 0.99)):
            values = cut.at(ENTROPY, more) - cut.at(ENTROPY, less)
            yield measured(cut.case, f"entropy_theta_{more:g}_less_{less:g}", values, note)
    _, _, entropy = surface(runs)
    yield measured("whole grid", "range_over_theta_by_range_over_lambda", jackknife(by_ranges, entropy), note)
    yield measured("theta=0.99", "spread_over_lambda", jackknife(spread, entropy[:, -1]), note)
    yield measured("theta=0.99", "entropy_by_least_elsewhere", jackknife(by_least, entropy), note)


def surface(runs: Runs) -> tuple[list[float], list[float], np.ndarray]:
    """Thetas, lambdas, and entropy by seed, theta and lambda."""
    lambdas = sorted({float(point[LAMBDA]) for point in runs.points})
    cuts = [Cut(runs, THETA, held) for held in lambdas]
    return cuts[0].places, lambdas, np.stack([cut.curves(ENTROPY) for cut in cuts], axis=-1)


def by_ranges(entropy: np.ndarray) -> float:
    """Median over lambda of the range over theta by the median over theta of the range over lambda."""
    return quotient(float(np.median(np.ptp(entropy, axis=0))), float(np.median(np.ptp(entropy, axis=1))))


def by_least(entropy: np.ndarray) -> float:
    """Entropy at the largest theta, the mean over lambda, by the least at any other."""
    return quotient(float(entropy[-1].mean()), float(entropy[:-1].min()))


# Figure 6.

Statistic = Callable[[Cut], Iterator[tuple[str, Sequence[float] | np.ndarray]]]


def panel(path: str, held: float, statistics: Sequence[Statistic], sweeps: Sweeps) -> Iterator[Measured]:
    """One panel of figure 6 by its statistics."""
    cut = Cut(sweeps["tree"], path, held)
    note = cut.note()
    for statistic in statistics:
        for metric, values in statistic(cut):
            yield measured(cut.case, metric, values, note)


def follows(what: str, name: str) -> Statistic:
    """The rank correlation of what is swept with a metric."""

    def values(cut: Cut) -> Iterator[tuple[str, list[float]]]:
        places = cut.places
        found = [rank_correlation(places, curve) for curve in cut.curves(name)]
        yield f"rank_correlation_of_{cut.name}_and_{what}", found

    return values


def stable(low: float, high: float, title: str, name: str = ENTROPY) -> Statistic:
    """The spread of entropy, or of another metric, from one value to another."""

    def values(cut: Cut) -> Iterator[tuple[str, list[float]]]:
        yield title, jackknife(spread, cut.between(name, low, high))

    return values


def changes(one: float, other: float) -> Statistic:
    """Entropy at a value by that at another, seed by seed."""

    def values(cut: Cut) -> Iterator[tuple[str, np.ndarray]]:
        title = f"entropy_{cut.name}_{one:g}_by_{other:g}"
        yield title, quotients(cut.at(ENTROPY, one), cut.at(ENTROPY, other))

    return values


def levels(cut: Cut) -> Iterator[tuple[str, list[float]]]:
    """How much of timeRatio's range lies between theta 0.9 and 0.99."""
    start, end = (cut.places.index(place) for place in (0.9, 0.99))

    def share(curve: np.ndarray) -> float:
        return quotient(abs(float(curve[end] - curve[start])), extent(curve))

    yield "time_ratio_change_at_the_end", jackknife(share, cut.curves(TIME_RATIO))


def smaller(name: str, held: float) -> Statistic:
    """The range of timeRatio by that of another panel, whose held value is given."""

    def values(cut: Cut) -> Iterator[tuple[str, list[float]]]:
        both = [cut.curves(TIME_RATIO), Cut(cut.runs, cut.path, held).curves(TIME_RATIO)]
        found = jackknife(
            lambda pair: quotient(extent(pair[0]), extent(pair[1])),
            np.stack(both, axis=1),
        )
        yield f"time_ratio_range_by_that_of_{name}", found

    return values


def alike(cut: Cut) -> Iterator[tuple[str, list[float]]]:
    """The rank correlation of entropy and timeRatio in each seed."""
    pairs = zip(cut.curves(ENTROPY), cut.curves(TIME_RATIO), strict=True)
    found = [rank_correlation(list(entropy), ratio) for entropy, ratio in pairs]
    yield "rank_correlation_of_entropy_and_time_ratio", found


def alike_either_way(cut: Cut) -> Iterator[tuple[str, list[float]]]:
    """The same without its sign."""
    for metric, values in alike(cut):
        yield f"size_of_{metric}", [abs(one) for one in values]


BOTH = (follows("time_ratio", TIME_RATIO), follows("variance", VARIANCE))
ALONG_THETA = (BOTH[0], levels, BOTH[1])
FALLS_TWICE = (
    changes(0.4, 0.1),
    stable(0.4, 0.8, "entropy_spread_theta_0.4_to_0.8"),
    changes(0.99, 0.8),
    *ALONG_THETA,
    alike,
)
PANELS: dict[str, tuple[str, float, tuple[Statistic, ...]]] = {
    "fig6a": (
        THETA,
        1,
        (
            stable(0, 0.6, "entropy_spread_theta_0_to_0.6"),
            *ALONG_THETA,
            smaller("6b", 20),
            smaller("6c", 50),
            alike,
        ),
    ),
    "fig6b": (THETA, 20, FALLS_TWICE),
    "fig6c": (THETA, 50, FALLS_TWICE),
    "fig6d": (
        LAMBDA,
        0.1,
        (changes(10, 0.5), stable(10, 160, "entropy_spread_lambda_10_to_160"), *BOTH, alike),
    ),
    "fig6e": (
        LAMBDA,
        0.5,
        (
            changes(160, 0.5),
            follows("bounced_share", "bounced_share"),
            *BOTH,
            alike_either_way,
            smaller("6d", 0.1),
        ),
    ),
    "fig6f": (
        LAMBDA,
        0.95,
        (
            stable(0, 160, "entropy_spread_over_lambda"),
            stable(0, 160, "time_ratio_spread_over_lambda", TIME_RATIO),
            stable(0, 160, "variance_spread_over_lambda", VARIANCE),
            smaller("6e", 0.5),
            alike,
        ),
    ),
}


MEASURES: dict[str, Measure] = {
    "fig3": figure_3,
    "fig5": grid,
    **{name: partial(panel, path, held, statistics) for name, (path, held, statistics) in PANELS.items()},
}
