"""Positions of nodes in a drawn network: hosts below their switches, tiers above one another."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass

import numpy as np

from overspill.charts import flat_layout
from overspill.charts.network_graph import Network


@dataclass(frozen=True)
class NodePositions:
    """Positions of nodes, x from 0 to 1 and y upward; rows of switches, the one at the hosts first."""

    x: np.ndarray
    y: np.ndarray
    rows: tuple[tuple[int, ...], ...]
    hosts_per_column: int  # hosts in a column below their switch
    flat_positions: flat_layout.FlatPositions | None = None  # set for a network without tiers

    @property
    def aspect(self) -> float | None:
        """Scale of y relative to x that makes circular networks round; `None` for all other networks."""
        return 1 / 3 if self.flat_positions and not self.flat_positions.grid else None


def list_neighbours(network: Network) -> list[list[int]]:
    """Returns the neighbours of each node."""
    found: list[list[int]] = [[] for _ in network.nodes]
    for link in network.links:
        found[link.a].append(link.b)
        found[link.b].append(link.a)
    return found


def assign_levels(network: Network, near: list[list[int]]) -> list[int]:
    """Returns the row of each node: 0 for hosts, 1 for the tier with most hosts, else by distance from it.

    If all switches are of one tier, rows are distances from hosts.
    """
    nodes = network.nodes
    attached = Counter(nodes[near[at][0]].tier for at, node in enumerate(nodes) if node.is_host and near[at])
    edge = min(attached, key=lambda tier: (-attached[tier], tier), default="")
    alone = len({node.tier for node in nodes if not node.is_host}) < 2
    start = [at for at, node in enumerate(nodes) if (node.is_host if alone else node.tier == edge)]
    found = dict.fromkeys(start, 0 if alone else 1)
    waiting = deque(start)
    while waiting:
        at = waiting.popleft()
        for other in near[at]:
            if other not in found and not nodes[other].is_host:
                found[other] = found[at] + 1
                waiting.append(other)
    return [0 if node.is_host else found.get(at, 1) for at, node in enumerate(nodes)]


def place_nodes(network: Network) -> NodePositions:
    """Returns positions with hosts at the bottom and tiers above, spread evenly near their neighbours.

    A network without tiers is a grid or a circle, unless it is a chain.
    """
    near = list_neighbours(network)
    if spots := flat_layout.place_flat_network(network, near):
        return NodePositions(spots.x, spots.y, spots.rows, 1, spots)
    level = assign_levels(network, near)
    count = len(network.nodes)
    x, y = np.zeros(count), np.zeros(count)
    slots = order_slots(network, near, level)
    # The width of a switch's slot depends on its hosts, so that all dots have the same distance.
    deep = hosts_per_column(slots)
    widths = np.array([max(1, -(-len(hosts) // deep)) + 0.6 for _, hosts in slots])
    starts = np.concatenate([[0.0], np.cumsum(widths)]) / widths.sum()
    for (switch, hosts), left, right in zip(slots, starts[:-1], starts[1:], strict=True):
        columns = max(1, -(-len(hosts) // deep))
        for at, host in enumerate(hosts):
            x[host] = left + (right - left) * (0.3 + at % columns + 0.5) / (columns + 0.6)
            y[host] = -0.16 * (at // columns)
        if switch is not None and level[switch] == 1:
            x[switch], y[switch] = (left + right) / 2, 1.0
    rows = [tuple(switch for switch, _ in slots if switch is not None and level[switch] == 1)]
    for height in range(2, max(level, default=1) + 1):
        rows.append(place_row_above(network, near, (level, height), x))
        y[list(rows[-1])] = height
    return NodePositions(x, y, tuple(row for row in rows if row), deep)


SwitchSlot = tuple[int | None, list[int]]


def order_slots(network: Network, near: list[list[int]], level: list[int]) -> list[SwitchSlot]:
    """Returns switches with their hosts, in the order of the hosts, then those of the row without hosts."""
    found: dict[int | None, list[int]] = {}
    for at, node in enumerate(network.nodes):
        if node.is_host:
            found.setdefault(near[at][0] if near[at] else None, []).append(at)
    for at, node in enumerate(network.nodes):
        if not node.is_host and level[at] == 1:
            found.setdefault(at, [])
    return list(found.items())


def hosts_per_column(slots: list[SwitchSlot]) -> int:
    """Returns the number of hosts drawn per column, so that a row has at most about a hundred columns."""
    most = max((len(hosts) for _, hosts in slots), default=1)
    for deep in range(1, most + 1):
        if sum(max(1, -(-len(hosts) // deep)) for _, hosts in slots) <= 110:
            return deep
    return max(most, 1)


def place_row_above(
    network: Network, near: list[list[int]], which: tuple[list[int], int], x: np.ndarray
) -> tuple[int, ...]:
    """Returns the switches of a level, placed evenly in the order of their neighbours below."""
    level, height = which
    row = [at for at, node in enumerate(network.nodes) if not node.is_host and level[at] == height]

    def mean_neighbour_position(at: int) -> float:
        below = [float(x[other]) for other in near[at] if level[other] == height - 1]
        return round(sum(below) / len(below), 9) if below else 0.5

    row.sort(key=lambda at: (mean_neighbour_position(at), at))
    for place, at in enumerate(row):
        x[at] = (place + 0.5) / len(row)
    return tuple(row)
