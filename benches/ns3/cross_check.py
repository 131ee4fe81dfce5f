"""Matched dumbbells in both simulators: bytes, completion times, drops and marks compared."""

import math
import random
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
from ns3 import OUT, Flow, run_twin

import overspill

FLOW_BYTES = 1_000_000
STARTS_WITHIN_NS = 600_000  # for each flow, so that initial windows alone do not overflow the queue
DRAWS = 10
HALF_TIME_MS = {2: 8, 8: 32, 32: 130}  # about half of the time that all flows need
QUEUE_PACKETS = 100
MARKING_THRESHOLD = 20
MAX_DIFFERENCE = 0.02
QUANTITIES = {
    "bytes": "bytes delivered at half time",
    "fct": "mean FCT (ms)",
    "drops": "drops",
    "marks": "marks",
}


@dataclass(frozen=True)
class Case:
    """A transport with its options, each set explicitly in both simulators."""

    name: str
    kind: str
    flows: tuple[int, ...]
    recovery: str = "newreno"
    timestamps: bool = False
    handshake: bool = False

    @property
    def mss(self) -> int:
        """Segment size: packets stay within the 1500 B beyond which ns-3 fragments."""
        return 1448 if self.timestamps else 1460

    @property
    def uses_marking(self) -> bool:
        """True if the switches mark packets (DCTCP)."""
        return self.kind == "dctcp"


CASES = (
    Case("newreno", "newreno", (2, 8, 32)),
    Case("dctcp", "dctcp", (2, 8, 32)),
    Case("sack", "sack", (2, 8, 32), recovery="sack"),
    Case("newreno, handshake", "newreno", (2,), handshake=True),
    Case("newreno, timestamps", "newreno", (2,), timestamps=True),
)
# `stock` is unmodified ns-3; `ours` follows our reading of the rules that docs/internals/ns3.md names.
RULES = ("stock", "ours")
# Values of every option that a change of a default could affect.
TRANSPORT = """initial_window = "10pkt"
initial_ssthresh = "1GiB"
receive_window = "512MiB"
min_rto = "10ms"
max_rto = "60s"
initial_rto = "10ms"
clock_granularity = "1us"
dupack_threshold = 3
limited_transmit = true
delayed_ack = false
nagle = false
restart_after_idle = true
retransmission_timer = true
window_less_out_of_order = false
"""
# Quantile of Student's t at 97.5% for DRAWS - 1 = 9 degrees of freedom.
T_QUANTILE = 2.262


def scenario_text(case: Case, n: int, early_ms: int | None) -> str:
    """Returns the scenario of a case for Overspill.

    Counters stop with the measurement window, so bytes at half time need a run of their own.
    """
    window = "" if early_ms is None else f'to = "{early_ms}ms"\n'
    marking = (
        f'marking = {{ kind = "ecn_threshold", k = "{MARKING_THRESHOLD}pkt" }}\n' if case.uses_marking else ""
    )
    recovery = f'recovery = "{case.recovery}"\n' if case.kind == "dctcp" else "ecn = false\n"
    return f"""name = "cross_check"
duration = "20s"
[host]
nic_jitter = "0us"
[topology]
kind = "dumbbell"
n = {n}
link = {{ rate = "4Gbps", delay = "1us" }}
bottleneck = {{ rate = "1Gbps", delay = "20us" }}
[framing]
kind = "ethernet"
header = "40B"
link = "2B"
min_frame = "1B"
gap = "0B"
[switch]
buffer = {{ kind = "per_port", size = "{QUEUE_PACKETS}pkt" }}
{marking}[transport]
kind = "{case.kind}"
{recovery}{TRANSPORT}mss = "{case.mss}B"
timestamps = {str(case.timestamps).lower()}
connection = "{"handshake" if case.handshake else "established"}"
[measure]
queues = false
{window}[[traffic]]
name = "flows"
kind = "trace"
file = "flows.csv"
"""


def ns3_settings(case: Case, n: int) -> dict[str, Any]:
    """Returns the settings of the same case for ns-3."""
    return {
        "topology": "dumbbell",
        "n": n,
        "tcp": "dctcp" if case.kind == "dctcp" else "newreno",
        "mss": case.mss,
        "queue": QUEUE_PACKETS,
        "mark": MARKING_THRESHOLD if case.uses_marking else 0,
        "rate": "4Gbps",
        "delay": "1us",
        "bottleneck_rate": "1Gbps",
        "bottleneck_delay": "20us",
        "limited_transmit": True,
        "sack": case.recovery == "sack",
        "timestamps": case.timestamps,
        "handshake": case.handshake,
        "delivered_at": f"{HALF_TIME_MS[n]}ms",
    }


