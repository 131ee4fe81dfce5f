"""Tests of long traces written to disk during their run: the same rows, little memory, no partial files."""

import gc
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from overspill import BadInput, Failed, Results, run
from overspill.engine import chunk_size, simulate
from overspill.engine.task import Listener, Task
from overspill.results import names, table_streams

pytestmark = pytest.mark.usefixtures("compiled")

BUSY = """
name = "busy"
duration = "10ms"
[topology]
kind = "star"
n = 9
link = { rate = "10Gbps", delay = "1us" }
[switch]
buffer = { kind = "per_port", size = "20pkt" }
[transport]
kind = "dctcp"
min_rto = "1ms"
[measure]
packets = true
goodput = "flows"
links = true
sub_queues = true
reordering = true
bin = "10us"
allow_unfinished = true
[[traffic]]
name = "query"
kind = "incast"
senders = 8
receiver = "random"
size = "20KB"
interval = "500us"
repeat = 20
start = "0ms"
[variants.drop]
[variants.mark]
switch.marking = { kind = "ecn_threshold", k = "5pkt" }
"""
GROWING = (
    "packets",
    "queue_trace",
    "sub_queue_trace",
    "activity",
    "host_goodput",
    "flow_goodput",
    "links",
)


@pytest.fixture
def busy(tmp_path: Path) -> Path:
    path = tmp_path / "busy.toml"
    path.write_text(BUSY)
    return path


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Sets row groups of 300 rows, and returns a folder for temporary files."""
    monkeypatch.setattr(simulate, "EVENTS_BETWEEN_ROWS", 2_000)
    monkeypatch.setattr(simulate, "ROWS_PER_GROUP", 300)
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def tables(results: Results) -> dict[str, pa.Table]:
    names = results.runs[0].names
    return {name: results.table(name) for name in names}


def test_what_goes_to_disk_on_the_way_is_what_would_have_stayed(busy: Path, small: Path) -> None:
    streamed = run(busy, seeds=2, out=busy.parent / "streamed")
    assert streamed.folder is not None
    file = pq.ParquetFile(streamed.folder / "runs/drop/seed-2/packets.parquet")
    assert file.num_row_groups > 5
    simulate.ROWS_PER_GROUP = 1 << 40
    whole = run(busy, seeds=2)
    assert all(whole.runs[0].file(name) is None for name in GROWING)
    assert min(whole.table(name).num_rows for name in GROWING) > 500
    assert tables(streamed) == tables(whole)
    assert whole.reorder.schema.field("value").type == pa.int64() and whole.queue_sojourn.num_rows > 0
    assert streamed.document() == whole.document()
    whole.save(busy.parent / "whole")
    assert tables(Results.load(busy.parent / "whole")) == tables(Results.load(busy.parent / "streamed"))


def test_the_files_are_the_same_whatever_the_threads(busy: Path, small: Path) -> None:
    one, two = (run(busy, seeds=2, jobs=jobs, out=busy.parent / f"{jobs}").folder for jobs in (1, 2))
    assert one is not None and two is not None
    files = sorted(path.relative_to(one) for path in one.rglob("*") if path.is_file())
    assert sum(path.parts[0] == "runs" for path in files) == 4 * len(names.TABLES)
    assert [path for path in files if (one / path).read_bytes() != (two / path).read_bytes()] == []


def test_files_do_not_depend_on_how_often_a_run_is_looked_at(
    busy: Path, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []
    for most in (chunk_size.MAX_CHUNK, 170):
        monkeypatch.setattr(chunk_size, "MAX_CHUNK", most)
        folder = run(busy, out=busy.parent / str(most)).folder
        assert folder is not None
        written.append({path.name: path.read_bytes() for path in folder.rglob("drop/**/*.parquet")})
    assert len(written[0]) == len(names.TABLES) and written[0] == written[1]


def test_a_trace_is_read_bit_by_bit_with_the_same_rows(busy: Path, small: Path) -> None:
    results = run(busy, out=busy.parent / "o")
    names = ["flow", "end_ps"]
    bits = list(results.batches("packets", names))
    assert len(bits) > 1
    assert bits[0].schema.names == ["variant", "seed", *names]
    whole = pa.Table.from_batches(bits).select(names)
    assert whole.combine_chunks() == results.packets.select(names).combine_chunks()
    with pytest.raises(BadInput, match="no such table: found no table of this name"):
        list(results.batches("no such table"))


def test_without_a_folder_a_long_trace_lies_in_a_temporary_one_as_long_as_the_results(
    busy: Path, small: Path
) -> None:
    results = run(busy)
    file = results.runs[1].file("packets")
    assert file is not None and small in file.parents
    assert results.runs[1].file("flows") is None, "what is small stays in memory"
    rows = results.packets.num_rows
    one = results.runs[1]
    del results
    gc.collect()
    assert file.is_file() and one.table("packets") is not None, "the run is enough"
    del one
    gc.collect()
    assert list(small.iterdir()) == []
    kept = run(busy)
    kept.save(busy.parent / "kept")
    gc.collect()
    assert list(small.iterdir()) == [] and kept.packets.num_rows == rows


def press_ctrl_c() -> None:
    """Sends SIGINT, and leaves the main thread time to handle it: later it would end the test."""
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.6)


class InterruptingListener(Listener):
    """Sends SIGINT once the second run has written a file."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.seen = folder, list[str]()

    def advanced(self, task: Task, status: dict[str, Any]) -> None:
        parts = list(self.folder.rglob("*.part"))
        if task.variant == "mark" and parts and not self.seen:
            self.seen = [path.name for path in parts]
            press_ctrl_c()


