"""Tests of labels of variants, which tables, figures, the page and files show with the names."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran

import overspill
from overspill import charts

pytestmark = pytest.mark.usefixtures("compiled")

Command = Callable[..., Ran]
SCENARIO = """
name = "labelled"
duration = "1ms"
[topology]
kind = "star"
n = 5
[switch]
buffer = { kind = "per_port", size = "10pkt" }
[transport]
kind = "dctcp"
[[traffic]]
name = "burst"
kind = "incast"
senders = 4
receiver = "h0"
size = "30KB"
[variants.drop]
[variants.marks]
label = "DCTCP, K = 5"
switch.marking = { kind = "ecn_threshold", k = "5pkt" }
"""


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    """Returns a scenario in which one of two variants has a label."""
    path = tmp_path / "labelled.toml"
    path.write_text(SCENARIO)
    return path


def test_labels_head_columns_and_name_lines_of_figures(command: Command, labelled: Path) -> None:
    ran = command("run", labelled, "--out", "out")
    assert ran.status == 0, ran.err
    head = next(line for line in ran.out.splitlines() if line.split()[:1] == ["drop"])
    assert head.split() == ["drop", "DCTCP,", "K", "=", "5"]
    assert "marks = DCTCP, K = 5" in ran.out
    page = Path("out/report.html").read_text()
    assert page.count(">DCTCP, K = 5</") >= 2
    results = overspill.Results.load("out")
    legend = charts.build_charts(results)["fct"].legend
    assert [entry.key for entry in legend] == ["drop", "marks"]
    assert legend[1].label.startswith("DCTCP, K = 5")
    document = json.loads(Path("out/results.json").read_text())
    assert [one.get("label") for one in document["variants"]] == [None, "DCTCP, K = 5"]
    assert [one["name"] for one in document["variants"]] == ["drop", "marks"]


def test_labels_are_in_the_csv_and_the_table_of_a_sweep(command: Command, labelled: Path) -> None:
    over = ("--over", "switch.buffer.size=10pkt,20pkt", "--seeds", "1", "--no-report", "--out", "swept")
    ran = command("sweep", labelled, *over)
    assert ran.status == 0 and "DCTCP, K = 5" in ran.out, ran.err
    first, *rows = Path("swept/summary.csv").read_text().splitlines()
    assert '"variant","label"' in first
    assert any('"marks","DCTCP, K = 5"' in row for row in rows)
    assert any('"drop","drop"' in row for row in rows)


def test_labels_change_no_run(command: Command, labelled: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain.toml"
    plain.write_text(SCENARIO.replace('label = "DCTCP, K = 5"\n', ""))
    told = [json.loads(command("run", path, "--json", "--out", path.stem).out) for path in (labelled, plain)]
    metrics = [[one["metrics"] for one in document["variants"]] for document in told]
    assert metrics[0] == metrics[1]
