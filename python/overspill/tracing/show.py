"""A journey as text: a row a stay at a node, and a summary."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from overspill import formats, header, table
from overspill.tracing.journey import ARRIVED, BOUNCED, DETOURED, MARKED, Journey, Visit, compressed

HEADS = ("time (us)", "node", "what happened", "leaves to", "queue", "waited (us)")
RIGHT = (0, 4, 5)


def show(journey: Journey, console: Console) -> None:
    """Print it."""
    facts = journey.facts
    which = f"flow {facts['flow']}, {'reverse ' if facts['reverse'] else ''}packet {facts['n']}"
    head = f"{facts['scenario']}, {facts['variant']}, seed {facts['seed']}: {which}"
    console.print(Text(head, "bold"), soft_wrap=True)
    console.print()
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", show_edge=False)
    for at, name in enumerate(HEADS):
        grid.add_column(name, justify="right" if at in RIGHT else "left", no_wrap=True)
    for visit in journey.visits:
        texts = cells(journey, visit)
        grid.add_row(*(Text(text, "yellow" if visit.turned else "") for text in texts))
    table.whole(console, grid)
    console.print()
    for line in summary(journey):
        console.print(Text(line), soft_wrap=True)


def cells(journey: Journey, visit: Visit) -> list[str]:
    """A stay: when, where, what happened, where it left to, what waited before it, how long it did."""
    waited = ""
    if visit.left_ps is not None and visit.stored_ps is not None:
        waited = us(visit.left_ps - visit.stored_ps)
    elif visit.stored_ps is not None and visit is journey.visits[-1] and journey.fate == "under_way":
        waited = f"> {us(journey.times_ps[1] - visit.stored_ps)}"
    to = "" if visit.to is None else journey.names[visit.to]
    before = "" if visit.before is None else str(visit.before)
    return [us(visit.since_ps), journey.names[visit.node], "; ".join(visit.happened), to, before, waited]


def us(picoseconds: int) -> str:
    """Microseconds, to the nanosecond."""
    return formats.number(picoseconds / 1e6, 3)


def summary(journey: Journey) -> list[str]:
    """What became of it, and its path."""
    start, end = journey.times_ps
    under_way = f"under way when the run ended at {formats.time(end)},"
    fates = {"delivered": f"delivered to {journey.path[-1]}", "under_way": under_way}
    fate = fates.get(journey.fate, f"lost at {journey.path[-1]} ({journey.fate})")
    counts = [(ARRIVED, "hop"), (DETOURED, "detour"), (BOUNCED, "bounce"), (MARKED, "mark")]
    parts = [
        counted(journey.count(what), name) for what, name in counts if what == ARRIVED or journey.count(what)
    ]
    return [
        f"{fate} after {formats.time(end - start)}: {', '.join(parts)}",
        f"path: {compressed(journey.path)}",
        *run_end(journey.facts.get("run_end") or {}),
    ]


def run_end(found: Mapping[str, Any]) -> list[str]:
    """What kept it: links that wait for each other for ever, or a run that failed."""
    deadlock, failed = found.get("deadlock"), found.get("failed")
    told = [f"DEADLOCK: {header.circle(deadlock, 1)}"] if deadlock else []
    return [*told, f"FAILED: the run failed: {failed}"] if failed else told


def counted(count: int, name: str) -> str:
    """`1 hop`, `2 hops`."""
    return f"{count} {name}{'' if count == 1 else 's'}"
