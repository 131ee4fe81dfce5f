"""Measures of sections 5.4, 5.7 and 5.8: figures 7 to 10 and 13 to 15, up to extreme load, and pFabric."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from overspill import Key, Value
from overspill.papers.common import extent, jackknife, measured, quotients
from overspill.papers.spec import Measure, Measured, Point, Runs, Sweeps

from .mixed import (
    DCTCP,
    DIBS,
    Of,
    Times,
    above,
    at,
    below,
    curve,
    detours_of,
    drops,
    exact,
    flows_of,
    gap,
    gaps,
    later,
    less,
    levels_text,
    mean,
    number,
    p99_fct,
    p99_qct,
    rise,
    rises,
)

GAP = "traffic.background.interarrival"
QPS = "traffic.query.qps"
SIZE = "traffic.query.size"
DEGREE = "traffic.query.senders"
BUFFER = "switch.buffer.size"
REDUCING = ("background", "queries", "responses", "degrees", "buffers_fifth", "ttl")
BUFFERS = 20, 100  # packets of a port, the range of table 2
HOLDS_UP_TO = 10_000  # queries per second, in the paper's text
PFABRIC = "pfabric"
RATES = (300, 500, 1000, 1500, 2000)
# Sweep with the runs of each variant.
SWEEP = {DIBS: "queries", PFABRIC: "pfabric"}


def figure_7(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures figure 7: background traffic of several intensities."""
    runs = sweeps["background"]
    points = {point[GAP].replace("ms", " ms"): point for point in runs.points}
    by_point = np.array([gap(runs, point) for point in points.values()]).T
    yield measured("best point", "gap_of_p99_qct", jackknife(lambda curve: float(np.max(curve)), by_point))
    for case, point in points.items():
        yield below(case, runs, point)
        yield rise(case, runs, point)
    rising = np.array([rises(runs, point) for point in points.values()]).T
    yield measured("every point", "range_of_rise_of_p99_fct", jackknife(extent, rising))
    yield from later("120 ms", runs, points["120 ms"])
    found = [detours_of(runs, point) for point in points.values()]
    data = mean(one.data for by_seed in found for one in by_seed)
    packets = np.mean([[one.packets for one in by_seed] for by_seed in found], axis=0)
    queries = np.mean([[one.queries for one in by_seed] for by_seed in found], axis=0)
    background = np.mean([[one.background for one in by_seed] for by_seed in found], axis=0)
    yield measured("every point", "detoured_packets", packets, f"of data packets alone {data:.3g} %")
    yield measured("every point", "query_share_of_detoured_packets", queries)
    yield measured("every point", "detoured_background_packets", background)
    for variant in (DIBS, DCTCP):
        yield drops(f"every point, {variant}", runs, variant, runs.points)


