"""Drawings of PABO's figures 1 and 7 to 9, of table I, and of section II-C."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill import plots
from overspill.papers.common import (
    PublishedValues,
    divide_or_nan,
    draw_legend,
    draw_mean_line,
    draw_published_values,
    interval_half_widths,
    metric_along_points,
    new_panels,
    points_along_path,
)
from overspill.papers.plotted_data import make_object
from overspill.papers.spec import Draw, Sweeps
from overspill.plots import COLOURS, look

from ..measures import raw_packets
from ..measures.raw_packets import (
    BOUNCE_QUEUE,
    LAMBDA_PATH,
    LOAD_PACKETS,
    NORMAL_QUEUE,
    OUTPUT_PORTS,
    STEP_US,
    SWITCHES,
    THETA_OF_SECTION_5,
    THETA_PATH,
    OutputQueues,
    first_steps,
    read_queues,
)

EXAMPLE_SWITCHES = ("S1", "S2", "S3", "S4")
MAX_DRAWN_HOPS = 24  # largest totalHop shown in figure 7b
LEVEL_SWITCHES = {"S7": (6,), "S4_to_S6": (3, 4, 5), "S1_to_S3": (0, 1, 2)}  # indices of switches
MODEL_LABEL = "our earlier model"  # source of published values that are not from the paper


def draw_example(sweeps: Sweeps, _: PublishedValues) -> Drawing:
    """Draws figure 1: bounces of each switch."""
    runs = sweeps["example"]
    tables = runs.tables("ports", runs.variants[0])
    counts = [
        raw_packets.counts_by_switch(runs, one, "bounced", {name: name for name in EXAMPLE_SWITCHES})
        for one in tables
    ]
    made, [axes] = new_panels(1)
    draw_bars(
        axes, EXAMPLE_SWITCHES, [np.array([[one[name] for name in EXAMPLE_SWITCHES] for one in counts])]
    )
    axes.set_ylabel("bounces")
    return made


def draw_bars(
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
            interval_half_widths(by_seed),
            fmt="none",
            ecolor="#333333",
            elinewidth=1,
            capsize=2,
        )
    axes.set_xticks(range(len(names)), names)
    axes.grid(visible=False, axis="x")


def draw_largest_hops(sweeps: Sweeps, _: PublishedValues) -> Drawing:
    """Draws the largest totalHop over lambda, for section II-C."""
    runs = sweeps["raw_lambda"]
    places, points = points_along_path(runs, f"variants.pabo.{LAMBDA_PATH}")
    made, [axes] = new_panels(1)
    by_seed = metric_along_points(runs, "total_hop_max", "pabo", points)
    draw_mean_line(axes, places, by_seed, COLOURS[0], marker="o", markersize=4)
    axes.set_xlabel("λ")
    axes.set_ylabel("largest totalHop (hops)")
    return made


def draw_distances(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws table I as bars: shares of packets by maxBouncedDistance."""
    runs = sweeps["severity"]
    names = [str(distance) for distance in range(4)]
    groups, marks = [], []
    for at, name in enumerate(LOAD_PACKETS):
        tables = runs.tables("packet_hist", "pabo", raw_packets.load_point(runs, name))
        groups.append(np.array([distance_shares(one) for one in tables]))
        of_load = [published.get((name, f"share_of_{distance}")) for distance in range(4)]
        marks += [(distance + bar_offset(at), share) for distance, share in enumerate(of_load)]
    made, [axes] = new_panels(1)
    draw_bars(axes, names, groups, list(LOAD_PACKETS))
    draw_published_values(axes, marks)
    axes.set_xlabel("maxBouncedDistance")
    axes.set_ylabel("share of packets (%)")
    draw_legend(axes)
    return made


def bar_offset(at: int) -> float:
    """Returns the offset of a load's bar from the middle of its group."""
    return (at - 1) * 0.8 / len(LOAD_PACKETS)


