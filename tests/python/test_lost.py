"""Tests that no finished run is lost, whatever ends the command, and that the same command continues."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import fake_core
import pyarrow.parquet as pq
import pytest
from conftest import Ran

from overspill import BadInput, Failed, Listener, Results, Task, run
from overspill.charts import figure_files
from overspill.engine import keys as keys_of_runs
from overspill.results import cache, metrics, results_folder, steady_state

Command = Callable[..., Ran]

SLOW = """
import sys
sys.path[:0] = {paths!r}
import fake_core
from overspill import cli
from overspill.engine import core
core.use_backend(fake_core)
fake_core.behaviour.steps = {steps}
{more}
cli.main(sys.argv[1:])
"""


def start_command(folder: Path, *arguments: object, steps: int = 40, more: str = "") -> subprocess.Popen[str]:
    """Starts the command in a process of its own, with slow runs."""
    tests = Path(__file__).parent
    path = folder / "command.py"
    path.write_text(SLOW.format(paths=[str(tests), str(tests.parent)], steps=steps, more=more))
    line = [sys.executable, str(path), *map(str, arguments)]
    return subprocess.Popen(line, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def stored_keys(folder: Path) -> set[str]:
    """Returns the runs in a store."""
    return cache.RunStore(folder / "store").run_keys()


def wait_for_runs(count: int, folder: Path) -> None:
    """Waits until `count` runs are in the store."""
    for _ in range(3000):
        if len(stored_keys(folder)) >= count:
            return
        time.sleep(0.02)
    raise AssertionError("no run was finished")


@pytest.mark.parametrize(
    ("number", "left"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
@pytest.mark.parametrize("verb", [("run",), ("sweep", "--over", "switch.x=1,2")])
def test_what_is_finished_is_kept_and_shown_whichever_signal_ends_the_command(
    scenario: Path, tmp_path: Path, verb: tuple[str, ...], number: signal.Signals, left: int
) -> None:
    process = start_command(tmp_path, *verb, scenario, "--seeds", 30, "--jobs", 1, "--out", "o")
    wait_for_runs(3, tmp_path / "o")
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == left and "Traceback" not in err
    kept = stored_keys(tmp_path / "o")
    assert len(kept) >= 3
    assert "INTERRUPTED" in out and "Run the same command to continue" in out
    assert Results.load(tmp_path / "o").finished == len(kept)
    again = start_command(tmp_path, *verb, scenario, "--seeds", 30, "--out", "o", "--no-report", steps=2)
    assert "Traceback" not in again.communicate(timeout=120)[1] and again.returncode == 0
    assert kept <= stored_keys(tmp_path / "o") and not Results.load(tmp_path / "o").missing


@pytest.mark.parametrize(
    ("number", "left", "building"),
    [
        (signal.SIGINT, 130, False),
        (signal.SIGTERM, 143, False),
        (signal.SIGHUP, 129, False),
        (signal.SIGTERM, 143, True),
    ],
)
def test_a_step_of_a_minute_is_left_behind_within_a_second(
    scenario: Path, tmp_path: Path, number: signal.Signals, left: int, building: bool
) -> None:
    more = f"fake_core.behaviour.stuck_after, fake_core.behaviour.stuck_building = 2, {building}"
    line = ("run", scenario, "--seeds", 9, "--jobs", 1, "--out", "o", "--no-report")
    process = start_command(tmp_path, *line, steps=2, more=more)
    wait_for_runs(2, tmp_path / "o")
    time.sleep(0.3)
    begun = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=50)
    # Finished runs are put together and printed as well; a step takes a minute.
    assert time.monotonic() - begun < 10 and process.returncode == left and "Traceback" not in err
    assert (
        "INTERRUPTED" in out
        and Results.load(tmp_path / "o").finished == len(stored_keys(tmp_path / "o")) == 2
    )


def test_after_kill_9_the_same_command_goes_on(scenario: Path, tmp_path: Path) -> None:
    process = start_command(tmp_path, "run", scenario, "--seeds", 30, "--jobs", 1, "--out", "o")
    wait_for_runs(4, tmp_path / "o")
    process.kill()
    process.communicate()
    kept = stored_keys(tmp_path / "o")
    again = start_command(tmp_path, "run", scenario, "--seeds", 30, "--out", "o", "--no-report", steps=2)
    err = again.communicate(timeout=120)[1]
    assert again.returncode == 0 and f"{len(kept)} runs were finished before" in err
    whole = run(scenario, seeds=30)
    assert Results.load(tmp_path / "o").document() == whole.document()


def test_a_killed_command_whose_number_another_process_has_does_not_block(
    command: Command, scenario: Path
) -> None:
    left = Path("o") / f"{results_folder.STAGING_PREFIX}{os.getppid()}"
    left.mkdir(parents=True)
    (left / "x").write_text("half")
    assert command("run", scenario, "--out", "o").status == 0
    assert not left.exists()


def test_an_interrupted_repetition_leaves_whole_earlier_results(command: Command, scenario: Path) -> None:
    assert command("run", scenario, "--seeds", 4, "--out", "o").status == 0
    before = Results.load("o").document()
    fake_core.behaviour.finished, fake_core.behaviour.interrupt_after = 0, 2
    ran = command("run", scenario, "--seeds", 4, "--out", "o", "--set", "switch.x=1", "--jobs", 1)
    assert ran.status == 130 and "the earlier results stay as they were" in ran.err
    assert Results.load("o").document() == before
    fake_core.reset()
    ran = command("run", scenario, "--seeds", 4, "--out", "o", "--set", "switch.x=1")
    assert ran.status == 0 and "2 runs were finished before" in ran.err


def test_fewer_seeds_take_nothing_out_of_the_store(command: Command, scenario: Path) -> None:
    assert command("run", scenario, "--seeds", 4, "--out", "o").status == 0
    assert command("run", scenario, "--seeds", 1, "--out", "o").status == 0
    assert len(Results.load("o").runs) == 3
    ran = command("run", scenario, "--seeds", 4, "--out", "o")
    assert "12 runs were finished before" in ran.err and len(Results.load("o").runs) == 12


def test_runs_of_other_variants_and_settings_stay_in_the_store(command: Command, scenario: Path) -> None:
    assert command("run", scenario, "--out", "o").status == 0
    old = stored_keys(Path("o"))
    assert command("run", scenario, "--out", "o", "--set", "switch.x=1").status == 0
    assert command("run", scenario, "--out", "o", "--variants", "drop").status == 0
    assert old < stored_keys(Path("o")) and len(stored_keys(Path("o"))) == 6
    assert [one.variant for one in Results.load("o").runs] == ["drop"]
    ran = command("run", scenario, "--out", "o")
    assert "3 runs were finished before" in ran.err


@pytest.mark.usefixtures("quick")
def test_the_page_and_figures_of_the_same_results_stay(command: Command, scenario: Path) -> None:
    assert command("run", scenario, "--out", "o", "--figures", "svg").status == 0
    drawn = sorted(Path("o/figures").iterdir())
    assert drawn and command("run", scenario, "--out", "o", "--no-report", "--all").status == 0
    assert Path("o/report.html").is_file() and sorted(Path("o/figures").iterdir()) == drawn
    assert command("run", scenario, "--out", "o", "--no-report", "--seeds", 2).status == 0
    assert not Path("o/report.html").exists() and not Path("o/figures").exists()


def test_a_full_disk_keeps_and_shows_what_is_finished(
    command: Command, scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = pq.write_table

    def full(table: object, place: object, **how: object) -> None:
        if len(stored_keys(Path("o"))) >= 4:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written(table, place, **how)

    monkeypatch.setattr(pq, "write_table", full)
    ran = command("run", scenario, "--seeds", 5, "--jobs", 1, "--out", "o")
    assert ran.status == 1 and "No space left on device" in ran.out + ran.err
    assert "FCT mean" in ran.out, "what is finished is shown"
    assert len(stored_keys(Path("o"))) == 4
    monkeypatch.setattr(pq, "write_table", written)
    ran = command("run", scenario, "--seeds", 5, "--out", "o")
    assert ran.status == 0 and "4 runs were finished before" in ran.err


def test_a_damaged_run_is_done_again(command: Command, scenario: Path) -> None:
    assert command("run", scenario, "--seeds", 2, "--out", "o").status == 0
    one = sorted(Path("o/store").glob("??/*/flows.parquet"))[0]
    one.unlink()
    ran = command("run", scenario, "--seeds", 2, "--out", "o")
    assert ran.status == 0 and "run again, since its file in the store is damaged" in ran.err
    assert "5 runs were finished before" in ran.err


def test_two_commands_do_not_write_into_one_folder(scenario: Path, tmp_path: Path) -> None:
    process = start_command(tmp_path, "run", scenario, "--seeds", 20, "--jobs", 1, "--out", "o")
    wait_for_runs(1, tmp_path / "o")
    with pytest.raises(BadInput, match="another run or sweep is writing there"):
        run(scenario, out=tmp_path / "o")
    process.kill()
    process.communicate()


def test_a_folder_that_is_deleted_meanwhile_ends_in_one_line(command: Command, scenario: Path) -> None:
    fake_core.behaviour.steps = 60
    thief = threading.Thread(
        target=lambda: (wait_for_runs(2, Path("o")), shutil.rmtree("o", ignore_errors=True))
    )
    thief.start()
    ran = command("run", scenario, "--seeds", 6, "--jobs", 1, "--out", "o")
    thief.join()
    assert ran.status in (0, 1) and "Traceback" not in ran.err


def test_a_run_and_a_sweep_do_not_share_a_folder(command: Command, scenario: Path) -> None:
    assert command("run", scenario, "--out", "o").status == 0
    ran = command("sweep", scenario, "--over", "switch.x=1", "--seeds", 1, "--out", "o")
    assert ran.status == 2 and "has results of `overspill run`" in ran.err
    assert Results.load("o").finished == 3


@pytest.mark.parametrize("what", ["Scenario.document", "Scenario.run"])
@pytest.mark.parametrize(("number", "left"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_long_set_up_hears_signals_within_seconds(
    scenario: Path, tmp_path: Path, what: str, number: signal.Signals, left: int
) -> None:
    begun = tmp_path / "begun"
    more = (
        "import pathlib, time\n"
        f"def slow(*given): pathlib.Path({str(begun)!r}).touch(); time.sleep(60)\n"
        f"fake_core.{what} = slow"
    )
    process = start_command(tmp_path, "run", scenario, "--out", "o", more=more)
    for _ in range(1000):
        if begun.exists():
            break
        time.sleep(0.02)
    asked = time.monotonic()
    process.send_signal(number)
    err = process.communicate(timeout=50)[1]
    # A second, with a margin for a busy machine.
    assert time.monotonic() - asked < 10
    assert "Traceback" not in err
    # No result is kept while a scenario is read, so that SIGTERM may end the process by itself.
    assert process.returncode in (left, -number)
    assert not (tmp_path / "o").exists()


def test_numbers_that_no_machine_can_count_to_are_bad_input(command: Command, scenario: Path) -> None:
    assert command("run", scenario, "--max-events", 2**64).status == 2
    for values in ("lin(1e308KB,2e308KB,3)", "log(1e-400KB,1KB,3)", "log(1e-40KB,1KB,3)"):
        ran = command("sweep", scenario, "--over", f"switch.x={values}")
        assert ran.status == 2 and "expected numbers whose absolute value" in ran.err


def test_what_was_finished_before_is_counted_in_words(command: Command, scenario: Path) -> None:
    one = ("run", scenario, "--no-report", "--out", "one", "--variants", "drop")
    assert command(*one).status == 0
    assert "1 run was finished before and is not repeated" in command(*one).err
    assert (
        "2 runs were finished before and are not repeated"
        in [
            command(*one, "--seeds", 2).err,
            command(*one, "--seeds", 2).err,
        ][1]
    )


def test_a_folder_deleted_while_runs_go_on_and_a_killed_command_do_not_block(
    scenario: Path, tmp_path: Path
) -> None:
    process = start_command(tmp_path, "run", scenario, "--seeds", 40, "--jobs", 1, "--out", "o")
    wait_for_runs(2, tmp_path / "o")
    shutil.rmtree(tmp_path / "o", ignore_errors=True)
    wait_for_runs(2, tmp_path / "o")
    process.kill()
    process.communicate(timeout=60)
    assert not (tmp_path / "o" / "store" / cache.MARK_FILE).exists(), "nothing says whose the folder is"
    kept = stored_keys(tmp_path / "o")
    again = start_command(tmp_path, "run", scenario, "--seeds", 40, "--out", "o", "--no-report", steps=2)
    told = again.communicate(timeout=120)[1]
    assert again.returncode == 0, told
    assert kept <= stored_keys(tmp_path / "o") and not Results.load(tmp_path / "o").missing


def test_what_only_looks_like_a_store_is_not_taken(tmp_path: Path) -> None:
    for name in ("store/ab/x", "store/notes/x", "other/x"):
        path = tmp_path / name.partition("/")[0] / name
        path.parent.mkdir(parents=True)
        path.touch()
        assert cache.is_left_over(tmp_path / name.partition("/")[0]) == (name == "store/ab/x")
        shutil.rmtree(tmp_path / name.partition("/")[0])


@pytest.mark.parametrize("verb", [("run",), ("sweep", "--over", "switch.x=1,2", "--tables", "flows")])
def test_a_folder_in_the_place_of_a_file_of_the_store_and_a_file_in_that_of_a_folder_are_replaced(
    command: Command, scenario: Path, verb: tuple[str, ...]
) -> None:
    line = (*verb, scenario, "--seeds", 1, "--no-report", "--out", "o")
    assert command(*line).status == 0
    first, second, third = sorted(stored_keys(Path("o")))[:3]
    lies = cache.RunStore(Path("o/store"))
    for path in (lies.run_file(first), lies.table_path(second, "flows")):
        path.unlink()
        (path / "below").mkdir(parents=True)
    shutil.rmtree(lies.run_folder(third))
    lies.run_folder(third).touch()
    ran = command(*line)
    assert ran.status == 0, ran.err
    assert all(lies.find_run(key, ("flows",)) is not None for key in (first, second, third))


def test_results_whose_folder_a_later_command_took_do_not_read_its_tables(
    scenario: Path, tmp_path: Path
) -> None:
    first = run(scenario, out=tmp_path / "o")
    before, loaded = first.flows, Results.load(tmp_path / "o")
    run(scenario, out=tmp_path / "o")
    assert first.flows.equals(before), "the same results"
    for path in (tmp_path / "o" / "runs").rglob("flows.parquet"):
        shutil.copy(path, tmp_path / "copy")
        (tmp_path / "copy").replace(path)
    assert first.flows.equals(before) and loaded.flows.equals(before), "a copy is the same"
    run(scenario, out=tmp_path / "o", sets=["fake.unfinished=7", "measure.allow_unfinished=true"])
    for results in (first, loaded):
        with pytest.raises(BadInput, match="no longer has the table of these results"):
            results.table("flows")
    run(scenario, out=tmp_path / "o", seed=9)
    with pytest.raises(BadInput, match="no longer has the table of these results"):
        list(loaded.batches("ports"))
    assert Results.load(tmp_path / "o").flows.num_rows


def test_results_saved_from_memory_know_their_files(scenario: Path, tmp_path: Path) -> None:
    first = run(scenario)
    first.save(tmp_path / "o")
    for path in (tmp_path / "o" / "runs").rglob("flows.parquet"):
        path.write_bytes(path.read_bytes())
    assert first.flows.num_rows
    for path in (tmp_path / "o" / "runs").rglob("flows.parquet"):
        path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(BadInput, match="no longer has the table of these results"):
        first.table("flows")


class DamagingListener(Listener):
    """Damages the tables of a run as soon as it is kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def kept(self, task: Task, hops: int) -> None:
        for path in self.folder.glob(f"store/??/{task.key}/*.parquet"):
            path.write_bytes(b"no table")


