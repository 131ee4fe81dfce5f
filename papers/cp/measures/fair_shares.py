"""Measures of CP's sections 6.2 and 6.3: goodput relative to fair shares at bottlenecks or over two paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from overspill import columns
from overspill.papers.common import SeedCurve, build_measured, divide_by_seed, metric_along_points
from overspill.papers.spec import Measure, Measured, Point, Runs, Sweeps

from .schemes import (
    CP,
    CP_DCTCP,
    DCTCP,
    DCTCP_200,
    LINK_GOODPUT,
    NAMES,
    TCP,
    TCP_200,
    TIE_LABELS,
    describe_modes,
    format_by_name,
    mean_over_points,
    metric_key,
    path_values,
    point_at,
    select_points,
)

FLOWS_PATH = (
    "traffic.experimental.flows"  # flows of the experimental host, and of each of six background hosts
)
PAIRS = {"12-2": 2, "60-10": 10, "120-20": 20}
ALL_PAIRS = {"12-2": 2, "36-6": 6, "60-10": 10, "90-15": 15, "120-20": 20}
FOUR_SCHEMES = (TCP, DCTCP, CP, CP_DCTCP)
BIN_SECONDS, FIRST_BIN, LAST_BIN = 0.5, 4, 24  # s of a bin, and bins of the measurement window
BACKGROUND_WORKLOAD, EXPERIMENT_WORKLOAD = 0, 1  # indices of workloads, in the order of the scenario
FIVE_SCHEMES = (TCP, TCP_200, CP, DCTCP_200, CP_DCTCP)
BACKGROUND_FLOWS = {
    "few": 5,
    "middle": 25,
    "many": 50,
}  # sweeps, and number of background flows at each bottleneck
BACKGROUND_WORKLOADS = ("first_a", "first_b", "second_a", "second_b")
FLOW_RATIOS = range(20, 201, 20)  # experimental flows in % of the background flows of one bottleneck
ACK_PATH_SECONDS = 60e-6  # s of an ACK's idle return path: two stacks, four links and its transmission
SEGMENT_BITS = 1448 * 8
WEIGHT_PATH = "topology.link.5th.weight"  # P, the share of path A
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


def flow_goodputs(runs: Runs, variant: str, point: Point) -> list[tuple[np.ndarray, np.ndarray]]:
    """Goodput of each background and each experimental flow in the window in Mb/s, run by run."""
    found = []
    tables = zip(
        runs.tables("flows", variant, point), runs.tables("flow_goodput", variant, point), strict=True
    )
    for flows, bins in tables:
        number, whose = columns.column_to_numpy(flows, "flow"), columns.column_to_numpy(flows, "traffic")
        time = columns.column_to_numpy(bins, "bin")
        inside = (time >= FIRST_BIN) & (time < LAST_BIN)
        total = np.zeros(int(number.max()) + 1)
        np.add.at(
            total,
            columns.column_to_numpy(bins, "flow")[inside],
            columns.column_to_numpy(bins, "bytes")[inside],
        )
        rate = total * 8 / (BIN_SECONDS * (LAST_BIN - FIRST_BIN)) / 1e6
        found.append((rate[number[whose == BACKGROUND_WORKLOAD]], rate[number[whose == EXPERIMENT_WORKLOAD]]))
    return found


def goodput_ratio(runs: Runs, variant: str, point: Point) -> np.ndarray:
    """Mean goodput of experimental flows divided by that of background flows, run by run."""
    found = flow_goodputs(runs, variant, point)
    return divide_by_seed(
        np.array([one[1].mean() for one in found]), np.array([one[0].mean() for one in found])
    )


def goodput_deviation(runs: Runs, variant: str, point: Point) -> np.ndarray:
    """Mean absolute deviation of the experimental flows' goodput relative to its mean, in %."""
    found = [one[1] for one in flow_goodputs(runs, variant, point)]
    apart = np.array([np.abs(one - one.mean()).mean() for one in found])
    return 100 * divide_by_seed(apart, np.array([one.mean() for one in found]))


