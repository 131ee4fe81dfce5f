"""Tests of the contents of charts' panels, ranges of axes, and captions."""

from pathlib import Path
from typing import Any

import charted
import numpy as np
import pyarrow as pa
import pytest
from matplotlib.colors import to_hex

import overspill
from overspill import Results, charts, report, run
from overspill.charts import (
    activity,
    axes,
    common,
    flows,
    goodput,
    mpl,
    network,
    queues,
    spec,
    web,
    weblayout,
)
from overspill.charts import sweep as sweeping
from overspill.charts.spec import SHADES, Band, Chart, Colours, Heat, Line, Look, Panel
from overspill.results import cells, formats, metrics
from overspill.results.rows import Row

HOSTS = 96  # hosts of the fake core; switches are numbered from here on


def heats(chart: Chart | None) -> list[Heat]:
    assert chart is not None
    return [mark for panel in chart.panels for mark in panel.marks if isinstance(mark, Heat)]


def test_goodput_has_a_panel_a_variant_with_all_of_its_band(scenario: Path) -> None:
    chart = goodput.of_all(charted.with_everything(run(scenario, seeds=3)))
    assert chart is not None and [panel.title for panel in chart.panels] == ["drop", "detour", "bounce"]
    tops = set()
    for panel in chart.panels:
        line, band = (next(m for m in panel.marks if isinstance(m, kind)) for kind in (Line, Band))
        assert len(line.x) <= goodput.STEPS_OF_BAND + 1
        assert panel.y.shown is not None and float(band.high.max()) <= panel.y.shown[1]
        tops.add(panel.y.shown[1])
    assert len(tops) == 1 and chart.share_y and "beyond" not in chart.caption


def test_a_gap_that_closes_counts_in_one_step_above_the_rate_and_the_captions_say_so(scenario: Path) -> None:
    results = run(scenario)
    rate = float(results.ports["rate_bps"].to_numpy().max())
    step = int(results.runs[0].summary["bin_ps"])
    size = 3 * rate * step * 1e-12 / 8
    rows = {"bin": pa.array([0, 50, 99], pa.uint64()), "node": pa.array([0, 0, 1], pa.uint32())}
    table = pa.table(rows | {"bytes": pa.array([1, int(size), 1], pa.uint64())})
    made = charted.with_table(results, "host_goodput", dict.fromkeys(results.variants, table))
    found = [goodput.of_all(made), goodput.by_host(made)]
    line = next(mark for mark in found[0].panels[0].marks if isinstance(mark, Line)) if found[0] else None
    assert line is not None and line.y.max() > 2 * rate, "nothing is cut"
    assert all(chart is not None and goodput.BURSTS in chart.caption for chart in found)


def test_a_band_that_is_far_wider_than_the_others_does_not_set_the_axis() -> None:
    at, ones = np.arange(300.0), np.ones(300)
    high = ones * 2
    line = Line(at, ones, Look())
    assert goodput.top([Band(at, ones, high, Look()), line]) == (pytest.approx(2.12), False)
    high[7] = 50
    assert goodput.top([Band(at, ones, high, Look()), line]) == (pytest.approx(2.12), True)


def test_goodput_by_host_says_how_many_of_how_many(scenario: Path) -> None:
    chart = goodput.by_host(charted.with_everything(run(scenario)))
    assert chart is not None and chart.colours is not None
    shown = len(heats(chart)[0].rows)
    assert shown < 40 and chart.panels[0].title == "drop (seed 1)"
    assert chart.title == f"Goodput by host ({shown} of 40 hosts that receive): payload that arrived in order"


def drawn(colours: Colours, value: float) -> str:
    """Returns the colour of a value as drawn."""
    return to_hex(mpl.shades(colours)(mpl.norm(colours)(colours.placed(np.array(value)))))


@pytest.mark.parametrize(
    "colours",
    [
        activity.scale(7, "drops"), activity.scale(12_345, "drops"), network.colours_of("drops", 280),
        Colours(0, 1, "share", kind="share", zero=True),
    ],
)  # fmt: skip
def test_white_is_0_in_the_scale_too_and_nothing_else_is_white(colours: Colours) -> None:
    assert drawn(colours, 0) == "#ffffff" != drawn(colours, colours.low or 1e-9)
    assert drawn(colours, colours.low or 1e-9) == SHADES[0] and drawn(colours, colours.high) == SHADES[-1]
    (at, text), *others = axes.colour_ticks(colours)
    low, high = colours.ends
    assert text.startswith("0") and low < at < low + spec.WHITE * (high - low) and len(others) >= 3
    axis = weblayout.colour_axis(colours, narrow=False)
    assert (axis["cmin"], axis["cmax"]) == colours.ends and axis["colorbar"]["tickvals"][0] == at
    whites = [place for place, colour in axis["colorscale"] if colour == "#ffffff"]
    assert whites[0] == 0 and (at - low) / (high - low) < whites[-1] < spec.WHITE


