"""Measures of figure 1: packets with many detours under the default traffic, by where each detour leads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.common import measured, quotient
from overspill.papers.spec import Measure, Measured, Runs, Sweeps

from .fabric import DIBS, Fabric, point

SWEEP = "often_detoured"
DEFAULT, HEAVY = 300, 2000  # queries per second
OFTEN = 15  # detours of the paper's packet, and `measure.detours` of the sweep
DETOURS = columns.PACKET_HIST.index("detours")
# Kinds of detours, by where they lead.
#
# Three kinds are in the receiver's pod: from an aggregation switch to a core, from one to an edge switch
# other than the receiver's, and from the receiver's edge switch to an aggregation switch. All others are
# `elsewhere`.
KINDS = ("core", "edges", "aggregation", "elsewhere")
CASE = "packets detoured 15 times"
METRICS = {  # in the order of the kinds
    "aggregation_to_core": "core",
    "aggregation_to_other_edges": "edges",
    "edge_to_aggregation": "aggregation",
    "elsewhere": "elsewhere",
}


@dataclass(frozen=True)
class DetourPath:
    """A packet's detours in their order, as indices of `KINDS`."""

    flow: int
    n: int
    kinds: np.ndarray

    @property
    def counts(self) -> np.ndarray:
        """Number of detours of each kind."""
        return np.bincount(self.kinds, minlength=len(KINDS))


def detour_paths(runs: Runs, load: int = DEFAULT) -> list[list[DetourPath]]:
    """Returns the data packets with many detours, by seed."""
    at = point(load)
    fabric = Fabric.of_run(runs, runs.tables("ports", DIBS, at)[0])
    tables = zip(runs.tables("detour_steps", DIBS, at), runs.tables("flows", DIBS, at), strict=True)
    return [one_run(fabric, steps, flows) for steps, flows in tables]


def one_run(fabric: Fabric, steps: pa.Table, flows: pa.Table) -> list[DetourPath]:
    """Returns the packets of one run, in the order of their flows and numbers."""
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
    """Returns the destination hosts of flows, by the flows' numbers."""
    number, host = (columns.numbers(flows, name).astype(np.int64) for name in ("flow", "dst"))
    order = np.argsort(number)
    return np.asarray(host[order][np.searchsorted(number[order], wanted)])


def kinds(fabric: Fabric, steps: pa.Table, receiver: np.ndarray) -> np.ndarray:
    """Returns the index in `KINDS` of every detour."""
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
    """Returns the number of detours of each kind, for each packet with 15 detours, of all seeds."""
    every = [one.counts for by_seed in found for one in by_seed if len(one.kinds) == OFTEN]
    counts = np.array(every, np.int64).reshape(-1, len(KINDS))
    return {kind: counts[:, at] for at, kind in enumerate(KINDS)}


def often(table: pa.Table) -> tuple[int, int]:
    """Counts delivered data packets with 15 detours or more, and all delivered ones, from `packet_hist`."""
    keep = (columns.numbers(table, "metric") == DETOURS) & (columns.numbers(table, "data") == 1)
    low, count = (columns.numbers(table, name)[keep] for name in ("low", "count"))
    return int(count[low >= OFTEN].sum()), int(count.sum())


def figure_1(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the share of packets with 15 detours or more, and the kinds of their detours."""
    runs = sweeps[SWEEP]
    found, heavy = detour_paths(runs), detour_paths(runs, HEAVY)
    note = f"{most(found)}; at {HEAVY} qps {np.mean(per_million(runs, HEAVY)):.0f} per million, {most(heavy)}"
    share = per_million(runs, DEFAULT)
    yield measured("default traffic", "data_packets_detoured_15_times_or_more", share, note)
    of, of_heavy = divided(found), divided(heavy)
    seeds = len(found)
    for metric, kind in METRICS.items():
        yield packets(metric, of[kind], seeds, f"; at {HEAVY} qps {of_heavy[kind].mean():.1f} in the mean")
    yield packets("to_core_less_to_other_edges", of["core"] - of["edges"], seeds)
    at_aggregation = of["core"] + of["edges"]
    yield packets("at_aggregation_less_at_edge", at_aggregation - of["aggregation"], seeds)


def packets(metric: str, values: np.ndarray, seeds: int, more: str = "") -> Measured:
    """Returns a value for each packet with as many detours as the paper's."""
    return Measured(CASE, metric, [float(one) for one in values], f"of {len(values)} packets{more}", seeds)


def per_million(runs: Runs, load: int) -> list[float]:
    """Delivered data packets with 15 detours or more, per million, seed by seed."""
    counted = [often(table) for table in runs.tables("packet_hist", DIBS, point(load))]
    return [1e6 * quotient(many, total) for many, total in counted]


def most(found: Sequence[Sequence[DetourPath]]) -> str:
    """Describes the number of such packets, and the share detoured mostly at aggregation switches."""
    every = [one.counts for by_seed in found for one in by_seed]
    there = sum(counts[0] + counts[1] > counts[2] for counts in every)
    return (
        f"{len(every) / len(found):.0f} in a run, those that were lost included, and "
        f"{100 * quotient(there, len(every)):.0f} % of them mostly detoured at aggregation switches"
    )


MEASURES: dict[str, Measure] = {
    "fig1": figure_1,
}
