"""Artificial runs of DIBS's figures 1 to 6: the k = 8 fat-tree, and tables with known results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import sample_runs

FIRST = {"h": 0, "edge": 128, "agg": 160, "core": 192}


def number(name: str) -> int:
    """Returns the number of a node of the fat-tree."""
    parts = re.fullmatch(r"([a-z]+)(\d+)", name)
    assert parts is not None
    return FIRST[parts[1]] + int(parts[2])


@dataclass(eq=False)
class FakeRuns(sample_runs.FakeRuns):
    """Runs of DIBS in that fat-tree."""

    variants: Sequence[str] = ("dibs",)

    def node(self, name: str) -> int:
        return number(name)


def table(names: str, *rows: Sequence[float | None]) -> pa.Table:
    """Returns a table from the names of its columns, in one string, and its rows."""
    return pa.table({name: pa.array([row[at] for row in rows]) for at, name in enumerate(names.split())})


def fat_tree() -> pa.Table:
    """Returns `ports` of the k = 8 fat-tree, ports downward first."""
    rows = [(host, 0, FIRST["edge"] + host // 4, 1e9) for host in range(128)]
    for pod in range(8):
        edges, aggs = ([FIRST[tier] + 4 * pod + at for at in range(4)] for tier in ("edge", "agg"))
        for at in range(4):
            hosts = [16 * pod + 4 * at + port for port in range(4)]
            cores = [FIRST["core"] + 4 * at + port for port in range(4)]
            rows += [(edges[at], port, peer, 1e9) for port, peer in enumerate([*hosts, *aggs])]
            rows += [(aggs[at], port, peer, 1e9) for port, peer in enumerate([*edges, *cores])]
    for core in range(16):
        rows += [(FIRST["core"] + core, pod, FIRST["agg"] + 4 * pod + core // 4, 1e9) for pod in range(8)]
    return table("node port peer rate_bps", *sorted(rows))


PORTS = fat_tree()
