"""Measures of DIBS's claims in the text (sections 2 to 4, 5.3, 5.4.1, 5.7, footnote of section 7)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from overspill import Key, Value, columns
from overspill.papers.common import build_measured, divide_by_seed
from overspill.papers.spec import Measure, Measured, Runs, Sweeps

from .mixed import (
    DCTCP,
    DIBS,
    FlowStatistic,
    FlowStatistics,
    exact_values,
    finite_mean,
    flow_statistics,
    point_at,
)
from .parameters import count_differing_flows

NO_FAST_RETRANSMIT, NEWRENO = "dctcp_nofr", "dibs_newreno"
DUPACK_PATH = "variants.dibs.transport.dupack_threshold"
MIN_RTO_PATH = "transport.min_rto"
BURST_SENDERS_PATH = "traffic.burst.senders"
NO_DETOUR_DROPS = Key("drops", reason="no_detour")
LAST_SWITCH = "s3"


def measure_section_2(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures the flows that detours change in runs without a full queue, and drops and detours there."""
    runs = sweeps["quiet"]
    both = zip(runs.tables("flows", NO_FAST_RETRANSMIT), runs.tables("flows", DIBS), strict=True)
    yield build_measured("no full queue", "flows_that_differ", [count_differing_flows(*one) for one in both])
    full = runs.metric("drops", NO_FAST_RETRANSMIT) + runs.metric("detours", DIBS)
    yield build_measured("no full queue", "drops_and_detours", full)


def measure_section_3(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures queues and detours of a congestion control that reacts to losses only."""
    runs = sweeps["newreno"]
    queues, often = (
        [runs.metric(name, variant) for variant in (NEWRENO, DIBS)] for name in ("queue_all_mean", "detours")
    )
    means = f"NewReno {finite_mean(queues[0]):.3g}, DCTCP {finite_mean(queues[1]):.3g}"
    note = f"{means}; mean over all switch ports"
    yield build_measured("NewReno less DCTCP", "mean_queue", queues[0] - queues[1], note)
    yield build_measured("NewReno by DCTCP", "detours", divide_by_seed(*often))


def measure_section_4a(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures p99 QCT by the threshold of duplicate ACKs."""
    runs = sweeps["dupacks"]
    by_threshold = {point[DUPACK_PATH]: runs.metric("qct_p99", DIBS, point) * 1e3 for point in runs.points}
    note = ", ".join(f"{one}: {finite_mean(value):.3g} ms" for one, value in by_threshold.items())
    off = by_threshold["off"]
    yield build_measured("threshold 20 by off", "p99_qct", divide_by_seed(by_threshold["20"], off), note)
    yield build_measured("threshold 3 less off", "p99_qct", by_threshold["3"] - off)


def measure_section_4b(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures p99 QCT with two values of the minimum RTO."""
    runs = sweeps["min_rto"]
    both = [runs.metric("qct_p99", DIBS, point_at(runs, MIN_RTO_PATH, value)) for value in ("1ms", "10ms")]
    note = f"{1e3 * finite_mean(both[0]):.3g} and {1e3 * finite_mean(both[1]):.3g} ms"
    yield build_measured("minRTO 1 ms by 10 ms", "p99_qct", divide_by_seed(*both), note)


def measure_section_4c(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures reordering, timeouts and drops of the default traffic."""
    runs = sweeps["default"]
    yield build_measured("default", "reordered_packets", 100 * runs.metric("reordered_share", DIBS))
    found = flow_statistics(runs, DIBS)
    yield build_measured("default", "timeouts_per_flow", [100 * one.timeouts / one.flows for one in found])
    yield build_measured("default", "drops", runs.metric("drops", DIBS))


def time_ratio_dibs_to_dctcp(runs: Runs, of: FlowStatistic) -> np.ndarray:
    """Returns a time with detours divided by the time without detours, seed by seed."""
    return divide_by_seed(*(exact_values(flow_statistics(runs, variant), of) for variant in (DIBS, DCTCP)))


def mean_large_fct(one: FlowStatistics) -> Value:
    """Returns the mean FCT of background flows of 1 MB or more."""
    return one.large_mean


def median_background_fct(one: FlowStatistics) -> Value:
    """Returns the median FCT of background flows."""
    return one.median


def measure_section_5_3(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures the mean FCT of long background flows."""
    found = time_ratio_dibs_to_dctcp(sweeps["default"], mean_large_fct)
    yield build_measured("flows of 1 MB or more", "mean_fct_dibs_by_dctcp", found)


def measure_section_5_4_1(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures the median FCT of background flows."""
    yield build_measured(
        "background",
        "median_fct_dibs_by_dctcp",
        time_ratio_dibs_to_dctcp(sweeps["default"], median_background_fct),
    )


def measure_section_5_7(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures the rounds of a response that is alone in the network, and the segments in each."""
    runs = sweeps["alone"]
    by_round = segments_by_round(runs.tables("packets", runs.variants[0])[0])
    yield build_measured("20 KB", "rounds_to_send", [float(len(by_round))])
    for name, count in zip(("first", "second"), by_round, strict=False):
        yield build_measured(f"20 KB, {name} round", "segments", [float(count)])


def segments_by_round(packets: pa.Table) -> list[int]:
    """Returns the segments of a flow by round, from `packets`.

    A segment belongs to the round after that of the segment whose ACK was the last to arrive before it was
    sent.
    """
    names = ("reverse", "emission", "sent_ps", "end_ps")
    reverse, number, sent, end = (columns.column_to_numpy(packets, name).astype(np.int64) for name in names)
    acks = sorted(zip(end[reverse == 1], number[reverse == 1], strict=True))
    of: dict[int, int] = {}
    for at_ps, segment in sorted(zip(sent[reverse == 0], number[reverse == 0], strict=True)):
        before = [one for came, one in acks if came <= at_ps]
        of[segment] = 1 + (of[before[-1]] if before else 0)
    return [int(count) for count in np.bincount(list(of.values()))[1:]]


def measure_section_7(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures a line of switches, whose last one detours packets backward or drops them."""
    runs = sweeps["line"]
    for case, senders in (("burst", 44), ("large burst", 110)):
        point = point_at(runs, BURST_SENDERS_PATH, senders)
        yield build_measured(case, "unfinished_flows", runs.metric("unfinished_flows", DIBS, point))
        lost = runs.metric("drops", DIBS, point)
        if case == "burst":
            yield build_measured(case, "drops", lost)
            back = [detours_at_last_switch(runs, table) for table in runs.tables("ports", DIBS, point)]
            yield build_measured(case, "detours_back", back)
            continue
        nowhere = runs.metric(NO_DETOUR_DROPS, DIBS, point)
        yield build_measured(case, "drops_with_nowhere_to_go", nowhere)
        yield build_measured(case, "drops_for_other_reasons", lost - nowhere)


def detours_at_last_switch(runs: Runs, table: pa.Table) -> int:
    """Returns the detours at the last switch of the line, from `ports`."""
    here = columns.column_to_numpy(table, "node") == runs.node(LAST_SWITCH)
    return int(columns.column_to_numpy(table, "detoured")[here].sum())


MEASURES: dict[str, Measure] = {
    "sec2a": measure_section_2,
    "sec3": measure_section_3,
    "sec4a": measure_section_4a,
    "sec4b": measure_section_4b,
    "sec4c": measure_section_4c,
    "sec5.3": measure_section_5_3,
    "sec5.4a": measure_section_5_4_1,
    "sec5.7": measure_section_5_7,
    "sec7": measure_section_7,
}
