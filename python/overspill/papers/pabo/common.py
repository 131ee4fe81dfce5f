"""What the figures of PABO share beside what those of all papers do: nodes by its names, loads, hops."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.common import (
    Curve,
    Published,
    along,
    correlation,
    dropped,
    extent,
    halves,
    jackknife,
    legend,
    line,
    linear_correlation,
    lossy,
    marked,
    mean_line,
    measured,
    names,
    quotient,
    quotients,
    rank_correlation,
    sheet,
    spread,
)
from overspill.papers.spec import Point, Runs

__all__ = [
    "CROSSED",
    "DISTANCE",
    "LAMBDA",
    "LOADS",
    "PACKETS",
    "SENDERS",
    "SWITCHES",
    "THETA",
    "Curve",
    "Published",
    "along",
    "by_switch",
    "correlation",
    "counted",
    "dropped",
    "extent",
    "halves",
    "jackknife",
    "legend",
    "line",
    "linear_correlation",
    "load",
    "lossy",
    "marked",
    "mean_line",
    "measured",
    "names",
    "quotient",
    "quotients",
    "rank_correlation",
    "sheet",
    "spread",
    "within",
]

# The tree of figure 4, as `chain_tree` names it.
SWITCHES = {f"S{number}": f"s{number - 1}" for number in range(1, 8)}
SENDERS = {f"H{number}": f"h{number - 1}" for number in range(1, 4)}
THETA, LAMBDA = "switch.overflow.theta", "switch.overflow.lambda"
# Section V: packets of a sender's burst, one more than the paper's numPacketsPerGenerate.
PACKETS = "traffic.bursts.packets"
LOADS = {"mild": 501, "moderate": 1501, "severe": 2501}
# What `packet_hist` counts: links that a packet crossed, one more than totalHop, and maxBouncedDistance.
CROSSED, DISTANCE = map(columns.PACKET_HIST.index, ("hops", "max_bounced_distance"))


def load(runs: Runs, name: str) -> Point:
    """The point of a load of section V."""
    values, points = line(runs, PACKETS)
    return points[values.index(LOADS[name])]


def counted(table: pa.Table, which: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of `packet_hist`, what it counts of delivered data packets: from, to below, and how many."""
    keep = (columns.numbers(table, "metric") == which) & (columns.numbers(table, "data") == 1)
    low, high, count = (columns.numbers(table, name)[keep] for name in ("low", "high", "count"))
    return low, high, count


def within(table: pa.Table, hops: int) -> float:
    """Share in % of delivered data packets with a totalHop of so many at most."""
    _, high, count = counted(table, CROSSED)
    return 100 * quotient(float(count[high - 1 <= hops + 1].sum()), float(count.sum()))


def by_switch(runs: Runs, table: pa.Table, column: str, switches: Mapping[str, str]) -> dict[str, int]:
    """A counter of `ports`, summed over the ports of each switch, by the paper's name."""
    node, count = columns.numbers(table, "node"), columns.numbers(table, column)
    return {name: int(count[node == runs.node(ours)].sum()) for name, ours in switches.items()}
