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
from overspill.engine.point_checks import CommonInputs, PointScenario
from overspill.engine.pool import TaskResult, name_task_in_error, wrap_error
from overspill.engine.simulate import FinishedRun, RunSettings, simulate_task
from overspill.engine.source import Source
from overspill.engine.task import Listener, Task
from overspill.errors import BadInput, Failed, OverspillError, cut_user_text
from overspill.results.cache import StoredFile

LOCAL_PATTERN = re.compile(r"local:([1-9][0-9]{0,3})")
ADDRESS_PATTERN = re.compile(r"(?:tcp|tls|ucx|wss?)://\S+:[0-9]{1,5}")
SCHEDULER_TIMEOUT, WORKERS_TIMEOUT = 7, 30  # seconds to wait for a scheduler, and for its first worker


@dataclass(frozen=True)
class WorkOrder:
    """Input of a run on a worker: the scenario's text, and the contents of the files that it names.

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
class WorkReply:
    """Reply of a worker: a finished run, or the lines of an error."""

    finished: FinishedRun | None = None
    error_lines: tuple[str, ...] = ()


def count_local_processes(on: str) -> int | None:
    """Returns the number of local processes in `local:N`; `None` for the address of a scheduler."""
    match = LOCAL_PATTERN.fullmatch(on)
    return int(match[1]) if match else None


def check_address(on: str) -> None:
    """Raises `BadInput` if the address is not valid, and `Failed` if Dask is not installed."""
    if not LOCAL_PATTERN.fullmatch(on) and not ADDRESS_PATTERN.fullmatch(on):
        raise BadInput(
            f"--on: found {on!r}; expected an address such as tcp://host:8786, or local:N for N processes"
        )
    if find_spec("distributed") is None:
        raise Failed("--on needs Dask, which is not installed: pip install 'overspill[dask]'")
    if LOCAL_PATTERN.fullmatch(on) and find_spec("cryptography") is None:
        raise Failed("--on local:N needs cryptography, which is not installed: pip install 'overspill[dask]'")


def describe_tls_error(on: str, error: Exception) -> str:
    """Returns cause and advice for an error of a TLS connection to a scheduler; empty without TLS."""
    if not on.startswith(("tls:", "wss:")):
        return ""
    what = " ".join(str(error).split()) or type(error).__name__
    return f" ({cut_user_text(what)}); check the certificates that `distributed.comm.tls` names"


class Cluster:
    """Dask cluster, or local processes (`local:N`); Dask replaces workers that die."""

    def __init__(self, on: str, how: RunSettings, base: CommonInputs) -> None:
        self.on, self.how, self.base = on, how, base
        # Dask has no type hints.
        self.dask: Any = None
        self.client: Any = None
        self.local: Any = None
        self.tasks: dict[str, tuple[Any, Task]] = {}  # by key of the future, which is kept beside its task
        self.arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.refused: list[TaskResult] = []
        self.scene: PointScenario | None = None
        self.files: dict[str, bytes] = {}
        self.cores = 1

    def __enter__(self) -> Cluster:
        self.dask = import_module("distributed")
        workers = count_local_processes(self.on)
        missing = f"no Dask scheduler responds within {SCHEDULER_TIMEOUT} s"
        try:
            if workers:
                self.local = import_module("overspill.engine.private_cluster").start_cluster(workers)
            self.client = self.dask.Client(
                self.local or self.on, timeout=SCHEDULER_TIMEOUT, set_as_default=False
            )
            missing = f"its scheduler has no worker after {WORKERS_TIMEOUT} s"
            self.client.wait_for_workers(1, timeout=WORKERS_TIMEOUT)
        except (OSError, RuntimeError, TimeoutError, TypeError, ValueError) as error:
            self.close()
            raise Failed(f"--on: {self.on}: {missing}{describe_tls_error(self.on, error)}") from error
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Cancels unfinished tasks and disconnects."""
        if self.client is not None:
            self.cancel_all()
            self.client.close()
        if self.local is not None:
            self.local.close()

    @property
    def max_pending_tasks(self) -> int:
        """Largest number of pending tasks: two per core of the cluster, as counted last."""
        return 2 * self.cores

    @property
    def is_stuck(self) -> bool:
        """Always false: tasks on the cluster are abandoned immediately."""
        return False

    @property
    def pending_count(self) -> int:
        """Number of tasks whose results have not been returned."""
        return len(self.tasks) + len(self.refused)

    def submit(self, task: Task, scene: PointScenario) -> None:
        """Sends a task to the cluster."""
        try:
            order = self.make_order(task, scene)
        except OverspillError as error:
            self.refused.append(TaskResult(task, None, name_task_in_error(task, error)))
            return
        # With equal keys, Dask would return the result of another sweep, which may keep other tables.
        future = self.client.submit(run_on_worker, order, key=f"overspill-{uuid.uuid4()}", pure=False)
        self.tasks[future.key] = future, task
        future.add_done_callback(self.arrived.put)

    def make_order(self, task: Task, scene: PointScenario) -> WorkOrder:
        """Returns everything that a worker needs for a task."""
        if self.scene is not scene:
            self.files, self.scene = read_named_files(self.base, scene), scene
        sets = (*self.base.sets, *scene.point.sets)
        how = self.how
        return WorkOrder(
            task, self.base.source, sets, self.files, self.base.build, how.max_events, how.tables
        )

    def iterate_results(self, seconds: float) -> Iterator[TaskResult]:
        """Yields the results that have arrived, after waiting at most `seconds` for the first."""
        if self.how.should_stop:
            yield from self.cancel_all()
            return
        while self.refused:
            yield self.refused.pop()
        self.cores = max(1, sum(self.client.ncores().values()))
        try:
            future = self.arrived.get(timeout=seconds)
            while True:
                if future.key in self.tasks:
                    yield self.result_of(*self.tasks.pop(future.key))
                future = self.arrived.get_nowait()
        except queue.Empty:
            return

    def cancel_all(self) -> list[TaskResult]:
        """Cancels all unfinished tasks and returns them; running ones end on their workers unused."""
        left = list(self.tasks.values())
        self.tasks.clear()
        if left:
            self.client.cancel([future for future, _ in left], force=True)
        return [TaskResult(task) for _, task in left]

    def result_of(self, future: Any, task: Task) -> TaskResult:
        """Returns the result of a task whose future is done."""
        try:
            done = future.result()
        except OverspillError as error:
            return TaskResult(task, None, name_task_in_error(task, error))
        except Exception as error:
            return TaskResult(task, None, wrap_error(task, error))
        if done.finished is None:
            return TaskResult(task, None, name_task_in_error(task, Failed(done.error_lines)))
        return TaskResult(task, done.finished)


