"""Program at both ends of a kernel run: sends flows at given times, receives them, and logs.

It runs by itself inside a namespace and uses only the standard library: `flows.py receive` or `flows.py
send`. The first line of standard input is its task as JSON; the last line of standard output is its log as
JSON.
"""

import contextlib
import fcntl
import gc
import json
import os
import select
import socket
import struct
import sys
import termios
import time
from typing import Any

TCP_INFO, TCP_CONGESTION = 11, 13
SO_SNDBUFFORCE = 32
# Offset and type of fields of `struct tcp_info` (linux/tcp.h), whose layout only grows.
TCP_INFO_FIELDS = {
    "retransmissions": (100, "I"),  # tcpi_total_retrans
    "dsacks": (216, "I"),  # tcpi_dsack_dups
    "reordered": (220, "I"),  # tcpi_reord_seen
    "timeouts": (240, "H"),  # tcpi_total_rto
    "timeout_recoveries": (242, "H"),  # tcpi_total_rto_recoveries
    "srtt_us": (68, "I"),
    "min_rtt_us": (148, "I"),
    "segments_out": (156, "I"),  # tcpi_data_segs_out
    "window_limited_us": (176, "Q"),  # tcpi_rwnd_limited
}
# Time between the last connection and the first flow, so that all handshakes are over.
HANDSHAKE_PAUSE_NS = 200_000_000
POLL_S = 0.005


def read_tcp_info(connection: socket.socket) -> dict[str, int]:
    """Returns the kernel's counters for this connection."""
    raw = connection.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 512)
    return {name: struct.unpack_from(kind, raw, at)[0] for name, (at, kind) in TCP_INFO_FIELDS.items()}


def pin_to_processor(processor: int) -> None:
    """Pins this process to a processor, with real-time priority if that is permitted."""
    os.sched_setaffinity(0, {processor})
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    gc.disable()


def print_message(message: Any) -> None:
    """Prints a message for the parent process as a line of JSON."""
    print(json.dumps(message), flush=True)


def receive_flows(task: dict[str, Any]) -> None:
    """Accepts all flows and logs the time at which the last byte of each was read, by the sender's port."""
    listener = socket.create_server((task["address"], task["port"]), backlog=task["flows"])
    print_message("ready")
    poll, buffer = select.epoll(), bytearray(1 << 20)
    left: dict[int, int] = {}
    peers: dict[int, socket.socket] = {}
    done: dict[int, int] = {}
    while len(peers) < task["flows"]:
        peer, (_, port) = listener.accept()
        peer.setblocking(False)
        peers[peer.fileno()], left[peer.fileno()] = peer, task["bytes"]
        done[port] = peer.fileno()
        poll.register(peer.fileno(), select.EPOLLIN)
    ends: dict[int, int] = {}
    until = time.monotonic() + task["limit_s"]
    while len(ends) < len(peers) and time.monotonic() < until:
        for fd, _ in poll.poll(0.5):
            left[fd] -= peers[fd].recv_into(buffer)
            if left[fd] == 0:
                ends[fd] = time.monotonic_ns()
                poll.unregister(fd)
    print_message({"ends": {port: ends.get(fd) for port, fd in done.items()}})
    sys.stdin.readline()  # Wait until the sender has read its counters: closing now would send a FIN.


def open_connections(task: dict[str, Any]) -> list[socket.socket]:
    """Opens all connections, each with a send buffer that holds its whole flow."""
    found = []
    for _ in range(task["flows"]):
        connection = socket.socket()
        connection.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, task["congestion_control"].encode())
        connection.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 4 * task["bytes"] + (1 << 20))
        connection.connect((task["address"], task["port"]))
        found.append(connection)
    return found


def count_unacknowledged_bytes(connection: socket.socket) -> int:
    """Bytes written and not yet acknowledged (SIOCOUTQ)."""
    return int(struct.unpack("i", fcntl.ioctl(connection, termios.TIOCOUTQ, b"\0\0\0\0"))[0])


def send_flows(task: dict[str, Any]) -> None:
    """Writes each whole flow at its start time, and reads the counters once everything is acknowledged."""
    connections = open_connections(task)
    data, starts = bytes(task["bytes"]), []
    origin = time.monotonic_ns() + HANDSHAKE_PAUSE_NS
    before = [read_tcp_info(connection) for connection in connections]
    time.sleep(HANDSHAKE_PAUSE_NS / 1e9 * 0.9)
    for connection, start in zip(connections, task["starts_ns"], strict=True):
        while time.monotonic_ns() < origin + start:
            pass
        starts.append(time.monotonic_ns())
        if connection.send(data) != len(data):
            raise RuntimeError("the send buffer does not hold a flow")
    until = time.monotonic() + task["limit_s"]
    while any(map(count_unacknowledged_bytes, connections)) and time.monotonic() < until:
        time.sleep(POLL_S)
    flows = [
        {"port": each.getsockname()[1], "start_ns": at, "handshake_us": was["srtt_us"], **read_tcp_info(each)}
        for each, at, was in zip(connections, starts, before, strict=True)
    ]
    print_message({"flows": flows})
    sys.stdin.readline()


if __name__ == "__main__":
    request = json.loads(sys.stdin.readline())
    pin_to_processor(request["processor"])
    {"receive": receive_flows, "send": send_flows}[sys.argv[1]](request)
