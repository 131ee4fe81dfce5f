"""Tests of measures of QCN-OS's claims that no figure decides, on handmade tables."""

import math
import tomllib
from collections.abc import Mapping

import numpy as np
import pytest
from overspill_papers.qcn_os.measures import sampling, workloads
from overspill_papers.qcn_os.measures.schemes import read_rate_limits
from qcn_os_runs import (
    PAPER,
    FakeRuns,
    about_table,
    crowd_table,
    hotspot_tables,
    limited_table,
    many,
    mixed,
    one_flow_each,
    rate_limits,
    spread_table,
    subflows,
)

from overspill.papers.spec import Measure, Measured

BOTH = ("as_in", "os_in")


def rows_by_key(measure: Measure, sweeps: Mapping[str, FakeRuns]) -> dict[tuple[str, str], Measured]:
    """Returns the values that a figure measures, by case and metric."""
    return {(one.case, one.metric): one for one in measure(sweeps)}


def test_workloads_add_their_flows_and_leave_others_out() -> None:
    runs = FakeRuns(({},), BOTH, {}, mixed(), seeds=[1])
    [sent] = workloads.throughput_by_workload(runs, "os_in")
    assert sent[:, 0].tolist() == [4, 4, 2]
    [counts] = workloads.cnms_by_workload(runs, "as_in")
    # The CNM at 9 ms is before the onset; of the nine later ones flows 1 to 4 get 3, 2, 2 and 2.
    assert [one.tolist() for one in counts] == [[1, 3], [2, 2], [2]]


def test_share_of_culprits_is_of_victims_and_culprits_alone() -> None:
    counts = [[np.array([1, 3]), np.array([2, 2]), np.array([90])], [np.zeros(2), np.zeros(2), np.ones(1)]]
    shares = workloads.culprit_cnm_shares(counts)
    assert shares[0] == pytest.approx(50) and math.isnan(shares[1])


def test_most_named_victim_is_set_beside_least_named_culprit() -> None:
    assert workloads.victim_to_culprit_cnm_ratio([np.array([1, 6]), np.array([3, 9])]) == pytest.approx(2)
    assert math.isnan(workloads.victim_to_culprit_cnm_ratio([np.array([1]), np.array([0])]))


def test_qcn_os_less_arrivals_is_paired_by_seed() -> None:
    rows = rows_by_key(workloads.MEASURES["claim-culprits"], {"mixed": FakeRuns(({},), BOTH, {}, mixed())})
    more = rows["QCN-OS less QCN-AS, victims, steady", "throughput"]
    assert list(more.values) == [2, 2]
    shares = [rows[f"{one}, culprits", "share_of_cnms"].values for one in ("QCN-OS", "QCN-AS")]
    less = rows["QCN-OS less QCN-AS, culprits", "share_of_cnms"].values
    assert list(less) == pytest.approx(np.subtract(*shares))
    assert shares[0][0] != shares[0][1]


def test_qcn_os_less_pfc_alone_is_of_the_victim() -> None:
    variants = ("pfc", "as_in", "os_in", "as_out", "two_samples", "os_keep_alive")
    runs = {
        "hotspot": FakeRuns(({},), variants, {}, dict(hotspot_tables()) | {"sent_trace": sent_by_variant})
    }
    rows = rows_by_key(sampling.MEASURES["claim-alone"], runs)
    assert list(rows["PFC alone, f1, steady", "throughput"].values) == [2, 2]
    assert list(rows["QCN-OS less PFC alone, f1, steady", "throughput"].values) == [3, 3]
    assert list(rows["QCN-OS less PFC alone, f1, onset", "throughput"].values) == [1, 1]
    ratio = rows["QCN-OS by PFC alone, hot flows, after 10 ms", "throughput"].values
    assert list(ratio) == pytest.approx([1.5, 1.5])


def sent_by_variant(variant: str, *_: object) -> object:
    """Returns `sent_trace`: f1 sends 2 Gb/s, with QCN-OS 3 and then 5 Gb/s.

    Each hot flow sends 1 Gb/s, with QCN-OS 1.5 Gb/s.
    """
    ours = variant == "os_in"
    victim = [(0, 100, 5.0), (100, 300, 3.0 if ours else 2.0), (300, 2000, 5.0 if ours else 2.0)]
    # Flows are numbered in the reverse order of workloads.
    return spread_table(*[[(100, 2000, 1.5 if ours else 1.0)]] * 5, victim)


