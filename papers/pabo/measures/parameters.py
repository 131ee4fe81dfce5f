"""Measures of figures 3, 5 and 6: bounce probability, and the effect of theta and lambda on reordering."""

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
DECAYS = (5, 15, 25)  # lambda of panel b, for packets that were never bounced
PLACE = 0.75  # utilisation at which rows read the curves
PLACES = np.linspace(0, 1, 201)  # utilisations

Curves = tuple[np.ndarray, np.ndarray]  # utilisations, and a row of P for each curve
ENTROPY, TIME_RATIO, VARIANCE = "reorder_entropy", "time_above_theta", "utilisation_variance"


def curves(decay: float) -> Curves:
    """Returns P over the utilisation of a queue, a row for each of `BOUNCED` (PABO eq. 4)."""
    found = mechanism_curve("bounce", [f"theta={THRESHOLD}", f"lambda={decay}"], 1, PLACES.tolist())
    if found is None:
        raise Failed("bounce: the core has no curve of it")
    return PLACES, np.array(found["asked"])[list(BOUNCED)]


def by_decay() -> Curves:
    """Returns the curves of panel b."""
    found = [curves(decay) for decay in DECAYS]
    return found[0][0], np.array([values[0] for _, values in found])


def figure_3(_: Sweeps) -> Iterator[Measured]:
    """Measures figure 3 at its ends, in the middle, and what its curves have in common."""
    yield from rows_of_panels(curves(DECAY), by_decay())


def rows_of_panels(left: Curves, right: Curves) -> Iterator[Measured]:
    """Yields the rows of both panels; `inner` are utilisations strictly between theta and 1."""
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
    """Panel of figure 6: a parameter that is swept, with the other one fixed."""

    runs: Runs
    path: str
    held: float

    @property
    def other(self) -> str:
        """Path of the fixed parameter."""
        return LAMBDA if self.path == THETA else THETA

    @property
    def name(self) -> str:
        """Name of the swept parameter in rows."""
        return self.path.rpartition(".")[2]

    @property
    def case(self) -> str:
        """Name and value of the fixed parameter in rows."""
        return f"{self.other.rpartition('.')[2]}={self.held:g}"

    @property
    def places(self) -> list[float]:
        """Swept values."""
        return line(self.runs, self.path, {self.other: self.held})[0]

    def curves(self, name: str) -> Curve:
        """Returns a metric, seeds by swept values."""
        points = line(self.runs, self.path, {self.other: self.held})[1]
        return along(self.runs, name, "pabo", points)

    def at(self, name: str, place: float) -> np.ndarray:
        """Returns a metric at one value, by seed."""
        return np.asarray(self.curves(name)[:, self.places.index(place)])

    def between(self, name: str, low: float, high: float) -> Curve:
        """Returns a metric at values from `low` to `high`."""
        keep = [low <= place <= high for place in self.places]
        return self.curves(name)[:, keep]

    def note(self) -> str:
        """Describes the seeds that dropped packets."""
        return lossy(self.runs, "pabo", line(self.runs, self.path, {self.other: self.held})[1])


# Figure 5.


def grid(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures figure 5: entropy along theta and along lambda."""
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
    """Returns thetas, lambdas, and entropy by seed, theta and lambda."""
    lambdas = sorted({float(point[LAMBDA]) for point in runs.points})
    cuts = [Cut(runs, THETA, held) for held in lambdas]
    return cuts[0].places, lambdas, np.stack([cut.curves(ENTROPY) for cut in cuts], axis=-1)


def by_ranges(entropy: np.ndarray) -> float:
    """Median over lambda of the range over theta, divided by median over theta of the range over lambda."""
    return quotient(float(np.median(np.ptp(entropy, axis=0))), float(np.median(np.ptp(entropy, axis=1))))


def by_least(entropy: np.ndarray) -> float:
    """Entropy at the largest theta, as the mean over lambda, divided by the least at any other theta."""
    return quotient(float(entropy[-1].mean()), float(entropy[:-1].min()))


# Figure 6.

Statistic = Callable[[Cut], Iterator[tuple[str, Sequence[float] | np.ndarray]]]


def panel(path: str, held: float, statistics: Sequence[Statistic], sweeps: Sweeps) -> Iterator[Measured]:
    """Measures one panel of figure 6 by its statistics."""
    cut = Cut(sweeps["tree"], path, held)
    note = cut.note()
    for statistic in statistics:
        for metric, values in statistic(cut):
            yield measured(cut.case, metric, values, note)


def follows(what: str, name: str) -> Statistic:
    """Returns the statistic that is the rank correlation of the swept parameter with a metric."""

    def values(cut: Cut) -> Iterator[tuple[str, list[float]]]:
        places = cut.places
        found = [rank_correlation(places, curve) for curve in cut.curves(name)]
        yield f"rank_correlation_of_{cut.name}_and_{what}", found

    return values


def stable(low: float, high: float, title: str, name: str = ENTROPY) -> Statistic:
    """Returns the statistic that is the spread of a metric from one swept value to another."""

    def values(cut: Cut) -> Iterator[tuple[str, list[float]]]:
        yield title, jackknife(spread, cut.between(name, low, high))

    return values


def changes(one: float, other: float) -> Statistic:
    """Returns the statistic that is entropy at one value divided by that at another, seed by seed."""

    def values(cut: Cut) -> Iterator[tuple[str, np.ndarray]]:
        title = f"entropy_{cut.name}_{one:g}_by_{other:g}"
        yield title, quotients(cut.at(ENTROPY, one), cut.at(ENTROPY, other))

    return values


def levels(cut: Cut) -> Iterator[tuple[str, list[float]]]:
    """Yields the change of timeRatio from theta 0.9 to 0.99, as a share of its range."""
    start, end = (cut.places.index(place) for place in (0.9, 0.99))

    def share(curve: np.ndarray) -> float:
        return quotient(abs(float(curve[end] - curve[start])), extent(curve))

    yield "time_ratio_change_at_the_end", jackknife(share, cut.curves(TIME_RATIO))


def smaller(name: str, held: float) -> Statistic:
    """Returns the statistic that is timeRatio's range divided by that of a panel with another fixed value."""

    def values(cut: Cut) -> Iterator[tuple[str, list[float]]]:
        both = [cut.curves(TIME_RATIO), Cut(cut.runs, cut.path, held).curves(TIME_RATIO)]
        found = jackknife(
            lambda pair: quotient(extent(pair[0]), extent(pair[1])),
            np.stack(both, axis=1),
        )
        yield f"time_ratio_range_by_that_of_{name}", found

    return values


def alike(cut: Cut) -> Iterator[tuple[str, list[float]]]:
    """Yields the rank correlation of entropy and timeRatio in each seed."""
    pairs = zip(cut.curves(ENTROPY), cut.curves(TIME_RATIO), strict=True)
    found = [rank_correlation(list(entropy), ratio) for entropy, ratio in pairs]
    yield "rank_correlation_of_entropy_and_time_ratio", found


def alike_either_way(cut: Cut) -> Iterator[tuple[str, list[float]]]:
    """Yields the absolute rank correlation of entropy and timeRatio in each seed."""
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
