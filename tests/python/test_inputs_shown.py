"""Tests of the figure of an input's memory: the choice of the input, its areas and its light band."""

from pathlib import Path

import chart_samples
import numpy as np
import pyarrow as pa
import pytest
from test_charts_shown import run

from overspill.charts import input_occupancy, mpl
from overspill.charts.chart_spec import Band, Chart
from overspill.results.results import Results

SWITCH = 96  # first switch of the fake core
Row = tuple[int, int, int, int, int, float]  # bin, node, input, output, largest and mean


def with_held_bytes(results: Results, *rows: Row) -> Results:
    """Returns the results with these rows in every run."""
    names = ("bin", "node", "input", "output", "max_bytes", "mean_bytes")
    types = (np.uint32, np.uint32, np.uint16, np.uint16, np.uint64, np.float64)
    columns = zip(names, zip(*rows, strict=True), types, strict=True)
    table = pa.table({name: np.array(values, kind) for name, values, kind in columns})
    return chart_samples.with_table(results, "input_trace", dict.fromkeys(results.variants, table))


def bands(chart: Chart | None) -> dict[str, Band]:
    """Returns the areas of the first panel by their entries."""
    assert chart is not None
    return {mark.entry: mark for mark in chart.panels[0].marks if isinstance(mark, Band)}


def test_an_input_with_frames_for_several_outputs_comes_before_a_fuller_one(scenario: Path) -> None:
    results = run(scenario)
    own, shared = (0, SWITCH, 1, 3, 90_000, 80_000.0), (0, SWITCH, 0, 3, 50_000, 40_000.0)
    chart = input_occupancy.chart_input_memory(
        with_held_bytes(results, own, shared, (0, SWITCH, 0, 2, 1522, 100.0))
    )
    assert chart is not None and f"{results.runs[0].node_name(SWITCH)} port 0" in chart.title
    assert set(bands(chart)) == {"2", "3", "largest"} and "several outputs" in chart.caption
    words = " ".join(text.get_text() for text in mpl.draw_figure(chart).texts)
    assert chart.title in words, "files name it too"
    # If no input has several outputs, the fullest one is shown.
    chart = input_occupancy.chart_input_memory(with_held_bytes(results, own, shared))
    assert chart is not None and " port 1" in chart.title and "several" not in chart.caption


def test_the_largest_of_a_bin_is_above_the_mean_and_within_the_axis(scenario: Path) -> None:
    rows = ((0, SWITCH, 0, 3, 110_000, 60_000.0), (0, SWITCH, 0, 2, 1500, 100.0))
    later = ((1, SWITCH, 0, 3, 70_000, 65_000.0),)
    chart = input_occupancy.chart_input_memory(with_held_bytes(run(scenario), *rows, *later))
    largest = bands(chart)["largest"]
    assert largest.low[:2].tolist() == pytest.approx([60_100, 65_000])
    assert largest.high[:2].tolist() == pytest.approx([111_500, 70_000])
    assert chart is not None and chart.panels[0].y.range == pytest.approx((0, 1.06 * 111_500))
    assert "largest" in {entry.key for entry in chart.legend}
