"""Measures of PABO's claims without a figure: bounced packets, PABO against DIBS, PAUSE and PFC, sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.common import build_measured, divide_or_nan, losses_note, names_with_counts
from overspill.papers.spec import Measure, Measured, Point, Runs, Sweeps

from . import fat_tree
from .fat_tree import PABO, SCENARIOS, PacketMetric
from .raw_packets import LOAD_PACKETS, PACKETS_PATH, load_point

IN_TURN, ONE_QUEUE = "in_turn", "one_queue"
DELIVERED_FATE = 0  # `fate` of the table `packets`
DIBS, PAUSE, PFC = "dibs", "pause", "pfc"
COEXISTENCE_SWEEPS = {name: f"{name}_beside" for name in SCENARIOS}
# Indices of the workloads of `others.toml` in `flows`, and the end of its runs.
SHARING_WORKLOAD, OWN_CLASS_WORKLOAD, ELSEWHERE_WORKLOAD = 2, 3, 4
END_PS = 3_000_000_000_000
XOFF_PATH = "variants.pause.switch.pause.xoff"
THRESHOLDS = ("1/10", "1/4", "3/10", "1/2", "3/4")  # shares of a port's buffer
TableStatistic = Callable[[pa.Table], float]
WINDOW_PATH = "transport.receive_window"
UNINFORMED, INFORMED = "silent", "informed"
# Ports of `chain_tree`: the first port of an edge switch leads to its host, the second to the root.
EDGE_OF_HOST = {"H1": "s0", "H2": "s1", "H3": "s2"}
HOST_PORT, ROOT_PORT = 0, 1


@dataclass(frozen=True)
class DeliveredPackets:
    """Delivered packets of one run of raw senders, identified by flow and number in the flow."""

    flow: np.ndarray
    emission: np.ndarray
    bounces: np.ndarray
    end: np.ndarray  # ps
    delay: np.ndarray  # us

    @property
    def key(self) -> np.ndarray:
        """Number of each packet, equal for the same packet in runs of other variants."""
        return np.asarray(self.flow.astype(np.int64) << 32 | self.emission.astype(np.int64))


def read_packets(table: pa.Table) -> DeliveredPackets:
    """Returns the delivered packets of the table `packets`."""
    kept = (columns.column_to_numpy(table, "fate") == DELIVERED_FATE) & (
        columns.column_to_numpy(table, "reverse") == 0
    )
    flow, emission, bounces, sent, end = (
        columns.column_to_numpy(table, name)[kept]
        for name in ("flow", "emission", "bounces", "sent_ps", "end_ps")
    )
    return DeliveredPackets(flow, emission, bounces, end, (end - sent) / 1e6)


def mean_bounced_delay(found: DeliveredPackets) -> float:
    """Mean delay of bounced packets in us; NaN without any."""
    chosen = found.delay[found.bounces > 0]
    return float(chosen.mean()) if len(chosen) else float("nan")


def bouncing_delay_excess(bouncing: DeliveredPackets, queued: DeliveredPackets) -> float:
    """Mean delay in us of bounced packets minus that of the same packets in a run with unlimited queues."""
    mine = bouncing.bounces > 0
    _, here, there = np.intersect1d(bouncing.key[mine], queued.key, return_indices=True)
    differences = bouncing.delay[mine][here] - queued.delay[there]
    return float(differences.mean()) if len(differences) else float("nan")


def reorder_entropy(found: DeliveredPackets) -> float:
    """Reorder entropy (PABO eq. 7) of all flows together, by ranks among the delivered packets."""
    places = [ranks(found.end[one]) - ranks(found.emission[one]) for one in packets_by_flow(found)]
    _, counts = np.unique(np.concatenate(places), return_counts=True)
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum()) + 0.0


def packets_by_flow(found: DeliveredPackets) -> list[np.ndarray]:
    """Selects the packets of each flow."""
    return [found.flow == one for one in np.unique(found.flow)]


def ranks(values: np.ndarray) -> np.ndarray:
    """Returns the rank of each value, from 0."""
    place = np.empty(len(values), np.int64)
    place[np.argsort(values, kind="stable")] = np.arange(len(values))
    return place


# The next functions compute statistics of the table `packet_hist`.


def excess_share_bounced_again(table: pa.Table) -> float:
    """Share of bounced packets that are bounced again, minus the share of all packets bounced, both in %."""
    found = fat_tree.read_histogram(table, PacketMetric.BOUNCES)
    once, twice = found.share(1), found.share(2)
    return 100 * divide_or_nan(twice, once) - once


def max_bounces_of_runs(tables: Sequence[pa.Table]) -> float:
    """Returns the most bounces of a delivered packet, ACKs included, over several runs."""
    return max(max_bounces(table) for table in tables)


def max_bounces(table: pa.Table) -> float:
    """Returns the most bounces of a delivered packet, ACKs included."""
    chosen = (columns.column_to_numpy(table, "metric") == PacketMetric.BOUNCES) & (
        columns.column_to_numpy(table, "count") > 0
    )
    return float(columns.column_to_numpy(table, "low")[chosen].max(initial=0))


def measure_order_of_service(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the delay of bounced packets by order of service, and the share that is bounced again."""
    served = sweeps["served"]
    for name in LOAD_PACKETS:
        by_variant = {
            variant: list(map(read_packets, served.tables("packets", variant, load_point(served, name))))
            for variant in (PABO, IN_TURN, ONE_QUEUE)
        }
        mine = by_variant[PABO]
        in_turn = [
            mean_bounced_delay(other) - mean_bounced_delay(one)
            for one, other in zip(mine, by_variant[IN_TURN], strict=True)
        ]
        told = f"{np.mean([mean_bounced_delay(one) for one in mine]):.0f} us where they are served first"
        yield build_measured(name, "delay_of_bounced_in_turn_less_first", in_turn, told)
        pairs = zip(mine, by_variant[ONE_QUEUE], strict=True)
        yield build_measured(
            name, "delay_of_bounced_less_in_one_queue", [bouncing_delay_excess(*pair) for pair in pairs]
        )
    severity = sweeps["severity"]
    for name in LOAD_PACKETS:
        tables = severity.tables("packet_hist", PABO, load_point(severity, name))
        yield build_measured(
            name, "share_bounced_again_less_bounced", list(map(excess_share_bounced_again, tables))
        )
    for name in SCENARIOS:
        values = fat_tree.packet_statistic(sweeps[name], excess_share_bounced_again)
        yield build_measured(name, "share_bounced_again_less_bounced", values)


