"""Tests of sweeps of the compiled core that are killed in the middle, locally and on a cluster."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_sweep import read_outputs, store_entries

import overspill
from overspill import BadInput, Failed, Results
from overspill.engine import cluster, core
from overspill.engine.options import Options
from overspill.engine.run import execute
from overspill.engine.task import Listener, Task

SCENARIO = """
name = "small"
duration = "20ms"
topology = { kind = "star", n = 9, link = { rate = "10Gbps", delay = "1us" } }
switch.buffer = { kind = "per_port", size = "60pkt" }
transport = { kind = "dctcp", min_rto = "1ms" }

[[traffic]]
name = "burst"
kind = "incast"
senders = 8
receiver = "h8"
size = "64KB"
start = "1ms"
jitter = "10us"

[[traffic]]
name = "listed"
kind = "trace"
file = "data/flows.csv"

[variants.no_marks]

[variants.marks]
switch.marking = { kind = "ecn_threshold", k = "30pkt" }
"""
FLOWS = "start,source,destination,bytes\n2ms,h0,h1,1000000\n3ms,h2,h1,1000000\n"
SENDERS, SIZES = "traffic.burst.senders=1..8:1", "traffic.burst.size=20KB..100KB:20KB"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Returns a scenario for the compiled core, with an input file beside it."""
    core.use_backend(None)
    (tmp_path / "data").mkdir()
    (tmp_path / "data/flows.csv").write_text(FLOWS)
    path = tmp_path / "small.toml"
    path.write_text(SCENARIO)
    return path


def start_sweep(small: Path, out: Path) -> "subprocess.Popen[str]":
    """Starts the command in a process of its own."""
    line = [
        sys.executable,
        "-m",
        "overspill",
        "sweep",
        str(small),
        "--no-report",
        "--over",
        SENDERS,
        "--over",
        SIZES,
    ]
    where = str(Path(overspill.__file__).parent.parent)
    return subprocess.Popen(
        [*line, "--jobs", "1", "--seeds", "2", "--out", str(out)],
        env={**os.environ, "PYTHONPATH": where},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def file_times(out: Path) -> dict[str, tuple[int, int]]:
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in store_entries(out)}


def test_a_sweep_killed_in_the_middle_repeats_nothing_and_ends_in_the_same_bytes(
    small: Path, tmp_path: Path
) -> None:
    out, kept = tmp_path / "killed", {}
    for least in (10, 60):
        process = start_sweep(small, out)
        while len(store_entries(out)) < least and process.poll() is None:
            time.sleep(0.001)
        process.kill()
        assert process.wait() == -signal.SIGKILL
        process.communicate()
        assert not (out / "manifest.json").exists()
        assert kept.items() <= file_times(out).items()
        kept = file_times(out)
        assert least <= len(kept) < 160
    process = start_sweep(small, out)
    said, progress = process.communicate()
    assert process.returncode == 0
    assert f"{len(kept)}/160 runs, {len(kept)} from the store" in progress
    assert f"{160 - len(kept)} runs done" in progress and "damaged" not in progress
    assert "40 points, 2 variants, 160 runs" in said
    assert kept.items() <= file_times(out).items() and len(file_times(out)) == 160
    whole = overspill.sweep(small, [SENDERS, SIZES], seeds=2, out=tmp_path / "whole")
    assert whole.finished == 160
    assert read_outputs(out) == read_outputs(tmp_path / "whole")


def test_a_sweep_in_memory_has_the_same_tables_as_one_in_a_folder(small: Path, tmp_path: Path) -> None:
    over = {"traffic.burst.senders": [4, 8]}
    kept = overspill.sweep(small, over, seeds=2, out=tmp_path / "o")
    bare = overspill.sweep(small, over, seeds=2)
    assert bare.folder is None and bare.metrics.equals(kept.metrics) and bare.summary.equals(kept.summary)
    loaded = Results.load(tmp_path / "o")
    assert loaded.metrics.equals(kept.metrics) and loaded.axes == kept.axes and loaded.facts == kept.facts


