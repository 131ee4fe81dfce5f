"""Measures of equations 1 to 5, and of the time until a congestion point's queue recovers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.common import measured, quotient
from overspill.papers.spec import Measure, Measured, Runs, Sweeps

from .schemes import (
    END,
    EQUILIBRIUM,
    F2,
    KEEP_ALIVE,
    MS,
    ONSET,
    OS,
    OUT,
    SHARED,
    STEPS,
    SWITCH,
    Flows,
    Ports,
    Seen,
    by_ms,
    last_pause,
    seen,
    steps,
    trace,
    value_by_run,
)
from .workloads import schemes_compared

ARRIVAL, OCCUPANCY = "arrival", "occupancy"
STORED, PASSING = slice(0, 3), slice(3, 6)  # indices of workloads of laws.toml
BEGIN = 2  # ms, after which the state is steady
ORDER = ("first", "second", "third")
GAP = 20  # bytes of preamble and gap of a frame
FRAMES = {"laws": [1522] * 6, "laws_sizes": [64, 1522, 1522, 1522, 64, 1522]}  # bytes, by workload
RATES = {"laws": "rates 1 : 2 : 5", "laws_sizes": "rates 1 : 2 : 5, frames of 1522 and 64 B"}
AMOUNTS = {"laws": "stored 1 : 2 : 3", "laws_sizes": "stored 1 : 2 : 3, frames of 1522 and 64 B"}
INTERVAL = 150e3  # bytes between samples, at a feedback of less than 8
# A paused adapter still ends its current frame; nothing arrives later than this after the pause.
ON_ITS_WAY = 0.005  # ms
FRAME = 1.522  # KB
NEAR = 15.0  # KB from the equilibrium
STAYS = 5  # ms
Law = tuple[str, str, slice]  # variant, attribute of `Named` that CNMs follow, and slice of flows


@dataclass(frozen=True)
class Named:
    """CNMs, arrivals and stored bytes of each flow in the steady part of one run."""

    cnms: np.ndarray
    arrived: np.ndarray  # bytes
    stored: np.ndarray  # bytes, mean over time
    time: float  # s
    strongest: int  # largest feedback


def named(runs: Runs, variant: str, frames: Sequence[int]) -> Sequence[Named]:
    """Returns the results of all seeds; `frames` are the frame sizes of flows in bytes."""
    return _named(runs, variant, tuple(frames))


@lru_cache(maxsize=16)
def _named(runs: Runs, variant: str, frames: tuple[int, ...]) -> Sequence[Named]:
    names = ("flows", "ports", "sent_trace", "input_trace", "notices")
    every = zip(*(runs.tables(name, variant) for name in names), strict=True)
    return [of_tables(runs, dict(zip(names, tables, strict=True)), frames) for tables in every]


def of_tables(runs: Runs, tables: dict[str, pa.Table], frames: tuple[int, ...]) -> Named:
    """Reads the results of one run, without its first steps and its incomplete last one."""
    flows, notices = Flows(tables["flows"]), tables["notices"]
    ports = Ports(tables["ports"], runs.node(SWITCH))
    end = int(columns.numbers(tables["sent_trace"], "bin").max())
    step = columns.numbers(notices, "time_ps") // int(MS)
    keep = (step >= BEGIN) & (step < end)
    whom = flows.places(columns.numbers(notices, "flow"))[keep]
    count = len(flows.numbers)
    share = np.array([size / (size + GAP) for size in frames])
    return Named(
        cnms=np.bincount(whom, minlength=count),
        arrived=summed(tables["sent_trace"], flows, (BEGIN, end)) * share,
        stored=held(tables["input_trace"], flows, ports, (runs.node(SHARED), BEGIN, end)),
        time=(end - BEGIN) * 1e-3,
        strongest=int(columns.numbers(notices, "feedback")[keep].max(initial=0)),
    )


def summed(table: pa.Table, flows: Flows, steps: tuple[int, int]) -> np.ndarray:
    """Returns the bytes of each flow on the wire in these steps."""
    step = columns.numbers(table, "bin")
    keep = (step >= steps[0]) & (step < steps[1])
    places = flows.places(columns.numbers(table, "flow"))[keep]
    weights = columns.numbers(table, "wire_bytes")[keep].astype(np.float64)
    return np.bincount(places, weights, minlength=len(flows.numbers))


def held(table: pa.Table, flows: Flows, ports: Ports, where: tuple[int, int, int]) -> np.ndarray:
    """Returns the mean bytes of each flow in an input, over steps; the flows have different outputs."""
    source, first, end = where
    step = columns.numbers(table, "bin")
    keep = (step >= first) & (step < end) & (ports.peers(columns.numbers(table, "input")) == source)
    output = ports.peers(columns.numbers(table, "output"))[keep]
    mean = columns.numbers(table, "mean_bytes")[keep]
    return np.array([mean[output == one].sum() for one in flows.ends]) / (end - first)


def shares(runs: Runs, variant: str, frames: Sequence[int], which: slice) -> np.ndarray:
    """Returns the share of each of some flows in the CNMs to them, seeds by flows."""
    found = [one.cnms[which] for one in named(runs, variant, frames)]
    return np.array([one / one.sum() if one.sum() else np.full(len(one), np.nan) for one in found])


def counted(runs: Runs, variant: str) -> np.ndarray:
    """Returns the CNMs of each flow, seeds by flows."""
    found = []
    for table, notices in zip(runs.tables("flows", variant), runs.tables("notices", variant), strict=True):
        flows = Flows(table)
        whom = flows.places(columns.numbers(notices, "flow"))
        found.append(np.bincount(whom, minlength=len(flows.numbers)))
    return np.array(found)


def probability(cnms: np.ndarray, law: np.ndarray) -> float:
    """Returns the p-value of counts under a law (Pearson's chi-squared test)."""
    from scipy import stats  # slow to load

    if not cnms.sum() or not (law > 0).all():
        return float("nan")
    return float(stats.chisquare(cnms, law / law.sum() * cnms.sum()).pvalue)


def measure_law(sweeps: Sweeps, cases: Mapping[str, str], law: Law) -> Iterator[Measured]:
    """Measures the shares of a law's flows in their CNMs, and the p-value of these counts under the law."""
    variant, followed, which = law
    for sweep, case in cases.items():
        runs, frames = sweeps[sweep], FRAMES[sweep]
        found = shares(runs, variant, frames, which)
        for place, name in enumerate(ORDER):
            yield measured(f"{case}, {name} flow", "share_of_cnms", found[:, place])
        every = named(runs, variant, frames)
        cnms = sum(one.cnms[which] for one in every)
        expected = sum(getattr(one, followed)[which] for one in every)
        value = probability(np.asarray(cnms), np.asarray(expected))
        yield measured(case, "probability_of_chi_squared", [value], f"{np.sum(cnms)} CNMs")


def equations_1_to_3(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures arrival sampling: equations 1 to 3."""
    yield from measure_law(sweeps, RATES, (ARRIVAL, "arrived", PASSING))
    every = named(sweeps["laws"], ARRIVAL, FRAMES["laws"])
    yield measured(
        "flows that fill the buffer and do not arrive", "cnms", [one.cnms[STORED].sum() for one in every]
    )
    rate = [quotient(float(one.cnms.sum()), float(one.arrived[PASSING].sum()) / INTERVAL) for one in every]
    note = f"largest feedback {max(one.strongest for one in every)}"
    yield measured("feedback of 1 to 7", "samples_by_law", rate, note)


def equations_4_and_5(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures occupancy sampling: equations 4 and 5."""
    yield from measure_law(sweeps, AMOUNTS, (OCCUPANCY, "stored", STORED))
    yield from example(sweeps["example"])
    for variant, name in ((OS, "QCN-OS"), (KEEP_ALIVE, "QCN-OS with keep-alive")):
        yield measured(name, "cnms_while_paused", value_by_run(sweeps["hotspot"], variant, while_paused))


def example(runs: Runs) -> Iterator[Measured]:
    """Measures the example of section III with three flows."""
    found = counted(runs, OCCUPANCY)
    # For flows that are hardly ever named, one CNM is the smallest measurable count.
    ratio = found[:, 2] / np.maximum(found[:, :2].max(axis=1), 1)
    yield measured("example, QCN-OS, f3 by the other that has more", "cnms", ratio)
    found = counted(runs, ARRIVAL)
    for place in range(3):
        case = f"example, QCN-AS, f{place + 1}"
        yield measured(case, "share_of_cnms", found[:, place] / found.sum(axis=1))


def while_paused(run: Seen) -> float:
    """Counts CNMs of inputs whose adapters are paused, so that nothing arrives."""
    count = 0
    for node, pauses in run.all_pauses.items():
        told = np.sort(run.told[run.at == node])
        inside = np.searchsorted(told, pauses[:, 1]) - np.searchsorted(told, pauses[:, 0] + ON_ITS_WAY)
        count += int(inside.clip(min=0).sum())
    return count


def watched(runs: Runs, variant: str) -> Sequence[np.ndarray]:
    """Returns the queue that the congestion point of f2 watches in KB by step: its input or its output."""
    return _outputs(runs) if variant == OUT else [one.stored.sum(axis=0) for one in seen(runs, variant)]


@lru_cache(maxsize=4)
def _outputs(runs: Runs) -> Sequence[np.ndarray]:
    """Returns the output buffer's content: the frames queued for the output, minus those still at inputs."""
    found = []
    names = ("flows", "ports", "queue_trace", "input_trace")
    switch = runs.node(SWITCH)
    for flows, ports, queue, stored in zip(*(runs.tables(name, OUT) for name in names), strict=True):
        peers, end = Ports(ports, switch), Flows(flows).ends[F2]
        here = columns.numbers(queue, "node") == switch
        rows = np.where(here & (peers.peers(columns.numbers(queue, "port") * here) == end), 0, -1)
        whole = FRAME * trace(queue, rows, "mean_packets", (1, STEPS))[0]
        rows = np.where(peers.peers(columns.numbers(stored, "output")) == end, 0, -1)
        found.append(whole - trace(stored, rows, "mean_bytes", (1, STEPS))[0] / 1e3)
    return found


def back(queue: np.ndarray) -> float:
    """Time in ms after the onset from which a queue stays near the equilibrium; NaN if it never does."""
    near = np.abs(by_ms(queue[steps((ONSET, END))]) - EQUILIBRIUM) <= NEAR
    whole = np.convolve(near, np.ones(STAYS), mode="valid") >= STAYS
    return float(whole.argmax()) if whole.any() else float("nan")


def output_hotspot(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the recovery of the queue and the last pause, for sampling at inputs and at outputs."""
    runs = sweeps["output"]
    here, there = (np.array([back(one) for one in watched(runs, variant)]) for variant in (OS, OUT))
    note = f"{here.mean():.3g} and {there.mean():.3g} ms"
    yield measured("QCN-OS less outputs", "time_until_the_queue_is_back", here - there, note)
    here, there = (value_by_run(runs, variant, last_pause) for variant in (OS, OUT))
    note = f"{here.mean():.3g} and {there.mean():.3g} ms"
    yield measured("QCN-OS less outputs", "last_pause_after_onset", here - there, note)
    yield from schemes_compared(sweeps)


MEASURES: dict[str, Measure] = {
    "eq1-3": equations_1_to_3,
    "eq4-5": equations_4_and_5,
    "og": output_hotspot,
}
