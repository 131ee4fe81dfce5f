"""Output of `overspill trace`: one row per visit to a node, and a summary."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from overspill.cli import table
from overspill.tracing import text
from overspill.tracing.packet_trace import PacketTrace

RIGHT_ALIGNED_COLUMNS = (0, 4, 5)


def print_trace(traced: PacketTrace, console: Console) -> None:
    """Prints a packet trace: its table of visits and its summary."""
    facts = traced.facts
    head = f"{facts['scenario']}, {facts['variant']}, seed {facts['seed']}: {traced.which}"
    console.print(Text(head, "bold"), soft_wrap=True)
    console.print()
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", show_edge=False)
    for at, name in enumerate(text.COLUMN_HEADS):
        grid.add_column(name, justify="right" if at in RIGHT_ALIGNED_COLUMNS else "left", no_wrap=True)
    for visit in traced.visits:
        texts = text.visit_cells(traced, visit)
        grid.add_row(*(Text(text, "yellow" if visit.cause else "") for text in texts))
    table.print_full_width(console, grid)
    console.print()
    for line in text.summary_lines(traced):
        console.print(Text(line), soft_wrap=True)
