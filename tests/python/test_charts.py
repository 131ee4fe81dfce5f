"""Tests that both renderers draw every chart with the same data."""

import json
from pathlib import Path
from typing import Any

import chart_samples
import numpy as np
import plotly.graph_objects as go
import pytest
from conftest import SCENARIO
from matplotlib.backends.backend_agg import FigureCanvasAgg

from overspill import Results, charts, run
from overspill.charts import axes as words
from overspill.charts import chart_spec, common, flows, mpl, network, plotly_figure
from overspill.charts import sweep as sweeping
from overspill.charts.chart_spec import (
    Axis,
    Band,
    Bars,
    Chart,
    Graph,
    HeatMap,
    Line,
    LineStyle,
    Panel,
    Points,
)
from overspill.report import settings_card

EXPECTED = [
    *("network", "fct", "fct-burst", "fct-background", "qct", "slowdown-size", "goodput", "goodput-hosts"),
    *("goodput-flows", "queue", "queue-cdf", "sojourn", "drops", "marks", "detours", "bounces"),
    *("bounces-switches", "bounced", "links", "reorder"),
]


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Chart]:
    """Returns every chart: of results, and of sweeps over one and two axes."""
    import fake_core

    from overspill.engine import core

    core.use_backend(fake_core)
    path = tmp_path_factory.mktemp("charts") / "incast.toml"
    path.write_text(SCENARIO)
    found = charts.build_charts(chart_samples.with_all_tables(run(path, seeds=3)))
    assert list(found) == EXPECTED
    many = chart_samples.Axis("k", [f"{at}pkt" for at in range(9)])
    for number, axes in enumerate(
        ([chart_samples.SIZES], [chart_samples.SIZES, chart_samples.THETA], [chart_samples.SIZES, many])
    ):
        found |= {
            f"{number}-{key}": one
            for key, one in sweeping.build_sweep_charts(chart_samples.sample_sweep(axes)).items()
        }
    counts = chart_samples.sweep_of_curves(
        ("drops", "packets"), {"drop": [(0.0, 0.0), (3.0, 4.0), (40.0, 9.0), (9e3, 90.0)]}
    )
    found |= {f"counts-{key}": one for key, one in sweeping.build_sweep_charts(counts).items()}
    bars = Bars(
        np.arange(3.0), np.array([1.0, 2.0, 3.0]), 0.8, LineStyle(), low=np.ones(3), high=np.full(3, 4.0)
    )
    return found | {"bars": Chart("bars", "Bars", "Bars.", [Panel("bars", marks=[bars])])}


def decode_array(value: Any) -> np.ndarray:
    """Decodes an array of the page."""
    if isinstance(value, dict):
        import base64

        found = np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"])
        return found.reshape([int(one) for one in value["shape"].split(",")]) if "shape" in value else found
    return np.array(value, np.float64)


def parse_traces(chart: Chart) -> list[dict[str, Any]]:
    """Returns traces as the page's script reads them."""
    made = json.loads(plotly_figure.dump_json(plotly_figure.build_plotly_figure(chart)))
    assert isinstance(made, dict)
    return list(made["data"])


def test_every_chart_is_drawn_by_both(every: dict[str, Chart]) -> None:
    for name, chart in every.items():
        figure = mpl.draw_figure(chart)
        FigureCanvasAgg(figure).draw()
        assert len([axes for axes in figure.axes if axes.get_label() != "<colorbar>"]) == len(chart.panels), (
            name
        )
        for narrow in (False, True):
            made = plotly_figure.build_plotly_figure(chart, narrow)
            go.Figure(made)  # plotly's own check of every attribute
            assert made["data"], name


def traces_of_panel(traces: list[dict[str, Any]], index: int) -> list[dict[str, Any]]:
    return [one for one in traces if one["xaxis"] == f"x{'' if index == 0 else index + 1}"]


def test_both_show_the_same_data(every: dict[str, Chart]) -> None:
    compared = 0
    for chart in every.values():
        drawn = mpl.draw_figure(chart).axes
        traces = parse_traces(chart)
        for index, panel in enumerate(chart.panels):
            compared += compare_marks(panel, drawn[index], traces_of_panel(traces, index))
    assert compared > 300


