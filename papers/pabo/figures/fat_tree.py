"""Drawings of PABO's fat-tree: table II, figures 10 to 15, and drops of sections VI and VIII."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill import plots
from overspill.papers.bars import BarGroups, draw_grouped_bars, mean_and_half_width
from overspill.papers.common import (
    PublishedValues,
    SeedCurve,
    draw_mean_line,
    draw_published_values,
    metric_along_points,
    new_panels,
    points_along_path,
)
from overspill.papers.plotted_data import make_object, new_figure
from overspill.papers.spec import Draw, Runs, Sweeps
from overspill.plots import COLOURS

from ..measures import fat_tree
from ..measures.arrival_times import THETA_PATH, THETA_SWEEP, completion_by_theta, packet_statistic_by_theta
from ..measures.bounces_and_drops import BOUNCE_SIZE_SWEEP, drops_by_bounce_size
from ..measures.fat_tree import (
    CORES,
    EXAMPLE_FLOW,
    HOSTS,
    MANY_TO_ONE,
    PABO,
    PATHS_SWEEP,
    POD_SWITCHES,
    SCENARIOS,
    SWITCHES,
    WITHOUT,
    read_traces,
)

PATH_SWITCHES = ("C1", "C2", "C3", "C4", "S11", "S12", "S9")  # switches on the path to H9
MIN_BREAK_RATIO = 1.3  # smallest ratio between the ends of a gap without bars at which an axis is broken
NAMES = {PABO: "with PABO", WITHOUT: "without PABO"}
TIME_TICKS = (10, 30, 100, 300, 1000, 3000, 10000)  # ms
MAX_DRAWN_DISPLACEMENT = 100  # packets; larger displacements are not drawn


def draw_example(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 10: the topology and the example path."""
    crossed = read_traces(sweeps[PATHS_SWEEP])[0].hops(*EXAMPLE_FLOW)
    return draw_path([hop.switch for hop in crossed], EXAMPLE_FLOW)


TIERS = ("h", "edge", "agg", "core")  # from the bottom


def node_position(name: str) -> tuple[float, float]:
    """Returns the drawn position of a node, which is given by its name in PABO's paper."""
    ours = (SWITCHES | HOSTS)[name]
    tier = ours.rstrip("0123456789")
    count = sum(one.rstrip("0123456789") == tier for one in (SWITCHES | HOSTS).values())
    return (int(ours[len(tier) :]) + 0.5) / count, float(TIERS.index(tier))


def tree_links() -> list[tuple[str, str]]:
    """Returns every link of the fat-tree by the names of its ends in PABO's paper, the lower end first."""
    named = {ours: name for name, ours in (SWITCHES | HOSTS).items()}
    ends = [(f"h{host}", f"edge{host // 2}") for host in range(16)]
    ends += [(f"edge{edge}", f"agg{edge // 2 * 2 + side}") for edge in range(8) for side in range(2)]
    ends += [(f"agg{agg}", f"core{agg % 2 * 2 + side}") for agg in range(8) for side in range(2)]
    return [(named[low], named[high]) for low, high in ends]


def draw_path(crossed: Sequence[str], ends: tuple[str, str]) -> Drawing:
    """Draws the tree in four rows, with a dashed path from one host to another over some switches."""
    made, [axes] = new_panels(1, height=3.8)
    for low, high in tree_links():
        axes.plot(
            *zip(node_position(low), node_position(high), strict=True), color="#c4cad1", linewidth=1, zorder=1
        )
    path = [node_position(name) for name in (ends[0], *crossed, ends[1])]
    style: dict[str, Any] = {"color": COLOURS[1], "linewidth": 2.4, "linestyle": (0, (4, 2)), "zorder": 2}
    axes.plot([x for x, _ in path], [y for _, y in path], **style)
    draw_nodes(axes, {*crossed, *ends})
    axes.set_title(f"Two-level routing: {ends[0]} to {ends[1]} over {', '.join(crossed)}")
    axes.axis("off")
    return made


