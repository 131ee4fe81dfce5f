"""What a sweep prints: facts, and for each metric a table of points by variants."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from overspill.cli import table
from overspill.results import formats, metrics
from overspill.results.labels import Line
from overspill.results.results import Results
from overspill.results.sweep import cautions, legend, rows
from overspill.results.tables import Summary, known
from overspill.results.warnings import of_sweep

DEFAULTS = ("qct_p99", "fct_p99", "goodput")
SHOWN = 60  # points in a table; the files have all


def check(wanted: Sequence[str]) -> None:
    """`BadInput` where a metric has no such name."""
    for name in wanted:
        known(name, "--metric")


def chosen(sweep: Results, wanted: Sequence[str]) -> list[str]:
    """The metrics asked for, or the first that suits: queries, flows, goodput."""
    there = sweep.metric_names
    return list(wanted) if wanted else [name for name in DEFAULTS if name in there][:1]


def lines(sweep: Results, names: Sequence[str]) -> list[Line]:
    """Every fact beside the tables of these metrics, the loud ones first."""
    rough = cautions(sweep.facts, names)
    axes = "; ".join(f"{axis.path} = {formats.listing(axis.texts)}" for axis in sweep.axes)
    seeds = f"seed{'s' if len(sweep.seeds) > 1 else ''} {formats.seeds(sweep.seeds)} (n = {len(sweep.seeds)})"
    sets = f"; set {', '.join(sweep.facts['sets'])}" if sweep.facts["sets"] else ""
    together = [Line("together", " and ".join(paths)) for paths in sweep.facts["together"]]
    points = f"{len(sweep.points)} points, {len(sweep.variants)} variants, {sweep.finished} runs"
    return [
        *of_sweep(sweep),
        *(line for line in rough if line.loud),
        Line("scenario", f"{sweep.scenario}, {seeds}{sets}"),
        Line("swept", axes),
        *together,
        Line("finished", points),
        *(line for line in rough if not line.loud),
        *(Line("note", note) for note in sweep.notes),
    ]


def show(sweep: Results, wanted: Sequence[str], console: Console) -> None:
    """Print the facts and a table a metric."""
    facts = Table.grid(padding=(0, 2, 0, 0))
    names = chosen(sweep, wanted)
    for line in lines(sweep, names):
        style = "red" if line.loud else ""
        facts.add_row(Text(line.label, "bold red" if line.loud else "bold"), Text(line.text, style))
    facts.columns[0].no_wrap = True
    table.put(console, facts, table.LINE)
    for name in names:
        console.print()
        one(sweep, name, console)
    table.put(console, Text(legend(sweep.summary, names), "dim"), table.LINE)


def one(sweep: Results, name: str, console: Console) -> None:
    """The table of a metric: rows are points, columns are variants."""
    found = rows(sweep, name)
    if not found:
        table.put(console, Text(f"{name}: no run has a value of it"), table.LINE)
        return
    metric = metrics.find(name)
    factor, unit = formats.scale(metric.unit, [entry.mean for entry in found.values()])
    console.print(Text(f"{metric.title} ({unit})" if unit else metric.title, "bold"))
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", show_edge=False)
    for axis in sweep.axes:
        grid.add_column(Text(axis.path), justify="left" if axis.numbers is None else "right", no_wrap=True)
    for variant in sweep.variants:
        grid.add_column(Text(variant), justify="right", no_wrap=True)
    for point in sweep.points[:SHOWN]:
        cells = [found.get((*point.values(), variant)) for variant in sweep.variants]
        grid.add_row(
            *map(Text, point.values()), *(Text(text(cell, factor, len(sweep.seeds))) for cell in cells)
        )
    table.whole(console, grid)
    if len(sweep.points) > SHOWN:
        left = len(sweep.points) - SHOWN
        table.put(console, Text(f"... {left} more points are in summary.csv"), table.LINE)


def text(entry: Summary | None, factor: float, seeds: int) -> str:
    """A cell as `overspill run` prints it, with its seeds where some are missing; `-` for nothing."""
    if entry is None:
        return "-"
    few = f" (n = {entry.n})" if entry.n < seeds else ""
    return formats.cell(entry, factor) + few
