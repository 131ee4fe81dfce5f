"""Figures of pauses on the network: the largest saturation tree of each variant, and deadlocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from overspill.charts import common, flat_layout
from overspill.charts.axes import escape_html
from overspill.charts.chart_spec import (
    COLOURS,
    GREY,
    Chart,
    Graph,
    LabelledArrow,
    LegendEntry,
    LineStyle,
    Nodes,
    Panel,
)
from overspill.charts.layered_layout import NodePositions, place_nodes
from overspill.charts.network import (
    LETTERS_PER_ROW,
    MAX_NODES,
    MAX_PANELS,
    build_links,
    find_network,
    select_node_names,
    tier_labels,
)
from overspill.charts.network_graph import Network
from overspill.grouping import group_by_key
from overspill.results import formats
from overspill.results.measures import saturation
from overspill.results.measures.saturation import PauseForest, PauseIntervals, Port, SaturationTree
from overspill.results.rundata import RunData

if TYPE_CHECKING:
    from overspill.results.results import Results

TREE_LINE_STYLE, OTHER_PAUSE_LINE_STYLE, CYCLE_LINE_STYLE = (
    LineStyle(COLOURS[1], (2.6, 1.2), 1.5),
    LineStyle(GREY, (1.2, 1.4), 1.0),
    LineStyle("#b00020", (), 2.2),
)
ROOT_COLOUR, PAUSED_COLOUR, IDLE_COLOUR = "#b00020", "#f4b183", "#ffffff"
NODE_LABELS = {ROOT_COLOUR: "root", PAUSED_COLOUR: "paused"}  # texts of the legend
OVERLAP_NOTE = (
    "A tree contains all upstream ports that are paused at the same time, although some of them may be "
    "paused for another reason."
)
MANY_NODES = 60  # arrows; more are drawn thinner
ARROW_END_GAP = 0.07  # share of the distance between nodes that an arrow leaves free at both ends
ARROW_STEPS = 121  # points of an arrow: two of them are no longer than its head
MAX_ROWS_SHOWN = 5  # trees of a variant in the table

NodePair = tuple[int, int]  # from the pausing node to the paused one


@dataclass(frozen=True)
class RunTree:
    """Saturation tree of pauses, with the run in which it occurred."""

    run: RunData
    tree: SaturationTree


def rank_trees(results: Results) -> dict[str, list[RunTree]]:
    """Returns each variant's saturation trees that overlap their run's window, those of most ports first."""
    found = group_by_key(
        (run.variant, RunTree(run, tree))
        for run in results.runs
        for tree in results.trees[run.variant][run.seed]
        if run.window_ps[0] < tree.end and tree.start < run.window_ps[1]
    )
    for many in found.values():
        many.sort(
            key=lambda one: (
                -one.tree.largest_size.ports,
                -one.tree.largest_size.depth,
                one.run.seed,
                one.tree.start,
            )
        )
    return {variant: found[variant] for variant in results.variants if variant in found}


def find_grown_trees(results: Results) -> dict[str, list[RunTree]]:
    """Returns the saturation trees of all variants if any ever spans several ports; otherwise empty."""
    found = rank_trees(results)
    return found if any(spans_several_ports(one) for many in found.values() for one in many) else {}


def spans_several_ports(one: RunTree) -> bool:
    """Returns true if a tree ever has more than one port in a network of several switches."""
    return count_switches(one.run) > 1 and one.tree.largest_size.ports > 1


def count_switches(run: RunData) -> int:
    """Returns the number of switches of a run's network."""
    return len(run.is_host) - int(run.is_host.sum())


def list_omission_reason(results: Results) -> list[str]:
    """Returns a line with the reason if saturation trees exist but are neither drawn nor listed."""
    found = rank_trees(results)
    if not found or find_grown_trees(results):
        return []
    alone = all(count_switches(one.run) == 1 for many in found.values() for one in many)
    why = "the network has one switch" if alone else "no tree has more than one port"
    return [f"Saturation trees: omitted, because {why}."]


