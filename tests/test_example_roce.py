"""Tests of the Python example of RoCE beside TCP: examples/roce.py."""

import re
import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[1] / "examples" / "roce.py"
LINE = re.compile(r"(\w+) +writes +(\S+) ms; short flows +(\d+) us \(p99\); +(\d+) pauses")


def test_the_example_tells_of_every_variant_and_draws_how_long_flows_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLE))["main"]("8ms")
    lines = capsys.readouterr().out.splitlines()
    assert lines.pop() == "figure: out/roce_fct.png"
    found = {}
    for line in lines:
        match = LINE.fullmatch(line)
        assert match is not None, line
        found[match[1]] = [float(one) for one in match.groups()[1:]]
    assert list(found) == ["together", "apart", "dcqcn"]
    writes, short, pauses = zip(*found.values(), strict=True)
    assert short[0] > 2 * max(short[1:])  # a separate class is neither paused nor queued behind writes
    assert writes[1] < 1.2 * writes[0]  # and writes take hardly longer
    assert pauses[2] < 0.7 * pauses[1]  # sources slow down before links are paused
    assert writes[2] > 3 * writes[1]  # and they stay slow long after
    assert (tmp_path / "out" / "roce_fct.png").stat().st_size > 10_000
