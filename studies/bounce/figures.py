"""Figures of the study of PABO's theta and lambda."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from overspill.plots import COLOURS, DASHES
from studies.bounce.numbers import ALL, ENTROPY, QCT, SHORT, Row
from studies.common import plain, saved

NAMES = {
    SHORT: "FCT p99 up to 100 KB (ms)",
    ALL: "FCT p99 of all flows (ms)",
    QCT: "QCT, mean (ms)",
    ENTROPY: "reorder entropy (nat)",
}
LABELS = {
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
FACTOR = 8.0  # ratio from the reference, drawn white, to either end of the colour map
MOST_ENTROPY = 5.0
MAPS = ("pabo", "pabo_dctcp")
OVER_LOAD = ("drop", *("dctcp_k32", "dctcp_k32_rto_1ms", "dctcp_k32_shared"), "pabo", "pabo_dctcp")


def draw(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Draws every figure that the rows allow as PNG files."""
    return saved(lambda: figures(rows), folder)


def figures(rows: Sequence[Row]) -> dict[str, Figure]:
    """Returns the maps of the variants that were run, and the two other figures."""
    drawn = {f"map-{one}": maps(rows, one) for one in MAPS if chosen(rows, "grid", one)}
    return {**drawn, "trade-off": trade_off(rows), "load": over_load(rows)}


def chosen(rows: Iterable[Row], series: str, variant: str, metric: str = SHORT) -> list[Row]:
    """Returns the rows of a metric of a variant in a series."""
    return [
        one for one in rows if (one.case.series, one.case.variant, one.metric) == (series, variant, metric)
    ]


def shown(value: float) -> str:
    """Formats a value with two to three significant digits."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def maps(rows: Sequence[Row], variant: str) -> Figure:
    """Draws four metrics over theta and lambda; white is DCTCP with K = 32, blue better, red worse."""
    figure = Figure(figsize=(9, 6.2), layout="constrained")
    for axes, metric in zip(figure.subplots(2, 2).flat, NAMES, strict=True):
        references = [chosen(rows, "grid", one, metric)[0] for one in ("drop", "dctcp_k32")]
        told = (f"{LABELS[one.case.variant]}: {shown(one.shown)}" for one in references)
        axes.set_title(f"{NAMES[metric]}\n{'; '.join(told)}")
        heat(axes, chosen(rows, "grid", variant, metric), references[-1])
    figure.suptitle(
        f"{LABELS[variant]}. White is DCTCP with K = 32, blue less, red more (entropy: darker is more); "
        "bold: the difference excludes 0 (Holm)",
        fontsize=9.5,
    )
    return figure


def heat(axes: Axes, cells: Sequence[Row], reference: Row) -> None:
    """Draws a cell with its number for each theta and lambda."""
    thetas, lambdas = (
        [*dict.fromkeys(found)]
        for found in zip(*((c.case.theta, c.case.lambda_) for c in cells), strict=True)
    )
    middle = reference.shown
    entropy = reference.metric == ENTROPY
    norm = Normalize(0, MOST_ENTROPY) if entropy else LogNorm(middle / FACTOR, middle * FACTOR)
    values = np.full((len(lambdas), len(thetas)), np.nan)
    for cell in cells:
        x, y, value = thetas.index(cell.case.theta), lambdas.index(cell.case.lambda_), cell.shown
        values[y, x] = value
        place = float(norm(value))
        weight = "bold" if cell.differs("dctcp_k32") else "normal"
        colour = "white" if place > 0.8 or (place < 0.2 and not entropy) else "black"
        axes.text(x, y, shown(value), ha="center", va="center", fontsize=9, weight=weight, color=colour)
    axes.imshow(values, origin="lower", aspect="auto", cmap="Oranges" if entropy else "RdBu_r", norm=norm)
    axes.set_xticks(range(len(thetas)), thetas)
    axes.set_yticks(range(len(lambdas)), lambdas)
    axes.set(xlabel="θ", ylabel="λ")
    axes.grid(False)


def trade_off(rows: Sequence[Row]) -> Figure:
    """Draws reordering against the FCT tail of short flows, one point for each configuration."""
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    names = [name for name in LABELS if chosen(rows, "grid", name) or chosen(rows, "load", name)]
    for at, name in enumerate(names):
        series = "grid" if chosen(rows, "grid", name) else "load"
        short = [one for one in chosen(rows, series, name) if one.case.load == "0.4"]
        entropy = [one for one in chosen(rows, series, name, ENTROPY) if one.case.load == "0.4"]
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
            label=LABELS[name] + (", all θ and λ" if many else ""),
        )
    axes.set(yscale="log", xlabel=NAMES[ENTROPY], ylabel=NAMES[SHORT], xlim=(-0.1, None))
    plain(axes)
    axes.legend(fontsize=7.5, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.13))
    axes.set_title("Load 0.4; better is down and left")
    return figure


def over_load(rows: Sequence[Row]) -> Figure:
    """Draws FCT tails and QCT over the load, at theta = 0.8 and lambda = 50."""
    figure = Figure(figsize=(9, 3.9), layout="constrained")
    for axes, metric in zip(figure.subplots(1, 3), (SHORT, ALL, QCT), strict=True):
        for at, name in enumerate(OVER_LOAD):
            found = chosen(rows, "load", name, metric)
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
                label=LABELS[name],
            )
        axes.set(yscale="log", xlabel="load of the background", title=NAMES[metric])
        plain(axes)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8)
    return figure
