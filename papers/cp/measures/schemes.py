"""Schemes of CP's section 6, and the values that its figures read from runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from overspill import Failed, Key, columns
from overspill.papers.common import SeedCurve, divide_by_seed
from overspill.papers.spec import Point, Runs

TCP, TCP_200, CP, DCTCP, DCTCP_200, CP_DCTCP = "tcp", "tcp_200ms", "cp", "dctcp", "dctcp_200ms", "cp_dctcp"
NAMES = {
    TCP: "TCP",
    TCP_200: "TCP 200 ms",
    CP: "CP",
    DCTCP: "DCTCP",
    DCTCP_200: "DCTCP 200 ms",
    CP_DCTCP: "CP&DCTCP",
}
# Goodput of a link in footnotes 10 and 11 in bit/s, and bytes of a trimmed packet with Ethernet header
# (§4.6).
LINK_GOODPUT = 910e6
TRIMMED_BYTES = 66
MIN_VALUES_FOR_MODES = 5  # fewest values that can show two modes
MIN_MODE_GAP = 0.25  # smallest gap between two modes, relative to the largest value
DROPPED_FATE = 0  # a kind of the table `fates`
# Labels in rows and drawings by suffix of a sweep: no suffix with jitter of hosts, one for each order of ties
# without jitter.
TIE_LABELS = {"": "", "_drawn": ", ties drawn", "_by_port": ", ties by port"}


def path_values(runs: Runs, path: str) -> np.ndarray:
    """Returns the values of a swept field, point by point."""
    return np.array([float(point[path]) for point in runs.points])


def select_points(runs: Runs, path: str, low: float, high: float = np.inf) -> list[Point]:
    """Returns the points from `low` to `high` of a swept field, inclusive; raises `Failed` without any."""
    found = [point for point in runs.points if low <= float(point[path]) <= high]
    if not found:
        raise Failed(f"{path}: found no point from {low:g} to {high:g}; expected at least one")
    return found


def point_at(runs: Runs, path: str, value: float) -> Point:
    """Returns the point at a value of a swept field."""
    return select_points(runs, path, value, value)[0]


def point_with(runs: Runs, path: str, value: str) -> Point:
    """Returns the first point with a value of a swept field."""
    return next(point for point in runs.points if point[path] == value)


def metric_key(metric: str, traffic: str) -> str:
    """Returns the key of a metric of one workload."""
    return Key(metric, traffic=traffic)


def headers_lost(runs: Runs, variant: str, point: Point | None = None) -> np.ndarray:
    """Trims without a PACK, in % of all: the header or the PACK was dropped. Valid if every flow ends."""
    cut = runs.metric("trims", variant, point)
    return 100 * divide_by_seed(cut - runs.metric("packs", variant, point), cut)


def headers_lost_at_most(runs: Runs, variant: str, point: Point | None = None) -> np.ndarray:
    """Upper bound of dropped headers in % of the trims of a window, for flows that outlast the window.

    All dropped frames without payload are counted, ACKs included, so that 0 means no dropped header.
    """
    lost = []
    for table in runs.tables("fates", variant, point):
        which = (columns.column_to_numpy(table, "data") == 0) & (
            columns.column_to_numpy(table, "kind") == DROPPED_FATE
        )
        lost.append(float(columns.column_to_numpy(table, "count")[which].sum()))
    return 100 * divide_by_seed(np.array(lost), runs.metric("trims", variant, point))


def response_timeouts(runs: Runs, variant: str, point: Point | None = None) -> np.ndarray:
    """Timeouts of responses in measured queries, run by run; those of requests are not counted."""
    return np.array([one.sum() for one in response_timeouts_by_query(runs, variant, point)])


def response_timeouts_by_query(runs: Runs, variant: str, point: Point | None = None) -> list[np.ndarray]:
    """Timeouts of responses of each measured query, run by run."""
    found = []
    for table in runs.tables("flows", variant, point):
        response = (columns.column_to_numpy(table, "role") == 0) & (
            columns.column_to_numpy(table, "measured") == 1
        )
        which = renumber_queries(columns.column_to_numpy(table, "query")[response])
        expired = columns.column_to_numpy(table, "timeouts")[response]
        found.append(np.bincount(which, weights=expired))
    return found


def renumber_queries(query: np.ndarray) -> np.ndarray:
    """Renumbers queries from 0 in the order of their numbers."""
    return np.asarray(np.unique(query, return_inverse=True)[1])


def mean_over_points(curve: SeedCurve) -> np.ndarray:
    """Mean of a curve over its points, seed by seed."""
    return np.asarray(curve.mean(axis=1))


def group_means(curve: SeedCurve, size: int = 5) -> list[np.ndarray]:
    """Means of a curve over groups of about `size` seeds, for statistics that are too noisy with one seed."""
    count = max(1, len(curve) // size)
    return [part.mean(axis=0) for part in np.array_split(curve, count)]


def describe_modes(values: np.ndarray, unit: str) -> str:
    """Describes two modes of the values with their shares; empty if the values have one mode.

    There are two modes if the widest gap between neighbours is at least half of the range, so that no value
    is near the middle. The gap must also be at least `MIN_MODE_GAP` of the largest value. Each mode has at
    least a tenth of the values.
    """
    found = np.sort(values, axis=None)
    if len(found) < MIN_VALUES_FOR_MODES or not np.isfinite(found).all():
        return ""
    gaps = np.diff(found)
    if gaps.max() < max((found[-1] - found[0]) / 2, MIN_MODE_GAP * np.abs(found).max()) or not gaps.any():
        return ""
    cut = int(gaps.argmax()) + 1
    parts = found[:cut], found[cut:]
    if min(len(one) for one in parts) < len(found) / 10:
        return ""
    mark = unit if unit in ("", "%") else f" {unit}"
    texts = [f"{one.mean():.3g}{mark} in {len(one)} of {len(found)} runs" for one in parts]
    return f"two modes: {texts[0]}, {texts[1]}"


def format_by_name(names: Sequence[str], values: Sequence[float], unit: str) -> str:
    """Formats values by name for a note."""
    return ", ".join(f"{name} {value:.3g} {unit}" for name, value in zip(names, values, strict=True))
