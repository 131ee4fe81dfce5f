"""Tests of PABO's claims that no figure decides, on handmade runs with known results."""

import math
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from fat_tree_runs import NODES, FakeRuns, packets
from overspill_papers.pabo.measures import (
    MEASURES,
    arrival_times,
    claims,
    fat_tree,
    parameters,
    retransmission,
)
from overspill_papers.pabo.measures.raw_packets import LOAD_PACKETS, PACKETS_PATH
from pabo_runs import rows_by_key, table, tree_sweeps

from overspill.papers.spec import Runs

PAPER = Path(__file__).parents[2] / "papers" / "pabo"
ROWS = tomllib.loads((PAPER / "rows.toml").read_text())["row"]
LOAD_POINTS = [{PACKETS_PATH: str(value)} for value in LOAD_PACKETS.values()]
COLUMNS = ("flow", "emission", "reverse", "fate", "bounces", "sent_ps", "end_ps")


def sent(*rows: tuple[int, int, int, float], lost: Sequence[tuple[int, int]] = ()) -> pa.Table:
    """Returns `packets` from flow, emission, bounces and arrival in us; all are sent at 1 us.

    The packets in `lost` are lost at 1 us.
    """
    found = [(flow, at, 0, 0, bounces, 10**6, int(end * 1e6)) for flow, at, bounces, end in rows]
    return table([*found, *((flow, at, 0, 1, 9, 10**6, 10**6) for flow, at in lost)], *COLUMNS)


# Packet by packet.


def test_bounced_packets_are_compared_with_themselves() -> None:
    bouncing = claims.read_packets(sent((0, 0, 0, 2), (0, 1, 2, 9), (1, 0, 1, 5), lost=[(1, 1)]))
    queued = claims.read_packets(sent((1, 0, 0, 7), (0, 0, 0, 2), (0, 1, 0, 10), (1, 1, 0, 3)))
    assert claims.mean_bounced_delay(bouncing) == 6
    assert claims.bouncing_delay_excess(bouncing, queued) == pytest.approx((8 - 9 + 4 - 6) / 2)
    assert math.isnan(claims.mean_bounced_delay(queued))
    assert math.isnan(claims.bouncing_delay_excess(queued, bouncing))


def test_entropy_is_of_ranks_among_those_that_arrive() -> None:
    in_order = sent((0, 0, 0, 2), (0, 5, 0, 3), (1, 3, 0, 1), (1, 9, 0, 4), lost=[(0, 2)])
    assert claims.reorder_entropy(claims.read_packets(in_order)) == 0
    # The displacements are 2, -1 and -1 in one flow, and 0 in the other.
    late = sent((0, 0, 0, 9), (0, 1, 0, 3), (0, 2, 0, 4), (1, 0, 0, 1))
    expected = -(0.5 * math.log(0.5) + 2 * 0.25 * math.log(0.25))
    assert claims.reorder_entropy(claims.read_packets(late)) == pytest.approx(expected)


def test_bounced_again_is_a_share_of_the_bounced() -> None:
    assert claims.excess_share_bounced_again(packets(bounces={0: 20, 1: 60, 2: 15, 5: 5})) == pytest.approx(
        25 - 80
    )
    assert math.isnan(claims.excess_share_bounced_again(packets(bounces={0: 7})))


def test_the_counter_is_the_largest_of_all_sweeps() -> None:
    one = FakeRuns({("packet_hist", "pabo", ""): [packets(bounces={0: 5, 3: 1}), packets(bounces={1: 1})]})
    more = FakeRuns({("packet_hist", "pabo", ""): [packets(bounces={2: 1})] * 2 + [packets(bounces={40: 1})]})
    [found] = claims.measure_bounce_counter({"one": one, "more": more})
    assert found.values == [3, 2]
    assert found.note.startswith("40 at most")


# DIBS, PAUSE and PFC.


def ended_table(*rows: tuple[int, float, float | None]) -> pa.Table:
    """Returns `flows` from workload, start and end in us."""
    every = [
        (traffic, int(start * 1e6), None if end is None else int(end * 1e6)) for traffic, start, end in rows
    ]
    return pa.table(
        {
            "traffic": pa.array([one[0] for one in every], pa.uint16()),
            "start_ps": pa.array([one[1] for one in every], pa.uint64()),
            "end_ps": pa.array([one[2] for one in every], pa.uint64()),
        }
    )


