"""Scheduling of runs in parallel: stored runs are reused, and finished ones are stored immediately."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from overspill.engine import cluster, machine, memory
from overspill.engine.interrupts import WAIT
from overspill.engine.options import JOBS_MOST
from overspill.engine.plan import Plan
from overspill.engine.points import Scene
from overspill.engine.pool import Result, Threads
from overspill.engine.simulate import Finished, How
from overspill.engine.task import Listener, Task
from overspill.errors import BadInput, OverspillError, Unwritable
from overspill.results.cache import Broken, Cache, Entry
from overspill.results.rundata import RunData

Pool = cluster.Cluster | Threads  # does tasks in parallel
GOLDEN = 0x9E37_79B9_7F4A_7C15  # 2^64 times the fractional part of the golden ratio, rounded down


class Memory:
    """Finished runs in memory, used without a folder of results."""

    folder = None

    def __init__(self) -> None:
        self.runs: dict[str, RunData] = {}


@dataclass
class Outcome:
    """Outcome of the runs that were not in the store."""

    failures: dict[Task, OverspillError] = field(default_factory=dict)
    interrupted: bool = False

    def broken(self, single: bool) -> bool:
        """Returns true if a failure affects every other run: a full disk, or bad input of a single point."""
        kinds = (BadInput, Unwritable) if single else (Unwritable,)
        return any(isinstance(one, kinds) for one in self.failures.values())

    @property
    def errors(self) -> list[OverspillError]:
        """Errors of failed runs, in the order of the plan."""
        order = sorted(self.failures, key=lambda task: (task.point, task.seed, task.variant))
        return [self.failures[task] for task in order]

    @property
    def lines(self) -> list[str]:
        """Error lines of failed runs."""
        return [line for error in self.errors for line in error.lines]


@dataclass
class Looked:
    """Runs to do, and runs found in the store with their packet-hops."""

    left: list[Task] = field(default_factory=list)
    stored: list[tuple[Task, int]] = field(default_factory=list)


def look(plan: Plan, found: Cache | Memory, listener: Listener) -> Looked:
    """Looks up the runs of a plan in its store, and removes damaged ones from it."""
    looked = Looked()
    for task in plan.tasks:
        entry: Entry | None = None
        if isinstance(found, Cache):
            try:
                entry = found.find(task.key, plan.options.kept)
            except Broken as error:
                listener.say(f"{task}: run again, since its file in the store is damaged ({error})")
                found.remove(task.key)
        if entry is None or (plan.whole and "nodes" not in entry.summary):
            looked.left.append(task)
        else:
            looked.stored.append((task, hops(entry.summary)))
    return looked


def hops(summary: dict[str, Any]) -> int:
    """Returns the packet-hops of a finished run."""
    return int(summary.get("hops", 0))


def drive(plan: Plan, left: Sequence[Task], found: Cache | Memory, asked: threading.Event) -> Outcome:
    """Does the runs that are left, and stores each as soon as it has finished."""
    options, outcome = plan.options, Outcome()
    if not left:
        return outcome
    how = How(
        options.max_events,
        options.kept,
        options.listener,
        asked,
        threading.Event(),
        plan.pcap,
        plan.whole,
    )
    done = 0
    with opened(plan, left, found, how) as pool:
        try:
            for result in loop(plan, left, pool, how):
                done += keep(result, found, options.listener, outcome)
                if outcome.broken(plan.whole):
                    how.broken.set()
        except Exception:
            # Runs that finish are stored, whatever the error is.
            how.broken.set()
            while pool.pending and not pool.stuck:
                for result in pool.results(WAIT):
                    keep(result, found, options.listener, outcome)
            raise
    outcome.interrupted = asked.is_set() and done + len(outcome.failures) < len(left)
    return outcome


def opened(plan: Plan, left: Sequence[Task], found: Cache | Memory, how: How) -> Pool:
    """Returns the pool that does the runs: a cluster, or threads of this process."""
    options = plan.options
    if options.on is not None:
        options.listener.say(f"connecting to {options.on}")
        # On other machines, whoever starts the workers decides how many fit.
        here = cluster.processes(options.on)
        on = f"local:{fitting(here, plan)}" if here else options.on
        return cluster.Cluster(on, how, plan.base)
    threads = fitting(min(options.jobs or machine.cores(), len(left), JOBS_MOST), plan)
    gate = memory.Gate(plan.checked.need.all, lambda: how.stopped)
    return Threads(threads, how, gate, found.staging if isinstance(found, Cache) else None)


def fitting(asked: int, plan: Plan) -> int:
    """Returns the number of simultaneous runs: the number requested, or as many as fit into memory.

    Raises `BadInput` if not even one fits.
    """
    plan.checked.need.check()
    need = plan.checked.need.all
    limit = memory.tightest(need)
    if limit is None or limit.runs(need) >= asked:
        return asked
    fits = max(1, limit.runs(need))
    if fits < asked:
        told = f"{fits} at a time instead of {asked}: a run may take {need >> 20} MiB, and {limit}"
        plan.options.listener.say(f"runs: {told}")
    return fits


def loop(plan: Plan, left: Sequence[Task], pool: Pool, how: How) -> Iterator[Result]:
    """Submits tasks, a few ahead of the pool, and yields results until all are done or runs are to stop."""
    tasks = iter(left if plan.whole else scattered(left))
    scene: Scene | None = None
    while True:
        while pool.pending < pool.room and not how.stopped and (task := next(tasks, None)) is not None:
            if scene is None or plan.first + scene.point.index != task.point:
                scene = plan.scene(task.point)
            pool.submit(task, scene)
        if not pool.pending:
            return
        yield from pool.results(WAIT)
        plan.options.listener.building(tuple(how.building))
        if pool.stuck:
            return


def scattered(tasks: Sequence[Task]) -> list[Task]:
    """Returns tasks ordered by the fractional part of their point's number times the golden ratio.

    Any first part of that order is spread evenly over the grid, so that its cost predicts that of the rest.
    """
    return sorted(tasks, key=lambda task: task.point * GOLDEN % 2**64)


def keep(result: Result, found: Cache | Memory, listener: Listener, outcome: Outcome) -> bool:
    """Stores a finished run or records its error; returns true if a run was stored."""
    task, finished, error = result.task, result.finished, result.error
    if finished is not None:
        try:
            put(task, finished, found)
        except Unwritable as full:
            error = full
    if error is not None:
        outcome.failures[task] = error
        listener.failed(task)
        return False
    if finished is None:
        return False
    listener.kept(task, hops(finished.summary))
    return True


def put(task: Task, finished: Finished, found: Cache | Memory) -> None:
    """Stores a finished run, with the tables that the store already has of it."""
    if isinstance(found, Memory):
        assert finished.run is not None
        found.runs[task.key] = finished.run
        return
    try:
        before = found.read(task.key)
    except Broken:
        before = None
    tables: dict[str, str | None] = {} if before is None else dict(before.tables)
    tables |= dict.fromkeys(finished.absent)
    tables |= {name: file.digest for name, file in finished.tables.items()}
    captures = {link: (name, file.digest) for link, (name, file) in finished.captured.items()}
    entry = Entry(finished.values, finished.summary, tables, captures, finished.halves, task.config)
    files = {f"{name}.parquet": file for name, file in finished.tables.items()}
    files |= dict(finished.captured.values())
    found.write(task.key, entry, files)
