"""How busy links are over time, and what is free near the hot ones, under the default traffic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from overspill.papers.dibs.fabric import PLACES, Fabric
from overspill.papers.spec import Point, Runs

DIBS = "dibs"
QPS = "traffic.query.qps"
LOADS = (300, 2000, 10000)
STEP = 1e-3  # s, `measure.bin` of the scenario
FROM, TO = 100, 2100  # the measurement window, in steps
WINDOW, SHORT = 10, 1  # steps of a window, and of the other one that notes tell of
HOT, HALF = 0.9, 0.5
FEW = 0.1  # of all links
HOPS = {1: "one hop", 2: "two hops"}


def point(load: int) -> Point:
    """The point of a load in queries a second."""
    return {QPS: str(load)}


def windows(by_step: np.ndarray, steps: int) -> np.ndarray:
    """Means over windows of so many steps, the first axis."""
    whole = len(by_step) // steps * steps
    return np.asarray(by_step[:whole].reshape(-1, steps, by_step.shape[1]).mean(axis=1))


def utilisation(fabric: Fabric, links: pa.Table, steps: int = WINDOW) -> np.ndarray:
    """How busy every link is, by window and port."""
    bits = fabric.over_time(links, "bits", (FROM, TO))
    return windows(bits / (fabric.rate * STEP), steps)


def used(runs: Runs, load: int, steps: int = WINDOW) -> list[np.ndarray]:
    """How busy every link is, seed by seed."""
    fabric = Fabric.of(runs, runs.tables("ports", DIBS, point(load))[0])
    return [utilisation(fabric, table, steps) for table in runs.tables("links", DIBS, point(load))]


def share_above(busy: np.ndarray, least: float) -> np.ndarray:
    """The share of links that are used to `least` or more, by window."""
    return np.asarray((busy >= least).mean(axis=1))


def share_by_busiest(busy: np.ndarray) -> np.ndarray:
    """The share of links at least half as busy as the busiest, by window; 0 where all are idle."""
    most = busy.max(axis=1, keepdims=True)
    return np.asarray(((busy >= most / 2) & (most > 0)).mean(axis=1))


@dataclass(frozen=True)
class Near:
    """What is near switches with a hot output in one run, in %: means over such switches and windows.

    `free` is of places on average over the window, `free_at_most` with each queue at its longest, and `empty`
    of queues in which nothing was. NaN where no switch has a hot output.
    """

    free: float
    free_at_most: float
    empty: float


@dataclass(frozen=True)
class Fill:
    """How full a switch is, by window and switch: on average, at most, and how many queues are empty."""

    mean: np.ndarray
    most: np.ndarray
    empty: np.ndarray
    congested: np.ndarray  # switches with a hot output


def fill(fabric: Fabric, links: pa.Table, trace: pa.Table, steps: int = WINDOW) -> Fill:
    """How full the switches of a run are, and which of them have a hot output."""
    mean, most = (fabric.over_time(trace, name, (FROM, TO)) for name in ("mean_packets", "max_packets"))
    longest = most[: len(most) // steps * steps].reshape(-1, steps, most.shape[1]).max(axis=1)
    hot = utilisation(fabric, links, steps) >= HOT
    return Fill(
        by_switch(fabric, windows(mean, steps)) / PLACES,
        by_switch(fabric, longest) / PLACES,
        by_switch(fabric, (longest == 0).astype(float)),
        by_switch(fabric, hot.astype(float)) > 0,
    )


def by_switch(fabric: Fabric, by_port: np.ndarray) -> np.ndarray:
    """Means over the ports of each switch, in the order of `switches`."""
    found = [by_port[:, fabric.node == switch].mean(axis=1) for switch in fabric.switches]
    return np.array(found).T


def near(fabric: Fabric, filled: Fill, hops: int) -> Near:
    """What is so many hops from switches with a hot output."""
    there = (fabric.hops == hops).astype(float)
    there /= np.maximum(there.sum(axis=1, keepdims=True), 1)

    def mean(by_switch: np.ndarray) -> float:
        beside = (by_switch @ there.T)[filled.congested]
        return 100 * float(beside.mean()) if len(beside) else float("nan")

    return Near(mean(1 - filled.mean), mean(1 - filled.most), mean(filled.empty))


def neighbours(runs: Runs, load: int, steps: int = WINDOW) -> dict[int, list[Near]]:
    """What is one and two hops away, seed by seed."""
    at = point(load)
    fabric = Fabric.of(runs, runs.tables("ports", DIBS, at)[0])
    found: dict[int, list[Near]] = {hops: [] for hops in HOPS}
    for links, trace in zip(
        runs.tables("links", DIBS, at), runs.tables("queue_trace", DIBS, at), strict=True
    ):
        filled = fill(fabric, links, trace, steps)
        for hops in HOPS:
            found[hops].append(near(fabric, filled, hops))
    return found
