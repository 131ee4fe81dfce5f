"""Table that a run prints: one metric per row, variants side by side."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from overspill.errors import plain
from overspill.results import cells, formats, header, phase
from overspill.results.cells import Cells
from overspill.results.rows import Row

if TYPE_CHECKING:
    from overspill.results.results import Results

MARK = " *"
LINE = 160  # characters of a line of text, and of a row of the table, without a terminal
WIDEST = 10_000


def show(results: Results, console: Console, every: bool = False) -> None:
    """Prints header, table and legend; the table has the most important rows, or `every` one.

    Numbers are never cut.
    """
    facts = Table.grid(padding=(0, 2, 0, 0))
    for line in header.lines(results):
        facts.add_row(
            Text(line.label, "bold red" if line.loud else "bold"), Text(line.text, "red" if line.loud else "")
        )
    facts.columns[0].no_wrap = True
    put(console, facts, LINE)
    if not results.runs:
        return
    every_row = [row for row in results.rows if row.known]
    known = cells.without_pooled(every_row, results.kinds)
    rows = [row for row in known if row.visible]
    chosen = rows if every else cells.printed(every_row, results.kinds)
    body = [cells.cells(row) for row in chosen]
    heads = {variant: results.label(variant) for variant in results.variants}
    for variants in blocks(body, heads, console.width):
        console.print()
        shown = {variant: heads[variant] for variant in variants}
        whole(console, grid(body, shown, notes(chosen, variants)))
    put(console, Text(counted(len(chosen), len(rows), len(known)), "dim"), LINE)
    put(console, Text(cells.legend(results), "dim"), LINE)
    moved(results, console)


def moved(results: Results, console: Console) -> None:
    """Prints the metrics that a phase check moved, if there are any."""
    rows, more = phase.table(results.facts)
    if not rows:
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", show_edge=False)
    titles = (
        "sensitive to tie-breaking",
        "",
        "original starts",
        f"starts moved by < {formats.time(results.facts['phase']['frame_ps'])}",
    )
    for at, title in enumerate(titles):
        table.add_column(title, justify="right" if at > 1 else "left", no_wrap=True)
    for row in rows:
        table.add_row(Text(plain(row.variant)), *map(Text, (row.title, row.before, row.after)))
    console.print()
    whole(console, table)
    if more:
        put(console, Text(f"{more} more metrics changed; all are in `phase` of results.json", "dim"), LINE)


def counted(chosen: int, shown: int, known: int) -> str:
    """Describes how many of the known metrics the table has, and where the others are."""
    nothing = known - shown
    zero = f"{nothing} that {'is' if nothing == 1 else 'are'} 0 in every run" if nothing else ""
    if chosen < shown:
        left = f"; --all prints all but {zero}" if zero else "; --all prints all"
    else:
        left = f"; not shown: {zero}" if zero else ""
    return f"{chosen} of {known} metrics{left}{'; results.json has all' if chosen < known else ''}"


def put(console: Console, what: RenderableType, width: int = WIDEST) -> None:
    """Prints a renderable; without a terminal in lines of this width, without trailing blanks."""
    if console.is_terminal:
        console.print(what, crop=False)
        return
    made = io.StringIO()
    Console(file=made, width=width, highlight=False, no_color=True).print(what, crop=False)
    for line in made.getvalue().splitlines():
        console.print(Text(line.rstrip()), soft_wrap=True)


def whole(console: Console, table: Table) -> None:
    """Prints a table in full width: a terminal may wrap a line, but no number is cut."""
    width = console.width
    console.width = max(width, console.measure(table, options=console.options.update(width=10_000)).maximum)
    put(console, table)
    console.width = width


def blocks(body: Sequence[tuple[str, Cells]], heads: Mapping[str, str], width: int) -> list[list[str]]:
    """Returns variants in groups that fit the width beside the titles, at least one per group.

    `heads` has their labels.
    """
    first = max((len(title) for title, _ in body), default=0) + 2
    found: list[list[str]] = []
    used = 0
    for variant, head in heads.items():
        column = max([len(head), *(len(texts[variant][0]) + len(MARK) for _, texts in body)]) + 2
        if not found or used + column > width:
            found.append([])
            used = first
        found[-1].append(variant)
        used += column
    return found


def notes(rows: Sequence[Row], variants: Sequence[str]) -> list[str]:
    """Returns the note of each row, in the block of variants that has its best one."""
    return [row.note if row.comparison and row.comparison.best in variants else "" for row in rows]


def grid(body: Sequence[tuple[str, Cells]], heads: Mapping[str, str], notes: Sequence[str]) -> Table:
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
            texts.append(Text(text + (MARK if best else "  "), "bold green" if best else ""))
        if any(text.plain.strip() != "-" for text in texts):
            table.add_row(Text(title), *texts, *([Text(note, "dim")] if any(notes) else []))
    return table
