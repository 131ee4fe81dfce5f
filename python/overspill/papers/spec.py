"""What the code of a paper's figures is given and gives back; it knows nothing of what was published."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class Figure:
    """How a figure, a table or a claim of a paper is computed and drawn from its runs.

    `measure` gets the runs by the names that the paper's file gives its sweeps. `draw` gets them too, and the
    published values by (case, metric), to set beside what was measured.
    """

    measure: Callable[[Mapping[str, Runs]], Iterable[Measured]]
    draw: Callable[[Mapping[str, Runs], Mapping[tuple[str, str], float]], Drawing] | None = None


@dataclass(frozen=True)
class Code:
    """The figures of one paper, by their ids."""

    figures: Mapping[str, Figure] = field(default_factory=dict)
