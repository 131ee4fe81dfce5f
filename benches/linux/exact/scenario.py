"""Random flows: writes of an application, losses and delays of the network, and ACKs of the receiver."""

import random
from dataclasses import dataclass, field

MSS = 1000


@dataclass(frozen=True)
class Flow:
    """Settings of a flow; times are in microseconds."""

    seed: int
    control: str
    sack: bool
    timestamps: bool
    ecn: bool
    delayed: bool
    rtt: int
    handshake: int
    gap: int
    loss: float
    ack_loss: float
    late: float
    mark: float
    writes: tuple[tuple[int, int], ...]

    @property
    def segments(self) -> int:
        """Number of segments that the application writes."""
        return sum(count for _, count in self.writes)


def draw_flow(seed: int) -> Flow:
    """Returns the flow of a seed."""
    some = random.Random(seed)
    count = some.randint(3, 40)
    rtt = some.choice([10, 20, 50, 100, 200]) * 1000
    writes = [(0, count)]
    if some.random() < 0.3:
        at, writes = 0, []
        while count:
            now = some.randint(1, count)
            writes.append((at, now))
            count -= now
            at += some.randint(1, 3 * rtt)
    ecn = some.random() < 0.15
    return Flow(
        seed=seed,
        control=some.choices(["cubic", "reno"], [3, 1])[0],
        sack=some.random() < 0.85,
        timestamps=some.random() < 0.5,
        ecn=ecn,
        delayed=some.random() < 0.3,
        rtt=rtt,
        # Shorter than any round trip, so that no RTT sample equals it by chance.
        handshake=rtt * some.randint(50, 95) // 100,
        gap=some.choice([0, 300, 1500, 3000]),
        loss=some.uniform(0, 0.3),
        ack_loss=some.choice([0.0, 0.0, some.uniform(0, 0.3)]),
        late=some.choice([0.0, 0.0, 0.05, 0.15]),
        mark=some.uniform(0, 0.2) if ecn else 0.0,
        writes=tuple(writes),
    )


@dataclass
class Reply:
    """An ACK that the receiver sends, with the emission whose timestamp it echoes."""

    at: int
    ack: int
    blocks: list[tuple[int, int]]
    echo: int
    ece: bool


@dataclass
class Receiver:
    """Far end of a flow, and the network before it."""

    flow: Flow
    next: int = 0
    ranges: list[tuple[int, int, int]] = field(default_factory=list)
    clock: int = 0
    arrivals: int = 0
    sent: dict[int, int] = field(default_factory=dict)
    recent: int = 0
    pending: int = 0
    ece: bool = False
    replies: int = 0

    def arrival_time(self, start: int, now: int) -> int | None:
        """Returns the arrival time of a segment sent now; `None` if the network drops it."""
        count = self.sent[start] = self.sent.get(start, 0) + 1
        some = random.Random(f"{self.flow.seed}/{start}/{count}")
        if some.random() < self.flow.loss:
            return None
        at = self.clock = max(now, self.clock + self.flow.gap)
        at += self.flow.rtt // 2
        if some.random() < self.flow.late:
            at += some.randint(self.flow.rtt // 10, 2 * self.flow.rtt)
        return at

    def is_marked(self, start: int) -> bool:
        """Returns true if the network marks the last transmission of a segment."""
        some = random.Random(f"mark {self.flow.seed}/{start}/{self.sent.get(start, 0)}")
        return some.random() < self.flow.mark

    def receive_segment(
        self, segment: tuple[int, int], emission: int, ecn: tuple[bool, bool], at: int
    ) -> Reply | None:
        """Takes in a segment and returns the immediate reply, if any; `ecn` is its mark and its CWR flag."""
        start, end = segment
        marked, cwr = ecn
        if cwr:
            self.ece = False
        self.ece |= marked
        again: tuple[int, int] | None = None
        in_order = start == self.next and not self.ranges
        if start <= self.next < end:
            self.recent = emission
            self.next = end
            self._absorb()
        elif end <= self.next:
            again = (start, end)
        else:
            again = self._insert(start, end)
        self.pending += 1
        if in_order and self.flow.delayed and self.pending < 2 and end < self.flow.segments * MSS:
            return None
        return self.make_ack(again, at)

    def make_ack(self, again: tuple[int, int] | None, at: int) -> Reply | None:
        """Returns the ACK of all that has arrived; `None` if the network drops it."""
        self.pending = 0
        blocks: list[tuple[int, int]] = []
        if self.flow.sack:
            blocks = [again] if again else []
            blocks += [(a, b) for a, b, _ in sorted(self.ranges, key=lambda block: -block[2])]
            blocks = blocks[: 3 if self.flow.timestamps else 4]
        self.replies += 1
        some = random.Random(f"ack {self.flow.seed}/{self.replies}")
        if some.random() < self.flow.ack_loss:
            return None
        at += self.flow.rtt - self.flow.rtt // 2
        if some.random() < self.flow.late / 3:
            at += some.randint(self.flow.rtt // 10, self.flow.rtt)
        return Reply(at, self.next, blocks, self.recent, self.ece)

    def _absorb(self) -> None:
        while first := next((block for block in self.ranges if block[0] <= self.next), None):
            self.ranges.remove(first)
            self.next = max(self.next, first[1])

    def _insert(self, start: int, end: int) -> tuple[int, int] | None:
        """Keeps a segment beyond a gap; returns it if it had arrived before."""
        self.arrivals += 1
        again = (start, end) if any(low <= start and end <= high for low, high, _ in self.ranges) else None
        for block in [block for block in self.ranges if block[0] <= end and start <= block[1]]:
            self.ranges.remove(block)
            start, end = min(start, block[0]), max(end, block[1])
        self.ranges.append((start, end, self.arrivals))
        return again
