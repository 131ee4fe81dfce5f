"""Figure 1 drawn: the detours of one packet as arcs, and how those of all such packets divide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.patches import FancyArrowPatch

from overspill import plots
from overspill.papers.bars import Bars, grouped
from overspill.papers.common import Published, sheet
from overspill.papers.dibs.detour_paths import KINDS, OFTEN, SWEEP, DetourPath, detour_paths, shares
from overspill.papers.spec import Runs
from overspill.plots import COLOURS

Sweeps = Mapping[str, Runs]

# Where the nodes of the receiver's side are drawn, and their names.
NODES = {
    "core": (0.5, 0.92, "cores"),
    "agg": (0.5, 0.5, "aggregation"),
    "edge": (0.22, 0.08, "receiver's edge"),
    "edges": (0.86, 0.08, "other edges"),
    "host": (-0.2, 0.08, "R"),
}
# Detours of a kind, from where to where, and how far the arc bends to the right of its way.
ARCS = {"core": ("agg", "core", 0.45), "edges": ("agg", "edges", -0.45), "aggregation": ("edge", "agg", 0.45)}
WAYS = (("core", "agg"), ("agg", "edge"), ("edges", "agg"), ("edge", "host"))
LABELS = {
    "core": "aggregation\nto core",
    "edges": "aggregation to\nother edges",
    "aggregation": "edge to\naggregation",
    "elsewhere": "elsewhere",
}
PUBLISHED = {
    "core": "aggregation_to_core_per_15_detours",
    "edges": "aggregation_to_other_edges_per_15_detours",
    "aggregation": "edge_to_aggregation_per_15_detours",
    "elsewhere": "elsewhere_per_15_detours",
}


def draw_packet(sweeps: Sweeps, published: Published) -> Drawing:
    """A packet with 15 detours, and the mean over all with as many or more."""
    found = detour_paths(sweeps[SWEEP])
    by_seed = np.array([shares(one) for one in found])
    paper = {metric: value for (_, metric), value in published.items()}
    with plots.style():
        made, [left, right] = sheet(2, height=3.8)
        marks = [[paper.get(PUBLISHED[kind]) for kind in KINDS]]
        values = [[by_seed[:, at] for at in range(len(KINDS))]]
        arcs(left, sample(found, marks[0]))
        grouped(right, [LABELS[kind] for kind in KINDS], Bars(("mean of ours, 15 or more",), values), marks)
        right.set_ylabel("of 15 detours")
        right.set_ylim(-0.4, OFTEN)
    return made


def sample(found: Sequence[Sequence[DetourPath]], wanted: Sequence[float | None]) -> DetourPath | None:
    """Of packets with 15 detours the one whose kinds are nearest to those wanted; none without packets."""
    every = [one for by_seed in found for one in by_seed if len(one.kinds) == OFTEN]
    aim = np.array([one or 0 for one in wanted])
    return min(every, key=lambda one: float(abs(one.counts - aim).sum()), default=None)


def arcs(axes: Axes, packet: DetourPath | None) -> None:
    """Detours as dashed arcs, the thicker the more; solid where it is forwarded."""
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.set_xlim(-0.3, 1.1)
    axes.set_ylim(-0.02, 1.02)
    style: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 13, "shrinkA": 17, "shrinkB": 17}
    for start, end in WAYS:
        arrow(axes, (start, end, 0.0), "", style | {"color": "#b0b5ba", "linewidth": 1.2})
    counts = dict(zip(KINDS, packet.counts if packet else np.zeros(len(KINDS), int), strict=True))
    for at, (kind, way) in enumerate(ARCS.items()):
        if count := int(counts[kind]):
            look = {"color": COLOURS[at], "linewidth": 1 + 0.25 * count, "linestyle": "--"}
            arrow(axes, way, f"{count}", style | look)
    for x, y, name in NODES.values():
        box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": "#444444"}
        axes.text(x, y, name, ha="center", va="center", bbox=box, fontsize=9)
    if packet is None:
        axes.set_title(f"None of our packets has {OFTEN} detours")
        return
    rest = f" ({counts['elsewhere']} elsewhere)" if counts["elsewhere"] else ""
    axes.set_title(f"Detours of one of our packets{rest}, the nearest to the paper's")


def arrow(axes: Axes, way: tuple[str, str, float], text: str, style: Mapping[str, Any]) -> None:
    """An arrow from node to node with a bend, and a text beside its middle."""
    start, end = (np.array(NODES[name][:2]) for name in way[:2])
    bend = f"arc3,rad={way[2]}"
    axes.add_patch(FancyArrowPatch(tuple(start), tuple(end), connectionstyle=bend, **style))
    if text:
        away = np.sign(way[2]) * np.array([end[1] - start[1], start[0] - end[0]])
        x, y = (start + end) / 2 + (abs(way[2]) / 2 + 0.06 / np.hypot(*away)) * away
        axes.text(x, y, text, ha="center", va="center", color=style["color"], fontsize=12, weight="bold")
