"""Tests that every ABQ figure measures exactly its rows and is drawn, and that flow files match the code."""

import tomllib
from pathlib import Path

import pytest
from abq_runs import PAPER, all_sweeps
from overspill_papers.abq import inputs
from overspill_papers.abq.figures import DRAWINGS
from overspill_papers.abq.measures import MEASURES
from small_paper import count_marked_points, has_code_for, measures_exactly

from overspill import Failed
from overspill.papers import paper_code, paper_files

ROWS = tomllib.loads((PAPER / "rows.toml").read_text())["row"]
SWEEPS = all_sweeps()


def test_every_figure_has_code_unless_all_its_rows_are_for_later() -> None:
    has_code_for(MEASURES, paper_files.read_paper(PAPER).figures, ROWS)


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_a_figure_measures_exactly_its_rows(name: str) -> None:
    measures_exactly(name, MEASURES[name], SWEEPS, ROWS)


@pytest.mark.parametrize("name", sorted(DRAWINGS))
def test_a_figure_is_drawn_with_what_was_published_where_it_has_a_place(name: str) -> None:
    places = {"tab1": 12}
    assert count_marked_points(name, DRAWINGS[name], SWEEPS, ROWS) == [0, places.get(name, 0)]


def copy_paper(folder: Path, change: tuple[str, str] = ("", "")) -> Path:
    """Creates a folder with only ABQ's inputs, as they are or changed."""
    folder.mkdir()
    (folder / "inputs.py").write_text((PAPER / "inputs.py").read_text().replace(*change))
    return folder


def test_files_of_flows_are_made_where_they_are_missing_and_are_the_same_everywhere(tmp_path: Path) -> None:
    made = copy_paper(tmp_path / "made")
    paper_code.make_inputs(made)
    assert sorted(path.name for path in (made / "waves").iterdir()) == sorted(
        f"{kind}_{draw}.csv" for kind, count in inputs.DRAW_COUNTS.items() for draw in range(1, count + 1)
    )
    (made / "waves/wave_1.csv").write_text("kept")
    paper_code.make_inputs(made)
    assert (made / "waves/wave_1.csv").read_text() == "kept"
    other = copy_paper(tmp_path / "other", ("START_NS = 10_000_000", "START_NS = 10_000_001"))
    with pytest.raises(Failed, match="made other files than for the published rows"):
        paper_code.make_inputs(other)


@pytest.mark.parametrize("kind", inputs.DRAW_COUNTS)
def test_a_draw_has_five_groups_of_a_receiver_a_long_flow_and_198_short_ones(kind: str) -> None:
    header, *rows = inputs.trace_text(kind, 1).splitlines()
    assert header == "start,source,destination,bytes,query"
    flows = [row.split(",") for row in rows]
    assert [row[4] for row in flows].count("") == 5
    hosts = {row[1] for row in flows} | {row[2] for row in flows}
    assert len(flows) == 995 and len(hosts) == 1000 and len({row[2] for row in flows}) == 5
    starts = [len({row[0] for row in flows if row[4] == str(group)}) for group in range(5)]
    assert starts == [198 if kind == "apart" else 1] * 5
