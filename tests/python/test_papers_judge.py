"""Tests of verdicts of rows: intervals compared with tolerances, with all edge cases."""

import math
from dataclasses import replace

import pytest

from overspill import stats
from overspill.errors import Failed
from overspill.papers import judge, row_counting, row_words
from overspill.papers.judge import JudgedRow
from overspill.papers.paper_rows import Row, Tolerance
from overspill.papers.spec import Measured
from overspill.papers.verdicts import RowRevision

NUMBER = Row("fig1", "c", "m", "%", 10.0, "text", "value", Tolerance({"abs": 1}, 9, 11), False, False, "")
TEXT = replace(NUMBER, published="S1 S4", kind="exact", tolerance=None)


def judge_values(values: list[float] | list[str], row: Row = NUMBER) -> JudgedRow:
    return judge.judge_row(row, Measured(row.case, row.metric, values))


def values_around(centre: float, half: float) -> list[float]:
    """Returns three values with this mean and a 95 % interval of `centre` ± `half`."""
    reach = half / (stats.half_width([-1.0, 0.0, 1.0]) or 1.0)
    return [centre - reach, centre, centre + reach]


@pytest.mark.parametrize(
    ("centre", "half", "verdict"),
    [
        (10, 0.5, "holds"),
        (10, 0.999, "holds"),
        (10.6, 0.5, "inconclusive"),
        (11.4, 0.5, "inconclusive"),
        (11.6, 0.5, "fails"),
        (8.6, 0.5, "inconclusive"),
        (8.4, 0.5, "fails"),
        (10, 2, "inconclusive"),
    ],
)
def test_a_verdict_is_by_the_whole_interval(centre: float, half: float, verdict: str) -> None:
    found = judge_values(values_around(centre, half))
    assert found.verdict == verdict
    assert found.measured == pytest.approx(centre) and found.ci95 == pytest.approx(half) and found.seeds == 3


def test_an_interval_that_only_touches_the_tolerance_from_outside_does_not_yet_fail() -> None:
    within = Tolerance({"max": 2}, high=2)
    assert judge.compare_interval((2.0, 3.0), within, None) == "inconclusive"
    assert judge.compare_interval((1.0, 2.0), within, None) == "holds"
    assert judge.compare_interval((2.0 + 1e-6, 3.0), within, None) == "fails"


@pytest.mark.parametrize(
    ("low", "high", "value", "verdict"),
    [
        (5, math.inf, 5.0, "holds"),
        (5, math.inf, 1e12, "holds"),
        (5, math.inf, 4.99, "fails"),
        (-math.inf, 0, 0.0, "holds"),
        (-math.inf, 0, 1e-6, "fails"),
        (10 / 1.5, 15, 15.0, "holds"),
        (10 / 1.5, 15, 6.6, "fails"),
    ],
)
def test_a_tolerance_may_have_one_end(low: float, high: float, value: float, verdict: str) -> None:
    row = replace(NUMBER, published=None, tolerance=Tolerance({}, low, high))
    assert judge_values([value], row).verdict == verdict


def test_the_edge_of_an_exact_tolerance_is_in_whatever_binary_makes_of_it() -> None:
    row = replace(NUMBER, published=0.7, tolerance=Tolerance({"abs": 0.1}, 0.7 - 0.1, 0.7 + 0.1))
    assert 0.8 > 0.7 + 0.1
    for value in (0.8, 0.6, 0.59999999999999):
        assert judge_values([value], row).verdict == "holds"
    assert judge_values([0.80000001], row).verdict == "fails"
    nothing = replace(NUMBER, published=0, tolerance=Tolerance({"abs": 0}, 0, 0))
    assert (
        judge_values([0.0, 0.0], nothing).verdict == "holds"
        and judge_values([1e-12], nothing).verdict == "fails"
    )


def test_values_without_chance_are_a_point() -> None:
    assert judge_values([10.0]) == JudgedRow(10.0, None, 1, "holds")
    assert judge_values([0.1 + 10.9] * 7) == JudgedRow(11.0, 0.0, 7, "holds")


def test_texts_hold_where_every_seed_gives_the_published_one() -> None:
    assert judge_values(["S1 S4"] * 3, TEXT) == JudgedRow("S1 S4", None, 3, "holds")
    assert judge_values(["S1", "S1 S4", "S1"], TEXT) == JudgedRow(
        "S1 (2 of 3); S1 S4 (1 of 3)", None, 3, "fails"
    )
    assert judge_values(["S1 S4", "S1 S4", "S2"], TEXT).verdict == "fails"
    assert judge_values(["S2"], TEXT) == JudgedRow("S2", None, 1, "fails")


