"""Tests of the comparison of a run with the same run whose starts are shifted by less than a frame's time."""

import json
import os
import re
import signal
from collections.abc import Iterable
from pathlib import Path

import pytest
from sweep_folders import Command
from test_in_step import SPREAD, write_scenario

from overspill import BadInput, Key, Listener, Options, Results, Task, run, stats
from overspill.engine import phase_check as engine
from overspill.engine.plan import prepare
from overspill.engine.run import execute
from overspill.results import header, phase_findings
from overspill.stats.quantiles import Value

# Twenty senders start simultaneously, over links as fast as the shared one.
STAR = """
name = "star"
duration = "1s"
[host]
nic_jitter = "0us"
[topology]
kind = "star"
n = 21
link = { rate = "1Gbps", delay = "10us" }
[switch]
buffer = { kind = "per_port", size = "20pkt" }
[transport]
kind = "newreno"
min_rto = "10ms"
[measure]
drain = "2s"
[[traffic]]
name = "burst"
kind = "incast"
senders = 20
receiver = "h0"
size = "20KB"
start = "1ms"
"""
FRAME = 12_304_000  # transmission time in ps of 1538 bytes at 1 Gb/s

pytestmark = pytest.mark.usefixtures("compiled")


class CountingListener(Listener):
    """Records the runs that begin, and optionally interrupts the command after the first run of a check."""

    def __init__(self, interrupts: bool = False) -> None:
        self.begun: list[str] = []
        self.interrupts = interrupts

    def begin(self, left: Iterable[Task], stored: Iterable[tuple[Task, int]]) -> None:
        self.begun = [str(task) for task in left]

    def kept(self, task: Task, hops: int) -> None:
        if self.interrupts and task.label == engine.PHASE_LABEL:
            os.kill(os.getpid(), signal.SIGINT)


def lines(results: Results) -> dict[str, str]:
    return {line.label: line.text for line in header.header_lines(results)}


def test_an_incast_in_step_names_completion_times(tmp_path: Path) -> None:
    results = run(write_scenario(tmp_path, STAR), seeds=5, check_phase=True)
    found = results.facts["phase"]
    assert found["frame_ps"] == FRAME and found["moved"] == {"default": ["burst"]}
    moved = found["variants"]["default"]["metrics"]
    assert {"fct_mean", "slowdown_mean", "timeouts"} <= moved.keys()
    fct = moved["fct_mean"]
    assert fct["before"]["mean"] == pytest.approx(results.means("fct_mean").column("mean")[0].as_py())
    assert fct["after"]["mean"] > fct["before"]["interval"][1]
    said = lines(results)["SENSITIVE TO TIE-BREAKING"]
    assert said.startswith(
        "default: these metrics changed by more than their own 95% interval when starts moved"
    )
    assert "12.304 us: FCT mean; " in said


def test_it_is_the_run_with_that_jitter(tmp_path: Path) -> None:
    path = write_scenario(tmp_path, STAR)
    found = run(path, seeds=5, check_phase=True).facts["phase"]["variants"]["default"]["metrics"]
    by_hand = run(path, seeds=5, sets=[f"traffic.burst.jitter={FRAME}ps"])
    assert found["fct_mean"]["after"]["mean"] == by_hand.means("fct_mean").column("mean")[0].as_py()


def test_chance_alone_names_nothing(tmp_path: Path, command: Command) -> None:
    path = write_scenario(tmp_path, SPREAD)
    ran = command("run", path, "--seeds", 5, "--check-phase", "--no-report", "--out", tmp_path / "out")
    assert (
        ran.status == 0
        and "sensitive to tie-breaking" not in ran.out
        and "SENSITIVE TO TIE-BREAKING" not in ran.out
    )
    (line,) = [one for one in ran.out.splitlines() if one.startswith("phase check")]
    assert "default: no metric changed by more than its own 95% interval when starts moved by" in line
    known = json.loads((tmp_path / "out" / "results.json").read_text())["phase"]
    assert known["variants"] == {"default": {"seeds": [1, 2, 3, 4, 5], "missing": 0, "metrics": {}}}