def test_victims_are_back_when_they_stay_at_nine_tenths() -> None:
    runs = FakeRuns(({},), ["os_acks", "two_samples_acks"], {}, subflows())
    slow, soon = (workloads.recovery_times(runs, one) for one in ("os_acks", "two_samples_acks"))
    assert slow - soon == pytest.approx(30)
    assert slow[0] == pytest.approx(131)
    assert workloads.recovery_time(np.full(3500, 5.0)) == 0
    assert math.isnan(workloads.recovery_time(np.full(3500, 2.5)))
    assert workloads.recovery_time(np.full(2000, 46.0), (10.0, 200.0), 50.0) == 0
    assert math.isnan(workloads.recovery_time(np.full(2000, 44.0), (10.0, 200.0), 50.0))


def test_limits_are_down_when_their_sum_lets_the_link_through() -> None:
    # Each of two flows offers 2.5 Gb/s, so that a limit above that has no effect.
    table = rate_limits((55, 0, 9), (60, 0, 1), (70, 1, 2), (80, 1, 1.5), (90, 1, 3), of=2)
    two = read_rate_limits(table, [0, 1])
    assert workloads.allowed_throughput(two, np.array([50.0, 60, 70, 80, 90])) == pytest.approx(
        [5, 3.5, 3, 2.5, 3.5]
    )
    assert workloads.limit_fall_time(two) == pytest.approx(30)
    assert math.isnan(workloads.limit_fall_time(read_rate_limits(rate_limits((60, 0, 3), of=1), [0])))
    assert math.isnan(
        workloads.limit_fall_time(read_rate_limits(rate_limits((40, 0, 1), (45, 0, -1), of=1), [0]))
    )


def test_subflows_that_never_recover_count_as_back_at_the_end() -> None:
    never = np.array([np.nan, 100.0])
    row = workloads.measure_subflow_delay("a", "b", (never, np.array([10.0, 20.0])), 300)
    assert list(row.values) == [290, 80]
    assert row.note == "200 and 15 ms; with subflows, the time exceeds 300 ms in 1 of 2 seeds"
    assert math.isnan(
        workloads.measure_subflow_delay("a", "b", (never[1:], np.array([np.nan])), 300).values[0]
    )


def test_subflows_are_compared_with_one_flow_each() -> None:
    acked = ["os_in", "os_acks"]
    sweeps = {
        "subflows": FakeRuns(({},), [*acked, "two_samples_acks"], {}, subflows()),
        "one_each": FakeRuns(({},), acked, {}, one_flow_each()),
        "hotspot": FakeRuns(({},), ["os_in"], {}, hotspot_tables()),
        "hotspot_subflows": FakeRuns(({},), ["os_in"], {}, hotspot_tables()),
    }
    rows = rows_by_key(workloads.MEASURES["claim-subflows"], sweeps)
    down = rows["QCN-OS, subflows less one flow each, f2", "time_until_limits_are_down"]
    assert list(down.values) == pytest.approx([41, 42])
    back = rows["QCN-OS with ACKs, subflows less one flow each", "time_to_recover"]
    assert list(back.values) == pytest.approx([71, 72])


def test_times_of_a_hundred_flows_are_bounds_where_victims_never_recover() -> None:
    variants = ("as_in", "os_in", "as_out", "os_acks")
    rows = rows_by_key(workloads.MEASURES["claim-many"], {"many": FakeRuns(({},), variants, {}, many())})
    less = rows["QCN-OS less QCN-AS", "time_to_recover"]
    assert list(less.values) == pytest.approx([21 - 190, 22 - 190])
    assert "QCN-AS 190 ms (2 of 2 seeds did not recover and count as 190 ms)" in less.note
    by = rows["QCN-OS by outputs", "time_to_recover"]
    assert list(by.values) == pytest.approx([21 / 16, 22 / 17])
    assert list(rows["QCN-OS, victims, steady", "throughput_by_offer"].values) == [1, 1]
    assert list(rows["QCN-OS, hot outputs, steady", "use"].values) == pytest.approx([95, 95])
    slow = dict(many()) | {"sent_trace": lambda *_: spread_table(*[[(0, 2000, 5.0)]] * 4)}
    rows = rows_by_key(workloads.MEASURES["claim-many"], {"many": FakeRuns(({},), variants, {}, slow)})
    assert all(math.isnan(one) for one in rows["QCN-OS by outputs", "time_to_recover"].values)


