"""Tests of figures and tables of pauses: both renderers draw the values of the tables."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
import test_pausing as made
from matplotlib.backends.backend_agg import FigureCanvasAgg

import overspill
from overspill import Key, charts, report
from overspill.charts import mpl, pauses, plotly_figure, saturation
from overspill.charts.chart_spec import Bars, Chart, Graph, HeatMap, Line, Span
from overspill.engine import core
from overspill.results import cautions, deadlocks, header, pausable_classes
from overspill.results import warnings as show
from overspill.results.results import Results

pytestmark = pytest.mark.usefixtures("compiled")

FLOWS = ["start,source,destination,bytes", *(f"0ms,h{i},h{(i + 2) % 5},500KB" for i in range(5))]

BETWEEN = '{ a = "r", b = "s", rate = "1Gbps", delay = "1us" },'


@pytest.fixture
def slow(tmp_path: Path) -> Results:
    """Returns a run with one NIC paused from 51.888 to 384.096 us, and again after 400 us.

    The window ends at 400 us.
    """
    return made.run_scenario(tmp_path)


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    """Returns the same scenario with a switch `r` before `s`, so that s pauses r, and r pauses the NIC."""
    path = tmp_path / "chain.toml"
    text = made.SLOW.replace('{ name = "s"', '{ name = "r", kind = "switch" }, { name = "s"')
    text = text.replace('a = "a", b = "s"', 'a = "a", b = "r"').replace("link = [", f"link = [{BETWEEN}")
    path.write_text(text.replace('"100KB"', '"200KB"').replace('"80us"', '"200us"'))
    return path


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    """Returns a scenario with five switches that pause each other forever."""
    (tmp_path / "flows.csv").write_text("\n".join(FLOWS))
    path = tmp_path / "ring.toml"
    path.write_text(made.ring())
    return path


def assert_drawn(chart: Chart) -> None:
    """Draws a chart with both renderers."""
    FigureCanvasAgg(mpl.draw_figure(chart)).draw()
    figure = plotly_figure.build_plotly_figure(chart)
    go.Figure(json.loads(plotly_figure.dump_json(figure)) and figure)


def marks(chart: Chart, kind: type) -> list[Any]:
    return [mark for panel in chart.panels for mark in panel.marks if isinstance(mark, kind)]


def test_a_map_has_the_time_paused_to_the_picosecond(slow: Results) -> None:
    chart = charts.build_charts(slow)["pauses"]
    assert_drawn(chart)
    (heat,) = marks(chart, HeatMap)
    assert heat.rows == ["a > s"]
    run = slow.runs_of("pfc")[0]
    _, times = run.columns("pause_trace", "from_ps", "to_ps")
    start = run.column("pause_trace", "from_ps")
    width = np.diff(heat.edges)
    assert np.nansum(heat.values[0] * width) == pytest.approx(float((times - start).sum()) * 1e-12)
    assert np.nanmax(heat.values) == 1.0
    # The heat map is empty before the pause and filled during it.
    middle = (heat.edges[:-1] + heat.edges[1:]) / 2
    assert (
        np.isnan(heat.values[0][middle < 45e-6]).all()
        and (heat.values[0][(middle > 60e-6) & (middle < 370e-6)] == 1).all()
    )
    (span,) = marks(chart, Span)
    assert span.start == pytest.approx(400e-6) and span.end >= float(times.max()) * 1e-12
    assert [panel.title for panel in chart.panels] == ["pfc: 1 pause in the window (seed 1)"]


def test_bars_are_the_share_of_the_window_by_tier(slow: Results) -> None:
    chart = charts.build_charts(slow)["pauses-tiers"]
    assert_drawn(chart)
    (bars,) = marks(chart, Bars)
    assert chart.panels[0].x.ticks is not None
    found = dict(zip((text for _, text in chart.panels[0].x.ticks), bars.height.tolist(), strict=True))
    # One of two hosts was paused.
    assert found == {"host": pytest.approx((384.096 - 51.888) / 400 / 2)}
    # The switch, of another tier, was never paused: it has no empty bar, but caption and file report it.
    assert (
        "Never paused in the window: ports of switch." in chart.caption and "Never paused" in chart.file_note
    )


OTHER_CLASS = """
[[traffic]]
name = "u"
kind = "constant"
source = "a"
destination = "b"
rate = "1Mbps"
stop = "1us"
class = 0
"""


@pytest.mark.parametrize(
    ("pause", "classes"),
    [
        ('kind = "pfc", classes = [3]', None),
        ('kind = "pfc", classes = [0, 3]', "class 0"),
        ('kind = "pfc"', "class 0"),
        ('kind = "pause"', None),
    ],
)
def test_the_bars_name_no_lossy_class_as_never_paused(
    pause: str, classes: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "slow.toml"
    text = made.SLOW.replace('stop = "80us"', 'stop = "80us"\nclass = 3').replace('kind = "pfc"', pause)
    path.write_text(text + OTHER_CLASS)
    caption = charts.build_charts(overspill.run(path))["pauses-tiers"].caption
    others = "ports of switch" if classes is None else f"ports of switch; {classes}"
    assert caption.endswith(f" Never paused in the window: {others}.")


POOLS: dict[str, Any] = {
    "kind": "pools",
    "class_to_group": [0, 1, 1, 3, 4, 5, 6, 7],
    "profiles": {"safe": {"lossless": True}, "lossy": {"lossless": False}},
    "groups": [
        {"group": [1, 3, 4], "profile": "safe"},
        {"group": [3], "profile": "lossy", "ports": [0]},
        {"group": [4], "profile": "lossy"},
        {"group": [0, 2], "profile": "lossy"},
    ],
}


@pytest.mark.parametrize(
    ("switch", "classes"),
    [
        ({"pause": {"kind": "none"}, "buffer": {"kind": "per_port"}}, set()),
        ({"pause": {"kind": "pause"}, "buffer": {"kind": "per_port"}}, set(range(8))),
        ({"pause": {"kind": "pfc"}, "buffer": {"kind": "shared"}}, set(range(8))),
        ({"pause": {"kind": "pfc", "classes": [3, 5]}, "buffer": {"kind": "shared"}}, {3, 5}),
        # The group of class 3 is lossless at other ports than port 0; that of class 4 at none.
        ({"pause": {"kind": "pfc"}, "buffer": POOLS}, {1, 2, 3}),
        ({"pause": {"kind": "none"}, "buffer": POOLS}, set()),
        (
            {
                "ports": {
                    "host": {"pause": {"kind": "none"}},
                    "switch": {"pause": {"kind": "pfc", "classes": [6]}},
                },
                "buffer": {"kind": "per_port"},
            },
            {6},
        ),
    ],
)
def test_pause_settings_give_the_pausable_classes(switch: dict[str, Any], classes: set[int]) -> None:
    other = {"pause": {"kind": "pfc", "classes": [7]}, "buffer": {"kind": "per_port"}}
    assert pausable_classes.find_pausable_classes({"switches": [switch]}) == classes
    assert pausable_classes.find_pausable_classes({"switches": [switch, other]}) == classes | {7}


def test_a_chip_may_pause_its_lossless_classes_only() -> None:
    path = Path(__file__).parents[2] / "scenarios/switch_memory.toml"
    resolved = core.load_document(str(path), path.read_text(encoding="utf-8"), [])["resolved"]
    found = {name: pausable_classes.find_pausable_classes(one) for name, one in resolved.items()}
    assert found == {"alpha_1": {3, 4}, "alpha_eighth": {3, 4}, "lossy": set()}


def test_the_tree_is_drawn_and_told_from_its_root_on(chain: Path, tmp_path: Path) -> None:
    results = overspill.run(chain)
    chart = charts.build_charts(results)["saturation"]
    assert_drawn(chart)
    (graph,) = marks(chart, Graph)
    assert [(arc.entry, arc.hover) for arc in graph.arcs] == [
        ("tree", "s pauses r"),
        ("tree", "r pauses a"),
    ]
    entries = {entry.key: (entry.symbol, entry.look.colour) for entry in chart.legend}
    assert list(entries) == ["root", "paused", "tree"], "what is not drawn is not in the legend"
    assert entries["root"] == ("square", saturation.ROOT_COLOUR)
    assert {(nodes.entry, nodes.plain_colour) for nodes in graph.nodes if nodes.entry} == {
        (key, entries[key][1]) for key in ("root", "paused")
    }
    handles: list[Any] = list(mpl.draw_figure(chart).legends[0].legend_handles)
    assert [one.get_marker() for one in handles] == ["s", "s", "None"]
    assert handles[0].get_markerfacecolor() == saturation.ROOT_COLOUR
    colours = {name: nodes.plain_colour for nodes in graph.nodes for name in nodes.hover}
    assert [colours[name] for name in "sra"] == [
        saturation.ROOT_COLOUR,
        saturation.PAUSED_COLOUR,
        saturation.PAUSED_COLOUR,
    ]
    assert colours["b"] not in (saturation.ROOT_COLOUR, saturation.PAUSED_COLOUR)
    first, second = saturation.tree_rows(results)
    assert (first["root"], first["from"], first["to"]) == ("s", "65.192 us", "397.4 us")
    assert [first[name] for name in ("depth", "ports", "switches", "hosts")] == ["2", "2", "1", "1"]
    assert (second["root"], second["from"], second["ports"]) == ("r", "397.4 us", "1"), "beside a larger one"
    assert charts.list_omitted_figures(results) == []
    results.save(tmp_path / "out")
    page = report.write(results, tmp_path / "out").read_text(encoding="utf-8")
    assert f'<rect x="1" y="1" width="10" height="10" fill="{saturation.ROOT_COLOUR}"' in page
    assert 'id="trees"' in page and "<td>65.192 us</td><td>397.4 us</td>" in page
    assert saturation.OVERLAP_NOTE in page


def test_trees_of_a_single_switch_or_port_are_left_out(slow: Results, chain: Path) -> None:
    ((tree,),) = saturation.rank_trees(slow).values()
    assert tree.tree.largest_size.ports == 1, "the other tree begins after the window"
    one_port = overspill.run(chain, sets=["traffic.t.stop='80us'"])
    for results, why in (
        (slow, "the network has one switch"),
        (one_port, "no tree has more than one port"),
    ):
        assert saturation.rank_trees(results)
        assert "saturation" not in charts.build_charts(results) and saturation.tree_rows(results) == []
        assert charts.list_omitted_figures(results) == [f"Saturation trees: omitted, because {why}."]
        page = report.run.render_run_page(results, [])
        assert why in page and "#trees" not in page


def test_a_run_without_pauses_has_no_figures_of_them(tmp_path: Path) -> None:
    path = tmp_path / "calm.toml"
    path.write_text(made.SLOW.partition("[variants.pfc]")[0])
    results = overspill.run(path)
    assert not {"pauses", "pauses-tiers", "saturation", "deadlock"} & set(charts.build_charts(results))
    assert saturation.tree_rows(results) == []


def test_a_deadlock_is_drawn_as_its_ring(ring: Path) -> None:
    results = overspill.run(ring)
    chart = charts.build_charts(results)["deadlock"]
    assert_drawn(chart)
    (graph,) = marks(chart, Graph)
    stuck = {arc.hover for arc in graph.arcs if arc.entry == "cycle"}
    assert stuck == {f"s{(i + 1) % 5} pauses s{i}" for i in range(5)}
    colours = {name: nodes.plain_colour for nodes in graph.nodes for name in nodes.hover}
    assert {name for name, colour in colours.items() if colour == saturation.ROOT_COLOUR} == {
        f"s{i}" for i in range(5)
    }
    last = saturation.rank_trees(results)[results.variants[0]][0]
    assert [results.runs[0].node_name(at) for at in last.tree.roots] == [f"s{i}" for i in range(5)]
    assert last.tree.end == results.runs[0].end_ps, "a deadlock's tree lasts to the end"
    assert saturation.format_root(last) == "cycle of s0, s1, s2, s3, s4 (a deadlock)"
    assert list(deadlocks.no_deadlock_lines(results)) == []


def test_cycle_that_dissolves_is_no_deadlock_and_not_red(ring: Path) -> None:
    results = overspill.run(ring)
    last = saturation.rank_trees(results)[results.variants[0]][0]
    network = saturation.drawable_network(results, results.variants[0])
    assert network is not None and saturation.ROOT_COLOUR in {
        one.plain_colour for one in saturation.draw_tree(network, last).nodes
    }
    last.run.summary["deadlock"] = None
    assert saturation.format_root(last).endswith("(no deadlock)")
    assert saturation.ROOT_COLOUR not in {
        one.plain_colour for one in saturation.draw_tree(network, last).nodes
    }


def test_goodput_of_a_deadlocked_run_goes_to_the_end(ring: Path) -> None:
    results = overspill.run(ring)
    (run,) = results.runs
    chart = charts.build_charts(results)["goodput"]
    (line,) = [mark for mark in marks(chart, Line)]
    end = min(run.end_ps, run.window_ps[1]) * 1e-12
    stopped = np.flatnonzero(line.y > 0).max() + 1
    assert line.x[stopped] < end / 2 and line.x[-1] >= end and (line.y[stopped:] == 0).all()


def test_pauses_without_a_deadlock_are_said_to_have_none(slow: Results) -> None:
    (line,) = deadlocks.no_deadlock_lines(slow)
    assert line.text.startswith("pfc: no deadlock found") or line.text.startswith("no deadlock found")


def test_a_sweep_keeps_deadlocks_and_tells_of_them(ring: Path, tmp_path: Path) -> None:
    pause = "switch.pause.xoff"
    out = tmp_path / "out"
    sweep = overspill.sweep(ring, over={pause: ["20KB", "150KB"]}, seeds=2, out=out)
    (found,) = [one for one in sweep.run_status.deadlocks if one["point"] == ["20KB"]]
    assert found["seeds"] == [1, 2] and len(found["cycle"]) == 5 and found["class"] == 0
    loud = [line.text for line in show.warnings(sweep) if line.label == "DEADLOCK"]
    way = " -> ".join([*found["cycle"], found["cycle"][0]])
    assert any("switch.pause.xoff=20KB" in text and "seeds 1, 2" in text and way in text for text in loud)
    assert sweep.document()["deadlocks"] == sweep.run_status.deadlocks and sweep.stuck
    again = overspill.Results.load(out)
    assert again.run_status.deadlocks == sweep.run_status.deadlocks, "the store and the manifest keep them"
    page = report.write_report_of_folder(out).read_text(encoding="utf-8")
    assert "DEADLOCK" in page and found["cycle"][0] in page


WATCHDOG = (
    'watchdog = "drop", detection_time = "300us", restoration_time = "200us", poll_interval = "100us", xon = '
)


def test_storms_that_a_watchdog_ends_are_counted_and_told(ring: Path) -> None:
    ring.write_text(ring.read_text().replace("xon = ", WATCHDOG))
    results = overspill.run(ring, seeds=2)
    assert not results.stuck, "no port is paused forever"
    table = results.pause_storms
    assert table.num_rows > 0
    dropped = [sum(run.column("pause_storms", "dropped").tolist()) for run in results.runs]
    assert [sum(run.column("ports", "drop_watchdog").tolist()) for run in results.runs] == dropped
    (text,) = [line.text for line in cautions.caution_lines(results) if line.label == "PAUSE STORMS"]
    counts = [run.pause_storms["count"] for run in results.runs if run.pause_storms]
    storms = f"{cautions.span(counts)} pause storms and dropped {cautions.span(dropped)} packets"
    assert f"in the whole run, a PFC watchdog detected {storms}" in text
    first = min(table["from_ps"].to_pylist()) / 1e9
    assert text.endswith(f"at {first:g} ms"), text
    assert Key("pause_storms") in results.values[results.variants[0]][1]


def test_unfinished_flows_behind_an_endless_storm_get_no_advice_on_the_drain(ring: Path) -> None:
    storm = '[[event]]\nkind = "pause_storm"\nat = "0ms"\nhost = "h0"\n'
    text = ring.read_text().replace('drain = "10ms"', 'drain = "1ms"')
    ring.write_text(text + storm)
    (line,) = [one for one in header.header_lines(overspill.run(ring)) if one.label == "UNFINISHED FLOWS"]
    assert line.text.endswith("No drain ends the h0 pause storm: set its `until`, or use a `watchdog`"), (
        line.text
    )
    ring.write_text(text.replace('duration = "5ms"', 'duration = "1us"'))
    (line,) = [one for one in header.header_lines(overspill.run(ring)) if one.label == "UNFINISHED FLOWS"]
    assert "measure.drain" in line.text and "storm" not in line.text


def test_without_a_watchdog_storms_have_no_metric(slow: Results) -> None:
    assert slow.pause_storms.num_rows == 0
    assert all(Key("pause_storms") not in values for one in slow.values.values() for values in one.values())
    assert not [line for line in cautions.caution_lines(slow) if line.label == "PAUSE STORMS"]


def test_trees_of_a_pause_of_all_classes_are_one_row(chain: Path) -> None:
    text = chain.read_text().replace('kind = "pfc"', 'kind = "pause"')
    quiet = text.partition("[[traffic]]")[2].partition("[variants")[0].replace('"t"', '"u"')
    quiet = quiet.replace('"200us"', '"20us"\nclass = 1')
    chain.write_text(text.replace("[variants.pfc]", f"[[traffic]]{quiet}[variants.pfc]", 1))
    results = overspill.run(chain, sets=["traffic.u.rate='10Mbps'"])
    found = saturation.rank_trees(results)["pfc"]
    assert [one.tree.kind for one in found if one.tree.largest_size.ports > 1] == [0, 1]
    assert [told["class"] for told in saturation.tree_rows(results)] == ["0, 1"] * (len(found) // 2)


def test_the_title_says_how_many_ports_there_are_beside_those_shown(
    slow: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = pauses.chart_paused_share(slow)
    assert whole is not None and whole.title == "Paused ports over time"
    longest = pauses.rank_longest_paused
    monkeypatch.setattr(pauses, "MAX_ROWS_SHOWN", 1)
    monkeypatch.setattr(pauses, "rank_longest_paused", lambda found: longest(found) * 3)
    part = pauses.chart_paused_share(slow)
    assert part is not None and part.title.endswith(": the 1 of 3 that were paused longest")
