"""How PABO's figures of raw packets are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import PercentFormatter

from overspill import plots
from overspill.papers.pabo import common
from overspill.papers.pabo.common import LAMBDA, LOADS, SWITCHES, THETA, Published
from overspill.papers.spec import Runs
from overspill.plots import COLOURS

Sweeps = Mapping[str, Runs]

EXAMPLE = ("S1", "S2", "S3", "S4")
MOST_HOPS = 24  # that figure 7b shows
LEVELS = {"S7": (6,), "S4_to_S6": (3, 4, 5), "S1_to_S3": (0, 1, 2)}  # places of switches
MODEL = "a model made before"  # where published values come from one, not from the paper


def example(sweeps: Sweeps, _: Published) -> Drawing:
    """Figure 1: how often each switch bounces."""
    runs = sweeps["example"]
    tables = runs.tables("ports", runs.variants[0])
    counts = [common.by_switch(runs, one, "bounced", {name: name for name in EXAMPLE}) for one in tables]
    with plots.style():
        made, [axes] = common.sheet(1)
        bars(axes, EXAMPLE, [np.array([[one[name] for name in EXAMPLE] for one in counts])])
        axes.set_ylabel("bounces")
    return made


def bars(
    axes: Axes, names: Sequence[str], groups: Sequence[np.ndarray], labels: Sequence[str] = ("",)
) -> None:
    """Bars by name, grouped; means over seeds with their 95 % intervals."""
    width = 0.8 / len(groups)
    for at, (by_seed, label) in enumerate(zip(groups, labels, strict=True)):
        places = np.arange(len(names)) + (at - (len(groups) - 1) / 2) * width
        axes.bar(places, by_seed.mean(axis=0), width, color=COLOURS[at], label=label)
        axes.errorbar(
            places,
            by_seed.mean(axis=0),
            common.halves(by_seed),
            fmt="none",
            ecolor="#333333",
            elinewidth=1,
            capsize=2,
        )
    axes.set_xticks(range(len(names)), names)
    axes.grid(visible=False, axis="x")


def largest_hops(sweeps: Sweeps, _: Published) -> Drawing:
    """Section II-C: the largest totalHop along lambda."""
    runs = sweeps["raw_lambda"]
    places, points = common.line(runs, f"variants.pabo.{LAMBDA}")
    with plots.style():
        made, [axes] = common.sheet(1)
        by_seed = common.along(runs, "total_hop_max", "pabo", points)
        common.mean_line(axes, places, by_seed, COLOURS[0], marker="o", markersize=4)
        axes.set_xlabel("λ")
        axes.set_ylabel("largest totalHop (hops)")
    return made


def distances(sweeps: Sweeps, published: Published) -> Drawing:
    """Table I as bars: shares of packets by maxBouncedDistance."""
    runs = sweeps["severity"]
    names = [str(distance) for distance in range(4)]
    groups, marks = [], []
    for at, name in enumerate(LOADS):
        tables = runs.tables("packet_hist", "pabo", common.load(runs, name))
        groups.append(np.array([shares(one) for one in tables]))
        of_load = [published.get((name, f"share_of_{distance}")) for distance in range(4)]
        marks += [(distance + beside(at), share) for distance, share in enumerate(of_load)]
    with plots.style():
        made, [axes] = common.sheet(1)
        bars(axes, names, groups, list(LOADS))
        common.marked(axes, marks)
        axes.set_xlabel("maxBouncedDistance")
        axes.set_ylabel("share of packets (%)")
        common.legend(axes)
    return made


def beside(at: int) -> float:
    """Where the bar of a load stands beside the middle of its group."""
    return (at - 1) * 0.8 / len(LOADS)


def shares(table: pa.Table) -> list[float]:
    """Shares in % of packets by distances 0 to 3."""
    low, _, count = common.counted(table, common.DISTANCE)
    return [
        100 * common.quotient(float(count[low == distance].sum()), float(count.sum()))
        for distance in range(4)
    ]


def bounces(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 7a: bounces by switch, for each load."""
    runs = sweeps["severity"]
    groups, marks = [], []
    for at, name in enumerate(LOADS):
        tables = runs.tables("ports", "pabo", common.load(runs, name))
        counts = [common.by_switch(runs, one, "bounced", SWITCHES) for one in tables]
        groups.append(np.array([[one[switch] for switch in SWITCHES] for one in counts]))
        for level, switches in LEVELS.items():
            together = published.get((name, f"bounces_at_{level}"))
            each = None if together is None else together / len(switches)
            marks += [(switch + beside(at), each) for switch in switches]
    with plots.style():
        made, [axes] = common.sheet(1)
        bars(axes, list(SWITCHES), groups, list(LOADS))
        common.marked(axes, marks, f"{MODEL}; of three switches a third of their sum")
        axes.set_ylabel("bounces")
        common.legend(axes)
    return made


