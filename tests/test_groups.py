"""Tests of reports on runs with several kinds of traffic, with the compiled core."""

from pathlib import Path

import pytest

import overspill
from overspill.results import header, measures
from overspill.results.results import Results

HEAD = """
name = "told"
duration = "4ms"
[topology]
kind = "dumbbell"
n = 3
link = { rate = "10Gbps", delay = "1us" }
[switch]
marking = { kind = "ecn_threshold", k = "65pkt" }
[transport]
kind = "dctcp"
[measure]
"""
QUERIES = """
[[traffic]]
name = "queries"
kind = "query"
degree = 3
target = "h0"
response = "20KB"
service = "2ms"
interval = "1ms"
"""


def run(folder: Path, text: str, seeds: int = 1) -> Results:
    path = folder / "told.toml"
    path.write_text(text)
    return overspill.run(path, seeds=seeds)


def labels(results: Results) -> set[str]:
    return {line.label for line in header.header_lines(results)}


def test_answers_that_never_started_make_bounds_of_all_that_depends_on_them(tmp_path: Path) -> None:
    whole = run(tmp_path, HEAD + QUERIES).values["default"][1]
    assert whole["unfinished_flows"].value == 0 and not whole["fct_p99"].censored
    results = run(tmp_path, HEAD.replace("[measure]", '[measure]\ndrain = "0ms"') + QUERIES)
    values, summary = results.values["default"][1], results.runs[0].summary["flows"]
    # Four queries start at 0 to 3 ms. Their three responses each begin 2 ms later: those of the last two are
    # late.
    assert values["unfinished_flows"].value == summary["unfinished"] == 6
    assert values["fct_p99"].censored and values["fct_mean"].censored and values["qct_p99"].censored
    # Bounds of 1 and 2 ms come before the two finished queries, so that the median is only a bound.
    assert values["qct_p50"].censored and values["qct_p50"].value == pytest.approx(2e-3)
    assert whole["qct_p50"].value > 2e-3
    owed = measures.measured_flows(results.runs[0])["owed"]
    assert owed.sum() == 6 and len(owed) == 12


def test_flows_without_end_have_goodput_by_default_and_something_is_measured(tmp_path: Path) -> None:
    entry = '[[traffic]]\nname = "long"\nkind = "long_lived"\n'
    entry += 'sources = ["h0", "h1"]\ndestinations = ["h3", "h4"]\n'
    results = run(tmp_path, HEAD + entry)
    values = results.values["default"][1]
    assert 3e9 < values["flow_goodput_min"].value <= values["flow_goodput_mean"].value < 5e9
    assert values["jain"].value > 0.9
    assert "NOTHING MEASURED" not in labels(results)
    binned = run(tmp_path, HEAD + 'goodput = "flows"\n' + entry).values["default"][1]
    assert binned["flow_goodput_mean"].value == pytest.approx(values["flow_goodput_mean"].value, rel=0.05)


def test_a_group_is_there_in_every_seed_whatever_the_others_bring(tmp_path: Path) -> None:
    sizes = '[[traffic]]\nname = "mixed"\nkind = "poisson"\ninterarrival = "1ms"\nsizes = "web_search"\n'
    results = run(tmp_path, HEAD + sizes, seeds=8)
    small = "fct_mean[size=0-100KB]"
    seeds = results.values["default"]
    assert all(small in values for values in seeds.values())
    assert any("fct_mean[size=10MB+]" not in values for values in seeds.values())
    alone = run(tmp_path, HEAD + QUERIES, seeds=2)
    assert not any("[size=" in row.metric.name for row in alone.rows), "one size is no group"


def test_variants_that_measure_differently_are_not_compared(tmp_path: Path) -> None:
    two = HEAD + QUERIES + '[variants.a]\n[variants.b]\nmeasure.fct_end = "sender_ack"\n'
    results = run(tmp_path, two, seeds=3)
    assert "NOT COMPARED" in labels(results) and not results.fairness.allows_best("fct_mean")
    slow = results.values["b"][1]["slowdown_mean"].value
    assert slow == pytest.approx(results.values["a"][1]["slowdown_mean"].value, rel=0.2), "the ACK is in both"


def test_load_that_is_not_steady_is_told_beside_answers_that_come_after_the_window(tmp_path: Path) -> None:
    poisson = '[[traffic]]\nname = "much"\nkind = "poisson"\nsizes = "20KB"\nstop = "12ms"\n'
    poisson += 'load = { fraction = 0.9, of = "host" }\n'
    results = run(tmp_path, HEAD.replace("4ms", "12ms") + QUERIES + poisson, seeds=4)
    assert "NOT STEADY" in labels(results)
