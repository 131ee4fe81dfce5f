"""Figures 6 and 7: arrival and occupancy sampling at inputs, and arrival sampling at outputs; 100 Gb/s."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from overspill.papers.common import linear_correlation, measured, quotient, quotients
from overspill.papers.qcn_os.drawn import draw_6, draw_7
from overspill.papers.qcn_os.schemes import (
    AS,
    END,
    F1,
    F2,
    HOT,
    NAMES,
    OFFER,
    ONSET,
    OS,
    OUT,
    START,
    STEADY,
    STEP,
    Seen,
    Sweeps,
    begun,
    by_ms,
    deviation,
    of,
    paused,
    seen,
    steps,
    throughput,
    throughputs,
)
from overspill.papers.spec import Figure, Measured, Runs

INSTANT = 25.0  # ms, of which the text tells rate limits
AROUND = (20.0, 30.0)  # ms
FALL = (10.0, 13.0)  # ms
SETTLING = (50.0, STEADY[0])  # ms, mostly without PFC
RECOVERED = 0.95  # of what f1 offers
FAST = 10  # times the rates and sizes at 10 Gb/s


def lowest(run: Seen) -> float:
    """The lowest millisecond of each flow after the onset by what it offers; of the flow that falls least."""
    return float(by_ms(run.sent[:, steps(FALL)]).min(axis=1).max()) / OFFER


def by_limit(run: Seen) -> float:
    """The most that f1 or f2 has by its limit in a millisecond with PAUSE of the onset; NaN without one."""
    edges = np.arange(START[0], START[1] + 0.5)
    begins, ends = run.pauses[:, :1], run.pauses[:, 1:]
    stopped = ((begins < edges[1:]) & (ends > edges[:-1])).any(axis=0)
    if not stopped.any():
        return float("nan")
    found = [by_ms(run.sent[one, steps(START)]) / run.limits[one].means(edges) for one in (F1, F2)]
    return float(np.max(found, axis=0)[stopped].max())


def told(run: Seen, flow: int) -> np.ndarray:
    """CNMs to a flow by the millisecond after the onset."""
    times = run.told[run.whom == flow]
    return np.histogram(times, np.arange(ONSET, END + 0.5))[0].astype(float)


def goes_with_backlog(run: Seen, flow: int) -> float:
    """How the CNMs to a flow go with what is stored of f2, by the millisecond."""
    return linear_correlation(by_ms(run.stored[F2, steps((ONSET, END))]), told(run, flow))


def share(run: Seen) -> float:
    """The share of f1 in CNMs to f1 and f2 after the onset, %; NaN without any."""
    after = run.told >= ONSET
    one, other = (int((after & (run.whom == flow)).sum()) for flow in (F1, F2))
    return 100 * quotient(one, one + other)


def fairness(run: Seen) -> float:
    """Jain's index of the hot flows."""
    means = run.sent[HOT, steps(STEADY)].mean(axis=1)
    return float(means.sum()) ** 2 / (len(means) * float((means**2).sum()))


def scatter(run: Seen, window: tuple[float, float] = STEADY) -> float:
    """Standard deviation of what the shared input holds, KB."""
    return float(run.stored[:, steps(window)].sum(axis=0).std())


def figure_6(sweeps: Sweeps) -> Iterator[Measured]:
    """Every claim of the text."""
    runs = sweeps["hotspot"]
    yield from arrival(runs)
    yield from occupancy(runs)
    yield from both(runs)


def arrival(runs: Runs) -> Iterator[Measured]:
    """Panels a to c."""
    for flow in (F1, F2):
        limit = of(runs, AS, lambda one, flow=flow: one.limits[flow].at(INSTANT))  # type: ignore[misc]
        yield measured(f"QCN-AS, f{flow + 1}, 25 ms", "rate_limit", limit)
    less = of(runs, AS, lambda one: one.limits[F1].mean(AROUND) - one.limits[F2].mean(AROUND))
    yield measured("QCN-AS, f1 less f2, 20 to 30 ms", "rate_limit", less)
    case = "QCN-AS, the flow that falls least, 10 to 13 ms"
    yield measured(case, "lowest_throughput_by_offer", of(runs, AS, lowest))
    yield measured("QCN-AS, onset", "largest_throughput_by_rate_limit", of(runs, AS, by_limit))
    for flow in (F1, F2):
        found = of(runs, AS, lambda one, flow=flow: goes_with_backlog(one, flow))  # type: ignore[misc]
        yield measured(f"QCN-AS, f{flow + 1}", "correlation_of_q2_and_cnms", found)
        limit = of(runs, AS, lambda one, flow=flow: one.limits[flow].mean(STEADY))  # type: ignore[misc]
        yield measured(f"QCN-AS, f{flow + 1}, steady", "rate_limit", limit)


