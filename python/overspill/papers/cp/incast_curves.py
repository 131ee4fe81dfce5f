"""The curves of figures 1 and 8, over the number of senders."""

from __future__ import annotations

import numpy as np

from overspill import columns
from overspill.papers.common import Curve
from overspill.papers.cp.schemes import along, by_query, chosen
from overspill.papers.spec import Runs

DEGREE = "traffic.query.degree"
EACH = 65_536  # bytes of a sender in figure 8a
QUERIES = 3  # measured in a run


def throughput(runs: Runs, variant: str, low: float = 0, high: float = np.inf) -> Curve:
    """Payload of all senders over the query's completion time, Mb/s, seeds by points."""
    points = chosen(runs, DEGREE, low, high)
    senders = np.array([float(point[DEGREE]) for point in points])
    return np.asarray(senders * EACH * 8 / along(runs, "qct_mean", variant, points) / 1e6)


def completion(runs: Runs, variant: str, low: float = 0, high: float = np.inf) -> Curve:
    """Completion times, ms, seeds by points."""
    return 1e3 * along(runs, "qct_mean", variant, chosen(runs, DEGREE, low, high))


def each_completion(runs: Runs, variant: str, low: float, high: float) -> list[np.ndarray]:
    """Completion times of every measured query of all runs, ms, point by point."""
    found = []
    for point in chosen(runs, DEGREE, low, high):
        taken = []
        for table in runs.tables("flows", variant, point):
            measured = columns.numbers(table, "measured") == 1
            which = by_query(columns.numbers(table, "query")[measured])
            start, end = (columns.numbers(table, name)[measured] for name in ("start_ps", "end_ps"))
            for query in range(which.max() + 1):
                whose = which == query
                taken.append(float(end[whose].max() - start[whose].min()) / 1e9)
        found.append(np.array(taken))
    return found
