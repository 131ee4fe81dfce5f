"""Figures of the study of ABQ (held ACKs)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from overspill.plots import COLOURS
from studies.abq.numbers import (
    BACKGROUND,
    MARGIN,
    NETWORKS,
    QCT,
    QCT_MEAN,
    QCT_TAIL,
    Case,
    Row,
    chosen_k,
    relative_difference,
)
from studies.common import index_by_case, save_figures

METRIC_NAMES = {QCT: "QCT, median", QCT_TAIL: "QCT, p99", BACKGROUND: "background FCT, mean"}
VARIANT_LABELS = {
    "abq": "ACKs held, marking from 2K on (abq)",
    "abq_alone": "ACKs held, no marking (abq_alone)",
    "window": "ACKs held, window rewritten (window)",
}
TUNED_LABELS = {"dctcp": "marking from K on (dctcp)", **VARIANT_LABELS}
HOLLOW_MARKER: dict[str, Any] = {"markersize": 5, "markerfacecolor": "white"}
MARKER_STYLES = dict(zip(TUNED_LABELS, zip(COLOURS, "oDs^", strict=False), strict=True))


def draw(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Draws the figures of the rows as PNG files."""
    return save_figures(lambda: {"gain": draw_gain(rows), "tuning": draw_tuning(rows)}, folder)


def describe_point(case: Case) -> str:
    """Formats a configuration as one line of text."""
    more = "" if case.background == "20" else f", background {case.background} %"
    return f"{case.network}: {case.degree} × {case.answer} BDP{more}"


def draw_gain(rows: Sequence[Row]) -> Figure:
    """Draws the difference from DCTCP of each variant that holds ACKs, in percent, by configuration."""
    known = index_by_case(rows)
    points = list(dict.fromkeys(Case(*row.case.point, "") for row in rows if not row.case.k))
    networks = list(NETWORKS)
    points.sort(key=lambda at: (networks.index(at.network), at.answer != "8", int(at.background)))
    figure = Figure(figsize=(10, 0.36 * len(points) + 1.5), layout="constrained")
    panels = figure.subplots(1, len(METRIC_NAMES), squeeze=False, sharey=True)[0]
    for axes, (metric, title) in zip(panels, METRIC_NAMES.items(), strict=True):
        for at, (name, label) in enumerate(VARIANT_LABELS.items()):
            colour, marker = MARKER_STYLES[name]
            for height, point in enumerate(points):
                less = relative_difference(known, Case(*point.point, name), metric, "dctcp")
                if less is not None:
                    axes.errorbar(
                        [100 * less.mean],
                        [height + 0.24 * (at - 1)],
                        xerr=[[100 * (less.mean - less.low)], [100 * (less.high - less.mean)]],
                        color=colour,
                        marker=marker,
                        markersize=4,
                        capsize=2,
                        elinewidth=1,
                        linestyle="none",
                        label=label if height == 0 else None,
                    )
        axes.axvspan(-100 * MARGIN, 100 * MARGIN, color="0.5", alpha=0.15, linewidth=0)
        axes.axvline(0, color="0.4", linewidth=0.8)
        axes.set_yticks(range(len(points)), [describe_point(point) for point in points])
        axes.set(title=title, xlabel="difference from dctcp (%)")
    figure.axes[0].invert_yaxis()
    return add_legend(figure, 3)


def draw_tuning(rows: Sequence[Row]) -> Figure:
    """Draws the tuning cost of each candidate for K, relative to DCTCP's lowest; chosen ones are filled."""
    networks = list(dict.fromkeys(row.case.network for row in rows if row.case.k))
    figure = Figure(figsize=(2.6 * len(networks) + 1, 3.6), layout="constrained")
    for axes, network in zip(
        figure.subplots(1, len(networks), squeeze=False, sharey=True)[0], networks, strict=True
    ):
        best = min(tuning_cost(rows, network, "dctcp").values())
        for name, label in TUNED_LABELS.items():
            found = {k: of / best for k, of in sorted(tuning_cost(rows, network, name).items())}
            colour, marker = MARKER_STYLES[name]
            axes.plot(
                list(found), list(found.values()), color=colour, label=label, **HOLLOW_MARKER, marker=marker
            )
            k = chosen_k(rows, network, name)
            axes.plot([k], [found[k]], marker=marker, markersize=8, color=colour)
        axes.axhline(1, color="0.4", linewidth=0.8)
        ticks = sorted({float(row.case.k) for row in rows if row.case.k})
        axes.set(title=network, xscale="log", xlabel="K (BDP)")
        axes.set_xticks(ticks, [f"{k:g}" for k in ticks])
        axes.minorticks_off()
    figure.axes[0].set_ylabel("√(mean QCT × mean FCT) relative to DCTCP's best")
    return add_legend(figure, 4)


def tuning_cost(rows: Sequence[Row], network: str, variant: str) -> dict[float, float]:
    """Tuning cost of each candidate for K: square root of mean QCT times mean FCT of background flows."""
    means = {
        (row.case.k, row.metric): row.mean
        for row in rows
        if row.case.k and (row.case.network, row.case.variant) == (network, variant)
    }
    tried = {k for k, _ in means}
    full = {k for k in tried if (k, QCT_MEAN) in means and (k, BACKGROUND) in means}
    return {float(k): (means[k, QCT_MEAN] * means[k, BACKGROUND]) ** 0.5 for k in full}


def add_legend(figure: Figure, columns: int) -> Figure:
    """Adds one legend above all panels."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=columns)
    return figure