@pytest.mark.parametrize("before", [False, True])
def test_an_interrupted_run_leaves_no_half_written_trace(busy: Path, small: Path, before: bool) -> None:
    out = busy.parent / "o"
    if before:
        run(busy, out=out, seed=7)
    listener = InterruptingListener(out)
    results = run(busy, jobs=1, out=out, listener=listener)
    assert listener.seen, "a file was begun"
    assert results.interrupted and [one.variant for one in results.runs] == ["drop"]
    assert not list(out.rglob("*.part")) and not list(out.glob(".overspill*"))
    assert Results.load(out).packets.num_rows > 500
    kept = {(one.variant, one.seed) for one in Results.load(out).runs}
    # Complete earlier results are not replaced by incomplete new ones.
    assert kept == ({("drop", 7), ("mark", 7)} if before else {("drop", 1)})
    assert (results.folder is None) == before
    again = run(busy, jobs=1, out=out, listener=(told := RecordingListener()))
    assert [task.variant for task in told.done] == ["mark"], "what was finished is not repeated"
    assert not again.missing and again.folder == out


class RecordingListener(Listener):
    """Records the finished runs."""

    def __init__(self) -> None:
        self.done: list[Task] = []

    def finished(self, task: Task, status: dict[str, Any], seconds: float) -> None:
        self.done.append(task)


def test_earlier_results_stay_where_no_run_finishes(busy: Path, small: Path) -> None:
    out = busy.parent / "o"
    run(busy, out=out, seed=7)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    results = run(busy, jobs=1, out=out, listener=FirstAdvanceListener(out))
    assert results.interrupted and not results.runs
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


class FirstAdvanceListener(InterruptingListener):
    """Sends SIGINT at the first file that is begun."""

    def advanced(self, task: Task, status: dict[str, Any]) -> None:
        if list(self.folder.rglob("*.part")) and not self.seen:
            self.seen = ["pressed"]
            press_ctrl_c()


def test_a_run_that_breaks_takes_its_trace_with_it(
    busy: Path, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = busy.parent / "o"
    monkeypatch.setattr(simulate, "parse_summary", lambda text: {"conserved": False})
    with pytest.raises(Failed, match="not conserved"):
        run(busy, out=out)
    assert not out.exists()
    with pytest.raises(Failed, match="not conserved"):
        run(busy)
    gc.collect()
    assert [path for path in small.rglob("*") if path.is_file()] == []


def test_a_disk_that_is_full_ends_all_runs(busy: Path, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def __init__(self, *_: Any, **__: Any) -> None: ...
        def write_table(self, table: pa.Table) -> None:
            raise OSError(28, "No space left on device")

        def close(self) -> None:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(table_streams.pq, "ParquetWriter", Full)
    with pytest.raises(Failed, match="No space left"):
        run(busy, out=busy.parent / "o")
    assert not (busy.parent / "o").exists()


def test_a_damaged_trace_is_bad_input(busy: Path, small: Path) -> None:
    results = run(busy, out=busy.parent / "o")
    file = results.runs[0].file("packets")
    assert file is not None
    file.write_bytes(b"no parquet at all")
    with pytest.raises(BadInput, match="no longer has the table of these results: it was deleted, damaged"):
        list(results.batches("packets"))


LONG = """
name = "long"
duration = "10ms"
[topology]
kind = "star"
n = 8
link = { rate = "100Gbps", delay = "1us" }
[switch]
buffer = { kind = "per_port", size = "100pkt" }
marking = { kind = "ecn_threshold", k = "60pkt" }
[transport]
kind = "dctcp"
[measure]
packets = true
queues = false
allow_unfinished = true
drain = "0s"
[[traffic]]
name = "all"
kind = "incast"
senders = 7
receiver = "h7"
size = "10GB"
start = "0ms"
"""
PEAK = """
import resource, sys
import overspill
results = overspill.run(sys.argv[1], sets=["duration=" + sys.argv[2]], out=sys.argv[3], jobs=1)
rows = sum(batch.num_rows for batch in results.batches("packets"))
print(rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def peak(folder: Path, duration: str) -> tuple[int, int]:
    line = [sys.executable, "-c", PEAK, str(folder / "long.toml"), duration, str(folder / duration)]
    ran = subprocess.run(line, capture_output=True, text=True, check=True, cwd=folder)
    rows, rss = ran.stdout.split()
    return int(rows), int(rss)


def test_memory_does_not_grow_with_the_trace(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(LONG)
    short, low = peak(tmp_path, "20ms")
    rows, high = peak(tmp_path, "300ms")
    assert rows > 14 * short and rows > 4_000_000
    # A row has 34 bytes in columns, without the temporary memory of conversion and writing.
    trace = 34 * rows
    assert high - low < trace / 2, f"{trace} bytes of trace took {high - low}"
