"""What is measured of pauses, and what a run says that should not lose or never ends."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import overspill
from overspill import core
from overspill.results import Results

# crates/sim/tests/pause.rs works this run out: the NIC of `a` is stopped from 51.888 to 384.096 us.
SLOW = """
name = "slow"
duration = "1ms"
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
switch.pause = { kind = "pfc", high = "4554B", low = "1518B" }
[variants.tail_drop]
"""


@pytest.fixture(autouse=True)
def compiled() -> Iterator[None]:
    """The compiled core."""
    core.use(None)
    yield
    core.use(None)


def ran(tmp_path: Path, *sets: str) -> Results:
    """The scenario with these settings."""
    path = tmp_path / "slow.toml"
    path.write_text(SLOW)
    return overspill.run(path, sets=sets)


def test_pauses_are_measured_to_the_picosecond(tmp_path: Path) -> None:
    results = ran(tmp_path)
    found = {name: one.value for name, one in results.values["pfc"][1].items()}
    paused = 384.096 - 51.888
    assert (found["pauses"], found["pause_frames"]) == (1, 1), "the second begins after the window"
    assert found["pause_share_max"] == pytest.approx(paused / 400)
    assert found["pause_share_mean"] == pytest.approx(paused / 400 / 4), "four ports, one class"
    assert found["pause_length_mean"] == found["pause_length_max"] == pytest.approx(paused * 1e-6)
    assert not any(name.startswith("pause") for name in results.values["tail_drop"][1])


def test_a_run_that_should_not_lose_and_does_says_where_and_the_others_go_on(tmp_path: Path) -> None:
    results = ran(tmp_path, "switch.buffer.size='5KB'")
    (failure,) = results.failures
    assert "switch s, port 0 (from a), class 0, at 62520ns" in failure
    assert "high is 4554B" in failure and "Port 1 (to b) was full: 4554 of 5000 in use" in failure
    assert {run.variant for run in results.runs} == {"tail_drop"}
