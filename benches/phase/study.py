"""`make bench-phase`: which scatter of hosts' frames, and which clocks, end the locking of phases.

Where a host's link and the bottleneck have the same rate, the frames of one flow can come just after a place
in the queue is free, again and again, while another flow never finds one. Two measures tell of it: the
fairness of long flows, and how long an incast takes when its starts are moved by less than a frame's time.
"""

import argparse
import json
import sys
import tempfile
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

from rich.console import Console
from rich.progress import track

import overspill
from overspill.stats.paired import half_width, mean

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "out" / "bench-phase.jsonl"
PAGE = ROOT / "docs" / "internals" / "phase.md"
MARKER = ("<!-- made by make bench-phase -->", "<!-- end of what is made -->")
SEEDS, INCASTS = 8, 24  # of long flows, of incasts
HARDEST = ("fat_tree", "Linux, CUBIC")  # has six times as many
FAIR = 0.9  # Jain's index of flows that share a link in the long run
SMALL = 0.05  # a difference of completions that matters to nobody, whatever their intervals
BYTES = 1538  # of a full frame with its preamble and gap
SECONDS = 5  # that long flows last: many timeouts at any rate
BUFFER = 100
MARKS = {1: 20, 10: 65}
NETWORKS = {
    "dumbbell": ("n = 16", "h0 h1", "h16 h17", 16, "h16"),
    "star": ("n = 17", "h0 h1", "h16 h16", 16, "h16"),
    "leaf_spine": ("leaves = 5\nspines = 2\nhosts_per_leaf = 4", "h0 h4", "h16 h16", 16, "h16"),
    "fat_tree": ("k = 4", "h0 h4 h8", "h12 h12 h12", 12, "h12"),
}
LAWS = {
    "Linux, Reno": 'kind = "linux"\ncongestion_control = "reno"',
    "Linux, CUBIC": 'kind = "linux"',
    "Linux, DCTCP": 'kind = "linux_dctcp"',
    "RFC 6675, Reno": 'kind = "sack"',
    "RFC 6675, CUBIC": 'kind = "cubic"',
    "RFC 6675, DCTCP": 'kind = "dctcp"\nrecovery = "sack"',
}
# Mean scatter in frames, and millionths by which clocks are off.
SETTINGS = ((0, 0), (0, 100), (0.01, 0), (0.1, 0), (0.25, 0), (0.5, 0), (1, 0), (0.5, 100), (2, 100))
FAST_LAWS, FAST_SETTINGS = ("Linux, Reno", "Linux, CUBIC", "Linux, DCTCP"), ((0, 0), (0.1, 0))
MOVES = ("0ns", "1ns", "frame")


@dataclass(frozen=True)
class Cell:
    """A network at a rate, what hosts do, and how far they are from exact."""

    gbps: int
    network: str
    law: str
    frames: float
    ppm: int

    @property
    def frame_ns(self) -> int:
        """Of a full frame."""
        return BYTES * 8 // self.gbps

    def scenario(self, duration: float, traffic: str) -> str:
        """A scenario with this traffic."""
        link = f'{{ rate = "{self.gbps}Gbps", delay = "10us" }}'
        middle = f"\nbottleneck = {link}" if self.network == "dumbbell" else ""
        marks = f'marking = {{ kind = "ecn_threshold", k = "{MARKS[self.gbps]}pkt" }}\n'
        buffer = f'buffer = {{ kind = "per_port", size = "{BUFFER}pkt" }}\n'
        return (
            f'name = "phase"\nduration = "{duration}s"\n'
            f'[host]\nnic_jitter = "{round(self.frames * self.frame_ns)}ns"\nclock_ppm = {self.ppm}\n'
            f'[topology]\nkind = "{self.network}"\n{NETWORKS[self.network][0]}\nlink = {link}{middle}\n'
            f"[switch]\n{buffer}clock_ppm = {self.ppm}\n{marks if self.law.endswith('DCTCP') else ''}"
            f'[transport]\n{LAWS[self.law]}\nmin_rto = "10ms"\n'
            f'[measure]\ndrain = "5s"\n[[traffic]]\n{traffic}'
        )

    def long(self, move: str) -> str:
        """Long flows into one link."""
        _, sources, destinations, _, _ = NETWORKS[self.network]
        ends = f"sources = {json.dumps(sources.split())}\ndestinations = {json.dumps(destinations.split())}\n"
        head = f'name = "long"\nkind = "long_lived"\njitter = "{move}"\n'
        return self.scenario(SECONDS, head + ends)

    def incast(self, move: str) -> str:
        """One query."""
        _, _, _, senders, receiver = NETWORKS[self.network]
        who = f'senders = {senders}\nreceiver = "{receiver}"\npick = "first"\nsize = "64KB"\n'
        return self.scenario(0.02, f'name = "query"\nkind = "incast"\njitter = "{move}"\n{who}')


