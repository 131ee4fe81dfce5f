"""Tests that overlapping lines are named in the caption, and in the file of a figure."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import overspill
from overspill import charts
from overspill.charts import coinciding_lines, mpl
from overspill.charts.chart_spec import Chart, LegendEntry, Line, LineStyle, Panel

FABRIC = Path(__file__).parents[2] / "scenarios" / "fabric.toml"
LOOK = LineStyle("#000000")
AT = np.arange(3.0)


def line(entry: str, *values: float) -> Line:
    return Line(AT, np.array(values), LOOK, entry)


def chart(*panels: list[Line]) -> Chart:
    legend = [LegendEntry(key, f"variant {key}", LOOK) for key in "ab"]
    made = [Panel(f"panel {at}", marks=marks) for at, marks in enumerate(panels, 1)]
    return Chart("c", "Title", "What.", made, legend=legend, file_note="One seed.")


def test_lines_that_are_equal_to_the_bit_are_named_as_the_legend_has_them() -> None:
    made = coinciding_lines.with_coinciding_lines_noted(
        chart([line("a", 1, 2, 3), line("c", 1, 2, 3.1), line("b", 1, 2, 3)])
    )
    text = "Lines that coincide: variant a and variant b."
    assert made.caption == f"What. {text}"
    assert text in " ".join(one.text for one in mpl.heading_lines(made)) and made.file_note.startswith(
        "One seed. "
    )


def test_panels_are_named_where_it_is_not_in_all() -> None:
    same, other = [line("a", 1, 2, 3), line("b", 1, 2, 3)], [line("a", 1, 2, 3), line("b", 1, 1, 3)]
    assert coinciding_lines.with_coinciding_lines_noted(chart(same, other)).caption.endswith(
        ": variant a and variant b (panel 1)."
    )
    assert coinciding_lines.with_coinciding_lines_noted(chart(same, same)).caption.endswith(
        ": variant a and variant b."
    )
    pairs = [line(key, at // 2 + 1, 2, 3) for at, key in enumerate("abcdefghij")]
    assert coinciding_lines.with_coinciding_lines_noted(chart(pairs)).caption.endswith(
        "variant a and variant b; c and d; e and f; g and h; and 1 more."
    )


def test_nothing_is_said_of_lines_that_differ_or_have_no_name_or_are_nothing() -> None:
    plain = chart(
        [line("a", 1, 2, 3), line("a", 1, 2, 3)],
        [line("", 1, 2, 3), line("a", 1, 2, 3)],
        [line("a", 0, 0, np.nan), line("b", 0, 0, np.nan)],
        [line("a", 1, 2, 3), replace(line("b", 1, 2, 3), step="post")],
        [line("a", 1, 2, 3), replace(line("b", 1, 2, 3), x=AT + 1)],
    )
    assert coinciding_lines.with_coinciding_lines_noted(plain) is plain


@pytest.mark.usefixtures("compiled")
def test_figures_of_results_say_it_where_variants_share_a_panel() -> None:
    results = overspill.run(FABRIC, sets=["duration=14ms"], variants=["pfc", "occupancy"])
    assert results.groups == [("pfc",), ("occupancy",)], "sources are told, and nothing came of it yet"
    made = charts.build_charts(results)
    assert "Lines that coincide: pfc and occupancy." in made["queue-cdf"].caption
    assert "Lines that coincide" not in made["sent"].caption
