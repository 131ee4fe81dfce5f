"""Figures of pauses on the network: the largest saturation tree of each variant, and deadlocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from overspill.charts import common, flat
from overspill.charts.axes import escaped
from overspill.charts.network import (
    LETTERS,
    MOST_NODES,
    PANELS_SHOWN,
    links_of,
    names_of,
    network_of,
    tiers_of,
)
from overspill.charts.nodes import Network
from overspill.charts.placing import Places, places
from overspill.charts.spec import COLOURS, GREY, Arc, Chart, Entry, Graph, Look, Nodes, Panel
from overspill.grouping import by_key
from overspill.results import formats
from overspill.results.measures import saturation
from overspill.results.measures.saturation import Forest, Pauses, Port, Tree
from overspill.results.rundata import RunData

if TYPE_CHECKING:
    from overspill.results.results import Results

TREE, OTHER, CYCLE = Look(COLOURS[1], (2.6, 1.2), 1.5), Look(GREY, (1.2, 1.4), 1.0), Look("#b00020", (), 2.2)
ROOT, PAUSED, IDLE = "#b00020", "#f4b183", "#ffffff"
ENTRIES = {ROOT: "root", PAUSED: "paused"}  # texts of the legend
OVERLAP = (
    "Only overlap in time is considered: a port upstream that is paused at the same time may be paused "
    "for another reason."
)
MANY = 60  # arrows; more are drawn thinner
END = 0.07  # share of the distance between nodes that an arrow leaves free at both ends
STEPS = 121  # points of an arrow: two of them are no longer than its head
ROWS_SHOWN = 5  # trees of a variant in the table

Arrow = tuple[int, int]  # from the pausing node to the paused one


@dataclass(frozen=True)
class Largest:
    """Saturation tree, with its run."""

    run: RunData
    tree: Tree


def trees_of(results: Results) -> dict[str, list[Largest]]:
    """Returns the trees of each variant's runs that overlap their windows, those with most ports first."""
    found = by_key(
        (run.variant, Largest(run, tree))
        for run in results.runs
        for tree in results.trees[run.variant][run.seed]
        if run.window_ps[0] < tree.end and tree.start < run.window_ps[1]
    )
    for many in found.values():
        many.sort(key=lambda one: (-one.tree.most.ports, -one.tree.most.depth, one.run.seed, one.tree.start))
    return {variant: found[variant] for variant in results.variants if variant in found}


def grown_trees(results: Results) -> dict[str, list[Largest]]:
    """Returns the trees of each variant if any tree says more than which port is paused; else none."""
    found = trees_of(results)
    return found if any(grown(one) for many in found.values() for one in many) else {}


def grown(one: Largest) -> bool:
    """Returns true if a tree ever has more than one port in a network of several switches."""
    return switches_of(one.run) > 1 and one.tree.most.ports > 1


def switches_of(run: RunData) -> int:
    """Returns the number of switches of a run's network."""
    return len(run.is_host) - int(run.is_host.sum())


def left_out(results: Results) -> list[str]:
    """Returns a line with the reason if trees exist but are neither drawn nor listed."""
    found = trees_of(results)
    if not found or grown_trees(results):
        return []
    alone = all(switches_of(one.run) == 1 for many in found.values() for one in many)
    why = "the network has one switch" if alone else "no tree has more than one port"
    return [f"Saturation trees: omitted, because {why}."]


def rows(results: Results) -> list[dict[str, str]]:
    """Returns rows with the largest trees of every variant; equal trees of several classes are one."""
    found = [
        (name, alike)
        for name, many in grown_trees(results).items()
        for alike in list(merged(many))[:ROWS_SHOWN]
    ]
    return [row(*alike, results.label(name)) for name, alike in found]


def merged(many: Iterable[Largest]) -> Iterator[tuple[Largest, list[int]]]:
    """Yields each tree with all classes in which it has equal pauses: IEEE 802.3x pauses all classes."""
    equal = by_key(((one.run.seed, replace(one.tree, kind=0)), one) for one in many)
    yield from ((alike[0], sorted(one.tree.kind for one in alike)) for alike in equal.values())


def row(one: Largest, classes: Iterable[int], label: str) -> dict[str, str]:
    """Returns a tree as texts of a row, with the label of its variant."""
    tree, most = one.tree, one.tree.most
    return {
        "variant": label,
        "seed": str(one.run.seed),
        "root": rooted(one),
        "class": ", ".join(str(kind) for kind in classes),
        "from": formats.time(tree.start),
        "to": formats.time(tree.end),
        "largest": formats.time(tree.at),
        "depth": str(most.depth),
        "ports": formats.number(most.ports),
        "switches": formats.number(most.switches),
        "hosts": formats.number(most.hosts),
    }


