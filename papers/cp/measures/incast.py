"""Measures of CP's figure 3 and section 6.1: queries to many senders (figures 1 and 8), footnotes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.common import SeedCurve, build_measured, divide_or_nan, metric_along_points
from overspill.papers.spec import Measure, Measured, Runs, Sweeps

from .schemes import (
    CP,
    CP_DCTCP,
    DCTCP,
    DCTCP_200,
    NAMES,
    TCP,
    TCP_200,
    TRIMMED_BYTES,
    group_means,
    mean_over_points,
    path_values,
    point_at,
    renumber_queries,
    response_timeouts,
    response_timeouts_by_query,
    select_points,
)

DEGREE_PATH = "traffic.query.degree"
SENDER_BYTES = 65_536  # bytes of a sender in figure 8a
MEASURED_QUERIES = 3  # measured queries of a run
TOTAL_BYTES = 1 << 20  # bytes of all senders in figure 8b
MIN_CLIFF = 0.2  # relative fall that counts as a cliff
MIN_LEVEL_SENDERS = 60  # fewest senders of figure 8a's level
MIN_QUERY_SECONDS = TOTAL_BYTES * 8 / (1448 / 1538 * 1e9)  # s of 1024 KB on the link
SLOW_FLOW_MS = 15.0  # ms, above which a flow is slow in figure 3
FLOWS_PER_QUERY = 20  # flows of a query in figure 3


def throughput(runs: Runs, variant: str, low: float = 0, high: float = np.inf) -> SeedCurve:
    """Payload of all senders divided by the query's completion time in Mb/s, seeds by points."""
    points = select_points(runs, DEGREE_PATH, low, high)
    senders = np.array([float(point[DEGREE_PATH]) for point in points])
    return np.asarray(
        senders * SENDER_BYTES * 8 / metric_along_points(runs, "qct_mean", variant, points) / 1e6
    )


def mean_completion(runs: Runs, variant: str, low: float = 0, high: float = np.inf) -> SeedCurve:
    """Mean query completion times in ms, seeds by points."""
    return 1e3 * metric_along_points(runs, "qct_mean", variant, select_points(runs, DEGREE_PATH, low, high))


def query_completions(runs: Runs, variant: str, low: float, high: float) -> list[np.ndarray]:
    """Completion times of every measured query of all runs in ms, point by point."""
    found = []
    for point in select_points(runs, DEGREE_PATH, low, high):
        taken = []
        for table in runs.tables("flows", variant, point):
            measured = columns.column_to_numpy(table, "measured") == 1
            which = renumber_queries(columns.column_to_numpy(table, "query")[measured])
            start, end = (columns.column_to_numpy(table, name)[measured] for name in ("start_ps", "end_ps"))
            for query in range(which.max() + 1):
                whose = which == query
                taken.append(float(end[whose].max() - start[whose].min()) / 1e9)
        found.append(np.array(taken))
    return found


def distance_below_running_maximum(curve: np.ndarray) -> np.ndarray:
    """Distance of each value of a curve below the largest value up to it, as a share of that value."""
    return np.asarray(1 - curve / np.maximum.accumulate(curve))


def find_cliffs(senders: np.ndarray, curve: np.ndarray) -> list[float]:
    """Returns the numbers of senders at maxima from which the curve falls by `MIN_CLIFF` or more.

    After a cliff, a new maximum begins once the curve has risen so far that its low is more than `MIN_CLIFF`
    below.
    """
    found: list[float] = []
    top = low = 0
    for place, value in enumerate(curve):
        if value < curve[low]:
            low = place
        if value > curve[top] or (
            found and found[-1] == senders[top] and value > curve[low] / (1 - MIN_CLIFF)
        ):
            top = low = place
        if curve[low] <= (1 - MIN_CLIFF) * curve[top] and (not found or found[-1] != senders[top]):
            found.append(float(senders[top]))
    return found


def find_nth_cliff(runs: Runs, variant: str, nth: int) -> list[float]:
    """Number of senders at the n-th cliff of the throughput, by groups of seeds; NaN if there is none."""
    senders = path_values(runs, DEGREE_PATH)
    places = [find_cliffs(senders, one) for one in group_means(throughput(runs, variant))]
    return [one[nth] if len(one) > nth else float("nan") for one in places]