def test_a_flow_that_hangs_lasts_until_the_end() -> None:
    flows = ended_table((0, 0, 999), (4, 10, 14), (4, 2_999_990, None))
    assert claims.mean_completion(flows, claims.ELSEWHERE_WORKLOAD) == pytest.approx((4 + 10) / 2)
    runs = FakeRuns({("flows", "pabo", ""): [flows] * 2})
    assert claims.format_completions(runs, claims.ELSEWHERE_WORKLOAD, ("pabo",)) == "pabo 7 us, 2 flows hang"


def xoff(lost: Mapping[str, Sequence[int]], raw: bool = False) -> Runs:
    """Returns runs of PAUSE by threshold, the largest first, with the number of lost packets."""
    loads = [one[PACKETS_PATH] for one in LOAD_POINTS] if raw else [""]
    points = [
        ({PACKETS_PATH: one} if raw else {}) | {claims.XOFF_PATH: size} for one in loads for size in lost
    ]
    values = {
        ("drops", "pause", "".join(point.values())): list(lost[point[claims.XOFF_PATH]]) for point in points
    }
    return FakeRuns(values=values, variants=("pause",), points=points, seeds=(1, 2))


def test_a_threshold_has_to_lose_nothing_anywhere() -> None:
    sizes = ("89KB", "59KB", "36KB", "30KB", "12KB")
    none = dict.fromkeys(sizes, (0, 0))
    flows = ended_table((2, 0, 5), (3, 0, 8))
    slow = ended_table((2, 0, 7), (3, 0, 7))
    held = {("flows", "pabo", ""): [flows], ("flows", "pause", ""): [slow], ("flows", "pfc", ""): [slow]}
    sweeps = {f"{name}_xoff": xoff(none) for name in fat_tree.SCENARIOS}
    sweeps |= {"raw_xoff": xoff(none | {"89KB": (0, 3)}, raw=True), "others": FakeRuns(held)}
    sweeps["6to1_xoff"] = xoff(none | {"59KB": (1, 0), "89KB": (1, 1)})
    found = list(claims.measure_pause(sweeps))
    values = rows_by_key(found)
    assert values["all loads", "thresholds_without_loss"] == [3]
    assert values["mtom, same class", "fct_PFC_less_PABO"] == pytest.approx([2])
    assert values["mtom, own class", "fct_PAUSE_less_PABO"] == pytest.approx([-1])
    assert found[-1].note.endswith(
        "XOFF at 3/10 of the memory loses nothing; XOFF at 1/2 of the memory loses in 6to1; "
        "XOFF at 3/4 of the memory loses in 6to1, mild, moderate, severe"
    )


def test_other_flows_avoid_the_links_that_their_group_says() -> None:
    document = tomllib.loads((PAPER / "others.toml").read_text())
    links = {
        pair: set(pairwise(path(*pair)))
        for pair in ((one, other) for one in range(16) for other in range(16))
    }
    senders = [
        (int(server[1:]), int(group["clients"][0][1:]))
        for group in document["traffic"][:2]
        for server in group["servers"]
    ]
    loads = Counter(link for pair in senders for link in links[pair])
    idle = set(range(16)) - {host for pair in senders for host in pair}
    groups = {}
    for at, name in ((2, "sharing"), (3, "own_class"), (4, "elsewhere")):
        assert document["traffic"][at]["name"] == name
        rows = (PAPER / document["traffic"][at]["file"]).read_text().splitlines()[2:]
        groups[name] = {tuple(int(host[1:]) for host in row.split(",")[1:3]) for row in rows}
    by_load: dict[int, set[tuple[int, ...]]] = {0: set(), 1: set()}
    for pair in ((one, other) for one in idle for other in idle if one != other):
        by_load.setdefault(max(loads[link] for link in links[pair]), set()).add(pair)
    assert groups["sharing"] == groups["own_class"] == by_load[1]
    assert groups["elsewhere"] == by_load[0]
    assert (claims.SHARING_WORKLOAD, claims.OWN_CLASS_WORKLOAD, claims.ELSEWHERE_WORKLOAD) == (2, 3, 4)
    assert document["duration"] == f"{claims.END_PS // 10**12}s"


