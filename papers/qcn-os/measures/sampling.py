"""Measures of figures 3, 4, 6 and 7, and their text: PFC, arrival and occupancy sampling at a hotspot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.common import linear_correlation, measured, quotient, quotients
from overspill.papers.spec import Measure, Measured, Runs, Sweeps

from .schemes import (
    AS,
    BEFORE,
    END,
    F1,
    F2,
    HOT,
    KEEP_ALIVE,
    NAMES,
    OFFER,
    ONSET,
    OS,
    OUT,
    PFC,
    START,
    STEADY,
    STEP,
    TWO,
    Seen,
    begun,
    by_ms,
    deviation,
    paused,
    seen,
    steps,
    throughput,
    throughputs,
    value_by_run,
)

FIRST = (10.0, 14.0)  # ms, start of the hot flows
LATER = (30.0, END)  # ms, after the published phase of PFC
EARLY = (30.0, 100.0)  # ms
LINK = 10.0  # Gb/s
INSTANT = 25.0  # ms, time of the rate limits in the text
AROUND = (20.0, 30.0)  # ms
FALL = (10.0, 13.0)  # ms
SETTLING = (50.0, STEADY[0])  # ms, mostly without PFC
RECOVERED = 0.95  # share of f1's offer
FAST = 10  # factor of rates and sizes relative to those at 10 Gb/s
COMPARED = ("time_ps", "node", "port", "flow", "feedback", "q_off", "q_delta")


def figure_3(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures five flows with PFC alone."""
    runs = sweeps["baseline"]
    yield from throughputs(runs, PFC, [F1, F2], ("before", BEFORE))
    yield from throughputs(runs, PFC, range(5), ("steady", STEADY))
    victim = throughput(runs, PFC, F1, STEADY)
    yield measured("f1 by what it is entitled to, steady", "throughput", victim / OFFER)
    yield measured("output of f1, steady", "use", 100 * victim / LINK)


def within(run: Seen) -> float:
    """Share of milliseconds in which f1's throughput is within the range of the text, in %."""
    means = by_ms(run.sent[F1, steps((ONSET, END))])
    return 100 * float(np.mean((means >= 1.3) & (means <= 3.3)))


def last(run: Seen) -> float:
    """Time in ms from the onset to the last pause of the shared adapter; 0 without one."""
    return float(run.pauses[-1, 0]) - ONSET if len(run.pauses) else 0.0


def told_by_byte(run: Seen) -> float:
    """CNMs to f1 for each byte that it sends, relative to f2, at the end; NaN if f2 gets none."""
    inside = (run.told >= STEADY[0]) & (run.told < STEADY[1])
    one, other = (
        quotient(float((inside & (run.whom == flow)).sum()), float(run.sent[flow, steps(STEADY)].sum()))
        for flow in (F1, F2)
    )
    return quotient(one, other)


