"""Tests that a metric without recorded data has no value: the sources of every metric."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import overspill
from overspill.results import metrics
from overspill.results.names import FRAME_OUTCOMES, TABLES
from overspill.results.rundata import RunData

# Scenarios whose runs together have a value of every metric.
EVERYTHING = """
name = "everything"
duration = "10ms"
[topology]
kind = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 12
link = { rate = "10Gbps", delay = "1us" }
fabric = { rate = "40Gbps", delay = "1us" }
[switch]
buffer = { kind = "per_port", size = "400KB" }
overflow = { kind = "tail_drop" }
routing = { kind = "spray" }
marking = { kind = "ecn_threshold", k = "10pkt" }
[switch.pause]
kind = "pfc"
xoff = "15KB"
xon = "8KB"
watchdog = "alert"
detection_time = "20us"
restoration_time = "20us"
poll_interval = "10us"
[transport]
kind = "dctcp"
recovery = "rack"
min_rto = "5ms"
[measure]
drain = "1s"
links = true
goodput = "flows"
reordering = true
[[traffic]]
name = "burst"
kind = "incast"
senders = 20
receiver = "h0"
size = "100KB"
qps = 200
[[traffic]]
name = "background"
kind = "poisson"
sizes = "imc10"
load = { fraction = 0.1, of = "host" }
[[traffic]]
name = "forever"
kind = "long_lived"
sources = ["h20", "h21"]
destinations = ["h3", "h4"]
"""
BOUNCING = """
name = "bouncing"
duration = "10ms"
[topology]
kind = "chain_tree"
n = 3
depth = 2
link = { rate = "1Gbps", delay = "50ns" }
[switch]
buffer = { kind = "per_port", size = "20pkt" }
overflow = { kind = "bounce", theta = 0.5, lambda = 50, bounce_size = "20pkt" }
[measure]
drain = "1s"
sub_queues = true
[[traffic]]
name = "burst"
kind = "incast"
senders = 3
receiver = "h3"
size = "200KB"
start = "1ms"
"""
CUTTING = """
name = "cutting"
duration = "10ms"
[topology]
kind = "star"
n = 4
link = { rate = "1Gbps", delay = "1us" }
[switch]
buffer = { kind = "per_port", size = "20KB" }
overflow = { kind = "trim", trimmable = "any", extra = "200B", no_room = "return" }
[transport]
pack = true
[measure]
drain = "1s"
[[traffic]]
name = "burst"
kind = "incast"
senders = 3
receiver = "h0"
size = "100KB"
start = "1ms"
[[traffic]]
name = "other"
kind = "incast"
senders = 3
receiver = "h1"
size = "60KB"
start = "2ms"
"""

HOLDING = """
name = "holding"
duration = "10ms"
[topology]
kind = "star"
n = 4
link = { rate = "1Gbps", delay = "1us" }
[switch]
buffer = { kind = "per_port", size = "60KB" }
ack_hold = { kind = "abq", k = "9KB" }
[transport]
kind = "sack"
[measure]
drain = "1s"
[[traffic]]
name = "burst"
kind = "incast"
senders = 3
receiver = "h0"
size = "100KB"
start = "1ms"
"""

# Required tables of each metric, by its name or the beginning of its name; each one is needed.
SOURCES = {
    "fct_": ("flows",),
    "slowdown_": ("flows",),
    "qct_": ("flows",),
    "unfinished_flows": ("flows",),
    "goodput_last": ("flows",),
    "goodput": (),
    "host_goodput_": ("host_goodput",),
    "flow_goodput_": ("flows",),
    "jain": ("flows",),
    "throughput": (),
    "achieved_load": (),
    "load_payload": ("ports",),
    "load_wire": (),
    "link_utilisation_": ("ports",),
    "hot_links": ("ports",),
    "hot_link_share": ("ports", "links"),
    "queue_": ("queue_hist",),
    "sojourn_all": ("queue_sojourn",),
    "sojourn_busiest": ("queue_sojourn", "queue_hist"),
    "delay_": ("packet_hist",),
    "hops_": ("packet_hist",),
    "detoured_share": ("packet_hist",),
    "bounced_share": ("packet_hist",),
    "drop": ("ports",),
    "marks": ("ports",),
    "detours": ("ports",),
    "bounces": ("ports",),
    "trims": ("ports",),
    "returned": ("ports",),
    "bounces_per_bounced": ("packet_hist",),
    "max_bounced_distance_": ("packet_hist",),
    "total_hop_": ("packet_hist",),
    "utilisation_variance": ("sub_queues", "sub_queue_hist"),
    "time_above_theta": ("sub_queues", "sub_queue_hist"),
    "held_": ("holds",),
    "hold_": ("holds",),
    "cnm": ("congestion_points",),
    "cnps": ("congestion_points",),
    "rate_limit": ("limited_flows",),
    "input_": ("inputs",),
    "internal_link_": ("fabric_buffers",),
    "link_buffer_": ("fabric_buffers",),
    "stage_buffer_": ("fabric_buffers",),
    "pauses": ("pauses",),
    "paused_fraction_": ("pauses",),
    "pause_frames": ("pauses",),
    "pause_storms": ("pauses", "pause_storms"),
    "pause_length_": ("pauses", "pause_trace"),
    "saturation_": ("pauses", "pause_trace", "ports"),
    "reorder": ("reorder",),
    "displace": ("reorder",),
    "retransmits": ("flows",),
    "data_drops": ("flows",),
    "port_bytes_": ("ports",),
    "fast_retransmits": ("flows",),
    "timeouts": ("flows",),
    "ece_acks": ("flows",),
    "packs": ("flows",),
    "tlp_probes": ("flows",),
    "undos": ("flows",),
}
# Metrics from the summary of a run, with their source there.
SUMMARY = {
    "goodput": "received_bytes",
    "achieved_load": "received_bytes",
    "load_payload": "received_bytes",
    "throughput": "wire_bits",
    "load_wire": "wire_bits",
}
# Columns that older results or another core may lack, with the metric of each.
COLUMNS = {
    ("ports", "marked"): "marks",
    ("ports", "detoured"): "detours",
    ("ports", "bounced"): "bounces",
    ("ports", "trimmed"): "trims",
    ("ports", "returned"): "returned",
    ("ports", "drop_input_full"): "drops[reason=input_full]",
    ("flows", "retransmits"): "retransmits",
    ("flows", "data_drops"): "data_drops",
    ("flows", "timeouts"): "timeouts",
    ("flows", "ece_acks"): "ece_acks",
    ("flows", "fast_retransmits"): "fast_retransmits",
}
# Settings of a scenario's `[measure]`, with the tables that they leave empty.
SETTINGS = {
    "measure.links=false": ("links",),
    "measure.reordering=false": ("reorder",),
    'measure.goodput="none"': ("host_goodput", "flow_goodput"),
    "measure.queues=false": ("queue_hist", "queue_sojourn", "queue_trace"),
}


def key_of(start: str) -> str:
    """Returns the longest entry of SOURCES with which a metric's name begins."""
    return max((one for one in SOURCES if start.startswith(one)), key=len)


