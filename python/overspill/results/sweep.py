"""A sweep's results: tidy tables, how they were made, on disk and back."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from overspill import stats
from overspill.engine import keys
from overspill.engine.grid import Axis, Grid, Point
from overspill.engine.points import Base, Checked
from overspill.errors import BadInput, Unwritable
from overspill.results import rundata, store
from overspill.results import tables as table
from overspill.results.cache import Broken, Cache
from overspill.results.cautions import largest, rough
from overspill.results.cells import explained
from overspill.results.labels import Line
from overspill.results.tables import Runs
from overspill.stats.quantiles import Value

FORMAT = f"{store.SWEEP}-1"
VALUES, SUMMARY = "sweep.parquet", "summary.parquet"
NONE = 2**64  # more samples than there are
FILES = (VALUES, "sweep.csv", SUMMARY, "summary.csv")


@dataclass
class Sweep:
    """Every finished run of a grid; `facts` is what the manifest says."""

    axes: list[Axis]
    table: pa.Table
    summary: pa.Table
    facts: dict[str, Any] = field(default_factory=dict)
    folder: Path | None = None

    @property
    def scenario(self) -> str:
        """The scenario's name."""
        return str(self.facts["name"])

    @property
    def variants(self) -> list[str]:
        """Variants in the order of the file."""
        return list(self.facts["variants"])

    @property
    def seeds(self) -> list[int]:
        """The seeds of every point."""
        return list(self.facts["seeds"])

    @property
    def points(self) -> list[dict[str, str]]:
        """Every point, its values by path."""
        paths = [axis.path for axis in self.axes]
        return [dict(zip(paths, one["values"], strict=True)) for one in self.facts["points"]]

    @cached_property
    def metrics(self) -> list[str]:
        """Every metric that any run has, in the order of the registry."""
        return list(dict.fromkeys(self.summary.column("metric").to_pylist()))

    @property
    def failures(self) -> list[str]:
        """What was said of runs that failed."""
        return list(self.facts["failures"])

    @property
    def interrupted(self) -> bool:
        """Whether runs were left out because the user stopped."""
        return bool(self.facts["interrupted"])

    @property
    def unfinished(self) -> list[dict[str, Any]]:
        """By point and variant: seeds whose measured flows did not all finish although they had to."""
        return list(self.facts["unfinished"])

    @property
    def partial(self) -> list[dict[str, Any]]:
        """By point and variant: seeds that were cut before their time, and why."""
        return list(self.facts["partial"])

    @property
    def deadlocks(self) -> list[dict[str, Any]]:
        """By point, variant and cycle: seeds in which paused links wait for each other for ever."""
        return list(self.facts.get("deadlocks", []))

    @property
    def stuck(self) -> bool:
        """Whether links wait for each other for ever where flows have to finish."""
        return any(not one.get("allowed") for one in self.deadlocks)

    @property
    def finished(self) -> int:
        """How many runs there are."""
        return int(self.facts["runs"]["finished"])

    @property
    def planned(self) -> int:
        """How many runs the grid has, equal ones counted as often as they appear."""
        return int(self.facts["runs"]["planned"])

    @property
    def notes(self) -> list[str]:
        """What a user should know, and is no error."""
        return list(self.facts["notes"])

    def kept(self, name: str) -> pa.Table:
        """A table of all runs that was kept (`tables=...`), with the axes, `variant` and `seed` in front."""
        if name not in self.facts["tables"] or self.folder is None:
            raise BadInput(f"{name}: not kept; sweep with `--tables {name}`")
        found = Cache(self.folder / "store")
        parts = []
        for values, variant, seed, key in self.runs():
            path = found.table(key, name)
            if path.is_file():
                part = pq.ParquetFile(path).read()
                front = {**values, "variant": variant}
                columns = {at: pa.array([text] * part.num_rows, pa.string()) for at, text in front.items()}
                columns["seed"] = pa.array([seed] * part.num_rows, pa.uint64())
                parts.append(pa.table({**columns, **{at: part.column(at) for at in part.column_names}}))
        return pa.concat_tables(parts) if parts else pa.table({})

    def runs(self) -> Iterator[tuple[dict[str, str], str, int, str]]:
        """Every planned run: its values, variant, seed, and its key in the store."""
        for values, point in zip(self.points, self.facts["points"], strict=True):
            for variant, config in point["configs"].items():
                for seed in self.seeds:
                    yield values, variant, seed, keys.run(config, seed, self.facts["max_events"])

    def document(self) -> dict[str, Any]:
        """What `--json` prints."""
        return document(self)

    def save(self, folder: str | Path) -> None:
        """Write the tables as Parquet and CSV, and the manifest, last."""
        out = Path(folder)
        try:
            out.mkdir(parents=True, exist_ok=True)
            if not described(self.facts, out):
                store.remove(out, pages(out))
            (out / store.MANIFEST).unlink(missing_ok=True)
            files = [*table.write(self.table, out / VALUES), *table.write(self.summary, out / SUMMARY)]
        except OSError as error:
            raise Unwritable(f"{out}: cannot be written: {error.strerror or error}") from error
        self.facts["outputs"] = {path.name: store.digest(path) for path in files}
        store.write_json(out / store.MANIFEST, self.facts)
        self.folder = out

    @staticmethod
    def load(folder: str | Path) -> Sweep:
        """A sweep that `overspill sweep` wrote; `BadInput` where it is not whole."""
        out = Path(folder)
        path = out / store.MANIFEST
        facts = store.parse_manifest(out, "`overspill sweep`")
        if facts.get("format") != FORMAT:
            raise BadInput(f"{path}: found another format; expected {FORMAT}")
        try:
            for name in FILES:
                store.check(out / name, facts["outputs"][name])
            axes = [Axis(**axis) for axis in facts["axes"]]
            tables = [pq.ParquetFile(out / name).read() for name in (VALUES, SUMMARY)]
        except (KeyError, TypeError, AttributeError, OSError, pa.ArrowException):
            raise BadInput(f"{path}: not a whole manifest of `overspill sweep`") from None
        return Sweep(axes, tables[0], tables[1], facts, out)


