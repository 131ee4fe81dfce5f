"""Measures of CP's claims in sections 3.1, 4.5 and 4.6, and in the conclusion."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from overspill import columns
from overspill.papers.common import build_measured, divide_by_seed
from overspill.papers.spec import Measure, Measured, Point, Runs, Sweeps

from . import fair_shares, incast, realistic
from .incast import DEGREE_PATH, MIN_LEVEL_SENDERS
from .schemes import (
    CP,
    CP_DCTCP,
    NAMES,
    TRIMMED_BYTES,
    headers_lost,
    headers_lost_at_most,
    mean_over_points,
    metric_key,
    path_values,
    point_at,
    point_with,
    response_timeouts,
    response_timeouts_by_query,
)

SENDER_NAMES = {"standard": "standard TCP", "rfc3042": "RFC 3042", "linux": "Linux", "tlp": "TLP", "cp": "CP"}
FLOWS_PATH = "traffic.first.flows"  # flows of each of three hosts; the second group has as many
HOST_COUNT = 6
FIRST_GROUP, SECOND_GROUP = "first", "second"
AVERAGE_PACKET_BYTES = 864  # bytes of the packet of average size, Ethernet header included
BURST_RATE_PATH = "traffic.burst.rate"
EXTRA_BUFFER_PATH = "variants.cp.switch.overflow.extra"
SOURCE_COUNT = 12


def measure_stalled_queries(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures timeouts of a query by sender, and CP's completion times relative to other senders."""
    runs = sweeps["stall"]
    for degree in path_values(runs, DEGREE_PATH):
        point = point_at(runs, DEGREE_PATH, degree)
        for variant, name in SENDER_NAMES.items():
            yield build_measured(
                f"{name}, {degree:.0f} senders", "timeouts", timeouts_per_query(runs, variant, point)
            )
        own = runs.metric("qct_mean", "cp", point)
        for variant in ("rfc3042", "linux", "tlp"):
            case = f"CP by {SENDER_NAMES[variant]}, {degree:.0f} senders"
            ratio = divide_by_seed(own, runs.metric("qct_mean", variant, point))
            yield build_measured(case, "query_completion_time", ratio)
    runs = sweeps["stall_tail"]
    [point] = runs.points
    probed, plain = (timeouts_per_query(runs, one, point) for one in ("tlp", "standard"))
    note = f"{probed.mean():.3g} / {plain.mean():.3g} timeouts a query"
    case = "TLP by standard TCP, flows of one window"
    yield build_measured(case, "timeouts", divide_by_seed(probed, plain), note)


def timeouts_per_query(runs: Runs, variant: str, point: Point) -> np.ndarray:
    """Mean timeouts of responses over a run's queries, run by run."""
    return np.array([one.mean() for one in response_timeouts_by_query(runs, variant, point)])


