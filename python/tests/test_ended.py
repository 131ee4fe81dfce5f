"""The last line of a command says what its exit status comes from, and how runs were cut."""

import os
import signal
from pathlib import Path
from typing import Any

import fake_core
import pytest
from swept import Command


@pytest.fixture
def alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of the fake's variants are one and the same run."""
    original = fake_core.Made.__init__

    def made(self: Any, variant: str, *given: Any) -> None:
        original(self, "drop" if variant == "detour" else variant, *given)

    monkeypatch.setattr(fake_core.Made, "__init__", made)


@pytest.mark.usefixtures("alike")
def test_only_causes_of_an_exit_status_are_named_as_such(command: Command, scenario: Path) -> None:
    ran = command("run", scenario, "--set", "fake.unfinished=60", "--no-report")
    assert ran.status == 3 and "SAME RUN" in ran.out
    assert ran.err.splitlines()[-1] == "UNFINISHED FLOWS: exit status 3"
    ran = command("run", scenario, "--set", "fake.unfinished=60", "--max-events", 1000, "--no-report")
    assert ran.err.splitlines()[-1] == "PARTIAL RESULT and UNFINISHED FLOWS: exit status 3"


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
    original, done = fake_core.Made.summary, []

    def last(made: fake_core.Made) -> dict[str, Any]:
        done.append(made.variant)
        if len(done) == 3:
            os.kill(os.getpid(), number)
        return original(made)

    monkeypatch.setattr(fake_core.Made, "summary", last)
    ran = command("run", scenario, "--jobs", 1, "--no-report", *extra)
    assert ran.status == left and len(done) == 3
    assert f"stopped by {number.name} after the last run: exit status {left}" in ran.err.splitlines()


def test_seeds_that_were_cut_at_different_times_are_told_with_the_range(
    command: Command, scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = fake_core.Made.summary
    ends = {1: 48_800_800_000, 2: 60 * fake_core.MS, 3: 89_210_000_000}
    monkeypatch.setattr(fake_core.Made, "summary", lambda made: original(made) | {"end_ps": ends[made.seed]})
    ran = command("run", scenario, "--max-events", 1000, "--seeds", 3, "--no-report")
    assert "seeds 1-3 cut by --max-events at 48.8 ms to 89.2 ms; the window ends at" in ran.out
    ran = command("run", scenario, "--max-events", 1000, "--seeds", 1, "--no-report")
    assert "seed 1 cut by --max-events at 48.8008 ms; the window ends at" in ran.out
