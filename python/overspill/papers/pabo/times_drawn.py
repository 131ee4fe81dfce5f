"""Drawings of when packets and replies arrive in section VI's fat-tree."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import NullFormatter

from overspill import plots
from overspill.papers.bars import Bars, grouped, interval
from overspill.papers.pabo import fat_tree
from overspill.papers.pabo.common import Curve, Published, marked, mean_line, sheet
from overspill.papers.pabo.fat_tree import PABO, SCENARIOS, WITHOUT, Sweeps
from overspill.papers.spec import Runs
from overspill.plots import COLOURS

NAMES = {PABO: "with PABO", WITHOUT: "without PABO"}
TICKS = (10, 30, 100, 300, 1000, 3000, 10000)  # ms
FARTHEST = 100  # packets; what is displaced farther counts as lost


def draw_displacement(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 12: how many packets are displaced by so many places at most."""
    with plots.style():
        made, [axes] = sheet(1)
        for (variant, name), colour in zip(NAMES.items(), COLOURS, strict=False):
            shares = cumulated(sweeps["12to1"], variant)
            mean_line(axes, range(FARTHEST + 1), shares, colour, label=name, drawstyle="steps-post")
        share = published.get(("PABO", "displaced_share"))
        marked(axes, [(0, None if share is None else 100 - share)], "published: in place with PABO")
        for (case, shape), name in zip((("PABO", ">"), ("without PABO", "<")), NAMES.values(), strict=True):
            most = published.get((case, "largest_displacement"))
            if most is not None:
                style: dict[str, Any] = {"color": "black", "linestyle": "none", "markerfacecolor": "white"}
                axes.plot([most], [100], shape, zorder=5, label=f"published: farthest {name}", **style)
        axes.set_xlabel("displacement without its sign (packets)")
        axes.set_ylabel("packets (%)")
        axes.set_ylim(0, 104)
        axes.set_title("Displacement of packets, 12 to 1")
        axes.legend(loc="lower right")
    return made


def cumulated(runs: Runs, variant: str) -> Curve:
    """Packets displaced by at most 0, 1, 2 ... places, in %, seeds by places."""
    found = []
    for table in runs.tables("reorder", variant):
        place, count = fat_tree.displacements(table)
        by_place = np.bincount(place.astype(np.int64), count.astype(float), FARTHEST + 1)[: FARTHEST + 1]
        found.append(100 * np.cumsum(by_place) / max(count.sum(), 1))
    return np.array(found)


def draw_delay(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 13: mean delay, and one standard deviation of single packets up and down."""
    statistics = (fat_tree.delay, fat_tree.delay_deviation)
    delay, deviation = (
        [[fat_tree.packets(sweeps[name], of, variant) for name in SCENARIOS] for variant in NAMES]
        for of in statistics
    )
    with plots.style():
        made, [axes] = sheet(1)
        bars = Bars(tuple(NAMES.values()), delay)
        for kind in range(len(NAMES)):
            height = [interval(one)[0] for one in delay[kind]]
            reach = [interval(one)[0] for one in deviation[kind]]
            places = bars.places(kind) + bars.width / 5
            down = np.minimum(height, reach)
            label = "standard deviation over packets" if not kind else None
            style: dict[str, Any] = {"fmt": "none", "ecolor": "#8a9199", "elinewidth": 2.2, "zorder": 3}
            axes.errorbar(places, height, np.array([down, reach]), label=label, **style)
        grouped(axes, SCENARIOS, bars)
        axes.set_ylabel("delay of a packet (µs)")
        axes.set_title("Delay from host to host")
    return made


def draw_fct(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 14: mean flow completion time."""
    values = [[fat_tree.fct(sweeps[name], variant) for name in SCENARIOS] for variant in NAMES]
    with plots.style():
        made, [axes] = sheet(1)
        grouped(axes, SCENARIOS, Bars(tuple(NAMES.values()), values))
        axes.set_yscale("log")
        most = max(1000, axes.get_ylim()[1])
        axes.set_yticks(TICKS, list(map(str, TICKS)))
        axes.set_ylim(10, most)
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.set_ylabel("flow completion time (ms, log scale)")
        axes.set_title("From a request to the last byte of its reply, of replies that came")
    return made
