"""Tests of faulty files of a paper: messages name the file, place, field, found and allowed values."""

from pathlib import Path

import pytest
import small_paper
from small_paper import PAPER, ROWS

from overspill import BadInput, Line
from overspill.papers import execution, paper_files


def load_error(folder: Path, paper: str = PAPER, rows: str = ROWS) -> str:
    with pytest.raises(BadInput) as error:
        paper_files.load_paper("small", small_paper.write_paper_folder(folder, paper, rows))
    assert error.value.status == 2
    return "\n".join(error.value.lines)


def test_a_whole_paper_is_read(tmp_path: Path) -> None:
    paper = paper_files.load_paper("small", small_paper.write_paper_folder(tmp_path))
    assert list(paper.figures) == ["fig1", "fig2", "fig3"] and list(paper.sweeps) == ["grid", "single"]
    assert paper.sweeps["single"].seeds == 2 and paper.sweeps["single"].variants == ["bounce"]
    assert [row.is_for_later for row in paper.rows] == [False] * 5 + [True]
    assert paper.what_ifs[0].seeds == 2 and len(paper.digest) == 64


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"small"\ntitle', '"other"\ntitle', "name: found 'other'; expected that of its folder, 'small'"),
        ("cite =", "cites =", "paper.toml: cite: found nothing; expected a value for this key"),
        ("seeds = 3", "seeds = 0", "sweep 1 (grid): seeds: found 0; expected a whole number, 1 or more"),
        (
            "seeds = 3",
            "seed = 3",
            "sweep 1 (grid): seed: found an unknown key; expected one of name, scenario",
        ),
        ("seeds = 3", "seeds = true", "sweep 1 (grid): seeds: found True"),
        ('["ports"]', '["port"]', "sweep 1 (grid): tables: found 'port'; expected some of flows, ports"),
        ('"small.toml"\nover', '"no.toml"\nover', "scenario: found 'no.toml', which is not a file"),
        ('["switch.y=4"]', '["switch.y"]', "sweep 2 (single): set: found 'switch.y'; expected path=value"),
        (
            'sweeps = ["grid"]',
            'sweeps = ["gird"]',
            "figure 1 (fig1): sweeps: found 'gird'; expected some of grid",
        ),
        ('id = "fig2"', 'id = "fig1"', "found 'fig1' twice; expected each name once"),
        ('id = "fig2"', 'id = "../fig2"', "figure 2 (../fig2): id: found '../fig2'; expected letters"),
        ('id = "fig2"', 'id = "grid"', "'grid', which is a sweep as well"),
        ('set = ["switch.y=9"]', "set = []", "what_if 1 (y): set: found none; expected one or more"),
        ('title = "A small paper"', 'title = "', "expected TOML"),
        (
            '{ "switch.x" = [1, 2] }',
            "[1]",
            "sweep 1 (grid): over: found [1]; expected fields and their values",
        ),
    ],
)
def test_what_is_wrong_with_a_paper_is_told(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert PAPER.count(old) >= 1
    found = load_error(tmp_path, PAPER.replace(old, new, 1))
    assert said in found and str(tmp_path / "papers/small/paper.toml") in found


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"fig1"', '"fig9"', "row 1 (fig9, x 1, fct): figure: found 'fig9'; expected one of fig1, fig2"),
        ('"text"', '"guess"', "basis: found 'guess'; expected one of text, table, axis, derived, calibrated"),
        ('"value"', '"worth"', "kind: found 'worth'; expected one of exact, value, ratio, order"),
        ("{ max = 100 }", "{ most = 100 }", "tolerance: found {'most': 100}; expected { abs }"),
        ("{ max = 100 }", "{ abs = 1, rel = 1 }", "tolerance: found {'abs': 1, 'rel': 1}; expected { abs }"),
        ("{ max = 100 }", "{ abs = -1 }", "expected abs of 0 or more"),
        ("{ max = 100 }", "{ factor = 0.5 }", "expected factor of 1 or more"),
        ("{ max = 100 }", "{ prediction = 95 }", "expected prediction between 0 and 1"),
        ("{ max = 100 }", "{ min = 3, max = 2 }", "expected min at most max"),
        (
            "{ max = 100 }\none_run = true",
            "{ prediction = 0.95 }",
            "tolerance: found { prediction } without one_run; expected it only if one run is shown",
        ),
        (
            "read off a plot",
            "more with ten (what ifs: `y`, `z`)",
            "row fig1, x 1, fct: note: found sensitivity run z; expected some of y",
        ),
        ("{ max = 100 }", "{ max = nan }", "expected { abs }"),
        ("tolerance = { max = 100 }\n", "", "tolerance: found nothing; expected { abs }"),
        ("published = 1\n", "", "one_run: found true; expected it only if a number is published"),
        (
            "one_run = true",
            'revised = { verdict = "failed", why = "x" }',
            "row 1 (fig1, x 1, fct): revised: verdict: found 'failed'; expected one of holds, fails",
        ),
        ("one_run = true", 'revised = { verdict = "fails" }', "revised: why: found nothing"),
        (
            "[[row]]\nfigure",
            'revised_settings = ["x"]\n[[row]]\nfigure',
            "revised_settings: found 'x'; expected the `why` of some row",
        ),
        ("one_run = true", "revised = true", "row 1 (fig1, x 1, fct): revised: found True; expected a table"),
        ("one_run = true", 'revised = { verdict = "new", why = "x", x = 1 }', "revised: x: found an unknown"),
        ("published = 1\n", "published = true\n", "published: found True; expected a number, a text"),
        ("one_run = true", 'one_run = "yes"', "one_run: found 'yes'; expected true or false"),
        ("note =", "notes =", "notes: found an unknown key; expected one of figure, case, metric, unit"),
        ('"x 2"\nmetric = "dropped"', '"x 1"\nmetric = "fct"', "row 2 (fig1, x 1, fct): found it in row 1"),
        ("{ min = 1 }", "{ abs = 1 }", "tolerance: found {'abs': 1}; expected { min, max }, since no number"),
        ('kind = "exact"\n[[row]]', 'kind = "order"\n[[row]]', "expected exact, since a text is published"),
        ('note = "once there is hardware"', "", "note: found nothing; expected the reason why"),
        ("[[row]]", "[[rows]]", "rows: found an unknown key; expected one of row"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_row_is_told(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert ROWS.count(old) >= 1
    found = load_error(tmp_path, rows=ROWS.replace(old, new, 1 if old != "[[row]]" else -1))
    assert said in found and str(tmp_path / "papers/small/rows.toml") in found


def test_everything_that_is_wrong_with_rows_is_told_at_once(tmp_path: Path) -> None:
    found = load_error(tmp_path, rows=ROWS.replace('"fig1"', '"fig8"').replace('"fig3"', '"fig9"'))
    assert len(found.splitlines()) == 4


def test_a_figure_without_rows_is_refused(tmp_path: Path) -> None:
    more = PAPER + '[[figure]]\nid = "fig4"\ntitle = "t"\nclaim = "c"\n'
    assert "found no row of figure fig4; expected one or more" in load_error(tmp_path, more)


def test_tolerances_are_ranges_around_what_was_published(tmp_path: Path) -> None:
    def between(form: str) -> tuple[float, float]:
        changed = ROWS.replace("published = 1\n", "published = -4\n", 1).replace("{ max = 100 }", form, 1)
        if "factor" in form:
            changed = changed.replace("published = -4\n", "published = 4\n", 1)
        [row, *_] = paper_files.load_paper(
            "small", small_paper.write_paper_folder(tmp_path, rows=changed)
        ).rows
        assert row.tolerance is not None
        return row.tolerance.low, row.tolerance.high

    assert between("{ abs = 1 }") == (-5, -3)
    assert between("{ rel = 0.5 }") == (-6, -2)
    assert between("{ factor = 2 }") == (2, 8)
    assert between("{ min = -5, max = 0 }") == (-5, 0)


def test_papers_are_found_by_the_environment_or_beside_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = small_paper.write_paper_folder(tmp_path)
    monkeypatch.setenv(paper_files.FOLDER_VARIABLE, str(folder))
    assert paper_files.paper_titles() == [("small", "A small paper")]
    monkeypatch.setenv(paper_files.FOLDER_VARIABLE, str(tmp_path / "nowhere"))
    with pytest.raises(BadInput, match=r"OVERSPILL_PAPERS: .* is not a folder"):
        paper_files.paper_names()
    with pytest.raises(BadInput, match=r"--papers: .* is a paper; expected the folder that it is in"):
        paper_files.paper_names(folder / "small")
    monkeypatch.delenv(paper_files.FOLDER_VARIABLE)
    assert "small" not in paper_files.paper_names()
    with pytest.raises(BadInput, match="paper: found 'small'; expected one of"):
        paper_files.load_paper("small")


def test_points_are_counted_only_of_repeated_warnings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paper = paper_files.load_paper("small", small_paper.write_paper_folder(tmp_path))
    planned = execution.PlannedSweep(paper.sweeps["single"], tmp_path, 2, paper.what_ifs[0])
    lines = [Line("CUT", "x=1"), Line("FEW", "two seeds"), Line("CUT", "x=2")]
    monkeypatch.setattr(execution, "warnings", lambda _: lines)
    ran = execution.SweepOutcome(planned, object())  # type: ignore[arg-type]
    found = [f"{one.label}: {one.text}" for one in ran.warnings]
    assert found == ["CUT: y/single: at 2 points", "FEW: y/single: two seeds"]
