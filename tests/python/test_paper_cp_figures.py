"""Tests of the computations of CP's figures, on handmade numbers and tables."""

import math
from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa
import pytest
from cp_runs import FakeRuns, flows, goodput, packets, queries, roles
from overspill_papers.cp.measures import claims, fair_shares, incast, realistic, schemes
from sample_runs import points_along

from overspill.errors import Failed
from overspill.papers.spec import Measured, Point

DEGREE = "traffic.query.degree"
FLOWS = "traffic.experimental.flows"


def by_key(found: Iterable[Measured]) -> Mapping[tuple[str, str], list[float]]:
    return {(one.case, one.metric): [float(value) for value in one.values] for one in found}


# Cliffs and completion times.


@pytest.mark.parametrize(
    ("curve", "places"),
    [
        ([500, 600, 700, 800], []),
        ([500, 900, 721, 900], []),
        ([500, 900, 719, 800], [2]),
        ([500, 900, 850, 700, 600], [2]),
        # A later maximum counts if the low before it is more than a fifth below it.
        ([900, 600, 950, 700], [1, 3]),
        ([900, 600, 800, 600], [1, 3]),
        ([900, 600, 700, 500], [1]),
    ],
)
def test_cliffs_are_maxima_before_a_fall_of_a_fifth(curve: list[float], places: list[float]) -> None:
    assert incast.find_cliffs(np.arange(1.0, len(curve) + 1), np.array(curve, float)) == places


def test_a_fall_is_below_the_largest_value_before_it() -> None:
    assert incast.distance_below_running_maximum(np.array([4.0, 8.0, 6.0, 8.0, 2.0])) == pytest.approx(
        [0, 0, 0.25, 0, 0.75]
    )


def test_throughput_is_payload_of_all_senders_over_the_time_of_the_query() -> None:
    runs = FakeRuns(points_along(DEGREE, [2, 4]), ["cp"], {"qct_mean": lambda _, point, seed: 1e-3 * seed})
    found = incast.throughput(runs, "cp")
    assert found == pytest.approx(np.array([[1048.576, 2097.152], [524.288, 1048.576]]))
    assert incast.throughput(runs, "cp", low=3).shape == (2, 1)
    with pytest.raises(Failed, match="found no point from 5 to inf"):
        incast.throughput(runs, "cp", low=5)


def test_cliffs_are_of_groups_of_seeds_and_not_a_number_where_there_is_none() -> None:
    fast, slow = 0.001, 0.01
    times = {"2": fast / 2, "4": slow, "6": slow}
    runs = FakeRuns(
        points_along(DEGREE, times),
        ["tcp"],
        {"qct_mean": lambda _, point, seed: times[point[DEGREE]]},
        seeds=range(1, 11),
    )
    assert incast.find_nth_cliff(runs, "tcp", 0) == [2, 2]
    assert all(math.isnan(one) for one in incast.find_nth_cliff(runs, "tcp", 1))


def test_the_window_is_what_is_under_way_when_the_first_packet_is_lost() -> None:
    # Flow 2 is a request.
    rows = [
        (0, 0, 1, 9, 0),
        (0, 0, 2, 5, 3),
        (1, 0, 3, 4, 0),
        (1, 0, 5, 8, 0),
        (1, 0, 6, 8, 3),
        (1, 1, 3, 8, 0),
    ]
    table = packets(*rows, (2, 0, 1, 9, 0))
    kept = {"packets": lambda *_: table, "flows": lambda *_: roles(0, 0, 1)}
    [found] = incast.measure_windows({"cliff": FakeRuns(variants=["tcp"], kept=kept, seeds=[1])})
    # Three data packets of two flows count; the one that arrived earlier, the ACK and the request do not.
    assert list(found.values) == [1.5]
    kept["packets"] = lambda *_: packets((0, 0, 1, 9, 0))
    [found] = incast.measure_windows({"cliff": FakeRuns(variants=["tcp"], kept=kept, seeds=[1])})
    assert math.isnan(found.values[0])


def test_a_query_without_loss_has_no_window_and_is_left_out() -> None:
    # Flow 0 is a response of query 0, which loses a packet; flow 1 is one of query 1, which loses none.
    whose = pa.table({"flow": [0, 1], "query": [0, 1], "role": [0, 0], "measured": [1, 1]})
    table = packets((0, 0, 1, 9, 0), (0, 0, 2, 5, 3), (1, 0, 3, 4, 0))
    kept = {"packets": lambda *_: table, "flows": lambda *_: whose}
    [found] = incast.measure_windows({"cliff": FakeRuns(variants=["tcp"], kept=kept, seeds=[1])})
    assert list(found.values) == [2.0]