def sources(name: str) -> tuple[str, ...]:
    found = SOURCES[key_of(metrics.registered_name(name))]
    by_workload = metrics.registered_name(name) in FRAME_OUTCOMES and "[traffic=" in name
    return (*found, "fates") if by_workload else found


def run_text(text: str, folder: Path, *sets: str) -> RunData:
    path = folder / "scenario.toml"
    path.write_text(text)
    (run,) = overspill.run(path, sets=sets).runs
    return run


def without_records(run: RunData) -> RunData:
    """Returns the run with handmade tables of congestion points, limited flows, inputs and buffers."""
    tables = {name: run.table(name) for name in run.names}
    tables["congestion_points"] = pa.table({"cnms": [3, 0], "cnps": [0, 7], "feedback": [60, 0]})
    tables["limited_flows"] = pa.table({"limited_ps": [10**9, 0], "lowest_bps": [5e6, -1.0]})
    tables["inputs"] = pa.table({"max_bytes": [9000, 0], "byte_ps": [4e13, 0.0]})
    columns = {"place": [0, 1, 2], "rate_bps": [1e10, 1e10, 1e9], "max_bytes": [9000, 8000, 1500]}
    tables["fabric_buffers"] = pa.table(columns | {"byte_ps": [4e13, 3e13, 1e12], "busy_ps": [9, 9, 9]})
    return RunData(run.summary, tables)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[RunData]:
    folder = tmp_path_factory.mktemp("recorded")
    return [run_text(text, folder) for text in (EVERYTHING, BOUNCING, CUTTING)] + [
        without_records(run_text(HOLDING, folder))
    ]


def without_tables(run: RunData, *names: str, empty: bool) -> RunData:
    """Returns the run as if tables had not been recorded: missing, or without rows."""
    tables = {name: run.table(name) for name in run.names}
    kept = {name: one for name, one in tables.items() if one is not None and (empty or name not in names)}
    return RunData(run.summary, {name: one[:0] if name in names else one for name, one in kept.items()})


def test_every_metric_has_a_value_where_everything_is_recorded(runs: list[RunData]) -> None:
    found = {metrics.registered_name(name) for run in runs for name in metrics.measure(run)}
    assert set(metrics.REGISTRY) - found == set()


def test_cut_packets_of_workloads_add_up_to_those_that_ports_counted(runs: list[RunData]) -> None:
    found = {str(name): value for name, value in metrics.measure(runs[2]).items()}
    by_workload = [found[f"trims[traffic={name}]"].value for name in ("burst", "other")]
    assert min(by_workload) > 0 and sum(by_workload) == found["trims"].value
    assert 0 < found["returned"].value <= found["trims"].value
    assert not any(metrics.registered_name(name) == "trims" for name in metrics.measure(runs[0])), (
        "no switch cuts there"
    )


def test_every_metric_says_where_it_comes_from() -> None:
    assert {key_of(name) for name in metrics.REGISTRY} == set(SOURCES)


