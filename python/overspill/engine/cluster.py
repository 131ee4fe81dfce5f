"""Runs on a Dask cluster; Dask is imported only if one is requested."""

from __future__ import annotations

import os
import queue
import re
import tempfile
import threading
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from overspill.engine import core, keys
from overspill.engine.points import Base, Scene
from overspill.engine.pool import Result, failed, named
from overspill.engine.simulate import Finished, How, simulate
from overspill.engine.source import Source
from overspill.engine.task import Listener, Task
from overspill.errors import BadInput, Failed, OverspillError, bounded
from overspill.results.cache import File

LOCAL = re.compile(r"local:([1-9][0-9]{0,3})")
ADDRESS = re.compile(r"(?:tcp|tls|ucx|wss?)://\S+:[0-9]{1,5}")
ANSWER, WORKERS = 7, 30  # seconds to wait for a scheduler, and for its first worker


@dataclass(frozen=True)
class Order:
    """Everything that a worker needs for a run: the scenario's text, and contents of the files it names.

    Each file is placed as it is relative to the scenario. A file named by an absolute path is not sent: the
    workers must have the same file there.
    """

    task: Task
    source: Source
    sets: tuple[str, ...]
    files: dict[str, bytes]
    build: keys.Build
    max_events: int | None
    tables: tuple[str, ...]


@dataclass(frozen=True)
class Done:
    """Reply of a worker: a finished run, or the lines of an error."""

    finished: Finished | None = None
    lines: tuple[str, ...] = ()


def processes(on: str) -> int | None:
    """Returns the number of local processes in `local:N`; `None` for the address of a scheduler."""
    match = LOCAL.fullmatch(on)
    return int(match[1]) if match else None


def check(on: str) -> None:
    """Raises `BadInput` if the address is not valid, and `Failed` if Dask is not installed."""
    if not LOCAL.fullmatch(on) and not ADDRESS.fullmatch(on):
        raise BadInput(
            f"--on: found {on!r}; expected an address such as tcp://host:8786, or local:N for N processes"
        )
    if find_spec("distributed") is None:
        raise Failed("--on needs Dask, which is not installed: pip install 'overspill[dask]'")
    if LOCAL.fullmatch(on) and find_spec("cryptography") is None:
        raise Failed("--on local:N needs cryptography, which is not installed: pip install 'overspill[dask]'")


def of_tls(on: str, error: Exception) -> str:
    """Returns the end of a message about a scheduler that is reached by TLS: the cause, and where to look."""
    if not on.startswith(("tls:", "wss:")):
        return ""
    what = " ".join(str(error).split()) or type(error).__name__
    return f" ({bounded(what)}); check the certificates that `distributed.comm.tls` names"


