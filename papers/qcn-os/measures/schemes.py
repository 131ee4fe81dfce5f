"""Schemes of QCN-OS's report, its constants (table I), and the results of a hotspot run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.common import build_measured
from overspill.papers.spec import Measure, Measured, Runs, Sweeps

LINE_GBPS = 10.0  # Gb/s, rate of a flow without a limit
PFC, QCN_AS, QCN_OS, QCN_AS_OUTPUTS = "pfc", "as_in", "os_in", "as_out"
TWO_SAMPLES, KEEP_ALIVE = "two_samples", "os_keep_alive"
QCN_OS_ACKS, TWO_SAMPLES_ACKS = "os_acks", "two_samples_acks"
NAMES = {
    PFC: "PFC alone",
    QCN_AS: "QCN-AS",
    QCN_OS: "QCN-OS",
    QCN_AS_OUTPUTS: "QCN-AS at outputs",
    TWO_SAMPLES: "two samples",
}

ONSET_MS = 10.0  # ms, at which the output becomes hot
BEFORE_WINDOW, START_WINDOW, STEADY_WINDOW = (2.0, 10.0), (10.0, 30.0), (150.0, 200.0)  # ms
END_MS = 200.0  # ms
STEP_MS = 0.1  # ms, equal to `measure.bin` of the sweeps
STEP_COUNT = round(END_MS / STEP_MS)
OFFER_GBPS = 5.0  # Gb/s of each flow
PS_PER_MS = 1e9  # ps
F1, F2 = 0, 1  # indices of flows among the workloads
HOT_FLOWS = slice(1, None)  # flows to the hot output
SHARED_ADAPTER = "h0"  # adapter of f1 and f2
SWITCH = "s0"
EQUILIBRIUM_KB = 60.0  # KB
# Number of KB (1000 B) in each unit of size.
SIZE_UNITS = {"B": 1e-3, "KB": 1.0, "MB": 1e3, "KiB": 1.024, "MiB": 1048.576}


@dataclass(frozen=True)
class RateLimits:
    """Rate limit of a flow, valid from each of `times`; `LINE_GBPS` without a limit and before the first."""

    times: np.ndarray  # ms
    rates: np.ndarray  # Gb/s

    def limit_at(self, time: float) -> float:
        """Returns the rate limit at a time, in Gb/s."""
        place = int(np.searchsorted(self.times, time, side="right"))
        return float(self.rates[place - 1]) if place else LINE_GBPS

    def means(self, edges: np.ndarray) -> np.ndarray:
        """Returns the mean rate limits between each time of `edges` and the next."""
        times = np.concatenate(([-np.inf], self.times))
        rates = np.concatenate(([LINE_GBPS], self.rates))
        cuts = np.unique(
            np.concatenate((edges, self.times[(self.times > edges[0]) & (self.times < edges[-1])]))
        )
        held = rates[np.searchsorted(times, cuts[:-1], side="right") - 1]
        area = np.concatenate(([0.0], np.cumsum(held * np.diff(cuts))))
        return np.asarray(np.diff(area[np.searchsorted(cuts, edges)]) / np.diff(edges))

    def mean(self, window: tuple[float, float]) -> float:
        """Returns the mean rate limit in a window."""
        return float(self.means(np.array(window))[0])


def read_rate_limits(table: pa.Table, flows: Sequence[int] | np.ndarray) -> list[RateLimits]:
    """Returns the limits of the given flows from `rate_limits`, where a rate below 0 means no limit."""
    flow, rate = columns.column_to_numpy(table, "flow"), columns.column_to_numpy(table, "rate_bps") / 1e9
    time = columns.column_to_numpy(table, "time_ps") / 1e9
    rate = np.where(rate < 0, LINE_GBPS, rate)
    return [RateLimits(time[flow == one], rate[flow == one]) for one in flows]


@dataclass(frozen=True)
class HotspotRun:
    """Results of one hotspot run: flows are rows, time steps of `STEP_MS` are columns, times are in ms."""

    sent: np.ndarray  # Gb/s of each flow, with preamble and gap
    stored: np.ndarray  # mean KB of f1 and of f2 in their input
    limits: Sequence[RateLimits]  # one for each flow
    pauses: np.ndarray  # start and end of each pause of the shared adapter
    all_pauses: Mapping[int, np.ndarray]  # pauses of every adapter, by node
    cnm_times: np.ndarray  # time of each CNM
    cnm_flows: np.ndarray  # flow of each CNM
    feedback: np.ndarray
    cnm_nodes: np.ndarray  # node at the far end of the port that generated each CNM


def window_steps(window: tuple[float, float]) -> slice:
    """Returns the time steps of a window as a slice."""
    return slice(round(window[0] / STEP_MS), round(window[1] / STEP_MS))


def means_by_ms(trace: np.ndarray) -> np.ndarray:
    """Returns the means over each millisecond, along the last axis."""
    return np.asarray(trace.reshape(*trace.shape[:-1], -1, round(1 / STEP_MS)).mean(axis=-1))


@lru_cache(maxsize=16)
def read_runs(runs: Runs, variant: str) -> Sequence[HotspotRun]:
    """Returns the results of a variant's runs, for all seeds.

    Results are cached, since several figures read the same ones.
    """
    names = ["flows", "ports", "sent_trace", "input_trace", "pause_trace", "notices", "rate_limits"]
    every = zip(*(runs.tables(name, variant) for name in names), strict=True)
    return [read_run(runs, dict(zip(names, tables, strict=True))) for tables in every]


def read_run(runs: Runs, tables: Mapping[str, pa.Table]) -> HotspotRun:
    """Reads the results of one run from its tables."""
    flows, ports = FlowIndex(tables["flows"]), PortPeers(tables["ports"], runs.node(SWITCH))
    notices, pauses = tables["notices"], pause_intervals(tables["pause_trace"])
    return HotspotRun(
        sent=sent_gbps(tables["sent_trace"], flows),
        stored=stored_kb(tables["input_trace"], flows, ports, runs.node(SHARED_ADAPTER)),
        limits=read_rate_limits(tables["rate_limits"], flows.numbers),
        pauses=pauses.get(runs.node(SHARED_ADAPTER), np.empty((0, 2))),
        all_pauses=pauses,
        cnm_times=columns.column_to_numpy(notices, "time_ps") / PS_PER_MS,
        cnm_flows=flows.indices_of(columns.column_to_numpy(notices, "flow")),
        feedback=columns.column_to_numpy(notices, "feedback").astype(np.int64),
        cnm_nodes=ports.peers(columns.column_to_numpy(notices, "port")),
    )


class FlowIndex:
    """Index of a run's flows, one for each workload, in the order of workloads."""

    def __init__(self, table: pa.Table) -> None:
        order = np.argsort(columns.column_to_numpy(table, "traffic"), kind="stable")
        self.numbers = columns.column_to_numpy(table, "flow")[order]
        self.ends = columns.column_to_numpy(table, "dst")[order]

    def indices_of(self, flow: np.ndarray) -> np.ndarray:
        """Returns the indices of flows by their numbers in tables."""
        found = np.full(int(max(self.numbers.max(), flow.max(initial=0))) + 1, -1)
        found[self.numbers] = np.arange(len(self.numbers))
        return np.asarray(found[flow])


