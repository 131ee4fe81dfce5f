"""Output of `overspill trace`: one row per visit to a node, and a summary."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from overspill.cli import table
from overspill.tracing import text
from overspill.tracing.packet_trace import PacketTrace

RIGHT = (0, 4, 5)


def show(traced: PacketTrace, console: Console) -> None:
    """Prints the trace."""
    facts = traced.facts
    head = f"{facts['scenario']}, {facts['variant']}, seed {facts['seed']}: {traced.which}"
    console.print(Text(head, "bold"), soft_wrap=True)
    console.print()
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", show_edge=False)
    for at, name in enumerate(text.HEADS):
        grid.add_column(name, justify="right" if at in RIGHT else "left", no_wrap=True)
    for visit in traced.visits:
        texts = text.cells(traced, visit)
        grid.add_row(*(Text(text, "yellow" if visit.turned else "") for text in texts))
    table.whole(console, grid)
    console.print()
    for line in text.summary(traced):
        console.print(Text(line), soft_wrap=True)
