"""Verdicts of claims, computed from the rows that decide them, without access to files or runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from overspill.papers.claims import Claim, RowPattern
from overspill.papers.row_counting import ANECDOTAL, REVISED, RowDocument, is_evidence
from overspill.papers.verdicts import FAILS, HOLDS, NEW_ROW

REPRODUCED, REPRODUCED_IN_PART, NOT_REPRODUCED = "reproduced", "in part", "not reproduced"
UNTESTABLE, UNDECIDED = "cannot be tested here", "not decided"
CLAIM_VERDICTS = (REPRODUCED, REPRODUCED_IN_PART, NOT_REPRODUCED, UNTESTABLE, UNDECIDED)


RowKey = tuple[str, str, str]  # figure, case and metric


@dataclass(frozen=True)
class SensitivityRows:
    """Rows with one open parameter of a paper changed, and the paper's own rows on as many seeds."""

    name: str
    title: str
    own_rows: Mapping[RowKey, Mapping[str, Any]]
    changed_rows: Mapping[RowKey, Mapping[str, Any]]


@dataclass(frozen=True)
class DecidedClaim:
    """Verdict of a claim, the rows that decide it, and the other rows of the claim."""

    claim: Claim
    verdict: str
    deciding: Sequence[RowDocument]
    uncounted: Sequence[RowDocument]


@dataclass(frozen=True)
class ChangedClaim:
    """Verdict of a claim in a sensitivity run, and the rows whose verdicts the run changes, worst first."""

    setting: SensitivityRows
    verdict: str
    changed: Sequence[RowDocument]


def decide_claim(claim: Claim, rows: Sequence[RowDocument]) -> DecidedClaim:
    """Returns the verdict of a claim: the worst verdict of the rows that count as evidence."""
    those = [row for row in rows if any(pattern_matches(one, row) for one in claim.patterns)]
    deciding = [row for row in those if is_evidence(row)]
    uncounted = [row for row in those if row not in deciding]
    return DecidedClaim(claim, worst_verdict(claim, deciding, uncounted), deciding, uncounted)


def parse_sensitivity_rows(document: Mapping[str, Any] | None) -> list[SensitivityRows]:
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
            key = row_key(row)
            own[key] = row["fewer_seeds"].get(str(cell["seeds"]), row["own"])
            changed[key] = cell
        found.append(SensitivityRows(one["name"], one["title"], own, changed))
    return found


def find_changed_verdicts(
    one: DecidedClaim, rows: Sequence[RowDocument], settings: Sequence[SensitivityRows]
) -> list[ChangedClaim]:
    """Returns the sensitivity runs that change the verdict of a claim, each with the changed claim.

    Each is compared with the paper's own runs on as many seeds, and only by the rows that it changes.
    """
    found = []
    for setting in settings:
        before = decide_claim(one.claim, [with_changed_values(row, setting.own_rows) for row in rows])
        after = decide_claim(one.claim, [with_changed_values(row, setting.changed_rows) for row in rows])
        if after.verdict not in (before.verdict, one.verdict):
            verdicts = {row_key(row): row["verdict"] for row in before.deciding}
            changed = [row for row in after.deciding if row["verdict"] != verdicts.get(row_key(row))]
            found.append(ChangedClaim(setting, after.verdict, sort_worst_first(changed)))
    return found


def row_key(row: RowDocument) -> RowKey:
    """Returns figure, case and metric of a row."""
    return row["figure"], row["case"], row["metric"]


def with_changed_values(row: RowDocument, cells: Mapping[RowKey, Mapping[str, Any]]) -> RowDocument:
    """Returns a row with the values that a sensitivity run gave for it."""
    cell = cells.get(row_key(row))
    return row if cell is None else {**row, **cell}


def pattern_matches(pattern: RowPattern, row: RowDocument) -> bool:
    """Returns true if a pattern of a claim matches a row of `rows.json`."""
    return (
        row["figure"] == pattern.figure
        and pattern.case in (None, row["case"])
        and pattern.metric in (None, row["metric"])
    )


def worst_verdict(
    claim: Claim, deciding: Sequence[RowDocument], uncounted: Sequence[RowDocument] = ()
) -> str:
    """Returns the worst verdict of the rows that decide a claim; at most "in part" if a part is undecided.

    A claim of which every deciding row is inconclusive is not decided.
    """
    if not deciding:
        return UNTESTABLE if claim.untestable and not claim.missing else UNDECIDED
    verdicts = {row["verdict"] for row in deciding}
    if FAILS in verdicts:
        return NOT_REPRODUCED
    if HOLDS not in verdicts:
        return UNDECIDED
    partly = claim.missing or any(is_unreproduced_non_evidence(row) for row in uncounted)
    return REPRODUCED if verdicts == {HOLDS} and not partly else REPRODUCED_IN_PART


def is_unreproduced_non_evidence(row: RowDocument) -> bool:
    """Returns true if a revised or wide-tolerance row is not reproduced, or was not before its revision."""
    if row["counts"] not in (REVISED, ANECDOTAL):
        return False
    former = row.get("revised", {}).get("verdict", HOLDS)
    return row["verdict"] != HOLDS or (row["counts"] == REVISED and former not in (HOLDS, NEW_ROW))


def sort_worst_first(rows: Sequence[RowDocument]) -> list[RowDocument]:
    """Returns rows that are not reproduced first, then inconclusive ones, then the others."""
    order = {FAILS: 0, HOLDS: 2}
    return sorted(rows, key=lambda row: order.get(row["verdict"], 1))
