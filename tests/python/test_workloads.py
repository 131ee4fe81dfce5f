"""Tests of several simultaneous workloads: each is a group of its own in every metric."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from test_metrics import MS, NONE32, NONE64, US, column, flows, sample_run

from overspill import run
from overspill.results import metrics, results_document, table_cells
from overspill.results.columns import build_table
from overspill.results.metric_key import parse_known_key
from overspill.results.rundata import RunData
from overspill.stats.quantiles import Value

DROP, MARK, DETOUR, BOUNCE = range(4)


def fates(rows: list[tuple[int, int, int, int]]) -> pa.Table:
    """Returns the table of fates from rows of `traffic`, `data`, `kind` and `count`."""
    traffic, data, kind, count = zip(*rows, strict=True)
    columns = {"traffic": column("u16", *traffic), "data": column("u8", *data)}
    return build_table("fates", columns | {"kind": column("u8", *kind), "count": column("u64", *count)})


def packet_hist(rows: list[tuple[int, int, int, int, int, int, float]]) -> pa.Table:
    """Returns the table from rows of `traffic`, `data`, `metric`, `low`, `high`, `count` and `sum`."""
    kinds = {"traffic": "u16", "data": "u8", "metric": "u8"}
    kinds |= {"low": "u64", "high": "u64", "count": "u64", "sum": "f64"}
    values = zip(kinds, zip(*rows, strict=True), strict=True)
    return build_table("packet_hist", {name: column(kinds[name], *one) for name, one in values})


def two_queries() -> RunData:
    """Returns a run in which query 0 of `q` takes 41 us and query 0 of `bg` takes 2.001 ms.

    A second query of `bg` is not measured.
    """
    return sample_run(flows=flows(query=column("u32", 0, 0, 0, 1, NONE32)))


def labels_of(found: dict[str, Value]) -> set[str]:
    return {name.partition("[")[0] for name in found if "[traffic=" in name}


def test_a_query_belongs_to_its_workload_and_all_queries_count_together() -> None:
    found = metrics.measure(two_queries())
    assert found["qct_p99[traffic=q]"].value == found["qct_mean[traffic=q]"].value == pytest.approx(41e-6)
    assert found["qct_p50[traffic=bg]"].value == pytest.approx(2e-3)
    assert found["qct_p50[traffic=bg]"].samples == 1
    assert found["qct_mean"].value == pytest.approx((41e-6 + 2e-3) / 2)
    assert found["qct_p50"].value == pytest.approx(41e-6)


def test_an_unfinished_query_censors_its_own_workload_alone() -> None:
    ends = column("u64", 1 * MS + 10 * US, NONE64, 4 * MS, US, NONE64)
    found = metrics.measure(sample_run(flows=flows(query=column("u32", 0, 0, 0, 1, NONE32), end_ps=ends)))
    assert found["qct_mean[traffic=q]"].censored and found["qct_mean"].censored
    assert not found["qct_mean[traffic=bg]"].censored
    assert found["unfinished_flows[traffic=q]"] == Value(1.0)
    assert found["unfinished_flows[traffic=bg]"] == Value(0.0)
    assert found["unfinished_flows"] == Value(1.0)


def test_a_query_lasts_to_the_end_of_a_message_that_starts_after_the_window() -> None:
    measured = column("u8", 1, 0, 1, 0, 1)
    found = metrics.measure(sample_run(flows=flows(measured=measured)))
    assert found["qct_mean"].value == pytest.approx(41e-6)
    assert found["fct_mean[traffic=q]"].value == pytest.approx(10e-6)
    ends = column("u64", 1 * MS + 10 * US, NONE64, 4 * MS, US, NONE64)
    left = {"summary": {"flows": {"measured": 4, "unfinished": 1, "raw": 1, "owed": []}}}
    found = metrics.measure(sample_run(flows=flows(measured=measured, end_ps=ends), **left))
    assert found["qct_mean"].censored and not found["fct_mean"].censored
    assert found["unfinished_flows"] == Value(1.0)


def test_a_query_without_all_its_messages_is_open_and_they_are_unfinished() -> None:
    left = {"summary": {"flows": {"measured": 6, "unfinished": 2, "raw": 1, "owed": [[0, 0, 2]]}}}
    found = metrics.measure(sample_run(**left))
    assert found["qct_mean"].censored and found["qct_mean"].value == pytest.approx(19e-3)
    assert found["unfinished_flows[traffic=q]"] == found["unfinished_flows"] == Value(2.0)
    assert not found["fct_mean"].censored


def test_senders_are_counted_by_workload_of_their_measured_flows() -> None:
    # Flows 0 and 1 of `q` and flow 2 of `bg` are measured; each counts its own number.
    found = metrics.measure(sample_run())
    for name in ("retransmits", "fast_retransmits", "timeouts", "ece_acks"):
        assert found[f"{name}[traffic=q]"] == Value(1.0)
        assert found[f"{name}[traffic=bg]"] == Value(2.0)
        assert found[name] == Value(3.0)
        assert f"{name}[traffic=raw]" not in found


def test_goodput_to_the_last_byte_is_that_of_a_workload_by_itself() -> None:
    found = metrics.measure(sample_run())
    assert found["goodput_last[traffic=q]"].value == pytest.approx(2000 * 8 / 41e-6)
    assert found["goodput_last[traffic=bg]"].value == pytest.approx(200_000 * 8 / 2e-3)


def test_drops_marks_detours_and_bounces_of_workloads_are_acks_and_data_together() -> None:
    rows = [(0, 0, DROP, 2), (0, 1, DROP, 5), (1, 1, DROP, 1), (1, 1, MARK, 4), (2, 1, BOUNCE, 6)]
    found = metrics.measure(sample_run(fates=fates(rows)))
    of = {
        name: [found[f"{name}[traffic={one}]"].value for one in ("q", "bg", "raw")]
        for name in labels_of(found)
        if name in ("drops", "marks", "detours", "bounces")
    }
    assert of == {"drops": [7, 1, 0], "marks": [0, 4, 0], "detours": [0, 0, 0], "bounces": [0, 0, 6]}
    assert sum(of["drops"]) == found["drops"].value and sum(of["marks"]) == found["marks"].value
    # By workload they belong to `drops`; by reason and tier they are metrics of their own.
    names = list(found)
    assert (
        metrics.registered_name("drops[traffic=q]") == "drops"
        and metrics.registered_name("drops[tier=host]") == "drops_by_tier"
    )
    assert names.index("drops") < names.index("drops[traffic=q]") < names.index("drops[reason=buffer_full]")


def test_delays_and_hops_are_those_of_a_workloads_data() -> None:
    rows: list[tuple[int, int, int, int, int, int, float]] = [
        (0, 1, 0, 10 * US, 20 * US, 3, 45 * US),
        (2, 1, 0, 10 * US, 20 * US, 1, 90 * US),
        (2, 1, 0, 60 * US, 80 * US, 1, 0),
        (0, 0, 0, 1, 2, 99, 99),
        (0, 1, 1, 2, 3, 3, 6),
        (2, 1, 1, 4, 5, 2, 8),
        (0, 1, 2, 0, 1, 3, 0),
        (2, 1, 2, 0, 1, 1, 0),
        (2, 1, 2, 3, 4, 1, 3),
        (0, 1, 3, 0, 1, 3, 0),
        (2, 1, 3, 1, 2, 2, 2),
    ]
    found = metrics.measure(sample_run(packet_hist=packet_hist(rows)))
    assert found["delay_mean[traffic=q]"].value == pytest.approx(15e-6)
    assert found["delay_mean[traffic=raw]"].value == pytest.approx(45e-6)
    assert found["delay_mean"].value == pytest.approx(135e-6 / 5)
    assert found["delay_p99[traffic=q]"].value == pytest.approx(15e-6)
    assert found["delay_p99"].value == found["delay_p99[traffic=raw]"].value == pytest.approx(70e-6)
    # Equal buckets of two workloads are merged in the total.
    assert found["delay_p50"].value == pytest.approx(15e-6) and found["delay_p50"].samples == 5
    assert [found[f"hops_mean{one}"].value for one in ("", "[traffic=q]", "[traffic=raw]")] == [14 / 5, 2, 4]
    assert found["hops_max[traffic=q]"] == Value(2.0) and found["hops_max"] == Value(4.0)
    assert found["detoured_share[traffic=q]"] == Value(0.0)
    assert found["detoured_share[traffic=raw]"] == Value(0.5)
    assert found["bounced_share"].value == pytest.approx(2 / 5)
    assert "delay_mean[traffic=bg]" not in found, "it has delivered nothing"


def test_one_workload_has_no_groups() -> None:
    alone: dict[str, Any] = {
        "summary": {"traffic": [{"name": "q", "kind": "incast", "offered": None}], "received_bytes": [2000]},
        "flows": flows(query=column("u32", 0, 0, 1, 1, NONE32), traffic=column("u16", *[0] * 5)),
        "fates": fates([(0, 1, DROP, 8), (0, 1, MARK, 4)]),
        "packet_hist": packet_hist([(0, 1, 0, 10, 20, 1, 15), (0, 1, 1, 2, 3, 1, 2)]),
    }
    found = metrics.measure(sample_run(**alone))
    assert {"qct_p99", "retransmits", "delay_mean", "hops_mean", "drops"} <= set(found)
    assert labels_of(found) == set()


def test_older_results_do_not_tell_packets_apart() -> None:
    found = metrics.measure(sample_run())
    assert found["delay_mean"].value == pytest.approx(13.8e-6)
    assert not {"delay_mean", "hops_mean", "drops", "marks"} & labels_of(found)


def test_counts_of_groups_are_told_where_there_are_any() -> None:
    assert not metrics.find_metric("drops[traffic=q]").zero_shown and metrics.find_metric("drops").zero_shown


def test_counts_of_groups_are_in_the_document_and_not_in_the_printed_table(scenario: Path) -> None:
    results = run(scenario)
    printed = [
        parse_known_key(row.metric.name) for row in table_cells.select_rows(results.rows, results.kinds)
    ]
    times = {"fct_mean", "fct_p99", "slowdown_p99"}
    assert "qct_p99" in printed and {key.metric for key in printed if key.by} == times
    made = json.loads(json.dumps(results_document.point_document(results)))["variants"][0]["metrics"]
    assert made["qct_p99[traffic=burst]"]["values"] == made["qct_p99"]["values"]
    parts = [made[f"timeouts[traffic={one}]"]["values"] for one in ("burst", "background")]
    assert [a + b for a, b in zip(*parts, strict=True)] == made["timeouts"]["values"]
