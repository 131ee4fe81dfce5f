"""Equations 1 to 5: whom congestion points name, against what arrives and what is stored."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from overspill.papers.common import measured, quotient
from overspill.papers.qcn_os.laws_drawn import draw_arrivals, draw_stored
from overspill.papers.qcn_os.named import (
    AMOUNTS,
    ARRIVAL,
    FRAMES,
    OCCUPANCY,
    ORDER,
    PASSING,
    RATES,
    STORED,
    counted,
    named,
    shares,
)
from overspill.papers.qcn_os.schemes import KEEP_ALIVE, OS, Seen, Sweeps, of
from overspill.papers.spec import Figure, Measured, Runs

INTERVAL = 150e3  # bytes, at a feedback of less than 8
# An adapter that is paused ends its frame, which has then still to arrive: later than this nothing does.
ON_ITS_WAY = 0.005  # ms


def probability(cnms: np.ndarray, law: np.ndarray) -> float:
    """How probable counts as far from a law, or farther, are under it (Pearson's chi-squared test)."""
    from scipy import stats  # slow to load

    if not cnms.sum() or not (law > 0).all():
        return float("nan")
    return float(stats.chisquare(cnms, law / law.sum() * cnms.sum()).pvalue)


def equations_1_to_3(sweeps: Sweeps) -> Iterator[Measured]:
    """Arrival sampling."""
    for sweep, case in RATES.items():
        runs, frames = sweeps[sweep], FRAMES[sweep]
        found = shares(runs, ARRIVAL, frames, PASSING)
        for place, name in enumerate(ORDER):
            yield measured(f"{case}, {name} flow", "share_of_cnms", found[:, place])
        every = named(runs, ARRIVAL, frames)
        cnms = sum(one.cnms[PASSING] for one in every)
        law = sum(one.arrived[PASSING] for one in every)
        value = probability(np.asarray(cnms), np.asarray(law))
        yield measured(case, "probability_of_chi_squared", [value], f"{np.sum(cnms)} CNMs")
    every = named(sweeps["laws"], ARRIVAL, FRAMES["laws"])
    yield measured(
        "flows that fill the buffer and do not arrive", "cnms", [one.cnms[STORED].sum() for one in every]
    )
    rate = [quotient(float(one.cnms.sum()), float(one.arrived[PASSING].sum()) / INTERVAL) for one in every]
    note = f"largest feedback {max(one.strongest for one in every)}"
    yield measured("feedback of 1 to 7", "samples_by_law", rate, note)


def equations_4_and_5(sweeps: Sweeps) -> Iterator[Measured]:
    """Occupancy sampling."""
    for sweep, case in AMOUNTS.items():
        runs, frames = sweeps[sweep], FRAMES[sweep]
        found = shares(runs, OCCUPANCY, frames, STORED)
        for place, name in enumerate(ORDER):
            yield measured(f"{case}, {name} flow", "share_of_cnms", found[:, place])
        every = named(runs, OCCUPANCY, frames)
        cnms = sum(one.cnms[STORED] for one in every)
        law = sum(one.stored[STORED] for one in every)
        value = probability(np.asarray(cnms), np.asarray(law))
        yield measured(case, "probability_of_chi_squared", [value], f"{np.sum(cnms)} CNMs")
    yield from example(sweeps["example"])
    for variant, name in ((OS, "QCN-OS"), (KEEP_ALIVE, "QCN-OS with keep-alive")):
        yield measured(name, "cnms_while_paused", of(sweeps["hotspot"], variant, while_paused))


def example(runs: Runs) -> Iterator[Measured]:
    """The three flows of section III."""
    found = counted(runs, OCCUPANCY)
    # Of flows that are hardly named a single CNM is the least that can be told.
    ratio = found[:, 2] / np.maximum(found[:, :2].max(axis=1), 1)
    yield measured("example, QCN-OS, f3 by the other that has more", "cnms", ratio)
    found = counted(runs, ARRIVAL)
    for place in range(3):
        case = f"example, QCN-AS, f{place + 1}"
        yield measured(case, "share_of_cnms", found[:, place] / found.sum(axis=1))


def while_paused(run: Seen) -> float:
    """CNMs of inputs whose adapters are paused, so that nothing arrives."""
    count = 0
    for node, pauses in run.all_pauses.items():
        told = np.sort(run.told[run.at == node])
        inside = np.searchsorted(told, pauses[:, 1]) - np.searchsorted(told, pauses[:, 0] + ON_ITS_WAY)
        count += int(inside.clip(min=0).sum())
    return count


FIGURES: dict[str, Figure] = {
    "eq1-3": Figure(equations_1_to_3, draw_arrivals),
    "eq4-5": Figure(equations_4_and_5, draw_stored),
}
