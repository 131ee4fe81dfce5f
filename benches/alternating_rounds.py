"""Programs timed in alternating rounds on one machine, and the interval of their speed ratio.

Speed is packet-hops per second of CPU time, user and system, of a whole process. On a shared machine a
process waits for a core; wall-clock time includes this wait and CPU time does not. Loading the scenario and
building the network are included, a few percent at most. Caches and core clocks, which other processes
affect, change slowly compared with a round. So both sides of a round see the same disturbances.
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
CONFIDENCE_LEVEL = 0.95
ROUNDS = 11
# Smallest sample size for which order statistics enclose the median at this level.
MIN_ROUNDS = 6


class FailedMeasurement(Exception):
    """A measurement that failed; the text says which and why."""


@dataclass(frozen=True)
class Ratio:
    """Speed ratio of two programs: its median over the rounds and the 95% interval of the median."""

    ratio: float
    low: float
    high: float

    @staticmethod
    def from_rounds(ratios: Sequence[float]) -> "Ratio":
        """Computes the interval by order statistics: valid for any distribution, robust to outliers."""
        if len(ratios) < MIN_ROUNDS:
            raise FailedMeasurement(f"{len(ratios)} rounds; expected {MIN_ROUNDS} or more, for an interval")
        interval = quantile_test(ratios, q=1.0, p=0.5).confidence_interval(CONFIDENCE_LEVEL)
        return Ratio(float(median(ratios)), float(interval.low), float(interval.high))


@dataclass(frozen=True)
class Speed:
    """Packet-hops of one process, and packet-hops per second of its CPU time."""

    packet_hops: int
    per_second: float


class TimedProgram(Protocol):
    """Program whose speed is measured."""

    def speed(self) -> Speed:
        """Runs the program once, in a process of its own, and returns its speed."""


def run_with_cpu_time(line: Sequence[str | Path], env: Mapping[str, str]) -> tuple[str, float]:
    """Returns the standard output of a process and its CPU time in seconds, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(line, env=env, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise FailedMeasurement(f"{' '.join(map(str, line))}: {done.stderr.strip()[-2000:]}")
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@dataclass(frozen=True)
class Program:
    """A build of `benches/whole_runs.rs`, and one of its cases."""

    path: Path
    case: str

    @property
    def runs_per_process(self) -> int:
        """Number of runs that a process does, so that it takes at least half a second."""
        return 2 if self.case.startswith("k16") else 6

    def speed(self) -> Speed:
        """Runs the case in a process of its own and returns its speed."""
        env = os.environ | {"OVERSPILL_BENCH_ROUNDS": str(self.runs_per_process)}
        printed, seconds = run_with_cpu_time([self.path, "--alone", self.case], env)
        try:
            hops = int(json.loads(printed)["packet_hops"])
        except (ValueError, KeyError) as error:
            raise FailedMeasurement(
                f"{self.path} has no run `{self.case}` that prints its packet-hops"
            ) from error
        return Speed(hops, hops * self.runs_per_process / seconds)

    def scenario(self) -> str:
        """Returns the case as a scenario file for the command."""
        return run_with_cpu_time([self.path, "--scenario", self.case], os.environ)[0]


@dataclass(frozen=True)
class Command:
    """`overspill run` of a scenario with default tables and without a report, as a user starts it."""

    scenario: Path

    def speed(self) -> Speed:
        """Runs the command once in a process of its own, with results in a temporary folder."""
        # A user's Python keeps its compiled modules.
        env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        with TemporaryDirectory() as folder:
            out = Path(folder) / "out"
            line = [sys.executable, "-m", "overspill", "run", self.scenario, "--no-report", "--out", out]
            _, seconds = run_with_cpu_time(line, env)
            runs = json.loads((out / "manifest.json").read_text(encoding="utf-8"))["runs"]
        hops = sum(int(run["summary"]["hops"]) for run in runs)
        return Speed(hops, hops / seconds)


@dataclass(frozen=True)
class AlternatingRounds:
    """Speeds of two programs, round by round."""

    one: list[Speed]
    other: list[Speed]

    @property
    def ratios(self) -> list[float]:
        """Speed of the first program divided by the speed of the second, for each round."""
        return [a.per_second / b.per_second for a, b in zip(self.one, self.other, strict=True)]

    @property
    def ratio(self) -> Ratio:
        """Speed ratio over all rounds, with its interval."""
        return Ratio.from_rounds(self.ratios)

    @property
    def same_packets(self) -> bool:
        """True if all runs of both programs did the same number of packet-hops."""
        return len({speed.packet_hops for speed in self.one + self.other}) == 1


def measure_alternately(one: TimedProgram, other: TimedProgram, rounds: int) -> AlternatingRounds:
    """Measures both programs in each round.

    The order alternates, so that a machine that becomes slower favours neither program.
    """
    turns = AlternatingRounds([], [])
    for number in range(rounds):
        sides = [(turns.one, one), (turns.other, other)]
        for speeds, program in sides if number % 2 == 0 else reversed(sides):
            speeds.append(program.speed())
    return turns


def compile_bench(tree: Path, target: Path | None = None) -> Path:
    """Compiles `benches/whole_runs.rs` of a tree and returns the path of the program.

    The crate is found by its folder, so that its name may differ between revisions.
    """
    line = ["cargo", "bench", "--quiet", "--manifest-path", str(tree / "crates/sim/Cargo.toml")]
    line += ["--bench", "whole_runs", "--no-run", "--message-format", "json"]
    env = os.environ | ({} if target is None else {"CARGO_TARGET_DIR": str(target)})
    built = subprocess.run(line, cwd=tree, env=env, stdout=subprocess.PIPE, text=True, check=False)
    if built.returncode:
        raise FailedMeasurement(f"`{' '.join(line)}` failed")
    for message in map(json.loads, built.stdout.splitlines()):
        if message.get("executable") and message["target"]["name"] == "whole_runs":
            return Path(message["executable"])
    raise FailedMeasurement(f"`{' '.join(line)}` made no program")


def describe_load() -> str:
    """Returns the machine's load: runnable processes over the last minute, and number of cores."""
    return f"{os.getloadavg()[0]:.2f} runnable on {os.cpu_count()} cores"
