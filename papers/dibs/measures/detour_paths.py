"""Measures of DIBS's figure 1: packets with many detours under the default traffic, by kinds of detours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.common import build_measured, divide_or_nan
from overspill.papers.spec import Measure, Measured, Runs, Sweeps

from .fabric import DIBS, Fabric, load_point

SWEEP_NAME = "often_detoured"
DEFAULT_QPS, HEAVY_QPS = 300, 2000  # queries per second
MIN_DETOURS = 15  # detours of the paper's packet, and `measure.detours` of the sweep
DETOURS_INDEX = columns.PACKET_HIST.index("detours")
# Kinds of detours, by where they lead.
#
# Three kinds are in the receiver's pod: from an aggregation switch to a core, from one to an edge switch
# other than the receiver's, and from the receiver's edge switch to an aggregation switch. All others are
# `elsewhere`.
DETOUR_KINDS = ("core", "edges", "aggregation", "elsewhere")
CASE = "packets detoured 15 times"
METRIC_KINDS = {  # in the order of the kinds
    "aggregation_to_core": "core",
    "aggregation_to_other_edges": "edges",
    "edge_to_aggregation": "aggregation",
    "elsewhere": "elsewhere",
}


@dataclass(frozen=True)
class DetourPath:
    """Detours of one packet in their order, as indices of `DETOUR_KINDS`."""

    flow: int
    number: int
    kinds: np.ndarray

    @property
    def counts(self) -> np.ndarray:
        """Number of detours of each kind."""
        return np.bincount(self.kinds, minlength=len(DETOUR_KINDS))


def read_detour_paths(runs: Runs, load: int = DEFAULT_QPS) -> list[list[DetourPath]]:
    """Returns the detours of each data packet that has 15 or more, by seed."""
    at = load_point(load)
    fabric = Fabric.of_run(runs, runs.tables("ports", DIBS, at)[0])
    tables = zip(runs.tables("detour_steps", DIBS, at), runs.tables("flows", DIBS, at), strict=True)
    return [read_run(fabric, steps, flows) for steps, flows in tables]


def read_run(fabric: Fabric, steps: pa.Table, flows: pa.Table) -> list[DetourPath]:
    """Returns the detours of each recorded data packet of one run, in the order of flows and numbers."""
    steps = steps.filter(pa.array(columns.column_to_numpy(steps, "reverse") == 0))
    steps = steps.sort_by([(name, "ascending") for name in ("flow", "n", "step")])
    flow, n = (columns.column_to_numpy(steps, name).astype(np.int64) for name in ("flow", "n"))
    found = detour_kinds(fabric, steps, destination_hosts(flows, flow))
    cuts = np.flatnonzero((np.diff(flow) != 0) | (np.diff(n) != 0)) + 1
    starts = [0, *cuts.tolist()] if len(flow) else []
    return [
        DetourPath(int(flow[start]), int(n[start]), part)
        for start, part in zip(starts, np.split(found, cuts), strict=False)
    ]


def destination_hosts(flows: pa.Table, wanted: np.ndarray) -> np.ndarray:
    """Returns the destination hosts of flows, by the flows' numbers."""
    number, host = (columns.column_to_numpy(flows, name).astype(np.int64) for name in ("flow", "dst"))
    order = np.argsort(number)
    return np.asarray(host[order][np.searchsorted(number[order], wanted)])


def detour_kinds(fabric: Fabric, steps: pa.Table, receiver: np.ndarray) -> np.ndarray:
    """Returns the kind of every detour, an index of `DETOUR_KINDS`."""
    node, taken = (columns.column_to_numpy(steps, name).astype(np.int64) for name in ("node", "taken"))
    far = fabric.far_ends(node, taken).astype(np.int64)
    here, there, edge = fabric.tier(node), fabric.tier(far), fabric.edge_of(receiver)
    at_aggregation = (here == "agg") & (fabric.pod(node) == fabric.pod(receiver))
    found = np.full(len(node), DETOUR_KINDS.index("elsewhere"))
    found[at_aggregation & (there == "core")] = DETOUR_KINDS.index("core")
    found[at_aggregation & (there == "edge") & (far != edge)] = DETOUR_KINDS.index("edges")
    found[(node == edge) & (there == "agg")] = DETOUR_KINDS.index("aggregation")
    return found


