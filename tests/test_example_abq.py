"""Tests of the Python example of ABQ: examples/abq.py."""

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[1] / "examples" / "abq.py"


def test_the_example_tells_of_every_variant_and_draws_what_was_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLE))["main"](20)
    lines = capsys.readouterr().out.splitlines()
    assert lines.pop() == "figure: out/held_acks.png"
    held = {line.split()[0]: int(line.split(" ms, ")[1].split()[0]) for line in lines}
    assert list(held) == ["drop", "ecn", "ecn_twice", "abq", "floor", "no_ece"]
    assert {name for name, count in held.items() if count > 100} == {"abq", "floor", "no_ece"}
    assert (tmp_path / "out" / "held_acks.png").stat().st_size > 10_000
