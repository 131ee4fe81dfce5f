"""Tests of captions: switch, port and variants of a chart, and what a figure cannot show."""

import json
from pathlib import Path
from typing import Any

import chart_samples
import numpy as np
import pyarrow as pa
import pytest
from test_charts_shown import HOSTS, heats

from overspill import Results, charts, run
from overspill.charts import activity, common, flows, goodput, mpl, network, queues
from overspill.charts import sweep as sweeping
from overspill.charts.chart_spec import Band, Chart, Graph, Line
from overspill.results import identical_variants
from overspill.results.rundata import RunData


def with_changed_link(results: Results, link: str) -> Results:
    """Returns the results with a link that goes down at 10 ms."""
    event = {"at_ps": 10**10, "link": link, "what": "down", "loses": True}
    tables = [{name: one.table(name) for name in one.names} for one in results.runs]
    runs = [
        RunData(one.summary | {"changes": [event]}, of)  # type: ignore[arg-type]
        for one, of in zip(results.runs, tables, strict=True)
    ]
    return Results(results.facts, runs)


def ports_with(results: Results, column: str, rows: dict[int, int]) -> Results:
    """Returns the results with these counts in one column of the ports, and no other drops."""
    table = results.runs[0].table("ports")
    assert table is not None
    for at, name in enumerate(table.column_names):
        if name.startswith("drop_"):
            counts = np.zeros(table.num_rows, np.uint64)
            for row, count in rows.items() if name == column else ():
                counts[row] = count
            table = table.set_column(at, name, pa.array(counts))
    return chart_samples.with_table(results, "ports", dict.fromkeys(results.variants, table))


def test_rows_of_a_map_are_those_with_most_in_the_window(scenario: Path) -> None:
    results = run(scenario)
    first = results.runs[0]
    start, end = first.window_ps
    width = int(first.summary["bin_ps"])
    inside, after = (start + end) // 2 // width, end // width + 5
    few = [(inside, HOSTS + at, 0, 2) for at in range(10, 30)]
    most = [(after, HOSTS + at, 0, 1000) for at in range(10)]
    made = chart_samples.with_table(results, "activity", {"drop": chart_samples.event_table([*most, *few])})
    runs = list(common.first_runs(made).values())
    assert set(activity.rank_active_switches(runs, (0,))[:20]) == {HOSTS + at for at in range(10, 30)}


def test_the_ends_of_a_failed_link_have_rows_of_their_own(scenario: Path) -> None:
    results = run(scenario)
    names = [results.runs[0].node_name(HOSTS + at) for at in (25, 28)]
    many = [(100, HOSTS + at, 0, 1000 - at) for at in range(30)]
    made = chart_samples.with_table(
        with_changed_link(results, ":".join(names)),
        "activity",
        dict.fromkeys(results.variants, chart_samples.event_table(many)),
    )
    chart = activity.chart_events_over_time(made, 0)
    assert chart is not None and set(names) <= set(heats(chart)[0].rows)
    assert "the ends of links that change" in chart.caption


def test_what_a_link_loses_is_the_link_s_and_no_switch_s(scenario: Path) -> None:
    results = run(scenario)
    node, peer = results.runs[0].columns("ports", "node", "peer")
    row = int(np.flatnonzero((node >= HOSTS) & (peer >= HOSTS))[0])
    lost = ports_with(results, "drop_link_down", {row: 40})
    assert network.mean_counts_by_node(lost, "drop")["drops"].sum() == 0
    ends = network.sort_link_ends(int(node[row]), int(peer[row]))
    assert network.mean_losses_by_link(lost, "drop") == {ends: 40.0}
    chart = network.chart_network(lost)
    assert chart is not None and chart.panels[0].title == "drop: 0 drops, 40 more on links"
    assert network.LOSSY_LINK_NOTE in chart.caption
    [drawn] = [mark for mark in chart.panels[0].marks if isinstance(mark, Graph)]
    losing = [one for one in drawn.links if one.colour == network.LOSSY_LINK_COLOUR]
    assert len(losing) == 1 and losing[0].hover[0].endswith("40 drops")
    dropped = ports_with(results, "drop_buffer_full", {row: 40})
    assert network.mean_counts_by_node(dropped, "drop")["drops"].sum() == 40
    assert network.mean_losses_by_link(dropped, "drop") == {}


