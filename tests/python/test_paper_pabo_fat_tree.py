"""Tests of PABO's section VI and conclusion: every measure on small handmade runs."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from fat_tree_runs import (
    NODES,
    UP,
    FakeRuns,
    all_sweeps,
    flows,
    join_sweeps,
    packets,
    ports,
    reorder,
    runs_along_theta,
    runs_by_bounce_size,
    sweep,
    traced_packets,
)
from matplotlib.figure import Figure as Drawing
from overspill_papers.pabo.figures import DRAWINGS
from overspill_papers.pabo.figures import fat_tree as drawn
from overspill_papers.pabo.measures import MEASURES, SECTION_6, bounces_and_drops, fat_tree

from overspill import plots
from overspill.papers.spec import Measured

PAPER = Path(__file__).parents[2] / "papers" / "pabo"


def rows_by_key(figure: str, sweeps: Mapping[str, FakeRuns]) -> dict[tuple[str, str], Measured]:
    """Returns the values that a figure yields, by case and metric."""
    yielded = list(SECTION_6[figure](sweeps))
    assert len({(one.case, one.metric) for one in yielded}) == len(yielded)
    return {(one.case, one.metric): one for one in yielded}


def rows(figure: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Returns the published rows of a figure."""
    every = tomllib.loads((PAPER / "rows.toml").read_text())["row"]
    return {(one["case"], one["metric"]): one for one in every if one["figure"] == figure}


# One run of each kind.


def test_the_nodes_of_the_paper_are_those_of_figure_10() -> None:
    ours = fat_tree.SWITCHES
    assert [ours[f"S{n}"] for n in (1, 2, 3, 4)] == ["edge0", "edge1", "agg0", "agg1"]
    assert [ours[f"S{n}"] for n in (9, 11, 12)] == ["edge4", "agg4", "agg5"]
    assert (ours["C1"], ours["C4"], ours["S16"], fat_tree.HOSTS["H9"]) == ("core0", "core3", "agg7", "h8")
    assert sorted([*ours.values(), *fat_tree.HOSTS.values()]) == sorted(NODES)


def test_shares_are_of_data_packets_and_not_of_acks() -> None:
    table = packets(bounces={0: 1, 1: 2, 3: 1}, delay={5: 4}, acks={1: 96})
    assert fat_tree.bounced_share(table) == 75
    assert fat_tree.bounces_per_bounced(table) == pytest.approx(5 / 3)
    assert fat_tree.mean_delay(table) == 5e-6
    assert (fat_tree.count_delivered(table), fat_tree.count_delivered(table, acks=True)) == (4, 100)


def test_without_a_bounce_there_are_no_bounces_of_a_bounced_packet() -> None:
    table = packets(bounces={0: 7})
    assert fat_tree.bounced_share(table) == 0
    assert math.isnan(fat_tree.bounces_per_bounced(table))
    assert math.isnan(fat_tree.bounced_share(packets(delay={1: 1})))


def test_the_spread_of_delay_is_that_of_all_workloads_together() -> None:
    first, second = packets(delay={2_000_000: 1, 4_000_000: 1}), packets(traffic=1, delay={9_000_000: 2})
    both = pa.concat_tables([first, second])
    assert fat_tree.mean_delay(both) == 6
    assert fat_tree.delay_deviation(both) == pytest.approx(np.std([2, 4, 9, 9]))
    assert fat_tree.delay_deviation(first) == pytest.approx(1)


def test_replies_are_timed_from_their_requests() -> None:
    runs = FakeRuns()
    one = fat_tree.read_replies(runs, flows((0, 1.0, 4.0), (1, 2.0, 7.0), (2, 3.0, None), server=4))
    assert one.times.tolist() == [3, 5]
    assert (one.mean, one.unfinished, one.unfinished_servers) == (4, 1, "H5")
    assert one.mean_lower_bound == pytest.approx((3 + 5 + 9997) / 3), "the run ends after 10 s"
    assert math.isnan(fat_tree.read_replies(runs, flows((0, 1.0, None))).mean)
    assert math.isnan(fat_tree.read_replies(runs, flows((0, 1.0, 4.0)).slice(0, 0)).mean_lower_bound)


