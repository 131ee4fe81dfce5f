"""Output of `overspill sweep`: facts, and for each metric a table of points by variants."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from overspill.cli import table
from overspill.grouping import group_by_key
from overspill.results import (
    achieved_loads,
    differences,
    formats,
    metric_names,
    metrics,
    pooled_workloads,
    table_cells,
    warnings,
)
from overspill.results.differences import Difference
from overspill.results.metric_key import Key
from overspill.results.results import Results
from overspill.results.summary_tables import MetricSummary
from overspill.results.sweep_document import summaries_of_metric, sweep_legend

DEFAULT_METRICS = ("qct_p99", "fct_p99", "goodput")
MAX_POINTS_PRINTED = 60  # points in a table; files have all


def select_metrics(sweep: Results, wanted: Sequence[str]) -> list[str]:
    """Returns the metrics to print: the requested ones, or the first default that the sweep has.

    Times are by workload if workloads differ in kind.
    """
    there = sweep.metric_names
    workloads = list(sweep.kinds)
    names = [
        one if isinstance(one, Key) else metric_names.parse_metric(one, workloads, "--metric")
        for one in wanted
    ]
    names = names or [Key(name) for name in DEFAULT_METRICS if name in there][:1]
    return list(
        dict.fromkeys(
            str(one) for name in names for one in pooled_workloads.shown_keys(name, there, sweep.kinds)
        )
    )


def print_sweep(sweep: Results, wanted: Sequence[str], console: Console) -> None:
    """Prints the facts and a table per metric."""
    facts = Table.grid(padding=(0, 2, 0, 0))
    names = select_metrics(sweep, wanted)
    for line in warnings.result_lines(sweep, names):
        style = "red" if line.loud else ""
        facts.add_row(Text(line.label, "bold red" if line.loud else "bold"), Text(line.text, style))
    facts.columns[0].no_wrap = True
    table.print_renderable(console, facts, table.PIPED_LINE_WIDTH)
    for name in names:
        console.print()
        print_metric(sweep, name, console)
    table.print_renderable(console, Text(sweep_legend(sweep, names), "dim"), table.PIPED_LINE_WIDTH)


def print_metric(sweep: Results, name: str, console: Console) -> None:
    """Prints the table of a metric and of its differences from the baseline: points by variants."""
    found = summaries_of_metric(sweep, name)
    if not found:
        table.print_renderable(console, Text(f"{name}: no run has a value"), table.PIPED_LINE_WIDTH)
        return
    metric = metrics.find_metric(name)
    factor, unit = formats.select_unit(metric.unit, [entry.mean for entry in found.values()])
    console.print(Text(formats.title_with_unit(metric.title, unit), "bold"))
    table.print_full_width(console, build_table(sweep, format_cells(sweep, found, factor), sweep.variants))
    if len(sweep.points) > MAX_POINTS_PRINTED:
        left = len(sweep.points) - MAX_POINTS_PRINTED
        table.print_renderable(
            console, Text(f"... {left} more points are in summary.csv"), table.PIPED_LINE_WIDTH
        )
    print_differences(sweep, (name, formats.title_with_unit(metric.title, unit), factor), console)


def format_cells(sweep: Results, found: dict[tuple[str, ...], MetricSummary], factor: float) -> Cells:
    """Returns the text of each variant at each point."""
    return {place: format_summary(entry, factor, len(sweep.seeds)) for place, entry in found.items()}


def print_differences(sweep: Results, what: tuple[str, str, float], console: Console) -> None:
    """Prints the differences of a metric from the baseline, if there are any."""
    name, title, factor = what
    found = (
        {} if sweep.compared is None else differences.differences_of_metric(sweep.compared, sweep.axes, name)
    )
    if not found:
        return
    cells = {place: format_difference(one, factor) for place, one in found.items()}
    others = [variant for variant in sweep.variants if variant != sweep.baseline]
    notes = {
        (*point.values(),): describe_notes({one: found.get((*point.values(), one)) for one in others})
        for point in sweep.points
    }
    console.print()
    console.print(Text(f"{title}, difference from {sweep.label(sweep.baseline)}", "bold"))
    table.print_full_width(console, build_table(sweep, cells, others, notes))


Cells = dict[tuple[str, ...], str]  # values of the axes, and variant


def build_table(
    sweep: Results, cells: Cells, variants: Sequence[str], notes: dict[tuple[str, ...], str] | None = None
) -> Table:
    """Returns a table of points by variants, with the achieved loads beside each requested load."""
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", show_edge=False)
    achieved = achieved_loads.achieved_load_texts(sweep)
    for axis in sweep.axes:
        made.add_column(Text(axis.path), justify="left" if axis.numbers is None else "right", no_wrap=True)
        if axis.path in achieved:
            made.add_column(Text("achieved"), justify="right", no_wrap=True)
    for variant in variants:
        made.add_column(Text(sweep.label(variant)), justify="right", no_wrap=True)
    if notes and any(notes.values()):
        made.add_column("", no_wrap=True)
    for point in sweep.points[:MAX_POINTS_PRINTED]:
        values = tuple(point.values())
        place = []
        for path, value in point.items():
            place += [value, achieved[path].get(values, "-")] if path in achieved else [value]
        row = [*place, *(cells.get((*values, variant), "-") for variant in variants)]
        made.add_row(*map(Text, row), *([Text(notes[values])] if notes and any(notes.values()) else []))
    return made


def format_difference(one: Difference, factor: float) -> str:
    """Formats a difference with its interval, and a mark if it differs from 0."""
    return formats.format_cell(one, factor) + (table.BEST_MARK if one.differs else "  ")


def describe_notes(found: dict[str, Difference | None]) -> str:
    """Returns the notes on a point's differences; variants with equal notes share one."""
    by_note = group_by_key((one.note, variant) for variant, one in found.items() if one and one.note)
    return "; ".join(f"{', '.join(variants)}: {note}" for note, variants in by_note.items())


def format_summary(entry: MetricSummary, factor: float, seeds: int) -> str:
    """Formats a cell as `overspill run` does, with the number of seeds if some are missing."""
    return formats.format_cell(entry, factor) + table_cells.format_seed_count(entry.n, seeds)
