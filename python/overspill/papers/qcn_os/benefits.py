"""QCN-OS beside PFC alone, and two samples beside QCN-OS, on the six flows of figure 6."""

from __future__ import annotations

from collections.abc import Iterator

from overspill.papers.common import measured, quotients
from overspill.papers.qcn_os.sampling import fairness, recovery
from overspill.papers.qcn_os.schemes import (
    END,
    F1,
    F2,
    HOT,
    ONSET,
    OS,
    PFC,
    START,
    STEADY,
    TWO,
    Seen,
    Sweeps,
    begun,
    of,
    paused,
    steps,
    throughput,
)
from overspill.papers.spec import Figure, Measured


def hot_output(run: Seen) -> float:
    """Throughput of all hot flows together after the onset, Gb/s."""
    return float(run.sent[HOT, steps((ONSET, END))].sum(axis=0).mean())


def alone(sweeps: Sweeps) -> Iterator[Measured]:
    """PFC alone, and QCN-OS less that."""
    runs = sweeps["hotspot"]
    yield measured("PFC alone, f1, steady", "throughput", throughput(runs, PFC, F1, STEADY))
    for name, window in (("steady", STEADY), ("onset", START)):
        ours, theirs = (throughput(runs, one, F1, window) for one in (OS, PFC))
        note = f"{ours.mean():.4g} and {theirs.mean():.4g} Gb/s"
        yield measured(f"QCN-OS less PFC alone, f1, {name}", "throughput", ours - theirs, note)
    ours, theirs = (of(runs, one, hot_output) for one in (OS, PFC))
    note = f"{ours.mean():.4g} and {theirs.mean():.4g} Gb/s"
    case = "QCN-OS by PFC alone, hot flows, after 10 ms"
    yield measured(case, "throughput", quotients(ours, theirs), note)


def two_samples(sweeps: Sweeps) -> Iterator[Measured]:
    """Throughputs, occupancy and pauses with two samples, and times by those with QCN-OS."""
    runs = sweeps["hotspot"]
    yield measured("two samples, f1, steady", "throughput", throughput(runs, TWO, F1, STEADY))
    yield measured("two samples, hot flows, steady", "jains_index", of(runs, TWO, fairness))
    held = of(runs, TWO, lambda run: float(run.stored[F2, steps(STEADY)].mean()))
    yield measured("two samples, f2, steady", "occupancy", held)
    pauses = of(runs, TWO, lambda run: sum(begun(one, STEADY) for one in run.all_pauses.values()))
    yield measured("two samples, steady", "pauses", pauses)
    for metric, value in (("pause_time", lambda run: paused(run.pauses)), ("time_to_recover", recovery)):
        two, one = (of(runs, variant, value) for variant in (TWO, OS))
        note = f"{two.mean():.3g} and {one.mean():.3g} ms"
        yield measured("two samples by QCN-OS", metric, quotients(two, one), note)


FIGURES: dict[str, Figure] = {"claim-alone": Figure(alone), "claim-two-samples": Figure(two_samples)}