def runs_with_timeouts(expired: Mapping[str, int]) -> FakeRuns:
    """Returns runs over senders; `expired` of four seeds have a timeout, and each has a request with one."""

    def table(_: str, point: Point, seed: int) -> pa.Table:
        count = int(seed <= expired[point[DEGREE]])
        return roles(0, 1).append_column("timeouts", pa.array([count, 1]))

    return FakeRuns(points_along(DEGREE, expired), ["tcp"], kept={"flows": table}, seeds=range(1, 5))


def test_timeouts_begin_where_more_than_half_of_the_queries_have_one() -> None:
    assert incast.find_incast_onset(runs_with_timeouts({"10": 1, "20": 2, "30": 4}), "tcp") == 30
    assert math.isnan(incast.find_incast_onset(runs_with_timeouts({"10": 0, "20": 2}), "tcp"))


def test_timeouts_of_requests_do_not_count() -> None:
    assert schemes.response_timeouts(runs_with_timeouts({"10": 2}), "tcp").tolist() == [1, 1, 0, 0]


def test_deviation_is_over_queries_by_their_mean() -> None:
    def table(_: str, __: Point, seed: int) -> pa.Table:
        return queries([1.0 * seed, 0.5], [3.0 * seed, 0.1])

    runs = FakeRuns(points_along(DEGREE, [2, 4]), ["tcp"], kept={"flows": table}, seeds=[1])
    assert incast.relative_deviation(runs, "tcp", 2, 4) == pytest.approx([100 / math.sqrt(2)] * 2)
    runs.seeds = [1, 3]
    expected = 100 * np.std([1, 3, 3, 9], ddof=1) / 4
    assert incast.relative_deviation(runs, "tcp", 2, 4) == pytest.approx([expected] * 2)
    runs = FakeRuns(points_along(DEGREE, [2]), ["tcp"], kept={"flows": lambda *_: queries([1.0])}, seeds=[1])
    assert incast.relative_deviation(runs, "tcp", 2, 4).tolist() == [0]


def test_queries_before_the_window_do_not_count() -> None:
    table = queries([1.0], [3.0], timeouts=[5, 2])
    table = table.set_column(table.column_names.index("measured"), "measured", pa.array([0, 1], pa.uint8()))
    runs = FakeRuns(points_along(DEGREE, [2]), ["tcp"], kept={"flows": lambda *_: table}, seeds=[1])
    assert schemes.response_timeouts(runs, "tcp").tolist() == [2]
    assert [one.tolist() for one in incast.query_completions(runs, "tcp", 2, 2)] == [[3.0]]


# One slow flow.


def test_slow_queries_have_a_flow_over_15_ms_and_are_told_by_what_it_did() -> None:
    table = queries([8.0] * 19 + [16.0], [8.0] * 19 + [15.0], [8.0] * 19 + [24.0], again=[0] * 19 + [2])
    runs = FakeRuns(variants=["dctcp"], kept={"flows": lambda *_: table}, seeds=[1])
    found = by_key(incast.measure_figure_3({"slow_flow": runs}))
    late = "queries with a flow over 15 ms"
    assert found["20 flows of 50 KB, DCTCP", "queries_with_a_flow_over_15_ms"] == pytest.approx([200 / 3])
    assert found[late, "slowest_by_median"] == pytest.approx([2.5])
    assert found[late, "slowest_flow_with_fast_retransmits"] == [50]


def test_without_slow_queries_what_they_did_is_not_a_number() -> None:
    runs = FakeRuns(variants=["dctcp"], kept={"flows": lambda *_: queries([8.0] * 20)}, seeds=[1])
    found = [next(iter(one.values)) for one in incast.measure_figure_3({"slow_flow": runs})]
    assert found[0] == 0 and all(math.isnan(one) for one in found[1:])


# One bottleneck and two.


def outcast_runs(background: list[float], experimental: list[float]) -> FakeRuns:
    rates = [(999.0, one) for one in (*background, *experimental)]
    kept = {
        "flows": lambda *_: flows(len(background), len(experimental)),
        "flow_goodput": lambda *_: goodput(*rates),
    }
    return FakeRuns(points_along(FLOWS, [2]), ["cp"], kept=kept, seeds=[1])


def test_groups_are_compared_by_their_means_in_the_window() -> None:
    runs = outcast_runs([10.0, 30.0], [5.0, 5.0])
    assert fair_shares.goodput_ratio(runs, "cp", runs.points[0]) == pytest.approx([0.25])


def test_goodput_deviation_is_that_of_experimental_flows_relative_to_their_mean() -> None:
    runs = outcast_runs([10.0, 30.0], [2.0, 6.0, 4.0])
    assert fair_shares.goodput_deviation(runs, "cp", runs.points[0]) == pytest.approx([100 / 3])
    assert fair_shares.goodput_deviation(
        outcast_runs([10.0], [3.0, 3.0]), "cp", {FLOWS: "2"}
    ) == pytest.approx([0])


