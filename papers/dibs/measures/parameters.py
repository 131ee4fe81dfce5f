"""Measures of DIBS's sections 5.5 and 5.6: buffers, TTL, oversubscription, fairness of long flows."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
import pyarrow as pa

from overspill import Failed, Key
from overspill.papers.common import build_measured, divide_by_seed, jackknife_values, value_range
from overspill.papers.spec import Measure, Measured, Point, Runs, Sweeps

from .loads import BUFFER_PATH, DEGREE_PATH, largest_reduction
from .mixed import (
    DCTCP,
    DIBS,
    count_bounds,
    detour_statistics,
    difference_by_seed,
    finite_mean,
    flow_statistics,
    format_levels,
    lower_bounds,
    measure_drops,
    measure_fct_increase,
    measure_late_queries,
    measure_qct_difference,
    measure_reduction,
    p99_fct,
    p99_qct,
    parse_leading_number,
    point_at,
    value_curve,
)

THRESHOLD_SWEEPS = {"K = 20": "buffers", "K = B/5": "buffers_fifth"}
MAX_BENEFICIAL_BUFFER = 100  # packets up to which DIBS is better, according to the paper
FEW_DEGREES = (40, 60, 80, 100)
MANY_DEGREES = (160, 180, 200, 220, 240)
SHARED_SWEEPS = {"shared": "", "shared_alone": "alone, "}  # sweeps, and first words of their cases
TTL_PATH = "transport.ttl"
FLOWS_PATH = "traffic.long.flows"
# Columns of a flow that are equal if a parameter has no effect.
COMPARED_COLUMNS = ("src", "dst", "bytes", "start_ps", "end_ps", "retransmits", "ece_acks")
OVERSUBSCRIPTION_PATH = "topology.oversubscription"


def points_by_buffer(runs: Runs) -> dict[int, Point]:
    """Returns the points of a sweep by buffer size in packets."""
    return {int(parse_leading_number(point[BUFFER_PATH])): point for point in runs.points}


def measure_figure_11(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures figure 11: queries with buffers of several sizes."""
    for threshold, name in THRESHOLD_SWEEPS.items():
        runs = sweeps[name]
        points = points_by_buffer(runs)
        for size, point in points.items():
            if size <= MAX_BENEFICIAL_BUFFER:
                yield measure_reduction(f"B = {size}, {threshold}", runs, point)
        gain = {size: qct_ratio(runs, points[size]) for size in (20, 100)}
        found = divide_by_seed(gain[20], gain[100])
        yield build_measured(f"B = 20 by B = 100, {threshold}", "ratio_of_p99_qct", found)
        yield from excess_at_ends(threshold, runs)
        yield from measure_late_queries(f"B = 20, {threshold}", runs, points[20])


def qct_ratio(runs: Runs, point: Point) -> np.ndarray:
    """Returns p99 QCT without detours divided by that with them."""
    return divide_by_seed(
        *(lower_bounds(flow_statistics(runs, variant, point), p99_qct) for variant in (DCTCP, DIBS))
    )


def excess_at_ends(threshold: str, runs: Runs) -> Iterable[Measured]:
    """Yields the excess of DIBS's p99 QCT with the smallest and largest buffer over its best between them."""
    sizes = sorted(points_by_buffer(runs))
    points = [points_by_buffer(runs)[size] for size in sizes]
    if any(count_bounds(flow_statistics(runs, DIBS, point), p99_qct) for point in points[1:-1]):
        raise Failed(
            "fig11: found unfinished flows of DIBS, so its p99 QCT is only a lower bound; "
            "increase `measure.drain`"
        )
    values = value_curve(runs, DIBS, points)
    where = sizes[1 + int(np.argmin(values.mean(axis=0)[1:-1]))]
    for place, size in ((0, sizes[0]), (-1, sizes[-1])):
        found = jackknife_values(partial(excess_over_middle, place), values)
        yield build_measured(
            f"B = {size}, {threshold}", "p99_qct_less_best_between", found, f"best at B = {where}"
        )


def excess_over_middle(place: int, values: np.ndarray) -> float:
    """Returns the value at one end of a curve minus the least value between the ends."""
    return float(values[place] - np.min(values[1:-1]))


