"""Figures of sweeps: metrics against the swept fields, a line per variant with intervals over seeds."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace

import numpy as np

from overspill.charts.chart_spec import (
    Axis,
    Band,
    Chart,
    Colours,
    HeatMap,
    LegendEntry,
    Line,
    Mark,
    Panel,
    Points,
    QuantityKind,
)
from overspill.charts.sweep_data import (
    MetricCell,
    PointVariant,
    group_identical_variants,
    has_nonzero_mean,
    independent_axes,
    label_of,
    line_style_in_sweep,
    metric_cells,
    other_axis_values,
    select_x_axis,
)
from overspill.results import (
    achieved_loads,
    formats,
    identical_variants,
    metrics,
    pooled_workloads,
    summary_tables,
)
from overspill.results.axes import Axis as Swept
from overspill.results.finished_runs import FinishedRuns

MAX_PANELS = 12
MANY_AXIS_VALUES = 6  # values of a second axis from which on maps replace small panels
MAX_BRACKETED_TICKS = 5  # most values of a load with the achieved load beside them, for lack of space
MAX_TICKS = 10  # ticks of a map
ROUNDING_ERROR = 1e-12
METRIC_FAMILIES = (
    ("fct", "Flow completion time", ("fct_mean", "fct_p50", "fct_p99", "fct_p99.9")),
    ("slowdown", "Slowdown", ("slowdown_mean", "slowdown_p50", "slowdown_p99")),
    ("qct", "Query completion time", ("qct_mean", "qct_p50", "qct_p99")),
    ("rates", "Goodput", ("goodput", "goodput_last", "throughput", "unfinished_flows")),
    ("queues", "Queues", ("queue_busiest_mean", "queue_busiest_p99", "queue_all_mean", "queue_all_p99")),
    ("losses", "Losses and recovery", ("drops", "drop_ratio", "retransmits", "timeouts")),
    ("mechanisms", "Actions of switches", ("marks", "detours", "bounces")),
    ("packets", "Packets", ("delay_mean", "delay_p99", "hops_mean", "hops_max")),
)
# Metrics with a figure if several fields are swept; `plots.sweep` draws the others.
CROSSED_METRICS = ("qct_p99", "fct_p99", "qct_mean", "fct_mean", "drops", "goodput")
MAX_CROSSED_FIGURES = 6
COUNT_UNITS = ("packets", "events", "flows")  # units of counts, which may be 0 or thousands
LOWER_BOUNDS_NOTE = "Hollow points are lower bounds: some flows did not finish."
MAX_TICK_LETTERS = 24  # characters of a name beside an axis
MIN_LOG_RATIO = 100.0  # ratio of largest to smallest value from which on an axis is not linear
KIND_OF_UNIT: dict[str, QuantityKind] = {"s": "time", "bit/s": "rate", "bytes": "bytes", "B": "bytes"}


def build_sweep_charts(sweep: FinishedRuns) -> dict[str, Chart]:
    """Builds every figure of a sweep, by name, in the order of the page."""
    if len(independent_axes(sweep)) > 1:
        charts = [
            chart_crossed_axes(sweep, metric, metric_cells(sweep, metric))
            for metric in crossed_metrics(sweep)
        ]
        return {chart.name: chart for chart in charts}
    known = known_metrics(sweep)
    found: dict[str, Chart] = {}
    for name, title, wanted in METRIC_FAMILIES:
        every = {metric: metric_cells(sweep, metric) for metric in select_drawn_metrics(sweep, wanted, known)}
        tables = {metric: cells for metric, cells in every.items() if has_nonzero_mean(cells)}
        if tables:
            chart = chart_lines(sweep, (name, title), tables)
            nothing = [
                metrics.find_metric(one).title for one, cells in every.items() if cells and one not in tables
            ]
            text = f" Omitted, because they are 0 everywhere: {', '.join(nothing)}." if nothing else ""
            found[chart.name] = replace(chart, caption=chart.caption + text)
    return found


def known_metrics(sweep: FinishedRuns) -> dict[str, None]:
    """Returns the metrics that a sweep has, in the order of its tables."""
    return dict.fromkeys(summary_tables.list_metrics(sweep.summary)) if sweep.summary.num_rows else {}


def select_drawn_metrics(sweep: FinishedRuns, wanted: Iterable[str], known: Collection[str]) -> list[str]:
    """Returns the wanted metrics that a sweep has; by workload if workloads are of different kinds."""
    kinds = sweep.facts.get("workloads") or {}
    found: list[str] = []
    for one in wanted:
        found += (
            (pooled_workloads.metric_keys_of_mixed_workloads(one, known, kinds) or [one])
            if one in known
            else []
        )
    return list(map(str, found))


def crossed_metrics(sweep: FinishedRuns) -> list[str]:
    """Returns the metrics drawn if several fields are swept: those of `CROSSED_METRICS`, else the first."""
    known = known_metrics(sweep)
    every = [one for _, _, wanted in METRIC_FAMILIES for one in wanted]
    for names in (CROSSED_METRICS, every):
        chosen = [
            one
            for one in select_drawn_metrics(sweep, names, known)
            if has_nonzero_mean(metric_cells(sweep, one))
        ]
        if chosen:
            return chosen[:MAX_CROSSED_FIGURES]
    return []


def chart_metric(sweep: FinishedRuns, metric: str) -> Chart | None:
    """Builds the figure of one metric of a sweep; `None` if no run has it."""
    cells = metric_cells(sweep, metric)
    if not cells:
        return None
    title = metrics.find_metric(metric).title
    if len(independent_axes(sweep)) <= 1:
        return chart_lines(sweep, (metric, title[:1].upper() + title[1:]), {metric: cells})
    return chart_crossed_axes(sweep, metric, cells)


def category_positions(axis: Swept) -> tuple[np.ndarray, Axis]:
    """Returns the positions of values and their axis: linear, logarithmic, or of categories.

    The axis is logarithmic if the values are spaced by factors.
    """
    count = len(axis.texts)
    label = f"{axis.path} ({axis.unit})" if axis.unit and axis.unit not in KIND_OF_UNIT else axis.path
    numbers = axis.numbers
    if numbers is None or len(set(numbers)) < count:
        named = tuple((float(at), text) for at, text in enumerate(axis.texts))
        return np.arange(count, dtype=np.float64), Axis(label, range=(-0.4, count - 0.6), ticks=named)
    values = np.array(numbers, np.float64)
    kind = KIND_OF_UNIT.get(axis.unit, "number")
    scale = "log" if is_geometric(np.sort(values)) else "linear"
    every = tuple(zip(values.tolist(), axis.texts, strict=True))
    ticks = every if count <= 8 else None
    return values, Axis(label, kind, "log" if scale == "log" else "linear", ticks=ticks)


def swept_field_axis(sweep: FinishedRuns, at: int) -> Axis:
    """Returns the axis of a field; ticks of a load that was not achieved have the true one in brackets."""
    field = sweep.axes[at]
    values, axis = category_positions(field)
    found = achieved_loads.mean_achieved_loads(sweep, at)
    if not found:
        return axis
    label = f"{field.path} requested (achieved)"
    if len(field.texts) > MAX_BRACKETED_TICKS:
        return replace(axis, label=label)
    ticks = tuple(
        (value, f"{text} ({found[text]:.2g})" if text in found else text)
        for value, text in zip(values.tolist(), field.texts, strict=True)
    )
    return replace(axis, label=label, ticks=ticks)


def achieved_loads_text(sweep: FinishedRuns, at: int) -> str:
    """Returns the achieved loads along an axis for a caption; empty if they are as requested."""
    found = achieved_loads.mean_achieved_loads(sweep, at)
    if not found:
        return ""
    each = "; ".join(f"{load:.3g} for a requested load of {text}" for text, load in found.items())
    return f" Achieved load, mean over variants: {each}."


def is_geometric(values: np.ndarray) -> bool:
    """Returns true if values are spaced by factors rather than by steps."""
    if len(values) < 3 or values[0] <= 0:
        return False
    factors, steps = np.diff(np.log(values)), np.diff(values)
    return bool(np.std(factors) / np.mean(factors) < np.std(steps) / np.mean(steps) - ROUNDING_ERROR)


def metric_axis(metric: str, cells: dict[PointVariant, MetricCell]) -> Axis:
    """Returns the axis of a metric: from 0, or logarithmic for more than two decades.

    Counts that are 0 at some points have a logarithmic axis that includes 0.
    """
    known = metrics.find_metric(metric)
    kind = KIND_OF_UNIT.get(known.unit, "number")
    means = [cell.mean for cell in cells.values()]
    low, high = min(means), max(means)
    name = known.title if len(known.title) <= MAX_TICK_LETTERS else known.title.split(",")[0]
    unit = "" if known.unit in ("1", *KIND_OF_UNIT) else formats.SHORT_UNITS.get(known.unit) or known.unit
    label = formats.title_with_unit(name, unit)
    tops = [cell.high for cell in cells.values() if cell.high is not None and cell.high < 3 * high]
    top = max([high, *tops]) if high > 0 else 1.0
    if low > 0 and high / low > MIN_LOG_RATIO:
        return Axis(label, kind, "log", range=(log_axis_lower_end(cells), top * 1.2))
    positive = min((mean for mean in means if mean > 0), default=high)
    if low == 0 and known.unit in COUNT_UNITS and high > max(MIN_LOG_RATIO * positive, MIN_LOG_RATIO):
        return Axis(label, kind, "symlog", range=(0, top * 1.2))
    return Axis(label, kind, range=(0, top * 1.06) if low >= 0 else None)


def log_axis_lower_end(cells: dict[PointVariant, MetricCell]) -> float:
    """Returns the lower end of a logarithmic axis: below every mean, and below nearby ends of intervals."""
    low = min(cell.mean for cell in cells.values())
    ends = [cell.low for cell in cells.values() if cell.low is not None and cell.low > low / 4]
    return 0.8 * min([low, *ends])


def build_variant_marks(
    sweep: FinishedRuns,
    cells: dict[PointVariant, MetricCell],
    at: tuple[int, tuple[str, ...]],
    which: tuple[str, Axis],
) -> list[Mark]:
    """Returns the marks of one variant along one axis, with the other axes fixed at given values."""
    along_axis, held = at
    variant, y = which
    axis = sweep.axes[along_axis]
    x, _ = category_positions(axis)
    found = []
    for place, text in zip(x.tolist(), axis.texts, strict=True):
        for (point, name), cell in cells.items():
            if (
                name == variant
                and point[along_axis] == text
                and other_axis_values(point, sweep, along_axis) == held
            ):
                found.append((place, cell, text))
    if not found:
        return []
    found.sort(key=lambda one: one[0])
    look = line_style_in_sweep(sweep, variant)
    at_x = np.array([place for place, _, _ in found])
    mean = np.array([cell.mean for _, cell, _ in found])
    low = np.array([cell.mean if cell.low is None else cell.low for _, cell, _ in found])
    high = np.array([cell.mean if cell.high is None else cell.high for _, cell, _ in found])
    if y.range:
        low = np.maximum(low, y.range[0])
    marks: list[Mark] = [Line(at_x, mean, look, variant)]
    if (high > low).any():
        marks.insert(0, Band(at_x, low, high, look, variant))
    for hollow in (False, True):
        keep = [one for one in range(len(found)) if found[one][1].censored == hollow]
        if keep:
            texts = [hover_text(found[one][1], y.kind) for one in keep]
            marks.append(Points(at_x[keep], mean[keep], look, variant, hollow=hollow, size=4, hover=texts))
    return marks


def hover_text(cell: MetricCell, kind: QuantityKind) -> str:
    """Returns the hover text of a point: mean, interval if known, and number of seeds."""
    from overspill.charts.axes import format_quantity

    if cell.censored:
        return f"> {format_quantity(cell.mean, kind)} ({cell.n} seeds)"
    if cell.low is None or cell.high is None:
        return f"{format_quantity(cell.mean, kind)} ({cell.n} seed{'' if cell.n == 1 else 's'})"
    mean, low, high = (format_quantity(number, kind) for number in (cell.mean, cell.low, cell.high))
    return f"{mean}, {low} to {high} ({cell.n} seeds)"


def chart_lines(
    sweep: FinishedRuns, what: tuple[str, str], tables: dict[str, dict[PointVariant, MetricCell]]
) -> Chart:
    """Returns a figure with a panel for each metric, over the only independent axis of a sweep."""
    name, title = what
    index = select_x_axis(sweep)
    x = swept_field_axis(sweep, index)
    panels = []
    for metric, cells in tables.items():
        y = metric_axis(metric, cells)
        held = other_axis_values(next(iter(cells))[0], sweep, index)
        marks = [
            mark
            for one, *_ in group_identical_variants(sweep)
            for mark in build_variant_marks(sweep, cells, (index, held), (one, y))
        ]
        known = metrics.find_metric(metric).title
        # A single panel with the title of its figure would print the title twice.
        panels.append(Panel("" if known.casefold() == title.casefold() else known, x, y, marks))
    columns = min(2, len(panels))
    text = build_caption(sweep, tables, sweep.axes[index].path) + achieved_loads_text(sweep, index)
    told = hollow_points_note(tables.values())
    return Chart(f"sweep-{name}", title, text, panels, columns, 2.9, legend_entries(sweep), file_note=told)


def hollow_points_note(tables: Iterable[dict[PointVariant, MetricCell]]) -> str:
    """Returns the note on hollow points; empty if there are none."""
    return LOWER_BOUNDS_NOTE if any(cell.censored for cells in tables for cell in cells.values()) else ""


def legend_entries(sweep: FinishedRuns) -> list[LegendEntry]:
    """Returns the legend entries of a sweep's figure."""
    return [
        LegendEntry(
            one[0],
            identical_variants.group_label([label_of(sweep, name) for name in one]),
            line_style_in_sweep(sweep, one[0]),
        )
        for one in group_identical_variants(sweep)
    ]


