"""Sections 5.5.1 and 5.5.2: buffers of several sizes, and buffers that ports share."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np

from overspill import Failed
from overspill.papers.common import jackknife, measured, quotients
from overspill.papers.dibs.buffers_drawn import draw_background, draw_queries, draw_shared
from overspill.papers.dibs.compare import at, below, curve, drops, later, rise, told
from overspill.papers.dibs.drawn import number
from overspill.papers.dibs.loads import BUFFER, DEGREE, best
from overspill.papers.dibs.mixed import DCTCP, DIBS, Sweeps, bounds, flows_of, least, p99_qct
from overspill.papers.spec import Figure, Measured, Point, Runs

THRESHOLDS = {"K = 20": "buffers", "K = B/5": "buffers_fifth"}
COLLATERAL_UP_TO = 100  # packets: where the paper says that DIBS is better
FEW = (40, 60, 80, 100)
MANY = (160, 180, 200, 220, 240)
SHARED = {"shared": "", "shared_alone": "alone, "}  # sweeps, and how the cases of each begin


def by_size(runs: Runs) -> dict[int, Point]:
    """Points by packets a port."""
    return {int(number(point[BUFFER])): point for point in runs.points}


def figure_11(sweeps: Sweeps) -> Iterable[Measured]:
    """Queries with buffers of several sizes."""
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
    """The 99th percentile of QCT without detours by that with them."""
    return quotients(*(least(flows_of(runs, variant, point), p99_qct) for variant in (DCTCP, DIBS)))


def ends(threshold: str, runs: Runs) -> Iterable[Measured]:
    """How much worse DIBS is with the smallest and the largest buffers than at its best between them."""
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
    """The value at a place less the least one between the ends."""
    return float(values[place] - np.min(values[1:-1]))


def figure_11a(sweeps: Sweeps) -> Iterable[Measured]:
    """Short background flows with buffers of several sizes."""
    for threshold, name in THRESHOLDS.items():
        for size, point in by_size(sweeps[name]).items():
            yield rise(f"B = {size}, {threshold}", sweeps[name], point)


def shared(sweeps: Sweeps) -> Iterable[Measured]:
    """One memory for all ports of a switch, with the default queries and with some that never meet."""
    for name, place in SHARED.items():
        yield from one_memory(sweeps[name], place)
    runs = sweeps["shared"]
    yield from later("degree 200", runs, at(runs, DEGREE, 200))


def one_memory(runs: Runs, place: str) -> Iterable[Measured]:
    """What is lost and detoured, by degree."""
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
    note = f"at degree {where[DEGREE]}: {told(runs, where)}"
    yield measured(f"{place}best degree", "reduction_of_p99_qct", found, note)


def losses(runs: Runs) -> tuple[list[int], np.ndarray]:
    """Degrees, and packets lost without detours, seeds by degrees."""
    degrees = sorted(int(point[DEGREE]) for point in runs.points)
    found = [runs.metric("drops", DCTCP, at(runs, DEGREE, degree)) for degree in degrees]
    return degrees, np.array(found).T


def first(degrees: list[int], lost: np.ndarray) -> float:
    """The least degree that loses packets; NaN where none does."""
    return next((float(degree) for degree, count in zip(degrees, lost, strict=True) if count), float("nan"))


FIGURES: dict[str, Figure] = {
    "fig11": Figure(figure_11, draw_queries),
    "fig11a": Figure(figure_11a, draw_background),
    "sec5.5.2": Figure(shared, draw_shared),
}
