"""Positions of the nodes of a packet trace in its figure, and the curves between them."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from overspill.tracing.packet_trace import PacketTrace

FIGURE_WIDTH, ROW_HEIGHT = 8.7, 1.35  # inches: width of the figure, and distance between rows
HALF_LETTER_WIDTH, HALF_BOX_HEIGHT = (
    0.03,
    0.12,
)  # inches: half the width of a letter, and half the height of a box
BOX_DISTANCE = 0.045  # inches between neighbouring points of a curve
BOX_GAP = 0.085  # smallest distance between nodes of a row, as a share of the width
MAX_NODES_PER_GROUP = 6  # nodes of a row that are all drawn; in longer rows, equal ones are merged


@dataclass(frozen=True)
class NodeLayout:
    """Position of each node by its number: x from 0 to 1, y upward from 0, one row per whole number.

    `drawn_as` maps each node to the node that is drawn for it: itself, or one for all nodes with the same
    neighbours on the path.
    """

    positions: dict[int, tuple[float, float]]
    names: dict[int, str]
    drawn_as: dict[int, int]

    @property
    def height(self) -> float:
        """Number of rows that the nodes extend over."""
        return max(y for _, y in self.positions.values()) - min(y for _, y in self.positions.values()) + 1

    def curve(self, ends: tuple[int, int], again: bool) -> tuple[np.ndarray, np.ndarray]:
        """Returns the curve between two boxes, bent to the right so that both directions are visible.

        It is bent further if `again` is set, which means that another arc joins the same two nodes.
        """
        start, end = (np.array(self.positions[at]) * (FIGURE_WIDTH, ROW_HEIGHT) for at in ends)
        way = end - start
        length = float(np.hypot(*way)) or 1.0
        bend = min(0.15 * length, 0.25) + (0.45 if again else 0.09)
        control = (start + end) / 2 + np.array([way[1], -way[0]]) / length * bend
        along = np.linspace(0, 1, max(9, round(length / BOX_DISTANCE)))[:, None]
        points = (1 - along) ** 2 * start + 2 * along * (1 - along) * control + along**2 * end
        outside = ~(self.is_inside_box(points, ends[0]) | self.is_inside_box(points, ends[1]))
        kept = points[outside] if outside.sum() > 2 else points
        return kept[:, 0] / FIGURE_WIDTH, kept[:, 1] / ROW_HEIGHT

    def is_inside_box(self, points: np.ndarray, node: int) -> np.ndarray:
        """Returns true for points inside the box of a node."""
        middle = np.array(self.positions[node]) * (FIGURE_WIDTH, ROW_HEIGHT)
        half = np.array([0.06 + HALF_LETTER_WIDTH * len(self.names[node]), HALF_BOX_HEIGHT])
        return np.asarray((np.abs(points - middle) < half).all(axis=1))


def place_nodes(traced: PacketTrace) -> NodeLayout:
    """Lays out the nodes of a trace: hosts in the bottom row, switches above by their distance from hosts.

    Nodes of a row keep the order of the trace. More than three switches at a single distance form an ellipse.
    In a long row, nodes that met the same nodes are merged.
    """
    level = hops_to_nearest_host(traced, list_neighbours(traced))
    visited = list(dict.fromkeys(visit.node for visit in traced.visits))
    shown, names = merge_nodes(traced, visited, level)
    near: dict[int, set[int]] = {}
    for arc in traced.arcs:
        near.setdefault(shown[arc.start], set()).add(shown[arc.end])
        near.setdefault(shown[arc.end], set()).add(shown[arc.start])
    rows: dict[int, list[int]] = {}
    for node in dict.fromkeys(shown.values()):
        rows.setdefault(level[node], []).append(node)
    switches = [at for at in rows if at > 0]
    if len(switches) == 1 and len(rows[switches[0]]) > 3:
        return NodeLayout(place_on_ellipse(rows, near), names, shown)
    x: dict[int, float] = {}
    base = max(rows, key=lambda at: (at > 0, len(rows[at])))
    for height in sorted(rows, key=lambda at: (abs(at - base), at)):
        place_row(rows[height], (near, x), first=height == base)
    return NodeLayout({node: (x[node], float(level[node])) for node in x}, names, shown)


def merge_nodes(
    traced: PacketTrace, visited: list[int], level: dict[int, int]
) -> tuple[dict[int, int], dict[int, str]]:
    """Merges nodes that share one box; returns the box of each node, and the label of each box."""
    met: dict[int, set[int]] = {node: set() for node in visited}
    for arc in traced.arcs:
        met[arc.start].add(arc.end)
        met[arc.end].add(arc.start)
    sizes = Counter(level[node] for node in visited)
    groups: dict[object, list[int]] = {}
    for node in visited:
        alike = sizes[level[node]] > MAX_NODES_PER_GROUP and level[node] == max(sizes)
        key = (level[node], tuple(sorted(met[node]))) if alike else node
        groups.setdefault(key, []).append(node)
    shown = {node: group[0] for group in groups.values() for node in group}
    names = {
        group[0]: traced.names[group[0]] if len(group) == 1 else f"{len(group)} x {traced.tier(group[0])}"
        for group in groups.values()
    }
    return shown, names


def list_neighbours(traced: PacketTrace) -> dict[int, set[int]]:
    """Returns the neighbours of each node, by number of the node."""
    found: dict[int, set[int]] = {}
    for (node, _), peer in traced.peers.items():
        found.setdefault(node, set()).add(peer)
    return found


def hops_to_nearest_host(traced: PacketTrace, near: dict[int, set[int]]) -> dict[int, int]:
    """Returns the number of links from each node to the nearest host."""
    found = {at: 0 for at, node in enumerate(traced.network["nodes"]) if node["host"]}
    waiting = deque(found)
    while waiting:
        at = waiting.popleft()
        for other in sorted(near.get(at, ())):
            if other not in found:
                found[other] = found[at] + 1
                waiting.append(other)
    return found


def place_row(row: list[int], known: tuple[dict[int, set[int]], dict[int, float]], first: bool) -> None:
    """Places the nodes of a row: evenly in the order of the trace, or near their neighbours."""
    near, x = known
    if first:
        x.update(zip(row, even_positions(len(row)), strict=True))
        return
    wish = {at: mean_or_middle([x[other] for other in near[at] if other in x]) for at in row}
    ordered = sorted(row, key=lambda at: (wish[at], row.index(at)))
    if len(row) * BOX_GAP > 1:
        x.update(zip(ordered, even_positions(len(row)), strict=True))
        return
    places = [wish[at] for at in ordered]
    for _ in range(2):
        for at in range(1, len(places)):
            places[at] = max(places[at], places[at - 1] + BOX_GAP)
        over = places[-1] - (1 - BOX_GAP / 2)
        if over > 0:
            places[-1] -= over
            for at in range(len(places) - 2, -1, -1):
                places[at] = min(places[at], places[at + 1] - BOX_GAP)
    x.update(zip(ordered, places, strict=True))


def even_positions(count: int) -> Iterable[float]:
    """Returns `count` evenly spaced positions between 0 and 1."""
    return [(at + 0.5) / count for at in range(count)]


def mean_or_middle(values: list[float]) -> float:
    """Returns the mean of positions, or the middle of the figure (0.5) if there are none."""
    return sum(values) / len(values) if values else 0.5


def place_on_ellipse(rows: dict[int, list[int]], near: dict[int, set[int]]) -> dict[int, tuple[float, float]]:
    """Returns positions with the switches on an ellipse and each host outside of its switch."""
    found: dict[int, tuple[float, float]] = {}
    ring = next(row for at, row in rows.items() if at > 0)
    for at, node in enumerate(ring):
        angle = math.pi - 2 * math.pi * at / len(ring)
        found[node] = (0.5 + 0.36 * math.cos(angle), 2 + 1.5 * math.sin(angle))
    for node in rows.get(0, []):
        x, y = found[next(at for at in near[node] if at in found)]
        found[node] = (0.5 + (x - 0.5) * 1.33, 2 + (y - 2) * 1.35)
    return found
