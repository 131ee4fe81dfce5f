"""Plays flows to the kernel's sender, packet by packet, and records what it sends."""

import contextlib
import heapq
import os
import select
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from scenario import MSS, Flow, Receiver, Reply
from wire import ACK, CWR, ECE, PEER, PEER_PORT, SYN, Segment, pack_segment, read_segments, set_sysctl

TICK_US = 4000
# Alignment of the time base in ticks: coarser timers fire at multiples of 8 or 64 ticks.
COARSE_TICKS = 64
# Longest duration of a flow in microseconds, and largest number of its events.
MAX_DURATION_US, MAX_EVENTS = 8_000_000, 400
# Receive window of the peer: wider than any flow.
WINDOW_SCALE = 10
ISN = 1_000_000
DELAYED_ACK_US = 40_000
# Smallest distance of events from a tick in microseconds: before it ends, and after it starts.
US_BEFORE_TICK, US_AFTER_TICK = 500, 400
_TIMESTAMP_OPTION = 12
_SPIN = 200e-6


class TimingDisturbed(Exception):
    """The machine was late: the recorded time of an event is not the time at which the kernel saw it."""


def now_us() -> int:
    """Monotonic time in microseconds, the clock of the kernel's TCP."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000


def find_ticks() -> tuple[int, int]:
    """Phase of the kernel's ticks on the monotonic clock, in microseconds, and their number at 0."""
    phases, counts = [], []
    for _ in range(5):
        before = now_us()
        lines = Path("/proc/timer_list").read_text().splitlines()
        phases += [int(line.split()[2]) // 1000 % TICK_US for line in lines if ".last_tick" in line]
        count = next(int(line.split()[1]) for line in lines if line.startswith("jiffies:"))
        counts.append(count - (before - phases[-1]) // TICK_US)
    return phases[-1], min(counts)


@dataclass
class TcpInfo:
    """Part of `TCP_INFO`, in segments and microseconds."""

    cwnd: int
    ssthresh: int
    state: int
    unacked: int
    sacked: int
    lost: int
    retrans: int
    reordering: int
    rtt: int
    rto: int

    @staticmethod
    def read(sock: socket.socket) -> "TcpInfo":
        """Reads the fields from a socket."""
        raw = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
        state = raw[1]
        rto, _, _, _, unacked, sacked, lost, retrans = struct.unpack_from("8I", raw, 8)
        rtt, _, ssthresh, cwnd, _, reordering = struct.unpack_from("6I", raw, 68)
        return TcpInfo(cwnd, ssthresh, state, unacked, sacked, lost, retrans, reordering, rtt, rto)

    def format_columns(self) -> str:
        """Columns of a recorded line."""
        high = "-" if self.ssthresh >= 1 << 30 else str(self.ssthresh)
        return f"{self.cwnd} {high}"

    def format_details(self) -> str:
        """Further columns of a recorded line, which the comparison does not read."""
        states = ["open", "disorder", "cwr", "recovery", "loss"]
        return (
            f"{states[self.state]} out={self.unacked} sacked={self.sacked} lost={self.lost} "
            f"retrans={self.retrans} reord={self.reordering} rtt={self.rtt} rto={self.rto}"
        )


@dataclass
class Arrival:
    """A segment that reaches the receiver, with its CE mark and its CWR flag."""

    segment: tuple[int, int]
    emission: int
    marks: tuple[bool, bool]
    at: int


@dataclass
class DelayedAckTimer:
    """End of a delayed ACK's timer; it counts only if no other ACK left meanwhile."""

    replies: int
    at: int


@dataclass
class Player:
    """Plays one flow to the kernel."""

    tun: int
    flow: Flow
    sock: socket.socket = field(init=False)
    receiver: Receiver = field(init=False)
    port: int = 0
    first: int = 0
    base: int = 0
    start: int = 0
    ticks: tuple[int, int] = (0, 0)
    lines: list[str] = field(default_factory=list)
    events: list[tuple[int, int, object]] = field(default_factory=list)
    count: int = 0
    emissions: int = 0
    stamps: list[int] = field(default_factory=list)
    last: int = 0

    def play(self) -> list[str]:
        """Returns the lines of the recording."""
        self.receiver = Receiver(self.flow)
        self.ticks = find_ticks()
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            self._open()
            self._run()
        finally:
            self.close()
        return self.lines

    def close(self) -> None:
        """Resets the connection."""
        with contextlib.suppress(OSError):
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()
        time.sleep(0.001)
        self._drain()

    def _open(self) -> None:
        flow, sock = self.flow, self.sock
        set_sysctl("tcp_sack", str(int(flow.sack)))
        set_sysctl("tcp_timestamps", str(int(flow.timestamps)))
        set_sysctl("tcp_ecn", str(int(flow.ecn)))
        self._drain()
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, flow.control.encode())
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, 32, 8 << 20)  # SO_SNDBUFFORCE
        with contextlib.suppress(BlockingIOError):
            sock.connect((PEER, PEER_PORT))
        syn = next(found for found in read_segments(self.tun, 0.5) if found.flags & SYN)
        self.port, self.first = syn.port, syn.seq + 1
        self._sleep_until(now_us() + flow.handshake)
        stamps = (1, syn.stamps[0]) if flow.timestamps and syn.stamps else None
        mss = MSS + (_TIMESTAMP_OPTION if flow.timestamps else 0)
        flags = SYN | ACK | (ECE if flow.ecn else 0)
        answer = Segment(self.port, ISN, self.first, flags, 65535, stamps=stamps, mss=mss, scale=WINDOW_SCALE)
        answer.sack_permitted = flow.sack
        self._inject(answer)
        list(read_segments(self.tun, 0.05))
        # The window of a SYN is not scaled; this one is.
        opened = Segment(self.port, ISN + 1, self.first, ACK, 65535, stamps=stamps)
        self._inject(opened)
        self._drain()
        rtt = TcpInfo.read(sock).rtt
        time.sleep(0.02)
        # From here on, ticks are at multiples of their length, those of coarser timers included.
        phase, count = self.ticks
        self.start = now_us() + 5_000
        ticks = (self.start - phase) // TICK_US
        self.base = (ticks - (ticks + count - 1) % COARSE_TICKS) * TICK_US + phase
        switches = [
            flow.control,
            f"sack={int(flow.sack)}",
            f"stamps={int(flow.timestamps)}",
            f"ecn={int(flow.ecn)}",
            f"rtt={rtt}",
        ]
        self.lines.append(f"flow {flow.seed} {' '.join(switches)}")

    def _run(self) -> None:
        for at, count in self.flow.writes:
            self._push(self.start + at, count)
        while self.count < MAX_EVENTS and self.receiver_waits():
            until = self.events[0][0] if self.events else self.last + 4_000_000
            if until - self.start > MAX_DURATION_US:
                break
            if not self._wait(until):
                if not self.events:
                    break
                self._step(heapq.heappop(self.events)[2])
        self.lines.append(f"end {now_us() - self.base}")

    def receiver_waits(self) -> bool:
        """Returns true until all data is acknowledged and no event is pending."""
        return bool(self.events) or self._unacked > 0

    @property
    def _unacked(self) -> int:
        return TcpInfo.read(self.sock).unacked

    def _push(self, at: int, what: object) -> None:
        self.count += 1
        heapq.heappush(self.events, (at, self.count, what))

    def _wait(self, until: int) -> bool:
        """Waits until a timer of the kernel sends; returns false if none does before a time."""
        while True:
            left = until - now_us()
            if left <= 0:
                return False
            ready, _, _ = select.select([self.tun], [], [], max(left / 1e6 - _SPIN, 0))
            at = now_us()
            if ready:
                time.sleep(150e-6)
                if sent := self._sent(at):
                    self._note("t", at, sent)
                    return True

    def _step(self, what: object) -> None:
        if isinstance(what, int | Reply):
            self._clear_of_tick()
        if isinstance(what, int):
            at = self._timed(lambda: self.sock.send(bytes(what * MSS)))
            self._note(f"w {what}", at, self._sent(at))
        elif isinstance(what, Reply):
            self._acknowledge(what)
        elif isinstance(what, Arrival):
            self._answer(self.receiver.receive_segment(what.segment, what.emission, what.marks, what.at))
            if self.receiver.pending:
                self._push(
                    what.at + DELAYED_ACK_US, DelayedAckTimer(self.receiver.replies, what.at + DELAYED_ACK_US)
                )
        elif (
            isinstance(what, DelayedAckTimer)
            and self.receiver.pending
            and what.replies == self.receiver.replies
        ):
            self._answer(self.receiver.make_ack(None, what.at))

    def _clear_of_tick(self) -> None:
        """Waits if the next event would be too near to a tick, and notes segments just sent by a timer."""
        left = TICK_US - (now_us() - self.base) % TICK_US
        if left < US_BEFORE_TICK or left > TICK_US - US_AFTER_TICK:
            self._sleep_until(now_us() + (left + US_AFTER_TICK) % TICK_US)
        at = now_us()
        if sent := self._sent(at):
            self._note("t", at, sent)

    def _answer(self, reply: Reply | None) -> None:
        if reply:
            self._push(reply.at, reply)

    def _acknowledge(self, reply: Reply) -> None:
        wire = self.first
        stamps = (now_us() // 1000 & 0x7FFFFFFF, self.stamps[reply.echo]) if self.flow.timestamps else None
        segment = Segment(
            self.port,
            ISN + 1,
            wire + reply.ack,
            ACK | (ECE if reply.ece else 0),
            65535,
            stamps=stamps,
            blocks=[(wire + a & 0xFFFFFFFF, wire + b & 0xFFFFFFFF) for a, b in reply.blocks],
        )
        at = self._inject(segment)
        words = [f"a {reply.ack // MSS}"]
        if reply.blocks:
            words.append(",".join(f"{a // MSS}-{b // MSS}" for a, b in reply.blocks))
        if self.flow.timestamps:
            words.append(f"#{reply.echo}")
        if reply.ece:
            words.append("ece")
        self._note(" ".join(words), at, self._sent(at))

    def _note(self, event: str, at: int, sent: list[int]) -> None:
        info = TcpInfo.read(self.sock)
        kind, *rest = event.split(" ", 1)
        text = " ".join([f"{kind}{at - self.base}", *rest])
        out = " > " + " ".join(_format_ranges(sent)) if sent else ""
        self.lines.append(f"{text}{out} | {info.format_columns()} ; {info.format_details()}")
        self.last = at

    def _sent(self, at: int) -> list[int]:
        """Reads the segments that the kernel has just sent and passes them to the simulated network."""
        found = []
        for segment in read_segments(self.tun, 0):
            if not segment.payload or segment.port != self.port:
                continue
            start = (segment.seq - self.first) & 0xFFFFFFFF
            if segment.payload % MSS or start % MSS:
                raise TimingDisturbed("a segment of another size")
            if segment.stamps:
                self.stamps.append(segment.stamps[0])
            found.append(start // MSS)
            arrival = self.receiver.arrival_time(start, at)
            if arrival is not None:
                marks = (self.receiver.is_marked(start) and segment.ecn in (1, 2), bool(segment.flags & CWR))
                self._push(arrival, Arrival((start, start + segment.payload), self.emissions, marks, arrival))
            self.emissions += 1
        return found

    def _inject(self, segment: Segment) -> int:
        data = pack_segment(segment)
        return self._timed(lambda: os.write(self.tun, data))

    @staticmethod
    def _timed(act: Callable[[], object]) -> int:
        before = now_us()
        act()
        after = now_us()
        if after - before > 1500:
            raise TimingDisturbed(f"a call took {after - before} us")
        return before

    def _drain(self) -> None:
        for _ in read_segments(self.tun, 0):
            pass

    def _sleep_until(self, at: int) -> None:
        while (left := at - now_us()) > 0:
            time.sleep(max(left / 1e6 - _SPIN, 0))


def _format_ranges(numbers: list[int]) -> list[str]:
    """Formats runs of consecutive numbers as `3-5` and single ones as `7`."""
    found: list[list[int]] = []
    for number in numbers:
        if found and found[-1][1] + 1 == number:
            found[-1][1] = number
        else:
            found.append([number, number])
    return [f"{a}-{b}" if b > a else f"{a}" for a, b in found]
