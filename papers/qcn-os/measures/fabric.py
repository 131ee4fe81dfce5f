"""Measures of figures 8 to 11: a fabric shared by f1 and f2, with f2 active from 50 to 150 ms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from overspill.papers.common import measured, quotient, quotients
from overspill.papers.spec import Measure, Measured, Runs, Sweeps

from .schemes import (
    ACKS,
    AS,
    F1,
    F2,
    NAMES,
    OFFER,
    OS,
    OUT,
    PFC,
    TWO,
    TWO_ACKS,
    Seen,
    by_ms,
    kb,
    steps,
    throughput,
    throughputs,
    value_by_run,
)

MEET = (50.0, 150.0)  # ms, while f2 is active
BEFORE, LATE, LAST = (0.0, 50.0), (60.0, 150.0), (110.0, 150.0)
DOWN, EARLY, FIRST, TOLD_LATE, TOLD_EARLY = (
    (55.0, 80.0),
    (60.0, 90.0),
    (50.0, 60.0),
    (100.0, 150.0),
    (50.0, 70.0),
)
NEAR = 10.0  # KB around the mean of the end
STAYS = 10  # ms
UNITS = {"Kbps": 1e-6, "Mbps": 1e-3, "Gbps": 1.0, "Tbps": 1e3}


def gbps(text: str) -> float:
    """Parses a rate of a resolved scenario, in Gb/s.

    Raises ValueError if the text is no rate.
    """
    parts = re.fullmatch(r"([0-9.]+) ?(Kbps|Mbps|Gbps|Tbps)", text)
    if parts is None:
        raise ValueError(f"{text} is no rate")
    return float(parts[1]) * UNITS[parts[2]]


def figure_8(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the fabric's settings in the runs, and the ideal throughput of each flow."""
    settings = sweeps["fabric"].settings(OS)
    [switch] = settings["switches"]
    inside = gbps(switch["fabric"]["link_rate"])
    link = gbps(settings["topology"]["link"]["rate"])
    yield measured("Ethernet link", "rate", [link])
    yield measured("link between supernodes", "rate", [inside])
    yield measured("buffer before it", "size", [kb(switch["fabric"]["link_buffer"])])
    yield measured("f1, ideal", "throughput", [min(OFFER, link)])
    yield measured("f2, ideal", "throughput", [min(OFFER, inside)])


def rows(
    runs: Runs, variant: str, flows: Sequence[int], named: tuple[str, tuple[float, float]]
) -> Iterator[Measured]:
    """Yields the rows of `throughputs` with the name of the scheme prepended."""
    for one in throughputs(runs, variant, flows, named):
        yield replace(one, case=f"{CASES[variant]}, {one.case}")


CASES = NAMES | {ACKS: "ACKs"}
FROM_60, FROM_110 = ("60 to 150 ms", LATE), ("110 to 150 ms", LAST)


def count_cnms(run: Seen, flow: int, window: tuple[float, float]) -> int:
    """Counts CNMs to a flow in a window."""
    return int(((run.told >= window[0]) & (run.told < window[1]) & (run.whom == flow)).sum())


def share(run: Seen, flow: int, window: tuple[float, float]) -> float:
    """Share of a flow in the CNMs to f1 and f2 in a window, in %; NaN without any."""
    return 100 * quotient(
        count_cnms(run, flow, window), count_cnms(run, F1, window) + count_cnms(run, F2, window)
    )


def held(run: Seen, flow: int, window: tuple[float, float]) -> float:
    """Mean bytes of a flow in the input in a window, copies included, in KB."""
    return float(run.stored[flow, steps(window)].mean())


def settled(run: Seen) -> float:
    """Time in ms at which f2's limit first falls to the rate of the internal link; NaN if it never does."""
    limit, inside = run.limits[F2], 2.5
    low = np.flatnonzero((limit.rates <= inside) & (limit.times >= MEET[0]))
    return float(limit.times[low[0]]) if len(low) else float("nan")


def stays(run: Seen) -> float:
    """Time in ms from which the backlog stays near its mean of the end; NaN if it never does.

    It stays if it is within `NEAR` for `STAYS` ms.
    """
    both = by_ms(run.stored.sum(axis=0))
    mean = both[round(LAST[0]) : round(LAST[1])].mean()
    near = np.abs(both[round(MEET[0]) : round(MEET[1])] - mean) <= NEAR
    whole = np.convolve(near, np.ones(STAYS), mode="valid") >= STAYS
    return MEET[0] + float(whole.argmax()) if whole.any() else float("nan")


def last_pause(run: Seen) -> float:
    """Time in ms at which the last pause before the end of f2 takes effect; NaN without any."""
    inside = run.pauses[run.pauses[:, 0] < MEET[1]] if len(run.pauses) else run.pauses
    return float(inside[-1, 0]) if len(inside) else float("nan")


