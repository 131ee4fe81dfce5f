"""The program at both ends: sends flows at given instants, receives them, and logs.

Runs by itself inside a namespace, with nothing but the standard library: `flows.py receive` or
`flows.py send`, with its task as JSON in the first line of standard input, and what it saw as JSON in the
last line of standard output.
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
# Fields of `struct tcp_info` (linux/tcp.h), by offset: the layout only ever grows.
INFO = {
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
# From all being connected to the first start: the handshakes are over by then.
CALM_NS = 200_000_000
POLL_S = 0.005


def info(connection: socket.socket) -> dict[str, int]:
    """What the kernel counted for this connection."""
    raw = connection.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 512)
    return {name: struct.unpack_from(kind, raw, at)[0] for name, (at, kind) in INFO.items()}


def first(processor: int) -> None:
    """On one processor, before everything else that wants it, where that is allowed."""
    os.sched_setaffinity(0, {processor})
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    gc.disable()


def tell(message: Any) -> None:
    """A line to whoever started this program."""
    print(json.dumps(message), flush=True)


def receive(task: dict[str, Any]) -> None:
    """Accepts all flows and logs when the last byte of each was read, by the port of its sender."""
    listener = socket.create_server((task["address"], task["port"]), backlog=task["flows"])
    tell("ready")
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
    tell({"ends": {port: ends.get(fd) for port, fd in done.items()}})
    sys.stdin.readline()  # until the sender has read its counters: closing would send a FIN


def connected(task: dict[str, Any]) -> list[socket.socket]:
    """All connections, open and idle, each with room for its whole flow."""
    found = []
    for _ in range(task["flows"]):
        connection = socket.socket()
        connection.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, task["congestion_control"].encode())
        connection.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 4 * task["bytes"] + (1 << 20))
        connection.connect((task["address"], task["port"]))
        found.append(connection)
    return found


def unacknowledged(connection: socket.socket) -> int:
    """Bytes written and not acknowledged yet (SIOCOUTQ)."""
    return int(struct.unpack("i", fcntl.ioctl(connection, termios.TIOCOUTQ, b"\0\0\0\0"))[0])


def send(task: dict[str, Any]) -> None:
    """Writes each flow whole at its start, and reads the counters when everything is acknowledged."""
    connections = connected(task)
    data, starts = bytes(task["bytes"]), []
    origin = time.monotonic_ns() + CALM_NS
    before = [info(connection) for connection in connections]
    time.sleep(CALM_NS / 1e9 * 0.9)
    for connection, start in zip(connections, task["starts_ns"], strict=True):
        while time.monotonic_ns() < origin + start:
            pass
        starts.append(time.monotonic_ns())
        if connection.send(data) != len(data):
            raise RuntimeError("the send buffer does not hold a flow")
    until = time.monotonic() + task["limit_s"]
    while any(map(unacknowledged, connections)) and time.monotonic() < until:
        time.sleep(POLL_S)
    flows = [
        {"port": each.getsockname()[1], "start_ns": at, "handshake_us": was["srtt_us"], **info(each)}
        for each, at, was in zip(connections, starts, before, strict=True)
    ]
    tell({"flows": flows})
    sys.stdin.readline()


if __name__ == "__main__":
    asked = json.loads(sys.stdin.readline())
    first(asked["processor"])
    {"receive": receive, "send": send}[sys.argv[1]](asked)