def path(source: int, destination: int) -> list[str]:
    """Returns the nodes between two hosts, counted from 0, by the two-level tables of section VI-A."""
    pods, edges = (source // 4, destination // 4), (source // 2, destination // 2)
    if edges[0] == edges[1]:
        return [f"h{source}", f"edge{edges[0]}", f"h{destination}"]
    straight = edges[0] % 2 == destination % 2  # left switches and left hosts have even numbers here
    side = 0 if straight else 1
    up = [f"h{source}", f"edge{edges[0]}", f"agg{2 * pods[0] + side}"]
    if pods[0] != pods[1]:
        core = 2 * side + (destination % 2 if straight else 1 - destination % 2)
        up += [f"core{core}", f"agg{2 * pods[1] + side}"]
    return [*up, f"edge{edges[1]}", f"h{destination}"]


def test_the_paths_of_other_flows_are_those_of_figure_10() -> None:
    assert path(1, 9) == ["h1", "edge0", "agg1", "core2", "agg5", "edge4", "h9"]
    assert path(2, 8) == ["h2", "edge1", "agg1", "core3", "agg5", "edge4", "h8"]
    assert path(3, 9) == ["h3", "edge1", "agg0", "core1", "agg4", "edge4", "h9"]
    assert set(path(10, 8)) < {*NODES}


# Sources.


def at_edges(bounced: Sequence[int], lost: Sequence[int] = (0, 0, 0)) -> pa.Table:
    """Returns `ports` of S1 to S3, nodes 4 to 6 of the tree; ACKs bounce at the port to the host."""
    rows = [(4 + at, claims.ROOT_PORT, count, 0) for at, count in enumerate(bounced)]
    rows += [(4 + at, claims.HOST_PORT, 50, count) for at, count in enumerate(lost)]
    return table(rows, "node", "port", "bounced", "drop_bounce_queue_full")


class FakeTree(FakeRuns):
    """Runs over the tree of figure 4."""

    def node(self, name: str) -> int:
        return int(name[1:]) + 4 * name.startswith("s")


def test_frames_come_back_less_those_lost_on_the_way() -> None:
    found = claims.count_returned_frames(FakeTree(), at_edges((5, 0, 7), lost=(1, 0, 7)))
    assert found == {"H1": 4, "H2": 0, "H3": 0}


def test_informed_sources_are_compared_window_by_window() -> None:
    points = [{claims.WINDOW_PATH: size} for size in ("300KB", "600KB")]
    held: dict[tuple[str, str, str], list[pa.Table]] = {}
    for size, silent, informed in (("300KB", (2, 1, 1), (1, 1, 1)), ("600KB", (9, 9, 9), (3, 3, 3))):
        held["ports", "silent", size] = [at_edges(silent)]
        held["ports", "informed", size] = [at_edges(informed)]
    drops = {("drops", one, size): [0.0] for one in ("silent", "informed") for size in ("300KB", "600KB")}
    raw = {
        ("ports", "pabo", one[PACKETS_PATH]): [at_edges((int(one[PACKETS_PATH]) // 2501, 1, 0))]
        for one in LOAD_POINTS
    }
    raw["ports", "pabo", "501"] = [at_edges((0, 0, 0))]
    values = rows_by_key(
        claims.measure_persistent_senders(
            {
                "severity": FakeTree(raw, points=LOAD_POINTS),
                "persistent": FakeTree(held, drops, points=points),
            }
        )
    )
    assert values["mild", "sources_with_returned_frames"] == ["none"]
    assert values["severe", "sources_with_returned_frames"] == ["H1 H2"]
    assert values["600 KB, not informed", "sources_with_returned_frames"] == ["H1 H2 H3"]
    assert values["300 KB", "returned_frames_informed_less_not"] == [-1]
    assert values["600 KB less 300 KB", "frames_spared"] == [17]


# Retransmission.


def query_table(*rows: tuple[int, float, float | None, int], server: int = 0) -> pa.Table:
    """Returns `flows` of requests and replies: query, start and end in ms, and timeouts of the reply."""
    found: list[dict[str, Any]] = []
    for query, start, end, expired in rows:
        begin = int(start * 1e9)
        same = {"traffic": 0, "query": query, "retransmits": 0, "fast_retransmits": 0, "data_drops": 0}
        found.append(same | {"role": 1, "dst": server, "start_ps": begin, "end_ps": begin + 1, "timeouts": 9})
        last = None if end is None else int(end * 1e9)
        found.append(same | {"role": 0, "dst": 8, "start_ps": begin + 1, "end_ps": last, "timeouts": expired})
    return pa.Table.from_pylist(found)


def test_replies_are_known_by_their_place_in_a_session() -> None:
    found = retransmission.read_replies(query_table((7, 100, 130, 0), (3, 0, 20, 1), (9, 9000, None, 0)))
    assert [(key[2], one.time, one.finished, one.timeouts) for key, one in sorted(found.items())] == [
        (0, 20, True, 1),
        (1, 30, True, 0),
        (2, 1000, False, 0),
    ]
    assert retransmission.mean_reply_time(found) == pytest.approx(350)
    assert (
        retransmission.read_replies(query_table((0, 0, None, 0)).slice(0, 1))[0, 0, 0].time
        == retransmission.END_MS
    )


def test_the_lead_is_that_of_replies_with_a_timeout() -> None:
    without = retransmission.read_replies(query_table((0, 0, 100, 1), (1, 200, 230, 0), (2, 300, 350, 0)))
    pabo = retransmission.read_replies(query_table((0, 0, 10, 0), (1, 100, 120, 0), (2, 300, None, 0)))
    assert retransmission.share_saved_with_timeout(without, pabo) == pytest.approx(90)
    assert retransmission.timeout_slowdown(without) == pytest.approx(2.5)
    assert retransmission.share_with_timeout(without) == pytest.approx(100 / 3)
    assert math.isnan(retransmission.timeout_slowdown(pabo))


def test_recoveries_are_timeouts_and_fast_retransmits() -> None:
    flows = table([(3, 1), (0, 8)], "timeouts", "fast_retransmits")
    assert retransmission.timeout_share(flows) == 25
    assert math.isnan(retransmission.timeout_share(flows.slice(0, 0)))


def test_the_runs_of_section_6_end_when_the_scenario_says() -> None:
    for name in ("fat_tree.toml", "many_to_many.toml"):
        assert tomllib.loads((PAPER / name).read_text())["duration"] == f"{retransmission.END_MS / 1000:.0f}s"


# Whole figures.


def test_the_mean_of_12_senders_is_compared_with_and_without_the_near_one() -> None:
    delays = {"9to1": 900, "11to1": 950, "12to1": 890}
    sweeps = {
        name: FakeRuns({("packet_hist", "pabo", ""): [packets(delay={us * 10**6: 1})]})
        for name, us in delays.items()
    }
    values = rows_by_key(arrival_times.measure_sender_in_pod(sweeps))
    assert values["12to1 less 9to1", "delay_PABO"] == [-10]
    assert values["11to1 less 9to1", "delay_PABO"] == [50]
    assert values["12to1 less 11to1", "delay_PABO"] == [-60]


@pytest.mark.parametrize(("figure", "sign"), [("fig6d", 1), ("fig6e", -1), ("fig6f", 1)])
def test_entropy_is_correlated_with_time_ratio(figure: str, sign: int) -> None:
    flat = dict.fromkeys(("utilisation_variance", "bounced_share"), lambda *_: 1)
    sweeps = tree_sweeps(
        **flat,
        reorder_entropy=lambda _, lam, seed: 3 + sign * seed * lam / 200,
        time_above_theta=lambda _, lam, __: lam,
    )
    values = rows_by_key(parameters.MEASURES[figure](sweeps))
    [found] = [value for (_, metric), value in values.items() if metric.endswith("entropy_and_time_ratio")]
    assert found == pytest.approx([1, 1])


def all_sweeps() -> dict[str, Runs]:
    """Returns every sweep of the claims, with two equal seeds each."""
    hist = packets(bounces={0: 5, 2: 5}, detours={0: 9, 1: 1}, delay={10**9: 10}, acks={10**6: 10})
    raw = sent((0, 0, 0, 2), (0, 1, 2, 9))
    flows = query_table((0, 0, 30, 0), (1, 40, 1100, 1))
    quick = query_table((0, 0, 20, 0), (1, 40, 60, 0))
    found: dict[str, Runs] = {}
    loads = [(one, "".join(one.values())) for one in LOAD_POINTS]
    held = {
        (kind, variant, at): [made] * 2
        for _, at in loads
        for variant in ("pabo", "in_turn", "one_queue", "dibs")
        for kind, made in (("packets", raw), ("packet_hist", hist))
    }
    zeros = {
        ("drops", variant, at): [0.0, 0.0] for variant in ("pabo", "dibs") for _, at in [*loads, ({}, "")]
    }
    found["served"] = FakeRuns(held, zeros, points=LOAD_POINTS, seeds=(1, 2))
    severe = {("packet_hist", "pabo", at): [hist] * 2 for _, at in loads}
    severe |= {("ports", "pabo", at): [at_edges((0, 0, 0))] * 2 for _, at in loads}
    found["severity"] = FakeTree(severe, points=LOAD_POINTS, seeds=(1, 2))
    for name in (*fat_tree.SCENARIOS, "11to1", "raw_theta", "raw_lambda", "mtom_theta"):
        found[name] = FakeRuns({("packet_hist", "pabo", ""): [hist] * 2}, seeds=(1, 2))
    entropy = {("reorder_entropy", variant, ""): [1.0, 2.0] for variant in ("pabo", "dibs")}
    for name in fat_tree.SCENARIOS:
        both = {
            (kind, one, ""): [made] * 2
            for one in ("pabo", "recovering", "dibs")
            for kind, made in (("packet_hist", hist), ("flows", quick))
        }
        found[f"{name}_beside"] = FakeRuns(both, entropy | zeros, seeds=(1, 2))
        points = [{retransmission.MIN_RTO_PATH: rto} for rto in ("10ms", "100ms", "1s")]
        runs = {("flows", "without", point[retransmission.MIN_RTO_PATH]): [flows] * 2 for point in points}
        found[f"{name}_rto"] = FakeRuns(runs, points=points, seeds=(1, 2))
        found[f"{name}_xoff"] = xoff(dict.fromkeys(("12KB", "30KB", "36KB", "59KB", "89KB"), (0, 0)))
    found["raw_xoff"] = xoff(dict.fromkeys(("152KB", "380KB", "455KB", "759KB", "1138KB"), (0, 0)), raw=True)
    others = ended_table((2, 0, 5), (3, 0, 5), (4, 0, 5))
    found["others"] = FakeRuns({("flows", one, ""): [others] * 2 for one in ("pabo", "dibs", "pause", "pfc")})
    sizes = [{claims.WINDOW_PATH: size} for size in ("300KB", "600KB")]
    ports = {
        ("ports", one, size[claims.WINDOW_PATH]): [at_edges((1, 1, 1))] * 2
        for one in ("silent", "informed")
        for size in sizes
    }
    drops = {("drops", *key[1:]): [0.0, 0.0] for key in ports}
    found["persistent"] = FakeTree(ports, drops, points=sizes, seeds=(1, 2))
    return found


IDS = [one for one in MEASURES if one.startswith("claim-")]


@pytest.mark.parametrize("name", IDS)
def test_a_claim_measures_exactly_its_rows(name: str) -> None:
    sweeps = all_sweeps()
    paper = tomllib.loads((PAPER / "paper.toml").read_text())
    [shown] = [one for one in paper["figure"] if one["id"] == name]
    found = rows_by_key(MEASURES[name]({one: sweeps[one] for one in shown["sweeps"]}))
    assert set(found) == {(row["case"], row["metric"]) for row in ROWS if row["figure"] == name}
    assert all(len(values) for values in found.values())
    assert all(np.isfinite(values).all() for values in found.values() if not isinstance(values[0], str))


def test_every_figure_of_the_paper_has_code() -> None:
    assert len(IDS) == 8
    assert {row["figure"] for row in ROWS} == set(MEASURES)
