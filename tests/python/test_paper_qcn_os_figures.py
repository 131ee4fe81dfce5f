"""Tests of the computations of QCN-OS's figures, on handmade tables."""

import math
from typing import Any

import numpy as np
import pytest
from overspill_papers.qcn_os.measures import congestion_points, sampling, schemes
from qcn_os_runs import (
    F1_TO,
    HOT_TO,
    FakeRuns,
    flows,
    hotspot_tables,
    inputs,
    notices,
    pauses,
    ports,
    queue,
    rate_limits,
    sent_table,
)


def hotspot_run(**kept: Any) -> schemes.HotspotRun:
    """Returns one run in which these tables replace a hotspot's own."""
    tables = {name: told("os_in", {}, 1) for name, told in hotspot_tables().items()} | kept
    return schemes.read_run(FakeRuns(), tables)


def rates(*flow: list[tuple[int, int, float]]) -> Any:
    """Returns `sent_trace` of six flows; those not given have a rate of 0 and one record."""
    rest: list[list[tuple[int, int, float]]] = [[(1999, 2000, 0.0)]] * (6 - len(flow))
    return sent_table([*flow, *rest])


def test_flows_are_known_by_their_workloads_and_throughput_is_by_step() -> None:
    run = hotspot_run(sent_trace=rates([(0, 10, 5), (10, 20, 1)], [(0, 10, 3)]))
    assert run.sent[0, :20].tolist() == [5] * 10 + [1] * 10
    assert run.sent[1, :10].tolist() == [3] * 10 and run.sent[2:].sum() == 0
    assert schemes.means_by_ms(run.sent)[0, :2].tolist() == [5, 1]


def test_occupancy_is_of_the_shared_input_by_output_alone() -> None:
    run = hotspot_run(input_trace=inputs((0, 5, HOT_TO, 60), (0, 3, F1_TO, 2), (5, 8, 4, 77)))
    assert run.stored[:, :8].tolist() == [[2] * 3 + [0] * 5, [60] * 5 + [0] * 3]


def test_limits_are_steps_and_the_line_rate_where_there_is_none() -> None:
    [one] = schemes.read_rate_limits(rate_limits((10, 0, 8), (20, 0, 4), (30, 0, -1), of=1), [0])
    assert [one.limit_at(time) for time in (5, 10, 19, 20, 35)] == [10, 8, 8, 4, 10]
    assert one.mean((0, 10)) == pytest.approx(10)
    assert one.mean((15, 25)) == pytest.approx(6)
    assert one.means(np.array([5.0, 15, 25, 40])) == pytest.approx([9, 6, (5 * 4 + 10 * 10) / 15])
    [none] = schemes.read_rate_limits(rate_limits(of=1), [0])
    assert none.limit_at(7) == 10 and none.mean((0, 3)) == 10


def test_pauses_count_where_they_begin_and_last_from_the_onset_on() -> None:
    run = hotspot_run(pause_trace=pauses((9, 11, 0), (20, 21, 0), (35, 36, 0), (40, 41.5, 1)))
    assert (
        schemes.count_pauses(run.pauses, (10, 30)) == 1 and schemes.count_pauses(run.pauses, (30, 200)) == 1
    )
    assert schemes.total_pause(run.pauses) == pytest.approx(3)
    assert sampling.total_pause_time(run) == pytest.approx(4.5)
    assert schemes.last_pause_after_onset(run) == pytest.approx(30)
    assert schemes.last_pause_after_onset(hotspot_run(pause_trace=pauses())) == 0


def test_a_flow_falls_by_its_lowest_millisecond_and_the_one_that_falls_least_counts() -> None:
    flat = [(100, 130, 5.0)]
    run = hotspot_run(
        sent_trace=sent_table([[(100, 110, 1), (110, 130, 5)]] + [[(100, 120, 5), (120, 130, 2)]] * 5)
    )
    assert sampling.lowest_throughput(run) == pytest.approx(2 / 5)
    assert sampling.lowest_throughput(hotspot_run(sent_trace=sent_table([flat] * 6))) == pytest.approx(1)


