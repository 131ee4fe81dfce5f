"""Saturation trees of pauses, upstream of a node that pauses others and is not paused itself.

A port (A to B) that is paused was paused by B. The root of a tree is a switch that pauses others in a class
while none of its own ports is paused in it, or a host that does so because of an event. Its branches are
what the root pauses, what these pause, and so on: a tree grows upstream, against the direction of the
frames. Switches that pause each other in a cycle, with no root above them, are a root together. Only overlap
in time is considered: a port upstream that is paused at the same time may be paused for another reason.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from overspill.results.columns import distinct_values
from overspill.results.measures.declare import Metric, without_missing_values
from overspill.results.metric_key import Key
from overspill.results.rundata import RunData
from overspill.stats.quantiles import Value

TREE_NOTE = (
    "A tree grows upstream from a node that pauses others in a class while none of its own ports is "
    "paused in that class. It lasts from the first pause until the node pauses no port or is paused "
    "itself. Trees that begin in the measurement window count. Only overlap in time is considered: a "
    "port upstream may be paused for another reason."
)
DEPTH_NOTE = "depth: links from the root to the farthest paused node, largest over the tree's life"
HOSTS_NOTE = "hosts: number of hosts paused simultaneously, largest over the tree's life"


def tree_metric(name: str, title: str, unit: str, doc: str, formula: str) -> Metric:
    """Declares a metric of saturation trees; a name that ends in `_max` makes it a maximum."""
    extreme = name.endswith("_max")
    return Metric(name, title, unit, f"{doc} {TREE_NOTE}", "lower", formula=formula, order_statistic=extreme)


METRICS = [
    tree_metric("saturation_trees", "saturation trees", "trees", "Number of saturation trees.", "Σ trees"),
    tree_metric(
        "saturation_depth_mean",
        "saturation depth mean",
        "hops",
        "Mean depth of saturation trees, in links upstream from the root.",
        f"Σ depth / trees; {DEPTH_NOTE}",
    ),
    tree_metric(
        "saturation_depth_max",
        "saturation depth max",
        "hops",
        "Largest depth of a saturation tree, in links upstream from the root.",
        f"max depth; {DEPTH_NOTE}",
    ),
    tree_metric(
        "saturation_hosts_mean",
        "hosts paused by a tree mean",
        "hosts",
        "Mean number of hosts that a saturation tree pauses.",
        f"Σ hosts / trees; {HOSTS_NOTE}",
    ),
    tree_metric(
        "saturation_hosts_max",
        "hosts paused by a tree max",
        "hosts",
        "Largest number of hosts that a saturation tree pauses.",
        f"max hosts; {HOSTS_NOTE}",
    ),
]

Port = tuple[int, int]  # node and port
Roots = tuple[int, ...]  # one node, or a ring of switches
PauseCounts = dict[int, dict[int, int]]  # number of ports from node to node


@dataclass(frozen=True)
class PauseIntervals:
    """Pause intervals of ports by traffic class, ordered by begin; `peer` is the node that paused a port."""

    start: np.ndarray
    end: np.ndarray
    node: np.ndarray
    port: np.ndarray
    peer: np.ndarray
    traffic_class: np.ndarray  # the class

    @staticmethod
    def from_run(run: RunData) -> "PauseIntervals":
        """Returns all pauses of a run with the node that paused; empty if no port may be paused."""
        names = ("from_ps", "to_ps", "node", "port", "class")
        found = [column.astype(np.int64) for column in run.columns("pause_trace", *names)]
        ends = find_peers(run)
        places = zip(found[2].tolist(), found[3].tolist(), strict=True)
        peer = np.array([ends[place] for place in places], np.int64)
        order = np.argsort(found[0], kind="stable")
        start, end, node, port, kind = (column[order] for column in found)
        return PauseIntervals(start, end, node, port, peer[order], kind)

    def ports_paused_at(self, instant: int, kind: int) -> Iterator[tuple[Port, int]]:
        """Yields the ports that are paused at an instant in a class, with the node that paused each."""
        now = (self.start <= instant) & (instant < self.end) & (self.traffic_class == kind)
        rows = zip(*(one[now].tolist() for one in (self.node, self.port, self.peer)), strict=True)
        yield from (((node, port), peer) for node, port, peer in rows)


def find_peers(run: RunData) -> dict[Port, int]:
    """Returns the node at the other end of each port."""
    node, port, peer = (one.tolist() for one in run.columns("ports", "node", "port", "peer"))
    return {(a, p): b for a, p, b in zip(node, port, peer, strict=True)}


@dataclass(frozen=True)
class TreeSize:
    """Size of a saturation tree at an instant: links from the root, and paused ports.

    Also the switches and the hosts that have a paused port.
    """

    depth: int
    ports: int
    switches: int
    hosts: int


@dataclass(unsafe_hash=True)
class SaturationTree:
    """Saturation tree of a root and class, from first to last pause; sizes are the largest over its life."""

    roots: Roots
    kind: int
    start: int
    end: int
    largest_size: TreeSize
    largest_at_ps: int  # the first instant with most ports

    def update_largest(self, now: int, size: TreeSize) -> None:
        """Updates the largest sizes of the tree with its size at an instant."""
        if size.ports > self.largest_size.ports:
            self.largest_at_ps = now
        old = self.largest_size
        self.largest_size = TreeSize(
            max(old.depth, size.depth),
            max(old.ports, size.ports),
            max(old.switches, size.switches),
            max(old.hosts, size.hosts),
        )


def distances_from(start: Iterable[int], along: Mapping[int, Mapping[int, int]]) -> dict[int, int]:
    """Returns every node that is reachable through pauses, with its distance in links."""
    found = dict.fromkeys(start, 0)
    level = list(found)
    while level:
        after = []
        for at in level:
            for other in along.get(at, ()):
                if other not in found:
                    found[other] = found[at] + 1
                    after.append(other)
        level = after
    return found


@dataclass
class PauseForest:
    """Pauses of a traffic class at one instant, by pausing (`paused_by`) and paused node (`pausers_of`)."""

    is_host: np.ndarray
    paused_by: PauseCounts = field(default_factory=dict)
    pausers_of: PauseCounts = field(default_factory=dict)

    def change_pause(self, node: int, peer: int, by: int) -> None:
        """Adds (`by` = 1) or removes (`by` = -1) a pause that `peer` holds on a port of `node`."""
        for table, one, other in ((self.paused_by, peer, node), (self.pausers_of, node, peer)):
            row = table.setdefault(one, {})
            row[other] = row.get(other, 0) + by
            if not row[other]:
                del row[other]
            if not row:
                del table[one]

    def roots_of(self, nodes: Iterable[int]) -> set[Roots]:
        """Returns the roots of all saturation trees that these nodes belong to."""
        above = distances_from(nodes, self.pausers_of)
        found: set[Roots] = {(at,) for at in above if at not in self.pausers_of and at in self.paused_by}
        below = distances_from((one for (one,) in found), self.paused_by)
        rest = [at for at in above if at in self.pausers_of and at not in below]
        while rest:
            # These nodes are in or below a root ring, whose nodes pause each other. Upward from a node of the
            # ring, only the ring is reachable; from another node, also that node. The smallest set is a ring.
            upper = distances_from(rest[:1], self.pausers_of)
            ring = min((distances_from((at,), self.pausers_of) for at in upper), key=len)
            found.add(tuple(sorted(ring)))
            below = distances_from(ring, self.paused_by)
            rest = [at for at in rest if at not in below]
        return found

    def tree_size(self, roots: Roots) -> TreeSize:
        """Returns the present size of the saturation tree with a given root."""
        found = distances_from(roots, self.paused_by)
        paused = [at for at in found if at in self.pausers_of]
        hosts = sum(bool(self.is_host[at]) for at in paused)
        ports = sum(sum(self.paused_by[at].values()) for at in found if at in self.paused_by)
        return TreeSize(max(found.values()), ports, len(paused) - hosts, hosts)


def find_trees(run: RunData, pauses: PauseIntervals | None = None) -> list[SaturationTree]:
    """Returns every saturation tree of a run, ordered by begin."""
    pauses = PauseIntervals.from_run(run) if pauses is None else pauses
    found = [
        tree
        for kind in distinct_values(pauses.traffic_class).tolist()
        for tree in trees_of_class(run, pauses, kind)
    ]
    return sorted(found, key=lambda tree: (tree.start, tree.kind, tree.roots))


def trees_of_class(run: RunData, pauses: PauseIntervals, kind: int) -> Iterator[SaturationTree]:
    """Yields the saturation trees of a traffic class in the order in which they end."""
    forest = PauseForest(run.is_host)
    alive: dict[Roots, SaturationTree] = {}
    now = 0
    for now, changes in iterate_instants(pauses, kind):
        touched = set()
        for node, peer, by in changes:
            forest.change_pause(node, peer, by)
            touched |= {node, peer}
        current = forest.roots_of(touched)
        for roots in [one for one in alive if touched.intersection(one) and one not in current]:
            yield end_tree(alive.pop(roots), now)
        for roots in sorted(current):
            # Measured even if the tree only lost branches: its remaining ports may now be farther from the
            # root.
            size = forest.tree_size(roots)
            alive.setdefault(roots, SaturationTree(roots, kind, now, now, size, now)).update_largest(
                now, size
            )
    for tree in alive.values():
        yield end_tree(tree, now)


def end_tree(tree: SaturationTree, now: int) -> SaturationTree:
    """Returns a saturation tree with its end time set."""
    tree.end = now
    return tree


PauseChanges = list[tuple[int, int, int]]  # node, peer, and 1 for a port more or -1 for one less


def iterate_instants(pauses: PauseIntervals, kind: int) -> Iterator[tuple[int, PauseChanges]]:
    """Yields each instant at which pauses begin or end, with these changes."""
    some = (pauses.traffic_class == kind) & (pauses.end > pauses.start)
    node, peer = pauses.node[some], pauses.peer[some]
    times = np.concatenate([pauses.start[some], pauses.end[some]])
    order = np.argsort(times, kind="stable")
    by = np.repeat([1, -1], len(node))
    columns = (times, np.tile(node, 2), np.tile(peer, 2), by)
    now, changes = -1, PauseChanges()
    for at, one, other, step in zip(*(column[order].tolist() for column in columns), strict=True):
        if at != now and changes:
            yield now, changes
            changes = []
        now = at
        changes.append((one, other, step))
    if changes:
        yield now, changes


def measure_trees(run: RunData) -> dict[Key, Value]:
    """Measures the number of saturation trees and their extent; empty if no port may be paused.

    Without trees there is no depth.
    """
    start, end = run.window_ps
    followed = run.recorded("pause_trace") or not run.column("pauses", "times").any()
    if not (run.recorded("pauses") and run.recorded("ports") and followed) or end <= start:
        return {}
    sizes = [tree.largest_size for tree in find_trees(run) if start <= tree.start < end]
    found: dict[str, float | None] = {"saturation_trees": len(sizes)}
    for name in ("depth", "hosts") if sizes else ():
        values = [getattr(size, name) for size in sizes]
        found[f"saturation_{name}_mean"] = sum(values) / len(values)
        found[f"saturation_{name}_max"] = max(values)
    return without_missing_values(found)
