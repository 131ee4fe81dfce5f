"""Measures of QCN-OS's figures 3, 4, 6 and 7: PFC, arrival and occupancy sampling at a hotspot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.common import build_measured, divide_by_seed, divide_or_nan, linear_correlation
from overspill.papers.spec import Measure, Measured, Runs, Sweeps

from .schemes import (
    BEFORE_WINDOW,
    END_MS,
    F1,
    F2,
    HOT_FLOWS,
    KEEP_ALIVE,
    NAMES,
    OFFER_GBPS,
    ONSET_MS,
    PFC,
    QCN_AS,
    QCN_AS_OUTPUTS,
    QCN_OS,
    START_WINDOW,
    STEADY_WINDOW,
    STEP_MS,
    TWO_SAMPLES,
    HotspotRun,
    count_pauses,
    largest_deviation,
    mean_throughput,
    means_by_ms,
    measure_throughputs,
    read_runs,
    total_pause,
    value_by_run,
    window_steps,
)

FIRST_WINDOW = (10.0, 14.0)  # ms, start of the hot flows
LATER_WINDOW = (30.0, END_MS)  # ms, after the published phase of PFC
EARLY_WINDOW = (30.0, 100.0)  # ms
LINK_GBPS = 10.0  # Gb/s
LIMITS_TIME_MS = 25.0  # ms, time of the rate limits in the text
AROUND_WINDOW = (20.0, 30.0)  # ms
FALL_WINDOW = (10.0, 13.0)  # ms
SETTLING_WINDOW = (50.0, STEADY_WINDOW[0])  # ms, mostly without PFC
RECOVERED_SHARE = 0.95  # share of f1's offer
SPEED_FACTOR = 10  # factor of rates and sizes relative to those at 10 Gb/s
COMPARED_COLUMNS = ("time_ps", "node", "port", "flow", "feedback", "q_off", "q_delta")


def measure_figure_3(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures figure 3: throughput of five flows with PFC alone."""
    runs = sweeps["baseline"]
    yield from measure_throughputs(runs, PFC, [F1, F2], ("before", BEFORE_WINDOW))
    yield from measure_throughputs(runs, PFC, range(5), ("steady", STEADY_WINDOW))
    victim = mean_throughput(runs, PFC, F1, STEADY_WINDOW)
    yield build_measured("f1 by what it is entitled to, steady", "throughput", victim / OFFER_GBPS)
    yield build_measured("output of f1, steady", "use", 100 * victim / LINK_GBPS)


def share_in_range(run: HotspotRun) -> float:
    """Share of milliseconds in which f1's throughput is within the published range, in %."""
    means = means_by_ms(run.sent[F1, window_steps((ONSET_MS, END_MS))])
    return 100 * float(np.mean((means >= 1.3) & (means <= 3.3)))


def last_shared_pause(run: HotspotRun) -> float:
    """Time in ms from the onset of congestion to the last pause of the shared sender; 0 without one."""
    return float(run.pauses[-1, 0]) - ONSET_MS if len(run.pauses) else 0.0


def cnms_per_byte_ratio(run: HotspotRun) -> float:
    """CNMs per byte of f1 divided by those of f2, in the steady part; NaN if f2 gets none."""
    inside = (run.cnm_times >= STEADY_WINDOW[0]) & (run.cnm_times < STEADY_WINDOW[1])
    one, other = (
        divide_or_nan(
            float((inside & (run.cnm_flows == flow)).sum()),
            float(run.sent[flow, window_steps(STEADY_WINDOW)].sum()),
        )
        for flow in (F1, F2)
    )
    return divide_or_nan(one, other)


