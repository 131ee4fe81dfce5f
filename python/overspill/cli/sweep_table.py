"""Output of `overspill sweep`: facts, and for each metric a table of points by variants."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from overspill.cli import table
from overspill.grouping import by_key
from overspill.results import differences, formats, loads, metric_names, metrics, pooled, warnings
from overspill.results.differences import Difference
from overspill.results.key import Key
from overspill.results.results import Results
from overspill.results.sweep import legend, rows
from overspill.results.tables import Summary

DEFAULTS = ("qct_p99", "fct_p99", "goodput")
SHOWN = 60  # points in a table; files have all


def chosen(sweep: Results, wanted: Sequence[str]) -> list[str]:
    """Returns the metrics to print: the requested ones, or the first default that the sweep has.

    Times are by workload if workloads differ in kind.
    """
    there = sweep.metric_names
    workloads = list(sweep.kinds)
    names = [
        one if isinstance(one, Key) else metric_names.key_of(one, workloads, "--metric") for one in wanted
    ]
    names = names or [Key(name) for name in DEFAULTS if name in there][:1]
    return list(dict.fromkeys(str(one) for name in names for one in pooled.shown(name, there, sweep.kinds)))


def show(sweep: Results, wanted: Sequence[str], console: Console) -> None:
    """Prints the facts and a table per metric."""
    facts = Table.grid(padding=(0, 2, 0, 0))
    names = chosen(sweep, wanted)
    for line in warnings.lines(sweep, names):
        style = "red" if line.loud else ""
        facts.add_row(Text(line.label, "bold red" if line.loud else "bold"), Text(line.text, style))
    facts.columns[0].no_wrap = True
    table.put(console, facts, table.LINE)
    for name in names:
        console.print()
        print_metric(sweep, name, console)
    table.put(console, Text(legend(sweep, names), "dim"), table.LINE)


def print_metric(sweep: Results, name: str, console: Console) -> None:
    """Prints the table of a metric and that of its differences: points are rows, variants are columns."""
    found = rows(sweep, name)
    if not found:
        table.put(console, Text(f"{name}: no run has a value"), table.LINE)
        return
    metric = metrics.find(name)
    factor, unit = formats.scale(metric.unit, [entry.mean for entry in found.values()])
    console.print(Text(formats.headed(metric.title, unit), "bold"))
    table.whole(console, grid(sweep, cells_of(sweep, found, factor), sweep.variants))
    if len(sweep.points) > SHOWN:
        left = len(sweep.points) - SHOWN
        table.put(console, Text(f"... {left} more points are in summary.csv"), table.LINE)
    against(sweep, (name, formats.headed(metric.title, unit), factor), console)


def cells_of(sweep: Results, found: dict[tuple[str, ...], Summary], factor: float) -> Cells:
    """Returns the text of each variant at each point."""
    return {place: text(entry, factor, len(sweep.seeds)) for place, entry in found.items()}


def against(sweep: Results, what: tuple[str, str, float], console: Console) -> None:
    """Prints the differences of a metric from the baseline, if there are any."""
    name, title, factor = what
    found = {} if sweep.compared is None else differences.of_metric(sweep.compared, sweep.axes, name)
    if not found:
        return
    cells = {place: difference(one, factor) for place, one in found.items()}
    others = [variant for variant in sweep.variants if variant != sweep.baseline]
    notes = {
        (*point.values(),): noted({one: found.get((*point.values(), one)) for one in others})
        for point in sweep.points
    }
    console.print()
    console.print(Text(f"{title}, difference from {sweep.label(sweep.baseline)}", "bold"))
    table.whole(console, grid(sweep, cells, others, notes))


Cells = dict[tuple[str, ...], str]  # values of the axes, and variant


def grid(
    sweep: Results, cells: Cells, variants: Sequence[str], notes: dict[tuple[str, ...], str] | None = None
) -> Table:
    """Returns a table of points by variants, with the achieved load beside a requested load."""
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", show_edge=False)
    achieved = loads.achieved(sweep)
    for axis in sweep.axes:
        made.add_column(Text(axis.path), justify="left" if axis.numbers is None else "right", no_wrap=True)
        if axis.path in achieved:
            made.add_column(Text("achieved"), justify="right", no_wrap=True)
    for variant in variants:
        made.add_column(Text(sweep.label(variant)), justify="right", no_wrap=True)
    if notes and any(notes.values()):
        made.add_column("", no_wrap=True)
    for point in sweep.points[:SHOWN]:
        values = tuple(point.values())
        place = []
        for path, value in point.items():
            place += [value, achieved[path].get(values, "-")] if path in achieved else [value]
        row = [*place, *(cells.get((*values, variant), "-") for variant in variants)]
        made.add_row(*map(Text, row), *([Text(notes[values])] if notes and any(notes.values()) else []))
    return made


def difference(one: Difference, factor: float) -> str:
    """Formats a difference with its interval and its mark."""
    return formats.cell(one, factor) + (table.MARK if one.differs else "  ")


def noted(found: dict[str, Difference | None]) -> str:
    """Returns the notes of a point's marks, with variants that share a note together."""
    by_note = by_key((one.note, variant) for variant, one in found.items() if one and one.note)
    return "; ".join(f"{', '.join(variants)}: {note}" for note, variants in by_note.items())


def text(entry: Summary, factor: float, seeds: int) -> str:
    """Formats a cell as `overspill run` does, with the number of seeds if some are missing."""
    few = f" (n = {entry.n})" if entry.n < seeds else ""
    return formats.cell(entry, factor) + few
