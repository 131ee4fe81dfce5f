"""Tests of figures of the stages of a switch: the choice of buffers, and the load of links."""

from pathlib import Path

import chart_samples
import numpy as np
import pyarrow as pa
import pytest
from test_charts_shown import run

from overspill.charts import fabric_stages
from overspill.charts.chart_spec import Chart, Line
from overspill.results import measures
from overspill.results.results import Results

SWITCH = 96  # first switch of the fake core
# Buffers of two stages, with a port each and a link in each direction, and their bytes in the window.
BUFFERS = {
    "node": [SWITCH] * 6,
    "buffer": [0, 1, 2, 3, 4, 5],
    "stage": [0, 1, 0, 1, 1, 0],
    "place": [0, 0, 1, 2, 1, 2],
    "number": [0, 1, 0, 0, 1, 1],
    "size": [32_000] * 6,
    "rate_bps": [2e10, 2e10, 2e10, 2.5e9, 2e10, 2.5e9],
    "max_bytes": [9000, 0, 6000, 1500, 0, 0],
    "byte_ps": [4e13, 0.0, 3e13, 1e12, 0.0, 0.0],
    "busy_ps": [2_000_000, 0, 1_000_000, 8_000_000, 0, 0],
    "bytes": [50_000, 0, 25_000, 25_000, 0, 0],
}
Row = tuple[int, int, int, float, int]  # bin, buffer, largest, mean, busy time


def with_stages(results: Results, *rows: Row) -> Results:
    """Returns the results with these buffers, and rows of them over time, in every run."""
    bins, buffer, largest, mean, busy = zip(*rows, strict=True)
    trace = {"bin": bins, "node": [SWITCH] * len(rows), "buffer": buffer}
    trace |= {"max_bytes": largest, "mean_bytes": mean, "busy_ps": busy}
    tables = {"fabric_trace": trace, "fabric_buffers": BUFFERS}
    for name, columns in tables.items():
        table = pa.table({one: np.array(values) for one, values in columns.items()})
        results = chart_samples.with_table(results, name, dict.fromkeys(results.variants, table))
    return results


def lines(chart: Chart | None) -> dict[str, Line]:
    """Returns the lines of the first panel by their entries."""
    assert chart is not None
    return {mark.entry: mark for mark in chart.panels[0].marks if isinstance(mark, Line)}


ROWS = (
    (0, 0, 9000, 8000.0, 1500),
    (0, 2, 6000, 5000.0, 0),
    (0, 3, 1500, 700.0, 3000),
    (1, 2, 6000, 6000.0, 0),
)


def test_buffers_are_called_by_their_stage_and_what_comes_to_them(scenario: Path) -> None:
    results = with_stages(run(scenario), *ROWS)
    chart = fabric_stages.chart_fabric_buffers(results)
    assert chart is not None and results.runs[0].node_name(SWITCH) in chart.title
    labels = {entry.key: entry.label for entry in chart.legend}
    assert list(labels) == ["0", "2", "3"], "those that ever held any, in their order"
    assert labels["0"].startswith("input of stage 0 from ") and "port" not in labels["0"]
    assert labels["2"] == "before link 0 (stage 0 to 1)" and labels["3"] == "input of stage 1 from link 0"
    found = lines(chart)
    assert found["2"].y[:2].tolist() == [5000, 6000] and found["0"].y[:2].tolist() == [8000, 0]
    assert "all that ever held any" in chart.caption
    assert len({entry.look for entry in chart.legend}) == 3


def test_of_many_buffers_those_that_hold_most_are_shown(
    scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fabric_stages, "MAX_BUFFERS_SHOWN", 2)
    chart = fabric_stages.chart_fabric_buffers(with_stages(run(scenario), *ROWS))
    assert chart is not None and [entry.key for entry in chart.legend] == ["0", "2"]
    assert "the 2 that hold most of 3" in chart.caption


def test_links_are_used_for_as_long_as_frames_cross_them(scenario: Path) -> None:
    results = with_stages(run(scenario), *ROWS)
    chart = fabric_stages.chart_internal_links(results)
    assert chart is not None and [entry.label for entry in chart.legend] == ["link 0 (stage 0 to 1)"]
    bin_ps = int(results.runs[0].summary["bin_ps"])
    assert lines(chart)["3"].y[0] == pytest.approx(3000 / bin_ps)
    assert chart.panels[0].y.range == (0, 1.03) and fabric_stages.list_omission_reason(results) == []


def test_switches_without_stages_have_neither(scenario: Path) -> None:
    results = run(scenario)
    assert (
        fabric_stages.chart_fabric_buffers(results) is None
        and fabric_stages.chart_internal_links(results) is None
    )
    idle = with_stages(results, (0, 0, 9000, 8000.0, 1500))
    assert (
        fabric_stages.chart_fabric_buffers(idle) is not None
        and fabric_stages.chart_internal_links(idle) is None
    ), "nothing goes over a link"


def test_where_buffers_are_not_followed_the_report_says_so(scenario: Path) -> None:
    results = run(scenario)
    assert fabric_stages.list_omission_reason(results) == [], "no switch has stages"
    table = pa.table({one: np.array(values) for one, values in BUFFERS.items()})
    results = chart_samples.with_table(results, "fabric_buffers", dict.fromkeys(results.variants, table))
    assert fabric_stages.list_omission_reason(results) == [
        "Buffers and links inside switches over time: omitted, because measure.inputs is off."
    ]


def test_the_use_of_links_and_the_fill_of_buffers_are_measured(scenario: Path) -> None:
    one = with_stages(run(scenario), *ROWS).runs[0]
    start, end = one.window_ps
    found = {str(key): value.value for key, value in measures.measure_stages(one).items()}
    busiest = 8_000_000 / (end - start)
    assert found == {
        "link_buffer_bytes_max": 6000,
        "link_buffer_bytes_mean": pytest.approx(3e13 / (end - start)),
        "stage_buffer_bytes_max": 9000,
        "stage_buffer_bytes_mean": pytest.approx(4e13 / (end - start)),
        "internal_link_utilisation_max": pytest.approx(busiest),
        "internal_link_utilisation_mean": pytest.approx(busiest / 2),
    }
    assert measures.measure_stages(run(scenario).runs[0]) == {}
