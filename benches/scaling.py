"""Independent runs on two cores against one: part of `make bench`, or `python benches/scaling.py`.

Each round takes the same runs four times. `overspill.run` takes them with one job and with two, files and
metrics included. One process, and two parallel processes, only simulate them. The gain of two processes is
the ceiling of this machine: two cores of a small cloud machine may share one physical core, or be in use by
others. The rounds are interleaved; medians are printed and written to out/bench-scaling.json.

`by_cpu_time` is the ratio on two idle cores: CPU time with one job, divided by the main thread's with two
jobs plus half of all other threads'. Other load on the machine disturbs it little. It does not include waits
for locks.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import overspill
from overspill.engine import core

ROOT = Path(__file__).resolve().parents[1]
SCENARIO = """
name = "scaling"
duration = "200ms"
[host]
nic_jitter = "0us"
[topology]
kind = "fat_tree"
k = 8
link = { rate = "1Gbps", delay = "1us" }
[switch]
buffer = { kind = "per_port", size = "100pkt" }
marking = { kind = "ecn_threshold", k = "15pkt" }
[transport]
kind = "dctcp"
min_rto = "10ms"
[[traffic]]
name = "load"
kind = "permutation"
size = "3MB"
"""
EVENTS_PER_STEP = 200_000


def simulate(seeds: range) -> int:
    """Runs these seeds one after the other and returns their packet-hops."""
    scenario = core.load_scenario("scaling.toml", SCENARIO, [])
    hops = 0
    for seed in seeds:
        run = scenario.run("default", seed)
        status: dict[str, Any] = {"done": False}
        while not status["done"]:
            status = run.advance(EVENTS_PER_STEP)
        run.results()
        hops += status["hops"]
    return hops


def run_worker(first: int, count: int) -> None:
    """Runs one process of the ceiling measurement: waits for a line, then prints its packet-hops."""
    simulate(range(0))
    print("ready", flush=True)
    sys.stdin.readline()
    print(simulate(range(first, first + count)), flush=True)


def measure_processes(count: int, runs: int) -> float:
    """Returns the seconds that `count` parallel processes take for `runs` runs in total, without start-up."""
    share = runs // count
    line = [sys.executable, __file__, "--worker"]
    started = [
        subprocess.Popen(
            [*line, str(1 + i * share), str(share)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for i in range(count)
    ]
    for one in started:
        assert one.stdout is not None and one.stdout.readline() == "ready\n"
    began = time.perf_counter()
    for one in started:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    hops = [int(one.stdout.readline()) for one in started if one.stdout is not None]
    seconds = time.perf_counter() - began
    assert all(one.wait() == 0 for one in started) and min(hops) > 0
    return seconds


@dataclass(frozen=True)
class ElapsedTime:
    """Seconds of wall-clock time, of CPU time, and of the main thread's CPU time."""

    wall: float
    cpu: float
    main: float


def measure_jobs(count: int, runs: int) -> ElapsedTime:
    """Measures `overspill.run` with `count` jobs, including the files that it writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scaling.toml"
        path.write_text(SCENARIO, encoding="utf-8")
        began = time.perf_counter(), time.process_time(), time.thread_time()
        results = overspill.run(path, seeds=runs, jobs=count, out=Path(folder) / "out")
        ended = time.perf_counter(), time.process_time(), time.thread_time()
    assert len(results.runs) == runs and not results.partial
    wall, cpu, main = (end - begin for begin, end in zip(began, ended, strict=True))
    return ElapsedTime(wall, cpu, main)


def read_cpu_seconds() -> tuple[float, float]:
    """Returns CPU seconds of the whole machine, and of this process with its children.

    Returns zeros where there is no `/proc/stat`, that is outside of Linux.
    """
    try:
        fields = [int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    except OSError:
        return 0.0, 0.0
    busy = sum(fields[:3]) + sum(fields[5:8])
    mine = os.times()
    return busy / os.sysconf(
        "SC_CLK_TCK"
    ), mine.user + mine.system + mine.children_user + mine.children_system


def measure_round(runs: int) -> dict[str, float]:
    """Measures all four variants once, and how many cores other processes kept busy meanwhile."""
    began, before = time.perf_counter(), read_cpu_seconds()
    one, two = measure_jobs(1, runs), measure_jobs(2, runs)
    alone, both = measure_processes(1, runs), measure_processes(2, runs)
    after = read_cpu_seconds()
    busy = (after[0] - before[0]) - (after[1] - before[1])
    return {
        "jobs_1_s": one.wall,
        "jobs_2_s": two.wall,
        "ratio": one.wall / two.wall,
        "process_1_s": alone,
        "process_2_s": both,
        "ceiling": alone / both,
        "cpu_1_s": one.cpu,
        "cpu_2_s": two.cpu,
        "main_thread_s": two.main,
        "by_cpu_time": one.cpu / (two.main + (two.cpu - two.main) / 2),
        "others_cores": max(0.0, busy / (time.perf_counter() - began)),
    }


def main() -> None:
    """Measures, prints and writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=6, help="runs a round; an even number")
    parser.add_argument("--out", type=Path, default=ROOT / "out/bench-scaling.json")
    parser.add_argument("--worker", type=int, nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.worker:
        run_worker(*asked.worker)
        return
    if asked.rounds < 1 or asked.runs < 2 or asked.runs % 2:
        parser.error("expected 1 round or more, and an even number of runs")
    measure_jobs(2, 2)  # A first run, not measured, does the late imports.
    rows = []
    print(f"{'round':>5} {'jobs 1':>8} {'jobs 2':>8} {'ratio':>6} {'ceiling':>8} {'by CPU':>6} {'others':>7}")
    for number in range(1, asked.rounds + 1):
        row = measure_round(asked.runs)
        rows.append(row)
        print(
            f"{number:>5} {row['jobs_1_s']:>7.2f}s {row['jobs_2_s']:>7.2f}s {row['ratio']:>6.2f} "
            f"{row['ceiling']:>8.2f} {row['by_cpu_time']:>6.2f} {row['others_cores']:>7.2f}",
            flush=True,
        )
    write_medians(asked.out, rows, asked.runs)


def write_medians(out: Path, rows: list[dict[str, float]], runs: int) -> None:
    """Prints the medians and writes them as JSON."""
    middle = {key: median(row[key] for row in rows) for key in rows[0]}
    quiet = min(rows, key=lambda row: row["others_cores"])
    load = os.getloadavg()
    print(
        f"two jobs are {middle['ratio']:.2f} times one (median of {len(rows)}), "
        f"{middle['by_cpu_time']:.2f} by CPU time; "
        f"two processes side by side {middle['ceiling']:.2f} times one; "
        f"in the quietest round {quiet['ratio']:.2f}, {quiet['by_cpu_time']:.2f} and {quiet['ceiling']:.2f}. "
        f"Load average {load[0]:.1f}, others took {middle['others_cores']:.2f} cores."
    )
    document = {
        "scenario": "k8_1g, 3 MB",
        "runs": runs,
        "cores": os.cpu_count(),
        "load_average": load,
        **middle,
        "quietest": quiet,
        "rounds": rows,
    }
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    print(f"written to {out}")


if __name__ == "__main__":
    main()
