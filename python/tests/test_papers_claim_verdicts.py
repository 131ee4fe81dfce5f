"""Verdicts of claims: that of the worst row that counts."""

from pathlib import Path
from typing import Any

import pytest

from overspill.papers import claims_page
from overspill.papers.claim_verdicts import counts, decide
from overspill.papers.claims import Claim, Pattern

PUBLISHED = Path(__file__).parents[2] / "docs/reproduction"


def row(case: str = "a", verdict: str = "holds", **more: Any) -> dict[str, Any]:
    found = {"figure": "fig1", "case": case, "metric": "fct", "unit": "s", "published": 10, "measured": 10.0}
    return found | {"ci95": 0.1, "seeds": 10, "tolerance": {"rel": 0.1}, "verdict": verdict} | more


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
    assert decide(claim(), [measure]).verdict == "not decided"
    assert decide(claim(), [measure, row("b", "fails")]).verdict == "not reproduced"


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
    found = [counts(row(tolerance={"prediction": 0.95}, prediction=one)) for one in (wide, narrow)]
    assert found == ["anecdote", "yes"]


def test_a_claim_without_a_row_is_not_decided_or_cannot_be_tested() -> None:
    assert decide(claim("a row", rows=False), [row()]).verdict == "not decided"
    assert decide(claim(untestable="lines of code", rows=False), [row()]).verdict == "cannot be tested here"
    waiting = row(verdict="inconclusive", measured=None)
    assert decide(claim(untestable="clock rates"), [waiting]).verdict == "cannot be tested here"


def test_the_page_is_that_of_the_published_rows() -> None:
    text = (PUBLISHED / "claims.md").read_text(encoding="utf-8")
    command = "python -m overspill.papers.claims_page docs/reproduction > docs/reproduction/claims.md"
    assert text == claims_page.page(PUBLISHED), f"run `{command}`"
