"""Tests that the study of PAUSE and PFC runs, and that its page matches its numbers."""

import importlib
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "studies/pause"
PAGE, NUMBERS = FOLDER / "README.md", FOLDER / "numbers.csv.gz"
SMALL = {
    "duration": "30ms",
    "topology.k": 4,
    "measure.from": "5ms",
    "traffic.query.senders": 12,
    "traffic.query.stop": "30ms",
    "traffic.background.interarrival": "10ms",
    "traffic.background.stop": "30ms",
}


@pytest.fixture
def pause() -> ModuleType:
    return importlib.import_module("studies.pause.__main__")


def test_a_tiny_study_runs_from_its_scenario_to_its_figures(pause: ModuleType, tmp_path: Path) -> None:
    plan = pause.Plan(rates=(2000,), single_change_rates=(2000,), seeds=2, jobs=1, sets=SMALL)
    made = pause.run_study(plan, tmp_path / "runs")
    assert [row.case.variant for row in made if row.metric == "qct_mean"] == [
        *("drop", "dibs", "shared", "pause", "pfc", "pfc_query"),
        *pause.SINGLE_CHANGES,
    ]
    assert all(row.n == 2 and row.low <= row.mean <= row.high for row in made)
    by_name = {(row.case.variant, row.metric): row.mean for row in made}
    assert by_name["dibs", "detoured_share"] > 0 and by_name["pause", "drops"] == 0
    assert by_name["drop", "drops"] > 0 and by_name["pfc", "pauses"] > 0
    assert ("drop", "pauses") not in by_name
    pause.write_rows(made, tmp_path / "numbers.csv.gz")
    again = pause.read_rows(tmp_path / "numbers.csv.gz")
    assert [row.mean for row in again] == pytest.approx([row.mean for row in made], rel=1e-5)
    assert [row.differences.keys() for row in again] == [row.differences.keys() for row in made]
    assert len(pause.figures.draw(again, tmp_path)) == 2
    assert {"2000", "2000, differences", "2000, pauses", "asides 2000"} <= pause.tables(again).keys()


def test_a_paired_difference_is_the_difference_of_the_means(pause: ModuleType) -> None:
    found = pause.read_rows(NUMBERS)
    means = {(row.case.qps, row.case.variant, row.metric): row.mean for row in found}
    # A case with some deadlocked seeds is compared only on the others.
    whole = [row for row in found if row.n == 10]
    compared = [(row, name, less) for row in whole for name, less in row.differences.items()]
    assert len(compared) > 200
    for row, name, (mean, low, high) in compared:
        assert low <= mean <= high
        other = means[row.case.qps, name, row.metric]
        assert mean == pytest.approx(row.mean - other, rel=1e-3, abs=1e-5 * max(row.mean, other)), row


def test_only_detours_where_links_are_paused_end_in_deadlocks(pause: ModuleType) -> None:
    found = {row.case: row.mean for row in pause.read_rows(NUMBERS) if row.metric == "deadlocks"}
    assert {case.variant for case, share in found.items() if share} == {"pfc_dibs"}
    stuck = [row for row in pause.read_rows(NUMBERS) if row.n != 10]
    assert {(row.case.variant, row.n) for row in stuck} == {("pfc_dibs", 5)}


def test_the_tables_of_the_page_are_those_of_the_committed_numbers(pause: ModuleType) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.count("<!-- end -->") >= 8
    assert pause.insert_tables(text, pause.tables(pause.read_rows(NUMBERS))) == text, (
        "run `python -m studies.pause --page`"
    )


def test_every_switch_has_800_frames_and_thresholds_leave_headroom() -> None:
    written = tomllib.loads((FOLDER / "study.toml").read_text(encoding="utf-8"))
    ports, frame, headroom = 8, 1518, 4912
    pool = {"kind": "shared", "size": f"{ports * 100 * frame}B", "alpha": 8}
    assert written["switch"]["buffer"] == {"kind": "per_port", "size": "100pkt"}
    for name, variant in written["variants"].items():
        switch = variant.get("switch", {})
        assert switch.get("buffer", pool) == pool, name
        pause_slot = switch.get("pause")
        if pause_slot and "buffer" in switch:
            classes = 2 if pause_slot["kind"] == "pfc" and "classes" not in pause_slot else 1
            xoff = int(pause_slot["xoff"].removesuffix("KB")) * 1000
            assert ports * classes * (xoff + headroom) <= ports * 100 * frame * 8 / 9, name
