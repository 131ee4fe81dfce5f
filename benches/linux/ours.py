"""The same runs in Overspill: the starts that the kernel had, replayed."""

import tempfile
from pathlib import Path

import overspill
from cases import Case
from netns import FRAME, MTU
from outcome import Broken, Flow, Outcome

# IP and TCP headers; timestamps take 12 bytes more of a packet.
HEADER, TIMESTAMPS = 40, 12
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
# A veth is as fast as a processor. All flows have one host, since all sockets have one clock.
link = [
  {{ a = "sender", b = "router", rate = "10Gbps", delay = "1us" }},
  {{ a = "router", b = "receiver", rate = "{rate}Mbps", delay = "1us" }},
]

# As the kernel counts: no check sequence, no preamble, no gap.
[framing]
kind = "ethernet"
header = "{header}B"
link = "{link}B"
min_frame = "{bare}B"
gap = "0B"

# The kernel's queue has the packet that waits for its tokens in it, ours not the one on the wire.
[switch]
buffer = {{ kind = "per_port", size = "{waiting}pkt" }}

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


def transport(case: Case) -> dict[str, str]:
    """The kernel's defaults, but what a case says."""
    return {
        "kind": '"sack"',
        "mss": f'"{MTU - HEADER - TIMESTAMPS}B"',
        "timestamps": "true",
        "delayed_ack": "true",
        "limited_transmit": "true",
        "min_rto": f'"{case.rto_min_ms}ms"',
        "initial_rto": f'"{case.rto_min_ms}ms"',
    }


def scenario(case: Case) -> str:
    """A scenario file that reads `starts.csv`."""
    return TEMPLATE.format(
        rate=case.rate_mbps,
        header=HEADER,
        link=FRAME - MTU,
        bare=FRAME - MTU + HEADER,
        waiting=case.buffer_packets - 1,
        transport="\n".join(f"{key} = {value}" for key, value in transport(case).items()),
    )


def trace(case: Case, like: Outcome) -> str:
    """The kernel's starts as a trace."""
    rows = [f"{flow.start_ns},sender,receiver,{case.bytes}" for flow in like.flows]
    return "\n".join(["start,source,destination,bytes", *rows]) + "\n"


def run(case: Case, like: Outcome) -> Outcome:
    """One run, with the starts of a run of the kernel."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "linux.toml"
        file.write_text(scenario(case))
        file.with_name("starts.csv").write_text(trace(case, like))
        results = overspill.run(file)
    if results.failures:
        raise Broken(f"{case.name}: {results.failures}")
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