def draw_flows(n: int, seed: int) -> list[Flow]:
    """Draws the flows: every host on the left sends to its opposite host.

    Starts are whole nanoseconds, the time resolution of ns-3.
    """
    starts = random.Random(1000 * n + seed)
    return [Flow(i, n + i, FLOW_BYTES, 1000 * starts.randrange(n * STARTS_WITHIN_NS)) for i in range(n)]


def run_overspill(case: Case, flows: list[Flow], seed: int) -> dict[str, float]:
    """Runs one draw in Overspill."""
    OUT.mkdir(parents=True, exist_ok=True)
    rows = "".join(f"{f.start_ps}ps,{f.source},{f.destination},{f.bytes}\n" for f in flows)
    (OUT / "flows.csv").write_text("start,source,destination,bytes\n" + rows)
    file = OUT / "cross_check.toml"

    def once(early_ms: int | None) -> Any:
        file.write_text(scenario_text(case, len(flows), early_ms))
        return overspill.run(file, seed=seed).runs[0]

    whole, half = once(None), once(HALF_TIME_MS[len(flows)])
    start, end = whole.columns("flows", "start_ps", "end_ps")
    ports = whole.table("ports")
    drops = sum(int(np.sum(ports[name])) for name in ports.column_names if name.startswith("drop_"))
    return {
        "bytes": sum(half.summary["received_bytes"]) / 1e6,
        "fct": float(np.mean(end.astype(float) - start.astype(float))) / 1e9,
        "drops": float(drops),
        "marks": float(np.sum(ports["marked"])),
    }


def run_ns3(program: Path, case: Case, flows: list[Flow], rules: str) -> dict[str, float]:
    """Runs the same draw in ns-3."""
    ran = run_twin(program, flows, {**ns3_settings(case, len(flows)), "rules": rules})
    unfinished = sum(end < 0 for _, _, end in ran.flows)
    if unfinished:
        raise RuntimeError(f"{unfinished} flows are unfinished in ns-3")
    return {
        "bytes": ran.early_bytes / 1e6,
        "fct": mean(end - start for _, start, end in ran.flows) / 1e9,
        "drops": float(ran.drops),
        "marks": float(ran.marks),
    }


@dataclass(frozen=True)
class Row:
    """Quantity of a case, as means over the draws.

    `spread` is the half-width of the 95% interval of the mean difference, as a share of Overspill's mean.
    """

    transport: str
    flows: int
    quantity: str
    rules: str
    ours: float
    theirs: float
    difference: float | None
    spread: float

    @property
    def agrees(self) -> bool:
        """True if the means are within the limit; false if only ns-3 counts anything."""
        return self.difference is not None and abs(self.difference) <= MAX_DIFFERENCE


def compare_draws(case: tuple[str, int, str, str], ours: list[float], theirs: list[float]) -> Row:
    """Compares both simulators draw by draw; there is no difference if both count zero."""
    transport, n, quantity, rules = case
    base = mean(ours)
    apart = [b - a for a, b in zip(ours, theirs, strict=True)]
    if base == 0:
        share, spread = (None if any(theirs) else 0.0), 0.0
    else:
        share, spread = mean(apart) / base, T_QUANTILE * stdev(apart) / math.sqrt(len(apart)) / base
    return Row(transport, n, quantity, rules, base, mean(theirs), share, spread)


def cross_check(program: Path, tell: Any) -> list[Row]:
    """Runs every case; `tell` is called with the name of each case before it runs."""
    rows = []
    for case in CASES:
        for n in case.flows:
            tell(f"{n} flows, {case.name}")
            draws = [draw_flows(n, seed) for seed in range(1, DRAWS + 1)]
            ours = [run_overspill(case, flows, seed) for seed, flows in enumerate(draws, 1)]
            for rules in RULES:
                theirs = [run_ns3(program, case, flows, rules) for flows in draws]
                rows += [
                    compare_draws((case.name, n, q, rules), [a[q] for a in ours], [b[q] for b in theirs])
                    for q in QUANTITIES
                ]
    return rows
