"""Drawings of figures 1c, 4 and 5 and of table 1 of the ABQ paper."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill import columns, plots
from overspill.papers.bars import BarGroups, draw_grouped_bars
from overspill.papers.common import (
    PublishedValues,
    SeedCurve,
    draw_legend,
    draw_mean_line,
    new_panels,
    set_log_scale,
)
from overspill.papers.plotted_data import make_object
from overspill.papers.spec import Draw, Runs, Sweeps

from .measures.incast import fct_percentile, find_bottleneck
from .measures.scale import group_medians, largest_drops, largest_throughput, means_by_draw, read_networks
from .measures.schemes import (
    ABQ,
    COLOURS,
    NAMES,
    QUEUE_PACKETS,
    SENDERS_PATH,
    SIZE_PATH,
    curve_of_flows,
    curve_of_queue,
    path_values,
)

LEGEND_BESIDE = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
BIN_MS = 0.02  # ms, equal to `measure.bin` of the sweep
MAX_DRAWN_POINTS = 2000  # points of a drawn distribution, more than a picture resolves


def scheme_colour(variant: str) -> str:
    """Returns the colour of a scheme in ABQ's figures."""
    return plots.COLOURS[COLOURS[variant]]


def draw_queues(sweeps: Sweeps, _: PublishedValues) -> Drawing:
    """Draws figure 4a: mean queue lengths, with 5th and 95th percentiles over time as whiskers."""
    runs = sweeps["incast"]
    senders, width = path_values(runs, SENDERS_PATH), 0.2
    made, [axes] = new_panels(1, height=4.2)
    for at, (variant, name) in enumerate(NAMES.items()):
        mean = curve_of_queue(runs, variant, lambda queue: queue.mean).mean(axis=0)
        low = curve_of_queue(runs, variant, lambda queue: queue.percentiles[0]).mean(axis=0)
        high = curve_of_queue(runs, variant, lambda queue: queue.percentiles[1]).mean(axis=0)
        places = np.arange(len(senders)) + (at - 1.5) * width
        axes.bar(places, mean, width * 0.94, color=scheme_colour(variant), label=name)
        reach = np.maximum(0, [mean - low, high - mean])
        axes.errorbar(places, mean, reach, fmt="none", ecolor="#222222", elinewidth=0.9, capsize=1.5)
    both = curve_of_queue(runs, ABQ, lambda queue: queue.mean + queue.mean_held_bytes).mean(axis=0)
    places = np.arange(len(senders)) + 1.5 * width
    axes.bar(places, both, width * 0.94, color=plots.COLOURS[4], label="ABQ with held ACKs")
    axes.set_xticks(range(len(senders)), [f"{one:g}" for one in senders])
    axes.grid(False, axis="x")
    axes.set_xlabel("senders")
    axes.set_ylabel("queue (KB)")
    axes.set_title("Mean over time; whiskers: 5th and 95th percentile")
    draw_legend(axes, **LEGEND_BESIDE)
    return made


def draw_curves(axes: Axes, runs: Runs, of: Callable[[Runs, str], SeedCurve]) -> None:
    """Draws a line over the number of senders for each scheme."""
    for variant, name in NAMES.items():
        draw_mean_line(
            axes,
            path_values(runs, SENDERS_PATH),
            of(runs, variant),
            scheme_colour(variant),
            label=name,
            marker=".",
        )
    axes.set_xlabel("senders")
    axes.set_ylim(bottom=0)
    draw_legend(axes, **LEGEND_BESIDE)


def draw_goodput(sweeps: Sweeps, _: PublishedValues) -> Drawing:
    """Draws figure 4b: goodput over the number of senders."""
    made, [axes] = new_panels(1)
    draw_curves(
        axes, sweeps["incast"], lambda runs, one: curve_of_flows(runs, one, lambda times: times.goodput)
    )
    axes.set_ylim(0, 1000)
    axes.set_ylabel("goodput (Mb/s)")
    axes.set_title("32 KB from each sender")
    return made


def draw_drops(sweeps: Sweeps, _: PublishedValues) -> Drawing:
    """Draws figure 4c: dropped packets over the number of senders."""
    made, [axes] = new_panels(1)
    draw_curves(
        axes, sweeps["incast"], lambda runs, one: curve_of_queue(runs, one, lambda queue: queue.drops)
    )
    axes.set_ylabel("packets dropped")
    axes.set_title("32 KB from each sender")
    return made


def draw_percentile_bars(axes: Axes, runs: Runs, path: str) -> None:
    """Draws median FCTs with 1st and 99th percentiles as whiskers, each a mean over seeds."""
    values, apart = path_values(runs, path), 0.22
    short, middle, long = (fct_percentile(runs, one) for one in (1, 50, 99))
    for at, (variant, name) in enumerate(NAMES.items()):
        places = np.arange(len(values)) + (at - 1) * apart
        low, mid, high = (one[variant].mean(axis=0) for one in (short, middle, long))
        reach = np.maximum(0, [mid - low, high - mid])
        axes.errorbar(
            places, mid, reach, fmt="o", markersize=4, color=scheme_colour(variant), elinewidth=1.6,
            capsize=3, label=name,
        )  # fmt: skip
    axes.set_xticks(range(len(values)), [f"{one:g}" for one in values])
    axes.grid(False, axis="x")
    set_log_scale(axes)
    axes.set_ylabel("FCT (ms)")
    axes.set_title("Median; whiskers: 1st and 99th percentile")
    draw_legend(axes, **LEGEND_BESIDE)


