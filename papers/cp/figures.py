"""Drawings of the figures of the CP paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill.papers.common import (
    PublishedValues,
    SeedCurve,
    draw_legend,
    draw_mean_line,
    draw_published_values,
    interval_half_widths,
    metric_along_points,
    new_panels,
    set_log_scale,
)
from overspill.papers.plotted_data import make_object
from overspill.papers.spec import Draw, Runs, Sweeps
from overspill.plots import COLOURS

from .measures import incast
from .measures.fair_shares import (
    ALL_PAIRS,
    BACKGROUND_FLOWS,
    FIVE_SCHEMES,
    FLOWS_PATH,
    FOUR_SCHEMES,
    LABELS,
    PAIRS,
    WEIGHT_PATH,
    goodput_deviation,
    goodput_ratio,
    theoretical_goodput,
    theoretical_goodput_over_paths,
    throughput,
)
from .measures.incast import SLOW_FLOW_MS, flow_values
from .measures.realistic import (
    AGGREGATION_BUFFER_PATH,
    BUFFER_PATH,
    COMPARED_SCHEMES,
    SIZE_LABELS,
    TAIL_PERCENTILES,
    tail_completion,
)
from .measures.schemes import (
    CP,
    DCTCP,
    DCTCP_200,
    NAMES,
    TCP,
    TCP_200,
    TIE_LABELS,
    metric_key,
    path_values,
    point_at,
    point_with,
)

CurveFunction = Callable[[Runs, str], SeedCurve]
# Titles of panels by the suffix of their sweep.
TIE_TITLES = {
    "": "hosts with jitter",
    "_drawn": "no jitter, random ties",
    "_by_port": "no jitter, ties by port",
}
LEGEND_BESIDE: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}


def scheme_colour(variant: str) -> str:
    """Returns the colour of a scheme in all figures."""
    return COLOURS[list(NAMES).index(variant) % len(COLOURS)]


def draw_curves(axes: Axes, runs: Runs, variants: Sequence[str], values: CurveFunction) -> None:
    """Draws a line over the number of senders for each scheme."""
    senders = path_values(runs, incast.DEGREE_PATH)
    for variant in variants:
        draw_mean_line(axes, senders, values(runs, variant), scheme_colour(variant), label=NAMES[variant])
    axes.set_xlabel("senders")


def draw_cliffs(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 1: throughput of TCP and DCTCP over the number of senders."""
    made, [axes] = new_panels(1)
    draw_curves(axes, sweeps["mapreduce"], (TCP, DCTCP), incast.throughput)
    places = [(who, which) for who, which in published if which.endswith("_cliff")]
    for who, which in places:
        axes.axvline(published[who, which], color="black", linewidth=0.8, linestyle=":")
    axes.set_xlim(0, 100)
    axes.set_ylim(0, 1000)
    axes.set_ylabel("throughput (Mb/s)")
    axes.set_title("64 KB from each sender; dotted: published cliffs")
    draw_legend(axes, loc="lower right")
    return made


