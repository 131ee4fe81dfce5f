"""Figures 3 and 4: what PFC alone and QCN with arrival sampling do to the victim."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from overspill.papers.common import measured, quotient
from overspill.papers.qcn_os.drawn import draw_3, draw_4
from overspill.papers.qcn_os.schemes import (
    AS,
    BEFORE,
    END,
    F1,
    F2,
    OFFER,
    ONSET,
    PFC,
    STEADY,
    Seen,
    Sweeps,
    begun,
    by_ms,
    of,
    steps,
    throughput,
    throughputs,
)
from overspill.papers.spec import Figure, Measured

FIRST = (10.0, 14.0)  # ms, just after the hot flows begin
LATER = (30.0, END)  # ms, after the phase of PFC that is published
EARLY = (30.0, 100.0)  # ms
LINK = 10.0  # Gb/s


def figure_3(sweeps: Sweeps) -> Iterator[Measured]:
    """Five flows, PFC alone."""
    runs = sweeps["baseline"]
    yield from throughputs(runs, PFC, [F1, F2], ("before", BEFORE))
    yield from throughputs(runs, PFC, range(5), ("steady", STEADY))
    victim = throughput(runs, PFC, F1, STEADY)
    yield measured("f1 by what it is entitled to, steady", "throughput", victim / OFFER)
    yield measured("output of f1, steady", "use", 100 * victim / LINK)


def within(run: Seen) -> float:
    """The share of milliseconds in which f1 swings as the text says, %."""
    means = by_ms(run.sent[F1, steps((ONSET, END))])
    return 100 * float(np.mean((means >= 1.3) & (means <= 3.3)))


def last(run: Seen) -> float:
    """When the last pause of the shared adapter takes effect, ms after the onset; 0 without one."""
    return float(run.pauses[-1, 0]) - ONSET if len(run.pauses) else 0.0


def told_by_byte(run: Seen) -> float:
    """How often f1 is told for what it sends, by the same of f2, at the end; NaN where f2 is not told."""
    inside = (run.told >= STEADY[0]) & (run.told < STEADY[1])
    one, other = (
        quotient(float((inside & (run.whom == flow)).sum()), float(run.sent[flow, steps(STEADY)].sum()))
        for flow in (F1, F2)
    )
    return quotient(one, other)


def figure_4(sweeps: Sweeps) -> Iterator[Measured]:
    """Six flows, PFC and arrival sampling."""
    runs = sweeps["hotspot"]
    yield measured("f1, 10 to 14 ms", "throughput", throughput(runs, AS, F1, FIRST))
    yield measured("f1, from 10 ms on", "share_of_ms_within_1.3_to_3.3", of(runs, AS, within))
    victim, alone = (throughput(runs, one, F1, STEADY) for one in (AS, PFC))
    more, early = of(runs, AS, told_by_byte), throughput(runs, AS, F1, EARLY)
    note = f"{early.mean():.3g} Gb/s from 30 to 100 ms; told {more.mean():.2g} times as often by byte as f2"
    yield measured("f1, steady", "throughput", victim, note)
    case = "f1, steady, less f1 of PFC alone with a tenth more"
    yield measured(case, "throughput", victim - 1.1 * alone, f"PFC alone {alone.mean():.4g} Gb/s")
    yield measured("shared input", "last_pause_after_onset", of(runs, AS, last))
    later = of(runs, AS, lambda one: begun(one.pauses, LATER))
    note = f"none in {(later == 0).sum()} of {len(later)} seeds"
    yield measured("shared input, from 30 ms on", "pauses", later, note)
    held = of(runs, AS, lambda one: float(one.stored[:, steps(STEADY)].sum(axis=0).mean()))
    yield measured("shared input, steady", "occupancy", held)


FIGURES: dict[str, Figure] = {"fig3": Figure(figure_3, draw_3), "fig4": Figure(figure_4, draw_4)}
