"""Judgement of rows: values by seed against published ones, without access to files or runs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from overspill import Failed, stats
from overspill.papers.paper_rows import Row, Tolerance
from overspill.papers.spec import Measured
from overspill.papers.verdicts import FAILS, HOLDS, INCONCLUSIVE

# Relative extension of tolerances: 0.13 + 0.005 is not 0.135 in binary.
TOLERANCE_ROUNDING = 1e-9
MIN_SEEDS = 3  # fewest seeds for an estimate of the spread of single runs
IntervalFunction = Callable[
    [Sequence[float], float], tuple[float, float] | None
]  # interval of one more value


@dataclass(frozen=True)
class JudgedRow:
    """Verdict of a row with its measured value; `ci95` is the half-width of the mean's 95% interval."""

    measured: float | str | None
    ci95: float | None
    seeds: int
    verdict: str
    note: str = ""
    prediction: Mapping[str, Any] | None = None


PLATFORM = "model"  # platform of the measurement: a model in software
ONE_SEED_NOTE = "one seed gives no interval, and so no verdict"
EQUAL_SIDES_NOTE = "The two compared values are equal in every run."


def judge_row(
    row: Row, found: Measured | None, missing: str = "no code computes this value", seeds: int = 0
) -> JudgedRow:
    """Returns the verdict of a row; `missing` is the reason why nothing was measured.

    `seeds` is the number of seeds of the runs, 0 without runs: with one seed only exact rows are judged.
    Raises `Failed` for an error in the code of a figure.
    """
    made = judge_values(row, found, missing)
    if seeds != 1 or row.kind == "exact" or made.measured is None or isinstance(made.measured, str):
        return made
    return replace(made, verdict=INCONCLUSIVE, note=join_notes(made.note, ONE_SEED_NOTE))


def judge_values(row: Row, found: Measured | None, missing: str) -> JudgedRow:
    """Returns the verdict of a row from its values, before the rule for runs with a single seed."""
    if found is None:
        if row.is_for_later:
            return JudgedRow(None, None, 0, INCONCLUSIVE, "", run_interval(row, ()))
        return JudgedRow(None, None, 0, FAILS, missing, run_interval(row, ()))
    place = f"{row.figure}, {row.case}, {row.metric}"
    if row.is_for_later:
        raise Failed(f"{place}: measured, but marked `later` in rows.toml; remove `later`")
    if not len(found.values):
        return JudgedRow(None, None, 0, FAILS, join_notes(found.note, missing), run_interval(row, ()))
    texts = [one for one in found.values if isinstance(one, str)]
    if texts and len(texts) != len(found.values):
        raise Failed(f"{place}: found numbers and texts; expected one kind of value")
    if bool(texts) != isinstance(row.published, str):
        kinds = ("texts", "a number") if texts else ("numbers", "a text")
        raise Failed(f"{place}: measured are {kinds[0]}, but {kinds[1]} is published")
    if texts:
        return judge_texts(row, texts, found.note)
    values = [float(one) for one in found.values]
    if found.seeds is None:
        return judge_numbers(row, values, found.note)
    return replace(
        judge_numbers(row, values, found.note, distribution_free_prediction_interval),
        ci95=None,
        seeds=found.seeds,
    )


def judge_texts(row: Row, texts: Sequence[str], note: str) -> JudgedRow:
    """Judges texts: reproduced if all equal the published text, or if a single run is likely to give it."""
    counts = Counter(texts)
    # Equally frequent texts are in alphabetical order: the result must not depend on the order of runs.
    order = sorted(counts, key=lambda text: (-counts[text], text))
    shown = order[0]
    if len(order) > 1:
        shown = "; ".join(f"{text} ({counts[text]} of {len(texts)})" for text in order)
    if row.tolerance is not None and row.tolerance.prediction is not None:
        likely = most_frequent_texts(counts, order, row.tolerance.prediction)
        verdict = INCONCLUSIVE if len(texts) < MIN_SEEDS else HOLDS if row.published in likely else FAILS
    else:
        verdict = HOLDS if order == [row.published] else FAILS
    return JudgedRow(shown, None, len(texts), verdict, note)


def most_frequent_texts(counts: Mapping[str, int], order: Sequence[str], level: float) -> list[str]:
    """Returns the most frequent texts that together have this share of all runs; ties are included."""
    needed = (level - TOLERANCE_ROUNDING) * sum(counts.values())
    found: list[str] = []
    for text in order:
        if sum(counts[one] for one in found) >= needed and counts[text] < counts[found[-1]]:
            break
        found.append(text)
    return found


def judge_numbers(
    row: Row, values: Sequence[float], note: str, of_one: IntervalFunction | None = None
) -> JudgedRow:
    """Judges numbers: reproduced if the mean's interval, or each exact value, is within the tolerance."""
    known = [one for one in values if math.isfinite(one)]
    if len(known) < len(values):
        text = f"not finite: {len(values) - len(known)} of {len(values)} values"
        if known:
            text += f"; the mean of the others is {stats.mean(known):.6g}"
        return JudgedRow(None, None, len(values), FAILS, join_notes(note, text), run_interval(row, ()))
    centre, half = mean_and_half_width(values)
    if has_equal_sides(row, centre, half):
        return JudgedRow(centre, half, len(values), INCONCLUSIVE, join_notes(note, EQUAL_SIDES_NOTE))
    assert row.tolerance is not None
    of_one = of_one or prediction_interval
    if row.tolerance.prediction is not None:
        verdict = judge_by_prediction(row, values, row.tolerance.prediction, of_one)
    elif row.kind == "exact":
        each = (compare_interval((one, one), row.tolerance, row.published) for one in values)
        verdict = HOLDS if all(one == HOLDS for one in each) else FAILS
    else:
        reach = half or 0.0
        verdict = compare_interval((centre - reach, centre + reach), row.tolerance, row.published)
    return JudgedRow(centre, half, len(values), verdict, note, run_interval(row, values, of_one))