def build_caption(sweep: FinishedRuns, tables: dict[str, dict[PointVariant, MetricCell]], path: str) -> str:
    """Returns the caption for a sweep's figure."""
    counts = sorted({cell.n for cells in tables.values() for cell in cells.values()})
    seeds = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    many = counts[-1] > 1
    bands = any(cell.low is not None for cells in tables.values() for cell in cells.values())
    means = "lines are means, bands their 95% intervals" if bands else "no intervals"
    means = "lines are means, without intervals" if many and not bands else means
    rough = " With fewer than 10 seeds, intervals are rough." if bands and counts[-1] < 10 else ""
    censored = any(cell.censored for cells in tables.values() for cell in cells.values())
    bounds = f" {LOWER_BOUNDS_NOTE}" if censored else ""
    return f"Against {path}; {seeds} seed{'s' if many else ''} at each point: {means}.{rough}{bounds}"


def chart_crossed_axes(sweep: FinishedRuns, metric: str, cells: dict[PointVariant, MetricCell]) -> Chart:
    """Returns the figure of a metric over several axes: small panels, or heat maps for a long second axis."""
    index = select_x_axis(sweep)
    rest = [one for one in independent_axes(sweep) if one != index]
    if len(rest) == 1 and len(sweep.axes[rest[0]].texts) > MANY_AXIS_VALUES:
        return chart_heat_maps(sweep, metric, cells, (index, rest[0]))
    x = swept_field_axis(sweep, index)
    y = metric_axis(metric, cells)
    held_by = list(dict.fromkeys(other_axis_values(point, sweep, index) for point, _ in cells))
    panels = []
    for held in held_by[:MAX_PANELS]:
        marks = [
            mark
            for one, *_ in group_identical_variants(sweep)
            for mark in build_variant_marks(sweep, cells, (index, held), (one, y))
        ]
        title = ", ".join(f"{sweep.axes[one].path} = {text}" for one, text in zip(rest, held, strict=True))
        panels.append(Panel(title, x, y, marks))
    more = f" The first {MAX_PANELS} of {len(held_by)} combinations." if len(held_by) > MAX_PANELS else ""
    columns = min(3 if len(panels) > 4 else 2, len(panels))
    caption = build_caption(sweep, {metric: cells}, sweep.axes[index].path)
    text = f"{metrics.find_metric(metric).title}. {caption}{more}"
    text += achieved_loads_text(sweep, index)
    title = metrics.find_metric(metric).title
    return Chart(
        chart_file_name(metric),
        title[:1].upper() + title[1:],
        text,
        panels,
        columns,
        2.5,
        legend_entries(sweep),
        share_y=True,
        file_note=hollow_points_note([cells]),
    )


