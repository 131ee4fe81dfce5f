"""Drawings of figure 4."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill import plots
from overspill.papers.abq.schemes import (
    ABQ,
    COLOURS,
    NAMES,
    SENDERS,
    Sweeps,
    numbers,
    over_queues,
    over_times,
)
from overspill.papers.common import Curve, Published, legend, mean_line, sheet
from overspill.papers.spec import Runs

BESIDE = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}


def colour(variant: str) -> str:
    """A scheme's colour."""
    return plots.COLOURS[COLOURS[variant]]


def draw_queues(sweeps: Sweeps, _: Published) -> Drawing:
    """Figure 4a: means, and the 5th and 95th percentiles over time as whiskers."""
    runs = sweeps["incast"]
    senders, width = numbers(runs, SENDERS), 0.2
    with plots.style():
        made, [axes] = sheet(1, height=4.2)
        for at, (variant, name) in enumerate(NAMES.items()):
            mean = over_queues(runs, variant, lambda queue: queue.mean).mean(axis=0)
            low = over_queues(runs, variant, lambda queue: queue.percentiles[0]).mean(axis=0)
            high = over_queues(runs, variant, lambda queue: queue.percentiles[1]).mean(axis=0)
            places = np.arange(len(senders)) + (at - 1.5) * width
            axes.bar(places, mean, width * 0.94, color=colour(variant), label=name)
            reach = np.maximum(0, [mean - low, high - mean])
            axes.errorbar(places, mean, reach, fmt="none", ecolor="#222222", elinewidth=0.9, capsize=1.5)
        both = over_queues(runs, ABQ, lambda queue: queue.mean + queue.held).mean(axis=0)
        places = np.arange(len(senders)) + 1.5 * width
        axes.bar(places, both, width * 0.94, color=plots.COLOURS[4], label="ABQ, held ACKs too")
        axes.set_xticks(range(len(senders)), [f"{one:g}" for one in senders])
        axes.grid(False, axis="x")
        axes.set_xlabel("senders")
        axes.set_ylabel("queue (KB)")
        axes.set_title("Mean over time; whiskers: 5th and 95th percentile")
        legend(axes, **BESIDE)
    return made


def curves(axes: Axes, runs: Runs, of: Callable[[Runs, str], Curve]) -> None:
    """A line for each scheme over the number of senders."""
    for variant, name in NAMES.items():
        mean_line(axes, numbers(runs, SENDERS), of(runs, variant), colour(variant), label=name, marker=".")
    axes.set_xlabel("senders")
    axes.set_ylim(bottom=0)
    legend(axes, **BESIDE)


def draw_goodput(sweeps: Sweeps, _: Published) -> Drawing:
    """Figure 4b."""
    with plots.style():
        made, [axes] = sheet(1)
        curves(axes, sweeps["incast"], lambda runs, one: over_times(runs, one, lambda times: times.goodput))
        axes.set_ylim(0, 1000)
        axes.set_ylabel("goodput (Mb/s)")
        axes.set_title("32 KB from each sender")
    return made


def draw_drops(sweeps: Sweeps, _: Published) -> Drawing:
    """Figure 4c."""
    with plots.style():
        made, [axes] = sheet(1)
        curves(axes, sweeps["incast"], lambda runs, one: over_queues(runs, one, lambda queue: queue.drops))
        axes.set_ylabel("packets dropped")
        axes.set_title("32 KB from each sender")
    return made
