"""Drawings of DIBS's figures 7 to 15: completion times of queries and short background flows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill.papers.common import (
    PublishedValues,
    draw_legend,
    draw_mean_line,
    draw_published_values,
    new_panels,
    set_log_scale,
)
from overspill.papers.spec import Draw, Point, Runs, Sweeps
from overspill.plots import COLOURS

from ..measures.loads import (
    BUFFER_PATH,
    DEGREE_PATH,
    GAP_PATH,
    PFABRIC,
    QPS_PATH,
    SIZE_PATH,
    SWEEP_OF_VARIANT,
    p99_large_fct,
)
from ..measures.mixed import (
    DCTCP,
    DIBS,
    FlowStatistic,
    count_bounds,
    flow_statistics,
    p99_fct,
    p99_qct,
    parse_leading_number,
    point_at,
    value_curve,
)
from ..measures.parameters import FLOWS_PATH, OVERSUBSCRIPTION_PATH, TTL_PATH

VARIANT_NAMES = {DCTCP: "DCTCP", DIBS: "DCTCP with DIBS"}
VARIANT_COLOURS = {DCTCP: COLOURS[1], DIBS: COLOURS[0], PFABRIC: COLOURS[2]}
QCT_LABEL, FCT_LABEL = "99th percentile of QCT (ms)", "99th percentile of FCT (ms)"
PublishedPoints = Sequence[tuple[float, float | None]]  # positions on the axis, and published values
FAIRNESS_LIMIT = 0.9  # limit of Jain's index in the paper's text
TITLES = {"buffers": "K = 20 packets", "buffers_fifth": "K = B/5"}
SHARED_SWEEPS = {
    "shared": "300 queries/s",
    "shared_alone": "one query every 200 ms",
}  # sweeps, and their queries
COUNT_TICKS = (0, 1, 100, 10_000, 1_000_000)


@dataclass(frozen=True)
class Panel:
    """Panel of a figure: a value over a swept field, with labels and scale."""

    path: str
    label: str
    title: str
    value: FlowStatistic = p99_qct
    y_label: str = QCT_LABEL
    log: bool = False
    even_spacing: bool = False  # values at equal distances
    divisor: float = 1  # divisor of values in the labels of the axis


def short_flow_panel(panel: Panel, title: str) -> Panel:
    """Returns a copy of a panel with values of short background flows."""
    return replace(panel, title=title, value=p99_fct, y_label=FCT_LABEL)


def axis_positions(panel: Panel, points: Sequence[Point]) -> list[float]:
    """Returns the x positions of points: values of the swept field, or equal distances."""
    values = [parse_leading_number(point[panel.path]) for point in points]
    return [float(at) for at in range(len(values))] if panel.even_spacing else values


def draw_lines(
    axes: Axes, panel: Panel, drawn: Mapping[str, tuple[Runs, str]], marks: PublishedPoints = ()
) -> None:
    """Draws a line for each variant, with hollow markers for values that are only bounds."""
    for name, (runs, variant) in drawn.items():
        x = axis_positions(panel, runs.points)
        values = value_curve(runs, variant, runs.points, panel.value)
        colour = VARIANT_COLOURS.get(variant, COLOURS[3])
        draw_mean_line(axes, x, values, colour, label=name, marker="o", markersize=4)
        open_ended = [
            at
            for at, point in enumerate(runs.points)
            if count_bounds(flow_statistics(runs, variant, point), panel.value)
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
        axes.set_xticks(
            x, [f"{parse_leading_number(point[panel.path]) / panel.divisor:g}" for point in runs.points]
        )
    draw_published_values(axes, marks)
    finish_panel(axes, panel)


def finish_panel(axes: Axes, panel: Panel) -> None:
    """Sets scales, labels and the legend."""
    if panel.log:
        set_log_scale(axes)
    else:
        axes.set_ylim(0, 1.05 * axes.get_ylim()[1])
    axes.set_xlabel(panel.label)
    axes.set_ylabel(panel.y_label)
    axes.set_title(panel.title)
    draw_legend(axes, loc="best")


def draw_two_panels(runs: Runs, panel: Panel, marks: PublishedPoints = ()) -> Drawing:
    """Draws queries and short background flows in two panels."""
    both = {name: (runs, variant) for variant, name in VARIANT_NAMES.items()}
    made, [left, right] = new_panels(2)
    draw_lines(left, panel, both, marks)
    draw_lines(right, short_flow_panel(panel, "Background flows of 1 to 10 KB"), both)
    return made


def make_pair_drawing(sweep: str, panel: Panel, *known: tuple[float, str]) -> Draw:
    """Returns a function that draws queries and short background flows.

    `known` are positions and cases of published values of both variants.
    """

    def draw_pair(sweeps: Sweeps, published: PublishedValues) -> Drawing:
        marks = [
            (at, published.get((f"{case}, {one}", "p99_qct"))) for at, case in known for one in VARIANT_NAMES
        ]
        return draw_two_panels(sweeps[sweep], panel, marks)

    return draw_pair


def draw_mean_of_variant(axes: Axes, x: Sequence[float], values: np.ndarray, variant: str) -> None:
    """Draws a line of drops, detours or fairness in the colour of a variant."""
    draw_mean_line(
        axes,
        x,
        values,
        VARIANT_COLOURS.get(variant, COLOURS[3]),
        label=VARIANT_NAMES.get(variant, variant),
        marker="o",
        markersize=4,
    )


def draw_pfabric_and_dibs(panel: Panel, sweeps: Sweeps, _: PublishedValues) -> Drawing:
    """Draws figure 15: pFabric and DCTCP with DIBS over the rate of queries."""
    made, [axes] = new_panels(1)
    names = {"DCTCP with DIBS": DIBS, "pFabric": PFABRIC}
    draw_lines(axes, panel, {name: (sweeps[SWEEP_OF_VARIANT[one]], one) for name, one in names.items()})
    return made


def draw_both_thresholds(panel: Panel, what: str, sweeps: Sweeps, _: PublishedValues) -> Drawing:
    """Draws figure 11: one panel for each marking threshold."""
    made, axes = new_panels(2)
    for place, (name, title) in zip(axes, TITLES.items(), strict=True):
        draw_lines(place, panel, {label: (sweeps[name], variant) for variant, label in VARIANT_NAMES.items()})
        place.set_title(f"{what}, {title}")
    return made


def draw_shared_buffer(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws section 5.5.2: drops and query times with a shared buffer; last row: queries never overlap."""
    made, axes = new_panels(2, rows=len(SHARED_SWEEPS))
    for at_row, (name, what) in enumerate(SHARED_SWEEPS.items()):
        draw_shared_buffer_row(sweeps[name], what, axes[2 * at_row : 2 * at_row + 2])
    return made


