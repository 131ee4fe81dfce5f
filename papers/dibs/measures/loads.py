"""Measures of DIBS's sections 5.4, 5.7 and 5.8: figures 7 to 10 and 13 to 15, extreme load, pFabric."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from overspill import Key, Value
from overspill.papers.common import build_measured, divide_by_seed, jackknife_values, value_range
from overspill.papers.spec import Measure, Measured, Point, Runs, Sweeps

from .mixed import (
    DCTCP,
    DIBS,
    FlowStatistic,
    FlowStatistics,
    dctcp_minus_dibs,
    detour_statistics,
    difference_by_seed,
    exact_values,
    fct_increase,
    finite_mean,
    flow_statistics,
    format_levels,
    measure_drops,
    measure_fct_increase,
    measure_increase,
    measure_late_queries,
    measure_qct_difference,
    measure_reduction,
    p99_fct,
    p99_qct,
    parse_leading_number,
    point_at,
    value_curve,
)

GAP_PATH = "traffic.background.interarrival"
QPS_PATH = "traffic.query.qps"
SIZE_PATH = "traffic.query.size"
DEGREE_PATH = "traffic.query.senders"
BUFFER_PATH = "switch.buffer.size"
REDUCING_SWEEPS = ("background", "queries", "responses", "degrees", "buffers_fifth", "ttl")
BUFFER_RANGE = 20, 100  # packets of a port, the range of table 2
MAX_BENEFICIAL_QPS = 10_000  # queries per second, in the paper's text
PFABRIC = "pfabric"
QUERY_RATES = (300, 500, 1000, 1500, 2000)
# Figure 15 takes its two variants from two sweeps, because pFabric has a scenario of its own.
SWEEP_OF_VARIANT = {DIBS: "queries", PFABRIC: "pfabric"}


def measure_figure_7(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures figure 7: background traffic of several intensities."""
    runs = sweeps["background"]
    points = {point[GAP_PATH].replace("ms", " ms"): point for point in runs.points}
    by_point = np.array([dctcp_minus_dibs(runs, point) for point in points.values()]).T
    yield build_measured(
        "best point", "gap_of_p99_qct", jackknife_values(lambda curve: float(np.max(curve)), by_point)
    )
    for case, point in points.items():
        yield measure_reduction(case, runs, point)
        yield measure_fct_increase(case, runs, point)
    rising = np.array([fct_increase(runs, point) for point in points.values()]).T
    yield build_measured("every point", "range_of_rise_of_p99_fct", jackknife_values(value_range, rising))
    yield from measure_late_queries("120 ms", runs, points["120 ms"])
    found = [detour_statistics(runs, point) for point in points.values()]
    data = finite_mean(one.data for by_seed in found for one in by_seed)
    packets = np.mean([[one.packets for one in by_seed] for by_seed in found], axis=0)
    queries = np.mean([[one.queries for one in by_seed] for by_seed in found], axis=0)
    background = np.mean([[one.background for one in by_seed] for by_seed in found], axis=0)
    yield build_measured("every point", "detoured_packets", packets, f"of data packets alone {data:.3g} %")
    yield build_measured("every point", "query_share_of_detoured_packets", queries)
    yield build_measured("every point", "detoured_background_packets", background)
    for variant in (DIBS, DCTCP):
        yield measure_drops(f"every point, {variant}", runs, variant, runs.points)


