"""Figures of the study of trimmed packets and their queues."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from overspill.plots import COLOURS
from studies.common import RelativeDifference, index_by_case, save_figures
from studies.trim.numbers import (
    BACKGROUND,
    MAIN_VARIANTS,
    MARGIN,
    QCT,
    QCT_TAIL,
    TIME_METRICS,
    Case,
    Row,
    base_variant,
    relative_difference,
)

VARIANT_LABELS = {
    "tcp": "packets dropped, SACK (tcp)",
    "dctcp": "packets dropped, DCTCP (dctcp)",
    "cp": "headers in the data queue (cp)",
    "strict": "headers with strict priority (strict)",
    "quarter": "headers with a quarter of the rate (quarter)",
}
TIME_NAMES = dict(
    zip(TIME_METRICS, ("QCT median", "QCT p99", "background FCT, mean", "background FCT, p99"), strict=True)
)
PERCENT_TICKS = (-100, -20, -5, 0, 5, 20, 100, 500)
DRAWN_TIMES = (QCT, QCT_TAIL, BACKGROUND)


def draw(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Draws the figures of the rows as PNG files."""
    return save_figures(
        lambda: {"times": draw_times(rows), "gain": draw_gain(rows), "asides": draw_single_changes(rows)},
        folder,
    )


Interval = tuple[float, float, float, float]  # position, mean, low, high


def draw_intervals(axes: Axes, found: Sequence[Interval], at: int, label: str, linestyle: str = "-") -> None:
    """Draws a line of means with their 95% intervals."""
    axes.errorbar(
        [one[0] for one in found],
        [one[1] for one in found],
        [[max(0.0, one[1] - one[2]) for one in found], [max(0.0, one[3] - one[1]) for one in found]],
        label=label,
        color=COLOURS[at],
        marker="os^vDx"[at],
        markersize=4,
        capsize=2,
        elinewidth=1,
        linestyle=linestyle,
    )


def scale_interval(at: float, one: Row | RelativeDifference, scale: float) -> Interval:
    """Returns x position, mean and interval of a row or a difference, scaled for display."""
    return at, scale * one.mean, scale * one.low, scale * one.high


def link_rates(rows: Sequence[Row]) -> list[str]:
    """Returns the link rates that were run."""
    return list(dict.fromkeys(row.case.rate for row in rows))


def draw_times(rows: Sequence[Row]) -> Figure:
    """Draws completion times over the buffer size of a port: a row of panels for each link rate."""
    every, fixed = link_rates(rows), middle_degree(rows)
    figure = Figure(figsize=(9.5, 3.1 * len(every) + 0.6), layout="constrained")
    for row, rate in zip(figure.subplots(len(every), len(DRAWN_TIMES), squeeze=False), every, strict=True):
        for axes, metric in zip(row, DRAWN_TIMES, strict=True):
            for at, name in enumerate(VARIANT_LABELS):
                chosen = [
                    one
                    for one in rows
                    if (one.case.rate, one.case.variant, one.metric) == (rate, name, metric)
                    and one.case.degree == fixed
                ]
                chosen.sort(key=lambda one: int(one.case.buffer))
                found = [scale_interval(int(one.case.buffer), one, one.display_factor) for one in chosen]
                draw_intervals(axes, found, at, VARIANT_LABELS[name], "--" if name == "quarter" else "-")
            axes.set(title=f"{rate} Gb/s: {TIME_NAMES[metric]} (ms)", ylim=(0, None))
            set_log_axis(axes, "buffer of a port per Gb/s (KB)", [one.case.buffer for one in rows])
    return add_legend(figure, 3)


def middle_degree(rows: Sequence[Row]) -> str:
    """Returns the number of replying servers that was run with most buffer sizes."""
    degrees = dict.fromkeys(row.case.degree for row in rows)
    return max(degrees, key=lambda one: len({row.case.buffer for row in rows if row.case.degree == one}))


def set_log_axis(axes: Axes, name: str, at: Sequence[str]) -> None:
    """Sets up a logarithmic axis with ticks at the values that were run."""
    ticks = sorted({int(one) for one in at})
    axes.set(xlabel=name, xscale="log")
    axes.set_xticks(ticks, [str(one) for one in ticks])
    axes.xaxis.set_minor_locator(NullLocator())


