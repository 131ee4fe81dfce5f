"""Tests that every figure of CP measures exactly its rows, and is drawn."""

import tomllib

import pytest
from cp_runs import PAPER, all_sweeps
from overspill_papers.cp.figures import DRAWINGS
from overspill_papers.cp.measures import MEASURES
from small_paper import count_marked_points, has_code_for, measures_exactly

from overspill.papers import paper_files

ROWS = tomllib.loads((PAPER / "rows.toml").read_text())["row"]
SWEEPS = all_sweeps()


def test_every_figure_has_code_unless_all_its_rows_are_for_later() -> None:
    has_code_for(MEASURES, paper_files.read_paper(PAPER).figures, ROWS)


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_a_figure_measures_exactly_its_rows(name: str) -> None:
    measures_exactly(name, MEASURES[name], SWEEPS, ROWS)


@pytest.mark.parametrize("name", sorted(DRAWINGS))
def test_a_figure_is_drawn_with_what_was_published_where_it_has_a_place(name: str) -> None:
    places = {"fig8a": 1, "fig8b": 3}
    assert count_marked_points(name, DRAWINGS[name], SWEEPS, ROWS) == [0, places.get(name, 0)]
