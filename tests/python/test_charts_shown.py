"""Tests of the contents of charts' panels, ranges of axes, and captions."""

from pathlib import Path
from typing import Any

import chart_samples
import numpy as np
import pyarrow as pa
import pytest
from matplotlib.colors import to_hex

import overspill
from overspill import Results, charts, report, run
from overspill.charts import (
    activity,
    axes,
    chart_spec,
    common,
    flows,
    goodput,
    mpl,
    network,
    plotly_figure,
    plotly_layout,
    queues,
)
from overspill.charts import sweep as sweeping
from overspill.charts.chart_spec import SHADES, Band, Chart, Colours, HeatMap, Line, LineStyle, Panel
from overspill.results import formats, metrics, table_cells
from overspill.results.metric_rows import MetricRow

HOSTS = 96  # hosts of the fake core; switches are numbered from here on


def heats(chart: Chart | None) -> list[HeatMap]:
    assert chart is not None
    return [mark for panel in chart.panels for mark in panel.marks if isinstance(mark, HeatMap)]


def test_goodput_has_a_panel_a_variant_with_all_of_its_band(scenario: Path) -> None:
    chart = goodput.chart_total_goodput(chart_samples.with_all_tables(run(scenario, seeds=3)))
    assert chart is not None and [panel.title for panel in chart.panels] == ["drop", "detour", "bounce"]
    tops = set()
    for panel in chart.panels:
        line, band = (next(m for m in panel.marks if isinstance(m, kind)) for kind in (Line, Band))
        assert len(line.x) <= goodput.MAX_STEPS_WITH_BAND + 1
        assert panel.y.range is not None and float(band.high.max()) <= panel.y.range[1]
        tops.add(panel.y.range[1])
    assert len(tops) == 1 and chart.share_y and "beyond" not in chart.caption


def test_a_gap_that_closes_counts_in_one_step_above_the_rate_and_the_captions_say_so(scenario: Path) -> None:
    results = run(scenario)
    rate = float(results.ports["rate_bps"].to_numpy().max())
    step = int(results.runs[0].summary["bin_ps"])
    size = 3 * rate * step * 1e-12 / 8
    rows = {"bin": pa.array([0, 50, 99], pa.uint64()), "node": pa.array([0, 0, 1], pa.uint32())}
    table = pa.table(rows | {"bytes": pa.array([1, int(size), 1], pa.uint64())})
    made = chart_samples.with_table(results, "host_goodput", dict.fromkeys(results.variants, table))
    found = [goodput.chart_total_goodput(made), goodput.chart_goodput_by_host(made)]
    line = next(mark for mark in found[0].panels[0].marks if isinstance(mark, Line)) if found[0] else None
    assert line is not None and line.y.max() > 2 * rate, "nothing is cut"
    assert all(chart is not None and goodput.BURSTS_NOTE in chart.caption for chart in found)


def test_a_band_that_is_far_wider_than_the_others_does_not_set_the_axis() -> None:
    at, ones = np.arange(300.0), np.ones(300)
    high = ones * 2
    line = Line(at, ones, LineStyle())
    assert goodput.axis_top([Band(at, ones, high, LineStyle()), line]) == (pytest.approx(2.12), False)
    high[7] = 50
    assert goodput.axis_top([Band(at, ones, high, LineStyle()), line]) == (pytest.approx(2.12), True)


def test_goodput_by_host_says_how_many_of_how_many(scenario: Path) -> None:
    chart = goodput.chart_goodput_by_host(chart_samples.with_all_tables(run(scenario)))
    assert chart is not None and chart.colours is not None
    shown = len(heats(chart)[0].rows)
    assert shown < 40 and chart.panels[0].title == "drop (seed 1)"
    assert chart.title == f"Goodput by host ({shown} of 40 hosts that receive): payload that arrived in order"


def drawn_colour(colours: Colours, value: float) -> str:
    """Returns the colour of a value as drawn."""
    return to_hex(mpl.colour_map(colours)(mpl.colour_norm(colours)(colours.positions_of(np.array(value)))))


