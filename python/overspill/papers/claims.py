"""Claims of a paper in our words, and the rows that decide each (`claims.toml`).

A claim names figures. Every row of such a figure decides the claim or is left out with a reason. So no row
can be left out silently.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overspill import BadInput
from overspill.papers.rows import Row
from overspill.papers.toml_fields import REQUIRED, Fields, document

CLAIM_KINDS = ("benefit", "cost", "limit", "comparison", "mechanism")
PARTS = ("figure", "case", "metric")
LONGEST_REASON = 15  # words of a reason
MOST = 20  # claims of a paper


@dataclass(frozen=True)
class Pattern:
    """Rows of a figure by case and metric; a part that is `None` matches every value."""

    figure: str
    case: str | None
    metric: str | None
    why: str = ""

    def matches(self, row: Row) -> bool:
        """Returns true if the pattern is of this row."""
        return (
            row.figure == self.figure and self.case in (None, row.case) and self.metric in (None, row.metric)
        )

    def __str__(self) -> str:
        """Returns the pattern as messages name it."""
        return ", ".join(one for one in (self.figure, self.case, self.metric) if one is not None)


@dataclass(frozen=True)
class Claim:
    """Claim of the paper, with the rows that decide it.

    `missing` names the measurement that would decide what no row does, `untestable` the reason why none can.
    """

    id: str
    claim: str
    where: str
    kind: str
    patterns: Sequence[Pattern]
    leaves_out: Sequence[Pattern]
    missing: str
    untestable: str

    def rows(self, known: Iterable[Row]) -> list[Row]:
        """Returns the rows that decide the claim, in the order of the paper's file."""
        return [row for row in known if any(one.matches(row) for one in self.patterns)]


def load(path: Path, known: Sequence[Row]) -> list[Claim]:
    """Returns every claim of a file, or none without a file; raises `BadInput` with all errors."""
    if not path.is_file():
        return []
    given, _ = document(path)
    top = Fields(path, "", given)
    tables = top.tables("claim")
    top.done()
    found: list[Claim] = []
    wrong: list[str] = []
    for at, table in enumerate(tables, 1):
        try:
            claim = read(path, at, table)
            if claim.id in {one.id for one in found}:
                raise BadInput(f"{path}: claim {at}: id: found {claim.id!r} twice; expected each id once")
            check(path, claim, known)
            found.append(claim)
        except BadInput as error:
            wrong += error.lines
    if not wrong and not 1 <= len(found) <= MOST:
        wrong.append(f"{path}: found {len(found)} claims; expected 1 to {MOST}")
    if wrong:
        raise BadInput(wrong)
    return found


def read(path: Path, at: int, given: Any) -> Claim:
    """Parses one claim of a file."""
    named = given.get("id") if isinstance(given, Mapping) else None
    fields = Fields(path, f"claim {at} ({named})" if isinstance(named, str) else f"claim {at}", given)
    made = Claim(
        fields.text("id"),
        fields.text("claim"),
        fields.text("where"),
        fields.word("kind", CLAIM_KINDS),
        patterns(fields, "rows"),
        patterns(fields, "leaves_out", with_reason=True),
        fields.text("missing", ""),
        fields.text("untestable", ""),
    )
    fields.done()
    if not (made.patterns or made.missing or made.untestable):
        raise fields.wrong("rows", "none", "a row, or `missing` or `untestable` with a reason")
    return made


def patterns(fields: Fields, field: str, with_reason: bool = False) -> list[Pattern]:
    """Parses the patterns of a field."""
    found = []
    for at, given in enumerate(fields.tables(field), 1):
        inner = Fields(fields.file, f"{fields.where}: {field} {at}", given)
        figure, case, metric = (inner.text(part, REQUIRED if part == PARTS[0] else "") for part in PARTS)
        why = inner.text("why") if with_reason else ""
        if len(why.split()) > LONGEST_REASON:
            raise inner.wrong("why", f"{len(why.split())} words", f"{LONGEST_REASON} at most")
        inner.done()
        found.append(Pattern(figure, case or None, metric or None, why))
    return found


def check(path: Path, claim: Claim, known: Sequence[Row]) -> None:
    """Raises `BadInput` for patterns without a row, and for rows in neither list or in both.

    This covers all rows of the figures that a claim names.
    """
    wrong = []
    place = f"{path}: claim {claim.id}"
    figures = {one.figure for one in claim.patterns}
    for field, listed in (("rows", claim.patterns), ("leaves_out", claim.leaves_out)):
        for one in listed:
            if not any(one.matches(row) for row in known):
                wrong.append(
                    f"{place}: {field}: found {one}, which matches no row; expected a row of rows.toml"
                )
            elif one.figure not in figures:
                wrong.append(f"{place}: {field}: found {one}; expected a figure that `rows` names")
    those = claim.rows(known)
    if those and not (claim.missing or claim.untestable) and all(row.repeat for row in those):
        wrong.append(f"{place}: rows: found only repeats; expected a row that is not a repeat")
    for row in (row for row in known if row.figure in figures):
        used = any(one.matches(row) for one in claim.patterns)
        out = any(one.matches(row) for one in claim.leaves_out)
        name = f"{row.figure}, {row.case}, {row.metric}"
        if used == out:
            said = "in both" if used else "in neither"
            wrong.append(
                f"{place}: found row {name} {said}; expected it in `rows`, or in `leaves_out` with a reason"
            )
    if wrong:
        raise BadInput(wrong)
