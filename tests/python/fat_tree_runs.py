"""Artificial runs of section VI's fat-tree: tables with known statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from overspill_papers.pabo.measures import arrival_times, fat_tree

from overspill.papers.spec import Point

NODES = [f"h{n}" for n in range(16)] + [f"edge{n}" for n in range(8)]
NODES += [f"agg{n}" for n in range(8)] + [f"core{n}" for n in range(4)]
Key = tuple[str, str, str]  # table or metric, variant, and value of the swept path


@dataclass
class FakeRuns:
    """Artificial runs of a sweep: tables and metrics by name, variant and value."""

    held: dict[Key, list[pa.Table]] = field(default_factory=dict)
    values: dict[Key, list[float]] = field(default_factory=dict)
    variants: Sequence[str] = ("without", "pabo")
    points: Sequence[Point] = ({},)
    seeds: Sequence[int] = (1,)

    def at(self, name: str, variant: str, point: Point | None) -> Key:
        return name, variant, "".join((point or {}).values())

    def metric(self, name: str, variant: str, point: Point | None = None) -> np.ndarray:
        return np.array(self.values[self.at(name, variant, point)])

    def tables(self, name: str, variant: str, point: Point | None = None) -> list[pa.Table]:
        return self.held[self.at(name, variant, point)]

    def node(self, name: str) -> int:
        return NODES.index(name)


def ports(**counts: Mapping[str, int]) -> pa.Table:
    """Returns `ports` with two ports for every node; counters by name and node are at the second one."""
    rows = [{"node": node, "port": port} for node in range(len(NODES)) for port in range(2)]
    for name in ("bounced", "drop_buffer_full", "drop_bounce_queue_full"):
        at = counts.get(name, {})
        for row in rows:
            row[name] = at.get(NODES[row["node"]], 0) if row["port"] else 0
    return pa.Table.from_pylist(rows)


def packets(*, traffic: int = 0, **by_metric: Mapping[int, int]) -> pa.Table:
    """Returns `packet_hist` of data from counts by value of `delay`, `detours` etc., and `acks` by delay."""
    rows = []
    kinds = {"delay": (0, 1), "detours": (2, 1), "bounces": (3, 1), "distance": (4, 1), "acks": (0, 0)}
    for name, counts in by_metric.items():
        metric, data = kinds[name]
        every = [value for value, count in counts.items() for _ in range(count)]
        sums = [float(sum(every)), float(np.var(every) * len(every))]
        for value, count in counts.items():
            at = {"traffic": traffic, "data": data, "metric": metric, "low": value, "high": value + 1}
            rows.append(at | {"count": count, "sum": sums[0], "squared_deviations": sums[1]})
            sums = [0.0, 0.0]
    return pa.Table.from_pylist(rows)


def reorder(counts: Mapping[int, int]) -> pa.Table:
    """Returns `reorder` from counts by displacement; the other metrics have 99 distant packets."""
    rows = [{"traffic": 0, "metric": 0, "value": value, "count": count} for value, count in counts.items()]
    rows.append({"traffic": 0, "metric": 1, "value": 500, "count": 99})
    return pa.Table.from_pylist(rows)


def flows(*pairs: tuple[int, float, float | None], server: int = 0) -> pa.Table:
    """Returns `flows` of requests to a server and its replies, from query, start, and end in ms or `None`."""
    rows: list[dict[str, Any]] = []
    for query, start, end in pairs:
        begin = int(start * 1e9)
        same = {"traffic": 0, "query": query}
        rows.append(same | {"role": 1, "src": 8, "dst": server, "start_ps": begin, "end_ps": begin + 10})
        last = None if end is None else int(end * 1e9)
        rows.append(same | {"role": 0, "src": server, "dst": 8, "start_ps": begin + 10, "end_ps": last})
    return pa.Table.from_pylist(rows)


def sweep(name: str, tables: Mapping[str, Sequence[pa.Table]], **more: Any) -> FakeRuns:
    """Returns a sweep that keeps one table, by variant and seed."""
    held = {(name, variant, ""): list(by_seed) for variant, by_seed in tables.items()}
    count = max(len(by_seed) for by_seed in tables.values())
    return FakeRuns(held, seeds=range(1, count + 1), **more)


def join_sweeps(*sweeps: FakeRuns) -> FakeRuns:
    """Returns one sweep that keeps the tables of all."""
    held = {key: tables for one in sweeps for key, tables in one.held.items()}
    return FakeRuns(held, seeds=sweeps[0].seeds)


THETAS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


def runs_along_theta(entropy: Sequence[float], bounced: Sequence[int], took: Sequence[float]) -> FakeRuns:
    """Returns two equal seeds of every theta, in another order than that of theta."""
    points = [{arrival_times.THETA_PATH: str(one)} for one in reversed(THETAS)]
    made = FakeRuns(variants=("pabo",), points=points, seeds=(1, 2))
    for at, one in enumerate(THETAS):
        n = bounced[at]
        hist = packets(bounces={0: 100 - n, at + 1: n}, delay={int(1e6 * took[at]): 1})
        made.values["reorder_entropy", "pabo", str(one)] = [entropy[at]] * 2
        made.held["packet_hist", "pabo", str(one)] = [hist] * 2
        made.held["flows", "pabo", str(one)] = [flows((0, 0.0, took[at]))] * 2
    return made


def traced_packets(*routes: tuple[str, str, Sequence[tuple[str, int]]]) -> FakeRuns:
    """Returns one flow a step: its ends, and the nodes and ports of its data; ACKs return over core3."""
    flow, link = [], []
    for step, (source, destination, hops) in enumerate(routes):
        ends = NODES.index(source), NODES.index(destination)
        flow.append({"src": ends[0], "dst": ends[1], "start_ps": step * fat_tree.STEP_PS})
        data = [(source, 0, 4912), *((name, port, 4912) for name, port in hops)]
        for name, port, bits in [*data, (destination, 0, 672), ("core3", 0, 672), ("agg1", 0, 672)]:
            link.append({"bin": step, "node": NODES.index(name), "port": port, "bits": bits})
    held = {("flows", "two_level", ""): [pa.Table.from_pylist(flow)]}
    held["links", "two_level", ""] = [pa.Table.from_pylist(link)]
    return FakeRuns(held, variants=("two_level",))


UP = [("edge0", 3), ("agg1", 2), ("core2", 2), ("agg5", 0), ("edge4", 1)]


SIZE = "variants.pabo.switch.overflow.bounce_size"


def runs_by_bounce_size(*losses: list[int]) -> FakeRuns:
    """Returns drops of two seeds with bounce queues of 100 frames, 200 and so on."""
    sizes = [f"{100 * (at + 1)}pkt" for at in range(len(losses))]
    runs = FakeRuns(points=[{SIZE: size} for size in sizes], seeds=(1, 2), variants=("pabo",))
    runs.values = {("drops", "pabo", size): lost for size, lost in zip(sizes, losses, strict=True)}
    return runs


def all_sweeps() -> dict[str, FakeRuns]:
    """Returns every sweep of section VI, with two equal seeds each."""
    hist = packets(bounces={0: 5, 2: 5}, distance={0: 5, 1: 5}, delay={10**9: 10}, acks={10**6: 10})
    kinds = {
        "ports": ports(bounced={"core0": 9, "edge4": 30}, drop_buffer_full={"edge4": 1}),
        "packet_hist": hist,
        "reorder": reorder({0: 5, -3: 4, 12: 1}),
        "flows": flows((0, 0.0, 30.0), (1, 1.0, None)),
    }
    both = ("without", "pabo")
    held = {(name, variant, ""): [kind] * 2 for name, kind in kinds.items() for variant in both}
    drops = {("drops", variant, ""): [0.0, 1.0] for variant in both}
    found = {name: FakeRuns(held, drops, seeds=(1, 2)) for name in fat_tree.SCENARIOS}
    theta_ = runs_along_theta([4, 4, 4, 4, 4, 4, 3], [70, 60, 50, 40, 30, 20, 10], [40] * 7)
    return found | {
        "mtom_theta": theta_,
        "paths": traced_packets(("h1", "h9", UP)),
        "room": runs_by_bounce_size([5, 0], [0, 0]),
    }
