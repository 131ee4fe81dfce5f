"""Sends random arrivals to the kernel's receiver and records its ACKs."""

import contextlib
import os
import random
import select
import socket
import struct
import time
from dataclasses import dataclass, field

from record import COARSE_TICKS, TICK_US, TimingDisturbed, find_ticks, now_us
from wire import ACK, CE, CWR, ECE, KERNEL, PSH, SYN, Segment, pack_segment, read_segments, set_sysctl

ISN = 77_000
# Short enough that the memory overhead of segments keeps the kernel from enlarging its receive window.
MSS = 1000
PORT = 5002
_OPTION, _SPIN = 12, 200e-6
# Longest delay of a delayed ACK in microseconds.
MAX_DELAYED_ACK_US = 260_000


@dataclass(frozen=True)
class Arrival:
    """A segment that arrives `gap` microseconds after the previous one."""

    gap: int
    number: int
    push: bool
    marked: bool
    cwr: bool


@dataclass(frozen=True)
class Stream:
    """Arrivals at one receiver, and the options that both ends have agreed on."""

    seed: int
    sack: bool
    timestamps: bool
    ecn: bool
    arrivals: tuple[Arrival, ...]


def draw_stream(seed: int) -> Stream:
    """Returns the arrivals of a seed: every segment at least once, some late, some twice."""
    some = random.Random(f"receive {seed}")
    count = some.randint(3, 60)
    loss, twice, late = some.uniform(0, 0.25), some.uniform(0, 0.1), some.uniform(0, 0.15)
    waiting: list[tuple[float, int]] = []
    for number in range(count):
        at = float(number)
        if some.random() < loss:
            at += some.randint(3, 25)
        elif some.random() < late:
            at += some.uniform(0.5, 4)
        waiting.append((at, number))
        if some.random() < twice:
            waiting.append((at + some.uniform(0.1, 20), number))
    ecn = some.random() < 0.2
    fast, slow = some.choice([200, 700, 3000]), some.uniform(0, 0.1)
    arrivals = [
        Arrival(
            gap=some.randint(20_000, 400_000)
            if some.random() < slow
            else some.randint(fast // 2, fast * 3 // 2),
            number=number,
            push=some.random() < 0.15,
            marked=ecn and some.random() < 0.15,
            cwr=ecn and some.random() < 0.1,
        )
        for _, number in sorted(waiting)
    ]
    return Stream(seed, some.random() < 0.85, some.random() < 0.5, ecn, tuple(arrivals))


@dataclass
class Player:
    """Plays one stream of arrivals to the kernel."""

    tun: int
    stream: Stream
    listener: socket.socket
    port: int
    sock: socket.socket | None = None
    first: int = 0
    base: int = 0
    stamp: int = 0
    lines: list[str] = field(default_factory=list)

    def play(self) -> list[str]:
        """Returns the lines of the recording."""
        try:
            self._open()
            self._run()
        finally:
            if self.sock:
                with contextlib.suppress(OSError):
                    self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.sock.close()
            time.sleep(0.001)
            list(read_segments(self.tun, 0))
        return self.lines

    def _open(self) -> None:
        stream = self.stream
        phase, count = find_ticks()
        set_sysctl("tcp_sack", str(int(stream.sack)))
        set_sysctl("tcp_timestamps", str(int(stream.timestamps)))
        set_sysctl("tcp_ecn", str(int(stream.ecn)))
        list(read_segments(self.tun, 0))
        flags = SYN | (ECE | CWR if stream.ecn else 0)
        syn = self._segment(ISN, flags, mss=MSS + (_OPTION if stream.timestamps else 0))
        syn.scale, syn.sack_permitted = 10, stream.sack
        self._inject(syn)
        answer = next(found for found in read_segments(self.tun, 0.5) if found.flags & SYN)
        self.first = answer.seq + 1
        self.stamp = answer.stamps[0] if answer.stamps else 0
        self._inject(self._segment(ISN + 1, ACK))
        self.sock, _ = self.listener.accept()
        self.sock.setblocking(False)
        time.sleep(0.005)
        ticks = (now_us() - phase) // TICK_US
        self.base = (ticks - (ticks + count - 1) % COARSE_TICKS) * TICK_US + phase
        switches = f"sack={int(stream.sack)} stamps={int(stream.timestamps)} ecn={int(stream.ecn)}"
        self.lines.append(f"stream {stream.seed} {switches}")

    def _run(self) -> None:
        at = now_us() + 3000
        for arrival in self.stream.arrivals:
            at += arrival.gap
            self._watch(at)
            self._clear_of_tick()
            segment = self._segment(ISN + 1 + arrival.number * MSS, ACK | (PSH if arrival.push else 0))
            segment.payload = MSS
            segment.flags |= CWR if arrival.cwr else 0
            segment.ecn = (CE if arrival.marked else 2) if self.stream.ecn else 0
            found = self._inject(segment)
            at = max(at, found)
            words = [str(arrival.number)]
            words += [
                word
                for word, is_set in (("push", arrival.push), ("ce", arrival.marked), ("cwr", arrival.cwr))
                if is_set
            ]
            self._read()
            self._note(f"d{found - self.base} {' '.join(words)}")
        self._watch(now_us() + MAX_DELAYED_ACK_US)
        self.lines.append(f"end {now_us() - self.base}")

    def _read(self) -> None:
        """Reads all received data immediately, as the application does."""
        assert self.sock is not None
        with contextlib.suppress(BlockingIOError):
            while self.sock.recv(1 << 20):
                pass

    def _watch(self, until: int) -> None:
        while (left := until - now_us()) > 0:
            if select.select([self.tun], [], [], max(left / 1e6 - _SPIN, 0))[0]:
                at = now_us()
                self._note(f"t{at - self.base}")

    def _clear_of_tick(self) -> None:
        left = TICK_US - (now_us() - self.base) % TICK_US
        if left < 500 or left > TICK_US - 400:
            self._watch(now_us() + (left + 400) % TICK_US)

    def _note(self, event: str) -> None:
        acks = [
            self._word(found)
            for found in read_segments(self.tun, 0)
            if found.flags & ACK and not found.payload
        ]
        if acks or event[0] == "d":
            self.lines.append(event + "".join(f" > {ack}" for ack in acks))

    def _word(self, found: Segment) -> str:
        zero = ISN + 1
        blocks = ",".join(
            f"{(a - zero & 0xFFFFFFFF) // MSS}-{(b - zero & 0xFFFFFFFF) // MSS}" for a, b in found.blocks
        )
        words = (
            [str((found.ack - zero & 0xFFFFFFFF) // MSS)]
            + [blocks] * bool(blocks)
            + ["ece"] * bool(found.flags & ECE)
        )
        return " ".join(words)

    def _segment(self, seq: int, flags: int, mss: int | None = None) -> Segment:
        stamps = (now_us() // 1000 & 0x7FFFFFFF, self.stamp) if self.stream.timestamps else None
        return Segment(PORT, seq, self.first, flags, 65535, stamps=stamps, mss=mss, source=self.port)

    def _inject(self, segment: Segment) -> int:
        data = pack_segment(segment)
        before = now_us()
        os.write(self.tun, data)
        if now_us() - before > 1500:
            raise TimingDisturbed("a call took long")
        return before


def open_listener() -> socket.socket:
    """Returns a socket of the kernel that accepts connections."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    found.bind((KERNEL, PORT))
    found.listen(64)
    return found
