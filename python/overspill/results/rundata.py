"""Finished run: its summary and its tables, in memory or on disk."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from overspill.results import columns, names
from overspill.results.metric_key import Key
from overspill.results.table_streams import SpillFolder, StoredTable
from overspill.stats.quantiles import Value

CUT_REASONS = {
    "max_events": "stopped by --max-events",
    "max_packets": "stopped by a limit (10 million packets, 4 million unfinished flows, 4 million senders "
    "and receivers in use, or 40 million flows; reduce the load)",
}


@dataclass(frozen=True)
class NetworkChange:
    """Event of the network: time in ps, link or host, and change.

    `loses` is true if it may lose frames, and `pauses` if a host pauses the network by it.
    """

    at_ps: int
    link: str
    what: str
    loses: bool
    pauses: bool = False

    @property
    def text(self) -> str:
        """Text of the event: `leaf0:spine1 down`, `h7 rate 100Mbps`, `h3 pause storm until 7ms`."""
        return f"{self.link} {self.what}"

    @property
    def is_endless_storm(self) -> bool:
        """True if a host pauses its switch until the end of the run."""
        return self.pauses and self.what == "pause storm"


class RunData:
    """Finished run of one variant with one seed: its summary, tables and captures."""

    def __init__(
        self,
        summary: dict[str, Any],
        tables: Mapping[str, pa.Table | StoredTable] | Path,
        digests: Mapping[str, str] | None = None,
    ) -> None:
        self.summary = summary
        # SHA-256 of the run's files by file name, without files whose hash is not known.
        self.digests = dict(digests or {})
        # Capture files by link. If they are in a temporary folder, `owner` is that folder; it is removed when
        # no object refers to it.
        self.captures: dict[str, Path] = {}
        self.owner: SpillFolder | None = None
        if isinstance(tables, Path):
            folder = tables
            files = {name: f"{name}.parquet" for name in names.TABLES}
            there = {
                name: StoredTable.from_results_folder(folder / file, self.digests.get(file, ""))
                for name, file in files.items()
            }
            tables = {name: found for name, found in there.items() if found is not None}
            self.captures = {link: folder / file for link, file in summary.get("captures", {}).items()}
        self._tables: Mapping[str, pa.Table | StoredTable] = tables
        # Metrics, and the compared values of both halves of the window; `None` until they are computed.
        self.values: dict[Key, Value] | None = None
        self.halves: dict[str, tuple[float, float]] | None = None
        # Key of the run in a store; empty if it has none.
        self.key = ""
        # Values of the axes by path, for a run of a sweep.
        self.point: dict[str, str] = {}

    @property
    def variant(self) -> str:
        """Name of the variant."""
        return str(self.summary["variant"])

    @property
    def seed(self) -> int:
        """Seed of the run."""
        return int(self.summary["seed"])

    @property
    def names(self) -> list[str]:
        """Names of the run's tables."""
        return list(self._tables)

    def recorded(self, name: str) -> bool:
        """Returns true if a table has rows; a table that was not requested may exist and is empty then."""
        found = self._tables.get(name)
        return found is not None and (found.rows if isinstance(found, StoredTable) else found.num_rows) > 0

    def table(self, name: str, names: Sequence[str] | None = None) -> pa.Table | None:
        """Returns a table, or some columns of it; `None` if the run did not write it."""
        found = self._tables.get(name)
        if isinstance(found, StoredTable):
            return found.read(names)
        return found if found is None or names is None else found.select(list(names))

    def batches(self, name: str, names: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yields a table, or some columns of it, in batches, so that little of a file is in memory."""
        found = self._tables.get(name)
        if isinstance(found, StoredTable):
            yield from found.batches(names)
        elif found is not None:
            yield from (found if names is None else found.select(list(names))).to_batches()

    def file(self, name: str) -> Path | None:
        """Returns the file of a table; `None` if it is in memory or does not exist."""
        found = self._tables.get(name)
        return found.path if isinstance(found, StoredTable) else None

    def with_tables_in(self, folder: Path) -> "RunData":
        """Returns the same run with its tables read from this folder when needed."""
        run = RunData(self.summary, folder, self.digests)
        run.values, run.halves, run.key = self.values, self.halves, self.key
        return run

    def with_summary_entries(self, entries: Mapping[str, Any]) -> "RunData":
        """Returns the same run with these entries of its summary replaced."""
        run = RunData({**self.summary, **entries}, self._tables, self.digests)
        run.captures, run.owner = self.captures, self.owner
        run.values, run.halves, run.key = self.values, self.halves, self.key
        return run

    def set_captures(self, files: dict[str, Path], owner: SpillFolder | None) -> None:
        """Sets the capture files by link, which exist as long as their owner."""
        self.captures, self.owner = files, owner
        if files:
            self.summary["captures"] = {link: path.name for link, path in files.items()}

    def column(self, table: str, column: str) -> np.ndarray:
        """Returns a column as a numpy array; empty if there is no such table or column."""
        known = column in self.column_names(table)
        return self.columns(table, column)[0] if known else np.zeros(0, np.uint64)

    def column_names(self, table: str) -> list[str]:
        """Returns the column names of a table; empty if there is no such table."""
        found = self._tables.get(table)
        return [] if found is None else found.names if isinstance(found, StoredTable) else found.column_names

    def columns(self, table: str, *names: str) -> tuple[np.ndarray, ...]:
        """Returns several columns of a table as numpy arrays."""
        data = self.table(table, names)
        if data is None:
            return tuple(np.zeros(0, np.uint64) for _ in names)
        return tuple(columns.column_to_numpy(data, name) for name in names)

    @cached_property
    def tiers(self) -> np.ndarray:
        """Tier of each node, by node number."""
        return np.array([node["tier"] for node in self.summary["nodes"]], dtype=object)

    @cached_property
    def is_host(self) -> np.ndarray:
        """Boolean array: true for each node that is a host."""
        return np.array([bool(node["host"]) for node in self.summary["nodes"]], dtype=bool)

    @cached_property
    def changes(self) -> list[NetworkChange]:
        """Events of the scenario in order of time, including those that the run did not reach."""
        return [NetworkChange(**one) for one in self.summary.get("changes", [])]

    def node_name(self, node: int) -> str:
        """Returns the name of a node."""
        return str(self.summary["nodes"][node]["name"])

    @property
    def end_ps(self) -> int:
        """Simulated time in ps at which the run ended."""
        return int(self.summary["end_ps"])

    @property
    def window_ps(self) -> tuple[int, int]:
        """Measurement window in ps.

        The window of a run that was cut ends with the run. That of a completed run keeps its length, since
        nothing happens after the run.
        """
        start, end = (int(instant) for instant in self.summary["window_ps"])
        return start, max(start, min(end, self.end_ps)) if self.cut else end

    @property
    def cut(self) -> bool:
        """True if the run was stopped before its planned end."""
        return bool(self.summary["stop"] in CUT_REASONS)

    @property
    def cut_by(self) -> str:
        """Reason why the run was stopped before its planned end."""
        return CUT_REASONS[self.summary["stop"]]

    @property
    def deadlock(self) -> dict[str, Any] | None:
        """Cycle of paused ports that wait for each other forever (`at_ps`, `class`, `cycle`), or `None`."""
        found: dict[str, Any] | None = self.summary.get("deadlock")
        return found

    @property
    def pause_storms(self) -> dict[str, Any] | None:
        """Storms that PFC watchdogs detected (`count`, `dropped`, `first`); `None` without a watchdog."""
        found: dict[str, Any] | None = self.summary.get("pause_storms")
        return found

    @property
    def lossless_losses(self) -> dict[str, Any] | None:
        """Losses of lossless groups for lack of memory (`packets`, `groups`, `most`), or `None`."""
        found: dict[str, Any] | None = self.summary.get("lossless_losses")
        return found

    @property
    def shared_by_classes(self) -> dict[str, Any] | None:
        """Port with the most losses of those whose classes share memory (`port`, `classes`, `drops`)."""
        found: dict[str, Any] | None = self.summary.get("shared_by_classes")
        return found

    @property
    def unfinished(self) -> int:
        """Number of measured flows that did not finish."""
        return int(self.summary["flows"].get("unfinished", 0))
