"""The three schemes that ABQ's article compares, and the values that its figures read from a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa

from overspill import Failed, columns, quantiles
from overspill.papers.common import SeedCurve, divide_or_nan, dropped_packets_by_port
from overspill.papers.spec import Point, Runs

DROP_TAIL, ECN, ABQ = "drop_tail", "ecn", "abq"
NAMES = {DROP_TAIL: "DropTail", ECN: "ECN", ABQ: "ABQ"}
OTHER_SCHEMES = (DROP_TAIL, ECN)
COLOURS = {DROP_TAIL: 0, ECN: 1, ABQ: 2}  # the same in all figures
SENDERS_PATH = "traffic.query.senders"
SIZE_PATH = "traffic.query.size"

START_PS = 10_000_000_000  # ps at which the flows of a query begin
QUEUE_PACKETS = 80  # packets of a queue
FRAME_KB, ACK_KB = 1.5, 0.06  # KB of a full frame and of an ACK in a buffer
SEGMENT_BYTES = 1446  # bytes of payload
WIRE_BYTES = 1524  # bytes of a full frame on the wire
LINK_RATE = 1e9  # bit/s of a link
HOLD_COLUMNS = ("waited_ps", "congested_ps", "max_packets", "max_bytes")  # columns of `holds`


@dataclass(frozen=True)
class FlowTimes:
    """Times, goodput, segments and timeouts of one run's flows; NaN if unfinished flows leave no value."""

    last_byte_ps: float  # ps
    goodput: float  # Mb/s, from the start to the last byte
    segments: int
    retransmitted: int
    timeouts: int
    fct: Mapping[int, float]  # ms, by percentile


