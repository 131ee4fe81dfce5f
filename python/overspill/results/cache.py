"""Finished runs on disk: one small Parquet file per run, named by the hash of its inputs."""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa
import pyarrow.parquet as pq

from overspill.errors import BadInput, Unwritable
from overspill.results import results_folder
from overspill.results.metric_key import Key, parse_known_key
from overspill.results.rundata import RunData
from overspill.results.table_streams import StoredTable, file_digest
from overspill.stats.quantiles import Value

MARK_FILE, MARK_TEXT = ".overspill-store", "overspill store 1\n"
SCHEMA = pa.schema(
    [
        pa.field("metric", pa.string(), False),
        pa.field("value", pa.float64(), False),
        pa.field("censored", pa.bool_(), False),
        pa.field("samples", pa.uint64()),
    ]
)
METADATA_KEY = b"overspill"


@dataclass(frozen=True)
class StoredFile:
    """File of a finished run, given as its path or its content, with its SHA-256."""

    content: Path | bytes
    digest: str


@dataclass(frozen=True)
class StoredRun:
    """Finished run: metrics, summary, and SHA-256 of each kept table (`None`: the run wrote none).

    `captures` are the capture files with their SHA-256 by link. `halves` are the values of both halves of the
    window that are compared. `config` is a hash of the configuration without the seed.
    """

    values: dict[Key, Value]
    summary: dict[str, Any]
    tables: dict[str, str | None] = field(default_factory=dict)
    captures: dict[str, tuple[str, str]] = field(default_factory=dict)
    halves: dict[str, tuple[float, float]] | None = None
    config: str = ""


NO_STAMP = (0, 0, 0)  # stamp of no file, so that the file is compared by its content


class BrokenFile(Exception):
    """Error for a file of the store that is missing or is not what was written."""


class RunStore:
    """Store of finished runs in a folder; its files are complete even if a writer is killed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run_file(self, key: str) -> Path:
        """Returns the path of a run's file."""
        return self.folder / key[:2] / f"{key}.parquet"

    def run_folder(self, key: str) -> Path:
        """Returns the folder of a run's tables and captures."""
        return self.folder / key[:2] / key

    def table_path(self, key: str, name: str) -> Path:
        """Returns the path of a stored table of a run."""
        return self.run_folder(key) / f"{name}.parquet"

    def kept_files(self, key: str, entry: StoredRun, tables: Sequence[str]) -> dict[Path, str]:
        """Returns the files of these tables that the run wrote, and of its captures, with their SHA-256."""
        known = {self.table_path(key, name): entry.tables[name] for name in tables}
        known |= {self.run_folder(key) / name: digest for name, digest in entry.captures.values()}
        return {path: digest for path, digest in known.items() if digest is not None}

    def find_run(self, key: str, tables: Sequence[str] = ()) -> StoredRun | None:
        """Returns a stored run if it has these tables, or `None`; raises `BrokenFile` for a damaged file."""
        entry = self.read_run(key)
        if entry is None or not set(tables) <= set(entry.tables):
            return None
        for path, expected in self.kept_files(key, entry, tables).items():
            if not path.is_file() or file_digest(path) != expected:
                raise BrokenFile(f"{path}: not the file that was written")
        return entry

    def run_keys(self) -> set[str]:
        """Returns the keys of all stored runs."""
        return {path.stem for path in self.folder.glob("??/*.parquet")}

    def read_run(self, key: str) -> StoredRun | None:
        """Returns a run, or `None` if it is not stored; raises `BrokenFile` if its file is damaged."""
        path = self.run_file(key)
        if not path.exists():
            return None
        try:
            with pq.ParquetFile(path, page_checksum_verification=True) as file:
                table = file.read()
            meta = json.loads((table.schema.metadata or {})[METADATA_KEY])
            entry = table_to_entry(table, meta)
            whole = meta["key"] == key and meta["digest"] == entry_digest(key, entry)
        except (OSError, pa.ArrowException, ValueError, KeyError, TypeError) as error:
            raise BrokenFile(f"{path}: {' '.join(str(error).split())}") from error
        if not whole:
            raise BrokenFile(f"{path}: its content differs from what was written")
        return entry

    def store_run(self, key: str, entry: StoredRun, files: Mapping[str, StoredFile]) -> None:
        """Stores a run with its files, in an order that leaves it complete or absent after a crash."""
        path = self.run_file(key)
        new = path.with_name(f".{key}.{os.getpid()}.new")
        try:
            clear_path(path.parent, folder=True)
            clear_path(path, folder=False)
            for name, file in files.items():
                self.store_file(key, name, file.content)
            pq.write_table(entry_to_table(key, entry), new, compression="zstd", write_page_checksum=True)
            new.replace(path)
        except OSError as error:
            with suppress(OSError):
                new.unlink(missing_ok=True)
            raise Unwritable(f"{path}: cannot be written: {error.strerror or error}") from error

    def store_file(self, key: str, name: str, made: Path | bytes) -> None:
        """Stores one file of a run."""
        path = self.run_folder(key) / name
        clear_path(path.parent, folder=True)
        clear_path(path, folder=False)
        if isinstance(made, bytes):
            new = path.with_name(f".{name}.{os.getpid()}.new")
            new.write_bytes(made)
        else:
            new = made
        new.replace(path)

    def remove_run(self, key: str) -> None:
        """Removes a run from the store."""
        for path in (self.run_file(key), self.run_folder(key)):
            remove_path(path)

    @property
    def staging(self) -> Path:
        """Folder for tables of runs in progress; its contents may be removed when no run is in progress."""
        return self.folder / ".staging"


