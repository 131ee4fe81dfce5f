"""Tests of the computations of DIBS's figures on single runs and on pairs of runs, on handmade tables."""

import math

import numpy as np
import pyarrow as pa
import pytest
from dibs_runs import FakeRuns, detours, flows, query_and_flow
from overspill_papers.dibs.measures import mixed

from overspill.errors import Failed

# One run.


def test_a_query_takes_as_long_as_its_longest_response() -> None:
    found = mixed.read_flow_statistics(flows([[1.0, 7.0, 3.0], [9.0]]))
    assert found.qct.value == pytest.approx(9)
    assert mixed.read_flow_statistics(flows([[1.0, 7.0, 3.0]])).qct.value == pytest.approx(7)


def test_the_99th_percentile_is_the_nearest_rank() -> None:
    every = [[float(ms)] for ms in range(1, 201)]
    assert mixed.read_flow_statistics(flows(every)).qct.value == pytest.approx(198)


def test_short_flows_have_1_to_10_kb_both_in_and_large_ones_1_mb_or_more() -> None:
    sizes = [(999, 90.0), (1_000, 3.0), (10_000, 4.0), (10_001, 90.0), (999_999, 90.0), (1_000_000, 20.0)]
    found = mixed.read_flow_statistics(flows([[100.0]], [*sizes, (3_000_000, 30.0)]))
    assert found.short.value == pytest.approx(4)
    assert (found.large.value, found.large_mean.value) == (pytest.approx(30), pytest.approx(25))
    assert found.median.value == pytest.approx(30)


def test_flows_that_do_not_count_are_left_out() -> None:
    found = mixed.read_flow_statistics(query_and_flow(7, 2))
    assert (found.flows, found.short.value) == (6, pytest.approx(2))


def test_queries_are_late_beyond_each_limit_and_not_at_it() -> None:
    found = mixed.read_flow_statistics(flows([[10.0], [10.5], [25.0], [50.0], [None]]))
    assert found.late == [80, 60, 40]


def test_what_does_not_finish_takes_at_least_until_the_last_end() -> None:
    found = mixed.read_flow_statistics(flows([[5.0], [None]]))
    assert found.qct.censored
    assert found.qct.value == pytest.approx(499)


def test_a_percentile_that_no_unfinished_flow_can_change_is_exact() -> None:
    found = mixed.read_flow_statistics(flows([[None], *[[float(ms)] for ms in range(1, 200)]]))
    assert not found.qct.censored
    assert found.qct.value == pytest.approx(198)


def test_queries_are_of_the_half_of_the_window_that_they_start_in() -> None:
    table = flows([[1.0], [2.0], [30.0], [4.0]])
    starts = pa.array([int(ms * 1e9) for ms in (1, 10, 11, 20)] + [0], pa.uint64())
    ends = pa.array([int(ms * 1e9) for ms in (2, 12, 41, 24)] + [0], pa.uint64())
    for name, column in (("start_ps", starts), ("end_ps", ends)):
        table = table.set_column(table.column_names.index(name), name, column)
    # The middle of the start times is 10.5 ms.
    assert mixed.read_flow_statistics(table).halves == pytest.approx([2, 30])


def test_segments_sent_again_are_a_share_of_all_that_were_sent() -> None:
    table = flows([[1.0], [1.0]], retransmits=[3, 4], timeouts=[1, 0])
    found = mixed.read_flow_statistics(table)
    # A flow of 20,000 B has 14 segments.
    assert found.retransmitted == pytest.approx(100 * 7 / 35)
    assert found.timeouts == 1


def test_detours_are_shares_of_packets_with_and_without_acks() -> None:
    found = mixed.read_detours(
        detours((0, 1, 0, 40), (0, 1, 3, 20), (0, 0, 1, 20), (1, 1, 0, 10), (1, 1, 9, 10))
    )
    assert (found.packets, found.data) == (50, 37.5)
    assert (found.background, found.queries) == (50, 80)
    assert (found.p99, found.p99_of_queries, found.most) == (9, 3, 9)


def test_without_a_detour_queries_have_no_share_of_them() -> None:
    found = mixed.read_detours(detours((0, 1, 0, 40)))
    assert (found.packets, found.most) == (0, 0)
    assert math.isnan(found.queries)


# Pairs of runs.


