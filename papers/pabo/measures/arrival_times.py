"""Measures of PABO's figures 12 to 14, and 15 by theta: arrival order, delay, completion in a fat-tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pyarrow as pa

from overspill.papers.common import (
    SeedCurve,
    build_measured,
    divide_by_seed,
    jackknife_values,
    metric_along_points,
    points_along_path,
    rank_correlation,
    relative_range,
)
from overspill.papers.spec import Measure, Measured, Point, Runs, Sweeps

from . import fat_tree
from .fat_tree import MANY_TO_ONE, PABO, SCENARIOS, WITHOUT

THETA_PATH = "variants.pabo.switch.overflow.theta"
THETA_SWEEP = "mtom_theta"


def displaced_share(table: pa.Table) -> float:
    """Packets with a displacement other than 0, in % of those in table `reorder`; NaN without packets."""
    place, count = fat_tree.read_displacements(table)
    return 100 * float(count[place != 0].sum()) / float(count.sum()) if count.sum() else float("nan")


def largest_displacement(table: pa.Table) -> float:
    """Returns the largest absolute displacement; NaN without packets."""
    place, count = fat_tree.read_displacements(table)
    return float(place[count > 0].max()) if count.sum() else float("nan")


def measure_figure_12(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures displaced packets in 12 to 1, and the largest displacement."""
    runs = sweeps["12to1"]
    share = {
        one: np.array([displaced_share(table) for table in runs.tables("reorder", one)])
        for one in (PABO, WITHOUT)
    }
    far = {
        one: [largest_displacement(table) for table in runs.tables("reorder", one)] for one in (PABO, WITHOUT)
    }
    yield build_measured("PABO", "displaced_share", share[PABO])
    yield build_measured("PABO", "largest_displacement", far[PABO])
    yield build_measured("without PABO", "largest_displacement", far[WITHOUT])
    yield build_measured(
        "without PABO by PABO", "displaced_share", divide_by_seed(share[WITHOUT], share[PABO])
    )