def described(facts: Mapping[str, Any], out: Path) -> bool:
    """Whether the manifest of a folder is of the same results, and so is a page beside it."""
    try:
        known = store.parse_manifest(out, "`overspill sweep`")
    except BadInput:
        return False
    return {**known, "outputs": None} == {**json.loads(store.dump(facts)), "outputs": None}


def pages(out: Path) -> list[str]:
    """The report of a sweep and its figures, as far as they are there."""
    figures = [path.relative_to(out).as_posix() for path in sorted((out / "figures").glob("sweep-*"))]
    return [name for name in (store.REPORT, *figures) if (out / name).is_file()]


def facts(base: Base, grid: Grid, checked: Checked) -> dict[str, Any]:
    """What makes a sweep; nothing of the clock, the machine, or how it was interrupted."""
    configs = [config for by_variant in checked.configs for config in by_variant.values()]
    equal = len(configs) - len(set(configs))
    notes = list(checked.notes)
    if equal:
        notes.append(
            f"{equal} of {len(configs)} configurations (a point, a variant) are equal to another: run once"
        )
    return {
        "format": FORMAT,
        "overspill": base.build.version,
        "core": base.build.core,
        "metrics": base.build.metrics,
        "name": checked.name,
        "scenario": {
            "file": Path(base.source.path).name,
            "sha256": base.source.sha256,
            "text": base.source.text,
        },
        "files": checked.named,
        "sets": list(base.sets),
        "axes": [asdict(axis) for axis in grid.axes],
        "together": [[grid.axes[at].path for at in group] for group in grid.groups if len(group) > 1],
        "variants": checked.variants,
        "notes": notes,
        "points": [
            {"values": list(point.values.values()), "configs": configs}
            for point, configs in zip(checked.points, checked.configs, strict=True)
        ],
    }


