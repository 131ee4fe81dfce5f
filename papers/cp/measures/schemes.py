"""The schemes of section 6, and what its figures read of runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from overspill import Failed, Key, columns
from overspill.papers.common import Curve, quotients
from overspill.papers.spec import Point, Runs

TCP, TCP_200, CP, DCTCP, DCTCP_200, BOTH = "tcp", "tcp_200ms", "cp", "dctcp", "dctcp_200ms", "cp_dctcp"
NAMES = {
    TCP: "TCP",
    TCP_200: "TCP 200 ms",
    CP: "CP",
    DCTCP: "DCTCP",
    DCTCP_200: "DCTCP 200 ms",
    BOTH: "CP&DCTCP",
}
# The goodput of a link that footnotes 10 and 11 take, bit/s; a cut packet with its Ethernet header, B (§4.6).
CARRIED = 910e6
HEADER = 66
MODES = 5  # values, so that two modes can be told from chance
APART = 0.25  # of the largest value, between two modes
LOST = 0  # a kind of the table `fates`
# What both rows and drawings call runs with exact hosts, and how their sweeps are called.
TIES = {"": "", "_drawn": ", ties drawn", "_by_port": ", ties by port"}


def numbers(runs: Runs, path: str) -> np.ndarray:
    """The values of a path, point by point."""
    return np.array([float(point[path]) for point in runs.points])


def chosen(runs: Runs, path: str, low: float, high: float = np.inf) -> list[Point]:
    """The points between two values of a path, both in; `Failed` where there are none."""
    found = [point for point in runs.points if low <= float(point[path]) <= high]
    if not found:
        raise Failed(f"{path}: found no point from {low:g} to {high:g}; expected some")
    return found


def at(runs: Runs, path: str, value: float) -> Point:
    """The point at a value of a path."""
    return chosen(runs, path, value, value)[0]


def point_with(runs: Runs, path: str, value: str) -> Point:
    """The first point with a value of a path."""
    return next(point for point in runs.points if point[path] == value)


def metric_of(metric: str, traffic: str) -> str:
    """A metric of one workload."""
    return Key(metric, traffic=traffic)


def headers_lost(runs: Runs, variant: str, point: Point | None = None) -> np.ndarray:
    """Cuts of which no PACK came, in % of all, where every flow ends: the header was lost, or its PACK."""
    cut = runs.metric("trims", variant, point)
    return 100 * quotients(cut - runs.metric("packs", variant, point), cut)


def headers_lost_at_most(runs: Runs, variant: str, point: Point | None = None) -> np.ndarray:
    """Frames without payload that were lost, in % of the cuts of a window, at whose ends PACKs are under way.

    ACKs count with headers, so that none means no header.
    """
    lost = []
    for table in runs.tables("fates", variant, point):
        which = (columns.numbers(table, "data") == 0) & (columns.numbers(table, "kind") == LOST)
        lost.append(float(columns.numbers(table, "count")[which].sum()))
    return 100 * quotients(np.array(lost), runs.metric("trims", variant, point))


def timeouts(runs: Runs, variant: str, point: Point | None = None) -> np.ndarray:
    """Timeouts of responses in measured queries, run by run; those of requests do not count."""
    return np.array([one.sum() for one in timeouts_of_queries(runs, variant, point)])


def timeouts_of_queries(runs: Runs, variant: str, point: Point | None = None) -> list[np.ndarray]:
    """Timeouts of responses of each measured query, run by run."""
    found = []
    for table in runs.tables("flows", variant, point):
        response = (columns.numbers(table, "role") == 0) & (columns.numbers(table, "measured") == 1)
        which = by_query(columns.numbers(table, "query")[response])
        expired = columns.numbers(table, "timeouts")[response]
        found.append(np.bincount(which, weights=expired))
    return found


def by_query(query: np.ndarray) -> np.ndarray:
    """Queries numbered from 0 in the order of their numbers."""
    return np.asarray(np.unique(query, return_inverse=True)[1])


def mean_over(curve: Curve) -> np.ndarray:
    """The mean over points, seed by seed."""
    return np.asarray(curve.mean(axis=1))


def groups(curve: Curve, size: int = 5) -> list[np.ndarray]:
    """Means over so many seeds each, for what a single seed's noise would decide."""
    count = max(1, len(curve) // size)
    return [part.mean(axis=0) for part in np.array_split(curve, count)]


def modes(values: np.ndarray, unit: str) -> str:
    """Both modes of values with their shares, or nothing if these have one mode.

    There are two where the widest gap between neighbours is half of the range or more, so that no value is
    near the middle, and `APART` of the largest value; each has a tenth of the values.
    """
    found = np.sort(values, axis=None)
    if len(found) < MODES or not np.isfinite(found).all():
        return ""
    gaps = np.diff(found)
    if gaps.max() < max((found[-1] - found[0]) / 2, APART * np.abs(found).max()) or not gaps.any():
        return ""
    cut = int(gaps.argmax()) + 1
    parts = found[:cut], found[cut:]
    if min(len(one) for one in parts) < len(found) / 10:
        return ""
    mark = unit if unit in ("", "%") else f" {unit}"
    texts = [f"{one.mean():.3g}{mark} in {len(one)} of {len(found)} runs" for one in parts]
    return f"two modes: {texts[0]}, {texts[1]}"


def listed(names: Sequence[str], values: Sequence[float], unit: str) -> str:
    """Values by name, for a note."""
    return ", ".join(f"{name} {value:.3g} {unit}" for name, value in zip(names, values, strict=True))
