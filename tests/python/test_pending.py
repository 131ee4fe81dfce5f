"""Tests that `overspill report` writes the tables of a sweep that was stopped before writing them."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fake_core
import pytest
from conftest import Ran

from overspill import BadInput, Results
from overspill.engine import interrupts
from overspill.results import cache, results_folder, write_results

SWEEP = ("--over", "switch.x=1,2,3", "--seeds", 2, "--jobs", 1, "--out", "o")
CSV = ("sweep.csv", "summary.csv", "differences.csv")
Command = Callable[..., Ran]
Stopped = Callable[[int], int]


@pytest.fixture
def stopped(command: Command, scenario: Path, monkeypatch: pytest.MonkeyPatch) -> Stopped:
    """Stops a sweep after `runs` runs, on a machine too busy to write its tables; returns the exit status."""

    def stop(runs: int) -> int:
        original, done = fake_core.FakeResults.summary, []

        def summary(made: fake_core.FakeResults) -> dict[str, Any]:
            done.append(made)
            if len(done) == runs:
                os.kill(os.getpid(), signal.SIGTERM)
            return original(made)

        def busy(*_: object) -> None:
            for _ in range(1000):
                time.sleep(0.01)

        with monkeypatch.context() as patch:
            patch.setattr(fake_core.FakeResults, "summary", summary)
            patch.setattr(write_results, "write_unless_fewer_runs", busy)
            patch.setattr(interrupts, "SECONDS_FOR_REMAINING_WORK", 0.2)
            return command("sweep", scenario, *SWEEP).status

    return stop


def test_report_makes_the_tables_of_a_stopped_sweep(
    command: Command, scenario: Path, stopped: Stopped
) -> None:
    scenario.write_text(
        scenario.read_text().replace("[variants.detour]", "[variants.detour]\nlabel = 'DIBS, 1'")
    )
    assert stopped(4) == 143 and not Path("o/manifest.json").exists()
    with pytest.raises(BadInput, match=r"expected a finished sweep\. Run `overspill report o` to write"):
        Results.load("o")
    ran = command("report", "o")
    assert ran.status == 0 and Path("o/report.html").is_file(), ran.err
    found = Results.load("o")
    assert found.finished == len(cache.RunStore(Path("o/store")).run_keys()) >= 4
    assert found.interrupted and found.missing and not Path("o", results_folder.PLAN_FILE).exists()
    assert found.labels == {"detour": "DIBS, 1"}
    assert command("sweep", scenario, *SWEEP, "--no-report").status == 0
    assert command("sweep", scenario, *SWEEP[:-1], "never_stopped", "--no-report").status == 0
    assert all('"variant","label"' in Path("o", name).read_text() for name in CSV)
    names = (*CSV, "manifest.json")
    assert [Path("o", name).read_bytes() for name in names] == [
        Path("never_stopped", name).read_bytes() for name in names
    ]


def test_report_prefers_the_newer_runs_of_a_stopped_sweep(
    command: Command, scenario: Path, stopped: Stopped
) -> None:
    assert command("sweep", scenario, "--over", "switch.x=1", *SWEEP[2:], "--no-report").status == 0
    before = Results.load("o").finished
    assert stopped(2) == 143 and Results.load("o").finished == before
    assert command("report", "o").status == 0
    assert Results.load("o").finished > before


def test_a_damaged_plan_is_refused_by_name(command: Command, stopped: Stopped) -> None:
    assert stopped(4) == 143
    plan = Path("o", results_folder.PLAN_FILE)
    plan.write_text(plan.read_text().replace('"seeds": [', '"seeds": [7, '))
    ran = command("report", "o")
    assert ran.status == 2 and "store/plan.json: changed since it was written" in ran.err
    plan.write_text("[" * 100_000)
    ran = command("report", "o")
    assert ran.status == 2 and "store/plan.json: cannot be read" in ran.err


def test_a_finished_sweep_leaves_no_plan(command: Command, scenario: Path) -> None:
    assert command("sweep", scenario, *SWEEP, "--no-report").status == 0
    assert not Path("o", results_folder.PLAN_FILE).exists()
