"""Section 6.1: figures 1 and 8, and the footnotes on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.common import measured
from overspill.papers.cp.incast_curves import DEGREE, EACH, QUERIES, completion, each_completion, throughput
from overspill.papers.cp.incast_drawn import draw_cliffs, draw_completion, draw_throughput
from overspill.papers.cp.schemes import (
    BOTH,
    CP,
    DCTCP,
    DCTCP_200,
    HEADER,
    NAMES,
    TCP,
    TCP_200,
    Sweeps,
    at,
    groups,
    mean_over,
    numbers,
    timeouts,
    timeouts_of_queries,
)
from overspill.papers.spec import Figure, Measured, Runs

WHOLE = 1 << 20  # bytes of all in figure 8b
CLIFF = 0.2  # a fall that counts as one
MANY = 60  # senders from which on figure 8a's level is taken
FLOOR = WHOLE * 8 / (1448 / 1538 * 1e9)  # s, of 1024 KB on the link


def falls(curve: np.ndarray) -> np.ndarray:
    """How far each value lies below the largest before it, as a share."""
    return np.asarray(1 - curve / np.maximum.accumulate(curve))


def cliffs(senders: np.ndarray, curve: np.ndarray) -> list[float]:
    """Where maxima lie from which the curve falls by `CLIFF` or more before it is as high again."""
    found: list[float] = []
    top = low = 0
    for place, value in enumerate(curve):
        if value < curve[low]:
            low = place
        if value > curve[top] or (found and found[-1] == senders[top] and value > curve[low] / (1 - CLIFF)):
            top = low = place
        if curve[low] <= (1 - CLIFF) * curve[top] and (not found or found[-1] != senders[top]):
            found.append(float(senders[top]))
    return found


def nth_cliff(runs: Runs, variant: str, nth: int) -> list[float]:
    """The place of a cliff, by groups of seeds; NaN where there is none."""
    senders = numbers(runs, DEGREE)
    places = [cliffs(senders, one) for one in groups(throughput(runs, variant))]
    return [one[nth] if len(one) > nth else float("nan") for one in places]


def figure_1(sweeps: Sweeps) -> Iterator[Measured]:
    """Cliffs of TCP and DCTCP."""
    runs = sweeps["mapreduce"]
    senders = numbers(runs, DEGREE)
    told = f"cliffs of the mean: {cliffs(senders, throughput(runs, TCP).mean(axis=0))}"
    yield measured("TCP", "first_cliff", nth_cliff(runs, TCP, 0), told)
    yield measured("TCP", "second_cliff", nth_cliff(runs, TCP, 1))
    early = [100 * (1 - one.min() / one[0]) for one in groups(throughput(runs, DCTCP, 14, 28))]
    yield measured("DCTCP", "fall_after_14_senders", early)
    told = f"cliffs of the mean: {cliffs(senders, throughput(runs, DCTCP).mean(axis=0))}"
    yield measured("DCTCP", "first_cliff", nth_cliff(runs, DCTCP, 0), told)


def windows(sweeps: Sweeps) -> Iterator[Measured]:
    """Packets in flight when the first one of a query is lost, a flow; a run's mean over its queries."""
    found = []
    runs = sweeps["cliff"]
    for table, whose in zip(runs.tables("packets", TCP), runs.tables("flows", TCP), strict=True):
        # Requests are flows of their own, and go the other way.
        role, query = columns.numbers(whose, "role"), columns.numbers(whose, "query")
        responses = (role == 0) & (columns.numbers(whose, "measured") == 1)
        each = [
            in_flight(table, columns.numbers(whose, "flow")[responses & (query == one)])
            for one in columns.distinct(query[responses])
        ]
        found.append(float(np.mean(each)))
    yield measured("14 senders", "windows_when_the_buffer_overflows", found)


def in_flight(packets: pa.Table, flows: np.ndarray) -> float:
    """Packets of these flows in flight when the first one is lost, a flow; NaN without a loss."""
    data = (columns.numbers(packets, "reverse") == 0) & np.isin(columns.numbers(packets, "flow"), flows)
    sent, end = (columns.numbers(packets, name)[data] for name in ("sent_ps", "end_ps"))
    lost = (columns.numbers(packets, "fate") != 0)[data]
    if not lost.any():
        return float("nan")
    first = end[lost].min()
    return float(np.sum((sent <= first) & (end >= first)) / len(flows))


