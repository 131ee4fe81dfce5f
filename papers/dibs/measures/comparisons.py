"""Measures of sections 4, 6 and 7: CIOQ, ECMP by packet, transports, topologies, Ethernet flow control."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from overspill import Key, columns
from overspill.papers.common import jackknife, measured, quotient, quotients
from overspill.papers.spec import Measure, Measured, Point, Runs, Sweeps

from .detour_paths import KINDS, kinds, receivers
from .fabric import Fabric
from .loads import QPS
from .mixed import (
    DCTCP,
    DIBS,
    WHY,
    Of,
    Times,
    at,
    bounds,
    exact,
    flows_of,
    least,
    less,
    mean,
    p99_fct,
    p99_qct,
)

DEFAULT, HEAVY = 300, 2000  # queries per second
RATES = (DEFAULT, HEAVY)
NOFR, NEWRENO = "dctcp_nofr", "dibs_newreno"
Pair = tuple[str, str]  # variants without and with detours, otherwise equal
CIOQ: dict[str, Pair] = {
    "CIOQ, half at inputs": ("cioq_dctcp", "cioq_dibs"),
    "CIOQ, 100 packets at both ends": ("cioq_twice_dctcp", "cioq_twice_dibs"),
}
SPRAYED: dict[str, Pair] = {"": (DCTCP, "spray"), ", no fast retransmit": (NOFR, "spray_nofr")}
TRANSPORTS: dict[str, Pair] = {"TCP with ECN": ("ecn", "ecn_dibs"), "TCP under QCN": ("qcn", "qcn_dibs")}
DCQCN: tuple[str, Pair] = ("RoCE with DCQCN", ("dcqcn", "dcqcn_dibs"))
TOPOLOGIES = {"HyperX": "hyperx", "Jellyfish": "jellyfish"}
PAUSING = {"PAUSE": "pause", "PAUSE in a pool": "pool_pause", "PFC in a pool": "pool_pfc"}
# Variants that pause too late, or for too short a time.
LOSING = {
    "PAUSE, XOFF 60 KB": "pause_late",
    "PAUSE in a pool, XOFF 150 KB": "pool_pause_late",
    "PAUSE, one frame long": "pause_short",
}
# Variant that pauses too early and its case, and variant that pauses too late, by the usual case.
EARLY = {
    "PAUSE": ("pause_early", "XOFF 3 KB less 15 KB"),
    "PAUSE in a pool": ("pool_pause_early", "XOFF 15 KB less 120 KB"),
}
LATE = {"PAUSE": "pause_late", "PAUSE in a pool": "pool_pause_late"}
FOREVER = 10**12  # ps, longer than a refreshed pause of a link that resumes


def section_4(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures DIBS in CIOQ switches, relative to output-queued ones and to tail drop."""
    usual, runs = sweeps["beside"], sweeps["cioq"]
    for name, pair in CIOQ.items():
        for rate in RATES:
            case, point = f"{rate} qps, {name}", at(runs, QPS, rate)
            if rate == DEFAULT:
                yield measured(case, "detours", runs.metric("detours", pair[1], point))
            yield losses(case, runs, point, pair)
            inside, outside = flows_of(runs, pair[1], point), flows_of(usual, DIBS, at(usual, QPS, rate))
            ratio = quotients(exact(inside, p99_qct), exact(outside, p99_qct))
            level = f"output-queued {levels(usual, at(usual, QPS, rate), (DIBS,))}"
            yield measured(case, "p99_qct_dibs_by_output_queued", ratio, level)
            yield gain(case, runs, point, pair)


