"""The words of a verdict, and what a row says that was revised after a first run. Pure: no files, no runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

HOLDS, FAILS, INCONCLUSIVE = "holds", "fails", "inconclusive"
VERDICTS = (HOLDS, FAILS, INCONCLUSIVE)
NEW = "new"  # of a row that was not there before


@dataclass(frozen=True)
class Revised:
    """What was changed after a first run: a measure, a tolerance, or a setting that the row rests on.

    `verdict` is the last one before, or `new`.
    """

    verdict: str
    why: str


@dataclass(frozen=True)
class Cause:
    """The rows, of whatever basis, that were revised for one reason: how many hold, how many did before."""

    why: str
    rows: int
    held: int
    hold: int
    new: int


def causes(rows: Iterable[Mapping[str, Any]]) -> list[Cause]:
    """The reasons for which rows were revised, in the order of the rows."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        if "revised" in row:
            found.setdefault(row["revised"]["why"], []).append(row)
    return [
        Cause(
            why,
            len(those),
            sum(row["revised"]["verdict"] == HOLDS for row in those),
            sum(row["verdict"] == HOLDS for row in those),
            sum(row["revised"]["verdict"] == NEW for row in those),
        )
        for why, those in found.items()
    ]