def rooted(one: Largest) -> str:
    """Returns the name of the root, or of the switches that pause each other in a cycle.

    For a cycle it also says whether it is a deadlock.
    """
    names = [one.run.node_name(at) for at in one.tree.roots]
    if len(names) == 1:
        return names[0]
    came_to = "a deadlock" if one.run.deadlock else "no deadlock"
    return f"cycle of {formats.listing(names, 8)} ({came_to})"


def largest(results: Results) -> Chart | None:
    """Builds the figure of the largest tree of each variant at its largest instant; `None` without trees.

    It is omitted if all trees have one port.
    """
    panels = []
    for variant, (one, *_) in list(grown_trees(results).items())[:PANELS_SHOWN]:
        network = drawable(results, variant)
        if network is not None:
            label = common.label(results, variant)
            panels.append(Panel(title(one, label), marks=[drawn(network, one)]))
    if not panels:
        return None
    caption = (
        "Saturation tree with most paused ports of each variant, at the instant of its maximum. Red: its "
        "root, which pauses others while none of its own ports is paused in that class, or the cycle of "
        "a deadlock. Orange: nodes that are paused because of it, and cycles that dissolve. Arrows point "
        "from the pausing to the paused node, against the direction of the frames. Grey arrows are "
        f"pauses outside this tree. {OVERLAP}"
    )
    legend = [
        Entry("root", "root", Look(ROOT), "square"),
        Entry("paused", "paused because of it", Look(PAUSED), "square"),
        Entry("tree", "a pause of the tree", TREE),
        Entry("other", "another pause", OTHER),
    ]
    return chart("saturation", "Largest saturation tree", caption, panels, legend)


def title(one: Largest, label: str) -> str:
    """Returns the title of a panel: label of the variant, root, class and instant of its tree."""
    forest, _ = standing(one.run, one.tree.at, one.tree.kind)
    ports = common.counted(forest.size(one.tree.roots).ports, "port")
    return (
        f"{label}: {rooted(one)}, class {one.tree.kind}, at {formats.time(one.tree.at)}: {ports} "
        f"paused (seed {one.run.seed})"
    )


def chart(name: str, head: str, caption: str, panels: list[Panel], legend: list[Entry]) -> Chart:
    """Returns a chart of networks below each other."""
    graphs = [graph for panel in panels for graph in panel.marks if isinstance(graph, Graph)]
    even = any(graph.aspect for graph in graphs)
    tallest = 4.8 if even else 3.6 if len(panels) == 1 else 2.9
    height = max(2.0, min(tallest, common.TALLEST / len(panels)))
    used = {arc.entry for graph in graphs for arc in graph.arcs}
    used |= {nodes.entry for graph in graphs for nodes in graph.nodes}
    return Chart(name, head, caption, panels, 1, height, [one for one in legend if one.key in used])


def drawable(results: Results, variant: str) -> Network | None:
    """Returns the network of a variant if it is not too large to draw."""
    network = network_of(results, variant)
    return network if network and len(network.nodes) <= MOST_NODES else None


def standing(run: RunData, instant: int, kind: int) -> tuple[Forest, list[tuple[Port, int]]]:
    """Returns the pauses in force at an instant, as a forest and as a list of ports with their peers."""
    forest = Forest(run.is_host)
    now = list(Pauses.from_run(run).at(instant, kind))
    for (node, _), peer in now:
        forest.change(node, peer, 1)
    return forest, now


def drawn(network: Network, one: Largest) -> Graph:
    """Draws a tree on its network."""
    forest, now = standing(one.run, one.tree.at, one.tree.kind)
    inside = saturation.reach(one.tree.roots, forest.holds)
    place = places(network)
    looks = {(peer, node): ("tree", TREE) if peer in inside else ("other", OTHER) for (node, _), peer in now}
    colours = dict.fromkeys((at for at in inside if at in forest.waits), PAUSED)
    # A cycle that dissolves is paused only for a while, as everything else in the tree.
    dissolves = len(one.tree.roots) > 1 and not one.run.deadlock
    colours |= dict.fromkeys(one.tree.roots, PAUSED if dissolves else ROOT)
    arcs = arrows(network, place, looks)
    return graph(network, place, colours, arcs)


def arrows(network: Network, place: Places, looks: dict[Arrow, tuple[str, Look]]) -> list[Arc]:
    """Returns an arrow from each pausing node to each paused one; those of the tree or cycle are on top."""
    found = []
    thin = 1.0 if len(looks) <= MANY else 0.5
    for (start, end), (entry, look) in sorted(looks.items(), key=lambda one: one[1][0] != "other"):
        look = replace(look, width=round(thin * look.width, 2))
        x, y = way(place, (start, end))
        hover = f"{escaped(network.nodes[start].name)} pauses {escaped(network.nodes[end].name)}"
        found.append(Arc(x, y, look, entry, hover=hover))
    return found


