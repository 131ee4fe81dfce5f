"""Measures of DIBS's sections 4, 6 and 7: CIOQ, packet ECMP, transports, topologies, PAUSE and PFC."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from overspill import Key, columns
from overspill.papers.common import build_measured, divide_by_seed, divide_or_nan, jackknife_values
from overspill.papers.spec import Measure, Measured, Point, Runs, Sweeps

from .detour_paths import DETOUR_KINDS, destination_hosts, detour_kinds
from .fabric import Fabric
from .loads import QPS_PATH
from .mixed import (
    DCTCP,
    DIBS,
    DROP_REASONS,
    FlowStatistic,
    FlowStatistics,
    count_bounds,
    difference_by_seed,
    exact_values,
    finite_mean,
    flow_statistics,
    lower_bounds,
    p99_fct,
    p99_qct,
    point_at,
)

DEFAULT_QPS, HEAVY_QPS = 300, 2000  # queries per second
QUERY_RATES = (DEFAULT_QPS, HEAVY_QPS)
NO_FAST_RETRANSMIT, NEWRENO = "dctcp_nofr", "dibs_newreno"
VariantPair = tuple[str, str]  # variants without and with detours, otherwise equal
CIOQ_PAIRS: dict[str, VariantPair] = {
    "CIOQ, half at inputs": ("cioq_dctcp", "cioq_dibs"),
    "CIOQ, 100 packets at both ends": ("cioq_twice_dctcp", "cioq_twice_dibs"),
}
SPRAYING_PAIRS: dict[str, VariantPair] = {
    "": (DCTCP, "spray"),
    ", no fast retransmit": (NO_FAST_RETRANSMIT, "spray_nofr"),
}
TRANSPORT_PAIRS: dict[str, VariantPair] = {
    "TCP with ECN": ("ecn", "ecn_dibs"),
    "TCP under QCN": ("qcn", "qcn_dibs"),
}
DCQCN_PAIR: tuple[str, VariantPair] = ("RoCE with DCQCN", ("dcqcn", "dcqcn_dibs"))
TOPOLOGIES = {"HyperX": "hyperx", "Jellyfish": "jellyfish"}
PAUSE_VARIANTS = {"PAUSE": "pause", "PAUSE in a pool": "pool_pause", "PFC in a pool": "pool_pfc"}
# Variants that drop packets, since they pause too late or for too short a time.
LOSSY_PAUSE_VARIANTS = {
    "PAUSE, XOFF 60 KB": "pause_late",
    "PAUSE in a pool, XOFF 150 KB": "pool_pause_late",
    "PAUSE, one frame long": "pause_short",
}
# By name of the usual variant: the variant that pauses too early, with its case, and the one that pauses too
# late.
EARLY_PAUSE_VARIANTS = {
    "PAUSE": ("pause_early", "XOFF 3 KB less 15 KB"),
    "PAUSE in a pool": ("pool_pause_early", "XOFF 15 KB less 120 KB"),
}
LATE_PAUSE_VARIANTS = {"PAUSE": "pause_late", "PAUSE in a pool": "pool_pause_late"}
ENDLESS_PAUSE_PS = 10**12  # ps, longer than a refreshed pause of a link that resumes


def measure_section_4(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures DIBS in CIOQ switches, relative to output-queued ones and to tail drop."""
    usual, runs = sweeps["beside"], sweeps["cioq"]
    for name, pair in CIOQ_PAIRS.items():
        for rate in QUERY_RATES:
            case, point = f"{rate} qps, {name}", point_at(runs, QPS_PATH, rate)
            if rate == DEFAULT_QPS:
                yield build_measured(case, "detours", runs.metric("detours", pair[1], point))
            yield measure_drops(case, runs, point, pair)
            inside, outside = (
                flow_statistics(runs, pair[1], point),
                flow_statistics(usual, DIBS, point_at(usual, QPS_PATH, rate)),
            )
            ratio = divide_by_seed(exact_values(inside, p99_qct), exact_values(outside, p99_qct))
            level = f"output-queued {format_levels(usual, point_at(usual, QPS_PATH, rate), (DIBS,))}"
            yield build_measured(case, "p99_qct_dibs_by_output_queued", ratio, level)
            yield tail_reduction(case, runs, point, pair)


