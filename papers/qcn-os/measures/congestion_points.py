"""Measures of QCN-OS's equations 1 to 5, and of the recovery time of a congestion point's queue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.common import build_measured, divide_or_nan
from overspill.papers.spec import Measure, Measured, Runs, Sweeps

from .schemes import (
    END_MS,
    EQUILIBRIUM_KB,
    F2,
    KEEP_ALIVE,
    ONSET_MS,
    PS_PER_MS,
    QCN_AS_OUTPUTS,
    QCN_OS,
    SHARED_ADAPTER,
    STEP_COUNT,
    SWITCH,
    FlowIndex,
    HotspotRun,
    PortPeers,
    last_pause_after_onset,
    means_by_ms,
    read_runs,
    sum_by_step,
    value_by_run,
    window_steps,
)
from .workloads import compare_schemes_with_subflows

ARRIVAL, OCCUPANCY = "arrival", "occupancy"
STORED_FLOWS, PASSING_FLOWS = slice(0, 3), slice(3, 6)  # indices of workloads of laws.toml
STEADY_FROM_MS = 2  # ms, after which the state is steady
FLOW_ORDINALS = ("first", "second", "third")
GAP_BYTES = 20  # bytes of preamble and gap of a frame
FRAME_BYTES = {"laws": [1522] * 6, "laws_sizes": [64, 1522, 1522, 1522, 64, 1522]}  # bytes, by workload
RATE_CASES = {"laws": "rates 1 : 2 : 5", "laws_sizes": "rates 1 : 2 : 5, frames of 1522 and 64 B"}
STORED_CASES = {"laws": "stored 1 : 2 : 3", "laws_sizes": "stored 1 : 2 : 3, frames of 1522 and 64 B"}
SAMPLING_BYTES = 150e3  # bytes between samples, at a feedback of less than 8
# A paused adapter still ends its current frame, so that bytes arrive for at most this time after the pause.
MAX_FRAME_END_MS = 0.005  # ms
FRAME_KB = 1.522  # KB
NEAR_KB = 15.0  # KB from the equilibrium
MIN_STAY_MS = 5  # ms
SamplingLaw = tuple[
    str, str, slice
]  # variant, attribute of `FlowCounts` that CNMs follow, and slice of flows


@dataclass(frozen=True)
class FlowCounts:
    """CNMs, arrived bytes and stored bytes of each flow in the steady part of one run."""

    cnms: np.ndarray
    arrived: np.ndarray  # bytes
    stored: np.ndarray  # bytes, mean over time
    time: float  # s
    strongest: int  # largest feedback


def flow_counts(runs: Runs, variant: str, frames: Sequence[int]) -> Sequence[FlowCounts]:
    """Returns CNMs, arrived and stored bytes of each flow, by seed; `frames` are frame sizes in bytes."""
    return _flow_counts(runs, variant, tuple(frames))


@lru_cache(maxsize=16)
def _flow_counts(runs: Runs, variant: str, frames: tuple[int, ...]) -> Sequence[FlowCounts]:
    names = ("flows", "ports", "sent_trace", "input_trace", "notices")
    every = zip(*(runs.tables(name, variant) for name in names), strict=True)
    return [read_flow_counts(runs, dict(zip(names, tables, strict=True)), frames) for tables in every]


def read_flow_counts(runs: Runs, tables: dict[str, pa.Table], frames: tuple[int, ...]) -> FlowCounts:
    """Reads CNMs, arrived and stored bytes of one run, without first steps and an incomplete last one."""
    flows, notices = FlowIndex(tables["flows"]), tables["notices"]
    ports = PortPeers(tables["ports"], runs.node(SWITCH))
    end = int(columns.column_to_numpy(tables["sent_trace"], "bin").max())
    step = columns.column_to_numpy(notices, "time_ps") // int(PS_PER_MS)
    keep = (step >= STEADY_FROM_MS) & (step < end)
    whom = flows.indices_of(columns.column_to_numpy(notices, "flow"))[keep]
    count = len(flows.numbers)
    share = np.array([size / (size + GAP_BYTES) for size in frames])
    return FlowCounts(
        cnms=np.bincount(whom, minlength=count),
        arrived=wire_bytes(tables["sent_trace"], flows, (STEADY_FROM_MS, end)) * share,
        stored=mean_stored_bytes(
            tables["input_trace"], flows, ports, (runs.node(SHARED_ADAPTER), STEADY_FROM_MS, end)
        ),
        time=(end - STEADY_FROM_MS) * 1e-3,
        strongest=int(columns.column_to_numpy(notices, "feedback")[keep].max(initial=0)),
    )


def wire_bytes(table: pa.Table, flows: FlowIndex, steps: tuple[int, int]) -> np.ndarray:
    """Returns the bytes that each flow sent on the wire in a range of time steps."""
    step = columns.column_to_numpy(table, "bin")
    keep = (step >= steps[0]) & (step < steps[1])
    places = flows.indices_of(columns.column_to_numpy(table, "flow"))[keep]
    weights = columns.column_to_numpy(table, "wire_bytes")[keep].astype(np.float64)
    return np.bincount(places, weights, minlength=len(flows.numbers))


def mean_stored_bytes(
    table: pa.Table, flows: FlowIndex, ports: PortPeers, where: tuple[int, int, int]
) -> np.ndarray:
    """Returns the mean bytes of each flow in an input, over steps; the flows have different outputs."""
    source, first, end = where
    step = columns.column_to_numpy(table, "bin")
    keep = (step >= first) & (step < end) & (ports.peers(columns.column_to_numpy(table, "input")) == source)
    output = ports.peers(columns.column_to_numpy(table, "output"))[keep]
    mean = columns.column_to_numpy(table, "mean_bytes")[keep]
    return np.array([mean[output == one].sum() for one in flows.ends]) / (end - first)


def cnm_shares(runs: Runs, variant: str, frames: Sequence[int], which: slice) -> np.ndarray:
    """Returns the share of each flow of a group in the CNMs to the group, seeds by flows."""
    found = [one.cnms[which] for one in flow_counts(runs, variant, frames)]
    return np.array([one / one.sum() if one.sum() else np.full(len(one), np.nan) for one in found])


def cnms_by_flow(runs: Runs, variant: str) -> np.ndarray:
    """Returns the number of CNMs to each flow, seeds by flows."""
    found = []
    for table, notices in zip(runs.tables("flows", variant), runs.tables("notices", variant), strict=True):
        flows = FlowIndex(table)
        whom = flows.indices_of(columns.column_to_numpy(notices, "flow"))
        found.append(np.bincount(whom, minlength=len(flows.numbers)))
    return np.array(found)


def chi_squared_p_value(cnms: np.ndarray, law: np.ndarray) -> float:
    """Returns the p-value of CNM counts under predicted shares (Pearson's chi-squared test)."""
    from scipy import stats  # slow to load

    if not cnms.sum() or not (law > 0).all():
        return float("nan")
    return float(stats.chisquare(cnms, law / law.sum() * cnms.sum()).pvalue)


def measure_law(sweeps: Sweeps, cases: Mapping[str, str], law: SamplingLaw) -> Iterator[Measured]:
    """Measures the CNM shares of flows that an equation predicts, and the p-value of their counts."""
    variant, followed, which = law
    for sweep, case in cases.items():
        runs, frames = sweeps[sweep], FRAME_BYTES[sweep]
        found = cnm_shares(runs, variant, frames, which)
        for place, name in enumerate(FLOW_ORDINALS):
            yield build_measured(f"{case}, {name} flow", "share_of_cnms", found[:, place])
        every = flow_counts(runs, variant, frames)
        cnms = sum(one.cnms[which] for one in every)
        expected = sum(getattr(one, followed)[which] for one in every)
        value = chi_squared_p_value(np.asarray(cnms), np.asarray(expected))
        yield build_measured(case, "probability_of_chi_squared", [value], f"{np.sum(cnms)} CNMs")


def measure_equations_1_to_3(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures arrival sampling by equations 1 to 3: CNM shares, CNMs without arrivals, sampling rate."""
    yield from measure_law(sweeps, RATE_CASES, (ARRIVAL, "arrived", PASSING_FLOWS))
    every = flow_counts(sweeps["laws"], ARRIVAL, FRAME_BYTES["laws"])
    yield build_measured(
        "flows that fill the buffer and do not arrive",
        "cnms",
        [one.cnms[STORED_FLOWS].sum() for one in every],
    )
    rate = [
        divide_or_nan(float(one.cnms.sum()), float(one.arrived[PASSING_FLOWS].sum()) / SAMPLING_BYTES)
        for one in every
    ]
    note = f"largest feedback {max(one.strongest for one in every)}"
    yield build_measured("feedback of 1 to 7", "samples_by_law", rate, note)


def measure_equations_4_and_5(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures occupancy sampling (equations 4 and 5), the example of section III, and CNMs during pauses."""
    yield from measure_law(sweeps, STORED_CASES, (OCCUPANCY, "stored", STORED_FLOWS))
    yield from measure_example(sweeps["example"])
    for variant, name in ((QCN_OS, "QCN-OS"), (KEEP_ALIVE, "QCN-OS with keep-alive")):
        yield build_measured(
            name, "cnms_while_paused", value_by_run(sweeps["hotspot"], variant, count_cnms_while_paused)
        )


def measure_example(runs: Runs) -> Iterator[Measured]:
    """Measures CNMs in the example with three flows in section III."""
    found = cnms_by_flow(runs, OCCUPANCY)
    # If neither of the other flows gets a CNM, one is assumed, so that the ratio stays finite.
    ratio = found[:, 2] / np.maximum(found[:, :2].max(axis=1), 1)
    yield build_measured("example, QCN-OS, f3 by the other that has more", "cnms", ratio)
    found = cnms_by_flow(runs, ARRIVAL)
    for place in range(3):
        case = f"example, QCN-AS, f{place + 1}"
        yield build_measured(case, "share_of_cnms", found[:, place] / found.sum(axis=1))


def count_cnms_while_paused(run: HotspotRun) -> float:
    """Counts CNMs of switch inputs whose senders are paused, so that nothing arrives there."""
    count = 0
    for node, pauses in run.all_pauses.items():
        told = np.sort(run.cnm_times[run.cnm_nodes == node])
        inside = np.searchsorted(told, pauses[:, 1]) - np.searchsorted(told, pauses[:, 0] + MAX_FRAME_END_MS)
        count += int(inside.clip(min=0).sum())
    return count


def watched_queues(runs: Runs, variant: str) -> Sequence[np.ndarray]:
    """Returns the KB in the queue that f2's congestion point watches (input or output), by time step."""
    return (
        _output_queues(runs)
        if variant == QCN_AS_OUTPUTS
        else [one.stored.sum(axis=0) for one in read_runs(runs, variant)]
    )


@lru_cache(maxsize=4)
def _output_queues(runs: Runs) -> Sequence[np.ndarray]:
    """Returns the bytes in an output buffer: frames queued for the output, minus those still at inputs."""
    found = []
    names = ("flows", "ports", "queue_trace", "input_trace")
    switch = runs.node(SWITCH)
    for flows, ports, queue, stored in zip(
        *(runs.tables(name, QCN_AS_OUTPUTS) for name in names), strict=True
    ):
        peers, end = PortPeers(ports, switch), FlowIndex(flows).ends[F2]
        here = columns.column_to_numpy(queue, "node") == switch
        rows = np.where(here & (peers.peers(columns.column_to_numpy(queue, "port") * here) == end), 0, -1)
        whole = FRAME_KB * sum_by_step(queue, rows, "mean_packets", (1, STEP_COUNT))[0]
        rows = np.where(peers.peers(columns.column_to_numpy(stored, "output")) == end, 0, -1)
        found.append(whole - sum_by_step(stored, rows, "mean_bytes", (1, STEP_COUNT))[0] / 1e3)
    return found


def queue_recovery_time(queue: np.ndarray) -> float:
    """Time in ms after the onset from which a queue stays near the equilibrium; NaN if it never does."""
    near = np.abs(means_by_ms(queue[window_steps((ONSET_MS, END_MS))]) - EQUILIBRIUM_KB) <= NEAR_KB
    whole = np.convolve(near, np.ones(MIN_STAY_MS), mode="valid") >= MIN_STAY_MS
    return float(whole.argmax()) if whole.any() else float("nan")


def measure_output_hotspot(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the recovery of the queue and the last pause, for sampling at inputs and at outputs."""
    runs = sweeps["output"]
    here, there = (
        np.array([queue_recovery_time(one) for one in watched_queues(runs, variant)])
        for variant in (QCN_OS, QCN_AS_OUTPUTS)
    )
    note = f"{here.mean():.3g} and {there.mean():.3g} ms"
    yield build_measured("QCN-OS less outputs", "time_until_the_queue_is_back", here - there, note)
    here, there = (
        value_by_run(runs, variant, last_pause_after_onset) for variant in (QCN_OS, QCN_AS_OUTPUTS)
    )
    note = f"{here.mean():.3g} and {there.mean():.3g} ms"
    yield build_measured("QCN-OS less outputs", "last_pause_after_onset", here - there, note)
    yield from compare_schemes_with_subflows(sweeps)


MEASURES: dict[str, Measure] = {
    "eq1-3": measure_equations_1_to_3,
    "eq4-5": measure_equations_4_and_5,
    "og": measure_output_hotspot,
}
