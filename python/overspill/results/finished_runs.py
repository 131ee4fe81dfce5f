"""Finished runs at one point or many: tables, metrics, and warnings about them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from overspill.errors import BadInput
from overspill.results import (
    cache,
    columns,
    identical_variants,
    metric_names,
    metric_rows,
    metrics,
    names,
    pooled_workloads,
    steady_state,
    summary_tables,
    unequal_variants,
)
from overspill.results.axes import Axis, Point
from overspill.results.cache import RunStore
from overspill.results.fairness import Fairness, judge_fairness
from overspill.results.measures import saturation
from overspill.results.metric_key import Key
from overspill.results.metric_rows import ComparisonRules, MetricRow
from overspill.results.replaced_results import ReplacedResults
from overspill.results.run_status import RunStatus
from overspill.results.run_tables import RunTables
from overspill.results.rundata import RunData
from overspill.stats.quantiles import Value


@dataclass
class FinishedRuns(RunTables):
    """Finished runs of a scenario; `facts` has the other entries of their manifest.

    `runs` has every run of a single point with its tables. It is empty for a sweep, which has `axes`:
    `metrics` and `summary` have all values, and the store in `folder` the tables that were kept.
    """

    facts: dict[str, Any]
    runs: list[RunData] = field(default_factory=list)
    folder: Path | None = None
    axes: list[Axis] = field(default_factory=list)
    # Tables `metrics` and `summary` if they exist already; otherwise they are computed when first used.
    tidy: tuple[pa.Table, pa.Table] | None = None
    # Differences of a sweep from its baseline; `None` for one point, and for sweeps of older versions.
    compared: pa.Table | None = None
    # Folder of the store; if it is `None` and `folder` is set, the store is in `folder`.
    store: Path | None = None
    # Digest that distinguishes these results from later ones in their folder; empty without a folder.
    identity: str = ""
    # Earlier results that these replaced in the folder, if those had runs that these lack.
    replaced: ReplacedResults | None = None
    # Signal that ended the command before all runs were done; never written to files.
    signal: int | None = None

    @property
    def of_sweep(self) -> bool:
        """True if the runs are those of a sweep."""
        return "points" in self.facts

    @property
    def scenario(self) -> str:
        """Name of the scenario."""
        return str(self.facts["name"])

    @property
    def variants(self) -> list[str]:
        """Names of the variants, in the order of the scenario."""
        return list(self.facts["variants"])

    @property
    def labels(self) -> dict[str, str]:
        """Labels of the variants that have one, by name."""
        return dict(self.facts.get("labels") or {})

    def label(self, variant: str) -> str:
        """Returns the label of a variant, or its name if it has none."""
        return self.labels.get(variant, variant)

    @property
    def seeds(self) -> list[int]:
        """Seeds that every point has."""
        return list(self.facts["seeds"])

    @property
    def points(self) -> list[dict[str, str]]:
        """Points of the sweep, with their values by path; one point without values if nothing was swept."""
        paths = [axis.path for axis in self.axes]
        known = self.facts.get("points", [{"values": []}])
        return [dict(zip(paths, one["values"], strict=True)) for one in known]

    @property
    def notes(self) -> list[str]:
        """Notes on the scenario that are not errors."""
        return list(self.facts["notes"])

    @property
    def interrupted(self) -> bool:
        """True if runs were left out because the user stopped the command."""
        return bool(self.facts["interrupted"])

    @property
    def failures(self) -> list[str]:
        """Error messages of the runs that failed."""
        return list(self.facts.get("failures", []))

    @property
    def finished(self) -> int:
        """Number of finished runs."""
        return int(self.facts["runs"]["finished"]) if self.of_sweep else len(self.runs)

    @property
    def planned(self) -> int:
        """Number of requested runs, with equal runs counted as often as they appear."""
        return len(self.points) * len(self.variants) * len(self.seeds)

    @property
    def missing(self) -> bool:
        """True if requested runs are absent."""
        return self.finished < self.planned

    @property
    def partial(self) -> bool:
        """True if a run was cut, or runs are missing."""
        return self.interrupted or bool(self.failures) or self.has_cut_run

    @property
    def has_cut_run(self) -> bool:
        """True if a run stopped before its planned end."""
        return bool(self.run_status.partial)

    @cached_property
    def run_status(self) -> RunStatus:
        """Seeds that are missing, cut, unfinished or in a deadlock, by point and variant."""
        if self.of_sweep:
            return RunStatus.from_facts(self.facts)
        found, point = RunStatus(), Point(0, {}, ())
        for variant in self.variants:
            there = {run.seed: run.summary for run in self.runs if run.variant == variant}
            found.add(point, variant, {seed: there.get(seed) for seed in self.seeds})
        return found

    @property
    def told(self) -> RunStatus:
        """Deprecated name of `run_status`."""
        warnings.warn("Results.told is now Results.run_status", DeprecationWarning, stacklevel=2)
        return self.run_status

    @property
    def unfinished(self) -> list[RunData]:
        """Runs of one point that left measured flows unfinished although the scenario does not allow it."""
        return [run for run in self.runs if run.unfinished and not run.summary["allow_unfinished"]]

    @property
    def stuck(self) -> bool:
        """True if ports wait for each other forever in a run whose flows have to finish."""
        return any(not one.get("allowed") for one in self.run_status.deadlocks)

    @cached_property
    def fairness(self) -> Fairness:
        """Reasons against calling a variant best."""
        return judge_fairness(
            self.facts, {variant: self.runs_of(variant) for variant in self.variants}, self.values
        )

    def runs_of(self, variant: str, point: Mapping[str, str] | None = None) -> list[RunData]:
        """Returns a variant's runs by seed; for a sweep those at a point, with the tables that were kept.

        Raises `BadInput` if there is no such variant or point.
        """
        if variant not in self.variants:
            raise BadInput(f"variant: found {variant!r}; expected one of {', '.join(self.variants)}")
        known, points = dict(point or {}), self.points
        if known not in points:
            raise BadInput(f"point: found {known}; expected one of {format_first_points(points)}")
        if not self.of_sweep:
            return sorted((run for run in self.runs if run.variant == variant), key=lambda run: run.seed)
        at = points.index(known)
        config = self.facts["points"][at]["configs"][variant]
        found = (self.read_stored_run(config, variant, seed, points[at]) for seed in self.seeds)
        return [run for run in found if run is not None]

    def of(self, variant: str, point: Mapping[str, str] | None = None) -> list[RunData]:
        """Deprecated name of `runs_of`."""
        warnings.warn("Results.of is now Results.runs_of", DeprecationWarning, stacklevel=2)
        return self.runs_of(variant, point)

    @cached_property
    def values(self) -> dict[str, dict[int, dict[Key, Value]]]:
        """Values of all metrics at one point: variant -> seed -> metric."""
        found: dict[str, dict[int, dict[Key, Value]]] = {variant: {} for variant in self.variants}
        for run in self.runs:
            known = run.values
            found[run.variant][run.seed] = metrics.measure(run) if known is None else known
        return found

    @cached_property
    def groups(self) -> list[tuple[str, ...]]:
        """Groups of variants whose runs are identical; variants without runs are left out."""
        return identical_variants.group_names_with_equal_runs(
            self.compared_runs, identical_variants.are_equal
        )

    @property
    def compared_runs(self) -> dict[str, dict[int, identical_variants.ComparedRun]]:
        """Metrics and summaries for comparing variants at one point: variant -> seed -> run."""
        values = self.values
        found: dict[str, dict[int, identical_variants.ComparedRun]] = {
            variant: {} for variant in self.variants
        }
        for run in self.runs:
            found[run.variant][run.seed] = identical_variants.ComparedRun(
                values[run.variant][run.seed], run.summary, run
            )
        return found

    @cached_property
    def built_tables(self) -> tuple[pa.Table, pa.Table]:
        """Tables of all metric values and of their means over seeds."""
        if self.tidy is not None:
            return self.tidy
        point = Point(0, {}, ())
        return summary_tables.build_tables(
            [], ((point, variant, of) for variant, of in self.values.items() if of)
        )

    @property
    def metrics(self) -> pa.Table:
        """Table of all values of runs: the axes, `variant`, `seed`, `metric`, `by`, `of`, `value`, ...."""
        return self.built_tables[0]

    @property
    def summary(self) -> pa.Table:
        """Means and 95% intervals over seeds: the axes, `variant`, `metric`, `by`, `of`, `n`, `mean`, ..."""
        return self.built_tables[1]

    @property
    def baseline(self) -> str:
        """Variant from which a sweep's differences are computed; empty if there are no differences."""
        return str(self.facts.get("baseline") or "")

    @property
    def differences(self) -> pa.Table:
        """Differences of a sweep's variants from `baseline`: the axes, `variant`, `metric`, ..., `note`.

        Raises `BadInput` if these results have none: those of one point, and those of older versions.
        """
        if self.compared is None:
            raise BadInput("differences: found none; expected a sweep of this version. Run the sweep again")
        return self.compared

    @cached_property
    def ranges(self) -> dict[tuple[str, ...], tuple[float, float]]:
        """Range of each metric with values in exactly two seeds, by identifying columns of `summary`."""
        return summary_tables.two_seed_ranges(self.metrics, self.summary)

    def metric(self, name: str, /, **label: str) -> pa.Table:
        """Returns the rows of one metric in `metrics`: of all samples, or of a labelled part.

        `metric("fct_p99")` is of all flows, `metric("fct_p99", size="0-100KB")` of a part. A name may also be
        a `Key`, or a text such as `fct_p99[size=0-100KB]`, as in files.
        """
        return summary_tables.rows_of_metric(self.metrics, name, label)

    def means(self, name: str, /, **label: str) -> pa.Table:
        """Returns the rows of one metric in `summary`; arguments are those of `metric`."""
        return summary_tables.rows_of_metric(self.summary, name, label)

    @cached_property
    def metric_names(self) -> list[Key]:
        """All metrics that any run has, in the order of the registry."""
        return summary_tables.list_metrics(self.summary)

    @cached_property
    def kinds(self) -> dict[str, str]:
        """Kind of traffic of each workload; empty for sweeps that older versions wrote."""
        if self.of_sweep:
            return dict(self.facts.get("workloads") or {})
        return pooled_workloads.workload_kinds(one for run in self.runs for one in run.summary["traffic"])

    @cached_property
    def trees(self) -> dict[str, dict[int, list[saturation.SaturationTree]]]:
        """Saturation trees in order of their start: variant -> seed -> trees; none if no port is paused."""
        found: dict[str, dict[int, list[saturation.SaturationTree]]] = {
            variant: {} for variant in self.variants
        }
        for run in self.runs:
            found[run.variant][run.seed] = saturation.find_trees(run)
        return found

    def halves(self, run: RunData) -> dict[str, tuple[float, float]]:
        """Returns the values of a run in each half of its window, which should be equal in steady state."""
        if run.halves is None:
            run.halves = steady_state.compare_halves(run)
        return run.halves

    @cached_property
    def rules(self) -> ComparisonRules:
        """Rules that forbid calling a variant best, or add a statement to the best variant."""
        beside = unequal_variants.compare_runs(self.runs, self.values, self.facts.get("memory") or {})
        return ComparisonRules.from_values(self.values, self.fairness, beside)

    @cached_property
    def rows(self) -> list[MetricRow]:
        """Rows of the summary table: metrics of all variants, with intervals and the best variant."""
        return metric_rows.build_rows(self.values, self.rules)

    def table(self, name: str) -> pa.Table:
        """Returns a table of all runs: the axes, `variant` and `seed` first; empty if no run wrote it."""
        parts = []
        self.require_table(name)
        for run in self.each():
            part = run.table(name)
            if part is not None:
                parts.append(columns.with_run_columns(part, run.variant, run.seed, run.point))
        # Some columns exist only with some transports, such as `tlp_probes` with RACK. In the rows of other
        # runs they are null.
        return (
            pa.concat_tables(parts, promote_options="default").unify_dictionaries() if parts else pa.table({})
        )

    def batches(self, name: str, names: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yields a table of all runs as `table` returns it, or some columns of it, in batches.

        Only some ten thousand rows of a table on disk are in memory at a time. All tables are on disk if the
        results have a folder, and long traces in any case.
        """
        self.require_table(name)
        for run in self.each():
            for batch in run.batches(name, names):
                part = pa.Table.from_batches([batch])
                yield from columns.with_run_columns(part, run.variant, run.seed, run.point).to_batches()

    def require_table(self, name: str) -> None:
        """Raises `BadInput` if no run writes a table of this name, or if a sweep did not keep it."""
        if name not in names.TABLES:
            hint = metric_names.similar_names_hint(name, names.TABLES)
            raise BadInput(
                f"{name}: found no table of this name; expected one of {', '.join(names.TABLES)}{hint}"
            )
        if self.of_sweep and name not in self.facts["tables"]:
            raise BadInput(f"{name}: not kept; sweep with `--tables {name}`")

    def require_store(self) -> Path:
        """Returns the store of a sweep; raises `BadInput` if it has none."""
        if self.folder is None and self.store is None:
            raise BadInput(
                "runs of a sweep are kept only with `out`; these results have only `metrics` and `summary`"
            )
        return self.store or Path(self.folder or "") / "store"

    def each(self) -> Iterator[RunData]:
        """Yields all finished runs; those of a sweep are read one by one, with the tables that were kept.

        Raises `BadInput` for a sweep without a folder, which keeps its metrics only.
        """
        if not self.of_sweep:
            yield from self.runs
        else:
            self.require_store()
            for point, known in zip(self.points, self.facts["points"], strict=True):
                for variant, config in known["configs"].items():
                    runs = (self.read_stored_run(config, variant, seed, point) for seed in self.seeds)
                    yield from (run for run in runs if run is not None)

    def read_stored_run(self, config: str, variant: str, seed: int, point: dict[str, str]) -> RunData | None:
        """Returns a run of a sweep from its store; `None` if it was absent when the results were written.

        Raises `BadInput` if it was deleted or damaged since.
        """
        key = cache.run_key(config, seed, self.facts["max_events"])
        found = RunStore(self.require_store())
        run = cache.read_stored_run(found, key)
        if run is not None:
            run = run.with_summary_entries({"variant": variant, "seed": seed})
            run.point = point
        elif not self.is_missing(variant, seed, point):
            at = "".join(f", {path}={text}" for path, text in point.items())
            raise BadInput(
                f"{found.run_file(key)}: deleted or damaged; expected the run of {variant} with seed {seed}"
                f"{at}. The same command runs it again"
            )
        return run

    def is_missing(self, variant: str, seed: int, point: Mapping[str, str]) -> bool:
        """Returns true if a run was absent when these results were written."""
        return any(
            (one["variant"], one["point"]) == (variant, list(point.values())) and seed in one["seeds"]
            for one in self.run_status.missing
        )

    @property
    def captures(self) -> dict[tuple[str, int], dict[str, Path]]:
        """Files (pcapng) of captured links: (variant, seed) -> link -> file."""
        return {(run.variant, run.seed): run.captures for run in self.runs if run.captures}


def format_first_points(points: Sequence[Mapping[str, str]]) -> str:
    """Formats the first points of a sweep as text, for a message."""
    more = f" and {len(points) - 3} more" if len(points) > 3 else ""
    return ", ".join(str(dict(point)) for point in points[:3]) + more
