"""Figure of a scenario's network: nodes by tier, coloured by events at its switches."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from overspill.charts import axes as words
from overspill.charts import common, flat
from overspill.charts.axes import escaped
from overspill.charts.nodes import Link, Network, Node
from overspill.charts.placing import Places, places
from overspill.charts.spec import COLOURS, Chart, Colours, Graph, Links, Nodes, Panel
from overspill.grouping import by_key
from overspill.results import formats, measures
from overspill.results.names import REASONS

if TYPE_CHECKING:
    from overspill.results.results import Results
    from overspill.results.rundata import RunData

PANELS_SHOWN = 6
MOST_NODES = 2500
KILOBYTES = "fullest port (KB)"  # used if buffers count bytes
MEANING = {
    "drops": "number of frames dropped there in the window",
    "longest queue": "its longest queue in frames",
    KILOBYTES: "largest number of bytes at one of its ports in the window",
}
TITLES = {"drops": "frames dropped", "longest queue": "longest queue", KILOBYTES: "fullest port"}
LETTERS = 105  # characters of names that fit into a row of nodes
LINKS_HOVERED = 4000
LOSING = COLOURS[1]  # colour of links that lost frames
LOST = " An orange link lost frames, while it was down or at random; no switch dropped these frames."
Lost = Mapping[tuple[int, int], float]  # frames by the two ends of a link, the lower first
NOTHING: Lost = {}


def network_of(results: Results, variant: str) -> Network | None:
    """Returns the network of a variant, from the facts of the results or from ports; `None` if unknown."""
    runs = results.runs_of(variant)
    networks, which = results.facts.get("networks") or [], results.facts.get("network_of") or {}
    index = which.get(variant)
    told = networks[index] if isinstance(index, int) and index < len(networks) else None
    if told:
        return told_network(told)
    return from_ports(runs[0]) if runs else None


def told_network(told: dict[str, Any]) -> Network:
    """Returns the network in the core's document."""
    nodes = tuple(Node(str(one["name"]), str(one["tier"]), bool(one["host"])) for one in told["nodes"])
    links = tuple(
        Link(int(one["a"]), int(one["b"]), float(one["rate_bps"]), int(one["delay_ps"]), back(one))
        for one in told["links"]
    )
    return Network(nodes, links)


def back(link: dict[str, Any]) -> tuple[float, int] | None:
    """Returns rate and delay of the other direction of a link if they differ; `None` otherwise.

    Older results have no `back`: their links are equal in both directions.
    """
    other = link.get("back", link)
    line = float(other["rate_bps"]), int(other["delay_ps"])
    return None if line == (float(link["rate_bps"]), int(link["delay_ps"])) else line


def from_ports(run: RunData) -> Network | None:
    """Returns the network in the table of ports, without delays; `None` if the table is empty."""
    node, peer, rate = run.columns("ports", "node", "peer", "rate_bps")
    nodes = tuple(Node(str(one["name"]), str(one["tier"]), bool(one["host"])) for one in run.summary["nodes"])
    if not len(node):
        return None
    ports = zip(node.tolist(), peer.tolist(), rate.tolist(), strict=True)
    known = ((ends_of(a, b), float(bps)) for a, b, bps in ports if a != b and max(a, b) < len(nodes))
    pairs = by_key(known)
    # Each link has a port at both ends.
    links = [Link(a, b, rates[0], None) for (a, b), rates in sorted(pairs.items()) for _ in rates[::2]]
    return Network(nodes, tuple(links))


def chart(results: Results) -> Chart | None:
    """Builds the figure of the network, a panel per variant, coloured by drops or by queues without any.

    `None` if no network is known, or all are too large.
    """
    variants = [variant for variant in common.with_runs(results) if network_of(results, variant)]
    shown = variants[:PANELS_SHOWN]
    networks = {variant: network_of(results, variant) for variant in shown}
    drawn = {variant: one for variant, one in networks.items() if one and len(one.nodes) <= MOST_NODES}
    if not drawn:
        return None
    counts = {variant: at_switches(results, variant) for variant in drawn}
    lost = {variant: on_links(results, variant) for variant in drawn}
    longest = KILOBYTES if all(KILOBYTES in one for one in counts.values()) else "longest queue"
    what = "drops" if any(one["drops"].sum() > 0 for one in counts.values()) else longest
    largest = max(float(one[what].max(initial=0)) for one in counts.values())
    colours = colours_of(what, largest)
    first = next(iter(drawn.values()))
    even = places(first).flat is not None
    columns = 1 if len(drawn) == 1 or (len(first.nodes) > 60 and not even) else 2
    panels = []
    for variant, network in drawn.items():
        drops, of_links = float(counts[variant]["drops"].sum()), sum(lost[variant].values())
        text = drops_text(drops, len(results.runs_of(variant)), of_links)
        title = f"{common.label(results, variant)}: {text}"
        panels.append(Panel(title, marks=[graph(network, counts[variant], (what, columns), lost[variant])]))
    height = common.height_of_networks(len(panels), columns, even)
    return Chart(
        "network",
        f"Network: {TITLES[what]} at each switch",
        caption(results, (variants, first, what)) + (LOST if any(lost.values()) else ""),
        panels,
        columns,
        height,
        colours=colours,
        told=f"{common.part_told(PANELS_SHOWN, len(variants))} {common.means_over(results, 'Means')}".strip(),
    )


