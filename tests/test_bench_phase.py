"""What `make bench-phase` runs, and how it tells what is locked."""

import sys
from pathlib import Path

import pytest

from overspill.engine import core

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benches" / "phase"))
import study  # noqa: E402
from study import Cell, Found  # noqa: E402

CELL = Cell(1, "star", "Linux, Reno", 0.5, 20)


def found(jain: list[list[float]], qct: list[list[float]]) -> Found:
    return Found(CELL, jain, qct)


def test_every_cell_is_a_scenario_with_its_jitter_and_its_clocks() -> None:
    for cell in study.cells():
        for text in (cell.long("0ns"), cell.incast(f"{cell.frame_ns}ns")):
            resolved = core.scenario("phase.toml", text, [])
            assert resolved is not None
    text = CELL.long("0ns")
    assert 'nic_jitter = "6152ns"' in text and text.count("clock_ppm = 20") == 2
    assert "marking" not in text and "ecn_threshold" in Cell(1, "star", "Linux, DCTCP", 0, 0).incast("0ns")


def test_runs_that_are_not_fair_are_counted() -> None:
    assert study.jain(found([[1.0, 0.95], [0.99, 0.9]], [])) == "0 of 4"
    assert study.jain(found([[1.0, 0.85], [0.99, 0.897]], [])) == "**2** of 4"


@pytest.mark.parametrize(
    ("moved", "apart"), [([10.3, 10.4, 10.5], False), ([13.0, 13.1, 13.2], True), ([8.0, 18.0, 13.0], False)]
)
def test_completions_are_apart_beyond_their_intervals_and_five_per_cent(
    moved: list[float], apart: bool
) -> None:
    shown = study.qct(found([], [[10.0, 10.1, 9.9], [10.0, 10.1, 9.9], moved]))
    assert shown.startswith("**10.0") == apart