@dataclass
class Gathered:
    """What is told of runs while they are read from the store."""

    finished: int = 0
    unfinished: list[dict[str, Any]] = field(default_factory=list)
    partial: list[dict[str, Any]] = field(default_factory=list)
    deadlocks: list[dict[str, Any]] = field(default_factory=list)
    missing: list[dict[str, Any]] = field(default_factory=list)
    seeds: set[int] = field(default_factory=set)  # how many, of points and variants that have several
    idle: bool = True  # seeds change nothing
    samples: dict[str, int] = field(default_factory=dict)  # the fewest of percentiles that need more

    def measured(self, by_seed: Runs) -> None:
        """The values of a point and variant."""
        if len(by_seed) > 1:
            self.seeds.add(len(by_seed))
            several = list(by_seed.values())
            self.idle = self.idle and all(one == several[0] for one in several)
        for values in by_seed.values():
            for name, one in values.items():
                if one.samples is not None and one.samples < min(
                    table.needed(name), self.samples.get(name, NONE)
                ):
                    self.samples[name] = one.samples

    @property
    def rough(self) -> dict[str, Any]:
        """How few seeds there are where these are too few, and how few samples by metric."""
        few = min(self.seeds, default=stats.ENOUGH)
        ordered = {
            name: self.samples[name] for name in table.ordered({0: dict.fromkeys(self.samples, Value(0.0))})
        }
        return {"seeds": few if few < stats.ENOUGH and not self.idle else None, "samples": ordered}

    def add(self, point: Point, variant: str, by_seed: Mapping[int, Mapping[str, Any] | None]) -> None:
        """The summaries of a point and variant."""
        where = {"point": list(point.values.values()), "variant": variant}
        there = {seed: summary for seed, summary in by_seed.items() if summary is not None}
        self.finished += len(there)
        absent = [seed for seed in by_seed if seed not in there]
        if absent:
            self.missing.append({**where, "seeds": absent})
        left = {seed: one for seed, one in there.items() if late(one)}
        if left:
            counts = {
                key: sum(one["flows"][key] for one in left.values()) for key in ("unfinished", "measured")
            }
            self.unfinished.append({**where, "seeds": list(left), **counts})
        cut = {seed: rundata.CUT[one["stop"]] for seed, one in there.items() if one["stop"] in rundata.CUT}
        if cut:
            why = " and ".join(dict.fromkeys(cut.values()))
            self.partial.append({**where, "seeds": list(cut), "why": why})
        stuck: dict[tuple[str, ...], list[int]] = {}
        for seed, one in there.items():
            if one.get("deadlock"):
                key = (str(one["deadlock"]["class"]), *one["deadlock"]["cycle"])
                stuck.setdefault(key, []).append(seed)
        for seeds in stuck.values():
            first = min((there[seed]["deadlock"] for seed in seeds), key=lambda one: int(one["at_ps"]))
            allowed = all(there[seed]["allow_unfinished"] for seed in seeds)
            self.deadlocks.append({**where, "seeds": seeds, **first, "allowed": allowed})


def late(summary: Mapping[str, Any]) -> bool:
    """Whether a run left measured flows unfinished although the scenario does not allow it."""
    return bool(summary["flows"].get("unfinished", 0)) and not summary["allow_unfinished"]


