"""Artificial results with every table that figures use, and an artificial sweep."""

from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa

from overspill import Results
from overspill.results import axes as swept
from overspill.results.rundata import RunData

BINS = 400


def with_all_tables(results: Results) -> Results:
    """Adds goodput, links, sojourn times, distances and reordering to results."""
    return Results(results.facts, [extend_run(run) for run in results.runs])


def extend_run(run: RunData) -> RunData:
    tables: dict[str, Any] = {name: run.table(name) for name in run.names}
    rng = np.random.default_rng([run.seed, *run.variant.encode()])
    hosts = np.flatnonzero(run.is_host)[:40]
    bins = np.tile(np.arange(BINS, dtype=np.uint32), len(hosts))
    nodes = np.repeat(hosts.astype(np.uint32), BINS)
    size = rng.integers(0, 12_000, len(bins)).astype(np.uint64)
    tables["host_goodput"] = pa.table({"bin": bins, "node": nodes, "bytes": size})
    flows = np.repeat(np.arange(20, dtype=np.uint32), BINS)
    bits = np.tile(np.arange(BINS, dtype=np.uint32), 20)
    amount = (rng.integers(0, 9000, len(bits)) * (1 + flows % 4)).astype(np.uint64)
    tables["flow_goodput"] = pa.table({"bin": bits, "flow": flows, "bytes": amount})
    tables["links"] = links(run, rng)
    tables["queue_sojourn"] = sojourn(run, rng)
    tables["reorder"] = reorder(rng)
    tables["packet_hist"] = distances(tables["packet_hist"])
    return RunData(run.summary, tables)