def section_6_ecmp(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures ECMP by packet relative to ECMP by flow and to DIBS."""
    runs = sweeps["beside"]
    for rate in RATES:
        point = at(runs, QPS, rate)
        dibs = flows_of(runs, DIBS, point)
        for hosts, (by_flow, by_packet) in SPRAYED.items():
            sprayed = flows_of(runs, by_packet, point)
            ratio = quotients(exact(sprayed, p99_qct), exact(flows_of(runs, by_flow, point), p99_qct))
            note = levels(runs, point, (by_flow, by_packet))
            yield measured(f"{rate} qps, ECMP by packet over ECMP by flow{hosts}", "p99_qct", ratio, note)
            longer = less(sprayed, dibs, p99_qct)
            note = levels(runs, point, (by_packet, DIBS))
            yield measured(f"{rate} qps, ECMP by packet less dibs{hosts}", "p99_qct", longer, note)
        late = {name: 100 * runs.metric("reordered_share", name, point) for name in (DIBS, DCTCP, "spray")}
        note = ", ".join(f"{name} {mean(values):.3g} %" for name, values in late.items())
        found = late[DIBS] - late[DCTCP]
        yield measured(f"{rate} qps, dibs less ECMP by flow", "reordered_packets", found, note)


def section_6_transports(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures DIBS with other transports that do not wait for losses."""
    runs, default = sweeps["transports"], sweeps["transports_default"]
    waits = default.metric("queue_all_mean", NEWRENO)
    for name, pair in TRANSPORTS.items():
        for rate in RATES:
            point = at(runs, QPS, rate)
            yield from beside_tail_drop(f"{rate} qps, {name}", runs, point, pair)
            if rate == DEFAULT:
                yield shorter_queues(name, waits, runs.metric("queue_all_mean", pair[1], point))
    name, pair = DCQCN
    yield from beside_tail_drop(f"{DEFAULT} qps, {name}", default, default.points[0], pair)
    yield shorter_queues(name, waits, default.metric("queue_all_mean", pair[1]))


def shorter_queues(name: str, waits: np.ndarray, other: np.ndarray) -> Measured:
    """Returns the mean queue with NewReno minus that with another transport, both with detours."""
    note = f"NewReno {mean(waits):.3g}, {name} {mean(other):.3g}"
    return measured(f"{DEFAULT} qps, NewReno less {name}", "mean_queue", waits - other, note)


def section_7(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures DIBS in two other topologies."""
    for name, sweep in TOPOLOGIES.items():
        runs = sweeps[sweep]
        for rate in RATES:
            yield from beside_tail_drop(f"{rate} qps, {name}", runs, at(runs, QPS, rate), (DCTCP, DIBS))


def beside_tail_drop(case: str, runs: Runs, point: Point, pair: Pair) -> Iterator[Measured]:
    """Yields query tail, tail of short background flows, and drops, with detours relative to tail drop."""
    yield gain(case, runs, point, pair)
    without, with_detours = (flows_of(runs, name, point) for name in pair)
    rise = -less(without, with_detours, p99_fct)
    yield measured(case, "rise_of_p99_fct", rise, levels(runs, point, pair, p99_fct))
    yield losses(case, runs, point, pair)


def gain(case: str, runs: Runs, point: Point, pair: Pair) -> Measured:
    """Returns the reduction of the query tail by detours."""
    without, with_detours = (flows_of(runs, name, point) for name in pair)
    note = levels(runs, point, pair)
    return measured(case, "p99_qct_tail_drop_less_dibs", less(without, with_detours, p99_qct), note)


def losses(case: str, runs: Runs, point: Point, pair: Pair) -> Measured:
    """Returns the packets dropped with detours; at the heavy load, how many fewer than without them."""
    without, with_detours = (runs.metric("drops", name, point) for name in pair)
    note = f"tail drop {mean(without):.4g}, dibs {mean(with_detours):.4g} a run"
    note += reasons(runs, point, pair[1])
    if point.get(QPS) == str(HEAVY):
        return measured(case, "drops_tail_drop_less_dibs", without - with_detours, note)
    return measured(case, "drops_dibs", with_detours, note)


def reasons(runs: Runs, point: Point, variant: str) -> str:
    """Formats the causes of a variant's drops in %; empty without drops."""
    every = runs.metric("drops", variant, point).sum()
    counts = {
        name: np.nansum(runs.metric(Key("drops", reason=name), variant, point))
        for name in ((*WHY, "input_full") if every else ())
    }
    parts = [f"{name} {100 * count / every:.3g} %" for name, count in counts.items() if count]
    return f": {', '.join(parts)}" if parts else ""


def levels(runs: Runs, point: Point | None, variants: Iterable[str], of: Of = p99_qct) -> str:
    """Formats means of a percentile by variant in ms."""
    found = []
    for name in variants:
        by_seed = flows_of(runs, name, point)
        number = bounds(by_seed, of)
        at_least = f" (at least, in {number} of {len(by_seed)} runs)" if number else ""
        found.append(f"{name} {mean(least(by_seed, of)):.3g} ms{at_least}")
    return ", ".join(found)


def section_6(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures drops, thresholds and tails with Ethernet flow control, and which neighbours DIBS uses."""
    runs = sweeps["beside"]
    yield from lossless(runs)
    heavy = at(runs, QPS, HEAVY)
    lost = {name: runs.metric("drops", name, heavy) for name in (DCTCP, DIBS)}
    note = f"dctcp {mean(lost[DCTCP]):.4g}, dibs {mean(lost[DIBS]):.4g} a run{reasons(runs, heavy, DIBS)}"
    yield measured(f"{HEAVY} qps, dctcp less dibs", "drops", lost[DCTCP] - lost[DIBS], note)
    yield from thresholds(runs, sweeps["thresholds"])
    yield downstream(sweeps["every_detour"])
    for rate in RATES:
        point = at(runs, QPS, rate)
        for name, variant in PAUSING.items():
            pauses, dibs = (flows_of(runs, one, point) for one in (variant, DIBS))
            for metric, of in (("p99_qct", p99_qct), ("p99_fct", p99_fct)):
                note = levels(runs, point, (variant, DIBS, "pool", DCTCP), of)
                yield measured(f"{rate} qps, {name} less dibs", metric, less(pauses, dibs, of), note)


def lossless(runs: Runs) -> Iterator[Measured]:
    """Yields drops with flow control at both rates together, and the number of pauses."""
    for name, variant in PAUSING.items():
        lost = np.sum([runs.metric("drops", variant, point) for point in runs.points], axis=0)
        often = [mean(runs.metric("pauses", variant, at(runs, QPS, rate))) for rate in RATES]
        note = f"{often[0]:.4g} pauses a run at {DEFAULT} qps, {often[1]:.4g} at {HEAVY}"
        yield measured(f"both rates, {name}", "drops", lost, note)


def thresholds(usual: Runs, others: Runs) -> Iterator[Measured]:
    """Yields drops and query tails with thresholds that are too late, too early, or the worst of all."""
    heavy = at(usual, QPS, HEAVY)
    for case, variant in LOSING.items():
        note = levels(others, None, (variant,))
        yield measured(f"{HEAVY} qps, {case}", "drops", others.metric("drops", variant), note)
    for name, (variant, case) in EARLY.items():
        early, tuned = flows_of(others, variant), flows_of(usual, PAUSING[name], heavy)
        note = f"{levels(others, None, (variant,))}, {levels(usual, heavy, (PAUSING[name],))}"
        yield measured(f"{HEAVY} qps, {name}, {case}", "p99_qct", less(early, tuned, p99_qct), note)
    dibs = flows_of(usual, DIBS, heavy)
    for name, late in LATE.items():
        tried = (EARLY[name][0], late)
        every = [*(flows_of(others, one) for one in tried), flows_of(usual, PAUSING[name], heavy)]
        note = f"{levels(others, None, tried)}, {levels(usual, heavy, (PAUSING[name], DIBS))}"
        yield measured(f"{HEAVY} qps, {name}, worst XOFF less dibs", "p99_qct", worst(every, dibs), note)


def worst(every: Sequence[Sequence[Times]], dibs: Sequence[Times]) -> list[float]:
    """Returns the longest query tail of several settings minus that of DIBS, as jackknife pseudo-values."""
    longer = [least(one, p99_qct) - exact(dibs, p99_qct) for one in every]
    return jackknife(lambda tails: float(np.max(tails)), np.array(longer).T)


def downstream(runs: Runs) -> Measured:
    """Share of detours to other edge switches, at the aggregation switches of the receiver's pod."""
    fabric = Fabric.of_run(runs, runs.tables("ports", DIBS)[0])
    tables = zip(runs.tables("detour_steps", DIBS), runs.tables("flows", DIBS), strict=True)
    found = [share_to_edges(fabric, steps, flows) for steps, flows in tables]
    case = f"{DEFAULT} qps, aggregation switches of the receiver's pod"
    return measured(case, "detours_to_other_edges", found)


def share_to_edges(fabric: Fabric, steps: pa.Table, flows: pa.Table) -> float:
    """Returns the share of `downstream` in one run, in %."""
    steps = steps.filter(pa.array(columns.numbers(steps, "reverse") == 0))
    where = kinds(fabric, steps, receivers(flows, columns.numbers(steps, "flow").astype(np.int64)))
    counts = np.bincount(where, minlength=len(KINDS))
    up, down = (int(counts[KINDS.index(name)]) for name in ("core", "edges"))
    return 100 * quotient(down, up + down)


def section_6_deadlock(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures unfinished flows in a ring of switches, with PAUSE and with DIBS."""
    runs = sweeps["ring"]
    stuck = [paused_to_the_end(table) for table in runs.tables("pause_trace", "pause")]
    note = f"ports paused to the end, by seed: {', '.join(map(str, stuck))}"
    yield measured("ring, PAUSE", "unfinished_flows", runs.metric("unfinished_flows", "pause"), note)
    yield measured("ring, PAUSE", "drops", runs.metric("drops", "pause"))
    lost = runs.metric("drops", DIBS)
    note = f"{mean(runs.metric('detours', DIBS)):.4g} detours and {mean(lost):.3g} drops a run"
    yield measured("ring, dibs", "unfinished_flows", runs.metric("unfinished_flows", DIBS), note)


def paused_to_the_end(table: pa.Table) -> int:
    """Counts ports whose pause lasts to the end of the run, from `pause_trace`."""
    begin, end = (columns.numbers(table, name).astype(np.int64) for name in ("from_ps", "to_ps"))
    return int(((end == end.max(initial=0)) & (end - begin > FOREVER)).sum())


MEASURES: dict[str, Measure] = {
    "sec4d": section_4,
    "sec6c": section_6_ecmp,
    "sec6d": section_6_transports,
    "sec7a": section_7,
    "sec6a": section_6,
    "sec6b": section_6_deadlock,
}
