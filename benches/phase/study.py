"""`make bench-phase`: jitter of hosts' frames, and clock errors, that end phase-locking.

If a host's link and the bottleneck have the same rate, flows may be phase-locked. The frames of one flow then
always arrive just after a frame has left the queue, while another flow never finds space. Two measures show
this: the fairness of long flows, and the completion of an incast whose starts are moved by less than the time
of a frame. `questions.py` examines the results further.
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
HARDEST = ("fat_tree", "Linux, CUBIC")  # runs six times as many seeds
SMALL = 0.05  # relative difference of completions that is too small to matter, whatever the intervals
# Mean jitter in frames, and clock error in ppm.
SETTINGS = ((0, 0), (0, 100), (0.01, 0), (0.1, 0), (0.25, 0), (0.5, 0), (1, 0), (0.5, 100), (2, 100))
FAST_LAWS, FAST_SETTINGS = (
    ("Linux, Reno", "Linux, CUBIC", "Linux, DCTCP"),
    ((0, 0), (0.1, 0), (0.5, 0), (1, 0)),
)


@dataclass(frozen=True)
class Found:
    """Results of a cell over its seeds."""

    cell: Cell
    jain: list[list[float]]  # with exact starts, and with starts moved by up to a frame's time
    qct_ms: list[list[float]]  # also with starts moved by up to a nanosecond


def measure(cell: Cell) -> Found:
    """Runs a cell."""
    moves = [move.replace("frame", f"{cell.frame_ns}ns") for move in MOVES]
    seeds = 6 * SEEDS if (cell.network, cell.law) == HARDEST else SEEDS
    jain = [metric(cell.long(move), "jain", seeds) for move in (moves[0], moves[-1])]
    qct = [[1e3 * value for value in metric(cell.incast(move), "qct_mean", INCASTS)] for move in moves]
    return Found(cell, jain, qct)


def cells() -> list[Cell]:
    """Returns all cells of the study."""
    slow = product((1,), NETWORKS, LAWS, SETTINGS)
    fast = product((10,), ("star",), FAST_LAWS, FAST_SETTINGS)
    return [Cell(gbps, network, law, *setting) for gbps, network, law, setting in (*slow, *fast)]


def known() -> tuple[dict[Cell, Found], Values]:
    """Returns the cells and samples that earlier calls have stored."""
    lines = KEPT.read_text().splitlines() if KEPT.exists() else []
    found = [json.loads(line) for line in lines]
    of_cells = [
        Found(Cell(**one["cell"]), one["jain"], one["qct_ms"]) for one in found if "sample" not in one
    ]
    values = {Sample.read(one): one["values"] for one in found if "sample" in one}
    return {one.cell: one for one in of_cells}, values


def table(found: dict[Cell, Found], rates: tuple[int, ...], kind: str) -> list[str]:
    """Returns a table with rows of networks and transports, and columns of settings."""
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
    """Formats the number of unfair runs, in bold unless it is 0."""
    if found is None:
        return "not run"
    return questions.counted([value for each in found.jain for value in each])


def qct(found: Found | None) -> str:
    """Formats mean completions with intervals, by increasing offset of starts, in bold if they differ."""
    if found is None:
        return "not run"
    means = [(mean(each), half_width(each) or 0.0) for each in found.qct_ms]
    first, width = means[0]
    apart = any(abs(value - first) > max(width + other, SMALL * first) for value, other in means[1:])
    shown = ", ".join(map(spread, found.qct_ms))
    return f"**{shown}**" if apart else shown


def page(found: dict[Cell, Found], values: Values) -> list[str]:
    """Returns all tables of the page."""
    return [
        "**Long flows**: runs in which the flows do not share the link fairly.\n",
        *table(found, (1,), "jain"), "", *table(found, (10,), "jain"),
        "\n**An incast's completion, ms**: with exact starts, with starts moved by up to 1 ns, and by up to "
        "a frame's time.\n",
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
    """Runs the command line."""
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
