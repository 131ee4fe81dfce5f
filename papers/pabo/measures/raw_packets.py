"""Measures of raw packets in the tree of figure 4: figures 1 and 7 to 9, table I, and section II-C."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from overspill import Failed, columns
from overspill.papers.common import (
    Curve,
    along,
    dropped,
    jackknife,
    line,
    linear_correlation,
    measured,
    names,
    quotient,
    rank_correlation,
    spread,
)
from overspill.papers.spec import Measure, Measured, Point, Runs, Sweeps

# Nodes of the tree of figure 4, with the names of `chain_tree`.
SWITCHES = {f"S{number}": f"s{number - 1}" for number in range(1, 8)}
SENDERS = {f"H{number}": f"h{number - 1}" for number in range(1, 4)}
THETA, LAMBDA = "switch.overflow.theta", "switch.overflow.lambda"
# Section V: packets of a sender's burst, one more than the paper's numPacketsPerGenerate.
PACKETS = "traffic.bursts.packets"
LOADS = {"mild": 501, "moderate": 1501, "severe": 2501}
# Metrics of `packet_hist`: links that a packet crossed, one more than totalHop, and maxBouncedDistance.
CROSSED, DISTANCE = map(columns.PACKET_HIST.index, ("hops", "max_bounced_distance"))
Series = Mapping[tuple[str, int], np.ndarray]  # keys: switch; 0 for the normal, 1 for the bounce queue
STEP = 50.0  # us, equal to `measure.bin` of the sweep
THRESHOLD = 0.8  # theta of section V
NORMAL, BOUNCE = 0, 1
# Ports of `chain_tree`: the second port of a chain's switch leads to the root, the root's last to the
# receiver.
OUTPUTS = {"S4": ("s3", 1), "S5": ("s4", 1), "S6": ("s5", 1), "S7": ("s6", 3)}
UPSTREAM = ("S4", "S5", "S6")
GROUPS = {
    "S4 S5 S6": [(switch, kind) for switch in UPSTREAM for kind in (NORMAL, BOUNCE)],
    "S7 bounce": [("S7", BOUNCE)],
    "S7 normal": [("S7", NORMAL)],
}
LEVELS = {"S7": ("S7",), "S4_to_S6": ("S4", "S5", "S6"), "S1_to_S3": ("S1", "S2", "S3")}
UNTIL = 80.0  # lambda from which mean totalHop is stable


def load(runs: Runs, name: str) -> Point:
    """Returns the point of a load of section V."""
    values, points = line(runs, PACKETS)
    return points[values.index(LOADS[name])]


def counted(table: pa.Table, which: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns lower ends, exclusive upper ends and counts of a metric's bins, for delivered data packets."""
    keep = (columns.numbers(table, "metric") == which) & (columns.numbers(table, "data") == 1)
    low, high, count = (columns.numbers(table, name)[keep] for name in ("low", "high", "count"))
    return low, high, count


def within(table: pa.Table, hops: int) -> float:
    """Share of delivered data packets with a totalHop of at most `hops`, in %."""
    _, high, count = counted(table, CROSSED)
    return 100 * quotient(float(count[high - 1 <= hops + 1].sum()), float(count.sum()))


def by_switch(runs: Runs, table: pa.Table, column: str, switches: Mapping[str, str]) -> dict[str, int]:
    """Returns a counter of `ports`, summed over the ports of each switch, by the paper's name."""
    node, count = columns.numbers(table, "node"), columns.numbers(table, column)
    return {name: int(count[node == runs.node(ours)].sum()) for name, ours in switches.items()}


@dataclass(frozen=True)
class Queues:
    """Queues of the four outputs in one run, two each: most and mean frames by step, and limits in frames."""

    longest: Series
    mean: Series
    limit: Mapping[tuple[str, int], int]

    @property
    def busy(self) -> np.ndarray:
        """True for steps with a frame in any of the queues."""
        return np.asarray(np.any([one > 0 for one in self.longest.values()], axis=0))

    def peaks(self) -> list[tuple[int, int]]:
        """Returns first step and end of every period in which some queue is not empty."""
        edges = np.diff(np.concatenate(([0], self.busy.astype(np.int8), [0])))
        return list(
            zip(np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist(), strict=True)
        )

    def share(self, switch: str, kind: int) -> np.ndarray:
        """Returns the utilisation of a queue in each step."""
        return np.asarray(self.mean[switch, kind] / self.limit[switch, kind])

    def utilisation(self, switch: str) -> np.ndarray:
        """Returns the mean of both queues' utilisations in each step."""
        return np.asarray((self.share(switch, NORMAL) + self.share(switch, BOUNCE)) / 2)