def measure_figure_13(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures the delay of packets and its deviation."""
    delay = {
        (name, variant): fat_tree.packet_statistic(sweeps[name], fat_tree.mean_delay, variant)
        for name in SCENARIOS
        for variant in (PABO, WITHOUT)
    }
    for name in SCENARIOS:
        with_it, without = delay[name, PABO], delay[name, WITHOUT]
        told = f"{with_it.mean():.0f} us with PABO, {without.mean():.0f} us without"
        yield build_measured(name, "delay_PABO_less_without", with_it - without, told)
        yield build_measured(name, "delay_PABO_by_without", divide_by_seed(with_it, without))
    deviation = {
        name: fat_tree.packet_statistic(sweeps[name], fat_tree.delay_deviation) for name in MANY_TO_ONE
    }
    for more, less in zip(MANY_TO_ONE[1:], MANY_TO_ONE[:-1], strict=True):
        yield build_measured(f"{more} less {less}", "delay_sd_PABO", deviation[more] - deviation[less])
    for more, less in (("6to1", "3to1"), ("9to1", "6to1")):
        yield build_measured(f"{more} less {less}", "delay_PABO", delay[more, PABO] - delay[less, PABO])


def measure_sender_in_pod(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures the rise of mean delay from 9 to 12 senders, with and without the one in the client's pod."""
    delay = {
        name: fat_tree.packet_statistic(sweeps[name], fat_tree.mean_delay)
        for name in ("9to1", "11to1", "12to1")
    }
    for more, less in (("12to1", "9to1"), ("11to1", "9to1"), ("12to1", "11to1")):
        told = f"{delay[more].mean():.0f} and {delay[less].mean():.0f} us"
        yield build_measured(f"{more} less {less}", "delay_PABO", delay[more] - delay[less], told)


def measure_figure_14(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures completion times of replies; unfinished ones with PABO count until the end of the run."""
    ratio = {name: fct_ratio(sweeps[name]) for name in SCENARIOS}
    for name in SCENARIOS:
        yield build_measured(name, "fct_without_by_PABO", ratio[name], format_completion(sweeps[name]))
        yield build_measured(name, "fct_without_less_PABO", fct_saving(sweeps[name]))
    for more, less in (("6to1", "3to1"), ("9to1", "6to1")):
        yield build_measured(
            f"{more} by {less}", "fct_without_by_PABO", divide_by_seed(ratio[more], ratio[less])
        )
    hung = {name: fat_tree.replies_by_seed(sweeps[name], PABO) for name in SCENARIOS}
    told = [
        f"{name}, {text}"
        for name, found in hung.items()
        if (
            text := fat_tree.join_seed_notes(
                sweeps[name],
                [one.unfinished_servers and f"{one.unfinished} of {one.unfinished_servers}" for one in found],
            )
        )
    ]
    count = np.sum([[one.unfinished for one in found] for found in hung.values()], axis=0)
    yield build_measured("all five, PABO", "unfinished_replies", count, "; ".join(told))


def fct_ratio(runs: Runs) -> np.ndarray:
    """Ratio of flow completion times without PABO to those with PABO, seed by seed.

    An unfinished reply with PABO takes at least until the end of the run, so that the ratio is an upper
    bound. Replies without PABO that the run's end cuts off are left out, which makes the ratio smaller.
    """
    with_it = np.array([one.mean_lower_bound for one in fat_tree.replies_by_seed(runs, PABO)])
    return divide_by_seed(fat_tree.mean_fct(runs, WITHOUT), with_it)


def fct_saving(runs: Runs) -> np.ndarray:
    """Flow completion time in ms without PABO minus that with it; upper bound if replies are unfinished."""
    with_it = np.array([one.mean_lower_bound for one in fat_tree.replies_by_seed(runs, PABO)])
    return np.asarray(fat_tree.mean_fct(runs, WITHOUT) - with_it)


def format_completion(runs: Runs) -> str:
    """Formats completion times with and without PABO, from seeds in which all replies with PABO finish.

    The text also counts the replies that hang or are left out.
    """
    found = {variant: fat_tree.replies_by_seed(runs, variant) for variant in (PABO, WITHOUT)}
    kept = [at for at, one in enumerate(found[PABO]) if not one.unfinished]
    told = []
    if kept:
        mean = {variant: np.mean([by_seed[at].mean for at in kept]) for variant, by_seed in found.items()}
        told.append(f"{mean[PABO]:.1f} ms with PABO, {mean[WITHOUT]:.0f} ms without")
    if hanging := len(found[PABO]) - len(kept):
        seeds = len(found[PABO])
        told.append(f"in {hanging} of {seeds} seeds replies with PABO hang, and count until the run's end")
    if cut := sum(one.unfinished for one in found[WITHOUT]):
        told.append(f"{cut} replies without PABO are cut off and left out")
    return ", ".join(told)


def measure_figure_15(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures the effect of theta on entropy, completion time, delay and bounces."""
    runs = sweeps[THETA_SWEEP]
    theta, points = points_along_path(runs, THETA_PATH)
    entropy = metric_along_points(runs, "reorder_entropy", PABO, points)
    stable = limit_theta(theta, entropy, 0.9)
    yield build_measured("theta 0.5 to 0.9", "entropy_spread", jackknife_values(relative_range, stable))
    last = entropy[:, theta.index(0.99)]
    yield build_measured(
        "theta=0.99", "entropy_by_mean_of_0.5_to_0.9", divide_by_seed(last, stable.mean(axis=1))
    )
    for name, curve in (
        ("fct", completion_by_theta(runs, points)),
        ("delay", packet_statistic_by_theta(runs, points, fat_tree.mean_delay)),
    ):
        shown = limit_theta(theta, curve, 0.95)
        # The correlation is that of the means over seeds, since noise of single seeds would hide a trend.
        size = abs(rank_correlation(theta[: shown.shape[1]], shown.mean(axis=0)))
        yield build_measured("theta 0.5 to 0.95", f"size_of_rank_correlation_of_theta_and_{name}", [size])
        yield build_measured("theta 0.5 to 0.95", f"{name}_spread", jackknife_values(relative_range, shown))
    for name, of in (
        ("bounced_share", fat_tree.bounced_share),
        ("bounces_per_bounced_packet", fat_tree.bounces_per_bounced),
    ):
        mean = packet_statistic_by_theta(runs, points, of).mean(axis=0)
        trend = rank_correlation(theta, mean)
        told = f"means {', '.join(f'{one:.3g}' for one in mean)}"
        yield build_measured("theta 0.5 to 0.99", f"rank_correlation_of_theta_and_{name}", [trend], told)


def limit_theta(theta: Sequence[float], curve: SeedCurve, most: float) -> SeedCurve:
    """Returns the part of a curve over theta at which theta is at most `most`."""
    return curve[:, np.array(theta) <= most]


def packet_statistic_by_theta(
    runs: Runs, points: Sequence[Point], of: Callable[[pa.Table], float]
) -> SeedCurve:
    """Returns a statistic of table `packet_hist`, seeds by points."""
    return np.array([fat_tree.packet_statistic(runs, of, PABO, point) for point in points]).T


def completion_by_theta(runs: Runs, points: Sequence[Point]) -> SeedCurve:
    """Mean flow completion time in ms, seeds by points."""
    return np.array([fat_tree.mean_fct(runs, PABO, point) for point in points]).T


MEASURES: dict[str, Measure] = {
    "fig12": measure_figure_12,
    "fig13": measure_figure_13,
    "fig14": measure_figure_14,
    "claim-12to1": measure_sender_in_pod,
    "fig15": measure_figure_15,
}
