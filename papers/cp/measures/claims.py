"""Measures of the claims of sections 3.1, 4.5 and 4.6, and of the conclusion."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from overspill import columns
from overspill.papers.common import measured, quotients
from overspill.papers.spec import Measure, Measured, Point, Runs, Sweeps

from . import fair_shares, incast, realistic
from .incast import DEGREE, MANY
from .schemes import (
    BOTH,
    CP,
    HEADER,
    NAMES,
    at,
    headers_lost,
    headers_lost_at_most,
    mean_over,
    metric_of,
    numbers,
    point_with,
    timeouts,
    timeouts_of_queries,
)

SENDERS = {"standard": "standard TCP", "rfc3042": "RFC 3042", "linux": "Linux", "tlp": "TLP", "cp": "CP"}
FLOWS = "traffic.first.flows"  # flows of each of three hosts; the second group has as many
HOSTS = 6
FIRST, SECOND = "first", "second"
AVERAGE = 864  # bytes of the packet of average size, Ethernet header included
RATE = "traffic.burst.rate"
EXTRA = "variants.cp.switch.overflow.extra"
SOURCES = 12


def figure_stall(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures timeouts of a query by sender, and CP's completion times relative to other senders."""
    runs = sweeps["stall"]
    for degree in numbers(runs, DEGREE):
        point = at(runs, DEGREE, degree)
        for variant, name in SENDERS.items():
            yield measured(f"{name}, {degree:.0f} senders", "timeouts", per_query(runs, variant, point))
        own = runs.metric("qct_mean", "cp", point)
        for variant in ("rfc3042", "linux", "tlp"):
            case = f"CP by {SENDERS[variant]}, {degree:.0f} senders"
            ratio = quotients(own, runs.metric("qct_mean", variant, point))
            yield measured(case, "query_completion_time", ratio)
    runs = sweeps["stall_tail"]
    [point] = runs.points
    probed, plain = (per_query(runs, one, point) for one in ("tlp", "standard"))
    note = f"{probed.mean():.3g} by {plain.mean():.3g} timeouts a query"
    case = "TLP by standard TCP, flows of one window"
    yield measured(case, "timeouts", quotients(probed, plain), note)


def per_query(runs: Runs, variant: str, point: Point) -> np.ndarray:
    """Mean timeouts of responses over a run's queries, run by run."""
    return np.array([one.mean() for one in timeouts_of_queries(runs, variant, point)])


