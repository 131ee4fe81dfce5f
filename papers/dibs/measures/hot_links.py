"""Measures of figures 3, 4 and 5: share of hot links, and free buffers near them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from overspill.papers.common import measured, quotients
from overspill.papers.spec import Measure, Measured, Runs, Sweeps

from .fabric import DIBS, PLACES, Fabric, point

LOADS = (300, 2000, 10000)
STEP = 1e-3  # s, equal to `measure.bin` of the scenario
FROM, TO = 100, 2100  # the measurement window, in steps
WINDOW, SHORT = 10, 1  # steps of a window, and of the other one that notes report
HOT, HALF = 0.9, 0.5
FEW = 0.1  # share of all links
HOPS = {1: "one hop", 2: "two hops"}


def windows(by_step: np.ndarray, steps: int) -> np.ndarray:
    """Returns means over windows of `steps` steps, along the first axis."""
    whole = len(by_step) // steps * steps
    return np.asarray(by_step[:whole].reshape(-1, steps, by_step.shape[1]).mean(axis=1))


def utilisation(fabric: Fabric, links: pa.Table, steps: int = WINDOW) -> np.ndarray:
    """Returns the utilisation of every link, by window and port."""
    bits = fabric.over_time(links, "bits", (FROM, TO))
    return windows(bits / (fabric.rate * STEP), steps)


def used(runs: Runs, load: int, steps: int = WINDOW) -> list[np.ndarray]:
    """Returns the utilisation of every link, seed by seed."""
    fabric = Fabric.of_run(runs, runs.tables("ports", DIBS, point(load))[0])
    return [utilisation(fabric, table, steps) for table in runs.tables("links", DIBS, point(load))]


def share_above(busy: np.ndarray, least: float) -> np.ndarray:
    """Returns the share of links with a utilisation of `least` or more, by window."""
    return np.asarray((busy >= least).mean(axis=1))


def share_by_busiest(busy: np.ndarray) -> np.ndarray:
    """Returns the share of links at least half as busy as the busiest, by window; 0 if all are idle."""
    most = busy.max(axis=1, keepdims=True)
    return np.asarray(((busy >= most / 2) & (most > 0)).mean(axis=1))


@dataclass(frozen=True)
class Near:
    """Buffers near switches with a hot output in one run, in %: means over such switches and windows.

    - `free`: free buffer space, on average over the window.
    - `free_at_most`: free buffer space with each queue at its longest.
    - `empty`: queues that were empty during the whole window.

    Values are NaN if no switch has a hot output.
    """

    free: float
    free_at_most: float
    empty: float


@dataclass(frozen=True)
class Fill:
    """Fill of switches by window and switch: average, maximum, and share of empty queues."""

    mean: np.ndarray
    most: np.ndarray
    empty: np.ndarray
    congested: np.ndarray  # true for switches with a hot output


def fill(fabric: Fabric, links: pa.Table, trace: pa.Table, steps: int = WINDOW) -> Fill:
    """Returns the fill of the switches of a run, and which of them have a hot output."""
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
    """Returns means over the ports of each switch, in the order of `switches`."""
    found = [by_port[:, fabric.node == switch].mean(axis=1) for switch in fabric.switches]
    return np.array(found).T


def near(fabric: Fabric, filled: Fill, hops: int) -> Near:
    """Returns the buffers at `hops` hops from switches with a hot output."""
    there = (fabric.hops == hops).astype(float)
    there /= np.maximum(there.sum(axis=1, keepdims=True), 1)

    def mean(by_switch: np.ndarray) -> float:
        beside = (by_switch @ there.T)[filled.congested]
        return 100 * float(beside.mean()) if len(beside) else float("nan")

    return Near(mean(1 - filled.mean), mean(1 - filled.most), mean(filled.empty))


def neighbours(runs: Runs, load: int, steps: int = WINDOW) -> dict[int, list[Near]]:
    """Returns the buffers one and two hops away, seed by seed."""
    at = point(load)
    fabric = Fabric.of_run(runs, runs.tables("ports", DIBS, at)[0])
    found: dict[int, list[Near]] = {hops: [] for hops in HOPS}
    for links, trace in zip(
        runs.tables("links", DIBS, at), runs.tables("queue_trace", DIBS, at), strict=True
    ):
        filled = fill(fabric, links, trace, steps)
        for hops in HOPS:
            found[hops].append(near(fabric, filled, hops))
    return found


def few(shares: list[np.ndarray]) -> list[float]:
    """Returns the share of windows in which fewer than a tenth of the links are hot, in %, seed by seed."""
    return [100 * float(np.mean(one < FEW)) for one in shares]


# Figures 3 and 4.


def figure_3(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the substitute for figure 3: a link is hot if at least half as busy as the busiest."""
    runs = sweeps["hot_links"]
    for load in LOADS[:2]:
        found = [share_by_busiest(one) for one in used(runs, load)]
        short = few([share_by_busiest(one) for one in used(runs, load, SHORT)])
        told = f"in windows of 1 ms {np.mean(short):.0f} %"
        yield measured(f"substitute: {load} qps", "time_with_less_than_10_percent_hot", few(found), told)