def tree_rows(results: Results) -> list[dict[str, str]]:
    """Returns rows with the largest trees of every variant; equal trees of several classes are one."""
    found = [
        (name, alike)
        for name, many in find_grown_trees(results).items()
        for alike in list(merge_equal_trees(many))[:MAX_ROWS_SHOWN]
    ]
    return [tree_row(*alike, results.label(name)) for name, alike in found]


def merge_equal_trees(many: Iterable[RunTree]) -> Iterator[tuple[RunTree, list[int]]]:
    """Yields each tree with all classes in which it has equal pauses: IEEE 802.3x pauses all classes."""
    equal = group_by_key(((one.run.seed, replace(one.tree, kind=0)), one) for one in many)
    yield from ((alike[0], sorted(one.tree.kind for one in alike)) for alike in equal.values())


def tree_row(one: RunTree, classes: Iterable[int], label: str) -> dict[str, str]:
    """Returns a saturation tree as the texts of a table row, with the label of its variant."""
    tree, most = one.tree, one.tree.largest_size
    return {
        "variant": label,
        "seed": str(one.run.seed),
        "root": format_root(one),
        "class": ", ".join(str(kind) for kind in classes),
        "from": formats.format_time(tree.start),
        "to": formats.format_time(tree.end),
        "largest": formats.format_time(tree.largest_at_ps),
        "depth": str(most.depth),
        "ports": formats.format_number(most.ports),
        "switches": formats.format_number(most.switches),
        "hosts": formats.format_number(most.hosts),
    }


def format_root(one: RunTree) -> str:
    """Returns the name of a tree's root switch, or of the switches that pause each other in a cycle.

    For a cycle it also says whether it is a deadlock.
    """
    names = [one.run.node_name(at) for at in one.tree.roots]
    if len(names) == 1:
        return names[0]
    came_to = "a deadlock" if one.run.deadlock else "no deadlock"
    return f"cycle of {formats.format_listing(names, 8)} ({came_to})"


def chart_largest_tree(results: Results) -> Chart | None:
    """Builds the figure of the largest tree of each variant at its largest instant; `None` without trees.

    It is omitted if all trees have one port.
    """
    panels = []
    for variant, (one, *_) in list(find_grown_trees(results).items())[:MAX_PANELS]:
        network = drawable_network(results, variant)
        if network is not None:
            label = common.group_label(results, variant)
            panels.append(Panel(tree_panel_title(one, label), marks=[draw_tree(network, one)]))
    if not panels:
        return None
    caption = (
        "Saturation tree with most paused ports of each variant, at the instant of its maximum. Red: its "
        "root, which pauses others while none of its own ports is paused in that class, or the cycle of "
        "a deadlock. Orange: nodes that are paused because of it, and cycles that dissolve. Arrows point "
        "from the pausing to the paused node, against the direction of the frames. Grey arrows are "
        f"pauses outside this tree. {OVERLAP_NOTE}"
    )
    legend = [
        LegendEntry("root", "root", LineStyle(ROOT_COLOUR), "square"),
        LegendEntry("paused", "paused because of it", LineStyle(PAUSED_COLOUR), "square"),
        LegendEntry("tree", "a pause of the tree", TREE_LINE_STYLE),
        LegendEntry("other", "another pause", OTHER_PAUSE_LINE_STYLE),
    ]
    return chart_of_networks("saturation", "Largest saturation tree", caption, panels, legend)


def tree_panel_title(one: RunTree, label: str) -> str:
    """Returns the title of a panel: label of the variant, root, class and instant of its tree."""
    forest, _ = pauses_at_instant(one.run, one.tree.largest_at_ps, one.tree.kind)
    ports = common.format_count(forest.tree_size(one.tree.roots).ports, "port")
    return (
        f"{label}: {format_root(one)}, class {one.tree.kind}, at "
        f"{formats.format_time(one.tree.largest_at_ps)}: {ports} "
        f"paused (seed {one.run.seed})"
    )


def chart_of_networks(
    name: str, head: str, caption: str, panels: list[Panel], legend: list[LegendEntry]
) -> Chart:
    """Returns a figure of networks, one below the other."""
    graphs = [graph for panel in panels for graph in panel.marks if isinstance(graph, Graph)]
    even = any(graph.aspect for graph in graphs)
    tallest = 4.8 if even else 3.6 if len(panels) == 1 else 2.9
    height = max(2.0, min(tallest, common.MAX_PANELS_HEIGHT / len(panels)))
    used = {arc.entry for graph in graphs for arc in graph.arcs}
    used |= {nodes.entry for graph in graphs for nodes in graph.nodes}
    return Chart(name, head, caption, panels, 1, height, [one for one in legend if one.key in used])


