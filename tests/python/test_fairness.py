"""Tests that no variant is called best if the comparison is not fair."""

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import fake_core
import numpy as np
import pytest
from conftest import Ran
from rich.console import Console

from overspill import Key, Results, run
from overspill.cli import table
from overspill.report import run as report_run
from overspill.results import header, metric_rows, metrics, table_cells
from overspill.results.fairness import Fairness
from overspill.results.unequal_variants import UnequalVariants
from overspill.stats.quantiles import Value

Command = Callable[..., Ran]
ALIKE = Fairness((("a", "b"),), 0, False, False)


def row_of(
    fairness: Fairness, unequal: UnequalVariants, samples: tuple[int, int] = (10, 10)
) -> metric_rows.MetricRow:
    """Returns the FCT of two variants, of which the first is better for every seed."""
    values = {
        variant: {seed: {Key("fct_mean"): Value(mean + seed, samples=count)} for seed in (1, 2, 3)}
        for variant, mean, count in zip("ab", (10.0, 100.0), samples, strict=True)
    }
    (row,) = metric_rows.build_rows(
        values, metric_rows.ComparisonRules.from_values(values, fairness, unequal)
    )
    return row


def test_a_star_says_that_samples_differ() -> None:
    assert row_of(ALIKE, UnequalVariants()).note == ""
    row = row_of(ALIKE, UnequalVariants(), (132, 104))
    assert row.cells["a"].best and row.note == "samples 312 to 396"


def test_a_star_says_that_load_or_memory_differ() -> None:
    unequal = UnequalVariants(
        loads={"w": {"a": 0.4, "b": 0.6}, "v": {"a": 0.5, "b": 0.51}}, memory={"a": "1", "b": "2"}
    )
    row = row_of(ALIKE, unequal)
    assert row.cells["a"].best and row.note == "achieved load [w] 0.4 to 0.6; unequal memory"


def test_counts_of_senders_rest_on_measured_flows() -> None:
    unequal = UnequalVariants(measured={"a": 396, "b": 312})
    known = unequal.describe_differences(metrics.REGISTRY["retransmits"], {"a": None, "b": None})
    assert known == "samples 312 to 396"
    assert unequal.describe_differences(metrics.REGISTRY["marks"], {"a": None, "b": None}) == ""


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"traffic": (("a",), ("b",))}, "different traffic"),
        ({"cut": True}, "a run was cut"),
        ({"has_equal_seeds": True}, "all seeds gave the same value"),
        ({"measured_alike": False}, "[measure] differs"),
        ({"unfinished": 3}, "unfinished flows"),
    ],
)
def test_a_row_says_why_it_has_no_star(changed: dict[str, Any], reason: str) -> None:
    row = row_of(replace(ALIKE, **changed), UnequalVariants())
    assert not row.cells["a"].best and row.note == f"no *: {reason}"


def test_the_note_of_a_star_is_printed_in_its_line(command: Command, scenario: Path) -> None:
    results = run(scenario, seeds=3)
    results.facts["memory"]["bounce"]["switches"][0]["total"] = {"packets": 7}
    starred = [row for row in results.rows if any(cell.best for cell in row.cells.values())]
    assert starred and all("unequal memory" in row.note for row in starred)
    name = starred[0].metric.name
    assert results.document()["comparisons"][name]["note"] == starred[0].note
    console = Console(width=200, record=True, file=io.StringIO())
    table.print_results(results, console, every=True)
    printed = [
        line for line in console.export_text().splitlines() if " * " in line and "unequal memory" in line
    ]
    shown = table_cells.without_mixed_workloads(starred, results.kinds)
    titles = {row.metric.title for row in shown if row.is_visible}
    assert titles and all(any(line.startswith(title) for line in printed) for title in titles)
    page = report_run.render_run_page(results, [])
    assert "<td>unequal memory" in page


def starred_metrics(results: Results) -> set[str]:
    return {row.metric.name for row in results.rows if any(c.best for c in row.cells.values())}


def text(results: Results) -> str:
    return "\n".join(f"{line.label} {line.text}" for line in header.header_lines(results))


def test_finished_runs_of_the_same_traffic_are_compared(scenario: Path) -> None:
    results = run(scenario, seeds=3)
    assert {"fct_mean", "slowdown_mean"} & starred_metrics(results)
    assert "NOT COMPARED" not in text(results)


