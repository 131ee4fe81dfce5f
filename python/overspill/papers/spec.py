"""What the code of a paper's figures is given and gives back; it knows nothing of what was published."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from matplotlib.figure import Figure as Drawing

Point = Mapping[str, str]


class Runs(Protocol):
    """All runs of one sweep of a paper."""

    @property
    def variants(self) -> Sequence[str]:
        """Variants in the order of the scenario."""

    @property
    def points(self) -> Sequence[Point]:
        """Every point of the grid, its values by path; one empty point where nothing is swept."""

    @property
    def seeds(self) -> Sequence[int]:
        """The seeds of every point."""

    def metric(self, name: str, variant: str, point: Point | None = None) -> np.ndarray:
        """A metric by seed, NaN where a run does not have it; `point` may be left out where there is one."""

    def tables(self, name: str, variant: str, point: Point | None = None) -> list[pa.Table]:
        """A table that the sweep keeps, by seed."""

    def settings(self, variant: str) -> Mapping[str, Any]:
        """A variant's scenario with every default filled in, of a sweep of one point."""

    def __hash__(self) -> int:
        """By identity: what is computed of a sweep may be kept."""

    def node(self, name: str) -> int:
        """The number of a node in the tables, by its name in the scenario's network."""


@dataclass(frozen=True)
class Measured:
    """What came out for a row: a value for each seed, or one where chance has no part.

    Numbers are in the row's unit. Texts (a path, the switches that bounce) are compared as they are.
    """

    case: str
    metric: str
    values: Sequence[float] | Sequence[str]
    note: str = ""  # what the code saw and a reader should know, such as which seeds lost packets
    # How many seeds they are of, where they are of parts of runs, such as packets. These are no independent
    # draws, so that their mean has no interval.
    seeds: int | None = None


# Runs of a figure by the names of their sweeps in `paper.toml`.
Sweeps = Mapping[str, Runs]
# Computes the rows of a figure from its runs.
Measure = Callable[[Sweeps], Iterable[Measured]]
# Draws a figure from its runs within `plots.style()`; published values are by (case, metric).
Draw = Callable[[Sweeps, Mapping[tuple[str, str], float]], "Drawing"]
