"""Figures of the study of PAUSE and PFC compared with DIBS."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

import overspill
from overspill import Key, plots
from overspill.plots import COLOURS
from studies.common import save_figures, set_plain_log_labels
from studies.pause.numbers import MAIN_VARIANTS, QPS_PATH, SCENARIO, SHORT_MEAN, SHORT_P99, TIERS, Row

PAUSE_VARIANTS = ("pause", "pfc", "pfc_query")
VARIANT_LABELS = {
    "drop": "tail drop (drop)",
    "dibs": "detours (dibs)",
    "shared": "shared buffer, tail drop (shared)",
    "pause": "shared buffer, PAUSE (pause)",
    "pfc": "shared buffer, PFC (pfc)",
    "pfc_query": "shared buffer, PFC for queries (pfc_query)",
}
TIME_LABELS = {
    "qct_mean": "QCT mean (ms)",
    "qct_p99": "QCT p99 (ms)",
    SHORT_MEAN: "short background FCT, mean (ms)",
    SHORT_P99: "short background FCT, p99 (ms)",
}
PAUSE_LABELS: dict[str, str] = {
    **{Key("paused_fraction_mean", tier=tier): f"{tier}: time paused, mean of classes (%)" for tier in TIERS},
    "saturation_hosts_max": "most hosts paused by one saturation tree",
    "saturation_depth_mean": "mean depth of saturation trees (links)",
}
TREE_SETTINGS = {
    QPS_PATH: 4000,
    "duration": "150ms",
    "traffic.query.stop": "150ms",
    "traffic.background.stop": "150ms",
}


def draw(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Draws the figures of the rows as PNG files."""
    return save_figures(lambda: {"times": draw_times(rows), "where": draw_pauses(rows)}, folder)


def draw_times(rows: Sequence[Row]) -> Figure:
    """Draws completion times over the rate of queries."""
    figure = Figure(figsize=(9, 6.4), layout="constrained")
    for axes, (metric, name) in zip(figure.subplots(2, 2).flat, TIME_LABELS.items(), strict=True):
        draw_curves(axes, [row for row in rows if row.metric == metric], MAIN_VARIANTS)
        axes.set(yscale="log", ylabel=name)
        set_plain_log_labels(axes)
    return add_legend(figure)


def draw_pauses(rows: Sequence[Row]) -> Figure:
    """Draws which ports were paused, and how far pauses spread."""
    figure = Figure(figsize=(9, 5.6), layout="constrained")
    for axes, (metric, name) in zip(figure.subplots(2, 3).flat, PAUSE_LABELS.items(), strict=True):
        draw_curves(axes, [row for row in rows if row.metric == metric], PAUSE_VARIANTS)
        axes.set(title=name, ylim=(0, None))
    return add_legend(figure)


def draw_curves(axes: Axes, rows: Sequence[Row], variants: Sequence[str]) -> None:
    """Draws a line for each variant, with its 95% intervals."""
    for name in variants:
        found = [row for row in rows if row.case.variant == name]
        at = [float(row.case.qps) for row in found]
        middle = [row.mean * row.display_factor for row in found]
        below = [max(0.0, row.mean - row.low) * row.display_factor for row in found]
        above = [max(0.0, row.high - row.mean) * row.display_factor for row in found]
        look: dict[str, Any] = {
            "color": COLOURS[MAIN_VARIANTS.index(name)],
            "marker": "o",
            "markersize": 4,
            "capsize": 2.5,
        }
        # Its line overlaps that of PAUSE in places.
        look["linestyle"] = "--" if name == "pfc_query" else "-"
        axes.errorbar(at, middle, [below, above], label=VARIANT_LABELS[name], elinewidth=1, **look)
    axes.set(xlabel="queries per second", xscale="log")
    rates = sorted({float(row.case.qps) for row in rows})
    axes.set_xticks(rates, [f"{rate:g}" for rate in rates])
    axes.xaxis.set_minor_formatter(NullFormatter())


def add_legend(figure: Figure) -> Figure:
    """Adds one legend above all panels."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    return figure


def draw_saturation_trees(path: Path, jobs: int | None) -> Path:
    """Draws the largest saturation trees of a short run at the highest query rate as a PNG file."""
    results = overspill.run(SCENARIO, sets=TREE_SETTINGS, jobs=jobs)
    results.runs = [run for run in results.runs if run.variant in PAUSE_VARIANTS]
    figure = plots.saturation_tree(results)
    assert figure is not None
    plots.save_small(figure, path)
    return path
