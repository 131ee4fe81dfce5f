"""Tests of headers that warn about rough numbers."""

import re
from pathlib import Path
from typing import Any

import fake_core
import numpy as np
import pytest
from test_metrics import MS, NONE32, NONE64, column, sample_run

from overspill import Key, Results, run
from overspill.results import cautions, header, steady_state
from overspill.results.columns import build_table
from overspill.results.rundata import RunData


def lines_by_label(results: Results) -> dict[str, str]:
    return {line.label: line.text for line in header.header_lines(results)}


def test_fewer_than_ten_seeds_are_few_and_one_has_words_of_its_own(scenario: Path) -> None:
    assert "intervals of 3 seeds are rough" in lines_by_label(run(scenario, seeds=3))["FEW SEEDS"]
    assert "FEW SEEDS" not in lines_by_label(run(scenario, seeds=1))
    assert "FEW SEEDS" not in lines_by_label(run(scenario, seeds=10))


def test_percentiles_of_few_samples_are_named_with_how_many(scenario: Path) -> None:
    said = lines_by_label(run(scenario, seeds=2))["few samples"]
    assert "QCT" in said and "p95, p99, p99.9 (7)" in said
    assert re.search(r"FCT \[(\S+)\] and slowdown \[\1\] p", said), (
        "slowdown is of the same flows, and is named too"
    )
    assert "FCT p99;" not in said and "delay" not in said


def test_percentiles_of_few_samples_that_are_not_named_are_said_to_be_somewhere() -> None:
    fewest = {Key("fct_p99", traffic=f"w{at}"): at for at in range(1, cautions.MAX_METRICS_NAMED + 3)}
    (line,) = cautions.fewest_samples_caution(fewest, "`few_samples` in results.json")
    assert line.text.endswith(
        f"FCT [w{cautions.MAX_METRICS_NAMED}] p99 ({cautions.MAX_METRICS_NAMED}); and 2 more: "
        "`few_samples` in results.json"
    )
    (line,) = cautions.fewest_samples_caution(dict(list(fewest.items())[: cautions.MAX_METRICS_NAMED]), "")
    assert "more" not in line.text


FLOWS = 400


def load(second: float, first: float = 2.0, **changed: Any) -> RunData:
    """Returns flows that start evenly in the window of 1 to 11 ms; each half has a slowdown."""
    start = np.linspace(1 * MS, 11 * MS, FLOWS, endpoint=False).astype(np.uint64)
    if "start" in changed:
        start = np.full(FLOWS, changed.pop("start"), np.uint64)
    slowdown = np.where(start < 6 * MS, first, second)
    columns = {
        "flow": column("u32", *range(FLOWS)),
        "traffic": column("u16", *[0] * FLOWS),
        "query": column("u32", *[NONE32] * FLOWS),
        "src": column("u32", *[0] * FLOWS),
        "dst": column("u32", *[1] * FLOWS),
        "bytes": column("u64", *[1000] * FLOWS),
        "start_ps": column("u64", *start),
        "end_ps": column("u64", *(start + (slowdown * 1000).astype(np.uint64))),
        "ideal_ps": column("u64", *[1000] * FLOWS),
        "measured": column("u8", *[1] * FLOWS),
        "raw": column("u8", *[0] * FLOWS),
    }
    summary = {"traffic": [{"name": "bg", "kind": "poisson"}], "bin_ps": MS} | changed.pop("summary", {})
    return sample_run(flows=build_table("flows", columns), summary=summary, **changed)


def find_drifts(*runs: RunData) -> dict[str, float]:
    return {
        one.quantity: one.relative_difference
        for one in steady_state.find_drifts([steady_state.compare_halves(run) for run in runs])
    }


def test_halves_that_differ_in_every_seed_are_not_steady() -> None:
    found = find_drifts(load(2.6), load(2.5), load(2.7))
    # 2.6 after 2.0 is a change of 0.6 relative to 2.3.
    assert found == {"slowdown": pytest.approx(0.6 / 2.3)}
    assert find_drifts(load(2.1), load(2.11), load(2.12)) == {}


