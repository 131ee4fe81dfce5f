"""DCTCP with and without detours at a point of a sweep, paired by seed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from overspill import Failed, Key
from overspill.papers.common import Curve, measured
from overspill.papers.dibs.mixed import (
    DCTCP,
    DIBS,
    LATE,
    Of,
    Times,
    bounds,
    exact,
    flows_of,
    least,
    p99_fct,
    p99_qct,
)
from overspill.papers.spec import Measured, Point, Runs

# Why switches of these figures lose packets.
WHY = ("buffer_full", "no_detour", "ttl_expired")


def at(runs: Runs, path: str, value: object) -> Point:
    """The point where a path has this value; `Failed` where there is none, or several."""
    found = [point for point in runs.points if point[path] == str(value)]
    if len(found) != 1:
        known = ", ".join(point[path] for point in runs.points)
        raise Failed(f"{path}: found {len(found)} points of {value}; expected one of {known}")
    return found[0]


def less(above: Sequence[Times], below: Sequence[Times], of: Of) -> np.ndarray:
    """One less another by seed; where the first is only a bound, so is the difference."""
    return np.asarray(least(above, of) - exact(below, of))


def gap(runs: Runs, point: Point | None, of: Of = p99_qct) -> np.ndarray:
    """DCTCP less DIBS by seed; NaN where one of both is only a bound."""
    return np.asarray(exact(flows_of(runs, DCTCP, point), of) - exact(flows_of(runs, DIBS, point), of))


def curve(runs: Runs, variant: str, points: Sequence[Point], of: Of = p99_qct) -> Curve:
    """Values, or what they are at least, seeds by points."""
    return np.array([least(flows_of(runs, variant, point), of) for point in points]).T


def mean(values: Iterable[float]) -> float:
    """The mean of what is known; NaN where nothing is."""
    known = [one for one in values if np.isfinite(one)]
    return float(np.mean(known)) if known else float("nan")


def told(runs: Runs, point: Point | None, of: Of = p99_qct) -> str:
    """Levels of both, and of queries how many take longer than 10, 20 and 40 ms."""
    found = {variant: flows_of(runs, variant, point) for variant in (DCTCP, DIBS)}
    parts = []
    for variant, by_seed in found.items():
        text = f"{variant} {mean(least(by_seed, of)):.3g} ms"
        if number := bounds(by_seed, of):
            text += f" (at least, in {number} of {len(by_seed)} runs)"
        if of is p99_qct:
            late = [mean(one.late[place] for one in by_seed) for place in range(len(LATE))]
            text += f", over 10, 20, 40 ms {', '.join(f'{one:.3g}' for one in late)} %"
        parts.append(text)
    return "; ".join(parts)


def gaps(case: str, runs: Runs, point: Point | None, note: str = "") -> Measured:
    """The gap of p99 QCT, as a number that is compared with a published one."""
    return measured(case, "gap_of_p99_qct", gap(runs, point), note)


def below(case: str, runs: Runs, point: Point | None) -> Measured:
    """Whether queries complete sooner with detours."""
    found = less(flows_of(runs, DCTCP, point), flows_of(runs, DIBS, point), p99_qct)
    return measured(case, "p99_qct_dctcp_less_dibs", found, told(runs, point))


def above(case: str, runs: Runs, point: Point | None) -> Measured:
    """Whether queries complete later with detours."""
    found = less(flows_of(runs, DIBS, point), flows_of(runs, DCTCP, point), p99_qct)
    return measured(case, "p99_qct_dibs_less_dctcp", found, told(runs, point))


def rises(runs: Runs, point: Point | None) -> np.ndarray:
    """By how much detours make short background flows later; at most so much where DCTCP is only a bound."""
    return -less(flows_of(runs, DCTCP, point), flows_of(runs, DIBS, point), p99_fct)


def rise(case: str, runs: Runs, point: Point | None) -> Measured:
    """The same as a row that says how much it is at most."""
    return measured(case, "rise_of_p99_fct", rises(runs, point), told(runs, point, p99_fct))


def later(case: str, runs: Runs, point: Point | None) -> Iterable[Measured]:
    """Shares of queries over 10, 20 and 40 ms."""
    found = [np.array([one.late for one in flows_of(runs, variant, point)]) for variant in (DCTCP, DIBS)]
    for place, limit in enumerate(LATE):
        difference = found[0][:, place] - found[1][:, place]
        levels = f"dctcp {mean(found[0][:, place]):.3g} %, dibs {mean(found[1][:, place]):.3g} %"
        yield measured(case, f"queries_over_{limit}ms_dctcp_less_dibs", difference, levels)


def drops(case: str, runs: Runs, variant: str, points: Sequence[Point]) -> Measured:
    """Packets lost over points, by seed; where there are some, why and at how many points."""
    by_point = np.array([runs.metric("drops", variant, point) for point in points])
    found = by_point.sum(axis=0)
    if not found.any():
        return measured(case, "drops", found)
    lossy = [point for point, lost in zip(points, by_point, strict=True) if lost.any()]
    where = "; ".join(", ".join(point.values()) for point in lossy)
    why = {
        reason: sum(runs.metric(Key("drops", reason=reason), variant, point).sum() for point in lossy)
        for reason in WHY
    }
    shares = ", ".join(
        f"{reason} {100 * count / found.sum():.3g} %" for reason, count in why.items() if count
    )
    return measured(case, "drops", found, f"at {where}: {shares}" if len(points) > 1 else shares)
