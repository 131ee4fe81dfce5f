"""Tests of metrics of a run small enough to work out by hand."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overspill.engine import core
from overspill.errors import Failed
from overspill.results import measures, metrics
from overspill.results.columns import build_array, build_table
from overspill.results.measures import occupancy
from overspill.results.names import DROP_REASONS
from overspill.results.rundata import RunData
from overspill.stats.quantiles import Value

US, MS = 10**6, 10**9
NONE32, NONE64 = 0xFFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF


def column(kind: str, *values: float) -> tuple[str, bytes]:
    return kind, np.array(values, {"u": "<u", "f": "<f"}[kind[0]] + str(int(kind[1:]) // 8)).tobytes()


def flows(**changed: tuple[str, bytes]) -> pa.Table:
    """Returns two flows of a query, one background flow, one before the window, and one raw flow."""
    n = 5
    columns = {
        "flow": column("u32", 0, 1, 2, 3, 4),
        "traffic": column("u16", 0, 0, 1, 1, 2),
        "query": column("u32", 0, 0, NONE32, NONE32, NONE32),
        "src": column("u32", 0, 1, 0, 1, 0),
        "dst": column("u32", 2, 2, 1, 0, 2),
        "bytes": column("u64", 1000, 1000, 200_000, 500, 9000),
        "start_ps": column("u64", 1 * MS, 1 * MS + US, 2 * MS, 0, 1 * MS),
        "end_ps": column("u64", 1 * MS + 10 * US, 1 * MS + 41 * US, 4 * MS, US, NONE64),
        "ideal_ps": column("u64", 10 * US, 10 * US, MS, US, US),
        "measured": column("u8", 1, 1, 1, 0, 1),
        "raw": column("u8", 0, 0, 0, 0, 1),
        "received": column("u64", 1000, 1000, 200_000, 500, 0),
    }
    for name in ("retransmits", "fast_retransmits", "timeouts", "ece_acks"):
        columns[name] = column("u32", *range(n))
    return build_table("flows", columns | changed)


def ports() -> pa.Table:
    """Returns the ports of three hosts and of a switch, node 3."""
    columns = {
        "node": column("u32", 0, 1, 2, 3, 3, 3),
        "port": column("u16", 0, 0, 0, 0, 1, 2),
        "peer": column("u32", 3, 3, 3, 0, 1, 2),
        "rate_bps": column("f64", *[1e9] * 6),
        "sent": column("u64", 10, 10, 10, 10, 10, 50),
        "marked": column("u64", 0, 0, 0, 0, 0, 4),
        "detoured": column("u64", *[0] * 6),
        "bounced": column("u64", *[0] * 6),
    }
    for reason in DROP_REASONS:
        columns[f"drop_{reason}"] = column("u64", *[0] * 6)
    columns["drop_buffer_full"] = column("u64", 1, 0, 0, 0, 0, 7)
    return build_table("ports", columns)


def queue_hist() -> pa.Table:
    """Returns the time that queues of ports 2 and 0 spend at each length, of 10 ms.

    Port 2 has one frame for 1 ms and three for 2 ms; port 0 has one frame for 1 ms.
    """
    columns = {
        "node": column("u32", 3, 3, 3),
        "port": column("u16", 2, 2, 0),
        "packets": column("u32", 1, 3, 1),
        "time_ps": column("u64", 1 * MS, 2 * MS, 1 * MS),
        "arrivals": column("u64", 3, 1, 0),
    }
    return build_table("queue_hist", columns)


def packet_hist() -> pa.Table:
    rows = [(1, 0, 10 * US, 20 * US, 9, 138 * US), (1, 0, 20 * US, 40 * US, 1, 0), (0, 0, 1, 2, 99, 99)]
    rows += [(1, 1, 2, 3, 9, 18), (1, 1, 4, 5, 1, 4), (1, 2, 0, 1, 8, 0), (1, 2, 1, 2, 2, 2)]
    kinds = {"data": "u8", "metric": "u8", "low": "u64", "high": "u64", "count": "u64", "sum": "f64"}
    return build_table(
        "packet_hist", {k: column(kinds[k], *c) for k, c in zip(kinds, zip(*rows, strict=True), strict=True)}
    )


def sample_run(**changed: Any) -> RunData:
    hosts = [{"name": f"h{i}", "tier": "host", "host": True} for i in range(3)]
    offered = {"fraction": 0.1, "of": "host", "bytes": "payload", "bps": 2e8}
    summary = {
        "variant": "v",
        "seed": 1,
        "nodes": [*hosts, {"name": "s0", "tier": "switch", "host": False}],
        "traffic": [
            {"name": "q", "kind": "incast", "offered": None},
            {"name": "bg", "kind": "poisson", "offered": offered},
            {"name": "raw", "offered": None},
        ],
        "bin_ps": US,
        "end_ps": 20 * MS,
        "window_ps": [1 * MS, 11 * MS],
        "stop": "done",
        "wire_bits": {"host": {"bits": 3_000_000, "capacity_bps": 3e9}},
        "received_bytes": [2000, 100_000, 9000],
        "flows": {"started": 5, "completed": 4, "measured": 4, "unfinished": 0, "raw": 1},
    }
    tables = {"flows": flows(), "ports": ports(), "queue_hist": queue_hist(), "packet_hist": packet_hist()}
    return RunData(summary | changed.pop("summary", {}), tables | changed)


def test_flow_times_are_those_of_measured_flows() -> None:
    found = metrics.measure(sample_run())
    assert found["fct_p50"].value == pytest.approx(40e-6)
    assert found["fct_p99"].value == pytest.approx(2e-3)
    assert found["fct_mean"].value == pytest.approx((10e-6 + 40e-6 + 2e-3) / 3)
    assert found["slowdown_p50"] == Value(2.0)
    assert found["slowdown_p99"] == Value(4.0)
    assert found["unfinished_flows"] == Value(0.0)


def test_flow_times_are_split_by_traffic_and_size() -> None:
    found = metrics.measure(sample_run())
    assert found["fct_mean[traffic=q]"].value == pytest.approx(25e-6)
    assert found["fct_mean[traffic=bg]"].value == pytest.approx(2e-3)
    assert found["fct_p99[size=0-100KB]"].value == pytest.approx(40e-6)
    assert found["fct_p99[size=100KB-10MB]"].value == pytest.approx(2e-3)
    assert "fct_p99[size=10MB+]" not in found


def test_a_flow_of_exactly_100_kb_is_small_and_one_of_10_mb_is_large() -> None:
    sizes = column("u64", 100_000, 100_001, 10_000_000, 1, 1)
    found = metrics.measure(sample_run(flows=flows(bytes=sizes)))
    assert found["fct_mean[size=0-100KB]"].value == pytest.approx(10e-6)
    assert found["fct_mean[size=100KB-10MB]"].value == pytest.approx(40e-6)
    assert found["fct_mean[size=10MB+]"].value == pytest.approx(2e-3)


def test_a_query_lasts_from_its_first_start_to_its_last_end() -> None:
    assert metrics.measure(sample_run())["qct_p50"].value == pytest.approx(41e-6)


def test_an_unfinished_flow_makes_what_it_reaches_a_lower_bound() -> None:
    ends = column("u64", 1 * MS + 10 * US, NONE64, 4 * MS, US, NONE64)
    found = metrics.measure(sample_run(flows=flows(end_ps=ends)))
    # The flow started at 1.001 ms and the run ended at 20 ms.
    assert found["fct_p99"].censored and found["fct_p99"].value == pytest.approx(18.999e-3)
    assert not found["fct_p50"].censored and found["fct_p50"].value == pytest.approx(2e-3)
    assert found["qct_p50"].censored and found["qct_p50"].value == pytest.approx(19e-3)
    assert found["unfinished_flows"] == Value(1.0)


def test_goodput_to_the_last_byte_is_payload_from_first_start_to_last_end() -> None:
    # The first flow starts at 1 ms and the last one ends at 4 ms; the raw source has no end.
    assert metrics.measure(sample_run())["goodput_last"].value == pytest.approx(202_000 * 8 / 3e-3)
    ends = column("u64", 1 * MS + 10 * US, NONE64, 4 * MS, US, NONE64)
    assert "goodput_last" not in metrics.measure(sample_run(flows=flows(end_ps=ends)))


def test_goodput_is_what_arrived_in_the_window_over_its_length() -> None:
    found = metrics.measure(sample_run())
    assert found["goodput"].value == pytest.approx(111_000 * 8 / 10e-3)
    assert found["goodput[traffic=raw]"].value == pytest.approx(9000 * 8 / 10e-3)
    alone = sample_run(summary={"traffic": [{"name": "raw", "offered": None}], "received_bytes": [9000]})
    assert "goodput[traffic=raw]" not in measures.measure_goodput(alone)


def test_raw_sources_alone_have_goodput_and_loss_but_no_retransmissions() -> None:
    raw = flows(raw=column("u8", 1, 1, 1, 1, 1))
    found = metrics.measure(sample_run(flows=raw))
    assert {"goodput", "drops", "drop_ratio", "load_payload[of=host]"} <= set(found)
    assert not {"retransmits", "timeouts", "fct_mean", "goodput_last"} & set(found)


def test_load_is_payload_and_wire_over_window_and_capacity() -> None:
    found = metrics.measure(sample_run())
    assert found["throughput"].value == pytest.approx(3e8)
    assert found["load_wire[of=host]"].value == pytest.approx(0.1)
    assert found["load_payload[of=host]"].value == pytest.approx(111_000 * 8 / (10e-3 * 3e9))
    assert found["achieved_load[traffic=bg]"].value == pytest.approx(0.1 * 100_000 * 8 / 10e-3 / 2e8)
    assert "achieved_load[traffic=q]" not in found


def test_queues_are_weighted_by_time_with_the_empty_time_filled_in() -> None:
    found = metrics.measure(sample_run())
    assert found["queue_busiest_mean"].value == pytest.approx(0.7)
    assert found["queue_busiest_p50"] == Value(0.0)
    assert found["queue_busiest_p99"] == Value(3.0)
    assert found["queue_busiest_max"] == Value(3.0)
    assert found["queue_all_mean"].value == pytest.approx(8 / 30)
    assert found["queue_busiest_arrival_mean"].value == pytest.approx(1.5)
    assert found["queue_busiest_arrival_p50"] == Value(1.0)


def test_a_window_times_ports_may_be_more_picoseconds_than_64_bits_hold() -> None:
    long = {"window_ps": [0, 2**63], "end_ps": 2**63}
    found = metrics.measure(sample_run(summary=long))
    ports = 3
    assert found["queue_all_mean"].value == pytest.approx(8 * MS / (ports * 2**63))
    assert [found[f"queue_all_{part}"] for part in ("p50", "p99", "max")] == [
        Value(0.0),
        Value(0.0),
        Value(3.0),
    ]


def test_the_window_is_cut_only_with_the_run() -> None:
    early = {"end_ps": 6 * MS}
    assert metrics.measure(sample_run(summary=early))["queue_busiest_mean"].value == pytest.approx(0.7)
    early["stop"] = "max_events"  # type: ignore[assignment]
    assert metrics.measure(sample_run(summary=early))["queue_busiest_mean"].value == pytest.approx(7 / 5)


def test_run_cut_before_its_window_has_no_queue_metrics() -> None:
    cut = {"end_ps": 0, "stop": "max_events"}
    assert not [key for key in metrics.measure(sample_run(summary=cut)) if key.metric.startswith("queue_")]


def test_fullest_port_is_by_bytes_if_buffers_count_bytes() -> None:
    by_bytes = ports().append_column(
        "max_bytes_in_window", build_array(*column("u64", 9, 9, 9, 100, 700, 300))
    )
    summary = {"buffers_in_bytes": True}
    found = metrics.measure(sample_run(summary=summary, ports=by_bytes))
    assert found["port_bytes_max"] == Value(700.0)
    assert "port_bytes_max" not in metrics.measure(sample_run(ports=by_bytes))


def test_data_drops_are_those_of_whole_connections() -> None:
    lost = {"data_drops": column("u32", 5, 2, 7, 11, 13)}
    own = {"connection": column("u32", 0, 1, 2, 3, 4)}
    found = metrics.measure(sample_run(flows=flows(**lost, **own)))
    assert found["data_drops"] == Value(14.0)
    assert found["data_drops[traffic=bg]"] == Value(7.0)
    # The unmeasured message opened the connection of the background's other message.
    shared = {"connection": column("u32", 0, 1, 3, 3, 4)}
    found = metrics.measure(sample_run(flows=flows(**lost, **shared)))
    assert found["data_drops[traffic=q]"] == Value(7.0)
    assert not {"data_drops", "data_drops[traffic=bg]"} & set(found)


def test_packets_are_data_packets() -> None:
    found = metrics.measure(sample_run())
    assert found["delay_mean"].value == pytest.approx(13.8e-6)
    assert found["delay_p50"].value == pytest.approx(15e-6)
    assert found["delay_p99"].value == pytest.approx(30e-6)
    assert found["hops_mean"].value == pytest.approx(2.2)
    assert found["hops_max"] == Value(4.0)
    assert found["detoured_share"].value == pytest.approx(0.2)
    assert "bounced_share" not in found


def test_drops_are_counted_by_reason_and_place() -> None:
    found = metrics.measure(sample_run())
    assert found["drops"] == Value(8.0)
    assert found["drop_ratio"].value == pytest.approx(8 / 30)
    assert found["drops[reason=buffer_full]"] == Value(8.0)
    assert found["drops[tier=host]"] == Value(1.0)
    assert found["drops[tier=switch]"] == Value(7.0)
    assert found["marks"] == Value(4.0)
    assert found["timeouts"] == Value(3.0)


def test_a_run_without_flows_or_probes_has_no_such_metrics() -> None:
    nothing = flows().slice(0, 0)
    run = sample_run(
        flows=nothing, queue_hist=queue_hist().slice(0, 0), packet_hist=packet_hist().slice(0, 0)
    )
    found = metrics.measure(run)
    assert not [
        name
        for name in found
        if name.startswith(("fct", "qct", "queue", "delay", "hops", "goodput_last", "timeouts"))
    ]
    assert found["drops"] == Value(8.0)


def test_every_metric_of_a_run_is_registered() -> None:
    for key in metrics.measure(sample_run()):
        assert metrics.find_metric(key).doc


def test_columns_are_views_of_the_given_memory() -> None:
    data = np.arange(4, dtype="<u8").tobytes()
    made = build_array("u64", data)
    assert made.to_pylist() == [0, 1, 2, 3]
    assert made.buffers()[1].address == pa.py_buffer(data).address


def test_none_becomes_null() -> None:
    made = flows()
    assert made["end_ps"].to_pylist()[4] is None
    assert made["query"].to_pylist() == [0, 0, None, None, None]


@pytest.mark.parametrize(
    "columns", [{"a": ("u9", b"")}, {"a": ("u16", b"123")}, {"a": column("u8", 1), "b": column("u8", 1, 2)}]
)
def test_malformed_columns_are_refused(columns: dict[str, tuple[str, bytes]]) -> None:
    with pytest.raises(Failed):
        build_table("any", columns)


def test_without_the_compiled_core_the_message_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    core.use_backend(None)
    monkeypatch.setitem(__import__("sys").modules, "overspill._core", None)
    with pytest.raises(Failed, match="make setup"):
        core.version()


WAITS = st.integers(0, 300) | st.integers(0, 49).flatmap(
    lambda power: st.integers(2**power, 2 ** (power + 1))
)


@given(st.lists(st.tuples(WAITS, st.integers(0, 9)), min_size=1, max_size=60), st.integers(1, 80))
def test_rows_are_counted_by_bucket_in_parts_of_any_size(rows: list[tuple[int, int]], at_once: int) -> None:
    check_buckets(rows, at_once)


def test_waits_are_counted_in_each_bucket_of_the_core() -> None:
    ends = [*range(128)]
    for octave in range(1, 44):
        for start in range(64 << octave, 128 << octave, 1 << octave):
            ends += [start, start + (1 << octave) - 1]
    rows = [(end, at % 7) for at, end in enumerate(ends)] * 6
    assert len(rows) > occupancy.MAX_BUCKETS_AT_ONCE
    check_buckets(rows, occupancy.MAX_BUCKETS_AT_ONCE)


def check_buckets(rows: list[tuple[int, int]], at_once: int) -> None:
    """Compares counts of buckets with counts of single rows; `at_once` is the number of rows of a part."""
    values, count = np.array(rows, np.uint64).T
    # Buckets of the core: exact below 128, and 64 parts of each octave above.
    shift = np.maximum(np.frexp(values.astype(np.float64))[1] - 7, 0).astype(np.uint64)
    low = (values >> shift) << shift
    high = low + (np.uint64(1) << shift)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(occupancy, "MAX_BUCKETS_AT_ONCE", at_once)
        middles, counts = occupancy.bucket_midpoints_and_counts(low, high, count)
    expected: dict[float, int] = {}
    for one, middle in zip(count.tolist(), occupancy.bucket_midpoints(low, high).tolist(), strict=True):
        if one:
            expected[middle] = expected.get(middle, 0) + one
    assert dict(zip(middles.tolist(), counts.tolist(), strict=True)) == expected
    assert list(middles) == sorted(expected)


def test_the_slowdown_so_far_of_a_flow_that_has_not_ended_is_1_at_least() -> None:
    ends = column("u64", 1 * MS + 10 * US, NONE64, 4 * MS, US, NONE64)
    # The flow has lasted 18.999 ms of the 30 ms that it would last alone.
    alone = column("u64", 5 * US, 30 * MS, 500 * US, 1, 1)
    found = metrics.measure(sample_run(flows=flows(end_ps=ends, ideal_ps=alone)))
    # The other one of the query's two flows took twice as long as alone.
    assert found["slowdown_p50[traffic=q]"] == Value(1.0, True)
    assert found["slowdown_p99[traffic=q]"] == Value(2.0, True)
