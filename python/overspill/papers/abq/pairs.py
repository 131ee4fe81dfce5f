"""Claims that compare two variants: at equal memory, ABQ changed in one thing, other schemes with ABQ."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from overspill.papers.abq.schemes import ABQ, NAMES, OTHERS, Sweeps, over_queues, over_times
from overspill.papers.common import Curve, measured
from overspill.papers.spec import Figure, Measured, Runs

METRICS: dict[str, Callable[[Runs, str], Curve]] = {
    "mean_queue": lambda runs, one: over_queues(runs, one, lambda queue: queue.mean),
    "drops": lambda runs, one: over_queues(runs, one, lambda queue: queue.drops),
    "time_congested": lambda runs, one: over_queues(runs, one, lambda queue: 1e-9 * queue.congested),
    "goodput": lambda runs, one: over_times(runs, one, lambda times: times.goodput),
    "p50_fct": lambda runs, one: over_times(runs, one, lambda times: times.fct[50]),
    "p99_fct": lambda runs, one: over_times(runs, one, lambda times: times.fct[99]),
}
LABELS = NAMES | {
    "no_corrector": "no corrector",
    "ten_acks": "ten ACKs",
    "one_ack": "one ACK",
    "drop_tail_abq": "DropTail with ABQ",
    "red": "RED",
    "red_abq": "RED with ABQ",
}
RELEASES = ("ten_acks", "one_ack")


def difference(runs: Runs, pair: tuple[str, str], metric: str, at: int | None = None) -> Measured:
    """The first variant less the second, seed by seed: mean over all points, or at one of them."""
    above, below = (
        curve.mean(axis=1) if at is None else curve[:, at]
        for curve in (METRICS[metric](runs, one) for one in pair)
    )
    names = [LABELS[one] for one in pair]
    case = f"{names[0]} less {names[1]}"
    if at is not None:
        [count] = runs.points[at].values()
        case += f", n = {count}"
    note = f"{names[0]} {np.mean(above):.4g}, {names[1]} {np.mean(below):.4g}"
    return measured(case, metric, above - below, note)


def measure_equal(sweeps: Sweeps) -> Iterator[Measured]:
    """DropTail and ECN with as much memory as ABQ has in both of its queues."""
    for one in OTHERS:
        yield difference(sweeps["equal"], (one, ABQ), "mean_queue")
        yield difference(sweeps["equal"], (one, ABQ), "drops")
        yield difference(sweeps["equal"], (ABQ, one), "goodput")


def measure_alone(sweeps: Sweeps) -> Iterator[Measured]:
    """ABQ without its corrector, and with releases of few ACKs."""
    runs = sweeps["alone"]
    for metric in ("mean_queue", "time_congested", "drops", "p99_fct"):
        yield difference(runs, ("no_corrector", ABQ), metric)
    yield difference(runs, (ABQ, "no_corrector"), "goodput")
    for one in RELEASES:
        yield difference(runs, (ABQ, one), "goodput")
        for metric in ("p50_fct", "p99_fct"):
            yield difference(runs, (one, ABQ), metric, 0)


def measure_beside(sweeps: Sweeps) -> Iterator[Measured]:
    """Tail drop with TCP and RED, without ABQ and with it."""
    for one in ("drop_tail", "red"):
        held = f"{one}_abq"
        yield difference(sweeps["beside"], (one, held), "mean_queue")
        yield difference(sweeps["beside"], (one, held), "drops")
        yield difference(sweeps["beside"], (held, one), "goodput")


FIGURES: dict[str, Figure] = {
    "claim-equal": Figure(measure_equal),
    "claim-alone": Figure(measure_alone),
    "claim-beside": Figure(measure_beside),
}
