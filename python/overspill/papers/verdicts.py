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

    `verdict` is the last one before, or `new`. Where `settings` alone were changed, the measure and the
    tolerance are those of the first run.
    """

    verdict: str
    why: str
    settings: bool = False

    @property
    def change(self) -> str:
        """What was changed, as `rows.json` has it."""
        return "settings" if self.settings else "measure"


@dataclass(frozen=True)
class Cause:
    """The rows, of whatever basis, that were revised for one reason: how many hold, how many did before.

    `lost` are those that held before and do not hold now: figure, case and metric of each.
    """

    why: str
    rows: int
    held: int
    hold: int
    new: int
    lost: tuple[str, ...]


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
            tuple(
                f"{row['figure']}, {row['case']}, {row['metric']}"
                for row in those
                if row["revised"]["verdict"] == HOLDS != row["verdict"]
            ),
        )
        for why, those in found.items()
    ]