def test_a_value_that_is_not_finite_fails_with_a_note() -> None:
    found = judge_values([10.0, math.nan, 10.0])
    assert (found.verdict, found.measured, found.ci95, found.seeds) == ("fails", None, None, 3)
    assert found.note == "not finite: 1 of 3 values; the mean of the others is 10"
    assert judge_values([math.inf]).note == "not finite: 1 of 1 values"


def test_a_row_that_nothing_measures_fails_unless_it_is_for_later() -> None:
    assert judge.judge_row(NUMBER, None, "no code") == JudgedRow(None, None, 0, "fails", "no code")
    later = replace(NUMBER, is_for_later=True, note="hardware")
    assert judge.judge_row(later, None).verdict == "inconclusive" and not later.is_counted
    with pytest.raises(Failed, match="marked `later`"):
        judge_values([1.0], later)


def test_numbers_are_not_judged_as_texts() -> None:
    with pytest.raises(Failed, match="measured are texts, but a number is published"):
        judge_values(["S1"])
    with pytest.raises(Failed, match="measured are numbers, but a text is published"):
        judge_values([1.0], TEXT)


def test_a_prediction_interval_is_that_of_one_more_run() -> None:
    values = [8.0, 9.0, 10.0, 11.0, 12.0]
    low, high = judge.prediction_interval(values, 0.95) or (0.0, 0.0)
    # t(0.975, 4) = 2.776445, s = sqrt(2.5), n = 5.
    assert high - 10 == pytest.approx(2.776445 * math.sqrt(2.5) * math.sqrt(1.2), rel=1e-6) == 10 - low
    row = replace(NUMBER, tolerance=Tolerance({"prediction": 0.95}, prediction=0.95))
    assert judge_values(values, replace(row, published=14.8)).verdict == "holds"
    assert judge_values(values, replace(row, published=14.9)).verdict == "fails"
    assert judge_values(values[:2], row).verdict == "inconclusive"
    assert judge_values([10.0] * 3, row).verdict == "holds"


def test_a_published_text_may_be_that_of_one_more_run() -> None:
    row = replace(TEXT, published="S1", tolerance=Tolerance({"prediction": 0.95}, prediction=0.95))
    assert judge_values(["S1"] * 27 + ["S2"] * 3, row).verdict == "holds"
    assert judge_values(["S1"] * 2 + ["S2"] * 28, row).verdict == "holds", "28 of 30 are less than 95 %"
    assert judge_values(["S1"] + ["S2"] * 29, row).verdict == "fails", "29 of 30 are more"
    assert judge_values(["S1"] + ["S2"] * 18 + ["S3"], row).verdict == "holds", (
        "equally frequent ones together"
    )
    assert judge_values(["S2"] * 30, row).verdict == "fails"
    assert judge_values(["S1"] * 2, row).verdict == "inconclusive"
    assert judge_values(["S1"] * 27 + ["S2"] * 3, replace(row, tolerance=None)).verdict == "fails"


def test_where_the_paper_shows_one_run_the_row_says_whether_ours_may_be_it() -> None:
    row = replace(NUMBER, is_one_run=True)
    found = judge_values([8.0, 10.0, 12.0], row)
    assert found.prediction is not None and found.prediction["inside"] is True
    assert judge_values([20.0, 20.1, 20.2], row).prediction["inside"] is False  # type: ignore[index]
    assert judge_values([10.0], row).prediction == {"low": None, "high": None, "inside": None}
    assert judge_values([10.1, 10.1], row).prediction == {"low": 10.1, "high": 10.1, "inside": None}
    assert "prediction" not in judge.row_document("p", NUMBER, judge_values([10.0]))
    assert judge.row_document("p", row, judge.judge_row(row, None))["prediction"]["inside"] is None


def test_only_what_the_paper_says_is_in_the_score() -> None:
    bases = ("text", "table", "axis", "derived", "own_model", "calibrated", "setting")
    rows = [replace(NUMBER, basis=basis) for basis in bases]
    values = (10.0, 20.0, 10.0, 10.0, 10.0, 20.0, 10.0)
    made = [
        judge.row_document("p", row, judge_values([value] * 2, row))
        for row, value in zip(rows, values, strict=True)
    ]
    made.append(
        judge.row_document(
            "p", replace(NUMBER, is_for_later=True), judge.judge_row(replace(NUMBER, is_for_later=True), None)
        )
    )
    made.append(judge.row_document("p", NUMBER, judge_values([math.nan] * 2)))
    score = row_counting.count_verdicts(
        row_counting.with_classification(made, []), ("holds", "fails", "inconclusive")
    )
    assert score == {"of": 4, "holds": 2, "fails": 2, "inconclusive": 0}, "undefined in every run fails"