def drawable_network(results: Results, variant: str) -> Network | None:
    """Returns the network of a variant if it is not too large to draw."""
    network = find_network(results, variant)
    return network if network and len(network.nodes) <= MAX_NODES else None


def pauses_at_instant(run: RunData, instant: int, kind: int) -> tuple[PauseForest, list[tuple[Port, int]]]:
    """Returns the pauses at an instant: as a forest, and as a list of paused ports with their pausers."""
    forest = PauseForest(run.is_host)
    now = list(PauseIntervals.from_run(run).ports_paused_at(instant, kind))
    for (node, _), peer in now:
        forest.change_pause(node, peer, 1)
    return forest, now


def draw_tree(network: Network, one: RunTree) -> Graph:
    """Draws a saturation tree on the network in which it occurred."""
    forest, now = pauses_at_instant(one.run, one.tree.largest_at_ps, one.tree.kind)
    inside = saturation.distances_from(one.tree.roots, forest.paused_by)
    place = place_nodes(network)
    looks = {
        (peer, node): ("tree", TREE_LINE_STYLE) if peer in inside else ("other", OTHER_PAUSE_LINE_STYLE)
        for (node, _), peer in now
    }
    colours = dict.fromkeys((at for at in inside if at in forest.pausers_of), PAUSED_COLOUR)
    # Only a deadlock lasts. Ports of a cycle that dissolves resume later, as all other ports of the tree do.
    dissolves = len(one.tree.roots) > 1 and not one.run.deadlock
    colours |= dict.fromkeys(one.tree.roots, PAUSED_COLOUR if dissolves else ROOT_COLOUR)
    arcs = build_arrows(network, place, looks)
    return build_graph(network, place, colours, arcs)


def build_arrows(
    network: Network, place: NodePositions, looks: dict[NodePair, tuple[str, LineStyle]]
) -> list[LabelledArrow]:
    """Returns an arrow from each pausing node to each paused node; arrows of the tree or cycle are on top."""
    found = []
    thin = 1.0 if len(looks) <= MANY_NODES else 0.5
    for (start, end), (entry, look) in sorted(looks.items(), key=lambda one: one[1][0] != "other"):
        look = replace(look, width=round(thin * look.width, 2))
        x, y = arrow_path(place, (start, end))
        hover = f"{escape_html(network.nodes[start].name)} pauses {escape_html(network.nodes[end].name)}"
        found.append(LabelledArrow(x, y, look, entry, hover=hover))
    return found


def arrow_path(place: NodePositions, ends: NodePair) -> tuple[np.ndarray, np.ndarray]:
    """Returns a line between two nodes, bent a little to the right so that both directions are visible."""
    x, y = place.x[list(ends)], place.y[list(ends)]
    grid = place.flat_positions if place.flat_positions and place.flat_positions.grid else None
    end = ARROW_END_GAP / max(1.0, abs(x[1] - x[0]) / grid.cell, abs(y[1] - y[0])) if grid else ARROW_END_GAP
    along = np.linspace(end, 1 - end, ARROW_STEPS)
    if place.flat_positions:
        whole = (
            flat_layout.bend_grid_link(x, y, place.flat_positions.cell)
            if place.flat_positions.grid
            else (x, y)
        )
        reach = np.linspace(0, 1, len(whole[0]))
        return np.interp(along, reach, whole[0]), np.interp(along, reach, whole[1])
    bend = 0.006 * np.sin(np.pi * along) * np.sign(y[1] - y[0] or 1.0)
    rise = 0.3 * np.sin(np.pi * along) if y[0] == y[1] else 0.0
    return x[0] + (x[1] - x[0]) * along + bend, y[0] + (y[1] - y[0]) * along + rise


