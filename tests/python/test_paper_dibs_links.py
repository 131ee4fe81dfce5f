"""Tests of DIBS's figures 1 to 5: every measure on small handmade runs of the fat-tree."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from dibs_tables import PORTS, FakeRuns, number, table
from overspill_papers.dibs.measures import burst, detour_paths, hot_links
from overspill_papers.dibs.measures.burst import POD, Burst
from overspill_papers.dibs.measures.fabric import Fabric

FABRIC = Fabric.of_run(FakeRuns(), PORTS)
EVERY = 768  # links, in each direction


def at_switch(name: str) -> int:
    """Returns the position of a switch among all switches."""
    return int(np.searchsorted(FABRIC.switches, number(name)))


# The fat-tree.


def test_the_fat_tree_has_its_tiers_and_pods() -> None:
    nodes = np.array([number(name) for name in ("h16", "edge5", "agg31", "core3")])
    assert FABRIC.tier(nodes).tolist() == ["h", "edge", "agg", "core"]
    assert FABRIC.pod(nodes).tolist() == [1, 1, 7, -1]
    assert FABRIC.edge_of(np.array([0, 3, 4, 127])).tolist() == [number(f"edge{at}") for at in (0, 0, 1, 31)]
    assert (len(FABRIC.node), len(FABRIC.switches)) == (EVERY, 80)


def test_a_port_leads_where_its_link_ends() -> None:
    far = FABRIC.far_ends(np.array([number("edge1"), number("agg1"), number("core4")]), np.array([6, 4, 7]))
    assert far.tolist() == [number("agg2"), number("core4"), number("agg29")]


def test_a_switch_is_as_far_as_the_shortest_way() -> None:
    distances = FABRIC.switch_distances[at_switch("edge0")]
    near = {1: ["agg0", "agg1", "agg2", "agg3"], 2: ["edge1", "edge2", "edge3"]}
    near[2] += [f"core{at}" for at in range(16)]
    for distance, names in near.items():
        assert sorted(np.flatnonzero(distances == distance)) == sorted(map(at_switch, names))
    assert distances[at_switch("edge0")] == 0 and distances[at_switch("agg4")] == 3


# Figures 3 to 5.


def bits(*rows: tuple[int, str, int, float]) -> pa.Table:
    """Returns `links` from step, node, port, and the utilisation of the link in that step."""
    made = [(step, number(name), port, int(busy * 1e6)) for step, name, port, busy in rows]
    return table("bin node port bits", *made)


def waiting(*rows: tuple[int, str, int, float, int]) -> pa.Table:
    """Returns `queue_trace` from step, node, port, and mean and maximum length in packets."""
    made = [(step, number(name), port, mean, most) for step, name, port, mean, most in rows]
    return table("bin node port mean_packets max_packets", *made)


def test_a_link_is_as_busy_as_its_bits_say_over_a_window() -> None:
    # Bits sent before or after the measurement window are left out.
    busy = bits((99, "h0", 0, 1), (100, "h0", 0, 1), (101, "h0", 0, 0.5), (2100, "h0", 0, 1))
    short, long = hot_links.utilisation(FABRIC, busy, 1), hot_links.utilisation(FABRIC, busy)
    assert short.shape == (2000, EVERY) and long.shape == (200, EVERY)
    assert short[:3, 0].tolist() == [1, 0.5, 0] and short.sum() == 1.5
    assert long[0, 0] == pytest.approx(0.15) and long.sum() == pytest.approx(0.15)


def test_shares_of_links_are_of_all_of_them_each_way() -> None:
    busy = np.zeros((3, 10))
    busy[0, :2], busy[1] = (0.9, 0.89), 1
    assert hot_links.share_above(busy, 0.9).tolist() == [0.1, 1, 0]


def test_an_idle_network_has_no_link_half_as_busy_as_the_busiest() -> None:
    busy = np.array([[0, 0, 0, 0], [0.2, 0.1, 0.09, 0], [1, 1, 1, 1]])
    assert hot_links.share_by_busiest(busy).tolist() == [0, 0.5, 1]


@pytest.mark.parametrize(("hops", "expected"), [(1, 1 - 0.5 / 32), (2, 1 - 0.25 / 152)])
def test_what_is_free_is_that_of_neighbours_of_hot_switches(hops: int, expected: float) -> None:
    hot = bits(*((step, "edge0", 0, 1) for step in range(100, 110)))
    # In that window one of 4 x 8 queues one hop away is half full. One of 19 x 8 queues two hops away is half
    # full for half of it as well. Other windows and switches farther away do not count.
    rows = [(step, "agg1", 3, 50.0, 80) for step in range(100, 110)]
    rows += [(step, "core7", 0, 50.0, 60) for step in range(105, 110)]
    rows += [(step, "agg9", 0, 100.0, 100) for step in range(100, 110)]
    rows += [(step, "agg1", 0, 100.0, 100) for step in range(110, 120)]
    found = hot_links.nearby_buffers(FABRIC, hot_links.read_buffer_fill(FABRIC, hot, waiting(*rows)), hops)
    assert found.free == pytest.approx(100 * expected)
    queues, most = {1: (32, 0.8), 2: (152, 0.6)}[hops]
    assert found.free_at_most == pytest.approx(100 * (1 - most / queues))
    assert found.empty == pytest.approx(100 * (1 - 1 / queues))


def test_a_hot_link_out_of_a_host_congests_no_switch() -> None:
    hot = bits(*((step, "h0", 0, 1) for step in range(100, 110)))
    found = hot_links.nearby_buffers(
        FABRIC, hot_links.read_buffer_fill(FABRIC, hot, waiting((100, "agg0", 0, 1.0, 1))), 1
    )
    assert math.isnan(found.free)


# Figure 2.


def one_burst(*events: tuple[int, str, int], trace: pa.Table | None = None) -> Burst:
    """Returns a burst from detours by step and switch, and from a trace of queues."""
    rows = [(step, number(name), 2, count) for step, name, count in events]
    rows.append((9, number("edge0"), 0, 77))  # drops are not detours
    quiet = waiting((0, "edge0", 0, 0.0, 1))
    return burst.read_burst(FakeRuns(), FABRIC, (table("bin node kind count", *rows), trace or quiet))


def test_detours_are_told_by_switch_and_elsewhere() -> None:
    found = one_burst((1, "agg0", 3), (2, "agg0", 1), (2, "core9", 5), (3, "agg7", 2), (3, "edge0", 4))
    assert {name: int(count.sum()) for name, count in found.detours.items() if count.any()} == {
        "agg0": 4,
        "edge0": 4,
        "cores": 5,
        "elsewhere": 2,
    }
    assert (found.end_of_detours("agg0"), found.end_of_detours("agg1"), found.end_of_detours("edge0")) == (
        3,
        0,
        4,
    )


def test_the_three_instants_are_the_first_packet_the_fullest_step_and_the_middle_of_the_end() -> None:
    full = [(4, "edge0", 0, 99.0, 100), (5, "edge0", 0, 99.0, 100)]
    full += [(step, f"agg{at}", 0, 99.0, 100) for step in (5, 6) for at in range(4)]
    trace = waiting((2, "edge0", 0, 3.0, 20), (1, "edge0", 1, 3.0, 20), *full, (9, "edge1", 0, 1.0, 99))
    found = one_burst((5, "agg0", 1), (7, "agg2", 1), (19, "edge0", 1), trace=trace)
    assert (found.t1, found.t2, found.t3) == (2, 5, 14)
    assert found.has_full_buffer[found.t2].tolist() == [name in (*burst.AGGS, "edge0") for name in POD]
    assert found.has_full_buffer[9].sum() == 0


def test_a_packet_that_finds_its_port_idle_does_not_wait() -> None:
    trace = waiting(
        (0, "edge0", 4, 0.0, 1), (0, "edge0", 5, 0.2, 1), (0, "agg0", 0, 9.0, 50), (0, "agg0", 7, 1, 2)
    )
    found = one_burst(trace=trace)
    edge, agg = POD.index("edge0"), POD.index("agg0")
    assert (found.waits[0] & found.uplink)[edge].sum() == 1
    # A queue toward the receiver's edge switch does not count as one to others.
    assert np.flatnonzero((found.waits[0] & found.to_others)[agg]).tolist() == [7]


# Figure 1.

STEPS = "flow n reverse step node wanted taken time_ps"


def test_a_detour_is_told_by_where_it_leads() -> None:
    # Flow 4 goes to h5 of edge1, in pod 0.
    hops = [
        ("agg0", 1, 6, "core"),
        ("agg0", 1, 3, "edges"),
        ("edge1", 1, 4, "aggregation"),
        ("edge0", 4, 5, "elsewhere"),  # another edge switch of the pod
        ("core0", 0, 3, "elsewhere"),
        ("agg4", 5, 1, "elsewhere"),  # another pod
    ]
    rows = [
        (4, 8, 0, at, number(name), wanted, taken, at) for at, (name, wanted, taken, _) in enumerate(hops)
    ]
    other = [(2, 1, 0, 0, number("agg0"), 1, 5, 9), (4, 8, 1, 0, number("agg0"), 1, 5, 9)]
    flows = table("flow dst", (9, 0), (4, 5), (2, 4))
    found = detour_paths.read_run(FABRIC, table(STEPS, *reversed(rows), *other), flows)
    assert [(one.flow, one.number) for one in found] == [(2, 1), (4, 8)], (
        "the ACK's detour is none of a data packet"
    )
    assert [detour_paths.DETOUR_KINDS[kind] for kind in found[1].kinds] == [kind for *_, kind in hops]
    assert found[1].counts.tolist() == [1, 1, 1, 3]


def test_packets_with_fifteen_detours_are_divided_one_by_one() -> None:
    packets = [
        detour_paths.DetourPath(0, 0, np.array([0] * 30)),
        detour_paths.DetourPath(0, 1, np.array([2] * 12 + [1] * 3)),
    ]
    found = detour_paths.counts_by_kind([packets, [], packets[1:]])
    assert {kind: one.tolist() for kind, one in found.items()} == {
        "core": [0, 0], "edges": [3, 3], "aggregation": [12, 12], "elsewhere": [0, 0],
    }  # fmt: skip
    assert all(len(one) == 0 for one in detour_paths.counts_by_kind([[], []]).values())


def test_a_run_without_such_packets_has_none() -> None:
    none = table(STEPS, *[(0,) * 8]).slice(0, 0)
    assert detour_paths.read_run(FABRIC, none, table("flow dst", (0, 0))) == []


def test_packets_are_counted_from_15_detours_on() -> None:
    rows = [(1, 2, 0, 90), (1, 2, 14, 6), (1, 2, 15, 3), (1, 2, 40, 1), (0, 2, 20, 50), (1, 1, 30, 7)]
    assert detour_paths.count_detoured_packets(table("data metric low count", *rows)) == (4, 100)
