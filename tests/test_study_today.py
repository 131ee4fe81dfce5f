"""Tests that the study of occupancy sampling today runs, and that its page matches its numbers."""

import importlib
import tomllib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from studies import common

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "studies/today"
PAGE, NUMBERS = FOLDER / "README.md", FOLDER / "numbers.csv.gz"
COURSES = FOLDER / "course.csv.gz"
RANKS = [f"h{at}" for at in range(0, 16, 2)]
SMALL = {
    "hotspot": {"duration": "2ms", "traffic.reads.stop": "2ms"},
    "reduce": {
        "topology.k": 4,
        "duration": "200us",
        "traffic.ring.hosts": RANKS,
        "traffic.ring.repeat": 2,
        "traffic.writes.size": "40KB",
        "traffic.writes.senders": 4,
    },
    "many": {"duration": "15ms"},
}


@pytest.fixture
def numbers() -> ModuleType:
    return importlib.import_module("studies.today.numbers")


@pytest.fixture
def study() -> ModuleType:
    return importlib.import_module("studies.today.__main__")


def test_a_tiny_study_follows_victims_and_compares_every_variant(
    numbers: ModuleType, study: ModuleType, tmp_path: Path
) -> None:
    only = [("hotspot", "k = 4"), ("reduce", numbers.BASE_BUFFER), ("many", "10 Gb/s, 10")]
    plan = numbers.Plan(3, 3, jobs=1, sets=SMALL, only=only)
    rows, courses = numbers.run_study(plan, tmp_path / "runs")
    found = common.index_by_case(rows)
    assert {row.case.variant for row in rows if row.case.series == "reduce"} == {
        *numbers.MAIN_VARIANTS,
        *numbers.RING_SINGLE_CHANGES,
    }
    assert all(row.n == 3 for row in rows)

    def mean(series: str, point: str, variant: str, metric: str) -> float:
        return float(found[numbers.Case(series, point, variant), metric].mean)

    many = [mean("many", "10 Gb/s, 10", name, numbers.VICTIM_GOODPUT) for name in numbers.MANY_FLOWS_VARIANTS]
    assert all(0.5e9 < one < 5e9 for one in many)
    assert mean("many", "10 Gb/s, 10", "qcn_os", numbers.CNMS) > 0
    less = found[numbers.Case("hotspot", "k = 4", "qcn_as"), numbers.PAUSED_FRACTION].differences["pfc"]
    assert less[1] <= less[0] <= less[2]
    victims = [one for one in courses if (one.variant, one.who) == ("pfc", "victims")]
    assert len(victims) == 7 and victims[0].mean > 2 * victims[-1].mean, "the hotspot begins in between"
    study.STUDY.write(rows, tmp_path / "numbers.csv.gz")
    numbers.write_goodput_steps(courses, tmp_path / "courses.csv.gz")
    again = numbers.read_goodput_steps(tmp_path / "courses.csv.gz")
    assert [one.mean for one in again] == pytest.approx([one.mean for one in courses], rel=1e-4)
    made = study.tables(study.STUDY.read(tmp_path / "numbers.csv.gz"))
    assert made["many, 10 Gb/s, 10"].count("\n") == 1 + len(numbers.MANY_FLOWS_VARIANTS)


