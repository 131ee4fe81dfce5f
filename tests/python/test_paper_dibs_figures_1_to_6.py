"""Tests of DIBS's figures 1 to 6: the testbed's measures; every figure measures its rows and is drawn."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from dibs_tables import PORTS, FakeRuns, number, table
from overspill_papers.dibs.figures import DRAWINGS
from overspill_papers.dibs.measures import FIGURES_1_TO_6, burst, fabric, hot_links, testbed
from sample_runs import points_along
from small_paper import count_marked_points

from overspill.papers.spec import Measured, Point

PAPER = Path(__file__).parents[2] / "papers" / "dibs"
IDS = "fig1 fig2a fig2b fig3 fig4 fig4fn fig5 fig6a fig6b sec5.2"
MEASURES = {name: FIGURES_1_TO_6[name] for name in IDS.split()}
ROWS: list[dict[str, Any]] = tomllib.loads((PAPER / "rows.toml").read_text())["row"]
VARIANTS = ("infinite", "droptail", "dibs")


def rows_by_key(found: Iterable[Measured]) -> dict[tuple[str, str], Measured]:
    every = list(found)
    answered = {(one.case, one.metric): one for one in every}
    assert len(answered) == len(every), "a row is measured twice"
    return answered


# The testbed.


def flows(*rows: tuple[float, float | None, int]) -> pa.Table:
    """Returns `flows` from start and end in ms, and timeouts."""
    made = [(int(start * 1e9), None if end is None else int(end * 1e9), late) for start, end, late in rows]
    return table("start_ps end_ps timeouts", *made)


def make_testbed_runs(qct: Mapping[str, float], rows: Mapping[str, pa.Table]) -> FakeRuns:
    """Returns the testbed's runs at both rates: QCT in ms by variant, plus 1 ms per seed after the first."""
    return FakeRuns(
        points_along(testbed.RATE_PATH, list(testbed.RATE_VALUES.values())),
        VARIANTS,
        {
            "qct_mean": lambda variant, _, seed: (qct[variant] + seed - 1) / 1e3,
            "drops": lambda *_: 0,
            "timeouts": lambda *_: 0,
        },
        {"flows": lambda variant, *_: rows[variant]},
    )


FINE = flows((0, 10, 0), (0.1, 20, 0))
LATE = flows((0, 24.9, 0), (1, 26, 1), (0, 50, 0), (0, 50.1, 2))
TESTBED = make_testbed_runs(
    {"infinite": 25, "droptail": 40, "dibs": 26}, {"infinite": FINE, "droptail": LATE, "dibs": FINE}
)


def test_queries_of_the_three_settings_are_compared_run_by_run() -> None:
    found = rows_by_key(testbed.measure_queries({"testbed": TESTBED}))
    assert found["553 Mb/s", "slowest_infinite"].values == [26]
    assert found["553 Mb/s", "fastest_droptail"].values == [40]
    assert found["1 Gb/s", "slowest_DIBS_by_infinite"].values == pytest.approx([27 / 26])
    assert found["1 Gb/s", "slowest_droptail_by_infinite"].values == pytest.approx([41 / 26])
    assert found["1 Gb/s", "qct_DIBS_less_infinite"].values == pytest.approx([1, 1])
    assert found["1 Gb/s", "median_qct_droptail_less_DIBS"].values == pytest.approx([14.5, 13.5])


def test_flows_are_delayed_by_a_timeout_and_timed_from_their_own_start() -> None:
    found = rows_by_key(testbed.measure_flows({"testbed": TESTBED}))
    # The slowest query with unlimited buffers takes 26 ms; 50 and 50.1 ms are within one to two times that.
    assert found["1 Gb/s, droptail", "flows_of_1_to_2_times_the_slowest_infinite"].values == [50, 50]
    assert (
        "50% of the flows have a timeout"
        in found["1 Gb/s, droptail", "flows_of_1_to_2_times_the_slowest_infinite"].note
    )
    assert found["1 Gb/s, droptail", "runs_with_a_delayed_flow"].values == [100]
    # A flow of 24.9 ms is too short and one of 50.1 ms is too long; 25 and 50 ms are counted.
    assert found["553 Mb/s, droptail", "flows_of_25_to_50_ms"].values == [50, 50]
    assert found["553 Mb/s, DIBS", "longest_flow"].values == pytest.approx([19.9])


