"""Tests of reordering metrics, against sequences worked out by hand."""

import math
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_metrics import column, sample_run

from overspill.results import metrics
from overspill.results.columns import build_table

DISPLACEMENT, BUFFER, EXTENT, RECEIVED = range(4)


def reorder(rows: list[tuple[int, int, int, int]]) -> Any:
    traffic, metric, value, count = zip(*rows, strict=True)
    columns = {"traffic": column("u16", *traffic), "metric": column("u8", *metric)}
    columns |= {"value": ("i64", b"".join(int(v).to_bytes(8, "little", signed=True) for v in value))}
    return build_table("reorder", columns | {"count": column("u64", *count)})


def observed(arrivals: list[int], workload: int = 0) -> list[tuple[int, int, int, int]]:
    """Returns the table of one connection without losses and duplicates, by the definitions of the RFCs."""
    places = Counter(index - sequence for index, sequence in enumerate(arrivals, 1))
    extents, waiting, expected, held = Counter[int](), Counter[int](), 1, set[int]()
    for i, sequence in enumerate(arrivals):
        earlier = [j for j in range(i) if arrivals[j] > sequence]
        if earlier:
            extents[i - earlier[0]] += 1
        held.add(sequence)
        while expected in held:
            held.remove(expected)
            expected += 1
        waiting[len(held)] += 1
    rows = [(workload, DISPLACEMENT, *pair) for pair in places.items()]
    rows += [(workload, EXTENT, *pair) for pair in extents.items()]
    rows += [(workload, BUFFER, *pair) for pair in waiting.items()]
    return [*rows, (workload, RECEIVED, 0, len(arrivals))]


def measure(rows: list[tuple[int, int, int, int]]) -> dict[str, float]:
    found = metrics.measure(sample_run(reorder=reorder(rows)))
    return {name: one.value for name, one in found.items() if name.startswith(("reorder", "displace"))}


def test_one_packet_that_is_late_by_three_places() -> None:
    # 1 3 4 5 2: displacements 0 -1 -1 -1 +3; 2 is reordered, three arrivals after the first higher one.
    found = measure(observed([1, 3, 4, 5, 2]))
    assert found["reordered_share"] == pytest.approx(1 / 5)
    assert found["reorder_extent_mean"] == found["reorder_extent_p99"] == found["reorder_extent_max"] == 3
    assert found["displaced_share"] == pytest.approx(4 / 5)
    assert found["displacement_mean"] == pytest.approx(6 / 5)
    assert found["displacement_max"] == 3
    # RD[-1] = 3/5, RD[0] = RD[3] = 1/5.
    assert found["reorder_entropy"] == pytest.approx(-(0.6 * math.log(0.6) + 0.4 * math.log(0.2)))
    # The reorder buffer has 0, 1, 2, 3 and 0 packets after each arrival.
    assert found["reorder_buffer_mean"] == pytest.approx(6 / 5)
    assert found["reorder_buffer_max"] == 3


def test_two_packets_that_change_places_and_a_packet_that_is_early() -> None:
    # 1 2 4 3 7 5 6 8: displacements 0 0 -1 +1 -2 +1 +1 0; reordered 3 (extent 1), 5 (1), 6 (2).
    found = measure(observed([1, 2, 4, 3, 7, 5, 6, 8]))
    assert found["reordered_share"] == pytest.approx(3 / 8)
    assert found["reorder_extent_mean"] == pytest.approx(4 / 3)
    assert found["reorder_extent_max"] == 2
    assert found["displacement_mean"] == pytest.approx(6 / 8)
    assert found["displacement_max"] == 2
    density = [3 / 8, 3 / 8, 1 / 8, 1 / 8]
    assert found["reorder_entropy"] == pytest.approx(-sum(p * math.log(p) for p in density))


def test_packets_in_order_have_no_entropy() -> None:
    found = measure(observed([1, 2, 3, 4]))
    assert found["reorder_entropy"] == found["displaced_share"] == found["reordered_share"] == 0
    assert found["reorder_buffer_max"] == 0
    assert "reorder_extent_mean" not in found


def test_the_entropy_reaches_its_bound_where_every_displacement_is_as_frequent() -> None:
    rows = [(0, DISPLACEMENT, place, 7) for place in range(-92, 93)]
    assert measure(rows)["reorder_entropy"] == pytest.approx(math.log(2 * 92 + 1))


@given(st.integers(1, 12).flatmap(lambda count: st.permutations(range(1, count + 1))))
def test_reordering_shares_match_their_definitions(arrivals: list[int]) -> None:
    found, count = measure(observed(arrivals)), len(arrivals)
    late = [i for i, sequence in enumerate(arrivals) if sequence < max(arrivals[: i + 1])]
    far = [abs(index - sequence) for index, sequence in enumerate(arrivals, 1)]
    assert found["reordered_share"] == pytest.approx(len(late) / count)
    assert found["displaced_share"] == pytest.approx(sum(one > 0 for one in far) / count)
    assert found["displacement_mean"] == pytest.approx(sum(far) / count)
    assert found["displacement_max"] == max(far)
    assert ("reorder_extent_max" in found) == bool(late) == (found["reorder_entropy"] > 0)
    assert 0 <= found["reorder_entropy"] <= math.log(count) + 1e-12
    assert found["reorder_buffer_mean"] <= found["reorder_buffer_max"] <= max(far)


def test_workloads_are_put_together_and_told_apart() -> None:
    found = measure(observed([2, 1]) + observed([1, 2, 3, 4], 1))
    assert found["reordered_share"] == pytest.approx(1 / 6)
    assert found["reordered_share[traffic=q]"] == pytest.approx(1 / 2)
    assert found["reordered_share[traffic=bg]"] == 0
    assert found["displaced_share"] == pytest.approx(2 / 6)


def test_without_the_table_there_is_nothing() -> None:
    assert not [name for name in metrics.measure(sample_run()) if name.startswith(("reorder", "displace"))]
