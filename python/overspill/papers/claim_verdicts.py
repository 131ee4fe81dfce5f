"""Verdicts of claims, from the rows that decide them, without access to files or runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from overspill.papers.claims import Claim, Pattern
from overspill.papers.counting import ANECDOTE, REVISED, Shown, is_evidence, is_later
from overspill.papers.verdicts import FAILS, HOLDS, INCONCLUSIVE, NEW

REPRODUCED, IN_PART, NOT_REPRODUCED = "reproduced", "in part", "not reproduced"
UNTESTABLE, UNDECIDED = "cannot be tested here", "not decided"
CLAIM_VERDICTS = (REPRODUCED, IN_PART, NOT_REPRODUCED, UNTESTABLE, UNDECIDED)


Key = tuple[str, str, str]  # figure, case and metric


@dataclass(frozen=True)
class Setting:
    """Sensitivity run: rows with one open parameter changed, and the paper's own rows on as many seeds."""

    name: str
    title: str
    own: Mapping[Key, Mapping[str, Any]]
    changed: Mapping[Key, Mapping[str, Any]]


@dataclass(frozen=True)
class Decided:
    """Verdict of a claim, the rows that decide it, and rows of the claim that do not."""

    claim: Claim
    verdict: str
    deciding: Sequence[Shown]
    uncounted: Sequence[Shown]


def decide(claim: Claim, rows: Sequence[Shown]) -> Decided:
    """Returns the verdict of a claim: that of its worst row that counts."""
    those = [row for row in rows if any(matches(one, row) for one in claim.patterns)]
    deciding = [row for row in those if is_evidence(row) and has_value(row)]
    uncounted = [row for row in those if row not in deciding]
    return Decided(claim, verdict(claim, deciding, uncounted), deciding, uncounted)


def has_value(row: Shown) -> bool:
    """Returns true if runs gave a value or failed to; a row that is for later has none."""
    return not is_later(row)


def settings_of(document: Mapping[str, Any] | None) -> list[Setting]:
    """Returns the sensitivity runs in the document of `what_if.json.gz`."""
    if document is None:
        return []
    found = []
    for one in document["settings"]:
        own, changed = {}, {}
        for row in document["rows"]:
            cell = row["settings"].get(one["name"])
            if cell is None:
                continue
            key = row["figure"], row["case"], row["metric"]
            own[key] = row["fewer_seeds"].get(str(cell["seeds"]), row["own"])
            changed[key] = cell
        found.append(Setting(one["name"], one["title"], own, changed))
    return found


def find_turned_verdicts(
    one: Decided, rows: Sequence[Shown], settings: Sequence[Setting]
) -> list[tuple[Setting, str]]:
    """Returns the settings under which a claim has another verdict, each with that verdict.

    A setting is compared with the paper's own runs on as many seeds, and only by the rows that it changes.
    """
    found = []
    for setting in settings:
        before = decide(one.claim, [replaced(row, setting.own) for row in rows]).verdict
        after = decide(one.claim, [replaced(row, setting.changed) for row in rows]).verdict
        if after not in (before, one.verdict):
            found.append((setting, after))
    return found


def replaced(row: Shown, cells: Mapping[Key, Mapping[str, Any]]) -> Shown:
    """Returns a row with the values under a setting."""
    cell = cells.get((row["figure"], row["case"], row["metric"]))
    return row if cell is None else {**row, **cell}


def matches(pattern: Pattern, row: Shown) -> bool:
    """Returns true if a pattern matches a row of `rows.json`."""
    return (
        row["figure"] == pattern.figure
        and pattern.case in (None, row["case"])
        and pattern.metric in (None, row["metric"])
    )


def verdict(claim: Claim, deciding: Sequence[Shown], uncounted: Sequence[Shown] = ()) -> str:
    """Returns the worst verdict of the rows; at most in part if no row that counts decides a part."""
    if not deciding:
        return UNTESTABLE if claim.untestable and not claim.missing else UNDECIDED
    verdicts = {verdict_of(row) for row in deciding}
    if FAILS in verdicts:
        return NOT_REPRODUCED
    partly = claim.missing or any(limits(row) for row in uncounted)
    return REPRODUCED if verdicts == {HOLDS} and not partly else IN_PART


def limits(row: Shown) -> bool:
    """Returns true if a row that does not count was missed, before or after its revision."""
    if row["counts"] not in (REVISED, ANECDOTE) or is_later(row):
        return False
    former = row.get("revised", {}).get("verdict", HOLDS)
    return row["verdict"] != HOLDS or (row["counts"] == REVISED and former not in (HOLDS, NEW))


def verdict_of(row: Shown) -> str:
    """Returns a row's verdict; inconclusive if an order is expected and both sides are equal in every run."""
    return INCONCLUSIVE if has_equal_sides(row) else str(row["verdict"])


def has_equal_sides(row: Shown) -> bool:
    """Returns true if a difference is exactly 0, or a ratio exactly 1, although one side should be more."""
    form = row["tolerance"] or {}
    if row["ci95"] or row["published"] is not None or len(form) != 1 or not set(form) <= {"min", "max"}:
        return False
    [bound] = form.values()
    return bool(row["measured"] == bound and bound in (0, 1) and row["kind"] == "order")


def worst_first(rows: Sequence[Shown]) -> list[Shown]:
    """Returns rows that are not reproduced first, then inconclusive ones, then the others."""
    order = {FAILS: 0, HOLDS: 2}
    return sorted(rows, key=lambda row: order.get(verdict_of(row), 1))
