"""Finished runs on disk: one small Parquet file a run, named by the hash of what made it."""

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from overspill.errors import BadInput, Unwritable
from overspill.results import store
from overspill.stats.quantiles import Value

MARK, MARKED = ".overspill-store", "overspill store 1\n"
SCHEMA = pa.schema(
    [
        pa.field("metric", pa.string(), False),
        pa.field("value", pa.float64(), False),
        pa.field("censored", pa.bool_(), False),
        pa.field("samples", pa.uint64()),
    ]
)
META = b"overspill"


@dataclass(frozen=True)
class Entry:
    """A finished run: its metrics, its summary, and SHA-256 of each table kept (`None`: it wrote none)."""

    values: dict[str, Value]
    summary: dict[str, Any]
    tables: dict[str, str | None] = field(default_factory=dict)


class Broken(Exception):
    """A file of the store that is not what was written."""


class Cache:
    """The folder of finished runs; what lies in it is whole, whenever a writer was killed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def file(self, key: str) -> Path:
        """Where a run lies."""
        return self.folder / key[:2] / f"{key}.parquet"

    def table(self, key: str, name: str) -> Path:
        """Where a kept table of a run lies."""
        return self.folder / key[:2] / key / f"{name}.parquet"

    def find(self, key: str, tables: Sequence[str] = ()) -> Entry | None:
        """A run with these tables, if it lies there; `Broken` where its files are damaged."""
        entry = self.read(key)
        if entry is None or not set(tables) <= set(entry.tables):
            return None
        for name in tables:
            expected, path = entry.tables[name], self.table(key, name)
            if expected is not None and (not path.is_file() or store.digest(path) != expected):
                raise Broken(f"{path}: not the table that was written")
        return entry

    def read(self, key: str) -> Entry | None:
        """A run; `None` where there is none, `Broken` where its file is damaged."""
        path = self.file(key)
        if not path.is_file():
            return None
        try:
            # As a file of its own: a folder's name is no column.
            with pq.ParquetFile(path, page_checksum_verification=True) as file:
                table = file.read()
            meta = json.loads((table.schema.metadata or {})[META])
            entry = unpack(table, meta)
            whole = meta["key"] == key and meta["digest"] == fingerprint(key, entry)
        except (OSError, pa.ArrowException, ValueError, KeyError, TypeError) as error:
            raise Broken(f"{path}: {' '.join(str(error).split())}") from error
        if not whole:
            raise Broken(f"{path}: its content is not what was written")
        return entry

    def write(self, key: str, entry: Entry, tables: Mapping[str, Path | bytes]) -> None:
        """Put a run there, its tables first, so that it is there wholly or not at all."""
        path = self.file(key)
        new = path.with_name(f".{key}.{os.getpid()}.new")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            hashes = dict(entry.tables)
            for name, given in tables.items():
                hashes[name] = self.put(key, name, given)
            whole = Entry(entry.values, entry.summary, dict(sorted(hashes.items())))
            pq.write_table(pack(key, whole), new, compression="zstd", write_page_checksum=True)
            new.replace(path)
        except OSError as error:
            raise Unwritable(f"{path}: cannot be written: {error.strerror or error}") from error

    def put(self, key: str, name: str, given: Path | bytes) -> str:
        """Put a table there; its hash."""
        path = self.table(key, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(given, bytes):
            new = path.with_name(f".{name}.{os.getpid()}.new")
            new.write_bytes(given)
        else:
            new = given
        found = store.digest(new)
        new.replace(path)
        return found

    def remove(self, key: str) -> None:
        """Take a damaged run away."""
        self.file(key).unlink(missing_ok=True)
        shutil.rmtree(self.folder / key[:2] / key, ignore_errors=True)

    @property
    def staging(self) -> Path:
        """Where tables of runs that go on are written; what is left there is of no use."""
        return self.folder / ".staging"


def pack(key: str, entry: Entry) -> pa.Table:
    """A run as a table, the summary and a hash over all of it in the schema's metadata."""
    meta = {"key": key, "digest": fingerprint(key, entry), "summary": entry.summary, "tables": entry.tables}
    columns = [
        pa.array(list(entry.values), pa.string()),
        pa.array([one.value for one in entry.values.values()], pa.float64()),
        pa.array([one.censored for one in entry.values.values()], pa.bool_()),
        pa.array([one.samples for one in entry.values.values()], pa.uint64()),
    ]
    text = json.dumps(meta, sort_keys=True, separators=(",", ":"))
    return pa.table(columns, schema=SCHEMA.with_metadata({META: text.encode()}))


def unpack(table: pa.Table, meta: dict[str, Any]) -> Entry:
    """A run from its table."""
    columns = (table.column(name).to_pylist() for name in SCHEMA.names)
    values = {name: Value(*known) for name, *known in zip(*columns, strict=True)}
    return Entry(values, meta["summary"], meta["tables"])


def fingerprint(key: str, entry: Entry) -> str:
    """SHA-256 of what an entry says, to the bit."""
    values = [[name, one.value.hex(), one.censored, one.samples] for name, one in entry.values.items()]
    text = json.dumps([key, values, entry.summary, entry.tables], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@contextmanager
def held(out: Path) -> Iterator[Cache]:
    """The store of a folder, for one sweep at a time; `BadInput` where it is another's or in use."""
    refuse_foreign(out)
    folder = out / "store"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        mark = (folder / MARK).open("a+", encoding="utf-8")
    except OSError as error:
        raise BadInput(f"--out: {store.shortened(str(out))}: cannot be written: {error.strerror}") from error
    with mark:
        try:
            # Goes with the process, however that ends.
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadInput(f"--out: {out}: another sweep is writing there") from None
        if mark.tell() == 0:
            mark.write(MARKED)
            mark.flush()
        tidy(folder)
        try:
            yield Cache(folder)
        finally:
            tidy(folder)


def refuse_foreign(out: Path) -> None:
    """`BadInput` unless a folder is new, empty, or of a sweep."""
    try:
        if out.exists() and not out.is_dir():
            raise BadInput(f"--out: {out} is a file; expected a folder")
        if out.is_dir() and any(out.iterdir()) and not (out / "store" / MARK).is_file():
            raise BadInput(
                f"--out: {out} has files but no sweep of overspill; expected a new or empty folder"
            )
    except OSError as error:
        raise BadInput(f"--out: {store.shortened(str(out))}: {error.strerror}") from error


def tidy(folder: Path) -> None:
    """Take away what a writer that was killed left half done."""
    shutil.rmtree(folder / ".staging", ignore_errors=True)
    for pattern in ("??/.*.new", "??/*/.*.new"):
        for left in folder.glob(pattern):
            left.unlink(missing_ok=True)
