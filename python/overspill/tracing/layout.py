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

WIDTH, ROW = 8.7, 1.35  # inches: width of the figure, and distance between rows
HALF_LETTER, HALF_HEIGHT = 0.03, 0.12  # inches: half the width of a letter, and half the height of a box
APART = 0.045  # inches between neighbouring points of a curve
GAP = 0.085  # smallest distance between nodes of a row, as a share of the width
MOST = 6  # nodes of a row that are all drawn; in longer rows, equal ones are merged


@dataclass(frozen=True)
class Layout:
    """Position of each node by its number: x from 0 to 1, y upward from 0, one row per whole number.

    `shown` maps each node to the node that is drawn for it: itself, or one for all that met the same nodes.
    """

    places: dict[int, tuple[float, float]]
    names: dict[int, str]
    shown: dict[int, int]

    @property
    def height(self) -> float:
        """Number of rows from the lowest to the highest node."""
        return max(y for _, y in self.places.values()) - min(y for _, y in self.places.values()) + 1

    def curve(self, ends: tuple[int, int], again: bool) -> tuple[np.ndarray, np.ndarray]:
        """Returns the curve between two boxes, bent to the right so that both directions are visible.

        It is bent further if `again` is set, which means that another arc joins the same two nodes.
        """
        start, end = (np.array(self.places[at]) * (WIDTH, ROW) for at in ends)
        way = end - start
        length = float(np.hypot(*way)) or 1.0
        bend = min(0.15 * length, 0.25) + (0.45 if again else 0.09)
        control = (start + end) / 2 + np.array([way[1], -way[0]]) / length * bend
        along = np.linspace(0, 1, max(9, round(length / APART)))[:, None]
        points = (1 - along) ** 2 * start + 2 * along * (1 - along) * control + along**2 * end
        outside = ~(self.inside(points, ends[0]) | self.inside(points, ends[1]))
        kept = points[outside] if outside.sum() > 2 else points
        return kept[:, 0] / WIDTH, kept[:, 1] / ROW

    def inside(self, points: np.ndarray, node: int) -> np.ndarray:
        """Returns which points are inside the box of a node."""
        middle = np.array(self.places[node]) * (WIDTH, ROW)
        half = np.array([0.06 + HALF_LETTER * len(self.names[node]), HALF_HEIGHT])
        return np.asarray((np.abs(points - middle) < half).all(axis=1))


def placed(traced: PacketTrace) -> Layout:
    """Returns the layout of a trace: hosts in the bottom row, switches above by their distance from hosts.

    Nodes of a row keep the order of the trace. More than three switches at a single distance form an ellipse.
    In a long row, nodes that met the same nodes are merged.
    """
    level = heights(traced, neighbours(traced))
    visited = list(dict.fromkeys(visit.node for visit in traced.visits))
    shown, names = merged(traced, visited, level)
    near: dict[int, set[int]] = {}
    for arc in traced.arcs:
        near.setdefault(shown[arc.start], set()).add(shown[arc.end])
        near.setdefault(shown[arc.end], set()).add(shown[arc.start])
    rows: dict[int, list[int]] = {}
    for node in dict.fromkeys(shown.values()):
        rows.setdefault(level[node], []).append(node)
    switches = [at for at in rows if at > 0]
    if len(switches) == 1 and len(rows[switches[0]]) > 3:
        return Layout(ellipse(rows, near), names, shown)
    x: dict[int, float] = {}
    base = max(rows, key=lambda at: (at > 0, len(rows[at])))
    for height in sorted(rows, key=lambda at: (abs(at - base), at)):
        spread(rows[height], (near, x), first=height == base)
    return Layout({node: (x[node], float(level[node])) for node in x}, names, shown)


def merged(
    traced: PacketTrace, visited: list[int], level: dict[int, int]
) -> tuple[dict[int, int], dict[int, str]]:
    """Returns the node that is drawn for each node, and the label of each drawn node."""
    met: dict[int, set[int]] = {node: set() for node in visited}
    for arc in traced.arcs:
        met[arc.start].add(arc.end)
        met[arc.end].add(arc.start)
    sizes = Counter(level[node] for node in visited)
    groups: dict[object, list[int]] = {}
    for node in visited:
        alike = sizes[level[node]] > MOST and level[node] == max(sizes)
        key = (level[node], tuple(sorted(met[node]))) if alike else node
        groups.setdefault(key, []).append(node)
    shown = {node: group[0] for group in groups.values() for node in group}
    names = {
        group[0]: traced.names[group[0]] if len(group) == 1 else f"{len(group)} x {traced.tier(group[0])}"
        for group in groups.values()
    }
    return shown, names


def neighbours(traced: PacketTrace) -> dict[int, set[int]]:
    """Returns the neighbours of each node."""
    found: dict[int, set[int]] = {}
    for (node, _), peer in traced.peers.items():
        found.setdefault(node, set()).add(peer)
    return found


def heights(traced: PacketTrace, near: dict[int, set[int]]) -> dict[int, int]:
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


def spread(row: list[int], known: tuple[dict[int, set[int]], dict[int, float]], first: bool) -> None:
    """Places the nodes of a row: evenly in the order of the trace, or near their neighbours."""
    near, x = known
    if first:
        x.update(zip(row, even(len(row)), strict=True))
        return
    wish = {at: mean([x[other] for other in near[at] if other in x]) for at in row}
    ordered = sorted(row, key=lambda at: (wish[at], row.index(at)))
    if len(row) * GAP > 1:
        x.update(zip(ordered, even(len(row)), strict=True))
        return
    places = [wish[at] for at in ordered]
    for _ in range(2):
        for at in range(1, len(places)):
            places[at] = max(places[at], places[at - 1] + GAP)
        over = places[-1] - (1 - GAP / 2)
        if over > 0:
            places[-1] -= over
            for at in range(len(places) - 2, -1, -1):
                places[at] = min(places[at], places[at + 1] - GAP)
    x.update(zip(ordered, places, strict=True))


def even(count: int) -> Iterable[float]:
    """Returns `count` evenly spaced positions between 0 and 1."""
    return [(at + 0.5) / count for at in range(count)]


def mean(values: list[float]) -> float:
    """Returns the mean, or the middle of the figure (0.5) without values."""
    return sum(values) / len(values) if values else 0.5


def ellipse(rows: dict[int, list[int]], near: dict[int, set[int]]) -> dict[int, tuple[float, float]]:
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
