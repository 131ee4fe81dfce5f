"""Which rows count as evidence, and why another does not. Pure: no files, no runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from overspill.papers.rows import COUNTED
from overspill.papers.verdicts import INCONCLUSIVE

YES, REPEAT, REVISED, ANECDOTE, UNPUBLISHED = "yes", "repeat", "revised", "anecdote", "unpublished"
COUNTS = (YES, REPEAT, REVISED, ANECDOTE, UNPUBLISHED)
EVIDENCE = (YES, UNPUBLISHED)  # rows that may decide a claim
WIDEST = 0.25  # half-width of a tolerance, as a share of the published value

Shown = Mapping[str, Any]  # a row as `rows.json` has it


def counts(row: Shown, rows: Sequence[Shown]) -> str:
    """Returns `yes`, or why the row does not count; `rows` are all of the paper.

    It repeats another one with other traffic, sizes, seeds or ties (`repeat`); its measure or tolerance
    changed after its first run (`revised`); its tolerance is too wide (`anecdote`); or it holds what the
    paper does not state itself, such as a value by one of its equations (`unpublished`).
    """
    if row.get("repeat"):
        return REPEAT
    if row.get("revised", {}).get("of") == "measure":
        return REVISED
    if is_wide(row, rows):
        return ANECDOTE
    return YES if row["basis"] in COUNTED else UNPUBLISHED


def is_wide(row: Shown, rows: Sequence[Shown]) -> bool:
    """Returns true if a tolerance is too wide to say something.

    It reaches further than a quarter of the published value; or it is a prediction interval that is wider
    than any tolerance of another kind in the same unit.
    """
    published, half = row["published"], half_width(row)
    if isinstance(published, int | float) and half is not None and half > WIDEST * abs(published) > 0:
        return True
    if not predicts(row):
        return False
    if isinstance(published, str):
        return True
    others = [half_width(one) for one in rows if one["unit"] == row["unit"] and not predicts(one)]
    return half is None or half > max((one for one in others if one is not None), default=0.0)


def predicts(row: Shown) -> bool:
    """Returns true if the tolerance is the interval of one of our runs."""
    return "prediction" in (row["tolerance"] or {})


def half_width(row: Shown) -> float | None:
    """Half of the width of a row's tolerance in its unit; `None` for orders and texts, which have none."""
    form, published = row["tolerance"], row["published"]
    if not form or isinstance(published, str) or published is None:
        return None
    if "prediction" in form:
        found = row.get("prediction")
        return None if not found or found["low"] is None else (found["high"] - found["low"]) / 2
    if "abs" in form:
        return float(form["abs"])
    if "rel" in form:
        return float(form["rel"] * abs(published))
    if "factor" in form:
        return float((form["factor"] - 1 / form["factor"]) * abs(published) / 2)
    return float(form["max"] - form["min"]) / 2 if set(form) == {"min", "max"} else None


def marked(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with what each counts as (`counts`)."""
    return [{**row, "counts": counts(row, rows)} for row in rows]


def score(rows: Sequence[Shown], verdicts: Sequence[str]) -> dict[str, int]:
    """How many of the rows that count have each verdict, without those that are not run yet."""
    waits = (row["measured"] is None and row["verdict"] == INCONCLUSIVE for row in rows)
    every = zip(rows, waits, strict=True)
    counted = [row["verdict"] for row, later in every if row["counts"] == YES and not later]
    return {"of": len(counted), **{verdict: counted.count(verdict) for verdict in verdicts}}
