"""Tests of open parameters changed on fewer seeds, and only for some of a figure's sweeps."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import small_paper
from sample_runs import FakeRuns
from small_paper import MEASURES

from overspill.papers import row_sources, row_words
from overspill.papers.published_files import read_json
from overspill.papers.spec import Measured, Runs

BOTH = small_paper.PAPER.replace(
    'title = "Places"\nsweeps = ["single"]', 'title = "Places"\nsweeps = ["grid", "single"]'
)
NAMED = small_paper.ROWS.replace('published = "leaf0"\nbasis = "text"\nkind = "exact"', "\n".join(
    ("published = 3", 'basis = "text"', 'kind = "exact"', "tolerance = { abs = 0 }")
))  # fmt: skip


def what_if(command: Any, folder: Path) -> dict[str, Any]:
    papers = small_paper.write_paper_folder(folder, BOTH, NAMED)
    ran = command("paper", "small", "--papers", papers, "--what-if", "fig2", "--no-report")
    assert ran.status == 0, ran.err
    found = read_json(Path("out/papers/small/part/what_if.json.gz"))
    return {"told": ran.out} | {row["metric"]: row for row in found["rows"]}


def test_a_row_of_sweeps_that_were_not_run_anew_has_no_cell(command: Any, tmp_path: Path) -> None:
    def both(runs: Mapping[str, Runs]) -> Iterable[Measured]:
        grid = runs["grid"]
        yield Measured("all", "switch", [float(len(grid.seeds))])
        yield Measured("all", "bounces", list(runs["single"].metric("bounces", "bounce")))

    small_paper.write_code(tmp_path, MEASURES | {"fig2": both})
    found = what_if(command, tmp_path)
    assert set(found) == {"told", "bounces"}


def test_a_verdict_is_compared_with_that_on_as_many_seeds(command: Any, tmp_path: Path) -> None:
    def both(runs: Mapping[str, Runs]) -> Iterable[Measured]:
        # The paper's own runs have three seeds and those of the setting two: only that number differs.
        count = float(len(runs["grid"].seeds))
        runs["single"].metric("bounces", "bounce")
        yield Measured("all", "switch", [count])
        yield Measured("all", "bounces", [1.0])

    small_paper.write_code(tmp_path, MEASURES | {"fig2": both})
    found = what_if(command, tmp_path)
    row = found["switch"]
    assert row["own"]["verdict"] == "holds" and row["fewer_seeds"]["2"]["verdict"] == "fails"
    assert (row["settings"]["y"]["verdict"], row["settings"]["y"]["changes"]) == ("fails", False)
    assert "0 of 2 verdicts change" in found["told"]


def test_what_is_read_before_a_row_is_what_it_rests_on() -> None:
    made = FakeRuns(variants=["a"], metrics={"x": lambda *_: 1.0})

    def measure(runs: Mapping[str, Runs]) -> Iterable[Measured]:
        one = runs["one"]
        yield Measured("first", "x", list(one.metric("x", "a")))
        yield Measured("second", "x", [2.0])
        runs["other"].metric("x", "a")
        yield Measured("third", "x", list(one.metric("x", "a")))

    found = {
        row.case: set(rests)
        for row, rests in row_sources.measure_with_sources(measure, {"one": made, "other": made})
    }
    assert found == {"first": {"one"}, "second": {"one"}, "third": {"one", "other"}}


def test_what_has_no_value_is_told_apart_from_what_was_not_measured() -> None:
    row = {"measured": None, "ci95": None, "unit": "s", "verdict": "fails"}
    assert row_words.format_measured(row | {"seeds": 3}) == "undefined"
    assert row_words.format_measured(row | {"seeds": 0}) == "not measured"
    assert row_words.format_measured(row | {"seeds": 0, "verdict": "inconclusive"}) == "–"