class Cluster:
    """Dask cluster, or local processes (`local:N`); Dask replaces workers that die."""

    def __init__(self, on: str, how: How, base: Base) -> None:
        self.on, self.how, self.base = on, how, base
        # Dask has no type hints.
        self.dask: Any = None
        self.client: Any = None
        self.local: Any = None
        self.tasks: dict[str, tuple[Any, Task]] = {}  # by key of the future, which is kept beside its task
        self.arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.refused: list[Result] = []
        self.scene: Scene | None = None
        self.files: dict[str, bytes] = {}
        self.cores = 1

    def __enter__(self) -> Cluster:
        self.dask = import_module("distributed")
        workers = processes(self.on)
        missing = f"no Dask scheduler responds within {ANSWER} s"
        try:
            if workers:
                self.local = import_module("overspill.engine.private_cluster").start(workers)
            self.client = self.dask.Client(self.local or self.on, timeout=ANSWER, set_as_default=False)
            missing = f"its scheduler has no worker after {WORKERS} s"
            self.client.wait_for_workers(1, timeout=WORKERS)
        except (OSError, RuntimeError, TimeoutError, TypeError, ValueError) as error:
            self.close()
            raise Failed(f"--on: {self.on}: {missing}{of_tls(self.on, error)}") from error
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Cancels unfinished tasks and disconnects."""
        if self.client is not None:
            self.abandoned()
            self.client.close()
        if self.local is not None:
            self.local.close()

    @property
    def room(self) -> int:
        """Largest number of pending tasks: two per core of the cluster, as last seen."""
        return 2 * self.cores

    @property
    def stuck(self) -> bool:
        """Always false: tasks on the cluster are abandoned immediately."""
        return False

    @property
    def pending(self) -> int:
        """Number of tasks whose results have not been returned."""
        return len(self.tasks) + len(self.refused)

    def submit(self, task: Task, scene: Scene) -> None:
        """Sends a task to the cluster."""
        try:
            order = self.order(task, scene)
        except OverspillError as error:
            self.refused.append(Result(task, None, named(task, error)))
            return
        # The key is unique: another sweep on the same cluster may do the same run with other tables.
        future = self.client.submit(work, order, key=f"overspill-{uuid.uuid4()}", pure=False)
        self.tasks[future.key] = future, task
        future.add_done_callback(self.arrived.put)

    def order(self, task: Task, scene: Scene) -> Order:
        """Returns everything that a worker needs for a task."""
        if self.scene is not scene:
            self.files, self.scene = contents(self.base, scene), scene
        sets = (*self.base.sets, *scene.point.sets)
        how = self.how
        return Order(task, self.base.source, sets, self.files, self.base.build, how.max_events, how.tables)

    def results(self, seconds: float) -> Iterator[Result]:
        """Yields the results that have arrived, after waiting at most `seconds` for the first."""
        if self.how.stopped:
            yield from self.abandoned()
            return
        while self.refused:
            yield self.refused.pop()
        self.cores = max(1, sum(self.client.ncores().values()))
        try:
            future = self.arrived.get(timeout=seconds)
            while True:
                if future.key in self.tasks:
                    yield self.result(*self.tasks.pop(future.key))
                future = self.arrived.get_nowait()
        except queue.Empty:
            return

    def abandoned(self) -> list[Result]:
        """Cancels all unfinished tasks and returns them; running ones end on their workers unused."""
        left = list(self.tasks.values())
        self.tasks.clear()
        if left:
            self.client.cancel([future for future, _ in left], force=True)
        return [Result(task) for _, task in left]

    def result(self, future: Any, task: Task) -> Result:
        """Returns the result of a task whose future is done."""
        try:
            done = future.result()
        except OverspillError as error:
            return Result(task, None, named(task, error))
        except Exception as error:
            return Result(task, None, failed(task, error))
        if done.finished is None:
            return Result(task, None, named(task, Failed(done.lines)))
        return Result(task, done.finished)


def contents(base: Base, scene: Scene) -> dict[str, bytes]:
    """Returns the contents of the files that a point's variants name by relative paths."""
    scene.get()
    folder = Path(base.source.path).parent
    try:
        return {name: (folder / name).read_bytes() for name in scene.files if not Path(name).is_absolute()}
    except OSError as error:
        raise Failed(f"{error.filename}: cannot be read: {error.strerror}") from error


def work(order: Order) -> Done:
    """Does a run on a worker."""
    try:
        return Done(performed(order))
    except OverspillError as error:
        return Done(None, tuple(error.lines))


def performed(order: Order) -> Finished:
    """Does a run in a temporary folder with its files, and returns its tables as bytes.

    Raises `Failed` if the worker has another build, or other files.
    """
    found = keys.build()
    if found != order.build:
        raise Failed(
            f"the worker has another build of overspill, {found.version}; install the same build on all "
            "machines"
        )
    with tempfile.TemporaryDirectory(prefix="overspill-") as name:
        path = laid(Path(name), order)
        scene = core.scenario(str(path), order.source.text, list(order.sets))
        resolved = core.document(scene)["resolved"][order.task.variant]
        known = keys.whole(scene, order.task.variant, resolved)
        config = keys.config(known, keys.Files(str(path)).named(resolved), found)
        if config != order.task.config:
            raise Failed(
                "the files of the worker differ from the files here; use absolute paths that are valid "
                "on both machines"
            )
        how = How(order.max_events, order.tables, Listener(), threading.Event(), threading.Event())
        finished = simulate(scene, order.task, how, Path(name) / "tables")
        assert finished is not None
        return replace(finished, tables={name: sent(file) for name, file in finished.tables.items()})


def sent(file: File) -> File:
    """Returns a file with its content in place of its path."""
    return file if isinstance(file.made, bytes) else File(file.made.read_bytes(), file.digest)


def laid(folder: Path, order: Order) -> Path:
    """Writes the files of a scenario below a folder, and returns the path of the scenario among them.

    That path is deep enough for names of files that lead upward.
    """
    up = max([os.path.normpath(name).split(os.sep).count(os.pardir) for name in order.files], default=0)
    home = folder.joinpath("files", *(["below"] * up))
    home.mkdir(parents=True)
    for name, data in order.files.items():
        path = Path(os.path.normpath(home / name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return home / Path(order.source.path).name