def draw_throughput(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 8a: throughput over the number of senders."""
    runs = sweeps["mapreduce"]
    made, [axes] = new_panels(1, height=4.2)
    draw_curves(axes, runs, runs.variants, incast.throughput)
    level = published.get((NAMES[TCP], "throughput_of_60_and_more"))
    draw_published_values(axes, [(150.0, level)])
    axes.set_ylim(0, 1000)
    axes.set_ylabel("throughput (Mb/s)")
    axes.set_title("64 KB from each sender")
    draw_legend(axes, **LEGEND_BESIDE)
    return made


def draw_completion(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 8b: query completion time over the number of senders."""
    runs = sweeps["web_search"]
    made, [axes] = new_panels(1, height=4.2)
    draw_curves(axes, runs, runs.variants, incast.mean_completion)
    time = "query_completion_time"
    levels = [
        (25.0, published.get((f"{NAMES[CP]}, below 50 senders", time))),
        (90.0, published.get((f"{NAMES[TCP]}, 80 to 100 senders", time))),
        (90.0, published.get((f"{NAMES[TCP]} 200 ms, 80 to 100 senders", time))),
    ]
    draw_published_values(axes, levels)
    set_log_scale(axes)
    axes.set_ylabel("query completion time (ms)")
    axes.set_title("1024 KB from all senders together")
    draw_legend(axes, **LEGEND_BESIDE)
    return made


def draw_figure_3(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 3: the distribution of the slowest flow's completion time in a query, by scheme."""
    runs = sweeps["slow_flow"]
    made, [axes] = new_panels(1)
    latest = SLOW_FLOW_MS
    for variant in runs.variants:
        slowest = np.sort(np.concatenate([one.max(axis=1) for one in flow_values(runs, variant)]))
        latest = max(latest, float(slowest[-1]))
        colour = scheme_colour(variant)
        shares = np.arange(1, len(slowest) + 1) / len(slowest)
        axes.step(slowest, shares, where="post", color=colour, label=NAMES[variant])
    axes.axvline(SLOW_FLOW_MS, color="black", linewidth=0.8, linestyle=":")
    axes.set_xlim(8, latest + 1)
    axes.set_xlabel("slowest flow of a query (ms); dotted: 15 ms")
    axes.set_ylabel("share of queries")
    axes.set_title("20 flows of 50 KB, starts within 1 ms")
    draw_legend(axes, loc="lower right")
    return made


def draw_figure_10(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 10: the goodput ratio of experimental to background flows, by numbers of flows."""
    made, panels = new_panels(3)
    for axes, sweep in zip(panels, TIE_LABELS, strict=True):
        runs = sweeps[f"pairs{sweep}"]
        for place, variant in enumerate(FOUR_SCHEMES):
            values = np.array(
                [goodput_ratio(runs, variant, point_at(runs, FLOWS_PATH, n)) for n in PAIRS.values()]
            ).T
            axes.bar(
                np.arange(len(PAIRS)) + 0.2 * (place - 1.5),
                values.mean(axis=0),
                0.18,
                yerr=interval_half_widths(values),
                color=scheme_colour(variant),
                label=NAMES[variant],
            )
        axes.axhline(1.0, color="black", linewidth=0.8, linestyle=":")
        axes.set_xticks(range(len(PAIRS)), list(PAIRS))
        axes.set_ylim(0, min(4.0, axes.get_ylim()[1]))
        axes.set_title(TIE_TITLES[sweep])
    panels[0].set_ylabel("goodput ratio, experimental to background")
    draw_legend(panels[-1], **LEGEND_BESIDE)
    return made


def draw_figure_11(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 11: the goodput deviation among experimental flows (EFJR), by numbers of flows."""
    runs = sweeps["pairs"]
    made, [axes] = new_panels(1)
    for variant in FOUR_SCHEMES:
        values = np.array(
            [goodput_deviation(runs, variant, point_at(runs, FLOWS_PATH, n)) for n in ALL_PAIRS.values()]
        ).T
        axes.errorbar(
            range(len(ALL_PAIRS)),
            values.mean(axis=0),
            interval_half_widths(values),
            color=scheme_colour(variant),
            marker="o",
            label=NAMES[variant],
        )
    axes.axhline(15.0, color="black", linewidth=0.8, linestyle=":")
    axes.set_xticks(range(len(ALL_PAIRS)), list(ALL_PAIRS))
    axes.set_ylabel("EFJR (%); dotted: 15%")
    axes.set_ylim(bottom=0)
    axes.set_title("Fairness among experimental flows")
    draw_legend(axes, **LEGEND_BESIDE)
    return made


def draw_goodput_panel(axes: Axes, runs: Runs, background: int, variants: Sequence[str]) -> None:
    """Draws the goodput of experimental flows, and the line of the theoretical goodput."""
    flows = path_values(runs, FLOWS_PATH)
    for variant in variants:
        colour = scheme_colour(variant)
        values = metric_along_points(runs, metric_key("goodput", "experimental"), variant, runs.points) / 1e6
        # DCTCP equals CP&DCTCP if few flows compete: its line is dashed and on top, so that both are visible.
        style: dict[str, Any] = {"linestyle": (0, (4, 2)), "zorder": 3} if variant == DCTCP_200 else {}
        axes.plot(flows, values.mean(axis=0), color=colour, label=NAMES[variant], **style)
        # Runs are bimodal, so that an interval over a few of them would fill the panel and hide both modes.
        axes.plot(flows, values.T, ".", color=colour, markersize=4, alpha=0.6)
    line = [theoretical_goodput(one / background) / 1e6 for one in flows]
    axes.plot(flows, line, color="black", linestyle="--", label="theory")
    axes.set_xlabel("experimental flows; dots: runs")
    axes.xaxis.set_major_locator(make_object("whole"))
    # The axis begins below 0, so that starved flows are visible, and ends at the link's rate.
    axes.set_ylim(-30, 1000)


def draw_figure_2(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 2: goodput of TCP alone, with the line of the theoretical goodput."""
    made, panels = new_panels(3)
    for axes, (name, background) in zip(panels, BACKGROUND_FLOWS.items(), strict=True):
        draw_goodput_panel(axes, sweeps[name], background, (TCP, TCP_200))
        axes.set_title(f"{background} background flows")
    panels[0].set_ylabel("goodput (Mb/s)")
    draw_legend(panels[-1], **LEGEND_BESIDE)
    return made


def draw_figure_12(name: str, sweeps: Sweeps, _: PublishedValues) -> Drawing:
    """Draws figure 12a or 12b: goodput of every scheme, with and without jitter of hosts."""
    made, panels = new_panels(3)
    for axes, mode in zip(panels, TIE_LABELS, strict=True):
        draw_goodput_panel(axes, sweeps[name + mode], BACKGROUND_FLOWS[name], FIVE_SCHEMES)
        axes.set_title(TIE_TITLES[mode])
    panels[0].set_ylabel("goodput (Mb/s)")
    draw_legend(panels[-1], **LEGEND_BESIDE)
    return made


def draw_figure_14(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 14: goodput of a flow over two paths, every scheme, over the traffic share P."""
    runs = sweeps["out_of_order"]
    shares = path_values(runs, WEIGHT_PATH)
    dashes = ["-", "--", ":"]
    made, [axes] = new_panels(1, height=4.6)
    for place, variant in enumerate(runs.variants):
        colour, dash = COLOURS[place % len(COLOURS)], dashes[place // len(COLOURS) % len(dashes)]
        label = LABELS[variant].replace("3 duplicates", "dupACK threshold 3")
        label = label.replace("no threshold", "dupACK threshold off")
        draw_mean_line(axes, shares, throughput(runs, variant), colour, label=label, linestyle=dash)
    axes.plot(
        shares,
        [theoretical_goodput_over_paths(one) / 1e6 for one in shares],
        color="black",
        linestyle="--",
        label="theory",
    )
    axes.set_xlabel("P, share of packets on path A")
    axes.set_ylabel("goodput (Mb/s)")
    axes.set_ylim(0, 1000)
    axes.set_title("A flow over two paths, one of them shared")
    draw_legend(axes, **LEGEND_BESIDE)
    return made


def draw_tail_bars(axes: Axes, values: Mapping[str, Mapping[str, np.ndarray]]) -> None:
    """Draws bars of both tail percentiles of completion times, one bar for each scheme or buffer size.

    A scheme has its colour of all figures.
    """
    every = list(NAMES.values())
    for at_, (name, tails) in enumerate(values.items()):
        colour = COLOURS[(every.index(name) if name in every else at_) % len(COLOURS)]
        heights = [tails[which].mean() for which in TAIL_PERCENTILES]
        reach = [float(interval_half_widths(tails[which][:, None])[0]) for which in TAIL_PERCENTILES]
        places = np.arange(len(TAIL_PERCENTILES)) + 0.8 / len(values) * (at_ - (len(values) - 1) / 2)
        axes.bar(places, heights, 0.75 / len(values), yerr=reach, color=colour, label=name)
    axes.set_xticks(range(len(TAIL_PERCENTILES)), ["99th percentile", "99.9th percentile"])
    axes.set_ylim(bottom=0)


def draw_figure_15(size: str, sweeps: Sweeps, _: PublishedValues) -> Drawing:
    """Draws figure 15a or 15b: tail query times with both distributions of background flows.

    `size` is the buffer of the aggregation switch.
    """
    made, panels = new_panels(2)
    for axes, (name, sizes) in zip(panels, SIZE_LABELS.items(), strict=True):
        runs = sweeps[name]
        point = point_with(runs, AGGREGATION_BUFFER_PATH, size)
        draw_tail_bars(
            axes,
            {
                NAMES[one]: {which: tail_completion(runs, one, which, point) for which in TAIL_PERCENTILES}
                for one in COMPARED_SCHEMES
            },
        )
        axes.set_title(sizes.removeprefix(", ") or "imc10")
    panels[0].set_ylabel("query completion time (ms)")
    draw_legend(panels[-1], **LEGEND_BESIDE)
    return made


def draw_figure_16a(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 16a: tail completion times under ten-fold traffic."""
    runs = sweeps["tenfold"]
    made, [axes] = new_panels(1)
    draw_tail_bars(
        axes,
        {
            NAMES[one]: {which: tail_completion(runs, one, which) for which in TAIL_PERCENTILES}
            for one in COMPARED_SCHEMES
        },
    )
    axes.set_ylabel("query completion time (ms)")
    axes.set_title("Ten-fold traffic")
    draw_legend(axes, **LEGEND_BESIDE)
    return made


def draw_figure_16b(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 16b: tail completion times of CP with three buffer sizes."""
    made, panels = new_panels(2)
    for axes, (name, title) in zip(
        panels, (("buffers_tenfold", "ten-fold traffic"), ("buffers", "single traffic")), strict=True
    ):
        runs = sweeps[name]
        sizes = {size: point_with(runs, BUFFER_PATH, f"{size}KiB") for size in (32, 128, 256)}
        found = {
            f"{size} KB": {which: tail_completion(runs, CP, which, point) for which in TAIL_PERCENTILES}
            for size, point in sizes.items()
        }
        draw_tail_bars(axes, found)
        axes.set_title(title)
    panels[0].set_ylabel("query completion time (ms)")
    draw_legend(panels[-1], **LEGEND_BESIDE)
    return made


DRAWINGS: dict[str, Draw] = {
    "fig1": draw_cliffs,
    "fig8a": draw_throughput,
    "fig8b": draw_completion,
    "fig3": draw_figure_3,
    "fig10": draw_figure_10,
    "fig11": draw_figure_11,
    "fig2": draw_figure_2,
    "fig12a": partial(draw_figure_12, "few"),
    "fig12b": partial(draw_figure_12, "many"),
    "fig14": draw_figure_14,
    "fig15a": partial(draw_figure_15, "128KiB"),
    "fig15b": partial(draw_figure_15, "384KiB"),
    "fig16a": draw_figure_16a,
    "fig16b": draw_figure_16b,
}
