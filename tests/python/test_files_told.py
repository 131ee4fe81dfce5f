"""Tests of the text inside a figure's file, which has no caption, and of titles that do not fit."""

import re
from dataclasses import replace
from pathlib import Path

import chart_samples
import pytest

from overspill import charts, run
from overspill.charts import axes as words
from overspill.charts import chart_spec, common, mpl


def text_in_file(chart: chart_spec.Chart) -> str:
    """Returns the text of a chart's file below its title."""
    return " ".join(line.text for line in mpl.heading_lines(chart))


def test_a_file_says_what_error_bars_and_grey_are_and_how_seeds_are_put_together(scenario: Path) -> None:
    made = charts.build_charts(chart_samples.with_all_tables(run(scenario, seeds=3)))
    for name, chart in made.items():
        told, marks = text_in_file(chart), [mark for panel in chart.panels for mark in panel.marks]
        errors = any(isinstance(mark, chart_spec.Bars) and mark.low is not None for mark in marks)
        assert (mpl.ERROR_BARS_NOTE in told) == errors, name
        assert (common.GREY_NOTE in told) == any(isinstance(mark, chart_spec.Span) for mark in marks), name
    assert "Lines: samples of 3 seeds pooled." in text_in_file(made["fct"])
    assert "Bars: means over 3 seeds." in text_in_file(made["bounces-switches"])
    assert mpl.ERROR_BARS_NOTE in text_in_file(made["bounces-switches"])
    assert "Means over 3 seeds." in text_in_file(made["network"])
    two = charts.build_charts(chart_samples.with_all_tables(run(scenario, seeds=2)))
    assert "Lines are means over 2 seeds." in text_in_file(two["queue-cdf"])
    one = charts.build_charts(chart_samples.with_all_tables(run(scenario)))
    assert "One seed." in text_in_file(one["fct"]) and "pooled" not in text_in_file(one["fct"])
    grey = chart_spec.Chart("c", "t", "", [chart_spec.Panel(marks=[chart_spec.Span(0, 1, common.GREY_NOTE)])])
    assert common.GREY_NOTE in text_in_file(grey) and common.GREY_NOTE not in text_in_file(
        replace(grey, panels=[chart_spec.Panel()])
    )


def test_a_file_with_some_of_the_variants_says_how_many(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text('name = "x"\n' + "".join(f"[variants.v{at}]\nz = {at}\n" for at in range(12)))
    made = charts.build_charts(chart_samples.with_all_tables(run(path)))
    for name in ("network", "goodput"):
        assert len(made[name].panels) == 6
        assert "6 of 12 variants" in text_in_file(made[name]), name
    assert "of 12 variants" not in text_in_file(made["queue"])


@pytest.mark.parametrize(
    ("letters", "lines", "found"),
    [
        (60, 1, ["bounce (seed 1, buffer 100pkt a port, bounce queue 50pkt)"]),
        (50, 1, ["bounce (seed 1, buffer 100pkt a port, bounce …"]),
        (56, 1, ["bounce (seed 1, buffer 100pkt a port, bounce queue …"]),
        (30, 2, ["bounce (seed 1, buffer", "100pkt a port, bounce queue …"]),
        (40, 2, ["bounce (seed 1, buffer 100pkt a port,", "bounce queue 50pkt)"]),
    ],
)
def test_a_title_is_shortened_at_a_word(letters: int, lines: int, found: list[str]) -> None:
    title = "bounce (seed 1, buffer 100pkt a port, bounce queue 50pkt)"
    assert words.wrap_and_shorten(title, letters, lines) == found


def test_a_title_is_never_cut_in_a_number() -> None:
    title = "drop: 12,345,678 drops in the window, 1.5 MB"
    for letters in range(8, 50):
        for lines in (1, 2):
            told = words.wrap_and_shorten(title, letters, lines)
            numbers = re.findall(r"\d[\d., ]*(?:drops|MB)?", " ".join(told))
            assert set(numbers) <= {"12,345,678 drops", "1.5 MB"}, (letters, told)
            assert len(told) <= lines
