"""Figure of a scenario's network: nodes by tier, coloured by events at its switches."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from overspill.charts import axes as words
from overspill.charts import common, flat_layout
from overspill.charts.axes import escape_html
from overspill.charts.chart_spec import COLOURS, Chart, Colours, Graph, Links, Nodes, Panel
from overspill.charts.layered_layout import NodePositions, place_nodes
from overspill.charts.network_graph import Link, Network, Node
from overspill.grouping import group_by_key
from overspill.results import formats, measures
from overspill.results.names import DROP_REASONS

if TYPE_CHECKING:
    from overspill.results.results import Results
    from overspill.results.rundata import RunData

MAX_PANELS = 6
MAX_NODES = 2500
KILOBYTES_LABEL = "fullest port (KB)"  # used if buffers count bytes
QUANTITY_MEANINGS = {
    "drops": "number of frames dropped there in the window",
    "longest queue": "its longest queue in frames",
    KILOBYTES_LABEL: "largest number of bytes at one of its ports in the window",
}
QUANTITY_TITLES = {
    "drops": "frames dropped",
    "longest queue": "longest queue",
    KILOBYTES_LABEL: "fullest port",
}
LETTERS_PER_ROW = 105  # characters of names that fit into a row of nodes
MAX_LINKS_WITH_HOVER = 4000
LOSSY_LINK_COLOUR = COLOURS[1]  # colour of links that lost frames
LOSSY_LINK_NOTE = (
    " An orange link lost frames, while it was down or at random; no switch dropped these frames."
)
LinkLosses = Mapping[tuple[int, int], float]  # frames by the two ends of a link, the lower first
NO_LOSSES: LinkLosses = {}


def find_network(results: Results, variant: str) -> Network | None:
    """Returns the network of a variant from the manifest, or from the table of ports; `None` if unknown."""
    runs = results.runs_of(variant)
    networks, which = results.facts.get("networks") or [], results.facts.get("network_of") or {}
    index = which.get(variant)
    told = networks[index] if isinstance(index, int) and index < len(networks) else None
    if told:
        return parse_network(told)
    return network_from_ports(runs[0]) if runs else None


def parse_network(told: dict[str, Any]) -> Network:
    """Parses a network that the core has written as JSON."""
    nodes = tuple(Node(str(one["name"]), str(one["tier"]), bool(one["host"])) for one in told["nodes"])
    links = tuple(
        Link(
            int(one["a"]),
            int(one["b"]),
            float(one["rate_bps"]),
            int(one["delay_ps"]),
            opposite_direction(one),
        )
        for one in told["links"]
    )
    return Network(nodes, links)


def opposite_direction(link: dict[str, Any]) -> tuple[float, int] | None:
    """Returns rate and delay of the other direction of a link if they differ; `None` otherwise.

    Older results have no `back`: their links are equal in both directions.
    """
    other = link.get("back", link)
    line = float(other["rate_bps"]), int(other["delay_ps"])
    return None if line == (float(link["rate_bps"]), int(link["delay_ps"])) else line


def network_from_ports(run: RunData) -> Network | None:
    """Returns the network in the table of ports, without delays; `None` if the table is empty."""
    node, peer, rate = run.columns("ports", "node", "peer", "rate_bps")
    nodes = tuple(Node(str(one["name"]), str(one["tier"]), bool(one["host"])) for one in run.summary["nodes"])
    if not len(node):
        return None
    ports = zip(node.tolist(), peer.tolist(), rate.tolist(), strict=True)
    known = ((sort_link_ends(a, b), float(bps)) for a, b, bps in ports if a != b and max(a, b) < len(nodes))
    pairs = group_by_key(known)
    # `rates` has two entries for each link, one for the port at either end.
    links = [Link(a, b, rates[0], None) for (a, b), rates in sorted(pairs.items()) for _ in rates[::2]]
    return Network(nodes, tuple(links))


def chart_network(results: Results) -> Chart | None:
    """Builds the figure of each variant's network, coloured by drops, or by queue lengths if none dropped.

    `None` if no network is known, or all are too large.
    """
    variants = [variant for variant in common.variants_with_runs(results) if find_network(results, variant)]
    shown = variants[:MAX_PANELS]
    networks = {variant: find_network(results, variant) for variant in shown}
    drawn = {variant: one for variant, one in networks.items() if one and len(one.nodes) <= MAX_NODES}
    if not drawn:
        return None
    counts = {variant: mean_counts_by_node(results, variant) for variant in drawn}
    lost = {variant: mean_losses_by_link(results, variant) for variant in drawn}
    longest = KILOBYTES_LABEL if all(KILOBYTES_LABEL in one for one in counts.values()) else "longest queue"
    what = "drops" if any(one["drops"].sum() > 0 for one in counts.values()) else longest
    largest = max(float(one[what].max(initial=0)) for one in counts.values())
    colours = quantity_colours(what, largest)
    first = next(iter(drawn.values()))
    even = place_nodes(first).flat_positions is not None
    columns = 1 if len(drawn) == 1 or (len(first.nodes) > 60 and not even) else 2
    panels = []
    for variant, network in drawn.items():
        drops, of_links = float(counts[variant]["drops"].sum()), sum(lost[variant].values())
        text = format_drops_title(drops, len(results.runs_of(variant)), of_links)
        title = f"{common.group_label(results, variant)}: {text}"
        panels.append(
            Panel(title, marks=[draw_quantity(network, counts[variant], (what, columns), lost[variant])])
        )
    height = common.network_panel_height(len(panels), columns, even)
    omitted = common.omitted_variants_note(MAX_PANELS, len(variants))
    return Chart(
        "network",
        f"Network: {QUANTITY_TITLES[what]} at each switch",
        build_caption(results, (variants, first, what)) + (LOSSY_LINK_NOTE if any(lost.values()) else ""),
        panels,
        columns,
        height,
        colours=colours,
        file_note=f"{omitted} {common.means_over_seeds_note(results, 'Means')}".strip(),
    )


def format_drops_title(drops: float, seeds: int, of_links: float = 0.0) -> str:
    """Formats drops in a network as a title: `1 963 drops, 12 more on links (mean of 10 seeds)`.

    Numbers below 10 have one decimal.
    """
    more = f", {format_mean_drops(of_links)} more on links" if of_links else ""
    over = f" (mean of {seeds} seeds)" if seeds > 1 else ""
    return f"{format_drops(drops)}{more}{over}"


def sort_link_ends(a: int, b: int) -> tuple[int, int]:
    """Returns the two ends of a link in ascending order."""
    return min(a, b), max(a, b)


def format_drops(drops: float) -> str:
    """Formats a number of drops: `1 drop`, `12 drops`."""
    text = format_mean_drops(drops)
    return f"{text} drop{'' if text == '1' else 's'}"


def format_mean_drops(drops: float) -> str:
    """Formats a mean number of drops: `1 963`, `2.3`."""
    return formats.format_trimmed(round(drops) if drops >= 10 else round(drops, 1))


def build_caption(results: Results, what: tuple[list[str], Network, str]) -> str:
    """Returns the caption for the figure of the network."""
    variants, network, quantity = what
    hosts = sum(node.is_host for node in network.nodes)
    switches = len(network.nodes) - hosts
    over = common.format_seed_count(results)
    meaning = QUANTITY_MEANINGS[quantity]
    more = f" The first {MAX_PANELS} of {len(variants)} variants." if len(variants) > MAX_PANELS else ""
    return (
        f"{common.format_count(hosts, 'host')} (dots), {formats.format_number(switches)} switches "
        "(squares) and "
        f"{common.format_count(len(network.links), 'link')}; wider lines are faster links. Colour and number "
        f"of a switch: {meaning}, mean over {over}; white is 0.{more}"
    )


def quantity_colours(what: str, largest: float) -> Colours:
    """Returns the colour scale for a quantity, such as drops."""
    label = {"drops": "drops of a switch", KILOBYTES_LABEL: KILOBYTES_LABEL}.get(
        what, "longest queue (frames)"
    )
    return Colours(0.0, max(largest, 1.0), label, white_zero=True)


def mean_losses_by_link(results: Results, variant: str) -> LinkLosses:
    """Returns frames lost on links by their two ends, as means over seeds: no switch dropped these."""
    runs = results.runs_of(variant)
    found: dict[tuple[int, int], float] = {}
    for run in runs:
        node, peer = run.columns("ports", "node", "peer")
        for reason in measures.LINK_LOSS_REASONS:
            counts = run.column("ports", f"drop_{reason}")
            for at in np.flatnonzero(counts).tolist():
                ends = sort_link_ends(int(node[at]), int(peer[at]))
                found[ends] = found.get(ends, 0.0) + float(counts[at]) / len(runs)
    return found


def mean_counts_by_node(results: Results, variant: str) -> dict[str, np.ndarray]:
    """Returns means over seeds by node: drops, marks, detours, bounces, trims, and the longest queue.

    Trims are included if any switch trims.
    """
    runs = results.runs_of(variant)
    size = len(runs[0].summary["nodes"])
    at_nodes = [reason for reason in DROP_REASONS if reason not in measures.LINK_LOSS_REASONS]
    columns = {"drops": [f"drop_{reason}" for reason in at_nodes], "marks": ["marked"]}
    columns |= {"detours": ["detoured"], "bounces": ["bounced"]}
    columns |= {"trims": ["trimmed"]} if "trimmed" in runs[0].column_names("ports") else {}
    found = {name: np.zeros(size) for name in (*columns, "longest queue")}
    for run in runs:
        node = run.column("ports", "node").astype(np.int64)
        for name, parts in columns.items():
            for part in parts:
                values = run.column("ports", part)
                if len(values) == len(node):
                    np.add.at(found[name], node, values.astype(np.float64) / len(runs))
        longest = np.zeros(size)
        held = run.column("ports", "max_packets")
        if len(held) == len(node):
            np.maximum.at(longest, node, held.astype(np.float64))
        found["longest queue"] += longest / len(runs)
        if measures.buffers_count_bytes(run):
            held, longest = run.column("ports", "max_bytes_in_window"), np.zeros(size)
            np.maximum.at(longest, node, held.astype(np.float64) / 1000)
            found[KILOBYTES_LABEL] = found.get(KILOBYTES_LABEL, np.zeros(size)) + longest / len(runs)
    for one in found.values():
        one[runs[0].is_host] = 0
    return found


def draw_quantity(
    network: Network, counts: dict[str, np.ndarray], what: tuple[str, int], lost: LinkLosses = NO_LOSSES
) -> Graph:
    """Draws the network with its switches coloured by a quantity.

    `what` is the quantity and the number of columns of the figure; `lost` are frames lost on links.
    """
    quantity, columns = what
    place = place_nodes(network)
    nodes = network.nodes
    hosts = [at for at, node in enumerate(nodes) if node.is_host]
    found = []
    switches = [at for row in place.rows for at in row]
    widest = max((len(row) for row in place.rows), default=1)
    size = 12.0 if widest <= 20 else 9.0 if widest <= 40 else 6.0 if widest <= 80 else 4.5
    labels = select_node_names(network, place, (hosts, LETTERS_PER_ROW // columns))
    texts = {at: switch_hover_text(network, at, counts) for at in switches}
    square = np.array(switches, np.int64)
    found.append(
        Nodes(
            place.x[square], place.y[square], counts[quantity][square],
            [labels.get(at, "") for at in switches], [texts[at] for at in switches], "square", size,
        )
    )  # fmt: skip
    if hosts:
        round_ = np.array(hosts, np.int64)
        dot = 7.0 if len(hosts) <= 40 else 4.5 if len(hosts) <= 200 else 3.0
        names = [escape_html(nodes[at].name) for at in hosts]
        found.append(
            Nodes(
                place.x[round_], place.y[round_], np.full(len(hosts), np.nan),
                [labels.get(at, "") for at in hosts], names, "circle", dot,
            )
        )  # fmt: skip
    tiers = tier_labels(network, place, hosts)
    return Graph(build_links(network, place, lost), found, tiers, aspect=place.aspect)


def tier_labels(network: Network, place: NodePositions, hosts: list[int]) -> list[tuple[float, str]]:
    """Returns the names of tiers, and of the row of hosts, with their y positions; empty without tiers."""
    if place.flat_positions:
        return []
    rows = [(row, dict.fromkeys(network.nodes[at].tier for at in row)) for row in place.rows]
    found = [(float(place.y[row[0]]), formats.format_listing(names, 2)) for row, names in rows]
    return [*found, *([(float(place.y[np.array(hosts)].mean()), "hosts")] if hosts else [])]


def switch_hover_text(network: Network, at: int, counts: dict[str, np.ndarray]) -> str:
    """Returns the hover text of a switch."""
    node = network.nodes[at]
    lines = [f"<b>{escape_html(node.name)}</b> ({escape_html(node.tier)})"]
    lines += [f"{name}: {formats.format_trimmed(float(values[at]))}" for name, values in counts.items()]
    return "<br>".join(lines)


def select_node_names(network: Network, place: NodePositions, room: tuple[list[int], int]) -> dict[int, str]:
    """Returns the node names that fit into the drawing: all of a row, or every n-th."""
    hosts, letters = room
    found: dict[int, str] = {}
    rows = [
        *place.rows,
        *([tuple(hosts)] if place.hosts_per_column == 1 and not place.flat_positions else []),
    ]
    for row in rows:
        ordered = sorted(row, key=lambda at: (float(place.x[at]), at))
        longest = max(len(network.nodes[at].name) for at in ordered) + 1.5
        every = max(1, math.ceil(len(ordered) * longest / letters))
        found |= {at: network.nodes[at].name for at in ordered[::every]}
    return found


def build_links(network: Network, place: NodePositions, lost: LinkLosses = NO_LOSSES) -> list[Links]:
    """Returns the drawn links, grouped by rate, and above them those that lost frames.

    Links between switches of one row that are not neighbours there are arcs.
    """
    losing = [link for link in network.links if sort_link_ends(link.a, link.b) in lost]
    found = group_links_by_rate(network, place)
    if losing:
        hover = [
            f"{link_hover_text(network, link)}<br>{format_drops(lost[sort_link_ends(link.a, link.b)])}"
            for link in losing
        ]
        found.append(replace(join_links(losing, place, 2.4, hover), colour=LOSSY_LINK_COLOUR))
    return found


def join_links(group: list[Link], place: NodePositions, width: float, hover: list[str]) -> Links:
    """Joins the paths of links of one width into one drawing; the first links have hover texts."""
    paths, gap = [link_path(link, place) for link in group], np.array([np.nan])
    x, y = (np.concatenate([part for one in paths for part in (one[axis], gap)]) for axis in (0, 1))
    middles = [flat_layout.path_midpoint(one) for one in paths[: len(hover)]]
    middle_x, middle_y = (np.array([one[axis] for one in middles]) for axis in (0, 1))
    return Links(x, y, width, middle_x, middle_y, hover)


def group_links_by_rate(network: Network, place: NodePositions) -> list[Links]:
    """Returns the drawn links, grouped by rate, with faster ones wider."""
    rates = sorted({link.rate_bps for link in network.links})
    many = len(network.links) > 400
    found = []
    for at, rate in enumerate(rates):
        group = [link for link in network.links if link.rate_bps == rate]
        width = (0.35 if many else 0.8) * (1 + 0.9 * at / max(1, len(rates) - 1)) if len(rates) > 1 else (
            0.4 if many else 0.9
        )  # fmt: skip
        hovered = group if len(network.links) <= MAX_LINKS_WITH_HOVER else []
        hover = [link_hover_text(network, link) for link in hovered]
        found.append(join_links(group, place, round(width, 2), hover))
    return found


def link_path(link: Link, place: NodePositions) -> tuple[np.ndarray, np.ndarray]:
    """Returns the drawn path of a link: a straight line, or an arc within a row or a column."""
    x, y = place.x[[link.a, link.b]], place.y[[link.a, link.b]]
    if place.flat_positions:
        return (
            flat_layout.bend_grid_link(x, y, place.flat_positions.cell)
            if place.flat_positions.grid
            else (x, y)
        )
    row = next((row for row in place.rows if link.a in row and link.b in row), None)
    if row is None or abs(row.index(link.a) - row.index(link.b)) == 1:
        return x, y
    along = np.linspace(0, 1, flat_layout.ARC_POINTS)
    return x[0] + (x[1] - x[0]) * along, y[0] + 0.35 * np.sin(np.pi * along)


def link_hover_text(network: Network, link: Link) -> str:
    """Returns the hover text of a link."""
    ends = f"{escape_html(network.nodes[link.a].name)} - {escape_html(network.nodes[link.b].name)}"
    there = format_link(link.rate_bps, link.delay_ps)
    if link.opposite_direction is None:
        return f"{ends}<br>{there}"
    return f"{ends}<br>there {there}<br>back {format_link(*link.opposite_direction)}"


def format_link(rate_bps: float, delay_ps: int | None) -> str:
    """Formats rate and delay of one direction of a link: `1 Gbit/s, 1 us`."""
    delay = "" if delay_ps is None else f", {formats.format_time(delay_ps)}"
    return f"{words.format_quantity(rate_bps, 'rate')}{delay}"
