"""Measures of QCN-OS's figures 8 to 11: a fabric shared by f1 and f2, with f2 active from 50 to 150 ms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from overspill.papers.common import build_measured, divide_by_seed, divide_or_nan
from overspill.papers.spec import Measure, Measured, Runs, Sweeps

from .schemes import (
    F1,
    F2,
    NAMES,
    OFFER_GBPS,
    PFC,
    QCN_AS,
    QCN_AS_OUTPUTS,
    QCN_OS,
    QCN_OS_ACKS,
    TWO_SAMPLES,
    TWO_SAMPLES_ACKS,
    HotspotRun,
    mean_throughput,
    means_by_ms,
    measure_throughputs,
    parse_kb,
    value_by_run,
    window_steps,
)

ACTIVE_WINDOW = (50.0, 150.0)  # ms, while f2 is active
BEFORE_WINDOW, LATE_WINDOW, LAST_WINDOW = (0.0, 50.0), (60.0, 150.0), (110.0, 150.0)
LIMITS_FALL_WINDOW, EARLY_WINDOW, FIRST_WINDOW, LATE_CNM_WINDOW, EARLY_CNM_WINDOW = (
    (55.0, 80.0),
    (60.0, 90.0),
    (50.0, 60.0),
    (100.0, 150.0),
    (50.0, 70.0),
)
NEAR_KB = 10.0  # KB around the mean of the end
MIN_STAY_MS = 10  # ms
RATE_UNITS = {"Kbps": 1e-6, "Mbps": 1e-3, "Gbps": 1.0, "Tbps": 1e3}


def parse_gbps(text: str) -> float:
    """Parses a rate of a resolved scenario, in Gb/s.

    Raises ValueError if the text is no rate.
    """
    parts = re.fullmatch(r"([0-9.]+) ?(Kbps|Mbps|Gbps|Tbps)", text)
    if parts is None:
        raise ValueError(f"{text} is no rate")
    return float(parts[1]) * RATE_UNITS[parts[2]]


def measure_figure_8(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the fabric's settings in the runs, and the ideal throughput of each flow."""
    settings = sweeps["fabric"].settings(QCN_OS)
    [switch] = settings["switches"]
    inside = parse_gbps(switch["fabric"]["link_rate"])
    link = parse_gbps(settings["topology"]["link"]["rate"])
    yield build_measured("Ethernet link", "rate", [link])
    yield build_measured("link between supernodes", "rate", [inside])
    yield build_measured("buffer before it", "size", [parse_kb(switch["fabric"]["link_buffer"])])
    yield build_measured("f1, ideal", "throughput", [min(OFFER_GBPS, link)])
    yield build_measured("f2, ideal", "throughput", [min(OFFER_GBPS, inside)])


def measure_scheme_throughputs(
    runs: Runs, variant: str, flows: Sequence[int], named: tuple[str, tuple[float, float]]
) -> Iterator[Measured]:
    """Yields a row for each flow's throughput, with the name of the scheme in its case."""
    for one in measure_throughputs(runs, variant, flows, named):
        yield replace(one, case=f"{CASE_NAMES[variant]}, {one.case}")


CASE_NAMES = NAMES | {QCN_OS_ACKS: "ACKs"}
FROM_60, FROM_110 = ("60 to 150 ms", LATE_WINDOW), ("110 to 150 ms", LAST_WINDOW)


def count_cnms(run: HotspotRun, flow: int, window: tuple[float, float]) -> int:
    """Counts the CNMs to a flow in a time window."""
    return int(((run.cnm_times >= window[0]) & (run.cnm_times < window[1]) & (run.cnm_flows == flow)).sum())


def cnm_share(run: HotspotRun, flow: int, window: tuple[float, float]) -> float:
    """Share of a flow in the CNMs to f1 and f2 in a time window, in %; NaN without CNMs."""
    return 100 * divide_or_nan(
        count_cnms(run, flow, window), count_cnms(run, F1, window) + count_cnms(run, F2, window)
    )


def mean_stored_kb(run: HotspotRun, flow: int, window: tuple[float, float]) -> float:
    """Mean bytes of a flow in the shared input buffer in a time window, copies included, in KB."""
    return float(run.stored[flow, window_steps(window)].mean())


