"""Measures of senders to one receiver: figures 1c, 4, 5a and 5b, and claims on ABQ's own queues."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.common import Curve, dropped, jackknife, measured, quotient, quotients
from overspill.papers.spec import Measure, Measured, Point, Runs, Sweeps

from .schemes import (
    ABQ,
    CAPACITY,
    DROP_TAIL,
    ECN,
    FRAME,
    NAMES,
    OTHERS,
    SEGMENT,
    SENDERS,
    SIZE,
    WIRE,
    best_other,
    lengths,
    numbers,
    over_queues,
    over_times,
    port_to,
    queues_of,
    times_of,
)

ACK_TIME = 672_000  # ps that an ACK of 84 B takes on the wire at 1 Gb/s
DELIVERED = 0
DIPS = (10, 20, 70)  # numbers of senders at which ABQ suppresses too much, according to the article
MOST = 100 * SEGMENT / WIRE  # largest payload share of a link, %; 10 Mb/s at 1 Gb/s each
LEAST = 100  # KB from which on DropTail has the shortest and the longest times
SHOWN = (10, 50, 100)  # numbers of senders
FEWEST = SHOWN[0]


def bottleneck(runs: Runs, table: pa.Table) -> tuple[int, int, int]:
    """Returns node, port and row of the port to the receiver."""
    [row] = np.flatnonzero(port_to(table, runs.node("h0")))
    return int(columns.numbers(table, "node")[row]), int(columns.numbers(table, "port")[row]), int(row)


def deviation(hist: pa.Table, port: tuple[int, int]) -> float:
    """Standard deviation of the queue length in packets, over the time in which the queue is not empty."""
    packets, time = lengths(hist, port, 0)
    busy = packets > 0
    packets, time = packets[busy].astype(np.float64), time[busy]
    mean = quotient(float((packets * time).sum()), float(time.sum()))
    return float(np.sqrt(quotient(float(((packets - mean) ** 2 * time).sum()), float(time.sum()))))


def at_input(table: pa.Table) -> int:
    """Largest number of ACKs that pass the switch within the transmission time of one.

    Ports to senders send only ACKs, so that the spacing at hosts is the spacing at which ACKs crossed the
    switch.
    """
    kept = (columns.numbers(table, "reverse") == 1) & (columns.numbers(table, "fate") == DELIVERED)
    ends = np.sort(columns.numbers(table, "end_ps")[kept]).astype(np.int64)
    first = np.searchsorted(ends, ends - ACK_TIME, side="right")
    return int((np.arange(1, len(ends) + 1) - first).max(initial=0))


def figure_1c(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures peaks, drops and deviation of the output queue, and ACKs at the input."""
    runs = sweeps["oscillation"]
    scatter, passing = {}, []
    for variant in OTHERS:
        ports = runs.tables("ports", variant)
        places = [bottleneck(runs, table) for table in ports]
        every = list(zip(ports, places, strict=True))
        longest = [columns.numbers(table, "max_packets")[row] for table, (*_, row) in every]
        full = np.mean([columns.numbers(table, "max_bytes")[row] for table, (*_, row) in every])
        note = f"{full:.6g} B on average, of {CAPACITY * FRAME * 1e3:.6g}"
        yield measured(NAMES[variant], "longest_queue", [float(one) for one in longest], note)
        lost = [float(dropped(table)[row]) for table, (*_, row) in every]
        yield measured(NAMES[variant], "drops", lost)
        hists = runs.tables("queue_hist", variant)
        pairs = zip(hists, places, strict=True)
        scatter[variant] = np.array([deviation(hist, place[:2]) for hist, place in pairs])
        passing.append([at_input(table) for table in runs.tables("packets", variant)])
    told = ", ".join(f"{NAMES[one]} {values.mean():.3g}" for one, values in scatter.items())
    calmer = scatter[DROP_TAIL] - scatter[ECN]
    yield measured("DropTail less ECN", "deviation_of_the_queue", calmer, told)
    yield measured("plain switch", "acks_at_the_input", np.max(passing, axis=0))


def queues(runs: Runs) -> dict[str, Curve]:
    """Mean queue lengths in KB, by scheme."""
    return {one: over_queues(runs, one, lambda queue: queue.mean) for one in NAMES}


