"""Progress of a sweep on stderr: one bar with the time left on a terminal, occasional lines elsewhere."""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from overspill.cli.progress import Spoken
from overspill.cli.shares import Shares
from overspill.engine.task import Listener, Task
from overspill.errors import plain

Group = tuple[int, str]  # point and variant, whose seeds are about equal work


class Meter:
    """Estimate of the remaining work in packet-hops, from other seeds or from the nearest known point."""

    def __init__(self) -> None:
        self.lock, self.began = threading.Lock(), time.monotonic()
        self.left: Counter[Group] = Counter()
        self.runs: Counter[Group] = Counter()
        self.hops: Counter[Group] = Counter()
        self.going: dict[Task, tuple[int, float]] = {}
        self.shares = Shares()
        self.total, self.stored, self.done, self.failed, self.worked = 0, 0, 0, 0, 0

    def begin(self, left: Iterable[Task], stored: Iterable[tuple[Task, int]]) -> None:
        """Counts the runs to do, and those found in the store."""
        for task in left:
            self.left[group(task)] += 1
            self.total += 1
        for task, hops in stored:
            self.learn(task, hops)
            self.stored += 1
            self.total += 1
        self.began = time.monotonic()

    def learn(self, task: Task, hops: int) -> None:
        """Records the packet-hops of a finished run."""
        self.runs[group(task)] += 1
        self.hops[group(task)] += hops

    def advanced(self, task: Task, status: Mapping[str, Any]) -> None:
        """Records the progress of a run."""
        with self.lock:
            self.going[task] = (int(status["hops"]), self.shares.update(task, status))

    def ended(self, task: Task, hops: int | None) -> None:
        """Records that a run is finished, with its packet-hops, or has failed (`None`)."""
        with self.lock:
            self.going.pop(task, None)
            self.shares.forget(task)
            self.left[group(task)] -= 1
            if hops is None:
                self.failed += 1
                return
            self.learn(task, hops)
            self.done += 1
            self.worked += hops

    @property
    def seconds(self) -> float | None:
        """Seconds left; `None` without data for an estimate."""
        with self.lock:
            going = sum(hops for hops, _ in self.going.values())
            elapsed = time.monotonic() - self.began
            known = sum(self.runs.values())
            if not known or not self.worked + going or elapsed <= 0:
                return None
            each = self.expected()
            whole = sum(count * each[one] for one, count in self.left.items())
            here = sum(part * each[group(task)] for task, (_, part) in self.going.items())
            return max(0.0, whole - here) * elapsed / (self.worked + going)

    def expected(self) -> dict[Group, float]:
        """Returns packet-hops per run of each group: its own, the nearest point's, or the mean of all."""
        own = {one: self.hops[one] / count for one, count in self.runs.items() if count}
        mean = sum(self.hops.values()) / sum(self.runs.values())
        points: dict[str, list[int]] = {}
        for point, variant in sorted(own):
            points.setdefault(variant, []).append(point)
        found = {}
        for point, variant in self.left:
            known = points.get(variant)
            if known is None:
                found[point, variant] = mean
                continue
            at = bisect_left(known, point)
            nearest = min(known[max(0, at - 1) : at + 1], key=lambda one: abs(one - point))
            found[point, variant] = own[nearest, variant]
        return found

    def __str__(self) -> str:
        text = f"{self.stored + self.done}/{self.total} runs"
        text += f", {self.stored} from the store" if self.stored else ""
        text += f", {self.failed} failed" if self.failed else ""
        seconds = self.seconds
        return text if seconds is None else f"{text}, {length(seconds)} left"


def group(task: Task) -> Group:
    """Returns the point and variant of a run."""
    return task.point, task.variant


def length(seconds: float) -> str:
    """Formats a duration for readers."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


class Lines(Spoken):
    """Listener that prints lines to a console that is no terminal."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self.meter = Meter()

    def checking(self, done: int, count: int) -> None:
        """Reports the number of checked points, if checking takes long."""
        self.now_and_then(f"{done}/{count} points checked")

    def building(self, tasks: Collection[Task]) -> None:
        """Reports the network that takes long to build."""
        if tasks:
            self.now_and_then(f"{self.meter}; building the network of {next(iter(tasks))}")

    def begin(self, left: Iterable[Task], stored: Iterable[tuple[Task, int]]) -> None:
        """Reports the work to do."""
        self.meter.begin(left, stored)
        self.say(str(self.meter))

    def advanced(self, task: Task, status: Mapping[str, Any]) -> None:
        """Records the progress of a run."""
        self.meter.advanced(task, status)
        self.now_and_then(str(self.meter))

    def kept(self, task: Task, hops: int) -> None:
        """Counts a finished run."""
        self.meter.ended(task, hops)
        self.now_and_then(str(self.meter))

    def failed(self, task: Task) -> None:
        """Counts a failed run."""
        self.meter.ended(task, None)

    def __exit__(self, kind: object, *raised: object) -> None:
        if self.meter.total and kind is None:
            self.say(f"{self.meter.done} runs done in {length(time.monotonic() - self.meter.began)}")


class Bar(Listener):
    """Listener that shows one bar on a terminal."""

    def __init__(self, console: Console) -> None:
        self.meter = Meter()
        self.progress = Progress(
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("{task.description}", markup=False),
            console=console,
        )
        self.whole: TaskID = self.progress.add_task("checking points", total=None)

    def __enter__(self) -> Bar:
        self.progress.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.show()
        self.progress.stop()

    def checking(self, done: int, count: int) -> None:
        """Moves the bar."""
        self.progress.update(self.whole, completed=done, total=count, description=f"{done}/{count} checked")

    def begin(self, left: Iterable[Task], stored: Iterable[tuple[Task, int]]) -> None:
        """Restarts the bar for the runs."""
        self.meter.begin(left, stored)
        self.show()

    def show(self) -> None:
        """Moves the bar and updates its text."""
        if self.meter.total:
            done = self.meter.stored + self.meter.done
            self.progress.update(
                self.whole, completed=done, total=self.meter.total, description=str(self.meter)
            )

    def advanced(self, task: Task, status: Mapping[str, Any]) -> None:
        """Records the progress of a run."""
        self.meter.advanced(task, status)
        self.show()

    def kept(self, task: Task, hops: int) -> None:
        """Counts a finished run."""
        self.meter.ended(task, hops)
        self.show()

    def failed(self, task: Task) -> None:
        """Counts a failed run."""
        self.meter.ended(task, None)
        self.show()

    def say(self, line: str) -> None:
        """Prints a line above the bar."""
        self.progress.print(plain(line), markup=False, soft_wrap=True)


def watch(console: Console) -> Lines | Bar:
    """Returns the listener for the kind of stderr: a bar for a terminal, else lines."""
    return Bar(console) if console.is_terminal else Lines(console)
