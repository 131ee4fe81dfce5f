"""Figures of a packet trace: its path, and detours and queues around its destination."""

from __future__ import annotations

from collections import Counter

import numpy as np

from overspill.charts import common
from overspill.charts.axes import escape_html
from overspill.charts.chart_spec import (
    COLOURS,
    GREY,
    Axis,
    Chart,
    Colours,
    Graph,
    HeatMap,
    LabelledArrow,
    LegendEntry,
    Line,
    LineStyle,
    Mark,
    Nodes,
    Panel,
    Points,
    Span,
    axis_extent,
)
from overspill.results import formats, measures
from overspill.tracing.packet_trace import BOUNCED, DETOURED, PacketTrace
from overspill.tracing.text import summary_lines
from overspill.tracing.trace_layout import ROW_HEIGHT, NodeLayout, place_nodes

FORWARD_LINE_STYLE, DETOUR_LINE_STYLE, BOUNCE_LINE_STYLE = (
    LineStyle(COLOURS[0]),
    LineStyle(COLOURS[1], (3.0, 1.4)),
    LineStyle(COLOURS[2], (1.0, 1.2)),
)
ARROW_LINE_STYLES = {"": FORWARD_LINE_STYLE, "detour": DETOUR_LINE_STYLE, "bounce": BOUNCE_LINE_STYLE}
ARROW_NAMES = {"": "forwarded normally", "detour": "detoured", "bounce": "bounced"}
MIN_ARC_WIDTH, MAX_ARC_WIDTH = (
    1.2,
    5.6,
)  # points: width of an arc crossed once, and of the arc crossed most often
FEW_DETOURS = 8  # crossings that the thickest arc stands for at least
INSTANT_LINE_STYLE = LineStyle(GREY, (4, 2), 1.0)


def build_figures(traced: PacketTrace) -> dict[str, Chart]:
    """Returns every figure of a packet trace that the trace has data for."""
    found = [chart_path(traced), chart_detours(traced), chart_occupancy(traced)]
    return {chart.name: chart for chart in found if chart is not None}


def chart_path(traced: PacketTrace) -> Chart:
    """Returns the figure of a path: arrows are wider for more crossings, dashed for detours and bounces."""
    layout = place_nodes(traced)
    turned = [one for one in ARROW_LINE_STYLES if any(arc.cause == one for arc in traced.arcs)]
    legend = [LegendEntry(one or "normal", ARROW_NAMES[one], arrow_line_style(one, 0.25)) for one in turned]
    facts = traced.facts
    which = f"{'reverse ' if facts['reverse'] else ''}packet {facts['n']} of flow {facts['flow']}"
    which = traced.which if facts["notice"] else which
    several = len(set(layout.drawn_as.values())) < len(layout.drawn_as)
    more = "; switches with the same neighbours on the path are one box" if several else ""
    caption = (
        f"Path of {which} in {facts['variant']} (seed {facts['seed']}): {summary_lines(traced)[0]}. The "
        "number at an arc, like its width, shows how often the packet crossed it. Only nodes that it "
        f"visited are shown{more}."
    )
    panel = Panel(marks=[build_graph(traced, layout)])
    return Chart(
        "path",
        "Path of the packet",
        caption,
        [panel],
        height=ROW_HEIGHT * (layout.height - 0.3) + 0.2,
        legend=legend,
    )


def arrow_line_style(turned: str, share: float) -> LineStyle:
    """Returns the line style of an arrow; `share` is 0 for one crossing, 1 for the most crossings."""
    base, width = ARROW_LINE_STYLES[turned], MIN_ARC_WIDTH + (MAX_ARC_WIDTH - MIN_ARC_WIDTH) * share
    # Dashes are in units of the line's width, and would be too long in a wide line.
    dash = tuple(length * max(0.45, 1.6 / width) for length in base.dash)
    return LineStyle(base.colour, dash, round(width, 2))


