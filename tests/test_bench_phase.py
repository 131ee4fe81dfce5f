"""Tests of the runs of `make bench-phase`, and of its criteria for unfair and separated results."""

import json
import sys
from pathlib import Path

import pytest

from overspill.engine import core

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benches" / "phase"))
import questions  # noqa: E402
import study  # noqa: E402
from cell import Cell  # noqa: E402
from study import CellResult  # noqa: E402

CELL = Cell(1, "star", "Linux, Reno", 0.5, 20)


def cell_result(jain: list[list[float]], qct: list[list[float]]) -> CellResult:
    return CellResult(CELL, jain, qct)


def test_every_cell_is_a_scenario_with_its_jitter_and_its_clocks() -> None:
    for cell in study.all_cells():
        for text in (cell.long_flows_scenario("0ns"), cell.incast_scenario(f"{cell.frame_ns}ns")):
            resolved = core.load_scenario("phase.toml", text, [])
            assert resolved is not None
    text = CELL.long_flows_scenario("0ns")
    assert 'nic_jitter = "6152ns"' in text and text.count("clock_ppm = 20") == 2
    assert "marking" not in text and "ecn_threshold" in Cell(1, "star", "Linux, DCTCP", 0, 0).incast_scenario(
        "0ns"
    )


def test_runs_that_are_not_fair_are_counted() -> None:
    assert study.format_unfair_runs(cell_result([[1.0, 0.95], [0.99, 0.9]], [])) == "0 of 4"
    assert study.format_unfair_runs(cell_result([[1.0, 0.85], [0.99, 0.897]], [])) == "**2** of 4"


@pytest.mark.parametrize(
    ("moved", "apart"), [([10.3, 10.4, 10.5], False), ([13.0, 13.1, 13.2], True), ([8.0, 18.0, 13.0], False)]
)
def test_completions_are_apart_beyond_their_intervals_and_five_per_cent(
    moved: list[float], apart: bool
) -> None:
    shown = study.format_completions(cell_result([], [[10.0, 10.1, 9.9], [10.0, 10.1, 9.9], moved]))
    assert shown.startswith("**10.0") == apart


def test_every_question_is_a_scenario_and_is_read_back_as_it_was_kept() -> None:
    asked = questions.all_samples()
    assert len(asked) == len(set(asked))
    for one in asked:
        text = (
            one.cell.long_flows_scenario(one.move, one.seconds)
            if one.metric == "jain"
            else one.cell.incast_scenario(one.move)
        )
        assert core.load_scenario("phase.toml", text, []) is not None
        assert questions.Sample.from_json(json.loads(json.dumps(one.to_json([])))) == one


def test_tables_of_questions_say_what_was_found_and_what_was_not_run() -> None:
    half = questions.change_samples("star", "`cubic`", "timestamps = true")
    shown = questions.all_tables({half[0]: [1.0, 0.5], half[1]: [0.6, 1.0]})
    assert "| `cubic` | `timestamps = true` | not run | **2** of 4 |" in shown
    size = questions.incast_sample("star", "Linux, CUBIC", 0.25)
    shown = questions.all_tables({size: [0.010, 0.011, 0.012]})
    assert "| star | Linux, CUBIC | not run | not run | 11.0 ± 2.5 | not run | not run |" in shown
