"""How PABO's figures of section IV are drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure as Drawing

from overspill import plots
from overspill.papers.pabo import common
from overspill.papers.pabo.common import Curve
from overspill.plots import COLOURS, SHADES

GREEK = {"theta": "θ", "lambda": "λ"}
NAMES = ("entropy (nat)", "variance of utilisation", "timeRatio")
MARKERS = ("o", "s", "^")
NEAREST = 0.06  # of an axis, between texts of ticks
SCALE = {"theta": "linear", "lambda": "log"}


def heat(thetas: Sequence[float], lambdas: Sequence[float], entropy: np.ndarray) -> Drawing:
    """Figure 5: the means over seeds of entropy; the darker, the smaller."""
    means = entropy.mean(axis=0).T
    shades = LinearSegmentedColormap.from_list("darker is smaller", SHADES[::-1])
    middle = (np.nanmin(means) + np.nanmax(means)) / 2
    with plots.style():
        made, [axes] = common.sheet(1, height=4.2)
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


def panel(swept: str, held: str, places: Sequence[float], curves: Sequence[Curve]) -> Drawing:
    """A panel of figure 6: entropy, variance and timeRatio along a parameter, each with its own axis."""
    name, _, value = held.partition("=")
    with plots.style():
        made, [axes] = common.sheet(1)
        every = [axes, axes.twinx(), axes.twinx()]
        every[2].spines["right"].set_position(("axes", 1.11))
        for at, (one, by_seed) in enumerate(zip(every, curves, strict=True)):
            common.mean_line(one, places, by_seed, COLOURS[at], marker=MARKERS[at], markersize=4)
            one.set_ylabel(NAMES[at], color=COLOURS[at])
            one.tick_params(axis="y", colors=COLOURS[at])
            one.grid(visible=at == 0)
            if at:
                one.spines["right"].set_visible(True)
        axes.set_xscale(SCALE[swept])
        axes.set_xticks(places, labels(np.log(places) if SCALE[swept] == "log" else np.array(places), places))
        axes.minorticks_off()
        axes.set_xlabel(GREEK[swept])
        axes.set_title(f"{GREEK[name]} = {value}")
    return made


def labels(at: np.ndarray, places: Sequence[float]) -> list[str]:
    """Texts of ticks; none so near to the last that they would touch."""
    texts: list[str] = []
    last = -np.inf
    for where, place in zip(at, places, strict=True):
        free = where - last > NEAREST * (at[-1] - at[0])
        texts.append(f"{place:g}" if free else "")
        last = where if free else last
    return texts
