"""Program in the router that records when frames pass, to measure the response times of hosts.

It runs by itself and uses only the standard library. It prints `ready`, watches until a line arrives on
standard input, and prints the response times of both hosts as JSON, in nanoseconds. For the receiver this is
the time from a data frame that leaves toward it to the ACK that leaves toward the sender. For the sender it
is the time from such an ACK to the arrival of the next data frame of its flow.
"""

import json
import select
import socket
import struct
import sys
from typing import Any

ETH_P_ALL, SO_RCVBUFFORCE, SO_TIMESTAMPNS_NEW = 3, 33, 64
PORT = 5001
OUTGOING = 4
# A longer response time is discarded: the host had nothing to send.
MAX_RESPONSE_NS = 200_000


def open_capture(device: str) -> socket.socket:
    """Opens a socket that captures all frames of a device, with the kernel's timestamps."""
    found = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    found.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
    found.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS_NEW, 1)
    found.bind((device, ETH_P_ALL))
    found.setblocking(False)
    return found


def read_frames(device: str, source: socket.socket) -> list[tuple[int, str, bool, bytes]]:
    """Reads the captured frames: time in ns, device, whether the frame left, and headers."""
    seen: list[tuple[int, str, bool, bytes]] = []
    while True:
        try:
            data, told, _, address = source.recvmsg(100, 128)
        except BlockingIOError:
            return seen
        seconds, nanoseconds = struct.unpack_from("qq", told[0][2])
        seen.append((seconds * 10**9 + nanoseconds, device, address[2] == OUTGOING, data))


def data_arrival_times(seen: list[tuple[int, str, bool, bytes]]) -> list[int]:
    """Arrival times of the sender's data frames in ns, in order."""
    return [at for at, device, out, data in sorted(seen) if device == "r0" and not out and is_data(data)]


def is_data(frame: bytes) -> bool:
    """Returns true if the frame has TCP payload for the receiver."""
    if frame[12:14] != b"\x08\x00" or frame[23] != socket.IPPROTO_TCP:
        return False
    head = (frame[14] & 15) * 4
    start = 14 + head
    (destination,) = struct.unpack_from("!H", frame, start + 2)
    (length,) = struct.unpack_from("!H", frame, 16)
    return bool(destination == PORT and length > head + (frame[start + 12] >> 4) * 4)


def response_times(seen: list[tuple[int, str, bool, bytes]]) -> dict[str, list[int]]:
    """Returns the response times of each host in ns, in order."""
    receiver: list[int] = []
    sender: list[int] = []
    left: dict[int, int] = {}
    asked: dict[int, int] = {}
    for at, device, out, data in sorted(seen):
        if data[12:14] != b"\x08\x00" or data[23] != socket.IPPROTO_TCP:
            continue
        head = (data[14] & 15) * 4
        start = 14 + head
        source, destination = struct.unpack_from("!HH", data, start)
        length = struct.unpack_from("!H", data, 16)[0] - head - (data[start + 12] >> 4) * 4
        if destination == PORT and length and (device, out) == ("r1", True):
            left[source] = at
        elif destination == PORT and length and (device, out) == ("r0", False) and source in asked:
            sender.append(at - asked.pop(source))
        elif source == PORT and not length and (device, out) == ("r0", True):
            asked[destination] = at
            if destination in left:
                receiver.append(at - left.pop(destination))
    kept = {"receiver": receiver, "sender": sender}
    return {name: [each for each in values if each < MAX_RESPONSE_NS] for name, values in kept.items()}


def capture_frames() -> dict[str, Any]:
    """Captures on both devices until a line arrives on standard input."""
    sources = {device: open_capture(device) for device in ("r0", "r1")}
    poll = select.poll()
    for source in sources.values():
        poll.register(source.fileno(), select.POLLIN)
    poll.register(sys.stdin.fileno(), select.POLLIN)
    print(json.dumps("ready"), flush=True)
    seen: list[tuple[int, str, bool, bytes]] = []
    over = False
    while not over:
        over = any(fd == sys.stdin.fileno() for fd, _ in poll.poll())
        for device, source in sources.items():
            seen += read_frames(device, source)
    return {**response_times(seen), "sent": data_arrival_times(seen)}


if __name__ == "__main__":
    print(json.dumps(capture_frames()), flush=True)
