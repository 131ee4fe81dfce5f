"""Artificial runs of a paper's sweep: metrics and tables as functions of variant, point and seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from overspill.papers.spec import Point

Told = Callable[[str, Point, int], Any]  # value of a variant, a point and a seed


@dataclass(eq=False)
class FakeRuns:
    """Interface of a sweep for a paper's code; the helpers of each paper define its variants and seeds."""

    points: Sequence[Point] = ({},)
    variants: Sequence[str] = ()
    metrics: Mapping[str, Told] = field(default_factory=dict)
    kept: Mapping[str, Told] = field(default_factory=dict)
    seeds: Sequence[int] = (1, 2)
    other: Told | None = None  # function for metrics that are not listed

    def metric(self, name: str, variant: str, point: Point | None = None) -> np.ndarray:
        told = self.metrics.get(str(name), self.other)
        assert told is not None, name
        return np.array([told(variant, self.at(variant, point), seed) for seed in self.seeds], float)

    def tables(self, name: str, variant: str, point: Point | None = None) -> list[pa.Table]:
        return [self.kept[name](variant, self.at(variant, point), seed) for seed in self.seeds]

    def at(self, variant: str, point: Point | None) -> Point:
        assert variant in self.variants
        assert point in (None, *self.points)
        return self.points[0] if point is None else point

    def node(self, name: str) -> int:
        raise NotImplementedError

    def settings(self, variant: str) -> Mapping[str, Any]:
        raise NotImplementedError


def points_along(path: str, values: Sequence[object]) -> list[Point]:
    """Returns points along one path."""
    return [{path: str(value)} for value in values]
