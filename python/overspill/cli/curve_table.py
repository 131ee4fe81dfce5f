"""Output of `overspill explain` for a curve: its shape, and a table of x positions and values."""

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from overspill.charts.mechanism_curves import Curves
from overspill.cli import table

TABLE_ROWS = 10  # steps of the table
BAR_CHARACTERS = "▁▂▃▄▅▆▇█"
DEFAULT_QUEUE_SIZE = 100  # frames of a queue whose size is not given


def print_curves(curves: Curves, places: int | None, console: Console) -> None:
    """Prints the curves: their shapes, then a table of x positions and values."""
    told = curves.axis_facts
    console.print()
    console.print(Text(f"{told['y']} over {told['x']}".capitalize(), "bold"))
    if curves.settings:
        console.print(Text(f"  with {curves.settings}"))
    wide = max(len(line.label) for line in curves.lines)
    for line in curves.lines:
        heights = line.heights(np.linspace(0, curves.rise_end, 41))
        drawn = "".join(
            BAR_CHARACTERS[min(len(BAR_CHARACTERS) - 1, int(high * len(BAR_CHARACTERS)))] for high in heights
        )
        console.print(Text(f"  {line.label:{wide}} {drawn}"))
    table.print_renderable(console, build_table(curves, places or DEFAULT_QUEUE_SIZE))
    if told["note"]:
        console.print(Text(told["note"], "dim"))


def build_table(curves: Curves, size: int) -> Table:
    """Returns the table of x positions, queue lengths for a queue of this size, and values of every curve."""
    at = np.linspace(curves.rise_start, curves.rise_end, TABLE_ROWS + 1)
    of_size = curves.axis_facts["of_size"]
    columns = [("u" if of_size else "queue", [f"{place:.4g}" for place in at])]
    if of_size:
        columns.append((f"frames of {size}", [f"{place * size:.6g}" for place in at]))
    columns += [(line.label, [f"{high:.4f}" for high in line.heights(at)]) for line in curves.lines]
    made = Table.grid(padding=(0, 2), pad_edge=True)
    for _ in columns:
        made.add_column(justify="right", no_wrap=True)
    made.add_row(*(Text(name, "bold") for name, _ in columns))
    for row in zip(*(cells for _, cells in columns), strict=True):
        made.add_row(*row)
    return made
