"""PABO's figures of sections II, IV and V on small runs made by hand, whose answers are known."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from overspill.errors import Failed
from overspill.papers.pabo import common, hops, queues, tree
from overspill.papers.spec import Measured, Point, Runs

PAPER = Path(__file__).parents[2] / "papers" / "pabo"
NODES = [*(f"h{at}" for at in range(4)), *(f"s{at}" for at in range(7))]
EXAMPLE = ["H1", "H2", "H3", "S1", "S2", "S3", "S4"]
RAW_LAMBDA = f"variants.pabo.{common.LAMBDA}"
RAW_THETA = f"variants.pabo.{common.THETA}"
LAMBDAS = [0, 1, 5, 10, 20, 40, 60, 80, 100, 120, 140, 160]
THETAS = [at / 10 for at in range(10)]
SEEDS = (1, 2)


class Made:
    """Runs made by hand: metrics as functions of a point and a seed, tables of a variant and a point."""

    def __init__(
        self,
        points: Sequence[Point] = ({},),
        metrics: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
        variants: Sequence[str] = ("pabo",),
        nodes: Sequence[str] = NODES,
    ) -> None:
        self.points, self.variants, self.nodes = points, variants, list(nodes)
        self.seeds = SEEDS
        self.metrics, self.kept = metrics or {}, tables or {}

    def metric(self, name: str, variant: str, point: Point | None = None) -> np.ndarray:
        assert variant in self.variants
        at = {path: float(value) for path, value in (point or self.points[0]).items()}
        return np.array([self.metrics[name](at, seed) for seed in self.seeds], np.float64)

    def tables(self, name: str, variant: str, point: Point | None = None) -> list[pa.Table]:
        assert variant in self.variants
        return [self.kept[name](variant, point or self.points[0], seed) for seed in self.seeds]

    def node(self, name: str) -> int:
        return self.nodes.index(name)


def table(rows: Iterable[Sequence[float]], *names: str) -> pa.Table:
    every = list(rows)
    return pa.table({name: [row[at] for row in every] for at, name in enumerate(names)})


def answers(found: Iterable[Measured]) -> dict[tuple[str, str], Sequence[Any]]:
    every = list(found)
    answered = {(one.case, one.metric): one.values for one in every}
    assert len(answered) == len(every), "a row is measured twice"
    return answered


def points(path: str, values: Iterable[float]) -> list[Point]:
    return [{path: f"{value:g}"} for value in values]


# Statistics.


def test_jackknife_of_a_mean_gives_the_values_themselves() -> None:
    draws = np.random.default_rng(1).normal(size=(7, 3))
    found = common.jackknife(lambda means: float(means[1]), draws)
    assert found == pytest.approx(draws[:, 1])


def test_jackknife_takes_the_bias_of_a_squared_mean_away() -> None:
    # Of T = mean², the pseudo-values' mean is mean² - s²/n, without bias.
    draws = np.random.default_rng(2).normal(3, 1, size=(9, 1))
    found = np.mean(common.jackknife(lambda means: float(means[0] ** 2), draws))
    assert found == pytest.approx(draws.mean() ** 2 - draws.var(ddof=1) / 9)
    assert found != pytest.approx(draws.mean() ** 2)


def test_jackknife_gives_a_ratio_the_scatter_that_the_delta_method_gives() -> None:
    rng = np.random.default_rng(3)
    draws = np.stack([rng.normal(10, 1, 4000), rng.normal(5, 0.5, 4000)], axis=1)
    found = np.array(common.jackknife(lambda means: float(means[0] / means[1]), draws))
    assert found.var(ddof=1) == pytest.approx(4 * (0.1**2 + 0.1**2), rel=0.1)


def test_jackknife_of_the_spread_of_a_flat_curve_is_less_than_that_of_single_seeds() -> None:
    draws = np.random.default_rng(4).normal(1, 0.2, size=(30, 7))
    single = np.mean([common.spread(one) for one in draws])
    assert np.mean(common.jackknife(common.spread, draws)) < single / 3


def test_jackknife_of_one_seed_is_the_statistic() -> None:
    assert common.jackknife(common.spread, np.array([[1.0, 3.0]])) == [1.0]


def test_rank_correlation_sees_order_alone_and_nothing_in_a_flat_curve() -> None:
    assert common.rank_correlation([1, 2, 3], np.array([1.0, 10.0, 11.0])) == pytest.approx(1)
    assert common.rank_correlation([1, 2, 3], np.array([3.0, 2.0, 1.0])) == pytest.approx(-1)
    assert common.rank_correlation([1, 2, 3], np.array([2.0, 2.0, 2.0])) == 0
    assert np.isnan(common.rank_correlation([1, 2, 3], np.array([1.0, np.nan, 2.0])))


def test_a_line_through_a_grid_needs_every_value_once() -> None:
    grid = [{"a": "2", "b": "1"}, {"a": "0.5", "b": "1"}, {"a": "1", "b": "3"}]
    assert common.line(Made(grid), "a", {"b": 1}) == ([0.5, 2.0], [grid[1], grid[0]])
    with pytest.raises(Failed, match="expected some, and each once"):
        common.line(Made(grid), "b")
    with pytest.raises(Failed, match="expected some"):
        common.line(Made(grid), "a", {"b": 7})


# Sections II and V.


def test_the_example_counts_what_s4_bounces_at_all_its_ports() -> None:
    ports = table([(6, 0, 3), (6, 1, 4), (3, 0, 9)], "node", "port", "bounced")
    runs = Made((({}),), {"drops": lambda *_: 0}, {"ports": lambda *_: ports}, ("bounce",), EXAMPLE)
    found = answers(hops.example({"example": runs}))
    assert found == {("example", "drops"): [0, 0], ("example", "bounces_at_S4"): [7, 7]}


@pytest.mark.parametrize(("sign", "expected"), [(1, 1), (-1, -1), (0, 0)])
def test_the_largest_hops_must_follow_lambda(sign: int, expected: float) -> None:
    runs = Made(
        points(RAW_LAMBDA, LAMBDAS), {"total_hop_max": lambda at, seed: 20 + sign * at[RAW_LAMBDA] * seed}
    )
    [values] = answers(hops.largest_hops({"raw_lambda": runs})).values()
    assert values == pytest.approx([expected, expected])


LOSSES = {501: 2, 1501: 20, 2501: 40}  # of 90 packets


def ports(variant: str, point: Point, _: int) -> pa.Table:
    """Ports of senders with 30 packets each, one of which loses in the severe load; S7 drops or bounces."""
    packets = int(point[common.PACKETS])
    lost = LOSSES[packets] if variant == "without" else 0
    at_sender = int(variant == "without" and packets == 2501)
    bounced = {501: [10], 1501: [20, 5, 6, 7], 2501: [30, 8, 9, 10, 1, 2, 3]}[packets]
    rows = [(at, 30 - (at_sender if at == 0 else 0), at_sender if at == 0 else 0, 0, 0) for at in range(3)]
    rows += [(3, 7, 0, 0, 0), (10, 50, lost - 1 if lost else 0, int(lost > 0), 0)]
    rows += [(10 - at, 0, 0, 0, count) for at, count in enumerate(bounced)]
    return table(rows, "node", "enqueued", "drop_buffer_full", "drop_bounce_queue_full", "bounced")


def hist(variant: str, point: Point, seed: int) -> pa.Table:
    """Links crossed and distances: the worse the load, the more and the farther; ACKs have something else."""
    columns = ("data", "metric", "low", "high", "count")
    if variant == "without":
        return table([(1, 1, 4, 5, 90), (0, 1, 9, 10, 7)], *columns)
    far = {501: [45, 55, 0], 1501: [15, 85, 0], 2501: [9, 84, 7]}[int(point[common.PACKETS])]
    crossed = [(1, 1, 4, 5, 40), (1, 1, 6, 7, 40 + seed), (1, 1, 12, 13, 10), (1, 1, 13, 14, 10 - seed)]
    rows = [*crossed, *((1, 4, at, at + 1, count) for at, count in enumerate(far))]
    return table([*rows, (0, 4, 0, 1, 500), (0, 1, 4, 5, 500)], *columns)


@pytest.fixture
def severity() -> dict[str, Runs]:
    loads = points(common.PACKETS, common.LOADS.values())
    metrics = {"drops": lambda *_: 0}
    return {"severity": Made(loads, metrics, {"ports": ports, "packet_hist": hist}, ("without", "pabo"))}


def test_drop_rates_are_of_all_that_was_generated(severity: dict[str, Runs]) -> None:
    found = list(hops.severity(severity))
    numbers = answers(found)
    assert numbers["mild, without PABO", "drop_rate"] == pytest.approx([100 * 2 / 90] * 2)
    assert numbers["moderate, without PABO", "drop_rate"] == pytest.approx([100 * 20 / 90] * 2)
    assert numbers["severe, without PABO", "drop_rate"] == pytest.approx([100 * 41 / 90] * 2)
    assert numbers["mild, without PABO", "dropping_switches"] == ["S7", "S7"]
    assert numbers["severe, PABO", "drops"] == [0, 0]
    notes = {one.case: one.note for one in found if one.metric == "dropping_switches"}
    assert notes["severe, without PABO"] == "senders dropped 2 packets"
    assert notes["mild, without PABO"] == ""


def test_distances_are_shares_of_delivered_data_packets(severity: dict[str, Runs]) -> None:
    found = answers(hops.distances(severity))
    assert found["mild", "share_of_0"] == pytest.approx([45, 45])
    assert found["mild", "share_above_1"] == pytest.approx([0, 0])
    assert found["severe", "share_of_2"] == pytest.approx([7, 7])
    assert found["severe", "share_above_2"] == pytest.approx([0, 0])
    assert found["mild less moderate", "share_of_0"] == pytest.approx([30, 30])
    assert found["moderate less severe", "share_of_0"] == pytest.approx([6, 6])


def test_a_packet_that_was_three_switches_back_is_above_two() -> None:
    rows = [(1, 4, 0, 1, 3), (1, 4, 3, 4, 1)]
    assert hops.by_distance(table(rows, "data", "metric", "low", "high", "count")) == [75, 0, 0, 25]


def test_bounces_are_told_by_switch_and_by_level(severity: dict[str, Runs]) -> None:
    found = answers(hops.bounces(severity))
    assert found["mild", "bouncing_switches"] == ["S7", "S7"]
    assert found["moderate", "bouncing_switches"] == ["S4 S5 S6 S7"] * 2
    assert found["severe", "bouncing_switches"] == ["S1 S2 S3 S4 S5 S6 S7"] * 2
    assert found["moderate", "bounces_at_S4_to_S6"] == [18, 18]
    assert found["severe", "bounces_at_S1_to_S3"] == [6, 6]
    assert ("mild", "bounces_at_S4_to_S6") not in found


def test_total_hops_are_one_less_than_links(severity: dict[str, Runs]) -> None:
    found = answers(hops.total_hops(severity))
    assert found["mild", "share_within_5_hops"] == pytest.approx([81, 82])
    assert found["severe", "share_within_11_hops"] == pytest.approx([91, 92])
    assert found["without PABO", "hops"] == [3, 3]


def test_hops_that_differ_are_not_a_number_of_hops() -> None:
    rows = [(1, 1, 4, 5, 9), (1, 1, 2, 3, 9), (1, 1, 6, 7, 9)]
    assert np.isnan(hops.only_hops(table(rows, "data", "metric", "low", "high", "count")))


def curve_of_theta(share: Any) -> dict[tuple[str, str], Sequence[Any]]:
    runs = Made(points(RAW_THETA, THETAS), {"bounced_share": lambda at, seed: share(at[RAW_THETA], seed)})
    return answers(hops.thetas({"raw_theta": runs}))


def test_a_straight_fall_of_the_share_has_its_slope_and_ends() -> None:
    found = curve_of_theta(lambda theta, seed: 1 - 0.1 * seed * theta)
    case = "theta 0 to 0.9"
    assert found[case, "slope"] == pytest.approx([-0.1, -0.2])
    assert found[case, "r_squared_of_a_line"] == pytest.approx([1, 1])
    assert found[case, "largest_rise_of_bounced_share"] == pytest.approx([-0.01, -0.02])
    assert found["theta=0", "bounced_share"] == [1, 1]
    assert found["theta=0.9", "bounced_share"] == pytest.approx([0.91, 0.82])


def test_a_share_that_rises_once_or_falls_in_a_bend_is_told() -> None:
    rising = curve_of_theta(lambda theta, _: 1 - 0.1 * theta + (0.05 if theta == 0.5 else 0))
    assert rising["theta 0 to 0.9", "largest_rise_of_bounced_share"] == pytest.approx([0.04, 0.04])
    bent = curve_of_theta(lambda theta, _: 1 - theta**8)
    assert max(bent["theta 0 to 0.9", "r_squared_of_a_line"]) < 0.7


def gain(mean: Any) -> list[float]:
    runs = Made(points(RAW_LAMBDA, LAMBDAS), {"total_hop_mean": lambda at, seed: mean(at[RAW_LAMBDA], seed)})
    found = answers(hops.lambdas({"raw_lambda": runs}))
    assert found["lambda=0", "mean_total_hop"] == [mean(0, seed) for seed in SEEDS]
    assert found["lambda=160", "mean_total_hop"] == [mean(160, seed) for seed in SEEDS]
    return list(found["lambda 0 to 160", "gain_to_80_by_gain_from_80"])


def test_hops_that_level_off_gain_more_before_the_middle() -> None:
    assert gain(lambda at, seed: seed + 4 * min(at, 80) / 80 + max(at - 80, 0) / 80) == pytest.approx([4, 4])
    assert gain(lambda at, _: at) == pytest.approx([1, 1])
    assert max(gain(lambda at, _: -min(at, 80) + max(at - 80, 0))) < 0


# Figure 8.

Fills = Mapping[tuple[str, int], Mapping[int, int]]
# S7's normal queue fills, then bounce queues; S4 to S6 are empty first.
GOOD: Fills = {
    ("S7", 0): {1: 300, 2: 401, 3: 490, 4: 400, 5: 100, 6: 5, 20: 3},
    ("S7", 1): {3: 4, 4: 30, 5: 9},
    ("S4", 0): {1: 1},
    ("S4", 1): {2: 2, 3: 100, 4: 10},
    ("S5", 1): {3: 105, 4: 1},
    ("S6", 1): {3: 95},
}


def traced(fills: Fills) -> Runs:
    def trace(*_: Any) -> pa.Table:
        rows = [
            (step, NODES.index(queues.OUTPUTS[switch][0]), queues.OUTPUTS[switch][1], kind, frames, frames)
            for (switch, kind), steps in fills.items()
            for step, frames in steps.items()
        ]
        # What is at other ports is none of these.
        rows += [(step, NODES.index("s6"), 0, 1, 400, 400.0) for step in range(30)]
        return table(rows, "bin", "node", "port", "queue", "max_packets", "mean_packets")

    def limits(*_: Any) -> pa.Table:
        rows = [(node, port, kind, 500) for node in range(4, 11) for port in range(4) for kind in range(2)]
        return table(rows, "node", "port", "queue", "limit")

    return Made(tables={"sub_queue_trace": trace, "sub_queues": limits})


def changed(**fills: Mapping[int, int]) -> Fills:
    """The good run with other fills, by names such as `S7_1`."""
    return {**GOOD, **{(name[:2], int(name[3])): steps for name, steps in fills.items()}}


def test_a_peak_ends_where_every_queue_is_empty() -> None:
    assert answers(queues.peaks({"peaks": traced(GOOD)})) == {("whole second", "separate_peaks"): [2, 2]}
    joined = changed(S5_1=dict.fromkeys(range(3, 21), 1))
    assert answers(queues.peaks({"peaks": traced(joined)})) == {("whole second", "separate_peaks"): [1, 1]}


def first(fills: Fills) -> dict[str, Any]:
    found = answers(queues.first_peak({"peaks": traced(fills)}))
    assert all(case == "first peak" for case, _ in found)
    return {metric: values[0] for (_, metric), values in found.items()}


def test_the_first_peak_is_read_from_its_queues() -> None:
    found = first(GOOD)
    assert found["bounce_queues_used_after_theta"] == 0
    assert found["bounce_queues_in_use"] == "S4 S5 S6 S7"
    assert found["order_of_clearing"] == "S4 S5 S6, S7 bounce, S7 normal"
    assert found["spread_of_peaks_of_S4_to_S6"] == pytest.approx(0.1)


def test_a_bounce_before_theta_takes_negative_time() -> None:
    assert first(changed(S6_1={1: 1, 3: 95}))["bounce_queues_used_after_theta"] == -queues.STEP
    never = changed(S7_0={1: 400, 6: 400})
    assert np.isnan(first(never)["bounce_queues_used_after_theta"])


def test_a_bounce_queue_that_is_not_used_in_the_first_peak_is_not_named() -> None:
    assert first(changed(S5_1={20: 9}))["bounce_queues_in_use"] == "S4 S6 S7"


def test_queues_that_are_empty_in_another_order_are_told_so() -> None:
    last = changed(S6_1={3: 95, 7: 1})
    assert first(last)["order_of_clearing"] == "S7 bounce, S7 normal, S4 S5 S6"
    together = changed(S7_1={3: 4, 6: 1})
    assert first(together)["order_of_clearing"] == "S4 S5 S6, S7 bounce and S7 normal"


def test_unlike_peaks_of_the_middle_switches_have_a_spread() -> None:
    assert first(changed(S6_1={3: 10}))["spread_of_peaks_of_S4_to_S6"] > 1


# Section IV.

GRID_THETAS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99]
GRID_LAMBDAS = [0.5, 1, 2, 5, 10, 20, 50, 100, 160]
GRID = [
    {common.THETA: str(theta), common.LAMBDA: str(each)} for theta in GRID_THETAS for each in GRID_LAMBDAS
]


def of_tree(**metrics: Any) -> dict[str, Runs]:
    """Metrics as functions of theta, lambda and seed."""
    metrics = {"drops": lambda *_: 0} | metrics
    asked = {
        name: (lambda at, seed, of=of: of(at[common.THETA], at[common.LAMBDA], seed))
        for name, of in metrics.items()
    }
    return {"tree": Made(GRID, asked)}


def test_the_grid_of_entropy_has_the_answers_of_its_formula() -> None:
    sweeps = of_tree(
        reorder_entropy=lambda theta, each, seed: seed + 4 - 2 * theta + 0.001 * each * (theta < 0.99)
    )
    found = answers(tree.FIGURES["fig5"].measure(sweeps))
    for case in ("lambda=20", "lambda=50", "lambda=100"):
        assert found[case, "entropy_theta_0.1_less_0.5"] == pytest.approx([0.8, 0.8])
        assert min(found[case, "entropy_theta_0.5_less_0.99"]) > 0.98
    assert found["whole grid", "range_over_theta_by_range_over_lambda"] == pytest.approx([1.99 / 0.1595] * 2)
    assert found["theta=0.99", "spread_over_lambda"] == pytest.approx([0, 0], abs=1e-12)
    assert np.mean(found["theta=0.99", "entropy_by_least_elsewhere"]) == pytest.approx(
        (1.5 + 4 - 1.98) / (1.5 + 4 - 1.9 + 0.0005), rel=1e-3
    )


def test_a_grid_that_rises_along_theta_and_changes_along_lambda_fails() -> None:
    sweeps = of_tree(reorder_entropy=lambda theta, each, _: 1 + theta + each)
    found = answers(tree.FIGURES["fig5"].measure(sweeps))
    assert max(found["lambda=20", "entropy_theta_0.1_less_0.5"]) < 0
    assert max(found["whole grid", "range_over_theta_by_range_over_lambda"]) < 0.1
    assert min(found["theta=0.99", "spread_over_lambda"]) > 1
    assert min(found["theta=0.99", "entropy_by_least_elsewhere"]) > 1


def test_lost_packets_are_noted() -> None:
    sweeps = of_tree(
        reorder_entropy=lambda *_: 1, drops=lambda theta, _, seed: float(theta == 0.99 and seed == 2)
    )
    assert {one.note for one in tree.FIGURES["fig5"].measure(sweeps)} == {"packets lost with seed 2 (9)"}


def panel(name: str, **metrics: Any) -> dict[str, Sequence[Any]]:
    flat = dict.fromkeys(
        ("reorder_entropy", "time_ratio", "utilisation_variance", "bounced_share"), lambda *_: 1
    )
    return {
        metric: values
        for (_, metric), values in answers(tree.FIGURES[name].measure(of_tree(**flat | metrics))).items()
    }


def test_a_panel_over_theta_has_the_answers_of_its_formula() -> None:
    found = panel(
        "fig6b",
        reorder_entropy=lambda theta, *_: 4 if theta < 0.2 else 1 if theta > 0.9 else 2,
        time_ratio=lambda theta, _, seed: seed * max(0.9 - theta, 0),
        utilisation_variance=lambda theta, *_: theta**2,
    )
    assert found["entropy_theta_0.4_by_0.1"] == [0.5, 0.5]
    assert found["entropy_theta_0.99_by_0.8"] == [0.5, 0.5]
    assert found["entropy_spread_theta_0.4_to_0.8"] == pytest.approx([0, 0])
    assert found["rank_correlation_of_theta_and_variance"] == pytest.approx([1, 1])
    assert max(found["rank_correlation_of_theta_and_time_ratio"]) < -0.98
    assert found["time_ratio_change_at_the_end"] == pytest.approx([0, 0], abs=1e-12)
    assert min(found["correlation_of_entropy_and_time_ratio"]) > 0.7


def test_a_panel_over_theta_that_goes_the_other_way_fails() -> None:
    found = panel(
        "fig6c",
        reorder_entropy=lambda theta, *_: 1 + theta,
        time_ratio=lambda theta, *_: 1 - theta**8,
        utilisation_variance=lambda theta, *_: -theta,
    )
    assert min(found["entropy_theta_0.4_by_0.1"]) > 1
    assert found["entropy_spread_theta_0.4_to_0.8"] == pytest.approx([0.4 / 1.6] * 2)
    assert min(found["time_ratio_change_at_the_end"]) > 0.4
    assert max(found["rank_correlation_of_theta_and_variance"]) == pytest.approx(-1)
    assert max(found["correlation_of_entropy_and_time_ratio"]) < 0


def test_ranges_of_time_ratio_are_compared_between_panels() -> None:
    found = panel("fig6a", time_ratio=lambda theta, each, seed: seed * (1 - theta) * each)
    assert found["time_ratio_range_by_that_of_6b"] == pytest.approx([1 / 20] * 2)
    assert found["time_ratio_range_by_that_of_6c"] == pytest.approx([1 / 50] * 2)
    over = {"time_ratio": lambda theta, each, _: each * (1 - theta)}
    assert panel("fig6e", **over)["time_ratio_range_by_that_of_6d"] == pytest.approx([0.5 / 0.9] * 2)
    assert panel("fig6f", **over)["time_ratio_range_by_that_of_6e"] == pytest.approx([0.05 / 0.5] * 2)


def test_panels_over_lambda_have_the_answers_of_their_formulas() -> None:
    found = panel(
        "fig6d",
        reorder_entropy=lambda _, each, __: 1 + min(each, 10) / 10,
        time_ratio=lambda _, each, __: each,
    )
    assert found["entropy_lambda_10_by_0.5"] == pytest.approx([2 / 1.05] * 2)
    assert found["entropy_spread_lambda_10_to_160"] == pytest.approx([0, 0])
    assert found["rank_correlation_of_lambda_and_time_ratio"] == pytest.approx([1, 1])
    assert found["rank_correlation_of_lambda_and_variance"] == [0, 0]
    found = panel("fig6e", bounced_share=lambda _, each, __: -each, reorder_entropy=lambda _, each, __: each)
    assert found["rank_correlation_of_lambda_and_bounced_share"] == pytest.approx([-1, -1])
    assert found["entropy_lambda_160_by_0.5"] == [320, 320]
    found = panel("fig6f", reorder_entropy=lambda _, each, __: 1 + (each > 80))
    assert found["entropy_spread_over_lambda"] == pytest.approx([1 / (11 / 9)] * 2)
