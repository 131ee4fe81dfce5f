"""One finished run: its summary and its tables, in memory or on disk."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from overspill.results import columns, names
from overspill.results.key import Key
from overspill.results.stream import Spill, Stored
from overspill.stats.quantiles import Value

CUT = {
    "max_events": "cut by --max-events",
    "max_packets": "stopped because too many packets or flows were in memory",
}


@dataclass(frozen=True)
class Change:
    """An event of the network: when, at which link, what; and whether frames may be lost by it."""

    at_ps: int
    link: str
    what: str
    loses: bool

    @property
    def text(self) -> str:
        """`leaf0:spine1 down`, `h7 rate 100Mbps`."""
        return f"{self.link} {self.what}"


class RunData:
    """One variant with one seed."""

    def __init__(
        self,
        summary: dict[str, Any],
        tables: Mapping[str, pa.Table | Stored] | Path,
        digests: Mapping[str, str] | None = None,
    ) -> None:
        self.summary = summary
        # SHA-256 of its files as far as they are known.
        self.digests = dict(digests or {})
        # Files of what crossed links, by link, and who keeps them where they are.
        self.captures: dict[str, Path] = {}
        self.owner: Spill | None = None
        if isinstance(tables, Path):
            folder = tables
            files = {name: f"{name}.parquet" for name in names.TABLES}
            there = {
                name: Stored.among_results(folder / file, self.digests.get(file, ""))
                for name, file in files.items()
            }
            tables = {name: found for name, found in there.items() if found is not None}
            self.captures = {link: folder / file for link, file in summary.get("captures", {}).items()}
        self._tables: Mapping[str, pa.Table | Stored] = tables
        # Its metrics, and what the halves of its window are compared by, once somebody has measured them.
        self.values: dict[Key, Value] | None = None
        self.halves: dict[str, tuple[float, float]] | None = None
        # What it is known by in a store.
        self.key = ""
        # Where it stands in a sweep.
        self.point: dict[str, str] = {}

    @property
    def variant(self) -> str:
        """The variant's name."""
        return str(self.summary["variant"])

    @property
    def seed(self) -> int:
        """The seed."""
        return int(self.summary["seed"])

    @property
    def names(self) -> list[str]:
        """The tables there are."""
        return list(self._tables)

    def recorded(self, name: str) -> bool:
        """Whether a table has rows: one that nobody asked for may be there, too, and is empty then."""
        found = self._tables.get(name)
        return found is not None and (found.rows if isinstance(found, Stored) else found.num_rows) > 0

    def table(self, name: str, names: Sequence[str] | None = None) -> pa.Table | None:
        """A table, or some columns of it; `None` where the run did not write it."""
        found = self._tables.get(name)
        if isinstance(found, Stored):
            return found.read(names)
        return found if found is None or names is None else found.select(list(names))

    def batches(self, name: str, names: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """A table, or some columns of it, bit by bit: of what lies on disk, little is in memory."""
        found = self._tables.get(name)
        if isinstance(found, Stored):
            yield from found.batches(names)
        elif found is not None:
            yield from (found if names is None else found.select(list(names))).to_batches()

    def file(self, name: str) -> Path | None:
        """Where a table lies; `None` where it is in memory or there is none."""
        found = self._tables.get(name)
        return found.path if isinstance(found, Stored) else None

    def stored(self, folder: Path) -> "RunData":
        """The same run, its tables now read from this folder when needed."""
        run = RunData(self.summary, folder, self.digests)
        run.values, run.halves, run.key = self.values, self.halves, self.key
        return run

    def known_as(self, told: Mapping[str, Any]) -> "RunData":
        """The same run under another name: these entries of its summary are others."""
        run = RunData({**self.summary, **told}, self._tables, self.digests)
        run.captures, run.owner = self.captures, self.owner
        run.values, run.halves, run.key = self.values, self.halves, self.key
        return run

    def captured(self, files: dict[str, Path], owner: Spill | None) -> None:
        """Links were captured into these files, which lie there as long as their owner."""
        self.captures, self.owner = files, owner
        if files:
            self.summary["captures"] = {link: path.name for link, path in files.items()}

    def column(self, table: str, column: str) -> np.ndarray:
        """A column as numpy; empty where there is no such table or column."""
        known = column in self.column_names(table)
        return self.columns(table, column)[0] if known else np.zeros(0, np.uint64)

    def column_names(self, table: str) -> list[str]:
        """The columns of a table; none where there is no such table."""
        found = self._tables.get(table)
        return [] if found is None else found.names if isinstance(found, Stored) else found.column_names

    def columns(self, table: str, *names: str) -> tuple[np.ndarray, ...]:
        """Several columns of one table."""
        data = self.table(table, names)
        if data is None:
            return tuple(np.zeros(0, np.uint64) for _ in names)
        return tuple(columns.numbers(data, name) for name in names)

    @cached_property
    def tiers(self) -> np.ndarray:
        """The tier of every node."""
        return np.array([node["tier"] for node in self.summary["nodes"]], dtype=object)

    @cached_property
    def is_host(self) -> np.ndarray:
        """Whether each node is a host."""
        return np.array([bool(node["host"]) for node in self.summary["nodes"]], dtype=bool)

    @cached_property
    def changes(self) -> list[Change]:
        """The events of its scenario in the order of time, whether the run came so far or not."""
        return [Change(**one) for one in self.summary.get("changes", [])]

    def node_name(self, node: int) -> str:
        """The name of a node."""
        return str(self.summary["nodes"][node]["name"])

    @property
    def end_ps(self) -> int:
        """When the run ended."""
        return int(self.summary["end_ps"])

    @property
    def window_ps(self) -> tuple[int, int]:
        """The measurement window; cut only with the run: after a run that is done, nothing moves."""
        start, end = (int(instant) for instant in self.summary["window_ps"])
        return start, max(start, min(end, self.end_ps)) if self.cut else end

    @property
    def cut(self) -> bool:
        """Whether the run was stopped before its time."""
        return bool(self.summary["stop"] in CUT)

    @property
    def cut_by(self) -> str:
        """What stopped it before its time."""
        return CUT[self.summary["stop"]]

    @property
    def deadlock(self) -> dict[str, Any] | None:
        """Paused links that wait for each other for ever: `at_ps`, `class`, `cycle`."""
        found: dict[str, Any] | None = self.summary.get("deadlock")
        return found

    @property
    def unfinished(self) -> int:
        """Measured flows that did not finish."""
        return int(self.summary["flows"].get("unfinished", 0))