def read_flow_times(table: pa.Table) -> FlowTimes:
    """Reads the completion of flows from the table `flows`."""
    start, end, size = (columns.column_to_numpy(table, name) for name in ("start_ps", "end_ps", "bytes"))
    opened = end == columns.U64_NONE
    took = np.where(opened, np.nan, end - start.astype(np.float64)) * 1e-9
    last = float("nan") if opened.any() else float(end.max())
    found = {one: quantiles.percentile(took, opened, one) for one in (1, 50, 99)}
    return FlowTimes(
        last_byte_ps=last,
        goodput=float(size.sum()) * 8e6 / (last - START_PS),
        segments=int(-(-size.astype(np.int64) // SEGMENT_BYTES).sum()),
        retransmitted=int(columns.column_to_numpy(table, "retransmits").sum()),
        timeouts=int(columns.column_to_numpy(table, "timeouts").sum()),
        fct={
            one: float("nan") if value is None or value.censored else value.value
            for one, value in found.items()
        },
    )


@dataclass(frozen=True)
class QueueStatistics:
    """Queue toward the receiver in KB, weighted by time from the start to the last byte."""

    mean: float
    busy_mean: float  # mean over the time in which the queue is not empty
    percentiles: tuple[float, float]  # 5th and 95th
    mean_held_bytes: float  # mean bytes of ACKs in the input queue of the same port
    drops: float  # packets
    max_length: float  # largest length, KB
    ack_wait_ps: float  # total time of all ACKs in the input queue, ps
    congested_ps: float  # time in which the port was in the state CS, ps
    max_held_acks: float  # most ACKs in the input queue
    max_held_kb: float  # most bytes in the input queue, KB


def select_ports_to(table: pa.Table, host: int) -> np.ndarray:
    """Selects the rows of `ports` with switch ports that lead to a host."""
    return np.asarray(columns.column_to_numpy(table, "peer") == host)


def queue_lengths(hist: pa.Table, port: tuple[int, int], idle: float) -> tuple[np.ndarray, np.ndarray]:
    """Returns the queue lengths of a port in packets and their durations in ps.

    `idle` ps after the last byte are left out; the queue is empty then.
    """
    keep = (columns.column_to_numpy(hist, "node") == port[0]) & (
        columns.column_to_numpy(hist, "port") == port[1]
    )
    packets = columns.column_to_numpy(hist, "packets")[keep]
    time = columns.column_to_numpy(hist, "time_ps")[keep].astype(np.float64)
    return packets, np.maximum(0, time - np.where(packets == 0, idle, 0))


def read_queue(tables: Mapping[str, pa.Table], host: int) -> QueueStatistics:
    """Reads the queues of the port to a host; the last byte's time is from `flows`."""
    ports = tables["ports"]
    [row] = np.flatnonzero(select_ports_to(ports, host))
    node, port = (int(columns.column_to_numpy(ports, name)[row]) for name in ("node", "port"))
    drops = float(dropped_packets_by_port(ports)[row])
    hist, last = tables["queue_hist"], read_flow_times(tables["flows"]).last_byte_ps
    holds = tables["holds"]
    here = (columns.column_to_numpy(holds, "node") == node) & (columns.column_to_numpy(holds, "port") == port)
    own = {name: columns.column_to_numpy(holds, name)[here] for name in HOLD_COLUMNS}
    waited = float(own["waited_ps"].sum())
    inputs = {
        "max_length": 1e-3 * float(columns.column_to_numpy(ports, "max_bytes")[row]),
        "ack_wait_ps": waited,
        "congested_ps": float(own["congested_ps"].sum()),
        "max_held_acks": float(own["max_packets"].max(initial=0)),
        "max_held_kb": 1e-3 * float(own["max_bytes"].max(initial=0)),
    }
    if np.isnan(last):
        return QueueStatistics(last, last, (last, last), last, drops, **inputs)
    packets, time = queue_lengths(hist, (node, port), 0)
    packets, time = queue_lengths(hist, (node, port), float(time.sum()) - (last - START_PS))
    low, high = quantiles.weighted_percentiles(packets, time.astype(np.int64), [5, 95])
    if low is None or high is None:
        raise Failed("queue_hist: found no time with a queue length before the last byte; expected some")
    whole = FRAME_KB * float((packets * time).sum())
    return QueueStatistics(
        mean=divide_or_nan(whole, float(time.sum())),
        busy_mean=divide_or_nan(whole, float(time[packets > 0].sum())),
        percentiles=(FRAME_KB * low, FRAME_KB * high),
        mean_held_bytes=ACK_KB * waited / (last - START_PS),
        drops=drops,
        **inputs,
    )


# Results of a run are cached, since several figures read the same tables.


def flow_times(runs: Runs, variant: str, point: Point) -> Sequence[FlowTimes]:
    """Times, goodput, segments and timeouts of the flows at a point, for each seed."""
    return _flow_times(runs, variant, tuple(point.items()))


@cache
def _flow_times(runs: Runs, variant: str, point: tuple[tuple[str, str], ...]) -> Sequence[FlowTimes]:
    return [read_flow_times(table) for table in runs.tables("flows", variant, dict(point))]


def queue_statistics(runs: Runs, variant: str, point: Point) -> Sequence[QueueStatistics]:
    """Queue toward the receiver at a point, by seed."""
    return _queue_statistics(runs, variant, tuple(point.items()))


@cache
def _queue_statistics(
    runs: Runs, variant: str, point: tuple[tuple[str, str], ...]
) -> Sequence[QueueStatistics]:
    names, host = ("queue_hist", "ports", "holds", "flows"), runs.node("h0")
    every = zip(*(runs.tables(name, variant, dict(point)) for name in names), strict=True)
    return [read_queue(dict(zip(names, tables, strict=True)), host) for tables in every]


def curve_of_flows(runs: Runs, variant: str, of: Callable[[FlowTimes], float]) -> SeedCurve:
    """Returns a statistic of the flows, seeds by points."""
    return np.array([[of(one) for one in flow_times(runs, variant, point)] for point in runs.points]).T


def curve_of_queue(runs: Runs, variant: str, of: Callable[[QueueStatistics], float]) -> SeedCurve:
    """Returns a statistic of the queue, seeds by points."""
    return np.array([[of(one) for one in queue_statistics(runs, variant, point)] for point in runs.points]).T


def path_values(runs: Runs, path: str) -> np.ndarray:
    """Returns the values of a swept field, point by point, in KB for sizes."""
    return np.array([float(point[path].removesuffix("KB")) for point in runs.points])


def best_other(curves: Mapping[str, SeedCurve], highest: bool = True) -> SeedCurve:
    """Returns at each point the curve of DropTail or ECN with the higher (or lower) mean over seeds."""
    one, other = (curves[name] for name in OTHER_SCHEMES)
    first = one.mean(axis=0) >= other.mean(axis=0)
    return np.asarray(np.where(first if highest else ~first, one, other))
