"""Mixed traffic: statistics of queries, flows and detours of a run, and DCTCP without and with DIBS."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache

import numpy as np
import pyarrow as pa

from overspill import Failed, Key, Value, columns, quantiles
from overspill.papers.common import Curve, measured, quotient
from overspill.papers.spec import Measured, Point, Runs

DCTCP, DIBS = "dctcp", "dibs"
MS = 1e-9  # milliseconds in a picosecond
LATE = (10, 20, 40)  # ms
SHORT = (1_000, 10_000)  # bytes of short background flows, both inclusive (section 5.3)
LARGE = 1_000_000
SEGMENT = 1460
# Reasons of drops in these figures.
WHY = ("buffer_full", "no_detour", "ttl_expired")


class Workload(IntEnum):
    """Workloads, in the order of the scenario."""

    QUERY = 0
    BACKGROUND = 1


@dataclass(frozen=True)
class Times:
    """Statistics of the measured flows of one run; times in ms. Censored values are lower bounds."""

    qct: Value  # 99th percentile
    halves: Sequence[float]  # p99 QCT of the first and the second half of the window
    late: Sequence[float]  # shares of queries over 10, 20 and 40 ms, %
    short: Value  # 99th percentile of FCT of background flows of 1 to 10 KB
    large: Value  # 99th percentile of FCT of background flows of 1 MB or more
    large_mean: Value
    median: Value  # median FCT of all background flows
    flows: int
    timeouts: int
    retransmitted: float  # retransmitted segments in % of all sent ones


NOTHING = Value(float("nan"), True)


def times(table: pa.Table) -> Times:
    """Reads the statistics from `flows`; unfinished flows last at least until the last end in the table."""
    names = ("traffic", "query", "bytes", "start_ps", "end_ps", "retransmits", "timeouts")
    counts = columns.numbers(table, "measured") != 0
    of = {name: columns.numbers(table, name)[counts] for name in names}
    every = columns.numbers(table, "end_ps")
    last = every[every != columns.U64_NONE].max(initial=0)
    opened = of["end_ps"] == columns.U64_NONE
    # A flow that starts after the last end takes at least 0 ms.
    end = np.maximum(np.where(opened, last, of["end_ps"]), of["start_ps"])
    took = (end - of["start_ps"]) * MS
    asked, unanswered, start = by_query(of["query"], (took, opened, of["start_ps"]))
    early = start < (int(start.min(initial=columns.U64_NONE)) + int(start.max(initial=0))) // 2
    background = of["traffic"] == Workload.BACKGROUND
    short = background & (of["bytes"] >= SHORT[0]) & (of["bytes"] <= SHORT[1])
    large = background & (of["bytes"] >= LARGE)
    again = int(of["retransmits"].sum())
    segments = int(-(-of["bytes"].astype(np.int64) // SEGMENT).sum())
    return Times(
        qct=percentile(asked, unanswered, 99),
        halves=[percentile(asked[half], unanswered[half], 99).value for half in (early, ~early)],
        late=[share((asked > limit) | unanswered) for limit in LATE],
        short=percentile(took[short], opened[short], 99),
        large=percentile(took[large], opened[large], 99),
        large_mean=quantiles.mean(took[large], opened[large]) or NOTHING,
        median=percentile(took[background], opened[background], 50),
        flows=len(took),
        timeouts=int(of["timeouts"].sum()),
        retransmitted=100 * quotient(again, segments + again),
    )


def by_query(query: np.ndarray, of: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns by query the longest time of its responses, true if one is unfinished, and the start.

    `of` are the times, the unfinished flags and the starts of all flows.
    """
    asked = query != columns.U32_NONE
    took, opened, start = (column[asked] for column in of)
    known, index = np.unique(query[asked], return_inverse=True)
    longest, unanswered = np.zeros(len(known)), np.zeros(len(known), bool)
    first = np.full(len(known), columns.U64_NONE, np.uint64)
    np.maximum.at(longest, index, took)
    np.logical_or.at(unanswered, index, opened)
    np.minimum.at(first, index, start)
    return longest, unanswered, first


def percentile(values: np.ndarray, opened: np.ndarray, percent: float) -> Value:
    """Returns a percentile by nearest rank; NaN without values."""
    return quantiles.percentile(values, opened, percent) or NOTHING


def share(chosen: np.ndarray) -> float:
    """Returns a share in %; NaN of an empty array."""
    return 100 * quotient(float(chosen.sum()), len(chosen))