def draw_gain(rows: Sequence[Row]) -> Figure:
    """Draws the effect of a priority lane for headers in percent of `cp`, over buffer size and servers."""
    every, fixed, known = link_rates(rows), middle_degree(rows), index_by_case(rows)
    figure = Figure(figsize=(9, 2.9 * len(every) + 0.6), layout="constrained")
    grid = figure.subplots(len(every), 2, squeeze=False, sharey="row")
    buffers = {row.case.buffer for row in rows if row.case.degree != fixed} or {rows[0].case.buffer}
    for panels, rate in zip(grid, every, strict=True):
        for axes, by_degree in zip(panels, (False, True), strict=True):
            points = {
                row.case.point
                for row in rows
                if row.case.rate == rate
                and (row.case.buffer in buffers if by_degree else row.case.degree == fixed)
            }
            axis = 2 if by_degree else 1
            for at, metric in enumerate(TIME_METRICS):
                found = [
                    scale_interval(int(point[axis]) * 1.02 ** (at - 1.5), less, 100)
                    for point in sorted(points, key=lambda point: int(point[axis]))
                    if (less := relative_difference(known, Case(*point, "strict"), metric, "cp")) is not None
                ]
                draw_intervals(axes, found, at, TIME_NAMES[metric])
            axes.axhspan(-100 * MARGIN, 100 * MARGIN, color="0.5", alpha=0.15, linewidth=0)
            axes.axhline(0, color="0.4", linewidth=0.8)
            name = "degree of queries (servers)" if by_degree else "buffer of a port per Gb/s (KB)"
            set_log_axis(axes, name, [point[axis] for point in points])
            if not by_degree:
                axes.set(ylabel=f"{rate} Gb/s: strict minus cp (% of cp)")
    return add_legend(figure, 4)


def draw_single_changes(rows: Sequence[Row]) -> Figure:
    """Draws each single-change variant's difference from its reference in percent, or why it has none."""
    known = index_by_case(rows)
    names = list(dict.fromkeys(row.case.variant for row in rows if row.case.variant not in MAIN_VARIANTS))
    points = list(dict.fromkeys(row.case.point for row in rows if row.case.variant not in MAIN_VARIANTS))
    figure = Figure(figsize=(9, 0.27 * len(names) + 1.4), layout="constrained")
    panels = figure.subplots(1, len(points), squeeze=False, sharey=True)[0]
    for axes, point in zip(panels, points, strict=True):
        for at, metric in enumerate(DRAWN_TIMES):
            for height, name in enumerate(names):
                less = relative_difference(known, Case(*point, name), metric, base_variant(name))
                if less is None:
                    continue
                axes.errorbar(
                    [100 * less.mean],
                    [height + 0.2 * (at - 1)],
                    xerr=[[100 * (less.mean - less.low)], [100 * (less.high - less.mean)]],
                    color=COLOURS[at],
                    marker="os^"[at],
                    markersize=4,
                    capsize=2,
                    elinewidth=1,
                    linestyle="none",
                    label=TIME_NAMES[metric] if height == 0 else None,
                )
        for height, name in enumerate(names):
            case = Case(*point, name)
            if all(
                relative_difference(known, case, metric, base_variant(name)) is None for metric in DRAWN_TIMES
            ):
                why = "unfinished flows" if (case, "unfinished_flows") in known else "not run"
                axes.text(0, height, why, ha="center", va="center", fontsize=7, color="0.35")
        axes.axvspan(-100 * MARGIN, 100 * MARGIN, color="0.5", alpha=0.15, linewidth=0)
        axes.axvline(0, color="0.4", linewidth=0.8)
        axes.set_xscale("symlog", linthresh=10)
        axes.set_xticks(PERCENT_TICKS, [str(one) for one in PERCENT_TICKS])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_yticks(range(len(names)), [f"{name} minus {base_variant(name)}" for name in names])
        axes.set(title=f"{point[0]} Gb/s, {point[1]} KB, degree {point[2]}", xlabel="difference (%)")
    figure.axes[0].invert_yaxis()
    return add_legend(figure, 3)


def add_legend(figure: Figure, columns: int) -> Figure:
    """Adds one legend above all panels."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=columns)
    return figure
