"""Tests of pause metrics, and of warnings about runs that should not lose packets or never end."""

from pathlib import Path

import pytest

import overspill
from overspill.cli import run_end
from overspill.cli.console import EXIT_UNFINISHED
from overspill.results import header, results_document
from overspill.results.results import Results

pytestmark = pytest.mark.usefixtures("compiled")

# crates/sim/tests/pause.rs derives this run by hand: the NIC of `a` is paused from 51.888 to 384.096 us.
SLOW = """
name = "slow"
duration = "1ms"
[host]
nic_jitter = "0us"
[topology]
kind = "custom"
node = [{ name = "a", kind = "host" }, { name = "b", kind = "host" }, { name = "s", kind = "switch" }]
link = [
  { a = "a", b = "s", rate = "1Gbps", delay = "1us" },
  { a = "s", b = "b", rate = "100Mbps", delay = "1us" },
]
[switch]
buffer = { kind = "per_port", size = "100KB" }
[measure]
to = "400us"
[[traffic]]
name = "t"
kind = "constant"
source = "a"
destination = "b"
payload = "1460B"
rate = "1Gbps"
bytes = "wire"
stop = "80us"
[variants.pfc]
switch.pause = { kind = "pfc", xoff = "4554B", xon = "1518B" }
[variants.tail_drop]
"""


def run_scenario(tmp_path: Path, *sets: str) -> Results:
    """Runs the scenario with these settings."""
    path = tmp_path / "slow.toml"
    path.write_text(SLOW)
    return overspill.run(path, sets=sets)


def test_pauses_are_measured_to_the_picosecond(tmp_path: Path) -> None:
    results = run_scenario(tmp_path)
    found = {name: one.value for name, one in results.values["pfc"][1].items()}
    paused = 384.096 - 51.888
    assert (found["pauses"], found["pause_frames"]) == (1, 1), "the second begins after the window"
    assert found["paused_fraction_max"] == pytest.approx(paused / 400)
    assert found["paused_fraction_mean"] == pytest.approx(paused / 400 / 4), "four ports, one class"
    assert found["pause_length_mean"] == found["pause_length_max"] == pytest.approx(paused * 1e-6)
    assert not any(name.startswith("pause") for name in results.values["tail_drop"][1])


def test_a_run_that_should_not_lose_and_does_says_where_and_the_others_go_on(tmp_path: Path) -> None:
    results = run_scenario(tmp_path, "switch.buffer.size='5KB'")
    (failure,) = results.failures
    assert "switch s, port 0 (from a), class 0, at 62.52us" in failure
    assert (
        "xoff is 4554B" in failure and "Port 1 (to b) was full: 4554B in use, with a limit of 5KB" in failure
    )
    assert {run.variant for run in results.runs} == {"tail_drop"}


def ring() -> str:
    """Returns a scenario with five switches in a ring; each one's host sends 500 KB two hops on."""
    hosts, after = range(5), [(i + 1) % 5 for i in range(5)]
    nodes = [
        f'{{ name = "{name}{i}", kind = "{kind}" }}'
        for name, kind in (("h", "host"), ("s", "switch"))
        for i in hosts
    ]
    ends = [(f"h{i}", f"s{i}") for i in hosts] + [(f"s{i}", f"s{after[i]}") for i in hosts]
    links = [f'{{ a = "{a}", b = "{b}", rate = "1Gbps", delay = "1us" }}' for a, b in ends]
    return f"""
name = "ring"
duration = "5ms"
[host]
nic_jitter = "0us"
[topology]
kind = "custom"
node = [{", ".join(nodes)}]
link = [{", ".join(links)}]
[switch]
buffer = {{ kind = "per_port", size = "200KB" }}
pause = {{ kind = "pfc", xoff = "20KB", xon = "10KB" }}
[measure]
drain = "10ms"
[[traffic]]
name = "t"
kind = "trace"
file = "flows.csv"
"""


def test_a_deadlock_is_named_beside_the_flows_that_it_leaves_unfinished(tmp_path: Path) -> None:
    rows = ["start,source,destination,bytes", *(f"0ms,h{i},h{(i + 2) % 5},500KB" for i in range(5))]
    (tmp_path / "flows.csv").write_text("\n".join(rows))
    path = tmp_path / "ring.toml"
    path.write_text(ring())
    results = overspill.run(path)
    (run,) = results.runs
    assert run.deadlock is not None
    cycle, at = run.deadlock["cycle"], run.deadlock["at_ps"]
    assert sorted(one.partition(":")[0] for one in cycle) == ["s0", "s1", "s2", "s3", "s4"]
    assert run.unfinished == 5 and results.unfinished == [run]
    (said,) = [line.text for line in header.header_lines(results) if line.label == "DEADLOCK"]
    assert " -> ".join([*cycle, cycle[0]]) in said
    (told,) = results_document.point_document(results)["variants"]
    assert told["deadlocks"] == [{"seed": 1, "at_ps": at, "class": 0, "cycle": cycle}]
    assert run_end.exit_status(results) == EXIT_UNFINISHED


@pytest.mark.parametrize(("allowed", "status"), [("false", 3), ("true", 0)])
def test_a_deadlock_of_flows_without_end_is_told_by_the_exit_status_too(
    tmp_path: Path, allowed: str, status: int
) -> None:
    names = [f"h{i}" for i in range(5)]
    endless = f'kind = "long_lived"\nsources = {names}\ndestinations = {[*names[2:], *names[:2]]}'
    path = tmp_path / "ring.toml"
    path.write_text(ring().replace('kind = "trace"\nfile = "flows.csv"', endless))
    results = overspill.run(path, seeds=2, sets=[f"measure.allow_unfinished={allowed}"])
    assert all(run.deadlock for run in results.runs) and not results.unfinished
    assert run_end.exit_status(results) == status
    (said,) = [
        one for one in results_document.point_document(results)["cautions"] if one.startswith("DEADLOCK")
    ]
    assert "seeds 1, 2" in said and said.endswith("at the earliest")