def goodput(runs: Runs) -> dict[str, Curve]:
    """Goodput in Mb/s, by scheme."""
    return {one: over_times(runs, one, lambda times: times.goodput) for one in NAMES}


def drops(runs: Runs) -> dict[str, Curve]:
    """Packets dropped at the receiver's port, by scheme."""
    return {one: over_queues(runs, one, lambda queue: queue.drops) for one in NAMES}


def timeouts(runs: Runs) -> dict[str, Curve]:
    """Timeouts of all flows over the number of senders, by scheme."""
    return {one: over_times(runs, one, lambda times: times.timeouts) for one in NAMES}


def level(curves: dict[str, Curve], variant: str) -> np.ndarray:
    """Mean over all numbers of senders, seed by seed."""
    return np.asarray(curves[variant].mean(axis=1))


def levels(curves: dict[str, Curve], unit: str) -> str:
    """Formats the mean of every scheme for a note."""
    return ", ".join(f"{name} {level(curves, one).mean():.4g} {unit}" for one, name in NAMES.items())


def by_senders(
    runs: Runs, metric: str, curves: dict[str, Curve], pair: tuple[str, str], without: tuple[int, ...] = ()
) -> Iterator[Measured]:
    """Yields the first scheme's value minus the second's, one row for each number of senders."""
    above, below = pair
    for at, count in enumerate(numbers(runs, SENDERS)):
        if count not in without:
            note = ", ".join(f"{NAMES[one]} {curves[one][:, at].mean():.4g}" for one in pair)
            case = f"{NAMES[above]} less {NAMES[below]}, n = {count:g}"
            yield measured(case, metric, curves[above][:, at] - curves[below][:, at], note)


