"""The table that a run prints: one metric a row, variants side by side."""

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
LINE = 160  # letters of a line of text, and of a row of the table, where there is no screen
WIDEST = 10_000


def show(results: Results, console: Console, every: bool = False) -> None:
    """Print the header, the table, of the rows that say most or `every` one, and the legend.

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
    """Print what a check of phases found, where it found anything."""
    rows, more = phase.table(results.facts)
    if not rows:
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", show_edge=False)
    titles = (
        "hangs on ties",
        "",
        "as it is",
        f"starts moved by < {formats.time(results.facts['phase']['frame_ps'])}",
    )
    for at, title in enumerate(titles):
        table.add_column(title, justify="right" if at > 1 else "left", no_wrap=True)
    for row in rows:
        table.add_row(Text(plain(row.variant)), *map(Text, (row.title, row.before, row.after)))
    console.print()
    whole(console, table)
    if more:
        put(console, Text(f"{more} more metrics moved; `phase` in results.json has all", "dim"), LINE)


def counted(chosen: int, shown: int, known: int) -> str:
    """How many of the metrics that have a value are in the table, and where the others are."""
    nothing = known - shown
    zero = f"{nothing} that {'is' if nothing == 1 else 'are'} 0 in every run" if nothing else ""
    if chosen < shown:
        left = f"; --all has all but {zero}" if zero else "; --all has all"
    else:
        left = f"; left out: {zero}" if zero else ""
    return f"{chosen} of {known} metrics{left}{'; results.json has every one' if chosen < known else ''}"


def put(console: Console, what: RenderableType, width: int = WIDEST) -> None:
    """Print; where nobody looks at a screen, in lines of so many letters, without blanks at their end."""
    if console.is_terminal:
        console.print(what, crop=False)
        return
    made = io.StringIO()
    Console(file=made, width=width, highlight=False, no_color=True).print(what, crop=False)
    for line in made.getvalue().splitlines():
        console.print(Text(line.rstrip()), soft_wrap=True)


def whole(console: Console, table: Table) -> None:
    """Print as wide as need be: a terminal may wrap a line, but no number is cut."""
    width = console.width
    console.width = max(width, console.measure(table, options=console.options.update(width=10_000)).maximum)
    put(console, table)
    console.width = width


def blocks(body: Sequence[tuple[str, Cells]], heads: Mapping[str, str], width: int) -> list[list[str]]:
    """Variants in groups that fit the width beside the titles; one at least. `heads` has their labels."""
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
    """Returns the note of each row, in the block of variants that has its best."""
    return [row.note if row.comparison and row.comparison.best in variants else "" for row in rows]


def grid(body: Sequence[tuple[str, Cells]], heads: Mapping[str, str], notes: Sequence[str]) -> Table:
    """One block of the table, with the labels of its variants."""
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