def distance_shares(table: pa.Table) -> list[float]:
    """Returns shares of packets in %, by distances 0 to 3."""
    low, _, count = raw_packets.histogram_bins(table, raw_packets.DISTANCE_INDEX)
    return [
        100 * divide_or_nan(float(count[low == distance].sum()), float(count.sum())) for distance in range(4)
    ]


def draw_bounces(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 7a: bounces by switch, for each load."""
    runs = sweeps["severity"]
    groups, marks = [], []
    for at, name in enumerate(LOAD_PACKETS):
        tables = runs.tables("ports", "pabo", raw_packets.load_point(runs, name))
        counts = [raw_packets.counts_by_switch(runs, one, "bounced", SWITCHES) for one in tables]
        groups.append(np.array([[one[switch] for switch in SWITCHES] for one in counts]))
        for level, switches in LEVEL_SWITCHES.items():
            together = published.get((name, f"bounces_at_{level}"))
            each = None if together is None else together / len(switches)
            marks += [(switch + bar_offset(at), each) for switch in switches]
    made, [axes] = new_panels(1)
    draw_bars(axes, list(SWITCHES), groups, list(LOAD_PACKETS))
    draw_published_values(axes, marks, f"{MODEL_LABEL}; for three switches a third of their sum")
    axes.set_ylabel("bounces")
    draw_legend(axes)
    return made


def draw_total_hops(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 7b: the distribution of totalHop, for each load."""
    runs = sweeps["severity"]
    hops = np.arange(MAX_DRAWN_HOPS + 1)
    made, [axes] = new_panels(1)
    for at, name in enumerate(LOAD_PACKETS):
        tables = runs.tables("packet_hist", "pabo", raw_packets.load_point(runs, name))
        by_seed = np.array(
            [[raw_packets.share_within_hops(one, int(most)) / 100 for most in hops] for one in tables]
        )
        draw_mean_line(axes, hops, by_seed, COLOURS[at], drawstyle="steps-post", label=name)
    share = published.get(("severe", "share_within_11_hops"))
    draw_published_values(axes, [(11, None if share is None else share / 100)])
    axes.set_xlim(0, MAX_DRAWN_HOPS)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("totalHop (hops)")
    axes.set_ylabel("share of packets")
    axes.yaxis.set_major_formatter(make_object("percent", 1))
    draw_legend(axes, loc="lower right")
    return made


def draw_thetas(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 9a: the share of bounced packets over theta, and a straight line through the means."""
    runs = sweeps["raw_theta"]
    places, points = points_along_path(runs, f"variants.pabo.{THETA_PATH}")
    shares = metric_along_points(runs, "bounced_share", "pabo", points)
    made, [axes] = new_panels(1)
    draw_means(axes, places, shares)
    slope, start = np.polyfit(places, shares.mean(axis=0), 1)
    axes.plot(places, start + slope * np.array(places), color=COLOURS[1], label="interpolation")
    ends = [(at, published.get((f"theta={at:g}", "bounced_share"))) for at in places]
    draw_published_values(axes, ends, MODEL_LABEL)
    axes.set_ylim(0.82, 1.0)
    axes.set_xlabel("θ")
    axes.set_ylabel("share of bounced packets")
    draw_legend(axes)
    return made


def draw_lambdas(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 9b: mean totalHop of packets over lambda."""
    runs = sweeps["raw_lambda"]
    places, points = points_along_path(runs, f"variants.pabo.{LAMBDA_PATH}")
    means = metric_along_points(runs, "total_hop_mean", "pabo", points)
    made, [axes] = new_panels(1)
    draw_mean_line(axes, places, means, COLOURS[0], marker="o", markersize=4, label="measured")
    ends = [(at, published.get((f"lambda={at:g}", "mean_total_hop"))) for at in places]
    draw_published_values(axes, ends, "range of the published axis")
    axes.set_xlim(-4, 164)
    axes.set_ylim(6.08, 6.54)
    axes.set_xlabel("λ")
    axes.set_ylabel("mean totalHop (hops)")
    draw_legend(axes, loc="lower right")
    return made


def draw_means(axes: Axes, places: Sequence[float], by_seed: np.ndarray) -> None:
    """Draws means over seeds as points, with their 95% intervals."""
    style: dict[str, Any] = {"linestyle": "none", "color": COLOURS[0], "markersize": 5, "capsize": 2.5}
    axes.errorbar(
        places, by_seed.mean(axis=0), interval_half_widths(by_seed), marker="o", label="measured", **style
    )


@dataclass(frozen=True)
class TimeAxis:
    """Time axis of a figure: its number of time steps, and the length of a step in the axis's unit."""

    steps: int
    step: float
    tick_every: int = 1  # steps averaged into one point


def draw_curves(
    axes: Axes, seeds: list[OutputQueues], shown: TimeAxis, of: Callable[[OutputQueues, str], np.ndarray]
) -> None:
    """Draws a curve over time for each output: mean and interval over seeds; dashes separate equal curves."""
    count = shown.steps // shown.tick_every
    time = (np.arange(count) + 0.5) * shown.step * shown.tick_every
    for at, switch in enumerate(OUTPUT_PORTS):
        fine = np.array([of(one, switch)[: count * shown.tick_every] for one in seeds])
        by_seed = fine.reshape(len(seeds), count, shown.tick_every).mean(axis=2)
        style = plots.line(look(at))
        draw_mean_line(axes, time, by_seed, style.pop("color"), label=switch, **style)
    axes.set_xlim(0, shown.steps * shown.step)
    axes.set_ylim(0)


def draw_whole_second(sweeps: Sweeps, _: PublishedValues) -> Drawing:
    """Draws figure 8a: utilisation of queues over the whole second."""
    seeds = read_queues(sweeps["peaks"])
    made, [axes] = new_panels(1)
    draw_curves(axes, seeds, TimeAxis(len(seeds[0].busy), STEP_US * 1e-6, 10), OutputQueues.utilisation)
    axes.set_xlim(0, 1)
    axes.set_xlabel("time (s)")
    axes.set_ylabel("mean utilisation of both queues")
    made.legend(loc="outside upper center", ncols=4)
    return made


def draw_first_peak(sweeps: Sweeps, _: PublishedValues) -> Drawing:
    """Draws figure 8b: utilisation of queues in the first peak, mean of both queues and each of them."""
    seeds = read_queues(sweeps["peaks"])
    last = max(first_steps(one).stop for one in seeds)
    shown = TimeAxis(min(last + last // 10 + 1, len(seeds[0].busy)), STEP_US * 1e-3)
    panels: dict[str, Callable[[OutputQueues, str], np.ndarray]] = {
        "Mean of both queues": OutputQueues.utilisation,
        "Normal queue": lambda run, switch: run.share(switch, NORMAL_QUEUE),
        "Bounce queue": lambda run, switch: run.share(switch, BOUNCE_QUEUE),
    }
    made, every = new_panels(3)
    for axes, (title, of) in zip(every, panels.items(), strict=True):
        draw_curves(axes, seeds, shown, of)
        axes.set_ylim(0, 1)
        axes.set_title(title)
        axes.set_xlabel("time (ms)")
    every[1].axhline(THETA_OF_SECTION_5, color="#666666", linewidth=0.8, linestyle=":")
    every[1].annotate(
        "θ", (1, THETA_OF_SECTION_5), xycoords=("axes fraction", "data"), ha="right", va="bottom"
    )
    every[0].set_ylabel("utilisation")
    made.legend(*every[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return made


DRAWINGS: dict[str, Draw] = {
    "fig1": draw_example,
    "secII-C": draw_largest_hops,
    "tab1": draw_distances,
    "fig7a": draw_bounces,
    "fig7b": draw_total_hops,
    "fig9a": draw_thetas,
    "fig9b": draw_lambdas,
    "fig8a": draw_whole_second,
    "fig8b": draw_first_peak,
}