def measure_section_6_ecmp(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures ECMP by packet relative to ECMP by flow and to DIBS."""
    runs = sweeps["beside"]
    for rate in QUERY_RATES:
        point = point_at(runs, QPS_PATH, rate)
        dibs = flow_statistics(runs, DIBS, point)
        for hosts, (by_flow, by_packet) in SPRAYING_PAIRS.items():
            sprayed = flow_statistics(runs, by_packet, point)
            ratio = divide_by_seed(
                exact_values(sprayed, p99_qct), exact_values(flow_statistics(runs, by_flow, point), p99_qct)
            )
            note = format_levels(runs, point, (by_flow, by_packet))
            yield build_measured(
                f"{rate} qps, ECMP by packet over ECMP by flow{hosts}", "p99_qct", ratio, note
            )
            longer = difference_by_seed(sprayed, dibs, p99_qct)
            note = format_levels(runs, point, (by_packet, DIBS))
            yield build_measured(f"{rate} qps, ECMP by packet less dibs{hosts}", "p99_qct", longer, note)
        late = {name: 100 * runs.metric("reordered_share", name, point) for name in (DIBS, DCTCP, "spray")}
        note = ", ".join(f"{name} {finite_mean(values):.3g} %" for name, values in late.items())
        found = late[DIBS] - late[DCTCP]
        yield build_measured(f"{rate} qps, dibs less ECMP by flow", "reordered_packets", found, note)


def measure_section_6_transports(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures DIBS with other transports that do not only react to losses."""
    runs, default = sweeps["transports"], sweeps["transports_default"]
    waits = default.metric("queue_all_mean", NEWRENO)
    for name, pair in TRANSPORT_PAIRS.items():
        for rate in QUERY_RATES:
            point = point_at(runs, QPS_PATH, rate)
            yield from compare_with_tail_drop(f"{rate} qps, {name}", runs, point, pair)
            if rate == DEFAULT_QPS:
                yield queue_difference(name, waits, runs.metric("queue_all_mean", pair[1], point))
    name, pair = DCQCN_PAIR
    yield from compare_with_tail_drop(f"{DEFAULT_QPS} qps, {name}", default, default.points[0], pair)
    yield queue_difference(name, waits, default.metric("queue_all_mean", pair[1]))


def queue_difference(name: str, waits: np.ndarray, other: np.ndarray) -> Measured:
    """Returns the mean queue with NewReno minus that with another transport, both with detours."""
    note = f"NewReno {finite_mean(waits):.3g}, {name} {finite_mean(other):.3g}"
    return build_measured(f"{DEFAULT_QPS} qps, NewReno less {name}", "mean_queue", waits - other, note)


def measure_section_7(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures DIBS in two other topologies."""
    for name, sweep in TOPOLOGIES.items():
        runs = sweeps[sweep]
        for rate in QUERY_RATES:
            yield from compare_with_tail_drop(
                f"{rate} qps, {name}", runs, point_at(runs, QPS_PATH, rate), (DCTCP, DIBS)
            )


def compare_with_tail_drop(case: str, runs: Runs, point: Point, pair: VariantPair) -> Iterator[Measured]:
    """Yields effects of detours relative to tail drop: query tail, tail of short background flows, drops."""
    yield tail_reduction(case, runs, point, pair)
    without, with_detours = (flow_statistics(runs, name, point) for name in pair)
    rise = -difference_by_seed(without, with_detours, p99_fct)
    yield build_measured(case, "rise_of_p99_fct", rise, format_levels(runs, point, pair, p99_fct))
    yield measure_drops(case, runs, point, pair)


def tail_reduction(case: str, runs: Runs, point: Point, pair: VariantPair) -> Measured:
    """Returns the reduction of the query tail by detours."""
    without, with_detours = (flow_statistics(runs, name, point) for name in pair)
    note = format_levels(runs, point, pair)
    return build_measured(
        case, "p99_qct_tail_drop_less_dibs", difference_by_seed(without, with_detours, p99_qct), note
    )


def measure_drops(case: str, runs: Runs, point: Point, pair: VariantPair) -> Measured:
    """Returns the packets dropped with detours; at the heavy load, how many fewer than without them."""
    without, with_detours = (runs.metric("drops", name, point) for name in pair)
    note = f"tail drop {finite_mean(without):.4g}, dibs {finite_mean(with_detours):.4g} a run"
    note += format_drop_reasons(runs, point, pair[1])
    if point.get(QPS_PATH) == str(HEAVY_QPS):
        return build_measured(case, "drops_tail_drop_less_dibs", without - with_detours, note)
    return build_measured(case, "drops_dibs", with_detours, note)


def format_drop_reasons(runs: Runs, point: Point, variant: str) -> str:
    """Formats the shares of a variant's drop reasons in %; empty without drops."""
    every = runs.metric("drops", variant, point).sum()
    counts = {
        name: np.nansum(runs.metric(Key("drops", reason=name), variant, point))
        for name in ((*DROP_REASONS, "input_full") if every else ())
    }
    parts = [f"{name} {100 * count / every:.3g} %" for name, count in counts.items() if count]
    return f": {', '.join(parts)}" if parts else ""


def format_levels(
    runs: Runs, point: Point | None, variants: Iterable[str], of: FlowStatistic = p99_qct
) -> str:
    """Formats means of a percentile by variant in ms."""
    found = []
    for name in variants:
        by_seed = flow_statistics(runs, name, point)
        number = count_bounds(by_seed, of)
        at_least = f" (at least, in {number} of {len(by_seed)} runs)" if number else ""
        found.append(f"{name} {finite_mean(lower_bounds(by_seed, of)):.3g} ms{at_least}")
    return ", ".join(found)


def measure_section_6(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures Ethernet flow control: drops, thresholds and tails, and which neighbours DIBS uses."""
    runs = sweeps["beside"]
    yield from measure_flow_control(runs)
    heavy = point_at(runs, QPS_PATH, HEAVY_QPS)
    lost = {name: runs.metric("drops", name, heavy) for name in (DCTCP, DIBS)}
    means = f"dctcp {finite_mean(lost[DCTCP]):.4g}, dibs {finite_mean(lost[DIBS]):.4g} a run"
    note = f"{means}{format_drop_reasons(runs, heavy, DIBS)}"
    yield build_measured(f"{HEAVY_QPS} qps, dctcp less dibs", "drops", lost[DCTCP] - lost[DIBS], note)
    yield from compare_thresholds(runs, sweeps["thresholds"])
    yield measure_detours_to_edges(sweeps["every_detour"])
    for rate in QUERY_RATES:
        point = point_at(runs, QPS_PATH, rate)
        for name, variant in PAUSE_VARIANTS.items():
            pauses, dibs = (flow_statistics(runs, one, point) for one in (variant, DIBS))
            for metric, of in (("p99_qct", p99_qct), ("p99_fct", p99_fct)):
                note = format_levels(runs, point, (variant, DIBS, "pool", DCTCP), of)
                yield build_measured(
                    f"{rate} qps, {name} less dibs", metric, difference_by_seed(pauses, dibs, of), note
                )


def measure_flow_control(runs: Runs) -> Iterator[Measured]:
    """Yields drops with flow control at both rates together, and the number of pauses."""
    for name, variant in PAUSE_VARIANTS.items():
        lost = np.sum([runs.metric("drops", variant, point) for point in runs.points], axis=0)
        often = [
            finite_mean(runs.metric("pauses", variant, point_at(runs, QPS_PATH, rate)))
            for rate in QUERY_RATES
        ]
        note = f"{often[0]:.4g} pauses a run at {DEFAULT_QPS} qps, {often[1]:.4g} at {HEAVY_QPS}"
        yield build_measured(f"both rates, {name}", "drops", lost, note)


def compare_thresholds(usual: Runs, others: Runs) -> Iterator[Measured]:
    """Yields drops and query tails with PAUSE too late, too short or too early, and with the worst XOFF."""
    heavy = point_at(usual, QPS_PATH, HEAVY_QPS)
    for case, variant in LOSSY_PAUSE_VARIANTS.items():
        note = format_levels(others, None, (variant,))
        yield build_measured(f"{HEAVY_QPS} qps, {case}", "drops", others.metric("drops", variant), note)
    for name, (variant, case) in EARLY_PAUSE_VARIANTS.items():
        early, tuned = flow_statistics(others, variant), flow_statistics(usual, PAUSE_VARIANTS[name], heavy)
        usual_levels = format_levels(usual, heavy, (PAUSE_VARIANTS[name],))
        note = f"{format_levels(others, None, (variant,))}, {usual_levels}"
        yield build_measured(
            f"{HEAVY_QPS} qps, {name}, {case}", "p99_qct", difference_by_seed(early, tuned, p99_qct), note
        )
    dibs = flow_statistics(usual, DIBS, heavy)
    for name, late in LATE_PAUSE_VARIANTS.items():
        tried = (EARLY_PAUSE_VARIANTS[name][0], late)
        every = [
            *(flow_statistics(others, one) for one in tried),
            flow_statistics(usual, PAUSE_VARIANTS[name], heavy),
        ]
        usual_levels = format_levels(usual, heavy, (PAUSE_VARIANTS[name], DIBS))
        note = f"{format_levels(others, None, tried)}, {usual_levels}"
        yield build_measured(
            f"{HEAVY_QPS} qps, {name}, worst XOFF less dibs", "p99_qct", worst_tail_excess(every, dibs), note
        )


def worst_tail_excess(
    every: Sequence[Sequence[FlowStatistics]], dibs: Sequence[FlowStatistics]
) -> list[float]:
    """Returns the longest query tail of several settings minus that of DIBS, as jackknife pseudo-values."""
    longer = [lower_bounds(one, p99_qct) - exact_values(dibs, p99_qct) for one in every]
    return jackknife_values(lambda tails: float(np.max(tails)), np.array(longer).T)


def measure_detours_to_edges(runs: Runs) -> Measured:
    """Share of detours to other edge switches, at the aggregation switches of the receiver's pod."""
    fabric = Fabric.of_run(runs, runs.tables("ports", DIBS)[0])
    tables = zip(runs.tables("detour_steps", DIBS), runs.tables("flows", DIBS), strict=True)
    found = [share_of_detours_to_edges(fabric, steps, flows) for steps, flows in tables]
    case = f"{DEFAULT_QPS} qps, aggregation switches of the receiver's pod"
    return build_measured(case, "detours_to_other_edges", found)


def share_of_detours_to_edges(fabric: Fabric, steps: pa.Table, flows: pa.Table) -> float:
    """Returns the share of detours to other edge switches in one run, in %."""
    steps = steps.filter(pa.array(columns.column_to_numpy(steps, "reverse") == 0))
    where = detour_kinds(
        fabric, steps, destination_hosts(flows, columns.column_to_numpy(steps, "flow").astype(np.int64))
    )
    counts = np.bincount(where, minlength=len(DETOUR_KINDS))
    up, down = (int(counts[DETOUR_KINDS.index(name)]) for name in ("core", "edges"))
    return 100 * divide_or_nan(down, up + down)


def measure_section_6_deadlock(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures unfinished flows in a ring of switches, with PAUSE and with DIBS."""
    runs = sweeps["ring"]
    stuck = [count_endless_pauses(table) for table in runs.tables("pause_trace", "pause")]
    note = f"ports paused to the end, by seed: {', '.join(map(str, stuck))}"
    yield build_measured("ring, PAUSE", "unfinished_flows", runs.metric("unfinished_flows", "pause"), note)
    yield build_measured("ring, PAUSE", "drops", runs.metric("drops", "pause"))
    lost = runs.metric("drops", DIBS)
    note = f"{finite_mean(runs.metric('detours', DIBS)):.4g} detours and {finite_mean(lost):.3g} drops a run"
    yield build_measured("ring, dibs", "unfinished_flows", runs.metric("unfinished_flows", DIBS), note)


def count_endless_pauses(table: pa.Table) -> int:
    """Counts ports whose pause lasts to the end of the run, from `pause_trace`."""
    begin, end = (columns.column_to_numpy(table, name).astype(np.int64) for name in ("from_ps", "to_ps"))
    return int(((end == end.max(initial=0)) & (end - begin > ENDLESS_PAUSE_PS)).sum())


MEASURES: dict[str, Measure] = {
    "sec4d": measure_section_4,
    "sec6c": measure_section_6_ecmp,
    "sec6d": measure_section_6_transports,
    "sec7a": measure_section_7,
    "sec6a": measure_section_6,
    "sec6b": measure_section_6_deadlock,
}