def test_starts_that_are_scattered_stay_and_nothing_is_run_again(tmp_path: Path) -> None:
    listener = CountingListener()
    sets = ["traffic.burst.jitter=20us"]
    results = run(write_scenario(tmp_path, STAR), seeds=2, sets=sets, check_phase=True, listener=listener)
    assert listener.begun == ["default seed 1", "default seed 2"]
    assert lines(results)["phase check"].endswith("a jitter of at least 12.304 us, the time of a frame")
    assert results.facts["phase"]["kept"] == {"default": ["burst"]}


def test_the_command_prints_both_numbers_and_ends_well(tmp_path: Path, command: Command) -> None:
    path = write_scenario(tmp_path, STAR)
    ran = command("run", path, "--seeds", 5, "--check-phase", "--out", tmp_path / "out")
    assert ran.status == 0
    at = ran.out.index("sensitive to tie-breaking")
    assert "original starts  starts moved by < 12.304 us" in ran.out[at:]
    assert re.search(r"default +FCT mean \(ms\)", ran.out[at:])
    assert ran.out.index("5 seeds") < at, "the usual table comes first"
    page = (tmp_path / "out" / "report.html").read_text()
    assert "SENSITIVE TO TIE-BREAKING" in page and "FCT mean" in page
    assert "SENSITIVE TO TIE-BREAKING" in lines(Results.load(tmp_path / "out"))
    again = command("run", path, "--seeds", 5, "--check-phase", "--out", tmp_path / "out", "--json")
    assert "fct_mean" in json.loads(again.out)["phase"]["variants"]["default"]["metrics"]


VARIANTS = """
[variants.plain]
[variants.scattered]
[[variants.scattered.traffic]]
name = "burst"
kind = "incast"
senders = 20
receiver = "h0"
size = "20KB"
jitter = "1ms"
[variants.slow]
topology.link = { rate = "500Mbps", delay = "10us" }
"""


def test_variants_are_moved_each_in_its_own_place(tmp_path: Path) -> None:
    results = run(write_scenario(tmp_path, STAR + VARIANTS), seeds=2, check_phase=True)
    found = results.facts["phase"]
    assert found["frame_ps"] == 2 * FRAME, "of the slowest link of a host"
    assert found["moved"] == {"plain": ["burst"], "slow": ["burst"]}
    assert found["kept"] == {"scattered": ["burst"]} and found["refused"] == {}
    assert list(found["variants"]) == ["plain", "slow"]


def test_a_workload_that_cannot_be_moved_is_named_with_the_reason(tmp_path: Path) -> None:
    many = SPREAD.replace('rate = "1Gbps"', 'rate = "1Kbps"').replace(
        "load.fraction = 0.6", 'interarrival = "1us"'
    )
    plan = prepare(write_scenario(tmp_path, many), Options(sets=['duration="1us"'], check_phase=True))
    check = engine.plan_phase_check(plan)
    assert check is not None and check.plan is None
    assert (
        "expected a time in which at most ten million flows start"
        in check.facts["refused"]["default"]["load"]
    )
    told = phase_findings.compare_starts({**check.facts, "failures": []}, {}, {})
    (line,) = phase_findings.finding_lines({"phase": told})
    assert line.text.startswith("the starts of load cannot be moved: traffic.load.jitter: found")


