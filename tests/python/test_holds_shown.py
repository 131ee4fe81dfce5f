"""Tests of figures of held ACKs: both renderers draw the contents of the tables."""

import json
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import overspill
from overspill import charts, plots, report
from overspill.charts import mpl, plotly_figure
from overspill.charts.chart_spec import Band, Line, Span
from overspill.results.results import Results

pytestmark = pytest.mark.usefixtures("compiled")

SCENARIO = """
name = "holding"
duration = "10ms"
[topology]
kind = "star"
n = 9
link = { rate = "1Gbps", delay = "1us" }
[switch]
buffer = { kind = "per_port", size = "120KB" }
[transport]
kind = "dctcp"
min_rto = "1ms"
[measure]
bin = "10us"
drain = "1s"
[[traffic]]
name = "burst"
kind = "incast"
senders = 8
receiver = "h0"
size = "64KB"
start = "1ms"
[variants.plain]
[variants.abq]
switch.ack_hold = { kind = "abq" }
"""


@pytest.fixture
def results(tmp_path: Path) -> Results:
    path = tmp_path / "holding.toml"
    path.write_text(SCENARIO)
    return overspill.run(path, out=tmp_path / "out")


def test_what_is_held_is_drawn_beside_the_queue_and_the_state_below(results: Results) -> None:
    chart = charts.build_charts(results)["holds"]
    FigureCanvasAgg(mpl.draw_figure(chart)).draw()
    figure = plotly_figure.build_plotly_figure(chart)
    go.Figure(json.loads(plotly_figure.dump_json(figure)) and figure)
    upper, lower = chart.panels
    assert upper.title == "abq (s0 port 0 to h0, seed 1)"
    queue, held = (mark for mark in upper.marks if isinstance(mark, Line))
    run = results.runs_of("abq")[0]
    assert np.max(held.y) == run.column("holds", "max_packets").max() > 5
    assert np.max(queue.y) * 1518 > 30_000, "it is the queue that is too long"
    congested, light = (mark for mark in lower.marks if isinstance(mark, Band))
    spent = [run.column("holds", name).max() for name in ("congested_ps", "light_ps")]
    width = np.diff(congested.x)
    shares = [np.sum((one.high - one.low)[:-1] * width) for one in (congested, light)]
    assert shares == pytest.approx([one * 1e-12 for one in spent], rel=1e-6)
    # States have no line, unlike bands, which are paler.
    fills = [trace["fillcolor"] for trace in figure["data"] if "fillcolor" in trace]
    assert len(fills) == 2 and all(one.endswith(",0.8)") for one in fills)
    assert plots.held_acks(results) is not None


def test_what_is_not_measured_is_grey_behind_states_as_well(tmp_path: Path) -> None:
    path = tmp_path / "short.toml"
    path.write_text(SCENARIO)
    chart = charts.build_charts(overspill.run(path, sets={"duration": "3ms"}))["holds"]
    spans = [[mark for mark in panel.marks if isinstance(mark, Span)] for panel in chart.panels]
    assert [len(one) for one in spans] == [1, 1] and spans[0] == spans[1]


def test_the_report_has_it_and_memory_is_told_to_be_unequal(results: Results, tmp_path: Path) -> None:
    page = report.write(results, tmp_path / "out").read_text(encoding="utf-8")
    assert "Held ACKs over time" in page and "for held ACKs at 9 ports" in page
    assert "UNEQUAL MEMORY" in page


def test_where_nothing_is_held_there_is_no_figure(tmp_path: Path) -> None:
    path = tmp_path / "plain.toml"
    path.write_text(SCENARIO)
    plain = overspill.run(path, sets={"variants.abq.switch.ack_hold.k": "120KB"})
    assert "holds" not in charts.build_charts(plain)
    assert plots.held_acks(plain) is None
