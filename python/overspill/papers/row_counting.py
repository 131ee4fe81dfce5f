"""Rules by which rows count as evidence, without access to files or runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from overspill.papers.paper_rows import COUNTED_BASES, Row
from overspill.papers.verdicts import FAILS, INCONCLUSIVE

COUNTED, REPEATED, REVISED, ANECDOTAL = "yes", "repeat", "revised", "anecdote"
DERIVED, UNPUBLISHED, NOT_RUN = "derived", "unpublished", "not run"
COUNT_CLASSES = (COUNTED, DERIVED, REPEATED, REVISED, ANECDOTAL, UNPUBLISHED, NOT_RUN)
DERIVED_BASES = ("derived", "own_model")  # follows from the paper by arithmetic or by a model
MAX_TOLERANCE_SHARE = 0.25  # largest reach of a tolerance, as a share of the published value

RowDocument = Mapping[str, Any]  # row in the form of `rows.json`


def classify_row(row: RowDocument, widest: Mapping[str, float]) -> str:
    """Returns `yes`, or the reason why a row does not count; `widest`: see `widest_tolerance_by_unit`.

    A row does not count if it has not been run (`not run`); if it repeats another one with other traffic,
    sizes, seeds or ties (`repeat`); if it was added, or its measure or tolerance changed, after a first run
    (`revised`); if its tolerance is too wide (`anecdote`); if its value only follows from the paper
    (`derived`); or if it is an input of the runs (`unpublished`). See `is_evidence` for rows of these
    classes that decide claims.
    """
    if is_marked_later(row):
        return NOT_RUN
    if row.get("repeat"):
        return REPEATED
    if row.get("revised", {}).get("of") == "measure":
        return REVISED
    if has_wide_tolerance(row, widest):
        return ANECDOTAL
    if row["basis"] in COUNTED_BASES:
        return COUNTED
    return DERIVED if row["basis"] in DERIVED_BASES else UNPUBLISHED


def is_evidence(row: RowDocument) -> bool:
    """Returns true if a row may decide a claim.

    A row with a wide tolerance may only if it is not reproduced. A revised row may only if it was not
    reproduced before its revision either.
    """
    if row["counts"] == ANECDOTAL:
        return bool(row["verdict"] == FAILS)
    if row["counts"] == REVISED:
        return bool(row["verdict"] == FAILS == row["revised"]["verdict"])
    return row["counts"] in (COUNTED, DERIVED)


def has_wide_tolerance(row: RowDocument, widest: Mapping[str, float]) -> bool:
    """Returns true if a tolerance is too wide to be meaningful.

    It is if it is a prediction interval that reaches further than any tolerance of another kind in the same
    unit; or if it reaches further than a quarter of the value.
    """
    value, found = published_value_or_middle(row["published"], row["tolerance"]), max_tolerated_deviation(row)
    if has_prediction_interval(row) and (found is None or found > widest.get(row["unit"], 0.0)):
        return True
    if value is not None and found is not None and found > MAX_TOLERANCE_SHARE * abs(value):
        # Every tolerance is more than a share of a published 0, so this rule does not apply to 0.
        # A range whose middle is 0 is too wide.
        return value != 0 or row["published"] is None
    return False


def has_prediction_interval(row: RowDocument) -> bool:
    """Returns true if the tolerance of a row is a prediction interval for one of our runs."""
    return "prediction" in (row["tolerance"] or {})


def published_value_or_middle(
    published: float | str | None, form: Mapping[str, float] | None
) -> float | None:
    """Returns the published value of a row, or the middle of its tolerance range if no value is published."""
    if isinstance(published, int | float):
        return float(published)
    if published is None and set(form or {}) == {"min", "max"}:
        assert form is not None
        return (form["min"] + form["max"]) / 2
    return None


def max_tolerated_deviation(row: RowDocument) -> float | None:
    """Returns how far a tolerance reaches from its value, in the row's unit; `None` for orders and texts."""
    form, value = row["tolerance"], published_value_or_middle(row["published"], row["tolerance"])
    if not form or value is None:
        return None
    if "prediction" in form:
        found = row.get("prediction")
        return None if not found or found["low"] is None else (found["high"] - found["low"]) / 2
    if "abs" in form:
        return float(form["abs"])
    if "rel" in form:
        return float(form["rel"] * abs(value))
    if "factor" in form:
        return float((form["factor"] - 1) * abs(value))
    return float(max(form["max"] - value, value - form["min"])) if set(form) == {"min", "max"} else None


def widest_tolerance_by_unit(rows: Iterable[Row]) -> dict[str, float]:
    """Returns by unit the widest tolerance of rows that count, apart from prediction intervals."""
    found: dict[str, float] = {}
    for row in rows:
        form = None if row.tolerance is None else dict(row.tolerance.form)
        shown = {"published": row.published, "tolerance": form, "unit": row.unit}
        size = None if has_prediction_interval(shown) else max_tolerated_deviation(shown)
        revised = row.revised is not None and not row.revised.settings
        if size is None or not row.is_counted or row.repeat or revised or has_wide_tolerance(shown, {}):
            continue
        found[row.unit] = max(size, found.get(row.unit, 0.0))
    return found


def with_classification(rows: Sequence[dict[str, Any]], known: Iterable[Row]) -> list[dict[str, Any]]:
    """Returns rows with a field `counts`: `yes` or the reason if not; `known` are all rows of the paper."""
    widest = widest_tolerance_by_unit(known)
    return [{**row, "counts": classify_row(row, widest)} for row in rows]


def is_marked_later(row: RowDocument) -> bool:
    """Returns true if a row is marked `later`, so that it has not been measured."""
    return bool(row["measured"] is None and row["verdict"] == INCONCLUSIVE)


def count_verdicts(rows: Sequence[RowDocument], verdicts: Sequence[str]) -> dict[str, int]:
    """Counts verdicts of rows that count, and of wide or revised rows that decide claims (`is_evidence`)."""
    counted = [row["verdict"] for row in rows if is_evidence(row) and row["counts"] != DERIVED]
    return {"of": len(counted), **{verdict: counted.count(verdict) for verdict in verdicts}}
