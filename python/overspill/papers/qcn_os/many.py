"""A hundred flows in a larger fabric: do the claims of few flows carry over?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from overspill.papers.common import measured, quotients
from overspill.papers.qcn_os import workloads
from overspill.papers.qcn_os.fabric import ACKS
from overspill.papers.qcn_os.schemes import AS, END, ONSET, OS, OUT, STEADY, Sweeps
from overspill.papers.qcn_os.subflows import recovery
from overspill.papers.qcn_os.workloads import CULPRITS, VICTIMS
from overspill.papers.spec import Figure, Measured, Runs

OFFERED = 50.0  # Gb/s of all victims, and of all culprits
HOT_OUTPUTS = 20.0  # Gb/s of both
WATCHED = (ONSET, END)


def victims(runs: Runs, variant: str) -> np.ndarray:
    """Steady throughput of all victims by what they offer, by seed."""
    return workloads.throughput(runs, variant, VICTIMS, STEADY) / OFFERED


def recovered(runs: Runs, variant: str) -> np.ndarray:
    """Time until all victims together are back, ms, by seed; NaN where they never are."""
    return np.array([recovery(one[VICTIMS], WATCHED, OFFERED) for one in workloads.sent(runs, variant)])


def hundred_flows(sweeps: Sweeps) -> Iterator[Measured]:
    """Victims, CNMs, times to recover, and what the hot outputs carry."""
    runs = sweeps["many"]
    ours, acked, theirs = (victims(runs, variant) for variant in (OS, ACKS, AS))
    outputs = victims(runs, OUT)
    metric = "throughput_by_offer"
    yield measured("QCN-OS, victims, steady", metric, ours, f"QCN-AS at outputs {outputs.mean():.3g}")
    yield measured("QCN-OS with ACKs, victims, steady", metric, acked)
    note = f"{ours.mean():.3g} and {theirs.mean():.3g}"
    yield measured("QCN-OS less QCN-AS, victims, steady", metric, ours - theirs, note)
    ours, acked, theirs = (workloads.shares(workloads.named(runs, variant)) for variant in (OS, ACKS, AS))
    note = f"with ACKs {acked.mean():.3g} %"
    yield measured("QCN-OS, culprits", "share_of_cnms", ours, note)
    note = f"{ours.mean():.3g} and {theirs.mean():.3g} %"
    yield measured("QCN-OS less QCN-AS, culprits", "share_of_cnms", ours - theirs, note)
    yield from times(runs)
    used = 100 * workloads.throughput(runs, OS, CULPRITS, STEADY) / HOT_OUTPUTS
    yield measured("QCN-OS, hot outputs, steady", "use", used)


def times(runs: Runs) -> Iterator[Measured]:
    """Times to recover; what is not back by the end counts as back then, but not of QCN-OS by outputs."""
    longest = END - ONSET
    found = {variant: recovered(runs, variant) for variant in (OS, AS, OUT, ACKS)}
    capped = {variant: np.where(np.isnan(one), longest, one) for variant, one in found.items()}
    here, arrivals, there, acked = (
        f"{capped[variant].mean():.3g} ms (not back in {np.isnan(one).sum()} of {len(one)} seeds)"
        for variant, one in found.items()
    )
    note = f"{here} and {arrivals}"
    yield measured("QCN-OS less QCN-AS", "time_to_recover", capped[OS] - capped[AS], note)
    note = f"{here} and {there}; with ACKs {acked}"
    yield measured("QCN-OS by outputs", "time_to_recover", quotients(found[OS], capped[OUT]), note)


FIGURES: dict[str, Figure] = {"claim-many": Figure(hundred_flows)}