def test_a_table_that_is_damaged_during_the_command_is_a_failure_and_run_again(
    scenario: Path, tmp_path: Path
) -> None:
    out = tmp_path / "o"
    with pytest.raises(Failed) as failed:
        run(scenario, variants=["drop"], out=out, listener=DamagingListener(out))
    assert failed.value.status == 1 and "Run the same command to continue" in failed.value.lines[-1]
    assert run(scenario, variants=["drop"], out=out).queues.num_rows


def test_halves_of_windows_are_part_of_what_a_run_is_known_by() -> None:
    assert steady_state in keys_of_runs.imported_modules(metrics) | keys_of_runs.imported_modules(
        steady_state
    )
    before = keys_of_runs.metrics_digest()
    of_file = keys_of_runs.file_digest

    def changed(path: str) -> str:
        return of_file(path) + ("changed" if path == steady_state.__file__ else "")

    keys_of_runs.metrics_digest.cache_clear()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(keys_of_runs, "file_digest", changed)
        assert keys_of_runs.metrics_digest() != before
    keys_of_runs.metrics_digest.cache_clear()
    assert keys_of_runs.metrics_digest() == before


def test_figures_drawn_before_the_command_was_stopped_go_with_their_results(
    command: Command, scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved, drawn = figure_files.save_figure, []

    def stopped(figure: object, place: Path, name: str, formats: object) -> None:
        if drawn:
            raise KeyboardInterrupt(signal.SIGTERM)
        drawn.append(name)
        saved(figure, place, name, formats)  # type: ignore[arg-type]

    monkeypatch.setattr(figure_files, "save_figure", stopped)
    ran = command("run", scenario, "--out", "o", "--figures", "png")
    assert ran.status == 143 and Path(f"o/figures/{drawn[0]}.png").is_file()
    ran = command("run", scenario, "--out", "o", "--seed", 5, "--no-report")
    assert ran.status == 0 and not Path("o/figures").exists(), "they are of other results"
