"""Positions of nodes in networks without tiers: a grid, or a circle."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from overspill.charts.network_graph import Network

COORDINATES = re.compile(r"\D*(\d+(?:_\d+)+)")
INNER_RADIUS = 0.76  # radius of a circle of switches relative to that of their hosts; names are in between
MIN_COORDINATES = 2  # parts of a circle whose names are thinned out separately
LINK_BEND = 0.16  # height of the bow of a link for each switch that it passes
ARC_POINTS = 61  # points of a bow, odd so that one is its middle


@dataclass(frozen=True)
class FlatPositions:
    """Positions of nodes (x from 0 to 1, y up from 0) and rows of switches; `grid` if rows form a grid."""

    x: np.ndarray
    y: np.ndarray
    rows: tuple[tuple[int, ...], ...]
    grid: bool
    cell: float  # distance between columns


def place_flat_network(network: Network, near: list[list[int]]) -> FlatPositions | None:
    """Returns node positions for a one-tier network with hosts at every switch, unless it is a chain.

    `None` for any other network.
    """
    nodes = network.nodes
    switches = [at for at, node in enumerate(nodes) if not node.is_host]
    hosts = {at: [other for other in near[at] if nodes[other].is_host] for at in switches}
    beside = set(pairwise(switches))
    joined = {
        (min(link.a, link.b), max(link.a, link.b))
        for link in network.links
        if not nodes[link.a].is_host and not nodes[link.b].is_host
    }
    if len({nodes[at].tier for at in switches}) != 1 or not all(hosts.values()) or joined <= beside:
        return None
    cells = parse_grid_cells([nodes[at].name for at in switches])
    return place_in_grid(switches, hosts, cells) if cells else place_in_circle(switches, hosts)


def parse_grid_cells(names: list[str]) -> list[tuple[int, float]] | None:
    """Returns row and column of each switch from coordinates in its name; their first half gives the row.

    `None` if the names have no coordinates.
    """
    found = [COORDINATES.fullmatch(name) for name in names]
    if not all(found):
        return None
    at = [[int(part) for part in one[1].split("_")] for one in found if one]
    if len({len(one) for one in at}) != 1:
        return None
    half = len(at[0]) // 2
    sizes = [max(one[which] for one in at) + 1 for which in range(len(at[0]))]
    return [
        (
            round(coordinate_position(one[:half], sizes[:half], 0)),
            coordinate_position(one[half:], sizes[half:], 0.6),
        )
        for one in at
    ]


def coordinate_position(coordinates: list[int], sizes: list[int], gap: float) -> float:
    """Returns the position on one axis for coordinates, the last one fastest, with `gap` between blocks."""
    found, wide = 0.0, 1.0
    for coordinate, size in zip(reversed(coordinates), reversed(sizes), strict=True):
        found += coordinate * wide
        wide = wide * size + gap
    return found


def place_in_grid(
    switches: list[int], hosts: dict[int, list[int]], cells: list[tuple[int, float]]
) -> FlatPositions:
    """Returns node positions in a grid, rows from the top, with hosts below their switch."""
    count = len(switches) + sum(len(own) for own in hosts.values())
    x, y = np.zeros(count), np.zeros(count)
    rows = max(row for row, _ in cells) + 1
    wide = max(column for _, column in cells) + 1
    found: list[list[int]] = [[] for _ in range(rows)]
    for at, (row, column) in zip(switches, cells, strict=True):
        x[at], y[at] = (column + 0.5) / wide, rows - 1 - row
        found[row].append(at)
        for number, host in enumerate(hosts[at]):
            x[host] = (column + 0.5 + 0.6 * ((number + 0.5) / len(hosts[at]) - 0.5)) / wide
            y[host] = y[at] - 0.36
    return FlatPositions(x, y, tuple(tuple(row) for row in found), True, 1 / wide)


def place_in_circle(switches: list[int], hosts: dict[int, list[int]]) -> FlatPositions:
    """Returns node positions on a circle, clockwise from the top, with hosts outside."""
    count = len(switches) + sum(len(own) for own in hosts.values())
    x, y = np.zeros(count), np.zeros(count)

    def place_node(node: int, turn: float, radius: float) -> None:
        x[node] = 0.5 + 0.5 * radius * math.sin(2 * math.pi * turn)
        y[node] = 1.5 + 1.5 * radius * math.cos(2 * math.pi * turn)

    for number, at in enumerate(switches):
        place_node(at, number / len(switches), INNER_RADIUS)
        for order, host in enumerate(hosts[at]):
            fan = 0.7 * ((order + 0.5) / len(hosts[at]) - 0.5)
            place_node(host, (number + fan) / len(switches), 1.0)
    chunk = -(-len(switches) // MIN_COORDINATES)
    rows = (tuple(switches[at : at + chunk]) for at in range(0, len(switches), chunk))
    return FlatPositions(x, y, tuple(rows), False, 1.0)


def bend_grid_link(x: np.ndarray, y: np.ndarray, cell: float) -> tuple[np.ndarray, np.ndarray]:
    """Returns the path of a grid's link, bent around switches between its ends; columns are `cell` wide."""
    across, down = abs(x[1] - x[0]) / cell, abs(y[1] - y[0])
    if (across > 1e-6 and down > 1e-6) or max(across, down) < 1.5:
        return x, y
    along = np.linspace(0, 1, ARC_POINTS)
    bow = LINK_BEND * np.sin(np.pi * along) * min(max(across, down), 4.0)
    if down > 1e-6:
        return x[0] + bow * cell, y[0] + (y[1] - y[0]) * along
    return x[0] + (x[1] - x[0]) * along, y[0] + bow


def path_midpoint(line: tuple[np.ndarray, np.ndarray]) -> tuple[float, float]:
    """Returns the point halfway along the path of a link: a straight line or an arc."""
    x, y = (one if len(one) == 2 else one[len(one) // 2] for one in line)
    return float(np.mean(x)), float(np.mean(y))
