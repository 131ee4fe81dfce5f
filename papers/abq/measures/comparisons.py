"""Measures of ABQ's claims on variants (equal memory, ABQ changed, ABQ added to others) and routings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

import numpy as np
import pyarrow as pa

from overspill import Failed, columns
from overspill.papers.common import SeedCurve, build_measured, dropped_packets_by_port
from overspill.papers.spec import Measure, Measured, Runs, Sweeps

from .schemes import (
    ABQ,
    FRAME_KB,
    NAMES,
    OTHER_SCHEMES,
    START_PS,
    curve_of_flows,
    curve_of_queue,
    queue_lengths,
    read_flow_times,
)

METRICS: dict[str, Callable[[Runs, str], SeedCurve]] = {
    "mean_queue": lambda runs, one: curve_of_queue(runs, one, lambda queue: queue.mean),
    "drops": lambda runs, one: curve_of_queue(runs, one, lambda queue: queue.drops),
    "time_congested": lambda runs, one: curve_of_queue(runs, one, lambda queue: 1e-9 * queue.congested_ps),
    "goodput": lambda runs, one: curve_of_flows(runs, one, lambda times: times.goodput),
    "p50_fct": lambda runs, one: curve_of_flows(runs, one, lambda times: times.fct[50]),
    "p99_fct": lambda runs, one: curve_of_flows(runs, one, lambda times: times.fct[99]),
}
LABELS = NAMES | {
    "no_corrector": "no corrector",
    "ten_acks": "ten ACKs",
    "one_ack": "one ACK",
    "drop_tail_abq": "DropTail with ABQ",
    "red": "RED",
    "red_abq": "RED with ABQ",
}
RELEASE_VARIANTS = ("ten_acks", "one_ack")
OWN_HASHES, SYMMETRIC_HASHES = "own", "symmetric"
ROUTINGS = {OWN_HASHES: "ECMP, own hashes", SYMMETRIC_HASHES: "ECMP, symmetric"}
DELIVERED_FATE = 0
# Time in ps in which a frame of 84 B crosses the idle network: four links of 40 us, three of them at 1 Gb/s
# and one at 10 Gb/s.
MIN_TRANSIT_PS = 4 * 40_000_000 + 3 * 672_000 + 67_200
SPINE1_EXTRA_PS = 10_000_000  # ps that the path by spine1 takes longer
MIN_HELD_PS = 10_000_000  # ps; an ACK that takes longer by this was held


def paired_difference(runs: Runs, pair: tuple[str, str], metric: str, at: int | None = None) -> Measured:
    """Returns a metric of one variant minus that of another, by seed: mean over all points, or at one."""
    above, below = (
        curve.mean(axis=1) if at is None else curve[:, at]
        for curve in (METRICS[metric](runs, one) for one in pair)
    )
    names = [LABELS[one] for one in pair]
    case = f"{names[0]} less {names[1]}"
    if at is not None:
        [count] = runs.points[at].values()
        case += f", n = {count}"
    note = f"{names[0]} {np.mean(above):.4g}, {names[1]} {np.mean(below):.4g}"
    return build_measured(case, metric, above - below, note)


def measure_equal_memory(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures DropTail and ECN with the total memory of ABQ's two queues."""
    for one in OTHER_SCHEMES:
        yield paired_difference(sweeps["equal"], (one, ABQ), "mean_queue")
        yield paired_difference(sweeps["equal"], (one, ABQ), "drops")
        yield paired_difference(sweeps["equal"], (ABQ, one), "goodput")