def test_delay_of_a_cnm_ends_where_the_limit_of_its_flow_falls() -> None:
    falls = limited_table((5, 0, 8), (10.002, 0, 7), (10.5, 0, 9), (11.003, 0, 8), (12, 1, -1), (12.5, 1, 9))
    assert workloads.limit_fall_instants(falls, 0).tolist() == [5 * 10**9, 10_002 * 10**6, 11_003 * 10**6]
    assert workloads.limit_fall_instants(falls, 1).tolist() == [12_500 * 10**6]
    told = about_table((9.9, 0), (10, 0), (11, 0), (12, 0), (12.499, 1), (12.4, 2))
    assert workloads.cnm_delays(told, falls, [0, 1]) == pytest.approx([2000, 3000, 1000])


def test_cnms_of_outputs_are_later_by_what_the_fabric_takes() -> None:
    own = dict(hotspot_tables()) | {
        "notices": lambda *_: about_table((10.5, 5), (11, 4)),
        "rate_limits": lambda *_: limited_table((10.5003272, 5, 8), (11.0003272, 4, 8)),
    }
    variants = ("as_in", "os_in", "as_out", "os_acks")
    sweeps = {"hotspot": FakeRuns(({},), ["os_in"], {}, own), "many": FakeRuns(({},), variants, {}, many())}
    rows = rows_by_key(workloads.MEASURES["claim-cnms"], sweeps)
    beyond = rows["QCN-OS, six flows, shared input", "median_delay_beyond_the_link"]
    assert list(beyond.values) == pytest.approx([10, 10])
    later = rows["outputs less QCN-OS, hundred flows", "median_delay"]
    assert list(later.values) == pytest.approx([2, 2])


def test_load_of_cnms_is_of_bytes_injected_after_the_onset() -> None:
    kept = {
        "flows": lambda *_: crowd_table(1),
        "sent_trace": lambda *_: spread_table([(0, 2000, 1.0)]),
        "notices": lambda *_: about_table((9, 0), (20, 0), (30, 0)),
    }
    runs = FakeRuns(({},), ["as_out"], {}, kept, seeds=[1])
    assert workloads.cnm_load(runs, "as_out") == pytest.approx(100 * 2 * 84 / (1e9 / 8 * 0.19))


def read_rows(name: str) -> dict:
    """Returns a scenario of the paper."""
    return tomllib.loads((PAPER / f"{name}.toml").read_text())


def test_one_flow_each_and_subflows_of_the_hotspot_differ_in_flows_alone() -> None:
    sweeps = {one["name"]: one for one in tomllib.loads((PAPER / "paper.toml").read_text())["sweep"]}
    for sweep, like in (("one_each", "hotspot"), ("hotspot_subflows", "subflows")):
        given = {one["name"]: {"flows": 1} | one for one in read_rows(like)["traffic"]}
        wanted = {
            f"traffic.{name}.{key}": str(given[name][key])
            for name in ("f1", "f2")
            for key in ("flows", "rate", "jitter", "backlog")
        }
        assert dict(one.split("=") for one in sweeps[sweep]["set"]) == wanted


def test_culprits_of_new_scenarios_get_two_fifths_of_what_they_offer() -> None:
    victims, ours, *others = read_rows("mixed")["traffic"]
    assert victims["rate"] == ours["rate"] == "1250Mbps" and victims["flows"] == ours["flows"] == 2
    # Each hot output serves its inputs in turn: h0 and nine others.
    assert [len(one["sources"]) for one in others] == [9, 9]
    assert {one["destination"] for one in others} == set(ours["destinations"])
    victims, ours = read_rows("many")["traffic"]
    assert len(ours["sources"]) * ours["flows"] * 2 == 100
    assert ours["sources"] == victims["sources"] and not set(ours["destinations"]) & set(
        victims["destinations"]
    )
    assert sorted(ours["destinations"]) == ["h2"] * 5 + ["h8"] * 5
    assert sorted(victims["destinations"]) == sorted(victims["sources"])


def test_new_scenarios_have_the_switches_of_the_others() -> None:
    assert read_rows("mixed")["switch"] == read_rows("hotspot")["switch"]
    larger, fabric = read_rows("many")["switch"], read_rows("fabric")["switch"]
    changed = {"kind": "folded_clos", "elements": 4, "cores": 4, "link_rate": "20Gbps"}
    assert larger == fabric | {"fabric": fabric["fabric"] | changed}
    for name, like in (("mixed", "hotspot"), ("many", "fabric")):
        own, other = read_rows(name)["variants"], read_rows(like)["variants"]
        assert all(own[variant] == other[variant] for variant in own)
