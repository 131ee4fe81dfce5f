"""Runs of a case on this machine's kernel."""

import json
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

from cases import Case
from counters import lost_between_namespaces, netstat
from netns import (
    HERE,
    RECEIVER,
    SYSCTLS,
    Bottleneck,
    Namespaces,
    command,
    inside,
    namespaces,
    queue_counters,
    route,
    shape,
    wire,
    write_settings,
)
from outcome import Broken, Flow, Outcome
from placement import Placement, steer

PORT = 5001
# Every case ends within this time; a flow that does not is an error, not a result.
LIMIT_S = 120
SOFTNET = Path("/proc/net/softnet_stat")
# Counters that explain a difference; all but the last are those of the sender.
TOLD = (
    "TCPTimeouts",
    "TCPLossProbes",
    "TCPLossProbeRecovery",
    "TCPSackRecovery",
    "TCPSackRecoveryFail",
    "TCPLostRetransmit",
    "TCPFastRetrans",
    "TCPSlowStartRetrans",
    "TCPSpuriousRTOs",
    "TCPFullUndo",
    "TCPPartialUndo",
    "TCPLossUndo",
    "TCPDSACKUndo",
    "TCPDSACKRecv",
    "TCPSACKReorder",
    "TCPHystartTrainDetect",
    "TCPHystartDelayDetect",
)


def start(namespace: str, verb: str, task: dict[str, Any]) -> subprocess.Popen[str]:
    """Starts `flows.py` in a namespace and sends it its task."""
    words = inside(namespace, sys.executable, str(HERE / "flows.py"), verb)
    child = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    say(child, json.dumps(task))
    return child


def stream(child: subprocess.Popen[str], name: str) -> IO[str]:
    """Returns a pipe of a child process, or raises `Broken` if there is none."""
    found: IO[str] | None = getattr(child, name)
    if found is None:
        raise Broken(f"no {name}")
    return found


def say(child: subprocess.Popen[str], line: str) -> None:
    """Sends a line to a child process."""
    stream(child, "stdin").write(line + "\n")
    stream(child, "stdin").flush()


def hear(child: subprocess.Popen[str]) -> Any:
    """Reads a line from a child process; raises `Broken` with the child's last error line if it has ended."""
    line = stream(child, "stdout").readline()
    if not line:
        told = stream(child, "stderr").read().strip().splitlines()
        raise Broken(f"a program in its namespace ended: {told[-1] if told else 'without a word'}")
    return json.loads(line)


def exchange(case: Case, spaces: Namespaces, starts_ns: list[int], placement: Placement) -> tuple[Any, Any]:
    """Runs sender and receiver of all flows and returns both logs."""
    task = {
        "flows": case.flows,
        "bytes": case.bytes,
        "address": RECEIVER,
        "port": PORT,
        "congestion_control": case.congestion_control,
        "starts_ns": starts_ns,
        "limit_s": LIMIT_S,
        "processor": placement.hosts,
    }
    children = []
    try:
        receiver = start(spaces.receiver, "receive", task)
        children.append(receiver)
        hear(receiver)
        sender = start(spaces.sender, "send", task)
        children.append(sender)
        return hear(sender), hear(receiver)
    finally:
        for child in children:
            stream(child, "stdin").close()
            child.wait(10)


def outcome(sent: Any, received: Any, drops: int) -> Outcome:
    """Joins the logs of sender and receiver by the sender's port."""
    flows = []
    origin = min(each["start_ns"] for each in sent["flows"])
    for each in sent["flows"]:
        end = received["ends"][str(each["port"])]
        if end is None:
            raise Broken(f"a flow was not finished within {LIMIT_S} s")
        flows.append(
            Flow(each["start_ns"] - origin, end - each["start_ns"], each["timeouts"], each["retransmissions"])
        )
    return Outcome(flows, drops)


def run(
    case: Case, starts_ns: list[int], settings: dict[str, str], placement: Placement
) -> tuple[Outcome, dict[str, int]]:
    """Runs a case in new namespaces and returns its outcome and the kernel's other counters."""
    with namespaces() as spaces:
        wire(spaces)
        shape(spaces.router, Bottleneck(case.rate_mbps, case.buffer_packets))
        route(spaces, case.rto_min_ms)
        steer(spaces, placement)
        for name in (spaces.sender, spaces.receiver):
            write_settings(name, SYSCTLS | settings)
        lost = lost_between_namespaces(SOFTNET.read_text())
        sent, received = exchange(case, spaces, starts_ns, placement)
        if lost_between_namespaces(SOFTNET.read_text()) != lost:
            raise Broken("packets were lost between namespaces, outside of the bottleneck")
        told = netstat(command(*inside(spaces.sender, "cat", "/proc/net/netstat")))
        drops = queue_counters(spaces.router)["drops"]
    counted = {name: told.get(name, 0) for name in TOLD}
    for name in ("handshake_us", "min_rtt_us", "window_limited_us", "dsacks", "reordered", "segments_out"):
        values = sorted(each[name] for each in sent["flows"])
        counted[name] = values[len(values) // 2] if name.endswith("_us") else sum(values)
    return outcome(sent, received, drops), counted
