"""Verdicts of claims: that of the worst row that counts."""

import json
from pathlib import Path
from typing import Any

import pytest

from overspill.papers import claims_page, counting, data, paper_page
from overspill.papers.claim_verdicts import decide, settings_of, turned
from overspill.papers.claims import Claim, Pattern

PUBLISHED = Path(__file__).parents[2] / "docs/reproduction"


def row(case: str = "a", verdict: str = "holds", **more: Any) -> dict[str, Any]:
    found = {"figure": "fig1", "case": case, "metric": "fct", "unit": "s", "published": 10, "measured": 10.0}
    found |= {"ci95": 0.1, "seeds": 10, "tolerance": {"rel": 0.1}, "verdict": verdict, "basis": "text"}
    return found | {"note": "", "counts": "yes"} | more


def counts(one: dict[str, Any], *others: dict[str, Any]) -> str:
    return counting.counts(one, [one, *others])


def claim(missing: str = "", untestable: str = "", rows: bool = True) -> Claim:
    patterns = [Pattern("fig1", None, None)] if rows else []
    return Claim("one", "It is quick.", "abstract", "benefit", patterns, [], missing, untestable)


@pytest.mark.parametrize(
    ("verdicts", "missing", "expected"),
    [
        (("holds", "holds"), "", "reproduced"),
        (("holds", "holds"), "a row", "in part"),
        (("holds", "inconclusive"), "", "in part"),
        (("holds", "inconclusive", "fails"), "", "not reproduced"),
        (("fails",), "a row", "not reproduced"),
    ],
)
def test_the_worst_row_decides(verdicts: tuple[str, ...], missing: str, expected: str) -> None:
    rows = [row(str(at), verdict) for at, verdict in enumerate(verdicts)]
    assert decide(claim(missing), rows).verdict == expected


def test_rows_that_were_revised_or_are_wide_decide_nothing() -> None:
    settings = row(revised={"verdict": "fails", "why": "x", "of": "settings"})
    measure = row(revised={"verdict": "fails", "why": "x", "of": "measure"})
    assert (counts(settings), counts(measure)) == ("yes", "revised")
    found = counting.marked([measure, row("b", "fails")])
    assert decide(claim(), found[:1]).verdict == "not decided"
    assert decide(claim(), found).verdict == "not reproduced"
    assert counts(row(repeat="other ties")) == "repeat"
    assert counts(row(basis="own_model")) == "unpublished"


@pytest.mark.parametrize(
    ("tolerance", "expected"),
    [
        ({"rel": 0.25}, "yes"),
        ({"rel": 0.26}, "anecdote"),
        ({"abs": 2.5}, "yes"),
        ({"abs": 2.6}, "anecdote"),
        ({"min": 8, "max": 12}, "yes"),
        ({"min": 5, "max": 15}, "anecdote"),
        ({"factor": 1.2}, "yes"),
        ({"factor": 2}, "anecdote"),
        ({"min": 8}, "yes"),
        (None, "yes"),
    ],
)
def test_a_tolerance_of_more_than_a_quarter_is_an_anecdote(tolerance: Any, expected: str) -> None:
    assert counts(row(tolerance=tolerance)) == expected


def test_the_interval_of_a_single_run_is_as_wide_as_it_is() -> None:
    wide = {"low": -15.0, "high": 13.0, "inside": True}
    narrow = {"low": 9.0, "high": 12.0, "inside": True}
    found = [row(tolerance={"prediction": 0.95}, prediction=one) for one in (wide, narrow)]
    other = row("b", tolerance={"abs": 2})
    assert [counts(one, other) for one in found] == ["anecdote", "yes"]
    assert counts(found[1], row("b", tolerance={"abs": 1})) == "anecdote", "wider than others of its unit"
    assert counts(found[1], row("b", unit="%", tolerance={"abs": 2})) == "anecdote", "no other of its unit"
    assert counts(row(published="S1 S2", tolerance={"prediction": 0.95})) == "anecdote"


def test_a_claim_without_a_row_is_not_decided_or_cannot_be_tested() -> None:
    assert decide(claim("a row", rows=False), [row()]).verdict == "not decided"
    assert decide(claim(untestable="lines of code", rows=False), [row()]).verdict == "cannot be tested here"
    waiting = row(verdict="inconclusive", measured=None)
    assert decide(claim(untestable="clock rates"), [waiting]).verdict == "cannot be tested here"


def test_a_difference_of_exactly_nothing_decides_nothing() -> None:
    order = row(published=None, tolerance={"min": 0}, measured=0.0, ci95=0.0)
    assert decide(claim(), [order]).verdict == "in part"
    assert decide(claim(), [order | {"measured": 0.1}]).verdict == "reproduced"


def test_a_row_without_a_value_that_ran_does_not_leave_the_count() -> None:
    undefined = row(verdict="fails", measured=None)
    assert decide(claim(), [row(), undefined]).verdict == "not reproduced"
    assert decide(claim(), [row(), undefined | {"seeds": 0}]).verdict == "reproduced", "it was not run"


def test_a_claim_names_open_parameters_that_give_it_another_verdict() -> None:
    kept = {"measured": 10.0, "ci95": 0.1, "seeds": 3, "note": ""}
    cells = {"y": kept | {"verdict": "fails"}, "z": kept | {"verdict": "inconclusive"}}
    document = {
        "settings": [{"name": name, "title": f"another {name}"} for name in ("y", "z", "w")],
        "rows": [row() | {"own": kept | {"verdict": "holds"}, "fewer_seeds": {}, "settings": cells}],
    }
    decided = decide(claim(), [row()])
    found = turned(decided, [row()], settings_of(document))
    assert [(one.name, verdict) for one, verdict in found] == [("y", "not reproduced"), ("z", "in part")]
    text = claims_page.verdict(decided, [row()], settings_of(document))
    assert text == "reproduced; not reproduced with y; in part with z"
    # On as many seeds the paper's own runs have that verdict, too.
    document["rows"][0]["fewer_seeds"] = {"3": kept | {"verdict": "fails"}}
    assert not turned(decided, [row()], settings_of(document)[:1])


def test_pages_of_papers_are_those_of_the_published_rows_and_short() -> None:
    for name in data.names():
        paper, folder = data.load(name), PUBLISHED / name
        document = json.loads((folder / "rows.json").read_text())
        path = folder / "what_if.json"
        changed = json.loads(path.read_text()) if path.is_file() else None
        drawn = [one.stem for one in (folder / "figures").glob("*.png")]
        text = (folder / "README.md").read_text()
        command = "python -m overspill.papers.paper_page docs/reproduction"
        assert text == paper_page.readme(paper, document, changed, drawn), f"{name}: run `{command}`"
        assert text.count("\n") <= 150
        assert document["rows"] == counting.marked(document["rows"])
        assert document["tolerances"] == paper.digest
        assert [(row["figure"], row["case"], row["metric"]) for row in document["rows"]] == [
            (row.figure, *row.key) for figure in paper.figures for row in paper.rows_of(figure)
        ]


def test_the_page_is_that_of_the_published_rows() -> None:
    text = (PUBLISHED / "claims.md").read_text(encoding="utf-8")
    command = "python -m overspill.papers.claims_page docs/reproduction > docs/reproduction/claims.md"
    assert text == claims_page.page(PUBLISHED), f"run `{command}`"