def draw_nodes(axes: Axes, marked: set[str]) -> None:
    """Draws all nodes with their names."""
    for name in (*CORES, *POD_SWITCHES, *HOSTS):
        x, y = node_position(name)
        colour = COLOURS[1] if name in marked else "#333a42"
        box = {
            "boxstyle": "round,pad=0.25" if name in HOSTS else "square,pad=0.3",
            "fc": "white",
            "ec": colour,
        }
        axes.text(x, y, name, ha="center", va="center", fontsize=8, color=colour, bbox=box, zorder=3)


def draw_shares(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws table II: packets with a largest bounced distance of 0, and of 1 or more."""
    kinds = ("share_of_0", "bounced_share")
    values = [
        [100 - fat_tree.packet_statistic(sweeps[name], fat_tree.bounced_share) for name in SCENARIOS],
        [fat_tree.packet_statistic(sweeps[name], fat_tree.bounced_share) for name in SCENARIOS],
    ]
    made, [axes] = new_panels(1)
    bars = BarGroups(("distance 0", "distance 1 or more"), values)
    draw_grouped_bars(
        axes, SCENARIOS, bars, [[published.get((name, kind)) for name in SCENARIOS] for kind in kinds]
    )
    axes.set_ylabel("delivered data packets (%)")
    axes.set_title("Largest bounced distance of a packet")
    return made


def draw_bounces(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 11: bounces by switch and scenario, on an axis broken below the highest bars."""
    bars = BarGroups(
        MANY_TO_ONE, [bounces_on_path(fat_tree.bounces_by_switch(sweeps[name])) for name in MANY_TO_ONE]
    )
    gap = widest_gap([mean_and_half_width(one) for row in bars.values for one in row])
    made = new_figure(figsize=(plots.WIDTH, 4.4), layout="constrained")
    every = made.subplots(2, 1, sharex=True, height_ratios=(1, 2)) if gap else [made.subplots()]
    for axes in every:
        draw_grouped_bars(axes, (*PATH_SWITCHES, "others"), bars)
    if gap:
        break_axis(every[0], every[1], gap)
    every[0].set_title("Bounces by switch")
    every[-1].set_ylabel("bounces in 10 s")
    return made


def bounces_on_path(found: Sequence[Mapping[str, int]]) -> list[np.ndarray]:
    """Returns bounces of the switches on the path to H9, and of all others together, seed by seed."""
    named = [np.array([by[switch] for by in found]) for switch in PATH_SWITCHES]
    others = np.array([sum(count for name, count in by.items() if name not in PATH_SWITCHES) for by in found])
    return [*named, others]


def widest_gap(bars: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """Returns the widest gap between bars with their intervals, or `None` if no gap is wide."""
    order = sorted(bars)
    tops = itertools.accumulate((mean + half for mean, half in order), max)
    gaps = [(top, mean - half) for top, (mean, half) in zip(tops, order[1:], strict=False)]
    wide = max((gap for gap in gaps if gap[0] > order[-1][0] / 20), key=gap_ratio, default=(1.0, 1.0))
    return wide if gap_ratio(wide) > MIN_BREAK_RATIO else None


def gap_ratio(gap: tuple[float, float]) -> float:
    """Returns the upper end of a gap divided by its lower end."""
    return gap[1] / gap[0]


def break_axis(high: Axes, low: Axes, gap: tuple[float, float]) -> None:
    """Breaks a y axis: the lower axes end in a gap between bars, and the upper axes begin there."""
    low.set_ylim(0, 1.1 * gap[0])
    high.set_ylim(gap[0] + 0.6 * (gap[1] - gap[0]), None)
    low.legend().set_visible(False)
    high.tick_params(bottom=False)
    high.spines["bottom"].set_visible(False)
    for axes, at in ((high, 0), (low, 1)):
        stroke: dict[str, Any] = {"marker": [(-1, -0.5), (1, 0.5)], "markersize": 9, "color": "#666666"}
        axes.plot([0], [at], clip_on=False, transform=axes.transAxes, **stroke)


def draw_drops(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws section VI-C: drop rates without PABO, and the switches that drop packets with 12 senders."""
    made, [rates, where] = new_panels(2)
    draw_drop_rates(rates, {name: sweeps[name] for name in MANY_TO_ONE}, published)
    share = [fat_tree.percent_shares(one) for one in fat_tree.drops_by_node(sweeps["12to1"], WITHOUT)]
    told = {switch: f"share_of_drops_at_{switch}" for switch in ("C1", "S9")}
    draw_drop_shares(
        where,
        share,
        {switch: published.get(("12to1, without PABO", name)) for switch, name in told.items()},
    )
    where.set_ylabel("drops by switch (%)")
    where.set_title("12 to 1")
    return made


def draw_drop_rates(axes: Axes, sweeps: Sweeps, published: PublishedValues) -> None:
    """Draws drop rates of data packets, without and with ACKs."""
    kinds = {"drop_rate": False, "drop_rate_with_acks": True}
    values = [
        [fat_tree.drop_rates(runs, WITHOUT, acks) for runs in sweeps.values()] for acks in kinds.values()
    ]
    paper = [[published.get((f"{name}, without PABO", kind)) for name in sweeps] for kind in kinds]
    draw_grouped_bars(axes, list(sweeps), BarGroups(("data packets", "data and ACKs"), values), paper)
    axes.set_ylabel("packets dropped without PABO (%)")


def draw_many_to_many(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws section VI-D: bounces by switch with two groups of servers, and drop rates without PABO."""
    runs = sweeps["mtom"]
    bounced = [fat_tree.percent_shares(one) for one in fat_tree.bounces_by_switch(runs)]
    names = {switch: f"share_of_bounces_at_{switch}" for switch in ("C1", "C2", "S11")}
    made, [left, right] = new_panels(2)
    draw_drop_shares(left, bounced, {one: published.get(("mtom, PABO", name)) for one, name in names.items()})
    left.set_ylabel("bounces by switch (%)")
    left.set_title("Many to many")
    draw_drop_rates(right, {"mtom": runs}, published)
    return made


def draw_drop_shares(
    axes: Axes, share: Sequence[Mapping[str, float]], paper: Mapping[str, float | None]
) -> None:
    """Draws shares of drops or bounces, for switches that have some or for which PABO's paper gives one."""
    order = (*PATH_SWITCHES, *(one for one in share[0] if one not in PATH_SWITCHES))
    shown = [one for one in order if one in paper or any(by[one] > 0 for by in share)]
    values = [[np.array([by[one] for by in share]) for one in shown]]
    draw_grouped_bars(axes, shown, BarGroups(("measured",), values), [[paper.get(one) for one in shown]])
    axes.set_ylim(0, max(axes.get_ylim()[1], 1))


def draw_displacement(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 12: the share of packets with at most a given displacement."""
    made, [axes] = new_panels(1)
    for (variant, name), colour in zip(NAMES.items(), COLOURS, strict=False):
        shares = displacement_distribution(sweeps["12to1"], variant)
        draw_mean_line(
            axes, range(MAX_DRAWN_DISPLACEMENT + 1), shares, colour, label=name, drawstyle="steps-post"
        )
    share = published.get(("PABO", "displaced_share"))
    draw_published_values(
        axes, [(0, None if share is None else 100 - share)], "published: displacement 0 with PABO"
    )
    for (case, shape), name in zip((("PABO", ">"), ("without PABO", "<")), NAMES.values(), strict=True):
        most = published.get((case, "largest_displacement"))
        if most is not None:
            style: dict[str, Any] = {"color": "black", "linestyle": "none", "markerfacecolor": "white"}
            axes.plot([most], [100], shape, zorder=5, label=f"published: largest {name}", **style)
    axes.set_xlabel("absolute displacement (packets)")
    axes.set_ylabel("packets (%)")
    axes.set_ylim(0, 104)
    axes.set_title("Displacement of packets (12 to 1)")
    axes.legend(loc="lower right")
    return made


def displacement_distribution(runs: Runs, variant: str) -> SeedCurve:
    """Share of packets with a displacement of at most 0, 1, 2, ... in %, seeds by displacements."""
    found = []
    for table in runs.tables("reorder", variant):
        place, count = fat_tree.read_displacements(table)
        by_place = np.bincount(place.astype(np.int64), count.astype(float), MAX_DRAWN_DISPLACEMENT + 1)[
            : MAX_DRAWN_DISPLACEMENT + 1
        ]
        found.append(100 * np.cumsum(by_place) / max(count.sum(), 1))
    return np.array(found)


def draw_delay(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 13: mean delay, with one standard deviation over packets up and down."""
    statistics = (fat_tree.mean_delay, fat_tree.delay_deviation)
    delay, deviation = (
        [[fat_tree.packet_statistic(sweeps[name], of, variant) for name in SCENARIOS] for variant in NAMES]
        for of in statistics
    )
    made, [axes] = new_panels(1)
    bars = BarGroups(tuple(NAMES.values()), delay)
    for kind in range(len(NAMES)):
        height = [mean_and_half_width(one)[0] for one in delay[kind]]
        reach = [mean_and_half_width(one)[0] for one in deviation[kind]]
        places = bars.bar_positions(kind) + bars.width / 5
        down = np.minimum(height, reach)
        label = "standard deviation over packets" if not kind else None
        style: dict[str, Any] = {"fmt": "none", "ecolor": "#8a9199", "elinewidth": 2.2, "zorder": 3}
        axes.errorbar(places, height, np.array([down, reach]), label=label, **style)
    draw_grouped_bars(axes, SCENARIOS, bars)
    axes.set_ylabel("delay of a packet (µs)")
    axes.set_title("Delay from host to host")
    return made


def draw_fct(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 14: mean flow completion time."""
    values = [[fat_tree.mean_fct(sweeps[name], variant) for name in SCENARIOS] for variant in NAMES]
    made, [axes] = new_panels(1)
    draw_grouped_bars(axes, SCENARIOS, BarGroups(tuple(NAMES.values()), values))
    axes.set_yscale("log")
    most = max(1000, axes.get_ylim()[1])
    axes.set_yticks(TIME_TICKS, list(map(str, TIME_TICKS)))
    axes.set_ylim(10, most)
    axes.yaxis.set_minor_formatter(make_object("no labels"))
    axes.set_ylabel("flow completion time (ms, log scale)")
    axes.set_title("From a request to the last byte of its reply (finished replies)")
    return made


def draw_theta(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 15: entropy, completion time and delay over theta; the paper prints no numbers here."""
    runs = sweeps[THETA_SWEEP]
    theta, points = points_along_path(runs, THETA_PATH)
    panels = (
        ("reorder entropy (nat)", metric_along_points(runs, "reorder_entropy", PABO, points)),
        ("mean flow completion time (ms)", completion_by_theta(runs, points)),
        ("mean delay of a packet (µs)", packet_statistic_by_theta(runs, points, fat_tree.mean_delay)),
    )
    made, axes = new_panels(3, height=3.2)
    for one, (title, curve), colour in zip(axes, panels, COLOURS, strict=False):
        for seed in curve:
            one.plot(theta, seed, color=colour, alpha=0.18, linewidth=0.8)
        draw_mean_line(one, theta, curve, colour, marker="o", markersize=4)
        one.set_title(title)
        one.set_xlabel("θ")
        one.set_ylim(0, 1.12 * np.nanmax(curve))
    return made


def draw_bounce_queue_size(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws section VIII: drops with the most senders, over the size of the bounce queues."""
    sizes, losses = drops_by_bounce_size(sweeps[BOUNCE_SIZE_SWEEP])
    made, [axes] = new_panels(1, height=3.4)
    for seed in losses:
        axes.plot(sizes, seed, color=COLOURS[0], alpha=0.25, linewidth=0.8)
    draw_mean_line(axes, sizes, losses, COLOURS[0], marker="o", markersize=4)
    axes.axvline(100, color=COLOURS[6], linewidth=1, linestyle=":")
    axes.annotate("paper's size", (100, 0.97), (4, 0), ("data", "axes fraction"), "offset points", va="top")
    axes.set_title("12 to 1: packets dropped, by seed and mean")
    axes.set_xlabel("bounce queue (frames)")
    axes.set_ylabel("packets dropped")
    axes.set_ylim(bottom=0)
    return made


DRAWINGS: dict[str, Draw] = {
    "fig10": draw_example,
    "tab2": draw_shares,
    "fig11": draw_bounces,
    "secVI-C": draw_drops,
    "secVI-D": draw_many_to_many,
    "fig12": draw_displacement,
    "fig13": draw_delay,
    "fig14": draw_fct,
    "fig15": draw_theta,
    "secVIII": draw_bounce_queue_size,
}
