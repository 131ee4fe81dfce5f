"""Tests that the last line of a command explains its exit status, and how runs were cut off."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import fake_core
import pytest
from sweep_folders import Command
from test_lost import SLOW

from overspill.engine import interrupts
from overspill.results import write_results


@pytest.fixture
def alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes two of the fake's variants the same run."""
    original = fake_core.FakeResults.__init__

    def made(self: Any, variant: str, *given: Any) -> None:
        original(self, "drop" if variant == "detour" else variant, *given)

    monkeypatch.setattr(fake_core.FakeResults, "__init__", made)


@pytest.mark.usefixtures("alike")
def test_only_causes_of_an_exit_status_are_named_as_such(command: Command, scenario: Path) -> None:
    ran = command("run", scenario, "--set", "fake.unfinished=60", "--no-report")
    assert ran.status == 3 and "SAME RUN" in ran.out
    assert "Increase `measure.drain`" in ran.out
    assert ran.err.splitlines()[-1] == "UNFINISHED FLOWS: exit status 3"
    ran = command("run", scenario, "--set", "fake.unfinished=60", "--max-events", 1000, "--no-report")
    assert ran.err.splitlines()[-1] == "PARTIAL RESULT and UNFINISHED FLOWS: exit status 3"
    assert "UNFINISHED FLOWS" in ran.out and "measure.drain" not in ran.out, "a longer drain would not help"


def test_a_failure_alone_is_the_cause_of_status_1(command: Command, scenario: Path) -> None:
    fake_core.behaviour.crash_seed = 2
    ran = command("run", scenario, "--set", "fake.unfinished=60", "--seeds", 2, "--no-report")
    assert ran.status == 1 and "UNFINISHED FLOWS" in ran.out
    assert ran.err.splitlines()[-1] == "FAILED: exit status 1"


def test_a_stopped_command_names_that_alone(command: Command, scenario: Path) -> None:
    fake_core.behaviour.interrupt_after = 1
    ran = command("run", scenario, "--set", "fake.unfinished=60", "--jobs", 1, "--no-report")
    assert ran.status == 130 and ran.err.splitlines()[-1] == "INTERRUPTED: exit status 130"


@pytest.mark.parametrize("extra", [(), ("--json",)])
@pytest.mark.parametrize(("number", "left"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_after_the_last_run_is_named(
    command: Command,
    scenario: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: signal.Signals,
    left: int,
    extra: tuple[str, ...],
) -> None:
    original, done = fake_core.FakeResults.summary, []

    def last(made: fake_core.FakeResults) -> dict[str, Any]:
        done.append(made.variant)
        if len(done) == 3:
            os.kill(os.getpid(), number)
        return original(made)

    monkeypatch.setattr(fake_core.FakeResults, "summary", last)
    ran = command("run", scenario, "--jobs", 1, "--no-report", *extra)
    assert ran.status == left and len(done) == 3
    assert f"stopped by {number.name} after the last run: exit status {left}" in ran.err.splitlines()


def test_seeds_that_were_cut_at_different_times_are_told_with_the_range(
    command: Command, scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = fake_core.FakeResults.summary
    ends = {1: 48_800_800_000, 2: 60 * fake_core.MS, 3: 89_210_000_000}
    monkeypatch.setattr(
        fake_core.FakeResults, "summary", lambda made: original(made) | {"end_ps": ends[made.seed]}
    )
    ran = command("run", scenario, "--max-events", 1000, "--seeds", 3, "--no-report")
    assert "seeds 1-3 stopped by --max-events at 48.8 ms to 89.2 ms; the window ends at" in ran.out
    ran = command("run", scenario, "--max-events", 1000, "--seeds", 1, "--no-report")
    assert "seed 1 stopped by --max-events at 48.8008 ms; the window ends at" in ran.out


def test_after_a_late_signal_no_page_is_drawn(
    command: Command, scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, done = fake_core.FakeResults.summary, []

    def last(made: fake_core.FakeResults) -> dict[str, Any]:
        done.append(made.variant)
        if len(done) == 3:
            os.kill(os.getpid(), signal.SIGTERM)
        return original(made)

    monkeypatch.setattr(fake_core.FakeResults, "summary", last)
    ran = command("run", scenario, "--jobs", 1, "--figures", "pdf,svg,png")
    assert ran.status == 143
    assert "no report: interrupted; overspill report out/incast draws one" in ran.err
    assert Path("out/incast/results.json").is_file() and not Path("out/incast/report.html").exists()


@pytest.mark.parametrize(
    ("number", "left"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
@pytest.mark.parametrize("early", [False, True])
def test_what_takes_long_after_the_last_run_is_broken_off_and_runs_are_kept(
    command: Command,
    scenario: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: signal.Signals,
    left: int,
    early: bool,
) -> None:
    """Tests a signal; `early` means before the results are put together, otherwise during it."""

    def put_together(*given: Any) -> None:
        if not early:
            os.kill(os.getpid(), number)
        for _ in range(1000):
            time.sleep(0.01)

    original = fake_core.FakeResults.summary

    def summary(made: fake_core.FakeResults) -> dict[str, Any]:
        if early:
            os.kill(os.getpid(), number)
        return original(made)

    monkeypatch.setattr(fake_core.FakeResults, "summary", summary)
    monkeypatch.setattr(write_results, "write_unless_fewer_runs", put_together)
    monkeypatch.setattr(interrupts, "SECONDS_FOR_REMAINING_WORK", 0.6)
    began = time.monotonic()
    ran = command("run", scenario, "--jobs", 1, "--variants", "drop")
    assert ran.status == left and time.monotonic() - began < 2
    assert "interrupted: finished runs are kept. Run the same command to continue" in ran.err
    monkeypatch.undo()
    monkeypatch.chdir(scenario.parent)
    assert "1 run was finished before" in command("run", scenario, "--no-report", "--variants", "drop").err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("line", [("run", "incast.toml"), ("run", "incast.toml", "--json"), ("list",)])
def test_output_that_cannot_be_written_is_told_and_the_report_is_drawn(
    scenario: Path, line: tuple[str, ...]
) -> None:
    with Path("/dev/full").open("w") as full:
        code = SLOW.format(
            paths=[str(Path(__file__).parent), str(Path(__file__).parents[1])], steps=1, more=""
        )
        ran = subprocess.run(
            [sys.executable, "-c", code, *line],
            cwd=scenario.parent,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert ran.returncode == 1 and "Traceback" not in ran.stderr
    said = "stdout: cannot be written: No space left on device; the output is incomplete"
    assert ran.stderr.splitlines()[-1] == said
    if line[0] == "run":
        assert (scenario.parent / "out" / "incast" / "report.html").is_file()
