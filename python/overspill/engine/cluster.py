"""The same runs on a Dask cluster. Nothing of Dask is imported before somebody asks for it."""

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
ANSWER, WORKERS = 7, 30  # seconds until a scheduler answers, and has a worker


@dataclass(frozen=True)
class Order:
    """All that a worker needs for a run: the scenario's text, and the contents of the files that it names.

    A file is put where it lies relative to the scenario. One that is named by an absolute path is not sent:
    the workers must have the same there.
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
    """What a worker gives back: a finished run, or the lines of an error."""

    finished: Finished | None = None
    lines: tuple[str, ...] = ()


def processes(on: str) -> int | None:
    """How many processes of this machine are asked for; `None` where it is a scheduler of its own."""
    match = LOCAL.fullmatch(on)
    return int(match[1]) if match else None


def check(on: str) -> None:
    """`BadInput` where the address is none; `Failed` where Dask is not installed."""
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
    """A Dask cluster, or processes of this machine (`local:N`); a worker that dies is made good by Dask."""

    def __init__(self, on: str, how: How, base: Base) -> None:
        self.on, self.how, self.base = on, how, base
        # Untyped as Dask is.
        self.dask: Any = None
        self.client: Any = None
        self.local: Any = None
        self.tasks: dict[str, tuple[Any, Task]] = {}  # by the key of their future, which is kept as well
        self.arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.refused: list[Result] = []
        self.scene: Scene | None = None
        self.files: dict[str, bytes] = {}
        self.cores = 1

    def __enter__(self) -> Cluster:
        self.dask = import_module("distributed")
        workers = processes(self.on)
        missing = f"no scheduler of Dask answers there within {ANSWER} s"
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
        """Give back what is not done, and leave."""
        if self.client is not None:
            self.abandoned()
            self.client.close()
        if self.local is not None:
            self.local.close()

    @property
    def room(self) -> int:
        """Two tasks a core of the cluster, as it was lately."""
        return 2 * self.cores

    @property
    def stuck(self) -> bool:
        """Never: what is with the cluster is abandoned at once."""
        return False

    @property
    def pending(self) -> int:
        """How many tasks are with the cluster."""
        return len(self.tasks) + len(self.refused)

    def submit(self, task: Task, scene: Scene) -> None:
        """Send a task."""
        try:
            order = self.order(task, scene)
        except OverspillError as error:
            self.refused.append(Result(task, None, named(task, error)))
            return
        # Another sweep on the same cluster may do the same run with other tables.
        future = self.client.submit(work, order, key=f"overspill-{uuid.uuid4()}", pure=False)
        self.tasks[future.key] = future, task
        future.add_done_callback(self.arrived.put)

    def order(self, task: Task, scene: Scene) -> Order:
        """What a worker needs for a task."""
        if self.scene is not scene:
            self.files, self.scene = contents(self.base, scene), scene
        sets = (*self.base.sets, *scene.point.sets)
        how = self.how
        return Order(task, self.base.source, sets, self.files, self.base.build, how.max_events, how.tables)

    def results(self, seconds: float) -> Iterator[Result]:
        """What was done meanwhile."""
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
        """Every task that is still there, now cancelled; one under way ends on its worker for nothing."""
        left = list(self.tasks.values())
        self.tasks.clear()
        if left:
            self.client.cancel([future for future, _ in left], force=True)
        return [Result(task) for _, task in left]

    def result(self, future: Any, task: Task) -> Result:
        """What became of a task."""
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
    """The files that a point's variants name by relative paths."""
    scene.get()
    folder = Path(base.source.path).parent
    try:
        return {name: (folder / name).read_bytes() for name in scene.files if not Path(name).is_absolute()}
    except OSError as error:
        raise Failed(f"{error.filename}: cannot be read: {error.strerror}") from error


def work(order: Order) -> Done:
    """Do a run on a worker."""
    try:
        return Done(performed(order))
    except OverspillError as error:
        return Done(None, tuple(error.lines))


def performed(order: Order) -> Finished:
    """The run in a temporary folder with its files; its tables as bytes."""
    found = keys.build()
    if found != order.build:
        raise Failed(
            f"the worker has overspill {found.version} of another build; install the same on all machines"
        )
    with tempfile.TemporaryDirectory(prefix="overspill-") as name:
        path = laid(Path(name), order)
        scene = core.scenario(str(path), order.source.text, list(order.sets))
        resolved = core.document(scene)["resolved"][order.task.variant]
        known = keys.whole(scene, order.task.variant, resolved)
        config = keys.config(known, keys.Files(str(path)).named(resolved), found)
        if config != order.task.config:
            raise Failed(
                "the worker finds other files than those named here; are absolute paths the same there?"
            )
        how = How(order.max_events, order.tables, Listener(), threading.Event(), threading.Event())
        finished = simulate(scene, order.task, how, Path(name) / "tables")
        assert finished is not None
        return replace(finished, tables={name: sent(file) for name, file in finished.tables.items()})


def sent(file: File) -> File:
    """A file by its content."""
    return file if isinstance(file.made, bytes) else File(file.made.read_bytes(), file.digest)


def laid(folder: Path, order: Order) -> Path:
    """Where the scenario would lie, with its files about it; deep enough for names that lead upwards."""
    up = max([os.path.normpath(name).split(os.sep).count(os.pardir) for name in order.files], default=0)
    home = folder.joinpath("files", *(["below"] * up))
    home.mkdir(parents=True)
    for name, data in order.files.items():
        path = Path(os.path.normpath(home / name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return home / Path(order.source.path).name
