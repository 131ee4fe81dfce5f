"""Sections 5.5.3 to 5.6: the time to live, slower links between switches, fairness of long flows."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from overspill import Key
from overspill.papers.common import extent, jackknife, measured
from overspill.papers.dibs.compare import at, curve, gaps, less, mean, rise, told
from overspill.papers.dibs.limits_drawn import FACTOR, draw_factors, draw_fairness, draw_ttl
from overspill.papers.dibs.mixed import DCTCP, DIBS, Sweeps, detours_of, flows_of, p99_fct, p99_qct
from overspill.papers.spec import Figure, Measured, Runs

TTL = "transport.ttl"
FLOWS = "traffic.long.flows"
# What of a flow must be the same where nothing differs.
TOLD = ("src", "dst", "bytes", "start_ps", "end_ps", "retransmits", "ece_acks")


def ttl_less(runs: Runs, one: int, other: int) -> np.ndarray:
    """The 99th percentile of QCT with one TTL less that with another, with detours."""
    above, below = (flows_of(runs, DIBS, at(runs, TTL, value)) for value in (one, other))
    return less(above, below, p99_qct)


def levels(runs: Runs) -> str:
    """The 99th percentiles of QCT by TTL, with detours."""
    by_ttl = curve(runs, DIBS, runs.points).mean(axis=0)
    return ", ".join(
        f"{point[TTL]}: {value:.3g} ms" for point, value in zip(runs.points, by_ttl, strict=True)
    )


def figure_12(sweeps: Sweeps) -> Iterable[Measured]:
    """Several times to live."""
    runs = sweeps["ttl"]
    for one, other in ((24, 48), (48, 255), (24, 12)):
        yield measured(f"{one} less {other}, dibs", "p99_qct", ttl_less(runs, one, other), levels(runs))
    flat = jackknife(extent, curve(runs, DIBS, runs.points, p99_fct))
    yield measured("every TTL, dibs", "range_of_p99_fct", flat)
    reference = runs.tables("flows", DCTCP, at(runs, TTL, 255))
    others = [runs.tables("flows", DCTCP, point) for point in runs.points]
    count = [
        sum(map(differing, by_ttl, [whole] * len(by_ttl)))
        for whole, *by_ttl in zip(reference, *others, strict=True)
    ]
    yield measured("every TTL, dctcp", "flows_that_differ", count)
    for value in (12, 255):
        lost = runs.metric(Key("drops", reason="ttl_expired"), DIBS, at(runs, TTL, value))
        yield measured(f"{value}, dibs", "drops_by_ttl", lost)


def differing(one: pa.Table, other: pa.Table) -> int:
    """How many flows of two runs are not the same; those that only one has are not."""
    common = min(len(one), len(other))
    differ = np.zeros(common, bool)
    for name in TOLD:
        sides = (table.column(name).slice(0, common).fill_null(0).to_numpy() for table in (one, other))
        differ |= np.not_equal(*sides)
    return int(differ.sum()) + max(len(one), len(other)) - common


def section_553(sweeps: Sweeps) -> Iterable[Measured]:
    """The most detours of a packet, and TTL where 100 hosts respond."""
    most = [one.most for one in detours_of(sweeps["default"])]
    yield measured(
        "default", "largest_number_of_detours", [max(most)], f"{mean(most):.3g} in the mean of runs"
    )
    runs = sweeps["ttl_degree_100"]
    for one, other in ((24, 48), (48, 255)):
        found = ttl_less(runs, one, other)
        yield measured(f"degree 100, {one} less {other}", "p99_qct", found, levels(runs))
    flat = jackknife(extent, curve(runs, DIBS, runs.points, p99_fct))
    yield measured("degree 100, every TTL", "range_of_p99_fct", flat)


def section_554(sweeps: Sweeps) -> Iterable[Measured]:
    """Links between switches that are slower by a factor, over two tiers."""
    runs = sweeps["oversubscription"]
    for point in runs.points:
        case = f"1:{round(float(point[FACTOR]) ** 2)}"
        yield gaps(case, runs, point, told(runs, point))
        yield rise(case, runs, point)


def section_56(sweeps: Sweeps) -> Iterable[Measured]:
    """How evenly long flows share."""
    runs = sweeps["pairs"]
    for point in runs.points:
        found = runs.metric("flow_goodput_mean", DIBS, point) / 1e6
        note = f"{mean(found):.4g} Mbit/s a flow in the mean"
        yield measured(f"N = {point[FLOWS]}", "jain", runs.metric("jain", DIBS, point), note)


FIGURES: dict[str, Figure] = {
    "fig12": Figure(figure_12, draw_ttl),
    "sec5.5.3": Figure(section_553),
    "sec5.5.4": Figure(section_554, draw_factors),
    "sec5.6": Figure(section_56, draw_fairness),
}