def occupancy(runs: Runs) -> Iterator[Measured]:
    """Panels d to f."""
    for one in throughputs(runs, OS, range(6), ("steady", STEADY)):
        yield measured(f"QCN-OS, {one.case}", one.metric, [float(value) for value in one.values])
    yield measured("QCN-OS, f1", "share_of_cnms", of(runs, OS, share))
    yield measured("QCN-OS, hot flows, steady", "jains_index", of(runs, OS, fairness))
    pauses = of(runs, OS, lambda run: sum(begun(one, STEADY) for one in run.all_pauses.values()))
    yield measured("QCN-OS, steady", "pauses", pauses)


def both(runs: Runs) -> Iterator[Measured]:
    """What compares the two rows of panels, or is said of each."""
    yield pause_time(runs)
    calm, wild = (of(runs, one, scatter) for one in (OS, AS))
    earlier = [of(runs, one, lambda run: scatter(run, SETTLING)).mean() for one in (OS, AS)]
    note = (
        f"{calm.mean():.3g} and {wild.mean():.3g} KB; 50 to 150 ms {earlier[0]:.3g} and {earlier[1]:.3g} KB"
    )
    yield measured("QCN-OS by QCN-AS, steady", "deviation_of_occupancy", quotients(calm, wild), note)
    for variant in (AS, OS):
        name = NAMES[variant]
        held = of(runs, variant, lambda one: float(one.stored[F2, steps(STEADY)].mean()))
        yield measured(f"{name}, f2, steady", "occupancy", held)
        reached = of(runs, variant, lambda one: begun(one.pauses, START))
        yield measured(f"{name}, onset", "times_at_the_stop_threshold", reached)


def pause_time(runs: Runs) -> Measured:
    """How long the shared adapter is paused, one scheme by the other."""
    short, long = (of(runs, one, lambda run: paused(run.pauses)) for one in (OS, AS))
    note = f"{short.mean():.3g} and {long.mean():.3g} ms"
    return measured("QCN-OS by QCN-AS", "pause_time", quotients(short, long), note)


def recovery(run: Seen) -> float:
    """From the onset until f1 is back for the rest of the onset's window, ms; NaN where it never is."""
    window = round(1 / STEP)
    trace = run.sent[F1, steps(START)]
    means = np.convolve(trace, np.full(window, 1 / window), mode="valid")
    low = np.flatnonzero(means < RECOVERED * OFFER)
    if not len(low):
        return 0.0
    return float("nan") if low[-1] == len(means) - 1 else float(low[-1] + 1) * STEP


def fewest(runs: Runs) -> list[float]:
    """For each seed whether the hot flow that was told first has less than the mean of all hot flows."""
    found = []
    for run in seen(runs, OUT):
        hot = run.whom[(run.told >= ONSET) & (run.whom >= F2)]
        means = run.sent[:, steps(STEADY)].mean(axis=1)
        found.append(float("nan") if not len(hot) else float(means[hot[0]] < means[HOT].mean()))
    return found


def figure_7(sweeps: Sweeps) -> Iterator[Measured]:
    """Congestion points at outputs."""
    runs = sweeps["hotspot"]
    there, here = (of(runs, one, recovery) for one in (OUT, OS))
    note = f"{there.mean():.3g} and {here.mean():.3g} ms"
    yield measured("outputs by QCN-OS", "time_to_recover", quotients(there, here), note)
    yield measured("hot flows, steady", "largest_deviation", of(runs, OUT, deviation))
    yield fair(runs)
    first = float(np.mean(fewest(runs)))
    yield measured("the hot flow that is told first", "share_of_runs_below_the_mean", [first])


def fair(runs: Runs) -> Measured:
    """How far hot flows are apart, one scheme by the other."""
    near, far = (of(runs, one, deviation) for one in (OS, OUT))
    note = f"{near.mean():.3g} and {far.mean():.3g} Gb/s"
    return measured("QCN-OS by outputs, steady", "largest_deviation", quotients(near, far), note)


def hundred(sweeps: Sweeps) -> Iterator[Measured]:
    """Rates and sizes ten times as large."""
    runs = sweeps["fast"]
    for variant in (OS, AS):
        offered = throughput(runs, variant, F1, STEADY) / (FAST * OFFER)
        yield measured(f"{NAMES[variant]}, f1, steady", "throughput_by_offer", offered)
    yield pause_time(runs)
    yield fair(runs)


FIGURES: dict[str, Figure] = {
    "fig6": Figure(figure_6, draw_6),
    "fig7": Figure(figure_7, draw_7),
    "100g": Figure(hundred),
}