@pytest.mark.parametrize(
    "colours",
    [
        activity.colours_for_counts(7, "drops"),
        activity.colours_for_counts(12_345, "drops"),
        network.quantity_colours("drops", 280),
        Colours(0, 1, "share", kind="share", white_zero=True),
    ],
)  # fmt: skip
def test_white_is_0_in_the_scale_too_and_nothing_else_is_white(colours: Colours) -> None:
    assert drawn_colour(colours, 0) == "#ffffff" != drawn_colour(colours, colours.low or 1e-9)
    assert (
        drawn_colour(colours, colours.low or 1e-9) == SHADES[0]
        and drawn_colour(colours, colours.high) == SHADES[-1]
    )
    (at, text), *others = axes.colour_ticks(colours)
    low, high = colours.ends
    assert (
        text.startswith("0") and low < at < low + chart_spec.WHITE_SHARE * (high - low) and len(others) >= 3
    )
    axis = plotly_layout.colour_axis(colours, narrow=False)
    assert (axis["cmin"], axis["cmax"]) == colours.ends and axis["colorbar"]["tickvals"][0] == at
    whites = [place for place, colour in axis["colorscale"] if colour == "#ffffff"]
    assert whites[0] == 0 and (at - low) / (high - low) < whites[-1] < chart_spec.WHITE_SHARE


def test_every_map_and_network_has_white_in_its_scale(scenario: Path) -> None:
    results = chart_samples.with_all_tables(run(scenario))
    made = charts.build_charts(results)
    scales = {name: chart.colours for name, chart in made.items() if chart.colours is not None}
    assert {"network", "drops", "goodput-hosts", "links"} <= set(scales)
    assert all(one.white_zero for one in scales.values())
    counts = network.mean_counts_by_node(results, "drop")
    counts["drops"][HOSTS] = 0
    net = network.find_network(results, "drop")
    assert net is not None
    values = network.draw_quantity(net, counts, ("drops", 1)).nodes[0].value
    assert np.isfinite(values).all() and (values == 0).sum() == 1


def words_beside(colours: Colours) -> list[str]:
    """Returns the text beside a scale in both drawings."""
    panel = Panel(marks=[HeatMap(np.ones((1, 1)), np.arange(2.0), ["s"])])
    bar = mpl.draw_figure(Chart("n", "n", "", [panel], colours=colours)).axes[-1]
    return [plotly_layout.colour_axis(colours, narrow=False)["colorbar"]["title"]["text"], bar.get_ylabel()]


def test_a_step_of_a_scale_is_1_2_or_5_of_a_power_of_ten() -> None:
    assert [axes.round_up_step(least, False) for least in (0.2, 0.21, 7, 56, 1)] == [0.2, 0.5, 10, 100, 1]
    assert axes.round_up_step(0.4, True) == 1
    ticks = axes.colour_ticks(Colours(0, 280, "", whole_numbers=True))
    assert ticks == [(0, "0"), *((float(at), str(at)) for at in range(50, 300, 50))]
    assert [text for _, text in axes.colour_ticks(activity.colours_for_counts(12_345, ""))] == [
        "0", "10", "100", "1,000", "10,000",
    ]  # fmt: skip
    rates = axes.colour_ticks(Colours(0, 1.6e9, "", kind="rate"))
    assert [text for _, text in rates][1:3] == ["0.5 Gbit/s", "1 Gbit/s"]
    assert words_beside(activity.colours_for_counts(12_345, "drops")) == [
        "drops, logarithmic scale from 1",
        "drops\nlogarithmic scale from 1",
    ]


@pytest.mark.parametrize(
    ("drops", "seeds", "text"),
    [
        (1962.6, 10, "1,963 drops (mean of 10 seeds)"), (2.34, 3, "2.3 drops (mean of 3 seeds)"),
        (1, 1, "1 drop"), (0, 2, "0 drops (mean of 2 seeds)"),
    ],
)  # fmt: skip
def test_drops_above_a_network_are_whole_where_they_are_many(drops: float, seeds: int, text: str) -> None:
    assert network.format_drops_title(drops, seeds) == text


