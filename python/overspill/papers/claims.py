"""Paraphrased claims of a paper, and the rows that decide each (`claims.toml`).

A claim names figures. Every row of such a figure decides the claim or is left out with a reason. So no row
can be left out silently.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overspill import BadInput
from overspill.papers.paper_rows import Row
from overspill.papers.toml_fields import REQUIRED, TableFields, read_toml

CLAIM_KINDS = ("benefit", "cost", "limit", "comparison", "mechanism")
PATTERN_PARTS = ("figure", "case", "metric")
MAX_REASON_WORDS = 15  # words of a reason
MAX_WHY_WORDS = 25  # words of the reason for a verdict
MAX_CLAIMS = 20  # claims of a paper


@dataclass(frozen=True)
class RowPattern:
    """Pattern for rows of a figure, by case and metric; a part that is `None` matches every value."""

    figure: str
    case: str | None
    metric: str | None
    reason: str = ""

    def matches(self, row: Row) -> bool:
        """Returns true if the pattern matches a row."""
        return (
            row.figure == self.figure and self.case in (None, row.case) and self.metric in (None, row.metric)
        )

    def __str__(self) -> str:
        """Returns the pattern as error messages print it."""
        return ", ".join(one for one in (self.figure, self.case, self.metric) if one is not None)


@dataclass(frozen=True)
class Claim:
    """Claim of the paper, with the rows that decide it.

    `missing` names the measurement that would decide what no row does, `untestable` the reason why none can.
    `remark` is an outcome that no row has, such as that of another reading of the paper. `why` is the
    reason for a verdict other than reproduced, as one sentence.
    """

    id: str
    claim: str
    place_in_paper: str
    kind: str
    patterns: Sequence[RowPattern]
    excluded_patterns: Sequence[RowPattern]
    missing: str
    untestable: str
    remark: str = ""
    why: str = ""

    def rows(self, known: Iterable[Row]) -> list[Row]:
        """Returns the rows that decide the claim, in the order of the paper's file."""
        return [row for row in known if any(one.matches(row) for one in self.patterns)]


def load_claims(path: Path, known: Sequence[Row]) -> list[Claim]:
    """Returns every claim of `claims.toml`, or none without the file; raises `BadInput` with all errors."""
    if not path.is_file():
        return []
    given, _ = read_toml(path)
    top = TableFields(path, "", given)
    tables = top.take_tables("claim")
    top.refuse_unread()
    found: list[Claim] = []
    wrong: list[str] = []
    for at, table in enumerate(tables, 1):
        try:
            claim = parse_claim(path, at, table)
            if claim.id in {one.id for one in found}:
                raise BadInput(f"{path}: claim {at}: id: found {claim.id!r} twice; expected each id once")
            check_claim(path, claim, known)
            found.append(claim)
        except BadInput as error:
            wrong += error.lines
    if not wrong and not 1 <= len(found) <= MAX_CLAIMS:
        wrong.append(f"{path}: found {len(found)} claims; expected 1 to {MAX_CLAIMS}")
    if wrong:
        raise BadInput(wrong)
    return found


def parse_claim(path: Path, at: int, given: Any) -> Claim:
    """Parses one claim of `claims.toml`."""
    named = given.get("id") if isinstance(given, Mapping) else None
    fields = TableFields(path, f"claim {at} ({named})" if isinstance(named, str) else f"claim {at}", given)
    made = Claim(
        fields.take_text("id"),
        fields.take_text("claim"),
        fields.take_text("where"),
        fields.take_word("kind", CLAIM_KINDS),
        parse_patterns(fields, "rows"),
        parse_patterns(fields, "leaves_out", with_reason=True),
        fields.take_text("missing", ""),
        fields.take_text("untestable", ""),
        fields.take_text("remark", ""),
        fields.take_text("why", ""),
    )
    fields.refuse_unread()
    if len(made.why.split()) > MAX_WHY_WORDS:
        raise fields.field_error("why", f"{len(made.why.split())} words", f"{MAX_WHY_WORDS} at most")
    if not (made.patterns or made.missing or made.untestable):
        raise fields.field_error("rows", "none", "a row, or `missing` or `untestable` with a reason")
    return made


def parse_patterns(fields: TableFields, field: str, with_reason: bool = False) -> list[RowPattern]:
    """Parses the patterns of a field."""
    found = []
    for at, given in enumerate(fields.take_tables(field), 1):
        inner = TableFields(fields.file, f"{fields.where}: {field} {at}", given)
        figure, case, metric = (
            inner.take_text(part, REQUIRED if part == PATTERN_PARTS[0] else "") for part in PATTERN_PARTS
        )
        why = inner.take_text("why") if with_reason else ""
        if len(why.split()) > MAX_REASON_WORDS:
            raise inner.field_error("why", f"{len(why.split())} words", f"{MAX_REASON_WORDS} at most")
        inner.refuse_unread()
        found.append(RowPattern(figure, case or None, metric or None, why))
    return found


def check_claim(path: Path, claim: Claim, known: Sequence[Row]) -> None:
    """Raises `BadInput` for patterns without a row, and for rows that are in both lists or in none.

    This covers all rows of the figures that a claim names.
    """
    wrong = []
    place = f"{path}: claim {claim.id}"
    figures = {one.figure for one in claim.patterns}
    for field, listed in (("rows", claim.patterns), ("leaves_out", claim.excluded_patterns)):
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
        out = any(one.matches(row) for one in claim.excluded_patterns)
        name = f"{row.figure}, {row.case}, {row.metric}"
        if used == out:
            said = "in both" if used else "in neither"
            wrong.append(
                f"{place}: found row {name} {said}; expected it in `rows`, or in `leaves_out` with a reason"
            )
    if wrong:
        raise BadInput(wrong)
