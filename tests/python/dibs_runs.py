"""Artificial runs of DIBS's sweeps with known results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import sample_runs
from overspill_papers.dibs.measures import claims, loads, mixed, parameters
from sample_runs import Told

from overspill.papers.spec import Point, Runs

SEEDS = (1, 2, 3, 4)
BOTH = ("dctcp", "dibs")
NODES = ["s0", "s1", "s2", "s3"]


@dataclass(eq=False)
class FakeRuns(sample_runs.FakeRuns):
    """Runs with and without DIBS, in a network of four switches."""

    variants: Sequence[str] = BOTH
    seeds: Sequence[int] = SEEDS

    def node(self, name: str) -> int:
        return NODES.index(name)


def flows(
    queries: Iterable[Sequence[float | None]] = (),
    background: Iterable[tuple[int, float | None]] = (),
    **more: Sequence[int],
) -> pa.Table:
    """Returns `flows` of queries, from the times of their responses in ms, and of background flows.

    Background flows are given by bytes and times. `more` are columns from the first row on, 0 beyond their
    end. All flows start after 1 ms, except one that is not measured and ends after 500 ms; `None` is a flow
    that does not finish.
    """
    rows: list[tuple[int, int | None, int, float | None]] = [
        (0, query, 20_000, took) for query, responses in enumerate(queries) for took in responses
    ]
    rows += [(1, None, size, took) for size, took in background]
    start = 1_000_000_000
    made = [
        {
            "traffic": traffic,
            "query": query,
            "src": at,
            "dst": 0,
            "bytes": size,
            "start_ps": start,
            "end_ps": None if took is None else start + round(took * 1e9),
            "measured": 1,
            "retransmits": 0,
            "timeouts": 0,
            "ece_acks": 0,
        }
        for at, (traffic, query, size, took) in enumerate(rows)
    ]
    made.append(
        dict.fromkeys(made[0] if made else (), 0) | {"bytes": 5_000, "end_ps": 500_000_000_000, "measured": 0}
    )
    table = pa.Table.from_pylist(made)
    kinds = {"query": pa.uint32(), "bytes": pa.uint64(), "start_ps": pa.uint64(), "end_ps": pa.uint64()}
    for name, kind in kinds.items():
        table = table.set_column(table.column_names.index(name), name, table.column(name).cast(kind))
    for name, values in more.items():
        column = pa.array([*values, *[0] * (len(table) - len(values))])
        table = table.set_column(table.column_names.index(name), name, column)
    return table


def detours(*rows: tuple[int, int, int, int]) -> pa.Table:
    """Returns `packet_hist` from workload, data, detours and packets, with other rows for links crossed."""
    names = ("traffic", "data", "metric", "low", "count")
    every = [(workload, data, 2, low, count) for workload, data, low, count in rows]
    every.append((0, 1, 1, 6, 10_000))
    return pa.table({name: [row[at] for row in every] for at, name in enumerate(names)})


def query_and_flow(qct: float, fct: float, large: float = 50.0) -> pa.Table:
    """Returns one query and four background flows: of 5 KB, of 1 MB, and just outside the short sizes."""
    beside = [(999, 9_000.0), (10_001, 9_000.0)]
    return flows([[qct, qct / 2]], [(5_000, fct), (1_000_000, large), *beside])


def packets(variant: str, point: Point, seed: int) -> pa.Table:
    """Returns `packet_hist`: 30 of 100 query packets have one detour, one has 20; 1 of 100 others has two."""
    query = [(0, 1, 0, 49), (0, 1, 1, 30), (0, 1, 20, 1), (0, 0, 0, 20)]
    return detours(*query, (1, 1, 0, 79), (1, 1, 2, 1), (1, 0, 0, 20))


def runs_along(
    path: str, values: Iterable[object], qct: Told, fct: Told | None = None, **more: Any
) -> FakeRuns:
    """Returns a sweep of one path with these 99th percentiles in ms; `fct` is 2 by default."""

    def table(variant: str, point: Point, seed: int) -> pa.Table:
        return query_and_flow(qct(variant, point, seed), fct(variant, point, seed) if fct else 2.0)

    metrics: dict[str, Told] = {f"drops[reason={one}]": lambda *_: 0 for one in mixed.DROP_REASONS}
    metrics |= {"drops": lambda variant, *_: 7 * (variant == "dctcp")} | more.pop("metrics", {})
    points = [{path: str(value)} for value in values]
    return FakeRuns(points, metrics=metrics, kept={"flows": table, "packet_hist": packets}, **more)


def value_of_variant(variant: str, point: Point, seed: int) -> float:
    """Returns a value that is 20 ms less with DIBS."""
    return 37.0 + seed - 20 * (variant == "dibs")


SIZES = (1, 5, 10, 20, 40, 60, 80, 100, 150, 200)
TTLS = (12, 24, 36, 48, 255)
DEGREES = (40, 60, 80, 100, 120, 130, 140, 150, 160, 180, 200, 220, 240)
FLOWS = (1, 2, 3, 4, 6, 8, 12, 16)
RATES = (300, 500, 1000, 1500, 2000)


def flows_alone(*_: Any) -> pa.Table:
    """Returns `packets`: three segments together, two more at the first ACK, none at the second ACK."""
    data = [(0, 0, 0, 5), (0, 1, 0, 6), (0, 2, 0, 7), (0, 3, 10, 20), (0, 4, 10, 21)]
    acks = [(1, 0, 5, 10), (1, 1, 6, 30)]
    names = ("reverse", "emission", "sent_ps", "end_ps")
    return pa.table({name: [row[at] for row in data + acks] for at, name in enumerate(names)})


def all_sweeps() -> dict[str, Runs]:
    """Returns every sweep of sections 5.3 to 5.8 and of the claims in the text."""
    lost = {"drops[traffic=background]": lambda *_: 3, "drops[reason=ttl_expired]": lambda *_: 2}
    metrics = {"detours": lambda *_: 0, "jain": lambda *_: 0.95, "reordered_share": lambda *_: 0.02, **lost}
    metrics |= {
        "queue_all_mean": lambda variant, *_: 1 + (variant == "dibs_newreno"),
        "qct_p99": lambda *_: 0.02,
    }
    metrics |= {"unfinished_flows": lambda *_: 0, "drops[reason=no_detour]": lambda *_: 7}
    metrics |= {"flow_goodput_mean": lambda *_: 1e8}

    def made(path: str, values: Iterable[object], **more: Any) -> FakeRuns:
        return runs_along(path, values, value_of_variant, metrics=metrics, **more)

    buffer = [f"{size}pkt" for size in SIZES]
    size = [f"{kb}KB" for kb in (20, 30, 40, 50)]
    quiet = FakeRuns(({},), ("dctcp_nofr", "dibs"), {"drops": lambda *_: 0, "detours": lambda *_: 0})
    quiet.kept = {"flows": lambda *_: query_and_flow(7, 2)}
    ports = {"ports": lambda *_: pa.table({"node": [0, 3, 3], "detoured": [5, 1, 2]})}
    line = FakeRuns(
        [{claims.BURST_SENDERS_PATH: "44"}, {claims.BURST_SENDERS_PATH: "110"}],
        ("dibs",),
        {"drops": lambda *_: 7} | metrics,
        ports,
    )
    return {
        "default": made("x", [0]),
        "background": made(loads.GAP_PATH, [f"{ms}ms" for ms in (10, 20, 40, 60, 80, 100, 120)]),
        "queries": made(loads.QPS_PATH, RATES),
        "responses": made(loads.SIZE_PATH, size),
        "degrees": made(loads.DEGREE_PATH, (40, 60, 80, 100)),
        "buffers": made(parameters.BUFFER_PATH, buffer),
        "buffers_fifth": made(parameters.BUFFER_PATH, buffer),
        "shared": made(loads.DEGREE_PATH, DEGREES),
        "shared_alone": made(loads.DEGREE_PATH, DEGREES),
        "ttl": made(parameters.TTL_PATH, TTLS),
        "ttl_degree_100": made(parameters.TTL_PATH, TTLS, variants=("dibs",)),
        "oversubscription": made(parameters.OVERSUBSCRIPTION_PATH, (2, 3, 4)),
        "pairs": made(parameters.FLOWS_PATH, FLOWS, variants=("dibs",)),
        "extreme": made(loads.QPS_PATH, (6000, 8000, 10000, 12000, 14000, 15000)),
        "large": made(loads.SIZE_PATH, [f"{kb}KB" for kb in range(20, 161, 20)]),
        loads.PFABRIC: made(loads.QPS_PATH, RATES, variants=("pfabric",)),
        "quiet": quiet,
        "newreno": made("x", [0], variants=("dibs", "dibs_newreno")),
        "dupacks": made(claims.DUPACK_PATH, (3, 5, 10, 20, "off"), variants=("dibs",)),
        "min_rto": made(claims.MIN_RTO_PATH, ("1ms", "10ms"), variants=("dibs",)),
        "alone": FakeRuns(({},), ("default",), kept={"packets": flows_alone}, seeds=(1,)),
        "line": line,
    }