def test_a_request_whose_reply_never_began_is_unfinished() -> None:
    assert fat_tree.read_replies(FakeRuns(), flows((0, 1.0, 2.0), (1, 5.0, None)).slice(0, 3)).unfinished == 1


@pytest.mark.parametrize("name", ["fat_tree", "many_to_many"])
def test_runs_end_when_the_scenarios_say(name: str) -> None:
    assert tomllib.loads((PAPER / f"{name}.toml").read_text())["duration"] == f"{fat_tree.END_PS // 10**12}s"


def test_queries_of_two_workloads_are_told_apart() -> None:
    first, other = flows((0, 0.0, 2.0)), flows((0, 1.0, 9.0)).set_column(0, "traffic", pa.array([1, 1]))
    assert sorted(fat_tree.read_replies(FakeRuns(), pa.concat_tables([first, other])).times) == [2, 8]


# Table II and figure 11.


def shares_of(bounced: Sequence[int]) -> FakeRuns:
    """Returns runs of 100 packets with these numbers of bounced ones; one in each bounces two links back."""
    tables = [packets(bounces={0: 100 - n, 2: n}, distance={0: 100 - n, 1: n - 1, 2: 1}) for n in bounced]
    return sweep("packet_hist", {"pabo": tables})


def test_table_2_pairs_scenarios_by_seed() -> None:
    runs = dict(
        zip(
            fat_tree.SCENARIOS,
            map(shares_of, ([50, 48], [47, 49], [43, 41], [42, 44], [60, 62])),
            strict=True,
        )
    )
    got = rows_by_key("tab2", runs)
    assert got["3to1", "bounced_share"].values == [50, 48]
    assert got["mtom", "share_of_0"].values == [40, 38]
    assert got["6to1", "share_above_1"].values == [1, 1]
    assert got["3to1 less 6to1", "bounced_share"].values == [3, -1]
    assert got["9to1 less 12to1", "bounced_share"].values == [1, -3]
    assert got.keys() == rows("tab2").keys()


def bounced_at(*by_seed: Mapping[str, int]) -> FakeRuns:
    """Returns a sweep whose runs bounce packets at these nodes."""
    return sweep("ports", {"pabo": [ports(bounced=one) for one in by_seed]})


def test_figure_11_tells_shares_of_all_bounces() -> None:
    runs = {
        "3to1": bounced_at({"core0": 10}, {"core0": 12, "edge4": 1}),
        "6to1": bounced_at({"core0": 20, "core3": 10, "agg4": 5, "edge4": 65}, {"core0": 100}),
        "9to1": bounced_at({"core0": 40, "core3": 20, "agg4": 10, "agg5": 1, "edge4": 29}, {"edge4": 50}),
        "12to1": bounced_at({"core0": 1, "core3": 2, "agg4": 3, "agg5": 4, "edge4": 10}, {"agg4": 1}),
    }
    got = rows_by_key("fig11", runs)
    assert got["6to1 less 3to1", "bounces"].values == [90, 87]
    assert got["12to1 less 9to1", "bounces"].values == [-80, -49]
    assert got["3to1", "bouncing_switches"].values == ["C1", "C1 S9"]
    assert got["6to1", "least_of_C1_C4"].values == [10, 0]
    assert got["6to1", "S9_less_next"].values == [45, -100]
    assert got["6to1", "share_of_S11"].values == [5, 0]
    assert got["9to1", "S9_less_next"].values == [-11, 100]
    assert got["9to1", "share_of_S12"].values == [1, 0]
    assert got["9to1", "least_of_C1_C4_S11"].values == [10, 0]
    assert got["12to1", "least_of_C1_C4_S11_S12"].values == [5, 0]
    assert got.keys() == rows("fig11").keys()


# Sections VI-C and VI-D.


