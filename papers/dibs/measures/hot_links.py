"""Measures of DIBS's figures 3, 4 and 5: share of hot links, and free buffers near them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from overspill.papers.common import build_measured, divide_by_seed
from overspill.papers.spec import Measure, Measured, Runs, Sweeps

from .fabric import BUFFER_PACKETS, DIBS, Fabric, load_point

LOADS_QPS = (300, 2000, 10000)
STEP_SECONDS = 1e-3  # s, equal to `measure.bin` of the scenario
FIRST_STEP, END_STEP = 100, 2100  # the measurement window, in steps
WINDOW_STEPS, SHORT_WINDOW_STEPS = 10, 1  # steps of a window, and of the other one that notes report
HOT_UTILISATION, HALF_UTILISATION = 0.9, 0.5
FEW_LINKS_SHARE = 0.1  # share of all links
HOP_LABELS = {1: "one hop", 2: "two hops"}


def window_means(by_step: np.ndarray, steps: int) -> np.ndarray:
    """Returns means over windows of `steps` time steps each, along the first axis."""
    whole = len(by_step) // steps * steps
    return np.asarray(by_step[:whole].reshape(-1, steps, by_step.shape[1]).mean(axis=1))


def utilisation(fabric: Fabric, links: pa.Table, steps: int = WINDOW_STEPS) -> np.ndarray:
    """Returns the utilisation of every link, by window and port."""
    bits = fabric.by_step_and_port(links, "bits", (FIRST_STEP, END_STEP))
    return window_means(bits / (fabric.rate * STEP_SECONDS), steps)


def link_utilisations(runs: Runs, load: int, steps: int = WINDOW_STEPS) -> list[np.ndarray]:
    """Returns the utilisation of every link, seed by seed."""
    fabric = Fabric.of_run(runs, runs.tables("ports", DIBS, load_point(load))[0])
    return [utilisation(fabric, table, steps) for table in runs.tables("links", DIBS, load_point(load))]


def share_above(busy: np.ndarray, least: float) -> np.ndarray:
    """Returns the share of links with a utilisation of `least` or more, by window."""
    return np.asarray((busy >= least).mean(axis=1))


def share_by_busiest(busy: np.ndarray) -> np.ndarray:
    """Returns the share of links at least half as busy as the busiest, by window; 0 if all are idle."""
    most = busy.max(axis=1, keepdims=True)
    return np.asarray(((busy >= most / 2) & (most > 0)).mean(axis=1))


@dataclass(frozen=True)
class NearbyBuffers:
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
class BufferFill:
    """Fill of switch buffers, by time window and switch: average, maximum, and share of empty queues."""

    mean: np.ndarray
    most: np.ndarray
    empty: np.ndarray
    congested: np.ndarray  # true for switches with a hot output


def read_buffer_fill(
    fabric: Fabric, links: pa.Table, trace: pa.Table, steps: int = WINDOW_STEPS
) -> BufferFill:
    """Returns the buffer fill of a run's switches, and which of them have a hot output."""
    mean, most = (
        fabric.by_step_and_port(trace, name, (FIRST_STEP, END_STEP))
        for name in ("mean_packets", "max_packets")
    )
    longest = most[: len(most) // steps * steps].reshape(-1, steps, most.shape[1]).max(axis=1)
    hot = utilisation(fabric, links, steps) >= HOT_UTILISATION
    return BufferFill(
        means_by_switch(fabric, window_means(mean, steps)) / BUFFER_PACKETS,
        means_by_switch(fabric, longest) / BUFFER_PACKETS,
        means_by_switch(fabric, (longest == 0).astype(float)),
        means_by_switch(fabric, hot.astype(float)) > 0,
    )


def means_by_switch(fabric: Fabric, by_port: np.ndarray) -> np.ndarray:
    """Returns means over the ports of each switch, by switch."""
    found = [by_port[:, fabric.node == switch].mean(axis=1) for switch in fabric.switches]
    return np.array(found).T


def nearby_buffers(fabric: Fabric, filled: BufferFill, hops: int) -> NearbyBuffers:
    """Returns the buffers at `hops` hops from switches with a hot output."""
    there = (fabric.switch_distances == hops).astype(float)
    there /= np.maximum(there.sum(axis=1, keepdims=True), 1)

    def mean(by_switch: np.ndarray) -> float:
        beside = (by_switch @ there.T)[filled.congested]
        return 100 * float(beside.mean()) if len(beside) else float("nan")

    return NearbyBuffers(mean(1 - filled.mean), mean(1 - filled.most), mean(filled.empty))


def neighbour_buffers(runs: Runs, load: int, steps: int = WINDOW_STEPS) -> dict[int, list[NearbyBuffers]]:
    """Returns the buffers one and two hops away, seed by seed."""
    at = load_point(load)
    fabric = Fabric.of_run(runs, runs.tables("ports", DIBS, at)[0])
    found: dict[int, list[NearbyBuffers]] = {hops: [] for hops in HOP_LABELS}
    for links, trace in zip(
        runs.tables("links", DIBS, at), runs.tables("queue_trace", DIBS, at), strict=True
    ):
        filled = read_buffer_fill(fabric, links, trace, steps)
        for hops in HOP_LABELS:
            found[hops].append(nearby_buffers(fabric, filled, hops))
    return found


def share_with_few_hot_links(shares: list[np.ndarray]) -> list[float]:
    """Returns the share of windows in which fewer than a tenth of the links are hot, in %, seed by seed."""
    return [100 * float(np.mean(one < FEW_LINKS_SHARE)) for one in shares]


def measure_figure_3(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures a substitute for figure 3: links are hot if at least half as busy as the busiest."""
    runs = sweeps["hot_links"]
    for load in LOADS_QPS[:2]:
        found = [share_by_busiest(one) for one in link_utilisations(runs, load)]
        short = share_with_few_hot_links(
            [share_by_busiest(one) for one in link_utilisations(runs, load, SHORT_WINDOW_STEPS)]
        )
        told = f"in windows of 1 ms {np.mean(short):.0f} %"
        yield build_measured(
            f"substitute: {load} qps",
            "time_with_less_than_10_percent_hot",
            share_with_few_hot_links(found),
            told,
        )


def measure_figure_4(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures figure 4: links with a utilisation of 90% or more."""
    runs, mean = sweeps["hot_links"], {}
    for load in LOADS_QPS:
        shares = [share_above(one, HOT_UTILISATION) for one in link_utilisations(runs, load)]
        mean[load] = np.array([100 * one.mean() for one in shares])
        many = [100 * float(np.mean(one > FEW_LINKS_SHARE)) for one in shares]
        short = [
            share_above(one, HOT_UTILISATION) for one in link_utilisations(runs, load, SHORT_WINDOW_STEPS)
        ]
        told = (
            f"mean {mean[load].mean():.2f} % of the links; in windows of 1 ms "
            f"{100 * np.mean([one.mean() for one in short]):.2f} %, and in "
            f"{100 * np.mean([np.mean(one > FEW_LINKS_SHARE) for one in short]):.1f} % of them more than 10 %"
        )
        yield build_measured(f"{load} qps", "windows_with_more_than_10_percent_hot", many, told)
    for more, less in zip(LOADS_QPS[1:], LOADS_QPS[:-1], strict=True):
        told = f"{mean[more].mean():.1f} % and {mean[less].mean():.2f} %"
        yield build_measured(f"{more} less {less} qps", "hot_links", mean[more] - mean[less], told)


def measure_footnote(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the footnote: links with a utilisation of 50% or more."""
    for load in LOADS_QPS:
        shares = [share_above(one, HALF_UTILISATION) for one in link_utilisations(sweeps["hot_links"], load)]
        told = f"mean {100 * np.mean([one.mean() for one in shares]):.1f} % of the links"
        yield build_measured(
            f"{load} qps", "windows_with_less_than_10_percent_hot", share_with_few_hot_links(shares), told
        )


def measure_figure_5(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures free buffers near a hot link, and the ratio of hot links under the heavier load."""
    runs = sweeps["hot_links"]
    hot = {
        load: np.array([share_above(one, HOT_UTILISATION).mean() for one in link_utilisations(runs, load)])
        for load in LOADS_QPS[:2]
    }
    yield build_measured("2000 by 300 qps", "hot_links", divide_by_seed(hot[2000], hot[300]))
    found = {load: neighbour_buffers(runs, load) for load in LOADS_QPS}
    short = {load: neighbour_buffers(runs, load, SHORT_WINDOW_STEPS) for load in LOADS_QPS}
    free = {load: np.array([one.free for one in by_hops[1]]) for load, by_hops in found.items()}
    for load in LOADS_QPS[:2]:
        for hops, name in HOP_LABELS.items():
            told = describe_other_definitions(found[load][hops], short[load][hops])
            values = [one.free for one in found[load][hops]]
            yield build_measured(f"{load} qps, {name}", "free_buffers", values, told)
    for more, less in ((300, 2000), (300, 10000), (2000, 10000)):
        told = f"{free[more].mean():.1f} % and {free[less].mean():.1f} %"
        yield build_measured(
            f"{more} less {less} qps, one hop", "free_buffers", free[more] - free[less], told
        )


def describe_other_definitions(long: list[NearbyBuffers], short: list[NearbyBuffers]) -> str:
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
    "fig3": measure_figure_3,
    "fig4": measure_figure_4,
    "fig4fn": measure_footnote,
    "fig5": measure_figure_5,
}