def build_graph(traced: PacketTrace, layout: NodeLayout) -> Graph:
    """Returns the drawing of a packet's path: nodes as boxes, and arrows between them."""
    counts: Counter[tuple[int, int, str]] = Counter()
    for one in traced.arcs:
        counts[layout.drawn_as[one.start], layout.drawn_as[one.end], one.cause] += one.count
    most = max([FEW_DETOURS, *counts.values()])
    arcs = []
    for (start, end, turned), count in counts.items():
        x, y = layout.curve((start, end), turned != "" and (start, end, "") in counts)
        ends = f"{escape_html(layout.names[start])} to {escape_html(layout.names[end])}"
        hover = f"{ends}, {ARROW_NAMES[turned]}<br>{common.format_count(count, 'time')}"
        drawn = arrow_line_style(turned, (count - 1) / (most - 1))
        arcs.append(LabelledArrow(x, y, drawn, turned or "normal", str(count), hover))
    hosts = [at for at in layout.positions if traced.network["nodes"][at]["host"]]
    switches = [at for at in layout.positions if at not in hosts]
    groups = [(group, plain) for group, plain in ((switches, "#eef2f6"), (hosts, "#ffffff")) if group]
    return Graph([], [build_boxes(traced, layout, group, plain) for group, plain in groups], [], arcs)


def build_boxes(traced: PacketTrace, layout: NodeLayout, group: list[int], plain: str) -> Nodes:
    """Returns a group of the nodes of a packet's path as boxes with the fill colour `plain`."""
    x, y = (np.array([layout.positions[at][axis] for at in group]) for axis in (0, 1))
    hover = []
    for shown in group:
        nodes = [at for at, by in layout.drawn_as.items() if by == shown]
        stays = sum(visit.node in nodes for visit in traced.visits)
        who = formats.format_listing([escape_html(traced.names[at]) for at in nodes])
        hover.append(f"{who}<br>{common.format_count(stays, 'visit')}")
    names = [layout.names[at] for at in group]
    return Nodes(x, y, np.full(len(group), np.nan), names, hover, "box", 8.0, plain)


def describe_switches_shown(traced: PacketTrace) -> str:
    """Describes the switches that the other figures of a trace show."""
    if traced.facts["topology"] == "fat_tree":
        return "the destination's pod"
    return "the destination's switch and its neighbours"


def chart_detours(traced: PacketTrace) -> Chart | None:
    """Returns the figure of detours by each switch around the destination over time, or `None`."""
    pod = traced.pod
    nodes, times = traced.numbers("detours", "node", "time_ps")
    counts = [int((nodes == node).sum()) for node in pod]
    if not sum(counts):
        return None
    seconds = times * measures.SECONDS_PER_PS
    marks: list[Mark] = []
    for at in traced.facts["instants_ps"]:
        marks.append(
            Line(
                np.full(2, at * measures.SECONDS_PER_PS),
                np.array([-0.6, len(pod) - 0.4]),
                INSTANT_LINE_STYLE,
                "instants",
            )
        )
    rows = {node: at for at, node in enumerate(pod)}
    known = np.isin(nodes, pod)
    heights = np.array([rows[int(node)] for node in nodes[known]], np.float64)
    marks.append(Points(seconds[known], heights, LineStyle(COLOURS[0]), "all", size=1.4))
    own = [step for step in traced.steps if step["what"] in (DETOURED, BOUNCED) and step["node"] in rows]
    if own:
        when = np.array([step["time_ps"] for step in own]) * measures.SECONDS_PER_PS
        marks.append(
            Points(
                when,
                np.array([float(rows[step["node"]]) for step in own]),
                LineStyle(COLOURS[1]),
                "own",
                hollow=True,
            )
        )
    ticks = tuple((float(at), f"{traced.names[node]} ({counts[at]})") for at, node in enumerate(pod))
    panel = Panel("", Axis("time", "time", range=x_extent(marks)),
                  Axis("", ticks=ticks, range=(-0.6, len(pod) - 0.4), reversed=True), marks)  # fmt: skip
    legend = [
        LegendEntry("all", "a detour", LineStyle(COLOURS[0]), "circle"),
        LegendEntry("instants", "t1, t2, t3", INSTANT_LINE_STYLE),
    ]
    legend[1:1] = (
        [LegendEntry("own", "a detour of this packet", LineStyle(COLOURS[1]), "ring")] if own else []
    )
    return Chart("detours", "Detours by switch over time", detours_caption(traced, sum(counts)), [panel],
                 height=min(6.5, 0.9 + 0.24 * len(pod)), legend=legend)  # fmt: skip


