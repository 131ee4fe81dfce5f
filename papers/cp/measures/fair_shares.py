"""Measures of sections 6.2 and 6.3: goodput relative to fair shares, at bottlenecks and over two paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from overspill import columns
from overspill.papers.common import Curve, along, measured, quotients
from overspill.papers.spec import Measure, Measured, Point, Runs, Sweeps

from .schemes import (
    BOTH,
    CARRIED,
    CP,
    DCTCP,
    DCTCP_200,
    NAMES,
    TCP,
    TCP_200,
    TIES,
    at,
    chosen,
    listed,
    mean_over,
    metric_of,
    modes,
    numbers,
)

FLOWS = "traffic.experimental.flows"  # flows of the experimental host, and of each of six background hosts
PAIRS = {"12-2": 2, "60-10": 10, "120-20": 20}
EVERY = {"12-2": 2, "36-6": 6, "60-10": 10, "90-15": 15, "120-20": 20}
FOUR = (TCP, DCTCP, CP, BOTH)
BIN, FIRST, LAST = 0.5, 4, 24  # s of a bin, and bins of the measurement window
OF_BACKGROUND, OF_EXPERIMENT = 0, 1  # indices of workloads, in the order of the scenario
FIVE = (TCP, TCP_200, CP, DCTCP_200, BOTH)
SETS = {"few": 5, "middle": 25, "many": 50}  # sweeps, and number of background flows at each bottleneck
BACKGROUND = ("first_a", "first_b", "second_a", "second_b")
RATIOS = range(20, 201, 20)  # experimental flows in % of the background flows of one bottleneck
BACK = 60e-6  # s of an ACK's idle return path: two stacks, four links and its transmission
SEGMENT = 1448 * 8
WEIGHT = "topology.link.5th.weight"  # P, the share of path A
LABELS = {
    "tcp_3": "TCP, 3 duplicates",
    "tcp_3_200ms": "TCP 200 ms, 3 duplicates",
    "tcp_none": "TCP, no threshold",
    "tcp_none_200ms": "TCP 200 ms, no threshold",
    "cp_3": "CP, 3 duplicates",
    "cp_none": "CP, no threshold",
    "dctcp_3": "DCTCP, 3 duplicates",
    "dctcp_none": "DCTCP, no threshold",
    "cp_dctcp_none": "CP&DCTCP, no threshold",
}


def goodput(runs: Runs, variant: str, point: Point) -> list[tuple[np.ndarray, np.ndarray]]:
    """Goodput of each background and each experimental flow in the window in Mb/s, run by run."""
    found = []
    tables = zip(
        runs.tables("flows", variant, point), runs.tables("flow_goodput", variant, point), strict=True
    )
    for flows, bins in tables:
        number, whose = columns.numbers(flows, "flow"), columns.numbers(flows, "traffic")
        time = columns.numbers(bins, "bin")
        inside = (time >= FIRST) & (time < LAST)
        total = np.zeros(int(number.max()) + 1)
        np.add.at(total, columns.numbers(bins, "flow")[inside], columns.numbers(bins, "bytes")[inside])
        rate = total * 8 / (BIN * (LAST - FIRST)) / 1e6
        found.append((rate[number[whose == OF_BACKGROUND]], rate[number[whose == OF_EXPERIMENT]]))
    return found


def ratio(runs: Runs, variant: str, point: Point) -> np.ndarray:
    """Mean goodput of experimental flows divided by that of background flows, run by run."""
    found = goodput(runs, variant, point)
    return quotients(np.array([one[1].mean() for one in found]), np.array([one[0].mean() for one in found]))


def efjr(runs: Runs, variant: str, point: Point) -> np.ndarray:
    """Mean absolute deviation of the experimental flows' goodput relative to its mean, in %."""
    found = [one[1] for one in goodput(runs, variant, point)]
    apart = np.array([np.abs(one - one.mean()).mean() for one in found])
    return 100 * quotients(apart, np.array([one.mean() for one in found]))


