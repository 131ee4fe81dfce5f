"""Tables that grow with simulated time, written to disk during their run."""

import hashlib
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from overspill.atomic_files import report_write_errors
from overspill.errors import BadInput

ROWS_PER_GROUP = 1 << 17  # rows of one table in memory before they are written as a row group
ROWS_PER_BATCH = 1 << 16  # rows read at a time


class SpillFolder:
    """Temporary folder, created when first used and removed when no object refers to it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.path: Path | None = None

    def __reduce__(self) -> Any:
        """Raises `BadInput`, since the folder is removed when its process ends."""
        raise BadInput(
            "results with captures or long tables cannot be pickled: their temporary folder is deleted "
            "with this process. Run with `out`"
        )

    @property
    def folder(self) -> Path:
        """Path of the temporary folder."""
        with self.lock:
            if self.path is None:
                with report_write_errors(tempfile.gettempdir()):
                    self.path = Path(tempfile.mkdtemp(prefix="overspill-"))
                weakref.finalize(self, shutil.rmtree, self.path, True)
            return self.path


@dataclass(frozen=True)
class StoredTable:
    """Table in a Parquet file; `owner` keeps the file's temporary folder alive.

    If later results may replace the file, `stamp_and_digest` has its stamp and its SHA-256.
    """

    path: Path
    owner: SpillFolder | None = None
    stamp_and_digest: tuple[tuple[int, int, int], str] | None = None

    @staticmethod
    def from_results_folder(path: Path, digest: str) -> "StoredTable | None":
        """Returns a table in a folder of results, with the SHA-256 of its file; `None` without a file."""
        found = file_stamp(path) if path.is_file() else None
        return None if found is None else StoredTable(path, stamp_and_digest=(found, digest))

    @property
    def is_unchanged(self) -> bool:
        """True if the table's file still has the content that was written."""
        if self.stamp_and_digest is None:
            return True
        known, digest = self.stamp_and_digest
        now = file_stamp(self.path)
        return now is not None and (now == known or cached_digest(self.path, now) == digest)

    @contextmanager
    def report_read_errors(self) -> Iterator[None]:
        """Raises `BadInput` if the block reads a file that is no Parquet file, or one of other results."""
        try:
            if not self.is_unchanged:
                raise BadInput(
                    f"{self.path}: this file no longer has the table of these results: it was deleted, "
                    "damaged, or replaced by a later command. Load the results again, run the same command "
                    "again, or use a separate folder for each command"
                )
            yield
        except (OSError, pa.ArrowException) as error:
            raise BadInput(f"{self.path}: cannot be read as Parquet: {error}") from error

    def read(self, names: Sequence[str] | None = None) -> pa.Table:
        """Returns the table, or some columns of it."""
        with self.report_read_errors():
            return pq.ParquetFile(self.path).read(columns=None if names is None else list(names))

    @property
    def names(self) -> list[str]:
        """Names of the table's columns."""
        with self.report_read_errors():
            return list(pq.read_schema(self.path).names)

    @property
    def rows(self) -> int:
        """Number of rows of the table."""
        with self.report_read_errors():
            return int(pq.read_metadata(self.path).num_rows)

    def batches(self, names: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yields the table in batches."""
        with self.report_read_errors():
            # Buffering ahead would read the whole file into memory.
            file = pq.ParquetFile(self.path, pre_buffer=False)
            yield from file.iter_batches(ROWS_PER_BATCH, columns=None if names is None else list(names))


def file_stamp(path: Path) -> tuple[int, int, int] | None:
    """Returns inode, modification time and size of a file, to notice a replacement; `None` without a file."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns, stat.st_size


@lru_cache(maxsize=4096)
def cached_digest(path: Path, _stamp: tuple[int, int, int]) -> str:
    """Returns the SHA-256 of a file, computed again only if the file has changed."""
    return file_digest(path) if path.is_file() else ""


def file_digest(path: Path) -> str:
    """Returns the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class TableSink:
    """Writer of a run's tables: long ones go to a folder, under temporary names until they are complete.

    `where` returns the folder and the owner that keeps it; it is called when the first rows arrive.
    """

    def __init__(self, where: Callable[[], tuple[Path, SpillFolder | None]]) -> None:
        self.where, self.writers = where, dict[str, pq.ParquetWriter]()
        self.place: Path | None = None
        self.owner: SpillFolder | None = None

    def __enter__(self) -> "TableSink":
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self.place is not None and (self.writers or error is not None):
            self.discard(self.place)

    def append(self, tables: Mapping[str, pa.Table]) -> None:
        """Writes more rows of these tables, as one row group each."""
        if self.place is None:
            self.place, self.owner = self.where()
        with report_write_errors(self.place):
            self.place.mkdir(parents=True, exist_ok=True)
            for name, table in tables.items():
                if name not in self.writers:
                    part = self.place / f"{name}.parquet.part"
                    self.writers[name] = pq.ParquetWriter(part, table.schema, compression="zstd")
                self.writers[name].write_table(table)

    def close(self, rest: Mapping[str, pa.Table]) -> dict[str, pa.Table | StoredTable]:
        """Writes the last rows of tables that are on disk, closes their files, and returns all tables."""
        tables: dict[str, pa.Table | StoredTable] = dict(rest)
        if self.writers:
            self.append({name: rest[name] for name in self.writers if rest[name].num_rows})
        with report_write_errors(self.place):
            for name in list(self.writers):
                assert self.place is not None
                self.writers[name].close()
                file = self.place / f"{name}.parquet"
                (self.place / f"{name}.parquet.part").replace(file)
                tables[name] = StoredTable(file, self.owner)
                del self.writers[name]
        return tables

    def discard(self, place: Path) -> None:
        """Removes all tables of the run that were written."""
        for writer in self.writers.values():
            # Errors do not matter: the files are removed in any case.
            with suppress(OSError, pa.ArrowException):
                writer.close()
        self.writers.clear()
        shutil.rmtree(place, ignore_errors=True)
