"""Statistics of mixed traffic in DIBS's paper: queries, flows and detours, with and without DIBS."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache

import numpy as np
import pyarrow as pa

from overspill import Failed, Key, Value, columns, quantiles
from overspill.papers.common import SeedCurve, build_measured, divide_or_nan
from overspill.papers.spec import Measured, Point, Runs

DCTCP, DIBS = "dctcp", "dibs"
MS_PER_PS = 1e-9  # milliseconds in a picosecond
LATE_MS = (10, 20, 40)  # ms
SHORT_BYTES = (1_000, 10_000)  # bytes of short background flows, both inclusive (section 5.3)
LARGE_BYTES = 1_000_000
SEGMENT_BYTES = 1460
# Reasons of drops in output-queued switches, whose shares a note lists.
DROP_REASONS = ("buffer_full", "no_detour", "ttl_expired")


class Workload(IntEnum):
    """Numbers of the workloads in tables, in the order of the scenario."""

    QUERY = 0
    BACKGROUND = 1


@dataclass(frozen=True)
class FlowStatistics:
    """Statistics of the measured flows of one run; times are in ms, and censored values are lower bounds."""

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


NO_VALUE = Value(float("nan"), True)


def read_flow_statistics(table: pa.Table) -> FlowStatistics:
    """Reads the statistics from `flows`; unfinished flows last at least until the last end in the table."""
    names = ("traffic", "query", "bytes", "start_ps", "end_ps", "retransmits", "timeouts")
    counts = columns.column_to_numpy(table, "measured") != 0
    of = {name: columns.column_to_numpy(table, name)[counts] for name in names}
    every = columns.column_to_numpy(table, "end_ps")
    last = every[every != columns.U64_NONE].max(initial=0)
    opened = of["end_ps"] == columns.U64_NONE
    # An unfinished flow may start after the last end in the table: the bound of its time is then 0.
    end = np.maximum(np.where(opened, last, of["end_ps"]), of["start_ps"])
    took = (end - of["start_ps"]) * MS_PER_PS
    asked, unanswered, start = query_times(of["query"], (took, opened, of["start_ps"]))
    early = start < (int(start.min(initial=columns.U64_NONE)) + int(start.max(initial=0))) // 2
    background = of["traffic"] == Workload.BACKGROUND
    short = background & (of["bytes"] >= SHORT_BYTES[0]) & (of["bytes"] <= SHORT_BYTES[1])
    large = background & (of["bytes"] >= LARGE_BYTES)
    again = int(of["retransmits"].sum())
    segments = int(-(-of["bytes"].astype(np.int64) // SEGMENT_BYTES).sum())
    return FlowStatistics(
        qct=percentile(asked, unanswered, 99),
        halves=[percentile(asked[half], unanswered[half], 99).value for half in (early, ~early)],
        late=[percent_of_true((asked > limit) | unanswered) for limit in LATE_MS],
        short=percentile(took[short], opened[short], 99),
        large=percentile(took[large], opened[large], 99),
        large_mean=quantiles.mean(took[large], opened[large]) or NO_VALUE,
        median=percentile(took[background], opened[background], 50),
        flows=len(took),
        timeouts=int(of["timeouts"].sum()),
        retransmitted=100 * divide_or_nan(again, segments + again),
    )


def query_times(query: np.ndarray, of: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
    return quantiles.percentile(values, opened, percent) or NO_VALUE


def percent_of_true(chosen: np.ndarray) -> float:
    """Returns the share of true values in %; NaN for an empty array."""
    return 100 * divide_or_nan(float(chosen.sum()), len(chosen))


@dataclass(frozen=True)
class DetourStatistics:
    """Detours of the packets that one run delivered."""

    packets: float  # detoured packets in % of all, ACKs included
    data: float  # detoured data packets in % of all data packets
    background: float  # detoured background packets in % of all, ACKs included
    queries: float  # packets of queries in % of the detoured ones
    p99: float  # 99th percentile of detours of data packets
    p99_of_queries: float
    most: int


DETOURS_INDEX = columns.PACKET_HIST.index("detours")


def read_detours(table: pa.Table) -> DetourStatistics:
    """Reads the detours from `packet_hist`; counts below 128 are exact."""
    chosen = columns.column_to_numpy(table, "metric") == DETOURS_INDEX
    workload, data, low, count = (
        columns.column_to_numpy(table, name)[chosen] for name in ("traffic", "data", "low", "count")
    )
    often, is_data = low > 0, data == 1
    query = workload == Workload.QUERY

    def percent(part: np.ndarray, whole: np.ndarray) -> float:
        return 100 * divide_or_nan(float(count[part & whole].sum()), float(count[whole].sum()))

    def percentile_99(whole: np.ndarray) -> float:
        (found,) = quantiles.weighted_percentiles(low[whole], count[whole], [99])
        return float("nan") if found is None else found

    return DetourStatistics(
        packets=percent(often, np.ones(len(low), bool)),
        data=percent(often, is_data),
        background=percent(often, ~query),
        queries=percent(query, often),
        p99=percentile_99(is_data),
        p99_of_queries=percentile_99(is_data & query),
        most=int(low[count > 0].max(initial=0)),
    )


# Results of a run are cached, since its tables are large and several figures read them.


def flow_statistics(runs: Runs, variant: str, point: Point | None = None) -> Sequence[FlowStatistics]:
    """Returns the flow statistics, by seed."""
    return _flow_statistics(runs, variant, tuple((point or runs.points[0]).items()))


@cache
def _flow_statistics(
    runs: Runs, variant: str, point: tuple[tuple[str, str], ...]
) -> Sequence[FlowStatistics]:
    return [read_flow_statistics(table) for table in runs.tables("flows", variant, dict(point))]


def detour_statistics(
    runs: Runs, point: Point | None = None, variant: str = DIBS
) -> Sequence[DetourStatistics]:
    """Returns the detours of packets, by seed."""
    return _detour_statistics(runs, variant, tuple((point or runs.points[0]).items()))


@cache
def _detour_statistics(
    runs: Runs, variant: str, point: tuple[tuple[str, str], ...]
) -> Sequence[DetourStatistics]:
    return [read_detours(table) for table in runs.tables("packet_hist", variant, dict(point))]


FlowStatistic = Callable[[FlowStatistics], Value]


def p99_qct(one: FlowStatistics) -> Value:
    """Returns the 99th percentile of QCT."""
    return one.qct


def p99_fct(one: FlowStatistics) -> Value:
    """Returns the 99th percentile of FCT of short background flows."""
    return one.short


def exact_values(found: Sequence[FlowStatistics], of: FlowStatistic) -> np.ndarray:
    """Returns values by seed; NaN for a value that is only a bound."""
    return np.array([np.nan if of(one).censored else of(one).value for one in found])


def lower_bounds(found: Sequence[FlowStatistics], of: FlowStatistic) -> np.ndarray:
    """Returns values by seed, or their lower bounds."""
    return np.array([of(one).value for one in found])


def count_bounds(found: Sequence[FlowStatistics], of: FlowStatistic) -> int:
    """Returns the number of runs in which a value is only a bound."""
    return sum(of(one).censored for one in found)


# The comparisons below pair DCTCP without and with detours by seed, since both runs of a seed have the same
# traffic.


def parse_leading_number(text: str) -> float:
    """Returns the number at the start of a value: `20KB` is 20."""
    found = re.match(r"[0-9.]+", text)
    return float(found[0]) if found else float("nan")


def point_at(runs: Runs, path: str, value: object) -> Point:
    """Returns the point at which a path has this value; raises `Failed` if there is none, or several."""
    found = [point for point in runs.points if point[path] == str(value)]
    if len(found) != 1:
        known = ", ".join(point[path] for point in runs.points)
        raise Failed(f"{path}: found {len(found)} points of {value}; expected one of {known}")
    return found[0]


def difference_by_seed(
    above: Sequence[FlowStatistics], below: Sequence[FlowStatistics], of: FlowStatistic
) -> np.ndarray:
    """Returns one value minus another by seed; a bound if the first is only a bound."""
    return np.asarray(lower_bounds(above, of) - exact_values(below, of))


def dctcp_minus_dibs(runs: Runs, point: Point | None, of: FlowStatistic = p99_qct) -> np.ndarray:
    """Returns DCTCP minus DIBS by seed; NaN if one of both is only a bound."""
    return np.asarray(
        exact_values(flow_statistics(runs, DCTCP, point), of)
        - exact_values(flow_statistics(runs, DIBS, point), of)
    )


def value_curve(runs: Runs, variant: str, points: Sequence[Point], of: FlowStatistic = p99_qct) -> SeedCurve:
    """Returns values or their lower bounds, seeds by points."""
    return np.array([lower_bounds(flow_statistics(runs, variant, point), of) for point in points]).T


def finite_mean(values: Iterable[float]) -> float:
    """Returns the mean of the finite values; NaN if there are none."""
    known = [one for one in values if np.isfinite(one)]
    return float(np.mean(known)) if known else float("nan")


def format_levels(runs: Runs, point: Point | None, of: FlowStatistic = p99_qct) -> str:
    """Formats a statistic of both variants; for p99 QCT, also the shares of queries over 10, 20 and 40 ms."""
    found = {variant: flow_statistics(runs, variant, point) for variant in (DCTCP, DIBS)}
    parts = []
    for variant, by_seed in found.items():
        text = f"{variant} {finite_mean(lower_bounds(by_seed, of)):.3g} ms"
        if number := count_bounds(by_seed, of):
            text += f" (at least, in {number} of {len(by_seed)} runs)"
        if of is p99_qct:
            late = [finite_mean(one.late[place] for one in by_seed) for place in range(len(LATE_MS))]
            text += f", over 10, 20, 40 ms {', '.join(f'{one:.3g}' for one in late)} %"
        parts.append(text)
    return "; ".join(parts)


def measure_qct_difference(case: str, runs: Runs, point: Point | None, note: str = "") -> Measured:
    """Returns p99 QCT of DCTCP minus that of DIBS, as a row that is compared with a published number."""
    return build_measured(case, "gap_of_p99_qct", dctcp_minus_dibs(runs, point), note)


def measure_reduction(case: str, runs: Runs, point: Point | None) -> Measured:
    """Returns p99 QCT of DCTCP minus that of DIBS, positive if queries complete sooner with detours."""
    found = difference_by_seed(
        flow_statistics(runs, DCTCP, point), flow_statistics(runs, DIBS, point), p99_qct
    )
    return build_measured(case, "p99_qct_dctcp_less_dibs", found, format_levels(runs, point))


def measure_increase(case: str, runs: Runs, point: Point | None) -> Measured:
    """Returns p99 QCT of DIBS minus that of DCTCP, positive if queries complete later with detours."""
    found = difference_by_seed(
        flow_statistics(runs, DIBS, point), flow_statistics(runs, DCTCP, point), p99_qct
    )
    return build_measured(case, "p99_qct_dibs_less_dctcp", found, format_levels(runs, point))


def fct_increase(runs: Runs, point: Point | None) -> np.ndarray:
    """Returns the increase of the p99 FCT of short background flows that detours cause, by seed.

    The rise is an upper bound if the value of DCTCP is only a bound.
    """
    return -difference_by_seed(
        flow_statistics(runs, DCTCP, point), flow_statistics(runs, DIBS, point), p99_fct
    )


def measure_fct_increase(case: str, runs: Runs, point: Point | None) -> Measured:
    """Returns the increase of p99 FCT as a row whose note has the values of both variants."""
    return build_measured(
        case, "rise_of_p99_fct", fct_increase(runs, point), format_levels(runs, point, p99_fct)
    )


def measure_late_queries(case: str, runs: Runs, point: Point | None) -> Iterable[Measured]:
    """Yields differences of the shares of queries over 10, 20 and 40 ms."""
    found = [
        np.array([one.late for one in flow_statistics(runs, variant, point)]) for variant in (DCTCP, DIBS)
    ]
    for place, limit in enumerate(LATE_MS):
        difference = found[0][:, place] - found[1][:, place]
        levels = (
            f"dctcp {finite_mean(found[0][:, place]):.3g} %, dibs {finite_mean(found[1][:, place]):.3g} %"
        )
        yield build_measured(case, f"queries_over_{limit}ms_dctcp_less_dibs", difference, levels)


def measure_drops(case: str, runs: Runs, variant: str, points: Sequence[Point]) -> Measured:
    """Returns the packets dropped over the given points, by seed, with reasons and places in a note."""
    by_point = np.array([runs.metric("drops", variant, point) for point in points])
    found = by_point.sum(axis=0)
    if not found.any():
        return build_measured(case, "drops", found)
    lossy = [point for point, lost in zip(points, by_point, strict=True) if lost.any()]
    where = "; ".join(", ".join(point.values()) for point in lossy)
    why = {
        reason: sum(runs.metric(Key("drops", reason=reason), variant, point).sum() for point in lossy)
        for reason in DROP_REASONS
    }
    shares = ", ".join(
        f"{reason} {100 * count / found.sum():.3g} %" for reason, count in why.items() if count
    )
    return build_measured(case, "drops", found, f"at {where}: {shares}" if len(points) > 1 else shares)
