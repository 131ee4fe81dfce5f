"""Runs of a sweep for the code of a figure: metrics and tables by seed, nodes by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from overspill import Failed, Plan, Results, metrics
from overspill.papers.spec import Point

VariantAndPoint = tuple[str, tuple[str, ...]]  # variant, and values of a point


class SweepRuns:
    """Runs of a complete sweep for the code of a figure: metrics and tables by seed."""

    def __init__(self, name: str, sweep: Results, made: Plan, most: int | None = None) -> None:
        self.name, self.sweep, self.made, self.most = name, sweep, made, most
        self.read: dict[str, dict[VariantAndPoint, dict[int, float]]] = {}

    @property
    def variants(self) -> Sequence[str]:
        """Names of the variants, in the order of the scenario."""
        return self.sweep.variants

    @cached_property
    def points(self) -> Sequence[Point]:
        """Points of the sweep, each with its values by path."""
        return self.sweep.points

    @property
    def seeds(self) -> Sequence[int]:
        """Seeds that every point has."""
        return self.sweep.seeds[: self.most]

    def with_first_seeds(self, seeds: int) -> SweepRuns:
        """Returns the runs of this sweep with the first `seeds` seeds only."""
        return SweepRuns(self.name, self.sweep, self.made, seeds)

    def metric(self, name: str, variant: str, point: Point | None = None) -> np.ndarray:
        """Returns a metric by seed; NaN for a run without it, or with a bound because of unfinished flows."""
        if metrics.registered_name(name) not in metrics.REGISTRY:
            raise Failed(
                f"sweep {self.name}: found metric {name!r}; expected one of `overspill list metrics`"
            )
        place = self.variant_and_point(variant, point)
        if name not in self.read:
            self.read[name] = self.values(name)
        by_seed = self.read[name].get(place, {})
        return np.array([by_seed.get(seed, np.nan) for seed in self.seeds])

    def values(self, name: str) -> dict[VariantAndPoint, dict[int, float]]:
        """Returns the values of a metric by variant, point and seed."""
        found: dict[VariantAndPoint, dict[int, float]] = {}
        for row in self.sweep.metric(name).to_pylist():
            place = row["variant"], tuple(row[axis.path] for axis in self.sweep.axes)
            found.setdefault(place, {})[row["seed"]] = np.nan if row["censored"] else row["value"]
        return found

    def variant_and_point(self, variant: str, point: Point | None) -> VariantAndPoint:
        """Returns variant and point as a key; raises `Failed` if they do not exist."""
        if variant not in self.variants:
            raise self.unknown_name_error(f"variant {variant!r}", ", ".join(self.variants))
        if point is None:
            if len(self.points) > 1:
                raise self.unknown_name_error("no point", f"one of {len(self.points)}")
            point = self.points[0]
        given = {path: str(value) for path, value in point.items()}
        if given not in self.points:
            raise self.unknown_name_error(
                f"point {given}", f"one of `points`, such as {dict(self.points[0])}"
            )
        return variant, tuple(given[axis.path] for axis in self.sweep.axes)

    def unknown_name_error(self, found: str, expected: str) -> Failed:
        """Returns the error for a variant, point, table or node that the sweep does not have."""
        return Failed(f"sweep {self.name}: found {found}; expected {expected}")

    def tables(self, name: str, variant: str, point: Point | None = None) -> list[pa.Table]:
        """Returns a table that the sweep keeps, by seed."""
        kept = self.sweep.facts["tables"]
        if name not in kept or self.sweep.folder is None:
            raise self.unknown_name_error(f"table {name!r}", f"one of `tables`: {', '.join(kept) or 'none'}")
        _, values = self.variant_and_point(variant, point)
        at = dict(zip((axis.path for axis in self.sweep.axes), values, strict=True))
        found = {run.seed: run.table(name) for run in self.sweep.runs_of(variant, at)}
        tables = [found.get(seed) for seed in self.seeds]
        if absent := [seed for seed, table in zip(self.seeds, tables, strict=True) if table is None]:
            raise Failed(
                f"sweep {self.name}: no table {name} of {variant} with seed {absent[0]}; "
                "expected one for every seed"
            )
        return tables

    def node(self, name: str) -> int:
        """Returns the number of a node in the tables, by its name in the scenario's network."""
        if name not in self.nodes:
            raise self.unknown_name_error(f"node {name!r}", f"one of {', '.join(self.nodes)}")
        return self.nodes[name]

    def settings(self, variant: str) -> Mapping[str, Any]:
        """Returns a variant's scenario with all defaults, for a sweep of one point."""
        self.variant_and_point(variant, None)
        found: Mapping[str, Any] = self.made.document["resolved"][variant]
        return found

    @cached_property
    def nodes(self) -> dict[str, int]:
        """Numbers of nodes by name, without names whose number depends on the variant."""
        return self.made.nodes
