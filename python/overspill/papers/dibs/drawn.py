"""How DIBS's figures look: completion times of queries and of short background flows along a sweep."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill import plots
from overspill.papers.common import legend, log_scale, marked, mean_line, sheet
from overspill.papers.dibs.compare import curve
from overspill.papers.dibs.mixed import DCTCP, DIBS, Of, bounds, flows_of, p99_fct, p99_qct
from overspill.papers.spec import Point, Runs
from overspill.plots import COLOURS

NAMES = {DCTCP: "DCTCP", DIBS: "DCTCP with DIBS"}
COLOUR = {DCTCP: COLOURS[1], DIBS: COLOURS[0], "pfabric": COLOURS[2]}
# The variant and the place on the axis of a published value.
Marks = Mapping[tuple[str, float], float | None]


@dataclass(frozen=True)
class Panel:
    """One panel: what is drawn of which points over which path."""

    path: str
    label: str
    title: str
    of: Of = p99_qct
    y: str = "99th percentile of QCT (ms)"
    log: bool = False
    even: bool = False  # values at even distances
    per: float = 1  # what values are divided by in the labels of the axis


def short(panel: Panel, title: str) -> Panel:
    """The same of short background flows."""
    y = "99th percentile of FCT (ms)"
    return Panel(panel.path, panel.label, title, p99_fct, y, panel.log, panel.even, panel.per)


def number(text: str) -> float:
    """The number that a value begins with: `20KB` is 20."""
    found = re.match(r"[0-9.]+", text)
    return float(found[0]) if found else float("nan")


def places(panel: Panel, points: Sequence[Point]) -> list[float]:
    """Where points are on the axis."""
    values = [number(point[panel.path]) for point in points]
    return [float(at) for at in range(len(values))] if panel.even else values


def lines(
    axes: Axes, panel: Panel, drawn: Mapping[str, tuple[Runs, str]], marks: Marks | None = None
) -> None:
    """A line for each of some variants of sweeps, by name; hollow where values are only bounds."""
    for name, (runs, variant) in drawn.items():
        x = places(panel, runs.points)
        values = curve(runs, variant, runs.points, panel.of)
        colour = COLOUR.get(variant, COLOURS[3])
        mean_line(axes, x, values, colour, label=name, marker="o", markersize=4)
        open_ended = [
            at for at, point in enumerate(runs.points) if bounds(flows_of(runs, variant, point), panel.of)
        ]
        if open_ended:
            style: dict[str, Any] = {
                "marker": "^",
                "linestyle": "none",
                "markerfacecolor": "white",
                "color": colour,
            }
            heights = values.mean(axis=0)[open_ended]
            axes.plot([x[at] for at in open_ended], heights, label=f"{name}: at least", **style)
        axes.set_xticks(x, [f"{number(point[panel.path]) / panel.per:g}" for point in runs.points])
    marked(axes, [(place, value) for (_, place), value in (marks or {}).items()])
    finish(axes, panel)


def finish(axes: Axes, panel: Panel) -> None:
    """Scales, labels and the legend."""
    if panel.log:
        log_scale(axes)
    else:
        axes.set_ylim(0, 1.05 * axes.get_ylim()[1])
    axes.set_xlabel(panel.label)
    axes.set_ylabel(panel.y)
    axes.set_title(panel.title)
    legend(axes, loc="best")


def two(runs: Runs, panel: Panel, marks: Marks | None = None) -> Drawing:
    """Queries beside short background flows."""
    both = {name: (runs, variant) for variant, name in NAMES.items()}
    with plots.style():
        made, [left, right] = sheet(2)
        lines(left, panel, both, marks)
        lines(right, short(panel, "Background flows of 1 to 10 KB"), both)
    return made


def steps(axes: Axes, x: Sequence[float], values: np.ndarray, variant: str) -> None:
    """A line of another quantity, in the colour of a variant."""
    mean_line(
        axes,
        x,
        values,
        COLOUR.get(variant, COLOURS[3]),
        label=NAMES.get(variant, variant),
        marker="o",
        markersize=4,
    )
