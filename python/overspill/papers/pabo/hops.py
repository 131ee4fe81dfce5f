"""PABO's figures of raw packets: the example of section II, lambda and hops of II-C, and section V."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.pabo import common, hops_drawn, queues
from overspill.papers.pabo.common import LAMBDA, LOADS, THETA, Curve, load, measured
from overspill.papers.spec import Figure, Measured, Runs

Sweeps = Mapping[str, Runs]

LEVELS = {"S7": ("S7",), "S4_to_S6": ("S4", "S5", "S6"), "S1_to_S3": ("S1", "S2", "S3")}
UNTIL = 80.0  # of lambda: where mean totalHop has become stable


# Section II.


def example(sweeps: Sweeps) -> Iterator[Measured]:
    """Figure 1: nothing is lost, and S4 bounces."""
    runs = sweeps["example"]
    [variant] = runs.variants
    yield measured("example", "drops", runs.metric("drops", variant))
    bounces = [
        common.by_switch(runs, table, "bounced", {"S4": "S4"}) for table in runs.tables("ports", variant)
    ]
    yield measured("example", "bounces_at_S4", [one["S4"] for one in bounces])


def largest_hops(sweeps: Sweeps) -> Iterator[Measured]:
    """Section II-C: lambda and the largest number of hops, in each seed."""
    runs = sweeps["raw_lambda"]
    lambdas, points = common.line(runs, f"variants.pabo.{LAMBDA}")
    curves = common.along(runs, "total_hop_max", "pabo", points)
    values = [common.rank_correlation(lambdas, curve) for curve in curves]
    yield measured("moderate", "rank_correlation_of_lambda_and_largest_total_hop", values)
    sizes = [abs(one) for one in values]
    yield measured("moderate", "size_of_rank_correlation_of_lambda_and_largest_total_hop", sizes)


# Section V-B.


def severity(sweeps: Sweeps) -> Iterator[Measured]:
    """Drops under three loads, in % of what the senders generate, and where."""
    runs = sweeps["severity"]
    for name in LOADS:
        ports = runs.tables("ports", "without", load(runs, name))
        case = f"{name}, without PABO"
        yield measured(case, "drop_rate", [100 * drop_rate(runs, table) for table in ports])
        places = [common.names(dropped_by(runs, table)) for table in ports]
        yield Measured(case, "dropping_switches", places, at_hosts(runs, ports))
    for name in LOADS:
        yield measured(f"{name}, PABO", "drops", runs.metric("drops", "pabo", load(runs, name)))


def drop_rate(runs: Runs, ports: pa.Table) -> float:
    """Packets dropped anywhere by packets generated: without PABO what senders' ports took or dropped."""
    lost = common.dropped(ports)
    offered = columns.numbers(ports, "enqueued") + lost
    return common.quotient(float(lost.sum()), float(offered[sending(runs, ports)].sum()))


def sending(runs: Runs, ports: pa.Table) -> np.ndarray:
    """Which rows of `ports` are of senders."""
    return np.isin(columns.numbers(ports, "node"), [runs.node(ours) for ours in common.SENDERS.values()])


def dropped_by(runs: Runs, ports: pa.Table) -> dict[str, int]:
    """Packets dropped by each switch, by the paper's name."""
    return common.by_switch(
        runs, ports.append_column("lost", pa.array(common.dropped(ports))), "lost", common.SWITCHES
    )


def at_hosts(runs: Runs, tables: Sequence[pa.Table]) -> str:
    """A note where a sender's own queue dropped packets."""
    lost = sum(int(common.dropped(one)[sending(runs, one)].sum()) for one in tables)
    return f"senders dropped {lost} packets" if lost else ""


def distances(sweeps: Sweeps) -> Iterator[Measured]:
    """Table I: how far back packets were at most, in % of delivered packets."""
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
    """Shares in % of the largest distances 0, 1, 2, and of all above."""
    low, _, count = common.counted(table, common.DISTANCE)
    every = float(count.sum())
    if not every:  # Told only where packets are bounced; else it is 0 for all of them.
        low, every = np.zeros(1), float(common.counted(table, common.CROSSED)[2].sum())
        count = np.array([every])
    exact = [float(count[low == distance].sum()) for distance in range(3)]
    return [100 * common.quotient(one, every) for one in (*exact, every - sum(exact))]