def runs_with_losses(
    without: Mapping[str, int], pabo: Mapping[str, int], end: float | None = 9.0, often: int = 2
) -> FakeRuns:
    """Returns a sweep that loses packets at these nodes; 90 data packets and 100 ACKs arrive."""
    came = packets(delay={1: 90}, acks={1: 100}, bounces={0: 45, often: 45})
    return join_sweeps(
        sweep(
            "ports",
            {
                "without": [ports(drop_buffer_full=without)],
                "pabo": [ports(drop_bounce_queue_full=pabo, bounced={"core0": 9, "core1": 8, "agg4": 83})],
            },
        ),
        sweep("packet_hist", {"without": [came], "pabo": [came]}),
        sweep("flows", {"pabo": [flows((0, 1.0, end))]}),
    )


def test_drop_rates_are_of_what_was_delivered_or_dropped() -> None:
    runs = {name: runs_with_losses({"core0": 4, "edge4": 6}, {}) for name in fat_tree.MANY_TO_ONE}
    runs["6to1"] = runs_with_losses({}, {}, often=5)
    got = rows_by_key("secVI-C", runs)
    assert got["3to1, without PABO", "drop_rate"].values == [10]
    assert got["3to1, without PABO", "drop_rate_with_acks"].values == [5]
    assert got["9to1, without PABO", "dropping_switches"].values == ["C1 S9"]
    assert got["9to1, without PABO", "dropping_switches"].note == "packets lost: C1 4, S9 6"
    assert got["12to1, without PABO", "share_of_drops_at_C1"].values == [40]
    assert got["12to1, without PABO", "drops_at_S9_less_C1"].values == [20]
    assert got["3to1, PABO", "drops"].values == [0]
    assert got["3to1, PABO", "drops"].note == ""
    assert got["6to1 less 3to1", "bounces_per_bounced_packet"].values == [3]
    assert got["9to1 less 6to1", "bounces_per_bounced_packet"].values == [-3]
    assert got.keys() == rows("secVI-C").keys()


def test_drops_at_several_switches_are_told_by_their_range_over_seeds() -> None:
    two = [{"C1": 59, "S9": 221}, {"C1": 59, "S9": 300}]
    assert bounces_and_drops.format_drop_locations(two) == "packets lost: C1 59, S9 221 to 300"
    three = [{"C1": 59, "S9": 221, "S12": 0}, {"C1": 63, "S9": 300, "S12": 5}, {"C1": 59, "S9": 0, "S12": 16}]
    by_node = (
        "C1 59 to 63 (59 in 2 of 3 seeds)",
        "S9 221 to 300 (in 2 of 3 seeds)",
        "S12 5 to 16 (in 2 of 3 seeds)",
    )
    assert bounces_and_drops.format_drop_locations(three) == f"packets lost: {', '.join(by_node)}"
    assert bounces_and_drops.format_drop_locations([{"C1": 4, "S9": 0}, {"C1": 0, "S9": 6}]) == ""


def test_a_loss_with_pabo_is_told_with_its_queue_and_what_hangs() -> None:
    runs = {name: runs_with_losses({}, {"agg4": 3}, None) for name in fat_tree.MANY_TO_ONE}
    got = rows_by_key("secVI-C", runs)
    assert got["3to1, PABO", "drops"].values == [3]
    assert got["3to1, PABO", "drops"].note == "seed 1: 3 bounce_queue_full at S11, 1 replies hang, of H1"
    assert got["3to1, without PABO", "dropping_switches"].values == ["none"]
    assert math.isnan(float(got["12to1, without PABO", "share_of_drops_at_C1"].values[0]))


def test_a_host_that_drops_is_told_as_one() -> None:
    got = rows_by_key("secVI-D", {"mtom": runs_with_losses({"h3": 1, "agg4": 1}, {})})
    assert got["mtom, without PABO", "dropping_switches"].values == ["S11 H4"]


def test_many_to_many_tells_where_it_bounces() -> None:
    got = rows_by_key("secVI-D", {"mtom": runs_with_losses({"agg4": 1}, {})})
    assert got["mtom, PABO", "share_of_bounces_at_C1"].values == [9]
    assert got["mtom, PABO", "share_of_bounces_at_C2"].values == [8]
    assert got["mtom, PABO", "share_of_bounces_at_S11"].values == [83]
    assert got["mtom, PABO", "bounces_at_S9"].values == [0]
    assert got.keys() == rows("secVI-D").keys()


# Figures 12 to 14.


