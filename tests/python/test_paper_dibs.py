"""Tests that every figure of DIBS's sections 5.3 to 5.8 measures exactly its rows, and is drawn."""

import gzip
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from dibs_runs import FakeRuns, all_sweeps, flows
from overspill_papers.dibs.figures import DRAWINGS, completion_times
from overspill_papers.dibs.measures import SECTIONS_5_3_TO_5_8
from small_paper import count_marked_points, measures_exactly

from overspill.papers import paper_files
from overspill.papers.spec import Point

PAPER = Path(__file__).parents[2] / "papers" / "dibs"
ROWS = tomllib.loads((PAPER / "rows.toml").read_text())["row"]
MEASURES = SECTIONS_5_3_TO_5_8
CURVES = ("DCTCP with DIBS", "DCTCP")
IDS = """sec2a sec3 sec4a sec4b sec4c sec5.3 sec5.4a fig7 fig8 fig9 fig10 fig9v10 abs fig11 fig11a sec5.5.2
fig12 sec5.5.3 sec5.5.4 sec5.6 sec5.7 fig13 fig14 fig15a fig15b sec7"""


def test_every_figure_of_these_sections_has_code() -> None:
    assert sorted(MEASURES) == sorted(IDS.split())


def test_the_paper_is_whole_and_its_sweeps_are_those_that_the_tests_make() -> None:
    paper = paper_files.read_paper(PAPER)
    for name in IDS.split():
        assert set(paper.figures[name].sweeps) <= set(all_sweeps())
    assert {row["figure"] for row in ROWS} >= set(IDS.split())


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_a_figure_measures_exactly_its_rows(name: str) -> None:
    measures_exactly(name, MEASURES[name], all_sweeps(), ROWS)


@pytest.mark.parametrize("name", sorted(set(MEASURES) & set(DRAWINGS)))
def test_a_figure_is_drawn_with_what_was_published_where_it_has_a_place(name: str) -> None:
    assert count_marked_points(name, DRAWINGS[name], all_sweeps(), ROWS) == [
        0,
        2 if name in ("fig9", "fig10") else 0,
    ]


def test_values_that_are_only_bounds_are_drawn_as_such() -> None:
    def table(variant: str, point: Point, _: int) -> Any:
        return flows([[None if (variant, point["x"]) == ("dctcp", "20KB") else 9.0]])

    runs = FakeRuns([{"x": "10KB"}, {"x": "20KB"}], kept={"flows": table})
    axes = completion_times.draw_two_panels(runs, completion_times.Panel("x", "size (KB)", "Queries")).axes[0]
    [bound] = [line for line in axes.lines if line.get_marker() == "^"]
    assert (list(bound.get_xdata()), bound.get_label()) == ([20.0], "DCTCP: at least")
    assert bound.get_ydata()[0] == pytest.approx(499)


def test_a_value_is_placed_by_the_number_that_it_begins_with() -> None:
    assert [completion_times.parse_leading_number(text) for text in ("20KB", "2.5pkt", "255")] == [
        20,
        2.5,
        255,
    ]
    even = completion_times.Panel("x", "", "", even_spacing=True)
    assert completion_times.axis_positions(even, [{"x": "12"}, {"x": "255"}]) == [0, 1]


def plotted_ratios(figure: str, axes: str = "#1") -> list[float]:
    """Returns the plotted 99th percentiles of background flows with DIBS, divided by those with DCTCP."""
    calls = json.loads(gzip.decompress((PAPER / "plotted.json.gz").read_bytes()))[figure]["calls"]
    curves = {one[3]["label"]: one[2][1] for one in calls if one[:2] == [axes, "plot"] and "label" in one[3]}
    return [with_dibs / plain for with_dibs, plain in zip(*(curves[one] for one in CURVES), strict=True)]


def test_remarks_have_the_ratios_that_are_plotted() -> None:
    remarks = {one.id: one.remark for one in paper_files.read_paper(PAPER).claims}
    every = {
        figure: plotted_ratios(figure) for figure in ("fig7", "fig8", "fig9", "fig10", "fig12", "sec5.5.4")
    }
    small, fifth = plotted_ratios("fig11a", "#0"), plotted_ratios("fig11a", "#1")
    levels = {
        "little_harm_to_background": [
            every["fig7"],
            every["fig9"][1:],
            [every["fig10"][2]],
            [every["fig10"][3]],
        ],
        "twenty_ms_at_every_load": [
            every["fig7"],
            every["fig8"][:2],
            every["fig8"][2:],
            every["sec5.5.4"],
        ],
        "gain_grows_as_buffers_shrink": [small[4:], fifth[4:], [fifth[3]]],
        "ttl_limit_does_not_help": [every["fig12"]],
    }
    for claim, groups in levels.items():
        for ratios in groups:
            ends = dict.fromkeys(f"{one:.1f}" for one in (min(ratios), max(ratios)))
            assert f" {' to '.join(ends)} times" in remarks[claim]
