"""Verdicts of claims, by the rows that decide them. Pure: no files, no runs.

A row counts as evidence only if its measure and tolerance are those of its first run. Its tolerance has to be
narrow enough to say something.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from overspill.papers.claims import Claim, Pattern
from overspill.papers.verdicts import FAILS, HOLDS

REPRODUCED, IN_PART, NOT_REPRODUCED = "reproduced", "in part", "not reproduced"
UNTESTABLE, UNDECIDED = "cannot be tested here", "not decided"
CLAIM_VERDICTS = (REPRODUCED, IN_PART, NOT_REPRODUCED, UNTESTABLE, UNDECIDED)
YES, REPEAT, REVISED, ANECDOTE = "yes", "repeat", "revised", "anecdote"
WIDEST = 0.25  # half-width of a tolerance, as a share of the published value

Shown = Mapping[str, Any]  # a row as `rows.json` has it


@dataclass(frozen=True)
class Decided:
    """Verdict of a claim, the rows that decide it, and how many rows of the claim do not count."""

    claim: Claim
    verdict: str
    deciding: Sequence[Shown]
    uncounted: Sequence[Shown]


def counts(row: Shown) -> str:
    """Returns `yes`, or why the row is no evidence.

    It repeats another with other traffic, sizes, seeds or ties; its measure was revised; or its tolerance is too wide.
    """
    if row.get("repeat"):
        return REPEAT
    if row.get("revised", {}).get("of") == "measure":
        return REVISED
    published, half = row["published"], half_width(row)
    if isinstance(published, int | float) and half is not None and half > WIDEST * abs(published) > 0:
        return ANECDOTE
    return YES


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


def decide(claim: Claim, rows: Sequence[Shown]) -> Decided:
    """The verdict of a claim: that of its worst row that counts."""
    those = [row for row in rows if any(matches(one, row) for one in claim.patterns)]
    deciding = [row for row in those if counts(row) == YES and row["measured"] is not None]
    uncounted = [row for row in those if row not in deciding]
    return Decided(claim, verdict(claim, deciding), deciding, uncounted)


def matches(pattern: Pattern, row: Shown) -> bool:
    """Returns true if a pattern is of a row as `rows.json` has it."""
    return (
        row["figure"] == pattern.figure
        and pattern.case in (None, row["case"])
        and pattern.metric in (None, row["metric"])
    )


def verdict(claim: Claim, deciding: Sequence[Shown]) -> str:
    """The worst of the rows; at most in part if no row decides a part of the claim."""
    if not deciding:
        return UNTESTABLE if claim.untestable and not claim.missing else UNDECIDED
    verdicts = {row["verdict"] for row in deciding}
    if FAILS in verdicts:
        return NOT_REPRODUCED
    return REPRODUCED if verdicts == {HOLDS} and not claim.missing else IN_PART


def worst_first(rows: Sequence[Shown]) -> list[Shown]:
    """Rows that are not reproduced before those that are inconclusive, and these before the others."""
    order = {FAILS: 0, HOLDS: 2}
    return sorted(rows, key=lambda row: order.get(row["verdict"], 1))
