"""Data of a sweep for figures: metrics by point and variant, and axes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from overspill.charts import chart_spec, common
from overspill.charts.chart_spec import LineStyle
from overspill.results import summary_tables
from overspill.results.finished_runs import FinishedRuns


@dataclass(frozen=True)
class MetricCell:
    """Mean, interval and number of seeds of a metric, for a variant at a point of a sweep."""

    mean: float
    low: float | None
    high: float | None
    censored: bool
    n: int


PointVariant = tuple[tuple[str, ...], str]  # values of the axes; variant


def metric_cells(sweep: FinishedRuns, metric: str) -> dict[PointVariant, MetricCell]:
    """Returns the means and intervals of a metric, by point of a sweep and variant."""
    rows = summary_tables.rows_of_metric(sweep.summary, metric).to_pylist()
    paths = [axis.path for axis in sweep.axes]
    return {
        (tuple(str(row[path]) for path in paths), str(row["variant"])): cell_from_summary(
            summary_tables.MetricSummary.from_row(row)
        )
        for row in rows
        if row["mean"] is not None and math.isfinite(row["mean"])
    }


def cell_from_summary(one: summary_tables.MetricSummary) -> MetricCell:
    """Returns the mean to draw, with an interval no narrower than the resolution of the metric."""
    low, high = one.low, one.high
    if low is not None and high is not None and one.resolution:
        low, high = min(low, one.mean - one.resolution), max(high, one.mean + one.resolution)
    return MetricCell(one.mean, low, high, one.censored, one.n)


def has_nonzero_mean(cells: dict[PointVariant, MetricCell]) -> bool:
    """Returns true if any mean is not 0, so that a figure of the metric shows something."""
    return any(cell.mean for cell in cells.values())


def variants_of(sweep: FinishedRuns) -> list[str]:
    """Returns the variants of a sweep in the order of its summary table."""
    return list(dict.fromkeys(sweep.summary.column("variant").to_pylist()))


def label_of(sweep: FinishedRuns, variant: str) -> str:
    """Returns the label of a variant, or its name if it has none."""
    return str((sweep.facts.get("labels") or {}).get(variant, variant))


def line_style_in_sweep(sweep: FinishedRuns, variant: str) -> LineStyle:
    """Returns the line style of a variant, by its position in the scenario file."""
    return chart_spec.line_style_of_index(common.variant_index(sweep.facts, variants_of(sweep), variant))


def group_identical_variants(sweep: FinishedRuns) -> list[tuple[str, ...]]:
    """Returns the variants, with those identical at every point in one group."""
    found = sweep.facts.get("same") or []
    of = {name: tuple(one["variants"]) for one in found for name in one["variants"]}
    return list(dict.fromkeys(of.get(variant, (variant,)) for variant in variants_of(sweep)))


def independent_axes(sweep: FinishedRuns) -> list[int]:
    """Returns the axes that vary independently; of axes that vary together only the first."""
    together = sweep.facts.get("together", [])
    led = {path for group in together for path in group[1:]}
    return [at for at, axis in enumerate(sweep.axes) if axis.path not in led and len(axis.texts) > 1]


def select_x_axis(sweep: FinishedRuns) -> int:
    """Returns the index of the x axis: one of numbers if any, with most values, first among equals."""
    free = independent_axes(sweep)
    axes = sweep.axes
    return max(free, key=lambda at: (axes[at].numbers is not None, len(axes[at].texts), -at), default=0)


def other_axis_values(point: tuple[str, ...], sweep: FinishedRuns, along_axis: int) -> tuple[str, ...]:
    """Returns a point's values on all independent axes except `along_axis`."""
    return tuple(point[at] for at in independent_axes(sweep) if at != along_axis)
