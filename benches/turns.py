"""Programs timed in turns on one machine, and the interval of how fast one is beside another.

Speed is packet-hops per second of CPU time, user and system, of a whole process: on a machine with others a
process waits for its turn, which the clock counts and CPU time does not. Loading the scenario and building
the network are in it, some percent at most. What else disturbs, caches and clocks of cores that others use,
changes slowly beside a round, so that both sides of a round see the same.
"""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Protocol

from scipy.stats import quantile_test

ROOT = Path(__file__).resolve().parents[1]
LEVEL = 0.95
ROUNDS = 11
# With fewer values no two of them enclose the median at this level.
FEWEST = 6


class Broken(Exception):
    """What cannot be measured, and why."""


@dataclass(frozen=True)
class Ratio:
    """Speed beside speed: the median over the rounds and its 95 % interval."""

    ratio: float
    low: float
    high: float

    @staticmethod
    def from_rounds(ratios: Sequence[float]) -> "Ratio":
        """By order statistics, exact whatever the distribution, so that a disturbed round does no harm."""
        if len(ratios) < FEWEST:
            raise Broken(f"{len(ratios)} rounds; expected {FEWEST} or more, for an interval")
        interval = quantile_test(ratios, q=1.0, p=0.5).confidence_interval(LEVEL)
        return Ratio(float(median(ratios)), float(interval.low), float(interval.high))


@dataclass(frozen=True)
class Speed:
    """What one process did."""

    packet_hops: int
    per_second: float


class Timed(Protocol):
    """What is timed."""

    def speed(self) -> Speed:
        """Once more, in a process of its own."""


def spent(line: Sequence[str | Path], env: Mapping[str, str]) -> tuple[str, float]:
    """What a process printed, and its CPU time in seconds, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(line, env=env, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise Broken(f"{' '.join(map(str, line))}: {done.stderr.strip()[-2000:]}")
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@dataclass(frozen=True)
class Program:
    """A build of benches/whole_runs.rs, and one of its runs."""

    path: Path
    case: str

    @property
    def times(self) -> int:
        """How often a process does the run, so that it takes half a second at least."""
        return 2 if self.case.startswith("k16") else 6

    def speed(self) -> Speed:
        """Once more, in a process of its own."""
        env = os.environ | {"OVERSPILL_BENCH_ROUNDS": str(self.times)}
        printed, seconds = spent([self.path, "--alone", self.case], env)
        try:
            hops = int(json.loads(printed)["packet_hops"])
        except (ValueError, KeyError) as error:
            raise Broken(f"{self.path} has no run `{self.case}` that prints its packet-hops") from error
        return Speed(hops, hops * self.times / seconds)

    def scenario(self) -> str:
        """The run as the command takes it."""
        return spent([self.path, "--scenario", self.case], os.environ)[0]


@dataclass(frozen=True)
class Command:
    """`overspill run` of a scenario with default tables and without a page, as a user starts it."""

    scenario: Path

    def speed(self) -> Speed:
        """Once more, in a process of its own, with results in a folder that goes again."""
        # A user's Python keeps what it has compiled.
        env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        with TemporaryDirectory() as folder:
            out = Path(folder) / "out"
            line = [sys.executable, "-m", "overspill", "run", self.scenario, "--no-report", "--out", out]
            _, seconds = spent(line, env)
            runs = json.loads((out / "manifest.json").read_text(encoding="utf-8"))["runs"]
        hops = sum(int(run["summary"]["hops"]) for run in runs)
        return Speed(hops, hops / seconds)


@dataclass(frozen=True)
class Turns:
    """Two programs' speeds, round by round."""

    one: list[Speed]
    other: list[Speed]

    @property
    def ratios(self) -> list[float]:
        """How many times as fast the first is, by rounds."""
        return [a.per_second / b.per_second for a, b in zip(self.one, self.other, strict=True)]

    @property
    def ratio(self) -> Ratio:
        """Over all rounds."""
        return Ratio.from_rounds(self.ratios)

    @property
    def same_packets(self) -> bool:
        """Whether both did the same number of packet-hops."""
        return len({speed.packet_hops for speed in self.one + self.other}) == 1


def in_turns(one: Timed, other: Timed, rounds: int) -> Turns:
    """Both in each round; who begins changes, so that a machine that grows slower favours neither."""
    turns = Turns([], [])
    for number in range(rounds):
        sides = [(turns.one, one), (turns.other, other)]
        for speeds, program in sides if number % 2 == 0 else reversed(sides):
            speeds.append(program.speed())
    return turns


def compiled(tree: Path, target: Path | None = None) -> Path:
    """benches/whole_runs.rs of a tree, compiled; the crate is found by its folder, whatever its name."""
    line = ["cargo", "bench", "--quiet", "--manifest-path", str(tree / "crates/sim/Cargo.toml")]
    line += ["--bench", "whole_runs", "--no-run", "--message-format", "json"]
    env = os.environ | ({} if target is None else {"CARGO_TARGET_DIR": str(target)})
    built = subprocess.run(line, cwd=tree, env=env, stdout=subprocess.PIPE, text=True, check=False)
    if built.returncode:
        raise Broken(f"`{' '.join(line)}` failed")
    for message in map(json.loads, built.stdout.splitlines()):
        if message.get("executable") and message["target"]["name"] == "whole_runs":
            return Path(message["executable"])
    raise Broken(f"`{' '.join(line)}` made no program")


def machine() -> str:
    """What else the machine is doing: runnable processes over the last minute, and cores."""
    return f"{os.getloadavg()[0]:.2f} runnable on {os.cpu_count()} cores"
