"""Studies can be run, and their pages say what their numbers are."""

import importlib
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
PAGE, NUMBERS = ROOT / "docs/studies/bounce.md", ROOT / "docs/studies/bounce.csv"
SMALL = {
    "duration": "2ms",
    "topology.k": 4,
    "measure.from": "500us",
    "traffic.background.stop": "2ms",
    "traffic.incast.start": "500us",
    "traffic.incast.stop": "2ms",
    "traffic.incast.senders": 12,
}


@pytest.fixture
def bounce(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "studies"))
    for name in ("bounce", "bounce_numbers", "bounce_figures", "common"):
        sys.modules.pop(name, None)
    return importlib.import_module("bounce")


def test_a_tiny_study_runs_from_its_scenario_to_its_figures(bounce: ModuleType, tmp_path: Path) -> None:
    plan = bounce.Plan(thetas=(0.5, 0.9), lambdas=(1, 50), loads=(0.4,), seeds=2, jobs=1, sets=SMALL)
    made = bounce.run(plan, tmp_path / "runs")
    short = [row for row in made if row.metric == bounce.SHORT]
    assert len(short) == 6 + 2 * 4 + 11, (
        "baselines once, every bouncing variant at every point, all at a load"
    )
    assert all(row.n == 2 and row.low <= row.mean <= row.high for row in made)
    bounce.STUDY.write(made, tmp_path / "numbers.csv")
    again = bounce.STUDY.read(tmp_path / "numbers.csv")
    assert [row.mean for row in again] == pytest.approx([row.mean for row in made], rel=1e-5)
    assert len(bounce.figures.draw(again, tmp_path)) == 4
    assert all(text.count("\n") >= 5 for text in bounce.tables(again).values())


def test_a_paired_difference_is_the_difference_of_the_means(bounce: ModuleType) -> None:
    found = bounce.STUDY.read(NUMBERS)
    means = {(row.case, row.metric): row.mean for row in found}
    compared = [(row, name, less) for row in found for name, less in row.less.items()]
    assert len(compared) > 1000
    for row, name, (mean, low, high) in compared:
        assert low <= mean <= high
        reference = replace(row.case, theta="", lambda_="", variant=name)
        other = means[reference, row.metric]
        assert mean == pytest.approx(row.mean - other, rel=1e-3, abs=1e-5 * max(1e-9, row.mean, other)), row


def test_the_tables_of_the_page_are_those_of_the_committed_numbers(bounce: ModuleType) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert bounce.place(text, bounce.tables(bounce.STUDY.read(NUMBERS))) == text, (
        "run `python studies/bounce.py --page`"
    )


def test_baselines_and_bouncing_switches_have_the_same_memory(bounce: ModuleType) -> None:
    import tomllib

    written = tomllib.loads((ROOT / "studies/bounce.toml").read_text(encoding="utf-8"))
    base = written["switch"]
    assert (base["buffer"]["size"], base["overflow"]["bounce_size"]) == ("50pkt", "50pkt")
    for name, variant in written["variants"].items():
        switch = variant.get("switch", {})
        alone = name.startswith(("drop", "dctcp"))
        pool = {"kind": "shared", "size": f"{8 * 100 * 1518}B", "alpha": 1}
        assert (switch.get("buffer") in ({"size": "100pkt"}, pool)) == alone, name
        assert (switch.get("overflow") == {"kind": "tail_drop"}) == alone, name
