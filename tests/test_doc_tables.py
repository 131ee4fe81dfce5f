"""Tests that the page of the main tables has the columns of a run, in their order."""

import re
from pathlib import Path

import pytest

from overspill import run
from overspill.results.names import DROP_REASONS, FRAME_OUTCOMES
from overspill.results.results import Results

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/tables.md").read_text()


def documented_columns(table: str) -> list[str]:
    """Returns the columns that the page lists for a table, with one for each reason of a loss."""
    section = PAGE.partition(f"\n## `{table}`\n")[2].partition("\n## ")[0].partition("\n### ")[0]
    cells = re.findall(r"^\| (`[^|]*`) \|", section, re.MULTILINE)
    names = [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]
    at = names.index("drop_REASON") if "drop_REASON" in names else None
    return names if at is None else [*names[:at], *(f"drop_{one}" for one in DROP_REASONS), *names[at + 1 :]]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Results]:
    """Returns runs that together have every column: of modern hosts, and of switches that cut packets."""
    out = tmp_path_factory.mktemp("runs")
    packets = {"measure.packets": True}
    few = {"traffic.burst.senders": 4}
    return [
        run(ROOT / "scenarios/incast.toml", sets=packets | few, variants=["drop"], out=out / "incast"),
        run(ROOT / "scenarios/trim.toml", sets=packets, variants=["ndp"], out=out / "trim"),
        run(ROOT / "scenarios/trim.toml", sets=packets, variants=["cp"], out=out / "cp"),
    ]


@pytest.mark.parametrize("name", re.findall(r"^## `(\w+)`$", PAGE, re.MULTILINE))
def test_every_column_of_a_main_table_is_on_the_page(name: str, runs: list[Results]) -> None:
    expected = documented_columns(name)
    found = [one.table(name).column_names[2:] for one in runs]
    assert {column for columns in found for column in columns} == set(expected)
    for columns in found:
        assert columns == [column for column in expected if column in columns]


def test_reasons_and_kinds_on_the_page_are_those_of_the_core() -> None:
    assert re.findall(r"^\| `drop_(\w+)` \| (?!frames)", PAGE, re.MULTILINE) == list(DROP_REASONS)
    kinds = re.findall(r"(\w+) \((\d)\)", PAGE.partition("| `kind` |")[2].partition("\n")[0])
    assert [(name.lower(), int(number)) for name, number in kinds] == [
        (name, at) for at, name in enumerate(FRAME_OUTCOMES)
    ]
