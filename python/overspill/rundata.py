"""One finished run: its summary and its tables, in memory or on disk."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from overspill import columns
from overspill.errors import BadInput

CUT = {
    "max_events": "cut by --max-events",
    "max_packets": "stopped because too many packets were in memory",
}


class RunData:
    """One variant with one seed."""

    def __init__(self, summary: dict[str, Any], tables: Mapping[str, pa.Table] | Path) -> None:
        self.summary = summary
        self._tables = tables

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
        if isinstance(self._tables, Path):
            return [name for name in columns.TABLES if (self._tables / f"{name}.parquet").is_file()]
        return list(self._tables)

    def table(self, name: str) -> pa.Table | None:
        """A table; `None` where the run did not write it."""
        if not isinstance(self._tables, Path):
            return self._tables.get(name)
        file = self._tables / f"{name}.parquet"
        if not file.is_file():
            return None
        try:
            return pq.read_table(file)
        except (OSError, pa.ArrowException) as error:
            raise BadInput(f"{file}: cannot be read as Parquet: {error}") from error

    def stored(self, folder: Path) -> "RunData":
        """The same run, its tables now read from this folder when needed."""
        return RunData(self.summary, folder)

    def column(self, table: str, column: str) -> np.ndarray:
        """A column as numpy; empty where there is no such table or column."""
        data = self.table(table)
        if data is None or column not in data.column_names:
            return np.zeros(0, np.uint64)
        return columns.numbers(data, column)

    def columns(self, table: str, *names: str) -> tuple[np.ndarray, ...]:
        """Several columns of one table."""
        data = self.table(table)
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
    def unfinished(self) -> int:
        """Measured flows that did not finish."""
        return int(self.summary["flows"].get("unfinished", 0))
