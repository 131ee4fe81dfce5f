"""Where runs are done: threads of this process, since the core releases the GIL."""

import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from overspill.engine import interrupts, machine
from overspill.engine.memory import Gate
from overspill.engine.points import Scene
from overspill.engine.simulate import Finished, How, simulate
from overspill.engine.task import Task
from overspill.errors import Failed, OverspillError


@dataclass(frozen=True)
class Result:
    """What became of a task; neither where it was stopped."""

    task: Task
    finished: Finished | None = None
    error: OverspillError | None = None


class Threads:
    """Threads of this process; only the scenarios of points whose runs are under way are in memory."""

    def __init__(self, threads: int, how: How, gate: Gate, staging: Path | None) -> None:
        self.threads, self.how, self.gate, self.staging = threads, how, gate, staging
        self.told = False  # whether it was said that runs wait for memory
        self.since: float | None = None  # when it was seen that nothing more is to be run
        self.pool = ThreadPoolExecutor(threads)
        self.tasks: dict[Future[Finished | None], Task] = {}

    def __enter__(self) -> "Threads":
        return self

    def __exit__(self, *raised: object) -> None:
        self.how.broken.set()
        # Nothing stops a network that is being built, or a step that takes long: they end behind our back.
        machine.leave(self.pool, at_once=self.stuck)

    @property
    def stuck(self) -> bool:
        """True if no further run starts and the running ones are building or do not stop soon."""
        going = {task for future, task in self.tasks.items() if future.running()}
        if not self.how.stopped or not going:
            return False
        waited = 0.0 if self.since is None else time.monotonic() - self.since
        patience = interrupts.PATIENCE if going & self.how.ended else interrupts.GRACE
        return going <= self.how.building or waited > patience

    @property
    def room(self) -> int:
        """A few ahead of the threads."""
        return 2 * self.threads

    @property
    def pending(self) -> int:
        """How many tasks wait or go on."""
        return len(self.tasks)

    def submit(self, task: Task, scene: Scene) -> None:
        """Take a task."""
        self.tasks[self.pool.submit(self.run_task, task, scene)] = task

    def run_task(self, task: Task, scene: Scene) -> Finished | None:
        """Do a task once there is memory for it, unless nothing more is to be done."""
        with self.gate.passed():
            return None if self.how.stopped else self.begun(task, scene)

    def begun(self, task: Task, scene: Scene) -> Finished | None:
        """Do a task."""
        try:
            folder = None if self.staging is None else self.staging / task.key
            self.how.building.add(task)
            return simulate(scene.get(), task, self.how, folder)
        except OverspillError as error:
            raise named(task, error) from error
        finally:
            self.how.building.discard(task)
            self.how.ended.discard(task)

    def results(self, seconds: float) -> Iterator[Result]:
        """What was done meanwhile."""
        if self.gate.short is not None and not self.told:
            self.told = True
            self.how.listener.say(f"runs: fewer at a time for want of memory: {self.gate.short}")
        # A wait with a timeout lets Ctrl-C through on every platform.
        done, _ = wait(self.tasks, timeout=seconds, return_when=FIRST_COMPLETED)
        if self.how.stopped and self.since is None:
            self.since = time.monotonic()
        for future in done:
            task, error = self.tasks.pop(future), future.exception()
            if error is None:
                yield Result(task, future.result())
            else:
                yield Result(task, None, error if isinstance(error, OverspillError) else failed(task, error))


def failed(task: Task, error: BaseException) -> Failed:
    """What nobody expected, with the task it befell."""
    return Failed(f"{task}: the run failed: {error}")


def named(task: Task, error: OverspillError) -> OverspillError:
    """An error whose lines name the task."""
    lines = [line if line.startswith(str(task)) else f"{task}: {line}" for line in error.lines]
    return type(error)(lines)
