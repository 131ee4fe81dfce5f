"""Tests of the computations of ABQ's figures, on handmade tables."""

import math

import numpy as np
import pytest
from abq_runs import MS, NODE, PORT, FakeRuns, flows, hist, holds, packets, ports, senders, table
from overspill_papers.abq.measures import incast, scale, schemes


def test_goodput_is_of_all_payload_until_the_last_byte_and_percentiles_are_by_nearest_rank() -> None:
    found = schemes.read_flow_times(flows(1, 2, 4, timeouts=2, again=5))
    assert found.goodput == pytest.approx(3 * 32_768 * 8 / 4e-3 / 1e6)
    assert (found.segments, found.retransmitted, found.timeouts) == (69, 5, 2)
    assert found.fct == pytest.approx({1: 1, 50: 2, 99: 4})


def test_a_flow_that_has_not_ended_leaves_no_goodput_and_only_the_percentiles_below_it() -> None:
    whole = flows(1, 2, 4)
    ends = [11 * MS, 12 * MS, 2**64 - 1]
    open_ = whole.set_column(1, "end_ps", table(end_ps=ends)["end_ps"])
    found = schemes.read_flow_times(open_)
    assert math.isnan(found.last_byte_ps) and math.isnan(found.goodput) and math.isnan(found.fct[99])
    assert found.fct[50] == pytest.approx(2)


def draw_with_runs(waited: int = 0, lost: int = 3) -> dict[str, object]:
    """Returns the tables of a run of 10 ms: 40 packets for 4 ms, 10 for 2 ms, and none for 4 ms."""
    return {
        "flows": flows(5, 10),
        "ports": ports(lost),
        "queue_hist": hist((40, 4), (10, 2), window=990),
        "holds": holds(waited),
    }


def test_the_queue_is_weighted_by_time_until_the_last_byte() -> None:
    found = schemes.read_queue(draw_with_runs(), 0)  # type: ignore[arg-type]
    assert found.mean == pytest.approx(1.5 * (40 * 4 + 10 * 2) / 10)
    assert found.busy_mean == pytest.approx(1.5 * (40 * 4 + 10 * 2) / 6)
    assert found.percentiles == (0, 60)
    assert found.drops == 3


def test_what_is_held_is_the_time_that_acks_waited_by_the_time_that_passed() -> None:
    found = schemes.read_queue(draw_with_runs(waited=50), 0)  # type: ignore[arg-type]
    assert found.mean_held_bytes == pytest.approx(0.06 * 50 / 10)


def test_deviation_is_over_the_time_in_which_anything_waits() -> None:
    assert incast.queue_deviation(hist((10, 5), (30, 5), window=990), (NODE, PORT)) == pytest.approx(10)


def test_acks_at_the_input_are_those_within_the_time_of_one() -> None:
    apart = incast.ACK_WIRE_PS
    alone = packets((1, 0, 0), (1, apart, 0), (1, 2 * apart, 0), (0, 1, 0))
    assert incast.max_acks_at_input(alone) == 1
    close = packets((1, 0, 0), (1, apart - 1, 0), (1, 2 * apart - 1, 0), (1, 2, 3))
    assert incast.max_acks_at_input(close) == 2


def test_the_best_other_is_that_with_the_better_mean_at_each_point() -> None:
    curves = {
        "drop_tail": np.array([[1.0, 5.0], [3.0, 7.0]]),
        "ecn": np.array([[4.0, 4.0], [2.0, 4.0]]),
        "abq": np.zeros((2, 2)),
    }
    assert schemes.best_other(curves).tolist() == [[4, 5], [2, 7]]
    assert schemes.best_other(curves, highest=False).tolist() == [[1, 4], [3, 4]]


def test_ratios_of_a_figure_are_of_means_over_numbers_of_senders() -> None:
    lengths = {"drop_tail": (60, 20), "ecn": (70, 30), "abq": (30, 10)}

    def queue(variant: str, point: object, _: int) -> object:
        at = 0 if point == points[0] else 1
        return hist((lengths[variant][at], 10), window=990)

    points = senders(10, 20)
    kept = {
        "flows": lambda *_: flows(10),
        "ports": lambda *_: ports(3),
        "queue_hist": queue,
        "holds": lambda *_: holds(0),
    }
    runs = FakeRuns(points, kept=kept, seeds=[1])
    found = {(one.case, one.metric): one.values for one in incast.measure_figure_4a({"incast": runs})}
    assert found["DropTail by ABQ", "mean_queue"] == pytest.approx([2])
    assert found["ECN by ABQ", "mean_queue"] == pytest.approx([2.5])
    assert found["ECN less ABQ, n = 20", "mean_queue"] == pytest.approx([30])
    assert found["ABQ, both queues by the output queue", "mean_queue"] == pytest.approx([1])


def test_a_fall_is_from_the_maximum_to_the_end() -> None:
    assert incast.final_fall(np.array([200.0, 800.0, 600.0])) == pytest.approx(25)
    assert incast.final_fall(np.array([200.0, 800.0])) == 0


def test_reductions_of_completion_times_are_means_over_numbers_of_senders() -> None:
    slow = {"drop_tail": (40, 10), "ecn": (20, 10), "abq": (10, 5)}
    points = senders(10, 20)
    kept = {"flows": lambda one, point, _: flows(1, slow[one][points.index(point)])}
    found = {
        (one.case, one.metric): one.values
        for one in incast.measure_figure_5a({"incast": FakeRuns(points, kept=kept, seeds=[1])})
    }
    assert found["ABQ below DropTail", "p99_fct"] == pytest.approx([100 * (0.75 + 0.5) / 2])
    assert found["ABQ below ECN", "p99_fct"] == pytest.approx([50])
    assert found["DropTail, the most", "p99_fct"] == pytest.approx([40])


def test_long_flows_are_those_of_no_query_and_drops_those_at_their_receivers() -> None:
    found = scale.read_network(flows(240, 300, 5, 7, long=[0, 1]), ports(4, 6, 9))
    assert found.throughput == pytest.approx([1000, 800])
    assert found.drops.tolist() == [4, 6]
    assert found.drops_elsewhere == 9
    assert found.short_fcts == pytest.approx([5, 7])
    assert found.long_share == pytest.approx(100 * 60e6 / (60e6 + 2 * 32_768))


def test_values_of_draws_are_medians_of_a_few() -> None:
    assert scale.group_medians(np.array([1.0, 2, 30, 4, 5, 60, 7, 8])).tolist() == [1.5, 17, 32.5, 7.5]
    assert scale.group_medians(np.array([1.0, 3])).tolist() == [1, 3]
