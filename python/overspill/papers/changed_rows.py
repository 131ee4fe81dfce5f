"""Check of `rows.toml` against the published rows: a row that has run changes only with a mark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overspill import BadInput
from overspill.papers import judge, row_counting
from overspill.papers.paper_files import Paper
from overspill.papers.paper_rows import Row
from overspill.papers.published_files import ROWS_FILE, PublishedDocuments

KEPT_FIELDS = ("published", "tolerance", "unit", "basis", "kind")
MARK = "a mark `revised` with the verdict before and the reason"


def check_unmarked_changes(paper: Paper) -> None:
    """Raises `BadInput` with all rows that have run and then changed without a mark `revised`.

    Such a row has another published value, tolerance, unit, basis or kind than in `rows.json`, was removed
    or added, or lost its mark. A row may be added to a figure that has not run.
    """
    published = PublishedDocuments.read(paper.folder).rows_document.get("rows", [])
    known = {(row.figure, *row.key): row for row in paper.rows}
    figures = {row["figure"] for row in published}
    wrong, keys = [], set()
    for one in published:
        key = one["figure"], one["case"], one["metric"]
        keys.add(key)
        if not row_counting.is_marked_later(one):
            wrong += describe_change(paper, one, known.get(key))
    wrong += [
        f"{describe_place(paper, key)}: found a new row of a figure that has run; expected {MARK}, `new`"
        for key, row in known.items()
        if key not in keys and row.figure in figures and not is_marked_revised(row)
    ]
    if wrong:
        raise BadInput(wrong)


def describe_change(paper: Paper, published: Mapping[str, Any], row: Row | None) -> list[str]:
    """Describes unmarked changes of a row that has run, an entry for each; empty without any."""
    place = describe_place(paper, (published["figure"], published["case"], published["metric"]))
    if row is None:
        return [f"{place}: found no such row, although {ROWS_FILE} has it; expected every row that has run"]
    if is_marked_revised(row):
        return []
    expected = judge.row_document(paper.name, row, judge.JudgedRow(None, None, 0, ""))
    wrong = [
        f"{place}: {name}: found {expected[name]!r}; expected {published[name]!r} as in {ROWS_FILE}, "
        f"or {MARK}"
        for name in KEPT_FIELDS
        if expected[name] != published[name]
    ]
    if published.get("revised", {}).get("of") == "measure":
        wrong.append(f"{place}: revised: found no mark of a measure; expected that of {ROWS_FILE}")
    return wrong


def describe_place(paper: Paper, key: tuple[str, str, str]) -> str:
    """Returns the file and the name of a row for an error message."""
    return f"{paper.folder / 'rows.toml'}: row {', '.join(key)}"


def is_marked_revised(row: Row) -> bool:
    """Returns true if a row is marked as added, or as changed in its measure or tolerance."""
    return row.revised is not None and not row.revised.settings