def build_graph(
    network: Network, place: NodePositions, colours: dict[int, str], arcs: list[LabelledArrow]
) -> Graph:
    """Draws nodes by their colours over grey links."""
    hosts = [at for at, node in enumerate(network.nodes) if node.is_host]
    switches = [at for row in place.rows for at in row]
    labels = select_node_names(network, place, (hosts, LETTERS_PER_ROW))
    widest = max((len(row) for row in place.rows), default=1)
    size = 11.0 if widest <= 20 else 7.0 if widest <= 40 else 5.0
    dot = 6.5 if len(hosts) <= 40 else 4.0
    found = []
    for group, symbol, plain, large in (
        (switches, "square", IDLE_COLOUR, size),
        (hosts, "circle", GREY, dot),
    ):
        for colour in dict.fromkeys([plain, PAUSED_COLOUR, ROOT_COLOUR]):
            own = [at for at in group if colours.get(at, plain) == colour]
            if own:
                found.append(build_nodes(network, place, own, (labels, symbol, large, colour)))
    return Graph(build_links(network, place), found, tier_labels(network, place, hosts), arcs, place.aspect)


def build_nodes(
    network: Network, place: NodePositions, own: list[int], how: tuple[dict[int, str], str, float, str]
) -> Nodes:
    """Builds the drawing of nodes that have one colour and symbol."""
    labels, symbol, size, colour = how
    at = np.array(own, np.int64)
    hover = [escape_html(network.nodes[one].name) for one in own]
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
        NODE_LABELS.get(colour, ""),
    )


def chart_deadlocks(results: Results) -> Chart | None:
    """Builds the figure of the first deadlock of each variant on the network; `None` without any."""
    panels: list[Panel] = []
    for variant in common.variants_with_runs(results):
        stuck = next((run for run in results.runs_of(variant) if run.deadlock), None)
        network = drawable_network(results, variant)
        if stuck is not None and network is not None and len(panels) < MAX_PANELS:
            panels.append(draw_deadlock(network, stuck, results.label(variant)))
    if not panels:
        return None
    caption = (
        "Ports that wait for each other forever, in red, and all others that were paused in that class "
        "when the last port of the cycle was paused, in grey. Arrows point from the pausing to the "
        "paused node. First such seed of each variant."
    )
    legend = [
        LegendEntry("root", "waits forever", LineStyle(ROOT_COLOUR), "square"),
        LegendEntry("paused", "is paused", LineStyle(PAUSED_COLOUR), "square"),
        LegendEntry("cycle", "a pause that lasts forever", CYCLE_LINE_STYLE),
        LegendEntry("other", "another pause", OTHER_PAUSE_LINE_STYLE),
    ]
    return chart_of_networks("deadlock", "Deadlock", caption, panels, legend)


def draw_deadlock(network: Network, run: RunData, label: str) -> Panel:
    """Draws a deadlock and all other pauses of its class, with the label of its variant in the title."""
    assert run.deadlock is not None
    at, kind = int(run.deadlock["at_ps"]), int(run.deadlock["class"])
    cycle = set(parse_cycle_ports(run, run.deadlock["cycle"]))
    ends, place = saturation.find_peers(run), place_nodes(network)
    _, now = pauses_at_instant(run, at, kind)
    looks = {(peer, node): ("other", OTHER_PAUSE_LINE_STYLE) for (node, _), peer in now}
    looks |= {(ends[port], port[0]): ("cycle", CYCLE_LINE_STYLE) for port in cycle}
    colours = {node: PAUSED_COLOUR for (node, _), _ in now} | {node: ROOT_COLOUR for node, _ in cycle}
    ports, since = common.format_count(len(cycle), "port"), formats.format_time(at)
    title = f"{label}: class {kind}, since {since}: {ports} wait for each other (seed {run.seed})"
    return Panel(title, marks=[build_graph(network, place, colours, build_arrows(network, place, looks))])


def parse_cycle_ports(run: RunData, cycle: Iterable[str]) -> Iterable[Port]:
    """Yields the ports of a deadlock's cycle, parsed from `node:port`."""
    numbers = {str(node["name"]): at for at, node in enumerate(run.summary["nodes"])}
    for one in cycle:
        name, _, port = one.rpartition(":")
        yield numbers[name], int(port)
