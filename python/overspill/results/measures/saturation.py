"""Saturation trees: who is paused because of whom, from a switch that pauses others and is not paused.

A port (A to B) that is paused was paused by B. The root of a tree is a switch that pauses others in a class
while none of its own ports is paused in it. Its branches are what the root pauses, what these pause, and so
on: a tree grows upstream, against the direction of the frames. Switches that pause each other in a cycle,
with no root above them, are a root together. Only overlap in time is considered: a port upstream that is
paused at the same time may be paused for another reason.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from overspill.results.columns import distinct
from overspill.results.key import Key
from overspill.results.measures.declare import Metric, present
from overspill.results.rundata import RunData
from overspill.stats.quantiles import Value

WHAT = (
    "A tree grows upstream from a switch that pauses others in a class while none of its own ports is paused "
    "in it. It lasts from the first pause until the switch pauses nobody or is paused itself. Trees are "
    "counted that begin in the measurement window. Only overlap in time is considered: a port upstream may "
    "be paused for another reason."
)
DEPTH = "depth: links from the root to the farthest node that is paused, largest over the tree's life"
HOSTS = "hosts: those paused at once, largest over the tree's life"


def declared(name: str, title: str, unit: str, doc: str, formula: str) -> Metric:
    """A metric of trees; a maximum by its name."""
    extreme = name.endswith("_max")
    return Metric(name, title, unit, f"{doc} {WHAT}", "lower", formula=formula, order_statistic=extreme)


METRICS = [
    declared(
        "saturation_trees", "saturation trees", "trees", "How many saturation trees there were.", "Σ trees"
    ),
    declared(
        "saturation_depth_mean",
        "saturation depth mean",
        "hops",
        "How far upstream trees reach, their mean.",
        f"Σ depth / trees; {DEPTH}",
    ),
    declared(
        "saturation_depth_max",
        "saturation depth max",
        "hops",
        "How far upstream the deepest tree reaches.",
        f"max depth; {DEPTH}",
    ),
    declared(
        "saturation_hosts_mean",
        "hosts paused by a tree mean",
        "hosts",
        "How many hosts a tree pauses, the mean of trees.",
        f"Σ hosts / trees; {HOSTS}",
    ),
    declared(
        "saturation_hosts_max",
        "hosts paused by a tree max",
        "hosts",
        "How many hosts the tree pauses that pauses most.",
        f"max hosts; {HOSTS}",
    ),
]

Port = tuple[int, int]  # node and port
Roots = tuple[int, ...]  # one switch, or a ring of them
Waits = dict[int, dict[int, int]]  # from node to node, how many ports


@dataclass(frozen=True)
class Pauses:
    """Times in which a class could not leave by a port, by their begins; `peer` is who paused it."""

    start: np.ndarray
    end: np.ndarray
    node: np.ndarray
    port: np.ndarray
    peer: np.ndarray
    kind: np.ndarray  # the class

    @staticmethod
    def from_run(run: RunData) -> "Pauses":
        """All pauses of a run, with who paused; none where no port may be paused."""
        names = ("from_ps", "to_ps", "node", "port", "class")
        found = [column.astype(np.int64) for column in run.columns("pause_trace", *names)]
        ends = peers(run)
        places = zip(found[2].tolist(), found[3].tolist(), strict=True)
        peer = np.array([ends[place] for place in places], np.int64)
        order = np.argsort(found[0], kind="stable")
        start, end, node, port, kind = (column[order] for column in found)
        return Pauses(start, end, node, port, peer[order], kind)

    def at(self, instant: int, kind: int) -> Iterator[tuple[Port, int]]:
        """Ports that are paused at an instant in a class, and who paused each."""
        now = (self.start <= instant) & (instant < self.end) & (self.kind == kind)
        rows = zip(*(one[now].tolist() for one in (self.node, self.port, self.peer)), strict=True)
        yield from (((node, port), peer) for node, port, peer in rows)


def peers(run: RunData) -> dict[Port, int]:
    """The node at the other end of each port."""
    node, port, peer = (one.tolist() for one in run.columns("ports", "node", "port", "peer"))
    return {(a, p): b for a, p, b in zip(node, port, peer, strict=True)}


@dataclass(frozen=True)
class Size:
    """A tree at an instant: links from the root, ports paused, switches and hosts that have one."""

    depth: int
    ports: int
    switches: int
    hosts: int


@dataclass(unsafe_hash=True)
class Tree:
    """A root and class from the first pause to the last; sizes are the largest, each by itself."""

    roots: Roots
    kind: int
    start: int
    end: int
    most: Size
    at: int  # the first instant with most ports

    def grow(self, now: int, size: Size) -> None:
        """What it is from now on."""
        if size.ports > self.most.ports:
            self.at = now
        old = self.most
        self.most = Size(
            max(old.depth, size.depth),
            max(old.ports, size.ports),
            max(old.switches, size.switches),
            max(old.hosts, size.hosts),
        )


def reach(start: Iterable[int], along: Mapping[int, Mapping[int, int]]) -> dict[int, int]:
    """Every node that can be reached, and over how many links."""
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
class Forest:
    """Who pauses whom in a class now; `holds` from who pauses, `waits` from who is paused."""

    is_host: np.ndarray
    holds: Waits = field(default_factory=dict)
    waits: Waits = field(default_factory=dict)

    def change(self, node: int, peer: int, by: int) -> None:
        """One port of `node` more (1) or fewer (-1) is paused by `peer`."""
        for table, one, other in ((self.holds, peer, node), (self.waits, node, peer)):
            row = table.setdefault(one, {})
            row[other] = row.get(other, 0) + by
            if not row[other]:
                del row[other]
            if not row:
                del table[one]

    def roots(self, nodes: Iterable[int]) -> set[Roots]:
        """The roots of all trees that these nodes are in."""
        above = reach(nodes, self.waits)
        found: set[Roots] = {(at,) for at in above if at not in self.waits and at in self.holds}
        below = reach((one for (one,) in found), self.holds)
        rest = [at for at in above if at in self.waits and at not in below]
        while rest:
            # What all of a ring waits for is the ring, and nothing above it is smaller.
            upper = reach(rest[:1], self.waits)
            ring = min((reach((at,), self.waits) for at in upper), key=len)
            found.add(tuple(sorted(ring)))
            below = reach(ring, self.holds)
            rest = [at for at in rest if at not in below]
        return found

    def size(self, roots: Roots) -> Size:
        """The tree of a root."""
        found = reach(roots, self.holds)
        paused = [at for at in found if at in self.waits]
        hosts = sum(bool(self.is_host[at]) for at in paused)
        ports = sum(sum(self.holds[at].values()) for at in found if at in self.holds)
        return Size(max(found.values()), ports, len(paused) - hosts, hosts)


def trees(run: RunData, pauses: Pauses | None = None) -> list[Tree]:
    """Every tree of a run, by its begin."""
    pauses = Pauses.from_run(run) if pauses is None else pauses
    found = [tree for kind in distinct(pauses.kind).tolist() for tree in of_class(run, pauses, kind)]
    return sorted(found, key=lambda tree: (tree.start, tree.kind, tree.roots))


def of_class(run: RunData, pauses: Pauses, kind: int) -> Iterator[Tree]:
    """The trees of a class, as they end."""
    forest = Forest(run.is_host)
    alive: dict[Roots, Tree] = {}
    now = 0
    for now, changes in instants(pauses, kind):
        touched = set()
        for node, peer, by in changes:
            forest.change(node, peer, by)
            touched |= {node, peer}
        current = forest.roots(touched)
        for roots in [one for one in alive if touched.intersection(one) and one not in current]:
            yield ended(alive.pop(roots), now)
        for roots in sorted(current):
            # Also where branches were lost alone: what is left may be reached over more links than before.
            size = forest.size(roots)
            alive.setdefault(roots, Tree(roots, kind, now, now, size, now)).grow(now, size)
    for tree in alive.values():
        yield ended(tree, now)


def ended(tree: Tree, now: int) -> Tree:
    """The tree, over now."""
    tree.end = now
    return tree


Changes = list[tuple[int, int, int]]  # node, peer, one more or one fewer


def instants(pauses: Pauses, kind: int) -> Iterator[tuple[int, Changes]]:
    """What begins and what ends, instant by instant."""
    some = (pauses.kind == kind) & (pauses.end > pauses.start)
    node, peer = pauses.node[some], pauses.peer[some]
    times = np.concatenate([pauses.start[some], pauses.end[some]])
    order = np.argsort(times, kind="stable")
    by = np.repeat([1, -1], len(node))
    columns = (times, np.tile(node, 2), np.tile(peer, 2), by)
    now, changes = -1, Changes()
    for at, one, other, step in zip(*(column[order].tolist() for column in columns), strict=True):
        if at != now and changes:
            yield now, changes
            changes = []
        now = at
        changes.append((one, other, step))
    if changes:
        yield now, changes


def saturated(run: RunData) -> dict[Key, Value]:
    """How many trees there were and how far they reached; nothing where no port may be paused.

    Where there was none, it has no depth.
    """
    start, end = run.window_ps
    followed = run.recorded("pause_trace") or not run.column("pauses", "times").any()
    if not (run.recorded("pauses") and run.recorded("ports") and followed) or end <= start:
        return {}
    sizes = [tree.most for tree in trees(run) if start <= tree.start < end]
    found: dict[str, float | None] = {"saturation_trees": len(sizes)}
    for name in ("depth", "hosts") if sizes else ():
        values = [getattr(size, name) for size in sizes]
        found[f"saturation_{name}_mean"] = sum(values) / len(values)
        found[f"saturation_{name}_max"] = max(values)
    return present(found)
