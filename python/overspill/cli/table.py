"""Table that a run prints: one metric per row, variants side by side."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from overspill.errors import escape_unprintable
from overspill.results import formats, header, phase_findings, table_cells
from overspill.results.metric_rows import MetricRow
from overspill.results.table_cells import Cells

if TYPE_CHECKING:
    from overspill.results.results import Results

BEST_MARK = " *"
PIPED_LINE_WIDTH = 160  # characters of a line of text, and of a row of the table, without a terminal
MAX_LINE_WIDTH = 10_000


def print_results(results: Results, console: Console, every: bool = False) -> None:
    """Prints header, table and legend; the table has the most important rows, or `every` one.

    Numbers are never cut.
    """
    facts = Table.grid(padding=(0, 2, 0, 0))
    for line in header.header_lines(results):
        facts.add_row(
            Text(line.label, "bold red" if line.loud else "bold"), Text(line.text, "red" if line.loud else "")
        )
    facts.columns[0].no_wrap = True
    print_renderable(console, facts, PIPED_LINE_WIDTH)
    if not results.runs:
        return
    every_row = [row for row in results.rows if row.has_value]
    known = table_cells.without_mixed_workloads(every_row, results.kinds)
    rows = [row for row in known if row.is_visible]
    chosen = rows if every else table_cells.select_rows(every_row, results.kinds)
    body = [table_cells.format_row(row, len(results.seeds)) for row in chosen]
    heads = {variant: results.label(variant) for variant in results.variants}
    for variants in split_into_blocks(body, heads, console.width):
        console.print()
        shown = {variant: heads[variant] for variant in variants}
        print_full_width(console, build_block(body, shown, place_row_notes(chosen, variants)))
    print_renderable(
        console, Text(describe_metric_counts(len(chosen), len(rows), len(known)), "dim"), PIPED_LINE_WIDTH
    )
    print_renderable(console, Text(table_cells.cells_legend(results), "dim"), PIPED_LINE_WIDTH)
    print_moved_metrics(results, console)


def print_moved_metrics(results: Results, console: Console) -> None:
    """Prints the metrics that change in the phase check, if there are any."""
    rows, more = phase_findings.build_rows(results.facts)
    if not rows:
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", show_edge=False)
    titles = (
        "sensitive to tie-breaking",
        "",
        "original starts",
        f"starts moved by < {formats.format_time(results.facts['phase']['frame_ps'])}",
    )
    for at, title in enumerate(titles):
        table.add_column(title, justify="right" if at > 1 else "left", no_wrap=True)
    for row in rows:
        table.add_row(Text(escape_unprintable(row.variant)), *map(Text, (row.title, row.before, row.after)))
    console.print()
    print_full_width(console, table)
    if more:
        print_renderable(
            console,
            Text(f"{more} more metrics changed; all are in `phase` of results.json", "dim"),
            PIPED_LINE_WIDTH,
        )


def describe_metric_counts(chosen: int, shown: int, known: int) -> str:
    """Describes how many of the known metrics the table has, and where the others are."""
    nothing = known - shown
    zero = f"{nothing} that {'is' if nothing == 1 else 'are'} 0 in every run" if nothing else ""
    if chosen < shown:
        left = f"; --all prints all but {zero}" if zero else "; --all prints all"
    else:
        left = f"; not shown: {zero}" if zero else ""
    return f"{chosen} of {known} metrics{left}{'; results.json has all' if chosen < known else ''}"


def print_renderable(console: Console, what: RenderableType, width: int = MAX_LINE_WIDTH) -> None:
    """Prints a renderable; without a terminal in lines of this width, without trailing blanks."""
    if console.is_terminal:
        console.print(what, crop=False)
        return
    made = io.StringIO()
    Console(file=made, width=width, highlight=False, no_color=True).print(what, crop=False)
    for line in made.getvalue().splitlines():
        console.print(Text(line.rstrip()), soft_wrap=True)


def print_groups(entries: Iterable[tuple[str, str, str]], console: Console) -> None:
    """Prints names and meanings below the titles of their groups; an entry is (group, name, meaning)."""
    groups: dict[str, Table] = {}
    for group, name, doc in entries:
        grid = groups.setdefault(group, Table.grid(padding=(0, 2)))
        if not grid.columns:
            grid.add_column(no_wrap=True)
            grid.add_column(overflow="fold")
        grid.add_row(Text(f"  {name}"), Text(doc))
    for group, grid in groups.items():
        console.print(Text(group, "bold"))
        print_renderable(console, grid)


def print_full_width(console: Console, table: Table) -> None:
    """Prints a table in full width: a terminal may wrap a line, but no number is cut."""
    width = console.width
    console.width = max(width, console.measure(table, options=console.options.update(width=10_000)).maximum)
    print_renderable(console, table)
    console.width = width


def split_into_blocks(
    body: Sequence[tuple[str, Cells]], heads: Mapping[str, str], width: int
) -> list[list[str]]:
    """Returns variants in groups that fit the width beside the titles, at least one per group.

    `heads` has their labels.
    """
    first = max((len(title) for title, _ in body), default=0) + 2
    found: list[list[str]] = []
    used = 0
    for variant, head in heads.items():
        column = max([len(head), *(len(texts[variant][0]) + len(BEST_MARK) for _, texts in body)]) + 2
        if not found or used + column > width:
            found.append([])
            used = first
        found[-1].append(variant)
        used += column
    return found


def place_row_notes(rows: Sequence[MetricRow], variants: Sequence[str]) -> list[str]:
    """Returns each row's note if its best variant is in this block of variants, else an empty text."""
    return [row.note if row.comparison and row.comparison.best in variants else "" for row in rows]


def build_block(body: Sequence[tuple[str, Cells]], heads: Mapping[str, str], notes: Sequence[str]) -> Table:
    """Returns a block of the table, with the labels of its variants as heads."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", show_edge=False)
    table.add_column("", no_wrap=True)
    for head in heads.values():
        table.add_column(Text(head), justify="right", no_wrap=True)
    if any(notes):
        table.add_column("", no_wrap=True)
    for (title, by_variant), note in zip(body, notes, strict=True):
        texts = []
        for variant in heads:
            text, best = by_variant[variant]
            texts.append(Text(text + (BEST_MARK if best else "  "), "bold green" if best else ""))
        if any(text.plain.strip() != "-" for text in texts):
            table.add_row(Text(title), *texts, *([Text(note, "dim")] if any(notes) else []))
    return table