def figure_4a(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures mean queue lengths: ratios to ABQ, ABQ's two queues together, and differences by senders."""
    runs = sweeps["incast"]
    mean = queues(runs)
    busy = {one: over_queues(runs, one, lambda queue: queue.busy) for one in NAMES}
    note = f"{levels(mean, 'KB')}; while anything waits {levels(busy, 'KB')}"
    for one in OTHERS:
        ratio = quotients(level(mean, one), level(mean, ABQ))
        yield measured(f"{NAMES[one]} by ABQ", "mean_queue", ratio, note)
    yield measured("ECN less DropTail", "mean_queue", level(mean, ECN) - level(mean, DROP_TAIL))
    held = over_queues(runs, ABQ, lambda queue: queue.held).mean(axis=1)
    both = 1 + quotients(held, level(mean, ABQ))
    yield measured("ABQ, both queues by the output queue", "mean_queue", both)
    for one in OTHERS:
        yield from by_senders(runs, "mean_queue", mean, (one, ABQ))


def figure_4b(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures goodput: differences by senders, and the fall toward 100 senders."""
    runs = sweeps["incast"]
    found, senders = goodput(runs), numbers(runs, SENDERS)
    for one in OTHERS:
        yield from by_senders(runs, "goodput", found, (ABQ, one), DIPS)
    best = best_other(found) - found[ABQ]
    for at, count in enumerate(senders):
        if count in DIPS:
            yield measured(f"best other less ABQ, n = {count:g}", "goodput", best[:, at])
    every = tuple(int(count) for count in senders if count != 20)
    yield from by_senders(runs, "goodput", found, (DROP_TAIL, ECN), every)
    for one in OTHERS:
        yield measured(NAMES[one], "fall_of_goodput_to_100_senders", jackknife(fall, found[one]))


def fall(curve: np.ndarray) -> float:
    """Distance of a curve's end below its maximum in %."""
    return float(100 * (1 - curve[-1] / curve.max()))


def figure_4c(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures drops: differences by senders, ABQ's drops, and the most of any scheme."""
    runs = sweeps["incast"]
    found, senders = drops(runs), numbers(runs, SENDERS)
    for one in OTHERS:
        yield from by_senders(runs, "drops", found, (one, ABQ))
    yield from by_senders(runs, "drops", found, (DROP_TAIL, ECN), (20,))
    every = tuple(int(count) for count in senders if count != 20)
    yield from by_senders(runs, "drops", found, (ECN, DROP_TAIL), every)
    for at, count in enumerate(senders):
        yield measured(f"ABQ, n = {count:g}", "drops", found[ABQ][:, at])
    means = {one: curve.mean(axis=0) for one, curve in found.items()}
    most = max(means, key=lambda one: float(means[one].max()))
    at = int(means[most].argmax())
    told = f"{NAMES[most]} with {senders[at]:g} senders"
    yield measured("most of any scheme", "drops", found[most][:, at], told)


def claims(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures claims of abstract, introduction and conclusion."""
    runs = sweeps["incast"]
    mean, lost, rate, expired = queues(runs), drops(runs), goodput(runs), timeouts(runs)
    for one in OTHERS:
        name = NAMES[one]
        less = 100 * (1 - quotients(level(mean, ABQ), level(mean, one)))
        yield measured(f"ABQ below {name}", "mean_queue", less, levels(mean, "KB"))
        fewer = quotients(level(lost, one), level(lost, ABQ))
        yield measured(f"{name} by ABQ", "drops", fewer, levels(lost, "packets"))
        more = 100 * (quotients(level(rate, ABQ), level(rate, one)) - 1)
        yield measured(f"ABQ over {name}", "goodput", more, levels(rate, "Mb/s"))
        yield measured(name, "timeouts", level(expired, one), levels(expired, "a run"))
        yield measured(f"{name} less ABQ", "timeouts", level(expired, one) - level(expired, ABQ))
    best = max(OTHERS, key=lambda one: float(level(rate, one).mean()))
    yield measured("ABQ less the best other", "goodput", level(rate, ABQ) - level(rate, best))
    yield measured("ABQ, every number of senders", "drops", lost[ABQ].sum(axis=1))
    sent = over_times(runs, ABQ, lambda times: times.segments + times.sent_again)[:, -1]
    yield measured("ABQ, 100 senders", "segments_lost", 100 * quotients(lost[ABQ][:, -1], sent))
    possible = 100 * rate[ABQ][:, -1] / (10 * MOST)
    yield measured("ABQ, 100 senders", "goodput_by_the_most_possible", possible)


def fct(runs: Runs, percent: int) -> dict[str, Curve]:
    """A percentile of completion times in ms, by scheme."""
    return {one: over_times(runs, one, lambda times: times.fct[percent]) for one in NAMES}


def ratio(above: Curve, below: Curve) -> np.ndarray:
    """Mean over points of the quotient of two curves, seed by seed."""
    return np.asarray((above / below).mean(axis=1))


def mean_text(curves: dict[str, Curve]) -> str:
    """Formats the mean of every scheme for a note."""
    return ", ".join(f"{name} {curves[one].mean():.4g} ms" for one, name in NAMES.items())


def figure_5a(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures FCT percentiles by number of senders."""
    runs = sweeps["incast"]
    short, middle, long = (fct(runs, one) for one in (1, 50, 99))
    for one, name in NAMES.items():
        yield measured(f"{name}, 100 senders less 10", "p50_fct", middle[one][:, -1] - middle[one][:, 0])
    for one in OTHERS:
        less = 100 * (1 - ratio(long[ABQ], long[one]))
        yield measured(f"ABQ below {NAMES[one]}", "p99_fct", less, mean_text(long))
    for metric, curves in (("p1_fct", short), ("p50_fct", middle)):
        best = best_other(curves, highest=False)
        yield measured("ABQ by the best other", metric, ratio(curves[ABQ], best), mean_text(curves))
    means = long[DROP_TAIL].mean(axis=0)
    at = int(means.argmax())
    note = f"with {numbers(runs, SENDERS)[at]:g} senders"
    yield measured("DropTail, the most", "p99_fct", long[DROP_TAIL][:, at], note)


def figure_5b(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures FCT percentiles by size of flows."""
    runs = sweeps["sizes"]
    short, long = fct(runs, 1), fct(runs, 99)
    # The schemes other than DropTail are ECN and ABQ.
    quick = np.minimum(*(short[one].mean(axis=0) for one in (ECN, ABQ)))
    slow = np.maximum(*(long[one].mean(axis=0) for one in (ECN, ABQ)))
    for at, size in enumerate(numbers(runs, SIZE)):
        case = f"{size:g} KB"
        yield measured(f"ABQ by ECN, {case}", "p99_fct", quotients(long[ABQ][:, at], long[ECN][:, at]))
        if size >= LEAST:
            best = next(one for one in (ECN, ABQ) if short[one][:, at].mean() == quick[at])
            worst = next(one for one in (ECN, ABQ) if long[one][:, at].mean() == slow[at])
            less = short[best][:, at] - short[DROP_TAIL][:, at]
            yield measured(f"best other less DropTail, {case}", "p1_fct", less, NAMES[best])
            more = long[DROP_TAIL][:, at] - long[worst][:, at]
            yield measured(f"DropTail less worst other, {case}", "p99_fct", more, NAMES[worst])
    yield measured("DropTail, 800 KB", "p99_fct", long[DROP_TAIL][:, -1])


def values_by_senders(runs: Runs, curve: Curve) -> dict[int, np.ndarray]:
    """Returns the values by seed of a curve for each number of senders."""
    return {int(count): curve[:, at] for at, count in enumerate(numbers(runs, SENDERS))}


def measure_lengths(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures ABQ's output queue and the use of the link, by number of senders."""
    runs = sweeps["incast"]
    mean = values_by_senders(runs, over_queues(runs, ABQ, lambda queue: queue.mean))
    high = values_by_senders(runs, over_queues(runs, ABQ, lambda queue: queue.percentiles[1]))
    longest = values_by_senders(runs, over_queues(runs, ABQ, lambda queue: queue.longest))
    rate = values_by_senders(runs, goodput(runs)[ABQ])
    for count in SHOWN:
        case = f"ABQ, n = {count}"
        yield measured(case, "mean_queue", mean[count])
        yield measured(case, "p95_queue", high[count])
        note = f"the longest queue is {longest[count].mean():.4g} KB on average"
        yield measured(case, "free_above_longest_queue", CAPACITY * FRAME - longest[count], note)
    for count in SHOWN[1:]:
        case = f"ABQ, {count} senders by {FEWEST}"
        yield measured(case, "mean_queue", quotients(mean[count], mean[FEWEST]))
        yield measured(case, "p95_queue", quotients(high[count], high[FEWEST]))
    for count in SHOWN[:-1]:  # 100 senders are a row of the introduction
        possible = 100 * rate[count] / (10 * MOST)
        yield measured(f"ABQ, n = {count}", "goodput_by_the_most_possible", possible)


def ack_waits(runs: Runs, point: Point) -> np.ndarray:
    """Mean time that an ACK waits at the input of the receiver's port, held or not, in us by seed.

    The number of ACKs is that of the segments that arrive, since ACKs are not delayed.
    """
    waited = np.array([queue.waited for queue in queues_of(runs, ABQ, point)])
    lost = np.array([queue.drops for queue in queues_of(runs, ABQ, point)])
    sent = np.array([times.segments + times.sent_again for times in times_of(runs, ABQ, point)])
    return np.asarray(1e-6 * waited / (sent - lost))


def measure_delay(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the wait of data at the receiver's port plus that of ACKs at its input."""
    runs = sweeps["incast"]
    for point, count in zip(runs.points, numbers(runs, SENDERS), strict=True):
        if count in SHOWN:
            # The receiver's port is the busiest of a star.
            data = 1e6 * runs.metric("sojourn_busiest_mean", ABQ, point)
            acks = ack_waits(runs, point)
            note = f"data {data.mean():.4g} us, ACKs {acks.mean():.4g} us"
            yield measured(f"ABQ, n = {count:g}", "queueing_delay", data + acks, note)


def measure_memory(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the peak bytes and ACKs in the input queue of the receiver's port."""
    runs = sweeps["incast"]
    acks = values_by_senders(runs, over_queues(runs, ABQ, lambda queue: queue.most_acks))
    held = values_by_senders(runs, over_queues(runs, ABQ, lambda queue: queue.most_held))
    for count, values in held.items():
        note = f"{acks[count].mean():.4g} ACKs; in one run at most {values.max():.4g} KB"
        yield measured(f"ABQ, n = {count}", "most_held", values, note)
    for count in SHOWN:
        yield measured(f"ABQ, n = {count}", "most_held_acks", acks[count])


MEASURES: dict[str, Measure] = {
    "fig1c": figure_1c,
    "fig4a": figure_4a,
    "fig4b": figure_4b,
    "fig4c": figure_4c,
    "intro": claims,
    "fig5a": figure_5a,
    "fig5b": figure_5b,
    "claim-queue": measure_lengths,
    "claim-delay": measure_delay,
    "claim-memory": measure_memory,
}
