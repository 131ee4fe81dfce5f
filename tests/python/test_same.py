"""Tests that variants with identical runs are reported."""

import json
import re
from pathlib import Path
from typing import Any

import fake_core
import pyarrow as pa
import pytest
from sweep_folders import Command

from overspill import run, sweep
from overspill.results import identical_variants, metrics
from overspill.results.measures import events
from overspill.results.metric_key import Key
from overspill.results.names import DROP_REASONS, FRAME_OUTCOMES
from overspill.results.rundata import RunData
from overspill.stats.quantiles import Value

OUTSIDE = {"window_ps": [20, 200], "stop": "done", "end_ps": 33, "events": 776, "hops": 760}
COVERED = OUTSIDE | {"window_ps": [0, 200]}


def values(summary: dict[str, Any] = COVERED, **numbers: float) -> dict[int, identical_variants.ComparedRun]:
    return {
        seed: identical_variants.ComparedRun(
            {Key(name): Value(one) for name, one in numbers.items()}, summary
        )
        for seed in (1, 2)
    }


def recorded_runs(**tables: dict[str, list[int]]) -> dict[int, identical_variants.ComparedRun]:
    """Returns runs without counts in their window, with these tables of the whole run."""
    run = RunData(OUTSIDE, {name: pa.table(one) for name, one in tables.items()})
    return {1: identical_variants.ComparedRun({Key("drops"): Value(0.0)}, OUTSIDE, run)}


def test_variants_that_are_equal_to_the_digit_are_one_run_and_why_is_said_where_it_is_known() -> None:
    never = values(fct_mean=0.1, drops=0, marks=0)
    runs = {"a025": never, "a1": dict(never), "drop": values(fct_mean=0.2, drops=3), "a8": dict(never)}
    assert identical_variants.find_identical_groups(runs) == [("a025", "a1", "a8")]
    assert identical_variants.describe_groups(runs) == [
        "no buffer overflowed and no mechanism acted: a025, a1 and a8 are identical runs"
    ]


def test_a_mechanism_that_never_had_to_act_is_no_difference() -> None:
    ecn = values(fct_mean=0.1, drops=0)
    pfc = values(fct_mean=0.1, drops=0, pauses=0, paused_fraction_mean=0)
    assert identical_variants.find_identical_groups({"ecn": ecn, "pfc": pfc}) == [("ecn", "pfc")]
    assert (
        identical_variants.find_identical_groups({"ecn": ecn, "pfc": values(fct_mean=0.1, drops=0, pauses=1)})
        == []
    )


def test_the_reason_is_not_said_where_packets_were_lost_or_nobody_counted() -> None:
    for numbers in ({"fct_mean": 0.1, "drops": 2}, {"fct_mean": 0.1}, {"drops": 0, "marks": 1}):
        one = values(**numbers)
        assert identical_variants.describe_groups({"a": one, "b": one}) == [
            "all numbers are equal: a and b are identical runs"
        ]


@pytest.mark.parametrize("counter", metrics.MECHANISM_COUNTS)
def test_a_buffer_was_short_where_a_mechanism_counted(counter: Key) -> None:
    one = values(**{"fct_mean": 0.1, "drops": 0.0, str(counter): 376.0})
    assert identical_variants.describe_groups({"a": one, "b": one}) == [
        "all numbers are equal: a and b are identical runs"
    ]


def test_every_count_of_mechanisms_tells_of_a_short_buffer() -> None:
    raised = {str(one) for one in metrics.MECHANISM_COUNTS}
    assert raised >= set(FRAME_OUTCOMES), "all that the core tells apart by workload"
    assert raised >= {name for name, _ in events.PORT_COUNTERS}, "all that ports count"
    for subject in set(metrics.SECTIONS) - set(metrics.MECHANISM_SECTIONS):
        counts = {one.name for one in metrics.SECTIONS[subject] if one.unit in ("frames", "pauses", "trees")}
        assert not counts, "a count of a mechanism stands among others"
    expected = {"drops", "marks", "detours", "bounces", "trims", "returned", "held_acks", "held_max"}
    expected |= {"cnms", "cnps", "rate_limited_flows", "pauses", "pause_frames", "saturation_trees"}
    assert raised == expected


