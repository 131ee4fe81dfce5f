"""The study of cut packets can be run, and its page says what its numbers are."""

import importlib
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
SMALL = {
    "duration": "3ms",
    "topology.hosts_per_leaf": 4,
    "topology.spines": 4,
    "traffic.background.stop": "500us",
    "traffic.query.start": "0s",
    "traffic.query.stop": "500us",
}


@pytest.fixture
def numbers(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "studies"))
    for name in ("common", "trim", "trim_numbers", "trim_figures"):
        sys.modules.pop(name, None)
    return importlib.import_module("trim_numbers")


def test_a_tiny_study_has_every_variant_and_counts_what_nobody_heard_of(
    numbers: ModuleType, tmp_path: Path
) -> None:
    at = numbers.Point(10, 5, 8)
    plan = numbers.Plan(
        (10,), (5,), (8,), buffer=5, degree=8, asides={at: numbers.ASIDES}, seeds=3, jobs=1, sets=SMALL
    )
    made = numbers.run(plan, tmp_path / "runs")
    queries = [row.case.variant for row in made if row.metric == numbers.QCT]
    assert queries == [*numbers.MAIN, *numbers.ASIDES]
    assert all(row.n == 3 for row in made)
    found = numbers.by_case(made)
    cut = {row.case.variant for row in made if row.metric == "trims" and row.mean > 0}
    assert cut == {*numbers.MAIN, *numbers.ASIDES} - {*numbers.DROPPING}
    case = numbers.Case("10", "5", "8", "cp")
    trims, packs, unheard = (found[case, name].mean for name in ("trims", "packs", numbers.UNHEARD))
    assert unheard == pytest.approx(trims - packs) and unheard >= 0
    less = numbers.told(found, numbers.Case("10", "5", "8", "strict"), numbers.QCT_TAIL, "cp")
    assert less is not None and less.low <= less.mean <= less.high
    assert numbers.told(found, case, numbers.UNHEARD, "dctcp") is None


def test_from_the_middle_one_factor_changes_at_a_time(numbers: ModuleType) -> None:
    plan = numbers.Plan()
    points = plan.points()
    assert len(points) == len(set(points)) == 14
    for at in points:
        assert at.buffer == plan.buffer or at.degree == plan.degree
    assert plan.asides.keys() <= set(points)


def test_every_port_has_the_same_memory_and_every_query_as_many_bytes(numbers: ModuleType) -> None:
    written = tomllib.loads((ROOT / "studies/trim.toml").read_text(encoding="utf-8"))
    assert written["variants"].keys() == {*numbers.MAIN, *numbers.ASIDES}
    for at in numbers.Plan().points():
        sets = numbers.settings(at)
        for name, variant in written["variants"].items():
            switch = variant.get("switch", {})
            overflow = switch.get("overflow", {})
            room = 0 if overflow.get("kind") == "tail_drop" else 4096
            room = 16384 if overflow.get("extra") == "16KiB" else room
            size = sets.get(f"variants.{name}.switch.buffer.size", sets["switch.buffer.size"])
            assert int(size.removesuffix("B")) + room == at.buffer * at.rate * 1000, name
            assert ("buffer" in switch) == (room != 4096), name
        assert int(sets["traffic.query.size"].removesuffix("B")) * at.degree == 64_000 * at.rate
    size = int(written["switch"]["buffer"]["size"].removesuffix("B"))
    middle = numbers.settings(numbers.Point(10, 15, 32))
    assert f"{size}B" == middle["switch.buffer.size"]


def test_a_difference_counts_by_its_margin_and_its_interval(numbers: ModuleType) -> None:
    for mean, low, high, differs, same in (
        (-0.06, -0.08, -0.04, True, False),
        (-0.04, -0.045, -0.035, False, True),
        (0.06, -0.01, 0.13, False, False),
        (0.04, 0.01, 0.07, False, False),
    ):
        less = numbers.Told(mean, low, high, numbers.MARGIN)
        assert (less.differs, less.same) == (differs, same)
