"""Measures of DIBS's figure 2: a large incast in an idle fat-tree, its detours and full buffers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.common import build_measured, names_with_counts
from overspill.papers.spec import Measure, Measured, Point, Runs, Sweeps

from .fabric import BUFFER_PACKETS, DIBS, EDGES_PER_POD, Fabric

DEGREE_PATH = "traffic.burst.senders"
STEP_MS = 0.1  # ms, equal to `measure.bin` of the scenario
RECEIVER, RECEIVER_EDGE = "h0", "edge0"
# The receiver is host 0, so that its pod has the first switches of both tiers.
AGGS = tuple(f"agg{at}" for at in range(EDGES_PER_POD))
EDGES = tuple(f"edge{at}" for at in range(EDGES_PER_POD))
POD = (*AGGS, *EDGES)
DETOUR_KIND = 2  # kind in the table `activity`


@dataclass(frozen=True)
class Burst:
    """Results of one run: detours by switch and step, and queues by step and port of the pod's switches.

    - `waits`: true if packets waited; a packet that finds its port idle does not wait.
    - `uplink`: ports from an edge switch to an aggregation switch.
    - `to_others`: ports from an aggregation switch to a core, or to an edge switch other than the receiver's.

    `uplink` and `to_others` are indexed by switch of `POD` and port.
    """

    detours: Mapping[str, np.ndarray]  # also `cores` and `elsewhere`
    longest: np.ndarray  # steps by switches of `POD` by ports: most queued packets
    waits: np.ndarray
    uplink: np.ndarray
    to_others: np.ndarray

    @property
    def has_full_buffer(self) -> np.ndarray:
        """True for a switch of the pod with a full buffer, by step and switch."""
        return np.asarray((self.longest >= BUFFER_PACKETS).any(axis=2))

    def end_of_detours(self, *switches: str) -> int:
        """Returns the step after the last detour at one of these switches; 0 without detours."""
        found = np.flatnonzero(np.sum([self.detours[one] for one in switches], axis=0))
        return int(found[-1]) + 1 if len(found) else 0

    @property
    def t1(self) -> int:
        """First step in which packets wait for the receiver."""
        waiting = np.flatnonzero(self.longest[:, POD.index(RECEIVER_EDGE), 0])
        return int(waiting[0]) if len(waiting) else 0

    @property
    def t2(self) -> int:
        """First step in which the number of switches with a full buffer is largest."""
        return int(np.argmax(self.has_full_buffer.sum(axis=1)))

    @property
    def t3(self) -> int:
        """Step halfway from the aggregation switches' last detour to that of the receiver's edge switch."""
        return (
            self.end_of_detours(*AGGS) + max(self.end_of_detours(RECEIVER_EDGE), self.end_of_detours(*AGGS))
        ) // 2


@dataclass(frozen=True)
class Case:
    """Incast that is measured: its sweep and point, and the title of its drawing."""

    name: str
    sweep: str
    point: Point
    title: str

    def metric(self, sweeps: Mapping[str, Runs], name: str) -> np.ndarray:
        """Returns a metric of this incast by seed."""
        return sweeps[self.sweep].metric(name, DIBS, self.point)

    def read(self, sweeps: Mapping[str, Runs]) -> list[Burst]:
        """Returns the detours and queues of this incast, seed by seed."""
        runs = sweeps[self.sweep]
        activity, trace, ports = (
            runs.tables(name, DIBS, self.point) for name in ("activity", "queue_trace", "ports")
        )
        fabric = Fabric.of_run(runs, ports[0])
        return [read_burst(runs, fabric, pair) for pair in zip(activity, trace, strict=True)]


# The paper does not give the degree (number of responses), so several are measured.
CASES = (
    Case("degree 40", "one_incast", {DEGREE_PATH: "40"}, "40 responses of 20 KB"),
    Case("degree 59", "one_incast", {DEGREE_PATH: "59"}, "59 responses of 20 KB"),
    Case("degree 100, 10 KB", "short_incast", {}, "100 responses of 10 KB"),
)


def read_burst(runs: Runs, fabric: Fabric, tables: tuple[pa.Table, pa.Table]) -> Burst:
    """Reads detours and queues of one run with a large incast."""
    activity, trace = tables
    steps = 1 + max(
        (int(columns.column_to_numpy(one, "bin").max()) for one in tables if one.num_rows), default=0
    )
    nodes = np.array([runs.node(name) for name in POD])
    longest, mean = (
        fabric.by_step_and_port(trace, name, (0, steps)) for name in ("max_packets", "mean_packets")
    )
    places = np.array([np.flatnonzero(fabric.node == node) for node in nodes])
    tier = fabric.tier(fabric.peer[places])
    own = fabric.tier(nodes)[:, None]
    return Burst(
        detours_by_step(runs, fabric, activity, steps),
        longest[:, places],
        mean[:, places] > 0,
        (own == "edge") & (tier == "agg"),
        (own == "agg")
        & ((tier == "core") | ((tier == "edge") & (fabric.peer[places] != runs.node(RECEIVER_EDGE)))),
    )


def detours_by_step(runs: Runs, fabric: Fabric, activity: pa.Table, steps: int) -> dict[str, np.ndarray]:
    """Detours by step: of each switch of the pod, of cores, and of other pods."""
    keep = columns.column_to_numpy(activity, "kind") == DETOUR_KIND
    step, node, count = (columns.column_to_numpy(activity, name)[keep] for name in ("bin", "node", "count"))
    which = {name: node == runs.node(name) for name in POD}
    which["cores"] = fabric.tier(node) == "core"
    which["elsewhere"] = ~np.any(list(which.values()), axis=0) if len(node) else np.zeros(0, bool)
    return {
        name: np.bincount(step[chosen].astype(np.int64), count[chosen].astype(float), steps)
        for name, chosen in which.items()
    }


def measure_figure_2a(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures which switches detour and until when, and when the burst is over."""
    for one_case in CASES:
        case, found = one_case.name, one_case.read(sweeps)
        within = 1e3 * one_case.metric(sweeps, "qct_mean")
        yield build_measured(case, "burst_absorbed_within", within, describe_outside_detours(found))
        yield build_measured(case, "drops", one_case.metric(sweeps, "drops"))
        yield build_measured(case, "timeouts", one_case.metric(sweeps, "timeouts"))
        by_switch = [{name: one.detours[name].sum() for name in POD} for one in found]
        yield Measured(case, "switches_of_the_pod_that_detour", [names_with_counts(one) for one in by_switch])
        edge_ends = [one.end_of_detours(RECEIVER_EDGE) for one in found]
        agg_ends = [one.end_of_detours(*AGGS) for one in found]
        longer = [STEP_MS * (edge - agg) for edge, agg in zip(edge_ends, agg_ends, strict=True)]
        told = (
            f"the edge detours until {STEP_MS * np.mean(edge_ends):.1f} ms, "
            f"aggregations until {STEP_MS * np.mean(agg_ends):.1f} ms; "
            f"in {sum(not end for end in agg_ends)} of {len(found)} seeds these never do"
        )
        yield build_measured(case, "edge_detours_on_after_the_last_aggregation", longer, told)


