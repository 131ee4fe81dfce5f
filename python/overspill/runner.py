"""Runs every variant with every seed, several at a time: the core releases the GIL."""

import json
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

from overspill import columns, core
from overspill.errors import Failed, OverspillError
from overspill.rundata import RunData
from overspill.source import Source

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

    source: Source
    sets: Sequence[str]
    variants: Sequence[str]
    seeds: Sequence[int]
    max_events: int | None = None

    @property
    def jobs(self) -> list[Job]:
        """Seed by seed, so that an interrupted run leaves whole seeds to compare."""
        return [Job(variant, seed) for seed in self.seeds for variant in self.variants]


class Listener:
    """Is told how the runs go; does nothing. Called from several threads."""

    def planned(self, jobs: Sequence[Job]) -> None:
        """All jobs, before the first begins."""

    def advanced(self, job: Job, status: dict[str, Any]) -> None:
        """A job has come so far."""

    def finished(self, job: Job, status: dict[str, Any], seconds: float) -> None:
        """A job is done and took so long."""


@dataclass
class Outcome:
    """The runs that finished, in the order of the plan."""

    runs: list[RunData] = field(default_factory=list)
    interrupted: bool = False


Keep = Callable[[RunData], RunData]


class Runner:
    """A pool of threads over a plan."""

    def __init__(self, plan: Plan, listener: Listener, keep: Keep) -> None:
        self.plan, self.listener, self.keep = plan, listener, keep
        self.stop = threading.Event()

    def execute(self, threads: int) -> Outcome:
        """Run all; Ctrl-C stops at the next chunk and keeps what has finished."""
        jobs = self.plan.jobs
        self.listener.planned(jobs)
        interrupted = False
        futures: list[Future[RunData | None]] = []
        with ThreadPoolExecutor(max_workers=max(1, min(threads, len(jobs)))) as pool:
            try:
                futures.extend(pool.submit(self.one, job) for job in jobs)
                self.watch(futures)
            except KeyboardInterrupt:
                interrupted = True
            finally:
                self.stop.set()
                pool.shutdown(wait=True, cancel_futures=True)
        done = [future.result() for future in futures if not future.cancelled()]
        return Outcome([run for run in done if run is not None], interrupted)

    def watch(self, futures: Sequence[Future[RunData | None]]) -> None:
        """Wait until all are done or one has failed."""
        pending = set(futures)
        while pending:
            # A wait with a timeout lets Ctrl-C through on every platform.
            done, pending = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
            if any(future.exception() for future in done):
                return

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
        if self.stop.is_set():
            return None
        began = time.monotonic()
        plan = self.plan
        run = core.start(
            plan.source.path,
            plan.source.text,
            list(plan.sets),
            variant=job.variant,
            seed=job.seed,
            max_events=plan.max_events,
        )
        status: dict[str, Any] = {"done": False}
        while not status["done"]:
            if self.stop.is_set():
                return None
            status = run.advance(CHUNK)
            self.listener.advanced(job, status)
        kept = self.keep(finished(job, run.results()))
        self.listener.finished(job, status, time.monotonic() - began)
        return kept


def finished(job: Job, results: dict[str, Any]) -> RunData:
    """The results of a run that is over; a run that lost or made packets has failed."""
    run = RunData(parse(results["summary"]), columns.tables(results["tables"]))
    if not run.summary.get("conserved", False):
        raise Failed(f"{job}: packets are not conserved; the run is void")
    return run


def parse(text: str) -> dict[str, Any]:
    """A summary; `Failed` where it is none."""
    summary = json.loads(text)
    if not isinstance(summary, dict):
        raise Failed("the core gave a summary that is not an object")
    return summary
