"""Measures of claims without a figure: bounced packets, DIBS, PAUSE and PFC against PABO, and sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.common import lossy, measured, names, quotient
from overspill.papers.spec import Measure, Measured, Point, Runs, Sweeps

from . import fat_tree
from .fat_tree import PABO, SCENARIOS, Of
from .raw_packets import LOADS, PACKETS, load

IN_TURN, ONE_QUEUE = "in_turn", "one_queue"
DELIVERED = 0  # `fate` of the table `packets`
DIBS, PAUSE, PFC = "dibs", "pause", "pfc"
BESIDE = {name: f"{name}_beside" for name in SCENARIOS}
# Indices of the workloads of `others.toml` in `flows`, and the end of its runs.
SHARING, OWN_CLASS, ELSEWHERE = 2, 3, 4
END_PS = 3_000_000_000_000
XOFF = "variants.pause.switch.pause.xoff"
THRESHOLDS = ("1/10", "1/4", "3/10", "1/2", "3/4")  # shares of a port's buffer
OfTable = Callable[[pa.Table], float]
WINDOW = "transport.receive_window"
SILENT, INFORMED = "silent", "informed"
# Ports of `chain_tree`: the first port of an edge switch leads to its host, the second to the root.
EDGES = {"H1": "s0", "H2": "s1", "H3": "s2"}
TO_HOST, TO_ROOT = 0, 1


@dataclass(frozen=True)
class Packets:
    """Delivered packets of one run of raw senders, each identified by its flow and its index there."""

    flow: np.ndarray
    emission: np.ndarray
    bounces: np.ndarray
    end: np.ndarray  # ps
    delay: np.ndarray  # us

    @property
    def key(self) -> np.ndarray:
        """Number of each packet, the same in runs of other variants."""
        return np.asarray(self.flow.astype(np.int64) << 32 | self.emission.astype(np.int64))


def packets(table: pa.Table) -> Packets:
    """Returns the delivered packets of the table `packets`."""
    kept = (columns.numbers(table, "fate") == DELIVERED) & (columns.numbers(table, "reverse") == 0)
    flow, emission, bounces, sent, end = (
        columns.numbers(table, name)[kept] for name in ("flow", "emission", "bounces", "sent_ps", "end_ps")
    )
    return Packets(flow, emission, bounces, end, (end - sent) / 1e6)


def bounced_delay(found: Packets) -> float:
    """Mean delay of bounced packets in us; NaN without any."""
    chosen = found.delay[found.bounces > 0]
    return float(chosen.mean()) if len(chosen) else float("nan")


def less_in_one_queue(bouncing: Packets, queued: Packets) -> float:
    """Mean delay in us of bounced packets minus that of the same packets in a run with unlimited queues."""
    mine = bouncing.bounces > 0
    _, here, there = np.intersect1d(bouncing.key[mine], queued.key, return_indices=True)
    differences = bouncing.delay[mine][here] - queued.delay[there]
    return float(differences.mean()) if len(differences) else float("nan")


def entropy(found: Packets) -> float:
    """Reorder entropy (PABO eq. 7) of all flows together, by ranks among the delivered packets."""
    places = [ranks(found.end[one]) - ranks(found.emission[one]) for one in by_flow(found)]
    _, counts = np.unique(np.concatenate(places), return_counts=True)
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum()) + 0.0


def by_flow(found: Packets) -> list[np.ndarray]:
    """Selects the packets of each flow."""
    return [found.flow == one for one in np.unique(found.flow)]


def ranks(values: np.ndarray) -> np.ndarray:
    """Returns the rank of each value, from 0."""
    place = np.empty(len(values), np.int64)
    place[np.argsort(values, kind="stable")] = np.arange(len(values))
    return place


# Statistics of one run, from its `packet_hist`.


def again_less_once(table: pa.Table) -> float:
    """Share of bounced packets that are bounced again, minus the share of all packets bounced, both in %."""
    found = fat_tree.histogram(table, Of.BOUNCES)
    once, twice = found.share(1), found.share(2)
    return 100 * quotient(twice, once) - once


def largest_count(tables: Sequence[pa.Table]) -> float:
    """Returns the most bounces of a delivered packet, ACKs included, over several runs."""
    return max(most(table) for table in tables)


def most(table: pa.Table) -> float:
    """Returns the most bounces of a delivered packet, ACKs included."""
    chosen = (columns.numbers(table, "metric") == Of.BOUNCES) & (columns.numbers(table, "count") > 0)
    return float(columns.numbers(table, "low")[chosen].max(initial=0))


# Claims on bounced packets.


def first(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the delay of bounced packets by order of service, and the share bounced again."""
    served = sweeps["served"]
    for name in LOADS:
        by_variant = {
            variant: list(map(packets, served.tables("packets", variant, load(served, name))))
            for variant in (PABO, IN_TURN, ONE_QUEUE)
        }
        mine = by_variant[PABO]
        in_turn = [
            bounced_delay(other) - bounced_delay(one)
            for one, other in zip(mine, by_variant[IN_TURN], strict=True)
        ]
        told = f"{np.mean([bounced_delay(one) for one in mine]):.0f} us where they are served first"
        yield measured(name, "delay_of_bounced_in_turn_less_first", in_turn, told)
        pairs = zip(mine, by_variant[ONE_QUEUE], strict=True)
        yield measured(
            name, "delay_of_bounced_less_in_one_queue", [less_in_one_queue(*pair) for pair in pairs]
        )
    severity = sweeps["severity"]
    for name in LOADS:
        tables = severity.tables("packet_hist", PABO, load(severity, name))
        yield measured(name, "share_bounced_again_less_bounced", list(map(again_less_once, tables)))
    for name in SCENARIOS:
        values = fat_tree.packets(sweeps[name], again_less_once)
        yield measured(name, "share_bounced_again_less_bounced", values)