@dataclass(frozen=True)
class Found:
    """What a cell gave, over its seeds."""

    cell: Cell
    jain: list[list[float]]  # with starts as they are, and moved by up to a frame's time
    qct_ms: list[list[float]]  # the same, and moved by up to a nanosecond


def metric(text: str, name: str, seeds: int) -> list[float]:
    """A metric of every seed."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "phase.toml"
        file.write_text(text)
        results = overspill.run(file, seeds=seeds)
    return [float(one) for one in results.metric(name).column("value").to_pylist()]


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


def known() -> dict[Cell, Found]:
    """Cells of an earlier call."""
    lines = KEPT.read_text().splitlines() if KEPT.exists() else []
    found = [json.loads(line) for line in lines]
    return {Cell(**one["cell"]): Found(Cell(**one["cell"]), one["jain"], one["qct_ms"]) for one in found}


def label(setting: tuple[float, int]) -> str:
    """A column."""
    frames, ppm = setting
    return f"{frames:g}" + (f", {ppm} ppm" if ppm else "")


def table(found: dict[Cell, Found], rates: tuple[int, ...], kind: str) -> list[str]:
    """Rows of networks and laws, columns of settings."""
    settings = SETTINGS if rates == (1,) else FAST_SETTINGS
    head = ["Gb/s", "network", "hosts", *map(label, settings)]
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
    runs = [value for each in found.jain for value in each]
    unfair = sum(value < FAIR for value in runs)
    return f"**{unfair}** of {len(runs)}" if unfair else f"0 of {len(runs)}"


def qct(found: Found | None) -> str:
    """Means with intervals, starts moved by ever more; marked where they are apart."""
    if found is None:
        return "not run"
    means = [(mean(each), half_width(each) or 0.0) for each in found.qct_ms]
    first, width = means[0]
    apart = any(abs(value - first) > max(width + other, SMALL * first) for value, other in means[1:])
    shown = ", ".join(f"{value:.1f} ± {width:.1f}" for value, width in means)
    return f"**{shown}**" if apart else shown


def publish(found: dict[Cell, Found]) -> None:
    """Writes the tables into the page."""
    text = PAGE.read_text()
    begin, end = (text.index(mark) for mark in MARKER)
    parts = [
        f"{MARKER[0]}\n",
        "**Long flows**: runs in which they do not share the link fairly.\n",
        *table(found, (1,), "jain"), "", *table(found, (10,), "jain"),
        "\n**An incast's completion, ms**: starts as they are, moved by up to 1 ns, by up to a frame.\n",
        *table(found, (1,), "qct"), "", *table(found, (10,), "qct"), "",
    ]  # fmt: skip
    PAGE.write_text(text[:begin] + "\n".join(parts) + "\n" + text[end:])


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--publish", action="store_true", help="write the tables of docs/internals/phase.md")
    asked = parser.parse_args()
    found = known()
    KEPT.parent.mkdir(exist_ok=True)
    left = [cell for cell in cells() if cell not in found]
    with KEPT.open("a") as kept:
        for cell in track(left, description="cells", disable=not sys.stdout.isatty()):
            found[cell] = measure(cell)
            print(json.dumps(asdict(found[cell])), file=kept, flush=True)
    console = Console(width=200)
    for rates in ((1,), (10,)):
        for kind in ("jain", "qct"):
            console.print("\n".join(table(found, rates, kind)), markup=False, highlight=False, soft_wrap=True)
    if asked.publish:
        publish(found)


if __name__ == "__main__":
    main()