def test_a_flow_that_never_ends_is_the_longest() -> None:
    tables = {"infinite": FINE, "droptail": FINE, "dibs": flows((0, 1, 0), (0, None, 0))}
    runs = make_testbed_runs(dict.fromkeys(VARIANTS, 1.0), tables)
    found = rows_by_key(testbed.measure_flows({"testbed": runs}))
    assert found["553 Mb/s, DIBS", "longest_flow"].values == [np.inf]
    assert found["1 Gb/s, droptail", "runs_with_a_delayed_flow"].values == [0]


def other_sweeps() -> dict[str, FakeRuns]:
    """Returns sweeps of other settings, in which drop-tail takes ten times as long."""
    paths: dict[str, tuple[str, list[str]]] = {}
    for name, path, value in testbed.OTHER_SETTINGS.values():
        paths.setdefault(name, (path, []))[1].append(value)

    def qct(variant: str, point: Point, seed: int) -> float:
        size = float(next(iter(point.values())).rstrip("KBpkt")) * seed
        return size * (10 if variant == "droptail" else 1) / 1e3

    return {
        name: FakeRuns(points_along(path, values), metrics={"qct_mean": qct}, variants=VARIANTS[1:])
        for name, (path, values) in paths.items()
    }


def test_other_settings_are_compared_by_their_slowest_queries() -> None:
    found = rows_by_key(testbed.measure_other_settings(other_sweeps()))
    assert found["16 KB", "slowest_droptail_less_DIBS"].values == pytest.approx([9 * 32])
    assert found["20 flows a host", "slowest_droptail_less_DIBS"].values == pytest.approx([9 * 200])
    assert found["200 packets", "slowest_droptail_less_DIBS"].values == pytest.approx([9 * 400])


# Every figure.


def busy_table(_: str, point: Point, seed: int) -> pa.Table:
    """Returns `links`: some links are hot in every other window, and more of them at a higher load."""
    hot = {300: 2, 2000: 6, 10000: 200}[int(point[fabric.QPS_PATH])] + seed
    nodes, ports = (PORTS.column(name).to_pylist()[-hot:] for name in ("node", "port"))
    rows = [
        (step, node, port, 1_000_000)
        for step in range(hot_links.FIRST_STEP, hot_links.END_STEP)
        if step // hot_links.WINDOW_STEPS % 2
        for node, port in zip(nodes, ports, strict=True)
    ]
    return table("bin node port bits", *rows)


def queues(_: str, point: Point, seed: int) -> pa.Table:
    """Returns `queue_trace`: the first queue of every aggregation switch is half full."""
    rows = [(step, 160 + at, 0, 50.0, 70 + seed) for step in range(100, 2100, 7) for at in range(32)]
    return table("bin node port mean_packets max_packets", *rows)


def detours(_: str, point: Point, seed: int) -> pa.Table:
    rows = [(step, number(name), 2, 9) for step in range(3, 9) for name in burst.POD[:5]]
    return table("bin node kind count", *rows, (12, number("edge0"), 2, seed), (5, number("core1"), 2, 1))


def pod(*_: Any) -> pa.Table:
    rows = [(step, number(name), 0, 60.0, 100) for step in range(3, 9) for name in burst.POD[:5]]
    rows += [(4, number(name), port, 0.5, 3) for name in burst.POD[:5] for port in range(1, 8)]
    return table("bin node port mean_packets max_packets", *rows)


def detour_counts(_: str, point: Point, seed: int) -> pa.Table:
    taken = [5] * 8 + [2] * 4
    rows = [(0, 1, 0, at, number("agg0"), 0, port, at) for at, port in enumerate(taken)]
    rows += [(0, 1, 0, 12 + at, number("edge0"), 0, 4, at) for at in range(3)]
    rows += [(1, seed, 0, at, number("agg4"), 0, 4, at) for at in range(16)]
    return table("flow n reverse step node wanted taken time_ps", *rows)


def all_sweeps() -> dict[str, FakeRuns]:
    """Returns every sweep that these figures use."""
    ports = {"ports": lambda *_: PORTS}
    hist = table("data metric low count", (1, 2, 0, 999_998), (1, 2, 15, 2))
    often_detoured = {
        "detour_steps": detour_counts,
        "flows": lambda *_: table("flow dst", (0, 0), (1, 0)),
        "packet_hist": lambda *_: hist,
    }
    one = {
        "qct_mean": lambda _, point, seed: float(point.get(burst.DEGREE_PATH, 50)) / 6000 + seed / 1e6,
        "drops": lambda *_: 0,
        "timeouts": lambda *_: 0,
    }
    return other_sweeps() | {
        "testbed": TESTBED,
        "hot_links": FakeRuns(
            points_along(fabric.QPS_PATH, hot_links.LOADS_QPS),
            kept=ports | {"links": busy_table, "queue_trace": queues},
        ),
        "one_incast": FakeRuns(
            points_along(burst.DEGREE_PATH, (40, 59)),
            metrics=one,
            kept=ports | {"activity": detours, "queue_trace": pod},
        ),
        "short_incast": FakeRuns(({},), metrics=one, kept=ports | {"activity": detours, "queue_trace": pod}),
        "often_detoured": FakeRuns(points_along(fabric.QPS_PATH, (300, 2000)), kept=ports | often_detoured),
    }