def mean_limit(run: HotspotRun, flow: int, window: tuple[float, float]) -> float:
    """Mean rate limit of a flow in a time window, in Gb/s."""
    return run.limits[flow].mean(window)


def limit_settling_time(run: HotspotRun) -> float:
    """Time in ms at which f2's rate limit first falls to the internal link's rate; NaN if never."""
    limit, inside = run.limits[F2], 2.5
    low = np.flatnonzero((limit.rates <= inside) & (limit.times >= ACTIVE_WINDOW[0]))
    return float(limit.times[low[0]]) if len(low) else float("nan")


def backlog_settling_time(run: HotspotRun) -> float:
    """Time in ms from which the backlog stays near its mean at the end; NaN if it never does.

    It stays if it is within `NEAR_KB` for `MIN_STAY_MS` ms.
    """
    both = means_by_ms(run.stored.sum(axis=0))
    mean = both[round(LAST_WINDOW[0]) : round(LAST_WINDOW[1])].mean()
    near = np.abs(both[round(ACTIVE_WINDOW[0]) : round(ACTIVE_WINDOW[1])] - mean) <= NEAR_KB
    whole = np.convolve(near, np.ones(MIN_STAY_MS), mode="valid") >= MIN_STAY_MS
    return ACTIVE_WINDOW[0] + float(whole.argmax()) if whole.any() else float("nan")


def last_pause_time(run: HotspotRun) -> float:
    """Time in ms at which the last pause before the end of f2 takes effect; NaN without any."""
    inside = run.pauses[run.pauses[:, 0] < ACTIVE_WINDOW[1]] if len(run.pauses) else run.pauses
    return float(inside[-1, 0]) if len(inside) else float("nan")


