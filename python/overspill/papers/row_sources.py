"""Sweeps that each row of a figure was computed from, observed while its code runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from overspill.papers.spec import Measure, Measured, Point, Runs

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


class RecordingRuns:
    """Wrapper of a sweep's runs that records whether the code of a figure reads a value."""

    def __init__(self, name: str, runs: Runs, read: set[str]) -> None:
        self.name, self.runs, self.read = name, runs, read

    @property
    def variants(self) -> Sequence[str]:
        """Names of the variants, in the order of the scenario."""
        return self.runs.variants

    @property
    def points(self) -> Sequence[Point]:
        """Points of the sweep, each with its values by path."""
        return self.runs.points

    @property
    def seeds(self) -> Sequence[int]:
        """Seeds that every point has."""
        return self.runs.seeds

    def metric(self, name: str, variant: str, point: Point | None = None) -> np.ndarray:
        """Returns a metric by seed, and records that the sweep was read."""
        self.read.add(self.name)
        return self.runs.metric(name, variant, point)

    def tables(self, name: str, variant: str, point: Point | None = None) -> list[pa.Table]:
        """Returns a table that the sweep keeps, by seed, and records that the sweep was read."""
        self.read.add(self.name)
        return self.runs.tables(name, variant, point)

    def node(self, name: str) -> int:
        """Returns the number of a node in the tables, by its name in the scenario's network."""
        return self.runs.node(name)

    def settings(self, variant: str) -> Mapping[str, Any]:
        """Returns the resolved scenario of a variant, and records that the sweep was read."""
        self.read.add(self.name)
        return self.runs.settings(variant)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.runs, name)

    # Wrappers of the same runs are equal, so that results cached by sweep are found through any wrapper.

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RecordingRuns) and self.runs is other.runs

    def __hash__(self) -> int:
        return hash(id(self.runs))


class RecordingSweeps(Mapping[str, Runs]):
    """Sweeps of a figure by name, which record the names of those that are looked up or read."""

    def __init__(self, runs: Mapping[str, Runs]) -> None:
        self.read: set[str] = set()
        self.noted = {name: RecordingRuns(name, one, self.read) for name, one in runs.items()}

    def __getitem__(self, name: str) -> Runs:
        self.read.add(name)
        return self.noted[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.noted)

    def __len__(self) -> int:
        return len(self.noted)


def measure_with_sources(
    measure: Measure, runs: Mapping[str, Runs]
) -> Iterator[tuple[Measured, frozenset[str]]]:
    """Yields each row with the sweeps that were read since the row before it.

    If none were read, they are those of the row before: code may compute several rows before it yields the
    first.
    """
    sweeps, last = RecordingSweeps(runs), frozenset[str]()
    for one in measure(sweeps):
        last = frozenset(sweeps.read) or last
        sweeps.read.clear()
        yield one, last