def has_equal_sides(row: Row, centre: float, half: float | None) -> bool:
    """Returns true if a difference is exactly 0, or a ratio exactly 1, although one side should be more."""
    if half or row.published is not None or row.kind != "order" or row.tolerance is None:
        return False
    bounds = list(row.tolerance.form.values())
    return bounds in ([0], [1]) and centre == bounds[0]


def mean_and_half_width(values: Sequence[float]) -> tuple[float, float | None]:
    """Returns the mean and half of its interval: `None` for one value, 0 if all are equal."""
    if len(values) == 1:
        return values[0], None
    if min(values) == max(values):
        return values[0], 0.0
    return stats.mean(values), stats.half_width(values)


def compare_interval(interval: tuple[float, float], within: Tolerance, published: float | str | None) -> str:
    """Returns the verdict for an interval: inside, outside, or partly inside the tolerance."""
    size = abs(published) if isinstance(published, int | float) else 0.0
    low, high = (
        bound if math.isinf(bound) else bound + sign * TOLERANCE_ROUNDING * max(abs(bound), size)
        for bound, sign in ((within.low, -1), (within.high, 1))
    )
    if low <= interval[0] and interval[1] <= high:
        return HOLDS
    return FAILS if interval[1] < low or interval[0] > high else INCONCLUSIVE


def prediction_interval(values: Sequence[float], level: float) -> tuple[float, float] | None:
    """Returns the prediction interval of one run: mean ± t s sqrt(1 + 1/n); `None` below two values."""
    if len(values) < 2:
        return None
    centre, half = mean_and_half_width(values)
    if not half:
        return centre, centre
    # The half-width for the mean is t s / sqrt(n): times sqrt(n + 1) it is t s sqrt(1 + 1/n).
    reach = (stats.half_width(values, level) or 0.0) * math.sqrt(len(values) + 1)
    return centre - reach, centre + reach


def distribution_free_prediction_interval(
    values: Sequence[float], level: float
) -> tuple[float, float] | None:
    """Returns a distribution-free prediction interval for one more value, with confidence `level` or more.

    From the k-th least value to the k-th largest, of n, one more is included with probability (n + 1 - 2 k) /
    (n + 1). `None` with too few values. Counts of a packet are bounded, and often at either end: t would
    reach beyond.
    """
    ordered = sorted(values)
    k = math.floor((1 - level) / 2 * (len(ordered) + 1) + TOLERANCE_ROUNDING)
    return (ordered[k - 1], ordered[-k]) if k else None


def judge_by_prediction(row: Row, values: Sequence[float], level: float, of_one: IntervalFunction) -> str:
    """Returns the verdict: reproduced if the prediction interval `of_one` contains the published value."""
    between = of_one(values, level) if len(values) >= MIN_SEEDS else None
    if between is None:
        return INCONCLUSIVE
    return HOLDS if is_published_inside(row, between) else FAILS


def is_published_inside(row: Row, between: tuple[float, float]) -> bool:
    """Returns true if the published value is in the given interval."""
    value = float(row.published or 0.0)
    return compare_interval((value, value), Tolerance({}, *between), value) == HOLDS


def run_interval(
    row: Row, values: Sequence[float], of_one: IntervalFunction = prediction_interval
) -> Mapping[str, Any] | None:
    """Returns the 95% prediction interval for one run, and whether it contains the published value.

    `None` unless the row shows a single run of the paper.
    """
    if not row.is_one_run:
        return None
    between = of_one(values, stats.CONFIDENCE_LEVEL)
    if between is None:
        return {"low": None, "high": None, "inside": None}
    # Equal runs give an interval without width, which a published value may miss only because it is rounded.
    chance = between[0] < between[1]
    return {
        "low": between[0],
        "high": between[1],
        "inside": is_published_inside(row, between) if chance else None,
    }


def join_notes(*notes: str) -> str:
    """Joins the notes of a row into one."""
    return "; ".join(note for note in notes if note)


def with_measured_details(written: str, measured: str) -> str:
    """Returns the note of a row from `rows.toml`, followed by details of its runs in parentheses."""
    return f"{written} ({measured})" if written and measured else written or measured


def row_document(paper: str, row: Row, found: JudgedRow) -> dict[str, Any]:
    """Returns a row, its verdict and its measured value as the JSON document of `--json`."""
    made: dict[str, Any] = {
        "paper": paper,
        "figure": row.figure,
        "case": row.case,
        "metric": row.metric,
        "unit": row.unit,
        "published": row.published,
        "measured": found.measured,
        "ci95": found.ci95,
        "seeds": found.seeds,
        "platform": PLATFORM,
        "basis": row.basis,
        "kind": row.kind,
        "tolerance": None if row.tolerance is None else dict(row.tolerance.form),
        "verdict": found.verdict,
        "ok": found.verdict == HOLDS,
        "note": with_measured_details(row.note, found.note),
    }
    if row.repeat:
        made["repeat"] = row.repeat
    if found.prediction is not None:
        made["prediction"] = dict(found.prediction)
    if row.revised is not None:
        made["revised"] = {
            "verdict": row.revised.verdict,
            "why": row.revised.reason,
            "of": row.revised.change,
        }
    return made