def figure_4(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures figure 4: links with a utilisation of 90% or more."""
    runs, mean = sweeps["hot_links"], {}
    for load in LOADS:
        shares = [share_above(one, HOT) for one in used(runs, load)]
        mean[load] = np.array([100 * one.mean() for one in shares])
        many = [100 * float(np.mean(one > FEW)) for one in shares]
        short = [share_above(one, HOT) for one in used(runs, load, SHORT)]
        told = (
            f"mean {mean[load].mean():.2f} % of the links; in windows of 1 ms "
            f"{100 * np.mean([one.mean() for one in short]):.2f} %, and in "
            f"{100 * np.mean([np.mean(one > FEW) for one in short]):.1f} % of them more than 10 %"
        )
        yield measured(f"{load} qps", "windows_with_more_than_10_percent_hot", many, told)
    for more, less in zip(LOADS[1:], LOADS[:-1], strict=True):
        told = f"{mean[more].mean():.1f} % and {mean[less].mean():.2f} %"
        yield measured(f"{more} less {less} qps", "hot_links", mean[more] - mean[less], told)


def footnote(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the footnote: links with a utilisation of 50% or more."""
    for load in LOADS:
        shares = [share_above(one, HALF) for one in used(sweeps["hot_links"], load)]
        told = f"mean {100 * np.mean([one.mean() for one in shares]):.1f} % of the links"
        yield measured(f"{load} qps", "windows_with_less_than_10_percent_hot", few(shares), told)


# Figure 5.


def figure_5(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures free buffers near a hot link, and the ratio of hot links under the heavier load."""
    runs = sweeps["hot_links"]
    hot = {load: np.array([share_above(one, HOT).mean() for one in used(runs, load)]) for load in LOADS[:2]}
    yield measured("2000 by 300 qps", "hot_links", quotients(hot[2000], hot[300]))
    found = {load: neighbours(runs, load) for load in LOADS}
    short = {load: neighbours(runs, load, SHORT) for load in LOADS}
    free = {load: np.array([one.free for one in by_hops[1]]) for load, by_hops in found.items()}
    for load in LOADS[:2]:
        for hops, name in HOPS.items():
            told = other_readings(found[load][hops], short[load][hops])
            values = [one.free for one in found[load][hops]]
            yield measured(f"{load} qps, {name}", "free_buffers", values, told)
    for more, less in ((300, 2000), (300, 10000), (2000, 10000)):
        told = f"{free[more].mean():.1f} % and {free[less].mean():.1f} %"
        yield measured(f"{more} less {less} qps, one hop", "free_buffers", free[more] - free[less], told)


def other_readings(long: list[Near], short: list[Near]) -> str:
    """Describes the results with other definitions of a free buffer."""
    told = []
    for name, found in (("", long), ("in windows of 1 ms ", short)):
        mean = {of: np.mean([getattr(one, of) for one in found]) for of in ("free", "free_at_most", "empty")}
        told.append(
            f"{name}{mean['free']:.1f} % on average, {mean['free_at_most']:.0f} % with all at their longest, "
            f"{mean['empty']:.0f} % of the queues always empty"
        )
    return "; ".join(told)


MEASURES: dict[str, Measure] = {
    "fig3": figure_3,
    "fig4": figure_4,
    "fig4fn": footnote,
    "fig5": figure_5,
}
