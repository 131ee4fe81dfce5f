"""Key of a run: a hash of everything that its metrics depend on."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from overspill.engine import core
from overspill.errors import Failed
from overspill.results import metrics, steady_state
from overspill.results.cache import document_digest

if TYPE_CHECKING:
    from overspill._core import Scenario

ENTRY_FORMAT = 5  # version of the format of stored runs
# These keys of a scenario change no run: a run is identified by its own seed, not by the first one.
IGNORED_KEYS = ("name", "description", "seed")
MAX_FILE_NAME = 4096


@dataclass(frozen=True)
class Build:
    """Software that makes results: version and file of the core, and code of the metrics."""

    version: str
    core: str
    metrics: str


def current_build() -> Build:
    """Returns the software of this process."""
    backend = core.backend()
    return Build(core.version(), file_digest(str(getattr(backend, "__file__", "") or "")), metrics_digest())


@lru_cache(maxsize=64)
def file_digest(path: str) -> str:
    """Returns the SHA-256 of a file; empty if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


@lru_cache(maxsize=1)
def metrics_digest() -> str:
    """Returns the SHA-256 of the sources that metrics and comparisons of window halves depend on.

    A change of these sources thus invalidates every stored value.
    """
    made = hashlib.sha256()
    for module in sorted(
        imported_modules(metrics) | imported_modules(steady_state), key=lambda one: one.__name__
    ):
        made.update(f"{module.__name__}\0{file_digest(str(module.__file__))}\0".encode())
    return made.hexdigest()


def imported_modules(module: ModuleType) -> set[ModuleType]:
    """Returns a module and all modules of this package that it uses, directly or not."""
    found, left = {module}, [module]
    while left:
        for one in vars(left.pop()).values():
            name = one.__name__ if isinstance(one, ModuleType) else str(getattr(one, "__module__", ""))
            other = sys.modules.get(name) if name.startswith("overspill.") else None
            if other is not None and other not in found:
                found.add(other)
                left.append(other)
    return found


# Inode, times of the last change of metadata and of content, size: a changed file differs in one of these.
FileStamp = tuple[int, int, int, int]


class FileHashes:
    """Files that a scenario may name, each hashed again only after a change."""

    def __init__(self, scenario: str) -> None:
        self.folder, self.lock = Path(scenario).parent, threading.Lock()
        self.known: dict[str, tuple[FileStamp, str]] = {}

    def stamp(self, name: str) -> FileStamp | None:
        """Returns inode, times and size of a file, which change if it is replaced; `None` if missing."""
        if not name or len(name) > MAX_FILE_NAME or "\0" in name:
            return None
        try:
            found = os.stat(self.folder / name)
        except (OSError, ValueError):
            return None
        if not stat.S_ISREG(found.st_mode):
            return None  # not a file: the stamp of a folder changes with every entry
        return found.st_ino, found.st_ctime_ns, found.st_mtime_ns, found.st_size

    def digest(self, name: str) -> str | None:
        """Returns the SHA-256 of the file at a path relative to the scenario's folder.

        Returns `None` if no such file exists.
        Raises `Failed` if it cannot be read.
        """
        stamp, path = self.stamp(name), self.folder / name
        try:
            if stamp is None:
                return None
            with self.lock:
                known = self.known.get(name)
            if known is None or known[0] != stamp:
                with path.open("rb") as file:
                    known = (stamp, hashlib.file_digest(file, "sha256").hexdigest())
                with self.lock:
                    self.known[name] = known
            return known[1]
        except OSError as error:
            raise Failed(f"{path}: cannot be read: {error.strerror}") from error

    def hashes_of_named_files(self, resolved: Any) -> dict[str, str]:
        """Returns hashes of the files that a variant names, by name; any text may be the name of a file."""
        found = {name: self.digest(name) for name in sorted(set(iterate_texts(resolved)))}
        return {name: digest for name, digest in found.items() if digest is not None}


def iterate_texts(value: Any, below: str = "") -> Iterator[str]:
    """Yields every text in a document, except names of nodes, of which there may be thousands."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            if key != "nodes":
                yield from iterate_texts(one, key)
    elif isinstance(value, list):
        for one in value:
            yield from iterate_texts(one, below)


def with_network_hash(scene: Scenario, variant: str, resolved: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns a variant with all defaults, and a hash of its network if that is drawn node by node.

    The resolved table of a network drawn node by node has no more than its kind.
    """
    topology = resolved.get("topology")
    drawn = isinstance(topology, Mapping) and topology.get("kind") == "custom"
    return {**resolved, "network": document_digest(scene.network(variant))} if drawn else resolved


def config_digest(resolved: Mapping[str, Any], files: Mapping[str, str], build: Build) -> str:
    """Returns the SHA-256 of the software, a variant with all defaults, and the files that it names."""
    kept = {key: value for key, value in resolved.items() if key not in IGNORED_KEYS}
    return document_digest(
        {"entry": ENTRY_FORMAT, "build": vars(build), "resolved": kept, "files": dict(files)}
    )
