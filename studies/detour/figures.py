"""Figures of the study of detour policies of DIBS."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from overspill import plots
from overspill.plots import DASHES, GREY
from studies.common import save_figures, set_plain_log_labels
from studies.detour.numbers import BACKGROUND, POLICIES, QCT, QCT_TAIL, Row

METRIC_NAMES = {
    QCT: "QCT mean (ms)",
    QCT_TAIL: "QCT p99 (ms)",
    BACKGROUND: "FCT p99, short background (ms)",
}
POLICY_LABELS = {
    "drop": "drop",
    "drop_no_fast_retransmit": "drop, no fast retransmit",
    "random": "random (DIBS)",
    "load_aware": "load-aware",
    "flow_all": "flow-based, all",
    "flow_short": "flow-based, short",
    "flow_long": "flow-based, long",
    "probabilistic": "probabilistic, 0.5 to 1",
    "probabilistic_early": "probabilistic, 0.2 to 0.8",
}
MECHANISM_LABELS = {
    "drop": "drop",
    "drop_rto_1ms": "drop, RTO 1 ms",
    "drop_shared": "shared buffer, α = 1",
    "dibs": "DIBS as published",
    "dibs_tuned": "DIBS tuned",
    "pabo": "PABO as published",
    "pabo_tuned": "PABO tuned",
    "pool_tuned": "shared buffer tuned",
}
COLOURS = (*plots.COLOURS, "#882255", GREY)
PERCENT_TICKS = (-60, -20, 0, 20, 60, 200)
DRAWN_NETWORKS = ("fat_tree", "hyperx", "jellyfish")


def draw(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Draws every figure as PNG files."""
    return save_figures(
        lambda: {
            "load": draw_over_load(rows),
            "policies": draw_difference_from_random(rows),
            "pabo": draw_tuned_mechanisms(rows),
        },
        folder,
    )


def select_rows(rows: Sequence[Row], series: str, variant: str, metric: str) -> list[Row]:
    """Returns the rows of one metric of a variant, from one of the study's series of runs."""
    wanted = (series, variant, metric)
    return [one for one in rows if (one.case.series, one.case.variant, one.metric) == wanted]


def draw_curve(axes: Axes, found: Sequence[Row], at: int, name: str) -> None:
    """Draws a variant's means over the load, with their intervals."""
    axes.errorbar(
        [float(one.case.load) for one in found],
        [one.displayed_mean for one in found],
        yerr=[
            [r.display_factor * (r.mean - r.low) for r in found],
            [r.display_factor * (r.high - r.mean) for r in found],
        ],
        color=COLOURS[at],
        linestyle=(0, DASHES[at % len(DASHES)]),
        marker="o",
        markersize=4,
        capsize=2,
        elinewidth=0.7,
        label=name,
    )


def draw_over_load(rows: Sequence[Row]) -> Figure:
    """Draws queries and short background flows over the load: a row per metric, a column per network."""
    figure = Figure(figsize=(10, 6.6), layout="constrained")
    grid = figure.subplots(2, len(DRAWN_NETWORKS), sharex=True, sharey="row")
    for row, metric in zip(grid, (QCT, BACKGROUND), strict=True):
        for axes, network in zip(row, DRAWN_NETWORKS, strict=True):
            for at, (variant, name) in enumerate(POLICY_LABELS.items()):
                found = [r for r in select_rows(rows, "policy", variant, metric) if r.case.network == network]
                if found:
                    draw_curve(axes, found, at, name)
            axes.set(yscale="log", title=f"{network}: {METRIC_NAMES[metric]}")
            set_plain_log_labels(axes)
    for axes in grid[-1]:
        axes.set_xlabel("queries per second")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize=8)
    return figure


def draw_difference_from_random(rows: Sequence[Row]) -> Figure:
    """Draws the difference of each policy from the policy `random` in percent, with Holm's intervals."""
    points = list(dict.fromkeys((r.case.network, r.case.load) for r in rows if r.case.series == "policy"))
    names = [name for name in POLICIES if name.startswith(("load", "flow", "prob")) and name != "flow_long"]
    figure = Figure(figsize=(10, 8), layout="constrained")
    grid = figure.subplots(1, 3, sharey=True)
    for axes, metric in zip(grid, METRIC_NAMES, strict=True):
        of = {(r.case.network, r.case.load): r.mean for r in select_rows(rows, "policy", "random", metric)}
        for at, name in enumerate(names):
            for row in select_rows(rows, "policy", name, metric):
                point = (row.case.network, row.case.load)
                mean, low, high = (100 * one / of[point] for one in row.differences["random"])
                axes.errorbar(
                    [mean],
                    [points.index(point) + 0.14 * (at - (len(names) - 1) / 2)],
                    xerr=[[mean - low], [high - mean]],
                    fmt="o",
                    markersize=5 if row.differs("random") else 3,
                    color=COLOURS[list(POLICY_LABELS).index(name)],
                    elinewidth=0.9,
                )
        axes.axvline(0, color="black", linewidth=0.8)
        axes.set_xscale("symlog", linthresh=20)
        axes.set_xticks(PERCENT_TICKS, PERCENT_TICKS)
        axes.tick_params(axis="x", labelsize=7)
        axes.set(title=METRIC_NAMES[metric].replace(" (ms)", ""), xlabel="difference from random (%)")
    grid[0].set_yticks(range(len(points)), [f"{network}, {load} qps" for network, load in points])
    grid[0].invert_yaxis()
    colours = [COLOURS[list(POLICY_LABELS).index(name)] for name in names]
    handles = [Line2D([], [], color=one, marker="o", markersize=4, linewidth=0.9) for one in colours]
    figure.legend(
        handles, [POLICY_LABELS[one] for one in names], loc="outside lower center", ncols=5, fontsize=8
    )
    figure.suptitle(
        "Left of 0: better than random. Large markers: the 95% interval (Holm) excludes 0", fontsize=9.5
    )
    return figure


def draw_tuned_mechanisms(rows: Sequence[Row]) -> Figure:
    """Draws DIBS and PABO as published and tuned, and the other mechanisms, over the load."""
    figure = Figure(figsize=(10, 3.9), layout="constrained")
    for axes, metric in zip(figure.subplots(1, 3), METRIC_NAMES, strict=True):
        for at, (variant, name) in enumerate(MECHANISM_LABELS.items()):
            found = select_rows(rows, "duel", variant, metric)
            if found:
                draw_curve(axes, found, at, name)
        axes.set(yscale="log", xlabel="queries per second", title=METRIC_NAMES[metric])
        set_plain_log_labels(axes)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)
    return figure
