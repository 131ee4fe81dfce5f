"""Finished runs read from a store: one, or all of a grid as tables and what is told of them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from overspill.results import same, tables
from overspill.results.axes import Axis, Point
from overspill.results.cache import Broken, Cache
from overspill.results.key import Key
from overspill.results.results import Results
from overspill.results.told import Told
from overspill.stats.quantiles import Value

Keys = Sequence[Mapping[str, Sequence[str]]]  # by point and variant, of each seed


def grid(
    known: dict[str, Any], axes: list[Axis], points: Sequence[Point], store: tuple[Cache, Keys]
) -> Results:
    """The results of all runs of a grid that a store has; one at a time is in memory beside the tables."""
    told, alike, (found, keys) = Told(), same.Swept(), store

    def runs() -> Iterator[tuple[Point, str, dict[int, dict[Key, Value]]]]:
        for point, by_variant in zip(points, keys, strict=True):
            for variant, of_seeds in by_variant.items():
                by_seed: dict[int, dict[Key, Value]] = {}
                summaries: dict[int, dict[str, Any] | None] = {}
                for seed, key in zip(known["seeds"], of_seeds, strict=True):
                    try:
                        entry = found.read(key)
                    except Broken:
                        entry = None
                    summaries[seed] = None if entry is None else entry.summary
                    if entry is not None:
                        by_seed[seed] = entry.values
                told.add(point, variant, summaries)
                told.measured(point, variant, by_seed)
                if by_seed:
                    alike.add(
                        point.values.values(),
                        variant,
                        {seed: same.One(values, summaries[seed] or {}) for seed, values in by_seed.items()},
                    )
                    yield point, variant, by_seed

    made = tables.build(axes, runs())
    planned = len(points) * len(known["variants"]) * len(known["seeds"])
    known = known | {
        "runs": {"planned": planned, "finished": told.finished},
        "missing": told.missing,
        "unfinished": told.unfinished,
        "partial": told.partial,
        "deadlocks": told.deadlocks,
        "starved": told.starved,
        "alike": told.alike,
        "rough": told.rough,
        "same": alike.facts,
    }
    return Results(known, axes=axes, tidy=made)