def clear_path(path: Path, folder: bool) -> None:
    """Removes a folder from a path where a file should be, or a file where a folder should be.

    A missing folder is created.
    """
    if path.exists() and path.is_dir() != folder:
        remove_path(path)
    if folder:
        path.mkdir(parents=True, exist_ok=True)


def remove_path(path: Path) -> None:
    """Removes a file or a folder."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def entry_to_table(key: str, entry: StoredRun) -> pa.Table:
    """Converts a run to a table of metrics, with its summary and a hash in the schema's metadata."""
    meta = {"key": key, "digest": entry_digest(key, entry), **without_metrics(entry)}
    columns = [
        pa.array(list(entry.values), pa.string()),
        pa.array([one.value for one in entry.values.values()], pa.float64()),
        pa.array([one.censored for one in entry.values.values()], pa.bool_()),
        pa.array([one.samples for one in entry.values.values()], pa.uint64()),
    ]
    text = json.dumps(meta, sort_keys=True, separators=(",", ":"))
    return pa.table(columns, schema=SCHEMA.with_metadata({METADATA_KEY: text.encode()}))


def table_to_entry(table: pa.Table, meta: dict[str, Any]) -> StoredRun:
    """Converts a table of the store back to a run."""
    columns = (table.column(name).to_pylist() for name in SCHEMA.names)
    values = {parse_known_key(name): Value(*known) for name, *known in zip(*columns, strict=True)}
    captures = {link: (name, digest) for link, (name, digest) in meta["captures"].items()}
    halves = meta["halves"]
    halves = None if halves is None else {name: (first, second) for name, (first, second) in halves.items()}
    return StoredRun(values, meta["summary"], meta["tables"], captures, halves, meta["config"])


def without_metrics(entry: StoredRun) -> dict[str, Any]:
    """Returns the parts of a stored run, except its metrics, as one document."""
    return {
        "summary": entry.summary,
        "tables": dict(sorted(entry.tables.items())),
        "captures": entry.captures,
        "halves": entry.halves,
        "config": entry.config,
    }


