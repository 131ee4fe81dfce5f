"""Names of verdicts, and revisions of rows after a first run, without access to files or runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from overspill.papers import row_names

HOLDS, FAILS, INCONCLUSIVE = "holds", "fails", "inconclusive"
VERDICTS = (HOLDS, FAILS, INCONCLUSIVE)
NEW_ROW = "new"  # verdict before a revision of a row that did not exist


@dataclass(frozen=True)
class RowRevision:
    """Revision of a row after its first run: of its measure or tolerance, or of a setting that it depends on.

    `verdict` is the last one before, or `new`. If only `settings` changed, measure and tolerance are those of
    the first run.
    """

    verdict: str
    reason: str
    settings: bool = False

    @property
    def change(self) -> str:
        """Kind of revision, `settings` or `measure`, as in `rows.json`."""
        return "settings" if self.settings else "measure"


@dataclass(frozen=True)
class RevisionCause:
    """Rows that were revised for one reason, with the numbers of those reproduced now and before.

    `no_longer_reproduced` are figure, case and metric of rows that were reproduced before and are not now.
    """

    reason: str
    rows: int
    reproduced_before: int
    reproduced_now: int
    new: int
    no_longer_reproduced: tuple[str, ...]


def group_by_cause(rows: Iterable[Mapping[str, Any]]) -> list[RevisionCause]:
    """Returns the reasons for which rows were revised, in the order of the rows."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        if "revised" in row:
            found.setdefault(row["revised"]["why"], []).append(row)
    return [
        RevisionCause(
            why,
            len(those),
            sum(row["revised"]["verdict"] == HOLDS for row in those),
            sum(row["verdict"] == HOLDS for row in those),
            sum(row["revised"]["verdict"] == NEW_ROW for row in those),
            tuple(
                row_names.format_row_name(row)
                for row in those
                if row["revised"]["verdict"] == HOLDS != row["verdict"]
            ),
        )
        for why, those in found.items()
    ]
