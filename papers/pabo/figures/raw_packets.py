"""Drawings of figures 1 and 7 to 9, of table I, and of section II-C."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill import plots
from overspill.papers.common import Published, along, halves, legend, line, marked, mean_line, quotient, sheet
from overspill.papers.plotted import make
from overspill.papers.spec import Draw, Sweeps
from overspill.plots import COLOURS, look

from ..measures import raw_packets
from ..measures.raw_packets import (
    BOUNCE,
    LAMBDA,
    LOADS,
    NORMAL,
    OUTPUTS,
    STEP,
    SWITCHES,
    THETA,
    THRESHOLD,
    Queues,
    first_steps,
    read_queues,
)

EXAMPLE = ("S1", "S2", "S3", "S4")
MOST_HOPS = 24  # largest totalHop shown in figure 7b
LEVELS = {"S7": (6,), "S4_to_S6": (3, 4, 5), "S1_to_S3": (0, 1, 2)}  # indices of switches
MODEL = "earlier model of ours"  # source of published values that are not from the paper


def example(sweeps: Sweeps, _: Published) -> Drawing:
    """Draws figure 1: bounces of each switch."""
    runs = sweeps["example"]
    tables = runs.tables("ports", runs.variants[0])
    counts = [raw_packets.by_switch(runs, one, "bounced", {name: name for name in EXAMPLE}) for one in tables]
    made, [axes] = sheet(1)
    bars(axes, EXAMPLE, [np.array([[one[name] for name in EXAMPLE] for one in counts])])
    axes.set_ylabel("bounces")
    return made


def bars(
    axes: Axes, names: Sequence[str], groups: Sequence[np.ndarray], labels: Sequence[str] = ("",)
) -> None:
    """Draws bars by name, grouped: means over seeds with their 95% intervals."""
    width = 0.8 / len(groups)
    for at, (by_seed, label) in enumerate(zip(groups, labels, strict=True)):
        places = np.arange(len(names)) + (at - (len(groups) - 1) / 2) * width
        axes.bar(places, by_seed.mean(axis=0), width, color=COLOURS[at], label=label)
        axes.errorbar(
            places,
            by_seed.mean(axis=0),
            halves(by_seed),
            fmt="none",
            ecolor="#333333",
            elinewidth=1,
            capsize=2,
        )
    axes.set_xticks(range(len(names)), names)
    axes.grid(visible=False, axis="x")


def largest_hops(sweeps: Sweeps, _: Published) -> Drawing:
    """Draws section II-C: the largest totalHop over lambda."""
    runs = sweeps["raw_lambda"]
    places, points = line(runs, f"variants.pabo.{LAMBDA}")
    made, [axes] = sheet(1)
    by_seed = along(runs, "total_hop_max", "pabo", points)
    mean_line(axes, places, by_seed, COLOURS[0], marker="o", markersize=4)
    axes.set_xlabel("λ")
    axes.set_ylabel("largest totalHop (hops)")
    return made


def distances(sweeps: Sweeps, published: Published) -> Drawing:
    """Draws table I as bars: shares of packets by maxBouncedDistance."""
    runs = sweeps["severity"]
    names = [str(distance) for distance in range(4)]
    groups, marks = [], []
    for at, name in enumerate(LOADS):
        tables = runs.tables("packet_hist", "pabo", raw_packets.load(runs, name))
        groups.append(np.array([shares(one) for one in tables]))
        of_load = [published.get((name, f"share_of_{distance}")) for distance in range(4)]
        marks += [(distance + beside(at), share) for distance, share in enumerate(of_load)]
    made, [axes] = sheet(1)
    bars(axes, names, groups, list(LOADS))
    marked(axes, marks)
    axes.set_xlabel("maxBouncedDistance")
    axes.set_ylabel("share of packets (%)")
    legend(axes)
    return made


def beside(at: int) -> float:
    """Returns the offset of a load's bar from the middle of its group."""
    return (at - 1) * 0.8 / len(LOADS)


def shares(table: pa.Table) -> list[float]:
    """Returns shares of packets in %, by distances 0 to 3."""
    low, _, count = raw_packets.counted(table, raw_packets.DISTANCE)
    return [100 * quotient(float(count[low == distance].sum()), float(count.sum())) for distance in range(4)]


def bounces(sweeps: Sweeps, published: Published) -> Drawing:
    """Draws figure 7a: bounces by switch, for each load."""
    runs = sweeps["severity"]
    groups, marks = [], []
    for at, name in enumerate(LOADS):
        tables = runs.tables("ports", "pabo", raw_packets.load(runs, name))
        counts = [raw_packets.by_switch(runs, one, "bounced", SWITCHES) for one in tables]
        groups.append(np.array([[one[switch] for switch in SWITCHES] for one in counts]))
        for level, switches in LEVELS.items():
            together = published.get((name, f"bounces_at_{level}"))
            each = None if together is None else together / len(switches)
            marks += [(switch + beside(at), each) for switch in switches]
    made, [axes] = sheet(1)
    bars(axes, list(SWITCHES), groups, list(LOADS))
    marked(axes, marks, f"{MODEL}; for three switches a third of their sum")
    axes.set_ylabel("bounces")
    legend(axes)
    return made