def distances(packets: pa.Table) -> pa.Table:
    """Adds bounced distances to a table of packets, if any were bounced."""
    rows = packets.to_pylist()
    bounced = sum(row["count"] for row in rows if row["metric"] == 3 and row["low"] > 0)
    for low, count in ((1, bounced - bounced // 10), (2, bounced // 10)):
        far = {"data": 1, "metric": 4, "low": low, "high": low + 1, "count": count, "sum": low * count}
        rows += [far] if count else []
    return pa.Table.from_pylist(rows, packets.schema)


def links(run: RunData, rng: np.random.Generator) -> pa.Table:
    node, port = run.columns("ports", "node", "port")
    count = min(30, len(node))
    bins = np.tile(np.arange(BINS, dtype=np.uint32), count)
    bits = rng.integers(0, 10**5, len(bins)).astype(np.uint64)
    nodes, ports = np.repeat(node[:count], BINS), np.repeat(port[:count], BINS)
    return pa.table({"bin": bins, "node": nodes, "port": ports, "bits": bits})


def sojourn(run: RunData, rng: np.random.Generator) -> pa.Table:
    low = np.concatenate([[0], (10_000 * 1.5 ** np.arange(30))]).astype(np.uint64)
    high = np.append(low[1:], low[-1] * 2).astype(np.uint64)
    switch = int(np.flatnonzero(~run.is_host)[0])
    rows = []
    for at in range(3):
        for start, end in zip(low, high, strict=True):
            rows.append((switch + at, 0, start, end, int(rng.integers(1, 9000)), 0.0))
    names = ("node", "port", "low", "high", "count", "sum")
    types = (np.uint32, np.uint16, np.uint64, np.uint64, np.uint64, np.float64)
    columns = zip(names, zip(*rows, strict=True), types, strict=True)
    return pa.table({name: np.array(column, kind) for name, column, kind in columns})


def reorder(rng: np.random.Generator) -> pa.Table:
    rows = [(0, 0, value, int(10_000 * np.exp(-abs(value) / 3)) + 1) for value in range(-40, 41)]
    rows += [(0, 1, value, int(3000 * np.exp(-value / 4)) + 1) for value in range(30)]
    rows += [(0, 2, value, int(900 * np.exp(-value / 6)) + int(rng.integers(1, 9))) for value in range(1, 40)]
    rows += [(0, 3, 0, 60_000)]
    traffic, metric, value, count = zip(*rows, strict=True)
    columns = {"traffic": np.array(traffic, np.uint16), "metric": np.array(metric, np.uint8)}
    return pa.table(columns | {"value": np.array(value, np.int64), "count": np.array(count, np.uint64)})


def with_table(results: Results, name: str, tables: dict[str, pa.Table]) -> Results:
    """Replaces a table of results for each variant; it has no rows for a variant that is not listed."""
    nothing = next(iter(tables.values())).slice(0, 0)
    made = []
    for run in results.runs:
        others: dict[str, Any] = {one: run.table(one) for one in run.names}
        made.append(RunData(run.summary, others | {name: tables.get(run.variant, nothing)}))
    return Results(results.facts, made)


def event_table(rows: list[tuple[int, int, int, int]]) -> pa.Table:
    """Builds a table of activity: bin, node, kind and count."""
    columns = zip(("bin", "node", "kind", "count"), zip(*rows, strict=True), strict=True)
    types = {"bin": np.uint32, "node": np.uint32, "kind": np.uint8, "count": np.uint64}
    return pa.table({name: np.array(values, types[name]) for name, values in columns})


def wait_table(rows: list[tuple[int, int, int]], switch: int) -> pa.Table:
    """Builds a table of times in the queue: low, high and count of each bucket of one port."""
    low, high, count = (np.array(one, np.uint64) for one in zip(*rows, strict=True))
    place = {"node": np.full(len(rows), switch, np.uint32), "port": np.zeros(len(rows), np.uint16)}
    return pa.table(place | {"low": low, "high": high, "count": count, "sum": np.zeros(len(rows))})


@dataclass(frozen=True)
class Axis:
    path: str
    texts: list[str]
    numbers: list[float] | None = None
    unit: str = ""


@dataclass
class Sweep:
    axes: list[Axis]
    summary: pa.Table
    facts: dict[str, Any] = field(default_factory=dict)
    ranges: dict[tuple[str, ...], tuple[float, float]] = field(default_factory=dict)


SIZES = Axis("switch.buffer.size", ["10pkt", "20pkt", "40pkt", "80pkt"], [10.0, 20.0, 40.0, 80.0], "pkt")
THETA = Axis("switch.overflow.theta", ["0.7", "0.8", "0.9"], [0.7, 0.8, 0.9])
METRICS = {"fct_mean": "s", "fct_p99": "s", "slowdown_p99": "1", "goodput": "bit/s", "drops": "packets"}


def sample_sweep(axes: list[Axis], variants: tuple[str, ...] = ("drop", "bounce"), seeds: int = 5) -> Results:
    """Returns a sweep whose numbers follow from their indices."""
    rows = []
    shape = [len(axis.texts) for axis in axes]
    for place in np.ndindex(*shape):
        texts = {axis.path: axis.texts[at] for axis, at in zip(axes, place, strict=True)}
        for index, variant in enumerate(variants):
            for at, (metric, unit) in enumerate(METRICS.items()):
                mean = (1 + sum(place) + 2 * index + at) * {"s": 1e-3, "bit/s": 1e8}.get(unit, 1.0)
                censored = metric == "fct_p99" and sum(place) == 0
                half = None if seeds < 2 or censored else mean / 10
                ends = (None, None) if half is None else (mean - half, mean + half)
                numbers = {"n": seeds, "mean": mean, "ci95": half, "low": ends[0], "high": ends[1]}
                head = texts | {"variant": variant, "metric": metric, "by": "", "of": "", "unit": unit}
                rows.append(head | numbers | {"censored": censored})
    return Sweep(axes, pa.Table.from_pylist(rows), {"name": "made", "notes": []})


def results_of(sweep: Sweep) -> Results:
    """Makes results of a sweep, as a page uses them."""
    texts = [list(row) for row in product(*(axis.texts for axis in sweep.axes))]
    variants = list(dict.fromkeys(sweep.summary.column("variant").to_pylist()))
    facts = {"variants": variants, "seeds": [1, 2, 3, 4, 5], "sets": [], "together": [], "lines": []}
    facts |= {"points": [{"values": one} for one in texts], "interrupted": False, "runs": {"finished": 40}}
    facts |= {"missing": [], "partial": [], "unfinished": []}
    axes = [swept.Axis(one.path, one.texts, one.numbers, one.unit) for one in sweep.axes]
    return Results(sweep.facts | facts, axes=axes, tidy=(sweep.summary, sweep.summary))


def sweep_of_curves(metric: tuple[str, str], curves: dict[str, list[tuple[float, float]]]) -> Results:
    """Builds a sweep of one metric and its unit: mean and half-width of each variant at each size."""
    rows = [
        {
            SIZES.path: text,
            **{"variant": variant, "metric": metric[0], "by": "", "of": "", "unit": metric[1]},
            "censored": False,
            **{"n": 5, "mean": mean, "ci95": half, "low": mean - half, "high": mean + half},
        }
        for variant, curve in curves.items()
        for text, (mean, half) in zip(SIZES.texts, curve, strict=True)
    ]
    return Sweep([SIZES], pa.Table.from_pylist(rows), {"name": "made", "notes": []})
