"""Speed of both simulators on the 128-host permutation, run alternately on one machine."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from ns3 import OUT, ROOT, Flow, MissingRequirement, run_twin

import overspill

CASE = "k8_1g"
ROUNDS = 5
STACK_DESCRIPTION = "DCTCP, SACK; no timestamps"  # settings of both simulators
BENCH_COMMAND = ["cargo", "bench", "--quiet", "--package", "sim", "--bench", "whole_runs"]
# The run of this name in benches/whole_runs.rs; ns-3 runs the flows of its permutation.
SCENARIO = f"""name = "{CASE}"
duration = "100ms"
[host]
nic_jitter = "0us"
[topology]
kind = "fat_tree"
k = 8
link = {{ rate = "1Gbps", delay = "1us" }}
[switch]
buffer = {{ kind = "per_port", size = "100pkt" }}
marking = {{ kind = "ecn_threshold", k = "15pkt" }}
[transport]
kind = "dctcp"
recovery = "sack"
timestamps = false
min_rto = "10ms"
[measure]
queues = false
[[traffic]]
name = "load"
kind = "permutation"
size = "1MB"
"""


@dataclass
class Speed:
    """Rounds of both simulators."""

    ours: list[dict[str, Any]]
    theirs: list[dict[str, Any]]
    same_packets: bool

    @staticmethod
    def fastest_round(rounds: list[dict[str, Any]]) -> dict[str, Any]:
        """Returns the fastest round: other load on a machine only ever slows a round down."""
        return max(rounds, key=lambda row: float(row["packet_hops_per_s"]))

    @property
    def ratio(self) -> float:
        """Ratio of the speeds of the fastest rounds."""
        ours, theirs = self.fastest_round(self.ours), self.fastest_round(self.theirs)
        return float(ours["packet_hops_per_s"] / theirs["packet_hops_per_s"])

    @property
    def ratio_of_medians(self) -> float:
        """Ratio of the speeds of the median rounds."""
        ours, theirs = (median(row["packet_hops_per_s"] for row in rows) for rows in (self.ours, self.theirs))
        return float(ours / theirs)


def permutation_flows() -> tuple[list[Flow], int]:
    """Returns the flows of the first seed, and the number of packet-hops that they take."""
    OUT.mkdir(parents=True, exist_ok=True)
    file = OUT / f"{CASE}.toml"
    file.write_text(SCENARIO)
    run = overspill.run(file, seed=1).runs[0]
    columns = run.columns("flows", "src", "dst", "bytes", "start_ps")
    return [Flow(*(int(value) for value in row)) for row in zip(*columns, strict=True)], int(
        run.summary["hops"]
    )


def run_overspill_round() -> dict[str, Any]:
    """Runs one round of Overspill, as long as a round of ns-3; `out/bench.json` is left unchanged."""
    file = ROOT / "out" / "bench.json"
    before = file.read_bytes() if file.exists() else None
    once = os.environ | {"OVERSPILL_BENCH_ROUNDS": "1"}
    done = subprocess.run(
        [*BENCH_COMMAND, "--", CASE], cwd=ROOT, env=once, capture_output=True, text=True, check=False
    )
    try:
        if done.returncode:
            raise MissingRequirement(f"`{' '.join(BENCH_COMMAND)}` failed: {done.stderr.strip()[-2000:]}")
        rows = json.loads(file.read_text())["runs"]
        return {**next(row for row in rows if row["name"] == CASE), "on": STACK_DESCRIPTION}
    finally:
        if before is not None:
            file.write_bytes(before)


def run_ns3_round(program: Path, flows: list[Flow]) -> dict[str, Any]:
    """Runs one round of ns-3."""
    settings = {
        "topology": "fat_tree",
        "n": 8,
        "tcp": "dctcp",
        "queue": 100,
        "mark": 15,
        "rules": "stock",
        "sack": True,
        "timestamps": False,
    }
    ran = run_twin(program, flows, settings)
    if any(end < 0 for _, _, end in ran.flows):
        raise MissingRequirement("flows are unfinished in ns-3")
    return {
        "name": f"ns3_{CASE}",
        "hosts": 128,
        "packet_hops": ran.packet_hops,
        "packet_hops_per_s": round(ran.packet_hops / ran.seconds),
        "events_per_packet_hop": round(ran.events / ran.packet_hops, 4),
        "rss_bytes": ran.rss_bytes,
        "seconds": ran.seconds,
        "drops": ran.drops,
        "on": STACK_DESCRIPTION,
    }


def compare_speeds(program: Path, tell: Any) -> Speed:
    """Runs both simulators alternately, ours first; both are compiled beforehand."""
    tell("Compiling our benchmark")
    built = subprocess.run(
        [*BENCH_COMMAND, "--no-run"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if built.returncode:
        raise MissingRequirement(
            f"`{' '.join(BENCH_COMMAND)} --no-run` failed: {built.stderr.strip()[-2000:]}"
        )
    flows, hops = permutation_flows()
    ours, theirs = [], []
    for number in range(1, ROUNDS + 1):
        tell(f"Round {number} of {ROUNDS}: ours")
        ours.append(run_overspill_round())
        tell(f"Round {number} of {ROUNDS}: ns-3")
        theirs.append(run_ns3_round(program, flows))
    return Speed(ours, theirs, all(row["packet_hops"] == hops for row in ours))


def describe_load() -> str:
    """Returns the machine's load: runnable processes over the last minute, and number of cores."""
    return f"{os.getloadavg()[0]:.2f} runnable on {os.cpu_count()} cores"
