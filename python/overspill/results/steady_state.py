"""Steadiness of the load in the measurement window: its two halves compared, over seeds.

Only load that is offered all the time is compared: every workload with measured flows starts some in each
quarter of the window, or is endless and has begun by the end of the first. A single incast has no two halves
to compare.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from overspill import stats
from overspill.results import measures
from overspill.results.columns import distinct_values
from overspill.results.measures.completion import flows_with_transport, select_flows, workloads_with_fact
from overspill.results.rundata import RunData

MAX_DRIFT, MAX_DRIFT_ONE_SEED = (
    0.10,
    0.25,
)  # of the mean of both halves: limit over several seeds, limit with one
MAX_PRINTED_RATIO = 10  # larger ratios of halves are printed as `more than 10 times`
QUANTITY_NAMES = {"slowdown": "slowdown mean", "queue": "mean of all queues", "goodput": "goodput"}

Halves = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class WindowDrift:
    """Drift of a quantity in the measurement window: its values in the first and the second half."""

    quantity: str
    first: float
    second: float
    seeds: int

    @property
    def relative_difference(self) -> float:
        """Difference of the second half from the first, as a share of the mean of both."""
        return (self.second - self.first) / ((self.first + self.second) / 2)


def has_ongoing_load(run: RunData) -> bool:
    """Returns true if the load of every workload goes on through the whole measurement window."""
    start, end = run.window_ps
    flows = flows_with_transport(run)
    endless = np.isin(flows["traffic"], workloads_with_fact(run, "endless"))
    if not (flows["measured"] | endless).any() or run.cut or end <= start:
        return False
    quarter = (flows["start_ps"].astype(np.float64) - start) * 4 // (end - start)
    for workload in distinct_values(flows["traffic"][flows["measured"] | endless]):
        mine = flows["traffic"] == workload
        if (mine & endless).any():
            whole = bool((quarter[mine] < 1).all())
        else:
            whole = set(quarter[mine & flows["measured"]].tolist()) >= {0, 1, 2, 3}
        if not whole:
            return False
    return True


def compare_halves(run: RunData) -> dict[str, tuple[float, float]]:
    """Returns values of both halves of the window that should be equal; empty without ongoing load."""
    if not has_ongoing_load(run):
        return {}
    found: dict[str, tuple[float, float]] = {}
    start, end = run.window_ps
    middle = (start + end) // 2
    flows = measures.measured_flows(run)
    flows = select_flows(flows, ~flows["owed"])
    early = flows["start_ps"] < middle
    if early.any() and not early.all():
        times = measures.slowdowns(flows)
        found["slowdown"] = float(times[early].mean()), float(times[~early].mean())
    for name, table, column in (
        ("queue", "queue_trace", "mean_packets"),
        ("goodput", "host_goodput", "bytes"),
    ):
        both = sums_of_halves(run, table, column)
        if both is not None:
            found[name] = both
    return found


def sums_of_halves(run: RunData, table: str, column: str) -> tuple[float, float] | None:
    """Returns the sums over the bins of both halves, of equal length; `None` if nothing was recorded."""
    width = int(run.summary["bin_ps"])
    first, last = -(-run.window_ps[0] // width), run.window_ps[1] // width
    count = (last - first) // 2
    if not run.recorded(table) or count < 1:
        return None
    sums = [0.0, 0.0]
    for batch in run.batches(table, ("bin", column)):
        bins, values = (np.asarray(one.to_numpy(zero_copy_only=False)) for one in batch.columns)
        for half, begin in enumerate((first, last - count)):
            keep = (bins >= begin) & (bins < begin + count)
            sums[half] += float(values[keep].sum())
    return sums[0], sums[1]


def find_drifts(seeds: Sequence[Halves]) -> list[WindowDrift]:
    """Returns quantities whose halves differ by more than 10%, with an interval over seeds that excludes 0.

    With one seed the limit is 25%.
    """
    found = []
    for what in QUANTITY_NAMES:
        pairs = [one[what] for one in seeds if what in one]
        if not pairs or len(pairs) < len(seeds):
            continue
        drift = WindowDrift(
            what, stats.mean([a for a, _ in pairs]), stats.mean([b for _, b in pairs]), len(pairs)
        )
        if drift.first + drift.second <= 0:
            continue
        if len(pairs) == 1:
            sure, limit = True, MAX_DRIFT_ONE_SEED
        else:
            low, high = stats.mean_interval([b - a for a, b in pairs]) or (0.0, 0.0)
            sure, limit = low > 0 or high < 0, MAX_DRIFT
        if sure and abs(drift.relative_difference) > limit:
            found.append(drift)
    return found


def describe_drift(drift: WindowDrift) -> str:
    """Describes a drift: `slowdown mean 4.1 in the first half of the window, 6.3 in the second`."""
    name, halves = QUANTITY_NAMES[drift.quantity], "half of the window"
    if not drift.second:
        return f"{name} is 0 in the second {halves}, but not in the first"
    if not drift.first:
        return f"{name} is 0 in the first {halves}, but not in the second"
    ratio = drift.second / drift.first
    if drift.quantity == "slowdown":
        return f"{name} is {drift.first:.3g} in the first {halves} and {drift.second:.3g} in the second"
    return f"{name} in the second {halves} is {format_ratio(ratio)} that in the first half"


def format_ratio(ratio: float) -> str:
    """Formats a ratio as words: `57% of`, `3.2 times`, `more than 10 times`."""
    if ratio > MAX_PRINTED_RATIO:
        return f"more than {MAX_PRINTED_RATIO} times"
    return f"{ratio:.2g} times" if ratio >= 2 else f"{100 * ratio:.3g}% of"
