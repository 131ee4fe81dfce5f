"""Measures of sections 5.5 and 5.6: buffers, TTL, oversubscription, and fairness of long flows."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
import pyarrow as pa

from overspill import Failed, Key
from overspill.papers.common import extent, jackknife, measured, quotients
from overspill.papers.spec import Measure, Measured, Point, Runs, Sweeps

from .loads import BUFFER, DEGREE, best
from .mixed import (
    DCTCP,
    DIBS,
    at,
    below,
    bounds,
    curve,
    detours_of,
    drops,
    flows_of,
    gaps,
    later,
    least,
    less,
    levels_text,
    mean,
    number,
    p99_fct,
    p99_qct,
    rise,
)

THRESHOLDS = {"K = 20": "buffers", "K = B/5": "buffers_fifth"}
COLLATERAL_UP_TO = 100  # packets up to which DIBS is better, according to the paper
FEW = (40, 60, 80, 100)
MANY = (160, 180, 200, 220, 240)
SHARED = {"shared": "", "shared_alone": "alone, "}  # sweeps, and first words of their cases
TTL = "transport.ttl"
FLOWS = "traffic.long.flows"
# Columns of a flow that are equal if a parameter has no effect.
TOLD = ("src", "dst", "bytes", "start_ps", "end_ps", "retransmits", "ece_acks")
FACTOR = "topology.oversubscription"


def by_size(runs: Runs) -> dict[int, Point]:
    """Returns points by packets of a port."""
    return {int(number(point[BUFFER])): point for point in runs.points}


def figure_11(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures figure 11: queries with buffers of several sizes."""
    for threshold, name in THRESHOLDS.items():
        runs = sweeps[name]
        points = by_size(runs)
        for size, point in points.items():
            if size <= COLLATERAL_UP_TO:
                yield below(f"B = {size}, {threshold}", runs, point)
        gain = {size: ratio(runs, points[size]) for size in (20, 100)}
        found = quotients(gain[20], gain[100])
        yield measured(f"B = 20 by B = 100, {threshold}", "ratio_of_p99_qct", found)
        yield from ends(threshold, runs)
        yield from later(f"B = 20, {threshold}", runs, points[20])


def ratio(runs: Runs, point: Point) -> np.ndarray:
    """Returns p99 QCT without detours divided by that with them."""
    return quotients(*(least(flows_of(runs, variant, point), p99_qct) for variant in (DCTCP, DIBS)))


def ends(threshold: str, runs: Runs) -> Iterable[Measured]:
    """Yields the excess of DIBS with the smallest and the largest buffer over its best between them."""
    sizes = sorted(by_size(runs))
    points = [by_size(runs)[size] for size in sizes]
    if any(bounds(flows_of(runs, DIBS, point), p99_qct) for point in points[1:-1]):
        raise Failed("found p99 QCT of DIBS that is only a bound; expected that all flows finish")
    values = curve(runs, DIBS, points)
    where = sizes[1 + int(np.argmin(values.mean(axis=0)[1:-1]))]
    for place, size in ((0, sizes[0]), (-1, sizes[-1])):
        found = jackknife(partial(worse_than_between, place), values)
        yield measured(f"B = {size}, {threshold}", "p99_qct_less_best_between", found, f"best at B = {where}")


def worse_than_between(place: int, values: np.ndarray) -> float:
    """Returns the value at an end minus the least one between the ends."""
    return float(values[place] - np.min(values[1:-1]))


