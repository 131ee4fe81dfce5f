"""Tests that only as many runs are in progress as fit into the memory available to the process."""

import threading
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from conftest import Ran
from test_lost import start_command, stored_keys

from overspill import BadInput, Failed, Results, run, sweep
from overspill.engine import memory, point_checks, schedule
from overspill.engine.grid import build_grid
from overspill.engine.memory import MIB, MemoryGate, MemoryLimit, MemoryNeed

Command = Callable[..., Ran]

BOUND = "import resource; resource.setrlimit(resource.RLIMIT_AS, ({most}, {most}))"


def test_more_jobs_than_there_are_threads_are_refused(command: Command, scenario: Path) -> None:
    ran = command("run", scenario, "--jobs", 257)
    assert ran.status == 2 and "--jobs: found 257; expected 1 to 256" in ran.err
    with pytest.raises(BadInput, match="--jobs: found 100000; expected 1 to 256"):
        run(scenario, jobs=100_000)


def test_where_address_space_is_short_fewer_runs_go_on_at_a_time_and_that_is_said(
    scenario: Path, tmp_path: Path
) -> None:
    process = start_command(
        tmp_path,
        *("run", scenario, "--seeds", 40, "--jobs", 100, "--no-report", "--out", "o"),
        steps=2,
        more=BOUND.format(most=3 << 30),
    )
    told = process.communicate(timeout=120)[1]
    assert process.returncode == 0, told
    assert "at a time instead of 100: a run may take 64 MiB, and address space (`ulimit -v`) has " in told
    assert len(stored_keys(tmp_path / "o")) == 120 and not Results.load(tmp_path / "o").missing


def test_a_single_run_goes_on_however_little_memory_there_is(
    command: Command, scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        memory, "memory_limits", lambda: [MemoryLimit("physical memory", MIB, 8 * MIB, 128 * MIB)]
    )
    ran = command("run", scenario, "--seeds", 3, "--jobs", 4, "--out", "o", "--no-report")
    assert ran.status == 0 and Results.load("o").finished == 9
    assert (
        "runs: 1 at a time instead of 4: a run may take 64 MiB, and physical memory has 1 MiB left" in ran.err
    )


def test_control_groups_of_both_versions_are_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proc, groups = tmp_path / "proc", tmp_path / "groups"
    written = {
        proc / "self" / "cgroup": "4:cpu,memory:/a/b\n0::/c/d\n",
        groups / "memory" / "a" / "memory.limit_in_bytes": "1000\n",
        groups / "memory" / "a" / "memory.usage_in_bytes": "600\n",
        groups / "memory" / "a" / "memory.stat": "cache 1\ntotal_inactive_file 50\n",
        groups / "c" / "memory.max": "2000\n",
        groups / "c" / "memory.current": "1800\n",
        groups / "c" / "memory.stat": "inactive_file 100\n",
        groups / "c" / "d" / "memory.max": "max\n",
        groups / "c" / "d" / "memory.current": "5\n",
    }
    for path, text in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(memory, "PROC_FOLDER", proc)
    monkeypatch.setattr(memory, "CGROUP_FOLDER", groups)
    assert memory.free_cgroup_memory() == 300, "of the second version, above this process"
    (proc / "self" / "cgroup").write_text("4:cpu,memory:/a/b\n")
    assert memory.free_cgroup_memory() == 450
    (proc / "self" / "cgroup").write_text("1:cpu:/a\n")
    assert memory.free_cgroup_memory() is None


def test_free_physical_memory_is_less_than_all_of_it_and_may_be_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    free = memory.free_physical_memory()
    assert free is not None and MIB < free < psutil.virtual_memory().total

    def fails() -> None:
        raise OSError("no such counter")

    monkeypatch.setattr(psutil, "virtual_memory", fails)
    assert memory.free_physical_memory() is None
    assert "physical memory" not in {limit.name for limit in memory.memory_limits()}