def test_an_unfinished_flow_takes_every_star_but_its_own_row_s(
    scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = fake_core.FakeResults.__init__

    def uneven(self: fake_core.FakeResults, variant: str, seed: int, unfinished: int, cut: bool) -> None:
        original(self, variant, seed, {"drop": 30 + seed, "bounce": 20}.get(variant, 0), cut)

    monkeypatch.setattr(fake_core.FakeResults, "__init__", uneven)
    results = run(scenario, seeds=3, sets=["measure.allow_unfinished=true"])
    assert {name.partition("[")[0] for name in starred_metrics(results)} <= {"unfinished_flows"}
    assert "no variant is called best" in text(results)
    assert not results.document()["comparisons"]["drops"]["marked"]


def test_variants_with_different_traffic_are_not_compared(
    scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = fake_core.FakeResults.make_flows

    def other(self: fake_core.FakeResults, unfinished: int) -> dict[str, np.ndarray]:
        flows = original(self, unfinished)
        if self.variant == "bounce":
            flows["bytes"] = flows["bytes"] + np.uint64(1)
        return flows

    monkeypatch.setattr(fake_core.FakeResults, "make_flows", other)
    results = run(scenario, seeds=3)
    assert starred_metrics(results) == set()
    assert (
        "NOT COMPARED variants drop, detour | bounce carry different traffic: no variant is called best"
        in text(results)
    )


def test_flows_outside_of_the_window_and_their_order_do_not_matter(
    scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = fake_core.FakeResults.make_flows

    def other(self: fake_core.FakeResults, unfinished: int) -> dict[str, np.ndarray]:
        flows = original(self, unfinished)
        if self.variant == "bounce":
            flows["bytes"] = np.where(flows["measured"] == 0, np.uint64(7), flows["bytes"])
            flows = {name: column[::-1].copy() for name, column in flows.items()}
        return flows

    monkeypatch.setattr(fake_core.FakeResults, "make_flows", other)
    assert "NOT COMPARED" not in text(run(scenario, seeds=2))


def test_raw_sources_that_differ_are_different_traffic(scenario: Path) -> None:
    results = run(scenario, seeds=2)
    for index, variant in enumerate(results.variants):
        workload = {"kind": "bursts", "packets": 500 + index // 2}
        results.facts["resolved"][variant]["traffic"] = [workload]
    assert results.fairness.traffic == (("drop", "detour"), ("bounce",))


def test_seeds_that_change_nothing_are_one_run(scenario: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = fake_core.FakeResults.__init__

    def with_first_seed(
        self: fake_core.FakeResults, variant: str, seed: int, unfinished: int, cut: bool
    ) -> None:
        original(self, variant, 1, unfinished, cut)
        self.seed = seed

    monkeypatch.setattr(fake_core.FakeResults, "__init__", with_first_seed)
    results = run(scenario, seeds=3)
    assert starred_metrics(results) == set()
    assert "all seeds gave the same values, so they count as one run" in text(results)


def test_a_row_that_no_seed_changes_has_no_star(scenario: Path) -> None:
    results = run(scenario, seeds=3)
    rows = {row.metric.name: row for row in results.rows}
    # The longest queues are 100, 100 and 50 for every seed of the fake.
    assert rows["queue_busiest_max"].comparison is not None
    assert "queue_busiest_max" not in starred_metrics(results)
    assert "No variant is best if all seeds gave the same value" in table_cells.cells_legend(results)


def test_a_window_without_flows_is_loud(
    command: Command, scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fake_core, "WINDOW", (70 * fake_core.MS, 75 * fake_core.MS))
    assert (
        "NOTHING MEASURED  drop, seed 1: no flow starts in the measurement window"
        in command("run", scenario).out
    )


def test_a_run_that_held_too_many_packets_is_partial(
    command: Command, scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = fake_core.FakeResults.summary
    monkeypatch.setattr(
        fake_core.FakeResults, "summary", lambda made: original(made) | {"stop": "max_packets"}
    )
    ran = command("run", scenario, "--no-report", "--seeds", 2)
    assert ran.status == 3
    assert "PARTIAL RESULT" in ran.out and "stopped by a limit (10 million packets" in ran.out
    assert json.loads(Path("out/incast/results.json").read_text())["partial"] is True
    assert " *" not in ran.out.replace(" * best", "")


def sessions(variant: str, flows: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Turns the background into sessions of five messages, which start later if the variant is slower."""
    loop = flows["traffic"] == 1
    flows["query"] = np.where(loop, np.arange(len(loop)) // 5, flows["query"]).astype(np.uint32)
    later = np.uint64(0 if variant == "drop" else 1000 * fake_core.US)
    flows["start_ps"] = np.where(loop, flows["start_ps"] + later, flows["start_ps"])
    flows["end_ps"] = np.where(loop, flows["end_ps"] + later, flows["end_ps"])
    return flows


def close_loop(monkeypatch: pytest.MonkeyPatch, change: Callable[[str, dict[str, np.ndarray]], None]) -> None:
    """Adds sessions that a test changes to a core that reports a closed loop."""
    original, summary = fake_core.FakeResults.make_flows, fake_core.FakeResults.summary

    def made(self: fake_core.FakeResults, unfinished: int) -> dict[str, np.ndarray]:
        flows = sessions(self.variant, original(self, unfinished))
        change(self.variant, flows)
        return flows

    def summary_with_closed_loop(self: fake_core.FakeResults) -> dict[str, object]:
        found = summary(self)
        found["traffic"][1]["closed_loop"] = True
        return found

    monkeypatch.setattr(fake_core.FakeResults, "make_flows", made)
    monkeypatch.setattr(fake_core.FakeResults, "summary", summary_with_closed_loop)


def test_a_closed_loop_may_start_later_in_another_variant(
    scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    close_loop(monkeypatch, lambda variant, flows: None)
    assert run(scenario, seeds=2).fairness.traffic == (("drop", "detour", "bounce"),)


def test_a_closed_loop_may_come_farther_in_another_variant(
    scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shorter(variant: str, flows: dict[str, np.ndarray]) -> None:
        for name in flows if variant == "bounce" else ():
            flows[name] = flows[name][:-7]

    close_loop(monkeypatch, shorter)
    assert run(scenario, seeds=2).fairness.traffic == (("drop", "detour", "bounce"),)


@pytest.mark.parametrize("name", ["bytes", "src", "dst"])
def test_a_closed_loop_that_says_something_else_is_other_traffic(
    scenario: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def other(variant: str, flows: dict[str, np.ndarray]) -> None:
        if variant == "bounce":
            flows[name][1000] += 1

    close_loop(monkeypatch, other)
    assert run(scenario, seeds=2).fairness.traffic == (("drop", "detour"), ("bounce",))


def test_open_traffic_beside_a_closed_loop_must_be_the_same_to_the_instant(
    scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other(variant: str, flows: dict[str, np.ndarray]) -> None:
        if variant == "bounce":
            flows["start_ps"][200] += np.uint64(1)

    close_loop(monkeypatch, other)
    assert run(scenario, seeds=2).fairness.traffic == (("drop", "detour"), ("bounce",))
