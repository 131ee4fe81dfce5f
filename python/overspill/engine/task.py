"""Tasks, each a single run, and the listener that is notified of their progress."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any


@dataclass(frozen=True)
class Task:
    """Run of one variant with one seed at one point, identified by its key."""

    variant: str
    seed: int
    point: int = 0
    label: str = ""
    key: str = ""
    config: str = ""

    def __str__(self) -> str:
        where = f"{self.label}: " if self.label else ""
        return f"{where}{self.variant} seed {self.seed}"


class Listener:
    """Base class of objects that are notified of the progress of runs; its methods do nothing.

    `advanced` and `finished` are called from several threads.

    Examples:
        >>> import overspill
        >>> class Count(overspill.Listener):
        ...     def begin(self, left, stored):
        ...         print(len(list(left)), "runs to do")
        >>> results = overspill.run("incast.toml", listener=Count())
        2 runs to do

    """

    def __enter__(self) -> Listener:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def checking(self, done: int, count: int) -> None:
        """Reports that `done` of `count` points are checked; called several times a second."""

    def building(self, tasks: Collection[Task]) -> None:
        """Reports the runs whose networks are being built; called several times a second."""

    def begin(self, left: Iterable[Task], stored: Iterable[tuple[Task, int]]) -> None:
        """Reports the runs to do, and the runs found in the store with their packet-hops."""

    def advanced(self, task: Task, status: Mapping[str, Any]) -> None:
        """Reports the progress of a run: simulated time, events and flows so far."""

    def finished(self, task: Task, status: Mapping[str, Any], seconds: float) -> None:
        """Reports that the simulation of a run has ended, after `seconds` of wall-clock time."""

    def kept(self, task: Task, hops: int) -> None:
        """Reports that a finished run is stored, with its packet-hops."""

    def failed(self, task: Task) -> None:
        """Reports that a run has failed."""

    def say(self, line: str) -> None:
        """Reports a message for the user."""
