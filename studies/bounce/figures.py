"""Figures of the study of PABO's theta and lambda."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from overspill.plots import COLOURS, DASHES
from studies.bounce.numbers import ALL_FCT, ENTROPY, QCT, SHORT_FCT, Row
from studies.common import save_figures, set_plain_log_labels

METRIC_NAMES = {
    SHORT_FCT: "FCT p99 up to 100 KB (ms)",
    ALL_FCT: "FCT p99 of all flows (ms)",
    QCT: "QCT, mean (ms)",
    ENTROPY: "reorder entropy (nat)",
}
VARIANT_LABELS = {
    "drop": "drop-tail",
    "drop_no_fast_retransmit": "drop-tail, no fast retransmit",
    "dctcp": "DCTCP (K = 65)",
    "dctcp_k32": "DCTCP (K = 32)",
    "dctcp_k32_rto_1ms": "DCTCP (K = 32), RTO 1 ms",
    "dctcp_k32_shared": "DCTCP (K = 32), shared buffer",
    "pabo": "PABO",
    "pabo_dctcp": "PABO + DCTCP",
    "pabo_dctcp_rto_1ms": "PABO + DCTCP, RTO 1 ms",
    "pabo_dctcp_fast_retransmit": "PABO + DCTCP, fast retransmit",
    "pabo_dctcp_forward": "PABO + DCTCP, forward if full",
}
MAX_COLOUR_RATIO = 8.0  # ratio from the reference, drawn white, to either end of the colour map
MAX_ENTROPY = 5.0
MAP_VARIANTS = ("pabo", "pabo_dctcp")
LOAD_VARIANTS = ("drop", *("dctcp_k32", "dctcp_k32_rto_1ms", "dctcp_k32_shared"), "pabo", "pabo_dctcp")


def draw(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Draws every figure that the rows allow as PNG files."""
    return save_figures(lambda: draw_figures(rows), folder)


def draw_figures(rows: Sequence[Row]) -> dict[str, Figure]:
    """Returns the heat maps of the variants that were run, and the two other figures."""
    drawn = {f"map-{one}": draw_maps(rows, one) for one in MAP_VARIANTS if select_rows(rows, "grid", one)}
    return {**drawn, "trade-off": draw_trade_off(rows), "load": draw_over_load(rows)}


def select_rows(rows: Iterable[Row], series: str, variant: str, metric: str = SHORT_FCT) -> list[Row]:
    """Returns the rows of one metric of a variant, from the grid or from the sweep over loads."""
    return [
        one for one in rows if (one.case.series, one.case.variant, one.metric) == (series, variant, metric)
    ]