def read_queues(runs: Runs) -> list[Queues]:
    """Reads the queues of every seed."""
    traces, limits = (runs.tables(name, "pabo") for name in ("sub_queue_trace", "sub_queues"))
    steps = max((int(columns.numbers(one, "bin").max()) + 1 for one in traces if one.num_rows), default=0)
    return [one_run(runs, pair, steps) for pair in zip(traces, limits, strict=True)]


def one_run(runs: Runs, tables: tuple[pa.Table, pa.Table], steps: int) -> Queues:
    """Reads the queues of one seed; a queue without a row in a step is empty there."""
    trace, limits = tables
    longest: dict[tuple[str, int], np.ndarray] = {}
    mean: dict[tuple[str, int], np.ndarray] = {}
    limit: dict[tuple[str, int], int] = {}
    for switch in OUTPUTS:
        for kind in (NORMAL, BOUNCE):
            of, rows = queue_rows(runs, limits, (switch, kind)), queue_rows(runs, trace, (switch, kind))
            if len(of) != 1 or columns.numbers(limits, "limit")[of[0]] == 0:
                raise Failed(
                    f"sub_queues: found {len(of)} queues of {switch}; expected one, with a limit in packets"
                )
            limit[switch, kind] = int(columns.numbers(limits, "limit")[of[0]])
            step = columns.numbers(trace, "bin")[rows]
            for found, name in ((longest, "max_packets"), (mean, "mean_packets")):
                found[switch, kind] = np.zeros(steps)
                found[switch, kind][step] = columns.numbers(trace, name)[rows]
    return Queues(longest, mean, limit)


def queue_rows(runs: Runs, table: pa.Table, which: tuple[str, int]) -> np.ndarray:
    """Selects the rows of a queue at an output.

    Raw packets have class 0, so that the number of a queue is its lane.
    """
    node, port = OUTPUTS[which[0]]
    keep = columns.numbers(table, "node") == runs.node(node)
    keep &= (columns.numbers(table, "port") == port) & (columns.numbers(table, "queue") == which[1])
    return np.flatnonzero(keep)


# Figure 8.


