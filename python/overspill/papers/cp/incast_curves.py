"""The curves of figures 1 and 8, over the number of senders."""

from __future__ import annotations

import numpy as np

from overspill.papers.common import Curve
from overspill.papers.cp.schemes import along, chosen
from overspill.papers.spec import Runs

DEGREE = "traffic.query.degree"
EACH = 65_536  # bytes of a sender in figure 8a


def throughput(runs: Runs, variant: str, low: float = 0, high: float = np.inf) -> Curve:
    """Payload of all senders over the query's completion time, Mb/s, seeds by points."""
    points = chosen(runs, DEGREE, low, high)
    senders = np.array([float(point[DEGREE]) for point in points])
    return np.asarray(senders * EACH * 8 / along(runs, "qct_mean", variant, points) / 1e6)


def completion(runs: Runs, variant: str, low: float = 0, high: float = np.inf) -> Curve:
    """Completion times, ms, seeds by points."""
    return 1e3 * along(runs, "qct_mean", variant, chosen(runs, DEGREE, low, high))
