"""Tests of CP beside flows without it, of lost whole windows, and of both modes of runs."""

import numpy as np
import pyarrow as pa
import pytest
from cp_runs import FakeRuns, queries
from overspill_papers.cp.measures import claims, schemes
from sample_runs import points_along
from test_paper_cp_figures import by_key

from overspill.papers.spec import Point

NAMES = ("standard", "rfc3042", "linux", "tlp", "cp")


def test_timeouts_of_a_query_are_counted_by_sender() -> None:
    def flows(variant: str, point: Point, seed: int) -> pa.Table:
        first = 0 if variant == "cp" else NAMES.index(variant) + 1
        return queries([1.0, 2.0], [3.0, 4.0], timeouts=[first, first, first, seed * (variant != "cp")])

    def completion(variant: str, _: Point, __: int) -> float:
        return 2.0 if variant == "cp" else 4.0

    points = points_along("traffic.query.degree", [40, 100])
    made = FakeRuns(points, NAMES, {"qct_mean": completion}, {"flows": flows})
    tail = FakeRuns(points[:1], ("standard", "tlp"), {}, {"flows": flows})
    found = by_key(claims.measure_stalled_queries({"stall": made, "stall_tail": tail}))
    # The two queries have four flows. Three have one timeout each in the first variant, and the last has as
    # many as the seed's number.
    assert found["standard TCP, 40 senders", "timeouts"] == [2.0, 2.5]
    assert found["TLP, 100 senders", "timeouts"] == [6.5, 7.0]
    assert found["CP, 100 senders", "timeouts"] == [0.0, 0.0]
    assert found["CP by Linux, 40 senders", "query_completion_time"] == [0.5, 0.5]
    assert found["TLP by standard TCP, flows of one window", "timeouts"] == [6.5 / 2, 7 / 2.5]


def test_flows_without_cp_are_compared_with_themselves() -> None:
    goodput = {"tcp": (4, 4), "mixed": (3, 6), "cp": (5, 5), "plain_switches": (3, 5), "plain": (2, 2)}

    def scaled_goodput(group: int, factor: float) -> object:
        return lambda variant, _, seed: factor * goodput[variant][group] * seed

    metrics = {
        "goodput[traffic=first]": scaled_goodput(0, 1),
        "goodput[traffic=second]": scaled_goodput(1, 1),
        "trims[traffic=first]": lambda *_: 0,
    }

    def flows(variant: str, _: Point, seed: int) -> pa.Table:
        first, second = goodput[variant]
        columns = {"traffic": [0, 0, 1], "timeouts": [first * seed, 9 * first * seed, 10 * second * seed]}
        return pa.table({name: pa.array(values, pa.uint32()) for name, values in columns.items()})

    kept = {"flows": flows}
    made = FakeRuns(points_along("traffic.first.flows", [2]), tuple(goodput), metrics, kept)  # type: ignore[arg-type]
    found = by_key(claims.measure_coexistence({"beside": made}))
    assert found == {
        ("TCP beside CP by TCP alone, 12 flows", "goodput"): [0.75, 0.75],
        ("CP by TCP beside it, 12 flows", "goodput"): [2.0, 2.0],
        ("TCP beside CP by TCP alone, 12 flows", "timeouts"): [0.75, 0.75],
        ("TCP beside CP, 12 flows", "packets_cut"): [0.0, 0.0],
        ("CP by TCP, switches without CP, 12 flows", "goodput"): [2.0, 2.0],
        ("CP by TCP, switches without CP, 12 flows", "timeouts"): [2.0, 2.0],
        ("TCP, switches with CP by without, 12 flows", "goodput"): [2.0, 2.0],
    }


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.0, 0.1, 0.9, 1.0, 0.95], "two modes: 0.05% in 2 of 5 runs, 0.95% in 3 of 5 runs"),
        ([0.0, 0.2, 0.4, 0.7, 1.0], ""),
        ([0.0, 1.0, 1.0, 1.0], ""),
        ([1.0] * 6, ""),
        ([0.95, 0.951, 0.99, 0.991, 0.992], ""),
        ([0.0] + [1.0] * 20, ""),
        ([0.0, 0.0, 1.0, 1.0, float("nan")], ""),
    ],
)
def test_both_modes_of_runs_have_their_shares(values: list[float], expected: str) -> None:
    assert schemes.describe_modes(np.array(values), "%") == expected