def way(place: Places, ends: Arrow) -> tuple[np.ndarray, np.ndarray]:
    """Returns a line between two nodes, bent a little to the right so that both directions are visible."""
    x, y = place.x[list(ends)], place.y[list(ends)]
    grid = place.flat if place.flat and place.flat.grid else None
    end = END / max(1.0, abs(x[1] - x[0]) / grid.cell, abs(y[1] - y[0])) if grid else END
    along = np.linspace(end, 1 - end, STEPS)
    if place.flat:
        whole = flat.bowed(x, y, place.flat.cell) if place.flat.grid else (x, y)
        reach = np.linspace(0, 1, len(whole[0]))
        return np.interp(along, reach, whole[0]), np.interp(along, reach, whole[1])
    bend = 0.006 * np.sin(np.pi * along) * np.sign(y[1] - y[0] or 1.0)
    rise = 0.3 * np.sin(np.pi * along) if y[0] == y[1] else 0.0
    return x[0] + (x[1] - x[0]) * along + bend, y[0] + (y[1] - y[0]) * along + rise


def graph(network: Network, place: Places, colours: dict[int, str], arcs: list[Arc]) -> Graph:
    """Draws nodes by their colours over grey links."""
    hosts = [at for at, node in enumerate(network.nodes) if node.host]
    switches = [at for row in place.rows for at in row]
    labels = names_of(network, place, (hosts, LETTERS))
    widest = max((len(row) for row in place.rows), default=1)
    size = 11.0 if widest <= 20 else 7.0 if widest <= 40 else 5.0
    dot = 6.5 if len(hosts) <= 40 else 4.0
    found = []
    for group, symbol, plain, large in ((switches, "square", IDLE, size), (hosts, "circle", GREY, dot)):
        for colour in dict.fromkeys([plain, PAUSED, ROOT]):
            own = [at for at in group if colours.get(at, plain) == colour]
            if own:
                found.append(nodes(network, place, own, (labels, symbol, large, colour)))
    return Graph(links_of(network, place), found, tiers_of(network, place, hosts), arcs, place.aspect)


def nodes(
    network: Network, place: Places, own: list[int], how: tuple[dict[int, str], str, float, str]
) -> Nodes:
    """Returns the nodes of one colour."""
    labels, symbol, size, colour = how
    at = np.array(own, np.int64)
    hover = [escaped(network.nodes[one].name) for one in own]
    shown = [labels.get(one, "") for one in own]
    plain = np.full(len(own), np.nan)
    return Nodes(
        place.x[at],
        place.y[at],
        plain,
        shown,
        hover,
        "circle" if symbol == "circle" else "square",
        size,
        colour,
        ENTRIES.get(colour, ""),
    )


def deadlocks(results: Results) -> Chart | None:
    """Builds the figure of the first deadlock of each variant on the network; `None` without any."""
    panels: list[Panel] = []
    for variant in common.with_runs(results):
        stuck = next((run for run in results.runs_of(variant) if run.deadlock), None)
        network = drawable(results, variant)
        if stuck is not None and network is not None and len(panels) < PANELS_SHOWN:
            panels.append(locked(network, stuck, results.label(variant)))
    if not panels:
        return None
    caption = (
        "Ports that wait for each other forever, in red, and all others that were paused in that class "
        "when the last port of the cycle was paused, in grey. Arrows point from the pausing to the "
        "paused node. First such seed of each variant."
    )
    legend = [
        Entry("root", "waits forever", Look(ROOT), "square"),
        Entry("paused", "is paused", Look(PAUSED), "square"),
        Entry("cycle", "a pause that lasts forever", CYCLE),
        Entry("other", "another pause", OTHER),
    ]
    return chart("deadlock", "Deadlock", caption, panels, legend)


def locked(network: Network, run: RunData, label: str) -> Panel:
    """Draws a deadlock and all other pauses of its class, with the label of its variant in the title."""
    assert run.deadlock is not None
    at, kind = int(run.deadlock["at_ps"]), int(run.deadlock["class"])
    cycle = set(ports_of(run, run.deadlock["cycle"]))
    ends, place = saturation.peers(run), places(network)
    _, now = standing(run, at, kind)
    looks = {(peer, node): ("other", OTHER) for (node, _), peer in now}
    looks |= {(ends[port], port[0]): ("cycle", CYCLE) for port in cycle}
    colours = {node: PAUSED for (node, _), _ in now} | {node: ROOT for node, _ in cycle}
    ports, since = common.counted(len(cycle), "port"), formats.time(at)
    title = f"{label}: class {kind}, since {since}: {ports} wait for each other (seed {run.seed})"
    return Panel(title, marks=[graph(network, place, colours, arrows(network, place, looks))])


def ports_of(run: RunData, cycle: Iterable[str]) -> Iterable[Port]:
    """Yields the ports that a deadlock names as `node:port`."""
    numbers = {str(node["name"]): at for at, node in enumerate(run.summary["nodes"])}
    for one in cycle:
        name, _, port = one.rpartition(":")
        yield numbers[name], int(port)
