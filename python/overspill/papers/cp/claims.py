"""Section 4.6, and what the conclusion says of all figures."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from overspill.papers.common import measured, quotients
from overspill.papers.cp import bottlenecks, incast_curves, outcast, realistic
from overspill.papers.cp.incast import MANY
from overspill.papers.cp.schemes import (
    BOTH,
    CP,
    HEADER,
    NAMES,
    Sweeps,
    at,
    headers_lost,
    headers_lost_at_most,
    mean_over,
    timeouts,
)
from overspill.papers.spec import Figure, Measured, Point, Runs

AVERAGE = 864  # bytes of the packet of average size, Ethernet header included
RATE = "traffic.burst.rate"
EXTRA = "variants.cp.switch.overflow.extra"
SOURCES = 12


def cut_size(_: Sweeps) -> Iterator[Measured]:
    """What is left of a packet."""
    yield measured("packet of 864 B", "left_of_a_cut_packet", [100 * HEADER / AVERAGE])


def bursts(sweeps: Sweeps) -> Iterator[Measured]:
    """The least rate at which frames are lost, all of them cut: of two points the upper."""
    runs = sweeps["headers"]
    found = []
    for seed in range(len(runs.seeds)):
        rates = [
            float(point[RATE].removesuffix("Mbps")) * SOURCES / 1e3
            for point in runs.points
            if runs.metric("drops", CP, point)[seed] > 0
        ]
        found.append(min(rates, default=float("nan")))
    case = "packets of 864 B into 1 Gb/s"
    yield measured(case, "burst_without_loss_of_headers", found)


def small_room(sweeps: Sweeps) -> Iterator[Measured]:
    """Room for one frame alone."""
    runs = sweeps["small_extra"]
    lost = headers_lost(runs, CP, room(runs, "1518B"))
    yield measured("MapReduce, 250 senders, room for one frame", "headers_lost", lost)


def room(runs: Runs, extra: str) -> Point:
    """The point with so much room for headers."""
    return next(point for point in runs.points if point[EXTRA] == extra)


def lost_feedback(sweeps: Sweeps) -> Iterator[Measured]:
    """Timeouts where PACKs or headers are lost."""
    runs = sweeps["lost_pack"]
    note = f"{runs.metric('packs', CP).mean():.3g} PACKs a run came"
    yield measured("a PACK is lost", "timeouts", timeouts(runs, CP), note)
    runs = sweeps["lost_header"]
    note = f"{headers_lost(runs, CP).mean():.3g} % of headers lost"
    yield measured("a header is lost", "timeouts", timeouts(runs, CP), note)


def rarely(sweeps: Sweeps) -> Iterator[Measured]:
    """Headers that are lost with 4 KB of room."""
    runs = sweeps["small_extra"]
    yield measured("MapReduce, 250 senders", "headers_lost", headers_lost(runs, CP, room(runs, "4KiB")))
    runs = sweeps["pairs"]
    yield measured("120-20", "headers_lost", headers_lost_at_most(runs, CP, at(runs, outcast.FLOWS, 20)))
    runs = sweeps["many"]
    lost = headers_lost_at_most(runs, CP, at(runs, bottlenecks.FLOWS, 100))
    yield measured("50 background, 100 experimental flows", "headers_lost", lost)


def best(sweeps: Sweeps) -> Iterator[Measured]:
    """By how much CP&DCTCP is worse than the best other scheme, by means over seeds."""
    runs = sweeps["mapreduce"]
    high = {one: mean_over(incast_curves.throughput(runs, one, MANY)) for one in runs.variants}
    yield compared("figure 8a", high, higher=True)
    runs = sweeps["web_search"]
    yield compared(
        "figure 8b", {one: mean_over(incast_curves.completion(runs, one)) for one in runs.variants}
    )
    runs = sweeps["pairs"]
    points = [at(runs, outcast.FLOWS, n) for n in outcast.EVERY.values()]
    found = {one: np.mean([outcast.efjr(runs, one, p) for p in points], axis=0) for one in outcast.FOUR}
    yield compared("figure 11", found)
    runs = sweeps["many"]
    apart = {
        one: mean_over(np.abs(bottlenecks.by_theory(runs, one, 50, runs.points) - 1))
        for one in bottlenecks.FIVE
    }
    yield compared("figure 12b", apart)
    runs = sweeps["realistic_web_search"]
    point = realistic.place(runs, realistic.AGGREGATION, "128KiB")
    yield compared("figure 15a", {one: realistic.tail(runs, one, "p99", point) for one in realistic.FOUR})
    runs = sweeps["tenfold"]
    yield compared("figure 16a", {one: realistic.tail(runs, one, "p99") for one in realistic.FOUR})


def compared(case: str, found: dict[str, np.ndarray], higher: bool = False) -> Measured:
    """CP&DCTCP beside the best other, which is that of the mean over seeds, %."""
    sign = -1 if higher else 1
    others = {one: values for one, values in found.items() if one != BOTH}
    if none := [one for one, values in found.items() if not np.isfinite(values).all()]:
        text = f"{', '.join(NAMES[one] for one in none)} without a value in some run"
        return measured(case, "worse_than_the_best_other", np.full(len(found[BOTH]), np.nan), text)
    winner = min(others, key=lambda one: sign * float(np.mean(others[one])))
    worse = 100 * sign * quotients(found[BOTH] - others[winner], others[winner])
    return measured(case, "worse_than_the_best_other", worse, f"the best other is {winner}")


FIGURES: dict[str, Figure] = {
    "sec4.6a": Figure(cut_size),
    "sec4.6b": Figure(bursts),
    "sec4.6c": Figure(small_room),
    "sec4.6d": Figure(lost_feedback),
    "sec4.6e": Figure(rarely),
    "concl": Figure(best),
}
