"""The testbed of section 5.2: times of its queries and flows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from overspill import columns
from overspill.papers.spec import Point, Runs

Sweeps = Mapping[str, Runs]

INFINITE, DROPTAIL, DIBS = "infinite", "droptail", "dibs"
NAMES = {INFINITE: "infinite", DROPTAIL: "droptail", DIBS: "DIBS"}
RATE = "topology.link.rate"
RATES = {"1 Gb/s": "1Gbps", "553 Mb/s": "553Mbps"}
CALIBRATED = "553 Mb/s"
DELAYED = 25, 50  # ms, between which the paper has its delayed flows
# What section 5.2 changes, and which sweep does so: the sweep, the path and its value.
OTHERS = {
    "16 KB": ("testbed_sizes", "traffic.responses.size", "16KB"),
    "64 KB": ("testbed_sizes", "traffic.responses.size", "64KB"),
    "5 flows a host": ("testbed_flows", "traffic.responses.senders", "25"),
    "20 flows a host": ("testbed_flows", "traffic.responses.senders", "100"),
    "50 packets": ("testbed_queues", "switch.buffer.size", "50pkt"),
    "200 packets": ("testbed_queues", "switch.buffer.size", "200pkt"),
}


def qct(runs: Runs, variant: str, point: Point) -> np.ndarray:
    """Completion times of the one query of each run, ms."""
    return 1e3 * runs.metric("qct_mean", variant, point)


def durations(runs: Runs, variant: str, point: Point) -> list[np.ndarray]:
    """How long flows took, ms, run by run; infinite where one is unfinished."""
    found = []
    for table in runs.tables("flows", variant, point):
        ends = table.column("end_ps").to_numpy(zero_copy_only=False).astype(np.float64)
        taken = (ends - columns.numbers(table, "start_ps")) / 1e9
        found.append(np.where(np.isfinite(taken), taken, np.inf))
    return found


def timed_out(runs: Runs, variant: str, point: Point) -> list[np.ndarray]:
    """Which flows had a retransmission timeout, run by run."""
    return [columns.numbers(table, "timeouts") > 0 for table in runs.tables("flows", variant, point)]


def of_case(sweeps: Sweeps, case: str, variant: str) -> np.ndarray:
    """Times of the queries of a setting of section 5.2, ms."""
    name, path, value = OTHERS[case]
    return qct(sweeps[name], variant, {path: value})