def describe_outside_detours(found: list[Burst]) -> str:
    """Describes how many detours an incast causes, and how many outside the receiver's pod."""
    every = np.array([sum(float(one.sum()) for one in burst.detours.values()) for burst in found])
    away = np.array([float((one.detours["cores"] + one.detours["elsewhere"]).sum()) for one in found])
    return f"{every.mean():.0f} detours, {away.mean():.0f} of them outside the receiver's pod"


def measure_figure_2b(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures full and used buffers at the time at which most switches have a full one."""
    for one_case in CASES:
        case, found = f"{one_case.name}, t2", one_case.read(sweeps)
        full = [one.has_full_buffer[one.t2] for one in found]
        told = f"at {STEP_MS * np.mean([one.t2 for one in found]):.1f} ms: " + "; ".join(
            sorted({" ".join(name for name, yes in zip(POD, one, strict=True) if yes) for one in full})
        )
        yield build_measured(case, "switches_with_a_full_buffer", [one.sum() for one in full], told)
        waiting = [one.waits[one.t2] for one in found]
        edge = POD.index(RECEIVER_EDGE)
        uplinks = [(one & burst.uplink)[edge].sum() for one, burst in zip(waiting, found, strict=True)]
        yield build_measured(case, "uplinks_of_the_edge_with_packets", uplinks)
        spread = [
            (one & burst.to_others).any(axis=1).sum() for one, burst in zip(waiting, found, strict=True)
        ]
        yield build_measured(case, "aggregations_with_packets_for_core_and_other_edges", spread)


MEASURES: dict[str, Measure] = {
    "fig2a": measure_figure_2a,
    "fig2b": measure_figure_2b,
}
