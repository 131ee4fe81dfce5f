"""Tests of the computations of QCN-OS's figures on the internal fabric, on handmade tables."""

import math
from typing import Any

import pytest
from overspill_papers.qcn_os.measures import fabric as inside
from overspill_papers.qcn_os.measures import schemes
from qcn_os_runs import FakeRuns, fabric, inputs, notices, pauses, rate_limits


def hotspot_run(**kept: Any) -> schemes.HotspotRun:
    """Returns one run in which these tables replace a fabric's own."""
    tables = {name: told("os_in", {}, 1) for name, told in fabric().items()} | kept
    return schemes.read_run(FakeRuns(), tables)


def test_rates_are_read_with_their_units() -> None:
    assert (inside.parse_gbps("2.5Gbps"), inside.parse_gbps("500Mbps")) == (2.5, 0.5)
    with pytest.raises(ValueError, match="no rate"):
        inside.parse_gbps("32KB")


def test_a_share_of_cnms_is_of_both_flows_in_the_window() -> None:
    told = notices(
        (40, 0, 0, 1), (60, 0, 0, 1), (61, 0, 1, 1), (62, 0, 1, 1), (63, 0, 1, 1), (150, 0, 0, 1), of=2
    )
    run = hotspot_run(notices=told)
    assert inside.cnm_share(run, schemes.F1, (50, 150)) == pytest.approx(25)
    assert inside.cnm_share(run, schemes.F2, (50, 150)) == pytest.approx(75)
    assert math.isnan(inside.cnm_share(run, schemes.F1, (70, 80)))


def test_a_limit_settles_when_it_first_is_the_rate_of_the_link() -> None:
    limits = rate_limits((20, 1, 2), (60, 1, 3), (81, 1, 2.5), (90, 1, 2.4), (95, 0, 1), of=2)
    assert inside.limit_settling_time(hotspot_run(rate_limits=limits)) == pytest.approx(81)
    assert math.isnan(inside.limit_settling_time(hotspot_run(rate_limits=rate_limits((60, 1, 3), of=2))))


def test_a_backlog_settles_when_it_begins_to_stay_near_its_mean_of_the_end() -> None:
    stored = inputs((500, 800, 1, 90), (800, 810, 1, 30), (850, 1500, 1, 20), (850, 1500, 2, 41))
    assert inside.backlog_settling_time(hotspot_run(input_trace=stored)) == pytest.approx(85)


def test_the_last_pause_is_before_the_culprit_ends() -> None:
    assert (
        inside.last_pause_time(hotspot_run(pause_trace=pauses((60, 61, 0), (149, 152, 0), (151, 152, 0))))
        == 149
    )
    assert math.isnan(inside.last_pause_time(hotspot_run(pause_trace=pauses())))