def figure_beside(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures goodput, timeouts and trimmed packets of flows with and without CP that share a network."""
    runs = sweeps["beside"]
    for point in runs.points:
        size = f"{HOSTS * float(point[FLOWS]):.0f} flows"
        alone, beside = (runs.metric(metric_of("goodput", FIRST), one, point) for one in ("tcp", "mixed"))
        case = f"TCP beside CP by TCP alone, {size}"
        yield measured(case, "goodput", quotients(beside, alone))
        own = runs.metric(metric_of("goodput", SECOND), "mixed", point)
        yield measured(f"CP by TCP beside it, {size}", "goodput", quotients(own, beside))
        expired = [expiries(runs, one, point)[0] for one in ("tcp", "mixed")]
        note = f"{expired[1].mean():.4g} by {expired[0].mean():.4g} timeouts a run"
        yield measured(case, "timeouts", quotients(expired[1], expired[0]), note)
        cut = runs.metric(metric_of("trims", FIRST), "mixed", point)
        yield measured(f"TCP beside CP, {size}", "packets_cut", cut)
        case = f"CP by TCP, switches without CP, {size}"
        with_cp, without, there = (both(runs, one, point) for one in ("plain_switches", "plain", "tcp"))
        yield measured(case, "goodput", quotients(with_cp, without))
        here, elsewhere = (np.sum(expiries(runs, one, point), axis=0) for one in ("plain_switches", "plain"))
        yield measured(case, "timeouts", quotients(here, elsewhere))
        case = f"TCP, switches with CP by without, {size}"
        yield measured(case, "goodput", quotients(there, without))


def both(runs: Runs, variant: str, point: Point) -> np.ndarray:
    """Goodput of both groups together."""
    return np.asarray(sum(runs.metric(metric_of("goodput", one), variant, point) for one in (FIRST, SECOND)))


def expiries(runs: Runs, variant: str, point: Point) -> list[np.ndarray]:
    """Timeouts of each group over the whole run, since flows begin before the measurement window."""
    found = []
    for table in runs.tables("flows", variant, point):
        expired = columns.numbers(table, "timeouts")
        found.append(np.bincount(columns.numbers(table, "traffic"), weights=expired, minlength=2))
    return list(np.array(found).T)


def cut_size(_: Sweeps) -> Iterator[Measured]:
    """Measures the size of a trimmed packet relative to the average packet."""
    yield measured("packet of 864 B", "left_of_a_cut_packet", [100 * HEADER / AVERAGE])


def bursts(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the lowest total rate in Gb/s at which headers are dropped, among the rates that were run.

    All dropped frames are trimmed ones.
    """
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
    """Measures dropped headers with extra buffer for one frame only."""
    runs = sweeps["small_extra"]
    lost = headers_lost(runs, CP, point_with(runs, EXTRA, "1518B"))
    yield measured("MapReduce, 250 senders, room for one frame", "headers_lost", lost)


def lost_feedback(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures timeouts if PACKs or headers are dropped."""
    runs = sweeps["lost_pack"]
    note = f"{runs.metric('packs', CP).mean():.3g} PACKs a run came"
    yield measured("a PACK is lost", "timeouts", timeouts(runs, CP), note)
    runs = sweeps["lost_header"]
    note = f"{headers_lost(runs, CP).mean():.3g} % of headers lost"
    yield measured("a header is lost", "timeouts", timeouts(runs, CP), note)


def rarely(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures dropped headers with 4 KB of extra buffer."""
    runs = sweeps["small_extra"]
    yield measured(
        "MapReduce, 250 senders", "headers_lost", headers_lost(runs, CP, point_with(runs, EXTRA, "4KiB"))
    )
    runs = sweeps["pairs"]
    yield measured("120-20", "headers_lost", headers_lost_at_most(runs, CP, at(runs, fair_shares.FLOWS, 20)))
    runs = sweeps["many"]
    lost = headers_lost_at_most(runs, CP, at(runs, fair_shares.FLOWS, 100))
    yield measured("50 background, 100 experimental flows", "headers_lost", lost)


def best(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the excess of CP&DCTCP over the best other scheme, by means over seeds."""
    runs = sweeps["mapreduce"]
    high = {one: mean_over(incast.throughput(runs, one, MANY)) for one in runs.variants}
    yield compared("figure 8a", high, higher=True)
    runs = sweeps["web_search"]
    yield compared("figure 8b", {one: mean_over(incast.completion(runs, one)) for one in runs.variants})
    runs = sweeps["pairs"]
    points = [at(runs, fair_shares.FLOWS, n) for n in fair_shares.EVERY.values()]
    found = {
        one: np.mean([fair_shares.efjr(runs, one, p) for p in points], axis=0) for one in fair_shares.FOUR
    }
    yield compared("figure 11", found)
    runs = sweeps["many"]
    apart = {
        one: mean_over(np.abs(fair_shares.by_theory(runs, one, 50, runs.points) - 1))
        for one in fair_shares.FIVE
    }
    yield compared("figure 12b", apart)
    runs = sweeps["realistic_web_search"]
    point = point_with(runs, realistic.AGGREGATION, "128KiB")
    yield compared("figure 15a", {one: realistic.tail(runs, one, "p99", point) for one in realistic.COMPARED})
    runs = sweeps["tenfold"]
    yield compared("figure 16a", {one: realistic.tail(runs, one, "p99") for one in realistic.COMPARED})


def compared(case: str, found: dict[str, np.ndarray], higher: bool = False) -> Measured:
    """Returns how much worse CP&DCTCP is than the best other scheme (by the mean over seeds), in %."""
    sign = -1 if higher else 1
    others = {one: values for one, values in found.items() if one != BOTH}
    if none := [one for one, values in found.items() if not np.isfinite(values).all()]:
        text = f"{', '.join(NAMES[one] for one in none)} without a value in some run"
        return measured(case, "worse_than_the_best_other", np.full(len(found[BOTH]), np.nan), text)
    winner = min(others, key=lambda one: sign * float(np.mean(others[one])))
    worse = 100 * sign * quotients(found[BOTH] - others[winner], others[winner])
    return measured(case, "worse_than_the_best_other", worse, f"the best other is {winner}")


MEASURES: dict[str, Measure] = {
    "sec3.1": figure_stall,
    "sec4.5": figure_beside,
    "sec4.6a": cut_size,
    "sec4.6b": bursts,
    "sec4.6c": small_room,
    "sec4.6d": lost_feedback,
    "sec4.6e": rarely,
    "concl": best,
}