def chart_file_name(metric: str) -> str:
    """Returns the name of a chart and of its files, with `%` codes for characters that systems forbid."""
    return re.sub(r'[<>:"/\\|?*]', lambda found: f"%{ord(found[0]):02X}", f"sweep-{metric}")


def chart_heat_maps(
    sweep: FinishedRuns, metric: str, cells: dict[PointVariant, MetricCell], which: tuple[int, int]
) -> Chart:
    """Returns heat maps of a metric's mean over two axes, a panel for each variant."""
    across, up = (sweep.axes[one] for one in which)
    known = metrics.find_metric(metric)
    kind = KIND_OF_UNIT.get(known.unit, "number")
    means = [cell.mean for cell in cells.values()]
    logarithmic = min(means) >= 1 and max(means) / min(means) > 100
    colours = Colours(
        min(means) if logarithmic else min(0.0, *means),
        max(*means, ROUNDING_ERROR),
        known.title,
        logarithmic,
        kind,
    )
    columns = {text: at for at, text in enumerate(across.texts)}
    rows = {text: at for at, text in enumerate(reversed(up.texts))}
    panels = []
    every = -(-len(columns) // MAX_TICKS)
    ticks = tuple((at + 0.5, text) for text, at in columns.items() if at % every == 0)
    x = Axis(across.path, ticks=ticks, range=(0, len(columns)))
    for group in group_identical_variants(sweep)[:MAX_PANELS]:
        variant = group[0]
        grid = np.full((len(rows), len(columns)), np.nan)
        for (point, name), cell in cells.items():
            if name == variant:
                grid[rows[point[which[1]]], columns[point[which[0]]]] = cell.mean
        mark = HeatMap(grid, np.arange(len(columns) + 1, dtype=np.float64), list(rows))
        panels.append(Panel(f"{identical_variants.group_label(group)}: {up.path} upwards", x, Axis(), [mark]))
    text = f"{known.title}, means over seeds: {across.path} to the right, {up.path} upwards."
    text += achieved_loads_text(sweep, which[0]) + achieved_loads_text(sweep, which[1])
    title = known.title[:1].upper() + known.title[1:]
    return Chart(
        chart_file_name(metric),
        title,
        text,
        panels,
        min(2, len(panels)),
        0.9 + 0.24 * len(rows),
        colours=colours,
    )