def test_a_bound_a_seed_or_a_digit_makes_runs_different() -> None:
    one = values(fct_mean=0.1)
    assert identical_variants.find_identical_groups({"a": one, "b": {1: one[1]}}) == []
    assert identical_variants.find_identical_groups({"a": one, "b": values(fct_mean=0.1 + 1e-16 * 2)}) == []
    bound = identical_variants.ComparedRun({Key("fct_mean"): Value(0.1, True)}, COVERED)
    assert identical_variants.find_identical_groups({"a": one, "b": dict.fromkeys(one, bound)}) == []
    assert identical_variants.find_identical_groups({"a": one, "b": {}, "c": {}}) == []


@pytest.mark.parametrize(
    "other",
    [{"events": 839}, {"hops": 831}, {"end_ps": 11}, {"stop": "max_events"}, {"flows": {"started": 2}}],
)
def test_runs_that_differ_outside_the_window_are_two(other: dict[str, Any]) -> None:
    drop, detour = values(OUTSIDE, drops=0), values(OUTSIDE | other, drops=0)
    assert identical_variants.find_identical_groups({"drop": drop, "detour": detour}) == []
    swept = identical_variants.IdenticalVariantsSearch()
    swept.add(["1"], "drop", drop)
    swept.add(["1"], "detour", detour)
    assert swept.facts == []


@pytest.mark.parametrize("name", ["flows", "activity"])
def test_runs_whose_flows_or_losses_differ_are_two(name: str) -> None:
    one, other = recorded_runs(**{name: {"end_ps": [5]}}), recorded_runs(**{name: {"end_ps": [6]}})
    assert identical_variants.find_identical_groups({"a": one, "b": other}) == []
    assert identical_variants.find_identical_groups(
        {"a": one, "b": recorded_runs(**{name: {"end_ps": [5]}})}
    ) == [("a", "b")]


@pytest.mark.parametrize(
    ("known", "why"),
    [
        (values(COVERED, drops=0), "no buffer overflowed and no mechanism acted"),
        (values(OUTSIDE, drops=0), "no buffer overflowed and no mechanism acted in the measurement window"),
        (recorded_runs(activity={"count": []}), "no buffer overflowed and no mechanism acted"),
        (
            recorded_runs(activity={"count": [3]}),
            "no buffer overflowed and no mechanism acted in the measurement window",
        ),
        (
            recorded_runs(activity={"count": []}, pause_trace={"from_ps": [2]}),
            "no buffer overflowed and no mechanism acted in the measurement window",
        ),
        (
            recorded_runs(activity={"count": []}, hold_trace={"bin": [2]}),
            "no buffer overflowed and no mechanism acted in the measurement window",
        ),
    ],
)
def test_a_buffer_was_never_short_only_where_nothing_outside_the_window_says_so(
    known: dict[int, identical_variants.ComparedRun], why: str
) -> None:
    assert identical_variants.describe_groups({"a": known, "b": known}) == [
        f"{why}: a and b are identical runs"
    ]


def test_variants_of_a_sweep_are_the_same_only_at_every_point_and_for_the_weakest_reason() -> None:
    never, lost = values(drops=0, fct_mean=0.1), values(drops=2, fct_mean=0.1)
    swept = identical_variants.IdenticalVariantsSearch()
    for point, runs in (("1", (lost, lost, lost)), ("2", (never, never, values(drops=0, fct_mean=0.2)))):
        for variant, one in zip("abc", runs, strict=True):
            swept.add([point], variant, one)
    assert swept.facts == [{"variants": ["a", "b"], "why": "all numbers are equal"}]
    told = list(identical_variants.sentences_from_facts({"same": swept.facts, "points": [1, 2]}))
    assert told == ["all numbers are equal: a and b are identical runs at every point"]


