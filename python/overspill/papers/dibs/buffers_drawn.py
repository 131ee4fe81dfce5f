"""Drawings of sections 5.5.1 and 5.5.2."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure as Drawing

from overspill import plots
from overspill.papers.common import Published, legend, sheet
from overspill.papers.dibs.compare import at
from overspill.papers.dibs.drawn import NAMES, Panel, lines, short, steps
from overspill.papers.dibs.mixed import DIBS, Sweeps

SIZES = Panel("switch.buffer.size", "buffer of a port (packets)", "", log=True, even=True)
TITLES = {"buffers": "K = 20 packets", "buffers_fifth": "K = B/5"}
DEGREE = "traffic.query.senders"
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
    """Section 5.5.2: what is lost, and how long queries take."""
    runs = sweeps["shared"]
    degrees = sorted(int(point[DEGREE]) for point in runs.points)
    with plots.style():
        made, [left, right] = sheet(2)
        for variant in NAMES:
            lost = np.array([runs.metric("drops", variant, at(runs, DEGREE, degree)) for degree in degrees]).T
            steps(left, degrees, lost, variant)
        detours = np.array([runs.metric("detours", DIBS, at(runs, DEGREE, degree)) for degree in degrees]).T
        steps(left, degrees, detours, "detours")
        left.set_yscale("symlog", linthresh=1)
        left.set_yticks(COUNTS, [f"{count:,}".replace(",", " ") for count in COUNTS])
        left.set_ylim(bottom=0)
        left.set_title("Packets dropped, and detours")
        left.set_xlabel("responders")
        left.set_ylabel("a run of two seconds")
        legend(left, loc="upper left")
        panel = Panel(DEGREE, "responders", "Queries")
        lines(right, panel, {label: (runs, variant) for variant, label in NAMES.items()})
        right.set_xticks(degrees[::2])
    return made
