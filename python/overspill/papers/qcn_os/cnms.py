"""Delay of CNMs, from the congestion point to the rate limiter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.common import measured
from overspill.papers.qcn_os import workloads
from overspill.papers.qcn_os.limits import LINE
from overspill.papers.qcn_os.schemes import END, F1, F2, MS, ONSET, OS, OUT, Sweeps, steps
from overspill.papers.spec import Figure, Measured, Runs

NS = 1e3  # ps
CNM = 84  # bytes on the wire, preamble and gap counted
LINK = CNM * 8 / LINE + 250  # ns of a CNM on a link of 10 Gb/s, 50 m long


def cuts(table: pa.Table, flow: int) -> np.ndarray:
    """Instants at which the limit of a flow falls, ps, from `rate_limits`."""
    mine = columns.numbers(table, "flow") == flow
    rates = columns.numbers(table, "rate_bps")[mine]
    rates = np.where(rates < 0, LINE * 1e9, rates)
    falls = np.diff(np.concatenate(([LINE * 1e9], rates))) < 0
    return np.asarray(columns.numbers(table, "time_ps")[mine].astype(np.int64)[falls])


def delays(notices: pa.Table, limits: pa.Table, flows: Sequence[int] | np.ndarray) -> np.ndarray:
    """Delay of each CNM about some flows after the onset, ns: until the limit of its flow falls next.

    A CNM is left out if no limit falls any more, as at the end of a run.
    """
    made, about = (columns.numbers(notices, name).astype(np.int64) for name in ("time_ps", "flow"))
    found = []
    for flow in flows:
        times, falls = made[(about == flow) & (made >= ONSET * MS)], cuts(limits, int(flow))
        next_fall = np.searchsorted(falls, times)
        seen = next_fall < len(falls)
        found.append((falls[next_fall[seen]] - times[seen]) / NS)
    return np.concatenate(found)


def medians(runs: Runs, variant: str, among: Sequence[int]) -> np.ndarray:
    """Median delay of the CNMs about some workloads, ns, by seed; NaN without any."""
    tables = (runs.tables(name, variant) for name in ("flows", "notices", "rate_limits"))
    found = []
    for flows, notices, limits in zip(*tables, strict=True):
        numbers = np.concatenate([workloads.Workloads(flows).numbers(one) for one in among])
        every = delays(notices, limits, numbers)
        found.append(float(np.median(every)) if len(every) else float("nan"))
    return np.array(found)


def load(runs: Runs, variant: str) -> float:
    """Bytes of CNMs by bytes that flows inject after the onset, %, mean over seeds."""
    found = []
    for counts, sent in zip(workloads.named(runs, variant), workloads.sent(runs, variant), strict=True):
        injected = float(sent[:, steps((ONSET, END))].sum(axis=0).mean()) * 1e9 / 8 * (END - ONSET) / 1e3
        found.append(100 * CNM * float(sum(one.sum() for one in counts)) / injected)
    return float(np.mean(found))


def cost(sweeps: Sweeps) -> Iterator[Measured]:
    """CNMs of inputs on six flows, and of inputs and outputs in the larger fabric."""
    beyond = medians(sweeps["hotspot"], OS, (F1, F2)) - LINK
    case = "QCN-OS, six flows, shared input"
    yield measured(case, "median_delay_beyond_the_link", np.round(beyond, 6))
    runs = sweeps["many"]
    there, here = (medians(runs, variant, (0, 1)) / 1e3 for variant in (OUT, OS))
    note = f"{there.mean():.3g} and {here.mean():.3g} us; computed, not measured: CNMs of outputs add "
    note += f"{load(runs, OUT):.2g} % to the bytes that flows inject"
    yield measured("outputs less QCN-OS, hundred flows", "median_delay", there - here, note)


FIGURES: dict[str, Figure] = {"claim-cnms": Figure(cost)}
