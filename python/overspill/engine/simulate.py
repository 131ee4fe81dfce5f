"""One run of a sweep, here or on another machine: metrics and summary, and only the tables asked for."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from overspill.engine.core import CoreScenario
from overspill.engine.runner import Job, Listener, Plan, Runner
from overspill.engine.source import Source
from overspill.errors import Unwritable
from overspill.results import metrics
from overspill.results.rundata import RunData
from overspill.results.stream import Spill
from overspill.stats.quantiles import Value

# Of a summary, what says how a run ended; what it was is in its key.
KEPT = (
    "flows",
    "stop",
    "conserved",
    "deadlock",
    "allow_unfinished",
    "end_ps",
    "window_ps",
    "drain_ps",
    "events",
    "hops",
    "traffic",
)


@dataclass(frozen=True)
class Task(Job):
    """A run of a point, known by its key."""

    point: int = 0
    label: str = ""
    key: str = ""
    config: str = ""

    def __str__(self) -> str:
        where = f"{self.label}: " if self.label else ""
        return f"{where}{self.variant} seed {self.seed}"


@dataclass(frozen=True)
class Finished:
    """What a run came to; tables as files, or as the bytes of files."""

    values: dict[str, Value]
    summary: dict[str, Any]
    tables: dict[str, Path | bytes] = field(default_factory=dict)
    absent: tuple[str, ...] = ()  # tables asked for that this run does not write


@dataclass(frozen=True)
class How:
    """How every run of a sweep is done."""

    source: Source
    max_events: int | None
    tables: tuple[str, ...]
    listener: Listener
    stop: threading.Event
    broken: threading.Event

    @property
    def stopped(self) -> bool:
        """Whether nothing more is to be run."""
        return self.stop.is_set() or self.broken.is_set()


class Storage:
    """Keeps of a run what a sweep needs; what it writes while it goes on lies in a temporary folder."""

    def __init__(self, wanted: Sequence[str], folder: Path) -> None:
        self.wanted, self.folder, self.spill = wanted, folder, Spill()
        self.tables: dict[str, Path | bytes] = {}

    def place(self, job: Job) -> tuple[Path, Spill | None]:
        """The temporary folder."""
        return self.spill.folder / "tables", self.spill

    def keep(self, run: RunData) -> RunData:
        """Measure, and write the tables asked for."""
        run.values = metrics.measure(run)
        try:
            for name in self.wanted:
                if name in run.names:
                    self.folder.mkdir(parents=True, exist_ok=True)
                    self.tables[name] = write(run, name, self.folder / f"{name}.parquet")
        except OSError as error:
            raise Unwritable(f"{self.folder}: cannot be written: {error.strerror}") from error
        return run


def write(run: RunData, name: str, path: Path) -> Path:
    """A table of a run as a file, bit by bit."""
    writer: pq.ParquetWriter | None = None
    for batch in run.batches(name):
        if writer is None:
            writer = pq.ParquetWriter(path, batch.schema, compression="zstd")
        writer.write_batch(batch)
    if writer is None:
        pq.write_table(run.table(name), path, compression="zstd")
    else:
        writer.close()
    return path


def simulate(scene: CoreScenario, task: Task, how: How, folder: Path) -> Finished | None:
    """Run one task; `None` if it was stopped on the way."""
    plan = Plan(scene, how.source, (), [task.variant], [task.seed], how.max_events)
    storage = Storage(how.tables, folder)
    runner = Runner(plan, how.listener, storage, how.stop)
    runner.broken = how.broken
    run = runner.one(task)
    if run is None:
        return None
    assert run.values is not None
    summary = {key: run.summary[key] for key in KEPT if key in run.summary}
    absent = tuple(name for name in how.tables if name not in storage.tables)
    return Finished(run.values, summary, storage.tables, absent)
