"""Interface for the code of a paper's figures, which has no access to published values."""

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
    """Runs of one sweep of a paper: metrics and tables by variant, point and seed."""

    @property
    def variants(self) -> Sequence[str]:
        """Names of the variants, in the order of the scenario."""

    @property
    def points(self) -> Sequence[Point]:
        """Every point of the grid with its values by path; one empty point if nothing is swept."""

    @property
    def seeds(self) -> Sequence[int]:
        """Seeds that every point has."""

    def metric(self, name: str, variant: str, point: Point | None = None) -> np.ndarray:
        """Returns a metric by seed, NaN if a run lacks it; `point` may be omitted if there is only one."""

    def tables(self, name: str, variant: str, point: Point | None = None) -> list[pa.Table]:
        """Returns a table that the sweep keeps, by seed."""

    def settings(self, variant: str) -> Mapping[str, Any]:
        """Returns a variant's scenario with all defaults, for a sweep of one point."""

    def __hash__(self) -> int:
        """Hashes by identity, so that results computed from a sweep can be cached."""

    def node(self, name: str) -> int:
        """Returns the number of a node in the tables, by its name in the scenario's network."""


@dataclass(frozen=True)
class Measured:
    """Measured value of a row: one for each seed, or a single one if the result is deterministic.

    Numbers are in the row's unit. Texts (a path, the switches that bounce) are compared literally.
    """

    case: str
    metric: str
    values: Sequence[float] | Sequence[str]
    note: str = ""  # observation of the code for readers, such as the seeds that lost packets
    # Number of seeds; set only if `values` are of parts of runs, such as packets. Parts of one run are not
    # independent, so that their mean has no interval.
    seeds: int | None = None


# Runs of a figure by the names of their sweeps in `paper.toml`.
Sweeps = Mapping[str, Runs]
# Computes the rows of a figure from its runs, without access to published values.
Measure = Callable[[Sweeps], Iterable[Measured]]
# Draws a figure from its runs within `plots.style()`; published numbers are by (case, metric).
Draw = Callable[[Sweeps, Mapping[tuple[str, str], float]], "Drawing"]
