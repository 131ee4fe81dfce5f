"""Tests of runs in threads that start and end, as in services and notebooks with a thread per request."""

import os
import subprocess
import sys
from pathlib import Path

import overspill

SCENARIO = """
name = "threads"
duration = "1ms"
[topology]
kind = "star"
n = 4
[[traffic]]
name = "burst"
kind = "incast"
senders = 3
receiver = "h0"
size = "20KB"
"""
# The first run of the process, which loads the core, is in a thread that ends.
RUNS = """
import sys, threading
import overspill

def run():
    made.append(overspill.run(sys.argv[1], seeds=2).summary)

made = []
for count in (1, 1, 3):
    threads = [threading.Thread(target=run) for _ in range(count)]
    [one.start() for one in threads]
    [one.join() for one in threads]
run()
assert len(made) == 6 and all(one.equals(made[0]) for one in made)
"""


def run_to_end(folder: Path, *line: object) -> subprocess.CompletedProcess[str]:
    """Returns a process of Python that has ended, given a scenario as its last argument."""
    scenario = folder / "threads.toml"
    scenario.write_text(SCENARIO)
    where = {"PYTHONPATH": str(Path(overspill.__file__).parent.parent)}
    command = [sys.executable, *map(str, line), str(scenario)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **where}, timeout=120)


def test_the_first_run_may_be_in_a_thread_that_ends(tmp_path: Path) -> None:
    ran = run_to_end(tmp_path, "-c", RUNS)
    assert ran.returncode == 0, ran.stderr


def test_the_core_outlives_the_thread_that_loads_it(tmp_path: Path) -> None:
    core = (
        os.environ.get("OVERSPILL_CORE")
        or subprocess.run(
            [sys.executable, "-c", "import overspill._core as core; print(core.__file__)"],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONPATH": str(Path(overspill.__file__).parent.parent)},
        ).stdout.strip()
    )
    ran = run_to_end(tmp_path, "-I", "-S", Path(__file__).with_name("thread_program.py"), core)
    assert (ran.returncode, ran.stdout) == (0, "all threads are gone\n"), ran.stderr
