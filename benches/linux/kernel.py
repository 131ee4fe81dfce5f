"""Runs of a case on this machine's kernel."""

import json
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

from cases import Case
from counters import count_backlog_drops, parse_netstat
from netns import (
    HERE,
    RECEIVER,
    SYSCTLS,
    Bottleneck,
    Namespaces,
    command_in_namespace,
    connect_namespaces,
    create_namespaces,
    limit_rate,
    queue_counters,
    run_command,
    set_up_routes,
    write_settings,
)
from outcome import Flow, Outcome, UnusableRun
from placement import Placement, steer_frames

PORT = 5001
# Every case ends within this time; a flow that does not is an error, not a result.
TIMEOUT_S = 120
SOFTNET_STAT = Path("/proc/net/softnet_stat")
# Counters that explain a difference; all but the last are those of the sender.
REPORTED_COUNTERS = (
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


def start_child(namespace: str, verb: str, task: dict[str, Any]) -> subprocess.Popen[str]:
    """Starts `flows.py` in a namespace and sends it its task."""
    words = command_in_namespace(namespace, sys.executable, str(HERE / "flows.py"), verb)
    child = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    write_line(child, json.dumps(task))
    return child


def child_pipe(child: subprocess.Popen[str], name: str) -> IO[str]:
    """Returns a pipe of a child process, or raises `Broken` if there is none."""
    found: IO[str] | None = getattr(child, name)
    if found is None:
        raise UnusableRun(f"no {name}")
    return found


def write_line(child: subprocess.Popen[str], line: str) -> None:
    """Sends a line to a child process."""
    child_pipe(child, "stdin").write(line + "\n")
    child_pipe(child, "stdin").flush()


def read_message(child: subprocess.Popen[str]) -> Any:
    """Reads a line from a child process; raises `Broken` with the child's last error line if it has ended."""
    line = child_pipe(child, "stdout").readline()
    if not line:
        told = child_pipe(child, "stderr").read().strip().splitlines()
        raise UnusableRun(f"a program in its namespace ended: {told[-1] if told else 'without a word'}")
    return json.loads(line)


def run_flows(case: Case, spaces: Namespaces, starts_ns: list[int], placement: Placement) -> tuple[Any, Any]:
    """Runs sender and receiver of all flows and returns both logs."""
    task = {
        "flows": case.flows,
        "bytes": case.bytes,
        "address": RECEIVER,
        "port": PORT,
        "congestion_control": case.congestion_control,
        "starts_ns": starts_ns,
        "limit_s": TIMEOUT_S,
        "processor": placement.hosts,
    }
    children = []
    try:
        receiver = start_child(spaces.receiver, "receive", task)
        children.append(receiver)
        read_message(receiver)
        sender = start_child(spaces.sender, "send", task)
        children.append(sender)
        return read_message(sender), read_message(receiver)
    finally:
        for child in children:
            child_pipe(child, "stdin").close()
            child.wait(10)


def join_logs(sent: Any, received: Any, drops: int) -> Outcome:
    """Joins the logs of sender and receiver by the sender's port."""
    flows = []
    origin = min(each["start_ns"] for each in sent["flows"])
    for each in sent["flows"]:
        end = received["ends"][str(each["port"])]
        if end is None:
            raise UnusableRun(f"a flow was not finished within {TIMEOUT_S} s")
        flows.append(
            Flow(each["start_ns"] - origin, end - each["start_ns"], each["timeouts"], each["retransmissions"])
        )
    return Outcome(flows, drops)


def run_case(
    case: Case, starts_ns: list[int], settings: dict[str, str], placement: Placement
) -> tuple[Outcome, dict[str, int]]:
    """Runs a case in new namespaces and returns its outcome and the kernel's other counters."""
    with create_namespaces() as spaces:
        connect_namespaces(spaces)
        limit_rate(spaces.router, Bottleneck(case.rate_mbps, case.buffer_packets))
        set_up_routes(spaces, case.rto_min_ms)
        steer_frames(spaces, placement)
        for name in (spaces.sender, spaces.receiver):
            write_settings(name, SYSCTLS | settings)
        lost = count_backlog_drops(SOFTNET_STAT.read_text())
        sent, received = run_flows(case, spaces, starts_ns, placement)
        if count_backlog_drops(SOFTNET_STAT.read_text()) != lost:
            raise UnusableRun("packets were lost between namespaces, outside of the bottleneck")
        told = parse_netstat(run_command(*command_in_namespace(spaces.sender, "cat", "/proc/net/netstat")))
        drops = queue_counters(spaces.router)["drops"]
    counted = {name: told.get(name, 0) for name in REPORTED_COUNTERS}
    for name in ("handshake_us", "min_rtt_us", "window_limited_us", "dsacks", "reordered", "segments_out"):
        values = sorted(each[name] for each in sent["flows"])
        counted[name] = values[len(values) // 2] if name.endswith("_us") else sum(values)
    return join_logs(sent, received, drops), counted
