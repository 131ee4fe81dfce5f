"""The three schemes that ABQ's article compares, and the values that its figures read from a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa

from overspill import Failed, columns, quantiles
from overspill.papers.common import Curve, dropped, quotient
from overspill.papers.spec import Point, Runs

DROP_TAIL, ECN, ABQ = "drop_tail", "ecn", "abq"
NAMES = {DROP_TAIL: "DropTail", ECN: "ECN", ABQ: "ABQ"}
OTHERS = (DROP_TAIL, ECN)
COLOURS = {DROP_TAIL: 0, ECN: 1, ABQ: 2}  # the same in all figures
SENDERS = "traffic.query.senders"
SIZE = "traffic.query.size"

START = 10_000_000_000  # ps at which the flows of a query begin
CAPACITY = 80  # packets of a queue
FRAME, ACK = 1.5, 0.06  # KB of a full frame and of an ACK in a buffer
SEGMENT = 1446  # bytes of payload
WIRE = 1524  # bytes of a full frame on the wire
RATE = 1e9  # bit/s of a link
HELD = ("waited_ps", "congested_ps", "max_packets", "max_bytes")  # columns of `holds`


@dataclass(frozen=True)
class Times:
    """Completion of the flows of one run; NaN for values that unfinished flows leave undefined."""

    last: float  # ps
    goodput: float  # Mb/s, from the start to the last byte
    segments: int
    sent_again: int
    timeouts: int
    fct: Mapping[int, float]  # ms, by percentile


def times(table: pa.Table) -> Times:
    """Reads the completion of flows from the table `flows`."""
    start, end, size = (columns.numbers(table, name) for name in ("start_ps", "end_ps", "bytes"))
    opened = end == columns.U64_NONE
    took = np.where(opened, np.nan, end - start.astype(np.float64)) * 1e-9
    last = float("nan") if opened.any() else float(end.max())
    found = {one: quantiles.percentile(took, opened, one) for one in (1, 50, 99)}
    return Times(
        last=last,
        goodput=float(size.sum()) * 8e6 / (last - START),
        segments=int(-(-size.astype(np.int64) // SEGMENT).sum()),
        sent_again=int(columns.numbers(table, "retransmits").sum()),
        timeouts=int(columns.numbers(table, "timeouts").sum()),
        fct={
            one: float("nan") if value is None or value.censored else value.value
            for one, value in found.items()
        },
    )


@dataclass(frozen=True)
class Queue:
    """Queue toward the receiver in KB, weighted by time from the start to the last byte."""

    mean: float
    busy: float  # mean over the time in which the queue is not empty
    percentiles: tuple[float, float]  # 5th and 95th
    held: float  # mean bytes of ACKs in the input queue of the same port
    drops: float  # packets
    longest: float  # largest length, KB
    waited: float  # total time of all ACKs in the input queue, ps
    congested: float  # time in which the port was in the state CS, ps
    most_acks: float  # most ACKs in the input queue
    most_held: float  # most bytes in the input queue, KB


def port_to(table: pa.Table, host: int) -> np.ndarray:
    """Selects the rows of `ports` with switch ports that lead to a host."""
    return np.asarray(columns.numbers(table, "peer") == host)


def lengths(hist: pa.Table, port: tuple[int, int], idle: float) -> tuple[np.ndarray, np.ndarray]:
    """Returns the queue lengths of a port in packets and their durations in ps.

    `idle` ps after the last byte are left out; the queue is empty then.
    """
    keep = (columns.numbers(hist, "node") == port[0]) & (columns.numbers(hist, "port") == port[1])
    packets = columns.numbers(hist, "packets")[keep]
    time = columns.numbers(hist, "time_ps")[keep].astype(np.float64)
    return packets, np.maximum(0, time - np.where(packets == 0, idle, 0))


def queue(tables: Mapping[str, pa.Table], host: int) -> Queue:
    """Reads the queues of the port to a host; the last byte's time is from `flows`."""
    ports = tables["ports"]
    [row] = np.flatnonzero(port_to(ports, host))
    node, port = (int(columns.numbers(ports, name)[row]) for name in ("node", "port"))
    drops = float(dropped(ports)[row])
    hist, last = tables["queue_hist"], times(tables["flows"]).last
    holds = tables["holds"]
    here = (columns.numbers(holds, "node") == node) & (columns.numbers(holds, "port") == port)
    own = {name: columns.numbers(holds, name)[here] for name in HELD}
    waited = float(own["waited_ps"].sum())
    inputs = {
        "longest": 1e-3 * float(columns.numbers(ports, "max_bytes")[row]),
        "waited": waited,
        "congested": float(own["congested_ps"].sum()),
        "most_acks": float(own["max_packets"].max(initial=0)),
        "most_held": 1e-3 * float(own["max_bytes"].max(initial=0)),
    }
    if np.isnan(last):
        return Queue(last, last, (last, last), last, drops, **inputs)
    packets, time = lengths(hist, (node, port), 0)
    packets, time = lengths(hist, (node, port), float(time.sum()) - (last - START))
    low, high = quantiles.weighted(packets, time.astype(np.int64), [5, 95])
    if low is None or high is None:
        raise Failed("queue_hist: found no time; expected that of the window")
    whole = FRAME * float((packets * time).sum())
    return Queue(
        mean=quotient(whole, float(time.sum())),
        busy=quotient(whole, float(time[packets > 0].sum())),
        percentiles=(FRAME * low, FRAME * high),
        held=ACK * waited / (last - START),
        drops=drops,
        **inputs,
    )


# Results of a run are cached, since several figures read the same tables.


def times_of(runs: Runs, variant: str, point: Point) -> Sequence[Times]:
    """Completion of the flows at a point, by seed."""
    return _times(runs, variant, tuple(point.items()))


@cache
def _times(runs: Runs, variant: str, point: tuple[tuple[str, str], ...]) -> Sequence[Times]:
    return [times(table) for table in runs.tables("flows", variant, dict(point))]


def queues_of(runs: Runs, variant: str, point: Point) -> Sequence[Queue]:
    """Queue toward the receiver at a point, by seed."""
    return _queues(runs, variant, tuple(point.items()))


@cache
def _queues(runs: Runs, variant: str, point: tuple[tuple[str, str], ...]) -> Sequence[Queue]:
    names, host = ("queue_hist", "ports", "holds", "flows"), runs.node("h0")
    every = zip(*(runs.tables(name, variant, dict(point)) for name in names), strict=True)
    return [queue(dict(zip(names, tables, strict=True)), host) for tables in every]


def over_times(runs: Runs, variant: str, of: Callable[[Times], float]) -> Curve:
    """Returns a value of the flows, seeds by points."""
    return np.array([[of(one) for one in times_of(runs, variant, point)] for point in runs.points]).T


def over_queues(runs: Runs, variant: str, of: Callable[[Queue], float]) -> Curve:
    """Returns a value of the queue, seeds by points."""
    return np.array([[of(one) for one in queues_of(runs, variant, point)] for point in runs.points]).T


def numbers(runs: Runs, path: str) -> np.ndarray:
    """Returns the values of a path, point by point, in KB for sizes."""
    return np.array([float(point[path].removesuffix("KB")) for point in runs.points])


def best_other(curves: Mapping[str, Curve], highest: bool = True) -> Curve:
    """Returns at each point the curve of DropTail or ECN with the higher (or lower) mean over seeds."""
    one, other = (curves[name] for name in OTHERS)
    first = one.mean(axis=0) >= other.mean(axis=0)
    return np.asarray(np.where(first if highest else ~first, one, other))
