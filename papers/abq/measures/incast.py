"""Measures of ABQ's incast experiments (figures 1c, 4, 5a and 5b), and of claims on its queues."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.common import (
    SeedCurve,
    build_measured,
    divide_by_seed,
    divide_or_nan,
    dropped_packets_by_port,
    jackknife_values,
)
from overspill.papers.spec import Measure, Measured, Point, Runs, Sweeps

from .schemes import (
    ABQ,
    DROP_TAIL,
    ECN,
    FRAME_KB,
    NAMES,
    OTHER_SCHEMES,
    QUEUE_PACKETS,
    SEGMENT_BYTES,
    SENDERS_PATH,
    SIZE_PATH,
    WIRE_BYTES,
    best_other,
    curve_of_flows,
    curve_of_queue,
    flow_times,
    path_values,
    queue_lengths,
    queue_statistics,
    select_ports_to,
)

ACK_WIRE_PS = 672_000  # ps that an ACK of 84 B takes on the wire at 1 Gb/s
DELIVERED_FATE = 0
DIP_SENDERS = (10, 20, 70)  # numbers of senders at which ABQ suppresses too much, according to the article
MAX_PAYLOAD_PERCENT = (
    100 * SEGMENT_BYTES / WIRE_BYTES
)  # largest payload share of a link, %; 10 Mb/s at 1 Gb/s each
MIN_LARGE_KB = 100  # KB from which on DropTail has the shortest and the longest times
REPORTED_SENDERS = (10, 50, 100)  # numbers of senders
MIN_SENDERS = REPORTED_SENDERS[0]


def find_bottleneck(runs: Runs, table: pa.Table) -> tuple[int, int, int]:
    """Returns node, port and table row of the switch port to the incast receiver."""
    [row] = np.flatnonzero(select_ports_to(table, runs.node("h0")))
    return (
        int(columns.column_to_numpy(table, "node")[row]),
        int(columns.column_to_numpy(table, "port")[row]),
        int(row),
    )


def queue_deviation(hist: pa.Table, port: tuple[int, int]) -> float:
    """Standard deviation of the queue length in packets, over the time in which the queue is not empty."""
    packets, time = queue_lengths(hist, port, 0)
    busy = packets > 0
    packets, time = packets[busy].astype(np.float64), time[busy]
    mean = divide_or_nan(float((packets * time).sum()), float(time.sum()))
    return float(np.sqrt(divide_or_nan(float(((packets - mean) ** 2 * time).sum()), float(time.sum()))))


def max_acks_at_input(table: pa.Table) -> int:
    """Largest number of ACKs that pass the switch within the transmission time of one.

    Ports to senders send only ACKs, so that the spacing at hosts is the spacing at which ACKs crossed the
    switch.
    """
    kept = (columns.column_to_numpy(table, "reverse") == 1) & (
        columns.column_to_numpy(table, "fate") == DELIVERED_FATE
    )
    ends = np.sort(columns.column_to_numpy(table, "end_ps")[kept]).astype(np.int64)
    first = np.searchsorted(ends, ends - ACK_WIRE_PS, side="right")
    return int((np.arange(1, len(ends) + 1) - first).max(initial=0))


def measure_figure_1c(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures peaks, drops and deviation of the output queue, and ACKs at the input."""
    runs = sweeps["oscillation"]
    scatter, passing = {}, []
    for variant in OTHER_SCHEMES:
        ports = runs.tables("ports", variant)
        places = [find_bottleneck(runs, table) for table in ports]
        every = list(zip(ports, places, strict=True))
        longest = [columns.column_to_numpy(table, "max_packets")[row] for table, (*_, row) in every]
        full = np.mean([columns.column_to_numpy(table, "max_bytes")[row] for table, (*_, row) in every])
        note = f"{full:.6g} B on average, of {QUEUE_PACKETS * FRAME_KB * 1e3:.6g}"
        yield build_measured(NAMES[variant], "longest_queue", [float(one) for one in longest], note)
        lost = [float(dropped_packets_by_port(table)[row]) for table, (*_, row) in every]
        yield build_measured(NAMES[variant], "drops", lost)
        hists = runs.tables("queue_hist", variant)
        pairs = zip(hists, places, strict=True)
        scatter[variant] = np.array([queue_deviation(hist, place[:2]) for hist, place in pairs])
        passing.append([max_acks_at_input(table) for table in runs.tables("packets", variant)])
    told = ", ".join(f"{NAMES[one]} {values.mean():.3g}" for one, values in scatter.items())
    calmer = scatter[DROP_TAIL] - scatter[ECN]
    yield build_measured("DropTail less ECN", "deviation_of_the_queue", calmer, told)
    yield build_measured("plain switch", "acks_at_the_input", np.max(passing, axis=0))


