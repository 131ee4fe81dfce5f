"""PABO beside DIBS, PAUSE and PFC: packets, losses by threshold, and flows that take no part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.pabo import fat_tree, served
from overspill.papers.pabo.common import LOADS, PACKETS, load, lossy, measured
from overspill.papers.pabo.fat_tree import PABO, SCENARIOS, Of, Sweeps
from overspill.papers.spec import Figure, Measured, Point, Runs

DIBS, PAUSE, PFC = "dibs", "pause", "pfc"
BESIDE = {name: f"{name}_beside" for name in SCENARIOS}
# Workloads of `others.toml`, by their numbers in `flows`, and the end of its runs.
SHARING, OWN_CLASS, ELSEWHERE = 2, 3, 4
END_PS = 3_000_000_000_000
XOFF = "variants.pause.switch.pause.xoff"
THRESHOLDS = ("1/10", "1/4", "3/10", "1/2", "3/4")  # of the memory of a port

OfTable = Callable[[pa.Table], float]


# DIBS.


def dibs(sweeps: Sweeps) -> Iterator[Measured]:
    """DIBS less PABO: order, delay and detours in every load and scenario, and flows on other paths."""
    raw = sweeps["served"]
    for name in LOADS:
        yield from packet_by_packet(name, raw, load(raw, name))
    for name in SCENARIOS:
        runs = sweeps[BESIDE[name]]
        order = runs.metric("reorder_entropy", DIBS) - runs.metric("reorder_entropy", PABO)
        yield measured(name, "entropy_DIBS_less_PABO", order, lossy(runs, DIBS, runs.points))
        yield from delay_and_detours(name, runs, None)
    others = sweeps["others"]
    values = less(others, partial(completion, workload=ELSEWHERE), (DIBS, PABO), "flows")
    yield measured("mtom, other paths", "fct_DIBS_less_PABO", values, means(others, ELSEWHERE, (PABO, DIBS)))


def packet_by_packet(name: str, runs: Runs, point: Point) -> Iterator[Measured]:
    """The same of a load of section V, where no transport sees the order of packets."""
    order = less(runs, lambda table: served.entropy(served.packets(table)), (DIBS, PABO), "packets", point)
    yield measured(name, "entropy_DIBS_less_PABO", order, lossy(runs, DIBS, [point]))
    yield from delay_and_detours(name, runs, point)


def delay_and_detours(name: str, runs: Runs, point: Point | None) -> Iterator[Measured]:
    """Delay of packets, and how often they are detoured by DIBS and bounced by PABO."""
    delay = less(runs, fat_tree.delay, (DIBS, PABO), "packet_hist", point)
    yield measured(name, "delay_DIBS_less_PABO", delay)
    tables = {one: runs.tables("packet_hist", one, point) for one in (DIBS, PABO)}
    told = []
    for metric, of in (
        ("detours_less_bounces_per_packet", mean_of),
        ("most_detours_less_most_bounces", most_of),
    ):
        detours = [of(table, Of.DETOURS) for table in tables[DIBS]]
        bounces = [of(table, Of.BOUNCES) for table in tables[PABO]]
        told.append(f"{np.mean(detours):.3g} detours and {np.mean(bounces):.3g} bounces")
        note = f"a packet has {', at most '.join(told)}" if len(told) > 1 else ""
        yield measured(name, metric, np.subtract(detours, bounces), note)


def mean_of(table: pa.Table, metric: Of) -> float:
    """Mean over delivered data packets."""
    return fat_tree.histogram(table, metric).mean


def most_of(table: pa.Table, metric: Of) -> float:
    """Most of any delivered data packet."""
    found = fat_tree.histogram(table, metric)
    return float(found.low[found.count > 0].max(initial=0))


def less(
    runs: Runs, of: OfTable, pair: tuple[str, str], table: str, point: Point | None = None
) -> np.ndarray:
    """A statistic of a table in one variant less that in another, by seed."""
    one, other = ([of(each) for each in runs.tables(table, variant, point)] for variant in pair)
    return np.subtract(one, other)


# Flows of hosts that take no part.


def completion(table: pa.Table, workload: int) -> float:
    """Mean completion time of a workload's flows, us; one that hangs lasts until the end of the run."""
    chosen = columns.numbers(table, "traffic") == workload
    start = columns.numbers(table, "start_ps")[chosen].astype(np.float64)
    end = np.minimum(columns.numbers(table, "end_ps")[chosen].astype(np.float64), END_PS)
    return float((end - start).mean() / 1e6)


def means(runs: Runs, workload: int, variants: Sequence[str]) -> str:
    """A note on the mean completion times, and on flows that hang."""
    told = []
    for variant in variants:
        tables = runs.tables("flows", variant)
        mean = np.mean([completion(table, workload) for table in tables])
        hung = sum(
            int(
                (
                    columns.numbers(table, "end_ps")[columns.numbers(table, "traffic") == workload] > END_PS
                ).sum()
            )
            for table in tables
        )
        told.append(f"{variant} {mean:.0f} us{f', {hung} flows hang' if hung else ''}")
    return "; ".join(told)


# PAUSE and PFC.


def pause(sweeps: Sweeps) -> Iterator[Measured]:
    """Completion of flows that avoid the congested ports, and thresholds of PAUSE that lose nothing."""
    runs = sweeps["others"]
    names = {PAUSE: "PAUSE", PFC: "PFC", PABO: "PABO"}
    for case, workload, pairs in (
        ("mtom, same class", SHARING, ((PAUSE, PABO), (PFC, PABO))),
        ("mtom, own class", OWN_CLASS, ((PAUSE, PABO), (PAUSE, PFC))),
    ):
        told = means(runs, workload, (PABO, PAUSE, PFC))
        for one, other in pairs:
            values = less(runs, partial(completion, workload=workload), (one, other), "flows")
            yield measured(case, f"fct_{names[one]}_less_{names[other]}", values, told)
            told = ""
    losing = [set[str]() for _ in THRESHOLDS]
    for name, tried in thresholds(sweeps):
        for at, lost in enumerate(tried):
            losing[at] |= {name} if lost else set()
    told = "; ".join(
        f"XOFF at {share} of the memory loses {'in ' + ', '.join(sorted(names)) if names else 'nothing'}"
        for share, names in zip(THRESHOLDS, losing, strict=True)
    )
    yield measured("all loads", "thresholds_without_loss", [sum(not one for one in losing)], told)


def thresholds(sweeps: Sweeps) -> Iterator[tuple[str, list[float]]]:
    """Each load and scenario, and the packets lost over all seeds, by threshold."""
    raw = sweeps["raw_xoff"]
    for name, packets in LOADS.items():
        yield name, losses(raw, [one for one in raw.points if int(one[PACKETS]) == packets])
    for name in SCENARIOS:
        runs = sweeps[f"{name}_xoff"]
        yield name, losses(runs, runs.points)


def losses(runs: Runs, points: Sequence[Point]) -> list[float]:
    """Packets lost over all seeds, by threshold, the lowest first."""
    ordered = sorted(points, key=lambda point: float(point[XOFF].removesuffix("KB")))
    return [float(runs.metric("drops", PAUSE, point).sum()) for point in ordered]


FIGURES: dict[str, Figure] = {"claim-dibs": Figure(dibs), "claim-pause": Figure(pause)}
