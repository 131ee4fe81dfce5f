"""Measures of claims in the text: sections 2 to 4, 5.3, 5.4.1 and 5.7, and a footnote of section 7."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from overspill import Key, Value, columns
from overspill.papers.common import measured, quotients
from overspill.papers.spec import Measure, Measured, Runs, Sweeps

from .mixed import DCTCP, DIBS, Of, Times, at, exact, flows_of, mean
from .parameters import differing

NOFR, NEWRENO = "dctcp_nofr", "dibs_newreno"
DUPACKS = "variants.dibs.transport.dupack_threshold"
MIN_RTO = "transport.min_rto"
BURST = "traffic.burst.senders"
NOWHERE = Key("drops", reason="no_detour")
END_OF_THE_LINE = "s3"


def section_2(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures that flows are identical with and without detours if no queue is full."""
    runs = sweeps["quiet"]
    both = zip(runs.tables("flows", NOFR), runs.tables("flows", DIBS), strict=True)
    yield measured("no full queue", "flows_that_differ", [differing(*one) for one in both])
    full = runs.metric("drops", NOFR) + runs.metric("detours", DIBS)
    yield measured("no full queue", "drops_and_detours", full)


def section_3(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures queues and detours of a congestion control that waits for losses."""
    runs = sweeps["newreno"]
    queues, often = (
        [runs.metric(name, variant) for variant in (NEWRENO, DIBS)] for name in ("queue_all_mean", "detours")
    )
    note = f"NewReno {mean(queues[0]):.3g}, DCTCP {mean(queues[1]):.3g}; of all ports of switches"
    yield measured("NewReno less DCTCP", "mean_queue", queues[0] - queues[1], note)
    yield measured("NewReno by DCTCP", "detours", quotients(*often))


def section_4a(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures p99 QCT by the threshold of duplicate ACKs."""
    runs = sweeps["dupacks"]
    by_threshold = {point[DUPACKS]: runs.metric("qct_p99", DIBS, point) * 1e3 for point in runs.points}
    note = ", ".join(f"{one}: {mean(value):.3g} ms" for one, value in by_threshold.items())
    off = by_threshold["off"]
    yield measured("threshold 20 by off", "p99_qct", quotients(by_threshold["20"], off), note)
    yield measured("threshold 3 less off", "p99_qct", by_threshold["3"] - off)


def section_4b(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures p99 QCT with two values of the minimum RTO."""
    runs = sweeps["min_rto"]
    both = [runs.metric("qct_p99", DIBS, at(runs, MIN_RTO, value)) for value in ("1ms", "10ms")]
    note = f"{1e3 * mean(both[0]):.3g} and {1e3 * mean(both[1]):.3g} ms"
    yield measured("minRTO 1 ms by 10 ms", "p99_qct", quotients(*both), note)


def section_4c(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures reordering, timeouts and drops of the default traffic."""
    runs = sweeps["default"]
    yield measured("default", "reordered_packets", 100 * runs.metric("reordered_share", DIBS))
    found = flows_of(runs, DIBS)
    yield measured("default", "timeouts_per_flow", [100 * one.timeouts / one.flows for one in found])
    yield measured("default", "drops", runs.metric("drops", DIBS))


def by_dctcp(runs: Runs, of: Of) -> np.ndarray:
    """Returns a time with detours divided by that without, seed by seed."""
    return quotients(*(exact(flows_of(runs, variant), of) for variant in (DIBS, DCTCP)))


def large_mean(one: Times) -> Value:
    """Returns the mean FCT of background flows of 1 MB or more."""
    return one.large_mean


def median(one: Times) -> Value:
    """Returns the median FCT of background flows."""
    return one.median


def section_53(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures the mean FCT of long background flows."""
    found = by_dctcp(sweeps["default"], large_mean)
    yield measured("flows of 1 MB or more", "mean_fct_dibs_by_dctcp", found)


def section_541(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures the median FCT of background flows."""
    yield measured("background", "median_fct_dibs_by_dctcp", by_dctcp(sweeps["default"], median))


def section_57(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures the number of rounds of a response that is alone in the network, and their segments."""
    runs = sweeps["alone"]
    by_round = rounds(runs.tables("packets", runs.variants[0])[0])
    yield measured("20 KB", "rounds_to_send", [float(len(by_round))])
    for name, count in zip(("first", "second"), by_round, strict=False):
        yield measured(f"20 KB, {name} round", "segments", [float(count)])


def rounds(packets: pa.Table) -> list[int]:
    """Returns the segments of a flow by round, from `packets`.

    A segment belongs to the round after that of the segment whose ACK was the last to arrive before it was
    sent.
    """
    names = ("reverse", "emission", "sent_ps", "end_ps")
    reverse, number, sent, end = (columns.numbers(packets, name).astype(np.int64) for name in names)
    acks = sorted(zip(end[reverse == 1], number[reverse == 1], strict=True))
    of: dict[int, int] = {}
    for at_ps, segment in sorted(zip(sent[reverse == 0], number[reverse == 0], strict=True)):
        before = [one for came, one in acks if came <= at_ps]
        of[segment] = 1 + (of[before[-1]] if before else 0)
    return [int(count) for count in np.bincount(list(of.values()))[1:]]


def section_7(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures a line of switches, whose last one detours packets backward or drops them."""
    runs = sweeps["line"]
    for case, senders in (("burst", 44), ("large burst", 110)):
        point = at(runs, BURST, senders)
        yield measured(case, "unfinished_flows", runs.metric("unfinished_flows", DIBS, point))
        lost = runs.metric("drops", DIBS, point)
        if case == "burst":
            yield measured(case, "drops", lost)
            back = [detoured_at(runs, table) for table in runs.tables("ports", DIBS, point)]
            yield measured(case, "detours_back", back)
            continue
        nowhere = runs.metric(NOWHERE, DIBS, point)
        yield measured(case, "drops_with_nowhere_to_go", nowhere)
        yield measured(case, "drops_for_other_reasons", lost - nowhere)


def detoured_at(runs: Runs, table: pa.Table) -> int:
    """Returns the detours at the last switch of the line, from `ports`."""
    here = columns.numbers(table, "node") == runs.node(END_OF_THE_LINE)
    return int(columns.numbers(table, "detoured")[here].sum())


MEASURES: dict[str, Measure] = {
    "sec2a": section_2,
    "sec3": section_3,
    "sec4a": section_4a,
    "sec4b": section_4b,
    "sec4c": section_4c,
    "sec5.3": section_53,
    "sec5.4a": section_541,
    "sec5.7": section_57,
    "sec7": section_7,
}