def figure_11a(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures figure 11a: short background flows with buffers of several sizes."""
    for threshold, name in THRESHOLDS.items():
        for size, point in by_size(sweeps[name]).items():
            yield rise(f"B = {size}, {threshold}", sweeps[name], point)


def shared(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures a shared buffer, with the default queries and with queries that never overlap."""
    for name, place in SHARED.items():
        yield from one_memory(sweeps[name], place)
    runs = sweeps["shared"]
    yield from later("degree 200", runs, at(runs, DEGREE, 200))


def one_memory(runs: Runs, place: str) -> Iterable[Measured]:
    """Yields drops and detours by degree."""
    for degree in FEW:
        point = at(runs, DEGREE, degree)
        yield drops(f"{place}degree {degree}, dctcp", runs, DCTCP, [point])
        yield measured(f"{place}degree {degree}, dibs", "detours", runs.metric("detours", DIBS, point))
    for degree in MANY:
        yield drops(f"{place}degree {degree}, dctcp", runs, DCTCP, [at(runs, DEGREE, degree)])
    degrees, dropped = losses(runs)
    told_ = ", ".join(
        f"{degree} ({count})" for degree, count in zip(degrees, (dropped > 0).sum(axis=0), strict=True)
    )
    note = f"seeds that lose packets, by degree: {told_}"
    yield measured(f"{place}dctcp", "least_degree_with_drops", [first(degrees, one) for one in dropped], note)
    yield drops(f"{place}every degree, dibs", runs, DIBS, runs.points)
    points = [at(runs, DEGREE, degree) for degree in MANY]
    found, where = best(runs, points)
    note = f"at degree {where[DEGREE]}: {levels_text(runs, where)}"
    yield measured(f"{place}best degree", "reduction_of_p99_qct", found, note)


def losses(runs: Runs) -> tuple[list[int], np.ndarray]:
    """Returns the degrees, and packets dropped without detours, seeds by degrees."""
    degrees = sorted(int(point[DEGREE]) for point in runs.points)
    found = [runs.metric("drops", DCTCP, at(runs, DEGREE, degree)) for degree in degrees]
    return degrees, np.array(found).T


def first(degrees: list[int], lost: np.ndarray) -> float:
    """Returns the smallest degree with drops; NaN if there is none."""
    return next((float(degree) for degree, count in zip(degrees, lost, strict=True) if count), float("nan"))


def ttl_less(runs: Runs, one: int, other: int) -> np.ndarray:
    """Returns p99 QCT with one TTL minus that with another, both with detours."""
    above, below = (flows_of(runs, DIBS, at(runs, TTL, value)) for value in (one, other))
    return less(above, below, p99_qct)


def levels(runs: Runs) -> str:
    """Formats p99 QCT by TTL, with detours."""
    by_ttl = curve(runs, DIBS, runs.points).mean(axis=0)
    return ", ".join(
        f"{point[TTL]}: {value:.3g} ms" for point, value in zip(runs.points, by_ttl, strict=True)
    )


def figure_12(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures figure 12: several values of the TTL."""
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
    """Counts flows that differ between two runs, including those that only one run has."""
    common = min(len(one), len(other))
    differ = np.zeros(common, bool)
    for name in TOLD:
        sides = (table.column(name).slice(0, common).fill_null(0).to_numpy() for table in (one, other))
        differ |= np.not_equal(*sides)
    return int(differ.sum()) + max(len(one), len(other)) - common


def section_553(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures the most detours of a packet, and the effect of the TTL with 100 responders."""
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
    """Measures switch links that are slower by a factor, over two tiers."""
    runs = sweeps["oversubscription"]
    for point in runs.points:
        case = f"1:{round(float(point[FACTOR]) ** 2)}"
        yield gaps(case, runs, point, levels_text(runs, point))
        yield rise(case, runs, point)


def section_56(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures the fairness of long flows."""
    runs = sweeps["pairs"]
    for point in runs.points:
        found = runs.metric("flow_goodput_mean", DIBS, point) / 1e6
        note = f"{mean(found):.4g} Mbit/s a flow in the mean"
        yield measured(f"N = {point[FLOWS]}", "jain", runs.metric("jain", DIBS, point), note)


MEASURES: dict[str, Measure] = {
    "fig11": figure_11,
    "fig11a": figure_11a,
    "sec5.5.2": shared,
    "fig12": figure_12,
    "sec5.5.3": section_553,
    "sec5.5.4": section_554,
    "sec5.6": section_56,
}
