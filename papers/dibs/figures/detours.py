"""Drawings of DIBS's figures 1 and 2: detours of one packet, and of a large incast by switch and time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill import stats
from overspill.papers.common import PublishedValues, draw_published_values, new_panels
from overspill.papers.judge import distribution_free_prediction_interval
from overspill.papers.plotted_data import make_object
from overspill.papers.spec import Draw, Sweeps
from overspill.plots import COLOURS, SHADES

from ..measures import fabric
from ..measures.burst import AGGS, CASES, EDGES, POD, RECEIVER, RECEIVER_EDGE, STEP_MS, Burst
from ..measures.detour_paths import (
    DETOUR_KINDS,
    METRIC_KINDS,
    MIN_DETOURS,
    SWEEP_NAME,
    DetourPath,
    counts_by_kind,
    read_detour_paths,
)

# Positions (x, y) and labels of nodes or groups of nodes on the side of the receiver R.
NODES = {
    "core": (0.5, 0.92, "cores"),
    "agg": (0.5, 0.5, "aggregation"),
    "edge": (0.22, 0.08, "receiver's edge"),
    "edges": (0.86, 0.08, "other edges"),
    "host": (-0.2, 0.08, "R"),
}
# Arc of each kind of detour: start, end, and bend, which is to the right if positive.
ARCS = {"core": ("agg", "core", 0.45), "edges": ("agg", "edges", -0.45), "aggregation": ("edge", "agg", 0.45)}
FORWARDING_LINKS = (("core", "agg"), ("agg", "edge"), ("edges", "agg"), ("edge", "host"))
LABELS = {
    "core": "aggregation\nto core",
    "edges": "aggregation to\nother edges",
    "aggregation": "edge to\naggregation",
    "elsewhere": "elsewhere",
}
OUTSIDE_LABELS = {"elsewhere": "other pods", "cores": "cores"}
ROWS = (*OUTSIDE_LABELS, *reversed(EDGES[1:]), RECEIVER_EDGE, *reversed(AGGS))  # rows from the bottom
MAX_DOT_AREA = 60.0  # area in square points of a dot for the busiest step


def draw_packet(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 1: the detours of one packet that has 15, and the range over all such packets."""
    found = read_detour_paths(sweeps[SWEEP_NAME])
    paper = {metric: value for (_, metric), value in published.items()}
    made, [left, right] = new_panels(2, height=3.8)
    marks = [paper.get(metric) for metric in METRIC_KINDS]
    draw_arcs(left, select_packet(found, marks))
    draw_ranges(right, counts_by_kind(found))
    draw_published_values(right, list(enumerate(marks)), "the paper's packet")
    if right.get_legend_handles_labels()[0]:
        right.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    right.set_ylabel("of 15 detours")
    return made


def draw_ranges(axes: Axes, of: Mapping[str, np.ndarray]) -> None:
    """Draws the mean number of detours of each kind, and the 95% prediction interval of one more packet."""
    for at, kind in enumerate(DETOUR_KINDS):
        values = [float(one) for one in of[kind]]
        between = distribution_free_prediction_interval(values, stats.CONFIDENCE_LEVEL)
        if between is not None:
            style: dict[str, Any] = {
                "color": COLOURS[0],
                "label": "measured: mean, and range of 95% of packets",
            }
            axes.vlines(
                at, *between, linewidth=7, alpha=0.35, **style if at == 0 else style | {"label": None}
            )
            axes.plot(at, stats.mean(values), "o", color=COLOURS[0])
    axes.set_xticks(range(len(DETOUR_KINDS)), [LABELS[kind] for kind in DETOUR_KINDS])
    axes.grid(False, axis="x")
    axes.axhline(0, color="#999999", linewidth=0.8)


def select_packet(found: Sequence[Sequence[DetourPath]], wanted: Sequence[float | None]) -> DetourPath | None:
    """Returns the packet with 15 detours whose kinds are most like `wanted`; `None` without packets."""
    every = [one for by_seed in found for one in by_seed if len(one.kinds) == MIN_DETOURS]
    aim = np.array([one or 0 for one in wanted])
    return min(every, key=lambda one: float(abs(one.counts - aim).sum()), default=None)


def draw_arcs(axes: Axes, packet: DetourPath | None) -> None:
    """Draws detours as dashed arcs, thicker for more detours, and forwarding as solid arrows."""
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.set_xlim(-0.3, 1.1)
    axes.set_ylim(-0.02, 1.02)
    style: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 13, "shrinkA": 17, "shrinkB": 17}
    for start, end in FORWARDING_LINKS:
        draw_arrow(axes, (start, end, 0.0), "", style | {"color": "#b0b5ba", "linewidth": 1.2})
    counts = dict(
        zip(DETOUR_KINDS, packet.counts if packet else np.zeros(len(DETOUR_KINDS), int), strict=True)
    )
    for at, (kind, way) in enumerate(ARCS.items()):
        if count := int(counts[kind]):
            look = {"color": COLOURS[at], "linewidth": 1 + 0.25 * count, "linestyle": "--"}
            draw_arrow(axes, way, f"{count}", style | look)
    for x, y, name in NODES.values():
        box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": "#444444"}
        axes.text(x, y, name, ha="center", va="center", bbox=box, fontsize=9)
    if packet is None:
        axes.set_title(f"No simulated packet has {MIN_DETOURS} detours")
        return
    rest = f" ({counts['elsewhere']} elsewhere)" if counts["elsewhere"] else ""
    axes.set_title(f"Detours of the simulated packet nearest to the paper's{rest}")


