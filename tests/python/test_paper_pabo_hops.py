"""Tests of PABO's figures of raw packets and its figure 3, on small handmade runs with known results."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from overspill_papers.pabo.measures import parameters, raw_packets
from pabo_runs import (
    EXAMPLE,
    GOOD,
    LAMBDAS,
    RAW_LAMBDA,
    RAW_THETA,
    SEEDS,
    THETAS,
    FakeRuns,
    Fills,
    both_panels,
    points,
    rows_by_key,
    runs_with_trace,
    severity_sweeps,
    table,
)

# Sections II and V.


def test_the_example_counts_what_s4_bounces_at_all_its_ports() -> None:
    ports = table([(6, 0, 3), (6, 1, 4), (3, 0, 9)], "node", "port", "bounced")
    runs = FakeRuns((({}),), {"drops": lambda *_: 0}, {"ports": lambda *_: ports}, ("bounce",), EXAMPLE)
    found = rows_by_key(raw_packets.measure_example({"example": runs}))
    assert found == {("example", "drops"): [0, 0], ("example", "bounces_at_S4"): [7, 7]}


@pytest.mark.parametrize(("sign", "expected"), [(1, 1), (-1, -1), (0, 0)])
def test_the_largest_hops_must_follow_lambda(sign: int, expected: float) -> None:
    runs = FakeRuns(
        points(RAW_LAMBDA, LAMBDAS), {"total_hop_max": lambda at, seed: 20 + sign * at[RAW_LAMBDA] * seed}
    )
    signed, sizes = rows_by_key(raw_packets.measure_largest_hops({"raw_lambda": runs})).values()
    assert signed == pytest.approx([expected, expected])
    assert sizes == pytest.approx([abs(expected), abs(expected)])


def test_drop_rates_are_of_all_that_was_generated() -> None:
    found = list(raw_packets.measure_severity(severity_sweeps()))
    numbers = rows_by_key(found)
    assert numbers["mild, without PABO", "drop_rate"] == pytest.approx([100 * 2 / 90] * 2)
    assert numbers["moderate, without PABO", "drop_rate"] == pytest.approx([100 * 20 / 90] * 2)
    assert numbers["severe, without PABO", "drop_rate"] == pytest.approx([100 * 41 / 90] * 2)
    assert numbers["mild, without PABO", "dropping_switches"] == ["S7", "S7"]
    assert numbers["severe, PABO", "drops"] == [0, 0]
    notes = {one.case: one.note for one in found if one.metric == "dropping_switches"}
    assert notes["severe, without PABO"] == "senders dropped 2 packets"
    assert notes["mild, without PABO"] == ""


def test_distances_are_shares_of_delivered_data_packets() -> None:
    found = rows_by_key(raw_packets.measure_distances(severity_sweeps()))
    assert found["mild", "share_of_0"] == pytest.approx([45, 45])
    assert found["mild", "share_above_1"] == pytest.approx([0, 0])
    assert found["severe", "share_of_2"] == pytest.approx([7, 7])
    assert found["severe", "share_above_2"] == pytest.approx([0, 0])
    assert found["mild less moderate", "share_of_0"] == pytest.approx([30, 30])
    assert found["moderate less severe", "share_of_0"] == pytest.approx([6, 6])


def test_a_packet_that_was_three_switches_back_is_above_two() -> None:
    rows = [(1, 4, 0, 1, 3), (1, 4, 3, 4, 1)]
    assert raw_packets.shares_by_distance(table(rows, "data", "metric", "low", "high", "count")) == [
        75,
        0,
        0,
        25,
    ]


def test_bounces_are_told_by_switch_and_by_level() -> None:
    found = rows_by_key(raw_packets.measure_bounces(severity_sweeps()))
    assert found["mild", "bouncing_switches"] == ["S7", "S7"]
    assert found["moderate", "bouncing_switches"] == ["S4 S5 S6 S7"] * 2
    assert found["severe", "bouncing_switches"] == ["S1 S2 S3 S4 S5 S6 S7"] * 2
    assert found["moderate", "bounces_at_S4_to_S6"] == [18, 18]
    assert found["severe", "bounces_at_S1_to_S3"] == [6, 6]
    assert ("mild", "bounces_at_S4_to_S6") not in found


def test_total_hops_are_one_less_than_links() -> None:
    found = rows_by_key(raw_packets.measure_total_hops(severity_sweeps()))
    assert found["mild", "share_within_5_hops"] == pytest.approx([81, 82])
    assert found["severe", "share_within_11_hops"] == pytest.approx([91, 92])
    assert found["without PABO", "hops"] == [3, 3]


def test_hops_that_differ_are_not_a_number_of_hops() -> None:
    rows = [(1, 1, 4, 5, 9), (1, 1, 2, 3, 9), (1, 1, 6, 7, 9)]
    assert np.isnan(raw_packets.common_hops(table(rows, "data", "metric", "low", "high", "count")))


def curve_of_theta(share: Any) -> dict[tuple[str, str], Sequence[Any]]:
    runs = FakeRuns(points(RAW_THETA, THETAS), {"bounced_share": lambda at, seed: share(at[RAW_THETA], seed)})
    return rows_by_key(raw_packets.measure_thetas({"raw_theta": runs}))


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
    runs = FakeRuns(
        points(RAW_LAMBDA, LAMBDAS), {"total_hop_mean": lambda at, seed: mean(at[RAW_LAMBDA], seed)}
    )
    found = rows_by_key(raw_packets.measure_lambdas({"raw_lambda": runs}))
    assert found["lambda=0", "mean_total_hop"] == [mean(0, seed) for seed in SEEDS]
    assert found["lambda=160", "mean_total_hop"] == [mean(160, seed) for seed in SEEDS]
    return list(found["lambda 0 to 160", "gain_to_80_by_gain_from_80"])


def test_hops_that_level_off_gain_more_before_the_middle() -> None:
    assert gain(lambda at, seed: seed + 4 * min(at, 80) / 80 + max(at - 80, 0) / 80) == pytest.approx([4, 4])
    assert gain(lambda at, _: at) == pytest.approx([1, 1])
    assert max(gain(lambda at, _: -min(at, 80) + max(at - 80, 0))) < 0


# Figure 3.


def test_equation_4_has_its_ends_its_middle_and_its_order() -> None:
    found = {key: value for key, [value] in rows_by_key(parameters.rows_of_panels(*both_panels())).items()}
    assert found["u <= theta", "P_max"] == 0
    assert found["u = 1", "P_min"] == pytest.approx(1, abs=1e-12)
    # Worked out by hand: 1 / (1 + exp(-k/4)) with k = lambda / (np + 1).
    for bounces, rate in enumerate((5, 2.5, 5 / 3)):
        assert found[f"3a u=0.75 np={bounces}", "P"] == pytest.approx(1 / (1 + np.exp(-rate / 4)))
    assert found["3b u=0.75 lambda=25", "P"] == pytest.approx(1 / (1 + np.exp(-25 / 4)))
    assert found["3a", "least_fall_per_bounce"] > 1e-12
    assert found["3b", "least_rise_with_lambda"] > 1e-12
    assert found["3a and 3b", "largest_second_difference"] < -1e-12


def test_curves_in_another_order_or_with_another_bend_fail() -> None:
    left, right = both_panels()
    turned = rows_by_key(parameters.rows_of_panels((left[0], left[1][::-1]), (right[0], right[1][::-1])))
    assert turned["3a", "least_fall_per_bounce"][0] < 0
    assert turned["3b", "least_rise_with_lambda"][0] < 0
    convex = np.clip(2 * left[0] - 1, 0, 1) ** 2
    bent = rows_by_key(parameters.rows_of_panels((left[0], np.array([convex] * 3)), right))
    assert bent["3a and 3b", "largest_second_difference"][0] > 0
    early = np.where(left[0] == 0.5, 0.01, left[1])
    assert rows_by_key(parameters.rows_of_panels((left[0], early), right))["u <= theta", "P_max"] == [0.01]


# Figure 8.


def changed_fills(**fills: Mapping[int, int]) -> Fills:
    """Returns the good run with other fill levels, by names such as `S7_1`."""
    return {**GOOD, **{(name[:2], int(name[3])): steps for name, steps in fills.items()}}


def test_a_peak_ends_where_every_queue_is_empty() -> None:
    assert rows_by_key(raw_packets.measure_peaks({"peaks": runs_with_trace(GOOD)})) == {
        ("whole second", "separate_peaks"): [2, 2]
    }
    joined = changed_fills(S5_1=dict.fromkeys(range(3, 21), 1))
    assert rows_by_key(raw_packets.measure_peaks({"peaks": runs_with_trace(joined)})) == {
        ("whole second", "separate_peaks"): [1, 1]
    }


def first_row(fills: Fills) -> dict[str, Any]:
    found = rows_by_key(raw_packets.measure_first_peak({"peaks": runs_with_trace(fills)}))
    assert all(case == "first peak" for case, _ in found)
    return {metric: values[0] for (_, metric), values in found.items()}


def test_the_first_peak_is_read_from_its_queues() -> None:
    found = first_row(GOOD)
    assert found["bounce_queues_used_after_theta"] == 0
    assert found["bounce_queues_in_use"] == "S4 S5 S6 S7"
    assert found["order_of_clearing"] == "S4 S5 S6, S7 bounce, S7 normal"
    assert found["spread_of_peaks_of_S4_to_S6"] == pytest.approx(0.1)


def test_a_bounce_before_theta_takes_negative_time() -> None:
    assert (
        first_row(changed_fills(S6_1={1: 1, 3: 95}))["bounce_queues_used_after_theta"] == -raw_packets.STEP_US
    )
    never = changed_fills(S7_0={1: 400, 6: 400})
    assert np.isnan(first_row(never)["bounce_queues_used_after_theta"])


def test_a_bounce_queue_that_is_not_used_in_the_first_peak_is_not_named() -> None:
    assert first_row(changed_fills(S5_1={20: 9}))["bounce_queues_in_use"] == "S4 S6 S7"


def test_queues_that_are_empty_in_another_order_are_told_so() -> None:
    last = changed_fills(S6_1={3: 95, 7: 1})
    assert first_row(last)["order_of_clearing"] == "S7 bounce, S7 normal, S4 S5 S6"
    together = changed_fills(S7_1={3: 4, 6: 1})
    assert first_row(together)["order_of_clearing"] == "S4 S5 S6, S7 bounce and S7 normal"


def test_unlike_peaks_of_the_middle_switches_have_a_spread() -> None:
    assert first_row(changed_fills(S6_1={3: 10}))["spread_of_peaks_of_S4_to_S6"] > 1
