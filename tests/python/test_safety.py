"""Tests that earlier results, other files and finished runs survive every kind of end."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fake_core
import pytest
from conftest import Ran

from overspill import BadInput, Results, report, run, sweep
from overspill.cli import table
from overspill.engine import interrupts, source
from overspill.results import cache, results_folder

Command = Callable[..., Ran]


def read_files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@contextmanager
def deaf() -> Iterator[None]:
    """Ignores SIGINT after the command has restored its handler."""
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def test_a_run_that_finishes_nothing_leaves_earlier_results_as_they_were(
    command: Command, scenario: Path
) -> None:
    assert command("run", scenario, "--out", "o").status == 0
    before = read_files(Path("o"))
    fake_core.behaviour.interrupt_after = 0
    fake_core.behaviour.finished = 0
    assert command("run", scenario, "--out", "o", "--seed", 9).status == 130
    assert read_files(Path("o")) == before
    fake_core.reset()
    fake_core.behaviour.crash = True
    assert command("run", scenario, "--out", "o", "--seed", 9).status == 1
    assert read_files(Path("o")) == before


@pytest.mark.usefixtures("quick")
def test_new_results_take_away_only_what_the_old_manifest_lists(command: Command, scenario: Path) -> None:
    assert command("run", scenario, "--out", "o", "--seeds", 2, "--figures", "png").status == 0
    assert Path("o/figures/fct.png").is_file()
    mine = ["o/figures/mine.png", "o/runs/drop/seed-2/notes.txt", "o/thoughts.md"]
    for name in mine:
        Path(name).write_text("mine")
    assert command("run", scenario, "--out", "o", "--no-report").status == 0
    assert [Path(name).read_text() for name in mine] == ["mine"] * 3
    assert not Path("o/report.html").exists() and not Path("o/figures/fct.png").exists()
    assert not Path("o/runs/drop/seed-2/flows.parquet").exists()
    assert not Path("o/runs/bounce/seed-2").exists()
    assert not list(Path("o").glob(".overspill*"))


@pytest.mark.parametrize("name", ["report.html", "figures/mine.png", "runs/x"])
def test_a_folder_of_somebody_else_is_refused_and_kept(command: Command, scenario: Path, name: str) -> None:
    path = Path("other") / name
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    ran = command("run", scenario, "--out", "other")
    assert ran.status == 2 and "no results of overspill" in ran.err
    assert read_files(Path("other")) == {name: b"mine"}


def test_a_foreign_manifest_is_refused(command: Command, scenario: Path) -> None:
    Path("web").mkdir()
    Path("web/manifest.json").write_text('{"name": "an app"}')
    assert command("run", scenario, "--out", "web").status == 2
    assert read_files(Path("web")) == {"manifest.json": b'{"name": "an app"}'}


def test_a_manifest_cannot_reach_out_of_its_folder(tmp_path: Path, scenario: Path) -> None:
    run(scenario, out=tmp_path / "o")
    victim = tmp_path / "victim"
    victim.write_text("mine")
    manifest = json.loads((tmp_path / "o/manifest.json").read_text())
    manifest["report"] = ["../victim", str(victim)]
    (tmp_path / "o/manifest.json").write_text(json.dumps(results_folder.with_digest(manifest)))
    run(scenario, out=tmp_path / "o")
    assert victim.read_text() == "mine"


def test_what_an_aborted_run_left_is_taken_away(tmp_path: Path, scenario: Path) -> None:
    left = tmp_path / "o" / f"{results_folder.STAGING_PREFIX}999999999"
    left.mkdir(parents=True)
    (left / "x").write_text("half")
    run(scenario, out=tmp_path / "o")
    assert not left.exists()


@pytest.mark.usefixtures("quick")
def test_a_redrawn_report_leaves_no_figure_of_the_old_one(tmp_path: Path, scenario: Path) -> None:
    results = run(scenario, out=tmp_path / "o")
    report.write(results, tmp_path / "o", ["png"])
    manifest = json.loads((tmp_path / "o/manifest.json").read_text())
    manifest["report"].append("figures/old.png")
    (tmp_path / "o/manifest.json").write_text(json.dumps(results_folder.with_digest(manifest)))
    (tmp_path / "o/figures/old.png").write_text("old")
    report.write(Results.load(tmp_path / "o"), tmp_path / "o", ["png"])
    assert not (tmp_path / "o/figures/old.png").exists() and (tmp_path / "o/figures/fct.png").exists()


def test_an_impatient_user_loses_no_finished_run(command: Command, scenario: Path) -> None:
    fake_core.behaviour.interrupt_after = 4
    fake_core.behaviour.hammer = True
    with deaf(), interrupts_installed():
        ran = command("run", scenario, "--seeds", 5, "--jobs", 1, "--out", "o")
        assert fake_core.behaviour.user is not None
        fake_core.behaviour.user.join()
    assert ran.status == 130
    assert len(Results.load("o").runs) == 4


@contextmanager
def interrupts_installed() -> Iterator[None]:
    """Installs a SIGINT handler, as a shell would, which the command has to restore."""
    previous = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def test_ctrl_c_is_noted_and_not_raised_while_runs_go_on() -> None:
    with interrupts.stop_on_signal() as asked:
        for _ in range(3):
            os.kill(os.getpid(), signal.SIGINT)
        assert asked.is_set()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_seed_that_fails_leaves_the_others(command: Command, scenario: Path) -> None:
    fake_core.behaviour.crash_seed = 2
    ran = command("run", scenario, "--seeds", 3, "--out", "o")
    assert ran.status == 1
    assert "seed 2: the run failed: queue 3 lost a packet" in " ".join(ran.out.split())
    assert "FAILED" in ran.err
    kept = Results.load("o")
    assert {one.seed for one in kept.runs} == {1, 3} and len(kept.runs) == 6
    assert len(kept.failures) == 3 and kept.partial


def test_absurd_numbers_of_seeds_are_refused(command: Command, scenario: Path) -> None:
    ran = command("run", scenario, "--seeds", 100_000_000)
    assert ran.status == 2 and "expected 100000 or fewer" in ran.err


def test_jobs_are_made_as_they_are_needed(command: Command, scenario: Path) -> None:
    fake_core.behaviour.interrupt_after = 2
    ran = command("run", scenario, "--seeds", 20_000, "--jobs", 1)
    assert ran.status == 130 and "2 of 60000 runs are finished" in ran.out


def test_input_without_end_is_refused(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = command("run", "/dev/zero")
    assert ran.status == 2 and "found more than 16 MiB" in ran.err
    monkeypatch.setattr(source, "MAX_FILE_BYTES", 10)
    Path("big.toml").write_text("name = 'too long'")
    assert command("run", "big.toml").status == 2


def test_a_name_that_no_folder_can_have_is_bad_input(command: Command, scenario: Path) -> None:
    ran = command("run", scenario, "--out", "x" * 300)
    assert ran.status == 2 and "--out: " in ran.err and "Traceback" not in ran.err
    assert command("run", scenario, "--out", f"{scenario}/below").status == 2


def test_what_nobody_expects_is_one_line(
    command: Command, scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results_folder, "path_component", lambda name: 1 // 0)
    ran = command("run", scenario)
    assert ran.status == 1 and ran.err.count("\n") == 1
    assert "unexpected failure: ZeroDivisionError" in ran.err


SHELL = """
import sys
sys.path[:0] = {paths!r}
import fake_core
from overspill import cli
from overspill.engine import core
core.use_backend(fake_core)
cli.main(sys.argv[1:])
"""


def script(tmp_path: Path) -> Path:
    tests = Path(__file__).parent
    path = tmp_path / "command.py"
    path.write_text(SHELL.format(paths=[str(tests), str(tests.parent)]))
    return path


def test_a_reader_that_leaves_does_not_stop_the_report(scenario: Path, tmp_path: Path) -> None:
    line = f"{sys.executable} {script(tmp_path)} run {scenario} --out o | head -1; echo ${{PIPESTATUS[0]}}"
    ran = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "0"
    assert "Traceback" not in ran.stderr and "Broken" not in ran.stderr
    assert (tmp_path / "o/report.html").is_file()


def test_ctrl_c_while_the_command_loads_is_130(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt")
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent.parent)!r})\nfrom overspill import cli\n"
    )
    code += f"sys.path.insert(0, {str(tmp_path)!r})\ncli.main(['list'])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 130 and ran.stderr == "interrupted\n"


def test_a_manifest_that_lacks_facts_is_bad_input(command: Command, tmp_path: Path) -> None:
    (tmp_path / "hollow").mkdir()
    (tmp_path / "hollow/manifest.json").write_text(
        json.dumps(results_folder.with_digest({"format": 1, "runs": []}))
    )
    ran = command("report", "hollow")
    assert ran.status == 2 and "incomplete manifest: no name, variants" in ran.err


def test_no_page_is_drawn_in_a_folder_where_another_command_is_writing(
    command: Command, scenario: Path, tmp_path: Path
) -> None:
    assert command("run", scenario, "--out", "o", "--no-report").status == 0
    before = read_files(tmp_path / "o")
    with cache.lock_store(tmp_path / "o"):
        ran = command("report", "o", "--figures", "png")
        assert (ran.status, ran.out) == (2, "") and ran.err == "o: another run or sweep is writing there\n"
        with pytest.raises(BadInput, match="another run or sweep is writing there"):
            report.write(Results.load(tmp_path / "o"), tmp_path / "o")
    assert read_files(tmp_path / "o") == before
    assert command("report", "o").status == 0 and Path("o/report.html").is_file()


def test_the_mark_stays_the_same_file_with_its_text(tmp_path: Path) -> None:
    mark = tmp_path / "o" / "store" / cache.MARK_FILE
    (tmp_path / "o").mkdir()
    for _ in range(2):
        with cache.lock_store(tmp_path / "o"):
            before = mark.stat().st_ino
            with pytest.raises(BadInput, match="another run or sweep"), cache.lock_store(tmp_path / "o"):
                pass
        (tmp_path / "o" / "kept").touch()
        with cache.lock_store(tmp_path / "o"):
            assert (mark.stat().st_ino, mark.read_text()) == (before, cache.MARK_TEXT)


@pytest.mark.parametrize("later", ["run", "sweep"])
def test_no_page_is_drawn_beside_results_that_another_command_has_put_there(
    tmp_path: Path, scenario: Path, later: str
) -> None:
    out = tmp_path / "o"

    def made(seed: int) -> Results:
        if later == "run":
            return run(scenario, seed=seed, out=out)
        return sweep(scenario, {"switch.x": [1]}, seeds=1, seed=seed, out=out)

    first = made(1)
    report.write(first, out)
    report.write_report_of_folder(out)
    report.write(first, out)
    second = made(7)
    before = read_files(out)
    with pytest.raises(BadInput, match="another run or sweep has replaced these results"):
        report.write(first, out)
    assert read_files(out) == before
    report.write(second, out)
    report.write(Results.load(out), out)
    assert made(1).identity == first.identity != second.identity


def test_the_manifest_is_written_while_the_folder_is_held(
    tmp_path: Path, scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, tried, written = tmp_path / "o", [], results_folder.write_text

    def checked(path: Path, text: str) -> None:
        if path.name == results_folder.MANIFEST_FILE:
            with (
                pytest.raises(BadInput, match="another run or sweep is writing there"),
                cache.lock_store(out),
            ):
                pass
            tried.append(path)
        written(path, text)

    monkeypatch.setattr(results_folder, "write_text", checked)
    results = run(scenario, out=out)
    assert len(tried) == 1
    report.write(results, out)
    report.write_report_of_folder(out)
    assert len(tried) == 5


def test_a_run_whose_folder_another_has_by_then_keeps_its_results_and_tells_that_no_page_is_drawn(
    command: Command, scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    show = table.print_results

    def meanwhile(results: Results, *rest: Any) -> None:
        show(results, *rest)
        run(scenario, seed=7, out="o")

    monkeypatch.setattr(table, "print_results", meanwhile)
    ran = command("run", scenario, "--seed", 1, "--out", "o")
    assert ran.status == 1 and "no report: o: another run or sweep has replaced these results" in ran.err
    assert "finished runs are kept in o/store" in ran.err.replace(str(Path.cwd()) + "/", "")
    assert Results.load("o").seeds == [7] and not Path("o/report.html").exists()
    monkeypatch.setattr(table, "print_results", show)
    ran = command("run", scenario, "--seed", 1, "--out", "o")
    assert ran.status == 0 and "3 runs were finished before" in ran.err
