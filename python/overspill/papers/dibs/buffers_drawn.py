"""Drawings of sections 5.5.1 and 5.5.2."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill import plots
from overspill.papers.common import Published, legend, sheet
from overspill.papers.dibs.compare import at
from overspill.papers.dibs.drawn import NAMES, Panel, lines, short, steps
from overspill.papers.dibs.mixed import DIBS, Sweeps
from overspill.papers.spec import Runs

SIZES = Panel("switch.buffer.size", "buffer of a port (packets)", "", log=True, even=True)
TITLES = {"buffers": "K = 20 packets", "buffers_fifth": "K = B/5"}
DEGREE = "traffic.query.senders"
SHARED = {"shared": "300 a second", "shared_alone": "one each 200 ms"}  # sweeps
COUNTS = (0, 1, 100, 10_000, 1_000_000)


def draw_queries(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 11 (b)."""
    return both_thresholds(sweeps, SIZES, "Queries")


def draw_background(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 11 (a)."""
    return both_thresholds(sweeps, short(SIZES, ""), "Background flows of 1 to 10 KB")


def both_thresholds(sweeps: Sweeps, panel: Panel, what: str) -> Drawing:
    """The same panel with either threshold."""
    with plots.style():
        made, axes = sheet(2)
        for place, (name, title) in zip(axes, TITLES.items(), strict=True):
            lines(place, panel, {label: (sweeps[name], variant) for variant, label in NAMES.items()})
            place.set_title(f"{what}, {title}")
    return made


def draw_shared(sweeps: Sweeps, published: Published) -> Drawing:
    """Section 5.5.2: what is lost, and how long queries take; below, those that never meet."""
    with plots.style():
        made, axes = sheet(2, rows=len(SHARED))
        for at_row, (name, what) in enumerate(SHARED.items()):
            one_memory(sweeps[name], what, axes[2 * at_row : 2 * at_row + 2])
    return made


def one_memory(runs: Runs, what: str, axes: Sequence[Axes]) -> None:
    """A row of panels: losses and detours, and queries, by degree."""
    left, right = axes
    degrees = sorted(int(point[DEGREE]) for point in runs.points)
    for variant in NAMES:
        lost = np.array([runs.metric("drops", variant, at(runs, DEGREE, degree)) for degree in degrees]).T
        steps(left, degrees, lost, variant)
    detours = np.array([runs.metric("detours", DIBS, at(runs, DEGREE, degree)) for degree in degrees]).T
    steps(left, degrees, detours, "detours")
    left.set_yscale("symlog", linthresh=1)
    left.set_yticks(COUNTS, [f"{count:,}".replace(",", " ") for count in COUNTS])
    left.set_ylim(bottom=0)
    left.set_title(f"Packets dropped, and detours: {what}")
    left.set_xlabel("responders")
    left.set_ylabel("a run of two seconds")
    legend(left, loc="upper left")
    panel = Panel(DEGREE, "responders", f"Queries: {what}")
    lines(right, panel, {label: (runs, variant) for variant, label in NAMES.items()})
    right.set_xticks(degrees[::2])
