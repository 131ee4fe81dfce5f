"""The schemes that QCN-OS's report compares, its constants of table I, and what a run of a hotspot shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.common import measured
from overspill.papers.spec import Measure, Measured, Runs, Sweeps

LINE = 10.0  # Gb/s, what a flow may send that has no limit
PFC, AS, OS, OUT = "pfc", "as_in", "os_in", "as_out"
TWO, KEEP_ALIVE = "two_samples", "os_keep_alive"
ACKS, TWO_ACKS = "os_acks", "two_samples_acks"
NAMES = {PFC: "PFC alone", AS: "QCN-AS", OS: "QCN-OS", OUT: "QCN-AS at outputs", TWO: "two samples"}

ONSET = 10.0  # ms, when the output becomes hot
BEFORE, START, STEADY = (2.0, 10.0), (10.0, 30.0), (150.0, 200.0)  # ms
END = 200.0  # ms
STEP = 0.1  # ms, as the sweeps set `measure.bin`
STEPS = round(END / STEP)
OFFER = 5.0  # Gb/s of each flow
MS = 1e9  # ps
F1, F2 = 0, 1  # flows by their place among the workloads
HOT = slice(1, None)  # those that the hot output is for
SHARED = "h0"  # the adapter of f1 and f2
SWITCH = "s0"
EQUILIBRIUM = 60.0  # KB
# Units of sizes in KB, which are 1000 B.
UNITS = {"B": 1e-3, "KB": 1.0, "MB": 1e3, "KiB": 1.024, "MiB": 1048.576}


@dataclass(frozen=True)
class Limits:
    """A flow's limit from each of these times on; `LINE` before the first and where there is none."""

    times: np.ndarray  # ms
    rates: np.ndarray  # Gb/s

    def at(self, time: float) -> float:
        """The limit at an instant."""
        place = int(np.searchsorted(self.times, time, side="right"))
        return float(self.rates[place - 1]) if place else LINE

    def means(self, edges: np.ndarray) -> np.ndarray:
        """Means over time between each edge and the next."""
        times = np.concatenate(([-np.inf], self.times))
        rates = np.concatenate(([LINE], self.rates))
        cuts = np.unique(
            np.concatenate((edges, self.times[(self.times > edges[0]) & (self.times < edges[-1])]))
        )
        held = rates[np.searchsorted(times, cuts[:-1], side="right") - 1]
        area = np.concatenate(([0.0], np.cumsum(held * np.diff(cuts))))
        return np.asarray(np.diff(area[np.searchsorted(cuts, edges)]) / np.diff(edges))

    def mean(self, window: tuple[float, float]) -> float:
        """The mean of a window."""
        return float(self.means(np.array(window))[0])


def limits(table: pa.Table, flows: Sequence[int] | np.ndarray) -> list[Limits]:
    """Those of the given flows, from `rate_limits`, in which a rate below 0 is none."""
    flow, rate = columns.numbers(table, "flow"), columns.numbers(table, "rate_bps") / 1e9
    time = columns.numbers(table, "time_ps") / 1e9
    rate = np.where(rate < 0, LINE, rate)
    return [Limits(time[flow == one], rate[flow == one]) for one in flows]


@dataclass(frozen=True)
class Seen:
    """One run of a hotspot. Flows are rows, steps of `STEP` columns; times are ms."""

    sent: np.ndarray  # Gb/s of each flow, preamble and gap counted
    stored: np.ndarray  # KB of f1 and of f2 at their input, means
    limits: Sequence[Limits]  # of each flow
    pauses: np.ndarray  # of the shared adapter: from and to, a row each
    all_pauses: Mapping[int, np.ndarray]  # of every adapter that was paused, by node
    told: np.ndarray  # when CNMs were made
    whom: np.ndarray  # for which flow
    feedback: np.ndarray
    at: np.ndarray  # the node at the far end of the port that made them