class SayingListener(Listener):
    """Keeps the printed lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, line: str) -> None:
        """Keeps the line."""
        self.lines.append(line)


class KillingListener(Listener):
    """Kills a process once some runs are kept."""

    def __init__(self, victim: int) -> None:
        self.victim, self.kept_runs, self.killed = victim, 0, False

    def kept(self, task: Task, hops: int) -> None:
        """Counts the runs, and kills the process at the fifth."""
        self.kept_runs += 1
        if self.kept_runs == 5:
            os.kill(self.victim, signal.SIGKILL)
            self.killed = True


def test_a_cluster_that_loses_a_worker_gives_the_same_bytes(small: Path, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    over = {"traffic.burst.senders": [2, 4, 6, 8], "traffic.burst.size": ["100KB", "2MB"]}
    tables = ("flows",)
    overspill.sweep(small, over, seeds=3, out=tmp_path / "here", tables=tables)
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            silence_logs="CRITICAL",
        ) as two,
        distributed.Client(two, set_as_default=False) as client,
    ):
        processes = sorted(client.run(os.getpid).values())
        assert len(set(processes)) == 2
        killer = KillingListener(processes[0])
        there = tmp_path / "there"
        options = Options(
            over=over,
            seeds=3,
            on=two.scheduler_address,
            out=there,
            tables=tables,
            listener=killer,
            sweep=True,
        )
        made = execute(small, options)
        assert killer.killed and killer.kept_runs == 48
        client.wait_for_workers(1)
        assert processes[0] not in client.run(os.getpid).values()
    assert made.finished == 48 and not made.failures
    assert read_outputs(there) == read_outputs(tmp_path / "here")
    assert [path.read_bytes() for path in store_entries(there)] == [
        path.read_bytes() for path in store_entries(tmp_path / "here")
    ]
    assert made.table("flows").equals(Results.load(tmp_path / "here").table("flows"))


def test_processes_of_this_machine_give_the_same_table(small: Path) -> None:
    pytest.importorskip("distributed")
    over = {"traffic.burst.senders": [2, 8]}
    there = overspill.sweep(small, over, seeds=1, on="local:2")
    here = overspill.sweep(small, over, seeds=1)
    assert there.metrics.equals(here.metrics) and there.facts == here.facts


def test_a_cluster_that_is_not_there_is_a_failure_in_one_line(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(cluster, "SCHEDULER_TIMEOUT", 0.5)
    said = SayingListener()
    options = Options(
        over={"traffic.burst.senders": [2]}, seeds=1, on="tcp://127.0.0.1:9", listener=said, sweep=True
    )
    with pytest.raises(Failed, match=r"--on: tcp://127\.0\.0\.1:9: no Dask scheduler responds") as error:
        execute(small, options)
    assert said.lines == ["connecting to tcp://127.0.0.1:9"]
    assert len(error.value.lines) == 1 and "\n" not in error.value.lines[0]


def test_without_dask_the_message_says_what_to_install(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "find_spec", lambda name: None)
    with pytest.raises(Failed, match=r"pip install 'overspill\[dask\]'"):
        overspill.sweep(small, {"traffic.burst.senders": [2]}, seeds=1, on="local:2")


def test_dask_is_not_imported_without_a_cluster(small: Path) -> None:
    code = "import sys, overspill\n" + (
        f"overspill.sweep({str(small)!r}, {{'traffic.burst.senders': [2]}}, seeds=1)\n"
        "assert not {'dask', 'distributed'} & set(sys.modules)"
    )
    where = str(Path(overspill.__file__).parent.parent)
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": where})


def test_a_worker_finds_files_above_and_beside_the_scenario(small: Path, tmp_path: Path) -> None:
    deep = tmp_path / "a/b"
    deep.mkdir(parents=True)
    scenario = deep / "deep.toml"
    scenario.write_text(SCENARIO.replace("data/flows.csv", "../../data/flows.csv"))
    here = overspill.sweep(scenario, {"traffic.burst.senders": [2]}, seeds=1)
    done = []

    class Direct:
        """Substitute for a Dask client, in this process."""

        def submit(self, work: object, order: cluster.WorkOrder, **rest: object) -> "Direct":
            done.append(cluster.run_on_worker(order))
            return self

        key = ""

        def add_done_callback(self, put: object) -> None:
            """Does nothing, since no caller needs the result."""

    values = send(scenario, Direct())
    assert done[0].finished is not None, done[0].error_lines
    assert done[0].finished.values == values
    assert here.finished == 2


def send(scenario: Path, client: object) -> object:
    """Gives the first run of a sweep to a client, and returns the values of the same run computed here."""
    import threading

    from overspill.engine.plan import prepare
    from overspill.engine.point_checks import PointScenario
    from overspill.engine.simulate import RunSettings, simulate_task
    from overspill.engine.task import Listener

    made = prepare(scenario, Options(over={"traffic.burst.senders": [2]}, seeds=1, sweep=True))
    task = next(made.tasks)
    how = RunSettings(None, (), Listener(), threading.Event(), threading.Event())
    pool = cluster.Cluster("local:1", how, made.base)
    pool.client = client
    scene = PointScenario(made.base, made.checked.points[0], made.checked.configs[0])
    pool.submit(task, scene)
    finished = simulate_task(scene.load(), task, how, scenario.parent)
    assert finished is not None
    return finished.values


def test_every_fault_of_the_compiled_core_names_its_axis(small: Path) -> None:
    over = ["traffic.burst.senders=4,x", "switch.buffer.size=20pkt,40"]
    with pytest.raises(BadInput) as error:
        overspill.sweep(small, over, seeds=1)
    assert [line.split(" found ")[0] for line in error.value.lines] == [
        "--over: switch.buffer.size:",
        "--over: traffic.burst.senders:",
    ]


def test_a_variant_that_overrides_an_axis_is_noted_once(small: Path) -> None:
    over = {"switch.marking.kind": ["none"], "switch.buffer.size": ["20pkt", "40pkt"]}
    made = overspill.sweep(small, over, seeds=1)
    noted = [note for note in made.notes if "overridden" in note]
    assert noted == ["--over switch.marking.kind: overridden by variant marks"]
