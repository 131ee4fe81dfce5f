"""Where the nodes of a network are drawn: hosts below their switches, tiers above one another."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass

import numpy as np

from overspill.charts import flat
from overspill.charts.nodes import Network


@dataclass(frozen=True)
class Places:
    """Where nodes are drawn: x from 0 to 1, y upwards; rows of switches from the hosts on."""

    x: np.ndarray
    y: np.ndarray
    rows: tuple[tuple[int, ...], ...]
    per_column: int  # hosts below each other
    flat: flat.Spots | None = None  # where there are no tiers

    @property
    def aspect(self) -> float | None:
        """The scale of y in that of x: a circle, which is 3 high and 1 wide, is to be one."""
        return 1 / 3 if self.flat and not self.flat.grid else None


def neighbours(network: Network) -> list[list[int]]:
    """Who is linked to whom."""
    found: list[list[int]] = [[] for _ in network.nodes]
    for link in network.links:
        found[link.a].append(link.b)
        found[link.b].append(link.a)
    return found


def levels(network: Network, near: list[list[int]]) -> list[int]:
    """The row of every node: hosts at 0, the tier that most are linked to at 1, others by distance from it.

    Where all switches are of one tier, by distance from hosts.
    """
    nodes = network.nodes
    attached = Counter(nodes[near[at][0]].tier for at, node in enumerate(nodes) if node.host and near[at])
    edge = min(attached, key=lambda tier: (-attached[tier], tier), default="")
    alone = len({node.tier for node in nodes if not node.host}) < 2
    start = [at for at, node in enumerate(nodes) if (node.host if alone else node.tier == edge)]
    found = dict.fromkeys(start, 0 if alone else 1)
    waiting = deque(start)
    while waiting:
        at = waiting.popleft()
        for other in near[at]:
            if other not in found and not nodes[other].host:
                found[other] = found[at] + 1
                waiting.append(other)
    return [0 if node.host else found.get(at, 1) for at, node in enumerate(nodes)]


def places(network: Network) -> Places:
    """Hosts at the bottom below their switch, the other tiers above, evenly, near what they are linked to.

    Where there are no tiers and no chain, a grid or a circle.
    """
    near = neighbours(network)
    if spots := flat.spots(network, near):
        return Places(spots.x, spots.y, spots.rows, 1, spots)
    level = levels(network, near)
    count = len(network.nodes)
    x, y = np.zeros(count), np.zeros(count)
    slots = slots_of(network, near, level)
    # A switch has as much room as its hosts need, so that all dots are as far apart.
    deep = depth(slots)
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
        rows.append(row_above(network, near, (level, height), x))
        y[list(rows[-1])] = height
    return Places(x, y, tuple(row for row in rows if row), deep)


Slot = tuple[int | None, list[int]]


def slots_of(network: Network, near: list[list[int]], level: list[int]) -> list[Slot]:
    """Every switch next to hosts with its hosts, in the order of the hosts; others of that row after them."""
    found: dict[int | None, list[int]] = {}
    for at, node in enumerate(network.nodes):
        if node.host:
            found.setdefault(near[at][0] if near[at] else None, []).append(at)
    for at, node in enumerate(network.nodes):
        if not node.host and level[at] == 1:
            found.setdefault(at, [])
    return list(found.items())


def depth(slots: list[Slot]) -> int:
    """How many hosts stand below each other, so that all rows together have no more than a hundred or so."""
    most = max((len(hosts) for _, hosts in slots), default=1)
    for deep in range(1, most + 1):
        if sum(max(1, -(-len(hosts) // deep)) for _, hosts in slots) <= 110:
            return deep
    return max(most, 1)


def row_above(
    network: Network, near: list[list[int]], which: tuple[list[int], int], x: np.ndarray
) -> tuple[int, ...]:
    """The switches of a level, evenly across, in the order of the middle of what they are linked to below."""
    level, height = which
    row = [at for at, node in enumerate(network.nodes) if not node.host and level[at] == height]

    def middle(at: int) -> float:
        below = [float(x[other]) for other in near[at] if level[other] == height - 1]
        return round(sum(below) / len(below), 9) if below else 0.5

    row.sort(key=lambda at: (middle(at), at))
    for place, at in enumerate(row):
        x[at] = (place + 0.5) / len(row)
    return tuple(row)