def test_every_map_and_network_has_white_in_its_scale(scenario: Path) -> None:
    results = charted.with_everything(run(scenario))
    made = charts.of_results(results)
    scales = {name: chart.colours for name, chart in made.items() if chart.colours is not None}
    assert {"network", "drops", "goodput-hosts", "links"} <= set(scales)
    assert all(one.zero for one in scales.values())
    counts = network.at_switches(results, "drop")
    counts["drops"][HOSTS] = 0
    net = network.network_of(results, "drop")
    assert net is not None
    values = network.graph(net, counts, ("drops", 1)).nodes[0].value
    assert np.isfinite(values).all() and (values == 0).sum() == 1


def words_beside(colours: Colours) -> list[str]:
    """Returns the text beside a scale in both drawings."""
    panel = Panel(marks=[Heat(np.ones((1, 1)), np.arange(2.0), ["s"])])
    bar = mpl.figure(Chart("n", "n", "", [panel], colours=colours)).axes[-1]
    return [weblayout.colour_axis(colours, narrow=False)["colorbar"]["title"]["text"], bar.get_ylabel()]


def test_a_step_of_a_scale_is_1_2_or_5_of_a_power_of_ten() -> None:
    assert [axes.even_step(least, False) for least in (0.2, 0.21, 7, 56, 1)] == [0.2, 0.5, 10, 100, 1]
    assert axes.even_step(0.4, True) == 1
    ticks = axes.colour_ticks(Colours(0, 280, "", whole=True))
    assert ticks == [(0, "0"), *((float(at), str(at)) for at in range(50, 300, 50))]
    assert [text for _, text in axes.colour_ticks(activity.scale(12_345, ""))] == [
        "0", "10", "100", "1 000", "10 000",
    ]  # fmt: skip
    rates = axes.colour_ticks(Colours(0, 1.6e9, "", kind="rate"))
    assert [text for _, text in rates][1:3] == ["0.5 Gbit/s", "1 Gbit/s"]
    assert words_beside(activity.scale(12_345, "drops")) == [
        "drops, log scale from 1",
        "drops\nlog scale from 1",
    ]


@pytest.mark.parametrize(
    ("drops", "seeds", "text"),
    [
        (1962.6, 10, "1 963 drops (mean of 10 seeds)"), (2.34, 3, "2.3 drops (mean of 3 seeds)"),
        (1, 1, "1 drop"), (0, 2, "0 drops (mean of 2 seeds)"),
    ],
)  # fmt: skip
def test_drops_above_a_network_are_whole_where_they_are_many(drops: float, seeds: int, text: str) -> None:
    assert network.drops_text(drops, seeds) == text


def active(scenario: Path) -> Results:
    """Returns drops at two switches in one variant, marks at another in the next, nothing in the third."""
    tables = {
        "drop": charted.happened([(100, HOSTS, 0, 5), (120, HOSTS + 3, 0, 1)]),
        "detour": charted.happened([(110, HOSTS + 7, 1, 2), (130, HOSTS + 3, 0, 4)]),
    }
    return charted.with_table(run(scenario), "activity", tables)


def test_maps_of_a_kind_have_the_switches_where_it_happens_and_a_low_panel_without(
    scenario: Path,
) -> None:
    results = active(scenario)
    for kind, places, shares in (
        (0, (0, 3), [1, 1, activity.LOW]),
        (1, (7,), [activity.LOW, 1, activity.LOW]),
    ):
        names = [results.runs[0].node_name(HOSTS + at) for at in places]
        chart = activity.over_time(results, kind)
        assert chart is not None and [panel.share for panel in chart.panels] == shares
        assert [list(one.rows) for one in heats(chart)] == [names] * shares.count(1)
        figure = mpl.figure(chart)
        figure.draw_without_rendering()
        heights = [axes.get_position().height for axes in figure.axes[:3]]
        assert heights[2] == pytest.approx(activity.LOW * heights[shares.index(1)], rel=0.02)
        layout = web.figure(chart)["layout"]
        low, high = (np.ptp(layout[f"yaxis{at}"]["domain"]) for at in ("3", "2"))
        assert low == pytest.approx(activity.LOW * high)


