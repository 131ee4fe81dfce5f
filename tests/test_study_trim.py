"""Tests that the study of cut packets runs, and that its page matches its numbers."""

import importlib
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from studies import common

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "studies/trim"
PAGE, NUMBERS = FOLDER / "README.md", FOLDER / "numbers.csv.gz"
SMALL = {
    "duration": "3ms",
    "topology.hosts_per_leaf": 4,
    "topology.spines": 4,
    "traffic.background.stop": "500us",
    "traffic.query.start": "0s",
    "traffic.query.stop": "500us",
}


@pytest.fixture
def numbers() -> ModuleType:
    return importlib.import_module("studies.trim.numbers")


@pytest.fixture
def study() -> ModuleType:
    return importlib.import_module("studies.trim.__main__")


def test_a_tiny_study_has_every_variant_and_counts_what_nobody_heard_of(
    numbers: ModuleType, study: ModuleType, tmp_path: Path
) -> None:
    at = numbers.Point(10, 5, 8)
    plan = numbers.Plan(
        (10,),
        (5,),
        (8,),
        buffer=5,
        degree=8,
        single_changes={at: numbers.SINGLE_CHANGES},
        seeds=3,
        jobs=1,
        sets=SMALL,
    )
    made = numbers.run_study(plan, tmp_path / "runs")
    queries = [row.case.variant for row in made if row.metric == numbers.QCT]
    assert set(queries) == {*numbers.MAIN_VARIANTS, *numbers.SINGLE_CHANGES} and len(queries) == len(
        set(queries)
    )
    assert all(row.n == 3 for row in made)
    found = common.index_by_case(made)
    cut = {row.case.variant for row in made if row.metric == "trims" and row.mean > 0}
    assert cut == {*numbers.MAIN_VARIANTS, *numbers.SINGLE_CHANGES} - {*numbers.DROP_VARIANTS}
    case = numbers.Case("10", "5", "8", "cp")
    trims, packs, unheard = (found[case, name].mean for name in ("trims", "packs", numbers.UNNOTIFIED_TRIMS))
    assert unheard == pytest.approx(trims - packs) and unheard >= 0
    less = numbers.relative_difference(found, numbers.Case("10", "5", "8", "strict"), numbers.QCT_TAIL, "cp")
    assert less is not None and less.low <= less.mean <= less.high
    assert numbers.relative_difference(found, case, numbers.UNNOTIFIED_TRIMS, "dctcp") is None
    study.STUDY.write(made, tmp_path / "numbers.csv.gz")
    again = study.STUDY.read(tmp_path / "numbers.csv.gz")
    assert [row.mean for row in again] == pytest.approx([row.mean for row in made], rel=1e-5)
    assert [row.differences.keys() for row in again] == [row.differences.keys() for row in made]
    assert len(study.figures.draw(again, tmp_path)) == 3
    made_tables = study.tables(again)
    assert made_tables["strict less cp"].count("\n") == 2
    assert made_tables["asides, 10 5 8"].count("\n") == 1 + len(numbers.SINGLE_CHANGES)


def test_an_aside_is_compared_with_what_it_changes_and_with_its_twin(numbers: ModuleType) -> None:
    def compared(variant: str) -> set[str]:
        case = numbers.Case("10", "15", "32", variant)
        return {numbers.reference_case(case, name).variant for name in numbers.REFERENCES} - {""}

    assert compared("strict_tcp") == {"strict", "cp_tcp"}
    assert compared("cp_tcp") == {"cp"} and compared("ten_to_one") == {"strict"}
    assert compared("dctcp_rack") == {"dctcp", "cp"} and compared("strict_coin") == {"strict"}
    assert compared("quarter") == {"dctcp", "cp", "strict"}


def test_from_the_middle_one_factor_changes_at_a_time(numbers: ModuleType) -> None:
    plan = numbers.Plan()
    points = plan.points()
    assert len(points) == len(set(points)) == 14
    for at in points:
        assert at.buffer == plan.buffer or at.degree == plan.degree
    assert plan.single_changes.keys() <= set(points)


