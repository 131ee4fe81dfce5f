"""Tests of the Python example of QCN: examples/qcn.py."""

import re
import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[1] / "examples" / "qcn.py"
LINE = re.compile(
    r"(\w+) +victim (\S+) Gbit/s, told +(\d+) times; culprit (\S+) Gbit/s, told +(\d+) times; +(\d+) pauses"
)


def test_the_example_tells_of_every_variant_and_draws_what_flows_send(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLE))["main"]("40ms")
    lines = capsys.readouterr().out.splitlines()
    assert lines.pop() == "figure: out/sent_rates.png"
    found = {}
    for line in lines:
        match = LINE.fullmatch(line)
        assert match is not None, line
        found[match[1]] = [float(one) for one in match.groups()[1:]]
    assert list(found) == ["pfc", "arrival", "occupancy"]
    victim, told, _, culprit_told, pauses = zip(*found.values(), strict=True)
    assert told[0] == culprit_told[0] == 0  # without QCN
    assert told[1] > 10  # arrivals of the victim are sampled as well
    assert 10 * told[2] < culprit_told[2]  # the victim occupies hardly any memory
    assert victim[2] > 1.5 * max(victim[:2])
    assert pauses[2] < pauses[1] < pauses[0]
    assert (tmp_path / "out" / "sent_rates.png").stat().st_size > 10_000