def figure_8(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures figure 8: queries at several rates."""
    runs = sweeps["queries"]
    for point in runs.points:
        case = f"{point[QPS]} qps"
        yield gaps(case, runs, point)
        yield below(case, runs, point)
        if point[QPS] != "2000":
            yield rise(case, runs, point)
        share = [one.queries for one in detours_of(runs, point)]
        yield measured(case, "query_share_of_detoured_packets", share)
    high = at(runs, QPS, 2000)
    yield from later("2000 qps", runs, high)
    note = levels_text(runs, high, p99_fct)
    yield measured("2000 qps", "fall_of_p99_fct", -rises(runs, high), note)
    found = detours_of(runs, high)
    note = f"of data packets alone {100 - mean(one.data for one in found):.3g} %"
    yield measured("2000 qps, dibs", "packets_not_detoured", [100 - one.packets for one in found], note)
    yield drops("every point, dibs", runs, DIBS, runs.points)
    lost = runs.metric(Key("drops", traffic="background"), DCTCP, high)
    yield measured("2000 qps, dctcp", "drops_of_background", lost)


def figure_9(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures figure 9: responses of several sizes."""
    runs = sweeps["responses"]
    points = {point[SIZE].replace("KB", " KB"): point for point in runs.points}
    small, large = points["20 KB"], points["50 KB"]
    for case, point in points.items():
        yield below(case, runs, point)
    for case in ("20 KB", "50 KB"):
        yield gaps(case, runs, points[case])
        yield rise(case, runs, points[case])
    yield from levels("50 KB", runs, large)
    yield from later("50 KB", runs, large)
    yield measured("20 KB less 50 KB", "gap_of_p99_qct", gap(runs, small) - gap(runs, large))
    yield measured("50 KB less 20 KB", "rise_of_p99_fct", rises(runs, large) - rises(runs, small))
    yield drops("every point, dibs", runs, DIBS, runs.points)
    timeouts = [one.timeouts for one in flows_of(runs, DIBS, large)]
    yield measured("50 KB, dibs", "timeouts", timeouts, f"{lost(runs, large):.3g} packets dropped a run")
    yield farthest("50 KB, dibs", runs, large)


def figure_10(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures figure 10: several numbers of responders."""
    runs = sweeps["degrees"]
    for point in runs.points:
        yield below(f"degree {point[DEGREE]}", runs, point)
    few, many = at(runs, DEGREE, 40), at(runs, DEGREE, 100)
    yield gaps("degree 40", runs, few)
    yield gaps("degree 100", runs, many)
    yield measured("degree 100 less 40", "gap_of_p99_qct", gap(runs, many) - gap(runs, few))
    yield measured("degree 100 less 40", "rise_of_p99_fct", rises(runs, many) - rises(runs, few))
    yield from levels("degree 100", runs, many)
    yield from later("degree 100", runs, many)
    yield farthest("degree 100, dibs", runs, many)
    yield drops("every point, dibs", runs, DIBS, runs.points)


def levels(case: str, runs: Runs, point: Point) -> Iterable[Measured]:
    """Yields p99 QCT of both variants."""
    for variant in (DCTCP, DIBS):
        yield measured(f"{case}, {variant}", "p99_qct", exact(flows_of(runs, variant, point), p99_qct))


def lost(runs: Runs, point: Point) -> float:
    """Returns the mean number of packets dropped in a run with detours."""
    return mean(runs.metric("drops", DIBS, point))


def farthest(case: str, runs: Runs, point: Point) -> Measured:
    """Returns the 99th percentile of the number of detours of data packets."""
    found = detours_of(runs, point)
    note = f"{mean(one.p99_of_queries for one in found):.3g} of packets of queries alone"
    return measured(case, "p99_detours", [one.p99 for one in found], note)


def figures_9_and_10(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures responses of 2 MB in total, from many responders and from large responses."""
    many = sweeps["degrees"], at(sweeps["degrees"], DEGREE, 100)
    large = sweeps["responses"], at(sweeps["responses"], SIZE, "50KB")
    case, worse = "degree 100 less 50 KB", {}
    for variant in (DCTCP, DIBS):
        one, other = (exact(flows_of(runs, variant, point), p99_qct) for runs, point in (many, large))
        worse[variant] = one - other
        yield measured(
            f"{case}, {variant}", "p99_qct", worse[variant], f"{mean(one):.3g}, {mean(other):.3g} ms"
        )
    yield measured(f"{case}, dctcp less dibs", "p99_qct", worse[DCTCP] - worse[DIBS])
    often = [np.array([one.p99 for one in detours_of(*place)]) for place in (many, large)]
    yield measured(f"{case}, dibs", "p99_detours", often[0] - often[1])


def abstract(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures the largest reduction, at a point chosen on every other seed and tested on the others.

    With fewer than four seeds, all of them choose and test.
    """
    places = [(name, point) for name in REDUCING for point in sweeps[name].points if in_range(point)]
    by_place = [reduction(sweeps[name], point) for name, point in places]
    found = np.array([one[: min(map(len, by_place))] for one in by_place])
    chosen, tested, how = found[:, 0::2], found[:, 1::2], "chosen on every other seed, tested on the others"
    if tested.shape[1] < 2:
        chosen, tested, how = found, found, "chosen and tested on the same seeds"
    averages = chosen.mean(axis=1)
    best = int(np.nanargmax(averages)) if np.isfinite(averages).any() else 0
    name, point = places[best]
    where = ", ".join(f"{path} {value}" for path, value in point.items())
    note = f"at {where} ({name}), {how}; {levels_text(sweeps[name], point)}"
    yield measured("best point", "reduction_of_p99_qct", tested[best], note)


def in_range(point: Point) -> bool:
    """Returns true if a point is within the range of table 2; only some buffer sizes are not."""
    return BUFFER not in point or BUFFERS[0] <= number(point[BUFFER]) <= BUFFERS[1]


def reduction(runs: Runs, point: Point) -> np.ndarray:
    """Returns the reduction of p99 QCT by detours in %, by seed; NaN if one value is only a bound."""
    before, after = (exact(flows_of(runs, variant, point), p99_qct) for variant in (DCTCP, DIBS))
    return np.asarray(100 * (1 - after / before))


def best(runs: Runs, points: Sequence[Point]) -> tuple[list[float], Point]:
    """Returns the largest reduction over points, as jackknife pseudo-values, and its point."""
    by_point = np.array([reduction(runs, point) for point in points]).T
    averages = by_point.mean(axis=0)
    where = int(np.nanargmax(averages)) if np.isfinite(averages).any() else 0
    return jackknife(lambda curve: float(np.max(curve)), by_point), points[where]


def figure_13(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures figure 13: extreme rates of queries."""
    runs = sweeps["extreme"]
    yield measured("breaking point", "least_qps_with_dibs_above_dctcp", breaking(runs))
    for point in runs.points:
        rate = int(point[QPS])
        case = f"{rate // 1000}k qps"
        if rate <= HOLDS_UP_TO:
            yield noted(below(case, runs, point), halves(runs, point))
            continue
        yield noted(above(case, runs, point), halves(runs, point))
        found = less(flows_of(runs, DIBS, point), flows_of(runs, DCTCP, point), p99_fct)
        yield measured(case, "rise_of_p99_fct", found, levels_text(runs, point, p99_fct))


def noted(row: Measured, note: str) -> Measured:
    """Returns the row with one more note."""
    return replace(row, note=f"{row.note}; {note}")


def halves(runs: Runs, point: Point) -> str:
    """Formats p99 QCT in both halves of the window, which shows whether a run is stationary."""
    found = []
    for variant in (DCTCP, DIBS):
        first, second = (mean(one.halves[half] for one in flows_of(runs, variant, point)) for half in (0, 1))
        found.append(f"{variant} {first:.3g} and {second:.3g} ms")
    return f"by halves of the window {', '.join(found)}"


def breaking(runs: Runs) -> list[float]:
    """Returns the lowest rate at which queries take longer with detours, by seed; NaN if there is none."""
    points = sorted(runs.points, key=lambda point: int(point[QPS]))
    with_it, without = (curve(runs, variant, points) for variant in (DIBS, DCTCP))
    rates = np.array([float(point[QPS]) for point in points])
    worse = with_it > without
    return [float(rates[np.argmax(one)]) if one.any() else float("nan") for one in worse]


def figure_14(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures figure 14: large responses."""
    runs = sweeps["large"]
    for point in runs.points:
        yield noted(below(point[SIZE].replace("KB", " KB"), runs, point), halves(runs, point))


def large_fct(one: Times) -> Value:
    """Returns the 99th percentile of FCT of background flows of 1 MB or more."""
    return one.large


def of_rate(sweeps: Sweeps, variant: str, rate: int) -> list[Times]:
    """Returns the flow statistics at a rate, by seed."""
    runs = sweeps[SWEEP[variant]]
    return list(flows_of(runs, variant, at(runs, QPS, rate)))


def mean_levels(sweeps: Sweeps, rate: int, of: Of) -> str:
    """Formats the means of both variants."""
    found = {variant: mean(of(one).value for one in of_rate(sweeps, variant, rate)) for variant in SWEEP}
    return ", ".join(f"{variant} {value:.3g} ms" for variant, value in found.items())


def figure_15a(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures figure 15a: large background flows."""
    theirs, ours = (of_rate(sweeps, variant, RATES[-1]) for variant in (PFABRIC, DIBS))
    note = mean_levels(sweeps, RATES[-1], large_fct)
    yield measured("2000 qps", "p99_fct_of_large_pfabric_less_dibs", less(theirs, ours, large_fct), note)
    for variant in (PFABRIC, DIBS):
        high, low = (exact(of_rate(sweeps, variant, rate), large_fct) for rate in (RATES[-1], RATES[0]))
        yield measured(f"2000 qps by 300 qps, {variant}", "p99_fct_of_large", quotients(high, low))


def figure_15b(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures figure 15b: queries, and what pFabric drops and retransmits."""
    for rate in RATES:
        ours, theirs = (of_rate(sweeps, variant, rate) for variant in (DIBS, PFABRIC))
        note = mean_levels(sweeps, rate, p99_qct)
        if rate < RATES[-1]:
            ratio = quotients(exact(ours, p99_qct), exact(theirs, p99_qct))
            yield measured(f"{rate} qps", "p99_qct_dibs_by_pfabric", ratio, note)
            continue
        yield measured(f"{rate} qps", "p99_qct_pfabric_less_dibs", less(theirs, ours, p99_qct), note)
        again = [np.array([one.retransmitted for one in side]) for side in (theirs, ours)]
        note = f"pfabric {mean(again[0]):.3g} %, dibs {mean(again[1]):.3g} %"
        yield measured(f"{rate} qps", "retransmitted_segments_pfabric_less_dibs", again[0] - again[1], note)
    dropped = {
        variant: sweeps[name].metric("drops", variant, at(sweeps[name], QPS, RATES[-1]))
        for variant, name in SWEEP.items()
    }
    yield measured("2000 qps, pfabric", "drops", dropped[PFABRIC])
    yield measured("2000 qps", "drops_pfabric_less_dibs", dropped[PFABRIC] - dropped[DIBS])


MEASURES: dict[str, Measure] = {
    "fig7": figure_7,
    "fig8": figure_8,
    "fig9": figure_9,
    "fig10": figure_10,
    "fig9v10": figures_9_and_10,
    "abs": abstract,
    "fig13": figure_13,
    "fig14": figure_14,
    "fig15a": figure_15a,
    "fig15b": figure_15b,
}