def make_time_drawing(sweep: str, over: str, label: str) -> Callable[[Sweeps, PublishedValues], Drawing]:
    """Returns a function that draws figure 5a or 5b: FCTs of a sweep over its parameter."""

    def draw_times(sweeps: Sweeps, _: PublishedValues) -> Drawing:
        made, [axes] = new_panels(1, height=4.2)
        draw_percentile_bars(axes, sweeps[sweep], over)
        axes.set_xlabel(label)
        return made

    return draw_times


def draw_oscillation(sweeps: Sweeps, _: PublishedValues) -> Drawing:
    """Draws figure 1c: the queue of the first seed over time, with one panel for each scheme."""
    runs = sweeps["oscillation"]
    made, panels = new_panels(1, rows=len(NAMES), height=1.9)
    for axes, (variant, name) in zip(panels, NAMES.items(), strict=True):
        node, port, _row = find_bottleneck(runs, runs.tables("ports", variant)[0])
        trace = runs.tables("queue_trace", variant)[0]
        here = (columns.column_to_numpy(trace, "node") == node) & (
            columns.column_to_numpy(trace, "port") == port
        )
        step = columns.column_to_numpy(trace, "bin")[here].astype(np.int64)
        longest = np.zeros(int(step.max(initial=0)) + 2)
        longest[step] = columns.column_to_numpy(trace, "max_packets")[here]
        time = np.arange(len(longest)) * BIN_MS
        axes.plot(time, longest, color=scheme_colour(variant), drawstyle="steps-post", linewidth=1)
        axes.axhline(QUEUE_PACKETS, color="black", linewidth=0.8, linestyle=":")
        axes.set_ylim(0, QUEUE_PACKETS * 1.1)
        axes.set_ylabel("packets")
        axes.set_title(name)
    widest = max(axes.get_xlim()[1] for axes in panels)
    for axes in panels:
        axes.set_xlim(9, widest)
    panels[-1].set_xlabel("time (ms); dotted: buffer size")
    return made


def draw_short_flows(sweeps: Sweeps, _: PublishedValues) -> Drawing:
    """Draws figure 5c: the distribution of short flows' FCTs over all random draws of flows."""
    runs = sweeps["waves"]
    made, [axes] = new_panels(1)
    for variant, name in NAMES.items():
        every = np.concatenate([one.short_fcts for seeds in read_networks(runs, variant) for one in seeds])
        took = np.sort(every)  # unfinished flows are last
        share = np.arange(1, len(took) + 1) / len(took)
        shown = np.unique(np.linspace(0, len(took) - 1, MAX_DRAWN_POINTS).astype(int))
        axes.plot(
            took[shown], 100 * share[shown], color=scheme_colour(variant), drawstyle="steps-post", label=name
        )
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(make_object("thousands"))
    axes.set_xlabel("FCT of short flows (ms)")
    axes.set_ylabel("flows (%)")
    axes.set_ylim(0, 100)
    draw_legend(axes, loc="lower right")
    return made


def draw_table_1(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws table 1: the fastest of five long flows, and the most drops at one of five receivers."""
    columns_of = (("waves", "", "simultaneous short flows"), ("apart", ", apart", "spread short flows"))
    panels = (
        ("largest_throughput", largest_throughput, "throughput (Mb/s)", "Fastest of five long flows"),
        ("largest_drops", largest_drops, "packets dropped", "Receiver with most drops, of five"),
    )
    made, every = new_panels(2, height=3.8)
    for axes, (metric, of, unit, title) in zip(every, panels, strict=True):
        values = [
            [group_medians(means_by_draw(sweeps[sweep], one, of)) for sweep, *_ in columns_of]
            for one in NAMES
        ]
        paper = [
            [published.get((f"{name}{which}", metric)) for _, which, _ in columns_of]
            for name in NAMES.values()
        ]
        draw_grouped_bars(
            axes, [told for *_, told in columns_of], BarGroups(list(NAMES.values()), values), paper
        )
        axes.set_ylabel(unit)
        axes.set_title(title)
        if (shown := axes.get_legend()) is not None:  # one legend is enough
            shown.remove()
    made.legend(*every[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return made


DRAWINGS: dict[str, Draw] = {
    "fig4a": draw_queues,
    "fig4b": draw_goodput,
    "fig4c": draw_drops,
    "fig5a": make_time_drawing("incast", SENDERS_PATH, "senders, 32 KB each"),
    "fig5b": make_time_drawing("sizes", SIZE_PATH, "size of each of 30 flows (KB)"),
    "fig1c": draw_oscillation,
    "fig5c": draw_short_flows,
    "tab1": draw_table_1,
}