def bounces(sweeps: Sweeps) -> Iterator[Measured]:
    """Figure 7a: which switches bounce, and how often."""
    runs = sweeps["severity"]
    for at, name in enumerate(LOADS):
        tables = runs.tables("ports", "pabo", load(runs, name))
        counts = [common.by_switch(runs, table, "bounced", common.SWITCHES) for table in tables]
        yield Measured(name, "bouncing_switches", [common.names(one) for one in counts])
        for level in list(LEVELS)[: at + 1]:
            sums = [sum(one[switch] for switch in LEVELS[level]) for one in counts]
            yield measured(name, f"bounces_at_{level}", sums)


def total_hops(sweeps: Sweeps) -> Iterator[Measured]:
    """Figure 7b: shares within so many hops, and the hops of a packet that nobody bounces."""
    runs = sweeps["severity"]
    for name, most in (("mild", 5), ("severe", 11)):
        tables = runs.tables("packet_hist", "pabo", load(runs, name))
        yield measured(name, f"share_within_{most}_hops", [common.within(table, most) for table in tables])
    plain = [
        [only_hops(one) for one in runs.tables("packet_hist", "without", load(runs, name))] for name in LOADS
    ]
    alike = [one[0] if len(set(one)) == 1 else float("nan") for one in zip(*plain, strict=True)]
    yield measured("without PABO", "hops", alike)


def only_hops(table: pa.Table) -> float:
    """TotalHop of every packet where all have the same, else NaN."""
    low, high, count = common.counted(table, common.CROSSED)
    found = set(low[count > 0]) | set(high[count > 0] - 1)
    return float(found.pop()) - 1 if len(found) == 1 else float("nan")


# Section V-C.


def thetas(sweeps: Sweeps) -> Iterator[Measured]:
    """Figure 9a: theta and the share of bounced packets, each seed's curve."""
    from scipy import stats as scipy_stats  # slow to load

    runs = sweeps["raw_theta"]
    places, points = common.line(runs, f"variants.pabo.{THETA}")
    shares = common.along(runs, "bounced_share", "pabo", points)
    case = "theta 0 to 0.9"
    yield measured(case, "largest_rise_of_bounced_share", np.diff(shares, axis=1).max(axis=1))
    lines = [scipy_stats.linregress(places, curve) for curve in shares]
    squares = [common.linear_correlation(np.array(places), curve) ** 2 for curve in shares]
    yield measured(case, "r_squared_of_a_line", squares)
    yield measured(case, "slope", [one.slope for one in lines])
    for theta in (0.0, 0.9):
        yield measured(f"theta={theta:g}", "bounced_share", shares[:, places.index(theta)])


def lambdas(sweeps: Sweeps) -> Iterator[Measured]:
    """Figure 9b: lambda and mean totalHop."""
    runs = sweeps["raw_lambda"]
    places, points = common.line(runs, f"variants.pabo.{LAMBDA}")
    means = common.along(runs, "total_hop_mean", "pabo", points)
    for at in (0.0, 160.0):
        yield measured(f"lambda={at:g}", "mean_total_hop", means[:, places.index(at)])
    middle = places.index(UNTIL)
    yield measured("lambda 0 to 160", "gain_to_80_by_gain_from_80", gains(means, middle))


def gains(means: Curve, middle: int) -> list[float]:
    """Gain up to a place by the gain from there on; the latter may be lost in one seed's noise."""
    return common.jackknife(
        lambda curve: common.quotient(float(curve[middle] - curve[0]), float(curve[-1] - curve[middle])),
        means,
    )


FIGURES = {
    "fig1": Figure(example, hops_drawn.example),
    "secII-C": Figure(largest_hops, hops_drawn.largest_hops),
    "secV-B": Figure(severity),
    "tab1": Figure(distances, hops_drawn.distances),
    "fig7a": Figure(bounces, hops_drawn.bounces),
    "fig7b": Figure(total_hops, hops_drawn.total_hops),
    "fig8a": Figure(queues.peaks, queues.draw_whole),
    "fig8b": Figure(queues.first_peak, queues.draw_first),
    "fig9a": Figure(thetas, hops_drawn.thetas),
    "fig9b": Figure(lambdas, hops_drawn.lambdas),
}