def figure_4(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures six flows with PFC and arrival sampling."""
    runs = sweeps["hotspot"]
    yield measured("f1, 10 to 14 ms", "throughput", throughput(runs, AS, F1, FIRST))
    yield measured("f1, from 10 ms on", "share_of_ms_within_1.3_to_3.3", value_by_run(runs, AS, within))
    victim, alone = (throughput(runs, one, F1, STEADY) for one in (AS, PFC))
    more, early = value_by_run(runs, AS, told_by_byte), throughput(runs, AS, F1, EARLY)
    note = f"{early.mean():.3g} Gb/s from 30 to 100 ms; told {more.mean():.2g} times as often by byte as f2"
    yield measured("f1, steady", "throughput", victim, note)
    case = "f1, steady, less f1 of PFC alone with a tenth more"
    yield measured(case, "throughput", victim - 1.1 * alone, f"PFC alone {alone.mean():.4g} Gb/s")
    yield measured("shared input", "last_pause_after_onset", value_by_run(runs, AS, last))
    later = value_by_run(runs, AS, lambda one: begun(one.pauses, LATER))
    note = f"none in {(later == 0).sum()} of {len(later)} seeds"
    yield measured("shared input, from 30 ms on", "pauses", later, note)
    held = value_by_run(runs, AS, lambda one: float(one.stored[:, steps(STEADY)].sum(axis=0).mean()))
    yield measured("shared input, steady", "occupancy", held)


def lowest(run: Seen) -> float:
    """Lowest throughput in 1 ms after the onset relative to the offer, of the flow that falls least."""
    return float(by_ms(run.sent[:, steps(FALL)]).min(axis=1).max()) / OFFER


def by_limit(run: Seen) -> float:
    """Largest throughput relative to its limit, of f1 or f2, in a millisecond with PAUSE in the onset.

    NaN without PAUSE in the onset.
    """
    edges = np.arange(START[0], START[1] + 0.5)
    begins, ends = run.pauses[:, :1], run.pauses[:, 1:]
    stopped = ((begins < edges[1:]) & (ends > edges[:-1])).any(axis=0)
    if not stopped.any():
        return float("nan")
    found = [by_ms(run.sent[one, steps(START)]) / run.limits[one].means(edges) for one in (F1, F2)]
    return float(np.max(found, axis=0)[stopped].max())


def cnms_by_ms(run: Seen, flow: int) -> np.ndarray:
    """CNMs to a flow in each millisecond after the onset."""
    times = run.told[run.whom == flow]
    return np.histogram(times, np.arange(ONSET, END + 0.5))[0].astype(float)


def goes_with_backlog(run: Seen, flow: int) -> float:
    """Correlation over milliseconds of the CNMs to a flow with the backlog of f2."""
    return linear_correlation(by_ms(run.stored[F2, steps((ONSET, END))]), cnms_by_ms(run, flow))


def share(run: Seen) -> float:
    """Share of f1 in the CNMs to f1 and f2 after the onset, in %; NaN without any."""
    after = run.told >= ONSET
    one, other = (int((after & (run.whom == flow)).sum()) for flow in (F1, F2))
    return 100 * quotient(one, one + other)


def fairness(run: Seen) -> float:
    """Jain's index of the hot flows."""
    means = run.sent[HOT, steps(STEADY)].mean(axis=1)
    return float(means.sum()) ** 2 / (len(means) * float((means**2).sum()))


def scatter(run: Seen, window: tuple[float, float] = STEADY) -> float:
    """Standard deviation of the bytes in the shared input, in KB."""
    return float(run.stored[:, steps(window)].sum(axis=0).std())


def figure_6(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures every claim of the text on figure 6."""
    runs = sweeps["hotspot"]
    yield from arrival(runs)
    yield from occupancy(runs)
    yield from both(runs)


def arrival(runs: Runs) -> Iterator[Measured]:
    """Measures panels a to c: arrival sampling."""
    for flow in (F1, F2):
        limit = value_by_run(runs, AS, lambda one, flow=flow: one.limits[flow].at(INSTANT))  # type: ignore[misc]
        yield measured(f"QCN-AS, f{flow + 1}, 25 ms", "rate_limit", limit)
    less = value_by_run(runs, AS, lambda one: one.limits[F1].mean(AROUND) - one.limits[F2].mean(AROUND))
    yield measured("QCN-AS, f1 less f2, 20 to 30 ms", "rate_limit", less)
    case = "QCN-AS, the flow that falls least, 10 to 13 ms"
    yield measured(case, "lowest_throughput_by_offer", value_by_run(runs, AS, lowest))
    yield measured("QCN-AS, onset", "largest_throughput_by_rate_limit", value_by_run(runs, AS, by_limit))
    for flow in (F1, F2):
        found = value_by_run(runs, AS, lambda one, flow=flow: goes_with_backlog(one, flow))  # type: ignore[misc]
        yield measured(f"QCN-AS, f{flow + 1}", "correlation_of_q2_and_cnms", found)
        limit = value_by_run(runs, AS, lambda one, flow=flow: one.limits[flow].mean(STEADY))  # type: ignore[misc]
        yield measured(f"QCN-AS, f{flow + 1}, steady", "rate_limit", limit)


def occupancy(runs: Runs) -> Iterator[Measured]:
    """Measures panels d to f: occupancy sampling."""
    for one in throughputs(runs, OS, range(6), ("steady", STEADY)):
        yield replace(one, case=f"QCN-OS, {one.case}")
    yield measured("QCN-OS, f1", "share_of_cnms", value_by_run(runs, OS, share))
    yield measured("QCN-OS, hot flows, steady", "jains_index", value_by_run(runs, OS, fairness))
    pauses = value_by_run(runs, OS, lambda run: sum(begun(one, STEADY) for one in run.all_pauses.values()))
    yield measured("QCN-OS, steady", "pauses", pauses)


def both(runs: Runs) -> Iterator[Measured]:
    """Measures claims that compare the two schemes, or hold for each."""
    yield pause_time(runs)
    calm, wild = (value_by_run(runs, one, scatter) for one in (OS, AS))
    earlier = [value_by_run(runs, one, lambda run: scatter(run, SETTLING)).mean() for one in (OS, AS)]
    note = (
        f"{calm.mean():.3g} and {wild.mean():.3g} KB; 50 to 150 ms {earlier[0]:.3g} and {earlier[1]:.3g} KB"
    )
    yield measured("QCN-OS by QCN-AS, steady", "deviation_of_occupancy", quotients(calm, wild), note)
    for variant in (AS, OS):
        name = NAMES[variant]
        held = value_by_run(runs, variant, lambda one: float(one.stored[F2, steps(STEADY)].mean()))
        yield measured(f"{name}, f2, steady", "occupancy", held)
        reached = value_by_run(runs, variant, lambda one: begun(one.pauses, START))
        yield measured(f"{name}, onset", "times_at_the_stop_threshold", reached)


def pause_time(runs: Runs) -> Measured:
    """Measures the pause time of the shared adapter with one scheme divided by that with the other."""
    short, long = (value_by_run(runs, one, lambda run: paused(run.pauses)) for one in (OS, AS))
    note = f"{short.mean():.3g} and {long.mean():.3g} ms"
    return measured("QCN-OS by QCN-AS", "pause_time", quotients(short, long), note)


def recovery(run: Seen) -> float:
    """Time in ms from the onset until f1 recovers for the rest of the onset's window; NaN if it does not."""
    window = round(1 / STEP)
    trace = run.sent[F1, steps(START)]
    means = np.convolve(trace, np.full(window, 1 / window), mode="valid")
    low = np.flatnonzero(means < RECOVERED * OFFER)
    if not len(low):
        return 0.0
    return float("nan") if low[-1] == len(means) - 1 else float(low[-1] + 1) * STEP


def fewest(runs: Runs) -> list[float]:
    """Returns 1 for each seed in which the hot flow that got the first CNM has less than the hot flows' mean.

    Other seeds have 0, and NaN without a CNM.
    """
    found = []
    for run in seen(runs, OUT):
        hot = run.whom[(run.told >= ONSET) & (run.whom >= F2)]
        means = run.sent[:, steps(STEADY)].mean(axis=1)
        found.append(float("nan") if not len(hot) else float(means[hot[0]] < means[HOT].mean()))
    return found


def figure_7(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures congestion points at outputs."""
    runs = sweeps["hotspot"]
    there, here = (value_by_run(runs, one, recovery) for one in (OUT, OS))
    note = f"{there.mean():.3g} and {here.mean():.3g} ms"
    yield measured("outputs by QCN-OS", "time_to_recover", quotients(there, here), note)
    yield measured("hot flows, steady", "largest_deviation", value_by_run(runs, OUT, deviation))
    yield fair(runs)
    first = float(np.mean(fewest(runs)))
    yield measured("the hot flow that is told first", "share_of_runs_below_the_mean", [first])


def fair(runs: Runs) -> Measured:
    """Measures the largest deviation of hot flows with one scheme divided by that with the other."""
    near, far = (value_by_run(runs, one, deviation) for one in (OS, OUT))
    note = f"{near.mean():.3g} and {far.mean():.3g} Gb/s"
    return measured("QCN-OS by outputs, steady", "largest_deviation", quotients(near, far), note)


def hundred(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures a network with rates and sizes ten times as large."""
    runs = sweeps["fast"]
    for variant in (OS, AS):
        offered = throughput(runs, variant, F1, STEADY) / (FAST * OFFER)
        yield measured(f"{NAMES[variant]}, f1, steady", "throughput_by_offer", offered)
    yield pause_time(runs)
    yield fair(runs)


def everywhere(run: Seen) -> float:
    """Total time in ms for which adapters are paused after the onset."""
    return sum(paused(one) for one in run.all_pauses.values())


def keep_alive(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures keep-alive: section III and footnote 8."""
    runs = sweeps["hotspot"]
    on, off = (value_by_run(runs, one, everywhere) for one in (KEEP_ALIVE, OS))
    note = f"{on.mean():.4g} and {off.mean():.4g} ms"
    yield measured("QCN-OS with keep-alive less QCN-OS", "pause_time", on - off, note)


def differ(one: pa.Table, other: pa.Table) -> int:
    """Counts CNMs of either table that are not in the other."""
    first, second = (
        Counter(zip(*(columns.numbers(table, name).tolist() for name in COMPARED), strict=True))
        for table in (one, other)
    )
    return ((first - second) + (second - first)).total()


def two_samples(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures section V-A: two samples with one flow at each input, and at the hotspot."""
    runs = sweeps["one_flow"]
    ones, others = (runs.tables("notices", variant) for variant in (OS, TWO))
    found = [float(differ(*pair)) for pair in zip(ones, others, strict=True)]
    note = f"of {sum(one.num_rows for one in ones) / len(ones):.5g} in each run"
    yield measured("one flow at each input", "cnms_that_differ", found, note)
    hotspot = sweeps["hotspot"]
    two, one = (value_by_run(hotspot, variant, share) for variant in (TWO, OS))
    note = f"{two.mean():.3g} and {one.mean():.3g} %"
    yield measured("two samples less QCN-OS, figure 6", "share_of_cnms_to_f1", two - one, note)


def hot_output(run: Seen) -> float:
    """Throughput of all hot flows together after the onset in Gb/s."""
    return float(run.sent[HOT, steps((ONSET, END))].sum(axis=0).mean())


def alone(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures PFC alone, and QCN-OS relative to it."""
    runs = sweeps["hotspot"]
    yield measured("PFC alone, f1, steady", "throughput", throughput(runs, PFC, F1, STEADY))
    for name, window in (("steady", STEADY), ("onset", START)):
        ours, theirs = (throughput(runs, one, F1, window) for one in (OS, PFC))
        note = f"{ours.mean():.4g} and {theirs.mean():.4g} Gb/s"
        yield measured(f"QCN-OS less PFC alone, f1, {name}", "throughput", ours - theirs, note)
    ours, theirs = (value_by_run(runs, one, hot_output) for one in (OS, PFC))
    note = f"{ours.mean():.4g} and {theirs.mean():.4g} Gb/s"
    case = "QCN-OS by PFC alone, hot flows, after 10 ms"
    yield measured(case, "throughput", quotients(ours, theirs), note)


def two_samples_beside(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures throughputs, occupancy and pauses with two samples, and times relative to QCN-OS."""
    runs = sweeps["hotspot"]
    yield measured("two samples, f1, steady", "throughput", throughput(runs, TWO, F1, STEADY))
    yield measured("two samples, hot flows, steady", "jains_index", value_by_run(runs, TWO, fairness))
    held = value_by_run(runs, TWO, lambda run: float(run.stored[F2, steps(STEADY)].mean()))
    yield measured("two samples, f2, steady", "occupancy", held)
    pauses = value_by_run(runs, TWO, lambda run: sum(begun(one, STEADY) for one in run.all_pauses.values()))
    yield measured("two samples, steady", "pauses", pauses)
    for metric, value in (("pause_time", lambda run: paused(run.pauses)), ("time_to_recover", recovery)):
        two, one = (value_by_run(runs, variant, value) for variant in (TWO, OS))
        note = f"{two.mean():.3g} and {one.mean():.3g} ms"
        yield measured("two samples by QCN-OS", metric, quotients(two, one), note)


MEASURES: dict[str, Measure] = {
    "fig3": figure_3,
    "fig4": figure_4,
    "fig6": figure_6,
    "fig7": figure_7,
    "100g": hundred,
    "secIII": keep_alive,
    "secV-A": two_samples,
    "claim-alone": alone,
    "claim-two-samples": two_samples_beside,
}
