"""Thread pool that does runs in parallel, since the core releases the GIL."""

import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from overspill.engine import interrupts, machine
from overspill.engine.memory import MemoryGate
from overspill.engine.point_checks import PointScenario
from overspill.engine.simulate import FinishedRun, RunSettings, simulate_task
from overspill.engine.task import Task
from overspill.errors import Failed, OverspillError


@dataclass(frozen=True)
class TaskResult:
    """Outcome of a task: a finished run, or an error, or neither if the run was stopped."""

    task: Task
    finished: FinishedRun | None = None
    error: OverspillError | None = None


class RunThreadPool:
    """Threads that do runs; scenarios stay in memory only while runs of their points are in progress."""

    def __init__(self, threads: int, how: RunSettings, gate: MemoryGate, staging: Path | None) -> None:
        self.threads, self.how, self.gate, self.staging = threads, how, gate, staging
        self.memory_wait_reported = False  # true once the listener was told that runs wait for memory
        self.since: float | None = None  # time at which a stop was first seen
        self.pool = ThreadPoolExecutor(threads)
        self.tasks: dict[Future[FinishedRun | None], Task] = {}

    def __enter__(self) -> "RunThreadPool":
        return self

    def __exit__(self, *raised: object) -> None:
        self.how.broken.set()
        # Nothing can stop the construction of a network or a long step: their threads are abandoned.
        machine.shut_down_pool(self.pool, at_once=self.is_stuck)

    @property
    def is_stuck(self) -> bool:
        """True if runs are to stop and those in progress only build networks or take too long to stop."""
        going = {task for future, task in self.tasks.items() if future.running()}
        if not self.how.should_stop or not going:
            return False
        waited = 0.0 if self.since is None else time.monotonic() - self.since
        patience = (
            interrupts.SECONDS_FOR_REMAINING_WORK
            if going & self.how.ended
            else interrupts.SECONDS_BEFORE_ABANDONING
        )
        return going <= self.how.building or waited > patience

    @property
    def max_pending_tasks(self) -> int:
        """Largest number of pending tasks: two per thread."""
        return 2 * self.threads

    @property
    def pending_count(self) -> int:
        """Number of tasks that wait or are in progress."""
        return len(self.tasks)

    def submit(self, task: Task, scene: PointScenario) -> None:
        """Queues a task for the threads of the pool."""
        self.tasks[self.pool.submit(self.run_task, task, scene)] = task

    def run_task(self, task: Task, scene: PointScenario) -> FinishedRun | None:
        """Does a task once there is memory for it; returns `None` if runs are to stop."""
        with self.gate.admit():
            return None if self.how.should_stop else self.run_with_named_errors(task, scene)

    def run_with_named_errors(self, task: Task, scene: PointScenario) -> FinishedRun | None:
        """Simulates a task; its errors name the task."""
        try:
            folder = None if self.staging is None else self.staging / task.key
            self.how.building.add(task)
            return simulate_task(scene.load(), task, self.how, folder)
        except OverspillError as error:
            raise name_task_in_error(task, error) from error
        finally:
            self.how.building.discard(task)
            self.how.ended.discard(task)

    def iterate_results(self, seconds: float) -> Iterator[TaskResult]:
        """Yields the results that have arrived, after waiting at most `seconds` for the first."""
        if self.gate.short is not None and not self.memory_wait_reported:
            self.memory_wait_reported = True
            self.how.listener.say(
                f"fewer runs execute simultaneously, because memory is short: {self.gate.short}"
            )
        # The timeout lets Ctrl-C interrupt the wait on every platform.
        done, _ = wait(self.tasks, timeout=seconds, return_when=FIRST_COMPLETED)
        if self.how.should_stop and self.since is None:
            self.since = time.monotonic()
        for future in done:
            task, error = self.tasks.pop(future), future.exception()
            if error is None:
                yield TaskResult(task, future.result())
            else:
                yield TaskResult(
                    task, None, error if isinstance(error, OverspillError) else wrap_error(task, error)
                )


def wrap_error(task: Task, error: BaseException) -> Failed:
    """Returns an unexpected error as `Failed`, with the task in which it occurred."""
    return Failed(f"{task}: the run failed: {error}")


def name_task_in_error(task: Task, error: OverspillError) -> OverspillError:
    """Returns an error whose lines name the task."""
    lines = [line if line.startswith(str(task)) else f"{task}: {line}" for line in error.lines]
    return type(error)(lines)