def read_named_files(base: CommonInputs, scene: PointScenario) -> dict[str, bytes]:
    """Returns the contents of the files with relative paths that a point's variants name."""
    scene.load()
    folder = Path(base.source.path).parent
    try:
        return {name: (folder / name).read_bytes() for name in scene.files if not Path(name).is_absolute()}
    except OSError as error:
        raise Failed(f"{error.filename}: cannot be read: {error.strerror}") from error


def run_on_worker(order: WorkOrder) -> WorkReply:
    """Does a run on a Dask worker; returns its results or its error lines."""
    try:
        return WorkReply(run_in_temporary_folder(order))
    except OverspillError as error:
        return WorkReply(None, tuple(error.lines))


def run_in_temporary_folder(order: WorkOrder) -> FinishedRun:
    """Does a run in a temporary folder with its files, and returns its tables as bytes.

    Raises `Failed` if the worker has another build, or other files.
    """
    found = keys.current_build()
    if found != order.build:
        raise Failed(
            f"the worker has another build of overspill, {found.version}; install the same build on all "
            "machines"
        )
    with tempfile.TemporaryDirectory(prefix="overspill-") as name:
        path = write_scenario_files(Path(name), order)
        scene = core.load_scenario(str(path), order.source.text, list(order.sets))
        resolved = core.document_of(scene)["resolved"][order.task.variant]
        known = keys.with_network_hash(scene, order.task.variant, resolved)
        config = keys.config_digest(known, keys.FileHashes(str(path)).hashes_of_named_files(resolved), found)
        if config != order.task.config:
            raise Failed(
                "the files of the worker differ from the files here; use absolute paths that are valid "
                "on both machines"
            )
        how = RunSettings(order.max_events, order.tables, Listener(), threading.Event(), threading.Event())
        finished = simulate_task(scene, order.task, how, Path(name) / "tables")
        assert finished is not None
        return replace(finished, tables={name: embed_file(file) for name, file in finished.tables.items()})


def embed_file(file: StoredFile) -> StoredFile:
    """Returns a stored file with its content in memory instead of a path."""
    return file if isinstance(file.content, bytes) else StoredFile(file.content.read_bytes(), file.digest)


def write_scenario_files(folder: Path, order: WorkOrder) -> Path:
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
