"""Tests that the Python examples run, and print what they demonstrate."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SAID = {
    "abq": ("drop  ", "abq  ", "no_ece  ", " drops, QCT p99 ", " ACKs held for "),
    "cut_packets": ("drop  QCT p99 ", "cp    QCT p99 ", " trims", " returned", "most at port "),
    "from_python": ("drop ", "detour ", "FCT p99 ", "over 3 seeds"),
    "fabric": ("pfc  ", "two_samples  ", "acknowledged  ", " victim ", " culprit ", " pauses"),
    "roce": ("together  ", "apart  ", "dcqcn  ", " writes ", " short flows ", " pauses"),
    "qcn": ("pfc  ", "arrival  ", "occupancy  ", " victim ", " culprit ", " pauses"),
}
FIGURES = {"abq": ["out/held_acks.png"], "qcn": ["out/sent_rates.png"], "roce": ["out/roce_fct.png"]}


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_an_example_runs_and_says_what_it_is_there_to_say(path: Path, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path
    )
    assert ran.returncode == 0, ran.stderr
    assert [one for one in SAID[path.stem] if one not in ran.stdout] == [], ran.stdout
    written = [one.relative_to(tmp_path).as_posix() for one in tmp_path.rglob("*") if one.is_file()]
    assert sorted(written) == FIGURES.get(path.stem, [])
