"""Every figure of ABQ measures exactly its rows, and is drawn; its files of flows are those of its code."""

import tomllib

import pytest
from abq_runs import PAPER, everything
from papered import has_code_for, marked, measures_exactly

from overspill.papers import data
from overspill.papers.abq import CODE, waves

ROWS = tomllib.loads((PAPER / "rows.toml").read_text())["row"]
SWEEPS = everything()


def test_every_figure_has_code_unless_all_its_rows_are_for_later() -> None:
    has_code_for(CODE, data.read(PAPER).figures, ROWS)


@pytest.mark.parametrize("name", sorted(CODE.figures))
def test_a_figure_measures_exactly_its_rows(name: str) -> None:
    measures_exactly(name, CODE.figures[name], SWEEPS, ROWS)


@pytest.mark.parametrize("name", sorted(one for one in CODE.figures if CODE.figures[one].draw))
def test_a_figure_is_drawn_with_what_was_published_where_it_has_a_place(name: str) -> None:
    places = {"tab1": 12}
    assert marked(name, CODE.figures[name], SWEEPS, ROWS) == [0, places.get(name, 0)]


def test_the_files_of_flows_are_all_that_is_drawn_and_no_others() -> None:
    found = {path.name: path.read_text() for path in (PAPER / "waves").iterdir()}
    made = {
        f"{kind}_{draw}.csv": waves.text(kind, draw)
        for kind, count in waves.DRAWS.items()
        for draw in range(1, count + 1)
    }
    assert found == made


@pytest.mark.parametrize("kind", waves.DRAWS)
def test_a_draw_has_five_groups_of_a_receiver_a_long_flow_and_198_short_ones(kind: str) -> None:
    header, *rows = waves.text(kind, 1).splitlines()
    assert header == "start,source,destination,bytes,query"
    flows = [row.split(",") for row in rows]
    assert [row[4] for row in flows].count("") == 5
    hosts = {row[1] for row in flows} | {row[2] for row in flows}
    assert len(flows) == 995 and len(hosts) == 1000 and len({row[2] for row in flows}) == 5
    starts = [len({row[0] for row in flows if row[4] == str(group)}) for group in range(5)]
    assert starts == [198 if kind == "apart" else 1] * 5