def format_significant(value: float) -> str:
    """Formats a value with two to three significant digits."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def draw_maps(rows: Sequence[Row], variant: str) -> Figure:
    """Draws heat maps of four metrics over theta and lambda.

    White is DCTCP with K = 32, blue lower and red higher; entropy is darker if higher.
    """
    figure = Figure(figsize=(9, 6.2), layout="constrained")
    for axes, metric in zip(figure.subplots(2, 2).flat, METRIC_NAMES, strict=True):
        references = [select_rows(rows, "grid", one, metric)[0] for one in ("drop", "dctcp_k32")]
        told = (
            f"{VARIANT_LABELS[one.case.variant]}: {format_significant(one.displayed_mean)}"
            for one in references
        )
        axes.set_title(f"{METRIC_NAMES[metric]}\n{'; '.join(told)}")
        draw_heat_map(axes, select_rows(rows, "grid", variant, metric), references[-1])
    figure.suptitle(
        f"{VARIANT_LABELS[variant]}. White: equal to DCTCP with K = 32; blue: lower; red: higher (entropy: "
        "darker is higher).\nBold: the 95% interval of the difference from DCTCP (Holm) excludes 0.",
        fontsize=9.5,
    )
    return figure


def draw_heat_map(axes: Axes, cells: Sequence[Row], reference: Row) -> None:
    """Draws a coloured cell with a number for each theta and lambda."""
    thetas, lambdas = (
        [*dict.fromkeys(found)]
        for found in zip(*((c.case.theta, c.case.lambda_) for c in cells), strict=True)
    )
    middle = reference.displayed_mean
    entropy = reference.metric == ENTROPY
    norm = (
        Normalize(0, MAX_ENTROPY)
        if entropy
        else LogNorm(middle / MAX_COLOUR_RATIO, middle * MAX_COLOUR_RATIO)
    )
    values = np.full((len(lambdas), len(thetas)), np.nan)
    for cell in cells:
        x, y, value = thetas.index(cell.case.theta), lambdas.index(cell.case.lambda_), cell.displayed_mean
        values[y, x] = value
        place = float(norm(value))
        weight = "bold" if cell.differs("dctcp_k32") else "normal"
        colour = "white" if place > 0.8 or (place < 0.2 and not entropy) else "black"
        axes.text(
            x, y, format_significant(value), ha="center", va="center", fontsize=9, weight=weight, color=colour
        )
    axes.imshow(values, origin="lower", aspect="auto", cmap="Oranges" if entropy else "RdBu_r", norm=norm)
    axes.set_xticks(range(len(thetas)), thetas)
    axes.set_yticks(range(len(lambdas)), lambdas)
    axes.set(xlabel="θ", ylabel="λ")
    axes.grid(False)


def draw_trade_off(rows: Sequence[Row]) -> Figure:
    """Draws reordering against the FCT tail of short flows, one point for each configuration."""
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    names = [
        name for name in VARIANT_LABELS if select_rows(rows, "grid", name) or select_rows(rows, "load", name)
    ]
    for at, name in enumerate(names):
        series = "grid" if select_rows(rows, "grid", name) else "load"
        short = [one for one in select_rows(rows, series, name) if one.case.load == "0.4"]
        entropy = [one for one in select_rows(rows, series, name, ENTROPY) if one.case.load == "0.4"]
        many = len(short) > 1
        axes.errorbar(
            [one.mean for one in entropy],
            [1e3 * one.mean for one in short],
            xerr=[[one.mean - one.low for one in entropy], [one.high - one.mean for one in entropy]],
            yerr=[
                [1e3 * (one.mean - one.low) for one in short],
                [1e3 * (one.high - one.mean) for one in short],
            ],
            fmt="o" if many else "D",
            markersize=5 if many else 7,
            color=COLOURS[at % len(COLOURS)],
            markerfacecolor=COLOURS[at % len(COLOURS)] if at < len(COLOURS) else "white",
            elinewidth=0.5,
            label=VARIANT_LABELS[name] + (", all θ and λ" if many else ""),
        )
    axes.set(yscale="log", xlabel=METRIC_NAMES[ENTROPY], ylabel=METRIC_NAMES[SHORT_FCT], xlim=(-0.1, None))
    set_plain_log_labels(axes)
    axes.legend(fontsize=7.5, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.13))
    axes.set_title("Load 0.4; lower left is better")
    return figure


def draw_over_load(rows: Sequence[Row]) -> Figure:
    """Draws FCT tails and QCT over the load, at theta = 0.8 and lambda = 50."""
    figure = Figure(figsize=(9, 3.9), layout="constrained")
    for axes, metric in zip(figure.subplots(1, 3), (SHORT_FCT, ALL_FCT, QCT), strict=True):
        for at, name in enumerate(LOAD_VARIANTS):
            found = select_rows(rows, "load", name, metric)
            axes.errorbar(
                [float(one.case.load) for one in found],
                [1e3 * one.mean for one in found],
                yerr=[[1e3 * (r.mean - r.low) for r in found], [1e3 * (r.high - r.mean) for r in found]],
                color=COLOURS[at],
                linestyle=(0, DASHES[at % len(DASHES)]),
                marker="o",
                markersize=4,
                capsize=2,
                elinewidth=0.7,
                label=VARIANT_LABELS[name],
            )
        axes.set(yscale="log", xlabel="background load", title=METRIC_NAMES[metric])
        set_plain_log_labels(axes)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8)
    return figure
