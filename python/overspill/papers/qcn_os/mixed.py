"""Four culprits and four victims at one input: which of them are named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from overspill.papers.common import measured, quotient
from overspill.papers.qcn_os import workloads
from overspill.papers.qcn_os.schemes import AS, NAMES, OS, STEADY, Sweeps
from overspill.papers.qcn_os.workloads import CULPRITS, VICTIMS
from overspill.papers.spec import Figure, Measured


def most_by_least(counts: Sequence[np.ndarray]) -> float:
    """CNMs of the victim that is named most by those of the culprit named least; NaN without these."""
    return quotient(float(counts[VICTIMS].max()), float(counts[CULPRITS].min()))


def culprits(sweeps: Sweeps) -> Iterator[Measured]:
    """Both ways to sample."""
    runs = sweeps["mixed"]
    counts = {variant: workloads.named(runs, variant) for variant in (OS, AS)}
    found = {variant: workloads.shares(one) for variant, one in counts.items()}
    for variant, one in found.items():
        total = np.mean([sum(part[name].sum() for name in (VICTIMS, CULPRITS)) for part in counts[variant]])
        note = f"of {total:.0f} CNMs a run"
        yield measured(f"{NAMES[variant]}, culprits", "share_of_cnms", one, note)
    yield measured("QCN-OS less QCN-AS, culprits", "share_of_cnms", found[OS] - found[AS])
    ratios = [most_by_least(one) for one in counts[OS]]
    note = f"with QCN-AS {np.mean([most_by_least(one) for one in counts[AS]]):.3g}"
    yield measured("QCN-OS, the victim named most by the culprit named least", "cnms", ratios, note)
    ours, theirs = (workloads.throughput(runs, variant, VICTIMS, STEADY) for variant in (OS, AS))
    note = f"{ours.mean():.4g} and {theirs.mean():.4g} Gb/s"
    yield measured("QCN-OS less QCN-AS, victims, steady", "throughput", ours - theirs, note)


FIGURES: dict[str, Figure] = {"claim-culprits": Figure(culprits)}