def compare_marks(panel: Panel, axes: Any, traces: list[dict[str, Any]]) -> int:
    """Compares every mark of a panel with both drawings; returns the number of marks."""
    left = list(traces)
    lines, areas = list(axes.lines), list(axes.collections)
    for mark in panel.marks:
        match mark:
            case Line():
                one = left.pop(0)
                line = lines.pop(0)
                assert_equal_arrays(place_values(line.get_xdata(), panel.x), decode_array(one["x"]))
                assert_equal_arrays(place_values(line.get_ydata(), panel.y), decode_array(one["y"]))
                assert (
                    one["line"]["color"] == line.get_color() and one["line"]["width"] == line.get_linewidth()
                )
                assert (one["line"]["dash"] == "solid") == (line.get_linestyle() == "-")
            case Band():
                low, high = left.pop(0), left.pop(0)
                corners = areas.pop(0).get_paths()[0].vertices
                both = np.concatenate([decode_array(low["y"]), decode_array(high["y"])])
                drawn = place_values(corners[:, 1], panel.y)
                assert set(np.round(both, 12)) <= set(np.round(drawn, 12))
                assert high["fill"] == "tonexty"
            case Points():
                one, line = left.pop(0), lines.pop(0)
                assert_equal_arrays(place_values(line.get_ydata(), panel.y), decode_array(one["y"]))
                assert_equal_arrays(place_values(line.get_xdata(), panel.x), decode_array(one["x"]))
            case HeatMap():
                one = left.pop(0)
                image = np.ma.filled(axes.images[0].get_array(), np.nan)
                assert_equal_arrays(image, decode_array(one["z"]))
            case Graph():
                ours = [one for one in left if one["mode"] == "markers+text"]
                points = np.concatenate([one.get_offsets() for one in axes.collections])
                theirs = np.concatenate(
                    [np.stack([decode_array(o["x"]), decode_array(o["y"])], 1) for o in ours]
                )
                assert_equal_arrays(np.sort(points, 0), np.sort(theirs, 0))
            case Bars():
                assert_equal_arrays(
                    np.array([bar.get_height() for bar in axes.patches]), decode_array(left.pop(0)["y"])
                )
    return len(panel.marks)


def place_values(values: Any, axis: Axis) -> np.ndarray:
    numbers = np.asarray(values, np.float64)
    return chart_spec.symlog_positions(numbers) if axis.scale == "symlog" else numbers


def assert_equal_arrays(left: np.ndarray, right: np.ndarray) -> None:
    np.testing.assert_allclose(left, right, rtol=1e-12)


def test_a_page_never_takes_a_name_for_a_tag() -> None:
    line = Line(np.array([1.0, 2.0]), np.array([1.0, 2.0]), LineStyle(), "<b>")
    panel = Panel("</script><b>", Axis("<i>"), Axis("y"), [line])
    text = plotly_figure.dump_json(
        plotly_figure.build_plotly_figure(
            Chart("x", "x", "x", [panel], legend=[chart_spec.LegendEntry("<b>", "<b>", LineStyle())])
        )
    )
    assert "<" not in text and ">" not in text
    made = json.loads(text)
    assert made["layout"]["annotations"][0]["text"] == "&lt;/script&gt;&lt;b&gt;"
    assert made["data"][0]["name"] == "&lt;b&gt;"


def test_places_on_a_symlog_axis_lead_back() -> None:
    values = np.array([-1000.0, -1, 0, 0.5, 7, 1e6])
    np.testing.assert_allclose(
        chart_spec.symlog_inverse(chart_spec.symlog_positions(values)), values, atol=1e-9
    )
    assert chart_spec.symlog_ticks(-50, 200) == [-10, -1, 0, 1, 10, 100]


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (1e-4, "time", "100 us"), (2e4, "bytes", "20 KB"), (2.5e9, "rate", "2.5 Gbit/s"),
        (0.001, "share", "0.1%"), (0, "rate", "0"), (1234.5, "number", "1,234.5"),
    ],
)  # fmt: skip
def test_ticks_have_their_units(value: float, kind: chart_spec.QuantityKind, text: str) -> None:
    assert words.format_quantity(value, kind) == text


def test_a_percentile_is_taken_per_seed_and_bin_and_few_samples_are_told() -> None:
    sizes = np.repeat([1000.0, 50_000.0, 2e6], [200, 30, 3])
    one = (sizes, np.concatenate([np.arange(1, 201), np.full(30, 7.0), np.full(3, 9.0)]), np.zeros(233, bool))
    two = (sizes, one[1] * 3, np.zeros(233, bool))
    edges = flows.size_bin_edges([sizes])
    size, middle, low, high, doubtful, texts = flows.compute_binned_curve([one, two], edges, 99.0)
    assert size.tolist() == pytest.approx([1000, 50_000])  # three flows are too few
    assert middle.tolist() == [198 * 2, 14]  # the means of 198 and 594, and of 7 and 21
    assert doubtful.tolist() == [0, 1]  # p99 is unknown for 30 flows
    assert (low == middle).all() and (high == middle).all()  # two seeds have no band
    assert "30 flows or more" in texts[1]


