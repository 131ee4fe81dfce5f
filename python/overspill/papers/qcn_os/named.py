"""CNMs of one input by flow, beside what arrives and what is stored of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.qcn_os.schemes import MS, SHARED, SWITCH, Flows, Ports
from overspill.papers.spec import Runs

ARRIVAL, OCCUPANCY = "arrival", "occupancy"
STORED, PASSING = slice(0, 3), slice(3, 6)  # workloads of laws.toml by their place
BEGIN = 2  # steps of 1 ms, after which everything goes on as it is
ORDER = ("first", "second", "third")
GAP = 20  # bytes beside a frame on the wire
FRAMES = {"laws": [1522] * 6, "laws_sizes": [64, 1522, 1522, 1522, 64, 1522]}  # bytes, by workload
RATES = {"laws": "rates 1 : 2 : 5", "laws_sizes": "rates 1 : 2 : 5, frames of 1522 and 64 B"}
AMOUNTS = {"laws": "stored 1 : 2 : 3", "laws_sizes": "stored 1 : 2 : 3, frames of 1522 and 64 B"}


@dataclass(frozen=True)
class Named:
    """One run: CNMs of each flow, and what arrived and was stored of it, once all goes on as it is."""

    cnms: np.ndarray
    arrived: np.ndarray  # bytes
    stored: np.ndarray  # bytes, the mean over time
    time: float  # s
    strongest: int  # the largest feedback


def named(runs: Runs, variant: str, frames: Sequence[int]) -> Sequence[Named]:
    """All seeds; `frames` has the size of each flow's."""
    return _named(runs, variant, tuple(frames))


@lru_cache(maxsize=16)
def _named(runs: Runs, variant: str, frames: tuple[int, ...]) -> Sequence[Named]:
    names = ("flows", "ports", "sent_trace", "input_trace", "notices")
    every = zip(*(runs.tables(name, variant) for name in names), strict=True)
    return [of_tables(runs, dict(zip(names, tables, strict=True)), frames) for tables in every]


def of_tables(runs: Runs, tables: dict[str, pa.Table], frames: tuple[int, ...]) -> Named:
    """The same of one run. The first steps are left out, and the last, which is not whole."""
    flows, notices = Flows(tables["flows"]), tables["notices"]
    ports = Ports(tables["ports"], runs.node(SWITCH))
    end = int(columns.numbers(tables["sent_trace"], "bin").max())
    step = columns.numbers(notices, "time_ps") // int(MS)
    keep = (step >= BEGIN) & (step < end)
    whom = flows.places(columns.numbers(notices, "flow"))[keep]
    count = len(flows.numbers)
    share = np.array([size / (size + GAP) for size in frames])
    return Named(
        cnms=np.bincount(whom, minlength=count),
        arrived=summed(tables["sent_trace"], flows, (BEGIN, end)) * share,
        stored=held(tables["input_trace"], flows, ports, (runs.node(SHARED), BEGIN, end)),
        time=(end - BEGIN) * 1e-3,
        strongest=int(columns.numbers(notices, "feedback")[keep].max(initial=0)),
    )


def summed(table: pa.Table, flows: Flows, steps: tuple[int, int]) -> np.ndarray:
    """What each flow sent in these steps, bytes on the wire."""
    step = columns.numbers(table, "bin")
    keep = (step >= steps[0]) & (step < steps[1])
    places = flows.places(columns.numbers(table, "flow"))[keep]
    weights = columns.numbers(table, "wire_bytes")[keep].astype(np.float64)
    return np.bincount(places, weights, minlength=len(flows.numbers))


def held(table: pa.Table, flows: Flows, ports: Ports, where: tuple[int, int, int]) -> np.ndarray:
    """What an input holds of each flow, whose outputs all differ: the mean over steps, bytes."""
    source, first, end = where
    step = columns.numbers(table, "bin")
    keep = (step >= first) & (step < end) & (ports.peers(columns.numbers(table, "input")) == source)
    output = ports.peers(columns.numbers(table, "output"))[keep]
    mean = columns.numbers(table, "mean_bytes")[keep]
    return np.array([mean[output == one].sum() for one in flows.ends]) / (end - first)


def shares(runs: Runs, variant: str, frames: Sequence[int], which: slice) -> np.ndarray:
    """Shares of some flows in the CNMs to these, seeds by flows."""
    found = [one.cnms[which] for one in named(runs, variant, frames)]
    return np.array([one / one.sum() if one.sum() else np.full(len(one), np.nan) for one in found])


def counted(runs: Runs, variant: str) -> np.ndarray:
    """CNMs of each flow, seeds by flows."""
    found = []
    for table, notices in zip(runs.tables("flows", variant), runs.tables("notices", variant), strict=True):
        flows = Flows(table)
        whom = flows.places(columns.numbers(notices, "flow"))
        found.append(np.bincount(whom, minlength=len(flows.numbers)))
    return np.array(found)
