"""A run to be done, and who is told how runs go."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any


@dataclass(frozen=True)
class Task:
    """One variant with one seed at one point, known by its key."""

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
    """Is told how the runs go; does nothing. `advanced` and `finished` are called from several threads."""

    def __enter__(self) -> Listener:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def checking(self, done: int, count: int) -> None:
        """So many points are checked; told several times a second."""

    def building(self, tasks: Collection[Task]) -> None:
        """The networks of these runs are being built; told several times a second."""

    def begin(self, left: Iterable[Task], stored: Iterable[tuple[Task, int]]) -> None:
        """What is to be run, and what was found finished, with its packet-hops."""

    def advanced(self, task: Task, status: Mapping[str, Any]) -> None:
        """A run has come so far."""

    def finished(self, task: Task, status: Mapping[str, Any], seconds: float) -> None:
        """A run is done and took so long."""

    def kept(self, task: Task, hops: int) -> None:
        """A finished run is kept."""

    def failed(self, task: Task) -> None:
        """A run has failed."""

    def say(self, line: str) -> None:
        """Something that the user should read."""