def measure_figure_10(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the goodput ratio of both groups of flows, with and without jitter of hosts."""
    metric = "goodput_experimental_by_background"
    for sweep, mode in TIE_LABELS.items():
        runs = sweeps[f"pairs{sweep}"]
        found = {
            (one, pair): goodput_ratio(runs, one, point_at(runs, FLOWS_PATH, n))
            for pair, n in PAIRS.items()
            for one in FOUR_SCHEMES
        }
        for pair in PAIRS:
            yield build_measured(
                f"TCP, {pair}{mode}", metric, found[TCP, pair], describe_modes(found[TCP, pair], "")
            )
            for variant in (CP, CP_DCTCP):
                note = describe_modes(found[variant, pair], "")
                yield build_measured(f"{NAMES[variant]}, {pair}{mode}", metric, found[variant, pair], note)
        for pair in ("12-2", "60-10"):
            apart = [np.abs(found[one, pair] - 1) for one in (DCTCP, TCP)]
            yield build_measured(
                f"DCTCP less TCP, {pair}{mode}", "distance_from_1_of_the_ratio", apart[0] - apart[1]
            )
        last = found[DCTCP, "120-20"]
        yield build_measured(f"DCTCP, 120-20{mode}", metric, last, describe_modes(last, ""))


def measure_figure_11(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures EFJR by pair of flow numbers; the least and the largest are those of the mean over seeds."""
    runs = sweeps["pairs"]
    found = {
        one: np.array(
            [goodput_deviation(runs, one, point_at(runs, FLOWS_PATH, n)) for n in ALL_PAIRS.values()]
        )
        for one in (DCTCP, CP, CP_DCTCP)
    }
    means = found[DCTCP].mean(axis=1)
    pairs = list(ALL_PAIRS)
    least, most = int(means.argmin()), int(means.argmax())
    yield build_measured("DCTCP, least of the pairs", "EFJR", found[DCTCP][least], pairs[least])
    yield build_measured("DCTCP, largest of the pairs", "EFJR", found[DCTCP][most], pairs[most])
    worst = int(found[CP].mean(axis=1).argmax())
    yield build_measured("CP, largest of the pairs", "EFJR", found[CP][worst], pairs[worst])
    yield build_measured("CP&DCTCP less CP", "EFJR", (found[CP_DCTCP] - found[CP]).mean(axis=0))


def measure_rto_effect(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures goodput with a minRTO of 200 ms relative to 10 ms (60 background, 10 experimental flows)."""
    runs = sweeps["pairs"]
    point = point_at(runs, FLOWS_PATH, 10)
    for slow, fast, case, group in (
        (DCTCP_200, DCTCP, "DCTCP 200 ms by 10 ms, 60-10", 1),
        (DCTCP_200, DCTCP, "DCTCP 200 ms by 10 ms, 60-10, all flows", None),
        (TCP_200, TCP, "TCP 200 ms by 10 ms, 60-10", None),
    ):
        means = [
            np.array(
                [
                    (np.concatenate(one) if group is None else one[group]).mean()
                    for one in flow_goodputs(runs, variant, point)
                ]
            )
            for variant in (slow, fast)
        ]
        yield build_measured(case, "goodput_of_a_flow", divide_by_seed(*means))


def theoretical_goodput(ratio: float) -> float:
    """Returns the goodput in bit/s of all experimental flows if rates are inverse to RTTs (footnote 10)."""
    return ratio / (2 + ratio) * LINK_GOODPUT


def share_of_theory(runs: Runs, variant: str, background: int, points: Sequence[Point]) -> SeedCurve:
    """Goodput of all experimental flows divided by its theoretical value, seeds by points."""
    shares = np.array([theoretical_goodput(float(point[FLOWS_PATH]) / background) for point in points])
    return np.asarray(
        metric_along_points(runs, metric_key("goodput", "experimental"), variant, points) / shares
    )


def loss_ratio(runs: Runs, variant: str, workloads: Sequence[str]) -> np.ndarray:
    """Lost packets of some workloads, in % of lost and delivered ones, over all points, seed by seed."""
    window = 4.0
    lost = sum(
        metric_along_points(runs, metric_key("drops", one), variant, runs.points).sum(axis=1)
        for one in workloads
    )
    there = sum(
        metric_along_points(runs, metric_key("goodput", one), variant, runs.points).sum(axis=1)
        for one in workloads
    )
    return 100 * divide_by_seed(np.asarray(lost), np.asarray(lost + there * window / SEGMENT_BITS))


def measure_figure_2(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures TCP's goodput relative to theory, and the loss of experimental and background flows."""
    for name, background in BACKGROUND_FLOWS.items():
        runs = sweeps[name]
        for variant in (TCP, TCP_200):
            case = f"{background} background flows" + (", TCP 200 ms" if variant == TCP_200 else "")
            found = share_of_theory(runs, variant, background, runs.points)
            note = format_by_name(
                [point[FLOWS_PATH] + " flows" for point in runs.points], list(found.mean(axis=0)), "of theory"
            )
            note = "; ".join(filter(None, (note, describe_modes(found, "of theory"))))
            yield build_measured(case, "experimental_goodput_by_theory", mean_over_points(found), note)
        more = loss_ratio(runs, TCP, ["experimental"]) - loss_ratio(runs, TCP, BACKGROUND_WORKLOADS)
        yield build_measured(
            f"{background} background flows", "loss_ratio_of_experimental_less_background", more
        )


def measure_figure_12_theory(_: Sweeps) -> Iterator[Measured]:
    """Yields the theoretical goodput in figure 12 for each ratio of flows."""
    for ratio in FLOW_RATIOS:
        yield build_measured(f"{ratio} %", "theory", [theoretical_goodput(ratio / 100) / 1e6])


def mean_shares_of_theory(sweeps: Sweeps, name: str, mode: str) -> dict[str, np.ndarray]:
    """Goodput in % of its theoretical value, as a mean over points, for every scheme."""
    runs = sweeps[name + mode]
    return {
        one: 100 * mean_over_points(share_of_theory(runs, one, BACKGROUND_FLOWS[name], runs.points))
        for one in FIVE_SCHEMES
    }


def measure_figure_12a(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures goodput relative to the theoretical value, with five background flows."""
    for mode, told in TIE_LABELS.items():
        runs, found = sweeps[f"few{mode}"], mean_shares_of_theory(sweeps, "few", mode)
        above = select_points(runs, FLOWS_PATH, 9)
        for variant in (DCTCP_200, TCP, CP):
            note = describe_modes(
                100 * share_of_theory(runs, variant, BACKGROUND_FLOWS["few"], runs.points), "%"
            )
            yield build_measured(f"{NAMES[variant]}{told}", "goodput_by_theory", found[variant], note)
        yield build_measured(f"TCP less CP{told}", "goodput_by_theory", found[TCP] - found[CP])
        for variant in FIVE_SCHEMES:
            shares = share_of_theory(runs, variant, BACKGROUND_FLOWS["few"], above)
            case = f"{NAMES[variant]}, more than 8 flows{told}"
            yield build_measured(
                case, "goodput_by_theory", mean_over_points(shares), describe_modes(shares, "of theory")
            )


def measure_figure_12b(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures goodput relative to the theoretical value, with fifty background flows."""
    for mode, told in TIE_LABELS.items():
        runs, found = sweeps[f"many{mode}"], mean_shares_of_theory(sweeps, "many", mode)
        yield build_measured(f"CP{told}", "goodput_by_theory", found[CP])
        yield build_measured(f"CP&DCTCP{told}", "goodput_by_theory", found[CP_DCTCP])
        if not mode:
            shares = 100 * share_of_theory(runs, CP_DCTCP, BACKGROUND_FLOWS["many"], runs.points)
            # The point is the largest of the mean over seeds: the largest of each seed would be biased
            # upward.
            top = int(shares.mean(axis=0).argmax())
            note = f"at {runs.points[top][FLOWS_PATH]} experimental flows"
            yield build_measured("CP&DCTCP", "largest_goodput_by_theory", shares[:, top], note)
        others = np.min([found[one] for one in FIVE_SCHEMES if one != TCP_200], axis=0)
        case = f"TCP 200 ms less the lowest other{told}"
        yield build_measured(case, "goodput_by_theory", found[TCP_200] - others)
        last = [point_at(runs, FLOWS_PATH, 2 * BACKGROUND_FLOWS["many"])]
        for variant in (TCP, DCTCP_200):
            share = share_of_theory(runs, variant, BACKGROUND_FLOWS["many"], last)[:, 0]
            case = f"{NAMES[variant]}, 200 %{told}"
            yield build_measured(case, "goodput_by_theory", share, describe_modes(share, "of theory"))
        yield build_measured(f"CP&DCTCP less CP{told}", "goodput_by_theory", found[CP_DCTCP] - found[CP])


def measure_text_claims(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures claims of section 6.2 without a figure: RTOs, round trips, and TCP's distance from theory."""
    yield from measure_rto_effect(sweeps)
    runs = sweeps["many"]
    point = point_at(runs, FLOWS_PATH, BACKGROUND_FLOWS["many"])
    theirs = (
        np.mean(
            [runs.metric(metric_key("delay_mean", one), TCP, point) for one in BACKGROUND_WORKLOADS], axis=0
        )
        + ACK_PATH_SECONDS
    )
    ours = runs.metric(metric_key("delay_mean", "experimental"), TCP, point) + ACK_PATH_SECONDS
    case = "50 background, 50 experimental flows, TCP"
    yield build_measured(case, "round_trip_of_experimental_by_background", divide_by_seed(ours, theirs))
    apart = {
        name: np.abs(share_of_theory(sweeps[name], TCP, BACKGROUND_FLOWS[name], sweeps[name].points) - 1)
        for name in ("few", "many")
    }
    count = min(len(one) for one in apart.values())  # seeds that both sweeps have
    nearer = mean_over_points(apart["few"][:count]) - mean_over_points(apart["many"][:count])
    yield build_measured("5 less 50 background flows, TCP", "distance_from_1_of_goodput_by_theory", nearer)


def theoretical_goodput_over_paths(share: float) -> float:
    """Returns the theoretical goodput in bit/s of a flow over two paths (footnote 11).

    The flow gets half of path B, and the matching share of path A.
    """
    return LINK_GOODPUT / 2 / (1 - share)


def throughput(runs: Runs, variant: str) -> SeedCurve:
    """Goodput of the flow over both paths in Mb/s, seeds by traffic shares P."""
    return metric_along_points(runs, metric_key("goodput", "multipath"), variant, runs.points) / 1e6


def measure_figure_14_theory(_: Sweeps) -> Iterator[Measured]:
    """Yields the theoretical goodput in figure 14 for each traffic share P."""
    for percent in range(0, 60, 10):
        yield build_measured(
            f"P = {percent} %", "theory", [theoretical_goodput_over_paths(percent / 100) / 1e6]
        )


def measure_figure_14(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures every claim of the text on figure 14."""
    runs = sweeps["out_of_order"]
    shares = path_values(runs, WEIGHT_PATH)
    percent = [round(100 * one) for one in shares]
    line = np.array([theoretical_goodput_over_paths(one) / 1e6 for one in shares])
    found = {one: throughput(runs, one) for one in runs.variants}
    for variant in ("tcp_3", "cp_3"):
        name, curve = LABELS[variant], found[variant]
        yield build_measured(name, "largest_throughput", curve.max(axis=1))
        yield build_measured(name, "throughput_at_the_largest_P", curve[:, -1])
        rise = curve[:, -1] - curve[:, percent.index(10)]
        yield build_measured(name, "throughput_at_50_less_at_10_percent", rise)
    slower = found["tcp_none_200ms"] - found["tcp_none"]
    for place, one in enumerate(percent):
        case = f"P = {one} %"
        cp, dctcp = (found[v][:, place] / line[place] for v in ("cp_none", "dctcp_3"))
        yield build_measured(f"CP, no threshold, {case}", "throughput_by_theory", cp)
        yield build_measured(f"DCTCP, 3 duplicates, {case}", "throughput_by_theory", dctcp)
        if one < 50:
            yield build_measured(
                f"TCP 200 ms less 10 ms, no threshold, {case}", "throughput", slower[:, place]
            )
    nearer = found["tcp_none"] / line
    rise = nearer[:, percent.index(40)] - nearer[:, percent.index(10)]
    yield build_measured("TCP, no threshold, 40 less 10 %", "throughput_by_theory", rise)
    alike = np.array(
        [divide_by_seed(*pair) for pair in zip(found["dctcp_3"], found["dctcp_none"], strict=True)]
    )
    farthest = [one[np.abs(one - 1).argmax()] for one in alike]
    yield build_measured("DCTCP, 3 duplicates by no threshold", "throughput", farthest)


MEASURES: dict[str, Measure] = {
    "fig10": measure_figure_10,
    "fig11": measure_figure_11,
    "fig2": measure_figure_2,
    "fig12t": measure_figure_12_theory,
    "fig12a": measure_figure_12a,
    "fig12b": measure_figure_12b,
    "sec6.2": measure_text_claims,
    "fig14t": measure_figure_14_theory,
    "fig14": measure_figure_14,
}
