"""Drawings of where section VI's fat-tree bounces and loses packets."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill import plots
from overspill.papers.bars import Bars, grouped, interval
from overspill.papers.pabo import fat_tree
from overspill.papers.pabo.common import Published, sheet
from overspill.papers.pabo.fat_tree import MANY_TO_ONE, SCENARIOS, WITHOUT, Sweeps

ALONG = ("C1", "C2", "C3", "C4", "S11", "S12", "S9")  # the switches on the way to H9
BREAK = 1.3  # an axis is broken where no bar ends between a height and so many times that height


def draw_shares(sweeps: Sweeps, published: Published) -> Drawing:
    """Table II: packets whose largest bounced distance is 0 or not."""
    kinds = ("share_of_0", "bounced_share")
    values = [
        [100 - fat_tree.packets(sweeps[name], fat_tree.bounced_share) for name in SCENARIOS],
        [fat_tree.packets(sweeps[name], fat_tree.bounced_share) for name in SCENARIOS],
    ]
    with plots.style():
        made, [axes] = sheet(1)
        bars = Bars(("distance 0", "distance 1 and more"), values)
        grouped(
            axes, SCENARIOS, bars, [[published.get((name, kind)) for name in SCENARIOS] for kind in kinds]
        )
        axes.set_ylabel("delivered data packets (%)")
        axes.set_title("Largest bounced distance of a packet")
    return made


def draw_bounces(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 11: bounces by switch and scenario, the axis broken below the highest bars."""
    bars = Bars(MANY_TO_ONE, [along_the_way(fat_tree.events(sweeps[name])) for name in MANY_TO_ONE])
    gap = widest_gap([interval(one) for row in bars.values for one in row])
    with plots.style():
        made = Drawing(figsize=(plots.WIDTH, 4.4), layout="constrained")
        every = made.subplots(2, 1, sharex=True, height_ratios=(1, 2)) if gap else [made.subplots()]
        for axes in every:
            grouped(axes, (*ALONG, "others"), bars)
        if gap:
            split(every[0], every[1], gap)
        every[0].set_title("Bounces by switch")
        every[-1].set_ylabel("bounces in 10 s")
    return made


def along_the_way(found: Sequence[Mapping[str, int]]) -> list[np.ndarray]:
    """Bounces of the switches on the way to H9, seed by seed, and of all others together."""
    named = [np.array([by[switch] for by in found]) for switch in ALONG]
    others = np.array([sum(count for name, count in by.items() if name not in ALONG) for by in found])
    return [*named, others]


def widest_gap(bars: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """The widest gap, by its ends, in which no interval of a mean lies; none where it is narrow."""
    order = sorted(bars)
    tops = itertools.accumulate((mean + half for mean, half in order), max)
    gaps = [(top, mean - half) for top, (mean, half) in zip(tops, order[1:], strict=False)]
    wide = max((gap for gap in gaps if gap[0] > order[-1][0] / 20), key=quotient_of, default=(1.0, 1.0))
    return wide if quotient_of(wide) > BREAK else None


def quotient_of(gap: tuple[float, float]) -> float:
    """The upper end by the lower one."""
    return gap[1] / gap[0]


def split(high: Axes, low: Axes, gap: tuple[float, float]) -> None:
    """Leave out what lies in a gap between bars: the lower axes end in it, the upper ones begin."""
    low.set_ylim(0, 1.1 * gap[0])
    high.set_ylim(gap[0] + 0.6 * (gap[1] - gap[0]), None)
    low.legend().set_visible(False)
    high.tick_params(bottom=False)
    high.spines["bottom"].set_visible(False)
    for axes, at in ((high, 0), (low, 1)):
        stroke: dict[str, Any] = {"marker": [(-1, -0.5), (1, 0.5)], "markersize": 9, "color": "#666666"}
        axes.plot([0], [at], clip_on=False, transform=axes.transAxes, **stroke)


def draw_drops(sweeps: Sweeps, published: Published) -> Drawing:
    """Section VI-C: drop rates without PABO, and where 12 to 1 loses packets."""
    with plots.style():
        made, [rates, where] = sheet(2)
        draw_rates(rates, {name: sweeps[name] for name in MANY_TO_ONE}, published)
        share = [fat_tree.shares(one) for one in fat_tree.lost(sweeps["12to1"], WITHOUT)]
        told = {switch: f"share_of_drops_at_{switch}" for switch in ("C1", "S9")}
        draw_places(
            where,
            share,
            {switch: published.get(("12to1, without PABO", name)) for switch, name in told.items()},
        )
        where.set_ylabel("drops (%)")
        where.set_title("12 to 1: where they are lost")
    return made


def draw_rates(axes: Axes, sweeps: Sweeps, published: Published) -> None:
    """Drop rates of data packets, and of ACKs with them."""
    kinds = {"drop_rate": False, "drop_rate_with_acks": True}
    values = [
        [fat_tree.drop_rates(runs, WITHOUT, acks) for runs in sweeps.values()] for acks in kinds.values()
    ]
    paper = [[published.get((f"{name}, without PABO", kind)) for name in sweeps] for kind in kinds]
    grouped(axes, list(sweeps), Bars(("of data", "of data, ACKs"), values), paper)
    axes.set_ylabel("packets lost without PABO (%)")


def draw_many_to_many(sweeps: Sweeps, published: Published) -> Drawing:
    """Section VI-D: where two groups of servers bounce, and how much they lose without PABO."""
    runs = sweeps["mtom"]
    bounced = [fat_tree.shares(one) for one in fat_tree.events(runs)]
    names = {switch: f"share_of_bounces_at_{switch}" for switch in ("C1", "C2", "S11")}
    with plots.style():
        made, [left, right] = sheet(2)
        draw_places(left, bounced, {one: published.get(("mtom, PABO", name)) for one, name in names.items()})
        left.set_ylabel("bounces (%)")
        left.set_title("Where packets are bounced")
        draw_rates(right, {"mtom": runs}, published)
    return made


def draw_places(axes: Axes, share: Sequence[Mapping[str, float]], paper: Mapping[str, float | None]) -> None:
    """Shares of the switches that have some or of which the paper tells."""
    order = (*ALONG, *(one for one in share[0] if one not in ALONG))
    shown = [one for one in order if one in paper or any(by[one] > 0 for by in share)]
    values = [[np.array([by[one] for by in share]) for one in shown]]
    grouped(axes, shown, Bars(("ours",), values), [[paper.get(one) for one in shown]])
    axes.set_ylim(0, max(axes.get_ylim()[1], 1))
