"""Who detours in one large incast, for how long, and which buffers are full: figure 2."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from overspill.papers.common import measured, names
from overspill.papers.dibs.burst import AGGS, CASES, EDGE, POD, STEP, Burst
from overspill.papers.dibs.one_incast_drawn import draw_buffers, draw_detours
from overspill.papers.spec import Figure, Measured, Runs

Sweeps = Mapping[str, Runs]


def figure_2a(sweeps: Sweeps) -> Iterator[Measured]:
    """Who detours for how long, and when the burst is over."""
    for one_case in CASES:
        case, found = one_case.name, one_case.read(sweeps)
        within = 1e3 * one_case.metric(sweeps, "qct_mean")
        yield measured(case, "burst_absorbed_within", within, outside(found))
        yield measured(case, "drops", one_case.metric(sweeps, "drops"))
        yield measured(case, "timeouts", one_case.metric(sweeps, "timeouts"))
        by_switch = [{name: one.detours[name].sum() for name in POD} for one in found]
        yield Measured(case, "switches_of_the_pod_that_detour", [names(one) for one in by_switch])
        longer = [STEP * (one.end(EDGE) - one.end(*AGGS)) for one in found]
        told = (
            f"the edge detours until {STEP * np.mean([one.end(EDGE) for one in found]):.1f} ms, "
            f"aggregations until {STEP * np.mean([one.end(*AGGS) for one in found]):.1f} ms; "
            f"in {sum(not one.end(*AGGS) for one in found)} of {len(found)} seeds these never do"
        )
        yield measured(case, "edge_detours_on_after_the_last_aggregation", longer, told)


def outside(found: list[Burst]) -> str:
    """How many detours there are, and how many are not in the receiver's pod."""
    every = np.array([sum(float(one.sum()) for one in burst.detours.values()) for burst in found])
    away = np.array([float((one.detours["cores"] + one.detours["elsewhere"]).sum()) for one in found])
    return f"{every.mean():.0f} detours, {away.mean():.0f} of them outside the receiver's pod"


def figure_2b(sweeps: Sweeps) -> Iterator[Measured]:
    """Which buffers are full, and which are in use, when most are full."""
    for one_case in CASES:
        case, found = f"{one_case.name}, t2", one_case.read(sweeps)
        full = [one.full[one.t2] for one in found]
        told = f"at {STEP * np.mean([one.t2 for one in found]):.1f} ms: " + "; ".join(
            sorted({" ".join(name for name, yes in zip(POD, one, strict=True) if yes) for one in full})
        )
        yield measured(case, "switches_with_a_full_buffer", [one.sum() for one in full], told)
        waiting = [one.waits[one.t2] for one in found]
        edge = POD.index(EDGE)
        uplinks = [(one & burst.uplink)[edge].sum() for one, burst in zip(waiting, found, strict=True)]
        yield measured(case, "uplinks_of_the_edge_with_packets", uplinks)
        spread = [
            (one & burst.to_others).any(axis=1).sum() for one, burst in zip(waiting, found, strict=True)
        ]
        yield measured(case, "aggregations_with_packets_for_core_and_other_edges", spread)


FIGURES: dict[str, Figure] = {
    "fig2a": Figure(figure_2a, draw_detours),
    "fig2b": Figure(figure_2b, draw_buffers),
}
