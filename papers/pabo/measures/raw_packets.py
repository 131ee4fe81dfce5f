"""Measures of PABO's raw packets in a tree (figures 1 and 7 to 9, table I, section II-C)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from overspill import Failed, columns
from overspill.papers.common import (
    SeedCurve,
    build_measured,
    divide_or_nan,
    dropped_packets_by_port,
    jackknife_values,
    linear_correlation,
    metric_along_points,
    names_with_counts,
    points_along_path,
    rank_correlation,
    relative_range,
)
from overspill.papers.spec import Measure, Measured, Point, Runs, Sweeps

# Names of nodes in the topology `chain_tree`, by the names of figure 4.
SWITCHES = {f"S{number}": f"s{number - 1}" for number in range(1, 8)}
SENDERS = {f"H{number}": f"h{number - 1}" for number in range(1, 4)}
THETA_PATH, LAMBDA_PATH = "switch.overflow.theta", "switch.overflow.lambda"
# Packets of a sender's burst in section V, one more than the paper's numPacketsPerGenerate.
PACKETS_PATH = "traffic.bursts.packets"
LOAD_PACKETS = {"mild": 501, "moderate": 1501, "severe": 2501}
# Metrics of table `packet_hist`: `hops` is the number of links that a packet crossed. The paper's totalHop is
# one less. `max_bounced_distance` is the paper's maxBouncedDistance.
HOPS_INDEX, DISTANCE_INDEX = map(columns.PACKET_HIST.index, ("hops", "max_bounced_distance"))
QueueSeries = Mapping[tuple[str, int], np.ndarray]  # keys: switch; 0 for the normal, 1 for the bounce queue
STEP_US = 50.0  # us, equal to `measure.bin` of the sweep
THETA_OF_SECTION_5 = 0.8  # theta of section V
NORMAL_QUEUE, BOUNCE_QUEUE = 0, 1
# Ports of `chain_tree`: the second port of a chain's switch leads to the root, the root's last to the
# receiver.
OUTPUT_PORTS = {"S4": ("s3", 1), "S5": ("s4", 1), "S6": ("s5", 1), "S7": ("s6", 3)}
UPSTREAM = ("S4", "S5", "S6")
QUEUE_GROUPS = {
    "S4 S5 S6": [(switch, kind) for switch in UPSTREAM for kind in (NORMAL_QUEUE, BOUNCE_QUEUE)],
    "S7 bounce": [("S7", BOUNCE_QUEUE)],
    "S7 normal": [("S7", NORMAL_QUEUE)],
}
SWITCHES_BY_LEVEL = {"S7": ("S7",), "S4_to_S6": ("S4", "S5", "S6"), "S1_to_S3": ("S1", "S2", "S3")}
STABLE_LAMBDA = 80.0  # lambda from which mean totalHop is stable


def load_point(runs: Runs, name: str) -> Point:
    """Returns the point of a sweep with one of the loads of section V."""
    values, points = points_along_path(runs, PACKETS_PATH)
    return points[values.index(LOAD_PACKETS[name])]


def histogram_bins(table: pa.Table, which: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns lower ends, exclusive upper ends and counts of a metric's bins, for delivered data packets."""
    keep = (columns.column_to_numpy(table, "metric") == which) & (columns.column_to_numpy(table, "data") == 1)
    low, high, count = (columns.column_to_numpy(table, name)[keep] for name in ("low", "high", "count"))
    return low, high, count


def share_within_hops(table: pa.Table, hops: int) -> float:
    """Share of delivered data packets with a totalHop of at most `hops`, in %."""
    _, high, count = histogram_bins(table, HOPS_INDEX)
    return 100 * divide_or_nan(float(count[high - 1 <= hops + 1].sum()), float(count.sum()))


def counts_by_switch(runs: Runs, table: pa.Table, column: str, switches: Mapping[str, str]) -> dict[str, int]:
    """Returns a column of table `ports`, summed over the ports of each switch, by the paper's name."""
    node, count = columns.column_to_numpy(table, "node"), columns.column_to_numpy(table, column)
    return {name: int(count[node == runs.node(ours)].sum()) for name, ours in switches.items()}