@dataclass(frozen=True)
class Detours:
    """Detours of the delivered packets of one run."""

    packets: float  # detoured packets in % of all, ACKs included
    data: float  # detoured data packets in % of all data packets
    background: float  # detoured background packets in % of all, ACKs included
    queries: float  # packets of queries in % of the detoured ones
    p99: float  # 99th percentile of detours of data packets
    p99_of_queries: float
    most: int


DETOURS = columns.PACKET_HIST.index("detours")


def detours(table: pa.Table) -> Detours:
    """Reads the detours from `packet_hist`; counts below 128 are exact."""
    chosen = columns.numbers(table, "metric") == DETOURS
    workload, data, low, count = (
        columns.numbers(table, name)[chosen] for name in ("traffic", "data", "low", "count")
    )
    often, is_data = low > 0, data == 1
    query = workload == Workload.QUERY

    def percent(part: np.ndarray, whole: np.ndarray) -> float:
        return 100 * quotient(float(count[part & whole].sum()), float(count[whole].sum()))

    def ninety_nine(whole: np.ndarray) -> float:
        (found,) = quantiles.weighted(low[whole], count[whole], [99])
        return float("nan") if found is None else found

    return Detours(
        packets=percent(often, np.ones(len(low), bool)),
        data=percent(often, is_data),
        background=percent(often, ~query),
        queries=percent(query, often),
        p99=ninety_nine(is_data),
        p99_of_queries=ninety_nine(is_data & query),
        most=int(low[count > 0].max(initial=0)),
    )


# Results of a run are cached, since its tables are large and several figures read them.


def flows_of(runs: Runs, variant: str, point: Point | None = None) -> Sequence[Times]:
    """Returns the flow statistics, by seed."""
    return _flows(runs, variant, tuple((point or runs.points[0]).items()))


@cache
def _flows(runs: Runs, variant: str, point: tuple[tuple[str, str], ...]) -> Sequence[Times]:
    return [times(table) for table in runs.tables("flows", variant, dict(point))]


def detours_of(runs: Runs, point: Point | None = None, variant: str = DIBS) -> Sequence[Detours]:
    """Returns the detours of packets, by seed."""
    return _detours(runs, variant, tuple((point or runs.points[0]).items()))


@cache
def _detours(runs: Runs, variant: str, point: tuple[tuple[str, str], ...]) -> Sequence[Detours]:
    return [detours(table) for table in runs.tables("packet_hist", variant, dict(point))]


Of = Callable[[Times], Value]


def p99_qct(one: Times) -> Value:
    """Returns the 99th percentile of QCT."""
    return one.qct


def p99_fct(one: Times) -> Value:
    """Returns the 99th percentile of FCT of short background flows."""
    return one.short


def exact(found: Sequence[Times], of: Of) -> np.ndarray:
    """Returns values by seed; NaN for a value that is only a bound."""
    return np.array([np.nan if of(one).censored else of(one).value for one in found])


def least(found: Sequence[Times], of: Of) -> np.ndarray:
    """Returns values by seed, or their lower bounds."""
    return np.array([of(one).value for one in found])


def bounds(found: Sequence[Times], of: Of) -> int:
    """Returns the number of runs in which a value is only a bound."""
    return sum(of(one).censored for one in found)


# Comparisons of DCTCP without and with detours at a point of a sweep, paired by seed.


def number(text: str) -> float:
    """Returns the number at the start of a value: `20KB` is 20."""
    found = re.match(r"[0-9.]+", text)
    return float(found[0]) if found else float("nan")


def at(runs: Runs, path: str, value: object) -> Point:
    """Returns the point at which a path has this value; raises `Failed` if there is none, or several."""
    found = [point for point in runs.points if point[path] == str(value)]
    if len(found) != 1:
        known = ", ".join(point[path] for point in runs.points)
        raise Failed(f"{path}: found {len(found)} points of {value}; expected one of {known}")
    return found[0]


def less(above: Sequence[Times], below: Sequence[Times], of: Of) -> np.ndarray:
    """Returns one value minus another by seed; a bound if the first is only a bound."""
    return np.asarray(least(above, of) - exact(below, of))


def gap(runs: Runs, point: Point | None, of: Of = p99_qct) -> np.ndarray:
    """Returns DCTCP minus DIBS by seed; NaN if one of both is only a bound."""
    return np.asarray(exact(flows_of(runs, DCTCP, point), of) - exact(flows_of(runs, DIBS, point), of))