def test_figure_12_counts_packets_out_of_their_place() -> None:
    tables = {"pabo": [reorder({0: 5, -1: 4, 12: 1})], "without": [reorder({0: 9, -20: 1, 30: 0})]}
    got = rows_by_key("fig12", {"12to1": sweep("reorder", tables)})
    assert got["PABO", "displaced_share"].values == [50]
    assert got["PABO", "largest_displacement"].values == [12]
    assert got["without PABO", "largest_displacement"].values == [20]
    assert got["without PABO by PABO", "displaced_share"].values == [pytest.approx(0.2)]
    assert got.keys() == rows("fig12").keys()


def test_figure_13_pairs_variants_and_scenarios_by_seed() -> None:
    def delays(*by_seed: tuple[int, int], without: int) -> FakeRuns:
        made = [packets(delay={int(low * 1e6): 1, int(high * 1e6): 1}) for low, high in by_seed]
        return sweep(
            "packet_hist", {"pabo": made, "without": [packets(delay={int(without * 1e6): 1})] * len(made)}
        )

    runs = {name: delays((1, 3), (2, 6), without=2) for name in fat_tree.SCENARIOS}
    runs["6to1"] = delays((2, 10), (3, 3), without=6)
    got = rows_by_key("fig13", runs)
    assert got["3to1", "delay_PABO_less_without"].values == [0, 2]
    assert got["3to1", "delay_PABO_by_without"].values == [1, 2]
    assert got["6to1 less 3to1", "delay_PABO"].values == [4, -1]
    assert got["6to1 less 3to1", "delay_sd_PABO"].values == [3, -2]
    assert got["9to1 less 6to1", "delay_sd_PABO"].values == [-3, 2]
    assert got.keys() == rows("fig13").keys()


def reply_runs(with_it: Sequence[float | None], without: Sequence[float | None]) -> FakeRuns:
    """Returns a sweep of one seed whose replies end at these times; all requests start at 0."""
    made = {"pabo": with_it, "without": without}
    tables = {
        name: [flows(*((query, 0.0, end) for query, end in enumerate(ends)))] for name, ends in made.items()
    }
    return sweep("flows", tables)


def test_a_reply_with_pabo_that_hangs_counts_until_the_end_in_figure_14_and_the_note_says_so() -> None:
    runs = {name: reply_runs([10, 30], [300, 100]) for name in fat_tree.SCENARIOS}
    runs["6to1"] = reply_runs([10, None], [100, None])
    runs["9to1"] = reply_runs([10, 30], [400, None])
    got = rows_by_key("fig14", runs)
    assert got["3to1", "fct_without_by_PABO"].values == [10]
    assert got["3to1", "fct_without_less_PABO"].values == [180]
    assert got["6to1", "fct_without_less_PABO"].values == [100 - (10 + 10_000) / 2]
    assert got["6to1", "fct_without_by_PABO"].values == pytest.approx([200 / 10_010])
    assert got["6to1 by 3to1", "fct_without_by_PABO"].values == pytest.approx([20 / 10_010])
    assert "in 1 of 1 seeds replies with PABO hang, and count" in got["6to1", "fct_without_by_PABO"].note
    assert got["9to1", "fct_without_by_PABO"].values == [20], "what is cut off without PABO makes it smaller"
    assert "1 replies without PABO are cut off" in got["9to1", "fct_without_by_PABO"].note
    assert "hang" not in got["3to1", "fct_without_by_PABO"].note
    assert got["all five, PABO", "unfinished_replies"].values == [1]
    assert got["all five, PABO", "unfinished_replies"].note == "6to1, seed 1: 1 of H1"
    assert got.keys() == rows("fig14").keys()


def test_a_scenario_without_any_reply_in_the_baseline_has_no_ratio() -> None:
    runs = {name: reply_runs([10], [100]) for name in fat_tree.SCENARIOS} | {"mtom": reply_runs([10], [None])}
    assert math.isnan(float(rows_by_key("fig14", runs)["mtom", "fct_without_by_PABO"].values[0]))


def test_where_nothing_is_bounced_every_distance_is_0() -> None:
    table = packets(bounces={0: 7}, delay={10**9: 7})
    assert (bounces_and_drops.unbounced_share(table), bounces_and_drops.far_bounced_share(table)) == (100, 0)