def measure_bounce_counter(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the most bounces of a packet in any run with PABO, for the seeds that all sweeps have."""
    every = [tables for runs in sweeps.values() for tables in histograms_with_pabo(runs)]
    seeds = min(len(one) for one in every)
    values = [max_bounces_of_runs([tables[seed] for tables in every]) for seed in range(seeds)]
    told = f"{max(max_bounces_of_runs(tables) for tables in every):.0f} at most, over all seeds of all sweeps"
    yield build_measured("every run with PABO", "largest_count", values, told)


def histograms_with_pabo(runs: Runs) -> list[list[pa.Table]]:
    """Returns table `packet_hist` with PABO for each point and seed."""
    return [runs.tables("packet_hist", PABO, point) for point in runs.points]


def measure_dibs(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures DIBS minus PABO: order, delay and detours for all loads and scenarios, FCTs on other paths."""
    raw = sweeps["served"]
    for name in LOAD_PACKETS:
        yield from compare_raw_packets(name, raw, load_point(raw, name))
    for name in SCENARIOS:
        runs = sweeps[COEXISTENCE_SWEEPS[name]]
        order = runs.metric("reorder_entropy", DIBS) - runs.metric("reorder_entropy", PABO)
        yield build_measured(name, "entropy_DIBS_less_PABO", order, losses_note(runs, DIBS, runs.points))
        yield from compare_delay_and_detours(name, runs, None)
    others = sweeps["others"]
    values = difference_by_seed(
        others, partial(mean_completion, workload=ELSEWHERE_WORKLOAD), (DIBS, PABO), "flows"
    )
    yield build_measured(
        "mtom, other paths",
        "fct_DIBS_less_PABO",
        values,
        format_completions(others, ELSEWHERE_WORKLOAD, (PABO, DIBS)),
    )


def compare_raw_packets(name: str, runs: Runs, point: Point) -> Iterator[Measured]:
    """Yields differences of DIBS and PABO for a load of section V, where no sender reacts to reordering."""
    order = difference_by_seed(
        runs, lambda table: reorder_entropy(read_packets(table)), (DIBS, PABO), "packets", point
    )
    yield build_measured(name, "entropy_DIBS_less_PABO", order, losses_note(runs, DIBS, [point]))
    yield from compare_delay_and_detours(name, runs, point)


def compare_delay_and_detours(name: str, runs: Runs, point: Point | None) -> Iterator[Measured]:
    """Yields differences between DIBS and PABO: packet delay, and number of detours and bounces."""
    delay = difference_by_seed(runs, fat_tree.mean_delay, (DIBS, PABO), "packet_hist", point)
    yield build_measured(name, "delay_DIBS_less_PABO", delay)
    tables = {one: runs.tables("packet_hist", one, point) for one in (DIBS, PABO)}
    told = []
    for metric, of in (
        ("detours_less_bounces_per_packet", mean_of_metric),
        ("most_detours_less_most_bounces", max_of_metric),
    ):
        detours = [of(table, PacketMetric.DETOURS) for table in tables[DIBS]]
        bounces = [of(table, PacketMetric.BOUNCES) for table in tables[PABO]]
        told.append(f"{np.mean(detours):.3g} detours and {np.mean(bounces):.3g} bounces")
        note = f"a packet has {', at most '.join(told)}" if len(told) > 1 else ""
        yield build_measured(name, metric, np.subtract(detours, bounces), note)


def mean_of_metric(table: pa.Table, metric: PacketMetric) -> float:
    """Returns the mean value of a packet metric over all delivered data packets."""
    return fat_tree.read_histogram(table, metric).mean


def max_of_metric(table: pa.Table, metric: PacketMetric) -> float:
    """Returns the largest value of a packet metric over all delivered data packets."""
    found = fat_tree.read_histogram(table, metric)
    return float(found.low[found.count > 0].max(initial=0))


def difference_by_seed(
    runs: Runs, of: TableStatistic, pair: tuple[str, str], table: str, point: Point | None = None
) -> np.ndarray:
    """Returns a statistic of a table in one variant minus that in another one, by seed."""
    one, other = ([of(each) for each in runs.tables(table, variant, point)] for variant in pair)
    return np.subtract(one, other)


# The next two functions are about flows of hosts that take no part in the incast.


def mean_completion(table: pa.Table, workload: int) -> float:
    """Mean completion time of a workload's flows in us; unfinished ones count until the end of the run."""
    chosen = columns.column_to_numpy(table, "traffic") == workload
    start = columns.column_to_numpy(table, "start_ps")[chosen].astype(np.float64)
    end = np.minimum(columns.column_to_numpy(table, "end_ps")[chosen].astype(np.float64), END_PS)
    return float((end - start).mean() / 1e6)


def format_completions(runs: Runs, workload: int, variants: Sequence[str]) -> str:
    """Formats the mean completion times and the number of unfinished flows."""
    told = []
    for variant in variants:
        tables = runs.tables("flows", variant)
        mean = np.mean([mean_completion(table, workload) for table in tables])
        hung = sum(
            int(
                (
                    columns.column_to_numpy(table, "end_ps")[
                        columns.column_to_numpy(table, "traffic") == workload
                    ]
                    > END_PS
                ).sum()
            )
            for table in tables
        )
        told.append(f"{variant} {mean:.0f} us{f', {hung} flows hang' if hung else ''}")
    return "; ".join(told)


def measure_pause(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures FCTs of flows that avoid the congested ports, and PAUSE thresholds without drops."""
    runs = sweeps["others"]
    names = {PAUSE: "PAUSE", PFC: "PFC", PABO: "PABO"}
    for case, workload, pairs in (
        ("mtom, same class", SHARING_WORKLOAD, ((PAUSE, PABO), (PFC, PABO))),
        ("mtom, own class", OWN_CLASS_WORKLOAD, ((PAUSE, PABO), (PAUSE, PFC))),
    ):
        told = format_completions(runs, workload, (PABO, PAUSE, PFC))
        for one, other in pairs:
            values = difference_by_seed(
                runs, partial(mean_completion, workload=workload), (one, other), "flows"
            )
            yield build_measured(case, f"fct_{names[one]}_less_{names[other]}", values, told)
            told = ""
    losing = [set[str]() for _ in THRESHOLDS]
    for name, tried in drops_by_threshold(sweeps):
        for at, lost in enumerate(tried):
            losing[at] |= {name} if lost else set()
    told = "; ".join(
        f"XOFF at {share} of the memory loses {'in ' + ', '.join(sorted(names)) if names else 'nothing'}"
        for share, names in zip(THRESHOLDS, losing, strict=True)
    )
    yield build_measured("all loads", "thresholds_without_loss", [sum(not one for one in losing)], told)


def drops_by_threshold(sweeps: Sweeps) -> Iterator[tuple[str, list[float]]]:
    """Yields each load or scenario, with its total drops for each PAUSE threshold."""
    raw = sweeps["raw_xoff"]
    for name, packets in LOAD_PACKETS.items():
        yield name, total_drops(raw, [one for one in raw.points if int(one[PACKETS_PATH]) == packets])
    for name in SCENARIOS:
        runs = sweeps[f"{name}_xoff"]
        yield name, total_drops(runs, runs.points)


def total_drops(runs: Runs, points: Sequence[Point]) -> list[float]:
    """Returns the drops of all seeds for each PAUSE threshold, the lowest threshold first."""
    ordered = sorted(points, key=lambda point: float(point[XOFF_PATH].removesuffix("KB")))
    return [float(runs.metric("drops", PAUSE, point).sum()) for point in ordered]


def count_returned_frames(runs: Runs, table: pa.Table) -> dict[str, int]:
    """Frames that a source's switch bounced back to it, by source, from `ports`."""
    node, port = columns.column_to_numpy(table, "node"), columns.column_to_numpy(table, "port")
    found = {}
    for host, switch in EDGE_OF_HOST.items():
        here = node == runs.node(switch)
        bounced = columns.column_to_numpy(table, "bounced")[here & (port == ROOT_PORT)].sum()
        lost = columns.column_to_numpy(table, "drop_bounce_queue_full")[here & (port == HOST_PORT)].sum()
        found[host] = int(bounced) - int(lost)
    return found


def measure_persistent_senders(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures which sources get frames back, and how many fewer if sources are informed."""
    raw = sweeps["severity"]
    for name in ("mild", "severe"):
        tables = raw.tables("ports", PABO, load_point(raw, name))
        yield Measured(
            name,
            "sources_with_returned_frames",
            [names_with_counts(count_returned_frames(raw, one)) for one in tables],
        )
    runs = sweeps["persistent"]
    found = {
        (format_window(point), variant): [
            count_returned_frames(runs, one) for one in runs.tables("ports", variant, point)
        ]
        for point in runs.points
        for variant in (UNINFORMED, INFORMED)
    }
    sources = [names_with_counts(one) for one in found["600 KB", UNINFORMED]]
    yield Measured("600 KB, not informed", "sources_with_returned_frames", sources)
    spared = {}
    for point in runs.points:
        name = format_window(point)
        for variant, told in ((UNINFORMED, "not informed"), (INFORMED, "informed")):
            yield build_measured(f"{name}, {told}", "drops", runs.metric("drops", variant, point))
        silent, informed = (
            np.array([sum(one.values()) for one in found[name, variant]])
            for variant in (UNINFORMED, INFORMED)
        )
        spared[name] = silent - informed
        told = f"{silent.mean():.0f} frames, {informed.mean():.0f} where sources are informed"
        yield build_measured(name, "returned_frames_informed_less_not", informed - silent, told)
    yield build_measured("600 KB less 300 KB", "frames_spared", spared["600 KB"] - spared["300 KB"])


def format_window(point: Point) -> str:
    """Formats the transport window of a point as rows name it: `300 KB`."""
    return f"{point[WINDOW_PATH].removesuffix('KB')} KB"


MEASURES: dict[str, Measure] = {
    "claim-first": measure_order_of_service,
    "claim-counter": measure_bounce_counter,
    "claim-dibs": measure_dibs,
    "claim-pause": measure_pause,
    "claim-persistent": measure_persistent_senders,
}
