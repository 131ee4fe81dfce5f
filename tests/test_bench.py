"""Tests of runs timed in turns: the decision that a tree has become slower, and the cost of tables."""

import json
import re
import sys
from pathlib import Path

import pytest

from overspill.engine import simulate
from overspill.results import table_streams

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benches"))

import alternating_rounds  # noqa: E402
import compare  # noqa: E402
import shares  # noqa: E402

# Substitute for a build of benches/whole_runs.rs: the same packets in a given CPU time.
PROGRAM = """#!{python}
import json, sys, time
while time.process_time() < {seconds}:
    pass
print(json.dumps({{"name": sys.argv[2], "packet_hops": {hops}}}))
"""


def write_program(folder: Path, name: str, seconds: float, hops: int = 1000) -> Path:
    path = folder / name
    path.write_text(PROGRAM.format(python=sys.executable, seconds=seconds, hops=hops))
    path.chmod(0o755)
    return path


def test_the_interval_of_nine_rounds_lies_between_the_second_and_the_eighth() -> None:
    # The probability that 7 of 9 or more are on one side is 2 * (1 + 9 + 36) / 512 = 0.18; for 8 or more it
    # is 0.04.
    ratio = alternating_rounds.Ratio.from_rounds([1.4, 1.1, 1.9, 1.2, 1.3, 1.5, 1.8, 1.6, 1.7])
    assert (ratio.ratio, ratio.low, ratio.high) == (1.5, 1.2, 1.8)


def test_one_disturbed_round_moves_neither_the_ratio_nor_its_interval() -> None:
    calm = [1.0, 1.01, 0.99, 1.02, 0.98, 1.03, 0.97, 1.04, 0.96]
    assert alternating_rounds.Ratio.from_rounds(calm) == alternating_rounds.Ratio.from_rounds(
        [*calm[:-2], 40.0, calm[-1]]
    )


def test_too_few_rounds_have_no_interval() -> None:
    with pytest.raises(alternating_rounds.FailedMeasurement, match="5 rounds; expected 6 or more"):
        alternating_rounds.Ratio.from_rounds([1.0] * 5)


@pytest.mark.parametrize(
    ("now", "before", "status"), [(0.3, 0.15, 1), (0.15, 0.3, 0)], ids=["half as fast", "twice as fast"]
)
def test_a_slower_tree_fails_and_a_faster_one_does_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], now: float, before: float, status: int
) -> None:
    runs = compare.compare_cases(
        write_program(tmp_path, "now", now), write_program(tmp_path, "before", before), 6, ("k8_1g",)
    )
    assert compare.exit_status(runs) == status
    assert runs[0]["low"] <= runs[0]["ratio"] <= runs[0]["high"]
    assert 0.6 < runs[0]["ratio"] * now / before < 1.6
    assert ("k8_1g" in capsys.readouterr().err) == bool(status)


def test_what_does_other_packets_is_told_by_its_speed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    now, before = write_program(tmp_path, "now", 0.15, 2000), write_program(tmp_path, "before", 0.15)
    (run,) = compare.compare_cases(now, before, 6, ("k8_1g",))
    assert 1.4 < run["ratio"] < 2.8
    assert "other packets" in capsys.readouterr().out


def test_a_program_without_the_run_is_named(tmp_path: Path) -> None:
    mute = tmp_path / "mute"
    mute.write_text("#!/bin/sh\necho no run\n")
    mute.chmod(0o755)
    with pytest.raises(
        alternating_rounds.FailedMeasurement, match="mute has no run `k8_1g` that prints its packet-hops"
    ):
        alternating_rounds.Program(mute, "k8_1g").speed()
    mute.write_text("#!/bin/sh\necho out of order >&2\nexit 3\n")
    with pytest.raises(alternating_rounds.FailedMeasurement, match="--alone k8_1g: out of order"):
        alternating_rounds.Program(mute, "k8_1g").speed()


def test_an_unknown_revision_is_named() -> None:
    with pytest.raises(
        alternating_rounds.FailedMeasurement, match="BEFORE=no-such-revision: no such revision"
    ):
        compare.commit_hash("no-such-revision")


def test_shares_go_into_the_rows_of_their_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "out" / "bench.json"
    monkeypatch.setattr(shares, "RESULT", file)
    shares.merge_into_results({"k8_1g_tables": {"share": 0.5}})
    shares.merge_into_results({"k8_1g_tables": {"share": 0.6}, "k16_1g_tables": {"share": 0.4}})
    rows = json.loads(file.read_text())["runs"]
    assert rows == [{"name": "k8_1g_tables", "share": 0.6}, {"name": "k16_1g_tables", "share": 0.4}]


def test_the_whole_command_is_timed_by_the_packets_of_its_own_run(tmp_path: Path) -> None:
    speed = alternating_rounds.Command(ROOT / "scenarios" / "incast.toml").speed()
    assert speed.packet_hops > 0
    assert 0 < speed.per_second < speed.packet_hops / 0.05, "what Python takes to start counts"
    (tmp_path / "bad.toml").write_text("name = 1")
    with pytest.raises(alternating_rounds.FailedMeasurement, match="bad"):
        alternating_rounds.Command(tmp_path / "bad.toml").speed()


def test_the_command_beside_the_core_is_a_share_with_its_interval(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = (ROOT / "scenarios" / "incast.toml").read_text()
    monkeypatch.setattr(alternating_rounds.Program, "scenario", lambda self: scenario)
    speeds = {"Command": alternating_rounds.Speed(100, 50.0), "Program": alternating_rounds.Speed(100, 100.0)}
    for one in (alternating_rounds.Command, alternating_rounds.Program):
        monkeypatch.setattr(one, "speed", lambda self: speeds[type(self).__name__])
    row = shares.measure_case_share(tmp_path / "any", "k8_1g_command", 6)
    assert row == {"share": 0.5, "share_low": 0.5, "share_high": 0.5, "share_of": "k8_1g"}
    speeds["Command"] = alternating_rounds.Speed(99, 50.0)
    with pytest.raises(alternating_rounds.FailedMeasurement, match="k8_1g differ in their packet-hops"):
        shares.measure_case_share(tmp_path / "any", "k8_1g_command", 6)


def test_the_timed_runs_take_rows_as_the_command_does() -> None:
    source = (ROOT / "benches" / "whole_runs.rs").read_text()
    assert re.findall(r"const CHUNK: u64 = ([\d_]+);", source) == [f"{simulate.EVENTS_BETWEEN_ROWS:_}"]
    shift = re.search(r"const ROWS: usize = 1 << (\d+);", source)
    assert shift is not None and 1 << int(shift[1]) == table_streams.ROWS_PER_GROUP
    tables = {case for case in shares.CASES if case.endswith(shares.TABLES_SUFFIX)}
    assert tables == set(re.findall(r'"(\w+_tables)"', (ROOT / "benches" / "cases.rs").read_text()))
