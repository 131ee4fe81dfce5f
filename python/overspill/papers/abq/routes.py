"""Claim on asymmetric routes: ACKs that wait for data of another port, and what that does to queues."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

import numpy as np
import pyarrow as pa

from overspill import Failed, columns
from overspill.papers.abq.schemes import FRAME, START, Sweeps, lengths, times
from overspill.papers.common import dropped, measured
from overspill.papers.spec import Figure, Measured, Runs

OWN, SYMMETRIC = "own", "symmetric"
NAMES = {OWN: "ECMP, own hashes", SYMMETRIC: "ECMP, symmetric"}
DELIVERED = 0
# ps of a frame of 84 B on the wire, without load: four links of 40 us, three of 1 Gb/s and one of 10 Gb/s.
FASTEST = 4 * 40_000_000 + 3 * 672_000 + 67_200
LONGER = 10_000_000  # by spine1
LATE = 10_000_000  # ps; ACKs that take longer by that were held


def trips(packets: pa.Table, reverse: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Flow, emission and time above the fastest path, ps, of the delivered packets of one direction."""
    kept = (columns.numbers(packets, "reverse") == int(reverse)) & (
        columns.numbers(packets, "fate") == DELIVERED
    )
    flow, emission, sent, end = (
        columns.numbers(packets, name)[kept] for name in ("flow", "emission", "sent_ps", "end_ps")
    )
    return flow, emission, end.astype(np.int64) - sent.astype(np.int64) - FASTEST


def find_paths(packets: pa.Table, reverse: bool) -> dict[int, bool]:
    """Maps each flow to true if its packets of one direction go by spine1.

    The first packet opens the connection: it is short, and meets no data.
    """
    flow, emission, late = trips(packets, reverse)
    first = emission == 0
    return {int(one): bool(by > LONGER // 2) for one, by in zip(flow[first], late[first], strict=True)}


def count_wrongly_held(packets: pa.Table) -> int:
    """Counts flows of which an ACK waited at the congested port of the other path than that of their data."""
    data, acks = find_paths(packets, reverse=False), find_paths(packets, reverse=True)
    if data.keys() != acks.keys():
        raise Failed("packets: found flows without the first packet of both directions; expected both")
    flow, emission, late = trips(packets, reverse=True)
    extra = np.array([LONGER * acks[int(one)] for one in flow])
    held = np.unique(flow[(emission > 0) & (late - extra > LATE)])
    return sum(data[int(one)] != acks[int(one)] for one in held)


def mean_length(tables: Mapping[str, pa.Table], leaf: int, spines: Sequence[int]) -> float:
    """Mean queue of the ports from a leaf to the spines, over time from the start to the last byte; KB."""
    ports, last = tables["ports"], times(tables["flows"]).last
    places = zip(*(columns.numbers(ports, name) for name in ("node", "port", "peer")), strict=True)
    found = []
    for node, port, peer in places:
        if node == leaf and peer in spines:
            packets, time = lengths(tables["queue_hist"], (int(node), int(port)), 0)
            found.append(FRAME * float((packets * time).sum()) / (last - START))
    return float(np.mean(found))


@cache
def read(runs: Runs, variant: str) -> Mapping[str, np.ndarray]:
    """Metrics of a variant, seeds by points."""
    leaf, spines = runs.node("leaf0"), (runs.node("spine0"), runs.node("spine1"))
    names = ("packets", "ports", "queue_hist", "flows")
    parts: dict[str, Callable[[Mapping[str, pa.Table]], float]] = {
        "flows_held_for_other_data": lambda tables: count_wrongly_held(tables["packets"]),
        "mean_queue": lambda tables: mean_length(tables, leaf, spines),
        "drops": lambda tables: float(dropped(tables["ports"]).sum()),
        "p50_fct": lambda tables: times(tables["flows"]).fct[50],
        "p99_fct": lambda tables: times(tables["flows"]).fct[99],
    }
    found: dict[str, list[list[float]]] = {name: [] for name in parts}
    for point in runs.points:
        every = list(zip(*(runs.tables(name, variant, point) for name in names), strict=True))
        for metric, part in parts.items():
            found[metric].append([part(dict(zip(names, tables, strict=True))) for tables in every])
    return {metric: np.array(values).T for metric, values in found.items()}


def measure(sweeps: Sweeps) -> Iterator[Measured]:
    """Flows that are held for other data, and the two routings beside each other."""
    found = {one: read(sweeps["routes"], one) for one in NAMES}
    for one, name in NAMES.items():
        metric = "flows_held_for_other_data"
        yield measured(name, metric, found[one][metric].sum(axis=1))
    for metric in ("mean_queue", "drops", "p50_fct", "p99_fct"):
        own, symmetric = (found[one][metric].mean(axis=1) for one in NAMES)
        note = f"own hashes {own.mean():.4g}, symmetric {symmetric.mean():.4g}"
        yield measured("own hashes less symmetric", metric, own - symmetric, note)


FIGURES: dict[str, Figure] = {"claim-routes": Figure(measure)}