def gather(known: dict[str, Any], axes: list[Axis], points: list[Point], found: Cache) -> Sweep:
    """The sweep of all runs that the store has; a run at a time is in memory beside the tables."""
    told = Gathered()

    def runs() -> Iterator[tuple[Point, str, dict[int, dict[str, Value]]]]:
        for point, one in zip(points, known["points"], strict=True):
            for variant, config in one["configs"].items():
                by_seed: dict[int, dict[str, Value]] = {}
                summaries: dict[int, dict[str, Any] | None] = {}
                for seed in known["seeds"]:
                    try:
                        entry = found.read(keys.run(config, seed, known["max_events"]))
                    except Broken:
                        entry = None
                    summaries[seed] = None if entry is None else entry.summary
                    if entry is not None:
                        by_seed[seed] = entry.values
                told.add(point, variant, summaries)
                told.measured(by_seed)
                if by_seed:
                    yield point, variant, by_seed

    values, summary = table.build(axes, runs())
    planned = len(points) * len(known["variants"]) * len(known["seeds"])
    known = known | {
        "runs": {"planned": planned, "finished": told.finished},
        "missing": told.missing,
        "unfinished": told.unfinished,
        "partial": told.partial,
        "deadlocks": told.deadlocks,
        "rough": told.rough,
    }
    return Sweep(axes, values, summary, known)


def document(sweep: Sweep) -> dict[str, Any]:
    """One JSON document: points, their variants, every metric with its values by seed."""
    paths = [axis.path for axis in sweep.axes]
    values: dict[tuple[Any, ...], dict[int, Any]] = {}
    for row in sweep.table.to_batches():
        columns = [
            row.column(name).to_pylist()
            for name in (*paths, "variant", "metric", "seed", "value", "censored")
        ]
        for *place, seed, value, censored in zip(*columns, strict=True):
            shown = {"value": value, "censored": True} if censored else value
            values.setdefault(tuple(place), {})[seed] = shown
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for one in sweep.summary.to_pylist():
        at = tuple(one[path] for path in paths)
        interval = None if one["low"] is None else [one["low"], one["high"]]
        entry = {"mean": one["mean"], "ci95": one["ci95"], "interval": interval, "unit": one["unit"]}
        by_seed = values[(*at, one["variant"], one["metric"])]
        entry["values"] = [by_seed.get(seed) for seed in sweep.seeds]
        if one["censored"]:
            entry["censored"] = True
        found.setdefault((*at, one["variant"]), {})[one["metric"]] = entry
    points = [
        {
            "values": point,
            "variants": [
                {"name": variant, "metrics": found.get((*point.values(), variant), {})}
                for variant in sweep.variants
            ],
        }
        for point in sweep.points
    ]
    kept = ("runs", "interrupted", "failures", "missing", "unfinished", "partial", "deadlocks", "notes")
    return {
        "scenario": sweep.scenario,
        "axes": [asdict(axis) for axis in sweep.axes],
        "variants": sweep.variants,
        "seeds": sweep.seeds,
        "points": points,
        **{key: sweep.facts.get(key, []) for key in kept},
        "cautions": [f"{line.label}: {line.text}" for line in cautions(sweep.facts)],
    }


def cautions(facts: Mapping[str, Any], shown: Collection[str] | None = None) -> list[Line]:
    """What makes a sweep's numbers rough, of the metrics shown or all: few seeds, few samples."""
    known = facts.get("rough") or {"seeds": None, "samples": {}}
    few = {name: count for name, count in known["samples"].items() if shown is None or name in shown}
    return [*([rough(known["seeds"])] if known["seeds"] else []), *largest(few)]


def legend(summary: pa.Table) -> str:
    """How to read the cells of a sweep's tables."""
    most = pc.max(summary.column("n")).as_py() or 0
    return f"{explained(most, False)} After > stands a lower bound: flows did not finish."


def rows(sweep: Sweep, metric: str) -> dict[tuple[str, ...], dict[str, Any]]:
    """The summaries of a metric, by values of the axes and variant."""
    some = sweep.summary.filter(pc.equal(sweep.summary.column("metric"), metric))
    paths = [axis.path for axis in sweep.axes]
    return {(*(one[path] for path in paths), one["variant"]): one for one in some.to_pylist()}