def figure_10(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the goodput ratio of both groups, with jittered and with exact hosts."""
    metric = "goodput_experimental_by_background"
    for sweep, mode in TIES.items():
        runs = sweeps[f"pairs{sweep}"]
        found = {
            (one, pair): ratio(runs, one, at(runs, FLOWS, n)) for pair, n in PAIRS.items() for one in FOUR
        }
        for pair in PAIRS:
            yield measured(f"TCP, {pair}{mode}", metric, found[TCP, pair], modes(found[TCP, pair], ""))
            for variant in (CP, BOTH):
                note = modes(found[variant, pair], "")
                yield measured(f"{NAMES[variant]}, {pair}{mode}", metric, found[variant, pair], note)
        for pair in ("12-2", "60-10"):
            apart = [np.abs(found[one, pair] - 1) for one in (DCTCP, TCP)]
            yield measured(
                f"DCTCP less TCP, {pair}{mode}", "distance_from_1_of_the_ratio", apart[0] - apart[1]
            )
        last = found[DCTCP, "120-20"]
        yield measured(f"DCTCP, 120-20{mode}", metric, last, modes(last, ""))


def figure_11(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures EFJR over the pairs; the least and the largest pair are those of the mean over seeds."""
    runs = sweeps["pairs"]
    found = {
        one: np.array([efjr(runs, one, at(runs, FLOWS, n)) for n in EVERY.values()])
        for one in (DCTCP, CP, BOTH)
    }
    means = found[DCTCP].mean(axis=1)
    pairs = list(EVERY)
    least, most = int(means.argmin()), int(means.argmax())
    yield measured("DCTCP, least of the pairs", "EFJR", found[DCTCP][least], pairs[least])
    yield measured("DCTCP, largest of the pairs", "EFJR", found[DCTCP][most], pairs[most])
    worst = int(found[CP].mean(axis=1).argmax())
    yield measured("CP, largest of the pairs", "EFJR", found[CP][worst], pairs[worst])
    yield measured("CP&DCTCP less CP", "EFJR", (found[BOTH] - found[CP]).mean(axis=0))


def rto_alike(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures goodput with a minimum RTO of 200 ms relative to 10 ms, with 60 and 10 flows."""
    runs = sweeps["pairs"]
    point = at(runs, FLOWS, 10)
    for slow, fast, case, group in (
        (DCTCP_200, DCTCP, "DCTCP 200 ms by 10 ms, 60-10", 1),
        (DCTCP_200, DCTCP, "DCTCP 200 ms by 10 ms, 60-10, all flows", None),
        (TCP_200, TCP, "TCP 200 ms by 10 ms, 60-10", None),
    ):
        means = [
            np.array(
                [
                    (np.concatenate(one) if group is None else one[group]).mean()
                    for one in goodput(runs, variant, point)
                ]
            )
            for variant in (slow, fast)
        ]
        yield measured(case, "goodput_of_a_flow", quotients(*means))


def theory(ratio: float) -> float:
    """Returns the goodput in bit/s of all experimental flows if shares follow round trips (footnote 10)."""
    return ratio / (2 + ratio) * CARRIED


def by_theory(runs: Runs, variant: str, background: int, points: Sequence[Point]) -> Curve:
    """Goodput of all experimental flows divided by that of theory, seeds by points."""
    shares = np.array([theory(float(point[FLOWS]) / background) for point in points])
    return np.asarray(along(runs, metric_of("goodput", "experimental"), variant, points) / shares)


def loss_ratio(runs: Runs, variant: str, workloads: Sequence[str]) -> np.ndarray:
    """Lost packets of workloads over all points, in % of the lost and delivered ones, seed by seed."""
    window = 4.0
    lost = sum(along(runs, metric_of("drops", one), variant, runs.points).sum(axis=1) for one in workloads)
    there = sum(along(runs, metric_of("goodput", one), variant, runs.points).sum(axis=1) for one in workloads)
    return 100 * quotients(np.asarray(lost), np.asarray(lost + there * window / SEGMENT))


def figure_2(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures TCP's goodput relative to theory, and the loss of experimental and background flows."""
    for name, background in SETS.items():
        runs = sweeps[name]
        for variant in (TCP, TCP_200):
            case = f"{background} background flows" + (", TCP 200 ms" if variant == TCP_200 else "")
            found = by_theory(runs, variant, background, runs.points)
            note = listed(
                [point[FLOWS] + " flows" for point in runs.points], list(found.mean(axis=0)), "of theory"
            )
            note = "; ".join(filter(None, (note, modes(found, "of theory"))))
            yield measured(case, "experimental_goodput_by_theory", mean_over(found), note)
        more = loss_ratio(runs, TCP, ["experimental"]) - loss_ratio(runs, TCP, BACKGROUND)
        yield measured(f"{background} background flows", "loss_ratio_of_experimental_less_background", more)


def figure_12_theory(_: Sweeps) -> Iterator[Measured]:
    """Yields the line of theory of figure 12."""
    for ratio in RATIOS:
        yield measured(f"{ratio} %", "theory", [theory(ratio / 100) / 1e6])


def levels(sweeps: Sweeps, name: str, mode: str) -> dict[str, np.ndarray]:
    """Mean share of theory of every scheme in %."""
    runs = sweeps[name + mode]
    return {one: 100 * mean_over(by_theory(runs, one, SETS[name], runs.points)) for one in FIVE}


def figure_12a(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures goodput relative to theory with five background flows."""
    for mode, told in TIES.items():
        runs, found = sweeps[f"few{mode}"], levels(sweeps, "few", mode)
        above = chosen(runs, FLOWS, 9)
        for variant in (DCTCP_200, TCP, CP):
            note = modes(100 * by_theory(runs, variant, SETS["few"], runs.points), "%")
            yield measured(f"{NAMES[variant]}{told}", "goodput_by_theory", found[variant], note)
        yield measured(f"TCP less CP{told}", "goodput_by_theory", found[TCP] - found[CP])
        for variant in FIVE:
            shares = by_theory(runs, variant, SETS["few"], above)
            case = f"{NAMES[variant]}, more than 8 flows{told}"
            yield measured(case, "goodput_by_theory", mean_over(shares), modes(shares, "of theory"))


def figure_12b(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures goodput relative to theory with fifty background flows."""
    for mode, told in TIES.items():
        runs, found = sweeps[f"many{mode}"], levels(sweeps, "many", mode)
        yield measured(f"CP{told}", "goodput_by_theory", found[CP])
        yield measured(f"CP&DCTCP{told}", "goodput_by_theory", found[BOTH])
        if not mode:
            shares = 100 * by_theory(runs, BOTH, SETS["many"], runs.points)
            # The point is the largest of the mean over seeds: the largest of each seed would be biased
            # upward.
            top = int(shares.mean(axis=0).argmax())
            note = f"at {runs.points[top][FLOWS]} experimental flows"
            yield measured("CP&DCTCP", "largest_goodput_by_theory", shares[:, top], note)
        others = np.min([found[one] for one in FIVE if one != TCP_200], axis=0)
        case = f"TCP 200 ms less the lowest other{told}"
        yield measured(case, "goodput_by_theory", found[TCP_200] - others)
        last = [at(runs, FLOWS, 2 * SETS["many"])]
        for variant in (TCP, DCTCP_200):
            share = by_theory(runs, variant, SETS["many"], last)[:, 0]
            case = f"{NAMES[variant]}, 200 %{told}"
            yield measured(case, "goodput_by_theory", share, modes(share, "of theory"))
        yield measured(f"CP&DCTCP less CP{told}", "goodput_by_theory", found[BOTH] - found[CP])


def besides(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures claims of section 6.2 without a figure: RTOs, round trips, and TCP's distance from theory."""
    yield from rto_alike(sweeps)
    runs = sweeps["many"]
    point = at(runs, FLOWS, SETS["many"])
    theirs = (
        np.mean([runs.metric(metric_of("delay_mean", one), TCP, point) for one in BACKGROUND], axis=0) + BACK
    )
    ours = runs.metric(metric_of("delay_mean", "experimental"), TCP, point) + BACK
    case = "50 background, 50 experimental flows, TCP"
    yield measured(case, "round_trip_of_experimental_by_background", quotients(ours, theirs))
    apart = {
        name: np.abs(by_theory(sweeps[name], TCP, SETS[name], sweeps[name].points) - 1)
        for name in ("few", "many")
    }
    count = min(len(one) for one in apart.values())  # seeds that both sweeps have
    nearer = mean_over(apart["few"][:count]) - mean_over(apart["many"][:count])
    yield measured("5 less 50 background flows, TCP", "distance_from_1_of_goodput_by_theory", nearer)


def theory_over_paths(share: float) -> float:
    """Returns half of path B and the matching share of path A in bit/s (footnote 11)."""
    return CARRIED / 2 / (1 - share)


def throughput(runs: Runs, variant: str) -> Curve:
    """Goodput of the flow over both paths in Mb/s, seeds by P."""
    return along(runs, metric_of("goodput", "multipath"), variant, runs.points) / 1e6


def figure_14_theory(_: Sweeps) -> Iterator[Measured]:
    """Yields the line of theory of figure 14."""
    for percent in range(0, 60, 10):
        yield measured(f"P = {percent} %", "theory", [theory_over_paths(percent / 100) / 1e6])


def figure_14(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures every claim of the text on figure 14."""
    runs = sweeps["out_of_order"]
    shares = numbers(runs, WEIGHT)
    percent = [round(100 * one) for one in shares]
    line = np.array([theory_over_paths(one) / 1e6 for one in shares])
    found = {one: throughput(runs, one) for one in runs.variants}
    for variant in ("tcp_3", "cp_3"):
        name, curve = LABELS[variant], found[variant]
        yield measured(name, "largest_throughput", curve.max(axis=1))
        yield measured(name, "throughput_at_the_largest_P", curve[:, -1])
        rise = curve[:, -1] - curve[:, percent.index(10)]
        yield measured(name, "throughput_at_50_less_at_10_percent", rise)
    slower = found["tcp_none_200ms"] - found["tcp_none"]
    for place, one in enumerate(percent):
        case = f"P = {one} %"
        cp, dctcp = (found[v][:, place] / line[place] for v in ("cp_none", "dctcp_3"))
        yield measured(f"CP, no threshold, {case}", "throughput_by_theory", cp)
        yield measured(f"DCTCP, 3 duplicates, {case}", "throughput_by_theory", dctcp)
        if one < 50:
            yield measured(f"TCP 200 ms less 10 ms, no threshold, {case}", "throughput", slower[:, place])
    nearer = found["tcp_none"] / line
    rise = nearer[:, percent.index(40)] - nearer[:, percent.index(10)]
    yield measured("TCP, no threshold, 40 less 10 %", "throughput_by_theory", rise)
    alike = np.array([quotients(*pair) for pair in zip(found["dctcp_3"], found["dctcp_none"], strict=True)])
    farthest = [one[np.abs(one - 1).argmax()] for one in alike]
    yield measured("DCTCP, 3 duplicates by no threshold", "throughput", farthest)


MEASURES: dict[str, Measure] = {
    "fig10": figure_10,
    "fig11": figure_11,
    "fig2": figure_2,
    "fig12t": figure_12_theory,
    "fig12a": figure_12a,
    "fig12b": figure_12b,
    "sec6.2": besides,
    "fig14t": figure_14_theory,
    "fig14": figure_14,
}