def measure_figure_8(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures figure 8: queries at several rates."""
    runs = sweeps["queries"]
    for point in runs.points:
        case = f"{point[QPS_PATH]} qps"
        yield measure_qct_difference(case, runs, point)
        yield measure_reduction(case, runs, point)
        if point[QPS_PATH] != "2000":
            yield measure_fct_increase(case, runs, point)
        share = [one.queries for one in detour_statistics(runs, point)]
        yield build_measured(case, "query_share_of_detoured_packets", share)
    high = point_at(runs, QPS_PATH, 2000)
    yield from measure_late_queries("2000 qps", runs, high)
    note = format_levels(runs, high, p99_fct)
    yield build_measured("2000 qps", "fall_of_p99_fct", -fct_increase(runs, high), note)
    found = detour_statistics(runs, high)
    note = f"of data packets alone {100 - finite_mean(one.data for one in found):.3g} %"
    yield build_measured("2000 qps, dibs", "packets_not_detoured", [100 - one.packets for one in found], note)
    yield measure_drops("every point, dibs", runs, DIBS, runs.points)
    lost = runs.metric(Key("drops", traffic="background"), DCTCP, high)
    yield build_measured("2000 qps, dctcp", "drops_of_background", lost)


def measure_figure_9(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures figure 9: responses of several sizes."""
    runs = sweeps["responses"]
    points = {point[SIZE_PATH].replace("KB", " KB"): point for point in runs.points}
    small, large = points["20 KB"], points["50 KB"]
    for case, point in points.items():
        yield measure_reduction(case, runs, point)
    for case in ("20 KB", "50 KB"):
        yield measure_qct_difference(case, runs, points[case])
        yield measure_fct_increase(case, runs, points[case])
    yield from measure_levels("50 KB", runs, large)
    yield from measure_late_queries("50 KB", runs, large)
    yield build_measured(
        "20 KB less 50 KB", "gap_of_p99_qct", dctcp_minus_dibs(runs, small) - dctcp_minus_dibs(runs, large)
    )
    yield build_measured(
        "50 KB less 20 KB", "rise_of_p99_fct", fct_increase(runs, large) - fct_increase(runs, small)
    )
    yield measure_drops("every point, dibs", runs, DIBS, runs.points)
    timeouts = [one.timeouts for one in flow_statistics(runs, DIBS, large)]
    yield build_measured(
        "50 KB, dibs", "timeouts", timeouts, f"{mean_drops(runs, large):.3g} packets dropped a run"
    )
    yield p99_detours("50 KB, dibs", runs, large)


def measure_figure_10(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures figure 10: several numbers of responders."""
    runs = sweeps["degrees"]
    for point in runs.points:
        yield measure_reduction(f"degree {point[DEGREE_PATH]}", runs, point)
    few, many = point_at(runs, DEGREE_PATH, 40), point_at(runs, DEGREE_PATH, 100)
    yield measure_qct_difference("degree 40", runs, few)
    yield measure_qct_difference("degree 100", runs, many)
    yield build_measured(
        "degree 100 less 40", "gap_of_p99_qct", dctcp_minus_dibs(runs, many) - dctcp_minus_dibs(runs, few)
    )
    yield build_measured(
        "degree 100 less 40", "rise_of_p99_fct", fct_increase(runs, many) - fct_increase(runs, few)
    )
    yield from measure_levels("degree 100", runs, many)
    yield from measure_late_queries("degree 100", runs, many)
    yield p99_detours("degree 100, dibs", runs, many)
    yield measure_drops("every point, dibs", runs, DIBS, runs.points)


def measure_levels(case: str, runs: Runs, point: Point) -> Iterable[Measured]:
    """Yields the 99th percentile of query times, of DCTCP and of DIBS."""
    for variant in (DCTCP, DIBS):
        yield build_measured(
            f"{case}, {variant}", "p99_qct", exact_values(flow_statistics(runs, variant, point), p99_qct)
        )


def mean_drops(runs: Runs, point: Point) -> float:
    """Returns the mean number of packets dropped in a run with detours."""
    return finite_mean(runs.metric("drops", DIBS, point))


def p99_detours(case: str, runs: Runs, point: Point) -> Measured:
    """Returns the 99th percentile of the number of detours of data packets."""
    found = detour_statistics(runs, point)
    note = f"{finite_mean(one.p99_of_queries for one in found):.3g} of packets of queries alone"
    return build_measured(case, "p99_detours", [one.p99 for one in found], note)


def measure_figures_9_and_10(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures responses of 2 MB in total: many responders, or large responses."""
    many = sweeps["degrees"], point_at(sweeps["degrees"], DEGREE_PATH, 100)
    large = sweeps["responses"], point_at(sweeps["responses"], SIZE_PATH, "50KB")
    case, worse = "degree 100 less 50 KB", {}
    for variant in (DCTCP, DIBS):
        one, other = (
            exact_values(flow_statistics(runs, variant, point), p99_qct) for runs, point in (many, large)
        )
        worse[variant] = one - other
        yield build_measured(
            f"{case}, {variant}",
            "p99_qct",
            worse[variant],
            f"{finite_mean(one):.3g}, {finite_mean(other):.3g} ms",
        )
    yield build_measured(f"{case}, dctcp less dibs", "p99_qct", worse[DCTCP] - worse[DIBS])
    often = [np.array([one.p99 for one in detour_statistics(*place)]) for place in (many, large)]
    yield build_measured(f"{case}, dibs", "p99_detours", often[0] - often[1])


def measure_abstract(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures the largest reduction of p99 QCT: half of the seeds choose the point, the other half tests it.

    With fewer than four seeds, all of them choose and test.
    """
    places = [
        (name, point) for name in REDUCING_SWEEPS for point in sweeps[name].points if is_in_table_2(point)
    ]
    by_place = [tail_reduction(sweeps[name], point) for name, point in places]
    found = np.array([one[: min(map(len, by_place))] for one in by_place])
    chosen, tested, how = found[:, 0::2], found[:, 1::2], "chosen on every other seed, tested on the others"
    if tested.shape[1] < 2:
        chosen, tested, how = found, found, "chosen and tested on the same seeds"
    averages = chosen.mean(axis=1)
    best = int(np.nanargmax(averages)) if np.isfinite(averages).any() else 0
    name, point = places[best]
    where = ", ".join(f"{path} {value}" for path, value in point.items())
    note = f"at {where} ({name}), {how}; {format_levels(sweeps[name], point)}"
    yield build_measured("best point", "reduction_of_p99_qct", tested[best], note)


def is_in_table_2(point: Point) -> bool:
    """Returns true if a point is within the range of table 2; only some buffer sizes are not."""
    return (
        BUFFER_PATH not in point
        or BUFFER_RANGE[0] <= parse_leading_number(point[BUFFER_PATH]) <= BUFFER_RANGE[1]
    )


def tail_reduction(runs: Runs, point: Point) -> np.ndarray:
    """Returns the reduction of p99 QCT by detours in %, by seed; NaN if one value is only a bound."""
    before, after = (
        exact_values(flow_statistics(runs, variant, point), p99_qct) for variant in (DCTCP, DIBS)
    )
    return np.asarray(100 * (1 - after / before))


def largest_reduction(runs: Runs, points: Sequence[Point]) -> tuple[list[float], Point]:
    """Returns the largest reduction over points, as jackknife pseudo-values, and its point."""
    by_point = np.array([tail_reduction(runs, point) for point in points]).T
    averages = by_point.mean(axis=0)
    where = int(np.nanargmax(averages)) if np.isfinite(averages).any() else 0
    return jackknife_values(lambda curve: float(np.max(curve)), by_point), points[where]


def measure_figure_13(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures figure 13: extreme rates of queries."""
    runs = sweeps["extreme"]
    yield build_measured("breaking point", "least_qps_with_dibs_above_dctcp", breaking_rate(runs))
    for point in runs.points:
        rate = int(point[QPS_PATH])
        case = f"{rate // 1000}k qps"
        if rate <= MAX_BENEFICIAL_QPS:
            yield add_note(measure_reduction(case, runs, point), format_halves(runs, point))
            continue
        yield add_note(measure_increase(case, runs, point), format_halves(runs, point))
        found = difference_by_seed(
            flow_statistics(runs, DIBS, point), flow_statistics(runs, DCTCP, point), p99_fct
        )
        yield build_measured(case, "rise_of_p99_fct", found, format_levels(runs, point, p99_fct))


def add_note(row: Measured, note: str) -> Measured:
    """Returns a measured row with one more note."""
    return replace(row, note=f"{row.note}; {note}")


def format_halves(runs: Runs, point: Point) -> str:
    """Formats p99 QCT in both halves of the window: similar values indicate a stationary run."""
    found = []
    for variant in (DCTCP, DIBS):
        first, second = (
            finite_mean(one.halves[half] for one in flow_statistics(runs, variant, point)) for half in (0, 1)
        )
        found.append(f"{variant} {first:.3g} and {second:.3g} ms")
    return f"by halves of the window {', '.join(found)}"


def breaking_rate(runs: Runs) -> list[float]:
    """Returns the lowest rate at which queries take longer with detours, by seed; NaN if there is none."""
    points = sorted(runs.points, key=lambda point: int(point[QPS_PATH]))
    with_it, without = (value_curve(runs, variant, points) for variant in (DIBS, DCTCP))
    rates = np.array([float(point[QPS_PATH]) for point in points])
    worse = with_it > without
    return [float(rates[np.argmax(one)]) if one.any() else float("nan") for one in worse]


def measure_figure_14(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures figure 14: large responses."""
    runs = sweeps["large"]
    for point in runs.points:
        yield add_note(
            measure_reduction(point[SIZE_PATH].replace("KB", " KB"), runs, point), format_halves(runs, point)
        )


def p99_large_fct(one: FlowStatistics) -> Value:
    """Returns the 99th percentile of FCT of background flows of 1 MB or more."""
    return one.large


def flows_at_rate(sweeps: Sweeps, variant: str, rate: int) -> list[FlowStatistics]:
    """Returns the flow statistics at a rate, by seed."""
    runs = sweeps[SWEEP_OF_VARIANT[variant]]
    return list(flow_statistics(runs, variant, point_at(runs, QPS_PATH, rate)))


def format_means(sweeps: Sweeps, rate: int, of: FlowStatistic) -> str:
    """Formats the mean of each variant in ms."""
    found = {
        variant: finite_mean(of(one).value for one in flows_at_rate(sweeps, variant, rate))
        for variant in SWEEP_OF_VARIANT
    }
    return ", ".join(f"{variant} {value:.3g} ms" for variant, value in found.items())


def measure_figure_15a(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures figure 15a: large background flows."""
    theirs, ours = (flows_at_rate(sweeps, variant, QUERY_RATES[-1]) for variant in (PFABRIC, DIBS))
    note = format_means(sweeps, QUERY_RATES[-1], p99_large_fct)
    yield build_measured(
        "2000 qps",
        "p99_fct_of_large_pfabric_less_dibs",
        difference_by_seed(theirs, ours, p99_large_fct),
        note,
    )
    for variant in (PFABRIC, DIBS):
        high, low = (
            exact_values(flows_at_rate(sweeps, variant, rate), p99_large_fct)
            for rate in (QUERY_RATES[-1], QUERY_RATES[0])
        )
        yield build_measured(f"2000 qps by 300 qps, {variant}", "p99_fct_of_large", divide_by_seed(high, low))


def measure_figure_15b(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures figure 15b: queries, and what pFabric drops and retransmits."""
    for rate in QUERY_RATES:
        ours, theirs = (flows_at_rate(sweeps, variant, rate) for variant in (DIBS, PFABRIC))
        note = format_means(sweeps, rate, p99_qct)
        if rate < QUERY_RATES[-1]:
            ratio = divide_by_seed(exact_values(ours, p99_qct), exact_values(theirs, p99_qct))
            yield build_measured(f"{rate} qps", "p99_qct_dibs_by_pfabric", ratio, note)
            continue
        yield build_measured(
            f"{rate} qps", "p99_qct_pfabric_less_dibs", difference_by_seed(theirs, ours, p99_qct), note
        )
        again = [np.array([one.retransmitted for one in side]) for side in (theirs, ours)]
        note = f"pfabric {finite_mean(again[0]):.3g} %, dibs {finite_mean(again[1]):.3g} %"
        yield build_measured(
            f"{rate} qps", "retransmitted_segments_pfabric_less_dibs", again[0] - again[1], note
        )
    dropped = {
        variant: sweeps[name].metric("drops", variant, point_at(sweeps[name], QPS_PATH, QUERY_RATES[-1]))
        for variant, name in SWEEP_OF_VARIANT.items()
    }
    yield build_measured("2000 qps, pfabric", "drops", dropped[PFABRIC])
    yield build_measured("2000 qps", "drops_pfabric_less_dibs", dropped[PFABRIC] - dropped[DIBS])


MEASURES: dict[str, Measure] = {
    "fig7": measure_figure_7,
    "fig8": measure_figure_8,
    "fig9": measure_figure_9,
    "fig10": measure_figure_10,
    "fig9v10": measure_figures_9_and_10,
    "abs": measure_abstract,
    "fig13": measure_figure_13,
    "fig14": measure_figure_14,
    "fig15a": measure_figure_15a,
    "fig15b": measure_figure_15b,
}