def pair(dctcp: list[pa.Table], dibs: list[pa.Table]) -> FakeRuns:
    kept = {"dctcp": dctcp, "dibs": dibs}
    flows_of = {"flows": lambda variant, _, seed: kept[variant][seed - 1]}
    return FakeRuns(kept=flows_of, seeds=range(1, len(dibs) + 1))


def test_a_gap_is_paired_by_seed_and_a_rise_is_the_other_way() -> None:
    runs = pair(
        [query_and_flow(30, 2), query_and_flow(40, 3)], [query_and_flow(11, 4), query_and_flow(19, 8)]
    )
    assert mixed.dctcp_minus_dibs(runs, None) == pytest.approx([19, 21])
    assert mixed.measure_reduction("", runs, None).values == pytest.approx([19, 21])
    assert mixed.measure_increase("", runs, None).values == pytest.approx([-19, -21])
    assert mixed.measure_fct_increase("", runs, None).values == pytest.approx([2, 5])


def test_a_bound_serves_where_the_truth_can_only_be_farther_out() -> None:
    held, runs_on = flows([[None]], [(5_000, None)]), query_and_flow(11, 4)
    worse = pair([held], [runs_on])
    assert math.isnan(mixed.dctcp_minus_dibs(worse, None)[0])
    assert mixed.measure_reduction("", worse, None).values == pytest.approx([499 - 11])
    assert mixed.measure_fct_increase("", worse, None).values == pytest.approx([4 - 499])
    assert "at least, in 1 of 1 runs" in mixed.measure_reduction("", worse, None).note
    better = pair([runs_on], [held])
    assert math.isnan(mixed.measure_reduction("", better, None).values[0])
    assert math.isnan(mixed.measure_fct_increase("", better, None).values[0])
    assert mixed.measure_increase("", better, None).values == pytest.approx([499 - 11])


def test_late_queries_are_compared_limit_by_limit() -> None:
    runs = pair([flows([[15.0], [45.0]])], [flows([[5.0], [25.0]])])
    found = {one.metric: one.values for one in mixed.measure_late_queries("", runs, None)}
    assert found == {f"queries_over_{ms}ms_dctcp_less_dibs": [50] for ms in (10, 40)} | {
        "queries_over_20ms_dctcp_less_dibs": [0]
    }


def test_the_note_tells_both_levels() -> None:
    runs = pair(
        [query_and_flow(30, 2), query_and_flow(40, 2)], [query_and_flow(11, 4), query_and_flow(13, 4)]
    )
    assert mixed.format_levels(runs, None).startswith(
        "dctcp 35 ms, over 10, 20, 40 ms 100, 100, 0 %; dibs 12 ms"
    )
    assert mixed.format_levels(runs, None, mixed.p99_fct) == "dctcp 2 ms; dibs 4 ms"


def test_drops_are_summed_over_points_and_told_by_reason_and_place() -> None:
    points = [{"x": "40"}, {"x": "60"}, {"x": "80"}]
    lost = {"40": 0, "60": 3, "80": 1}
    metrics = {"drops": lambda _, point, seed: lost[point["x"]] * seed}
    metrics |= {f"drops[reason={reason}]": lambda *_: 0 for reason in mixed.DROP_REASONS}
    metrics["drops[reason=no_detour]"] = metrics["drops"]
    runs = FakeRuns(points, metrics=metrics)
    found = mixed.measure_drops("all", runs, "dibs", points)
    assert (found.values, found.note) == ([4, 8, 12, 16], "at 60; 80: no_detour 100 %")
    assert mixed.measure_drops("one", runs, "dibs", points[:1]).note == ""
    assert mixed.measure_drops("one", runs, "dibs", points[1:2]).note == "no_detour 100 %"


def test_a_point_is_found_by_its_value_and_must_be_there() -> None:
    runs = FakeRuns([{"x": "20KB"}, {"x": "30KB"}])
    assert mixed.point_at(runs, "x", "30KB") == {"x": "30KB"}
    with pytest.raises(Failed, match="found 0 points of 40KB"):
        mixed.point_at(runs, "x", "40KB")


def test_a_mean_is_of_what_is_known() -> None:
    assert mixed.finite_mean([1.0, math.nan, 3.0]) == 2
    assert math.isnan(mixed.finite_mean(np.array([math.nan])))
