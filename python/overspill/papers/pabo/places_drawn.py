"""Drawings of where section VI's fat-tree bounces and loses packets."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill.charts import mpl
from overspill.papers.pabo import fat_tree
from overspill.papers.pabo.bars import Bars, grouped
from overspill.papers.pabo.common import Published, sheet
from overspill.papers.pabo.fat_tree import MANY_TO_ONE, SCENARIOS, WITHOUT, Sweeps

ALONG = ("C1", "C2", "C3", "C4", "S11", "S12", "S9")  # the switches on the way to H9
BREAK = 2.0  # where the next larger bar is so many times as high, the axis is broken


def draw_shares(sweeps: Sweeps, published: Published) -> Drawing:
    """Table II: packets whose largest bounced distance is 0 or not."""
    kinds = ("share_of_0", "bounced_share")
    values = [
        [100 - fat_tree.packets(sweeps[name], fat_tree.bounced_share) for name in SCENARIOS],
        [fat_tree.packets(sweeps[name], fat_tree.bounced_share) for name in SCENARIOS],
    ]
    with mpl.style():
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
    found = {name: fat_tree.events(sweeps[name]) for name in MANY_TO_ONE}
    every = [switch for switch in fat_tree.SWITCHES if switch not in ALONG]
    shown = [one for one in (*ALONG, *every) if any(by[one] for runs in found.values() for by in runs)]
    values = [[np.array([by[switch] for by in found[name]]) for switch in shown] for name in MANY_TO_ONE]
    with mpl.style():
        made = Drawing(figsize=(mpl.WIDTH, 4.4), layout="constrained")
        high, low = made.subplots(2, 1, sharex=True, height_ratios=(1, 2))
        for axes in (high, low):
            grouped(axes, shown, Bars(MANY_TO_ONE, values, 0))
        split(high, low, [float(one.mean()) for row in values for one in row])
        high.legend(loc="upper left", ncols=2)
        high.set_title("Bounces by switch")
        low.set_ylabel("bounces in 10 s")
    return made


def split(high: Axes, low: Axes, heights: Sequence[float]) -> None:
    """Leave out the widest gap between heights; where there is none, the upper axes go."""
    order = sorted(one for one in heights if one > 0)
    gaps = [(above / below, below, above) for below, above in itertools.pairwise(order)]
    wide = max((gap for gap in gaps if gap[1] > order[-1] / 20), default=(1.0, 0.0, 0.0))
    if wide[0] < BREAK:
        high.set_visible(False)
        return
    low.set_ylim(0, 1.25 * wide[1])
    high.set_ylim(0.8 * wide[2], 1.15 * order[-1])
    high.tick_params(bottom=False)
    high.spines["bottom"].set_visible(False)
    for axes, at in ((high, 0), (low, 1)):
        axes.plot([0], [at], marker=[(-1, -0.5), (1, 0.5)], markersize=9, color="#666666", clip_on=False,
                  transform=axes.transAxes)  # fmt: skip


def draw_drops(sweeps: Sweeps, published: Published) -> Drawing:
    """Section VI-C: drop rates without PABO, and where 12 to 1 loses packets."""
    with mpl.style():
        made, [rates, where] = sheet(2)
        draw_rates(rates, sweeps, published)
        share = [fat_tree.shares(one) for one in fat_tree.lost(sweeps["12to1"], WITHOUT)]
        told = {switch: f"share_of_drops_at_{switch}" for switch in ("C1", "S9")}
        draw_places(
            where,
            share,
            {switch: published.get(("12to1, without PABO", name)) for switch, name in told.items()},
        )
        where.set_ylabel("drops (%)")
        where.set_title("12 to 1: where packets are lost")
    return made


def draw_rates(axes: Axes, sweeps: Sweeps, published: Published) -> None:
    """Drop rates of data packets, and of ACKs with them."""
    kinds = ("drop_rate", "drop_rate_with_acks")
    values = [
        [fat_tree.drop_rates(sweeps[name], WITHOUT, acks) for name in MANY_TO_ONE] for acks in (False, True)
    ]
    paper = [[published.get((f"{name}, without PABO", kind)) for name in MANY_TO_ONE] for kind in kinds]
    grouped(axes, MANY_TO_ONE, Bars(("of data packets", "of data and ACKs"), values), paper)
    axes.set_ylabel("packets lost without PABO (%)")
    axes.set_title("Drop rate")


def draw_many_to_many(sweeps: Sweeps, published: Published) -> Drawing:
    """Section VI-D: where two groups of servers bounce, and where they lose packets without PABO."""
    runs = sweeps["mtom"]
    bounced = [fat_tree.shares(one) for one in fat_tree.events(runs)]
    dropped = [fat_tree.shares(one) for one in fat_tree.lost(runs, WITHOUT)]
    names = {switch: f"share_of_bounces_at_{switch}" for switch in ("C1", "C2", "S11")}
    with mpl.style():
        made, [left, right] = sheet(2)
        draw_places(left, bounced, {one: published.get(("mtom, PABO", name)) for one, name in names.items()})
        left.set_ylabel("bounces (%)")
        left.set_title("With PABO: where packets are bounced")
        draw_places(right, dropped, {})
        right.set_ylabel("drops (%)")
        right.set_title("Without PABO: where packets are lost")
    return made


def draw_places(axes: Axes, share: Sequence[Mapping[str, float]], paper: Mapping[str, float | None]) -> None:
    """Shares of the switches that have some or of which the paper tells."""
    order = (*ALONG, *(one for one in share[0] if one not in ALONG))
    shown = [one for one in order if one in paper or any(by[one] > 0 for by in share)]
    values = [[np.array([by[one] for by in share]) for one in shown]]
    grouped(axes, shown, Bars(("ours",), values), [[paper.get(one) for one in shown]])
    axes.set_ylim(0, max(axes.get_ylim()[1], 1))