def measure_figure_1(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the numbers of senders at which the throughput of TCP and DCTCP collapses (cliffs)."""
    runs = sweeps["mapreduce"]
    senders = path_values(runs, DEGREE_PATH)
    told = f"cliffs of the mean: {find_cliffs(senders, throughput(runs, TCP).mean(axis=0))}"
    yield build_measured("TCP", "first_cliff", find_nth_cliff(runs, TCP, 0), told)
    yield build_measured("TCP", "second_cliff", find_nth_cliff(runs, TCP, 1))
    early = [100 * (1 - one.min() / one[0]) for one in group_means(throughput(runs, DCTCP, 14, 28))]
    yield build_measured("DCTCP", "fall_after_14_senders", early)
    told = f"cliffs of the mean: {find_cliffs(senders, throughput(runs, DCTCP).mean(axis=0))}"
    yield build_measured("DCTCP", "first_cliff", find_nth_cliff(runs, DCTCP, 0), told)


def measure_windows(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures packets in flight for each flow at the first loss of a query, as a run's mean over queries.

    A query that loses nothing has no such value and is left out; a run without a loss has none.
    """
    found = []
    runs = sweeps["cliff"]
    for table, whose in zip(runs.tables("packets", TCP), runs.tables("flows", TCP), strict=True):
        # Requests are separate flows in the other direction; only responses have the role 0.
        role, query = columns.column_to_numpy(whose, "role"), columns.column_to_numpy(whose, "query")
        responses = (role == 0) & (columns.column_to_numpy(whose, "measured") == 1)
        each = [
            count_in_flight(table, columns.column_to_numpy(whose, "flow")[responses & (query == one)])
            for one in columns.distinct_values(query[responses])
        ]
        with_loss = [one for one in each if np.isfinite(one)]
        found.append(float(np.mean(with_loss)) if with_loss else float("nan"))
    yield build_measured("14 senders", "windows_when_the_buffer_overflows", found)


def count_in_flight(packets: pa.Table, flows: np.ndarray) -> float:
    """Mean number of packets in flight per flow at the flows' first loss; NaN without a loss."""
    data = (columns.column_to_numpy(packets, "reverse") == 0) & np.isin(
        columns.column_to_numpy(packets, "flow"), flows
    )
    sent, end = (columns.column_to_numpy(packets, name)[data] for name in ("sent_ps", "end_ps"))
    lost = (columns.column_to_numpy(packets, "fate") != 0)[data]
    if not lost.any():
        return float("nan")
    first = end[lost].min()
    return float(np.sum((sent <= first) & (end >= first)) / len(flows))


def measure_figure_8a(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures throughput with 64 KB from each sender."""
    runs = sweeps["mapreduce"]
    for variant in (CP, CP_DCTCP):
        curve = throughput(runs, variant, 2)
        yield build_measured(NAMES[variant], "least_throughput", curve.min(axis=1))
        yield build_measured(
            NAMES[variant], "largest_fall", [100 * distance_below_running_maximum(one).max() for one in curve]
        )
    high = {
        one: mean_over_points(throughput(runs, one, MIN_LEVEL_SENDERS))
        for one in (TCP, TCP_200, DCTCP, DCTCP_200)
    }
    for variant, slow in ((TCP, TCP_200), (DCTCP, DCTCP_200)):
        name = NAMES[variant]
        yield build_measured(name, "throughput_of_60_and_more", high[variant])
        yield build_measured(
            name,
            "largest_fall",
            [100 * distance_below_running_maximum(one).max() for one in throughput(runs, variant)],
        )
        yield build_measured(
            f"{name} 10 ms less 200 ms", "throughput_of_60_and_more", high[variant] - high[slow]
        )
    cut = runs.metric("trims", CP, point_at(runs, DEGREE_PATH, 250)) / (250 * MEASURED_QUERIES)
    yield build_measured("CP, 250 senders", "cut_packets_of_a_sender", cut)
    yield build_measured(
        "CP, 250 senders", "bytes_of_cut_packets_by_payload", 100 * cut * TRIMMED_BYTES / SENDER_BYTES
    )


def measure_figure_8b(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures query completion time with 1024 KB in total."""
    runs = sweeps["web_search"]
    time = "query_completion_time"
    for variant in (CP, CP_DCTCP):
        below = mean_over_points(mean_completion(runs, variant, 1, 48))
        yield build_measured(f"{NAMES[variant]}, below 50 senders", time, below)
    ends = mean_completion(runs, CP, 100, 100)[:, 0] - mean_completion(runs, CP, 1, 1)[:, 0]
    yield build_measured("CP, 100 senders less one", time, ends)
    for variant in (TCP, DCTCP, TCP_200, DCTCP_200):
        yield build_measured(
            f"{NAMES[variant]}, 80 to 100 senders", time, mean_over_points(mean_completion(runs, variant, 80))
        )
    cut = runs.metric("trims", CP, point_at(runs, DEGREE_PATH, 100)) / MEASURED_QUERIES
    yield build_measured("CP, 100 senders", "cut_packets_of_a_query", cut)
    yield build_measured(
        "CP, 100 senders", "bytes_of_cut_packets_by_payload", 100 * cut * TRIMMED_BYTES / TOTAL_BYTES
    )
    yield build_measured(
        "CP, every point",
        "timeouts",
        np.sum([response_timeouts(runs, CP, point) for point in runs.points], axis=0),
    )
    gain = 1e3 * mean_over_points(mean_completion(runs, CP) - mean_completion(runs, CP_DCTCP))
    yield build_measured("CP less CP&DCTCP", time, gain)
    for variant in (DCTCP, TCP):
        yield build_measured(
            NAMES[variant], "fewest_senders_with_timeouts", [find_incast_onset(runs, variant)]
        )


def find_incast_onset(runs: Runs, variant: str) -> float:
    """Returns the fewest senders with which more than half of the queries have a timeout."""
    often = np.array(
        [
            (np.concatenate(response_timeouts_by_query(runs, variant, point)) > 0).mean() > 0.5
            for point in runs.points
        ]
    )
    senders = path_values(runs, DEGREE_PATH)
    return float(senders[often].min()) if often.any() else float("nan")


def relative_deviation(runs: Runs, variant: str, low: float, high: float) -> np.ndarray:
    """Standard deviation of completion times over queries relative to their mean in %, point by point."""
    times = query_completions(runs, variant, low, high)
    return np.array([100 * one.std(ddof=1) / one.mean() if len(one) > 1 else 0.0 for one in times])


def measure_footnote_3(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures footnote 3: query times of TCP above 26 senders, and of DCTCP with 22 to 42 senders."""
    runs = sweeps["web_search"]
    by_floor = mean_over_points(mean_completion(runs, TCP, 28)) / (1e3 * MIN_QUERY_SECONDS)
    yield build_measured("TCP, above 26 senders", "query_completion_time_by_floor", by_floor)
    found = [float(relative_deviation(runs, DCTCP, 22, 42).mean())]
    yield build_measured("DCTCP, 22 to 42 senders", "deviation_of_query_completion_time", found)


def measure_footnote_8(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures footnote 8: query times of TCP and DCTCP with fewer senders than cause incast."""
    for variant, end in ((DCTCP, 38), (TCP, 23)):
        found = [float(relative_deviation(sweeps["web_search"], variant, 2, end - 1).max())]
        yield build_measured(
            f"{NAMES[variant]}, below {end} senders", "deviation_of_query_completion_time", found
        )


def flow_values(runs: Runs, variant: str, column: str = "") -> list[np.ndarray]:
    """FCTs in ms, or another column of `flows`, run by run as queries by flows."""
    found = []
    for table in runs.tables("flows", variant):
        order = np.argsort(columns.column_to_numpy(table, "query"), kind="stable")
        if column:
            values = columns.column_to_numpy(table, column).astype(np.float64)
        else:
            end = columns.column_to_numpy(table, "end_ps").astype(np.float64)
            values = (end - columns.column_to_numpy(table, "start_ps")) / 1e9
        found.append(values[order].reshape(-1, FLOWS_PER_QUERY))
    return found


def measure_figure_3(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the share of queries with a slow flow, and how slow this flow is."""
    runs = sweeps["slow_flow"]
    times, again = flow_values(runs, DCTCP), flow_values(runs, DCTCP, "fast_retransmits")
    expired = flow_values(runs, DCTCP, "timeouts")
    shares, slowest, with_again, with_timeout = [], [], [], []
    for taken, fast, timer in zip(times, again, expired, strict=True):
        late = taken.max(axis=1) > SLOW_FLOW_MS
        shares.append(100 * float(late.mean()))
        who = taken.argmax(axis=1)
        rows = np.flatnonzero(late)
        ratio = taken.max(axis=1)[late] / np.median(taken, axis=1)[late]
        slowest.append(float(ratio.mean()) if len(ratio) else float("nan"))
        with_again.append(100 * divide_or_nan(float((fast[rows, who[rows]] > 0).sum()), len(rows)))
        with_timeout.append(100 * divide_or_nan(float((timer[rows, who[rows]] > 0).sum()), len(rows)))
    late_case = "queries with a flow over 15 ms"
    told = f"with a timeout {np.nanmean(with_timeout):.3g} % of the slowest" if any(shares) else ""
    yield build_measured("20 flows of 50 KB, DCTCP", "queries_with_a_flow_over_15_ms", shares, told)
    yield build_measured(late_case, "slowest_by_median", slowest)
    yield build_measured(late_case, "slowest_flow_with_fast_retransmits", with_again)


MEASURES: dict[str, Measure] = {
    "fig1": measure_figure_1,
    "fig1fn": measure_windows,
    "fig8a": measure_figure_8a,
    "fig8b": measure_figure_8b,
    "fn3": measure_footnote_3,
    "fn8": measure_footnote_8,
    "fig3": measure_figure_3,
}