def peaks(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures figure 8a: the number of separate congestion periods."""
    yield measured(
        "whole second", "separate_peaks", [len(one.peaks()) for one in read_queues(sweeps["peaks"])]
    )


def first_peak(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures figure 8b: bounce queues in use, the order in which queues clear, and peaks of S4 to S6."""
    seeds = read_queues(sweeps["peaks"])
    case = "first peak"
    yield measured(case, "bounce_queues_used_after_theta", [used_after(one) for one in seeds])
    yield Measured(case, "bounce_queues_in_use", [in_use(one) for one in seeds], lengths(seeds))
    yield Measured(case, "order_of_clearing", [clearing(one) for one in seeds])
    yield measured(case, "spread_of_peaks_of_S4_to_S6", [unlike(one) for one in seeds])


def first_steps(queues: Queues) -> slice:
    """Returns the steps of the first peak; empty if there is no peak."""
    found = queues.peaks()
    return slice(*found[0]) if found else slice(0, 0)


def used_after(queues: Queues) -> float:
    """Time in us from S7's normal queue above theta to a frame in a bounce queue; NaN without both."""
    peak = first_steps(queues)
    limit = THRESHOLD * queues.limit["S7", NORMAL]
    above = np.flatnonzero(queues.longest["S7", NORMAL][peak] > limit)
    used = np.any([queues.longest[switch, BOUNCE][peak] > 0 for switch in OUTPUTS], axis=0)
    bounced = np.flatnonzero(used)
    return STEP * float(bounced[0] - above[0]) if len(above) and len(bounced) else float("nan")


def in_use(queues: Queues) -> str:
    """Names the switches whose bounce queue is used."""
    peak = first_steps(queues)
    return names({one: queues.longest[one, BOUNCE][peak].max(initial=0) for one in OUTPUTS})


def lengths(seeds: Sequence[Queues]) -> str:
    """Formats the most frames in each bounce queue and in each normal queue, over all seeds."""
    told = []
    for kind, name in ((BOUNCE, "bounce"), (NORMAL, "normal")):
        most = {one: max(int(run.longest[one, kind].max(initial=0)) for run in seeds) for one in OUTPUTS}
        told.append(f"{name} {', '.join(f'{one} {count}' for one, count in most.items())}")
    return f"longest queues in frames: {'; '.join(told)}"


def clearing(queues: Queues) -> str:
    """Formats the groups of queues in the order in which they become empty for good.

    Groups that become empty in the same step are joined by `and`.
    """
    peak = first_steps(queues)
    ends: dict[int, list[str]] = {}
    for name, group in GROUPS.items():
        busy = np.flatnonzero(np.any([queues.longest[one][peak] > 0 for one in group], axis=0))
        if len(busy):
            ends.setdefault(int(busy[-1]) + 1, []).append(name)
    return ", ".join(" and ".join(ends[end]) for end in sorted(ends)) or "none"


def unlike(queues: Queues) -> float:
    """Spread of the highest utilisations of S4 to S6."""
    peak = first_steps(queues)
    return spread(np.array([queues.utilisation(one)[peak].max(initial=0) for one in UPSTREAM]))


# Section II.


def example(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures figure 1: drops, and bounces of S4."""
    runs = sweeps["example"]
    [variant] = runs.variants
    yield measured("example", "drops", runs.metric("drops", variant))
    bounces = [by_switch(runs, table, "bounced", {"S4": "S4"}) for table in runs.tables("ports", variant)]
    yield measured("example", "bounces_at_S4", [one["S4"] for one in bounces])


def largest_hops(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures section II-C: correlation of lambda with the largest number of hops, in each seed."""
    runs = sweeps["raw_lambda"]
    lambdas, points = line(runs, f"variants.pabo.{LAMBDA}")
    curves = along(runs, "total_hop_max", "pabo", points)
    values = [rank_correlation(lambdas, curve) for curve in curves]
    yield measured("moderate", "rank_correlation_of_lambda_and_largest_total_hop", values)
    sizes = [abs(one) for one in values]
    yield measured("moderate", "size_of_rank_correlation_of_lambda_and_largest_total_hop", sizes)


# Section V-B.


def severity(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures drops under three loads, in % of generated packets, and where they occur."""
    runs = sweeps["severity"]
    for name in LOADS:
        ports = runs.tables("ports", "without", load(runs, name))
        case = f"{name}, without PABO"
        yield measured(case, "drop_rate", [100 * drop_rate(runs, table) for table in ports])
        places = [names(dropped_by(runs, table)) for table in ports]
        yield Measured(case, "dropping_switches", places, at_hosts(runs, ports))
    for name in LOADS:
        yield measured(f"{name}, PABO", "drops", runs.metric("drops", "pabo", load(runs, name)))


def drop_rate(runs: Runs, ports: pa.Table) -> float:
    """Returns dropped packets divided by generated ones.

    Generated packets are those that senders' ports enqueued or dropped, since nothing is bounced without
    PABO.
    """
    lost = dropped(ports)
    offered = columns.numbers(ports, "enqueued") + lost
    return quotient(float(lost.sum()), float(offered[sending(runs, ports)].sum()))


def sending(runs: Runs, ports: pa.Table) -> np.ndarray:
    """Selects the rows of `ports` that belong to senders."""
    return np.isin(columns.numbers(ports, "node"), [runs.node(ours) for ours in SENDERS.values()])


def dropped_by(runs: Runs, ports: pa.Table) -> dict[str, int]:
    """Returns packets dropped by each switch, by the paper's name."""
    return by_switch(runs, ports.append_column("lost", pa.array(dropped(ports))), "lost", SWITCHES)


def at_hosts(runs: Runs, tables: Sequence[pa.Table]) -> str:
    """Describes packets dropped by senders' own queues; empty without any."""
    lost = sum(int(dropped(one)[sending(runs, one)].sum()) for one in tables)
    return f"senders dropped {lost} packets" if lost else ""


def distances(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures table I: the largest bounced distance of packets, in % of delivered packets."""
    runs = sweeps["severity"]
    shares = {
        name: np.array([by_distance(one) for one in runs.tables("packet_hist", "pabo", load(runs, name))])
        for name in LOADS
    }
    for name, last in (("mild", 1), ("moderate", 1), ("severe", 2)):
        for distance in range(last + 1):
            yield measured(name, f"share_of_{distance}", shares[name][:, distance])
        yield measured(name, f"share_above_{last}", shares[name][:, last + 1 :].sum(axis=1))
    for more, less in (("mild", "moderate"), ("moderate", "severe")):
        yield measured(f"{more} less {less}", "share_of_0", shares[more][:, 0] - shares[less][:, 0])


def by_distance(table: pa.Table) -> list[float]:
    """Returns shares of the largest distances 0, 1, 2, and above, in %."""
    low, _, count = counted(table, DISTANCE)
    every = float(count.sum())
    if not every:  # The metric is recorded only if packets are bounced; otherwise it is 0 for all of them.
        low, every = np.zeros(1), float(counted(table, CROSSED)[2].sum())
        count = np.array([every])
    exact = [float(count[low == distance].sum()) for distance in range(3)]
    return [100 * quotient(one, every) for one in (*exact, every - sum(exact))]


def bounces(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures figure 7a: bounces by switch."""
    runs = sweeps["severity"]
    for at, name in enumerate(LOADS):
        tables = runs.tables("ports", "pabo", load(runs, name))
        counts = [by_switch(runs, table, "bounced", SWITCHES) for table in tables]
        yield Measured(name, "bouncing_switches", [names(one) for one in counts])
        for level in list(LEVELS)[: at + 1]:
            sums = [sum(one[switch] for switch in LEVELS[level]) for one in counts]
            yield measured(name, f"bounces_at_{level}", sums)


def total_hops(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures figure 7b: shares within a number of hops, and hops of packets without PABO."""
    runs = sweeps["severity"]
    for name, most in (("mild", 5), ("severe", 11)):
        tables = runs.tables("packet_hist", "pabo", load(runs, name))
        yield measured(name, f"share_within_{most}_hops", [within(table, most) for table in tables])
    plain = [
        [only_hops(one) for one in runs.tables("packet_hist", "without", load(runs, name))] for name in LOADS
    ]
    alike = [one[0] if len(set(one)) == 1 else float("nan") for one in zip(*plain, strict=True)]
    yield measured("without PABO", "hops", alike)


def only_hops(table: pa.Table) -> float:
    """Returns the totalHop of packets if all have the same, otherwise NaN."""
    low, high, count = counted(table, CROSSED)
    found = set(low[count > 0]) | set(high[count > 0] - 1)
    return float(found.pop()) - 1 if len(found) == 1 else float("nan")


# Section V-C.


def thetas(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures figure 9a: the share of bounced packets over theta, for each seed's curve."""
    from scipy import stats as scipy_stats  # slow to load

    runs = sweeps["raw_theta"]
    places, points = line(runs, f"variants.pabo.{THETA}")
    shares = along(runs, "bounced_share", "pabo", points)
    case = "theta 0 to 0.9"
    yield measured(case, "largest_rise_of_bounced_share", np.diff(shares, axis=1).max(axis=1))
    lines = [scipy_stats.linregress(places, curve) for curve in shares]
    squares = [linear_correlation(np.array(places), curve) ** 2 for curve in shares]
    yield measured(case, "r_squared_of_a_line", squares)
    yield measured(case, "slope", [one.slope for one in lines])
    for theta in (0.0, 0.9):
        yield measured(f"theta={theta:g}", "bounced_share", shares[:, places.index(theta)])


def lambdas(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures figure 9b: mean totalHop over lambda."""
    runs = sweeps["raw_lambda"]
    places, points = line(runs, f"variants.pabo.{LAMBDA}")
    means = along(runs, "total_hop_mean", "pabo", points)
    for at in (0.0, 160.0):
        yield measured(f"lambda={at:g}", "mean_total_hop", means[:, places.index(at)])
    middle = places.index(UNTIL)
    yield measured("lambda 0 to 160", "gain_to_80_by_gain_from_80", gains(means, middle))


def gains(means: Curve, middle: int) -> list[float]:
    """Gain up to a place divided by the gain beyond it, as jackknife pseudo-values.

    The gain beyond may vanish in the noise of one seed.
    """
    return jackknife(
        lambda curve: quotient(float(curve[middle] - curve[0]), float(curve[-1] - curve[middle])),
        means,
    )


MEASURES: dict[str, Measure] = {
    "fig1": example,
    "secII-C": largest_hops,
    "secV-B": severity,
    "tab1": distances,
    "fig7a": bounces,
    "fig7b": total_hops,
    "fig8a": peaks,
    "fig8b": first_peak,
    "fig9a": thetas,
    "fig9b": lambdas,
}
