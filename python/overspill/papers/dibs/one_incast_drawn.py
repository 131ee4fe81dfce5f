"""Drawings of figure 2: detours by switch over time, and the buffers of a pod at three instants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure as Drawing

from overspill import plots
from overspill.papers.common import Published, sheet
from overspill.papers.dibs import burst as bursts
from overspill.papers.dibs import fabric
from overspill.papers.dibs.burst import AGGS, EDGE, EDGES, POD, STEP, Burst
from overspill.papers.spec import Runs
from overspill.plots import COLOURS, SHADES

Sweeps = Mapping[str, Runs]

PLACES = {"elsewhere": "other pods", "cores": "cores"}
ROWS = (*PLACES, *reversed(EDGES[1:]), EDGE, *reversed(AGGS))  # from below
LARGEST = 60.0  # square points of a dot of as many detours as the busiest step has


def draw_detours(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 2a, of the first seed: a dot for each switch and step in which it detours."""
    with plots.style():
        made, panels = sheet(1, len(bursts.CASES), height=2.9)
        for axes, case in zip(panels, bursts.CASES, strict=True):
            timeline(axes, case.read(sweeps)[0])
            axes.set_title(f"{case.title} to {bursts.RECEIVER}")
        for axes in panels:
            axes.set_xlim(0, max(one.get_xlim()[1] for one in panels))
        panels[-1].set_xlabel("time (ms); a dot stands for the detours in 0.1 ms, the larger the more")
    return made


def timeline(axes: Axes, burst: Burst) -> None:
    """Detours of each switch over time, larger dots for more, and the three instants of figure 2b."""
    most = max(1.0, max(float(one.max()) for one in burst.detours.values()))
    for row, name in enumerate(ROWS):
        count = burst.detours[name]
        steps = np.flatnonzero(count)
        colour = COLOURS[1] if name == EDGE else COLOURS[0] if name in AGGS else COLOURS[6]
        sizes = 2 + LARGEST * count[steps] / most
        axes.scatter(
            STEP * (steps + 0.5), np.full(len(steps), row), sizes, color=colour, alpha=0.75, linewidths=0
        )
    for name, step in instants(burst):
        axes.axvline(STEP * (step + 0.5), color="#444444", linewidth=1, linestyle=":")
        place: dict[str, Any] = {"ha": "left", "va": "bottom", "fontsize": 9}
        axes.text(STEP * (step + 0.5) + 0.03, len(ROWS) - 0.45, name, **place)
    label = {EDGE: f"{EDGE}, of {bursts.RECEIVER}"} | PLACES
    axes.set_yticks(range(len(ROWS)), [label.get(name, name) for name in ROWS])
    axes.set_ylim(-0.6, len(ROWS) + 0.3)
    axes.set_xlim(left=0)


def instants(burst: Burst) -> Sequence[tuple[str, int]]:
    """The three instants, as steps."""
    return (("t1", burst.t1), ("t2", burst.t2), ("t3", burst.t3))


def draw_buffers(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 2b, of the first seed: the longest queues of the pod's eight switches."""
    shades = LinearSegmentedColormap.from_list("fuller is darker", SHADES)
    with plots.style():
        made, panels = sheet(3, len(bursts.CASES), height=3.0)
        for at, case in enumerate(bursts.CASES):
            burst = case.read(sweeps)[0]
            for axes, (name, step) in zip(panels[3 * at : 3 * at + 3], instants(burst), strict=True):
                longest = np.ma.masked_equal(burst.longest[step], 0)
                image = axes.imshow(longest, cmap=shades, vmin=0, vmax=fabric.PLACES, aspect="auto")
                numbers(axes, burst.longest[step])
                axes.set_title(f"{case.name}, {name} = {STEP * step:.1f} ms")
                ruled(axes, named=name == "t1")
        made.colorbar(image, ax=panels, pad=0.01).set_label("most packets that wait in 0.1 ms (of 100)")
    return made


def ruled(axes: Axes, named: bool) -> None:
    """Names of switches, and lines between the tiers and between ports down and up."""
    axes.set_facecolor("#f4f4f4")
    axes.set_xticks((1.5, 5.5), ("ports down", "ports up"))
    axes.axvline(3.5, color="#999999", linewidth=1)
    axes.axhline(3.5, color="#999999", linewidth=1)
    axes.tick_params(length=0)
    axes.set_yticks(range(len(POD)), POD if named else [""] * len(POD))
    axes.grid(visible=False)


def numbers(axes: Axes, longest: np.ndarray) -> None:
    """How many packets wait at each port."""
    for (row, column), value in np.ndenumerate(longest):
        if value:
            colour = "white" if value > fabric.PLACES / 2 else "black"
            axes.text(column, row, f"{value:.0f}", ha="center", va="center", color=colour, fontsize=7.5)
