"""Tests that a row which has run may change only with a mark, and of `overspill paper --check`."""

from pathlib import Path
from typing import Any

import pytest
import small_paper

from overspill import BadInput
from overspill.papers import changed_rows, judge, paper_files
from overspill.papers.paper_files import Paper
from overspill.papers.published_files import ROWS_FILE, write_json

NUMBER = 'unit = "s"\npublished = 1\nbasis = "text"\nkind = "value"\ntolerance = { max = 100 }'
MARK = '\nrevised = { verdict = "holds", why = "another unit" }'


def load(folder: Path, rows: str = small_paper.ROWS) -> Paper:
    return paper_files.load_paper("small", small_paper.write_paper_folder(folder, rows=rows))


def publish(paper: Paper) -> None:
    """Publishes the rows of a paper with measured values, except those marked `later`."""
    rows: list[dict[str, Any]] = []
    for row in paper.rows:
        measured = None if row.is_for_later else 1.0
        judged = judge.JudgedRow(measured, None, 1, "inconclusive" if measured is None else "holds")
        rows.append(judge.row_document(paper.name, row, judged))
    write_json(paper.folder / ROWS_FILE, {"rows": rows}, 2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    publish(load(tmp_path))
    return tmp_path


def test_published_papers_have_no_unmarked_change() -> None:
    for name in paper_files.paper_names():
        changed_rows.check_unmarked_changes(paper_files.load_paper(name))


def test_an_unchanged_paper_and_one_that_never_ran_are_accepted(folder: Path, tmp_path: Path) -> None:
    changed_rows.check_unmarked_changes(load(folder))
    changed_rows.check_unmarked_changes(load(tmp_path / "another", small_paper.ROWS.replace("100", "200")))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("published = 1\n", "published = 1000\n", "fct: published: found 1000; expected 1 as in rows.json"),
        ("{ max = 100 }", "{ max = 101 }", "tolerance: found {'max': 101}; expected {'max': 100}"),
        ("{ max = 100 }", "{ prediction = 0.95 }", "tolerance: found {'prediction': 0.95}"),
        ('unit = "s"', 'unit = "ms"', "unit: found 'ms'; expected 's'"),
        ('basis = "text"\nkind = "value"', 'basis = "derived"\nkind = "value"', "basis: found 'derived'"),
        ('kind = "value"\ntolerance = { max', 'kind = "exact"\ntolerance = { max', "kind: found 'exact'"),
        ('metric = "fct"', 'metric = "fct_p99"', "fig1, x 1, fct: found no such row"),
        (
            'metric = "fct"',
            'metric = "fct_p99"',
            "fig1, x 1, fct_p99: found a new row of a figure that has run",
        ),
    ],
)
def test_a_change_of_a_row_that_has_run_is_refused(folder: Path, old: str, new: str, said: str) -> None:
    assert small_paper.ROWS.count(old) >= 1
    with pytest.raises(BadInput) as error:
        changed_rows.check_unmarked_changes(load(folder, small_paper.ROWS.replace(old, new, 1)))
    assert error.value.status == 2 and said in "\n".join(error.value.lines)


def test_a_marked_change_is_accepted_and_its_mark_stays(folder: Path) -> None:
    changed = NUMBER.replace('"s"', '"ms"')
    assert NUMBER in small_paper.ROWS
    marked = load(folder, small_paper.ROWS.replace(NUMBER, changed + MARK))
    changed_rows.check_unmarked_changes(marked)
    publish(marked)
    changed_rows.check_unmarked_changes(marked)
    with pytest.raises(BadInput, match="revised: found no mark of a measure"):
        changed_rows.check_unmarked_changes(load(folder, small_paper.ROWS.replace(NUMBER, changed)))


def test_a_mark_of_settings_does_not_cover_another_tolerance(folder: Path) -> None:
    wider = NUMBER.replace("100", "200") + MARK
    rows = 'revised_settings = ["another unit"]\n' + small_paper.ROWS.replace(NUMBER, wider)
    with pytest.raises(BadInput, match="tolerance: found"):
        changed_rows.check_unmarked_changes(load(folder, rows))


def test_rows_of_another_figure_or_without_a_run_may_change(folder: Path) -> None:
    figure = '[[figure]]\nid = "fig4"\ntitle = "More"\nclaim = "There is more."\n'
    row = '[[row]]\nfigure = "fig4"\ncase = "a"\nmetric = "m"\n' + NUMBER + "\n"
    later = small_paper.ROWS.replace('metric = "rate"\n', 'metric = "rate"\nunit = "Gb/s"\n')
    home = small_paper.write_paper_folder(
        folder, small_paper.PAPER.replace("[[study]]", figure + "[[study]]"), later + row
    )
    changed_rows.check_unmarked_changes(paper_files.load_paper("small", home))


def test_check_without_a_name_checks_every_paper(folder: Path, command: Any) -> None:
    options = ("paper", "--check", "--papers", folder / "papers")
    assert command(*options).out == "small: 6 rows, 0 claims; there is no claims.toml\n"
    load(folder, small_paper.ROWS.replace("100", "101"))
    refused = command(*options)
    assert refused.status == 2 and "tolerance: found {'max': 101}" in refused.err
    unnamed = command("paper")
    assert unnamed.status == 2 and "NAME: found nothing; expected the name of a paper" in unnamed.err


def test_check_of_a_folder_without_papers_is_an_error(tmp_path: Path, command: Any) -> None:
    found = command("paper", "--check", "--papers", tmp_path)
    assert found.status == 2 and "no papers found in" in found.err
