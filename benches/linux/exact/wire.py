"""A network namespace with a TUN device, and TCP segments as bytes on it."""

import ctypes
import fcntl
import os
import select
import struct
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

KERNEL, PEER = "10.99.0.1", "10.99.0.2"
PEER_PORT = 5001
MTU = 1500
FIN, SYN, RST, PSH, ACK, ECE, CWR = 1, 2, 4, 8, 16, 64, 128
CE = 3
# Settings of `net.ipv4`, given in full so that those of the machine have no effect.
SYSCTLS = {
    "tcp_no_metrics_save": "1",
    "tcp_slow_start_after_idle": "1",
    "tcp_dsack": "1",
    "tcp_window_scaling": "1",
    "tcp_frto": "2",
    "tcp_early_retrans": "3",
    "tcp_recovery": "1",
    "tcp_reordering": "3",
    "tcp_max_reordering": "300",
    "tcp_fastopen": "0",
    "tcp_rmem": "4096 131072 6291456",
    "tcp_wmem": "4096 16384 33554432",
    # Every segment out of order is acknowledged immediately.
    "tcp_comp_sack_nr": "0",
    # The receive window keeps its initial size.
    "tcp_moderate_rcvbuf": "0",
    # Every late ACK is answered, without a rate limit.
    "tcp_invalid_ratelimit": "0",
}
_CLONE_NEWNET = 0x40000000
_TUNSETIFF, _IFF_TUN, _IFF_NO_PI = 0x400454CA, 1, 0x1000


class Unavailable(Exception):
    """Namespaces or TUN devices cannot be used on this machine."""


def enter_namespace() -> int:
    """Moves this process into a new network namespace and returns the descriptor of its TUN device."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNET):
        raise Unavailable(f"no network namespace: {os.strerror(ctypes.get_errno())} (run as root)")
    try:
        tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    except OSError as error:
        raise Unavailable(f"no TUN device: {error}") from None
    fcntl.ioctl(tun, _TUNSETIFF, struct.pack("16sH22x", b"tun0", _IFF_TUN | _IFF_NO_PI))
    for words in (
        "link set lo up",
        f"addr add {KERNEL}/24 dev tun0",
        f"link set tun0 mtu {MTU} txqueuelen 10000 up",
    ):
        subprocess.run(["ip", *words.split()], check=True)
    for name, value in SYSCTLS.items():
        set_sysctl(name, value)
    return tun


def set_sysctl(name: str, value: str) -> None:
    """Sets a value of `net.ipv4` in the namespace of this process."""
    with open(f"/proc/sys/net/ipv4/{name}", "w") as file:
        file.write(value)


@dataclass
class Segment:
    """A TCP segment, with sequence numbers as on the wire."""

    port: int
    seq: int
    ack: int
    flags: int
    window: int = 65535
    ecn: int = 0
    payload: int = 0
    mss: int | None = None
    scale: int | None = None
    sack_permitted: bool = False
    stamps: tuple[int, int] | None = None
    blocks: list[tuple[int, int]] = field(default_factory=list)
    # Port of the peer.
    source: int = PEER_PORT


def _checksum(data: bytes) -> int:
    if len(data) % 2:
        data += b"\0"
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


_ADDRESSES = bytes(int(part) for part in f"{PEER}.{KERNEL}".split("."))


def _pack_options(of: Segment) -> bytes:
    options = b""
    if of.mss is not None:
        options += struct.pack("!BBH", 2, 4, of.mss)
    if of.sack_permitted:
        options += b"\x01\x01\x04\x02"
    if of.stamps is not None:
        options += struct.pack("!BBBBII", 1, 1, 8, 10, *of.stamps)
    if of.scale is not None:
        options += struct.pack("!BBBB", 1, 3, 3, of.scale)
    if of.blocks:
        options += struct.pack("!BBBB", 1, 1, 5, 2 + 8 * len(of.blocks))
        options += b"".join(struct.pack("!II", *block) for block in of.blocks)
    return options


def pack_segment(of: Segment) -> bytes:
    """Returns the bytes of a segment from the peer to the kernel."""
    options = _pack_options(of)
    head = struct.pack(
        "!HHIIBBHHH",
        of.source,
        of.port,
        of.seq & 0xFFFFFFFF,
        of.ack & 0xFFFFFFFF,
        (5 + len(options) // 4) << 4,
        of.flags,
        of.window,
        0,
        0,
    )
    tcp = head + options + bytes(of.payload)
    pseudo = _ADDRESSES + struct.pack("!BBH", 0, 6, len(tcp))
    tcp = tcp[:16] + struct.pack("!H", _checksum(pseudo + tcp)) + tcp[18:]
    ip = struct.pack("!BBHHHBBH", 0x45, of.ecn, 20 + len(tcp), 0, 0x4000, 64, 6, 0) + _ADDRESSES
    return ip[:10] + struct.pack("!H", _checksum(ip)) + ip[12:] + tcp


def parse_segment(data: bytes) -> Segment | None:
    """Returns the segment that the kernel has sent to the peer; `None` for other packets."""
    if len(data) < 40 or data[0] >> 4 != 4 or data[9] != 6:
        return None
    ip_length = (data[0] & 15) * 4
    total = struct.unpack_from("!H", data, 2)[0]
    tcp = data[ip_length:total]
    source, _, seq, ack, offset, flags, window = struct.unpack_from("!HHIIBBH", tcp)
    head = (offset >> 4) * 4
    found = Segment(source, seq, ack, flags, window, data[1] & 3, len(tcp) - head)
    at = 20
    while at < head:
        kind = tcp[at]
        if kind == 0:
            break
        if kind == 1:
            at += 1
            continue
        length = tcp[at + 1]
        body = tcp[at + 2 : at + length]
        if kind == 2:
            found.mss = struct.unpack("!H", body)[0]
        elif kind == 3:
            found.scale = body[0]
        elif kind == 4:
            found.sack_permitted = True
        elif kind == 5:
            found.blocks = [struct.unpack_from("!II", body, 8 * n) for n in range(len(body) // 8)]
        elif kind == 8:
            found.stamps = struct.unpack("!II", body)
        at += length
    return found


def read_segments(tun: int, patience: float) -> Iterator[Segment]:
    """Yields the kernel's segments: those already sent, then those within `patience` seconds.

    After the first segment of a wait, only segments that follow within 0.5 ms are read.
    """
    until = time.monotonic() + patience
    while True:
        try:
            found = parse_segment(os.read(tun, 65536))
            if found:
                yield found
        except BlockingIOError:
            left = until - time.monotonic()
            if left <= 0 or not select.select([tun], [], [], left)[0]:
                return
            until = min(until, time.monotonic() + 0.0005)