def test_every_port_has_the_same_memory_and_every_query_as_many_bytes(numbers: ModuleType) -> None:
    written = tomllib.loads((FOLDER / "study.toml").read_text(encoding="utf-8"))
    assert written["variants"].keys() == {*numbers.MAIN_VARIANTS, *numbers.SINGLE_CHANGES}
    for at in numbers.Plan().points():
        sets = numbers.point_settings(at)
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
    middle = numbers.point_settings(numbers.Point(10, 15, 32))
    assert f"{size}B" == middle["switch.buffer.size"]


def test_a_difference_counts_by_its_margin_and_its_interval(numbers: ModuleType) -> None:
    for mean, low, high, differs, same in (
        (-0.06, -0.08, -0.04, True, False),
        (-0.04, -0.045, -0.035, False, True),
        (0.06, -0.01, 0.13, False, False),
        (0.04, 0.01, 0.07, False, False),
    ):
        less = common.RelativeDifference(mean, low, high, numbers.MARGIN)
        assert (less.differs, less.is_equivalent) == (differs, same)


def test_a_paired_difference_is_the_difference_of_the_means(numbers: ModuleType) -> None:
    found = numbers.STUDY.read(NUMBERS)
    known = common.index_by_case(found)
    compared = [(row, name, less) for row in found for name, less in row.differences.items()]
    assert len(compared) > 1000
    for row, name, (mean, low, high) in compared:
        assert low <= mean <= high and row.n == 10
        other = known[numbers.reference_case(row.case, name), row.metric]
        size = max(1e-9, row.mean, other.mean)
        assert mean == pytest.approx(row.mean - other.mean, rel=1e-3, abs=1e-5 * size), row


def test_the_tables_of_the_page_are_those_of_the_committed_numbers(study: ModuleType) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert common.insert_tables(text, study.tables(study.STUDY.read(NUMBERS))) == text, (
        "run `python -m studies.trim --page`"
    )


def test_what_the_page_says_in_words_is_in_the_numbers(numbers: ModuleType) -> None:
    found = numbers.STUDY.read(NUMBERS)
    known = common.index_by_case(found)
    points = [case for case, metric in known if case.variant == "strict" and metric == numbers.QCT]
    less = {
        metric: [numbers.relative_difference(known, case, metric, "cp") for case in points]
        for metric in numbers.TIME_METRICS
    }
    assert len(points) == 14
    longer = [
        [one.differs and one.mean > 0 for one in less[metric]].count(True) for metric in numbers.TIME_METRICS
    ]
    equal = [[one.is_equivalent for one in less[metric]].count(True) for metric in numbers.TIME_METRICS]
    assert longer == [5, 7, 8, 8] and equal[:3] == [4, 2, 6]
    assert not any(one.differs and one.mean < 0 for metric in numbers.TIME_METRICS for one in less[metric])
    for case in (case for case, metric in known if case.variant == "return" and metric == numbers.QCT):
        for metric in (*numbers.TIME_METRICS, "timeouts"):
            told = numbers.relative_difference(known, case, metric, "strict")
            assert told is not None and not told.differs
    endless = {row.case.variant for row in found if row.metric == "unfinished_flows" and row.mean > 0}
    assert endless == {"strict_128", "strict_256", "strict_128_mark", "ten_to_one_128"}


def test_an_aside_of_which_no_time_is_known_says_why(study: ModuleType) -> None:
    rows = study.STUDY.read(NUMBERS)
    said = [[one.get_text() for one in axes.texts] for axes in study.figures.draw_single_changes(rows).axes]
    endless, not_run = "unfinished flows", "not run"
    assert said[0] == [endless] * 3, "strict_128, strict_256, strict_128_mark"
    assert said[1].count(endless) == 2 and set(said[1]) == {endless, not_run}
