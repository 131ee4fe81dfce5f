"""What a run is known by: a hash of everything that its metrics depend on."""

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
from overspill.results import metrics, steady
from overspill.results.cache import digest

if TYPE_CHECKING:
    from overspill._core import Scenario

# What a variant is called and which seed comes first changes no run.
ENTRY = 5  # what is kept of a run
NO_PART = ("name", "description", "seed")
LONGEST_NAME = 4096


@dataclass(frozen=True)
class Build:
    """The software that makes results: the core's version and file, and the code of the metrics."""

    version: str
    core: str
    metrics: str


def build() -> Build:
    """The software of this process."""
    backend = core.backend()
    return Build(core.version(), file_digest(str(getattr(backend, "__file__", "") or "")), metrics_digest())


@lru_cache(maxsize=64)
def file_digest(path: str) -> str:
    """SHA-256 of a file; empty where there is none."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


@lru_cache(maxsize=1)
def metrics_digest() -> str:
    """SHA-256 of the sources that metrics are computed with, and what the halves of windows are compared by.

    So no old value outlives a change.
    """
    made = hashlib.sha256()
    for module in sorted(needed(metrics) | needed(steady), key=lambda one: one.__name__):
        made.update(f"{module.__name__}\0{file_digest(str(module.__file__))}\0".encode())
    return made.hexdigest()


def needed(module: ModuleType) -> set[ModuleType]:
    """A module, and those of this package that it uses, directly or not."""
    found, left = {module}, [module]
    while left:
        for one in vars(left.pop()).values():
            name = one.__name__ if isinstance(one, ModuleType) else str(getattr(one, "__module__", ""))
            other = sys.modules.get(name) if name.startswith("overspill.") else None
            if other is not None and other not in found:
                found.add(other)
                left.append(other)
    return found


# Number of the file, times of its last changes, size.
Stamp = tuple[int, int, int, int]


class Files:
    """The files that a scenario may name, by their names in it; each is read anew only once it changes."""

    def __init__(self, scenario: str) -> None:
        self.folder, self.lock = Path(scenario).parent, threading.Lock()
        self.known: dict[str, tuple[Stamp, str]] = {}

    def stamp(self, name: str) -> Stamp | None:
        """What tells the file of this name from another in its place; `None` where there is none."""
        if not name or len(name) > LONGEST_NAME or "\0" in name:
            return None
        try:
            found = os.stat(self.folder / name)
        except (OSError, ValueError):
            return None
        if not stat.S_ISREG(found.st_mode):
            return None  # in a folder of that name others may write at any time
        return found.st_ino, found.st_ctime_ns, found.st_mtime_ns, found.st_size

    def digest(self, name: str) -> str | None:
        """SHA-256 of the file of this name beside the scenario; `None` where there is none."""
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

    def named(self, resolved: Any) -> dict[str, str]:
        """The files that a variant names: every text in it that is a file's name, with the file's hash."""
        found = {name: self.digest(name) for name in sorted(set(texts(resolved)))}
        return {name: digest for name, digest in found.items() if digest is not None}


def texts(value: Any, below: str = "") -> Iterator[str]:
    """Every text in a document but names of nodes, of which there may be thousands."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            if key != "nodes":
                yield from texts(one, key)
    elif isinstance(value, list):
        for one in value:
            yield from texts(one, below)


def whole(scene: Scenario, variant: str, resolved: Mapping[str, Any]) -> Mapping[str, Any]:
    """A variant with every default filled in, and its network where the scenario itself draws that.

    Of a network that is drawn node by node the resolved table says no more than that.
    """
    topology = resolved.get("topology")
    drawn = isinstance(topology, Mapping) and topology.get("kind") == "custom"
    return {**resolved, "network": digest(scene.network(variant))} if drawn else resolved


def config(resolved: Mapping[str, Any], files: Mapping[str, str], build: Build) -> str:
    """SHA-256 of the software, a variant with every default filled in, and the files that it names."""
    kept = {key: value for key, value in resolved.items() if key not in NO_PART}
    return digest({"entry": ENTRY, "build": vars(build), "resolved": kept, "files": dict(files)})
