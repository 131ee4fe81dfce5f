"""Figure 1 drawn: the detours of one packet as arcs, and how those of all such packets divide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.patches import FancyArrowPatch

from overspill.charts import mpl
from overspill.charts.spec import COLOURS
from overspill.papers.dibs.journeys import KINDS, OFTEN, SWEEP, Journey, journeys, shares
from overspill.papers.pabo.bars import Bars, grouped
from overspill.papers.pabo.common import Published, sheet
from overspill.papers.spec import Runs

Sweeps = Mapping[str, Runs]

# Where the nodes of the receiver's side are drawn, and their names.
NODES = {
    "core": (0.28, 0.86, "cores"),
    "agg": (0.5, 0.5, "aggregation"),
    "edge": (0.28, 0.16, "receiver's edge"),
    "edges": (0.82, 0.16, "other edges"),
    "host": (0.03, 0.16, "R"),
}
# Detours of a kind, from where to where.
ARCS = {"core": ("agg", "core"), "edges": ("agg", "edges"), "aggregation": ("edge", "agg")}
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
    found = journeys(sweeps[SWEEP])
    by_seed = np.array([shares(one) for one in found])
    paper = {metric: value for (_, metric), value in published.items()}
    with mpl.style():
        made, [left, right] = sheet(2, height=3.8)
        arcs(left, sample(found))
        values = [[by_seed[:, at] for at in range(len(KINDS))]]
        marks = [[paper.get(PUBLISHED[kind]) for kind in KINDS]]
        grouped(right, [LABELS[kind] for kind in KINDS], Bars(("mean of ours",), values), marks)
        right.set_ylabel("of 15 detours")
    return made


def sample(found: Sequence[Sequence[Journey]]) -> Journey | None:
    """The first packet with the fewest detours, 15 where there is one; none without packets."""
    every = [one for by_seed in found for one in by_seed]
    return min(every, key=lambda one: len(one.kinds)) if every else None


def arcs(axes: Axes, packet: Journey | None) -> None:
    """Detours as dashed arcs, the thicker the more; solid where it is forwarded."""
    axes.set_axis_off()
    axes.set_xlim(-0.05, 1.05)
    axes.set_ylim(0, 1)
    style: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 11, "shrinkA": 20, "shrinkB": 20}
    for start, end in WAYS:
        arrow(
            axes, (start, end), "", style | {"color": "#b0b5ba", "linewidth": 1.2, "connectionstyle": "arc3"}
        )
    counts = dict(zip(KINDS, packet.counts if packet else np.zeros(len(KINDS), int), strict=True))
    for at, (kind, way) in enumerate(ARCS.items()):
        if count := int(counts[kind]):
            look = {"color": COLOURS[at], "linewidth": 1 + 0.45 * count, "linestyle": (0, (3, 1.2))}
            arrow(axes, way, f"{count}", style | look | {"connectionstyle": "arc3,rad=0.35"})
    for x, y, name in NODES.values():
        box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": "#444444"}
        axes.text(x, y, name, ha="center", va="center", bbox=box, fontsize=9)
    if packet is None:
        axes.set_title(f"No packet is detoured {OFTEN} times")
        return
    rest = f", {counts['elsewhere']} elsewhere" if counts["elsewhere"] else ""
    axes.set_title(f"A packet with {len(packet.kinds)} detours{rest} (flow {packet.flow})")


def arrow(axes: Axes, way: tuple[str, str], text: str, style: Mapping[str, Any]) -> None:
    """An arrow from node to node, with a text beside its middle."""
    start, end = (np.array(NODES[name][:2]) for name in way)
    axes.add_patch(FancyArrowPatch(tuple(start), tuple(end), **style))
    if text:
        along = end - start
        x, y = (start + end) / 2 + 0.26 * np.array([along[1], -along[0]])
        axes.text(x, y, text, ha="center", va="center", color=style["color"], fontsize=12, weight="bold")
