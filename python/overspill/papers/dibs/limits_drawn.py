"""Drawings of sections 5.5.3 to 5.6."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure as Drawing

from overspill import plots
from overspill.papers.common import Published, sheet
from overspill.papers.dibs.drawn import Panel, steps, two
from overspill.papers.dibs.mixed import DIBS, Sweeps

FACTOR = "topology.oversubscription"
LIMIT = 0.9  # of Jain's index, in the words of the paper


def draw_ttl(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 12."""
    return two(sweeps["ttl"], Panel("transport.ttl", "time to live (switches)", "Queries", even=True))


def draw_factors(sweeps: Sweeps, published: Published) -> Drawing:
    """Section 5.5.4."""
    runs = sweeps["oversubscription"]
    made = two(runs, Panel(FACTOR, "oversubscription, over two tiers", "Queries"))
    factors = [float(point[FACTOR]) for point in runs.points]
    for axes in made.axes:
        axes.set_xticks(factors, [f"1:{round(factor**2)}" for factor in factors])
    return made


def draw_fairness(sweeps: Sweeps, published: Published) -> Drawing:
    """Section 5.6."""
    runs = sweeps["pairs"]
    x = [float(point["traffic.long.flows"]) for point in runs.points]
    with plots.style():
        made, [axes] = sheet(1)
        steps(axes, x, np.array([runs.metric("jain", DIBS, point) for point in runs.points]).T, DIBS)
        axes.axhline(LIMIT, color="black", linewidth=1, linestyle=":")
        axes.annotate(
            "published: above", (x[-1], LIMIT), (0, -4), textcoords="offset points", va="top", ha="right"
        )
        axes.set_ylim(0, 1.02)
        axes.set_xticks(x)
        axes.set_xlabel("long flows of a pair, each way")
        axes.set_ylabel("Jain's index")
        axes.set_title("How evenly long flows of 64 pairs share")
    return made