def test_injection_by_the_limit_is_of_milliseconds_with_pause() -> None:
    kept = {
        "sent_trace": rates([(100, 110, 3), (110, 120, 8), (120, 300, 1)], [(100, 300, 1)]),
        "rate_limits": rate_limits((10, 0, 4), (10, 1, 2)),
    }
    assert sampling.largest_throughput_over_limit(
        hotspot_run(**kept, pause_trace=pauses((10.2, 10.3, 0)))
    ) == pytest.approx(3 / 4)
    assert sampling.largest_throughput_over_limit(
        hotspot_run(**kept, pause_trace=pauses((10.9, 11.1, 0)))
    ) == pytest.approx(2)
    assert math.isnan(
        sampling.largest_throughput_over_limit(hotspot_run(**kept, pause_trace=pauses((10.2, 10.3, 3))))
    )


def test_cnms_go_with_the_backlog_where_they_are_more_in_milliseconds_of_more() -> None:
    def run(told: list[int]) -> schemes.HotspotRun:
        rows = [(11.5 + 20 * at, 0, 0, 8) for at, count in enumerate(told) for _ in range(count)]
        held = [(110 + 200 * at, 120 + 200 * at, HOT_TO, 10.0 * at) for at in range(len(told))]
        return hotspot_run(notices=notices(*rows), input_trace=inputs(*held))

    assert sampling.correlate_cnms_and_backlog(run([0, 1, 2, 3, 4]), 0) == pytest.approx(1)
    assert sampling.correlate_cnms_and_backlog(run([9, 8, 1, 0, 0]), 0) < 0.3
    assert sampling.correlate_cnms_and_backlog(run([0, 1, 2, 3, 4]), 1) == 0


def test_the_share_of_the_victim_is_of_cnms_to_both_flows_of_its_input() -> None:
    rows = [(11, 0, 0, 1), (12, 0, 1, 1), (13, 0, 1, 1), (14, 0, 1, 1), (15, 1, 2, 1), (9, 0, 0, 1)]
    assert sampling.cnm_share(hotspot_run(notices=notices(*rows))) == pytest.approx(25)
    assert math.isnan(sampling.cnm_share(hotspot_run(notices=notices())))


def test_how_often_a_flow_is_told_goes_by_what_it_sends_at_the_end() -> None:
    rows = [(149, 0, 1, 1), (160, 0, 0, 1), (161, 0, 0, 1), (162, 0, 0, 1), (170, 0, 1, 1), (199, 1, 2, 1)]
    flat = rates([(0, 2000, 1.5)], [(0, 2000, 2.0)])
    assert sampling.cnms_per_byte_ratio(
        hotspot_run(notices=notices(*rows), sent_trace=flat)
    ) == pytest.approx(4)
    assert math.isnan(
        sampling.cnms_per_byte_ratio(hotspot_run(notices=notices((160, 0, 0, 1)), sent_trace=flat))
    )


def test_recovery_is_when_the_last_low_millisecond_is_over() -> None:
    low = hotspot_run(
        sent_trace=rates([(0, 100, 5), (100, 120, 2), (120, 150, 5), (150, 155, 1), (155, 2000, 5)])
    )
    # The mean over a millisecond is low if it includes one of the steps up to 15.5 ms.
    assert sampling.recovery_time(low) == pytest.approx(5.5)
    assert sampling.recovery_time(hotspot_run(sent_trace=rates([(0, 2000, 5)]))) == 0
    assert math.isnan(sampling.recovery_time(hotspot_run(sent_trace=rates([(0, 100, 5), (100, 2000, 4)]))))


def test_deviation_and_fairness_are_of_the_hot_flows_alone() -> None:
    run = hotspot_run(
        sent_trace=sent_table([[(1500, 2000, 9)], *([(1500, 2000, rate)] for rate in (2, 2, 2, 2, 3))])
    )
    assert schemes.largest_deviation(run) == pytest.approx(0.8)
    assert sampling.jain_index(run) == pytest.approx(11**2 / (5 * 25))