def active(scenario: Path) -> Results:
    """Returns drops at two switches in one variant, marks at another in the next, nothing in the third."""
    tables = {
        "drop": chart_samples.event_table([(100, HOSTS, 0, 5), (120, HOSTS + 3, 0, 1)]),
        "detour": chart_samples.event_table([(110, HOSTS + 7, 1, 2), (130, HOSTS + 3, 0, 4)]),
    }
    return chart_samples.with_table(run(scenario), "activity", tables)


def test_maps_of_a_kind_have_the_switches_where_it_happens_and_a_low_panel_without(
    scenario: Path,
) -> None:
    results = active(scenario)
    for kind, places, shares in (
        (0, (0, 3), [1, 1, activity.EMPTY_PANEL_HEIGHT]),
        (1, (7,), [activity.EMPTY_PANEL_HEIGHT, 1, activity.EMPTY_PANEL_HEIGHT]),
    ):
        names = [results.runs[0].node_name(HOSTS + at) for at in places]
        chart = activity.chart_events_over_time(results, kind)
        assert chart is not None and [panel.height_share for panel in chart.panels] == shares
        assert [list(one.rows) for one in heats(chart)] == [names] * shares.count(1)
        figure = mpl.draw_figure(chart)
        figure.draw_without_rendering()
        heights = [axes.get_position().height for axes in figure.axes[:3]]
        assert heights[2] == pytest.approx(activity.EMPTY_PANEL_HEIGHT * heights[shares.index(1)], rel=0.02)
        layout = plotly_figure.build_plotly_figure(chart)["layout"]
        low, high = (np.ptp(layout[f"yaxis{at}"]["domain"]) for at in ("3", "2"))
        assert low == pytest.approx(activity.EMPTY_PANEL_HEIGHT * high)


def test_switches_that_do_not_fit_are_those_of_the_kind_or_one_row(scenario: Path) -> None:
    many = [(100, HOSTS + at, 0, 30 - at) for at in range(20)]
    results = chart_samples.with_table(
        run(scenario), "activity", {"drop": chart_samples.event_table([*many, (90, HOSTS + 25, 1, 1)])}
    )
    runs = list(common.first_runs(results).values())
    assert activity.select_heat_map_rows(runs, 1, 8) == activity.HeatMapRows([HOSTS + 25], [], False)
    rows = activity.select_heat_map_rows(runs, 0, 8)
    assert rows == activity.HeatMapRows(
        [HOSTS + at for at in range(8)], [HOSTS + at for at in range(8, 20)], False
    )
    assert heats(activity.chart_events_over_time(results, 0))[0].rows[-1].endswith(" others")


def test_waits_begin_where_frames_wait_and_the_rest_is_told(scenario: Path) -> None:
    # In ps: three of ten frames wait less than 1 ns, one 5 us to 6 us, six 50 us to 60 us.
    rows = [(0, 1, 2), (500, 600, 1), (5_000_000, 6_000_000, 1), (50_000_000, 60_000_000, 6)]
    table = chart_samples.wait_table(rows, HOSTS)
    late = chart_samples.wait_table(rows[2:], HOSTS)
    chart = queues.chart_sojourn(
        chart_samples.with_table(run(scenario), "queue_sojourn", {"drop": table, "detour": late})
    )
    assert chart is not None
    panel = chart.panels[1]
    assert panel.corner == ["wait less than 1 ns:", "drop: 30%"]
    assert panel.x.range is not None and panel.x.range[0] == pytest.approx(0.8 * 6e-6)
    first = next(mark for mark in panel.marks if isinstance(mark, Line))
    assert first.x[0] == panel.x.range[0] and first.y.tolist() == pytest.approx([0.7, 0.6])
    assert (panel.x.label, panel.y.label) == ("time in the queue", "share waiting longer")
    texts = [text.get_text() for axes in mpl.draw_figure(chart).axes for text in axes.texts]
    assert "wait less than 1 ns:\ndrop: 30%" in texts
    assert "drop: 30%" in str(plotly_figure.build_plotly_figure(chart)["layout"]["annotations"])


