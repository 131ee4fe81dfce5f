"""Figure 4, and what the article says of it elsewhere: senders of 32 KB to one receiver."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from overspill.papers.abq.incast_drawn import draw_drops, draw_goodput, draw_queues
from overspill.papers.abq.schemes import (
    ABQ,
    DROP_TAIL,
    ECN,
    NAMES,
    OTHERS,
    SEGMENT,
    SENDERS,
    WIRE,
    Sweeps,
    best_other,
    numbers,
    over_queues,
    over_times,
)
from overspill.papers.common import Curve, jackknife, measured, quotients
from overspill.papers.spec import Figure, Measured, Runs

DIPS = (10, 20, 70)  # senders with which ABQ suppresses too much, says the article
MOST = 100 * SEGMENT / WIRE  # % of a link that payload can have, and so Mb/s in ten


def queues(runs: Runs) -> dict[str, Curve]:
    """Mean lengths, KB."""
    return {one: over_queues(runs, one, lambda queue: queue.mean) for one in NAMES}


def goodput(runs: Runs) -> dict[str, Curve]:
    """Mb/s."""
    return {one: over_times(runs, one, lambda times: times.goodput) for one in NAMES}


def drops(runs: Runs) -> dict[str, Curve]:
    """At the receiver's port, packets."""
    return {one: over_queues(runs, one, lambda queue: queue.drops) for one in NAMES}


def timeouts(runs: Runs) -> dict[str, Curve]:
    """Of all flows."""
    return {one: over_times(runs, one, lambda times: times.timeouts) for one in NAMES}


def level(curves: dict[str, Curve], variant: str) -> np.ndarray:
    """The mean over all numbers of senders, seed by seed."""
    return np.asarray(curves[variant].mean(axis=1))


def levels(curves: dict[str, Curve], unit: str) -> str:
    """Of every scheme, for a note."""
    return ", ".join(f"{name} {level(curves, one).mean():.4g} {unit}" for one, name in NAMES.items())


def by_senders(
    runs: Runs, metric: str, curves: dict[str, Curve], pair: tuple[str, str], without: tuple[int, ...] = ()
) -> Iterator[Measured]:
    """A row for each number of senders: how much more the first scheme has."""
    above, below = pair
    for at, count in enumerate(numbers(runs, SENDERS)):
        if count not in without:
            note = ", ".join(f"{NAMES[one]} {curves[one][:, at].mean():.4g}" for one in pair)
            case = f"{NAMES[above]} less {NAMES[below]}, n = {count:g}"
            yield measured(case, metric, curves[above][:, at] - curves[below][:, at], note)


def figure_4a(sweeps: Sweeps) -> Iterator[Measured]:
    """Lengths of queues."""
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
    """Goodput."""
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
    """How far the end of a curve is below its maximum, %."""
    return float(100 * (1 - curve[-1] / curve.max()))


def figure_4c(sweeps: Sweeps) -> Iterator[Measured]:
    """Drops."""
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
    """Abstract, introduction and conclusion."""
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


FIGURES: dict[str, Figure] = {
    "fig4a": Figure(figure_4a, draw_queues),
    "fig4b": Figure(figure_4b, draw_goodput),
    "fig4c": Figure(figure_4c, draw_drops),
    "intro": Figure(claims),
}
