"""Sections 4, 6 and 7: CIOQ switches, ECMP by packet, other transports, HyperX and Jellyfish."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from overspill import Key
from overspill.papers.common import measured, quotients
from overspill.papers.dibs.compare import WHY, at, less, mean
from overspill.papers.dibs.loads import QPS
from overspill.papers.dibs.mixed import (
    DCTCP,
    DIBS,
    Of,
    Sweeps,
    bounds,
    exact,
    flows_of,
    least,
    p99_fct,
    p99_qct,
)
from overspill.papers.spec import Figure, Measured, Point, Runs

DEFAULT, HEAVY = 300, 2000  # queries a second
RATES = (DEFAULT, HEAVY)
NOFR, NEWRENO = "dctcp_nofr", "dibs_newreno"
Pair = tuple[str, str]  # variants without and with detours, alike in all else
CIOQ: dict[str, Pair] = {
    "CIOQ, half at inputs": ("cioq_dctcp", "cioq_dibs"),
    "CIOQ, 100 packets at both ends": ("cioq_twice_dctcp", "cioq_twice_dibs"),
}
SPRAYED: dict[str, Pair] = {"": (DCTCP, "spray"), ", no fast retransmit": (NOFR, "spray_nofr")}
TRANSPORTS: dict[str, Pair] = {"TCP with ECN": ("ecn", "ecn_dibs"), "TCP under QCN": ("qcn", "qcn_dibs")}
DCQCN: tuple[str, Pair] = ("RoCE with DCQCN", ("dcqcn", "dcqcn_dibs"))
TOPOLOGIES = {"HyperX": "hyperx", "Jellyfish": "jellyfish"}


def section_4(sweeps: Sweeps) -> Iterator[Measured]:
    """DIBS in CIOQ switches, beside output-queued ones and beside tail drop."""
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
    """ECMP by packet beside ECMP by flow, and beside DIBS."""
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
    """DIBS with other transports that do not wait for losses."""
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
    """Mean queue with NewReno less that with another transport, both with detours."""
    note = f"NewReno {mean(waits):.3g}, {name} {mean(other):.3g}"
    return measured(f"{DEFAULT} qps, NewReno less {name}", "mean_queue", waits - other, note)


def section_7(sweeps: Sweeps) -> Iterator[Measured]:
    """DIBS in two other topologies."""
    for name, sweep in TOPOLOGIES.items():
        runs = sweeps[sweep]
        for rate in RATES:
            yield from beside_tail_drop(f"{rate} qps, {name}", runs, at(runs, QPS, rate), (DCTCP, DIBS))


def beside_tail_drop(case: str, runs: Runs, point: Point, pair: Pair) -> Iterator[Measured]:
    """Tail of queries, tail of short background flows and losses, with detours beside without."""
    yield gain(case, runs, point, pair)
    without, with_detours = (flows_of(runs, name, point) for name in pair)
    rise = -less(without, with_detours, p99_fct)
    yield measured(case, "rise_of_p99_fct", rise, levels(runs, point, pair, p99_fct))
    yield losses(case, runs, point, pair)


def gain(case: str, runs: Runs, point: Point, pair: Pair) -> Measured:
    """Reduction of the query tail by detours."""
    without, with_detours = (flows_of(runs, name, point) for name in pair)
    note = levels(runs, point, pair)
    return measured(case, "p99_qct_tail_drop_less_dibs", less(without, with_detours, p99_qct), note)


def losses(case: str, runs: Runs, point: Point, pair: Pair) -> Measured:
    """Packets lost with detours; at the heavy load, how many fewer than without them."""
    without, with_detours = (runs.metric("drops", name, point) for name in pair)
    note = f"tail drop {mean(without):.4g}, dibs {mean(with_detours):.4g} a run"
    note += reasons(runs, point, pair[1])
    if point.get(QPS) == str(HEAVY):
        return measured(case, "drops_tail_drop_less_dibs", without - with_detours, note)
    return measured(case, "drops_dibs", with_detours, note)


def reasons(runs: Runs, point: Point, variant: str) -> str:
    """Causes of a variant's losses, in % of them; empty without losses."""
    every = runs.metric("drops", variant, point).sum()
    counts = {
        name: np.nansum(runs.metric(Key("drops", reason=name), variant, point))
        for name in ((*WHY, "input_full") if every else ())
    }
    parts = [f"{name} {100 * count / every:.3g} %" for name, count in counts.items() if count]
    return f": {', '.join(parts)}" if parts else ""


def levels(runs: Runs, point: Point | None, variants: Iterable[str], of: Of = p99_qct) -> str:
    """Means of a percentile by variant, in ms."""
    found = []
    for name in variants:
        by_seed = flows_of(runs, name, point)
        number = bounds(by_seed, of)
        at_least = f" (at least, in {number} of {len(by_seed)} runs)" if number else ""
        found.append(f"{name} {mean(least(by_seed, of)):.3g} ms{at_least}")
    return ", ".join(found)


FIGURES: dict[str, Figure] = {
    "sec4d": Figure(section_4),
    "sec6c": Figure(section_6_ecmp),
    "sec6d": Figure(section_6_transports),
    "sec7a": Figure(section_7),
}