def test_queues_tell_what_area_and_line_are(scenario: Path) -> None:
    results = run(scenario)
    chart, lengths = queues.chart_queue_over_time(results), queues.chart_queue_lengths(results)
    assert chart is not None and lengths is not None
    assert [entry.label for entry in chart.legend] == ["largest in each time step", "mean of each time step"]
    keys = {mark.entry for panel in chart.panels for mark in panel.marks if isinstance(mark, Band | Line)}
    assert keys == {entry.key for entry in chart.legend}
    assert "at least" in lengths.panels[0].x.label and "at least this many" in lengths.title


def only_panel(chart: Chart) -> Panel:
    assert len(chart.panels) == 1
    return chart.panels[0]


def test_small_counts_beside_large_ones_are_seen() -> None:
    curves = {"drop": [(0.0, 0.0), (2.0, 5.0), (30.0, 4.0), (9000.0, 90.0)], "bounce": [(0.0, 0.0)] * 4}
    made = sweeping.build_sweep_charts(chart_samples.sweep_of_curves(("drops", "packets"), curves))[
        "sweep-losses"
    ]
    y = only_panel(made).y
    assert y.scale == "symlog" and y.range == (0, pytest.approx(9090 * 1.2))
    band = next(mark for mark in only_panel(made).marks if isinstance(mark, Band))
    assert band.low.tolist() == [0, 0, 26, 8910]
    figure = plotly_figure.build_plotly_figure(made)
    line = next(one for one in figure["data"] if one["mode"] == "lines" and "customdata" in one)
    np.testing.assert_allclose(chart_spec.symlog_inverse(line["y"]), line["customdata"], atol=1e-9)
    near = {"drop": [(0.0, 0.0), (200.0, 5.0), (3000.0, 4.0), (9000.0, 90.0)]}
    even = sweeping.build_sweep_charts(chart_samples.sweep_of_curves(("drops", "packets"), near))[
        "sweep-losses"
    ]
    assert only_panel(even).y.scale == "linear"


def test_an_interval_below_0_reaches_the_lower_edge_of_a_logarithmic_axis() -> None:
    curves = {"drop": [(1e-4, 1e-5), (1e-3, 4e-3), (2e-2, 1e-3), (1e-1, 1e-3)]}
    panel = only_panel(
        sweeping.build_sweep_charts(chart_samples.sweep_of_curves(("qct_p99", "s"), curves))["sweep-qct"]
    )
    band = next(mark for mark in panel.marks if isinstance(mark, Band))
    assert panel.y.scale == "log" and panel.y.range is not None
    assert panel.y.range[0] == pytest.approx(0.8 * 9e-5) and band.low[1] == panel.y.range[0]
    assert band.low[0] == pytest.approx(9e-5)


def test_what_is_0_everywhere_has_no_panel_and_is_told() -> None:
    nothing = chart_samples.sweep_of_curves(("unfinished_flows", "flows"), {"drop": [(0.0, 0.0)] * 4})
    assert sweeping.build_sweep_charts(nothing) == {}
    some = chart_samples.sweep_of_curves(("goodput", "bit/s"), {"drop": [(1e9, 1e7)] * 4})
    some.summary = pa.concat_tables([some.summary, nothing.summary])
    chart = sweeping.build_sweep_charts(some)["sweep-rates"]
    assert len(chart.panels) == 1 and chart.caption.endswith(
        "Omitted, because they are 0 everywhere: unfinished flows."
    )


def test_two_axes_have_a_figure_for_the_main_metrics_alone() -> None:
    both = [chart_samples.SIZES, chart_samples.THETA]
    made = chart_samples.sample_sweep(both)
    assert list(sweeping.build_sweep_charts(made)) == [
        f"sweep-{name}" for name in ("fct_p99", "fct_mean", "drops", "goodput")
    ]
    assert sweeping.chart_metric(made, "slowdown_p99") is not None
    made.summary = made.summary.filter(np.array(made.summary.column("metric")) == "slowdown_p99")
    assert list(sweeping.build_sweep_charts(made)) == ["sweep-slowdown_p99"]


