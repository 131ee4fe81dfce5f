"""Tests that an external overflow mechanism is built, explained and run as its how-to page says."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples/own_answer"


def test_the_example_runs_by_the_ordinary_command_and_its_table_has_both_answers(tmp_path: Path) -> None:
    binaries = Path(sys.executable).parent
    command = ["make", "-C", str(EXAMPLE), "run", f"BIN={binaries}", f"OUT={tmp_path}/own", "LOCKED=--locked"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "A full queue loses its oldest packet" in done.stdout
    assert re.search(r"tail_drop.*drop_front", done.stdout, re.DOTALL)
    assert (tmp_path / "own/report.html").exists() or any((tmp_path / "own").iterdir())
    shutil.rmtree(tmp_path / "own")


def test_the_example_and_its_test_take_less_than_a_hundred_lines() -> None:
    assert len((EXAMPLE / "src/lib.rs").read_text().splitlines()) < 100


def test_without_its_core_the_name_is_refused() -> None:
    command = [sys.executable, "-m", "overspill", "run", str(EXAMPLE / "scenario.toml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "drop_front" in done.stderr and "`tail_drop`" in done.stderr
