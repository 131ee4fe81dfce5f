"""Runs every variant with every seed, several at a time: the core releases the GIL."""

import json
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from overspill.engine.core import CoreRun, CoreScenario
from overspill.engine.pcap import Captures, Wanted
from overspill.engine.source import Source
from overspill.errors import BadInput, Failed, OverspillError, Unwritable
from overspill.results import columns
from overspill.results.rundata import RunData
from overspill.results.stream import ROWS, Sink, Spill

CHUNK = 200_000  # events between two looks at the clock and at Ctrl-C


@dataclass(frozen=True)
class Job:
    """One variant with one seed."""

    variant: str
    seed: int

    def __str__(self) -> str:
        return f"{self.variant} seed {self.seed}"


@dataclass(frozen=True)
class Plan:
    """What is to be run."""

    scenario: CoreScenario
    source: Source
    sets: Sequence[str]
    variants: Sequence[str]
    seeds: Sequence[int]
    max_events: int | None = None
    pcap: Wanted = field(default_factory=Wanted)

    @property
    def jobs(self) -> Iterator[Job]:
        """Seed by seed, so that an interrupted run leaves whole seeds to compare."""
        return (Job(variant, seed) for seed in self.seeds for variant in self.variants)

    @property
    def count(self) -> int:
        """How many jobs there are."""
        return len(self.seeds) * len(self.variants)


class Listener:
    """Is told how the runs go; does nothing. Called from several threads."""

    def planned(self, count: int) -> None:
        """How many jobs there are, before the first begins."""

    def advanced(self, job: Job, status: dict[str, Any]) -> None:
        """A job has come so far."""

    def finished(self, job: Job, status: dict[str, Any], seconds: float) -> None:
        """A job is done and took so long."""


@dataclass
class Outcome:
    """The runs that finished, in the order of the plan, and what was said of those that failed."""

    runs: list[RunData] = field(default_factory=list)
    interrupted: bool = False
    failures: list[OverspillError] = field(default_factory=list)


class Storage(Protocol):
    """Where runs go."""

    def place(self, job: Job) -> tuple[Path, Spill | None]:
        """A folder for what a run writes while it goes on, and who keeps it there."""

    def keep(self, run: RunData) -> RunData:
        """A run that has finished, as it is to be kept."""


class Runner:
    """A pool of threads over a plan; `asked` is set by who wants it to stop."""

    def __init__(self, plan: Plan, listener: Listener, storage: Storage, asked: threading.Event) -> None:
        self.plan, self.listener, self.storage, self.asked = plan, listener, storage, asked
        self.broken = threading.Event()

    @property
    def stopped(self) -> bool:
        """Whether nothing more is to be run."""
        return self.asked.is_set() or self.broken.is_set()

    def execute(self, threads: int) -> Outcome:
        """Run all; once asked, stop at the next chunk and keep what has finished."""
        self.listener.planned(self.plan.count)
        threads = max(1, min(threads, self.plan.count))
        done: list[Future[RunData | None]] = []
        with ThreadPoolExecutor(max_workers=threads) as pool:
            try:
                self.submit(pool, threads, done)
            finally:
                self.broken.set()
        errors = [error for future in done if (error := future.exception()) is not None]
        runs = [run for future in done if not future.exception() and (run := future.result()) is not None]
        failures = [one if isinstance(one, OverspillError) else Failed(str(one)) for one in errors]
        missing = len(runs) + len(failures) < self.plan.count
        return Outcome(runs, self.asked.is_set() and missing, failures)

    def submit(self, pool: ThreadPoolExecutor, threads: int, done: list[Future[RunData | None]]) -> None:
        """Hand out jobs, a few ahead of the threads, until all are done or nothing more is to be run."""
        jobs = self.plan.jobs
        pending: set[Future[RunData | None]] = set()
        while True:
            while len(pending) < 2 * threads and not self.stopped and (job := next(jobs, None)):
                done.append(pool.submit(self.one, job))
                pending.add(done[-1])
            if not pending:
                return
            # A wait with a timeout lets Ctrl-C through on every platform.
            finished, pending = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
            # What the user must mend, and a disk that is full, befall every other run too.
            if any(isinstance(future.exception(), BadInput | Unwritable) for future in finished):
                self.broken.set()

    def one(self, job: Job) -> RunData | None:
        """Run one job; `None` if it was stopped on the way."""
        try:
            return self.simulate(job)
        except OverspillError:
            raise
        except Exception as error:
            raise Failed(f"{job}: the run failed: {error}") from error

    def simulate(self, job: Job) -> RunData | None:
        """From the first event to the tables."""
        if self.stopped:
            return None
        began = time.monotonic()
        run = self.begin(job)
        links = self.plan.pcap.links(self.plan.scenario, job.variant)
        status: dict[str, Any] = {"done": False}

        def place() -> tuple[Path, Spill | None]:
            return self.storage.place(job)

        with Sink(place) as sink, Captures(run, links, place) as captures:
            while not status["done"]:
                if self.stopped:
                    return None
                status = run.advance(CHUNK, ROWS)
                if status["rows"] >= ROWS:
                    sink.append(columns.tables(run.take(ROWS)))
                captures.write()
                self.listener.advanced(job, status)
            data = finished(job, run.results(), sink)
            data.captured(captures.close(), captures.owner)
            kept = self.storage.keep(data)
        self.listener.finished(job, status, time.monotonic() - began)
        return kept

    def begin(self, job: Job) -> CoreRun:
        """The run of a job, at its first event."""
        plan, pcap = self.plan, self.plan.pcap
        if not pcap.texts:
            return plan.scenario.run(job.variant, job.seed, plan.max_events)
        return plan.scenario.run(job.variant, job.seed, plan.max_events, list(pcap.texts), pcap.snaplen)


def finished(job: Job, results: dict[str, Any], sink: Sink) -> RunData:
    """The results of a run that is over; a run that lost or made packets has failed."""
    summary = parse(results["summary"])
    if not summary.get("conserved", False):
        raise Failed(f"{job}: packets are not conserved; the run is void")
    return RunData(summary, sink.close(columns.tables(results["tables"])))


def parse(text: str) -> dict[str, Any]:
    """A summary; `Failed` where it is none."""
    summary = json.loads(text)
    if not isinstance(summary, dict):
        raise Failed("the core gave a summary that is not an object")
    return summary