def entry_digest(key: str, entry: StoredRun) -> str:
    """Returns the SHA-256 of a stored run, with metrics in full precision."""
    values = [[name, one.value.hex(), one.censored, one.samples] for name, one in entry.values.items()]
    text = json.dumps([key, values, without_metrics(entry)], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def read_stored_run(found: RunStore, key: str) -> RunData | None:
    """Returns a run with its kept files; `None` if it is not stored or its file is damaged."""
    try:
        entry = found.read_run(key)
    except BrokenFile:
        return None
    if entry is None:
        return None
    names = [name for name, digest in entry.tables.items() if digest is not None]
    tables = {
        name: StoredTable(found.table_path(key, name), stamp_and_digest=(NO_STAMP, entry.tables[name] or ""))
        for name in names
    }
    run = RunData(entry.summary, tables)
    run.values, run.halves, run.key = entry.values, entry.halves, key
    run.captures = {link: found.run_folder(key) / name for link, (name, _) in entry.captures.items()}
    run.digests = {path.name: digest for path, digest in found.kept_files(key, entry, names).items()}
    return run


def run_key(config: str, seed: int, max_events: int | None, captured: Any = None) -> str:
    """Returns the SHA-256 that identifies a run: configuration, seed, limit of events, and captures."""
    made_of = {"config": config, "seed": seed, "max_events": max_events}
    return document_digest(made_of | ({"captured": captured} if captured else {}))


def document_digest(value: Any) -> str:
    """Returns the SHA-256 of a JSON document, independent of the order of keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


@contextmanager
def lock_store(out: Path) -> Iterator[RunStore]:
    """Yields the store in a folder of results, locked for one command.

    A new folder is removed again if nothing was put into it. Raises `BadInput` if the folder is in use, or
    has files of something else.
    """
    refuse_foreign_folder(out)
    folder, made = out / "store", not out.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        mark = (folder / MARK_FILE).open("a+", encoding="utf-8")
    except OSError as error:
        if made:
            remove_if_empty(out)
        raise BadInput(
            f"--out: {results_folder.shorten_path(str(out))}: cannot be written: {error.strerror}"
        ) from error
    with lock_folder(mark, f"--out: {out}"):
        remove_incomplete_files(out)
        try:
            yield RunStore(folder)
        finally:
            remove_incomplete_files(out)
            if made:
                remove_if_empty(out)


@contextmanager
def lock_folder(mark: TextIO, place: str) -> Iterator[None]:
    """Locks a folder for one command, by the mark file of its store; raises `BadInput` if it is locked."""
    import filelock  # takes milliseconds to load, and only commands that write need it

    with mark:
        # The system releases this lock when the process ends, however it ends. `filelock.FileLock` would
        # delete the mark on Windows.
        if not filelock.lock_descriptor(mark.fileno(), blocking=False):
            raise BadInput(f"{place}: another run or sweep is writing there")
        try:
            if mark.tell() == 0:
                mark.write(MARK_TEXT)
                mark.flush()
            yield
        finally:
            filelock.unlock_descriptor(mark.fileno())


@contextmanager
def lock_for_drawing(folder: Path) -> Iterator[None]:
    """Locks a folder of results while a page is drawn, so that no other command replaces them."""
    place = folder / "store"
    place.mkdir(exist_ok=True)
    with lock_folder((place / MARK_FILE).open("a+", encoding="utf-8"), str(folder)):
        yield


def remove_if_empty(out: Path) -> None:
    """Removes a folder of results that has no results or runs yet."""
    left = {path.relative_to(out).as_posix() for path in out.rglob("*")} if out.is_dir() else {"-"}
    if left <= {"store", f"store/{MARK_FILE}", results_folder.PLAN_FILE}:
        shutil.rmtree(out, ignore_errors=True)


def refuse_foreign_folder(out: Path) -> None:
    """Raises `BadInput` unless a folder is new, empty, or was created by Overspill."""
    try:
        if out.exists() and not out.is_dir():
            raise BadInput(f"--out: {out} is a file; expected a folder")
        if not out.is_dir() or (out / "store" / MARK_FILE).is_file():
            return
        if is_left_over(out):
            return
        if not (out / results_folder.MANIFEST_FILE).is_file():
            raise BadInput(
                f"--out: {out} has files but no results of overspill; expected a new or empty folder"
            )
        results_folder.read_manifest(out, results_folder.NEW_FOLDER_ADVICE)
    except OSError as error:
        raise BadInput(f"--out: {results_folder.shorten_path(str(out))}: {error.strerror}") from error


def is_left_over(out: Path) -> bool:
    """Returns true if a folder has only the remains of a running command after a user deleted the folder."""
    inside = [path for path in out.iterdir() if not path.name.startswith(results_folder.STAGING_PREFIX)]
    if not inside:
        return True
    places = list((out / "store").iterdir()) if inside == [out / "store"] and inside[0].is_dir() else []
    return bool(places) and all(re.fullmatch(r"[0-9a-f]{2}|\.staging", path.name) for path in places)


def remove_incomplete_files(out: Path) -> None:
    """Removes incomplete files of a writer that was killed."""
    folder = out / "store"
    shutil.rmtree(folder / ".staging", ignore_errors=True)
    for left in out.glob(f"{results_folder.STAGING_PREFIX}*"):
        shutil.rmtree(left, ignore_errors=True)
    for pattern in ("??/.*.new", "??/*/.*.new"):
        for one in folder.glob(pattern):
            one.unlink(missing_ok=True)
