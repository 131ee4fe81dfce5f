"""The schemes of section 6, and the values that its figures read from runs."""

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
# Goodput of a link in footnotes 10 and 11 in bit/s, and bytes of a trimmed packet with Ethernet header
# (§4.6).
CARRIED = 910e6
HEADER = 66
MODES = 5  # fewest values that can show two modes
APART = 0.25  # smallest gap between two modes, relative to the largest value
LOST = 0  # a kind of the table `fates`
# Suffixes of sweeps with exact hosts, and their labels in rows and drawings.
TIES = {"": "", "_drawn": ", ties drawn", "_by_port": ", ties by port"}


def numbers(runs: Runs, path: str) -> np.ndarray:
    """Returns the values of a path, point by point."""
    return np.array([float(point[path]) for point in runs.points])


def chosen(runs: Runs, path: str, low: float, high: float = np.inf) -> list[Point]:
    """Returns the points between two values of a path, inclusive; raises `Failed` if there are none."""
    found = [point for point in runs.points if low <= float(point[path]) <= high]
    if not found:
        raise Failed(f"{path}: found no point from {low:g} to {high:g}; expected some")
    return found


def at(runs: Runs, path: str, value: float) -> Point:
    """Returns the point at a value of a path."""
    return chosen(runs, path, value, value)[0]


def point_with(runs: Runs, path: str, value: str) -> Point:
    """Returns the first point with a value of a path."""
    return next(point for point in runs.points if point[path] == value)


def metric_of(metric: str, traffic: str) -> str:
    """Returns the key of a metric of one workload."""
    return Key(metric, traffic=traffic)


def headers_lost(runs: Runs, variant: str, point: Point | None = None) -> np.ndarray:
    """Trims for which no PACK arrived, in % of all: header or PACK was dropped. Valid if every flow ends."""
    cut = runs.metric("trims", variant, point)
    return 100 * quotients(cut - runs.metric("packs", variant, point), cut)


def headers_lost_at_most(runs: Runs, variant: str, point: Point | None = None) -> np.ndarray:
    """Upper bound of dropped headers in % of the trims of a window, for flows that outlast the window.

    All dropped frames without payload are counted, ACKs included, so that 0 means no dropped header.
    """
    lost = []
    for table in runs.tables("fates", variant, point):
        which = (columns.numbers(table, "data") == 0) & (columns.numbers(table, "kind") == LOST)
        lost.append(float(columns.numbers(table, "count")[which].sum()))
    return 100 * quotients(np.array(lost), runs.metric("trims", variant, point))


def timeouts(runs: Runs, variant: str, point: Point | None = None) -> np.ndarray:
    """Timeouts of responses in measured queries, run by run; those of requests are not counted."""
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
    """Renumbers queries from 0 in the order of their numbers."""
    return np.asarray(np.unique(query, return_inverse=True)[1])


def mean_over(curve: Curve) -> np.ndarray:
    """Mean over points, seed by seed."""
    return np.asarray(curve.mean(axis=1))


def groups(curve: Curve, size: int = 5) -> list[np.ndarray]:
    """Means over groups of about `size` seeds each, for values that single seeds' noise would decide."""
    count = max(1, len(curve) // size)
    return [part.mean(axis=0) for part in np.array_split(curve, count)]


def modes(values: np.ndarray, unit: str) -> str:
    """Describes two modes of the values with their shares; empty if the values have one mode.

    There are two modes if the widest gap between neighbours is at least half of the range, so that no value
    is near the middle. The gap must also be at least `APART` of the largest value. Each mode has at least a
    tenth of the values.
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
    """Formats values by name for a note."""
    return ", ".join(f"{name} {value:.3g} {unit}" for name, value in zip(names, values, strict=True))
