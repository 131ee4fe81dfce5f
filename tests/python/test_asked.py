"""Tests that metrics are found by their names in files and in tables, and before the first run."""

from pathlib import Path

import fake_core
import pytest
from sweep_folders import Command

from overspill import BadInput
from overspill.results import pointwise_lines
from overspill.results.metric_names import parse_metric

WORKLOADS = ["ring", "ask"]


@pytest.mark.parametrize(
    "text",
    [
        "qct_mean[traffic=ring]",
        "qct_mean[ring]",
        "QCT mean [ring]",
        "QCT mean [ring] (ms)",
        " qct mean[ring] ",
    ],
)
def test_every_printed_form_names_the_same_metric(text: str) -> None:
    assert parse_metric(text, WORKLOADS) == "qct_mean[traffic=ring]"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("FCT p99.9 (us)", "fct_p99.9"),
        ("fct_p99[0-100KB]", "fct_p99[size=0-100KB]"),
        ("drops[evicted] (pkt)", "drops[reason=evicted]"),
        ("drops[leaf]", "drops[tier=leaf]"),
        ("load_wire[tor_uplink]", "load_wire[of=tor_uplink]"),
        ("drops per frame sent", "drop_ratio"),
    ],
)
def test_parts_are_found_without_their_label(text: str, found: str) -> None:
    assert parse_metric(text, WORKLOADS) == found


def test_only_workload_is_all_traffic() -> None:
    assert parse_metric("qct_mean[ring]", ["ring"]) == "qct_mean"


@pytest.mark.parametrize("text", ["qct_mean[rings]", "qct_mean[traffic=rings]"])
def test_unknown_workload_is_refused_with_those_that_there_are(text: str) -> None:
    with pytest.raises(BadInput, match="expected a workload: ring, ask"):
        parse_metric(text, WORKLOADS)


def test_unknown_metric_is_refused_with_those_that_are_near() -> None:
    with pytest.raises(BadInput, match="did you mean qct_mean"):
        parse_metric("qct_men[ring]", WORKLOADS)


def test_title_asked_for_is_printed_by_a_sweep(command: Command, scenario: Path) -> None:
    args = ("sweep", scenario, "--no-report", "--over", "switch.x=1,2", "--seeds", 1)
    ran = command(*args, "--metric", "FCT mean [burst]")
    assert ran.status == 0 and "FCT mean [burst] (" in ran.out and "[background] (" not in ran.out


def test_wrong_metric_is_refused_before_the_first_run(
    command: Command, scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pointwise_lines, "workload_names", lambda settings: ["burst", "background"])
    args = ("sweep", scenario, "--no-report", "--over", "switch.x=1,2", "--seeds", 1)
    ran = command(*args, "--metric", "fct_mean[rings]")
    assert ran.status == 2 and "--metric: found fct_mean[rings]" in ran.err
    assert fake_core.behaviour.finished == 0


def test_workloads_are_those_of_every_variant() -> None:
    document = {
        "resolved": {"a": {"traffic": [{"name": "ring"}]}, "b": {"traffic": [{"name": "ask"}]}},
        "memory": {},
    }
    assert pointwise_lines.workload_names([pointwise_lines.settings_for_lines(document)]) == ["ring", "ask"]
