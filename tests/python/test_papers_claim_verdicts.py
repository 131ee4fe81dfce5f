"""Tests of verdicts of claims: the verdict of the worst row that counts."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from overspill.papers import (
    claims_page,
    failure_reasons,
    paper_files,
    paper_page,
    row_counting,
    row_words,
)
from overspill.papers.claim_verdicts import decide_claim, find_changed_verdicts, parse_sensitivity_rows
from overspill.papers.claims import Claim, RowPattern
from overspill.papers.paper_rows import Row, Tolerance
from overspill.papers.published_files import PLOTTED_FILE, PublishedDocuments, read_json
from overspill.papers.verdicts import RowRevision

DOCS = Path(__file__).parents[2] / "docs"


def row(case: str = "a", verdict: str = "holds", **more: Any) -> dict[str, Any]:
    found = {"figure": "fig1", "case": case, "metric": "fct", "unit": "s", "published": 10, "measured": 10.0}
    found |= {"ci95": 0.1, "seeds": 10, "tolerance": {"rel": 0.1}, "verdict": verdict, "basis": "text"}
    return found | {"kind": "value", "note": "", "counts": "yes"} | more


def counts(one: dict[str, Any], widest: float = 2.0) -> str:
    return row_counting.classify_row(one, {"s": widest})


def claim(missing: str = "", untestable: str = "", rows: bool = True, remark: str = "") -> Claim:
    patterns = [RowPattern("fig1", None, None)] if rows else []
    return Claim("one", "It is quick.", "abstract", "benefit", patterns, [], missing, untestable, remark)


@pytest.mark.parametrize(
    ("verdicts", "missing", "expected"),
    [
        (("holds", "holds"), "", "reproduced"),
        (("holds", "holds"), "a row", "in part"),
        (("holds", "inconclusive"), "", "in part"),
        (("holds", "inconclusive", "fails"), "", "not reproduced"),
        (("inconclusive", "inconclusive"), "", "not decided"),
        (("inconclusive", "fails"), "", "not reproduced"),
        (("fails",), "a row", "not reproduced"),
    ],
)
def test_the_worst_row_decides(verdicts: tuple[str, ...], missing: str, expected: str) -> None:
    rows = [row(str(at), verdict) for at, verdict in enumerate(verdicts)]
    assert decide_claim(claim(missing), rows).verdict == expected


def test_the_reasons_of_an_undecided_claim_have_its_rows() -> None:
    found = decide_claim(claim(), [row(verdict="inconclusive")])
    paper = paper_files.load_paper("abq")
    assert list(failure_reasons.unreproduced_rows(paper, [found], [])) == [row(verdict="inconclusive")]


def test_rows_that_were_revised_or_are_wide_decide_nothing() -> None:
    settings = row(revised={"verdict": "fails", "why": "x", "of": "settings"})
    measure = row(revised={"verdict": "fails", "why": "x", "of": "measure"})
    assert (counts(settings), counts(measure)) == ("yes", "revised")
    found = row_counting.with_classification([measure, row("b", "fails")], [])
    assert decide_claim(claim(), found[:1]).verdict == "not decided"
    assert decide_claim(claim(), found).verdict == "not reproduced"
    assert counts(row(repeat="other ties")) == "repeat"
    assert [counts(row(basis=one)) for one in ("own_model", "derived", "setting", "calibrated")] == [
        "derived",
        "derived",
        "unpublished",
        "unpublished",
    ]
    assert counts(row(verdict="inconclusive", measured=None)) == "not run"


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
        ({"min": 8, "max": 14}, "anecdote"),
    ],
)
def test_a_tolerance_of_more_than_a_quarter_is_an_anecdote(tolerance: Any, expected: str) -> None:
    assert counts(row(tolerance=tolerance)) == expected


def test_a_range_around_a_value_that_is_not_written_may_not_be_wider() -> None:
    assert counts(row(published=None, tolerance={"min": 0.8, "max": 1.2})) == "yes"
    assert counts(row(published=None, tolerance={"min": 0.5, "max": 2})) == "anecdote"
    assert counts(row(published=None, tolerance={"min": -2, "max": 2})) == "anecdote"
    assert counts(row(published=0, tolerance={"abs": 2})) == "yes", "no share of nothing"


def test_a_wide_tolerance_counts_where_it_is_missed() -> None:
    met, missed = (row(verdict, verdict, counts="anecdote") for verdict in ("holds", "fails"))
    assert decide_claim(claim(), [row(), met]).deciding == [row()]
    assert decide_claim(claim(), [row(), met]).verdict == "reproduced"
    assert decide_claim(claim(), [row(), missed]).verdict == "not reproduced"
    assert decide_claim(claim(), [row(), row("b", "inconclusive", counts="anecdote")]).verdict == "in part"
    assert row_counting.count_verdicts([row(), met, missed], ("holds", "fails")) == {
        "of": 2,
        "holds": 1,
        "fails": 1,
    }


def test_rows_given_to_the_runs_decide_nothing_and_arithmetic_does() -> None:
    given, follows = (row(counts=one) for one in ("unpublished", "derived"))
    assert decide_claim(claim(), [given]).verdict == "not decided"
    found = decide_claim(claim(), [follows])
    assert found.verdict == "reproduced"
    assert claims_page.describe_evidence(found)[0] == "1 of 1 rows (all derived) reproduced:"
    both = claims_page.describe_evidence(decide_claim(claim(), [follows, row("b")]))
    assert both[0] == "2 of 2 rows (1 derived) reproduced:"
    assert row_counting.count_verdicts([given, follows, row()], ("holds",)) == {"of": 1, "holds": 1}
    assert [row_words.format_basis(one | {"basis": "own_model"}) for one in (given, follows)] == [
        "own model; unpublished",
        "own model",
    ]


def test_every_page_has_the_rule_by_which_rows_count() -> None:
    text = " ".join((DOCS / "claims.md").read_text(encoding="utf-8").split())
    readmes = [one.read_text(encoding="utf-8") for one in DOCS.parent.glob("papers/*/README.md")]
    assert len(readmes) == 5 and all(row_words.COUNTING_TEXT in one for one in (text, *readmes))


@pytest.mark.parametrize(
    ("former", "now", "expected"),
    [
        ("holds", "holds", "reproduced"),
        ("new", "holds", "reproduced"),
        ("fails", "holds", "in part"),
        ("inconclusive", "holds", "in part"),
        ("holds", "fails", "in part"),
        ("new", "fails", "in part"),
        ("new", "inconclusive", "in part"),
        ("fails", "fails", "not reproduced"),
    ],
)
def test_a_revised_row_that_was_or_is_missed_leaves_a_part_undecided(
    former: str, now: str, expected: str
) -> None:
    revised = row("b", now, counts="revised", revised={"verdict": former, "why": "x", "of": "measure"})
    found = decide_claim(claim(), [row(), revised])
    assert found.verdict == expected
    cited = any("fig1, b: FCT" in line for line in claims_page.describe_evidence(found))
    assert cited == (expected != "reproduced")
    assert row_counting.count_verdicts([revised], ("fails",))["of"] == (former == now == "fails")


def test_the_widest_tolerance_of_a_unit_is_that_of_rows_that_count() -> None:
    def known(**more: Any) -> Row:
        form = more.pop("form")
        tolerance = Tolerance(form, prediction=form.get("prediction"))
        given = {"figure": "fig1", "case": "a", "metric": "fct", "unit": "s", "published": 10.0}
        given |= {"basis": "text", "kind": "value", "is_one_run": False, "is_for_later": False, "note": ""}
        return Row(**(given | {"tolerance": tolerance} | more))

    rows = [known(form={"abs": 1}), known(form={"rel": 0.2}), known(form={"rel": 0.5})]
    rows += [known(form={"abs": 2.5}, repeat="other ties"), known(form={"abs": 2.4}, basis="own_model")]
    rows += [known(form={"abs": 2.3}, revised=RowRevision("fails", "x")), known(form={"prediction": 0.95})]
    rows += [known(form={"min": 6, "max": 10}, published=None, unit="%"), known(form={"max": 9}, unit="Mb/s")]
    assert row_counting.widest_tolerance_by_unit(rows) == {"s": 2.0, "%": 2.0}


def test_the_interval_of_a_single_run_is_as_wide_as_it_is() -> None:
    wide = {"low": -15.0, "high": 13.0, "inside": True}
    narrow = {"low": 9.0, "high": 12.0, "inside": True}
    found = [row(tolerance={"prediction": 0.95}, prediction=one) for one in (wide, narrow)]
    assert [counts(one) for one in found] == ["anecdote", "yes"]
    assert counts(found[1], 1) == "anecdote", "wider than others of its unit"
    assert row_counting.classify_row(found[1], {"%": 2.0}) == "anecdote", "no other of its unit"
    assert counts(row(published="S1 S2", tolerance={"prediction": 0.95})) == "anecdote"
    nothing = row(published=0, tolerance={"prediction": 0.95}, prediction=wide)
    assert counts(nothing) == "anecdote", "a quarter of 0 is no bound, the others of its unit are"
    assert counts(nothing, 14) == "yes"


def test_a_claim_without_a_row_is_not_decided_or_cannot_be_tested() -> None:
    assert decide_claim(claim("a row", rows=False), [row()]).verdict == "not decided"
    assert (
        decide_claim(claim(untestable="lines of code", rows=False), [row()]).verdict
        == "cannot be tested here"
    )
    waiting = row(verdict="inconclusive", measured=None, counts="not run")
    assert decide_claim(claim(untestable="clock rates"), [waiting]).verdict == "cannot be tested here"


def test_a_row_without_a_value_that_ran_does_not_leave_the_count() -> None:
    undefined = row(verdict="fails", measured=None)
    assert decide_claim(claim(), [row(), undefined]).verdict == "not reproduced"
    assert decide_claim(claim(), [row(), undefined | {"seeds": 0}]).verdict == "not reproduced", (
        "its runs failed"
    )
    waiting = row("b", "inconclusive", measured=None, counts="not run")
    assert decide_claim(claim(), [row(), waiting]).verdict == "reproduced"
    assert "1 row has no run." in claims_page.describe_evidence(decide_claim(claim(), [row(), waiting]))


def test_a_claim_names_open_parameters_that_give_it_another_verdict() -> None:
    kept = {"measured": 10.0, "ci95": 0.1, "seeds": 3}
    cells = {"y": kept | {"verdict": "fails", "measured": 11.0}, "z": kept | {"verdict": "inconclusive"}}
    document = {
        "settings": [{"name": name, "title": f"another {name}"} for name in ("y", "z", "w")],
        "rows": [row() | {"own": kept | {"verdict": "holds"}, "fewer_seeds": {}, "settings": cells}],
    }
    decided = decide_claim(claim(), [row()])
    found = find_changed_verdicts(decided, [row()], parse_sensitivity_rows(document))
    assert [(one.setting.name, one.verdict) for one in found] == [
        ("y", "not reproduced"),
        ("z", "not decided"),
    ]
    text = claims_page.describe_verdict(decided, found)
    assert text == ["reproduced", "(not reproduced with `y`)", "(not decided with `z`)"]
    assert claims_page.describe_evidence(decided, found)[2:] == [
        "With `y`: fig1, a: FCT = 11.00 ± 0.10 s, paper: 10 s",
        "With `z`: fig1, a: FCT = 10.00 ± 0.10 s, paper: 10 s",
    ]
    # With as few seeds, the paper's own runs have the same verdict.
    document["rows"][0]["fewer_seeds"] = {"3": kept | {"verdict": "fails"}}
    assert not find_changed_verdicts(decided, [row()], parse_sensitivity_rows(document)[:1])


def test_the_remark_of_a_claim_is_beside_its_rows() -> None:
    found = decide_claim(claim(remark="With another rule it is slow."), [row()])
    assert found.verdict == "reproduced"
    assert claims_page.describe_evidence(found)[-1] == "With another rule it is slow."


def test_a_claim_has_the_reason_for_its_verdict_unless_it_is_reproduced() -> None:
    given = replace(claim(), why="Its timer is long.")
    missed = claims_page.describe_evidence(decide_claim(given, [row(verdict="fails")]))
    assert missed[0] == "Why: Its timer is long."
    held = claims_page.describe_evidence(decide_claim(given, [row()]))
    assert not [line for line in held if line.startswith("Why:")]


def test_every_claim_that_is_not_reproduced_has_a_reason() -> None:
    for name in paper_files.paper_names():
        paper = paper_files.load_paper(name)
        rows = PublishedDocuments.read(paper.folder).rows_document["rows"]
        for one in (decide_claim(each, rows) for each in paper.claims):
            # The missing measurement is the reason if all rows are reproduced.
            only_missing = one.claim.missing and all(row["verdict"] == "holds" for row in one.deciding)
            needed = one.verdict not in ("reproduced", "cannot be tested here") and not only_missing
            assert bool(one.claim.why) == bool(needed), (name, one.claim.id)


def test_pages_of_papers_are_those_of_the_published_rows_and_short() -> None:
    for name in paper_files.paper_names():
        paper = paper_files.load_paper(name)
        folder = paper.folder
        published, drawn = PublishedDocuments.read(folder), list(read_json(folder / PLOTTED_FILE) or {})
        document, changed = published.rows_document, published.sensitivity_document
        text = (folder / "README.md").read_text()
        command = f"overspill paper {name} --redraw --publish"
        assert text == paper_page.build_readme(paper, document, changed, drawn), f"{name}: run `{command}`"
        assert text.count("\n") <= 150
        assert all((DOCS.parent / f"studies/{one.name}/README.md").is_file() for one in paper.studies)
        assert document["rows"] == row_counting.with_classification(document["rows"], paper.rows)
        assert document["tolerances"] == paper.digest
        assert [(row["figure"], row["case"], row["metric"]) for row in document["rows"]] == [
            (row.figure, *row.key) for figure in paper.figures for row in paper.rows_of(figure)
        ]


def test_the_page_is_that_of_the_published_rows() -> None:
    text = (DOCS / "claims.md").read_text(encoding="utf-8")
    assert text == claims_page.build_page(), "run `python -m overspill.papers.claims_page > docs/claims.md`"