def measure_parts_of_abq(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures ABQ without its corrector, and with releases of few ACKs."""
    runs = sweeps["alone"]
    for metric in ("mean_queue", "time_congested", "drops", "p99_fct"):
        yield paired_difference(runs, ("no_corrector", ABQ), metric)
    yield paired_difference(runs, (ABQ, "no_corrector"), "goodput")
    for one in RELEASE_VARIANTS:
        yield paired_difference(runs, (ABQ, one), "goodput")
        for metric in ("p50_fct", "p99_fct"):
            yield paired_difference(runs, (one, ABQ), metric, 0)


def measure_other_queues(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures tail drop with TCP, and RED, each without and with ABQ."""
    for one in ("drop_tail", "red"):
        held = f"{one}_abq"
        yield paired_difference(sweeps["beside"], (one, held), "mean_queue")
        yield paired_difference(sweeps["beside"], (one, held), "drops")
        yield paired_difference(sweeps["beside"], (held, one), "goodput")


def read_delays(packets: pa.Table, reverse: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns flow, emission and delay above the minimum in ps, for delivered packets of one direction."""
    kept = (columns.column_to_numpy(packets, "reverse") == int(reverse)) & (
        columns.column_to_numpy(packets, "fate") == DELIVERED_FATE
    )
    flow, emission, sent, end = (
        columns.column_to_numpy(packets, name)[kept] for name in ("flow", "emission", "sent_ps", "end_ps")
    )
    return flow, emission, end.astype(np.int64) - sent.astype(np.int64) - MIN_TRANSIT_PS


def find_paths(packets: pa.Table, reverse: bool) -> dict[int, bool]:
    """Maps each flow to true if its packets of one direction take spine1.

    The first packet opens the connection: it is short and meets no data, so that its time shows the path.
    """
    flow, emission, late = read_delays(packets, reverse)
    first = emission == 0
    return {
        int(one): bool(by > SPINE1_EXTRA_PS // 2) for one, by in zip(flow[first], late[first], strict=True)
    }


def count_wrongly_held(packets: pa.Table) -> int:
    """Counts flows with an ACK that was held at a congested port which the flow's data does not cross."""
    data, acks = find_paths(packets, reverse=False), find_paths(packets, reverse=True)
    if data.keys() != acks.keys():
        raise Failed(
            "packets: found a flow without its first packet in one direction; expected both directions"
        )
    flow, emission, late = read_delays(packets, reverse=True)
    extra = np.array([SPINE1_EXTRA_PS * acks[int(one)] for one in flow])
    held = np.unique(flow[(emission > 0) & (late - extra > MIN_HELD_PS)])
    return sum(data[int(one)] != acks[int(one)] for one in held)


def mean_queue_kb(tables: Mapping[str, pa.Table], leaf: int, spines: Sequence[int]) -> float:
    """Mean queue in KB of a leaf's ports to the spines, over time from the start to the last byte."""
    ports, last = tables["ports"], read_flow_times(tables["flows"]).last_byte_ps
    places = zip(*(columns.column_to_numpy(ports, name) for name in ("node", "port", "peer")), strict=True)
    found = []
    for node, port, peer in places:
        if node == leaf and peer in spines:
            packets, time = queue_lengths(tables["queue_hist"], (int(node), int(port)), 0)
            found.append(FRAME_KB * float((packets * time).sum()) / (last - START_PS))
    return float(np.mean(found))


@cache
def read_metrics(runs: Runs, variant: str) -> Mapping[str, np.ndarray]:
    """Returns the metrics of a variant, seeds by points."""
    leaf, spines = runs.node("leaf0"), (runs.node("spine0"), runs.node("spine1"))
    names = ("packets", "ports", "queue_hist", "flows")
    parts: dict[str, Callable[[Mapping[str, pa.Table]], float]] = {
        "flows_held_for_other_data": lambda tables: count_wrongly_held(tables["packets"]),
        "mean_queue": lambda tables: mean_queue_kb(tables, leaf, spines),
        "drops": lambda tables: float(dropped_packets_by_port(tables["ports"]).sum()),
        "p50_fct": lambda tables: read_flow_times(tables["flows"]).fct[50],
        "p99_fct": lambda tables: read_flow_times(tables["flows"]).fct[99],
    }
    found: dict[str, list[list[float]]] = {name: [] for name in parts}
    for point in runs.points:
        every = list(zip(*(runs.tables(name, variant, point) for name in names), strict=True))
        for metric, part in parts.items():
            found[metric].append([part(dict(zip(names, tables, strict=True))) for tables in every])
    return {metric: np.array(values).T for metric, values in found.items()}


def measure_routings(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures flows whose ACKs are held for other flows' data, and differences between two routings."""
    found = {one: read_metrics(sweeps["routes"], one) for one in ROUTINGS}
    for one, name in ROUTINGS.items():
        metric = "flows_held_for_other_data"
        yield build_measured(name, metric, found[one][metric].sum(axis=1))
    for metric in ("mean_queue", "drops", "p50_fct", "p99_fct"):
        own, symmetric = (found[one][metric].mean(axis=1) for one in ROUTINGS)
        note = f"own hashes {own.mean():.4g}, symmetric {symmetric.mean():.4g}"
        yield build_measured("own hashes less symmetric", metric, own - symmetric, note)


MEASURES: dict[str, Measure] = {
    "claim-equal": measure_equal_memory,
    "claim-alone": measure_parts_of_abq,
    "claim-beside": measure_other_queues,
    "claim-routes": measure_routings,
}