class PortPeers:
    """Nodes at the far ends of a switch's ports."""

    def __init__(self, table: pa.Table, switch: int) -> None:
        here = columns.column_to_numpy(table, "node") == switch
        port, peer = (
            columns.column_to_numpy(table, name)[here].astype(np.int64) for name in ("port", "peer")
        )
        self.by_port = np.full(int(port.max()) + 1, -1)
        self.by_port[port] = peer

    def peers(self, port: np.ndarray) -> np.ndarray:
        """Returns the nodes at the far ends of ports."""
        return np.asarray(self.by_port[port.astype(np.int64)])


def sum_by_step(table: pa.Table, rows: np.ndarray, value: str, count: tuple[int, int]) -> np.ndarray:
    """Sums a table column into a matrix of `count` rows and time steps; rows below 0 are left out."""
    found = np.zeros(count)
    step = columns.column_to_numpy(table, "bin").astype(np.int64)
    keep = (rows >= 0) & (step < count[1])
    np.add.at(found, (rows[keep], step[keep]), columns.column_to_numpy(table, value)[keep].astype(np.float64))
    return found


def sent_gbps(table: pa.Table, flows: FlowIndex) -> np.ndarray:
    """Throughput of each flow in Gb/s."""
    rows = flows.indices_of(columns.column_to_numpy(table, "flow"))
    return sum_by_step(table, rows, "wire_bytes", (len(flows.numbers), STEP_COUNT)) * 8 / (STEP_MS * 1e6)