def test_the_report_says_why_slowdown_by_size_is_left_out(
    scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = run(scenario)
    assert charts.list_omitted_figures(results) == []

    def alike(found: Any) -> Any:
        sizes, slow, late = whole(found)
        return np.full(len(sizes), 20_000.0), slow, late

    whole = flows.read_sized_flows
    monkeypatch.setattr(flows, "read_sized_flows", alike)
    assert "slowdown-size" not in charts.build_charts(results)
    (line,) = charts.list_omitted_figures(results)
    assert "one size" in line and line in report.render_run_page(results, [])


@pytest.mark.parametrize(
    ("title", "unit", "text"),
    [
        ("pauses", "pauses", "pauses"), ("saturation trees", "trees", "saturation trees"),
        ("drops", "pkt", "drops (pkt)"),
        ("hosts stopped by a tree mean", "hosts", "hosts stopped by a tree mean (hosts)"),
        ("load", "", "load"),
    ],
)  # fmt: skip
def test_a_unit_that_a_title_ends_with_is_not_said_again(title: str, unit: str, text: str) -> None:
    assert formats.title_with_unit(title, unit) == text
    row = MetricRow(metrics.Metric("m", title, unit, ""), {}, None)
    assert table_cells.format_row(row)[0] == text


def test_a_variant_keeps_its_look_where_only_some_are_chosen(scenario: Path, tmp_path: Path) -> None:
    text = 'name = "x"\n' + "".join(f'[variants.{name}]\nz = "{name}"\n' for name in "abcd")
    path = tmp_path / "x.toml"
    path.write_text(text)
    whole, some = run(path), run(path, variants=["b", "d"])
    assert [common.line_style_of_variant(whole, name) for name in "abcd"] == [
        chart_spec.line_style_of_index(at) for at in range(4)
    ]
    assert [common.line_style_of_variant(some, name) for name in "bd"] == [
        chart_spec.line_style_of_index(1),
        chart_spec.line_style_of_index(3),
    ]
    swept = overspill.sweep(path, {"switch.x": ["1us", "2us"]}, variants=["d"])
    assert [entry.look for entry in sweeping.legend_entries(swept)] == [chart_spec.line_style_of_index(3)]
    assert (
        common.variant_index({}, ["p", "q"], "q") == 1
        and common.variant_index({"scenario": {"text": "("}}, ["p"], "p") == 0
    )


def test_a_file_says_what_its_bands_are(scenario: Path) -> None:
    made = charts.build_charts(chart_samples.with_all_tables(run(scenario, seeds=3)))
    with_bands = {
        name: chart
        for name, chart in made.items()
        if any(isinstance(mark, Band) and mark.interval for panel in chart.panels for mark in panel.marks)
    }
    assert {"goodput", "queue-cdf"} <= set(with_bands)
    for name, chart in made.items():
        assert (mpl.BANDS_NOTE in [line.text for line in mpl.heading_lines(chart)]) == (name in with_bands), (
            name
        )
    queue = [mark for panel in made["queue"].panels for mark in panel.marks if isinstance(mark, Band)]
    assert queue and not any(mark.interval for mark in queue), "from 0 to the largest"


def test_a_band_that_is_cut_flat_is_said_to_go_on_in_the_file(
    scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = chart_samples.with_all_tables(run(scenario, seeds=3))
    monkeypatch.setattr(goodput, "axis_top", lambda marks: (1.0, True))
    chart = goodput.chart_total_goodput(results)
    assert chart is not None and "with a flat edge" in chart.note
    monkeypatch.setattr(goodput, "axis_top", lambda marks: (1.0, False))
    chart = goodput.chart_total_goodput(results)
    assert chart is not None and "flat edge" not in chart.note
