"""Theta in the many-to-many scenario: figure 15."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure as Drawing

from overspill import plots
from overspill.papers.pabo import fat_tree
from overspill.papers.pabo.common import (
    Curve,
    Published,
    along,
    jackknife,
    line,
    mean_line,
    measured,
    quotients,
    rank_correlation,
    sheet,
    spread,
)
from overspill.papers.pabo.fat_tree import PABO, Sweeps
from overspill.papers.spec import Figure, Measured, Point, Runs
from overspill.plots import COLOURS

THETA = "variants.pabo.switch.overflow.theta"
SWEEP = "mtom_theta"


def figure_15(sweeps: Sweeps) -> Iterable[Measured]:
    """What theta changes and what it does not."""
    runs = sweeps[SWEEP]
    theta, points = line(runs, THETA)
    entropy = along(runs, "reorder_entropy", PABO, points)
    stable = upto(theta, entropy, 0.9)
    yield measured("theta 0.5 to 0.9", "entropy_spread", jackknife(spread, stable))
    last = entropy[:, theta.index(0.99)]
    yield measured("theta=0.99", "entropy_by_mean_of_0.5_to_0.9", quotients(last, stable.mean(axis=1)))
    for name, curve in (("fct", completion(runs, points)), ("delay", packets(runs, points, fat_tree.delay))):
        shown = upto(theta, curve, 0.95)
        # Of the means: noise of single seeds would hide a trend.
        size = abs(rank_correlation(theta[: shown.shape[1]], shown.mean(axis=0)))
        yield measured("theta 0.5 to 0.95", f"size_of_rank_correlation_of_theta_and_{name}", [size])
        yield measured("theta 0.5 to 0.95", f"{name}_spread", jackknife(spread, shown))
    for name, of in (
        ("bounced_share", fat_tree.bounced_share),
        ("bounces_per_bounced_packet", fat_tree.bounces_per_bounced),
    ):
        mean = packets(runs, points, of).mean(axis=0)
        trend = rank_correlation(theta, mean)
        told = f"means {', '.join(f'{one:.3g}' for one in mean)}"
        yield measured("theta 0.5 to 0.99", f"rank_correlation_of_theta_and_{name}", [trend], told)


def upto(theta: Sequence[float], curve: Curve, most: float) -> Curve:
    """A curve as far as theta is at most `most`."""
    return curve[:, np.array(theta) <= most]


def packets(runs: Runs, points: Sequence[Point], of: Callable[[pa.Table], float]) -> Curve:
    """A statistic of `packet_hist`, seeds by points."""
    return np.array([fat_tree.packets(runs, of, PABO, point) for point in points]).T


def completion(runs: Runs, points: Sequence[Point]) -> Curve:
    """Mean flow completion time, ms, seeds by points."""
    return np.array([fat_tree.fct(runs, PABO, point) for point in points]).T


def draw(sweeps: Sweeps, published: Published) -> Drawing:
    """Entropy, completion time and delay over theta; the paper prints no numbers here."""
    runs = sweeps[SWEEP]
    theta, points = line(runs, THETA)
    panels = (
        ("reorder entropy (nat)", along(runs, "reorder_entropy", PABO, points)),
        ("mean flow completion time (ms)", completion(runs, points)),
        ("mean delay of a packet (µs)", packets(runs, points, fat_tree.delay)),
    )
    with plots.style():
        made, axes = sheet(3, height=3.2)
        for one, (title, curve), colour in zip(axes, panels, COLOURS, strict=False):
            for seed in curve:
                one.plot(theta, seed, color=colour, alpha=0.18, linewidth=0.8)
            mean_line(one, theta, curve, colour, marker="o", markersize=4)
            one.set_title(title)
            one.set_xlabel("θ")
            one.set_ylim(0, 1.12 * np.nanmax(curve))
    return made


FIGURES: dict[str, Figure] = {"fig15": Figure(figure_15, draw)}
