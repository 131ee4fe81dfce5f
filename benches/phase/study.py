"""`make bench-phase`: which scatter of hosts' frames, and which clocks, end the locking of phases.

Where a host's link and the bottleneck have the same rate, the frames of one flow can come just after a place
in the queue is free, again and again, while another flow never finds one. Two measures tell of it: the
fairness of long flows, and how long an incast takes when its starts are moved by less than a frame's time.
What follows from them is asked in `questions.py`.
"""

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

from rich.console import Console
from rich.progress import track

import questions
from cell import LAWS, MOVES, NETWORKS, SEEDS, Cell, metric, spread
from overspill.stats.paired import half_width, mean
from questions import Sample, Values

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "out" / "bench-phase.jsonl"
PAGE = ROOT / "docs" / "internals" / "phase.md"
MARKER = ("<!-- made by make bench-phase -->", "<!-- end of what is made -->")
INCASTS = 24  # seeds of incasts
HARDEST = ("fat_tree", "Linux, CUBIC")  # has six times as many
SMALL = 0.05  # a difference of completions that matters to nobody, whatever their intervals
# Mean scatter in frames, and millionths by which clocks are off.
SETTINGS = ((0, 0), (0, 100), (0.01, 0), (0.1, 0), (0.25, 0), (0.5, 0), (1, 0), (0.5, 100), (2, 100))
FAST_LAWS, FAST_SETTINGS = (
    ("Linux, Reno", "Linux, CUBIC", "Linux, DCTCP"),
    ((0, 0), (0.1, 0), (0.5, 0), (1, 0)),
)


@dataclass(frozen=True)
class Found:
    """What a cell gave, over its seeds."""

    cell: Cell
    jain: list[list[float]]  # with starts as they are, and moved by up to a frame's time
    qct_ms: list[list[float]]  # the same, and moved by up to a nanosecond


def measure(cell: Cell) -> Found:
    """All runs of a cell."""
    moves = [move.replace("frame", f"{cell.frame_ns}ns") for move in MOVES]
    seeds = 6 * SEEDS if (cell.network, cell.law) == HARDEST else SEEDS
    jain = [metric(cell.long(move), "jain", seeds) for move in (moves[0], moves[-1])]
    qct = [[1e3 * value for value in metric(cell.incast(move), "qct_mean", INCASTS)] for move in moves]
    return Found(cell, jain, qct)


def cells() -> list[Cell]:
    """The study."""
    slow = product((1,), NETWORKS, LAWS, SETTINGS)
    fast = product((10,), ("star",), FAST_LAWS, FAST_SETTINGS)
    return [Cell(gbps, network, law, *setting) for gbps, network, law, setting in (*slow, *fast)]


def known() -> tuple[dict[Cell, Found], Values]:
    """Cells and samples of an earlier call."""
    lines = KEPT.read_text().splitlines() if KEPT.exists() else []
    found = [json.loads(line) for line in lines]
    of_cells = [
        Found(Cell(**one["cell"]), one["jain"], one["qct_ms"]) for one in found if "sample" not in one
    ]
    values = {Sample.read(one): one["values"] for one in found if "sample" in one}
    return {one.cell: one for one in of_cells}, values


def table(found: dict[Cell, Found], rates: tuple[int, ...], kind: str) -> list[str]:
    """Rows of networks and laws, columns of settings."""
    settings = SETTINGS if rates == (1,) else FAST_SETTINGS
    head = ["Gb/s", "network", "hosts", *map(questions.label, settings)]
    lines = [f"| {' | '.join(head)} |", "| --- " * len(head) + "|"]
    for gbps, network, law in product(rates, NETWORKS, LAWS):
        row = [found.get(Cell(gbps, network, law, *setting)) for setting in settings]
        if any(row):
            shown = [jain(one) if kind == "jain" else qct(one) for one in row]
            lines.append(f"| {gbps} | {network} | {law} | " + " | ".join(shown) + " |")
    return lines if len(lines) > 2 else []


def jain(found: Found | None) -> str:
    """Runs that are not fair, of all; marked where there are any."""
    if found is None:
        return "not run"
    return questions.counted([value for each in found.jain for value in each])


def qct(found: Found | None) -> str:
    """Means with intervals, starts moved by ever more; marked where they are apart."""
    if found is None:
        return "not run"
    means = [(mean(each), half_width(each) or 0.0) for each in found.qct_ms]
    first, width = means[0]
    apart = any(abs(value - first) > max(width + other, SMALL * first) for value, other in means[1:])
    shown = ", ".join(map(spread, found.qct_ms))
    return f"**{shown}**" if apart else shown


def page(found: dict[Cell, Found], values: Values) -> list[str]:
    """All tables."""
    return [
        "**Long flows**: runs in which they do not share the link fairly.\n",
        *table(found, (1,), "jain"), "", *table(found, (10,), "jain"),
        "\n**An incast's completion, ms**: starts as they are, moved by up to 1 ns, by up to a frame.\n",
        *table(found, (1,), "qct"), "", *table(found, (10,), "qct"),
        *questions.tables(values),
    ]  # fmt: skip


def publish(lines: list[str]) -> None:
    """Writes the tables into the page."""
    text = PAGE.read_text()
    begin, end = (text.index(mark) for mark in MARKER)
    parts = [f"{MARKER[0]}\n", *lines, ""]
    PAGE.write_text(text[:begin] + "\n".join(parts) + "\n" + text[end:])


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--publish", action="store_true", help="write the tables of docs/internals/phase.md")
    asked = parser.parse_args()
    found, values = known()
    KEPT.parent.mkdir(exist_ok=True)
    left = [cell for cell in cells() if cell not in found]
    open_questions = [one for one in questions.samples() if one not in values]
    with KEPT.open("a") as kept:
        for cell in track(left, description="cells", disable=not sys.stdout.isatty()):
            found[cell] = measure(cell)
            print(json.dumps(asdict(found[cell])), file=kept, flush=True)
        for one in track(open_questions, description="questions", disable=not sys.stdout.isatty()):
            values[one] = one.measure()
            print(json.dumps(one.kept(values[one])), file=kept, flush=True)
    lines = page(found, values)
    Console(width=200).print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)
    if asked.publish:
        publish(lines)


if __name__ == "__main__":
    main()