def test_a_victim_is_back_when_it_stays_at_its_share(
    numbers: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    share = 5e9 * numbers.PAYLOAD_SHARE["many"]
    at = numbers.many_flows_point("10 Gb/s, 1", 1, {})
    seen = numbers.RunGoodput(at, None)
    assert seen.entitled_rate == pytest.approx(share)

    def after(*parts: tuple[int, float]) -> tuple[float, bool]:
        bins = [share] * 5 + [one * share for length, one in parts for _ in range(length)]
        received = np.array(bins)
        monkeypatch.setattr(numbers.RunGoodput, "received", lambda self, hosts: received)
        time, back = seen.recovery()
        return round(1e3 * time), back

    assert after((50, 1.0)) == (0, True)
    assert after((20, 0.2), (30, 1.0)) == (20, True), "five bins without a low one"
    assert after((20, 0.2), (10, 1.0), (10, 0.2), (20, 1.0)) == (40, True), "the last time counts"
    assert after((20, 1.0), (30, 0.2)) == (50, False)


def test_all_schemes_have_the_same_memory_and_one_thing_changes(numbers: ModuleType) -> None:
    for series in ("hotspot", "reduce"):
        written = tomllib.loads((FOLDER / f"{series}.toml").read_text(encoding="utf-8"))
        variants = written["variants"]
        assert set(variants) == {*numbers.MAIN_VARIANTS, *numbers.SINGLE_CHANGES}
        for name in numbers.MAIN_VARIANTS:
            switch = variants[name]["switch"]
            assert (switch["model"], switch["input_buffer"]) == ("cioq", "1500KB")
            assert "buffer" not in switch and "pause" not in switch
        sampled, occupied = (variants[name] for name in ("qcn_as", "qcn_os"))
        assert sampled["switch"]["notify"] | {"culprit": "occupancy"} == occupied["switch"]["notify"]
        assert sampled["host"] == occupied["host"]
        ports, each = 8, 1500 + 1500
        for name in ("pfc_shared", "dcqcn_shared"):
            assert variants[name]["switch"]["buffer"]["size"] == f"{ports * each // 1000}MB"


def test_what_grows_with_the_rate_grows_in_proportion(numbers: ModuleType) -> None:
    sets = numbers.rate_settings(40)
    written = tomllib.loads((FOLDER / "many.toml").read_text(encoding="utf-8"))
    assert sets["switch.input_buffer"] == "600KB" and written["switch"]["input_buffer"] == "150KB"
    assert sets["variants.qcn_os.switch.notify.q_eq"] == "240KB"
    assert sets["variants.qcn_os.host.reaction.r_ai"] == "20Mbps"
    small = numbers.flow_settings(100)
    assert (small["traffic.victim.rate"], small["traffic.victim.flows"]) == ("50Mbps", 100)
    assert "traffic.hot1.flows" not in small and numbers.flow_settings(100, 100)["traffic.hot1.flows"] == 100


def test_a_paired_difference_is_the_difference_of_the_means(numbers: ModuleType) -> None:
    found = numbers.STUDY.read(NUMBERS)
    known = common.index_by_case(found)
    compared = [(row, name, less) for row in found for name, less in row.differences.items()]
    assert len(compared) > 100
    for row, name, (mean, low, high) in compared:
        assert low <= mean <= high
        other = known[numbers.reference_case(row.case, name), row.metric]
        if row.n == other.n:
            size = max(1e-9, row.mean, other.mean)
            assert mean == pytest.approx(row.mean - other.mean, rel=1e-3, abs=1e-5 * size), row


def test_the_tables_of_the_page_are_those_of_the_committed_numbers(study: ModuleType) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert study.insert_tables(text, study.tables(study.STUDY.read(NUMBERS))) == text, (
        "run `python -m studies.today --page`"
    )


def test_every_figure_is_drawn_from_the_committed_numbers(study: ModuleType, tmp_path: Path) -> None:
    rows = study.STUDY.read(NUMBERS)
    made = study.figures.draw(rows, study.read_goodput_steps(COURSES), tmp_path)
    assert sorted(one.name for one in made) == sorted(one.name for one in (FOLDER / "images").glob("*.png"))
    panels = study.figures.draw_many_flows(study.read_goodput_steps(COURSES)).axes
    assert [len(axes.lines) for axes in panels] == [1 + len(study.figures.MANY_FLOWS_VARIANTS)] * 4, (
        "and the onset"
    )


def test_what_the_page_says_in_words_is_in_the_numbers(numbers: ModuleType) -> None:
    known = common.index_by_case(numbers.STUDY.read(NUMBERS))

    def mean(series: str, point: str, variant: str, metric: str) -> float:
        return float(known[numbers.Case(series, point, variant), metric].mean)

    hot = {
        name: mean("hotspot", numbers.BASE_BUFFER, name, numbers.VICTIMS_GOODPUT)
        for name in numbers.MAIN_VARIANTS
    }
    assert [round(1e-9 * hot[name]) for name in ("pfc", "qcn_as", "qcn_os")] == [63, 172, 418]
    chosen = known[numbers.Case("hotspot", numbers.BASE_BUFFER, "qcn_os"), numbers.VICTIMS_GOODPUT]
    assert chosen.differs("qcn_as") and chosen.differs("dcqcn")
    reads = known[numbers.Case("hotspot", numbers.BASE_BUFFER, "qcn_os"), numbers.READS_TAIL]
    assert reads.differs("qcn_as") and reads.differences["qcn_as"][0] < 0
    less = known[numbers.Case("hotspot", numbers.THIRD_OF_BUFFER, "qcn_os"), numbers.VICTIMS_GOODPUT]
    assert less.differs("qcn_as") and less.differences["dcqcn"][1] > 0, "no worse than DCQCN"
    for k in (4, 8, 16):
        assert known[numbers.Case("hotspot", f"k = {k}", "qcn_os"), numbers.VICTIMS_GOODPUT].differs("qcn_as")
    two = known[numbers.Case("hotspot", numbers.BASE_BUFFER, "two_samples"), numbers.VICTIMS_GOODPUT]
    assert two.low < chosen.mean < two.high
    for metric in (numbers.RING_MEAN, numbers.WRITES_MEAN, numbers.PAUSED_FRACTION):
        assert not known[numbers.Case("reduce", numbers.BASE_BUFFER, "qcn_os"), metric].differs("pfc")
    assert known[numbers.Case("reduce", numbers.BASE_BUFFER, "dcqcn"), numbers.WRITES_MEAN].differs("pfc")
    never = {n: mean("many", f"10 Gb/s, {n}", "qcn_os", numbers.NOT_RECOVERED) for n in numbers.FLOW_COUNTS}
    assert never == {1: 0, 10: 0, 100: 1, 1000: 1}
    assert round(1e3 * mean("many", "10 Gb/s, 10", "qcn_os", numbers.RECOVERY)) == 144
    told = [mean("many", "10 Gb/s, 100", "qcn_os", one) for one in (numbers.CNMS_TO_VICTIMS[1], numbers.CNMS)]
    assert told[0] < 0.01 * told[1]
    cut = mean("many", "10 Gb/s, 100", "qcn_os", numbers.CNM_FEEDBACK) / 128
    assert 0.1 < cut < 0.12
