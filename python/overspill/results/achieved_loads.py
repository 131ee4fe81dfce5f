"""Achieved load beside the load that an axis of a sweep requests."""

from __future__ import annotations

import re

from overspill import stats
from overspill.grouping import group_by_key
from overspill.results import summary_tables
from overspill.results.finished_runs import FinishedRuns
from overspill.results.metric_key import Key

# Path of an axis that sets the requested load of one workload; other axes have no achieved load.
LOAD_PATH = re.compile(r"traffic\.(?P<workload>.+)\.load(\.fraction)?")
MIN_LOAD_DEVIATION = 0.05  # share of the requested load; a smaller deviation is not shown

PointAndVariant = tuple[str, ...]  # values of the axes


def achieved_load_texts(sweep: FinishedRuns) -> dict[str, dict[PointAndVariant, str]]:
    """Returns achieved loads by axis and point, for axes whose requested load is missed at some point.

    A text is `0.301`, or `0.28 to 0.31` if variants differ.
    """
    known = {axis.path: achieved_loads_on_axis(sweep, at) for at, axis in enumerate(sweep.axes)}
    return {
        path: {place: format_loads(loads) for place, loads in by_place.items()}
        for path, by_place in known.items()
        if by_place
    }


def mean_achieved_loads(sweep: FinishedRuns, at: int) -> dict[str, float]:
    """Returns the mean achieved load by value of an axis; empty if it is as requested everywhere."""
    every = (
        (place[at], load) for place, loads in achieved_loads_on_axis(sweep, at).items() for load in loads
    )
    found = group_by_key(every)
    return {value: stats.mean(loads) for value, loads in found.items()}


def achieved_loads_on_axis(sweep: FinishedRuns, at: int) -> dict[PointAndVariant, list[float]]:
    """Returns the achieved load of each variant at each point; empty if it is as requested everywhere."""
    axis = sweep.axes[at]
    parts = LOAD_PATH.fullmatch(axis.path)
    if parts is None or axis.numbers is None or not sweep.summary.num_rows:
        return {}
    asked = dict(zip(axis.texts, axis.numbers, strict=True))
    paths = [one.path for one in sweep.axes]
    rows = summary_tables.rows_of_metric(
        sweep.summary, Key("achieved_load", traffic=parts["workload"])
    ).to_pylist()
    found = group_by_key((tuple(row[path] for path in paths), row["mean"]) for row in rows)
    far = (
        abs(one - asked[place[at]]) > MIN_LOAD_DEVIATION * abs(asked[place[at]])
        for place in found
        for one in found[place]
    )
    return found if any(far) else {}


def format_loads(loads: list[float]) -> str:
    """Formats one load, or the least and the largest of several."""
    ends = dict.fromkeys(f"{one:.3g}" for one in (min(loads), max(loads)))
    return " to ".join(ends)