def test_the_fewest_runs_of_any_limit_count(monkeypatch: pytest.MonkeyPatch) -> None:
    wide, narrow = MemoryLimit("wide", 900, 10, 100), MemoryLimit("narrow", 500, 60, 80)
    monkeypatch.setattr(memory, "memory_limits", lambda: [wide, narrow])
    assert memory.tightest_limit(10) == narrow
    assert (wide.count_runs(10), narrow.count_runs(10)) == (40, 6)


def test_a_run_waits_where_those_that_go_on_take_more_than_was_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left = [1000]
    monkeypatch.setattr(memory, "memory_limits", lambda: [MemoryLimit("memory", left[0], 0, 100)])
    gate, begun = MemoryGate(10, lambda: False), threading.Event()

    def second() -> None:
        with gate.admit():
            begun.set()

    with gate.admit():
        left[0] = 500  # the first run has taken 500, of which 10 were counted
        thread = threading.Thread(target=second)
        thread.start()
        assert not begun.wait(3 * memory.POLLING_INTERVAL)
    assert begun.wait(10), "it begins once the first is over"
    thread.join()
    assert gate.short is not None and gate.short.free_bytes == 500


def test_who_waits_for_memory_hears_that_nothing_more_is_to_be_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "memory_limits", lambda: [MemoryLimit("memory", 0, 0, 100)])
    stop = threading.Event()
    gate, through = MemoryGate(10, stop.is_set), threading.Event()

    def second() -> None:
        with gate.admit():
            through.set()

    with gate.admit():
        thread = threading.Thread(target=second)
        thread.start()
        assert not through.wait(2 * memory.POLLING_INTERVAL)
        stop.set()
        assert through.wait(10)
    thread.join()


def test_too_little_address_space_for_what_is_loaded_is_refused_at_once(
    scenario: Path, tmp_path: Path
) -> None:
    process = start_command(
        tmp_path,
        *("run", scenario, "--seeds", 4, "--out", "o"),
        more=BOUND.format(most=memory.MIN_ADDRESS_SPACE - 1),
    )
    told = process.communicate(timeout=60)[1]
    assert process.returncode == 2
    assert told.strip().endswith("KiB of address space; expected 1500000 or more, or no bound")
    assert not (tmp_path / "o").exists()


def test_no_more_processes_of_this_machine_are_started_than_fit(
    scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def cluster_of(on: str, *given: object) -> object:
        asked.append(on)
        raise Failed("no need to start it")

    monkeypatch.setattr(schedule.cluster, "Cluster", cluster_of)
    monkeypatch.setattr(schedule.cluster, "check_address", lambda on: None)
    monkeypatch.setattr(memory, "tightest_limit", lambda need: MemoryLimit("memory", 3 * need, 0, 0))
    for on in ("local:8", "local:2", "tcp://127.0.0.1:9"):
        with pytest.raises(Failed):
            sweep(scenario, "switch.x=1", seeds=9, on=on)
    assert asked == ["local:3", "local:2", "tcp://127.0.0.1:9"]


def test_a_run_whose_counted_memory_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    need = MemoryNeed.from_core({"all": 80 * MIB, "ports": 10 * MIB, "flows": 6 * MIB, "packets": 0})
    monkeypatch.setattr(
        memory, "memory_limits", lambda: [MemoryLimit("physical memory", 16 * MIB, 8 * MIB, 0)]
    )
    need.check()
    monkeypatch.setattr(
        memory, "memory_limits", lambda: [MemoryLimit("physical memory", 15 * MIB, 8 * MIB, 0)]
    )
    with pytest.raises(BadInput, match=r"about 16 MiB, 10 MiB of them for ports of `topology`; expected"):
        need.check()
    MemoryNeed.from_core(None).check()


def test_fifty_wrong_lines_are_shown_and_the_rest_counted() -> None:
    axes = build_grid([], [], single=True)
    every = list(axes.points())
    shown = point_checks.first_error_lines({f"a: found {n}; expected 1": every for n in range(70)}, axes)
    assert (len(shown), shown[0], shown[-1]) == (51, "a: found 0; expected 1", "and 20 more")
