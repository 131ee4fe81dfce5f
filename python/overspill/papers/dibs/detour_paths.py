"""Packets that are detoured often under the default traffic, and where each detour led."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.dibs.fabric import Fabric
from overspill.papers.spec import Point, Runs

SWEEP, DIBS, QPS = "often_detoured", "dibs", "traffic.query.qps"
DEFAULT, HEAVY = 300, 2000  # queries a second
OFTEN = 15  # detours of the paper's packet, and `measure.detours` of the sweep
DETOURS = columns.PACKET_HIST.index("detours")
# Where a detour leads: in the receiver's pod from an aggregation switch to a core or to an edge switch that
# is not the receiver's, and from the receiver's edge switch to an aggregation; all else is `elsewhere`.
KINDS = ("core", "edges", "aggregation", "elsewhere")


@dataclass(frozen=True)
class DetourPath:
    """A packet's detours, in their order, as places in `KINDS`."""

    flow: int
    n: int
    kinds: np.ndarray

    @property
    def counts(self) -> np.ndarray:
        """How often each kind."""
        return np.bincount(self.kinds, minlength=len(KINDS))


def point(load: int) -> Point:
    """The point of a load."""
    return {QPS: str(load)}


def detour_paths(runs: Runs, load: int = DEFAULT) -> list[list[DetourPath]]:
    """The data packets that are detoured often, by seed."""
    at = point(load)
    fabric = Fabric.of(runs, runs.tables("ports", DIBS, at)[0])
    tables = zip(runs.tables("detour_steps", DIBS, at), runs.tables("flows", DIBS, at), strict=True)
    return [one_run(fabric, steps, flows) for steps, flows in tables]


def one_run(fabric: Fabric, steps: pa.Table, flows: pa.Table) -> list[DetourPath]:
    """The packets of one run, in the order of their flows and numbers."""
    steps = steps.filter(pa.array(columns.numbers(steps, "reverse") == 0))
    steps = steps.sort_by([(name, "ascending") for name in ("flow", "n", "step")])
    flow, n = (columns.numbers(steps, name).astype(np.int64) for name in ("flow", "n"))
    found = kinds(fabric, steps, receivers(flows, flow))
    cuts = np.flatnonzero((np.diff(flow) != 0) | (np.diff(n) != 0)) + 1
    starts = [0, *cuts.tolist()] if len(flow) else []
    return [
        DetourPath(int(flow[start]), int(n[start]), part)
        for start, part in zip(starts, np.split(found, cuts), strict=False)
    ]


def receivers(flows: pa.Table, wanted: np.ndarray) -> np.ndarray:
    """Hosts to which flows go, by their numbers."""
    number, host = (columns.numbers(flows, name).astype(np.int64) for name in ("flow", "dst"))
    order = np.argsort(number)
    return np.asarray(host[order][np.searchsorted(number[order], wanted)])


def kinds(fabric: Fabric, steps: pa.Table, receiver: np.ndarray) -> np.ndarray:
    """Of every detour, which of `KINDS` it is."""
    node, taken = (columns.numbers(steps, name).astype(np.int64) for name in ("node", "taken"))
    far = fabric.far(node, taken).astype(np.int64)
    here, there, edge = fabric.tier(node), fabric.tier(far), fabric.edge_of(receiver)
    at_aggregation = (here == "agg") & (fabric.pod(node) == fabric.pod(receiver))
    found = np.full(len(node), KINDS.index("elsewhere"))
    found[at_aggregation & (there == "core")] = KINDS.index("core")
    found[at_aggregation & (there == "edge") & (far != edge)] = KINDS.index("edges")
    found[(node == edge) & (there == "agg")] = KINDS.index("aggregation")
    return found


def divided(found: Sequence[Sequence[DetourPath]]) -> dict[str, np.ndarray]:
    """How the detours of each packet with 15 of them divide, by kind; of all seeds."""
    every = [one.counts for by_seed in found for one in by_seed if len(one.kinds) == OFTEN]
    counts = np.array(every, np.int64).reshape(-1, len(KINDS))
    return {kind: counts[:, at] for at, kind in enumerate(KINDS)}


def often(table: pa.Table) -> tuple[int, int]:
    """Of `packet_hist`, delivered data packets that were detoured 15 times or more, and all of them."""
    keep = (columns.numbers(table, "metric") == DETOURS) & (columns.numbers(table, "data") == 1)
    low, count = (columns.numbers(table, name)[keep] for name in ("low", "count"))
    return int(count[low >= OFTEN].sum()), int(count.sum())
