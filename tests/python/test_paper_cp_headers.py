"""Tests of the lost headers in CP's rows, on runs of the core with and without lost headers."""

from dataclasses import replace
from pathlib import Path

import pytest
from overspill_papers.cp.measures import claims, schemes

from overspill import Listener
from overspill.papers import execution, paper_files
from overspill.papers.spec import Runs

PAPER = Path(__file__).parents[2] / "papers"
ROOM = "variants.cp.switch.overflow.extra"


pytestmark = pytest.mark.usefixtures("compiled")


def run_paper_sweep(folder: Path, *sets: str) -> Runs:
    """Runs twenty senders that respond simultaneously, with CP alone and one seed."""
    experiment = paper_files.load_paper("cp", PAPER).sweeps["lost_header"]
    one = execution.PlannedSweep(replace(experiment, sets=[*experiment.sets[:2], *sets]), folder, seeds=1)
    [made] = execution.run_all_sweeps([one], Listener(), jobs=1)
    assert made.is_complete and made.runs is not None
    return made.runs


@pytest.mark.parametrize(("extra", "low", "high"), [("140B", 100, 100), ("1400B", 1, 99), ("4KiB", 0, 0)])
def test_headers_that_are_lost_are_cuts_without_a_pack(
    tmp_path: Path, extra: str, low: float, high: float
) -> None:
    runs = run_paper_sweep(tmp_path, f"{ROOM}={extra}")
    [found], [most] = schemes.headers_lost(runs, "cp"), schemes.headers_lost_at_most(runs, "cp")
    assert low <= found <= high and found <= most
    assert runs.metric("trims", "cp")[0] > 20


def test_the_row_of_the_paper_is_of_runs_without_a_header(tmp_path: Path) -> None:
    sweeps = paper_files.load_paper("cp", PAPER).sweeps
    planned = [
        execution.PlannedSweep(sweeps[name], tmp_path / name, 1) for name in ("lost_pack", "lost_header")
    ]
    made = execution.run_all_sweeps(planned, Listener(), jobs=1)
    runs = {one.planned.experiment.name: one.runs for one in made if one.runs is not None}
    [_, header] = claims.measure_lost_feedback(runs)
    assert header.case == "a header is lost" and header.note == "100 % of headers lost"