def test_one_seed_gives_no_verdict_but_of_what_is_exact() -> None:
    exact = replace(NUMBER, kind="exact", tolerance=Tolerance({"abs": 0}, 10.0, 10.0))
    one = Measured("all", "m", [10.0])
    assert judge.judge_row(NUMBER, one, "", 1).verdict == "inconclusive"
    assert judge.judge_row(NUMBER, one, "", 0).verdict == "holds", "a function has no seeds"
    assert judge.judge_row(NUMBER, one, "", 5).verdict == "holds", "of five seeds together"
    assert judge.judge_row(exact, one, "", 1).verdict == "holds"


@pytest.mark.parametrize(
    ("form", "values", "verdict"),
    [
        ({"min": 0}, [0.0, 0.0], "inconclusive"),
        ({"max": 0}, [0.0, 0.0], "inconclusive"),
        ({"max": 1}, [1.0, 1.0], "inconclusive"),
        ({"min": 0}, [0.1, 0.1], "holds"),
        ({"min": 0}, [0.0, 1e-9], "inconclusive"),
        ({"max": 0.1}, [0.0, 0.0], "holds"),
        ({"max": 2}, [2.0, 2.0], "holds"),
    ],
)
def test_an_order_of_two_equal_sides_is_inconclusive(
    form: dict[str, float], values: list[float], verdict: str
) -> None:
    within = Tolerance(form, form.get("min", -math.inf), form.get("max", math.inf))
    order = replace(NUMBER, published=None, kind="order", tolerance=within, is_one_run=False)
    found = judge_values(values, order)
    assert found.verdict == verdict
    assert (found.note == judge.EQUAL_SIDES_NOTE) == (verdict == "inconclusive" and values[0] == values[1])
    exact = judge_values([0.0, 0.0], replace(order, kind="exact", tolerance=Tolerance({"min": 0}, 0.0)))
    assert exact.verdict == "holds", "counts of 0, not an order"


def test_an_exact_row_fails_where_one_seed_does() -> None:
    exact = replace(NUMBER, kind="exact", tolerance=Tolerance({"abs": 1}, 9.0, 11.0))
    assert judge_values([10.0, 10.5, 9.5], exact).verdict == "holds"
    assert judge_values([10.0] * 20 + [11.5], exact).verdict == "fails"


def test_rows_that_were_revised_are_told_apart_with_what_they_were() -> None:
    kept = replace(NUMBER, metric="kept")
    mended = replace(NUMBER, metric="mended", revised=RowRevision("fails", "another setting", settings=True))
    lost = replace(NUMBER, metric="lost", revised=RowRevision("holds", "another setting", settings=True))
    new = replace(NUMBER, metric="new", revised=RowRevision("new", "a second case"))
    other = replace(mended, metric="other", basis="derived")
    rows = [kept, mended, lost, new, other]
    values = {"kept": 10.0, "mended": 10.0, "lost": 20.0, "new": 10.0, "other": 10.0}
    made = [
        judge.row_document("p", row, judge.judge_row(row, Measured("c", row.metric, [values[row.metric]])))
        for row in rows
    ]
    assert "revised" not in made[0]
    assert made[1]["revised"] == {"verdict": "fails", "why": "another setting", "of": "settings"}
    assert made[3]["revised"]["of"] == "measure"
    counted = [row["counts"] for row in row_counting.with_classification(made, [])]
    assert counted == ["yes", "yes", "yes", "revised", "derived"]
    assert [row_words.format_verdict_with_former(row) for row in made] == [
        "✓ reproduced",
        "✓ reproduced, before revision: not reproduced",
        "✗ not reproduced, before revision: reproduced",
        "✓ reproduced, new",
        "✓ reproduced, before revision: not reproduced",
    ]
    assert row_words.revision_reasons(made) == [
        "another setting: 3 rows, 2 reproduced, 1 before. No longer: fig1, c: lost",
        "a second case: 1 row, 1 reproduced, 0 before, 1 new",
    ]


def test_one_more_part_lies_between_order_statistics() -> None:
    row = replace(NUMBER, tolerance=Tolerance({"prediction": 0.95}, prediction=0.95), is_one_run=True)
    parts = [0.0] * 60 + [15.0] * 18 + [10.0]  # 79 parts: the second value from each end
    found = judge.judge_row(row, Measured("c", "m", parts, seeds=2))
    assert (found.ci95, found.seeds, found.verdict) == (None, 2, "holds")
    assert found.prediction == {"low": 0, "high": 15, "inside": True}
    assert (
        judge.judge_row(replace(row, published=16.0), Measured("c", "m", parts, seeds=2)).verdict == "fails"
    )
    assert judge.distribution_free_prediction_interval([float(one) for one in range(79)], 0.95) == (1, 77)
    assert judge.distribution_free_prediction_interval([1.0] * 38, 0.95) is None
    assert judge.judge_row(row, Measured("c", "m", [10.0] * 38, seeds=2)).verdict == "inconclusive"
