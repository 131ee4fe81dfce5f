"""Figure 1 drawn: the detours of one packet as arcs, and how those of all such packets divide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.patches import FancyArrowPatch

from overspill import plots, stats
from overspill.papers.common import Published, marked, sheet
from overspill.papers.dibs.detour_paths import KINDS, OFTEN, SWEEP, DetourPath, detour_paths, divided
from overspill.papers.judge import interval_of_part
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
    "core": "aggregation_to_core",
    "edges": "aggregation_to_other_edges",
    "aggregation": "edge_to_aggregation",
    "elsewhere": "elsewhere",
}


def draw_packet(sweeps: Sweeps, published: Published) -> Drawing:
    """A packet with 15 detours, and within what one of all with as many lies."""
    found = detour_paths(sweeps[SWEEP])
    paper = {metric: value for (_, metric), value in published.items()}
    with plots.style():
        made, [left, right] = sheet(2, height=3.8)
        marks = [paper.get(PUBLISHED[kind]) for kind in KINDS]
        arcs(left, sample(found, marks))
        ranges(right, divided(found))
        marked(right, list(enumerate(marks)), "the paper's packet")
        if right.get_legend_handles_labels()[0]:
            right.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
        right.set_ylabel("of 15 detours")
    return made


def ranges(axes: Axes, of: Mapping[str, np.ndarray]) -> None:
    """The mean of each kind, and where one more packet lies with 95 %."""
    for at, kind in enumerate(KINDS):
        values = [float(one) for one in of[kind]]
        between = interval_of_part(values, stats.LEVEL)
        if between is not None:
            style: dict[str, Any] = {"color": COLOURS[0], "label": "ours: mean, and 95 % of packets"}
            axes.vlines(
                at, *between, linewidth=7, alpha=0.35, **style if at == 0 else style | {"label": None}
            )
            axes.plot(at, stats.mean(values), "o", color=COLOURS[0])
    axes.set_xticks(range(len(KINDS)), [LABELS[kind] for kind in KINDS])
    axes.grid(False, axis="x")
    axes.axhline(0, color="#999999", linewidth=0.8)


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
