"""Run of one task, from its first event to its tables and metrics, on this machine or another."""

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

from overspill.atomic_files import report_write_errors
from overspill.engine.chunk_size import ChunkSize
from overspill.engine.pcap import CaptureRequest, Captures
from overspill.engine.task import Listener, Task
from overspill.errors import Failed, OverspillError
from overspill.results import columns, metrics, run_facts, starved_flows, steady_state
from overspill.results.cache import StoredFile
from overspill.results.metric_key import Key
from overspill.results.rundata import RunData
from overspill.results.table_streams import ROWS_PER_GROUP, SpillFolder, TableSink, file_digest
from overspill.stats.quantiles import Value

if TYPE_CHECKING:
    from overspill._core import Run, Scenario

# Rows are taken at the first step at or after each multiple of this number of events. So the parts of tables,
# and with them the bytes of files, do not depend on the number of events per step.
EVENTS_BETWEEN_ROWS = 1 << 16
# A run that does not keep all tables keeps these parts of its summary, which say how it ended. Its settings
# are left out, since its key covers them.
KEPT_SUMMARY_KEYS = (
    "flows",
    "stop",
    "conserved",
    "deadlock",
    "pause_storms",
    "lossless_losses",
    "shared_by_classes",
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
class RunSettings:
    """Settings common to all runs; with `keep_all_tables`, all tables and the whole summary are kept."""

    max_events: int | None
    tables: tuple[str, ...]
    listener: Listener
    stop: threading.Event
    broken: threading.Event
    pcap: CaptureRequest = field(default_factory=CaptureRequest)
    keep_all_tables: bool = False
    building: set[Task] = field(default_factory=set)  # networks being built, which cannot be stopped
    ended: set[Task] = field(default_factory=set)  # past their last event, so worth waiting for

    @property
    def should_stop(self) -> bool:
        """True if runs are to stop."""
        return self.stop.is_set() or self.broken.is_set()


@dataclass(frozen=True)
class FinishedRun:
    """Results of a finished run: metrics, summary, and tables in files or in memory."""

    values: dict[Key, Value]
    summary: dict[str, Any]
    tables: dict[str, StoredFile] = field(default_factory=dict)
    absent: tuple[str, ...] = ()  # requested tables that this run does not write
    captured: dict[str, tuple[str, StoredFile]] = field(default_factory=dict)  # by link: file name and file
    halves: dict[str, tuple[float, float]] | None = None
    run: RunData | None = None


def simulate_task(scene: Scenario, task: Task, how: RunSettings, folder: Path | None) -> FinishedRun | None:
    """Does one run, with its files in `folder` if there is one; returns `None` if it was stopped.

    Raises `Failed` for an unexpected error.
    """
    try:
        run = advance_run(scene, task, how, folder)
        return None if run is None else measure_run(run, how, folder)
    except OverspillError:
        remove_partial_files(folder)
        raise
    except Exception as error:
        remove_partial_files(folder)
        raise Failed(f"{task}: the run failed: {error}") from error


def remove_partial_files(folder: Path | None) -> None:
    """Removes the files of a run that failed."""
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


def advance_run(scene: Scenario, task: Task, how: RunSettings, folder: Path | None) -> RunData | None:
    """Advances a run to its end, and returns it; `None` if it was stopped."""
    if how.should_stop:
        return None
    began = time.monotonic()
    spill = SpillFolder()
    # If only some tables are kept, all grow in a temporary folder; the requested ones are written at the end.
    keeps = folder is not None and how.keep_all_tables

    def table_folder() -> tuple[Path, SpillFolder | None]:
        return (folder, None) if folder is not None and keeps else (spill.folder / "tables", spill)

    run = start_run(scene, task, how)
    how.building.discard(task)
    links = how.pcap.links(scene, task.variant)
    status: Mapping[str, Any] = {"done": False}
    pace, mark = ChunkSize(), EVENTS_BETWEEN_ROWS
    with TableSink(table_folder) as sink, Captures(run, links, table_folder) as captures:
        while not status["done"]:
            if how.should_stop:
                return None
            before = time.monotonic()
            status = run.advance(min(pace.events, mark - int(status.get("events", 0))), ROWS_PER_GROUP)
            pace.adapt(time.monotonic() - before)
            if status["events"] >= mark:
                mark = (status["events"] // EVENTS_BETWEEN_ROWS + 1) * EVENTS_BETWEEN_ROWS
                if status["rows"] >= ROWS_PER_GROUP:
                    sink.append(columns.build_tables(run.take(ROWS_PER_GROUP)))
            captures.write()
            how.listener.advanced(task, status)
        how.ended.add(task)
        data = collect_run(task, run.results(), sink)
        data.set_captures(captures.close(), captures.owner)
    how.listener.finished(task, status, time.monotonic() - began)
    return data


def start_run(scene: Scenario, task: Task, how: RunSettings) -> Run:
    """Creates the run of a task, before its first event."""
    if not how.pcap.texts:
        return scene.run(task.variant, task.seed, how.max_events)
    return scene.run(task.variant, task.seed, how.max_events, list(how.pcap.texts), how.pcap.snaplen)


def collect_run(task: Task, results: dict[str, Any], sink: TableSink) -> RunData:
    """Returns the results of a run that is over; raises `Failed` if packets are not conserved."""
    summary = parse_summary(results["summary"])
    if not summary.get("conserved", False):
        raise Failed(
            f"{task}: packets are not conserved (a fault of Overspill), so that the results of this "
            "run are invalid"
        )
    return RunData(summary, sink.close(columns.build_tables(results["tables"])))


def parse_summary(text: str) -> dict[str, Any]:
    """Returns a summary; raises `Failed` if it is not a JSON object."""
    summary = json.loads(text)
    if not isinstance(summary, dict):
        raise Failed("the summary of the core is not a JSON object")
    return summary


def measure_run(run: RunData, how: RunSettings, folder: Path | None) -> FinishedRun:
    """Computes the metrics of a finished run, writes the requested tables, and returns both.

    It is called in the thread of the run, so that other threads go on meanwhile.
    """
    run.values = values = metrics.measure(run)
    run.summary["starved"] = starved_flows.starved_workloads_for_summary(run)
    run.halves = steady_state.compare_halves(run)
    if not how.keep_all_tables:
        summary = {
            key: run.summary[key] for key in KEPT_SUMMARY_KEYS if key in run.summary
        } | run_facts.facts_for_summary(run)
        tables = {} if folder is None else write_requested_tables(run, how.tables, folder)
        return FinishedRun(values, summary, tables, unwritten_tables(how.tables, tables), halves=run.halves)
    if folder is None:
        return FinishedRun(values, run.summary, halves=run.halves, run=run)
    tables = write_requested_tables(run, how.tables, folder)
    captured = {link: (path.name, StoredFile(path, file_digest(path))) for link, path in run.captures.items()}
    return FinishedRun(
        values, run.summary, tables, unwritten_tables(how.tables, tables), captured, run.halves
    )


def unwritten_tables(wanted: Sequence[str], there: dict[str, StoredFile]) -> tuple[str, ...]:
    """Returns the names of requested tables that a run did not write."""
    return tuple(name for name in wanted if name not in there)


def write_requested_tables(run: RunData, wanted: Sequence[str], folder: Path) -> dict[str, StoredFile]:
    """Writes the requested tables that are not in the folder yet, and returns all as files."""
    made = {}
    with report_write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name in wanted:
            if name in run.names:
                path = folder / f"{name}.parquet"
                if run.file(name) != path:
                    write_table(run, name, path)
                made[name] = StoredFile(path, file_digest(path))
    return made


def write_table(run: RunData, name: str, path: Path) -> None:
    """Writes a table of a run to a file, batch by batch if the table is on disk."""
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
