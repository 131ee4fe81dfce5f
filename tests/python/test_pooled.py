"""Tests that times of flows and queries are listed by workload if several workloads have them."""

import json
from pathlib import Path

import pytest
from sweep_folders import Command
from test_printed import row

from overspill import Key, run
from overspill.results import pooled_workloads, results_document, table_cells

KINDS = {"ask": "query", "ring": "all_reduce", "more": "query"}


def names(*kinds: str, metric: str = "qct_mean") -> list[str]:
    return [metric, *(Key(metric, traffic=one) for one in kinds)]


def test_workloads_of_different_kinds_have_no_common_time() -> None:
    known = names("ask", "ring")
    assert pooled_workloads.shown_keys("qct_mean", known, KINDS) == known[1:]
    assert pooled_workloads.hidden_metrics(known, KINDS) == {"qct_mean"}
    assert "ask: query, ring: all_reduce" in pooled_workloads.pooled_note("qct_mean", known, KINDS)


def test_workloads_of_one_kind_have_a_common_time_as_well() -> None:
    known = names("ask", "more")
    assert pooled_workloads.shown_keys("qct_mean", known, KINDS) == known
    assert (
        pooled_workloads.hidden_metrics(known, KINDS) == set()
        and pooled_workloads.pooled_note("qct_mean", known, KINDS) == ""
    )


def test_the_only_workload_with_queries_has_one_row() -> None:
    assert pooled_workloads.shown_keys("qct_mean", names("ask"), KINDS) == ["qct_mean"]


@pytest.mark.parametrize("metric", ["drops", "delay_mean", "goodput", "retransmits"])
def test_what_may_be_added_up_is_shown_of_all(metric: str) -> None:
    known = names("ask", "ring", metric=metric)
    assert pooled_workloads.shown_keys(metric, known, KINDS) == [metric]
    assert pooled_workloads.hidden_metrics(known, KINDS) == set()


def test_a_kind_that_variants_change_is_no_kind() -> None:
    workloads = [
        {"name": "a", "kind": "query"},
        {"name": "a", "kind": "incast"},
        {"name": "b", "kind": "query"},
    ]
    assert pooled_workloads.workload_kinds(workloads) == {"a": "query/incast", "b": "query"}


def test_printed_rows_are_those_of_four_workloads_at_most() -> None:
    kinds = {f"w{at}": f"k{at}" for at in range(6)}
    rows = [row(one, 1) for one in names(*kinds, metric="fct_mean")]
    printed = [one.metric.name for one in table_cells.select_rows(rows, kinds)]
    assert printed == [f"fct_mean[traffic=w{at}]" for at in range(4)]


def test_table_page_and_document_have_times_by_workload(command: Command, scenario: Path) -> None:
    ran = command("run", scenario, "--out", "o", "--seeds", 2)
    heads = [line.partition(" (")[0] for line in ran.out.splitlines()]
    assert {"FCT mean [burst]", "FCT mean [background]", "QCT mean"} <= set(heads)
    assert "FCT mean" not in heads
    every = command("run", scenario, "--out", "o", "--seeds", 2, "--all").out
    assert "\nFCT mean (" not in every and "\nFCT mean [burst] (" in every
    page = Path("o/report.html").read_text()
    assert ">FCT mean [burst] (" in page and ">FCT mean (" not in page
    known = json.loads(Path("o/results.json").read_text())["variants"][0]["metrics"]
    assert "burst: incast, background: poisson" in known["fct_mean"]["note"]
    assert "note" not in known["fct_mean[traffic=burst]"] and "note" not in known["qct_mean"]


def test_sweep_has_times_by_workload(command: Command, scenario: Path) -> None:
    args = ("sweep", scenario, "--over", "switch.x=1,2", "--seeds", 1, "--variants", "drop", "--out", "o")
    ran = command(*args, "--metric", "fct_mean")
    assert "FCT mean [burst] (" in ran.out and "FCT mean [background] (" in ran.out
    assert "FCT mean (" not in ran.out
    page = Path("o/report.html").read_text()
    assert ">FCT mean [burst] (" in page and ">FCT mean (" not in page
    made = json.loads(command(*args, "--json").out)["points"][0]["variants"][0]["metrics"]
    assert "burst: incast" in made["fct_mean"]["note"]


def test_figures_of_a_sweep_are_by_workload(scenario: Path) -> None:
    from overspill import sweep
    from overspill.charts import sweep as drawing

    made = sweep(scenario, {"switch.x": [1, 2]}, seeds=1)
    panels = [one.title for one in drawing.build_sweep_charts(made)["sweep-fct"].panels]
    assert panels[:2] == ["FCT mean [burst]", "FCT mean [background]"]
    assert results_document.build_document(made)["points"][0]["variants"][0]["metrics"]["fct_mean"]["note"]
    assert run(scenario).kinds == {"burst": "incast", "background": "poisson"}
