"""Tests that overlapping lines are named in the caption, and in the file of a figure."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import overspill
from overspill import charts
from overspill.charts import covered, mpl
from overspill.charts.spec import Chart, Entry, Line, Look, Panel

FABRIC = Path(__file__).parents[2] / "scenarios" / "fabric.toml"
LOOK = Look("#000000")
AT = np.arange(3.0)


def line(entry: str, *values: float) -> Line:
    return Line(AT, np.array(values), LOOK, entry)


def chart(*panels: list[Line]) -> Chart:
    legend = [Entry(key, f"variant {key}", LOOK) for key in "ab"]
    made = [Panel(f"panel {at}", marks=marks) for at, marks in enumerate(panels, 1)]
    return Chart("c", "Title", "What.", made, legend=legend, told="One seed.")


def test_lines_that_are_equal_to_the_bit_are_named_as_the_legend_has_them() -> None:
    made = covered.with_covered_lines(chart([line("a", 1, 2, 3), line("c", 1, 2, 3.1), line("b", 1, 2, 3)]))
    text = "Coinciding lines: variant a and variant b."
    assert made.caption == f"What. {text}"
    assert text in " ".join(one.text for one in mpl.heading(made)) and made.told.startswith("One seed. ")


def test_panels_are_named_where_it_is_not_in_all() -> None:
    same, other = [line("a", 1, 2, 3), line("b", 1, 2, 3)], [line("a", 1, 2, 3), line("b", 1, 1, 3)]
    assert covered.with_covered_lines(chart(same, other)).caption.endswith(
        ": variant a and variant b (panel 1)."
    )
    assert covered.with_covered_lines(chart(same, same)).caption.endswith(": variant a and variant b.")
    pairs = [line(key, at // 2 + 1, 2, 3) for at, key in enumerate("abcdefghij")]
    assert covered.with_covered_lines(chart(pairs)).caption.endswith(
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
    assert covered.with_covered_lines(plain) is plain


@pytest.mark.usefixtures("compiled")
def test_figures_of_results_say_it_where_variants_share_a_panel() -> None:
    results = overspill.run(FABRIC, sets=["duration=14ms"], variants=["pfc", "occupancy"])
    assert results.groups == [("pfc",), ("occupancy",)], "sources are told, and nothing came of it yet"
    made = charts.of_results(results)
    assert "Coinciding lines: pfc and occupancy." in made["queue-cdf"].caption
    assert "Coinciding lines" not in made["sent"].caption