def counts_by_kind(found: Sequence[Sequence[DetourPath]]) -> dict[str, np.ndarray]:
    """Returns the number of detours of each kind, for each packet with 15 detours, of all seeds."""
    every = [one.counts for by_seed in found for one in by_seed if len(one.kinds) == MIN_DETOURS]
    counts = np.array(every, np.int64).reshape(-1, len(DETOUR_KINDS))
    return {kind: counts[:, at] for at, kind in enumerate(DETOUR_KINDS)}


def count_detoured_packets(table: pa.Table) -> tuple[int, int]:
    """Counts delivered data packets with 15 detours or more, and all delivered ones, from `packet_hist`."""
    keep = (columns.column_to_numpy(table, "metric") == DETOURS_INDEX) & (
        columns.column_to_numpy(table, "data") == 1
    )
    low, count = (columns.column_to_numpy(table, name)[keep] for name in ("low", "count"))
    return int(count[low >= MIN_DETOURS].sum()), int(count.sum())


def measure_figure_1(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the share of packets with 15 detours or more, and the kinds of their detours."""
    runs = sweeps[SWEEP_NAME]
    found, heavy = read_detour_paths(runs), read_detour_paths(runs, HEAVY_QPS)
    at_heavy = f"at {HEAVY_QPS} qps {np.mean(detoured_per_million(runs, HEAVY_QPS)):.0f} per million"
    note = f"{describe_detoured_packets(found)}; {at_heavy}, {describe_detoured_packets(heavy)}"
    share = detoured_per_million(runs, DEFAULT_QPS)
    yield build_measured("default traffic", "data_packets_detoured_15_times_or_more", share, note)
    of, of_heavy = counts_by_kind(found), counts_by_kind(heavy)
    seeds = len(found)
    for metric, kind in METRIC_KINDS.items():
        yield measured_per_packet(
            metric, of[kind], seeds, f"; at {HEAVY_QPS} qps {of_heavy[kind].mean():.1f} in the mean"
        )
    yield measured_per_packet("to_core_less_to_other_edges", of["core"] - of["edges"], seeds)
    at_aggregation = of["core"] + of["edges"]
    yield measured_per_packet("at_aggregation_less_at_edge", at_aggregation - of["aggregation"], seeds)


def measured_per_packet(metric: str, values: np.ndarray, seeds: int, more: str = "") -> Measured:
    """Returns a value for each packet with as many detours as the paper's."""
    return Measured(CASE, metric, [float(one) for one in values], f"of {len(values)} packets{more}", seeds)


def detoured_per_million(runs: Runs, load: int) -> list[float]:
    """Delivered data packets with 15 detours or more, per million delivered ones, seed by seed."""
    counted = [count_detoured_packets(table) for table in runs.tables("packet_hist", DIBS, load_point(load))]
    return [1e6 * divide_or_nan(many, total) for many, total in counted]


def describe_detoured_packets(found: Sequence[Sequence[DetourPath]]) -> str:
    """Describes the number of packets with ≥ 15 detours, and the share detoured mostly at aggregation."""
    every = [one.counts for by_seed in found for one in by_seed]
    there = sum(counts[0] + counts[1] > counts[2] for counts in every)
    return (
        f"{len(every) / len(found):.0f} in a run, those that were lost included, and "
        f"{100 * divide_or_nan(there, len(every)):.0f} % of them mostly detoured at aggregation switches"
    )


MEASURES: dict[str, Measure] = {
    "fig1": measure_figure_1,
}