# Figure 15.


def test_figure_15_knows_its_curves_by_theta() -> None:
    runs = runs_along_theta(
        [4, 4, 4, 4, 4.2, 9, 2.02], [70, 60, 50, 40, 30, 20, 10], [10, 10, 12, 10, 10, 10, 99]
    )
    got = rows_by_key("fig15", {"mtom_theta": runs})
    assert got["theta 0.5 to 0.9", "entropy_spread"].values == pytest.approx([0.2 / 4.04] * 2)
    assert got["theta=0.99", "entropy_by_mean_of_0.5_to_0.9"].values == pytest.approx([0.5] * 2)
    assert got["theta 0.5 to 0.95", "fct_spread"].values == pytest.approx([2 / (62 / 6)] * 2)
    assert got["theta 0.5 to 0.95", "delay_spread"].values == pytest.approx([2 / (62 / 6)] * 2)
    assert got["theta 0.5 to 0.99", "rank_correlation_of_theta_and_bounced_share"].values == [-1]
    often = got["theta 0.5 to 0.99", "rank_correlation_of_theta_and_bounces_per_bounced_packet"]
    assert often.values == pytest.approx([1])
    assert got.keys() == rows("fig15").keys()


def test_a_trend_down_is_as_large_as_one_up() -> None:
    runs = runs_along_theta([4] * 7, [50] * 7, [60, 50, 40, 30, 20, 10, 99])
    got = rows_by_key("fig15", {"mtom_theta": runs})
    for name in ("fct", "delay"):
        size = got["theta 0.5 to 0.95", f"size_of_rank_correlation_of_theta_and_{name}"]
        assert size.values == pytest.approx([1])
    assert got["theta 0.5 to 0.99", "rank_correlation_of_theta_and_bounced_share"].values == [0]


# The conclusion.


def test_the_conclusion_counts_every_point_and_says_which_seeds_lost() -> None:
    points = [{"a": "1"}, {"a": "2"}]
    grid = FakeRuns(points=points, seeds=(1, 2), variants=("pabo",))
    grid.values = {("drops", "pabo", "1"): [0, 3], ("drops", "pabo", "2"): [0, 4]}
    plain = FakeRuns(seeds=(1, 2), values={("drops", "pabo", ""): [1, 0], ("drops", "without", ""): [99, 99]})
    made = rows_by_key("secVIII", {"tree": grid, "9to1": plain, "room": runs_by_bounce_size([5, 0], [0, 0])})
    got = made["every run with PABO", "drops"]
    assert got.values == [1, 7]
    assert got.note == "tree over 2 points: seed 2 (7); 9to1: seed 1 (1)"
    assert made.keys() == rows("secVIII").keys()


def test_a_bounce_queue_is_large_enough_where_it_and_all_larger_ones_lose_nothing() -> None:
    def smallest(*losses: list[int]) -> Measured:
        return rows_by_key(
            "secVIII", {"room": runs_by_bounce_size(*losses), "3to1": runs_by_bounce_size([0, 0])}
        )["12to1", "bounce_queue_without_loss"]

    assert smallest([5, 0], [0, 0], [0, 0]).values == [200]
    assert smallest([0, 0], [0, 1], [0, 0]).values == [300]
    assert smallest([0, 0], [0, 0]).values == [100]
    assert np.isnan(smallest([0, 0], [1, 0]).values[0])
    assert smallest([5, 2], [0, 1]).note.endswith("100 (2 of 2 seeds), 200 (1 of 2 seeds)")


def test_the_conclusion_says_nothing_where_nothing_is_lost() -> None:
    runs = FakeRuns(values={("drops", "pabo", ""): [0]}, variants=("pabo",))
    got = rows_by_key("secVIII", {"example": runs, "room": runs_by_bounce_size([0, 0])})[
        "every run with PABO", "drops"
    ]
    assert (got.values, got.note) == ([0], "")


# Figure 10.