def mean_queues_by_scheme(runs: Runs) -> dict[str, SeedCurve]:
    """Mean queue lengths in KB, by scheme, seed and number of senders."""
    return {one: curve_of_queue(runs, one, lambda queue: queue.mean) for one in NAMES}


def goodput_by_scheme(runs: Runs) -> dict[str, SeedCurve]:
    """Goodput in Mb/s, by scheme, seed and number of senders."""
    return {one: curve_of_flows(runs, one, lambda times: times.goodput) for one in NAMES}


def drops_by_scheme(runs: Runs) -> dict[str, SeedCurve]:
    """Packets dropped at the receiver's port, by scheme, seed and number of senders."""
    return {one: curve_of_queue(runs, one, lambda queue: queue.drops) for one in NAMES}


def timeouts_by_scheme(runs: Runs) -> dict[str, SeedCurve]:
    """Timeouts of all flows, by scheme, seed and number of senders."""
    return {one: curve_of_flows(runs, one, lambda times: times.timeouts) for one in NAMES}


def mean_over_senders(curves: dict[str, SeedCurve], variant: str) -> np.ndarray:
    """Mean of a scheme's curve over all numbers of senders, seed by seed."""
    return np.asarray(curves[variant].mean(axis=1))


def format_levels(curves: dict[str, SeedCurve], unit: str) -> str:
    """Formats the mean of every scheme over all points, for a note."""
    return ", ".join(
        f"{name} {mean_over_senders(curves, one).mean():.4g} {unit}" for one, name in NAMES.items()
    )


def differences_by_senders(
    runs: Runs,
    metric: str,
    curves: dict[str, SeedCurve],
    pair: tuple[str, str],
    without: tuple[int, ...] = (),
) -> Iterator[Measured]:
    """Yields the first scheme's value minus the second's, for each number of senders not in `without`."""
    above, below = pair
    for at, count in enumerate(path_values(runs, SENDERS_PATH)):
        if count not in without:
            note = ", ".join(f"{NAMES[one]} {curves[one][:, at].mean():.4g}" for one in pair)
            case = f"{NAMES[above]} less {NAMES[below]}, n = {count:g}"
            yield build_measured(case, metric, curves[above][:, at] - curves[below][:, at], note)


