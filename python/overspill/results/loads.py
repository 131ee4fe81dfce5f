"""Achieved load beside the load that an axis of a sweep requests."""

from __future__ import annotations

import re

from overspill import stats
from overspill.grouping import by_key
from overspill.results import tables
from overspill.results.finished_runs import Finished
from overspill.results.key import Key

# Axis that requests a load of the workload that it names.
PATH = re.compile(r"traffic\.(?P<workload>.+)\.load(\.fraction)?")
APART = 0.05  # share of the requested load; a smaller deviation is not shown

Place = tuple[str, ...]  # values of the axes


def achieved(sweep: Finished) -> dict[str, dict[Place, str]]:
    """Returns the achieved load at each point by axis, if an axis requests a load and it differs anywhere.

    A text is `0.301`, or `0.28 to 0.31` if variants differ.
    """
    known = {axis.path: of_axis(sweep, at) for at, axis in enumerate(sweep.axes)}
    return {
        path: {place: text(loads) for place, loads in by_place.items()}
        for path, by_place in known.items()
        if by_place
    }


def by_value(sweep: Finished, at: int) -> dict[str, float]:
    """Returns the mean achieved load by value of an axis; empty if it differs nowhere."""
    every = ((place[at], load) for place, loads in of_axis(sweep, at).items() for load in loads)
    found = by_key(every)
    return {value: stats.mean(loads) for value, loads in found.items()}


def of_axis(sweep: Finished, at: int) -> dict[Place, list[float]]:
    """Returns the achieved load of each variant at each point; empty if it is as requested everywhere."""
    axis = sweep.axes[at]
    parts = PATH.fullmatch(axis.path)
    if parts is None or axis.numbers is None or not sweep.summary.num_rows:
        return {}
    asked = dict(zip(axis.texts, axis.numbers, strict=True))
    paths = [one.path for one in sweep.axes]
    rows = tables.of_metric(sweep.summary, Key("achieved_load", traffic=parts["workload"])).to_pylist()
    found = by_key((tuple(row[path] for path in paths), row["mean"]) for row in rows)
    far = (
        abs(one - asked[place[at]]) > APART * abs(asked[place[at]]) for place in found for one in found[place]
    )
    return found if any(far) else {}


def text(loads: list[float]) -> str:
    """Returns one load, or the least and the largest."""
    ends = dict.fromkeys(f"{one:.3g}" for one in (min(loads), max(loads)))
    return " to ".join(ends)
