"""Measures of PABO's figures 3, 5 and 6: bounce probability, effects of theta and lambda."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from overspill import Failed
from overspill import curve as mechanism_curve
from overspill.papers.common import (
    SeedCurve,
    build_measured,
    divide_by_seed,
    divide_or_nan,
    jackknife_values,
    losses_note,
    metric_along_points,
    points_along_path,
    rank_correlation,
    relative_range,
    value_range,
)
from overspill.papers.spec import Measure, Measured, Runs, Sweeps

from .raw_packets import LAMBDA_PATH, THETA_PATH

THETA_OF_CURVES = 0.5
DECAY_OF_PANEL_A = 5  # lambda of panel a
BOUNCE_COUNTS = (0, 1, 2)
DECAYS_OF_PANEL_B = (5, 15, 25)  # lambda of panel b, for packets that were never bounced
READ_UTILISATION = 0.75  # utilisation at which rows read the curves
UTILISATIONS = np.linspace(0, 1, 201)  # utilisations

ProbabilityCurves = tuple[np.ndarray, np.ndarray]  # utilisations, and a row of P for each curve
ENTROPY, TIME_RATIO, VARIANCE = "reorder_entropy", "time_above_theta", "utilisation_variance"


def curves_by_bounces(decay: float) -> ProbabilityCurves:
    """Returns the bounce probability P over queue utilisation, a row for each of `BOUNCE_COUNTS` (eq. 4)."""
    found = mechanism_curve(
        "bounce", [f"theta={THETA_OF_CURVES}", f"lambda={decay}"], 1, UTILISATIONS.tolist()
    )
    if found is None:
        raise Failed(
            "bounce: found no curve of the bounce probability; expected one, as this version has: "
            "build Overspill again with `make setup`"
        )
    return UTILISATIONS, np.array(found["asked"])[list(BOUNCE_COUNTS)]


def curves_by_decay() -> ProbabilityCurves:
    """Returns the curves of figure 3, panel b: bounce probability with several values of lambda."""
    found = [curves_by_bounces(decay) for decay in DECAYS_OF_PANEL_B]
    return found[0][0], np.array([values[0] for _, values in found])


def measure_figure_3(_: Sweeps) -> Iterator[Measured]:
    """Measures figure 3: its curves at their ends and in the middle, and their common shape."""
    yield from rows_of_panels(curves_by_bounces(DECAY_OF_PANEL_A), curves_by_decay())


def rows_of_panels(left: ProbabilityCurves, right: ProbabilityCurves) -> Iterator[Measured]:
    """Yields the rows of both panels of figure 3: values, changes and bends of the bounce probability."""
    places, every = left[0], np.concatenate((left[1], right[1]))
    inner = (places > THETA_OF_CURVES) & (places < 1)
    yield build_measured("u <= theta", "P_max", [every[:, places <= THETA_OF_CURVES].max()])
    yield build_measured("u = 1", "P_min", [every[:, places == 1].min()])
    middle = int(np.argmin(abs(places - READ_UTILISATION)))
    for bounces, curve in zip(BOUNCE_COUNTS, left[1], strict=True):
        yield build_measured(f"3a u={READ_UTILISATION} np={bounces}", "P", [curve[middle]])
    for decay, curve in zip(DECAYS_OF_PANEL_B, right[1], strict=True):
        yield build_measured(f"3b u={READ_UTILISATION} lambda={decay}", "P", [curve[middle]])
    yield build_measured("3a", "least_fall_per_bounce", [-np.diff(left[1][:, inner], axis=0).max()])
    yield build_measured("3b", "least_rise_with_lambda", [np.diff(right[1][:, inner], axis=0).min()])
    bends = np.diff(every[:, places >= THETA_OF_CURVES], n=2, axis=1)
    yield build_measured("3a and 3b", "largest_second_difference", [bends.max()])


@dataclass(frozen=True)
class ParameterSweep:
    """Sweep for a panel of figure 6: one parameter is swept, the second one is fixed."""

    runs: Runs
    path: str
    fixed_value: float

    @property
    def fixed_path(self) -> str:
        """Path of the fixed parameter."""
        return LAMBDA_PATH if self.path == THETA_PATH else THETA_PATH

    @property
    def name(self) -> str:
        """Name of the swept parameter, as rows have it."""
        return self.path.rpartition(".")[2]

    @property
    def case(self) -> str:
        """Name and value of the fixed parameter, as rows have them."""
        return f"{self.fixed_path.rpartition('.')[2]}={self.fixed_value:g}"

    @property
    def swept_values(self) -> list[float]:
        """Values of the swept parameter."""
        return points_along_path(self.runs, self.path, {self.fixed_path: self.fixed_value})[0]

    def curves(self, name: str) -> SeedCurve:
        """Returns a metric as a matrix, seeds by swept values."""
        points = points_along_path(self.runs, self.path, {self.fixed_path: self.fixed_value})[1]
        return metric_along_points(self.runs, name, "pabo", points)

    def values_at(self, name: str, place: float) -> np.ndarray:
        """Returns a metric at one swept value, by seed."""
        return np.asarray(self.curves(name)[:, self.swept_values.index(place)])

    def values_between(self, name: str, low: float, high: float) -> SeedCurve:
        """Returns a metric at the swept values from `low` to `high`, seeds by values."""
        keep = [low <= place <= high for place in self.swept_values]
        return self.curves(name)[:, keep]

    def note(self) -> str:
        """Describes which seeds dropped packets, as a note for rows."""
        return losses_note(
            self.runs, "pabo", points_along_path(self.runs, self.path, {self.fixed_path: self.fixed_value})[1]
        )


def measure_grid(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures figure 5: entropy along theta and along lambda."""
    runs = sweeps["tree"]
    note = losses_note(runs, "pabo", runs.points)
    for held in (20, 50, 100):
        cut = ParameterSweep(runs, THETA_PATH, held)
        for more, less in ((0.1, 0.5), (0.5, 0.99)):
            values = cut.values_at(ENTROPY, more) - cut.values_at(ENTROPY, less)
            yield build_measured(cut.case, f"entropy_theta_{more:g}_less_{less:g}", values, note)
    _, _, entropy = entropy_surface(runs)
    yield build_measured(
        "whole grid",
        "range_over_theta_by_range_over_lambda",
        jackknife_values(ratio_of_ranges, entropy),
        note,
    )
    yield build_measured(
        "theta=0.99", "spread_over_lambda", jackknife_values(relative_range, entropy[:, -1]), note
    )
    yield build_measured(
        "theta=0.99", "entropy_by_least_elsewhere", jackknife_values(ratio_to_minimum, entropy), note
    )


