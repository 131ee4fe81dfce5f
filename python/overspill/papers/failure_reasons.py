"""Table of the rows that are not reproduced, with the reasons that `rows.toml` gives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from overspill.papers import row_counting, row_names
from overspill.papers.claim_verdicts import (
    NOT_REPRODUCED,
    REPRODUCED_IN_PART,
    UNDECIDED,
    DecidedClaim,
    sort_worst_first,
)
from overspill.papers.judge import EQUAL_SIDES_NOTE
from overspill.papers.paper_files import Paper
from overspill.papers.paper_rows import Row
from overspill.papers.row_counting import RowDocument
from overspill.papers.row_words import escape_markdown
from overspill.papers.verdicts import FAILS, HOLDS, INCONCLUSIVE

REFERENCE = re.compile(r"See (.+)\.")  # note that only names another row of the figure


def reasons_table(paper: Paper, found: Sequence[DecidedClaim], rows: Sequence[RowDocument]) -> list[str]:
    """Returns a Markdown table of the rows that are not reproduced; rows with the same reason share a line.

    Rows that decide claims come first. The reason is the note of `rows.toml`, or a description of the miss.
    """
    notes = ReasonFinder(paper)
    names_by_reason: dict[str, dict[str, None]] = {}  # names of rows, each once, in order
    for row in unreproduced_rows(paper, found, rows):
        if reason := notes.find_reason(row) or describe_unreproduced_row(row):
            names_by_reason.setdefault(reason, {})[row_names.format_row_name(row)] = None
    if not names_by_reason:
        return []
    lines = [
        f"| {'<br>'.join(map(escape_markdown, names))} | {escape_markdown(reason)} |"
        for reason, names in names_by_reason.items()
    ]
    scope = (
        "The table has the rows that count and are not reproduced, and the inconclusive rows on which a "
        "claim depends. [rows.json](rows.json) has all notes."
    )
    return [scope, "", "| row | reason |", "| --- | --- |", *lines]


def unreproduced_rows(
    paper: Paper, found: Sequence[DecidedClaim], rows: Sequence[RowDocument]
) -> Iterator[RowDocument]:
    """Yields rows that are not reproduced: those that decide claims, then counted rows in no claim."""
    for one in found:
        if one.verdict in (NOT_REPRODUCED, REPRODUCED_IN_PART, UNDECIDED):
            yield from (row for row in sort_worst_first(one.deciding) if row["verdict"] != HOLDS)
    used = {(row.figure, *row.key) for claim in paper.claims for row in claim.rows(paper.rows)}
    for row in rows:
        if row["counts"] == row_counting.COUNTED and row["verdict"] == FAILS and row_key(row) not in used:
            yield row


def describe_unreproduced_row(row: RowDocument) -> str:
    """Returns why a row without a note is not reproduced: its verdict, or the note of its runs."""
    if row["verdict"] == INCONCLUSIVE and EQUAL_SIDES_NOTE not in row["note"]:
        return "Inconclusive: the 95% interval is partly outside the tolerance."
    return str(row["note"])


def row_key(row: RowDocument) -> tuple[str, str, str]:
    """Returns figure, case and metric of a row."""
    return row["figure"], row["case"], row["metric"]


class ReasonFinder:
    """Notes of all rows of a paper; `See CASE.` in a note stands for the note of that case of the figure."""

    def __init__(self, paper: Paper) -> None:
        self.paper = paper
        self.written = {(row.figure, *row.key): row.note for row in paper.rows}

    def find_reason(self, row: RowDocument) -> str:
        """Returns the note of a row, or that of the row to which it refers; empty without any."""
        note = self.written.get(row_key(row), "")
        reference = REFERENCE.fullmatch(note)
        if reference is None:
            return note
        targets = [
            one
            for one in self.paper.rows_of(row["figure"])
            if is_named(one, reference[1], row) and one.note and not REFERENCE.fullmatch(one.note)
        ]
        targets.sort(key=lambda one: one.metric != row["metric"])
        return targets[0].note if targets else row_names.format_metric(note)


def is_named(row: Row, name: str, referring: RowDocument) -> bool:
    """Returns true if a name means a row: its case, case and metric, or metric if both rows have one case."""
    metric = row.metric.replace("_", " ")
    names = [row.case, f"{row.case}, {metric}", *([metric] if row.case == referring["case"] else [])]
    return name.casefold() in (one.casefold() for one in names)
