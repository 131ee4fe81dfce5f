"""Sums over the flows of each workload, of scenarios whose workloads have many flows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.common import quotients
from overspill.papers.qcn_os.schemes import MS, ONSET, STEP, STEPS, steps, trace
from overspill.papers.spec import Runs

VICTIMS, CULPRITS = 0, 1  # by their place in the scenarios that mix them
Window = tuple[float, float]  # ms


class Workloads:
    """Flows of a run by the workload that each belongs to."""

    def __init__(self, flows: pa.Table) -> None:
        self.flows, self.of = (columns.numbers(flows, name).astype(np.int64) for name in ("flow", "traffic"))
        self.count = int(self.of.max()) + 1
        self.by_flow = np.full(int(self.flows.max()) + 1, -1)
        self.by_flow[self.flows] = self.of

    def numbers(self, workload: int) -> np.ndarray:
        """Numbers of the flows of a workload."""
        return np.asarray(self.flows[self.of == workload])

    def sent(self, table: pa.Table, count: int = STEPS) -> np.ndarray:
        """Throughput of each workload in so many steps, Gb/s, from `sent_trace`."""
        rows = self.by_flow[columns.numbers(table, "flow").astype(np.int64)]
        return trace(table, rows, "wire_bytes", (self.count, count)) * 8 / (STEP * 1e6)

    def named(self, notices: pa.Table) -> np.ndarray:
        """CNMs about each flow after the onset, in the order of `flows`."""
        after = columns.numbers(notices, "time_ps") / MS >= ONSET
        about = columns.numbers(notices, "flow").astype(np.int64)[after]
        return np.bincount(about, minlength=len(self.by_flow))[self.flows]


def sent(runs: Runs, variant: str, count: int = STEPS) -> list[np.ndarray]:
    """Throughput of each workload by step, Gb/s, of every seed."""
    every = zip(runs.tables("flows", variant), runs.tables("sent_trace", variant), strict=True)
    return [Workloads(flows).sent(table, count) for flows, table in every]


def throughput(runs: Runs, variant: str, workload: int, window: Window) -> np.ndarray:
    """Mean throughput of a workload in a window, Gb/s, by seed."""
    return np.array([float(one[workload, steps(window)].mean()) for one in sent(runs, variant)])


def named(runs: Runs, variant: str) -> list[list[np.ndarray]]:
    """CNMs about each flow of each workload after the onset, of every seed."""
    found = []
    for flows, notices in zip(runs.tables("flows", variant), runs.tables("notices", variant), strict=True):
        workloads = Workloads(flows)
        counts = workloads.named(notices)
        found.append([counts[workloads.of == one] for one in range(workloads.count)])
    return found


def shares(counts: Sequence[Sequence[np.ndarray]]) -> np.ndarray:
    """Share of culprits in the CNMs about victims and culprits, %, by seed; NaN without any."""
    victims, culprits = (
        np.array([float(one[workload].sum()) for one in counts]) for workload in (VICTIMS, CULPRITS)
    )
    return 100 * quotients(culprits, victims + culprits)