def measure_coexistence(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures goodput, timeouts and trimmed packets if flows with and without CP share a network."""
    runs = sweeps["beside"]
    for point in runs.points:
        size = f"{HOST_COUNT * float(point[FLOWS_PATH]):.0f} flows"
        alone, beside = (
            runs.metric(metric_key("goodput", FIRST_GROUP), one, point) for one in ("tcp", "mixed")
        )
        case = f"TCP beside CP by TCP alone, {size}"
        yield build_measured(case, "goodput", divide_by_seed(beside, alone))
        own = runs.metric(metric_key("goodput", SECOND_GROUP), "mixed", point)
        yield build_measured(f"CP by TCP beside it, {size}", "goodput", divide_by_seed(own, beside))
        expired = [timeouts_by_group(runs, one, point)[0] for one in ("tcp", "mixed")]
        note = f"{expired[1].mean():.4g} / {expired[0].mean():.4g} timeouts a run"
        yield build_measured(case, "timeouts", divide_by_seed(expired[1], expired[0]), note)
        cut = runs.metric(metric_key("trims", FIRST_GROUP), "mixed", point)
        yield build_measured(f"TCP beside CP, {size}", "packets_cut", cut)
        case = f"CP by TCP, switches without CP, {size}"
        with_cp, without, there = (
            total_goodput(runs, one, point) for one in ("plain_switches", "plain", "tcp")
        )
        yield build_measured(case, "goodput", divide_by_seed(with_cp, without))
        here, elsewhere = (
            np.sum(timeouts_by_group(runs, one, point), axis=0) for one in ("plain_switches", "plain")
        )
        yield build_measured(case, "timeouts", divide_by_seed(here, elsewhere))
        case = f"TCP, switches with CP by without, {size}"
        yield build_measured(case, "goodput", divide_by_seed(there, without))


def total_goodput(runs: Runs, variant: str, point: Point) -> np.ndarray:
    """Goodput of flows with CP and of flows without it, together."""
    return np.asarray(
        sum(runs.metric(metric_key("goodput", one), variant, point) for one in (FIRST_GROUP, SECOND_GROUP))
    )


def timeouts_by_group(runs: Runs, variant: str, point: Point) -> list[np.ndarray]:
    """Timeouts of flows with CP and of flows without it, over the whole run.

    Flows begin before the measurement window.
    """
    found = []
    for table in runs.tables("flows", variant, point):
        expired = columns.column_to_numpy(table, "timeouts")
        found.append(np.bincount(columns.column_to_numpy(table, "traffic"), weights=expired, minlength=2))
    return list(np.array(found).T)


def measure_trimmed_size(_: Sweeps) -> Iterator[Measured]:
    """Measures the size of a trimmed packet relative to the average packet."""
    yield build_measured(
        "packet of 864 B", "left_of_a_cut_packet", [100 * TRIMMED_BYTES / AVERAGE_PACKET_BYTES]
    )


def measure_burst_limit(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the lowest total rate in Gb/s at which headers are dropped, among the rates that were run.

    All dropped frames are trimmed ones.
    """
    runs = sweeps["headers"]
    found = []
    for seed in range(len(runs.seeds)):
        rates = [
            float(point[BURST_RATE_PATH].removesuffix("Mbps")) * SOURCE_COUNT / 1e3
            for point in runs.points
            if runs.metric("drops", CP, point)[seed] > 0
        ]
        found.append(min(rates, default=float("nan")))
    case = "packets of 864 B into 1 Gb/s"
    yield build_measured(case, "burst_without_loss_of_headers", found)


def measure_one_frame_of_buffer(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures dropped headers with extra buffer for one frame only."""
    runs = sweeps["small_extra"]
    lost = headers_lost(runs, CP, point_with(runs, EXTRA_BUFFER_PATH, "1518B"))
    yield build_measured("MapReduce, 250 senders, room for one frame", "headers_lost", lost)


def measure_lost_feedback(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures timeouts if PACKs or headers are dropped."""
    runs = sweeps["lost_pack"]
    note = f"{runs.metric('packs', CP).mean():.3g} PACKs arrive in a run"
    yield build_measured("a PACK is lost", "timeouts", response_timeouts(runs, CP), note)
    runs = sweeps["lost_header"]
    note = f"{headers_lost(runs, CP).mean():.3g} % of headers lost"
    yield build_measured("a header is lost", "timeouts", response_timeouts(runs, CP), note)


def measure_rare_header_drops(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the share of headers dropped with 4 KB of extra buffer for headers."""
    runs = sweeps["small_extra"]
    yield build_measured(
        "MapReduce, 250 senders",
        "headers_lost",
        headers_lost(runs, CP, point_with(runs, EXTRA_BUFFER_PATH, "4KiB")),
    )
    runs = sweeps["pairs"]
    yield build_measured(
        "120-20", "headers_lost", headers_lost_at_most(runs, CP, point_at(runs, fair_shares.FLOWS_PATH, 20))
    )
    runs = sweeps["many"]
    lost = headers_lost_at_most(runs, CP, point_at(runs, fair_shares.FLOWS_PATH, 100))
    yield build_measured("50 background, 100 experimental flows", "headers_lost", lost)


def measure_best_scheme(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures how much worse CP&DCTCP is than the best other scheme, by means over seeds."""
    runs = sweeps["mapreduce"]
    high = {one: mean_over_points(incast.throughput(runs, one, MIN_LEVEL_SENDERS)) for one in runs.variants}
    yield excess_over_best("figure 8a", high, higher=True)
    runs = sweeps["web_search"]
    yield excess_over_best(
        "figure 8b", {one: mean_over_points(incast.mean_completion(runs, one)) for one in runs.variants}
    )
    runs = sweeps["pairs"]
    points = [point_at(runs, fair_shares.FLOWS_PATH, n) for n in fair_shares.ALL_PAIRS.values()]
    found = {
        one: np.mean([fair_shares.goodput_deviation(runs, one, p) for p in points], axis=0)
        for one in fair_shares.FOUR_SCHEMES
    }
    yield excess_over_best("figure 11", found)
    runs = sweeps["many"]
    apart = {
        one: mean_over_points(np.abs(fair_shares.share_of_theory(runs, one, 50, runs.points) - 1))
        for one in fair_shares.FIVE_SCHEMES
    }
    yield excess_over_best("figure 12b", apart)
    runs = sweeps["realistic_web_search"]
    point = point_with(runs, realistic.AGGREGATION_BUFFER_PATH, "128KiB")
    yield excess_over_best(
        "figure 15a",
        {one: realistic.tail_completion(runs, one, "p99", point) for one in realistic.COMPARED_SCHEMES},
    )
    runs = sweeps["tenfold"]
    yield excess_over_best(
        "figure 16a", {one: realistic.tail_completion(runs, one, "p99") for one in realistic.COMPARED_SCHEMES}
    )


def excess_over_best(case: str, found: dict[str, np.ndarray], higher: bool = False) -> Measured:
    """Returns how much worse CP&DCTCP is than the best other scheme (by the mean over seeds), in %.

    A scheme without a value in some run is not the best: such as one whose flows get nothing.
    """
    metric, own = "worse_than_the_best_other", found[CP_DCTCP]
    sign = -1 if higher else 1
    none = [one for one, values in found.items() if not np.isfinite(values).all()]
    text = f"{', '.join(NAMES[one] for one in none)} without a value in some run" if none else ""
    others = {one: values for one, values in found.items() if one != CP_DCTCP and one not in none}
    if CP_DCTCP in none or not others:
        return build_measured(case, metric, np.full(len(own), np.nan), text)
    winner = min(others, key=lambda one: sign * float(np.mean(others[one])))
    worse = 100 * sign * divide_by_seed(own - others[winner], others[winner])
    note = "; ".join(filter(None, (f"the best other is {winner}", text)))
    return build_measured(case, metric, worse, note)


MEASURES: dict[str, Measure] = {
    "sec3.1": measure_stalled_queries,
    "sec4.5": measure_coexistence,
    "sec4.6a": measure_trimmed_size,
    "sec4.6b": measure_burst_limit,
    "sec4.6c": measure_one_frame_of_buffer,
    "sec4.6d": measure_lost_feedback,
    "sec4.6e": measure_rare_header_drops,
    "concl": measure_best_scheme,
}