def drops_text(drops: float, seeds: int, of_links: float = 0.0) -> str:
    """Returns the title of drops: `1 963 drops (mean of 10 seeds)`, with those on links apart.

    Numbers below 10 have one decimal.
    """
    more = f", {rounded(of_links)} more on links" if of_links else ""
    over = f" (mean of {seeds} seeds)" if seeds > 1 else ""
    return f"{drops_told(drops)}{more}{over}"


def ends_of(a: int, b: int) -> tuple[int, int]:
    """Returns the two ends of a link in ascending order."""
    return min(a, b), max(a, b)


def drops_told(drops: float) -> str:
    """Formats a number of drops: `1 drop`, `12 drops`."""
    text = rounded(drops)
    return f"{text} drop{'' if text == '1' else 's'}"


def rounded(drops: float) -> str:
    """Formats a mean number of drops: `1 963`, `2.3`."""
    return formats.trimmed(round(drops) if drops >= 10 else round(drops, 1))


def caption(results: Results, what: tuple[list[str], Network, str]) -> str:
    """Returns the caption of the figure."""
    variants, network, quantity = what
    hosts = sum(node.host for node in network.nodes)
    switches = len(network.nodes) - hosts
    over = common.seeds_text(results)
    meaning = MEANING[quantity]
    more = f" The first {PANELS_SHOWN} of {len(variants)} variants." if len(variants) > PANELS_SHOWN else ""
    return (
        f"{common.counted(hosts, 'host')} (dots), {formats.number(switches)} switches (squares) and "
        f"{common.counted(len(network.links), 'link')}; wider lines are faster links. Colour and number "
        f"of a switch: {meaning}, mean over {over}; white is 0.{more}"
    )


def colours_of(what: str, largest: float) -> Colours:
    """Returns the scale of colours of a quantity."""
    label = {"drops": "drops of a switch", KILOBYTES: KILOBYTES}.get(what, "longest queue (frames)")
    return Colours(0.0, max(largest, 1.0), label, zero=True)


def on_links(results: Results, variant: str) -> Lost:
    """Returns frames lost on links by their two ends, as means over seeds: no switch dropped these."""
    runs = results.runs_of(variant)
    found: dict[tuple[int, int], float] = {}
    for run in runs:
        node, peer = run.columns("ports", "node", "peer")
        for reason in measures.ON_LINKS:
            counts = run.column("ports", f"drop_{reason}")
            for at in np.flatnonzero(counts).tolist():
                ends = ends_of(int(node[at]), int(peer[at]))
                found[ends] = found.get(ends, 0.0) + float(counts[at]) / len(runs)
    return found


def at_switches(results: Results, variant: str) -> dict[str, np.ndarray]:
    """Returns counts by node, as means over seeds: drops, marks, detours, bounces, trims, longest queue.

    Trims are included if any switch trims.
    """
    runs = results.runs_of(variant)
    size = len(runs[0].summary["nodes"])
    at_nodes = [reason for reason in REASONS if reason not in measures.ON_LINKS]
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
        if measures.counts_bytes(run):
            held, longest = run.column("ports", "max_bytes_in_window"), np.zeros(size)
            np.maximum.at(longest, node, held.astype(np.float64) / 1000)
            found[KILOBYTES] = found.get(KILOBYTES, np.zeros(size)) + longest / len(runs)
    for one in found.values():
        one[runs[0].is_host] = 0
    return found


