"""PABO's figures of section IV: how theta and lambda bear on the order of arrivals, over TCP."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from matplotlib.figure import Figure as Drawing

from overspill.papers.pabo import common, tree_drawn
from overspill.papers.pabo.common import LAMBDA, THETA, Curve, measured
from overspill.papers.spec import Figure, Measured, Runs

Sweeps = Mapping[str, Runs]

ENTROPY, TIME_RATIO, VARIANCE = "reorder_entropy", "time_above_theta", "utilisation_variance"


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
        return common.line(self.runs, self.path, {self.other: self.held})[0]

    def curves(self, name: str) -> Curve:
        """A metric, seeds by values swept."""
        points = common.line(self.runs, self.path, {self.other: self.held})[1]
        return common.along(self.runs, name, "pabo", points)

    def at(self, name: str, place: float) -> np.ndarray:
        """A metric at one value, by seed."""
        return np.asarray(self.curves(name)[:, self.places.index(place)])

    def between(self, name: str, low: float, high: float) -> Curve:
        """A metric at values from `low` to `high`."""
        keep = [low <= place <= high for place in self.places]
        return self.curves(name)[:, keep]

    def note(self) -> str:
        """Which seeds lost packets."""
        return common.lossy(self.runs, "pabo", common.line(self.runs, self.path, {self.other: self.held})[1])


# Figure 5.


def grid(sweeps: Sweeps) -> Iterator[Measured]:
    """Figure 5: entropy along theta and along lambda."""
    runs = sweeps["tree"]
    note = common.lossy(runs, "pabo", runs.points)
    for held in (20, 50, 100):
        cut = Cut(runs, THETA, held)
        for more, less in ((0.1, 0.5), (0.5, 0.99)):
            values = cut.at(ENTROPY, more) - cut.at(ENTROPY, less)
            yield measured(cut.case, f"entropy_theta_{more:g}_less_{less:g}", values, note)
    _, _, entropy = surface(runs)
    yield measured(
        "whole grid", "range_over_theta_by_range_over_lambda", common.jackknife(by_ranges, entropy), note
    )
    yield measured("theta=0.99", "spread_over_lambda", common.jackknife(common.spread, entropy[:, -1]), note)
    yield measured("theta=0.99", "entropy_by_least_elsewhere", common.jackknife(by_least, entropy), note)


def surface(runs: Runs) -> tuple[list[float], list[float], np.ndarray]:
    """Thetas, lambdas, and entropy by seed, theta and lambda."""
    lambdas = sorted({float(point[LAMBDA]) for point in runs.points})
    cuts = [Cut(runs, THETA, held) for held in lambdas]
    return cuts[0].places, lambdas, np.stack([cut.curves(ENTROPY) for cut in cuts], axis=-1)


def by_ranges(entropy: np.ndarray) -> float:
    """Median over lambda of the range over theta by the median over theta of the range over lambda."""
    return common.quotient(
        float(np.median(np.ptp(entropy, axis=0))), float(np.median(np.ptp(entropy, axis=1)))
    )


def by_least(entropy: np.ndarray) -> float:
    """Entropy at the largest theta, the mean over lambda, by the least at any other."""
    return common.quotient(float(entropy[-1].mean()), float(entropy[:-1].min()))


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
        found = [common.rank_correlation(places, curve) for curve in cut.curves(name)]
        yield f"rank_correlation_of_{cut.name}_and_{what}", found

    return values


def stable(low: float, high: float, title: str, name: str = ENTROPY) -> Statistic:
    """The spread of entropy, or of another metric, from one value to another."""

    def values(cut: Cut) -> Iterator[tuple[str, list[float]]]:
        yield title, common.jackknife(common.spread, cut.between(name, low, high))

    return values


def changes(one: float, other: float) -> Statistic:
    """Entropy at a value by that at another, seed by seed."""

    def values(cut: Cut) -> Iterator[tuple[str, np.ndarray]]:
        title = f"entropy_{cut.name}_{one:g}_by_{other:g}"
        yield title, common.quotients(cut.at(ENTROPY, one), cut.at(ENTROPY, other))

    return values


def levels(cut: Cut) -> Iterator[tuple[str, list[float]]]:
    """How much of timeRatio's range lies between theta 0.9 and 0.99."""
    start, end = (cut.places.index(place) for place in (0.9, 0.99))

    def share(curve: np.ndarray) -> float:
        return common.quotient(abs(float(curve[end] - curve[start])), common.extent(curve))

    yield "time_ratio_change_at_the_end", common.jackknife(share, cut.curves(TIME_RATIO))


def smaller(name: str, held: float) -> Statistic:
    """The range of timeRatio by that of another panel, whose held value is given."""

    def values(cut: Cut) -> Iterator[tuple[str, list[float]]]:
        both = [cut.curves(TIME_RATIO), Cut(cut.runs, cut.path, held).curves(TIME_RATIO)]
        found = common.jackknife(
            lambda pair: common.quotient(common.extent(pair[0]), common.extent(pair[1])),
            np.stack(both, axis=1),
        )
        yield f"time_ratio_range_by_that_of_{name}", found

    return values


def alike(cut: Cut) -> Iterator[tuple[str, list[float]]]:
    """The rank correlation of entropy and timeRatio in each seed."""
    pairs = zip(cut.curves(ENTROPY), cut.curves(TIME_RATIO), strict=True)
    found = [common.rank_correlation(list(entropy), ratio) for entropy, ratio in pairs]
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


def drawn(path: str, held: float, sweeps: Sweeps, _: common.Published) -> Drawing:
    """A panel of figure 6."""
    cut = Cut(sweeps["tree"], path, held)
    curves = [cut.curves(name) for name in (ENTROPY, VARIANCE, TIME_RATIO)]
    return tree_drawn.panel(cut.name, cut.case, cut.places, curves)


FIGURES = {
    "fig5": Figure(grid, lambda sweeps, _: tree_drawn.heat(*surface(sweeps["tree"]))),
    **{
        name: Figure(partial(panel, path, held, statistics), partial(drawn, path, held))
        for name, (path, held, statistics) in PANELS.items()
    },
}