def steps(window: tuple[float, float]) -> slice:
    """The steps of a window."""
    return slice(round(window[0] / STEP), round(window[1] / STEP))


def by_ms(trace: np.ndarray) -> np.ndarray:
    """Means of milliseconds along the last axis."""
    return np.asarray(trace.reshape(*trace.shape[:-1], -1, round(1 / STEP)).mean(axis=-1))


@lru_cache(maxsize=16)
def seen(runs: Runs, variant: str) -> Sequence[Seen]:
    """All seeds of a variant. Several figures ask for the same, so some are kept."""
    names = ["flows", "ports", "sent_trace", "input_trace", "pause_trace", "notices", "rate_limits"]
    every = zip(*(runs.tables(name, variant) for name in names), strict=True)
    return [of_tables(runs, dict(zip(names, tables, strict=True))) for tables in every]


def of_tables(runs: Runs, tables: Mapping[str, pa.Table]) -> Seen:
    """What one run shows, from its tables."""
    flows, ports = Flows(tables["flows"]), Ports(tables["ports"], runs.node(SWITCH))
    notices, pauses = tables["notices"], intervals(tables["pause_trace"])
    return Seen(
        sent=sent(tables["sent_trace"], flows),
        stored=stored(tables["input_trace"], flows, ports, runs.node(SHARED)),
        limits=limits(tables["rate_limits"], flows.numbers),
        pauses=pauses.get(runs.node(SHARED), np.empty((0, 2))),
        all_pauses=pauses,
        told=columns.numbers(notices, "time_ps") / MS,
        whom=flows.places(columns.numbers(notices, "flow")),
        feedback=columns.numbers(notices, "feedback").astype(np.int64),
        at=ports.peers(columns.numbers(notices, "port")),
    )


class Flows:
    """The flows of a run, one of each workload, in the order of workloads."""

    def __init__(self, table: pa.Table) -> None:
        order = np.argsort(columns.numbers(table, "traffic"), kind="stable")
        self.numbers = columns.numbers(table, "flow")[order]
        self.ends = columns.numbers(table, "dst")[order]

    def places(self, flow: np.ndarray) -> np.ndarray:
        """The places of flows by their numbers in tables."""
        found = np.full(int(max(self.numbers.max(), flow.max(initial=0))) + 1, -1)
        found[self.numbers] = np.arange(len(self.numbers))
        return np.asarray(found[flow])


class Ports:
    """What is at the far end of each port of the switch."""

    def __init__(self, table: pa.Table, switch: int) -> None:
        here = columns.numbers(table, "node") == switch
        port, peer = (columns.numbers(table, name)[here].astype(np.int64) for name in ("port", "peer"))
        self.by_port = np.full(int(port.max()) + 1, -1)
        self.by_port[port] = peer

    def peers(self, port: np.ndarray) -> np.ndarray:
        """The nodes at the far ends of ports."""
        return np.asarray(self.by_port[port.astype(np.int64)])


def trace(table: pa.Table, rows: np.ndarray, value: str, count: tuple[int, int]) -> np.ndarray:
    """A matrix of `count` rows and steps from a table by step; `rows` below 0 are left out."""
    found = np.zeros(count)
    step = columns.numbers(table, "bin").astype(np.int64)
    keep = (rows >= 0) & (step < count[1])
    np.add.at(found, (rows[keep], step[keep]), columns.numbers(table, value)[keep].astype(np.float64))
    return found


def sent(table: pa.Table, flows: Flows) -> np.ndarray:
    """Throughput of each flow, Gb/s."""
    rows = flows.places(columns.numbers(table, "flow"))
    return trace(table, rows, "wire_bytes", (len(flows.numbers), STEPS)) * 8 / (STEP * 1e6)