def measure_figure_4(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures figure 4: throughput, pauses and occupancy of six flows with PFC and arrival sampling."""
    runs = sweeps["hotspot"]
    yield build_measured("f1, 10 to 14 ms", "throughput", mean_throughput(runs, QCN_AS, F1, FIRST_WINDOW))
    yield build_measured(
        "f1, from 10 ms on", "share_of_ms_within_1.3_to_3.3", value_by_run(runs, QCN_AS, share_in_range)
    )
    victim, alone = (mean_throughput(runs, one, F1, STEADY_WINDOW) for one in (QCN_AS, PFC))
    more, early = (
        value_by_run(runs, QCN_AS, cnms_per_byte_ratio),
        mean_throughput(runs, QCN_AS, F1, EARLY_WINDOW),
    )
    note = f"{early.mean():.3g} Gb/s from 30 to 100 ms; {more.mean():.2g} times as many CNMs per byte as f2"
    yield build_measured("f1, steady", "throughput", victim, note)
    case = "f1, steady, less f1 of PFC alone with a tenth more"
    yield build_measured(case, "throughput", victim - 1.1 * alone, f"PFC alone {alone.mean():.4g} Gb/s")
    yield build_measured(
        "shared input", "last_pause_after_onset", value_by_run(runs, QCN_AS, last_shared_pause)
    )
    later = value_by_run(runs, QCN_AS, lambda one: count_pauses(one.pauses, LATER_WINDOW))
    note = f"none in {(later == 0).sum()} of {len(later)} seeds"
    yield build_measured("shared input, from 30 ms on", "pauses", later, note)
    held = value_by_run(
        runs, QCN_AS, lambda one: float(one.stored[:, window_steps(STEADY_WINDOW)].sum(axis=0).mean())
    )
    yield build_measured("shared input, steady", "occupancy", held)


def lowest_throughput(run: HotspotRun) -> float:
    """Lowest throughput in 1 ms after the onset relative to the offer, of the flow that falls least."""
    return float(means_by_ms(run.sent[:, window_steps(FALL_WINDOW)]).min(axis=1).max()) / OFFER_GBPS


def largest_throughput_over_limit(run: HotspotRun) -> float:
    """Largest throughput relative to its rate limit, of f1 or f2, in a millisecond with PAUSE in the onset.

    NaN without PAUSE in the onset.
    """
    edges = np.arange(START_WINDOW[0], START_WINDOW[1] + 0.5)
    begins, ends = run.pauses[:, :1], run.pauses[:, 1:]
    stopped = ((begins < edges[1:]) & (ends > edges[:-1])).any(axis=0)
    if not stopped.any():
        return float("nan")
    found = [
        means_by_ms(run.sent[one, window_steps(START_WINDOW)]) / run.limits[one].means(edges)
        for one in (F1, F2)
    ]
    return float(np.max(found, axis=0)[stopped].max())


def cnms_by_ms(run: HotspotRun, flow: int) -> np.ndarray:
    """CNMs to a flow in each millisecond after the onset of congestion."""
    times = run.cnm_times[run.cnm_flows == flow]
    return np.histogram(times, np.arange(ONSET_MS, END_MS + 0.5))[0].astype(float)


def correlate_cnms_and_backlog(run: HotspotRun, flow: int) -> float:
    """Correlation of the CNMs to a flow with the backlog of f2, over milliseconds."""
    return linear_correlation(
        means_by_ms(run.stored[F2, window_steps((ONSET_MS, END_MS))]), cnms_by_ms(run, flow)
    )


def cnm_share(run: HotspotRun) -> float:
    """Share of f1 in the CNMs to f1 and f2 after the onset of congestion, in %; NaN without CNMs."""
    after = run.cnm_times >= ONSET_MS
    one, other = (int((after & (run.cnm_flows == flow)).sum()) for flow in (F1, F2))
    return 100 * divide_or_nan(one, one + other)


def jain_index(run: HotspotRun) -> float:
    """Jain's fairness index of the flows to the hot output."""
    means = run.sent[HOT_FLOWS, window_steps(STEADY_WINDOW)].mean(axis=1)
    return float(means.sum()) ** 2 / (len(means) * float((means**2).sum()))


def buffer_deviation(run: HotspotRun, window: tuple[float, float] = STEADY_WINDOW) -> float:
    """Standard deviation of the bytes in the shared input buffer, in KB."""
    return float(run.stored[:, window_steps(window)].sum(axis=0).std())


def measure_figure_6(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the claims of QCN-OS's text on figure 6."""
    runs = sweeps["hotspot"]
    yield from measure_arrival_sampling(runs)
    yield from measure_occupancy_sampling(runs)
    yield from measure_both_schemes(runs)


def measure_arrival_sampling(runs: Runs) -> Iterator[Measured]:
    """Measures panels a to c of figure 6: arrival sampling."""
    for flow in (F1, F2):
        limit = value_by_run(runs, QCN_AS, lambda one, flow=flow: one.limits[flow].limit_at(LIMITS_TIME_MS))  # type: ignore[misc]
        yield build_measured(f"QCN-AS, f{flow + 1}, 25 ms", "rate_limit", limit)
    less = value_by_run(
        runs, QCN_AS, lambda one: one.limits[F1].mean(AROUND_WINDOW) - one.limits[F2].mean(AROUND_WINDOW)
    )
    yield build_measured("QCN-AS, f1 less f2, 20 to 30 ms", "rate_limit", less)
    case = "QCN-AS, the flow that falls least, 10 to 13 ms"
    yield build_measured(case, "lowest_throughput_by_offer", value_by_run(runs, QCN_AS, lowest_throughput))
    yield build_measured(
        "QCN-AS, onset",
        "largest_throughput_by_rate_limit",
        value_by_run(runs, QCN_AS, largest_throughput_over_limit),
    )
    for flow in (F1, F2):
        found = value_by_run(runs, QCN_AS, lambda one, flow=flow: correlate_cnms_and_backlog(one, flow))  # type: ignore[misc]
        yield build_measured(f"QCN-AS, f{flow + 1}", "correlation_of_q2_and_cnms", found)
        limit = value_by_run(runs, QCN_AS, lambda one, flow=flow: one.limits[flow].mean(STEADY_WINDOW))  # type: ignore[misc]
        yield build_measured(f"QCN-AS, f{flow + 1}, steady", "rate_limit", limit)


def measure_occupancy_sampling(runs: Runs) -> Iterator[Measured]:
    """Measures panels d to f of figure 6: occupancy sampling."""
    for one in measure_throughputs(runs, QCN_OS, range(6), ("steady", STEADY_WINDOW)):
        yield replace(one, case=f"QCN-OS, {one.case}")
    yield build_measured("QCN-OS, f1", "share_of_cnms", value_by_run(runs, QCN_OS, cnm_share))
    yield build_measured("QCN-OS, hot flows, steady", "jains_index", value_by_run(runs, QCN_OS, jain_index))
    pauses = value_by_run(
        runs, QCN_OS, lambda run: sum(count_pauses(one, STEADY_WINDOW) for one in run.all_pauses.values())
    )
    yield build_measured("QCN-OS, steady", "pauses", pauses)


def measure_both_schemes(runs: Runs) -> Iterator[Measured]:
    """Measures claims on both arrival and occupancy sampling."""
    yield measure_pause_time(runs)
    calm, wild = (value_by_run(runs, one, buffer_deviation) for one in (QCN_OS, QCN_AS))
    earlier = [
        value_by_run(runs, one, lambda run: buffer_deviation(run, SETTLING_WINDOW)).mean()
        for one in (QCN_OS, QCN_AS)
    ]
    note = (
        f"{calm.mean():.3g} and {wild.mean():.3g} KB; 50 to 150 ms {earlier[0]:.3g} and {earlier[1]:.3g} KB"
    )
    yield build_measured(
        "QCN-OS by QCN-AS, steady", "deviation_of_occupancy", divide_by_seed(calm, wild), note
    )
    for variant in (QCN_AS, QCN_OS):
        name = NAMES[variant]
        held = value_by_run(
            runs, variant, lambda one: float(one.stored[F2, window_steps(STEADY_WINDOW)].mean())
        )
        yield build_measured(f"{name}, f2, steady", "occupancy", held)
        reached = value_by_run(runs, variant, lambda one: count_pauses(one.pauses, START_WINDOW))
        yield build_measured(f"{name}, onset", "times_at_the_stop_threshold", reached)


def measure_pause_time(runs: Runs) -> Measured:
    """Measures the shared sender's pause time with QCN-OS divided by that with QCN-AS."""
    short, long = (value_by_run(runs, one, lambda run: total_pause(run.pauses)) for one in (QCN_OS, QCN_AS))
    note = f"{short.mean():.3g} and {long.mean():.3g} ms"
    return build_measured("QCN-OS by QCN-AS", "pause_time", divide_by_seed(short, long), note)


def recovery_time(run: HotspotRun) -> float:
    """Time in ms from the onset of congestion until f1 recovers for the rest of the window; NaN if never."""
    window = round(1 / STEP_MS)
    trace = run.sent[F1, window_steps(START_WINDOW)]
    means = np.convolve(trace, np.full(window, 1 / window), mode="valid")
    low = np.flatnonzero(means < RECOVERED_SHARE * OFFER_GBPS)
    if not len(low):
        return 0.0
    return float("nan") if low[-1] == len(means) - 1 else float(low[-1] + 1) * STEP_MS


def first_notified_flow_is_slow(runs: Runs) -> list[float]:
    """Returns 1 for each seed in which the first notified hot flow is slower than the hot flows' mean.

    Other seeds have 0, and NaN without a CNM.
    """
    found = []
    for run in read_runs(runs, QCN_AS_OUTPUTS):
        hot = run.cnm_flows[(run.cnm_times >= ONSET_MS) & (run.cnm_flows >= F2)]
        means = run.sent[:, window_steps(STEADY_WINDOW)].mean(axis=1)
        found.append(float("nan") if not len(hot) else float(means[hot[0]] < means[HOT_FLOWS].mean()))
    return found


def measure_figure_7(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures figure 7: arrival sampling by congestion points at outputs."""
    runs = sweeps["hotspot"]
    there, here = (value_by_run(runs, one, recovery_time) for one in (QCN_AS_OUTPUTS, QCN_OS))
    note = f"{there.mean():.3g} and {here.mean():.3g} ms"
    yield build_measured("outputs by QCN-OS", "time_to_recover", divide_by_seed(there, here), note)
    yield build_measured(
        "hot flows, steady", "largest_deviation", value_by_run(runs, QCN_AS_OUTPUTS, largest_deviation)
    )
    yield measure_deviation_ratio(runs)
    first = float(np.mean(first_notified_flow_is_slow(runs)))
    yield build_measured("the hot flow that is told first", "share_of_runs_below_the_mean", [first])


def measure_deviation_ratio(runs: Runs) -> Measured:
    """Measures the largest deviation of hot flows with QCN-OS divided by that with sampling at outputs."""
    near, far = (value_by_run(runs, one, largest_deviation) for one in (QCN_OS, QCN_AS_OUTPUTS))
    note = f"{near.mean():.3g} and {far.mean():.3g} Gb/s"
    return build_measured("QCN-OS by outputs, steady", "largest_deviation", divide_by_seed(near, far), note)


def measure_100g_network(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the hotspot with rates and sizes ten times as large."""
    runs = sweeps["fast"]
    for variant in (QCN_OS, QCN_AS):
        offered = mean_throughput(runs, variant, F1, STEADY_WINDOW) / (SPEED_FACTOR * OFFER_GBPS)
        yield build_measured(f"{NAMES[variant]}, f1, steady", "throughput_by_offer", offered)
    yield measure_pause_time(runs)
    yield measure_deviation_ratio(runs)


def total_pause_time(run: HotspotRun) -> float:
    """Total time in ms for which senders are paused after the onset of congestion."""
    return sum(total_pause(one) for one in run.all_pauses.values())


def measure_keep_alive(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures how much keep-alive sampling shortens pauses (section III, footnote 8)."""
    runs = sweeps["hotspot"]
    on, off = (value_by_run(runs, one, total_pause_time) for one in (KEEP_ALIVE, QCN_OS))
    note = f"{on.mean():.4g} and {off.mean():.4g} ms"
    yield build_measured("QCN-OS with keep-alive less QCN-OS", "pause_time", on - off, note)


def count_differing_cnms(one: pa.Table, other: pa.Table) -> int:
    """Counts CNMs of either table that are not in the other."""
    first, second = (
        Counter(
            zip(*(columns.column_to_numpy(table, name).tolist() for name in COMPARED_COLUMNS), strict=True)
        )
        for table in (one, other)
    )
    return ((first - second) + (second - first)).total()


def measure_two_samples(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the scheme `two samples` of section V-A, with one flow per input and at the hotspot."""
    runs = sweeps["one_flow"]
    ones, others = (runs.tables("notices", variant) for variant in (QCN_OS, TWO_SAMPLES))
    found = [float(count_differing_cnms(*pair)) for pair in zip(ones, others, strict=True)]
    note = f"of {sum(one.num_rows for one in ones) / len(ones):.5g} in each run"
    yield build_measured("one flow at each input", "cnms_that_differ", found, note)
    hotspot = sweeps["hotspot"]
    two, one = (value_by_run(hotspot, variant, cnm_share) for variant in (TWO_SAMPLES, QCN_OS))
    note = f"{two.mean():.3g} and {one.mean():.3g} %"
    yield build_measured("two samples less QCN-OS, figure 6", "share_of_cnms_to_f1", two - one, note)


def hot_throughput(run: HotspotRun) -> float:
    """Throughput of all hot flows together after the onset of congestion, in Gb/s."""
    return float(run.sent[HOT_FLOWS, window_steps((ONSET_MS, END_MS))].sum(axis=0).mean())


def measure_pfc_alone(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the throughputs of flow f1 with PFC alone, and those of QCN-OS relative to PFC alone."""
    runs = sweeps["hotspot"]
    yield build_measured("PFC alone, f1, steady", "throughput", mean_throughput(runs, PFC, F1, STEADY_WINDOW))
    for name, window in (("steady", STEADY_WINDOW), ("onset", START_WINDOW)):
        ours, theirs = (mean_throughput(runs, one, F1, window) for one in (QCN_OS, PFC))
        note = f"{ours.mean():.4g} and {theirs.mean():.4g} Gb/s"
        yield build_measured(f"QCN-OS less PFC alone, f1, {name}", "throughput", ours - theirs, note)
    ours, theirs = (value_by_run(runs, one, hot_throughput) for one in (QCN_OS, PFC))
    note = f"{ours.mean():.4g} and {theirs.mean():.4g} Gb/s"
    case = "QCN-OS by PFC alone, hot flows, after 10 ms"
    yield build_measured(case, "throughput", divide_by_seed(ours, theirs), note)


def compare_two_samples(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures throughputs, occupancy and pauses with `two samples`, and times relative to QCN-OS."""
    runs = sweeps["hotspot"]
    yield build_measured(
        "two samples, f1, steady", "throughput", mean_throughput(runs, TWO_SAMPLES, F1, STEADY_WINDOW)
    )
    yield build_measured(
        "two samples, hot flows, steady", "jains_index", value_by_run(runs, TWO_SAMPLES, jain_index)
    )
    held = value_by_run(
        runs, TWO_SAMPLES, lambda run: float(run.stored[F2, window_steps(STEADY_WINDOW)].mean())
    )
    yield build_measured("two samples, f2, steady", "occupancy", held)
    pauses = value_by_run(
        runs,
        TWO_SAMPLES,
        lambda run: sum(count_pauses(one, STEADY_WINDOW) for one in run.all_pauses.values()),
    )
    yield build_measured("two samples, steady", "pauses", pauses)
    for metric, value in (
        ("pause_time", lambda run: total_pause(run.pauses)),
        ("time_to_recover", recovery_time),
    ):
        two, one = (value_by_run(runs, variant, value) for variant in (TWO_SAMPLES, QCN_OS))
        note = f"{two.mean():.3g} and {one.mean():.3g} ms"
        yield build_measured("two samples by QCN-OS", metric, divide_by_seed(two, one), note)


MEASURES: dict[str, Measure] = {
    "fig3": measure_figure_3,
    "fig4": measure_figure_4,
    "fig6": measure_figure_6,
    "fig7": measure_figure_7,
    "100g": measure_100g_network,
    "secIII": measure_keep_alive,
    "secV-A": measure_two_samples,
    "claim-alone": measure_pfc_alone,
    "claim-two-samples": compare_two_samples,
}
