"""Measures of DIBS's section 5.2: query and flow times on the testbed (figure 6), other settings."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from overspill import columns
from overspill.papers.common import build_measured, divide_or_nan
from overspill.papers.spec import Measure, Measured, Point, Runs, Sweeps

INFINITE, DROPTAIL, DIBS = "infinite", "droptail", "dibs"
NAMES = {INFINITE: "infinite", DROPTAIL: "droptail", DIBS: "DIBS"}
RATE_PATH = "topology.link.rate"
RATE_VALUES = {"1 Gb/s": "1Gbps", "553 Mb/s": "553Mbps"}
CALIBRATED_RATE = "553 Mb/s"
DELAYED_FLOW_MS = 25, 50  # ms, range of the paper's delayed flows
# Other settings of section 5.2: the sweep, and the path and value of its point.
OTHER_SETTINGS = {
    "16 KB": ("testbed_sizes", "traffic.responses.size", "16KB"),
    "64 KB": ("testbed_sizes", "traffic.responses.size", "64KB"),
    "5 flows a host": ("testbed_flows", "traffic.responses.senders", "25"),
    "20 flows a host": ("testbed_flows", "traffic.responses.senders", "100"),
    "50 packets": ("testbed_queues", "switch.buffer.size", "50pkt"),
    "200 packets": ("testbed_queues", "switch.buffer.size", "200pkt"),
}


def query_times(runs: Runs, variant: str, point: Point) -> np.ndarray:
    """Completion times of the one query of each run in ms."""
    return 1e3 * runs.metric("qct_mean", variant, point)


def flow_times(runs: Runs, variant: str, point: Point) -> list[np.ndarray]:
    """Flow completion times in ms, run by run; infinite for unfinished flows."""
    found = []
    for table in runs.tables("flows", variant, point):
        ends = table.column("end_ps").to_numpy(zero_copy_only=False).astype(np.float64)
        taken = (ends - columns.column_to_numpy(table, "start_ps")) / 1e9
        found.append(np.where(np.isfinite(taken), taken, np.inf))
    return found


def flows_with_timeout(runs: Runs, variant: str, point: Point) -> list[np.ndarray]:
    """True for flows with a retransmission timeout, run by run."""
    return [columns.column_to_numpy(table, "timeouts") > 0 for table in runs.tables("flows", variant, point)]


def query_times_of_case(sweeps: Sweeps, case: str, variant: str) -> np.ndarray:
    """Completion times in ms of the queries in one of the other settings of section 5.2."""
    name, path, value = OTHER_SETTINGS[case]
    return query_times(sweeps[name], variant, {path: value})


def measure_queries(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures figure 6a: the three overflow settings, at both rates."""
    runs = sweeps["testbed"]
    for case, rate in RATE_VALUES.items():
        found = {variant: query_times(runs, variant, {RATE_PATH: rate}) for variant in NAMES}
        slowest = {variant: float(times.max()) for variant, times in found.items()}
        told = ", ".join(f"{NAMES[one]} {found[one].min():.1f} to {slowest[one]:.1f} ms" for one in NAMES)
        yield build_measured(
            case, "slowest_DIBS_by_infinite", [divide_or_nan(slowest[DIBS], slowest[INFINITE])], told
        )
        yield build_measured(
            case, "slowest_droptail_by_infinite", [divide_or_nan(slowest[DROPTAIL], slowest[INFINITE])]
        )
        yield build_measured(case, "qct_DIBS_less_infinite", found[DIBS] - found[INFINITE])
        yield build_measured(case, "median_qct_droptail_less_DIBS", np.median(found[DROPTAIL]) - found[DIBS])
        if case == CALIBRATED_RATE:
            yield build_measured(case, "slowest_infinite", [slowest[INFINITE]])
            yield build_measured(case, "slowest_DIBS", [slowest[DIBS]])
            yield build_measured(case, "fastest_droptail", [found[DROPTAIL].min()])
            yield build_measured(case, "slowest_droptail", [slowest[DROPTAIL]])


def measure_flows(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures figure 6b: flows that wait for a timeout, and their absence with detours."""
    runs = sweeps["testbed"]
    for case, rate in RATE_VALUES.items():
        point, whose = {RATE_PATH: rate}, f"{case}, droptail"
        late = flows_with_timeout(runs, DROPTAIL, point)
        if case != CALIBRATED_RATE:
            # The paper counts flows from 25 ms on, which is its slowest query with infinite buffers. At
            # another rate, the measured slowest query takes its place.
            slowest = float(query_times(runs, INFINITE, point).max())
            shares = [
                100 * share_between(one, slowest, 2 * slowest) for one in flow_times(runs, DROPTAIL, point)
            ]
            waited = 100 * float(np.mean([one.mean() for one in late]))
            note = f"range: {slowest:.1f} to {2 * slowest:.1f} ms; {waited:.0f}% of the flows have a timeout"
            yield build_measured(whose, "flows_of_1_to_2_times_the_slowest_infinite", shares, note)
        yield build_measured(
            whose, "runs_with_a_delayed_flow", [100 * float(np.mean([one.any() for one in late]))]
        )
        yield build_measured(f"{case}, DIBS", "drops", runs.metric("drops", DIBS, point))
        yield build_measured(f"{case}, DIBS", "timeouts", runs.metric("timeouts", DIBS, point))
    point = {RATE_PATH: RATE_VALUES[CALIBRATED_RATE]}
    shares = [100 * share_between(one, *DELAYED_FLOW_MS) for one in flow_times(runs, DROPTAIL, point)]
    yield build_measured(f"{CALIBRATED_RATE}, droptail", "flows_of_25_to_50_ms", shares)
    longest = max(one.max() for one in flow_times(runs, DIBS, point))
    yield build_measured(f"{CALIBRATED_RATE}, DIBS", "longest_flow", [longest])


def share_between(times: np.ndarray, low: float, high: float) -> float:
    """Returns the share of times from `low` to `high`, both inclusive."""
    return float(np.mean((times >= low) & (times <= high)))


def measure_other_settings(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the claims of section 5.2 on other response sizes, numbers of flows and queues."""
    for case in OTHER_SETTINGS:
        found = {
            variant: float(query_times_of_case(sweeps, case, variant).max()) for variant in (DROPTAIL, DIBS)
        }
        told = ", ".join(f"{NAMES[variant]} {time:.1f} ms" for variant, time in found.items())
        yield build_measured(case, "slowest_droptail_less_DIBS", [found[DROPTAIL] - found[DIBS]], told)


MEASURES: dict[str, Measure] = {
    "fig6a": measure_queries,
    "fig6b": measure_flows,
    "sec5.2": measure_other_settings,
}
