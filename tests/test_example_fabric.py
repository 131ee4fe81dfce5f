"""Tests of the Python example of a switch with several stages: examples/fabric.py."""

import re
import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[1] / "examples" / "fabric.py"
LINE = re.compile(r"(\w+) +victim (\S+) Gbit/s, culprit (\S+) Gbit/s, +(\d+) pauses")


def test_the_example_shows_what_protects_the_victim(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLE))["main"]("60ms")
    found = {}
    for line in capsys.readouterr().out.splitlines():
        match = LINE.fullmatch(line)
        assert match is not None, line
        found[match[1]] = [float(one) for one in match.groups()[1:]]
    assert list(found) == ["pfc", "occupancy", "two_samples", "two_samples_in_turn", "acknowledged"]
    victim, culprit, pauses = zip(*found.values(), strict=True)
    assert max(culprit) < 2.5  # rate of the internal link, less headers
    assert min(victim[2], victim[4]) > 1.2 * max(victim[0], victim[1], victim[3])
    assert pauses[4] < pauses[2] < pauses[0]