def test_a_flow_over_two_bottlenecks_has_half_of_a_share() -> None:
    # As many experimental flows as background flows: a third of 910 Mb/s.
    assert fair_shares.theoretical_goodput(1.0) == pytest.approx(910e6 / 3)
    runs = FakeRuns(
        points_along(FLOWS, [5, 10]), ["cp"], {"goodput[traffic=experimental]": lambda *_: 910e6 / 4}
    )
    shares = fair_shares.share_of_theory(runs, "cp", 5, runs.points)
    assert shares == pytest.approx(np.array([[0.75, 0.5]] * 2))


def test_the_loss_ratio_is_of_lost_and_delivered_segments() -> None:
    metrics = {
        "drops[traffic=a]": lambda *_: 10,
        "goodput[traffic=a]": lambda *_: 30 * fair_shares.SEGMENT_BITS / 4,
        "drops[traffic=b]": lambda *_: 0,
        "goodput[traffic=b]": lambda *_: 40 * fair_shares.SEGMENT_BITS / 4,
    }
    runs = FakeRuns(points_along(FLOWS, [5, 10]), ["tcp"], metrics)
    assert fair_shares.loss_ratio(runs, "tcp", ["a"]) == pytest.approx([25, 25])
    assert fair_shares.loss_ratio(runs, "tcp", ["a", "b"]) == pytest.approx([12.5, 12.5])


def test_theory_of_two_paths_is_half_of_one_and_what_goes_by_the_other() -> None:
    assert [fair_shares.theoretical_goodput_over_paths(one) / 1e6 for one in (0, 0.5)] == pytest.approx(
        [455, 910]
    )


# Realistic traffic, and claims about all schemes.


def test_reductions_are_of_the_first_scheme_by_the_second() -> None:
    tails = {"tcp": 8e-3, "cp": 6e-3, "dctcp": 5e-3, "cp_dctcp": 4e-3}
    runs = FakeRuns(
        variants=list(tails), metrics={"qct_p99[traffic=query]": lambda variant, *_: tails[variant]}
    )
    found = realistic.tail_reduction(("cp", "tcp"), runs, "p99", {})
    assert (found.case, found.metric) == ("CP by TCP", "reduction_of_p99_qct")
    assert list(found.values) == pytest.approx([25, 25])
    assert found.note == "TCP 8 ms, CP 6 ms, DCTCP 5 ms, CP&DCTCP 4 ms"


def test_the_room_for_headers_is_found_by_its_size() -> None:
    runs = FakeRuns(points_along(claims.EXTRA_BUFFER_PATH, ["1518B", "4KiB"]))
    assert schemes.point_with(runs, claims.EXTRA_BUFFER_PATH, "4KiB") == {claims.EXTRA_BUFFER_PATH: "4KiB"}


def test_bursts_that_lose_frames_are_found_by_the_least_rate() -> None:
    lost = {"1000Mbps": 0, "1085Mbps": 0, "1092Mbps": 1, "1100Mbps": 5}
    metrics = {"drops": lambda _, point, seed: lost[point[claims.BURST_RATE_PATH]]}
    [found] = claims.measure_burst_limit(
        {"headers": FakeRuns(points_along(claims.BURST_RATE_PATH, lost), ["cp"], metrics)}
    )
    assert list(found.values) == pytest.approx([13.104, 13.104])
    [found] = claims.measure_burst_limit(
        {
            "headers": FakeRuns(
                points_along(claims.BURST_RATE_PATH, ["1000Mbps"]), ["cp"], {"drops": lambda *_: 0}
            )
        }
    )
    assert all(math.isnan(one) for one in found.values)


def test_the_best_other_is_that_of_the_mean_and_what_is_better_has_a_sign() -> None:
    found = {"cp_dctcp": np.array([11.0]), "cp": np.array([10.0]), "tcp": np.array([20.0])}
    lower = claims.excess_over_best("figure", found)
    assert (list(lower.values), lower.note) == (pytest.approx([10]), "the best other is cp")
    higher = claims.excess_over_best("figure", found, higher=True)
    assert (list(higher.values), higher.note) == (pytest.approx([45]), "the best other is tcp")


def test_a_scheme_without_a_value_in_some_run_is_not_the_best() -> None:
    none = np.array([math.nan, 3.0])
    found = claims.excess_over_best("figure", {"cp_dctcp": np.array([1.0, 2.0]), "tcp": none})
    assert all(math.isnan(one) for one in found.values)
    assert found.note == "TCP without a value in some run"
    others = {"tcp": none, "cp": np.array([2.0, 4.0])}
    found = claims.excess_over_best("figure", {"cp_dctcp": np.array([1.0, 2.0]), **others})
    assert list(found.values) == pytest.approx([-50, -50])
    assert found.note == "the best other is cp; TCP without a value in some run"
    found = claims.excess_over_best("figure", {"cp_dctcp": none, **others})
    assert all(math.isnan(one) for one in found.values)
