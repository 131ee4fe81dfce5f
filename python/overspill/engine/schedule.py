"""Scheduling of runs in parallel: stored runs are reused, and finished ones are stored immediately."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from overspill.engine import cluster, machine, memory
from overspill.engine.interrupts import POLLING_INTERVAL
from overspill.engine.options import MAX_JOBS
from overspill.engine.plan import Plan
from overspill.engine.point_checks import PointScenario
from overspill.engine.pool import RunThreadPool, TaskResult
from overspill.engine.simulate import FinishedRun, RunSettings
from overspill.engine.task import Listener, Task
from overspill.errors import BadInput, OverspillError, Unwritable
from overspill.results.cache import BrokenFile, RunStore, StoredRun
from overspill.results.rundata import RunData

Pool = cluster.Cluster | RunThreadPool  # does tasks in parallel
GOLDEN_RATIO_64 = 0x9E37_79B9_7F4A_7C15  # 2^64 times the fractional part of the golden ratio, rounded down


class MemoryStore:
    """Finished runs in memory, used without a folder of results."""

    folder = None

    def __init__(self) -> None:
        self.runs: dict[str, RunData] = {}


@dataclass
class RunsOutcome:
    """Outcome of the runs that were not in the store."""

    failures: dict[Task, OverspillError] = field(default_factory=dict)
    interrupted: bool = False

    def is_broken(self, single: bool) -> bool:
        """Returns true if a failure affects every other run: a full disk, or bad input of a single point."""
        kinds = (BadInput, Unwritable) if single else (Unwritable,)
        return any(isinstance(one, kinds) for one in self.failures.values())

    @property
    def errors(self) -> list[OverspillError]:
        """Errors of failed runs, in the order of the plan."""
        order = sorted(self.failures, key=lambda task: (task.point, task.seed, task.variant))
        return [self.failures[task] for task in order]

    @property
    def error_lines(self) -> list[str]:
        """Error lines of failed runs."""
        return [line for error in self.errors for line in error.lines]


@dataclass
class StoreLookup:
    """Runs to do, and runs found in the store with their packet-hops."""

    left: list[Task] = field(default_factory=list)
    stored: list[tuple[Task, int]] = field(default_factory=list)


def look_up_runs(plan: Plan, found: RunStore | MemoryStore, listener: Listener) -> StoreLookup:
    """Looks up which runs of a plan are stored, and removes damaged runs from the store."""
    looked = StoreLookup()
    for task in plan.tasks:
        entry: StoredRun | None = None
        if isinstance(found, RunStore):
            try:
                entry = found.find_run(task.key, plan.options.kept_tables)
            except BrokenFile as error:
                listener.say(f"{task}: run again, since its file in the store is damaged ({error})")
                found.remove_run(task.key)
        if entry is None or (plan.is_single_point and "nodes" not in entry.summary):
            looked.left.append(task)
        else:
            looked.stored.append((task, packet_hops(entry.summary)))
    return looked


def packet_hops(summary: dict[str, Any]) -> int:
    """Returns the packet-hops of a finished run."""
    return int(summary.get("hops", 0))


def do_runs(
    plan: Plan, left: Sequence[Task], found: RunStore | MemoryStore, asked: threading.Event
) -> RunsOutcome:
    """Does the runs that are left, and stores each as soon as it has finished."""
    options, outcome = plan.options, RunsOutcome()
    if not left:
        return outcome
    how = RunSettings(
        options.max_events,
        options.kept_tables,
        options.listener,
        asked,
        threading.Event(),
        plan.pcap,
        plan.is_single_point,
    )
    done = 0
    with open_pool(plan, left, found, how) as pool:
        try:
            for result in submit_and_collect(plan, left, pool, how):
                done += record_result(result, found, options.listener, outcome)
                if outcome.is_broken(plan.is_single_point):
                    how.broken.set()
        except Exception:
            # Runs that finish are stored, whatever the error is.
            how.broken.set()
            while pool.pending_count and not pool.is_stuck:
                for result in pool.iterate_results(POLLING_INTERVAL):
                    record_result(result, found, options.listener, outcome)
            raise
    outcome.interrupted = asked.is_set() and done + len(outcome.failures) < len(left)
    return outcome


def open_pool(plan: Plan, left: Sequence[Task], found: RunStore | MemoryStore, how: RunSettings) -> Pool:
    """Returns the pool that does the runs: a cluster, or threads of this process."""
    options = plan.options
    if options.on is not None:
        options.listener.say(f"connecting to {options.on}")
        # Only local workers share the memory of this machine. Whoever starts remote workers decides how many
        # fit.
        here = cluster.count_local_processes(options.on)
        on = f"local:{count_simultaneous_runs(here, plan)}" if here else options.on
        return cluster.Cluster(on, how, plan.base)
    threads = count_simultaneous_runs(min(options.jobs or machine.count_cores(), len(left), MAX_JOBS), plan)
    gate = memory.MemoryGate(plan.checked.need.total, lambda: how.should_stop)
    return RunThreadPool(threads, how, gate, found.staging if isinstance(found, RunStore) else None)


def count_simultaneous_runs(asked: int, plan: Plan) -> int:
    """Returns the number of simultaneous runs: the number requested, or as many as fit into memory.

    Raises `BadInput` if not even one fits.
    """
    plan.checked.need.check()
    need = plan.checked.need.total
    limit = memory.tightest_limit(need)
    if limit is None or limit.count_runs(need) >= asked:
        return asked
    fits = max(1, limit.count_runs(need))
    if fits < asked:
        told = f"{fits} at a time instead of {asked}: a run may take {need >> 20} MiB, and {limit}"
        plan.options.listener.say(f"runs: {told}")
    return fits


def submit_and_collect(
    plan: Plan, left: Sequence[Task], pool: Pool, how: RunSettings
) -> Iterator[TaskResult]:
    """Submits tasks, a few ahead of the pool, and yields results until all are done or runs are to stop."""
    tasks = iter(left if plan.is_single_point else interleave_tasks(left))
    scene: PointScenario | None = None
    while True:
        while (
            pool.pending_count < pool.max_pending_tasks
            and not how.should_stop
            and (task := next(tasks, None)) is not None
        ):
            if scene is None or plan.first + scene.point.index != task.point:
                scene = plan.scene(task.point)
            pool.submit(task, scene)
        if not pool.pending_count:
            return
        yield from pool.iterate_results(POLLING_INTERVAL)
        plan.options.listener.building(tuple(how.building))
        if pool.is_stuck:
            return


def interleave_tasks(tasks: Sequence[Task]) -> list[Task]:
    """Returns tasks in order of the fractional part of their point's number times the golden ratio.

    Any first part of that order is spread evenly over the grid, so that its cost predicts that of the rest.
    """
    return sorted(tasks, key=lambda task: task.point * GOLDEN_RATIO_64 % 2**64)


def record_result(
    result: TaskResult, found: RunStore | MemoryStore, listener: Listener, outcome: RunsOutcome
) -> bool:
    """Stores a finished run or records its error; returns true if a run was stored."""
    task, finished, error = result.task, result.finished, result.error
    if finished is not None:
        try:
            store_run(task, finished, found)
        except Unwritable as full:
            error = full
    if error is not None:
        outcome.failures[task] = error
        listener.failed(task)
        return False
    if finished is None:
        return False
    listener.kept(task, packet_hops(finished.summary))
    return True


def store_run(task: Task, finished: FinishedRun, found: RunStore | MemoryStore) -> None:
    """Stores a finished run, and keeps the tables that the store already has of this run."""
    if isinstance(found, MemoryStore):
        assert finished.run is not None
        found.runs[task.key] = finished.run
        return
    try:
        before = found.read_run(task.key)
    except BrokenFile:
        before = None
    tables: dict[str, str | None] = {} if before is None else dict(before.tables)
    tables |= dict.fromkeys(finished.absent)
    tables |= {name: file.digest for name, file in finished.tables.items()}
    captures = {link: (name, file.digest) for link, (name, file) in finished.captured.items()}
    entry = StoredRun(finished.values, finished.summary, tables, captures, finished.halves, task.config)
    files = {f"{name}.parquet": file for name, file in finished.tables.items()}
    files |= dict(finished.captured.values())
    found.store_run(task.key, entry, files)