def entropy_surface(runs: Runs) -> tuple[list[float], list[float], np.ndarray]:
    """Returns thetas, lambdas, and entropy by seed, theta and lambda."""
    lambdas = sorted({float(point[LAMBDA_PATH]) for point in runs.points})
    cuts = [ParameterSweep(runs, THETA_PATH, held) for held in lambdas]
    return cuts[0].swept_values, lambdas, np.stack([cut.curves(ENTROPY) for cut in cuts], axis=-1)


def ratio_of_ranges(entropy: np.ndarray) -> float:
    """Median range of entropy over theta (over all lambda), divided by the median range over lambda."""
    return divide_or_nan(float(np.median(np.ptp(entropy, axis=0))), float(np.median(np.ptp(entropy, axis=1))))


def ratio_to_minimum(entropy: np.ndarray) -> float:
    """Entropy at the largest theta (mean over lambda), divided by the least entropy at any smaller theta."""
    return divide_or_nan(float(entropy[-1].mean()), float(entropy[:-1].min()))


# Figure 6.

Statistic = Callable[[ParameterSweep], Iterator[tuple[str, Sequence[float] | np.ndarray]]]


def measure_panel(
    path: str, held: float, statistics: Sequence[Statistic], sweeps: Sweeps
) -> Iterator[Measured]:
    """Measures one panel of figure 6 by a list of statistics."""
    cut = ParameterSweep(sweeps["tree"], path, held)
    note = cut.note()
    for statistic in statistics:
        for metric, values in statistic(cut):
            yield build_measured(cut.case, metric, values, note)


def rank_correlation_with(what: str, name: str) -> Statistic:
    """Returns a statistic: rank correlation of the swept parameter with a metric."""

    def values(cut: ParameterSweep) -> Iterator[tuple[str, list[float]]]:
        places = cut.swept_values
        found = [rank_correlation(places, curve) for curve in cut.curves(name)]
        yield f"rank_correlation_of_{cut.name}_and_{what}", found

    return values


def spread_between(low: float, high: float, title: str, name: str = ENTROPY) -> Statistic:
    """Returns a statistic: relative range of a metric between two swept values."""

    def values(cut: ParameterSweep) -> Iterator[tuple[str, list[float]]]:
        yield title, jackknife_values(relative_range, cut.values_between(name, low, high))

    return values


def entropy_ratio(one: float, other: float) -> Statistic:
    """Returns a statistic: entropy at one swept value divided by that at a second one, seed by seed."""

    def values(cut: ParameterSweep) -> Iterator[tuple[str, np.ndarray]]:
        title = f"entropy_{cut.name}_{one:g}_by_{other:g}"
        yield title, divide_by_seed(cut.values_at(ENTROPY, one), cut.values_at(ENTROPY, other))

    return values