def test_a_sweep_tells_of_equal_variants_in_terminal_page_and_document(
    command: Command, scenario: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = fake_core.FakeResults.__init__

    def alike(self: Any, variant: str, *given: Any) -> None:
        original(self, "drop" if variant == "detour" else variant, *given)

    monkeypatch.setattr(fake_core.FakeResults, "__init__", alike)
    args = ("sweep", scenario, "--over", "switch.x=1,2", "--seeds", 2, "--out", "o")
    text = "all numbers are equal: drop and detour are identical runs at every point"
    ran = command(*args)
    assert ran.status == 0
    assert [re.split("  +", line) for line in ran.out.splitlines() if "SAME RUN" in line] == [
        ["SAME RUN", text]
    ]
    with open("o/report.html", encoding="utf-8") as page:
        assert text in page.read()
    assert f"SAME RUN: {text}" in json.loads(command(*args, "--no-report", "--json").out)["cautions"]
    monkeypatch.setattr(fake_core.FakeResults, "__init__", original)
    assert "SAME RUN" not in command(*args[:-1], "other", "--no-report").out


def test_a_sweep_keeps_whether_buffers_were_short_outside_the_window() -> None:
    """Checks a sweep, whose runs keep no tables with these counts."""
    quiet = {
        1: identical_variants.ComparedRun(
            {Key("drops"): Value(0.0)}, OUTSIDE | {identical_variants.QUIET_KEY: True}
        )
    }
    unknown = {
        1: identical_variants.ComparedRun(
            {Key("drops"): Value(0.0)}, OUTSIDE | {identical_variants.QUIET_KEY: False}
        )
    }
    for runs, said in (
        (quiet, identical_variants.NO_OVERFLOW),
        (unknown, identical_variants.NO_OVERFLOW_IN_WINDOW),
    ):
        swept = identical_variants.IdenticalVariantsSearch()
        for variant in ("a", "b"):
            swept.add(["1"], variant, runs)
        assert swept.facts == [{"variants": ["a", "b"], "why": said}]


SHORT_BEFORE = """
name = "warm"
duration = "4ms"
[topology]
kind = "star"
n = 4
[measure]
from = "3ms"
[[traffic]]
name = "early"
kind = "incast"
senders = 3
receiver = "h0"
size = "60KB"
[[traffic]]
name = "late"
kind = "permutation"
size = "3KB"
start = "3ms"
[variants.one]
[variants.two]
switch.buffer = { kind = "per_port", size = "99pkt" }
"""


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(("size", "said"), [("3KB", identical_variants.NO_OVERFLOW), ("2MB", None)])
def test_only_a_sweep_with_losses_before_its_window_speaks_of_the_window(
    tmp_path: Path, size: str, said: str | None
) -> None:
    path = tmp_path / "warm.toml"
    path.write_text(SHORT_BEFORE)
    made = sweep(path, {"traffic.early.size": [size]}, seeds=1, out=tmp_path / "out")
    assert made.facts["same"] == ([] if said is None else [{"variants": ["one", "two"], "why": said}])


CUT = """
name = "cut"
duration = "5ms"
[topology]
kind = "star"
n = 5
link = { rate = "1Gbps", delay = "1us" }
[switch]
buffer = { kind = "per_port", size = "6KB" }
overflow = { kind = "trim" }
[transport]
kind = "sack"
pack = true
[[traffic]]
name = "burst"
kind = "incast"
senders = 4
receiver = "h4"
size = "32KB"
[variants.one]
[variants.two]
description = "the same"
"""
# Columns of ports that count traffic and lengths of queues, not actions of a mechanism.
TRAFFIC = {"node", "port", "peer", "rate_bps", "enqueued", "enqueued_bytes", "sent", "sent_bytes", "queued"}
TRAFFIC |= {"max_packets", "max_bytes", "max_bytes_in_window", "trimmed_bytes"}


@pytest.mark.usefixtures("compiled")
def test_cut_packets_are_a_short_buffer(tmp_path: Path) -> None:
    path = tmp_path / "cut.toml"
    path.write_text(CUT)
    made = run(path)
    values = made.values["one"][1]
    assert values[Key("drops")].value == 0 < values[Key("trims")].value
    assert identical_variants.describe_groups(made.compared_runs) == [
        "all numbers are equal: one and two are identical runs"
    ]
    counted = {column for _, column in events.PORT_COUNTERS} | {f"drop_{reason}" for reason in DROP_REASONS}
    assert set(made.ports.column_names) - TRAFFIC - {"variant", "seed"} <= counted, "another counter"