def stored_kb(table: pa.Table, flows: FlowIndex, ports: PortPeers, shared: int) -> np.ndarray:
    """Bytes of f1 and f2 in the buffer of the input from the node `shared`, in KB."""
    source = ports.peers(columns.column_to_numpy(table, "input"))
    output = ports.peers(columns.column_to_numpy(table, "output"))
    rows = np.full(len(source), -1)
    for place in (F1, F2):
        rows[(source == shared) & (output == flows.ends[place])] = place
    return sum_by_step(table, rows, "mean_bytes", (2, STEP_COUNT)) / 1e3


def pause_intervals(table: pa.Table) -> dict[int, np.ndarray]:
    """Returns start and end in ms of each node's pauses, in the order of their starts."""
    node = columns.column_to_numpy(table, "node")
    times = np.stack(
        [columns.column_to_numpy(table, name) / PS_PER_MS for name in ("from_ps", "to_ps")], axis=1
    )
    return {int(one): times[node == one][np.argsort(times[node == one][:, 0])] for one in np.unique(node)}


def value_by_run(runs: Runs, variant: str, value: Callable[[HotspotRun], float]) -> np.ndarray:
    """Applies a function to each run of a variant, and returns the values by seed."""
    return np.array([value(one) for one in read_runs(runs, variant)])


def mean_throughput(runs: Runs, variant: str, flow: int, window: tuple[float, float]) -> np.ndarray:
    """Mean throughput of a flow in a window in Gb/s, by seed.

    It is rounded to 1 bit/s, so that equal sums compare equal.
    """
    return value_by_run(
        runs, variant, lambda one: round(float(one.sent[flow, window_steps(window)].mean()), 9)
    )


def measure_throughputs(
    runs: Runs, variant: str, flows: Sequence[int], named: tuple[str, tuple[float, float]]
) -> Iterator[Measured]:
    """Yields a row with each flow's mean throughput in a window; `named` is the window's name and ends."""
    name, window = named
    for flow in flows:
        values = mean_throughput(runs, variant, flow, window)
        yield Measured(f"f{flow + 1}, {name}", "throughput", [float(one) for one in values])


def total_pause(one: np.ndarray, since: float = ONSET_MS) -> float:
    """Total duration of a sender's pauses after a time, in ms."""
    return float((one[:, 1] - np.maximum(one[:, 0], since)).clip(min=0).sum())


def count_pauses(one: np.ndarray, window: tuple[float, float]) -> int:
    """Number of a sender's pauses that begin in a window."""
    return int(((one[:, 0] >= window[0]) & (one[:, 0] < window[1])).sum())


def last_pause_after_onset(run: HotspotRun) -> float:
    """Time in ms from the onset of congestion to the last pause of any sender; 0 without one."""
    return max((float(one[-1, 0]) - ONSET_MS for one in run.all_pauses.values()), default=0.0)


def largest_deviation(run: HotspotRun) -> float:
    """Largest deviation of a hot flow's throughput from the hot flows' mean, in Gb/s."""
    means = run.sent[HOT_FLOWS, window_steps(STEADY_WINDOW)].mean(axis=1)
    return float(np.abs(means - means.mean()).max())


def measure_table_1(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures every row of QCN-OS's table I, from the resolved scenario."""
    [switch] = sweeps["hotspot"].settings(QCN_OS)["switches"]
    yield build_measured("switch", "input_buffer", [parse_kb(switch["input_buffer"])])
    yield build_measured("switch", "output_buffer", [parse_kb(switch["buffer"]["size"])])
    yield build_measured("PFC", "stop_threshold", [parse_kb(switch["pause"]["xoff"])])
    yield build_measured("PFC", "go_threshold", [parse_kb(switch["pause"]["xon"])])
    notify: Mapping[str, Any] = switch["notify"]
    yield build_measured("QCN", "equilibrium", [parse_kb(notify["q_eq"])])
    yield build_measured("QCN", "weight_of_velocity", [float(notify["w"])])
    yield build_measured("QCN", "base_sampling_interval", [parse_kb(notify["interval"])])


def parse_kb(text: str) -> float:
    """Parses a size of a resolved scenario, in KB.

    Raises ValueError if the text is no size.
    """
    parts = re.fullmatch(r"([0-9.]+)(B|KB|MB|KiB|MiB)", text)
    if parts is None:
        raise ValueError(f"{text} is no size")
    return float(parts[1]) * SIZE_UNITS[parts[2]]


MEASURES: dict[str, Measure] = {
    "tab1": measure_table_1,
}