def test_the_queue_shown_is_where_most_was_dropped_and_the_title_names_it(scenario: Path) -> None:
    results = run(scenario)
    first = results.runs[0]
    node, port = first.columns("ports", "node", "port")
    areas = first.columns("queue_hist", "node", "port")
    known = {(int(a), int(b)) for a, b in zip(*areas, strict=True) if a >= HOSTS}
    rows = [at for at in range(len(node)) if (int(node[at]), int(port[at])) in known]
    for row in (rows[0], rows[-1]):
        chart = queues.chart_queue_over_time(ports_with(results, "drop_buffer_full", {row: 7}))
        assert chart is not None
        assert chart.title == f"Queue over time: {queues.port_name(first, int(node[row]), int(port[row]))}"
        assert "most drops in the window" in chart.caption
    # Losses on a link say nothing about the queue before it.
    lost = queues.chart_queue_over_time(ports_with(results, "drop_link_down", {rows[0]: 7}))
    assert lost is not None and "the port with the longest queue" in lost.caption


def test_that_goodput_may_exceed_the_rate_of_links_stands_in_the_files_too(scenario: Path) -> None:
    results = run(scenario)
    rate = float(results.ports["rate_bps"].to_numpy().max())
    size = int(30 * rate * int(results.runs[0].summary["bin_ps"]) * 1e-12 / 8)
    rows = {"bin": pa.array([0, 50, 99], pa.uint64()), "node": pa.array([0, 0, 1], pa.uint32())}
    table = pa.table(rows | {"bytes": pa.array([1, size, 1], pa.uint64())})
    made = chart_samples.with_table(results, "host_goodput", dict.fromkeys(results.variants, table))
    for chart in (goodput.chart_total_goodput(made), goodput.chart_goodput_by_host(made)):
        assert chart is not None
        words = " ".join(text.get_text() for text in mpl.draw_figure(chart).texts)
        assert "may exceed the rate of the link" in words and chart.title in words
    assert chart is not None and chart.colours is not None
    assert chart.colours.high == rate, "one burst does not make all else one colour"
    assert chart.colours.label.endswith(", darkest: at least this")
    assert np.nanmax(heats(chart)[0].values) > 2 * rate, "and the number under the pointer is the true one"


def test_where_all_traffic_is_raw_nothing_waits_for_what_is_missing(scenario: Path) -> None:
    results = chart_samples.with_all_tables(run(scenario))
    flows = results.runs[0].table("flows")
    assert flows is not None
    at = flows.schema.get_field_index("raw")
    raw = flows.set_column(
        at, flows.schema.field(at), pa.array([1] * len(flows), flows.schema.field(at).type)
    )
    alone = chart_samples.with_table(results, "flows", dict.fromkeys(results.variants, raw))
    for figure in (goodput.chart_total_goodput, goodput.chart_goodput_by_host, goodput.chart_goodput_by_flow):
        some, none = figure(results), figure(alone)
        assert some is not None and goodput.BURSTS_NOTE in some.caption and goodput.IN_ORDER_NOTE in some.note
        assert (
            none is not None
            and goodput.BURSTS_NOTE not in none.caption
            and goodput.IN_ORDER_NOTE not in none.note
        )
        assert "  " not in none.caption


def test_the_queue_s_limit_is_told_in_the_unit_of_the_axis_too() -> None:
    framing = {"framing": {"header": "40B", "link": "18B"}, "transport": {"mss": "1460B"}}
    assert queues.format_size_in_frames("300KB", framing) == " = 197 full frames"
    assert queues.format_size_in_frames("100pkt", framing) == "" == queues.format_size_in_frames("300KB", {})


def test_a_seed_whose_flows_have_ended_does_not_pull_down_the_mean(scenario: Path) -> None:
    results = run(scenario, seeds=3)
    made = []
    for one, last in zip(results.runs_of("drop"), (50, 200, 200), strict=True):
        bins = np.arange(last, dtype=np.uint64)
        rows = {"bin": bins, "node": np.zeros(last, np.uint32), "bytes": np.full(last, 1000, np.uint64)}
        made.append(RunData(one.summary, {"host_goodput": pa.table(rows), "ports": one.table("ports")}))
    results = Results(results.facts | {"variants": ["drop"]}, made)
    chart = goodput.chart_total_goodput(results)
    assert chart is not None
    [line] = [mark for mark in chart.panels[0].marks if isinstance(mark, Line)]
    some = line.y[:-5]
    assert some.min() == pytest.approx(some.max(), rel=0.5), "no collapse where the first has ended"
    assert goodput.LINE_ENDS_NOTE in chart.caption