def test_runs_of_a_check_are_kept_and_go_on_after_an_interrupt(tmp_path: Path) -> None:
    path, out = write_scenario(tmp_path, STAR), tmp_path / "out"
    options = {"seeds": 4, "out": out, "jobs": 1, "check_phase": True}
    first = execute(path, Options(**options, listener=CountingListener(interrupts=True)))
    assert first.signal == signal.SIGINT and not first.interrupted and first.finished == 4
    known = first.facts["phase"]["variants"]["default"]
    assert known["missing"] > 0 and len(known["seeds"]) + known["missing"] == 4
    said = [line.text for line in header.header_lines(first) if line.label == "PHASE CHECK"]
    assert said == [
        f"default: {known['missing']} runs of the check are missing. Run the same command to continue"
    ]
    listener = CountingListener()
    second = execute(path, Options(**options, listener=listener))
    assert len(listener.begun) == known["missing"]
    assert all(one.startswith("phase check: ") for one in listener.begun)
    assert second.facts["phase"]["variants"]["default"]["seeds"] == [1, 2, 3, 4]
    assert len(list((out / "runs" / "default").iterdir())) == 4, "of runs of a check there are no tables"


def test_a_run_without_the_check_says_nothing_of_it(tmp_path: Path) -> None:
    path, out = write_scenario(tmp_path, STAR), tmp_path / "out"
    run(path, out=out, check_phase=True)
    results = run(path, out=out)
    assert "phase" not in results.facts and "phase" not in json.loads((out / "results.json").read_text())


def test_a_sweep_has_no_check() -> None:
    with pytest.raises(BadInput, match="--check-phase: found it with a sweep"):
        Options(sweep=True, check_phase=True).check()


def values(*numbers: float, name: str = "fct_mean") -> dict[int, dict[Key, Value]]:
    return {seed: {Key(name): Value(one)} for seed, one in enumerate(numbers)}


def named_metrics(before: dict[int, dict[Key, Value]], after: dict[int, dict[Key, Value]]) -> list[str]:
    return [
        str(pair.name)
        for pair in phase_findings.select_moved(phase_findings.find_differing_metrics(before, after))
    ]


def test_a_mean_that_leaves_its_interval_in_every_seed_is_named() -> None:
    # The interval of the first is 10 ± 2.5.
    assert named_metrics(values(9, 10, 11), values(19, 20, 21.5)) == ["fct_mean"]
    assert named_metrics(values(9, 10, 11), values(11, 12, 13.1)) == [], "it stays in its interval"
    assert named_metrics(values(9, 10, 11), values(24, 10, 11)) == [], "one seed alone has moved"


def test_less_than_a_hundredth_is_not_named() -> None:
    assert named_metrics(values(100, 100, 100), values(100.9, 100.9, 100.9)) == []
    assert named_metrics(values(100, 100, 100), values(101.1, 101.1, 101.1)) == ["fct_mean"]


def test_of_two_seeds_ranges_lie_apart_and_a_quarter_is_moved() -> None:
    assert named_metrics(values(10, 11), values(14, 16)) == ["fct_mean"]
    assert named_metrics(values(10, 11), values(10.9, 20)) == [], "the ranges overlap"
    assert named_metrics(values(10, 11), values(12, 13)) == [], "less than a quarter"
    assert (
        named_metrics(values(10), values(14)) == ["fct_mean"] and named_metrics(values(10), values(13)) == []
    )


def test_bounds_are_not_compared() -> None:
    before = {seed: {Key("fct_mean"): Value(10.0, censored=seed > 0)} for seed in range(3)}
    after = values(20, 20.1, 20.2)
    assert named_metrics(values(10, 10, 10), after) == ["fct_mean"]
    assert named_metrics(before, after) == [], "one seed alone has no bound"


def test_of_many_metrics_chance_names_none() -> None:
    # One of twenty has p = 0.02 taken alone.
    still = [[1.0, -1.0, 0.5, -0.4, 0.1]] * 19
    assert stats.benjamini_hochberg([*still, [1.0, 2.0, 3.0, 4.0, 0.4]]) == [False] * 20
    assert stats.benjamini_hochberg([[1.0, 2.0, 3.0, 4.0, 0.4]]) == [True]
    assert stats.benjamini_hochberg([*still, [1.0, 1.01, 1.02, 1.0, 1.01]]) == [False] * 19 + [True]
    assert stats.benjamini_hochberg([]) == []