def test_a_percentile_among_unfinished_flows_is_a_lower_bound() -> None:
    sizes = np.repeat([1000.0, 9000.0], 100)
    late = np.arange(200) % 4 != 0
    *_, doubtful, texts = flows.compute_binned_curve(
        [(sizes, np.ones(200) * 5, late)], flows.size_bin_edges([sizes]), 50.0
    )
    assert doubtful.tolist() == [1, 1] and "slowdown > 5" in texts[0]


def test_bands_are_student_s_intervals() -> None:
    middle, low, high = common.mean_and_interval(np.array([[11.0], [12.0], [13.0]]))
    assert middle[0] == 12
    assert high[0] - middle[0] == pytest.approx(4.302653 / 3**0.5, rel=1e-6)
    assert middle[0] - low[0] == pytest.approx(high[0] - middle[0])


def fat_tree(k: int) -> network.Network:
    half = k // 2
    hosts, edges = k * half * half, k * half
    nodes = [network.Node(f"h{at}", "host", True) for at in range(hosts)]
    nodes += [network.Node(f"edge{at}", "edge", False) for at in range(edges)]
    nodes += [network.Node(f"agg{at}", "agg", False) for at in range(edges)]
    nodes += [network.Node(f"core{at}", "core", False) for at in range(half * half)]
    links = [network.Link(at, hosts + at // half, 1e9, 1) for at in range(hosts)]
    for edge in range(edges):
        pod = edge // half
        links += [network.Link(hosts + edge, hosts + edges + pod * half + up, 1e9, 1) for up in range(half)]
        for up in range(half):
            core = hosts + 2 * edges + (edge % half) * half + up
            links.append(network.Link(hosts + edges + edge, core, 4e9, 1))
    return network.Network(tuple(nodes), tuple(links))


def test_a_network_of_1024_hosts_stays_apart_and_in_rows() -> None:
    net = fat_tree(16)
    place = network.place_nodes(net)
    assert sum(node.is_host for node in net.nodes) == 1024
    assert [len(row) for row in place.rows] == [128, 128, 64]
    hosts = np.array([at for at, node in enumerate(net.nodes) if node.is_host])
    spots = set(zip(place.x[hosts].round(6).tolist(), place.y[hosts].round(6).tolist(), strict=True))
    assert len(spots) == 1024 and place.hosts_per_column > 1
    assert place.x.min() >= 0 and place.x.max() <= 1
    names = network.select_node_names(net, place, (hosts.tolist(), network.LETTERS_PER_ROW))
    assert not any(net.nodes[at].is_host for at in names)
    for row in place.rows:
        assert sum(len(net.nodes[at].name) + 1 for at in row if at in names) <= network.LETTERS_PER_ROW + 8


def test_switches_stand_above_their_hosts() -> None:
    net = fat_tree(4)
    place = network.place_nodes(net)
    for link in net.links[:16]:
        near = [at for at in range(16) if net.links[at].b == link.b]
        assert place.x[link.b] == pytest.approx(np.mean([place.x[at] for at in near]))


def test_the_network_comes_from_the_facts_or_from_ports(scenario: Path) -> None:
    results = run(scenario)
    ports = network.find_network(results, "drop")
    assert (
        ports is not None and len(ports.links) == len(results.runs_of("drop")[0].column("ports", "node")) // 2
    )
    told = {
        "nodes": [
            {"name": "h0", "tier": "host", "host": True},
            {"name": "s0", "tier": "leaf", "host": False},
        ],
        "links": [{"a": 0, "a_port": 0, "b": 1, "b_port": 0, "rate_bps": 10**9, "delay_ps": 5, "weight": 1}],
    }
    results.facts |= {"networks": [told], "network_of": {"drop": 0}}
    found = network.find_network(results, "drop")
    assert found is not None and found.links == (network.Link(0, 1, 1e9, 5),)
    told_link = network.link_hover_text(found, network.Link(0, 1, 1e9, 5_000_000))
    assert told_link == "h0 - s0<br>1 Gbit/s, 5 us"


def test_an_axis_follows_the_spacing_of_its_values() -> None:
    assert sweeping.category_positions(chart_samples.SIZES)[1].scale == "log"
    assert sweeping.category_positions(chart_samples.THETA)[1].scale == "linear"
    at, axis = sweeping.category_positions(chart_samples.Axis("transport.kind", ["reno", "sack"]))
    assert at.tolist() == [0, 1] and axis.ticks == ((0.0, "reno"), (1.0, "sack"))


def test_a_sweep_over_one_axis_has_a_panel_a_metric() -> None:
    made = sweeping.build_sweep_charts(chart_samples.sample_sweep([chart_samples.SIZES]))
    fct = made["sweep-fct"]
    assert [panel.title for panel in fct.panels] == ["FCT mean", "FCT p99"]
    lines = [mark for mark in fct.panels[0].marks if isinstance(mark, Line)]
    assert lines[0].x.tolist() == [10, 20, 40, 80] and lines[0].y.tolist() == pytest.approx(
        [1e-3, 2e-3, 3e-3, 4e-3]
    )
    hollow = [mark for mark in fct.panels[1].marks if isinstance(mark, Points) and mark.hollow]
    assert [one.x.tolist() for one in hollow] == [[10], [10]] and "lower bounds" in fct.caption


def test_a_sweep_over_two_axes_has_small_panels_or_maps() -> None:
    small = sweeping.build_sweep_charts(
        chart_samples.sample_sweep([chart_samples.SIZES, chart_samples.THETA])
    )["sweep-fct_mean"]
    assert [panel.title for panel in small.panels] == [
        f"switch.overflow.theta = {text}" for text in chart_samples.THETA.texts
    ]
    many = chart_samples.Axis("k", [f"{at}pkt" for at in range(9)])
    heat = sweeping.build_sweep_charts(chart_samples.sample_sweep([chart_samples.SIZES, many]))[
        "sweep-fct_mean"
    ]
    mark = heat.panels[0].marks[0]
    assert isinstance(mark, HeatMap) and mark.values.shape == (9, 4)
    assert mark.values[8].tolist() == pytest.approx([1e-3, 2e-3, 3e-3, 4e-3])  # the first value is lowest


def test_one_seed_has_no_bands(scenario: Path) -> None:
    made = sweeping.build_sweep_charts(chart_samples.sample_sweep([chart_samples.SIZES], seeds=1))
    assert not any(isinstance(mark, Band) for panel in made["sweep-fct"].panels for mark in panel.marks)
    found = charts.build_charts(run(scenario))
    assert "One seed" in found["queue-cdf"].caption


def test_the_card_says_what_variants_share_once(scenario: Path) -> None:
    results = run(scenario)
    base: dict[str, Any] = {
        "topology": {"kind": "dumbbell", "n": 4},
        "traffic": [{"name": "burst", "kind": "incast", "senders": 3, "class": 0}],
        "transport": {"kind": "dctcp", "g": 0.5},
        "switches": [
            {"nodes": ["s0"], "buffer": {"kind": "per_port", "size": "9pkt"}, "marking": {"kind": "none"}}
        ],
    }
    other = {**base, "transport": {"kind": "dctcp", "g": 0.25}}
    results.facts["resolved"] = {"drop": base, "detour": other, "bounce": base}
    rows = {row.label: row for row in settings_card.setting_rows(results)}
    assert (
        rows["network"].common_text == "dumbbell, n 4"
        and rows["traffic burst"].common_text == "incast, senders 3"
    )
    assert rows["buffer"].common_text == "per_port, size 9pkt" and "marking" not in rows
    assert rows["transport: g"].texts == {"drop": "0.5", "detour": "0.25", "bounce": "0.5"}


def test_the_card_tells_what_a_load_is_of_only_where_one_is_asked_for() -> None:
    of = {"of": "host", "bytes": "payload"}
    workload = {"name": "w", "kind": "incast", "senders": 3}
    told = [
        dict(settings_card.variant_settings({"traffic": [workload | {"load": one}]}))
        for one in (of, of | {"fraction": 0.5})
    ]
    assert told[0] == {"traffic w": "incast, senders 3"}
    assert told[1] == {"traffic w": "incast, senders 3, load (of host, bytes payload, fraction 0.5)"}


def test_the_card_lists_classes_in_the_order_of_dscps() -> None:
    settings = dict(settings_card.variant_settings({"dscp_to_class": {"46": 3, "8": 1}}))
    assert settings == {"class by DSCP": "8: 1, 46: 3"}


def test_nothing_is_drawn_of_nothing(scenario: Path) -> None:
    assert charts.build_charts(Results(run(scenario).facts, [])) == {}