def measure_figure_9(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the fabric with four schemes: PFC, arrival sampling (outputs, inputs), occupancy sampling."""
    runs = sweeps["fabric"]
    for variant in (PFC, QCN_AS_OUTPUTS, QCN_AS, QCN_OS):
        yield from measure_scheme_throughputs(runs, variant, [F1], ("before", BEFORE_WINDOW))
    yield from measure_scheme_throughputs(runs, PFC, [F1, F2], FROM_60)
    yield from measure_scheme_throughputs(runs, QCN_AS_OUTPUTS, [F1], FROM_60)
    cnms = value_by_run(runs, QCN_AS_OUTPUTS, lambda run: float((run.cnm_times < ACTIVE_WINDOW[1]).sum()))
    later = value_by_run(runs, QCN_AS_OUTPUTS, lambda run: float((run.cnm_times >= ACTIVE_WINDOW[1]).sum()))
    note = f"{later.mean():.2g} afterwards, when the queued packets of f1 leave immediately"
    yield build_measured(NAMES[QCN_AS_OUTPUTS], "cnms", cnms, note)
    for variant in (QCN_AS, QCN_OS):
        yield from measure_scheme_throughputs(runs, variant, [F1, F2], FROM_110)
    yield build_measured(NAMES[QCN_AS], "last_pause", value_by_run(runs, QCN_AS, last_pause_time))
    f1_limit, f2_limit = (
        value_by_run(runs, QCN_OS, partial(mean_limit, flow=flow, window=LIMITS_FALL_WINDOW))
        for flow in (F1, F2)
    )
    yield build_measured("QCN-OS, f1 by f2, 55 to 80 ms", "rate_limit", divide_by_seed(f1_limit, f2_limit))
    yield build_measured(
        "QCN-OS, f2", "rate_limit_settles_at", value_by_run(runs, QCN_OS, limit_settling_time)
    )
    both = value_by_run(
        runs,
        QCN_OS,
        lambda run: mean_stored_kb(run, F1, LATE_CNM_WINDOW) + mean_stored_kb(run, F2, LATE_CNM_WINDOW),
    )
    yield build_measured("QCN-OS, both flows, from 100 ms on", "backlog", both)
    after = value_by_run(runs, QCN_OS, lambda run: backlog_settling_time(run) - limit_settling_time(run))
    yield build_measured("QCN-OS, both flows", "backlog_settles_after_the_rate", after)
    ratio = value_by_run(
        runs,
        QCN_OS,
        lambda run: divide_or_nan(
            mean_stored_kb(run, F1, EARLY_WINDOW), mean_stored_kb(run, F2, EARLY_WINDOW)
        ),
    )
    yield build_measured("QCN-OS, f1 by f2, 60 to 90 ms", "backlog", ratio)
    yield build_measured(
        "f1, QCN-OS by QCN-AS, 110 to 150 ms", "throughput", throughput_ratio(runs, QCN_OS, QCN_AS)
    )


def throughput_ratio(runs: Runs, one: str, other: str) -> np.ndarray:
    """Ratio of f1's final throughputs with two schemes."""
    return np.asarray(
        divide_by_seed(
            mean_throughput(runs, one, F1, LAST_WINDOW), mean_throughput(runs, other, F1, LAST_WINDOW)
        )
    )


def measure_figure_10(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the fabric with the scheme `two samples`, and with end-to-end acknowledgements."""
    runs = sweeps["fabric"]
    yield from measure_scheme_throughputs(runs, TWO_SAMPLES, [F1, F2], FROM_110)
    yield build_measured(
        "two samples by QCN-OS, f1, 110 to 150 ms", "throughput", throughput_ratio(runs, TWO_SAMPLES, QCN_OS)
    )
    ratio = value_by_run(
        runs,
        TWO_SAMPLES,
        lambda run: divide_or_nan(
            mean_stored_kb(run, F1, FIRST_WINDOW), mean_stored_kb(run, F2, FIRST_WINDOW)
        ),
    )
    yield build_measured("two samples, f1 by f2, 50 to 60 ms", "backlog", ratio)
    late, early = (
        value_by_run(runs, TWO_SAMPLES, partial(cnm_share, flow=F1, window=one))
        for one in (LATE_CNM_WINDOW, EARLY_CNM_WINDOW)
    )
    yield build_measured("two samples, f1, 100 to 150 ms", "share_of_cnms", late)
    note = f"{early.mean():.3g} % from 50 to 70 ms"
    yield build_measured("two samples, f1, 100 to 150 less 50 to 70 ms", "share_of_cnms", late - early, note)
    yield from measure_scheme_throughputs(runs, QCN_OS_ACKS, [F1, F2], FROM_110)
    yield build_measured(
        "ACKs, f2, 50 to 150 ms",
        "share_of_cnms",
        value_by_run(runs, QCN_OS_ACKS, lambda run: cnm_share(run, F2, ACTIVE_WINDOW)),
    )
    ratio = value_by_run(
        runs,
        QCN_OS_ACKS,
        lambda run: divide_or_nan(
            mean_stored_kb(run, F2, ACTIVE_WINDOW), mean_stored_kb(run, F1, ACTIVE_WINDOW)
        ),
    )
    yield build_measured("ACKs, f2 by f1", "backlog", ratio)
    yield build_measured(
        "ACKs by QCN-OS, f1, 110 to 150 ms", "throughput", throughput_ratio(runs, QCN_OS_ACKS, QCN_OS)
    )
    few, many = (
        value_by_run(runs, one, lambda run: float(count_cnms(run, F1, ACTIVE_WINDOW)))
        for one in (QCN_OS_ACKS, TWO_SAMPLES)
    )
    note = f"{few.mean():.3g} and {many.mean():.3g}"
    yield build_measured("ACKs by two samples, f1", "cnms", divide_by_seed(few, many), note)


def measure_figure_11(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the fabric with `two samples` and end-to-end acknowledgements together."""
    runs = sweeps["fabric"]
    for flow in (F1, F2):
        value = mean_throughput(runs, TWO_SAMPLES_ACKS, flow, LAST_WINDOW)
        yield build_measured(f"f{flow + 1}, 110 to 150 ms", "throughput", value)
    yield build_measured(
        "f1 by that of figure 10d", "throughput", throughput_ratio(runs, TWO_SAMPLES_ACKS, QCN_OS_ACKS)
    )


MEASURES: dict[str, Measure] = {
    "fig8": measure_figure_8,
    "fig9": measure_figure_9,
    "fig10": measure_figure_10,
    "fig11": measure_figure_11,
}