def total_hops(sweeps: Sweeps, published: Published) -> Drawing:
    """Draws figure 7b: the distribution of totalHop, for each load."""
    runs = sweeps["severity"]
    hops = np.arange(MOST_HOPS + 1)
    made, [axes] = sheet(1)
    for at, name in enumerate(LOADS):
        tables = runs.tables("packet_hist", "pabo", raw_packets.load(runs, name))
        by_seed = np.array([[raw_packets.within(one, int(most)) / 100 for most in hops] for one in tables])
        mean_line(axes, hops, by_seed, COLOURS[at], drawstyle="steps-post", label=name)
    share = published.get(("severe", "share_within_11_hops"))
    marked(axes, [(11, None if share is None else share / 100)])
    axes.set_xlim(0, MOST_HOPS)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("totalHop (hops)")
    axes.set_ylabel("share of packets")
    axes.yaxis.set_major_formatter(make("percent", 1))
    legend(axes, loc="lower right")
    return made


def thetas(sweeps: Sweeps, published: Published) -> Drawing:
    """Draws figure 9a: the share of bounced packets over theta, and a straight line through the means."""
    runs = sweeps["raw_theta"]
    places, points = line(runs, f"variants.pabo.{THETA}")
    shares = along(runs, "bounced_share", "pabo", points)
    made, [axes] = sheet(1)
    dots(axes, places, shares)
    slope, start = np.polyfit(places, shares.mean(axis=0), 1)
    axes.plot(places, start + slope * np.array(places), color=COLOURS[1], label="interpolation")
    ends = [(at, published.get((f"theta={at:g}", "bounced_share"))) for at in places]
    marked(axes, ends, MODEL)
    axes.set_ylim(0.82, 1.0)
    axes.set_xlabel("θ")
    axes.set_ylabel("share of bounced packets")
    legend(axes)
    return made


def lambdas(sweeps: Sweeps, published: Published) -> Drawing:
    """Draws figure 9b: mean totalHop over lambda."""
    runs = sweeps["raw_lambda"]
    places, points = line(runs, f"variants.pabo.{LAMBDA}")
    means = along(runs, "total_hop_mean", "pabo", points)
    made, [axes] = sheet(1)
    mean_line(axes, places, means, COLOURS[0], marker="o", markersize=4, label="measured")
    ends = [(at, published.get((f"lambda={at:g}", "mean_total_hop"))) for at in places]
    marked(axes, ends, "ends of the published axis")
    axes.set_xlim(-4, 164)
    axes.set_ylim(6.08, 6.54)
    axes.set_xlabel("λ")
    axes.set_ylabel("mean totalHop (hops)")
    legend(axes, loc="lower right")
    return made


def dots(axes: Axes, places: Sequence[float], by_seed: np.ndarray) -> None:
    """Draws means over seeds as points, with their 95% intervals."""
    style: dict[str, Any] = {"linestyle": "none", "color": COLOURS[0], "markersize": 5, "capsize": 2.5}
    axes.errorbar(places, by_seed.mean(axis=0), halves(by_seed), marker="o", label="measured", **style)


@dataclass(frozen=True)
class Shown:
    """Length of a time axis in steps, and length of a step in the axis's unit."""

    until: int
    step: float
    every: int = 1  # steps averaged into one point


def curves(axes: Axes, seeds: list[Queues], shown: Shown, of: Callable[[Queues, str], np.ndarray]) -> None:
    """Draws a curve for each output: the mean over seeds and its band; dashes separate equal curves."""
    count = shown.until // shown.every
    time = (np.arange(count) + 0.5) * shown.step * shown.every
    for at, switch in enumerate(OUTPUTS):
        fine = np.array([of(one, switch)[: count * shown.every] for one in seeds])
        by_seed = fine.reshape(len(seeds), count, shown.every).mean(axis=2)
        style = plots.line(look(at))
        mean_line(axes, time, by_seed, style.pop("color"), label=switch, **style)
    axes.set_xlim(0, shown.until * shown.step)
    axes.set_ylim(0)


def draw_whole(sweeps: Sweeps, _: Published) -> Drawing:
    """Draws figure 8a: utilisation over the whole second."""
    seeds = read_queues(sweeps["peaks"])
    made, [axes] = sheet(1)
    curves(axes, seeds, Shown(len(seeds[0].busy), STEP * 1e-6, 10), Queues.utilisation)
    axes.set_xlim(0, 1)
    axes.set_xlabel("time (s)")
    axes.set_ylabel("utilisation of both queues")
    made.legend(loc="outside upper center", ncols=4)
    return made


def draw_first(sweeps: Sweeps, _: Published) -> Drawing:
    """Draws figure 8b: utilisation in the first peak, as the mean of both queues and of each."""
    seeds = read_queues(sweeps["peaks"])
    last = max(first_steps(one).stop for one in seeds)
    shown = Shown(min(last + last // 10 + 1, len(seeds[0].busy)), STEP * 1e-3)
    panels: dict[str, Callable[[Queues, str], np.ndarray]] = {
        "Mean of both queues": Queues.utilisation,
        "Normal queue": lambda run, switch: run.share(switch, NORMAL),
        "Bounce queue": lambda run, switch: run.share(switch, BOUNCE),
    }
    made, every = sheet(3)
    for axes, (title, of) in zip(every, panels.items(), strict=True):
        curves(axes, seeds, shown, of)
        axes.set_ylim(0, 1)
        axes.set_title(title)
        axes.set_xlabel("time (ms)")
    every[1].axhline(THRESHOLD, color="#666666", linewidth=0.8, linestyle=":")
    every[1].annotate("θ", (1, THRESHOLD), xycoords=("axes fraction", "data"), ha="right", va="bottom")
    every[0].set_ylabel("utilisation")
    made.legend(*every[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return made


DRAWINGS: dict[str, Draw] = {
    "fig1": example,
    "secII-C": largest_hops,
    "tab1": distances,
    "fig7a": bounces,
    "fig7b": total_hops,
    "fig9a": thetas,
    "fig9b": lambdas,
    "fig8a": draw_whole,
    "fig8b": draw_first,
}
