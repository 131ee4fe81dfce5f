"""Tests that the study of hosts runs, and that its page matches its numbers."""

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pyarrow as pa
import pytest

from studies import common

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "studies/hosts"
PAGE, NUMBERS = FOLDER / "README.md", FOLDER / "numbers.csv.gz"
SMALL = {"traffic.incast.requests": 2, "duration": "2s"}


@pytest.fixture
def numbers() -> ModuleType:
    return importlib.import_module("studies.hosts.numbers")


@pytest.fixture
def study() -> ModuleType:
    return importlib.import_module("studies.hosts.__main__")


def test_a_tiny_study_has_every_variant(numbers: ModuleType, study: ModuleType, tmp_path: Path) -> None:
    plan = numbers.Plan(
        (9,), ("10ms",), persistent_degree=9, single_change_degree=9, seeds=3, jobs=1, sets=SMALL
    )
    made = numbers.run_study(plan, tmp_path / "runs")
    main = {*numbers.TCP_VARIANTS, *numbers.DCTCP_VARIANTS, *numbers.CP_VARIANTS}
    new = {row.case.variant for row in made if row.case.connection == "new"}
    kept = {row.case.variant for row in made if row.case.connection == "persistent"}
    assert (new, kept) == ({*main, *numbers.SINGLE_CHANGES}, main)
    study.STUDY.write(made, tmp_path / "numbers.csv.gz")
    again = study.STUDY.read(tmp_path / "numbers.csv.gz")
    assert [row.mean for row in again] == pytest.approx([row.mean for row in made], rel=1e-5)
    assert len(study.figures.draw(again, tmp_path)) == 2
    assert all(text.count("\n") >= 2 for text in study.tables(again).values())


def test_a_round_ends_with_its_last_reply(numbers: ModuleType) -> None:
    second = 10**12
    flows = pa.table(
        {
            "query": [1, 1, 2, 2, 3, 3],
            # The reply of the second query starts after the next round has begun.
            "start_ps": [0, 5, 0, second + 3, second, second + 1],
            "end_ps": [4, 9, 2, second + 40, second + 1, second + 7],
        }
    )
    assert numbers.round_completions(flows) == pytest.approx(np.array([second + 40, 7]) * 1e-12)


def test_the_tables_of_the_page_are_those_of_the_committed_numbers(study: ModuleType) -> None:
    text = PAGE.read_text(encoding="utf-8")
    found = study.STUDY.read(NUMBERS)
    assert common.insert_tables(text, study.tables(found)) == text, "run `python -m studies.hosts --page`"


def test_timeouts_of_the_client_are_not_those_of_servers(numbers: ModuleType) -> None:
    columns = {"role": [0, 1, 0], "timeouts": [2, 9, 1], "query": [1, 1, 1]}
    flows = pa.table(columns | {"start_ps": [1, 0, 1], "end_ps": [4, 2, 5]})

    class One:
        point, variant, seed = {}, "a", 1

        def table(self, name: str) -> pa.Table:
            return flows

    class Sweep:
        def each(self) -> list[One]:
            return [One()]

    found = {line["metric"]: line["value"] for line in numbers.round_metrics(Sweep())}
    assert found[numbers.REPLY_TIMEOUTS] == 3