def total_hops(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 7b: the distribution of totalHop, for each load."""
    runs = sweeps["severity"]
    hops = np.arange(MOST_HOPS + 1)
    with plots.style():
        made, [axes] = common.sheet(1)
        for at, name in enumerate(LOADS):
            tables = runs.tables("packet_hist", "pabo", common.load(runs, name))
            by_seed = np.array([[common.within(one, int(most)) / 100 for most in hops] for one in tables])
            common.mean_line(axes, hops, by_seed, COLOURS[at], drawstyle="steps-post", label=name)
        share = published.get(("severe", "share_within_11_hops"))
        common.marked(axes, [(11, None if share is None else share / 100)])
        axes.set_xlim(0, MOST_HOPS)
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("totalHop (hops)")
        axes.set_ylabel("share of packets")
        axes.yaxis.set_major_formatter(PercentFormatter(1))
        common.legend(axes, loc="lower right")
    return made


def thetas(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 9a: the share of bounced packets along theta, and a straight line through the means."""
    runs = sweeps["raw_theta"]
    places, points = common.line(runs, f"variants.pabo.{THETA}")
    shares = common.along(runs, "bounced_share", "pabo", points)
    with plots.style():
        made, [axes] = common.sheet(1)
        dots(axes, places, shares)
        slope, start = np.polyfit(places, shares.mean(axis=0), 1)
        axes.plot(places, start + slope * np.array(places), color=COLOURS[1], label="interpolation")
        ends = [(at, published.get((f"theta={at:g}", "bounced_share"))) for at in places]
        common.marked(axes, ends, MODEL)
        axes.set_ylim(0.82, 1.0)
        axes.set_xlabel("θ")
        axes.set_ylabel("share of bounced packets")
        common.legend(axes)
    return made


def lambdas(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 9b: mean totalHop along lambda."""
    runs = sweeps["raw_lambda"]
    places, points = common.line(runs, f"variants.pabo.{LAMBDA}")
    means = common.along(runs, "total_hop_mean", "pabo", points)
    with plots.style():
        made, [axes] = common.sheet(1)
        common.mean_line(axes, places, means, COLOURS[0], marker="o", markersize=4, label="measured")
        ends = [(at, published.get((f"lambda={at:g}", "mean_total_hop"))) for at in places]
        common.marked(axes, ends, "ends of the published axis")
        axes.set_xlim(-4, 164)
        axes.set_ylim(6.08, 6.54)
        axes.set_xlabel("λ")
        axes.set_ylabel("mean totalHop (hops)")
        common.legend(axes, loc="lower right")
    return made


def dots(axes: Axes, places: Sequence[float], by_seed: np.ndarray) -> None:
    """Means over seeds as points, with their 95 % intervals."""
    style: dict[str, Any] = {"linestyle": "none", "color": COLOURS[0], "markersize": 5, "capsize": 2.5}
    axes.errorbar(places, by_seed.mean(axis=0), common.halves(by_seed), marker="o", label="measured", **style)