def test_figure_10_tells_the_ports_on_the_way_up() -> None:
    first = ("h0", "h8", [("edge0", 2), ("agg0", 2), ("core0", 2), ("agg4", 0), ("edge4", 0)])
    got = rows_by_key("fig10", {"paths": traced_packets(first, ("h1", "h9", UP))})
    assert got["H2 to H10", "path"].values == ["S1 port 3, S4 port 2, C3, S12, S9"]
    assert got["3to1", "core_switches"].values == ["C1: H1"]
    assert got.keys() == rows("fig10").keys()


def test_core_switches_and_hosts_come_in_their_order() -> None:
    def over(source: str, core: str) -> tuple[str, str, Sequence[tuple[str, int]]]:
        return source, "h8", [(core, 2), ("edge4", 0)]

    runs = traced_packets(
        over("h12", "core0"), over("h0", "core0"), over("h2", "core3"), ("h10", "h8", [("agg4", 0)])
    )
    got = rows_by_key("fig10", {"paths": runs})
    assert got["6to1", "core_switches"].values == ["C1: H1 H13; C4: H3"]
    assert got["12to1", "core_switches"].values == ["C1: H1 H13; C4: H3"]
    assert got["H2 to H10", "path"].values == ["none"]


def test_a_path_within_a_pod_goes_up_and_down() -> None:
    runs = traced_packets(("h10", "h8", [("edge4", 0), ("agg4", 0), ("edge5", 2)]))
    [trace] = fat_tree.read_traces(runs)
    assert fat_tree.describe_path(trace.hops("H11", "H9")) == "S10 port 2, S11, S9"


def test_the_servers_are_those_of_the_scenarios() -> None:
    paper = tomllib.loads((PAPER / "paper.toml").read_text())
    replies = tomllib.loads((PAPER / "fat_tree.toml").read_text())["traffic"][0]
    for one in paper["sweep"]:
        if one["name"] in fat_tree.MANY_TO_ONE:
            sets = dict(text.split("=", 1) for text in one.get("set", []))
            text = sets.get("traffic.replies.servers")
            servers = tomllib.loads(f"x={text}")["x"] if text else replies["servers"]
            assert {fat_tree.HOSTS[name] for name in fat_tree.SERVERS[one["name"]]["H9"]} == set(servers)
    many = tomllib.loads((PAPER / "many_to_many.toml").read_text())["traffic"]
    ours = {
        client: [fat_tree.HOSTS[name] for name in servers]
        for client, servers in fat_tree.SERVERS["mtom"].items()
    }
    assert ours == {"H9": many[0]["servers"], "H10": many[1]["servers"]}


# Drawings.


@pytest.mark.parametrize("name", sorted(set(SECTION_6) & set(DRAWINGS)))
def test_a_figure_is_drawn_with_and_without_what_was_published(name: str) -> None:
    draw = DRAWINGS[name]
    told = {
        key: row["published"] for key, row in rows(name).items() if isinstance(row.get("published"), float)
    }
    for published in ({}, told):
        with plots.style():
            made = draw(all_sweeps(), published)
        assert isinstance(made, Drawing)
        assert all(axes.get_title("left") or axes.get_ylabel() for axes in made.axes)


def test_published_values_are_marked_and_others_are_not() -> None:
    draw = DRAWINGS["tab2"]
    for published in ({}, {("mtom", "bounced_share"): 61.63}):
        lines = draw(all_sweeps(), published).axes[0].lines
        heights = [float(one.get_ydata()[0]) for one in lines if one.get_marker() == "D"]
        assert heights == list(published.values())


def test_an_axis_is_broken_in_its_widest_gap_and_only_there() -> None:
    assert drawn.widest_gap([(40, 4), (1, 0), (10, 0), (11, 1)]) == (12, 36)
    assert drawn.widest_gap([(0, 0), (10, 3), (12, 0), (14, 0)]) is None
    assert drawn.widest_gap([(0, 0)]) is None


def test_all_figures_of_section_6_and_the_conclusion_are_there() -> None:
    ids = "fig10 tab2 fig11 secVI-C fig12 fig13 fig14 claim-12to1 secVI-D fig15 secVIII"
    assert sorted(SECTION_6) == sorted(ids.split())
    assert MEASURES.items() >= SECTION_6.items()
