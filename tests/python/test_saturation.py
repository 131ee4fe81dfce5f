"""Tests of saturation trees of handmade pauses, on a chain of switches, two sinks, and a ring."""

from dataclasses import astuple

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from overspill.results.measures import saturation
from overspill.results.measures.saturation import PauseIntervals, Roots, SaturationTree, TreeSize
from overspill.results.rundata import RunData

# Hosts h0, h1 and h2 send over s3, s4 and s5 in a row; s6 is another sink, to which s4 sends.
LINKS = [(0, 3), (1, 3), (2, 4), (3, 4), (4, 5), (4, 6), (5, 6)]
Pause = tuple[int, int, int, int]  # from, to, paused node, pausing node


def run_with_pauses(
    pauses: list[Pause], kinds: list[int] | None = None, window: tuple[int, int] = (0, 1000)
) -> RunData:
    """Returns a run in which only these pauses happen."""
    ports: list[tuple[int, int]] = [end for a, b in LINKS for end in ((a, b), (b, a))]
    numbers = {end: sum(one[0] == end[0] for one in ports[:at]) for at, end in enumerate(ports)}
    nodes = [{"name": f"{'h' if at < 3 else 's'}{at}", "tier": "", "host": at < 3} for at in range(7)]
    summary = {"nodes": nodes, "window_ps": window, "stop": "done", "end_ps": 1000}
    trace = {"from_ps": [], "to_ps": [], "node": [], "port": [], "class": []}
    for at, (start, end, node, peer) in enumerate(pauses):
        row = (start, end, node, numbers[node, peer], kinds[at] if kinds else 0)
        for name, value in zip(trace, row, strict=True):
            trace[name].append(value)
    tables = {
        "ports": pa.table(
            {
                "node": [a for a, _ in ports],
                "port": [numbers[end] for end in ports],
                "peer": [b for _, b in ports],
            }
        ),
        "pauses": pa.table({"node": [0]}),
        "pause_trace": pa.table({name: pa.array(values, pa.uint64()) for name, values in trace.items()}),
    }
    return RunData(summary, tables)


def test_a_tree_grows_upstream_from_the_switch_that_nobody_pauses() -> None:
    run = run_with_pauses([(10, 90, 4, 5), (20, 80, 3, 4), (30, 70, 0, 3), (40, 60, 1, 3), (50, 55, 2, 4)])
    (tree,) = saturation.find_trees(run)
    assert (tree.roots, tree.start, tree.end) == ((5,), 10, 90)
    assert tree.largest_size == TreeSize(depth=3, ports=5, switches=2, hosts=3)
    assert tree.largest_at_ps == 50
    at_once = {port[0]: peer for port, peer in PauseIntervals.from_run(run).ports_paused_at(45, 0)}
    assert at_once == {4: 5, 3: 4, 0: 3, 1: 3}, "the begin counts, the end does not"


def test_the_end_of_a_branch_cuts_off_what_is_beyond_it() -> None:
    run = run_with_pauses([(10, 50, 4, 5), (20, 30, 3, 4), (25, 60, 0, 3)])
    below, cut = saturation.find_trees(run)
    assert (below.roots, below.largest_size.depth, below.end) == ((5,), 3, 50)
    assert (cut.roots, cut.start, cut.end) == ((3,), 30, 60), "s3 still pauses its host and is paused no more"
    assert cut.largest_size == TreeSize(depth=1, ports=1, switches=0, hosts=1)


def test_two_roots_have_a_tree_each_and_share_what_both_pause() -> None:
    run = run_with_pauses([(10, 50, 4, 5), (20, 40, 4, 6), (30, 35, 3, 4)])
    first, second = saturation.find_trees(run)
    assert (first.roots, second.roots) == ((5,), (6,))
    assert first.largest_size == second.largest_size == TreeSize(depth=2, ports=2, switches=2, hosts=0)
    assert (first.largest_at_ps, second.largest_at_ps) == (30, 30)


def test_a_root_that_is_paused_itself_is_a_branch_of_the_new_root() -> None:
    run = run_with_pauses([(10, 50, 3, 4), (20, 60, 4, 5)])
    old, new = saturation.find_trees(run)
    assert (old.roots, old.start, old.end) == ((4,), 10, 20)
    assert (new.roots, new.start, new.end) == ((5,), 20, 60)
    assert new.largest_size == TreeSize(depth=2, ports=2, switches=2, hosts=0)