def measure_figure_4a(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures mean queue lengths: ratios to ABQ, ABQ's two queues together, and differences by senders."""
    runs = sweeps["incast"]
    mean = mean_queues_by_scheme(runs)
    busy = {one: curve_of_queue(runs, one, lambda queue: queue.busy_mean) for one in NAMES}
    note = f"{format_levels(mean, 'KB')}; while anything waits {format_levels(busy, 'KB')}"
    for one in OTHER_SCHEMES:
        ratio = divide_by_seed(mean_over_senders(mean, one), mean_over_senders(mean, ABQ))
        yield build_measured(f"{NAMES[one]} by ABQ", "mean_queue", ratio, note)
    yield build_measured(
        "ECN less DropTail", "mean_queue", mean_over_senders(mean, ECN) - mean_over_senders(mean, DROP_TAIL)
    )
    held = curve_of_queue(runs, ABQ, lambda queue: queue.mean_held_bytes).mean(axis=1)
    both = 1 + divide_by_seed(held, mean_over_senders(mean, ABQ))
    yield build_measured("ABQ, both queues by the output queue", "mean_queue", both)
    for one in OTHER_SCHEMES:
        yield from differences_by_senders(runs, "mean_queue", mean, (one, ABQ))


def measure_figure_4b(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures goodput: differences by senders, and the fall toward 100 senders."""
    runs = sweeps["incast"]
    found, senders = goodput_by_scheme(runs), path_values(runs, SENDERS_PATH)
    for one in OTHER_SCHEMES:
        yield from differences_by_senders(runs, "goodput", found, (ABQ, one), DIP_SENDERS)
    best = best_other(found) - found[ABQ]
    for at, count in enumerate(senders):
        if count in DIP_SENDERS:
            yield build_measured(f"best other less ABQ, n = {count:g}", "goodput", best[:, at])
    every = tuple(int(count) for count in senders if count != 20)
    yield from differences_by_senders(runs, "goodput", found, (DROP_TAIL, ECN), every)
    for one in OTHER_SCHEMES:
        yield build_measured(
            NAMES[one], "fall_of_goodput_to_100_senders", jackknife_values(final_fall, found[one])
        )


def final_fall(curve: np.ndarray) -> float:
    """Distance in % of a curve's last value below its maximum."""
    return float(100 * (1 - curve[-1] / curve.max()))


def measure_figure_4c(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures drops: differences by senders, ABQ's drops, and the most of any scheme."""
    runs = sweeps["incast"]
    found, senders = drops_by_scheme(runs), path_values(runs, SENDERS_PATH)
    for one in OTHER_SCHEMES:
        yield from differences_by_senders(runs, "drops", found, (one, ABQ))
    yield from differences_by_senders(runs, "drops", found, (DROP_TAIL, ECN), (20,))
    every = tuple(int(count) for count in senders if count != 20)
    yield from differences_by_senders(runs, "drops", found, (ECN, DROP_TAIL), every)
    for at, count in enumerate(senders):
        yield build_measured(f"ABQ, n = {count:g}", "drops", found[ABQ][:, at])
    means = {one: curve.mean(axis=0) for one, curve in found.items()}
    most = max(means, key=lambda one: float(means[one].max()))
    at = int(means[most].argmax())
    told = f"{NAMES[most]} with {senders[at]:g} senders"
    yield build_measured("most of any scheme", "drops", found[most][:, at], told)


def measure_claims(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the claims of ABQ's abstract, introduction and conclusion."""
    runs = sweeps["incast"]
    mean, lost, rate, expired = (
        mean_queues_by_scheme(runs),
        drops_by_scheme(runs),
        goodput_by_scheme(runs),
        timeouts_by_scheme(runs),
    )
    for one in OTHER_SCHEMES:
        name = NAMES[one]
        less = 100 * (1 - divide_by_seed(mean_over_senders(mean, ABQ), mean_over_senders(mean, one)))
        yield build_measured(f"ABQ below {name}", "mean_queue", less, format_levels(mean, "KB"))
        fewer = divide_by_seed(mean_over_senders(lost, one), mean_over_senders(lost, ABQ))
        yield build_measured(f"{name} by ABQ", "drops", fewer, format_levels(lost, "packets"))
        more = 100 * (divide_by_seed(mean_over_senders(rate, ABQ), mean_over_senders(rate, one)) - 1)
        yield build_measured(f"ABQ over {name}", "goodput", more, format_levels(rate, "Mb/s"))
        yield build_measured(
            name, "timeouts", mean_over_senders(expired, one), format_levels(expired, "a run")
        )
        yield build_measured(
            f"{name} less ABQ", "timeouts", mean_over_senders(expired, one) - mean_over_senders(expired, ABQ)
        )
    best = max(OTHER_SCHEMES, key=lambda one: float(mean_over_senders(rate, one).mean()))
    yield build_measured(
        "ABQ less the best other", "goodput", mean_over_senders(rate, ABQ) - mean_over_senders(rate, best)
    )
    yield build_measured("ABQ, every number of senders", "drops", lost[ABQ].sum(axis=1))
    sent = curve_of_flows(runs, ABQ, lambda times: times.segments + times.retransmitted)[:, -1]
    yield build_measured("ABQ, 100 senders", "segments_lost", 100 * divide_by_seed(lost[ABQ][:, -1], sent))
    possible = 100 * rate[ABQ][:, -1] / (10 * MAX_PAYLOAD_PERCENT)
    yield build_measured("ABQ, 100 senders", "goodput_by_the_most_possible", possible)


def fct_percentile(runs: Runs, percent: int) -> dict[str, SeedCurve]:
    """Percentile of flow completion times in ms, by scheme."""
    return {one: curve_of_flows(runs, one, lambda times: times.fct[percent]) for one in NAMES}


def mean_ratio(above: SeedCurve, below: SeedCurve) -> np.ndarray:
    """Ratio of two curves, as a mean over points, seed by seed."""
    return np.asarray((above / below).mean(axis=1))


def format_means(curves: dict[str, SeedCurve]) -> str:
    """Formats the mean of every scheme for a note."""
    return ", ".join(f"{name} {curves[one].mean():.4g} ms" for one, name in NAMES.items())


def measure_figure_5a(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures FCT percentiles by number of senders."""
    runs = sweeps["incast"]
    short, middle, long = (fct_percentile(runs, one) for one in (1, 50, 99))
    for one, name in NAMES.items():
        yield build_measured(
            f"{name}, 100 senders less 10", "p50_fct", middle[one][:, -1] - middle[one][:, 0]
        )
    for one in OTHER_SCHEMES:
        less = 100 * (1 - mean_ratio(long[ABQ], long[one]))
        yield build_measured(f"ABQ below {NAMES[one]}", "p99_fct", less, format_means(long))
    for metric, curves in (("p1_fct", short), ("p50_fct", middle)):
        best = best_other(curves, highest=False)
        yield build_measured(
            "ABQ by the best other", metric, mean_ratio(curves[ABQ], best), format_means(curves)
        )
    means = long[DROP_TAIL].mean(axis=0)
    at = int(means.argmax())
    note = f"with {path_values(runs, SENDERS_PATH)[at]:g} senders"
    yield build_measured("DropTail, the most", "p99_fct", long[DROP_TAIL][:, at], note)


def measure_figure_5b(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures FCT percentiles by size of flows."""
    runs = sweeps["sizes"]
    short, long = fct_percentile(runs, 1), fct_percentile(runs, 99)
    # DropTail is compared with the better and the worse of the two other schemes, by their means over seeds.
    quick = np.minimum(*(short[one].mean(axis=0) for one in (ECN, ABQ)))
    slow = np.maximum(*(long[one].mean(axis=0) for one in (ECN, ABQ)))
    for at, size in enumerate(path_values(runs, SIZE_PATH)):
        case = f"{size:g} KB"
        yield build_measured(
            f"ABQ by ECN, {case}", "p99_fct", divide_by_seed(long[ABQ][:, at], long[ECN][:, at])
        )
        if size >= MIN_LARGE_KB:
            best = next(one for one in (ECN, ABQ) if short[one][:, at].mean() == quick[at])
            worst = next(one for one in (ECN, ABQ) if long[one][:, at].mean() == slow[at])
            less = short[best][:, at] - short[DROP_TAIL][:, at]
            yield build_measured(f"best other less DropTail, {case}", "p1_fct", less, NAMES[best])
            more = long[DROP_TAIL][:, at] - long[worst][:, at]
            yield build_measured(f"DropTail less worst other, {case}", "p99_fct", more, NAMES[worst])
    yield build_measured("DropTail, 800 KB", "p99_fct", long[DROP_TAIL][:, -1])


def values_by_senders(runs: Runs, curve: SeedCurve) -> dict[int, np.ndarray]:
    """Returns the values of a curve by number of senders, each with one value per seed."""
    return {int(count): curve[:, at] for at, count in enumerate(path_values(runs, SENDERS_PATH))}


def measure_queue_lengths(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures ABQ's output queue and the use of the link, by number of senders."""
    runs = sweeps["incast"]
    mean = values_by_senders(runs, curve_of_queue(runs, ABQ, lambda queue: queue.mean))
    high = values_by_senders(runs, curve_of_queue(runs, ABQ, lambda queue: queue.percentiles[1]))
    longest = values_by_senders(runs, curve_of_queue(runs, ABQ, lambda queue: queue.max_length))
    rate = values_by_senders(runs, goodput_by_scheme(runs)[ABQ])
    for count in REPORTED_SENDERS:
        case = f"ABQ, n = {count}"
        yield build_measured(case, "mean_queue", mean[count])
        yield build_measured(case, "p95_queue", high[count])
        note = f"the longest queue is {longest[count].mean():.4g} KB on average"
        yield build_measured(
            case, "free_above_longest_queue", QUEUE_PACKETS * FRAME_KB - longest[count], note
        )
    for count in REPORTED_SENDERS[1:]:
        case = f"ABQ, {count} senders by {MIN_SENDERS}"
        yield build_measured(case, "mean_queue", divide_by_seed(mean[count], mean[MIN_SENDERS]))
        yield build_measured(case, "p95_queue", divide_by_seed(high[count], high[MIN_SENDERS]))
    for count in REPORTED_SENDERS[:-1]:  # 100 senders are a row of the introduction
        possible = 100 * rate[count] / (10 * MAX_PAYLOAD_PERCENT)
        yield build_measured(f"ABQ, n = {count}", "goodput_by_the_most_possible", possible)


def mean_ack_waits(runs: Runs, point: Point) -> np.ndarray:
    """Mean time that an ACK waits at the input of the receiver's port, held or not, in us by seed.

    The number of ACKs is that of the segments that arrive, since ACKs are not delayed.
    """
    waited = np.array([queue.ack_wait_ps for queue in queue_statistics(runs, ABQ, point)])
    lost = np.array([queue.drops for queue in queue_statistics(runs, ABQ, point)])
    sent = np.array([times.segments + times.retransmitted for times in flow_times(runs, ABQ, point)])
    return np.asarray(1e-6 * waited / (sent - lost))


def measure_delay(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the wait of data at the receiver's port plus that of ACKs at its input."""
    runs = sweeps["incast"]
    for point, count in zip(runs.points, path_values(runs, SENDERS_PATH), strict=True):
        if count in REPORTED_SENDERS:
            # In a star, the port to the receiver carries all data, so it is the busiest port of this metric.
            data = 1e6 * runs.metric("sojourn_busiest_mean", ABQ, point)
            acks = mean_ack_waits(runs, point)
            note = f"data {data.mean():.4g} us, ACKs {acks.mean():.4g} us"
            yield build_measured(f"ABQ, n = {count:g}", "queueing_delay", data + acks, note)


def measure_memory(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the peak bytes and ACKs in the input queue of the receiver's port."""
    runs = sweeps["incast"]
    acks = values_by_senders(runs, curve_of_queue(runs, ABQ, lambda queue: queue.max_held_acks))
    held = values_by_senders(runs, curve_of_queue(runs, ABQ, lambda queue: queue.max_held_kb))
    for count, values in held.items():
        note = f"{acks[count].mean():.4g} ACKs; in one run at most {values.max():.4g} KB"
        yield build_measured(f"ABQ, n = {count}", "most_held", values, note)
    for count in REPORTED_SENDERS:
        yield build_measured(f"ABQ, n = {count}", "most_held_acks", acks[count])


MEASURES: dict[str, Measure] = {
    "fig1c": measure_figure_1c,
    "fig4a": measure_figure_4a,
    "fig4b": measure_figure_4b,
    "fig4c": measure_figure_4c,
    "intro": measure_claims,
    "fig5a": measure_figure_5a,
    "fig5b": measure_figure_5b,
    "claim-queue": measure_queue_lengths,
    "claim-delay": measure_delay,
    "claim-memory": measure_memory,
}