def test_switches_that_do_not_fit_are_those_of_the_kind_or_one_row(scenario: Path) -> None:
    many = [(100, HOSTS + at, 0, 30 - at) for at in range(20)]
    results = charted.with_table(
        run(scenario), "activity", {"drop": charted.happened([*many, (90, HOSTS + 25, 1, 1)])}
    )
    runs = list(common.first_runs(results).values())
    assert activity.rows_of(runs, 1, 8) == activity.Rows([HOSTS + 25], [], False)
    rows = activity.rows_of(runs, 0, 8)
    assert rows == activity.Rows([HOSTS + at for at in range(8)], [HOSTS + at for at in range(8, 20)], False)
    assert heats(activity.over_time(results, 0))[0].rows[-1].endswith(" others")


def test_waits_begin_where_frames_wait_and_the_rest_is_told(scenario: Path) -> None:
    # In ps: three of ten frames wait less than 1 ns, one 5 us to 6 us, six 50 us to 60 us.
    rows = [(0, 1, 2), (500, 600, 1), (5_000_000, 6_000_000, 1), (50_000_000, 60_000_000, 6)]
    table = charted.waited(rows, HOSTS)
    late = charted.waited(rows[2:], HOSTS)
    chart = queues.sojourn(
        charted.with_table(run(scenario), "queue_sojourn", {"drop": table, "detour": late})
    )
    assert chart is not None
    panel = chart.panels[1]
    assert panel.corner == ["wait less than 1 ns:", "drop: 30%"]
    assert panel.x.shown is not None and panel.x.shown[0] == pytest.approx(0.8 * 6e-6)
    first = next(mark for mark in panel.marks if isinstance(mark, Line))
    assert first.x[0] == panel.x.shown[0] and first.y.tolist() == pytest.approx([0.7, 0.6])
    assert (panel.x.label, panel.y.label) == ("time in the queue", "share waiting longer")
    texts = [text.get_text() for axes in mpl.figure(chart).axes for text in axes.texts]
    assert "wait less than 1 ns:\ndrop: 30%" in texts
    assert "drop: 30%" in str(web.figure(chart)["layout"]["annotations"])


def test_queues_tell_what_area_and_line_are(scenario: Path) -> None:
    results = run(scenario)
    chart, lengths = queues.over_time(results), queues.lengths(results)
    assert chart is not None and lengths is not None
    assert [entry.label for entry in chart.legend] == ["largest in a bin of time", "mean of the bin"]
    keys = {mark.entry for panel in chart.panels for mark in panel.marks if isinstance(mark, Band | Line)}
    assert keys == {entry.key for entry in chart.legend}
    assert "at least" in lengths.panels[0].x.label and "at least this many" in lengths.title


def only(chart: Chart) -> Panel:
    assert len(chart.panels) == 1
    return chart.panels[0]


def test_small_counts_beside_large_ones_are_seen() -> None:
    curves = {"drop": [(0.0, 0.0), (2.0, 5.0), (30.0, 4.0), (9000.0, 90.0)], "bounce": [(0.0, 0.0)] * 4}
    made = sweeping.of_sweep(charted.sweep_of(("drops", "packets"), curves))["sweep-losses"]
    y = only(made).y
    assert y.scale == "symlog" and y.shown == (0, pytest.approx(9090 * 1.2))
    band = next(mark for mark in only(made).marks if isinstance(mark, Band))
    assert band.low.tolist() == [0, 0, 26, 8910]
    figure = web.figure(made)
    line = next(one for one in figure["data"] if one["mode"] == "lines" and "customdata" in one)
    np.testing.assert_allclose(spec.symlog_inverse(line["y"]), line["customdata"], atol=1e-9)
    near = {"drop": [(0.0, 0.0), (200.0, 5.0), (3000.0, 4.0), (9000.0, 90.0)]}
    even = sweeping.of_sweep(charted.sweep_of(("drops", "packets"), near))["sweep-losses"]
    assert only(even).y.scale == "linear"