def measure_figure_11a(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures figure 11a: short background flows with buffers of several sizes."""
    for threshold, name in THRESHOLD_SWEEPS.items():
        for size, point in points_by_buffer(sweeps[name]).items():
            yield measure_fct_increase(f"B = {size}, {threshold}", sweeps[name], point)


def measure_shared_buffer(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures a shared buffer, with the default queries and with queries that never overlap."""
    for name, place in SHARED_SWEEPS.items():
        yield from measure_drops_by_degree(sweeps[name], place)
    runs = sweeps["shared"]
    yield from measure_late_queries("degree 200", runs, point_at(runs, DEGREE_PATH, 200))


def measure_drops_by_degree(runs: Runs, place: str) -> Iterable[Measured]:
    """Yields drops and detours by number of responders."""
    for degree in FEW_DEGREES:
        point = point_at(runs, DEGREE_PATH, degree)
        yield measure_drops(f"{place}degree {degree}, dctcp", runs, DCTCP, [point])
        yield build_measured(f"{place}degree {degree}, dibs", "detours", runs.metric("detours", DIBS, point))
    for degree in MANY_DEGREES:
        yield measure_drops(
            f"{place}degree {degree}, dctcp", runs, DCTCP, [point_at(runs, DEGREE_PATH, degree)]
        )
    degrees, dropped = drops_by_degree(runs)
    told_ = ", ".join(
        f"{degree} ({count})" for degree, count in zip(degrees, (dropped > 0).sum(axis=0), strict=True)
    )
    note = f"seeds that lose packets, by degree: {told_}"
    yield build_measured(
        f"{place}dctcp",
        "least_degree_with_drops",
        [first_degree_with_drops(degrees, one) for one in dropped],
        note,
    )
    yield measure_drops(f"{place}every degree, dibs", runs, DIBS, runs.points)
    points = [point_at(runs, DEGREE_PATH, degree) for degree in MANY_DEGREES]
    found, where = largest_reduction(runs, points)
    note = f"at degree {where[DEGREE_PATH]}: {format_levels(runs, where)}"
    yield build_measured(f"{place}best degree", "reduction_of_p99_qct", found, note)


def drops_by_degree(runs: Runs) -> tuple[list[int], np.ndarray]:
    """Returns the numbers of responders, and packets dropped without detours, seeds by responders."""
    degrees = sorted(int(point[DEGREE_PATH]) for point in runs.points)
    found = [runs.metric("drops", DCTCP, point_at(runs, DEGREE_PATH, degree)) for degree in degrees]
    return degrees, np.array(found).T


def first_degree_with_drops(degrees: list[int], lost: np.ndarray) -> float:
    """Returns the smallest number of responders with drops; NaN if there is none."""
    return next((float(degree) for degree, count in zip(degrees, lost, strict=True) if count), float("nan"))


def ttl_difference(runs: Runs, one: int, other: int) -> np.ndarray:
    """Returns p99 QCT with one TTL minus that with another, both with detours."""
    above, below = (flow_statistics(runs, DIBS, point_at(runs, TTL_PATH, value)) for value in (one, other))
    return difference_by_seed(above, below, p99_qct)


def format_ttl_levels(runs: Runs) -> str:
    """Formats p99 QCT by TTL, with detours."""
    by_ttl = value_curve(runs, DIBS, runs.points).mean(axis=0)
    return ", ".join(
        f"{point[TTL_PATH]}: {value:.3g} ms" for point, value in zip(runs.points, by_ttl, strict=True)
    )


def measure_figure_12(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures figure 12: several values of the TTL."""
    runs = sweeps["ttl"]
    for one, other in ((24, 48), (48, 255), (24, 12)):
        yield build_measured(
            f"{one} less {other}, dibs", "p99_qct", ttl_difference(runs, one, other), format_ttl_levels(runs)
        )
    flat = jackknife_values(value_range, value_curve(runs, DIBS, runs.points, p99_fct))
    yield build_measured("every TTL, dibs", "range_of_p99_fct", flat)
    reference = runs.tables("flows", DCTCP, point_at(runs, TTL_PATH, 255))
    others = [runs.tables("flows", DCTCP, point) for point in runs.points]
    count = [
        sum(map(count_differing_flows, by_ttl, [whole] * len(by_ttl)))
        for whole, *by_ttl in zip(reference, *others, strict=True)
    ]
    yield build_measured("every TTL, dctcp", "flows_that_differ", count)
    for value in (12, 255):
        lost = runs.metric(Key("drops", reason="ttl_expired"), DIBS, point_at(runs, TTL_PATH, value))
        yield build_measured(f"{value}, dibs", "drops_by_ttl", lost)


def count_differing_flows(one: pa.Table, other: pa.Table) -> int:
    """Counts flows that differ between two runs, including those that only one run has."""
    common = min(len(one), len(other))
    differ = np.zeros(common, bool)
    for name in COMPARED_COLUMNS:
        sides = (table.column(name).slice(0, common).fill_null(0).to_numpy() for table in (one, other))
        differ |= np.not_equal(*sides)
    return int(differ.sum()) + max(len(one), len(other)) - common


def measure_section_5_5_3(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures the most detours of a packet, and the effect of the TTL with 100 responders."""
    most = [one.most for one in detour_statistics(sweeps["default"])]
    yield build_measured(
        "default", "largest_number_of_detours", [max(most)], f"{finite_mean(most):.3g} in the mean of runs"
    )
    runs = sweeps["ttl_degree_100"]
    for one, other in ((24, 48), (48, 255)):
        found = ttl_difference(runs, one, other)
        yield build_measured(f"degree 100, {one} less {other}", "p99_qct", found, format_ttl_levels(runs))
    flat = jackknife_values(value_range, value_curve(runs, DIBS, runs.points, p99_fct))
    yield build_measured("degree 100, every TTL", "range_of_p99_fct", flat)


def measure_section_5_5_4(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures oversubscribed links: switch links that are slower than host links, in two tiers."""
    runs = sweeps["oversubscription"]
    for point in runs.points:
        case = f"1:{round(float(point[OVERSUBSCRIPTION_PATH]) ** 2)}"
        yield measure_qct_difference(case, runs, point, format_levels(runs, point))
        yield measure_fct_increase(case, runs, point)


def measure_section_5_6(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures the fairness of long flows."""
    runs = sweeps["pairs"]
    for point in runs.points:
        found = runs.metric("flow_goodput_mean", DIBS, point) / 1e6
        note = f"{finite_mean(found):.4g} Mbit/s a flow in the mean"
        yield build_measured(f"N = {point[FLOWS_PATH]}", "jain", runs.metric("jain", DIBS, point), note)


MEASURES: dict[str, Measure] = {
    "fig11": measure_figure_11,
    "fig11a": measure_figure_11a,
    "sec5.5.2": measure_shared_buffer,
    "fig12": measure_figure_12,
    "sec5.5.3": measure_section_5_5_3,
    "sec5.5.4": measure_section_5_5_4,
    "sec5.6": measure_section_5_6,
}