def graph(
    network: Network, counts: dict[str, np.ndarray], what: tuple[str, int], lost: Lost = NOTHING
) -> Graph:
    """Draws a quantity on the network in one of several columns; `lost` are frames lost on links."""
    quantity, columns = what
    place = places(network)
    nodes = network.nodes
    hosts = [at for at, node in enumerate(nodes) if node.host]
    found = []
    switches = [at for row in place.rows for at in row]
    widest = max((len(row) for row in place.rows), default=1)
    size = 12.0 if widest <= 20 else 9.0 if widest <= 40 else 6.0 if widest <= 80 else 4.5
    labels = names_of(network, place, (hosts, LETTERS // columns))
    texts = {at: about(network, at, counts) for at in switches}
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
        names = [escaped(nodes[at].name) for at in hosts]
        found.append(
            Nodes(
                place.x[round_], place.y[round_], np.full(len(hosts), np.nan),
                [labels.get(at, "") for at in hosts], names, "circle", dot,
            )
        )  # fmt: skip
    tiers = tiers_of(network, place, hosts)
    return Graph(links_of(network, place, lost), found, tiers, aspect=place.aspect)


def tiers_of(network: Network, place: Places, hosts: list[int]) -> list[tuple[float, str]]:
    """Returns the names of tiers and of the hosts, with their heights; empty without tiers."""
    if place.flat:
        return []
    rows = [(row, dict.fromkeys(network.nodes[at].tier for at in row)) for row in place.rows]
    found = [(float(place.y[row[0]]), formats.listing(names, 2)) for row, names in rows]
    return [*found, *([(float(place.y[np.array(hosts)].mean()), "hosts")] if hosts else [])]


def about(network: Network, at: int, counts: dict[str, np.ndarray]) -> str:
    """Returns the text of a switch under the pointer."""
    node = network.nodes[at]
    lines = [f"<b>{escaped(node.name)}</b> ({escaped(node.tier)})"]
    lines += [f"{name}: {formats.trimmed(float(values[at]))}" for name, values in counts.items()]
    return "<br>".join(lines)


def names_of(network: Network, place: Places, room: tuple[list[int], int]) -> dict[int, str]:
    """Returns the names that fit: all of a row, or every n-th."""
    hosts, letters = room
    found: dict[int, str] = {}
    rows = [*place.rows, *([tuple(hosts)] if place.per_column == 1 and not place.flat else [])]
    for row in rows:
        ordered = sorted(row, key=lambda at: (float(place.x[at]), at))
        longest = max(len(network.nodes[at].name) for at in ordered) + 1.5
        every = max(1, math.ceil(len(ordered) * longest / letters))
        found |= {at: network.nodes[at].name for at in ordered[::every]}
    return found


def links_of(network: Network, place: Places, lost: Lost = NOTHING) -> list[Links]:
    """Returns links by rate, and above them those that lost frames.

    Links between switches of one row that are not neighbours there are arcs.
    """
    losing = [link for link in network.links if ends_of(link.a, link.b) in lost]
    found = links_by_rate(network, place)
    if losing:
        hover = [
            f"{hover_text(network, link)}<br>{drops_told(lost[ends_of(link.a, link.b)])}" for link in losing
        ]
        found.append(replace(joined(losing, place, 2.4, hover), colour=LOSING))
    return found


def joined(group: list[Link], place: Places, width: float, hover: list[str]) -> Links:
    """Returns links of one width; the first of them have a text under the pointer."""
    paths, gap = [path(link, place) for link in group], np.array([np.nan])
    x, y = (np.concatenate([part for one in paths for part in (one[axis], gap)]) for axis in (0, 1))
    middles = [flat.middle(one) for one in paths[: len(hover)]]
    middle_x, middle_y = (np.array([one[axis] for one in middles]) for axis in (0, 1))
    return Links(x, y, width, middle_x, middle_y, hover)


def links_by_rate(network: Network, place: Places) -> list[Links]:
    """Returns links by rate, faster ones wider."""
    rates = sorted({link.rate_bps for link in network.links})
    many = len(network.links) > 400
    found = []
    for at, rate in enumerate(rates):
        group = [link for link in network.links if link.rate_bps == rate]
        width = (0.35 if many else 0.8) * (1 + 0.9 * at / max(1, len(rates) - 1)) if len(rates) > 1 else (
            0.4 if many else 0.9
        )  # fmt: skip
        hovered = group if len(network.links) <= LINKS_HOVERED else []
        hover = [hover_text(network, link) for link in hovered]
        found.append(joined(group, place, round(width, 2), hover))
    return found


def path(link: Link, place: Places) -> tuple[np.ndarray, np.ndarray]:
    """Returns the path of a link: a straight line, or an arc within a row or a column."""
    x, y = place.x[[link.a, link.b]], place.y[[link.a, link.b]]
    if place.flat:
        return flat.bowed(x, y, place.flat.cell) if place.flat.grid else (x, y)
    row = next((row for row in place.rows if link.a in row and link.b in row), None)
    if row is None or abs(row.index(link.a) - row.index(link.b)) == 1:
        return x, y
    along = np.linspace(0, 1, flat.POINTS)
    return x[0] + (x[1] - x[0]) * along, y[0] + 0.35 * np.sin(np.pi * along)


def hover_text(network: Network, link: Link) -> str:
    """Returns the text of a link under the pointer."""
    ends = f"{escaped(network.nodes[link.a].name)} - {escaped(network.nodes[link.b].name)}"
    there = line_told(link.rate_bps, link.delay_ps)
    if link.back is None:
        return f"{ends}<br>{there}"
    return f"{ends}<br>there {there}<br>back {line_told(*link.back)}"


def line_told(rate_bps: float, delay_ps: int | None) -> str:
    """Returns a direction of a link as text: `1 Gbit/s, 1 us`."""
    delay = "" if delay_ps is None else f", {formats.time(delay_ps)}"
    return f"{words.text(rate_bps, 'rate')}{delay}"
