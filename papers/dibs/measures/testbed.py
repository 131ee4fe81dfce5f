"""Measures of section 5.2: query completion and flow durations on the testbed (figure 6), other settings."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from overspill import columns
from overspill.papers.common import measured, quotient
from overspill.papers.spec import Measure, Measured, Point, Runs, Sweeps

INFINITE, DROPTAIL, DIBS = "infinite", "droptail", "dibs"
NAMES = {INFINITE: "infinite", DROPTAIL: "droptail", DIBS: "DIBS"}
RATE = "topology.link.rate"
RATES = {"1 Gb/s": "1Gbps", "553 Mb/s": "553Mbps"}
CALIBRATED = "553 Mb/s"
DELAYED = 25, 50  # ms, range of the paper's delayed flows
# Settings of section 5.2: the sweep, the path and its value.
OTHERS = {
    "16 KB": ("testbed_sizes", "traffic.responses.size", "16KB"),
    "64 KB": ("testbed_sizes", "traffic.responses.size", "64KB"),
    "5 flows a host": ("testbed_flows", "traffic.responses.senders", "25"),
    "20 flows a host": ("testbed_flows", "traffic.responses.senders", "100"),
    "50 packets": ("testbed_queues", "switch.buffer.size", "50pkt"),
    "200 packets": ("testbed_queues", "switch.buffer.size", "200pkt"),
}


def qct(runs: Runs, variant: str, point: Point) -> np.ndarray:
    """Completion times of the one query of each run in ms."""
    return 1e3 * runs.metric("qct_mean", variant, point)


def durations(runs: Runs, variant: str, point: Point) -> list[np.ndarray]:
    """FCTs in ms, run by run; infinite for unfinished flows."""
    found = []
    for table in runs.tables("flows", variant, point):
        ends = table.column("end_ps").to_numpy(zero_copy_only=False).astype(np.float64)
        taken = (ends - columns.numbers(table, "start_ps")) / 1e9
        found.append(np.where(np.isfinite(taken), taken, np.inf))
    return found


def timed_out(runs: Runs, variant: str, point: Point) -> list[np.ndarray]:
    """True for flows with a retransmission timeout, run by run."""
    return [columns.numbers(table, "timeouts") > 0 for table in runs.tables("flows", variant, point)]


def of_case(sweeps: Sweeps, case: str, variant: str) -> np.ndarray:
    """Completion times of the queries of a setting of section 5.2 in ms."""
    name, path, value = OTHERS[case]
    return qct(sweeps[name], variant, {path: value})


def queries(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures figure 6a: the three overflow settings, at both rates."""
    runs = sweeps["testbed"]
    for case, rate in RATES.items():
        found = {variant: qct(runs, variant, {RATE: rate}) for variant in NAMES}
        slowest = {variant: float(times.max()) for variant, times in found.items()}
        told = ", ".join(f"{NAMES[one]} {found[one].min():.1f} to {slowest[one]:.1f} ms" for one in NAMES)
        yield measured(case, "slowest_DIBS_by_infinite", [quotient(slowest[DIBS], slowest[INFINITE])], told)
        yield measured(case, "slowest_droptail_by_infinite", [quotient(slowest[DROPTAIL], slowest[INFINITE])])
        yield measured(case, "qct_DIBS_less_infinite", found[DIBS] - found[INFINITE])
        yield measured(case, "median_qct_droptail_less_DIBS", np.median(found[DROPTAIL]) - found[DIBS])
        if case == CALIBRATED:
            yield measured(case, "slowest_infinite", [slowest[INFINITE]])
            yield measured(case, "slowest_DIBS", [slowest[DIBS]])
            yield measured(case, "fastest_droptail", [found[DROPTAIL].min()])
            yield measured(case, "slowest_droptail", [slowest[DROPTAIL]])


def flows(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures figure 6b: flows that wait for a timeout, and their absence with detours."""
    runs = sweeps["testbed"]
    for case, rate in RATES.items():
        point, whose = {RATE: rate}, f"{case}, droptail"
        late = timed_out(runs, DROPTAIL, point)
        if case != CALIBRATED:
            # The paper's 25 ms are its slowest query with infinite buffers.
            slowest = float(qct(runs, INFINITE, point).max())
            shares = [100 * between(one, slowest, 2 * slowest) for one in durations(runs, DROPTAIL, point)]
            waited = 100 * float(np.mean([one.mean() for one in late]))
            note = f"{slowest:.1f} to {2 * slowest:.1f} ms; with a timeout {waited:.0f} %"
            yield measured(whose, "flows_of_1_to_2_times_the_slowest_infinite", shares, note)
        yield measured(whose, "runs_with_a_delayed_flow", [100 * float(np.mean([one.any() for one in late]))])
        yield measured(f"{case}, DIBS", "drops", runs.metric("drops", DIBS, point))
        yield measured(f"{case}, DIBS", "timeouts", runs.metric("timeouts", DIBS, point))
    point = {RATE: RATES[CALIBRATED]}
    shares = [100 * between(one, *DELAYED) for one in durations(runs, DROPTAIL, point)]
    yield measured(f"{CALIBRATED}, droptail", "flows_of_25_to_50_ms", shares)
    longest = max(one.max() for one in durations(runs, DIBS, point))
    yield measured(f"{CALIBRATED}, DIBS", "longest_flow", [longest])


def between(times: np.ndarray, low: float, high: float) -> float:
    """Returns the share of times from `low` to `high`, both inclusive."""
    return float(np.mean((times >= low) & (times <= high)))


# Other settings.


def others(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures claims on other sizes, numbers of flows and queues."""
    for case in OTHERS:
        found = {variant: float(of_case(sweeps, case, variant).max()) for variant in (DROPTAIL, DIBS)}
        told = ", ".join(f"{NAMES[variant]} {time:.1f} ms" for variant, time in found.items())
        yield measured(case, "slowest_droptail_less_DIBS", [found[DROPTAIL] - found[DIBS]], told)


MEASURES: dict[str, Measure] = {
    "fig6a": queries,
    "fig6b": flows,
    "sec5.2": others,
}