def test_an_interval_below_0_reaches_the_lower_edge_of_a_logarithmic_axis() -> None:
    curves = {"drop": [(1e-4, 1e-5), (1e-3, 4e-3), (2e-2, 1e-3), (1e-1, 1e-3)]}
    panel = only(sweeping.of_sweep(charted.sweep_of(("qct_p99", "s"), curves))["sweep-qct"])
    band = next(mark for mark in panel.marks if isinstance(mark, Band))
    assert panel.y.scale == "log" and panel.y.shown is not None
    assert panel.y.shown[0] == pytest.approx(0.8 * 9e-5) and band.low[1] == panel.y.shown[0]
    assert band.low[0] == pytest.approx(9e-5)


def test_what_is_0_everywhere_has_no_panel_and_is_told() -> None:
    nothing = charted.sweep_of(("unfinished_flows", "flows"), {"drop": [(0.0, 0.0)] * 4})
    assert sweeping.of_sweep(nothing) == {}
    some = charted.sweep_of(("goodput", "bit/s"), {"drop": [(1e9, 1e7)] * 4})
    some.summary = pa.concat_tables([some.summary, nothing.summary])
    chart = sweeping.of_sweep(some)["sweep-rates"]
    assert len(chart.panels) == 1 and chart.caption.endswith("0 everywhere and omitted: unfinished flows.")


def test_two_axes_have_a_figure_for_the_main_metrics_alone() -> None:
    both = [charted.SIZES, charted.THETA]
    made = charted.sweep(both)
    assert list(sweeping.of_sweep(made)) == [
        f"sweep-{name}" for name in ("fct_p99", "fct_mean", "drops", "goodput")
    ]
    assert sweeping.of_metric(made, "slowdown_p99") is not None
    made.summary = made.summary.filter(np.array(made.summary.column("metric")) == "slowdown_p99")
    assert list(sweeping.of_sweep(made)) == ["sweep-slowdown_p99"]


def test_the_report_says_why_slowdown_by_size_is_left_out(
    scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = run(scenario)
    assert charts.left_out(results) == []

    def alike(found: Any) -> Any:
        sizes, slow, late = whole(found)
        return np.full(len(sizes), 20_000.0), slow, late

    whole = flows.sizes_of
    monkeypatch.setattr(flows, "sizes_of", alike)
    assert "slowdown-size" not in charts.of_results(results)
    (line,) = charts.left_out(results)
    assert "one size" in line and line in report.render(results, [])


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
    assert formats.headed(title, unit) == text
    row = Row(metrics.Metric("m", title, unit, ""), {}, None)
    assert cells.cells(row)[0] == text


def test_a_variant_keeps_its_look_where_only_some_are_chosen(scenario: Path, tmp_path: Path) -> None:
    text = 'name = "x"\n' + "".join(f'[variants.{name}]\nz = "{name}"\n' for name in "abcd")
    path = tmp_path / "x.toml"
    path.write_text(text)
    whole, some = run(path), run(path, variants=["b", "d"])
    assert [common.look(whole, name) for name in "abcd"] == [spec.look(at) for at in range(4)]
    assert [common.look(some, name) for name in "bd"] == [spec.look(1), spec.look(3)]
    swept = overspill.sweep(path, {"switch.x": ["1us", "2us"]}, variants=["d"])
    assert [entry.look for entry in sweeping.entries(swept)] == [spec.look(3)]
    assert (
        common.place({}, ["p", "q"], "q") == 1 and common.place({"scenario": {"text": "("}}, ["p"], "p") == 0
    )


def test_a_file_says_what_its_bands_are(scenario: Path) -> None:
    made = charts.of_results(charted.with_everything(run(scenario, seeds=3)))
    with_bands = {
        name: chart
        for name, chart in made.items()
        if any(isinstance(mark, Band) and mark.interval for panel in chart.panels for mark in panel.marks)
    }
    assert {"goodput", "queue-cdf"} <= set(with_bands)
    for name, chart in made.items():
        assert (mpl.BANDS in [line.text for line in mpl.heading(chart)]) == (name in with_bands), name
    queue = [mark for panel in made["queue"].panels for mark in panel.marks if isinstance(mark, Band)]
    assert queue and not any(mark.interval for mark in queue), "from 0 to the largest"


def test_a_band_that_is_cut_flat_is_said_to_go_on_in_the_file(
    scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = charted.with_everything(run(scenario, seeds=3))
    monkeypatch.setattr(goodput, "top", lambda marks: (1.0, True))
    chart = goodput.of_all(results)
    assert chart is not None and "cut flat" in chart.note
    monkeypatch.setattr(goodput, "top", lambda marks: (1.0, False))
    chart = goodput.of_all(results)
    assert chart is not None and "cut flat" not in chart.note