def counter(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the most bounces of a packet in any run with PABO, for the seeds that all sweeps have."""
    every = [tables for runs in sweeps.values() for tables in kept(runs)]
    seeds = min(len(one) for one in every)
    values = [largest_count([tables[seed] for tables in every]) for seed in range(seeds)]
    told = f"{max(largest_count(tables) for tables in every):.0f} at most, over all seeds of all sweeps"
    yield measured("every run with PABO", "largest_count", values, told)


def kept(runs: Runs) -> list[list[pa.Table]]:
    """Returns `packet_hist` with PABO at each point, by seed."""
    return [runs.tables("packet_hist", PABO, point) for point in runs.points]


# DIBS.


def dibs(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures DIBS minus PABO: order, delay and detours in all loads and scenarios, flows on other paths."""
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
    """Yields the differences for a load of section V, where no transport reacts to reordering."""
    order = less(runs, lambda table: entropy(packets(table)), (DIBS, PABO), "packets", point)
    yield measured(name, "entropy_DIBS_less_PABO", order, lossy(runs, DIBS, [point]))
    yield from delay_and_detours(name, runs, point)


def delay_and_detours(name: str, runs: Runs, point: Point | None) -> Iterator[Measured]:
    """Yields differences in the delay of packets, and in detours by DIBS and bounces by PABO."""
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
    """Returns the mean over delivered data packets."""
    return fat_tree.histogram(table, metric).mean


def most_of(table: pa.Table, metric: Of) -> float:
    """Returns the largest value of any delivered data packet."""
    found = fat_tree.histogram(table, metric)
    return float(found.low[found.count > 0].max(initial=0))


def less(
    runs: Runs, of: OfTable, pair: tuple[str, str], table: str, point: Point | None = None
) -> np.ndarray:
    """Returns a statistic of a table in one variant minus that in another, by seed."""
    one, other = ([of(each) for each in runs.tables(table, variant, point)] for variant in pair)
    return np.subtract(one, other)


# Flows of hosts that are not part of the incast.


def completion(table: pa.Table, workload: int) -> float:
    """Mean completion time of a workload's flows in us; unfinished ones count until the end of the run."""
    chosen = columns.numbers(table, "traffic") == workload
    start = columns.numbers(table, "start_ps")[chosen].astype(np.float64)
    end = np.minimum(columns.numbers(table, "end_ps")[chosen].astype(np.float64), END_PS)
    return float((end - start).mean() / 1e6)


def means(runs: Runs, workload: int, variants: Sequence[str]) -> str:
    """Formats the mean completion times and the number of unfinished flows."""
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
    """Measures completion of flows that avoid the congested ports, and PAUSE thresholds without drops."""
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
    """Yields each load and scenario, and its drops over all seeds, by threshold."""
    raw = sweeps["raw_xoff"]
    for name, packets in LOADS.items():
        yield name, losses(raw, [one for one in raw.points if int(one[PACKETS]) == packets])
    for name in SCENARIOS:
        runs = sweeps[f"{name}_xoff"]
        yield name, losses(runs, runs.points)


def losses(runs: Runs, points: Sequence[Point]) -> list[float]:
    """Returns drops over all seeds, by threshold, the lowest first."""
    ordered = sorted(points, key=lambda point: float(point[XOFF].removesuffix("KB")))
    return [float(runs.metric("drops", PAUSE, point).sum()) for point in ordered]


# Frames that return to their sources.


def returned(runs: Runs, table: pa.Table) -> dict[str, int]:
    """Frames that a source's switch bounced back to it, by source, from `ports`."""
    node, port = columns.numbers(table, "node"), columns.numbers(table, "port")
    found = {}
    for host, switch in EDGES.items():
        here = node == runs.node(switch)
        bounced = columns.numbers(table, "bounced")[here & (port == TO_ROOT)].sum()
        lost = columns.numbers(table, "drop_bounce_queue_full")[here & (port == TO_HOST)].sum()
        found[host] = int(bounced) - int(lost)
    return found


def persistent(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures which sources get frames back, and how many fewer if sources are informed."""
    raw = sweeps["severity"]
    for name in ("mild", "severe"):
        tables = raw.tables("ports", PABO, load(raw, name))
        yield Measured(name, "sources_with_returned_frames", [names(returned(raw, one)) for one in tables])
    runs = sweeps["persistent"]
    found = {
        (window(point), variant): [returned(runs, one) for one in runs.tables("ports", variant, point)]
        for point in runs.points
        for variant in (SILENT, INFORMED)
    }
    sources = [names(one) for one in found["600 KB", SILENT]]
    yield Measured("600 KB, not informed", "sources_with_returned_frames", sources)
    spared = {}
    for point in runs.points:
        name = window(point)
        for variant, told in ((SILENT, "not informed"), (INFORMED, "informed")):
            yield measured(f"{name}, {told}", "drops", runs.metric("drops", variant, point))
        silent, informed = (
            np.array([sum(one.values()) for one in found[name, variant]]) for variant in (SILENT, INFORMED)
        )
        spared[name] = silent - informed
        told = f"{silent.mean():.0f} frames, {informed.mean():.0f} where sources are informed"
        yield measured(name, "returned_frames_informed_less_not", informed - silent, told)
    yield measured("600 KB less 300 KB", "frames_spared", spared["600 KB"] - spared["300 KB"])


def window(point: Point) -> str:
    """Formats the window of a point as rows name it: `300 KB`."""
    return f"{point[WINDOW].removesuffix('KB')} KB"


MEASURES: dict[str, Measure] = {
    "claim-first": first,
    "claim-counter": counter,
    "claim-dibs": dibs,
    "claim-pause": pause,
    "claim-persistent": persistent,
}