def test_a_ring_without_a_root_is_a_root_itself_and_so_is_a_deadlock() -> None:
    ring = [(10, 1000, 4, 5), (20, 1000, 5, 6), (30, 1000, 6, 4)]
    run = run_with_pauses([*ring, (40, 1000, 3, 4), (50, 1000, 0, 3)])
    *before, stuck = saturation.find_trees(run)
    assert [tree.roots for tree in before] == [(5,), (6,)]
    assert (stuck.roots, stuck.start, stuck.end) == ((4, 5, 6), 30, 1000)
    assert stuck.largest_size == TreeSize(depth=2, ports=5, switches=4, hosts=1)


def test_a_ring_below_a_root_is_part_of_its_tree() -> None:
    run = run_with_pauses([(10, 90, 4, 5), (20, 80, 3, 4), (30, 70, 4, 3)])
    (tree,) = saturation.find_trees(run)
    assert (tree.roots, tree.largest_size) == ((5,), TreeSize(depth=2, ports=3, switches=2, hosts=0))


def test_classes_do_not_grow_on_each_other() -> None:
    run = run_with_pauses([(10, 90, 4, 5), (20, 80, 3, 4)], kinds=[0, 1])
    found = saturation.find_trees(run)
    assert [(tree.kind, tree.roots, tree.largest_size.depth) for tree in found] == [
        (0, (5,), 1),
        (1, (4,), 1),
    ]


def test_what_ends_as_the_next_begins_is_one_instant() -> None:
    run = run_with_pauses([(10, 20, 4, 5), (20, 30, 4, 5), (20, 20, 3, 4)])
    assert saturation.find_trees(run) == [SaturationTree((5,), 0, 10, 30, TreeSize(1, 1, 1, 0), 10)]


def test_metrics_are_of_trees_that_begin_in_the_window() -> None:
    pauses = [(10, 90, 4, 5), (20, 80, 3, 4), (30, 70, 0, 3), (200, 300, 2, 4), (950, 990, 3, 4)]
    found = {
        name: one.value
        for name, one in saturation.measure_trees(run_with_pauses(pauses, window=(5, 900))).items()
    }
    assert found == {
        "saturation_trees": 2,
        "saturation_depth_mean": 2.0,
        "saturation_depth_max": 3,
        "saturation_hosts_mean": 1.0,
        "saturation_hosts_max": 1,
    }
    none = {name: one.value for name, one in saturation.measure_trees(run_with_pauses([])).items()}
    assert none == {"saturation_trees": 0.0}, "what there is not has no depth"


END = 60  # all drawn pauses end before
WAYS = [end for a, b in LINKS for end in ((a, b), (b, a)) if end[1] > 2]


@st.composite
def drawn_pauses(draw: st.DrawFn) -> list[Pause]:
    """Draws pauses of every port toward a switch, none of which overlap at one port."""
    least, pauses = draw(st.integers(0, 6)), list[Pause]()
    for node, peer in WAYS:
        times = sorted(draw(st.sets(st.integers(0, END - 1), min_size=least, max_size=8)))
        pauses += [(start, end, node, peer) for start, end in zip(times[::2], times[1::2], strict=False)]
    return pauses


@given(drawn_pauses())
def test_tree_tracking_matches_a_search_at_every_instant(pauses: list[Pause]) -> None:
    run = run_with_pauses(pauses)
    found = saturation.find_trees(run)
    every = PauseIntervals.from_run(run)
    most: dict[tuple[Roots, int], TreeSize] = {}
    for now in range(END):
        forest = saturation.PauseForest(run.is_host)
        for (node, _), peer in every.ports_paused_at(now, 0):
            forest.change_pause(node, peer, 1)
        there = forest.roots_of(range(7))
        assert {tree.roots for tree in found if tree.start <= now < tree.end} == there
        for roots in there:
            (tree,) = (one for one in found if one.roots == roots and one.start <= now < one.end)
            size, old = forest.tree_size(roots), most.get((roots, tree.start), TreeSize(0, 0, 0, 0))
            pairs = zip(astuple(old), astuple(size), strict=True)
            most[roots, tree.start] = TreeSize(*(max(pair) for pair in pairs))
            assert now != tree.largest_at_ps or old.ports < size.ports == tree.largest_size.ports
    assert {(tree.roots, tree.start): tree.largest_size for tree in found} == most
