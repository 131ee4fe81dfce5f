"""Artificial runs of CP's sweeps: points of the paper's file, and known numbers."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import sample_runs
from sample_runs import Told

from overspill.papers.spec import Point

PAPER = Path(__file__).parents[2] / "papers" / "cp"
SIX = ("tcp", "tcp_200ms", "cp", "dctcp", "dctcp_200ms", "cp_dctcp")


@dataclass(eq=False)
class FakeRuns(sample_runs.FakeRuns):
    """Runs of the schemes that the paper compares."""

    variants: Sequence[str] = SIX


def flows(background: int, experimental: int) -> pa.Table:
    """Returns `flows` of two workloads, the background first."""
    count = background + experimental
    whose = [0] * background + [1] * experimental
    return pa.table({"flow": pa.array(range(count), pa.uint32()), "traffic": pa.array(whose, pa.uint16())})


def goodput(*rates: Sequence[float]) -> pa.Table:
    """Returns `flow_goodput` over 24 bins of half a second, from rates before and in the window in Mb/s."""
    rows = [
        (flow, at, int((outside if at < 4 else inside) * 1e6 / 8 / 2))
        for flow, (outside, inside) in enumerate(rates)
        for at in range(24)
    ]
    names = ("flow", "bin", "bytes")
    return pa.table({name: pa.array([row[at] for row in rows], pa.uint64()) for at, name in enumerate(names)})


def roles(*roles: int) -> pa.Table:
    """Returns `flows` of one query with these roles: 0 data, 1 request."""
    return pa.table(
        {
            "flow": pa.array(range(len(roles)), pa.uint32()),
            "role": pa.array(roles, pa.uint8()),
            "query": pa.array([0] * len(roles), pa.uint32()),
            "measured": pa.array([1] * len(roles), pa.uint8()),
        }
    )


def lost(count: int) -> pa.Table:
    """Returns `fates` with lost frames without payload, marked ones, and ones of data."""
    rows = {"data": [0, 0, 1, 1], "kind": [0, 1, 0, 4], "count": [count, 5, 1, 900]}
    return pa.table({name: pa.array(given, pa.uint64()) for name, given in rows.items()})


def queries(*taken: Sequence[float], again: Sequence[int] = (), timeouts: Sequence[int] = ()) -> pa.Table:
    """Returns `flows` of queries, from the times of their flows in ms.

    The other arguments are columns from the first row on.
    """
    rows = [(query, ms) for query, times in enumerate(taken) for ms in times]
    fill = [0] * len(rows)
    return pa.table(
        {
            "query": pa.array([query for query, _ in rows], pa.uint32()),
            "start_ps": pa.array([10**9] * len(rows), pa.uint64()),
            "end_ps": pa.array([10**9 + int(ms * 1e9) for _, ms in rows], pa.uint64()),
            "role": pa.array(fill, pa.uint8()),
            "measured": pa.array([1] * len(rows), pa.uint8()),
            "fast_retransmits": pa.array([*again, *fill][: len(rows)], pa.uint32()),
            "timeouts": pa.array([*timeouts, *fill][: len(rows)], pa.uint32()),
        }
    )


def packets(*rows: tuple[int, int, int, int, int]) -> pa.Table:
    """Returns `packets` from flow, reverse, time sent, end and fate."""
    names = ("flow", "reverse", "sent_ps", "end_ps", "fate")
    return pa.table({name: pa.array([row[at] for row in rows], pa.uint64()) for at, name in enumerate(names)})


def level_of_variant(variant: str, _: Point, seed: int) -> float:
    """Returns the value of metrics without a function: it grows with the scheme's index and the seed."""
    return 1 + (SIX.index(variant) / 10 if variant in SIX else 0) + seed / 7


def pairs(_: str, point: Point, __: int) -> pa.Table:
    """Returns `flows` of a pair of groups."""
    return flows(6 * number(point), number(point))


def groups(*_: object) -> pa.Table:
    """Returns `flows` of two groups, with timeouts."""
    return pa.table({"traffic": pa.array([0, 1], pa.uint16()), "timeouts": pa.array([1, 2], pa.uint32())})


def slow(*_: object) -> pa.Table:
    """Returns `flows` of two queries, one of which has a slow flow."""
    return queries([9.0] * 19 + [20.0], [9.0] * 20, again=[0] * 19 + [1])


def all_sweeps() -> dict[str, FakeRuns]:
    """Returns every sweep of the paper, with metrics that grow with the scheme's index and the seed."""
    kept: dict[str, Told] = {
        "flow_goodput": lambda _, point, seed: goodput(*[(9.0, 3.0 + seed)] * (7 * number(point))),
        "fates": lambda *_: lost(7),
        "packets": lambda *_: packets((0, 0, 1, 9, 0), (0, 0, 2, 5, 2), (1, 0, 3, 8, 0), (1, 1, 3, 8, 0)),
    }
    found = {}
    for sweep in tomllib.loads((PAPER / "paper.toml").read_text())["sweep"]:
        scenario = tomllib.loads((PAPER / sweep["scenario"]).read_text())
        over = {path: [str(value) for value in values] for path, values in sweep.get("over", {}).items()}
        rows = zip(*over.values(), strict=True) if "zip" in sweep else itertools.product(*over.values())
        points = [dict(zip(over, row, strict=True)) for row in rows]
        variants = sweep.get("variants") or list(scenario["variants"])
        of_sweep = pairs if sweep["scenario"] == "outcast.toml" else slow
        if sweep["name"] == "cliff":
            of_sweep = lambda *_: roles(0, 0)  # noqa: E731
        if sweep["name"] == "beside":
            of_sweep = groups
        found[sweep["name"]] = FakeRuns(
            points or ({},), variants, {}, kept | {"flows": of_sweep}, (1, 2), level_of_variant
        )
    return found


def number(point: Point) -> int:
    """Returns the number of experimental flows of a point, and of background flows of each host."""
    return int(point["traffic.experimental.flows"])