def stored(table: pa.Table, flows: Flows, ports: Ports, shared: int) -> np.ndarray:
    """What the input of the shared adapter, a node, holds for the outputs of f1 and f2, KB."""
    source = ports.peers(columns.numbers(table, "input"))
    output = ports.peers(columns.numbers(table, "output"))
    rows = np.full(len(source), -1)
    for place in (F1, F2):
        rows[(source == shared) & (output == flows.ends[place])] = place
    return trace(table, rows, "mean_bytes", (2, STEPS)) / 1e3


def intervals(table: pa.Table) -> dict[int, np.ndarray]:
    """Times in which each node was paused, ms, in the order in which they began."""
    node = columns.numbers(table, "node")
    times = np.stack([columns.numbers(table, name) / MS for name in ("from_ps", "to_ps")], axis=1)
    return {int(one): times[node == one][np.argsort(times[node == one][:, 0])] for one in np.unique(node)}


# Over seeds.


def value_by_run(runs: Runs, variant: str, value: Callable[[Seen], float]) -> np.ndarray:
    """A value of each run."""
    return np.array([value(one) for one in seen(runs, variant)])


def throughput(runs: Runs, variant: str, flow: int, window: tuple[float, float]) -> np.ndarray:
    """The mean of a flow in a window, Gb/s, by seed; to a bit per second, so that equal sums are equal."""
    return value_by_run(runs, variant, lambda one: round(float(one.sent[flow, steps(window)].mean()), 9))


def throughputs(
    runs: Runs, variant: str, flows: Sequence[int], named: tuple[str, tuple[float, float]]
) -> Iterator[Measured]:
    """A row for each flow; `named` is what the window is called, and the window."""
    name, window = named
    for flow in flows:
        values = throughput(runs, variant, flow, window)
        yield Measured(f"f{flow + 1}, {name}", "throughput", [float(one) for one in values])


def paused(one: np.ndarray, since: float = ONSET) -> float:
    """How long pauses last after an instant, ms."""
    return float((one[:, 1] - np.maximum(one[:, 0], since)).clip(min=0).sum())


def begun(one: np.ndarray, window: tuple[float, float]) -> int:
    """How many pauses begin in a window."""
    return int(((one[:, 0] >= window[0]) & (one[:, 0] < window[1])).sum())


def last_pause(run: Seen) -> float:
    """When the last pause of any adapter takes effect, ms after the onset; 0 without one."""
    return max((float(one[-1, 0]) - ONSET for one in run.all_pauses.values()), default=0.0)


def deviation(run: Seen) -> float:
    """How far from the mean of the hot flows one of them is at most, Gb/s."""
    means = run.sent[HOT, steps(STEADY)].mean(axis=1)
    return float(np.abs(means - means.mean()).max())


# Table I.


def table_1(sweeps: Sweeps) -> Iterator[Measured]:
    """Every row of the table."""
    [switch] = sweeps["hotspot"].settings(OS)["switches"]
    yield measured("switch", "input_buffer", [kb(switch["input_buffer"])])
    yield measured("switch", "output_buffer", [kb(switch["buffer"]["size"])])
    yield measured("PFC", "stop_threshold", [kb(switch["pause"]["xoff"])])
    yield measured("PFC", "go_threshold", [kb(switch["pause"]["xon"])])
    notify: Mapping[str, Any] = switch["notify"]
    yield measured("QCN", "equilibrium", [kb(notify["q_eq"])])
    yield measured("QCN", "weight_of_velocity", [float(notify["w"])])
    yield measured("QCN", "base_sampling_interval", [kb(notify["interval"])])


def kb(text: str) -> float:
    """A size as a resolved scenario has it, in KB.

    Raises ValueError where it is none.
    """
    parts = re.fullmatch(r"([0-9.]+)(B|KB|MB|KiB|MiB)", text)
    if parts is None:
        raise ValueError(f"{text} is no size")
    return float(parts[1]) * UNITS[parts[2]]


MEASURES: dict[str, Measure] = {
    "tab1": table_1,
}