SWEEPS = all_sweeps()


def test_these_figures_have_code_and_the_hardware_waits_for_a_later_step() -> None:
    assert sorted(MEASURES) == sorted(FIGURES_1_TO_6)
    waiting = {row["figure"] for row in ROWS if row.get("later")}
    assert waiting == {f"hw{at}" for at in range(1, 7)}


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_a_figure_measures_exactly_its_rows(name: str) -> None:
    found = rows_by_key(MEASURES[name](SWEEPS))
    assert set(found) == {(row["case"], row["metric"]) for row in ROWS if row["figure"] == name}
    texts = {(row["case"], row["metric"]) for row in ROWS if isinstance(row.get("published"), str)}
    for place, one in found.items():
        assert len(one.values)
        assert all(isinstance(value, str) == (place in texts) for value in one.values)


MARKS = {"fig1": 4, "fig3": 2, "fig4fn": 2, "fig5": 4, "fig6a": 4, "fig6b": 2}  # published values drawn


@pytest.mark.parametrize("name", sorted(set(MEASURES) & set(DRAWINGS)))
def test_a_figure_is_drawn_with_and_without_what_was_published(name: str) -> None:
    assert count_marked_points(name, DRAWINGS[name], SWEEPS, ROWS) == [0, MARKS.get(name, 0)]


# Measures of the handmade runs.


def test_the_packet_of_figure_1_is_told_by_its_kinds() -> None:
    found = rows_by_key(MEASURES["fig1"](SWEEPS))
    case = "packets detoured 15 times"
    assert found["default traffic", "data_packets_detoured_15_times_or_more"].values == [2, 2]
    # One of the two packets is detoured 16 times, only in another pod.
    assert found[case, "aggregation_to_core"].values == [8, 8]
    assert found[case, "edge_to_aggregation"].values == [3, 3]
    assert found[case, "elsewhere"].values == [0, 0] and found[case, "elsewhere"].seeds == 2
    assert found[case, "at_aggregation_less_at_edge"].values == [9, 9]
    assert "of 2 packets" in found[case, "elsewhere"].note


def test_a_burst_is_told_by_who_detours_until_when() -> None:
    found = rows_by_key(burst.measure_figure_2a(SWEEPS))
    assert found["degree 40", "burst_absorbed_within"].values == pytest.approx([6.6677, 6.6687], abs=1e-3)
    assert set(found["degree 59", "switches_of_the_pod_that_detour"].values) == {"agg0 agg1 agg2 agg3 edge0"}
    assert found["degree 40", "edge_detours_on_after_the_last_aggregation"].values == pytest.approx(
        [0.4, 0.4]
    )
    at_t2 = rows_by_key(burst.measure_figure_2b(SWEEPS))
    assert at_t2["degree 40, t2", "switches_with_a_full_buffer"].values == [5, 5]
    # The first of the fullest steps is at 0.3 ms, when other queues are still empty.
    assert at_t2["degree 40, t2", "uplinks_of_the_edge_with_packets"].values == [0, 0]


def test_hot_links_are_counted_window_by_window() -> None:
    found = rows_by_key(hot_links.measure_figure_4(SWEEPS))
    assert found["300 qps", "windows_with_more_than_10_percent_hot"].values == [0, 0]
    more = [100 * (each - other) / 768 / 2 for each, other in ((7, 3), (8, 4))]
    assert found["2000 less 300 qps", "hot_links"].values == pytest.approx(more)
    half = rows_by_key(hot_links.measure_footnote(SWEEPS))
    assert found["10000 qps", "windows_with_more_than_10_percent_hot"].values == [50, 50]
    assert half["2000 qps", "windows_with_less_than_10_percent_hot"].values == [100, 100]
    assert half["10000 qps", "windows_with_less_than_10_percent_hot"].values == [50, 50]
    assert rows_by_key(hot_links.measure_figure_5(SWEEPS))[
        "2000 by 300 qps", "hot_links"
    ].values == pytest.approx([7 / 3, 2])
