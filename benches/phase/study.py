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
from cell import NETWORKS, SEEDS, START_OFFSETS, TRANSPORTS, Cell, format_interval, run_metric
from overspill.stats.paired import half_width, mean
from questions import Sample, Values

ROOT = Path(__file__).resolve().parents[2]
RESULTS_FILE = ROOT / "out" / "bench-phase.jsonl"
PAGE = ROOT / "docs" / "internals" / "phase.md"
MARKER = ("<!-- made by make bench-phase -->", "<!-- end of what is made -->")
INCAST_SEEDS_PER_CELL = 24  # seeds of incasts
MANY_SEEDS_CELL = ("fat_tree", "Linux, CUBIC")  # runs six times as many seeds
NEGLIGIBLE_DIFFERENCE = (
    0.05  # relative difference of completions that is too small to matter, whatever the intervals
)
# Mean jitter in frames, and clock error in ppm.
JITTER_AND_CLOCK_SETTINGS = (
    (0, 0),
    (0, 100),
    (0.01, 0),
    (0.1, 0),
    (0.25, 0),
    (0.5, 0),
    (1, 0),
    (0.5, 100),
    (2, 100),
)
FAST_LAWS, FAST_SETTINGS = (
    ("Linux, Reno", "Linux, CUBIC", "Linux, DCTCP"),
    ((0, 0), (0.1, 0), (0.5, 0), (1, 0)),
)


@dataclass(frozen=True)
class CellResult:
    """Results of a cell over its seeds."""

    cell: Cell
    jain: list[list[float]]  # with exact starts, and with starts moved by up to a frame's time
    qct_ms: list[list[float]]  # also with starts moved by up to a nanosecond


def measure_cell(cell: Cell) -> CellResult:
    """Runs a cell."""
    moves = [move.replace("frame", f"{cell.frame_ns}ns") for move in START_OFFSETS]
    seeds = 6 * SEEDS if (cell.network, cell.law) == MANY_SEEDS_CELL else SEEDS
    jain = [run_metric(cell.long_flows_scenario(move), "jain", seeds) for move in (moves[0], moves[-1])]
    qct = [
        [1e3 * value for value in run_metric(cell.incast_scenario(move), "qct_mean", INCAST_SEEDS_PER_CELL)]
        for move in moves
    ]
    return CellResult(cell, jain, qct)


def all_cells() -> list[Cell]:
    """Returns all cells of the study."""
    slow = product((1,), NETWORKS, TRANSPORTS, JITTER_AND_CLOCK_SETTINGS)
    fast = product((10,), ("star",), FAST_LAWS, FAST_SETTINGS)
    return [Cell(gbps, network, law, *setting) for gbps, network, law, setting in (*slow, *fast)]


def read_results() -> tuple[dict[Cell, CellResult], Values]:
    """Returns the cells and samples that earlier calls have stored."""
    lines = RESULTS_FILE.read_text().splitlines() if RESULTS_FILE.exists() else []
    found = [json.loads(line) for line in lines]
    of_cells = [
        CellResult(Cell(**one["cell"]), one["jain"], one["qct_ms"]) for one in found if "sample" not in one
    ]
    values = {Sample.from_json(one): one["values"] for one in found if "sample" in one}
    return {one.cell: one for one in of_cells}, values


def format_table(found: dict[Cell, CellResult], rates: tuple[int, ...], kind: str) -> list[str]:
    """Returns a table with rows of networks and transports, and columns of settings."""
    settings = JITTER_AND_CLOCK_SETTINGS if rates == (1,) else FAST_SETTINGS
    head = ["Gb/s", "network", "hosts", *map(questions.format_jitter, settings)]
    lines = [f"| {' | '.join(head)} |", "| --- " * len(head) + "|"]
    for gbps, network, law in product(rates, NETWORKS, TRANSPORTS):
        row = [found.get(Cell(gbps, network, law, *setting)) for setting in settings]
        if any(row):
            shown = [format_unfair_runs(one) if kind == "jain" else format_completions(one) for one in row]
            lines.append(f"| {gbps} | {network} | {law} | " + " | ".join(shown) + " |")
    return lines if len(lines) > 2 else []


def format_unfair_runs(found: CellResult | None) -> str:
    """Formats the number of unfair runs, in bold unless it is 0."""
    if found is None:
        return "not run"
    return questions.format_unfair_count([value for each in found.jain for value in each])


def format_completions(found: CellResult | None) -> str:
    """Formats mean completions with intervals, by increasing offset of starts, in bold if they differ."""
    if found is None:
        return "not run"
    means = [(mean(each), half_width(each) or 0.0) for each in found.qct_ms]
    first, width = means[0]
    apart = any(
        abs(value - first) > max(width + other, NEGLIGIBLE_DIFFERENCE * first) for value, other in means[1:]
    )
    shown = ", ".join(map(format_interval, found.qct_ms))
    return f"**{shown}**" if apart else shown


def page_tables(found: dict[Cell, CellResult], values: Values) -> list[str]:
    """Returns all tables of the page."""
    return [
        "**Long flows**: runs in which the flows do not share the link fairly.\n",
        *format_table(found, (1,), "jain"), "", *format_table(found, (10,), "jain"),
        "\n**An incast's completion, ms**: with exact starts, with starts moved by up to 1 ns, and by up to "
        "a frame's time.\n",
        *format_table(found, (1,), "qct"), "", *format_table(found, (10,), "qct"),
        *questions.all_tables(values),
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
    found, values = read_results()
    RESULTS_FILE.parent.mkdir(exist_ok=True)
    left = [cell for cell in all_cells() if cell not in found]
    open_questions = [one for one in questions.all_samples() if one not in values]
    with RESULTS_FILE.open("a") as kept:
        for cell in track(left, description="cells", disable=not sys.stdout.isatty()):
            found[cell] = measure_cell(cell)
            print(json.dumps(asdict(found[cell])), file=kept, flush=True)
        for one in track(open_questions, description="questions", disable=not sys.stdout.isatty()):
            values[one] = one.measure()
            print(json.dumps(one.to_json(values[one])), file=kept, flush=True)
    lines = page_tables(found, values)
    Console(width=200).print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)
    if asked.publish:
        publish(lines)


if __name__ == "__main__":
    main()
