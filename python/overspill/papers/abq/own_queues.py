"""Claims on ABQ's own queues at figure 4's numbers of senders: length, delay, and memory at the input."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from overspill.papers.abq.incast import MOST, goodput
from overspill.papers.abq.schemes import (
    ABQ,
    CAPACITY,
    FRAME,
    SENDERS,
    Sweeps,
    numbers,
    over_queues,
    queues_of,
    times_of,
)
from overspill.papers.common import Curve, measured, quotients
from overspill.papers.spec import Figure, Measured, Point, Runs

SHOWN = (10, 50, 100)  # senders
FEWEST = SHOWN[0]


def by_senders(runs: Runs, curve: Curve) -> dict[int, np.ndarray]:
    """A curve as values by seed for each number of senders."""
    return {int(count): curve[:, at] for at, count in enumerate(numbers(runs, SENDERS))}


def measure_lengths(sweeps: Sweeps) -> Iterator[Measured]:
    """Output queue of ABQ and use of the link, by number of senders."""
    runs = sweeps["incast"]
    mean = by_senders(runs, over_queues(runs, ABQ, lambda queue: queue.mean))
    high = by_senders(runs, over_queues(runs, ABQ, lambda queue: queue.percentiles[1]))
    longest = by_senders(runs, over_queues(runs, ABQ, lambda queue: queue.longest))
    rate = by_senders(runs, goodput(runs)[ABQ])
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
    for count in SHOWN[:-1]:  # the last is a row of the introduction
        possible = 100 * rate[count] / (10 * MOST)
        yield measured(f"ABQ, n = {count}", "goodput_by_the_most_possible", possible)


def ack_waits(runs: Runs, point: Point) -> np.ndarray:
    """Mean time that an ACK waits at the input of the receiver's port, held or not; us by seed.

    Receivers acknowledge each segment that arrives, since ACKs are not delayed.
    """
    waited = np.array([queue.waited for queue in queues_of(runs, ABQ, point)])
    lost = np.array([queue.drops for queue in queues_of(runs, ABQ, point)])
    sent = np.array([times.segments + times.sent_again for times in times_of(runs, ABQ, point)])
    return np.asarray(1e-6 * waited / (sent - lost))


def measure_delay(sweeps: Sweeps) -> Iterator[Measured]:
    """Wait of data at the receiver's port, and of ACKs at its input."""
    runs = sweeps["incast"]
    for point, count in zip(runs.points, numbers(runs, SENDERS), strict=True):
        if count in SHOWN:
            # The receiver's port is the busiest of a star.
            data = 1e6 * runs.metric("sojourn_busiest_mean", ABQ, point)
            acks = ack_waits(runs, point)
            note = f"data {data.mean():.4g} us, ACKs {acks.mean():.4g} us"
            yield measured(f"ABQ, n = {count:g}", "queueing_delay", data + acks, note)


def measure_memory(sweeps: Sweeps) -> Iterator[Measured]:
    """Most bytes and ACKs that the input queue of the receiver's port holds."""
    runs = sweeps["incast"]
    acks = by_senders(runs, over_queues(runs, ABQ, lambda queue: queue.most_acks))
    held = by_senders(runs, over_queues(runs, ABQ, lambda queue: queue.most_held))
    for count, values in held.items():
        note = f"{acks[count].mean():.4g} ACKs; in one run at most {values.max():.4g} KB"
        yield measured(f"ABQ, n = {count}", "most_held", values, note)
    for count in SHOWN:
        yield measured(f"ABQ, n = {count}", "most_held_acks", acks[count])


FIGURES: dict[str, Figure] = {
    "claim-queue": Figure(measure_lengths),
    "claim-delay": Figure(measure_delay),
    "claim-memory": Figure(measure_memory),
}