def figure_8a(sweeps: Sweeps) -> Iterator[Measured]:
    """64 KB from each sender."""
    runs = sweeps["mapreduce"]
    for variant in (CP, BOTH):
        curve = throughput(runs, variant, 2)
        yield measured(NAMES[variant], "least_throughput", curve.min(axis=1))
        yield measured(NAMES[variant], "largest_fall", [100 * falls(one).max() for one in curve])
    high = {one: mean_over(throughput(runs, one, MANY)) for one in (TCP, TCP_200, DCTCP, DCTCP_200)}
    for variant, slow in ((TCP, TCP_200), (DCTCP, DCTCP_200)):
        name = NAMES[variant]
        yield measured(name, "throughput_of_60_and_more", high[variant])
        yield measured(name, "largest_fall", [100 * falls(one).max() for one in throughput(runs, variant)])
        yield measured(f"{name} 10 ms less 200 ms", "throughput_of_60_and_more", high[variant] - high[slow])
    cut = runs.metric("trims", CP, at(runs, DEGREE, 250)) / (250 * QUERIES)
    yield measured("CP, 250 senders", "cut_packets_of_a_sender", cut)
    yield measured("CP, 250 senders", "bytes_of_cut_packets_by_payload", 100 * cut * HEADER / EACH)


def figure_8b(sweeps: Sweeps) -> Iterator[Measured]:
    """1024 KB in all."""
    runs = sweeps["web_search"]
    time = "query_completion_time"
    for variant in (CP, BOTH):
        below = mean_over(completion(runs, variant, 1, 48))
        yield measured(f"{NAMES[variant]}, below 50 senders", time, below)
    ends = completion(runs, CP, 100, 100)[:, 0] - completion(runs, CP, 1, 1)[:, 0]
    yield measured("CP, 100 senders less one", time, ends)
    for variant in (TCP, DCTCP, TCP_200, DCTCP_200):
        yield measured(f"{NAMES[variant]}, 80 to 100 senders", time, mean_over(completion(runs, variant, 80)))
    cut = runs.metric("trims", CP, at(runs, DEGREE, 100)) / QUERIES
    yield measured("CP, 100 senders", "cut_packets_of_a_query", cut)
    yield measured("CP, 100 senders", "bytes_of_cut_packets_by_payload", 100 * cut * HEADER / WHOLE)
    yield measured(
        "CP, every point", "timeouts", np.sum([timeouts(runs, CP, point) for point in runs.points], axis=0)
    )
    gain = 1e3 * mean_over(completion(runs, CP) - completion(runs, BOTH))
    yield measured("CP less CP&DCTCP", time, gain)
    for variant in (DCTCP, TCP):
        yield measured(NAMES[variant], "fewest_senders_with_timeouts", [onset(runs, variant)])


def onset(runs: Runs, variant: str) -> float:
    """The fewest senders with a timeout in more than half of the queries."""
    often = np.array(
        [
            (np.concatenate(timeouts_of_queries(runs, variant, point)) > 0).mean() > 0.5
            for point in runs.points
        ]
    )
    senders = numbers(runs, DEGREE)
    return float(senders[often].min()) if often.any() else float("nan")


def deviation(runs: Runs, variant: str, low: float, high: float) -> np.ndarray:
    """Standard deviation of completion times over queries by their mean, point by point, %."""
    times = each_completion(runs, variant, low, high)
    return np.array([100 * one.std(ddof=1) / one.mean() if len(one) > 1 else 0.0 for one in times])


def footnote_3(sweeps: Sweeps) -> Iterable[Measured]:
    """TCP above 26 senders, DCTCP from 22 to 42."""
    runs = sweeps["web_search"]
    by_floor = mean_over(completion(runs, TCP, 28)) / (1e3 * FLOOR)
    yield measured("TCP, above 26 senders", "query_completion_time_by_floor", by_floor)
    found = [float(deviation(runs, DCTCP, 22, 42).mean())]
    yield measured("DCTCP, 22 to 42 senders", "deviation_of_query_completion_time", found)


def footnote_8(sweeps: Sweeps) -> Iterable[Measured]:
    """Both below their onset of incast."""
    for variant, end in ((DCTCP, 38), (TCP, 23)):
        found = [float(deviation(sweeps["web_search"], variant, 2, end - 1).max())]
        yield measured(f"{NAMES[variant]}, below {end} senders", "deviation_of_query_completion_time", found)


FIGURES: dict[str, Figure] = {
    "fig1": Figure(figure_1, draw_cliffs),
    "fig1fn": Figure(windows),
    "fig8a": Figure(figure_8a, draw_throughput),
    "fig8b": Figure(figure_8b, draw_completion),
    "fn3": Figure(footnote_3),
    "fn8": Figure(footnote_8),
}