@dataclass(frozen=True)
class OutputQueues:
    """Longest and mean normal and bounce queues of four outputs in one run, by time step, with limits.

    All lengths are in frames.
    """

    longest: QueueSeries
    mean: QueueSeries
    limit: Mapping[tuple[str, int], int]

    @property
    def busy(self) -> np.ndarray:
        """True for each time step in which any of the queues has a frame."""
        return np.asarray(np.any([one > 0 for one in self.longest.values()], axis=0))

    def congestion_periods(self) -> list[tuple[int, int]]:
        """Returns first time step and end of every period in which some queue is not empty."""
        edges = np.diff(np.concatenate(([0], self.busy.astype(np.int8), [0])))
        return list(
            zip(np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist(), strict=True)
        )

    def share(self, switch: str, kind: int) -> np.ndarray:
        """Returns the utilisation of one queue of a switch, by time step."""
        return np.asarray(self.mean[switch, kind] / self.limit[switch, kind])

    def utilisation(self, switch: str) -> np.ndarray:
        """Returns the mean utilisation of the normal and the bounce queue of a switch, by time step."""
        return np.asarray((self.share(switch, NORMAL_QUEUE) + self.share(switch, BOUNCE_QUEUE)) / 2)


def read_queues(runs: Runs) -> list[OutputQueues]:
    """Reads the queue lengths of four outputs in every seed."""
    traces, limits = (runs.tables(name, "pabo") for name in ("sub_queue_trace", "sub_queues"))
    steps = max(
        (int(columns.column_to_numpy(one, "bin").max()) + 1 for one in traces if one.num_rows), default=0
    )
    return [read_run(runs, pair, steps) for pair in zip(traces, limits, strict=True)]


def read_run(runs: Runs, tables: tuple[pa.Table, pa.Table], steps: int) -> OutputQueues:
    """Reads the queue lengths of four outputs in one seed; a queue without a row in a step is empty."""
    trace, limits = tables
    longest: dict[tuple[str, int], np.ndarray] = {}
    mean: dict[tuple[str, int], np.ndarray] = {}
    limit: dict[tuple[str, int], int] = {}
    for switch in OUTPUT_PORTS:
        for kind in (NORMAL_QUEUE, BOUNCE_QUEUE):
            of, rows = queue_rows(runs, limits, (switch, kind)), queue_rows(runs, trace, (switch, kind))
            if len(of) != 1 or columns.column_to_numpy(limits, "limit")[of[0]] == 0:
                raise Failed(
                    f"sub_queues: found {len(of)} queues of {switch}; expected one, with a limit in packets"
                )
            limit[switch, kind] = int(columns.column_to_numpy(limits, "limit")[of[0]])
            step = columns.column_to_numpy(trace, "bin")[rows]
            for found, name in ((longest, "max_packets"), (mean, "mean_packets")):
                found[switch, kind] = np.zeros(steps)
                found[switch, kind][step] = columns.column_to_numpy(trace, name)[rows]
    return OutputQueues(longest, mean, limit)


def queue_rows(runs: Runs, table: pa.Table, which: tuple[str, int]) -> np.ndarray:
    """Selects the rows of a queue at an output port.

    Raw packets have class 0, so that the number of a queue is its lane.
    """
    node, port = OUTPUT_PORTS[which[0]]
    keep = columns.column_to_numpy(table, "node") == runs.node(node)
    keep &= (columns.column_to_numpy(table, "port") == port) & (
        columns.column_to_numpy(table, "queue") == which[1]
    )
    return np.flatnonzero(keep)


