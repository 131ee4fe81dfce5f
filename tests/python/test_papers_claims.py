"""Tests that each row of a figure that a claim names decides the claim, or is left out with a reason."""

from pathlib import Path

import pytest
import small_paper

from overspill import BadInput
from overspill.papers import paper_files

CLAIMS = """
[[claim]]
id = "bouncing_is_quick"
claim = "Bouncing takes less time than dropping."
where = "abstract; figure 1"
kind = "benefit"
rows = [{ figure = "fig1", metric = "fct" }]
leaves_out = [{ figure = "fig1", case = "x 2", why = "about losses" }]

[[claim]]
id = "it_costs_memory"
claim = "Bounced packets take memory upstream."
where = "section 2"
kind = "cost"
missing = "memory of the switch upstream"
""" + "".join(
    f"""
[[claim]]
id = "limit_{at}"
claim = "It does not help with {at} flows."
where = "section 3"
kind = "limit"
untestable = "no number of flows is given"
"""
    for at in range(3, 9)
)


def load_with_claims(folder: Path, claims: str) -> paper_files.Paper:
    home = small_paper.write_paper_folder(folder)
    (home / "small" / "claims.toml").write_text(claims, encoding="utf-8")
    return paper_files.load_paper("small", home)


def rows_of(folder: Path) -> list[tuple[str, str]]:
    paper = paper_files.load_paper("small", small_paper.write_paper_folder(folder))
    return [(row.case, row.metric) for row in paper.rows if row.figure == "fig1"]


def test_a_claim_knows_the_rows_that_decide_it(tmp_path: Path) -> None:
    paper = load_with_claims(tmp_path, whole_file(tmp_path))
    first, second = paper.claims[:2]
    assert {row.metric for row in first.rows(paper.rows)} == {"fct"}
    assert second.rows(paper.rows) == [] and second.missing


def test_a_paper_has_at_most_20_claims(tmp_path: Path) -> None:
    last = CLAIMS.rpartition("[[claim]]")[2]
    extra = "".join("[[claim]]" + last.replace("limit_8", f"more_{at}") for at in range(13))
    with pytest.raises(BadInput, match="found 21 claims; expected 1 to 20"):
        load_with_claims(tmp_path, whole_file(tmp_path) + extra)
    with pytest.raises(BadInput, match="found 0 claims; expected 1 to 20"):
        load_with_claims(tmp_path, "")


def test_published_papers_have_8_claims_or_more() -> None:
    assert min(len(paper_files.load_paper(name).claims) for name in paper_files.paper_names()) >= 8


def whole_file(folder: Path) -> str:
    """Returns the claims above, with every other row of figure 1 left out."""
    others = sorted({case for case, metric in rows_of(folder / "first") if metric != "fct"})
    listed = ", ".join(f'{{ figure = "fig1", case = "{case}", why = "about losses" }}' for case in others)
    return CLAIMS.replace('{ figure = "fig1", case = "x 2", why = "about losses" }', listed)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            'kind = "cost"',
            'kind = "price"',
            "claim 2 (it_costs_memory): kind: found 'price'; expected one of",
        ),
        ('metric = "fct" }]', 'metric = "fcd" }]', "rows: found fig1, fcd, which matches no row"),
        ('"it_costs_memory"', '"bouncing_is_quick"', "found 'bouncing_is_quick' twice"),
        ("missing =", "mising =", "mising: found an unknown key"),
        ('missing = "memory of the switch upstream"', "", "rows: found none; expected a row, or `missing`"),
        ('why = "about losses"', f'why = "{"so " * 16}"', "why: found 16 words; expected 15 at most"),
        (
            'missing = "memory of the switch upstream"',
            f'missing = "memory"\nwhy = "{"so " * 26}"',
            "why: found 26 words; expected 25 at most",
        ),
        ('figure = "fig1", case', 'figure = "fig2", case', "expected a row of rows.toml"),
    ],
)
def test_a_wrong_claim_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = whole_file(tmp_path)
    assert old in text
    with pytest.raises(BadInput) as error:
        load_with_claims(tmp_path, text.replace(old, new))
    assert error.value.status == 2 and said in "\n".join(error.value.lines)


def test_a_row_that_a_claim_leaves_out_without_a_reason_is_refused(tmp_path: Path) -> None:
    text = CLAIMS[: CLAIMS.index("leaves_out")] + CLAIMS[CLAIMS.index('\n[[claim]]\nid = "it') :]
    with pytest.raises(BadInput) as error:
        load_with_claims(tmp_path, text)
    assert "in neither; expected it in `rows`, or in `leaves_out` with a reason" in "\n".join(
        error.value.lines
    )


def test_a_row_cannot_decide_a_claim_and_be_left_out(tmp_path: Path) -> None:
    text = whole_file(tmp_path).replace(
        'rows = [{ figure = "fig1", metric = "fct" }]', 'rows = [{ figure = "fig1" }]'
    )
    with pytest.raises(BadInput) as error:
        load_with_claims(tmp_path, text)
    assert "in both" in "\n".join(error.value.lines)


def test_a_claim_that_repeats_alone_decide_is_refused(tmp_path: Path) -> None:
    rows = small_paper.ROWS.replace("one_run = true", 'one_run = true\nrepeat = "other ties"')
    home = small_paper.write_paper_folder(tmp_path, rows=rows)
    (home / "small" / "claims.toml").write_text(whole_file(tmp_path / "other"), encoding="utf-8")
    with pytest.raises(BadInput) as error:
        paper_files.load_paper("small", home)
    assert "claim bouncing_is_quick: rows: found only repeats" in "\n".join(error.value.lines)