def draw_arrow(axes: Axes, way: tuple[str, str, float], text: str, style: Mapping[str, Any]) -> None:
    """Draws an arrow from node to node with a bend, and a text beside its middle."""
    start, end = (np.array(NODES[name][:2]) for name in way[:2])
    bend = f"arc3,rad={way[2]}"
    axes.add_patch(make_object("arrow", tuple(start), tuple(end), connectionstyle=bend, **style))
    if text:
        away = np.sign(way[2]) * np.array([end[1] - start[1], start[0] - end[0]])
        x, y = (start + end) / 2 + (abs(way[2]) / 2 + 0.06 / np.hypot(*away)) * away
        axes.text(x, y, text, ha="center", va="center", color=style["color"], fontsize=12, weight="bold")


def draw_detours(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 2a of the first seed: a dot for each switch and step in which it detours."""
    made, panels = new_panels(1, len(CASES), height=2.9)
    for axes, case in zip(panels, CASES, strict=True):
        draw_timeline(axes, case.read(sweeps)[0])
        axes.set_title(f"{case.title} to {RECEIVER}")
    for axes in panels:
        axes.set_xlim(0, max(one.get_xlim()[1] for one in panels))
    panels[-1].set_xlabel("time (ms); dot area: detours in 0.1 ms")
    return made


def draw_timeline(axes: Axes, burst: Burst) -> None:
    """Draws the detours of each switch over time, larger dots for more, and the times t1, t2 and t3."""
    most = max(1.0, max(float(one.max()) for one in burst.detours.values()))
    for row, name in enumerate(ROWS):
        count = burst.detours[name]
        steps = np.flatnonzero(count)
        colour = COLOURS[1] if name == RECEIVER_EDGE else COLOURS[0] if name in AGGS else COLOURS[6]
        sizes = 2 + MAX_DOT_AREA * count[steps] / most
        axes.scatter(
            STEP_MS * (steps + 0.5),
            np.full(len(steps), row),
            sizes,
            color=colour,
            alpha=0.75,
            linewidths=0,
        )
    for name, step in named_times(burst):
        axes.axvline(STEP_MS * (step + 0.5), color="#444444", linewidth=1, linestyle=":")
        place: dict[str, Any] = {"ha": "left", "va": "bottom", "fontsize": 9}
        axes.text(STEP_MS * (step + 0.5) + 0.03, len(ROWS) - 0.45, name, **place)
    label = {RECEIVER_EDGE: f"{RECEIVER_EDGE}, of {RECEIVER}"} | OUTSIDE_LABELS
    axes.set_yticks(range(len(ROWS)), [label.get(name, name) for name in ROWS])
    axes.set_ylim(-0.6, len(ROWS) + 0.3)
    axes.set_xlim(left=0)


def named_times(burst: Burst) -> Sequence[tuple[str, int]]:
    """Returns name and time step of the instants t1, t2 and t3 of figure 2b."""
    return (("t1", burst.t1), ("t2", burst.t2), ("t3", burst.t3))


def draw_buffers(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 2b of the first seed: the longest queues of the pod's eight switches."""
    made, panels = new_panels(3, len(CASES), height=3.0)
    shades = make_object("shades", SHADES)
    for at, case in enumerate(CASES):
        burst = case.read(sweeps)[0]
        for axes, (name, step) in zip(panels[3 * at : 3 * at + 3], named_times(burst), strict=True):
            longest = np.ma.masked_equal(burst.longest[step], 0)
            image = axes.imshow(longest, cmap=shades, vmin=0, vmax=fabric.BUFFER_PACKETS, aspect="auto")
            draw_queue_lengths(axes, burst.longest[step])
            axes.set_title(f"{case.name}, {name} = {STEP_MS * step:.1f} ms")
            draw_grid_lines(axes, named=name == "t1")
    made.colorbar(image, ax=panels, pad=0.01).set_label("longest queue in 0.1 ms (packets; capacity 100)")
    return made


def draw_grid_lines(axes: Axes, named: bool) -> None:
    """Draws names of switches, and lines between tiers and between ports down and up."""
    axes.set_facecolor("#f4f4f4")
    axes.set_xticks((1.5, 5.5), ("ports down", "ports up"))
    axes.axvline(3.5, color="#999999", linewidth=1)
    axes.axhline(3.5, color="#999999", linewidth=1)
    axes.tick_params(length=0)
    axes.set_yticks(range(len(POD)), POD if named else [""] * len(POD))
    axes.grid(visible=False)


def draw_queue_lengths(axes: Axes, longest: np.ndarray) -> None:
    """Writes the number of queued packets at each port."""
    for (row, column), value in np.ndenumerate(longest):
        if value:
            colour = "white" if value > fabric.BUFFER_PACKETS / 2 else "black"
            axes.text(column, row, f"{value:.0f}", ha="center", va="center", color=colour, fontsize=7.5)


DRAWINGS: dict[str, Draw] = {
    "fig1": draw_packet,
    "fig2a": draw_detours,
    "fig2b": draw_buffers,
}
