"""Results of a grid, gathered from the finished runs in a store: tables, facts and warnings."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from overspill.results import differences, identical_variants, pointwise_lines, summary_tables
from overspill.results.axes import Axis, Point
from overspill.results.cache import BrokenFile, RunStore, StoredRun
from overspill.results.finished_runs import FinishedRuns
from overspill.results.metric_key import Key
from overspill.results.results import Results
from overspill.results.run_status import RunStatus
from overspill.results.rundata import RunData
from overspill.stats.quantiles import Value


@dataclass(frozen=True)
class PlannedPoint:
    """Point of a sweep: keys of its runs by variant and seed, and settings that facts and warnings need."""

    point: Point
    keys: Mapping[str, Sequence[str]]
    settings: str


@dataclass
class GatheredFacts:
    """Facts and warnings gathered while runs are read."""

    table: differences.DifferencesBuilder
    status: RunStatus = field(default_factory=RunStatus)
    alike: identical_variants.IdenticalVariantsSearch = field(
        default_factory=identical_variants.IdenticalVariantsSearch
    )
    lines: pointwise_lines.CollectedLines = field(default_factory=pointwise_lines.CollectedLines)
    kinds: dict[str, str] = field(default_factory=dict)  # kind of traffic by workload

    def add(
        self, planned: PlannedPoint, known: Mapping[str, Any], runs: Mapping[str, dict[int, StoredRun | None]]
    ) -> None:
        """Adds the runs of a point, by variant and seed."""
        for variant, entries in runs.items():
            there = {seed: entry for seed, entry in entries.items() if entry is not None}
            self.status.add(
                planned.point,
                variant,
                {seed: None if entry is None else entry.summary for seed, entry in entries.items()},
            )
            self.status.add_values(planned.point, variant, {seed: one.values for seed, one in there.items()})
            if there:
                ones = {
                    seed: identical_variants.ComparedRun(one.values, one.summary)
                    for seed, one in there.items()
                }
                self.alike.add(planned.point.values.values(), variant, ones)
        results = results_at_point(planned, known, runs)
        if results.runs:
            self.lines.add(planned.point, results)
            self.table.add(planned.point, results.values, results.rules)
            self.kinds |= results.kinds


def gather_grid(
    known: dict[str, Any], axes: list[Axis], planned: Sequence[PlannedPoint], found: RunStore
) -> Results:
    """Returns the results of all stored runs of a grid, with the runs of one point in memory at a time."""
    gathered = GatheredFacts(differences.DifferencesBuilder(axes, known["baseline"]))

    def read_values_by_variant() -> Iterator[tuple[Point, str, dict[int, dict[Key, Value]]]]:
        for one in planned:
            by_variant = {
                variant: {
                    seed: read_entry(found, key) for seed, key in zip(known["seeds"], keys, strict=True)
                }
                for variant, keys in one.keys.items()
            }
            gathered.add(one, known, by_variant)
            for variant, entries in by_variant.items():
                by_seed = {seed: entry.values for seed, entry in entries.items() if entry is not None}
                if by_seed:
                    yield one.point, variant, by_seed

    made, told = summary_tables.build_tables(axes, read_values_by_variant()), gathered.status
    count = len(planned) * len(known["variants"]) * len(known["seeds"])
    known = known | {
        "runs": {"planned": count, "finished": told.finished},
        "missing": told.missing,
        "unfinished": told.unfinished,
        "partial": told.partial,
        "deadlocks": told.deadlocks,
        "starved": told.starved,
        "alike": told.alike,
        "rough": told.too_few_counts,
        "same": gathered.alike.facts,
        "lines": gathered.lines.facts,
        "workloads": gathered.kinds,
    }
    return Results(known, axes=axes, tidy=made, compared=gathered.table.build_table())


def read_entry(found: RunStore, key: str) -> StoredRun | None:
    """Returns a finished run from the store; `None` if it is missing or damaged."""
    try:
        return found.read_run(key)
    except BrokenFile:
        return None


def results_at_point(
    planned: PlannedPoint, known: Mapping[str, Any], runs: Mapping[str, dict[int, StoredRun | None]]
) -> FinishedRuns:
    """Returns the runs of a point as the results of a single point, without tables."""
    settings = json.loads(planned.settings)
    facts = {
        "name": known["name"],
        "variants": list(runs),
        "seeds": known["seeds"],
        "sets": [],
        "notes": [],
        "interrupted": False,
        "resolved": {name: settings["resolved"].get(name, {}) for name in runs},
        "memory": {name: one for name, one in settings["memory"].items() if name in runs},
    }
    made = []
    for variant, entries in runs.items():
        for seed, entry in entries.items():
            if entry is not None:
                run = RunData({**entry.summary, "variant": variant, "seed": seed}, {})
                run.values, run.halves = entry.values, entry.halves
                made.append(run)
    return FinishedRuns(facts, made)