def draw_shared_buffer_row(runs: Runs, what: str, axes: Sequence[Axes]) -> None:
    """Draws two panels over the number of responders: drops and detours, and query times."""
    left, right = axes
    degrees = sorted(int(point[DEGREE_PATH]) for point in runs.points)
    for variant in VARIANT_NAMES:
        lost = np.array(
            [runs.metric("drops", variant, point_at(runs, DEGREE_PATH, degree)) for degree in degrees]
        ).T
        draw_mean_of_variant(left, degrees, lost, variant)
    detours = np.array(
        [runs.metric("detours", DIBS, point_at(runs, DEGREE_PATH, degree)) for degree in degrees]
    ).T
    draw_mean_of_variant(left, degrees, detours, "detours")
    left.set_yscale("symlog", linthresh=1)
    left.set_yticks(COUNT_TICKS, [f"{count:,}" for count in COUNT_TICKS])
    left.set_ylim(bottom=0)
    left.set_title(f"Packets dropped, and detours: {what}")
    left.set_xlabel("responders")
    left.set_ylabel("packets in 2 s")
    draw_legend(left, loc="upper left")
    panel = Panel(DEGREE_PATH, "responders", f"Queries: {what}")
    draw_lines(right, panel, {label: (runs, variant) for variant, label in VARIANT_NAMES.items()})
    right.set_xticks(degrees[::2])


def draw_oversubscription(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws section 5.5.4: queries and background flows over the oversubscription."""
    runs = sweeps["oversubscription"]
    made = draw_two_panels(runs, Panel(OVERSUBSCRIPTION_PATH, "oversubscription, over two tiers", "Queries"))
    factors = [float(point[OVERSUBSCRIPTION_PATH]) for point in runs.points]
    for axes in made.axes:
        axes.set_xticks(factors, [f"1:{round(factor**2)}" for factor in factors])
    return made


def draw_fairness(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws section 5.6: fairness over the number of long flows."""
    runs = sweeps["pairs"]
    x = [float(point[FLOWS_PATH]) for point in runs.points]
    made, [axes] = new_panels(1)
    draw_mean_of_variant(
        axes, x, np.array([runs.metric("jain", DIBS, point) for point in runs.points]).T, DIBS
    )
    axes.axhline(FAIRNESS_LIMIT, color="black", linewidth=1, linestyle=":")
    axes.annotate(
        "published: above this",
        (x[-1], FAIRNESS_LIMIT),
        (0, -4),
        textcoords="offset points",
        va="top",
        ha="right",
    )
    axes.set_ylim(0, 1.02)
    axes.set_xticks(x)
    axes.set_xlabel("long flows per host pair and direction")
    axes.set_ylabel("Jain's index")
    axes.set_title("Fairness of long flows between 64 host pairs")
    return made


SIZE_PANEL = Panel(BUFFER_PATH, "buffer of a port (packets)", "", log=True, even_spacing=True)
GAP_PANEL = Panel(GAP_PATH, "mean gap of a host's background flows (ms)", "Queries")
RATE_PANEL = Panel(QPS_PATH, "queries per second", "Queries")
LARGE_FLOW_PANEL = replace(
    RATE_PANEL, title="Background flows of 1 MB or more", value=p99_large_fct, y_label=FCT_LABEL
)
DRAWINGS: dict[str, Draw] = {
    "fig7": make_pair_drawing("background", GAP_PANEL),
    "fig8": make_pair_drawing("queries", RATE_PANEL),
    "fig9": make_pair_drawing("responses", Panel(SIZE_PATH, "response (KB)", "Queries"), (50.0, "50 KB")),
    "fig10": make_pair_drawing("degrees", Panel(DEGREE_PATH, "responders", "Queries"), (100.0, "degree 100")),
    "fig11": partial(draw_both_thresholds, SIZE_PANEL, "Queries"),
    "fig11a": partial(
        draw_both_thresholds, short_flow_panel(SIZE_PANEL, ""), "Background flows of 1 to 10 KB"
    ),
    "fig12": make_pair_drawing(
        "ttl", Panel(TTL_PATH, "time to live (switches)", "Queries", even_spacing=True)
    ),
    "fig13": make_pair_drawing(
        "extreme", Panel(QPS_PATH, "queries per second (thousands)", "Queries", divisor=1000)
    ),
    "fig14": make_pair_drawing("large", Panel(SIZE_PATH, "response (KB)", "Queries")),
    "fig15a": partial(draw_pfabric_and_dibs, LARGE_FLOW_PANEL),
    "fig15b": partial(draw_pfabric_and_dibs, RATE_PANEL),
    "sec5.5.2": draw_shared_buffer,
    "sec5.5.4": draw_oversubscription,
    "sec5.6": draw_fairness,
}