@pytest.mark.parametrize("empty", [True, False], ids=["without rows", "not there"])
@pytest.mark.parametrize("name", TABLES)
def test_a_metric_is_absent_where_its_table_was_not_recorded(
    runs: list[RunData], name: str, empty: bool
) -> None:
    for run in runs:
        whole, left = metrics.measure(run), metrics.measure(without_tables(run, name, empty=empty))
        assert [one for one in left if name in sources(one)] == []
        others = {one: value for one, value in whole.items() if name not in sources(one)}
        # Metrics of other tables change only without `ports`, which identifies switch ports, or
        # `flow_goodput`.
        if name not in ("ports", "flow_goodput"):
            assert {one: left[one] for one in others if one in left} == others


def test_a_metric_is_absent_where_the_summary_does_not_say(runs: list[RunData]) -> None:
    for run in runs:
        for name, fact in SUMMARY.items():
            summary = {one: value for one, value in run.summary.items() if one != fact}
            found = metrics.measure(RunData(summary, {one: run.table(one) for one in run.names}))
            assert [one for one in found if metrics.registered_name(one) == name] == []


@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_a_count_is_absent_where_its_column_is(runs: list[RunData], table: str, column: str) -> None:
    counted = [run for run in runs if column in run.column_names(table)]
    assert counted, "some run has it"
    for run in counted:
        tables = {name: run.table(name) for name in run.names}
        tables[table] = tables[table].drop_columns([column])
        found, gone = metrics.measure(RunData(run.summary, tables)), COLUMNS[table, column]
        assert gone in metrics.measure(run)
        # By workload the metric comes from `fates`.
        assert [one for one in found if one.partition("[traffic")[0] == gone and "[traffic" not in one] == []


@pytest.mark.parametrize("setting", SETTINGS)
def test_what_a_scenario_does_not_ask_for_has_no_value(setting: str, tmp_path: Path) -> None:
    run = run_text(EVERYTHING, tmp_path, setting)
    found = metrics.measure(run)
    assert [name for name in SETTINGS[setting] if run.recorded(name)] == []
    assert [name for name in found if set(sources(name)) & set(SETTINGS[setting])] == []


def test_without_followed_links_no_row_says_that_none_was_hot(tmp_path: Path) -> None:
    followed, not_followed = (
        metrics.measure(run_text(EVERYTHING, tmp_path, f"measure.links={told}")) for told in ("true", "false")
    )
    assert followed["hot_link_share"].value > 0
    assert not [name for name in not_followed if name.startswith("hot_link_share")]
    same = {name: value for name, value in followed.items() if not name.startswith("hot_link_share")}
    assert same == not_followed


def test_queues_that_are_not_followed_apart_have_no_utilisation(tmp_path: Path) -> None:
    found = metrics.measure(run_text(BOUNCING, tmp_path, "measure.sub_queues=false"))
    assert not {"utilisation_variance", "time_above_theta"} & set(found)


def test_where_no_port_may_be_paused_there_are_neither_pauses_nor_trees(tmp_path: Path) -> None:
    run = run_text(BOUNCING, tmp_path)
    assert not [name for name in metrics.measure(run) if name.startswith(("pause", "saturation"))]


def test_where_no_port_may_hold_acks_nothing_is_told_of_it(tmp_path: Path) -> None:
    run = run_text(HOLDING, tmp_path, 'switch.ack_hold={ kind = "none" }')
    assert not [name for name in metrics.measure(run) if name.startswith(("held_", "hold_"))]


def test_what_is_told_of_congestion_is_measured(runs: list[RunData]) -> None:
    names = ("cnm", "cnps", "rate_limit", "input_")
    found = {str(name): value.value for name, value in metrics.measure(runs[3]).items()}
    start, end = runs[3].window_ps
    assert {name: value for name, value in found.items() if name.startswith(names)} == {
        "cnms": 3,
        "cnm_feedback_mean": 20,
        "cnps": 7,
        "rate_limited_flows": 1,
        "rate_limited_time_mean": 1e-3,
        "rate_limit_min": 5e6,
        "input_bytes_max": 9000,
        "input_bytes_mean": 4e13 / (end - start),
    }
    assert not [name for name in metrics.measure(runs[0]) if name.startswith(names)]


def test_a_run_that_is_cut_before_its_window_counted_nothing_in_it(runs: list[RunData]) -> None:
    run = runs[0]
    summary = run.summary | {"stop": "max_events", "window_ps": [run.end_ps, run.end_ps + 10**9]}
    cut = RunData(summary, {name: run.table(name) for name in run.names})
    found = metrics.measure(cut)
    assert not [name for name in found if sources(name) == ("ports",)]


def test_where_no_tree_grew_trees_have_no_depth(runs: list[RunData]) -> None:
    """The number of trees is still recorded: 0."""
    run = runs[0]
    tables = {name: run.table(name) for name in run.names}
    tables["pause_trace"] = tables["pause_trace"][:0]
    paused = tables["pauses"]
    at, none = paused.column_names.index("times"), np.zeros(paused.num_rows, np.uint64)
    tables["pauses"] = paused.set_column(at, "times", [none])
    found = metrics.measure(RunData(run.summary, tables))
    trees = {name: value.value for name, value in found.items() if name.startswith("saturation")}
    assert trees == {"saturation_trees": 0.0}
