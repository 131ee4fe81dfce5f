"""Progress of runs on stderr: bars on a terminal, short lines elsewhere."""

import threading
import time
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from overspill.cli.run_progress import RunProgress
from overspill.engine.task import Listener, Task
from overspill.errors import escape_unprintable
from overspill.results import formats

SECONDS_BETWEEN_LINES = 10.0  # seconds between two lines without a terminal


class LinePrinter(Listener):
    """Listener that prints lines to a console that is no terminal."""

    def __init__(self, console: Console) -> None:
        self.console, self.lock = console, threading.Lock()
        self.last = time.monotonic()

    def say(self, line: str) -> None:
        """Prints a line to stderr."""
        self.console.print(escape_unprintable(line), markup=False, soft_wrap=True)

    def print_occasionally(self, line: str) -> None:
        """Prints a line, unless another one was printed recently."""
        with self.lock:
            if time.monotonic() - self.last < SECONDS_BETWEEN_LINES:
                return
            self.last = time.monotonic()
        self.say(line)


class LineProgress(LinePrinter):
    """Listener that prints a line when a run is done, and one now and then during a long run."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self.total, self.done = 0, 0
        self.shares = RunProgress()

    def begin(self, left: Iterable[Task], stored: Iterable[tuple[Task, int]]) -> None:
        """Records the number of runs, and prints how many are finished already."""
        self.total, known = len(list(left)), len(list(stored))
        if known:
            were = "run was" if known == 1 else "runs were"
            again = "is" if known == 1 else "are"
            self.say(f"{known} {were} finished before and {again} not repeated")

    def checking(self, done: int, count: int) -> None:
        """Reports that reading the scenario takes long."""
        self.print_occasionally("setting up the scenario")

    def building(self, tasks: Collection[Task]) -> None:
        """Reports the networks that take long to build."""
        if tasks:
            self.print_occasionally(f"{', '.join(map(str, tasks))}: building the network")

    def advanced(self, task: Task, status: Mapping[str, Any]) -> None:
        """Prints the progress of a long run now and then."""
        with self.lock:
            share = self.shares.update(task, status)
            if status["done"] or time.monotonic() - self.last < SECONDS_BETWEEN_LINES:
                return
            self.last = time.monotonic()
            draining = "draining, " if self.shares.is_draining(task, status) else ""
            where = f"{draining}at {formats.format_time(status['time_ps'])}"
            self.console.print(f"{task}: {share:.0%}, {where}", markup=False)

    def finished(self, task: Task, status: Mapping[str, Any], seconds: float) -> None:
        """Reports that a run is done, and its speed."""
        with self.lock:
            self.done += 1
            self.shares.forget(task)
            self.last = time.monotonic()
            self.say(f"[{self.done}/{self.total}] {task}: {describe_speed(status, seconds)}")


class BarProgress(Listener):
    """Listener that shows a bar for each run in progress, and one bar for all runs."""

    def __init__(self, console: Console) -> None:
        self.lock, self.tasks = threading.Lock(), dict[Task, TaskID]()
        self.shares = RunProgress()
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
            console=console,
        )
        self.whole: TaskID | None = None
        self.waiting: TaskID | None = None

    def __enter__(self) -> "BarProgress":
        self.progress.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.progress.stop()

    def begin(self, left: Iterable[Task], stored: Iterable[tuple[Task, int]]) -> None:
        """Starts the bar of all runs."""
        self.show_waiting_bar()
        count, known = len(list(left)), len(list(stored))
        note = f"{known} finished before" if known else ""
        self.whole = self.progress.add_task("all runs", total=count + known, completed=known, note=note)

    def checking(self, done: int, count: int) -> None:
        """Shows an indefinite bar while the scenario is read."""
        self.show_waiting_bar("setting up the scenario")

    def building(self, tasks: Collection[Task]) -> None:
        """Shows an indefinite bar while networks are built."""
        self.show_waiting_bar(f"building {escape(str(next(iter(tasks))))}" if tasks else "")

    def show_waiting_bar(self, what: str = "") -> None:
        """Shows an indefinite bar with this text, or removes it for an empty text."""
        with self.lock:
            if self.waiting is not None and not what:
                self.progress.remove_task(self.waiting)
                self.waiting = None
            elif self.waiting is None and what:
                self.waiting = self.progress.add_task(what, total=None, note="")

    def say(self, line: str) -> None:
        """Prints a line above the bars."""
        self.progress.print(escape_unprintable(line), markup=False, soft_wrap=True)

    def advanced(self, task: Task, status: Mapping[str, Any]) -> None:
        """Moves the progress bar of a run."""
        with self.lock:
            if task not in self.tasks:
                self.tasks[task] = self.progress.add_task(escape(str(task)), total=1.0, note="")
            share = self.shares.update(task, status)
            draining = ", draining" if self.shares.is_draining(task, status) else ""
            note = f"{formats.format_count(status['flows_completed'])} flows done{draining}"
            self.progress.update(self.tasks[task], completed=share, note=note)

    def finished(self, task: Task, status: Mapping[str, Any], seconds: float) -> None:
        """Replaces the bar of a run with a line."""
        with self.lock:
            self.shares.forget(task)
            if task in self.tasks:
                self.progress.remove_task(self.tasks.pop(task))
            self.progress.print(f"{task}: {describe_speed(status, seconds)}", markup=False)
            if self.whole is not None:
                self.progress.advance(self.whole)


def select_listener(console: Console) -> LineProgress | BarProgress:
    """Returns the listener for the kind of stderr: bars for a terminal, else lines."""
    return BarProgress(console) if console.is_terminal else LineProgress(console)


def describe_speed(status: Mapping[str, Any], seconds: float) -> str:
    """Describes the amount and time of a simulation, with the rate if it took at least a second.

    Shorter times are mostly start-up.
    """
    rate = f" ({formats.format_count(status['hops'] / seconds)} packet-hops/s)" if seconds >= 1 else ""
    hops = formats.format_count(status["hops"])
    flows = status["flows_completed"]
    return f"{hops} packet-hops in {seconds:.1f} s{rate}, {flows} flows done"