def curve(runs: Runs, variant: str, points: Sequence[Point], of: Of = p99_qct) -> Curve:
    """Returns values or their lower bounds, seeds by points."""
    return np.array([least(flows_of(runs, variant, point), of) for point in points]).T


def mean(values: Iterable[float]) -> float:
    """Returns the mean of the finite values; NaN if there are none."""
    known = [one for one in values if np.isfinite(one)]
    return float(np.mean(known)) if known else float("nan")


def levels_text(runs: Runs, point: Point | None, of: Of = p99_qct) -> str:
    """Formats the levels of both variants, and the shares of queries over 10, 20 and 40 ms."""
    found = {variant: flows_of(runs, variant, point) for variant in (DCTCP, DIBS)}
    parts = []
    for variant, by_seed in found.items():
        text = f"{variant} {mean(least(by_seed, of)):.3g} ms"
        if number := bounds(by_seed, of):
            text += f" (at least, in {number} of {len(by_seed)} runs)"
        if of is p99_qct:
            late = [mean(one.late[place] for one in by_seed) for place in range(len(LATE))]
            text += f", over 10, 20, 40 ms {', '.join(f'{one:.3g}' for one in late)} %"
        parts.append(text)
    return "; ".join(parts)


def gaps(case: str, runs: Runs, point: Point | None, note: str = "") -> Measured:
    """Returns the gap of p99 QCT, as a row that is compared with a published number."""
    return measured(case, "gap_of_p99_qct", gap(runs, point), note)


def below(case: str, runs: Runs, point: Point | None) -> Measured:
    """Returns p99 QCT of DCTCP minus that of DIBS, positive if queries complete sooner with detours."""
    found = less(flows_of(runs, DCTCP, point), flows_of(runs, DIBS, point), p99_qct)
    return measured(case, "p99_qct_dctcp_less_dibs", found, levels_text(runs, point))


def above(case: str, runs: Runs, point: Point | None) -> Measured:
    """Returns p99 QCT of DIBS minus that of DCTCP, positive if queries complete later with detours."""
    found = less(flows_of(runs, DIBS, point), flows_of(runs, DCTCP, point), p99_qct)
    return measured(case, "p99_qct_dibs_less_dctcp", found, levels_text(runs, point))


def rises(runs: Runs, point: Point | None) -> np.ndarray:
    """Returns the rise of p99 FCT of short background flows by detours, by seed.

    The rise is an upper bound if the value of DCTCP is only a bound.
    """
    return -less(flows_of(runs, DCTCP, point), flows_of(runs, DIBS, point), p99_fct)


def rise(case: str, runs: Runs, point: Point | None) -> Measured:
    """Returns the rise as a row whose note gives the levels."""
    return measured(case, "rise_of_p99_fct", rises(runs, point), levels_text(runs, point, p99_fct))


def later(case: str, runs: Runs, point: Point | None) -> Iterable[Measured]:
    """Yields differences of the shares of queries over 10, 20 and 40 ms."""
    found = [np.array([one.late for one in flows_of(runs, variant, point)]) for variant in (DCTCP, DIBS)]
    for place, limit in enumerate(LATE):
        difference = found[0][:, place] - found[1][:, place]
        levels = f"dctcp {mean(found[0][:, place]):.3g} %, dibs {mean(found[1][:, place]):.3g} %"
        yield measured(case, f"queries_over_{limit}ms_dctcp_less_dibs", difference, levels)


def drops(case: str, runs: Runs, variant: str, points: Sequence[Point]) -> Measured:
    """Returns the packets dropped over points, by seed, with reasons and places in a note."""
    by_point = np.array([runs.metric("drops", variant, point) for point in points])
    found = by_point.sum(axis=0)
    if not found.any():
        return measured(case, "drops", found)
    lossy = [point for point, lost in zip(points, by_point, strict=True) if lost.any()]
    where = "; ".join(", ".join(point.values()) for point in lossy)
    why = {
        reason: sum(runs.metric(Key("drops", reason=reason), variant, point).sum() for point in lossy)
        for reason in WHY
    }
    shares = ", ".join(
        f"{reason} {100 * count / found.sum():.3g} %" for reason, count in why.items() if count
    )
    return measured(case, "drops", found, f"at {where}: {shares}" if len(points) > 1 else shares)
