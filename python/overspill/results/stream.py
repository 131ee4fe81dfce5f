"""Tables that grow with simulated time, written to disk while their run goes on."""

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

from overspill.errors import BadInput
from overspill.whole_files import writing

ROWS = 1 << 17  # of one table, in memory before they are written as a row group
BATCH = 1 << 16  # rows read at a time


class Spill:
    """A temporary folder, made when first needed, that goes when nobody holds this any more."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.path: Path | None = None

    def __reduce__(self) -> Any:
        """It goes with its process."""
        raise BadInput(
            "results with captures or long tables cannot be pickled: these lie in a temporary folder "
            "that goes with this process; run with `out`"
        )

    @property
    def folder(self) -> Path:
        """The folder."""
        with self.lock:
            if self.path is None:
                with writing(tempfile.gettempdir()):
                    self.path = Path(tempfile.mkdtemp(prefix="overspill-"))
                weakref.finalize(self, shutil.rmtree, self.path, True)
            return self.path


@dataclass(frozen=True)
class Stored:
    """A table on disk; `owner` keeps its folder there.

    Where later results may take its place, `known` is what tells it from theirs, and SHA-256 of its file.
    """

    path: Path
    owner: Spill | None = None
    known: tuple[tuple[int, int, int], str] | None = None

    @staticmethod
    def among_results(path: Path, digest: str) -> "Stored | None":
        """A table in a folder of results, with the SHA-256 that its file has; `None` without a file."""
        found = stamp(path) if path.is_file() else None
        return None if found is None else Stored(path, known=(found, digest))

    @property
    def is_own(self) -> bool:
        """Whether the file is still the one that it was, or a copy."""
        if self.known is None:
            return True
        known, digest = self.known
        now = stamp(self.path)
        return now is not None and (now == known or digest_of(self.path, now) == digest)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """What is no Parquet is `BadInput`, and so is what belongs to other results."""
        try:
            if not self.is_own:
                raise BadInput(
                    f"{self.path}: not the table of these results: deleted, damaged, or of a later command; "
                    "load them anew, run the same command again, or give each command a folder of its own"
                )
            yield
        except (OSError, pa.ArrowException) as error:
            raise BadInput(f"{self.path}: cannot be read as Parquet: {error}") from error

    def read(self, names: Sequence[str] | None = None) -> pa.Table:
        """The table, or some columns of it."""
        with self.reading():
            # As a file of its own: a folder's name is no column.
            return pq.ParquetFile(self.path).read(columns=None if names is None else list(names))

    @property
    def names(self) -> list[str]:
        """Its columns."""
        with self.reading():
            return list(pq.read_schema(self.path).names)

    @property
    def rows(self) -> int:
        """How many rows it has."""
        with self.reading():
            return int(pq.read_metadata(self.path).num_rows)

    def batches(self, names: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """The table bit by bit."""
        with self.reading():
            # Buffering ahead would read the whole file into memory.
            file = pq.ParquetFile(self.path, pre_buffer=False)
            yield from file.iter_batches(BATCH, columns=None if names is None else list(names))


def stamp(path: Path) -> tuple[int, int, int] | None:
    """What tells a file from another in its place, but for a copy of it; `None` where there is none."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns, stat.st_size


@lru_cache(maxsize=4096)
def digest_of(path: Path, _stamp: tuple[int, int, int]) -> str:
    """SHA-256 of a file as long as nobody changes it."""
    return file_digest(path) if path.is_file() else ""


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Sink:
    """The tables of one run: what does not fit goes to a folder, under other names until it is whole.

    `where` gives the folder and who keeps it there; it is asked when the first rows come.
    """

    def __init__(self, where: Callable[[], tuple[Path, Spill | None]]) -> None:
        self.where, self.writers = where, dict[str, pq.ParquetWriter]()
        self.place: Path | None = None
        self.owner: Spill | None = None

    def __enter__(self) -> "Sink":
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self.place is not None and (self.writers or error is not None):
            self.discard(self.place)

    def append(self, tables: Mapping[str, pa.Table]) -> None:
        """Write more rows of these tables, a row group of each."""
        if self.place is None:
            self.place, self.owner = self.where()
        with writing(self.place):
            self.place.mkdir(parents=True, exist_ok=True)
            for name, table in tables.items():
                if name not in self.writers:
                    part = self.place / f"{name}.parquet.part"
                    self.writers[name] = pq.ParquetWriter(part, table.schema, compression="zstd")
                self.writers[name].write_table(table)

    def close(self, rest: Mapping[str, pa.Table]) -> dict[str, pa.Table | Stored]:
        """Write the last rows of what has gone to disk, and give all tables."""
        tables: dict[str, pa.Table | Stored] = dict(rest)
        if self.writers:
            self.append({name: rest[name] for name in self.writers if rest[name].num_rows})
        with writing(self.place):
            for name in list(self.writers):
                assert self.place is not None
                self.writers[name].close()
                file = self.place / f"{name}.parquet"
                (self.place / f"{name}.parquet.part").replace(file)
                tables[name] = Stored(file, self.owner)
                del self.writers[name]
        return tables

    def discard(self, place: Path) -> None:
        """Take away what was written."""
        for writer in self.writers.values():
            # It goes in any case.
            with suppress(OSError, pa.ArrowException):
                writer.close()
        self.writers.clear()
        shutil.rmtree(place, ignore_errors=True)
