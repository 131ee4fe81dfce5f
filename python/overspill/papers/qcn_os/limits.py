"""Rate limits of flows over time, which are steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from overspill import columns

LINE = 10.0  # Gb/s, what a flow may send that has no limit


@dataclass(frozen=True)
class Limits:
    """A flow's limit from each of these times on; `LINE` before the first and where there is none."""

    times: np.ndarray  # ms
    rates: np.ndarray  # Gb/s

    def at(self, time: float) -> float:
        """The limit at an instant."""
        place = int(np.searchsorted(self.times, time, side="right"))
        return float(self.rates[place - 1]) if place else LINE

    def means(self, edges: np.ndarray) -> np.ndarray:
        """Means over time between each edge and the next."""
        times = np.concatenate(([-np.inf], self.times))
        rates = np.concatenate(([LINE], self.rates))
        cuts = np.unique(
            np.concatenate((edges, self.times[(self.times > edges[0]) & (self.times < edges[-1])]))
        )
        held = rates[np.searchsorted(times, cuts[:-1], side="right") - 1]
        area = np.concatenate(([0.0], np.cumsum(held * np.diff(cuts))))
        return np.asarray(np.diff(area[np.searchsorted(cuts, edges)]) / np.diff(edges))

    def mean(self, window: tuple[float, float]) -> float:
        """The mean of a window."""
        return float(self.means(np.array(window))[0])


def limits(table: pa.Table, flows: Sequence[int] | np.ndarray) -> list[Limits]:
    """Those of the given flows, from `rate_limits`, in which a rate below 0 is none."""
    flow, rate = columns.numbers(table, "flow"), columns.numbers(table, "rate_bps") / 1e9
    time = columns.numbers(table, "time_ps") / 1e9
    rate = np.where(rate < 0, LINE, rate)
    return [Limits(time[flow == one], rate[flow == one]) for one in flows]