def x_extent(marks: list[Mark]) -> tuple[float, float]:
    """Returns the x range of all marks, with a small margin on both sides."""
    start, end = axis_extent([Panel(marks=marks)], "x")
    margin = 0.02 * (end - start) or measures.SECONDS_PER_PS
    return start - margin, end + margin


def detours_caption(traced: PacketTrace, count: int) -> str:
    """Returns the caption of the figure of detours."""
    total, left_out = traced.tables["detours"].num_rows, traced.facts["detours_left_out"]
    more = (
        f" Only the first {formats.format_number(total)} detours are known: {left_out} came after them."
        if left_out
        else ""
    )
    return (
        f"Detours by switches of {describe_switches_shown(traced)}, one mark each, "
        f"{formats.format_number(count)} in total; "
        f"other switches detoured {common.format_count(total - count, 'packet')} in that time. The period "
        "covers the trace, the same time before and after it, and t1 to t3. The axis ends at the last "
        f"mark.{more}"
    )


def chart_occupancy(traced: PacketTrace) -> Chart | None:
    """Returns the figure of frames queued at ports near the destination at three instants, or `None`."""
    pod = traced.pod
    ports = {node: [port for of, port in traced.peers if of == node] for node in pod}
    most = max((max(one) + 1 for one in ports.values() if one), default=0)
    at_ps, node, port, packets = traced.numbers("occupancy", "at_ps", "node", "port", "packets")
    if not most or not np.isin(node, pod).any():
        return None
    panels = []
    names = [traced.names[one] for one in pod]
    for number, instant in enumerate(traced.facts["instants_ps"], 1):
        values = np.full((len(pod), most), np.nan)
        for row, of in enumerate(pod):
            values[row, ports[of]] = 0
            keep = (at_ps == instant) & (node == of)
            values[row, port[keep].astype(np.int64)] = packets[keep]
        ticks = tuple((at + 0.5, str(at)) for at in range(0, most, -(-most // 12)))
        title = f"t{number} = {formats.format_time(instant)}"
        marks: list[Mark] = [Span(0, most), HeatMap(values, np.arange(most + 1), names)]
        panels.append(Panel(title, Axis("port", ticks=ticks), Axis(), marks))
    largest = float(packets[np.isin(node, pod)].max())
    halves = (
        " The first half of a switch's ports leads down, the second half up."
        if has_tree_ports(traced)
        else ""
    )
    fewer = any(len(ports[of]) < most for of in pod)
    grey = " Grey: the switch has no such port." if fewer else ""
    caption = (
        f"Queued frames at each port of {describe_switches_shown(traced)}, one row per switch, at three "
        "instants: "
        f"{describe_instants(traced)}.{halves}{grey}"
    )
    colours = Colours(0, max(1.0, largest), "queued frames", whole_numbers=True, white_zero=True)
    height = min(5.5, 1.1 + 0.2 * len(pod))
    return Chart("occupancy", "Queues at three instants", caption, panels, 3, height, colours=colours)


def has_tree_ports(traced: PacketTrace) -> bool:
    """Returns true if switches number their ports from the hosts upward, as in a fat-tree."""
    return bool(traced.facts["topology"] == "fat_tree")


def describe_instants(traced: PacketTrace) -> str:
    """Describes the three instants at which the figure of queues shows the network."""
    if traced.facts["instants_asked"]:
        return "the given ones"
    turns = traced.count(DETOURED) + traced.count(BOUNCED)
    what = "detour or bounce" if traced.count(BOUNCED) else "detour"
    return (
        f"the packet's first {what}, its last, and half-way between"
        if turns > 1
        else "both ends of the trace, and half-way between"
    )