def time_ratio_change(cut: ParameterSweep) -> Iterator[tuple[str, list[float]]]:
    """Yields the change of timeRatio from theta 0.9 to 0.99, as a share of the range of timeRatio."""
    start, end = (cut.swept_values.index(place) for place in (0.9, 0.99))

    def share(curve: np.ndarray) -> float:
        return divide_or_nan(abs(float(curve[end] - curve[start])), value_range(curve))

    yield "time_ratio_change_at_the_end", jackknife_values(share, cut.curves(TIME_RATIO))


def range_ratio_to_panel(name: str, held: float) -> Statistic:
    """Returns a statistic: timeRatio's range divided by that of a panel with a second fixed value."""

    def values(cut: ParameterSweep) -> Iterator[tuple[str, list[float]]]:
        both = [cut.curves(TIME_RATIO), ParameterSweep(cut.runs, cut.path, held).curves(TIME_RATIO)]
        found = jackknife_values(
            lambda pair: divide_or_nan(value_range(pair[0]), value_range(pair[1])),
            np.stack(both, axis=1),
        )
        yield f"time_ratio_range_by_that_of_{name}", found

    return values


def correlate_entropy_and_time_ratio(cut: ParameterSweep) -> Iterator[tuple[str, list[float]]]:
    """Yields the rank correlation of entropy and timeRatio, seed by seed."""
    pairs = zip(cut.curves(ENTROPY), cut.curves(TIME_RATIO), strict=True)
    found = [rank_correlation(list(entropy), ratio) for entropy, ratio in pairs]
    yield "rank_correlation_of_entropy_and_time_ratio", found


def absolute_correlation_of_entropy_and_time_ratio(cut: ParameterSweep) -> Iterator[tuple[str, list[float]]]:
    """Yields the absolute rank correlation of entropy and timeRatio, seed by seed."""
    for metric, values in correlate_entropy_and_time_ratio(cut):
        yield f"size_of_{metric}", [abs(one) for one in values]


BOTH_CORRELATIONS = (
    rank_correlation_with("time_ratio", TIME_RATIO),
    rank_correlation_with("variance", VARIANCE),
)
THETA_STATISTICS = (BOTH_CORRELATIONS[0], time_ratio_change, BOTH_CORRELATIONS[1])
TWO_FALLS_STATISTICS = (
    entropy_ratio(0.4, 0.1),
    spread_between(0.4, 0.8, "entropy_spread_theta_0.4_to_0.8"),
    entropy_ratio(0.99, 0.8),
    *THETA_STATISTICS,
    correlate_entropy_and_time_ratio,
)
PANELS: dict[str, tuple[str, float, tuple[Statistic, ...]]] = {
    "fig6a": (
        THETA_PATH,
        1,
        (
            spread_between(0, 0.6, "entropy_spread_theta_0_to_0.6"),
            *THETA_STATISTICS,
            range_ratio_to_panel("6b", 20),
            range_ratio_to_panel("6c", 50),
            correlate_entropy_and_time_ratio,
        ),
    ),
    "fig6b": (THETA_PATH, 20, TWO_FALLS_STATISTICS),
    "fig6c": (THETA_PATH, 50, TWO_FALLS_STATISTICS),
    "fig6d": (
        LAMBDA_PATH,
        0.1,
        (
            entropy_ratio(10, 0.5),
            spread_between(10, 160, "entropy_spread_lambda_10_to_160"),
            *BOTH_CORRELATIONS,
            correlate_entropy_and_time_ratio,
        ),
    ),
    "fig6e": (
        LAMBDA_PATH,
        0.5,
        (
            entropy_ratio(160, 0.5),
            rank_correlation_with("bounced_share", "bounced_share"),
            *BOTH_CORRELATIONS,
            absolute_correlation_of_entropy_and_time_ratio,
            range_ratio_to_panel("6d", 0.1),
        ),
    ),
    "fig6f": (
        LAMBDA_PATH,
        0.95,
        (
            spread_between(0, 160, "entropy_spread_over_lambda"),
            spread_between(0, 160, "time_ratio_spread_over_lambda", TIME_RATIO),
            spread_between(0, 160, "variance_spread_over_lambda", VARIANCE),
            range_ratio_to_panel("6e", 0.5),
            correlate_entropy_and_time_ratio,
        ),
    ),
}


MEASURES: dict[str, Measure] = {
    "fig3": measure_figure_3,
    "fig5": measure_grid,
    **{
        name: partial(measure_panel, path, held, statistics)
        for name, (path, held, statistics) in PANELS.items()
    },
}
