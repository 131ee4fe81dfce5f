"""Drawings of PABO's figures 3, 5 and 6: the effect of the parameters theta and lambda."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill.papers.common import (
    PublishedValues,
    draw_legend,
    draw_mean_line,
    draw_published_values,
    new_panels,
)
from overspill.papers.plotted_data import make_object
from overspill.papers.spec import Draw, Sweeps
from overspill.plots import COLOURS, SHADES

from ..measures.parameters import (
    BOUNCE_COUNTS,
    DECAY_OF_PANEL_A,
    DECAYS_OF_PANEL_B,
    ENTROPY,
    PANELS,
    READ_UTILISATION,
    TIME_RATIO,
    VARIANCE,
    ParameterSweep,
    ProbabilityCurves,
    curves_by_bounces,
    curves_by_decay,
    entropy_surface,
)

GREEK_LETTERS = {"theta": "θ", "lambda": "λ"}
METRIC_NAMES = ("entropy (nat)", "variance of utilisation", "timeRatio")
MARKERS = ("o", "s", "^")
MIN_LABEL_DISTANCE = 0.06  # smallest distance between tick labels, as a share of the axis
AXIS_SCALES = {"theta": "linear", "lambda": "log"}


def draw_figure_3(_: Sweeps, published: PublishedValues) -> Drawing:
    """Draws both panels of figure 3."""
    made, [left, right] = new_panels(2)
    named = [
        (f"np = {one}", published.get((f"3a u={READ_UTILISATION} np={one}", "P"))) for one in BOUNCE_COUNTS
    ]
    draw_curve_panel(left, curves_by_bounces(DECAY_OF_PANEL_A), named)
    named = [
        (f"λ = {one}", published.get((f"3b u={READ_UTILISATION} lambda={one}", "P")))
        for one in DECAYS_OF_PANEL_B
    ]
    draw_curve_panel(right, curves_by_decay(), named)
    left.set_title(f"(a) λ = {DECAY_OF_PANEL_A}")
    right.set_title("(b) np = 0")
    left.set_ylabel("probability of a bounce")
    return made


def draw_curve_panel(axes: Axes, drawn: ProbabilityCurves, named: Sequence[tuple[str, float | None]]) -> None:
    """Draws curves of one panel with their names and published values."""
    places, every = drawn
    for at, (curve, (name, _)) in enumerate(zip(every, named, strict=True)):
        axes.plot(places, curve, color=COLOURS[at], label=name)
    draw_published_values(axes, [(READ_UTILISATION, mark) for _, mark in named], "published formula")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("utilisation of the queue")
    draw_legend(axes, loc="upper left")


def draw_entropy_grid(sweeps: Sweeps, _: PublishedValues) -> Drawing:
    """Draws figure 5: mean entropy over seeds; darker cells are smaller."""
    thetas, lambdas, entropy = entropy_surface(sweeps["tree"])
    means = entropy.mean(axis=0).T
    middle = (np.nanmin(means) + np.nanmax(means)) / 2
    made, [axes] = new_panels(1, height=4.2)
    shades = make_object("shades", SHADES[::-1])
    image = axes.imshow(means, cmap=shades, aspect="auto", origin="lower", interpolation="nearest")
    for (row, column), value in np.ndenumerate(means):
        colour = "white" if value < middle else "black"
        axes.text(column, row, f"{value:.2f}", ha="center", va="center", color=colour, fontsize=8)
    axes.set_xticks(range(len(thetas)), [f"{one:g}" for one in thetas])
    axes.set_yticks(range(len(lambdas)), [f"{one:g}" for one in lambdas])
    axes.grid(visible=False)
    axes.set_xlabel("θ")
    axes.set_ylabel("λ")
    made.colorbar(image, ax=axes, pad=0.01).set_label("reorder entropy (nat)")
    return made


def draw_figure_6_panel(path: str, held: float, sweeps: Sweeps, _: PublishedValues) -> Drawing:
    """Draws a panel of figure 6: entropy, variance and timeRatio over a parameter, each with its own axis."""
    cut = ParameterSweep(sweeps["tree"], path, held)
    places, swept, (name, value) = cut.swept_values, cut.name, cut.case.split("=")
    curves = [cut.curves(metric) for metric in (ENTROPY, VARIANCE, TIME_RATIO)]
    made, [axes] = new_panels(1)
    every = [axes, axes.twinx(), axes.twinx()]
    every[2].spines["right"].set_position(("axes", 1.11))
    for at, (one, by_seed) in enumerate(zip(every, curves, strict=True)):
        draw_mean_line(one, places, by_seed, COLOURS[at], marker=MARKERS[at], markersize=4)
        one.set_ylabel(METRIC_NAMES[at], color=COLOURS[at])
        one.tick_params(axis="y", colors=COLOURS[at])
        one.grid(visible=at == 0)
        if at:
            one.spines["right"].set_visible(True)
    axes.set_xscale(AXIS_SCALES[swept])
    axes.set_xticks(
        places, tick_labels(np.log(places) if AXIS_SCALES[swept] == "log" else np.array(places), places)
    )
    axes.minorticks_off()
    axes.set_xlabel(GREEK_LETTERS[swept])
    axes.set_title(f"{GREEK_LETTERS[name]} = {value}")
    return made


def tick_labels(at: np.ndarray, places: Sequence[float]) -> list[str]:
    """Returns tick labels, empty for those that would touch the previous one."""
    texts: list[str] = []
    last = -np.inf
    for where, place in zip(at, places, strict=True):
        free = where - last > MIN_LABEL_DISTANCE * (at[-1] - at[0])
        texts.append(f"{place:g}" if free else "")
        last = where if free else last
    return texts


DRAWINGS: dict[str, Draw] = {
    "fig3": draw_figure_3,
    "fig5": draw_entropy_grid,
    **{name: partial(draw_figure_6_panel, path, held) for name, (path, held, _) in PANELS.items()},
}
