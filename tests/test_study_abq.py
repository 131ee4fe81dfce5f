"""Tests that the study of held ACKs runs, and that its page matches its numbers."""

import importlib
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from studies import common

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "studies/abq"
PAGE, NUMBERS = FOLDER / "README.md", FOLDER / "numbers.csv.gz"
SMALL = {
    "duration": "6ms",
    "topology.n": 10,
    "traffic.background.stop": "3ms",
    "traffic.background.sizes": "hadoop",
    "traffic.query.stop": "3ms",
}


@pytest.fixture
def numbers() -> ModuleType:
    return importlib.import_module("studies.abq.numbers")


@pytest.fixture
def study() -> ModuleType:
    return importlib.import_module("studies.abq.__main__")


def test_a_tiny_study_chooses_k_on_seeds_of_its_own(
    numbers: ModuleType, study: ModuleType, tmp_path: Path
) -> None:
    at = numbers.Point("rack, 10 Gb/s", 8, answer=1)
    plan = numbers.Plan(
        (at,),
        candidates=(0.5, 1),
        single_changes={at: numbers.SINGLE_CHANGES},
        seeds=4,
        tuning=3,
        jobs=1,
        sets=SMALL,
    )
    made = numbers.run_study(plan, tmp_path / "runs")
    tried = {(row.case.variant, row.case.k) for row in made if row.case.k}
    assert tried == {(name, k) for name in numbers.TUNED_VARIANTS for k in ("0.5", "1")}
    assert all(row.n == (3 if row.case.k else 4) for row in made)
    told = [row for row in made if not row.case.k]
    assert {row.case.variant for row in told} == {*numbers.MAIN_VARIANTS, *numbers.SINGLE_CHANGES}
    held = {row.case.variant for row in told if row.metric == "held_acks" and row.mean > 0}
    assert held == set(numbers.HOLDING_VARIANTS)
    study.STUDY.write(made, tmp_path / "numbers.csv.gz")
    again = study.STUDY.read(tmp_path / "numbers.csv.gz")
    assert [row.mean for row in again] == pytest.approx([row.mean for row in made], rel=1e-5)
    assert len(study.figures.draw(again, tmp_path)) == 2
    tables = study.tables(again)
    assert tables["tuning"].count("**") == 2 * len(numbers.TUNED_VARIANTS)
    assert tables["asides"].count("\n") == 1 + len(numbers.SINGLE_CHANGES)


def test_of_the_candidates_the_least_product_is_chosen_and_of_equals_the_least_k(numbers: ModuleType) -> None:
    def row(k: str, metric: str, mean: float) -> object:
        case = numbers.Case("rack, 10 Gb/s", "32", "8", "20", "abq", k)
        return numbers.common.Row(case, metric, "s", 3, mean, 0.0, mean, mean, {})

    products = {"4": (2.0, 3.0), "0.5": (3.0, 2.0), "1": (1.0, 7.0)}
    rows = [
        row(k, metric, mean)
        for k, both in products.items()
        for metric, mean in zip((numbers.QCT_MEAN, numbers.BACKGROUND), both, strict=True)
    ]
    assert numbers.chosen_k(rows, "rack, 10 Gb/s", "abq") == 0.5
    with pytest.raises(SystemExit, match="no candidate"):
        numbers.chosen_k(rows, "rack, 10 Gb/s", "dctcp")


def test_every_variant_has_the_same_memory_and_the_same_choice_of_k(numbers: ModuleType) -> None:
    written = tomllib.loads((FOLDER / "study.toml").read_text(encoding="utf-8"))
    assert written["variants"].keys() == {*numbers.MAIN_VARIANTS, *numbers.SINGLE_CHANGES}
    for at in numbers.Plan().points:
        sets, bdp = numbers.point_settings(at), numbers.NETWORKS[at.network].bdp * 1000
        for name, variant in written["variants"].items():
            holds = "ack_hold" in variant.get("switch", {})
            assert holds == (name in numbers.HOLDING_VARIANTS), name
            path = f"variants.{name}.switch"
            size = sets.get(f"{path}.buffer.size", sets["switch.buffer.size"])
            room = sets[f"{path}.ack_hold.capacity"] if holds else "0B"
            assert int(size.removesuffix("B")) + int(room.removesuffix("B")) == 10 * bdp, name
    middle = numbers.Point("rack, 10 Gb/s")
    assert numbers.k_settings(middle, "dctcp", 2) == {"switch.marking.k": "48000B"}
    assert numbers.k_settings(middle, "abq", 2) == {
        "variants.abq.switch.ack_hold.k": "48000B",
        "variants.abq.switch.marking.k": "96000B",
    }
    assert list(numbers.k_settings(middle, "window", 2)) == ["variants.window.switch.ack_hold.k"]


def test_a_paired_difference_is_the_difference_of_the_means(numbers: ModuleType) -> None:
    found = numbers.STUDY.read(NUMBERS)
    known = common.index_by_case(found)
    compared = [(row, name, less) for row in found for name, less in row.differences.items()]
    assert len(compared) > 500
    for row, name, (mean, low, high) in compared:
        assert low <= mean <= high and row.n == 10
        other = known[numbers.reference_case(row.case, name), row.metric]
        size = max(1e-9, row.mean, other.mean)
        assert mean == pytest.approx(row.mean - other.mean, rel=1e-3, abs=1e-5 * size), row


def test_the_tables_of_the_page_are_those_of_the_committed_numbers(study: ModuleType) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert common.insert_tables(text, study.tables(study.STUDY.read(NUMBERS))) == text, (
        "run `python -m studies.abq --page`"
    )


def test_what_the_page_says_in_words_is_in_the_numbers(numbers: ModuleType) -> None:
    found = numbers.STUDY.read(NUMBERS)
    known = common.index_by_case(found)
    points = [numbers.case_at(at, "abq") for at in numbers.Plan().points]

    def signs(variant: str, metric: str, name: str = "dctcp") -> tuple[int, int, int]:
        """Returns the numbers of points at which the metric is lower, equal and higher."""
        less = [
            numbers.relative_difference(known, numbers.Case(*at.point, variant), metric, name)
            for at in points
        ]
        counts = [one for one in less if one.differs]
        longer = sum(one.mean > 0 for one in counts)
        return len(counts) - longer, sum(one.is_equivalent for one in less), longer

    assert len(points) == 13
    assert signs("abq", numbers.QCT_TAIL)[0] == 1
    assert signs("abq", numbers.BACKGROUND) == (0, 8, 4)
    assert signs("abq_alone", numbers.QCT, "abq")[1] == 13
    assert signs("window", numbers.QCT_TAIL)[::2] == (1, 7)
    assert signs("window", numbers.QCT)[0] == 2
    best = [
        numbers.chosen_k(found, network, name)
        for network in numbers.NETWORKS
        for name in numbers.TUNED_VARIANTS
    ]
    assert best.count(4) == 9 and best.count(0.25) == 0
    unfinished = [row for row in found if row.metric == "unfinished_flows" and row.mean]
    assert not unfinished