def test_the_first_flow_that_is_told_is_looked_for_among_the_hot_ones() -> None:
    told = {1: [(9, 0, 3, 1), (11, 0, 0, 1), (12, 6, 2, 1)], 2: [(12, 6, 4, 1), (11, 6, 5, 1)]}
    means = [[(1500, 2000, rate)] for rate in (9, 2, 1, 2, 2, 3)]
    kept = dict(hotspot_tables()) | {
        "notices": lambda _, __, seed: notices(*sorted(told[seed])),
        "sent_trace": lambda *_: sent_table(means),
    }
    runs = FakeRuns(({},), ("as_out",), {}, kept, seeds=[1, 2])
    assert sampling.first_notified_flow_is_slow(runs) == [1, 0]


def test_cnms_of_a_paused_input_are_counted_by_the_adapter_at_its_port() -> None:
    rows = [(11, 0, 1, 1), (11.004, 0, 1, 1), (11.2, 0, 1, 1), (11.2, 1, 2, 1), (11.6, 0, 1, 1)]
    run = hotspot_run(notices=notices(*rows), pause_trace=pauses((11, 11.5, 0), (11.1, 11.15, 1)))
    assert congestion_points.count_cnms_while_paused(run) == 1


def test_cnms_of_two_runs_differ_where_one_has_what_the_other_has_not() -> None:
    one = notices((1, 0, 1, 3), (2, 0, 1, 3), (2, 0, 1, 3))
    assert sampling.count_differing_cnms(one, one) == 0
    assert sampling.count_differing_cnms(one, notices((1, 0, 1, 3), (2, 0, 1, 4))) == 3


def test_a_law_is_improbable_where_counts_are_far_from_it() -> None:
    law = np.array([1.0, 2, 5])
    assert congestion_points.chi_squared_p_value(np.array([100, 200, 500]), law) == pytest.approx(1)
    assert congestion_points.chi_squared_p_value(np.array([200, 200, 400]), law) < 1e-6
    # With 8 samples, chi-squared is 1 + 1/2 + 0 with two degrees of freedom.
    assert congestion_points.chi_squared_p_value(np.array([2, 1, 5]), law) == pytest.approx(math.exp(-0.75))
    assert math.isnan(congestion_points.chi_squared_p_value(np.array([0, 0, 0]), law))


def test_arrivals_are_bytes_of_frames_and_occupancy_is_by_output() -> None:
    ends = (1, 2, 3, 4, 5, 6)
    tables = {
        "flows": flows(*ends),
        "ports": ports(),
        "sent_trace": sent_table([[(0, 8, 0)]] * 4 + [[(0, 8, 0.84)], [(0, 8, 1.542)]]),
        "input_trace": inputs((0, 8, 1, 10), (0, 4, 6, 3)),
        "notices": notices((1, 0, 0, 30), (2.5, 0, 4, 9), (6.9, 0, 4, 3), (7.1, 0, 4, 3)),
    }
    frames = (1522, 1522, 1522, 1522, 64, 1522)
    run = congestion_points.read_flow_counts(FakeRuns(), tables, frames)
    assert run.cnms.tolist() == [0, 0, 0, 0, 2, 0] and run.strongest == 9
    assert run.arrived[3:] == pytest.approx([0, 5 * 12_500 * 0.64, 5 * 12_500 * 1.522])
    assert run.stored == pytest.approx([10_000, 0, 0, 0, 0, 3000 * 2 / 5])
    assert run.time == pytest.approx(5e-3)


def test_a_queue_is_back_where_it_begins_to_stay_near_the_equilibrium() -> None:
    queue = np.full(2000, 140.0)
    queue[200:230] = 60  # for only 3 ms
    queue[400:] = 70
    assert congestion_points.queue_recovery_time(queue) == 30
    queue[400:] = 76
    assert math.isnan(congestion_points.queue_recovery_time(queue))


def test_an_output_is_watched_without_what_inputs_hold_for_it() -> None:
    kept = dict(hotspot_tables(3)) | {
        "flows": lambda *_: flows(2, 3, 3),
        "queue_trace": lambda *_: queue((0, 2000, 100.0)),
        "input_trace": lambda *_: inputs((500, 1000, 3, 40), (500, 1000, 2, 7)),
    }
    [found] = congestion_points.watched_queues(FakeRuns(({},), ("as_out",), {}, kept, seeds=[1]), "as_out")
    assert found[[499, 500, 999, 1000]] == pytest.approx([152.2, 112.2, 112.2, 152.2])
