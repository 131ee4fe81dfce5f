"""Drawings of completion times of queries and short background flows along sweeps: figures 7 to 15."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill.papers.common import Published, legend, log_scale, marked, mean_line, sheet
from overspill.papers.spec import Draw, Point, Runs, Sweeps
from overspill.plots import COLOURS

from ..measures.loads import BUFFER, DEGREE, GAP, PFABRIC, QPS, SIZE, SWEEP, large_fct
from ..measures.mixed import DCTCP, DIBS, Of, at, bounds, curve, flows_of, number, p99_fct, p99_qct
from ..measures.parameters import FACTOR, FLOWS, TTL

NAMES = {DCTCP: "DCTCP", DIBS: "DCTCP with DIBS"}
COLOUR = {DCTCP: COLOURS[1], DIBS: COLOURS[0], PFABRIC: COLOURS[2]}
QCT, FCT = "99th percentile of QCT (ms)", "99th percentile of FCT (ms)"
Marks = Sequence[tuple[float, float | None]]  # positions on the axis, and published values
LIMIT = 0.9  # limit of Jain's index in the paper's text
TITLES = {"buffers": "K = 20 packets", "buffers_fifth": "K = B/5"}
SHARED = {"shared": "300 a second", "shared_alone": "one each 200 ms"}  # sweeps, and their queries
COUNTS = (0, 1, 100, 10_000, 1_000_000)


@dataclass(frozen=True)
class Panel:
    """Panel of a figure: a value of points, drawn over a path."""

    path: str
    label: str
    title: str
    of: Of = p99_qct
    y: str = QCT
    log: bool = False
    even: bool = False  # values at equal distances
    per: float = 1  # divisor of values in the labels of the axis


def short(panel: Panel, title: str) -> Panel:
    """Returns the same panel for short background flows."""
    return replace(panel, title=title, of=p99_fct, y=FCT)


def places(panel: Panel, points: Sequence[Point]) -> list[float]:
    """Returns the positions of points on the axis."""
    values = [number(point[panel.path]) for point in points]
    return [float(at) for at in range(len(values))] if panel.even else values


def lines(axes: Axes, panel: Panel, drawn: Mapping[str, tuple[Runs, str]], marks: Marks = ()) -> None:
    """Draws a line for each variant of a sweep by name, with hollow markers for values that are bounds."""
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
    marked(axes, marks)
    finish(axes, panel)


def finish(axes: Axes, panel: Panel) -> None:
    """Sets scales, labels and the legend."""
    if panel.log:
        log_scale(axes)
    else:
        axes.set_ylim(0, 1.05 * axes.get_ylim()[1])
    axes.set_xlabel(panel.label)
    axes.set_ylabel(panel.y)
    axes.set_title(panel.title)
    legend(axes, loc="best")


def two(runs: Runs, panel: Panel, marks: Marks = ()) -> Drawing:
    """Draws queries and short background flows in two panels."""
    both = {name: (runs, variant) for variant, name in NAMES.items()}
    made, [left, right] = sheet(2)
    lines(left, panel, both, marks)
    lines(right, short(panel, "Background flows of 1 to 10 KB"), both)
    return made


def both_along(sweep: str, panel: Panel, *known: tuple[float, str]) -> Draw:
    """Returns a drawing of queries and short background flows.

    `known` are positions and cases of published values of both variants.
    """

    def drawn(sweeps: Sweeps, published: Published) -> Drawing:
        marks = [(at, published.get((f"{case}, {one}", "p99_qct"))) for at, case in known for one in NAMES]
        return two(sweeps[sweep], panel, marks)

    return drawn


def steps(axes: Axes, x: Sequence[float], values: np.ndarray, variant: str) -> None:
    """Draws a line of another quantity in the colour of a variant."""
    mean_line(
        axes,
        x,
        values,
        COLOUR.get(variant, COLOURS[3]),
        label=NAMES.get(variant, variant),
        marker="o",
        markersize=4,
    )


def beside_pfabric(panel: Panel, sweeps: Sweeps, _: Published) -> Drawing:
    """Draws figure 15: pFabric and DCTCP with DIBS over the rate of queries."""
    made, [axes] = sheet(1)
    names = {"DCTCP with DIBS": DIBS, "pFabric": PFABRIC}
    lines(axes, panel, {name: (sweeps[SWEEP[one]], one) for name, one in names.items()})
    return made


def both_thresholds(panel: Panel, what: str, sweeps: Sweeps, _: Published) -> Drawing:
    """Draws figure 11: the same panel with each marking threshold."""
    made, axes = sheet(2)
    for place, (name, title) in zip(axes, TITLES.items(), strict=True):
        lines(place, panel, {label: (sweeps[name], variant) for variant, label in NAMES.items()})
        place.set_title(f"{what}, {title}")
    return made


def draw_shared(sweeps: Sweeps, published: Published) -> Drawing:
    """Draws section 5.5.2: drops and query times; below, with queries that never overlap."""
    made, axes = sheet(2, rows=len(SHARED))
    for at_row, (name, what) in enumerate(SHARED.items()):
        one_memory(sweeps[name], what, axes[2 * at_row : 2 * at_row + 2])
    return made


def one_memory(runs: Runs, what: str, axes: Sequence[Axes]) -> None:
    """Draws a row of panels by degree: drops and detours, and queries."""
    left, right = axes
    degrees = sorted(int(point[DEGREE]) for point in runs.points)
    for variant in NAMES:
        lost = np.array([runs.metric("drops", variant, at(runs, DEGREE, degree)) for degree in degrees]).T
        steps(left, degrees, lost, variant)
    detours = np.array([runs.metric("detours", DIBS, at(runs, DEGREE, degree)) for degree in degrees]).T
    steps(left, degrees, detours, "detours")
    left.set_yscale("symlog", linthresh=1)
    left.set_yticks(COUNTS, [f"{count:,}".replace(",", " ") for count in COUNTS])
    left.set_ylim(bottom=0)
    left.set_title(f"Packets dropped, and detours: {what}")
    left.set_xlabel("responders")
    left.set_ylabel("a run of two seconds")
    legend(left, loc="upper left")
    panel = Panel(DEGREE, "responders", f"Queries: {what}")
    lines(right, panel, {label: (runs, variant) for variant, label in NAMES.items()})
    right.set_xticks(degrees[::2])


def draw_factors(sweeps: Sweeps, published: Published) -> Drawing:
    """Draws section 5.5.4: queries and background flows over the oversubscription."""
    runs = sweeps["oversubscription"]
    made = two(runs, Panel(FACTOR, "oversubscription, over two tiers", "Queries"))
    factors = [float(point[FACTOR]) for point in runs.points]
    for axes in made.axes:
        axes.set_xticks(factors, [f"1:{round(factor**2)}" for factor in factors])
    return made


def draw_fairness(sweeps: Sweeps, published: Published) -> Drawing:
    """Draws section 5.6: fairness over the number of long flows."""
    runs = sweeps["pairs"]
    x = [float(point[FLOWS]) for point in runs.points]
    made, [axes] = sheet(1)
    steps(axes, x, np.array([runs.metric("jain", DIBS, point) for point in runs.points]).T, DIBS)
    axes.axhline(LIMIT, color="black", linewidth=1, linestyle=":")
    axes.annotate(
        "published: above", (x[-1], LIMIT), (0, -4), textcoords="offset points", va="top", ha="right"
    )
    axes.set_ylim(0, 1.02)
    axes.set_xticks(x)
    axes.set_xlabel("long flows of a pair, each way")
    axes.set_ylabel("Jain's index")
    axes.set_title("How evenly long flows of 64 pairs share")
    return made


SIZES = Panel(BUFFER, "buffer of a port (packets)", "", log=True, even=True)
GAPS = Panel(GAP, "mean gap of a host's background flows (ms)", "Queries")
RATES = Panel(QPS, "queries a second", "Queries")
LARGE = replace(RATES, title="Background flows of 1 MB or more", of=large_fct, y=FCT)
DRAWINGS: dict[str, Draw] = {
    "fig7": both_along("background", GAPS),
    "fig8": both_along("queries", RATES),
    "fig9": both_along("responses", Panel(SIZE, "response (KB)", "Queries"), (50.0, "50 KB")),
    "fig10": both_along("degrees", Panel(DEGREE, "responders", "Queries"), (100.0, "degree 100")),
    "fig11": partial(both_thresholds, SIZES, "Queries"),
    "fig11a": partial(both_thresholds, short(SIZES, ""), "Background flows of 1 to 10 KB"),
    "fig12": both_along("ttl", Panel(TTL, "time to live (switches)", "Queries", even=True)),
    "fig13": both_along("extreme", Panel(QPS, "queries a second (thousands)", "Queries", per=1000)),
    "fig14": both_along("large", Panel(SIZE, "response (KB)", "Queries")),
    "fig15a": partial(beside_pfabric, LARGE),
    "fig15b": partial(beside_pfabric, RATES),
    "sec5.5.2": draw_shared,
    "sec5.5.4": draw_factors,
    "sec5.6": draw_fairness,
}
