"""One run from its first event to its tables and metrics, here or on another machine."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from overspill.engine.pace import Pace
from overspill.engine.pcap import Captures, Wanted
from overspill.engine.task import Listener, Task
from overspill.errors import Failed, OverspillError
from overspill.results import columns, metrics, run_facts, starved, steady
from overspill.results.cache import File
from overspill.results.key import Key
from overspill.results.rundata import RunData
from overspill.results.stream import ROWS, Sink, Spill, file_digest
from overspill.stats.quantiles import Value
from overspill.whole_files import writing

if TYPE_CHECKING:
    from overspill._core import Run, Scenario

# Rows are taken at the first step at or after each multiple of so many events. So the parts of tables, and
# with them the bytes of files, do not depend on how far a run goes on at a time.
MARK = 1 << 16
# Of the summary of a run whose tables are not all kept, what says how it ended; what it was is in its key.
KEPT = (
    "flows",
    "stop",
    "conserved",
    "deadlock",
    "allow_unfinished",
    "end_ps",
    "starved",
    "window_ps",
    "drain_ps",
    "events",
    "hops",
    "traffic",
    "changes",
)


@dataclass(frozen=True)
class How:
    """How every run is done; `whole` keeps all of its tables and its whole summary."""

    max_events: int | None
    tables: tuple[str, ...]
    listener: Listener
    stop: threading.Event
    broken: threading.Event
    pcap: Wanted = field(default_factory=Wanted)
    whole: bool = False
    building: set[Task] = field(default_factory=set)  # whose networks are being built, which nothing stops
    ended: set[Task] = field(default_factory=set)  # whose last event is over, so that they are worth a wait

    @property
    def stopped(self) -> bool:
        """Whether nothing more is to be run."""
        return self.stop.is_set() or self.broken.is_set()


@dataclass(frozen=True)
class Finished:
    """What a run came to; without a folder, the run itself, in memory."""

    values: dict[Key, Value]
    summary: dict[str, Any]
    tables: dict[str, File] = field(default_factory=dict)
    absent: tuple[str, ...] = ()  # tables asked for that this run does not write
    captured: dict[str, tuple[str, File]] = field(default_factory=dict)  # by link, with the file's name
    halves: dict[str, tuple[float, float]] | None = None
    run: RunData | None = None


def simulate(scene: Scenario, task: Task, how: How, folder: Path | None) -> Finished | None:
    """Run one task, with its files in this folder if there is one; `None` if it was stopped on the way."""
    try:
        run = advanced(scene, task, how, folder)
        return None if run is None else measured(run, how, folder)
    except OverspillError:
        tidy(folder)
        raise
    except Exception as error:
        tidy(folder)
        raise Failed(f"{task}: the run failed: {error}") from error


def tidy(folder: Path | None) -> None:
    """Take away the files of a run that broke."""
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


def advanced(scene: Scenario, task: Task, how: How, folder: Path | None) -> RunData | None:
    """A run, event by event; `None` if it was stopped on the way."""
    if how.stopped:
        return None
    began = time.monotonic()
    spill = Spill()
    # What is not kept as it comes goes to a temporary folder.
    keeps = folder is not None and how.whole

    def place() -> tuple[Path, Spill | None]:
        return (folder, None) if folder is not None and keeps else (spill.folder / "tables", spill)

    run = begin(scene, task, how)
    how.building.discard(task)
    links = how.pcap.links(scene, task.variant)
    status: Mapping[str, Any] = {"done": False}
    pace, mark = Pace(), MARK
    with Sink(place) as sink, Captures(run, links, place) as captures:
        while not status["done"]:
            if how.stopped:
                return None
            before = time.monotonic()
            status = run.advance(min(pace.events, mark - int(status.get("events", 0))), ROWS)
            pace.took(time.monotonic() - before)
            if status["events"] >= mark:
                mark = (status["events"] // MARK + 1) * MARK
                if status["rows"] >= ROWS:
                    sink.append(columns.tables(run.take(ROWS)))
            captures.write()
            how.listener.advanced(task, status)
        how.ended.add(task)
        data = finished(task, run.results(), sink)
        data.captured(captures.close(), captures.owner)
    how.listener.finished(task, status, time.monotonic() - began)
    return data


def begin(scene: Scenario, task: Task, how: How) -> Run:
    """A run at its first event."""
    if not how.pcap.texts:
        return scene.run(task.variant, task.seed, how.max_events)
    return scene.run(task.variant, task.seed, how.max_events, list(how.pcap.texts), how.pcap.snaplen)


def finished(task: Task, results: dict[str, Any], sink: Sink) -> RunData:
    """The results of a run that is over; a run that lost or made packets has failed."""
    summary = parse(results["summary"])
    if not summary.get("conserved", False):
        raise Failed(f"{task}: packets are not conserved; the run is void")
    return RunData(summary, sink.close(columns.tables(results["tables"])))


def parse(text: str) -> dict[str, Any]:
    """A summary; `Failed` where it is none."""
    summary = json.loads(text)
    if not isinstance(summary, dict):
        raise Failed("the core gave a summary that is not an object")
    return summary


def measured(run: RunData, how: How, folder: Path | None) -> Finished:
    """A finished run with its metrics, and the files that are asked for.

    Done here, in the thread of the run, so that other threads go on meanwhile.
    """
    run.values = values = metrics.measure(run)
    run.summary["starved"] = starved.kept(run)
    run.halves = steady.halves(run)
    if not how.whole:
        summary = {key: run.summary[key] for key in KEPT if key in run.summary} | run_facts.facts(run)
        tables = {} if folder is None else files(run, how.tables, folder)
        return Finished(values, summary, tables, absent(how.tables, tables), halves=run.halves)
    if folder is None:
        return Finished(values, run.summary, halves=run.halves, run=run)
    tables = files(run, how.tables, folder)
    captured = {link: (path.name, File(path, file_digest(path))) for link, path in run.captures.items()}
    return Finished(values, run.summary, tables, absent(how.tables, tables), captured, run.halves)


def absent(wanted: Sequence[str], there: dict[str, File]) -> tuple[str, ...]:
    """The tables that a run does not write."""
    return tuple(name for name in wanted if name not in there)


def files(run: RunData, wanted: Sequence[str], folder: Path) -> dict[str, File]:
    """The tables asked for as files, those that do not lie there yet."""
    made = {}
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name in wanted:
            if name in run.names:
                path = folder / f"{name}.parquet"
                if run.file(name) != path:
                    write(run, name, path)
                made[name] = File(path, file_digest(path))
    return made


def write(run: RunData, name: str, path: Path) -> None:
    """A table of a run as a file; one that lies on disk bit by bit."""
    if run.file(name) is None:
        pq.write_table(run.table(name), path, compression="zstd")
        return
    writer: pq.ParquetWriter | None = None
    for batch in run.batches(name):
        if writer is None:
            writer = pq.ParquetWriter(path, batch.schema, compression="zstd")
        writer.write_batch(batch)
    if writer is None:
        pq.write_table(run.table(name), path, compression="zstd")
    else:
        writer.close()