def test_figures_of_workloads_have_their_names_and_stay_apart(scenario: Path) -> None:
    results = run(scenario)
    for one in results.runs:
        one.summary["traffic"] = [{"name": "Web Search/ä"}, {"name": "web_search"}]
    assert [flows.workload_file_key(results, at) for at in (0, 1)] == ["web-search", "web_search"]
    for one in results.runs:
        one.summary["traffic"] = [{"name": "a b"}, {"name": "a/b"}]
    assert [flows.workload_file_key(results, at) for at in (0, 1)] == ["a-b-0", "a-b-1"]
    for one in results.runs:
        one.summary["traffic"] = [{"name": "ä"}, {"name": "b"}]
    assert [flows.workload_file_key(results, at) for at in (0, 1)] == ["0", "b"]


def test_every_figure_says_above_what_it_shows(scenario: Path) -> None:
    for chart in charts.build_charts(chart_samples.with_all_tables(run(scenario, seeds=3))).values():
        above = [text for text in mpl.draw_figure(chart).texts if text.get_fontweight() == "bold"]
        assert " ".join(text.get_text() for text in above) == chart.title


def test_no_band_of_what_is_never_negative_goes_below_zero() -> None:
    values = np.array([[0.0, 5.0], [0.0, 6.0], [9.0, 7.0]])
    middle, low, high = common.mean_and_interval(values)
    assert low[0] == 0 and middle[0] == 3 and high[0] > 9
    assert 0 < low[1] < 6


def with_identical_variants(results: Results) -> Results:
    """Returns the results with `detour` equal to `drop`, and another `bounce`."""
    made = []
    for one in results.runs:
        like = one
        if one.variant == "detour":
            like = next(two for two in results.runs if (two.variant, two.seed) == ("drop", one.seed))
        tables: dict[str, Any] = {name: like.table(name) for name in like.names}
        made.append(RunData(like.summary | {"variant": one.variant}, tables))
    return Results(results.facts, made)


def labels(chart: Chart) -> str:
    return json.dumps([*(entry.label for entry in chart.legend), *(panel.title for panel in chart.panels)])


def test_variants_that_are_the_same_to_the_digit_are_drawn_once(scenario: Path) -> None:
    results = with_identical_variants(chart_samples.with_all_tables(run(scenario, seeds=2)))
    assert results.groups == [("drop", "detour"), ("bounce",)]
    for name, chart in charts.build_charts(results).items():
        text = labels(chart)
        assert "drop = detour" in text or "bounce" in name or "bounce" in text, name
        assert '"detour' not in text, name
        drawn = [mark for panel in chart.panels for mark in panel.marks if isinstance(mark, Line | Band)]
        assert "detour" not in {mark.entry for mark in drawn}
    # A different digit of one seed makes a variant different.
    results = with_identical_variants(chart_samples.with_all_tables(run(scenario, seeds=2)))
    values = results.values["detour"][2]
    values["drops"] = type(values["drops"])(values["drops"].value + 1)
    assert results.groups == [("drop",), ("detour",), ("bounce",)]


def test_variants_of_a_sweep_that_are_the_same_everywhere_are_one_line() -> None:
    curve = [(1.0, 0.1), (2.0, 0.1), (3.0, 0.1), (4.0, 0.1)]
    sweep = chart_samples.sweep_of_curves(
        ("drops", "packets"), {"a": curve, "b": curve, "c": [*curve[:3], (4.0, 0.2)]}
    )
    # Equal drawings do not imply equal runs: only a comparison of the runs counts.
    apart = sweeping.chart_metric(sweep, "drops")
    assert apart is not None and [entry.label for entry in apart.legend] == ["a", "b", "c"]
    sweep.facts["same"] = [{"variants": ["a", "b"], "why": identical_variants.EQUAL_NUMBERS}]
    chart = sweeping.chart_metric(sweep, "drops")
    assert chart is not None and [entry.label for entry in chart.legend] == ["a = b", "c"]
    lines = [mark.entry for mark in chart.panels[0].marks if isinstance(mark, Line)]
    assert lines == ["a", "c"]


def test_a_label_names_a_few_of_many_equal_variants() -> None:
    assert identical_variants.group_label(["a", "b", "c", "d"]) == "a = b = c = d"
    assert identical_variants.group_label(["a", "b", "c", "d", "e"]) == "a = b = c = 2 others"