def figure_9(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures PFC alone, arrival sampling at outputs and at inputs, and occupancy sampling."""
    runs = sweeps["fabric"]
    for variant in (PFC, OUT, AS, OS):
        yield from rows(runs, variant, [F1], ("before", BEFORE))
    yield from rows(runs, PFC, [F1, F2], FROM_60)
    yield from rows(runs, OUT, [F1], FROM_60)
    cnms = value_by_run(runs, OUT, lambda run: float((run.told < MEET[1]).sum()))
    later = value_by_run(runs, OUT, lambda run: float((run.told >= MEET[1]).sum()))
    note = f"{later.mean():.2g} afterwards, when what waits of f1 leaves at once"
    yield measured(NAMES[OUT], "cnms", cnms, note)
    for variant in (AS, OS):
        yield from rows(runs, variant, [F1, F2], FROM_110)
    yield measured(NAMES[AS], "last_pause", value_by_run(runs, AS, last_pause))
    limits = [value_by_run(runs, OS, lambda run, flow=flow: run.limits[flow].mean(DOWN)) for flow in (F1, F2)]  # type: ignore[misc]
    yield measured("QCN-OS, f1 by f2, 55 to 80 ms", "rate_limit", quotients(limits[0], limits[1]))
    yield measured("QCN-OS, f2", "rate_limit_settles_at", value_by_run(runs, OS, settled))
    both = value_by_run(runs, OS, lambda run: held(run, F1, TOLD_LATE) + held(run, F2, TOLD_LATE))
    yield measured("QCN-OS, both flows, from 100 ms on", "backlog", both)
    after = value_by_run(runs, OS, lambda run: stays(run) - settled(run))
    yield measured("QCN-OS, both flows", "backlog_settles_after_the_rate", after)
    ratio = value_by_run(runs, OS, lambda run: quotient(held(run, F1, EARLY), held(run, F2, EARLY)))
    yield measured("QCN-OS, f1 by f2, 60 to 90 ms", "backlog", ratio)
    yield measured("f1, QCN-OS by QCN-AS, 110 to 150 ms", "throughput", by(runs, OS, AS))


def by(runs: Runs, one: str, other: str) -> np.ndarray:
    """f1's final throughput with one scheme divided by that with another."""
    return np.asarray(quotients(throughput(runs, one, F1, LAST), throughput(runs, other, F1, LAST)))


def figure_10(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures two samples, and end-to-end acknowledgements."""
    runs = sweeps["fabric"]
    yield from rows(runs, TWO, [F1, F2], FROM_110)
    yield measured("two samples by QCN-OS, f1, 110 to 150 ms", "throughput", by(runs, TWO, OS))
    ratio = value_by_run(runs, TWO, lambda run: quotient(held(run, F1, FIRST), held(run, F2, FIRST)))
    yield measured("two samples, f1 by f2, 50 to 60 ms", "backlog", ratio)
    late, early = (
        value_by_run(runs, TWO, partial(share, flow=F1, window=one)) for one in (TOLD_LATE, TOLD_EARLY)
    )
    yield measured("two samples, f1, 100 to 150 ms", "share_of_cnms", late)
    note = f"{early.mean():.3g} % from 50 to 70 ms"
    yield measured("two samples, f1, 100 to 150 less 50 to 70 ms", "share_of_cnms", late - early, note)
    yield from rows(runs, ACKS, [F1, F2], FROM_110)
    yield measured(
        "ACKs, f2, 50 to 150 ms", "share_of_cnms", value_by_run(runs, ACKS, lambda run: share(run, F2, MEET))
    )
    ratio = value_by_run(runs, ACKS, lambda run: quotient(held(run, F2, MEET), held(run, F1, MEET)))
    yield measured("ACKs, f2 by f1", "backlog", ratio)
    yield measured("ACKs by QCN-OS, f1, 110 to 150 ms", "throughput", by(runs, ACKS, OS))
    few, many = (value_by_run(runs, one, lambda run: float(count_cnms(run, F1, MEET))) for one in (ACKS, TWO))
    note = f"{few.mean():.3g} and {many.mean():.3g}"
    yield measured("ACKs by two samples, f1", "cnms", quotients(few, many), note)


def figure_11(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures two samples together with end-to-end acknowledgements."""
    runs = sweeps["fabric"]
    for flow in (F1, F2):
        value = throughput(runs, TWO_ACKS, flow, LAST)
        yield measured(f"f{flow + 1}, 110 to 150 ms", "throughput", value)
    yield measured("f1 by that of figure 10d", "throughput", by(runs, TWO_ACKS, ACKS))


MEASURES: dict[str, Measure] = {
    "fig8": figure_8,
    "fig9": figure_9,
    "fig10": figure_10,
    "fig11": figure_11,
}