def measure_peaks(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures figure 8a: the number of separate congestion periods."""
    yield build_measured(
        "whole second",
        "separate_peaks",
        [len(one.congestion_periods()) for one in read_queues(sweeps["peaks"])],
    )


def measure_first_peak(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures figure 8b: bounce queues in use, the order in which queues clear, and peaks of S4 to S6."""
    seeds = read_queues(sweeps["peaks"])
    case = "first peak"
    yield build_measured(case, "bounce_queues_used_after_theta", [bounce_queue_delay(one) for one in seeds])
    yield Measured(
        case,
        "bounce_queues_in_use",
        [switches_with_bounces(one) for one in seeds],
        format_longest_queues(seeds),
    )
    yield Measured(case, "order_of_clearing", [format_clearing_order(one) for one in seeds])
    yield build_measured(case, "spread_of_peaks_of_S4_to_S6", [utilisation_spread(one) for one in seeds])


def first_steps(queues: OutputQueues) -> slice:
    """Returns the time steps of the first congestion peak; empty if there is none."""
    found = queues.congestion_periods()
    return slice(*found[0]) if found else slice(0, 0)


def bounce_queue_delay(queues: OutputQueues) -> float:
    """Time in us from S7's normal queue above theta to a frame in a bounce queue; NaN without both."""
    peak = first_steps(queues)
    limit = THETA_OF_SECTION_5 * queues.limit["S7", NORMAL_QUEUE]
    above = np.flatnonzero(queues.longest["S7", NORMAL_QUEUE][peak] > limit)
    used = np.any([queues.longest[switch, BOUNCE_QUEUE][peak] > 0 for switch in OUTPUT_PORTS], axis=0)
    bounced = np.flatnonzero(used)
    return STEP_US * float(bounced[0] - above[0]) if len(above) and len(bounced) else float("nan")


def switches_with_bounces(queues: OutputQueues) -> str:
    """Names the switches whose bounce queue is used in the first congestion peak."""
    peak = first_steps(queues)
    return names_with_counts(
        {one: queues.longest[one, BOUNCE_QUEUE][peak].max(initial=0) for one in OUTPUT_PORTS}
    )


def format_longest_queues(seeds: Sequence[OutputQueues]) -> str:
    """Formats the most frames in each bounce queue and in each normal queue, over all seeds."""
    told = []
    for kind, name in ((BOUNCE_QUEUE, "bounce"), (NORMAL_QUEUE, "normal")):
        most = {one: max(int(run.longest[one, kind].max(initial=0)) for run in seeds) for one in OUTPUT_PORTS}
        told.append(f"{name} {', '.join(f'{one} {count}' for one, count in most.items())}")
    return f"longest queues in frames: {'; '.join(told)}"


def format_clearing_order(queues: OutputQueues) -> str:
    """Formats the groups of queues in the order in which they become empty for good.

    Groups that become empty in the same step are joined by `and`.
    """
    peak = first_steps(queues)
    ends: dict[int, list[str]] = {}
    for name, group in QUEUE_GROUPS.items():
        busy = np.flatnonzero(np.any([queues.longest[one][peak] > 0 for one in group], axis=0))
        if len(busy):
            ends.setdefault(int(busy[-1]) + 1, []).append(name)
    return ", ".join(" and ".join(ends[end]) for end in sorted(ends)) or "none"


def utilisation_spread(queues: OutputQueues) -> float:
    """Relative range of the highest utilisations of the switches S4 to S6 in the first peak."""
    peak = first_steps(queues)
    return relative_range(np.array([queues.utilisation(one)[peak].max(initial=0) for one in UPSTREAM]))


def measure_example(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures figure 1: drops, and bounces of S4."""
    runs = sweeps["example"]
    [variant] = runs.variants
    yield build_measured("example", "drops", runs.metric("drops", variant))
    bounces = [
        counts_by_switch(runs, table, "bounced", {"S4": "S4"}) for table in runs.tables("ports", variant)
    ]
    yield build_measured("example", "bounces_at_S4", [one["S4"] for one in bounces])


def measure_largest_hops(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the rank correlation of lambda and the largest number of hops (section II-C), by seed."""
    runs = sweeps["raw_lambda"]
    lambdas, points = points_along_path(runs, f"variants.pabo.{LAMBDA_PATH}")
    curves = metric_along_points(runs, "total_hop_max", "pabo", points)
    values = [rank_correlation(lambdas, curve) for curve in curves]
    yield build_measured("moderate", "rank_correlation_of_lambda_and_largest_total_hop", values)
    sizes = [abs(one) for one in values]
    yield build_measured("moderate", "size_of_rank_correlation_of_lambda_and_largest_total_hop", sizes)


def measure_severity(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures drops under three loads, in % of generated packets, and where they occur."""
    runs = sweeps["severity"]
    for name in LOAD_PACKETS:
        ports = runs.tables("ports", "without", load_point(runs, name))
        case = f"{name}, without PABO"
        yield build_measured(case, "drop_rate", [100 * drop_rate(runs, table) for table in ports])
        places = [names_with_counts(drops_by_switch(runs, table)) for table in ports]
        yield Measured(case, "dropping_switches", places, describe_host_drops(runs, ports))
    for name in LOAD_PACKETS:
        yield build_measured(f"{name}, PABO", "drops", runs.metric("drops", "pabo", load_point(runs, name)))


def drop_rate(runs: Runs, ports: pa.Table) -> float:
    """Returns dropped packets divided by generated ones.

    Generated packets are those that senders' ports enqueued or dropped, since nothing is bounced without
    PABO.
    """
    lost = dropped_packets_by_port(ports)
    offered = columns.column_to_numpy(ports, "enqueued") + lost
    return divide_or_nan(float(lost.sum()), float(offered[sender_rows(runs, ports)].sum()))


def sender_rows(runs: Runs, ports: pa.Table) -> np.ndarray:
    """Selects the rows of `ports` that belong to senders."""
    return np.isin(columns.column_to_numpy(ports, "node"), [runs.node(ours) for ours in SENDERS.values()])


def drops_by_switch(runs: Runs, ports: pa.Table) -> dict[str, int]:
    """Returns packets dropped by each switch, by the paper's name."""
    return counts_by_switch(
        runs, ports.append_column("lost", pa.array(dropped_packets_by_port(ports))), "lost", SWITCHES
    )


def describe_host_drops(runs: Runs, tables: Sequence[pa.Table]) -> str:
    """Describes packets dropped by senders' own queues; empty without any."""
    lost = sum(int(dropped_packets_by_port(one)[sender_rows(runs, one)].sum()) for one in tables)
    return f"senders dropped {lost} packets" if lost else ""


def measure_distances(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures table I: the largest bounced distance of packets, in % of delivered packets."""
    runs = sweeps["severity"]
    shares = {
        name: np.array(
            [shares_by_distance(one) for one in runs.tables("packet_hist", "pabo", load_point(runs, name))]
        )
        for name in LOAD_PACKETS
    }
    for name, last in (("mild", 1), ("moderate", 1), ("severe", 2)):
        for distance in range(last + 1):
            yield build_measured(name, f"share_of_{distance}", shares[name][:, distance])
        yield build_measured(name, f"share_above_{last}", shares[name][:, last + 1 :].sum(axis=1))
    for more, less in (("mild", "moderate"), ("moderate", "severe")):
        yield build_measured(f"{more} less {less}", "share_of_0", shares[more][:, 0] - shares[less][:, 0])


def shares_by_distance(table: pa.Table) -> list[float]:
    """Returns shares of the largest distances 0, 1, 2, and above, in %."""
    low, _, count = histogram_bins(table, DISTANCE_INDEX)
    every = float(count.sum())
    if not every:  # The metric is recorded only if packets are bounced; otherwise it is 0 for all of them.
        low, every = np.zeros(1), float(histogram_bins(table, HOPS_INDEX)[2].sum())
        count = np.array([every])
    exact = [float(count[low == distance].sum()) for distance in range(3)]
    return [100 * divide_or_nan(one, every) for one in (*exact, every - sum(exact))]


def measure_bounces(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures figure 7a: bounces by switch, for each load."""
    runs = sweeps["severity"]
    for at, name in enumerate(LOAD_PACKETS):
        tables = runs.tables("ports", "pabo", load_point(runs, name))
        counts = [counts_by_switch(runs, table, "bounced", SWITCHES) for table in tables]
        yield Measured(name, "bouncing_switches", [names_with_counts(one) for one in counts])
        for level in list(SWITCHES_BY_LEVEL)[: at + 1]:
            sums = [sum(one[switch] for switch in SWITCHES_BY_LEVEL[level]) for one in counts]
            yield build_measured(name, f"bounces_at_{level}", sums)


def measure_total_hops(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures figure 7b: shares within a number of hops, and hops of packets without PABO."""
    runs = sweeps["severity"]
    for name, most in (("mild", 5), ("severe", 11)):
        tables = runs.tables("packet_hist", "pabo", load_point(runs, name))
        yield build_measured(
            name, f"share_within_{most}_hops", [share_within_hops(table, most) for table in tables]
        )
    plain = [
        [common_hops(one) for one in runs.tables("packet_hist", "without", load_point(runs, name))]
        for name in LOAD_PACKETS
    ]
    alike = [one[0] if len(set(one)) == 1 else float("nan") for one in zip(*plain, strict=True)]
    yield build_measured("without PABO", "hops", alike)


def common_hops(table: pa.Table) -> float:
    """Returns the totalHop of packets if all have the same, otherwise NaN."""
    low, high, count = histogram_bins(table, HOPS_INDEX)
    found = set(low[count > 0]) | set(high[count > 0] - 1)
    return float(found.pop()) - 1 if len(found) == 1 else float("nan")


def measure_thetas(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures figure 9a: the share of bounced packets over theta, for each seed's curve."""
    from scipy import stats as scipy_stats  # slow to load

    runs = sweeps["raw_theta"]
    places, points = points_along_path(runs, f"variants.pabo.{THETA_PATH}")
    shares = metric_along_points(runs, "bounced_share", "pabo", points)
    case = "theta 0 to 0.9"
    yield build_measured(case, "largest_rise_of_bounced_share", np.diff(shares, axis=1).max(axis=1))
    lines = [scipy_stats.linregress(places, curve) for curve in shares]
    squares = [linear_correlation(np.array(places), curve) ** 2 for curve in shares]
    yield build_measured(case, "r_squared_of_a_line", squares)
    yield build_measured(case, "slope", [one.slope for one in lines])
    for theta in (0.0, 0.9):
        yield build_measured(f"theta={theta:g}", "bounced_share", shares[:, places.index(theta)])


def measure_lambdas(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures figure 9b: mean totalHop over lambda."""
    runs = sweeps["raw_lambda"]
    places, points = points_along_path(runs, f"variants.pabo.{LAMBDA_PATH}")
    means = metric_along_points(runs, "total_hop_mean", "pabo", points)
    for at in (0.0, 160.0):
        yield build_measured(f"lambda={at:g}", "mean_total_hop", means[:, places.index(at)])
    middle = places.index(STABLE_LAMBDA)
    yield build_measured("lambda 0 to 160", "gain_to_80_by_gain_from_80", gain_ratios(means, middle))


def gain_ratios(means: SeedCurve, middle: int) -> list[float]:
    """Gain of a curve up to a point divided by its gain beyond, as jackknife pseudo-values.

    The gain beyond may vanish in the noise of one seed.
    """
    return jackknife_values(
        lambda curve: divide_or_nan(float(curve[middle] - curve[0]), float(curve[-1] - curve[middle])),
        means,
    )


MEASURES: dict[str, Measure] = {
    "fig1": measure_example,
    "secII-C": measure_largest_hops,
    "secV-B": measure_severity,
    "tab1": measure_distances,
    "fig7a": measure_bounces,
    "fig7b": measure_total_hops,
    "fig8a": measure_peaks,
    "fig8b": measure_first_peak,
    "fig9a": measure_thetas,
    "fig9b": measure_lambdas,
}