def test_halves_that_differ_now_one_way_and_now_the_other_are_steady() -> None:
    assert find_drifts(load(4.0), load(1.2), load(3.0), load(1.1)) == {}


def test_one_seed_needs_more_than_a_quarter() -> None:
    assert find_drifts(load(2.5)) == {}
    assert find_drifts(load(2.7)) == {"slowdown": pytest.approx(0.7 / 2.35)}


def test_a_single_burst_has_no_halves() -> None:
    assert steady_state.compare_halves(load(9.0, start=3 * MS)) == {}
    assert steady_state.compare_halves(load(9.0, start=6 * MS)) == {}


def bin_table(name: str, column_name: str, values: list[float]) -> Any:
    kind = "f64" if name == "queue_trace" else "u64"
    return build_table(name, {"bin": column("u32", *range(len(values))), column_name: column(kind, *values)})


def test_queues_and_goodput_are_compared_by_whole_bins_of_the_window() -> None:
    # Bin 0 and bins from 11 on are outside the window.
    queue = bin_table("queue_trace", "mean_packets", [99, *[1.0] * 5, *[3.0] * 5, 99])
    goodput = bin_table("host_goodput", "bytes", [99, *[10] * 5, *[10] * 5, 99])
    run = load(2.0, queue_trace=queue, host_goodput=goodput)
    assert steady_state.compare_halves(run) == {
        "slowdown": (2.0, 2.0),
        "queue": (5.0, 15.0),
        "goodput": (50.0, 50.0),
    }
    assert find_drifts(run) == {"queue": pytest.approx(1.0)}


def test_flows_without_end_are_judged_where_they_have_begun() -> None:
    endless = {"traffic": [{"name": "bg", "kind": "long_lived", "endless": True}]}
    goodput = bin_table("host_goodput", "bytes", [0, *[10] * 5, *[20] * 5])
    assert steady_state.compare_halves(load(2.0, start=0, summary=endless, host_goodput=goodput)) == {
        "goodput": (50.0, 100.0)
    }
    assert steady_state.compare_halves(load(2.0, start=5 * MS, summary=endless, host_goodput=goodput)) == {}


@pytest.mark.parametrize(
    ("what", "first", "second", "said"),
    [
        ("goodput", 50.0, 0.0, "goodput is 0 in the second half of the window, but not in the first"),
        ("queue", 0.0, 5.0, "mean of all queues is 0 in the first half of the window, but not in the second"),
        ("goodput", 50.0, 28.5, "goodput in the second half of the window is 57% of that in the first half"),
        ("goodput", 5.0, 16.0, "goodput in the second half of the window is 3.2 times "
         "that in the first half"),
        ("goodput", 1.0, 99.0, "goodput in the second half of the window is more than 10 times "
         "that in the first half"),
        ("slowdown", 2.0, 3.0, "slowdown mean is 2 in the first half of the window and 3 in the second"),
    ],
)  # fmt: skip
def test_drift_is_bounded_and_in_words(what: str, first: float, second: float, said: str) -> None:
    assert steady_state.describe_drift(steady_state.WindowDrift(what, first, second, 1)) == said


def test_the_header_says_what_was_not_steady(scenario: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = fake_core.FakeResults.make_flows

    def growing(self: fake_core.FakeResults, unfinished: int) -> dict[str, np.ndarray]:
        flows = original(self, unfinished)
        if self.variant == "drop":
            late = (flows["start_ps"] > 30 * MS) & (flows["end_ps"] != NONE64)
            flows["end_ps"] = np.where(late, flows["end_ps"] + 20 * flows["ideal_ps"], flows["end_ps"])
        return flows

    monkeypatch.setattr(fake_core.FakeResults, "make_flows", growing)
    results = run(scenario, seeds=3)
    said = lines_by_label(results)["NOT STEADY"]
    assert said.startswith("drop: slowdown mean is ") and " in the second" in said and "%" not in said
    assert any(one.startswith("NOT STEADY: drop") for one in results.document()["cautions"])
    assert "One seed gives only a hint" in lines_by_label(run(scenario))["NOT STEADY"]
