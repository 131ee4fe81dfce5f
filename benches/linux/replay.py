"""Replays of kernel runs in Overspill, with the same start times."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import overspill
from cases import Case
from host_delays import HostDelays
from netns import FRAME_BYTES, MTU
from outcome import Flow, Outcome, UnusableRun

# Bytes of IP and TCP headers without options.
HEADER_BYTES = 40
# Tick of the kernel's clock at 250 Hz.
TICK_MS = 4
TEMPLATE = """
name = "linux"
duration = "120s"

[topology]
kind = "custom"
node = [
  {{ name = "sender", kind = "host" }},
  {{ name = "receiver", kind = "host" }},
  {{ name = "router", kind = "switch" }},
]
# A veth is as fast as the processor that sends. All flows have one host, since all sockets have one clock.
link = [
  {{ a = "sender", b = "router", rate = "{sender_kbps}Kbps", delay = "1us" }},
  {{ a = "router", b = "receiver", rate = "{rate}Mbps", delay = "1us" }},
]

# As the kernel counts: no check sequence, no preamble, no gap.
[framing]
kind = "ethernet"
header = "{header}B"
link = "{link}B"
min_frame = "{bare}B"
gap = "0B"

# The kernel lets two frames go at once after an idle time, and has the one that waits for tokens in its
# queue; ours has one on the wire beside it.
[switch]
buffer = {{ kind = "per_port", size = "{waiting}pkt" }}

# As late as the kernel's hosts, of which an answer crosses the stack twice.
[host]
stack_delay = "{stack}ns"
nic_jitter = "{jitter}ns"

[measure]
drain = "10s"
queues = false
goodput = "none"

[transport]
{transport}

[[traffic]]
name = "incast"
kind = "trace"
file = "starts.csv"
unit = "ns"
"""


@dataclass(frozen=True)
class ReplayRandomness:
    """Random part of a replay.

    The seed draws the delay of each frame, and the phase of the tick at which the first flow starts.
    """

    late: HostDelays
    seed: int


def transport_settings(case: Case, late: HostDelays) -> dict[str, str]:
    """Returns the transport of a case: a Linux host with its settings and the measured handshake RTT."""
    return {
        "kind": '"linux"',
        "congestion_control": f'"{case.congestion_control}"',
        "min_rto": f'"{case.rto_min_ms}ms"',
        "tick": f'"{TICK_MS}ms"',
        "handshake_rtt": f'"{late.handshake_ns}ns"',
    }


def scenario_text(case: Case, late: HostDelays) -> str:
    """Returns a scenario that reads `starts.csv`."""
    return TEMPLATE.format(
        rate=case.rate_mbps,
        sender_kbps=FRAME_BYTES * 8_000_000 // late.frame_ns,
        header=HEADER_BYTES,
        link=FRAME_BYTES - MTU,
        bare=FRAME_BYTES - MTU + HEADER_BYTES,
        waiting=case.buffer_packets,
        stack=late.delay_ns // 2,
        jitter=late.jitter_ns,
        transport="\n".join(f"{key} = {value}" for key, value in transport_settings(case, late).items()),
    )


def trace_text(case: Case, like: Outcome) -> str:
    """Returns the flow starts of a kernel run as a trace file."""
    rows = [f"{flow.start_ns},sender,receiver,{case.bytes}" for flow in like.flows]
    return "\n".join(["start,source,destination,bytes", *rows]) + "\n"


def replay_run(case: Case, like: Outcome, chance: ReplayRandomness) -> Outcome:
    """Replays one run of the kernel with its start times."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "linux.toml"
        file.write_text(scenario_text(case, chance.late))
        file.with_name("starts.csv").write_text(trace_text(case, like))
        results = overspill.run(file, seed=chance.seed)
    if results.failures:
        raise UnusableRun(f"{case.name}: {results.failures}")
    rows = sorted(results.flows.to_pylist(), key=lambda row: int(row["flow"]))
    flows = [
        Flow(
            row["start_ps"] // 1000,
            (row["end_ps"] - row["start_ps"]) // 1000,
            row["timeouts"],
            row["retransmits"],
        )
        for row in rows
    ]
    (drops,) = results.metric("drops").column("value").to_pylist()
    return Outcome(flows, round(drops))
