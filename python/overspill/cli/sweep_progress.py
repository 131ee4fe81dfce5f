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

from overspill.cli.progress import LinePrinter
from overspill.cli.run_progress import RunProgress
from overspill.engine.task import Listener, Task
from overspill.errors import escape_unprintable

PointVariant = tuple[int, str]  # point and variant, whose seeds are about equal work


class WorkEstimate:
    """Estimate of the remaining work in packet-hops, from other seeds or from the nearest known point."""

    def __init__(self) -> None:
        self.lock, self.began = threading.Lock(), time.monotonic()
        self.left: Counter[PointVariant] = Counter()
        self.runs: Counter[PointVariant] = Counter()
        self.hops: Counter[PointVariant] = Counter()
        self.going: dict[Task, tuple[int, float]] = {}
        self.shares = RunProgress()
        self.total, self.stored, self.done, self.failed, self.worked = 0, 0, 0, 0, 0

    def begin(self, left: Iterable[Task], stored: Iterable[tuple[Task, int]]) -> None:
        """Records the runs to do, and the packet-hops of runs found in the store."""
        for task in left:
            self.left[point_and_variant(task)] += 1
            self.total += 1
        for task, hops in stored:
            self.record_hops(task, hops)
            self.stored += 1
            self.total += 1
        self.began = time.monotonic()

    def record_hops(self, task: Task, hops: int) -> None:
        """Records the packet-hops of a finished run."""
        self.runs[point_and_variant(task)] += 1
        self.hops[point_and_variant(task)] += hops

    def record_progress(self, task: Task, status: Mapping[str, Any]) -> None:
        """Records the progress of a run."""
        with self.lock:
            self.going[task] = (int(status["hops"]), self.shares.update(task, status))

    def record_end(self, task: Task, hops: int | None) -> None:
        """Records that a run is finished, with its packet-hops, or has failed (`None`)."""
        with self.lock:
            self.going.pop(task, None)
            self.shares.forget(task)
            self.left[point_and_variant(task)] -= 1
            if hops is None:
                self.failed += 1
                return
            self.record_hops(task, hops)
            self.done += 1
            self.worked += hops

    @property
    def seconds_left(self) -> float | None:
        """Seconds left; `None` without data for an estimate."""
        with self.lock:
            going = sum(hops for hops, _ in self.going.values())
            elapsed = time.monotonic() - self.began
            known = sum(self.runs.values())
            if not known or not self.worked + going or elapsed <= 0:
                return None
            each = self.expected_hops()
            whole = sum(count * each[one] for one, count in self.left.items())
            here = sum(part * each[point_and_variant(task)] for task, (_, part) in self.going.items())
            return max(0.0, whole - here) * elapsed / (self.worked + going)

    def expected_hops(self) -> dict[PointVariant, float]:
        """Returns expected packet-hops of a run by point and variant: as at the nearest point, or mean."""
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
        seconds = self.seconds_left
        return text if seconds is None else f"{text}, {format_duration(seconds)} left"


def point_and_variant(task: Task) -> PointVariant:
    """Returns the number of a task's point and the name of its variant."""
    return task.point, task.variant


def format_duration(seconds: float) -> str:
    """Formats a duration in whole seconds, minutes or hours: `3 min 20 s`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


class SweepLineProgress(LinePrinter):
    """Listener that prints lines to a console that is no terminal."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self.meter = WorkEstimate()

    def checking(self, done: int, count: int) -> None:
        """Reports the number of checked points, if checking takes long."""
        self.print_occasionally(f"{done}/{count} points checked")

    def building(self, tasks: Collection[Task]) -> None:
        """Reports the network that takes long to build."""
        if tasks:
            self.print_occasionally(f"{self.meter}; building the network of {next(iter(tasks))}")

    def begin(self, left: Iterable[Task], stored: Iterable[tuple[Task, int]]) -> None:
        """Records the runs to do, and prints how many there are."""
        self.meter.begin(left, stored)
        self.say(str(self.meter))

    def advanced(self, task: Task, status: Mapping[str, Any]) -> None:
        """Records the progress of a run."""
        self.meter.record_progress(task, status)
        self.print_occasionally(str(self.meter))

    def kept(self, task: Task, hops: int) -> None:
        """Counts a finished run."""
        self.meter.record_end(task, hops)
        self.print_occasionally(str(self.meter))

    def failed(self, task: Task) -> None:
        """Counts a failed run."""
        self.meter.record_end(task, None)

    def __exit__(self, kind: object, *raised: object) -> None:
        if self.meter.total and kind is None:
            self.say(f"{self.meter.done} runs done in {format_duration(time.monotonic() - self.meter.began)}")


class SweepBarProgress(Listener):
    """Listener that shows one bar on a terminal."""

    def __init__(self, console: Console) -> None:
        self.meter = WorkEstimate()
        self.progress = Progress(
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("{task.description}", markup=False),
            console=console,
        )
        self.whole: TaskID = self.progress.add_task("checking points", total=None)

    def __enter__(self) -> SweepBarProgress:
        self.progress.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.update_bar()
        self.progress.stop()

    def checking(self, done: int, count: int) -> None:
        """Moves the bar for checked points."""
        self.progress.update(self.whole, completed=done, total=count, description=f"{done}/{count} checked")

    def begin(self, left: Iterable[Task], stored: Iterable[tuple[Task, int]]) -> None:
        """Restarts the bar for the runs."""
        self.meter.begin(left, stored)
        self.update_bar()

    def update_bar(self) -> None:
        """Moves the bar and updates its text."""
        if self.meter.total:
            done = self.meter.stored + self.meter.done
            self.progress.update(
                self.whole, completed=done, total=self.meter.total, description=str(self.meter)
            )

    def advanced(self, task: Task, status: Mapping[str, Any]) -> None:
        """Records the progress of a run."""
        self.meter.record_progress(task, status)
        self.update_bar()

    def kept(self, task: Task, hops: int) -> None:
        """Counts a finished run."""
        self.meter.record_end(task, hops)
        self.update_bar()

    def failed(self, task: Task) -> None:
        """Counts a failed run."""
        self.meter.record_end(task, None)
        self.update_bar()

    def say(self, line: str) -> None:
        """Prints a line above the bar."""
        self.progress.print(escape_unprintable(line), markup=False, soft_wrap=True)


def select_listener(console: Console) -> SweepLineProgress | SweepBarProgress:
    """Returns the listener for the kind of stderr: a bar for a terminal, else lines."""
    return SweepBarProgress(console) if console.is_terminal else SweepLineProgress(console)
