"""How late hosts are, found by a probe on this machine before the cases.

No host answers at once, nor twice alike: interrupts, and the programs, share processors. An incast that is
no case is watched at the router. What a host takes to answer there beyond what Overspill's takes has a mean
and a standard deviation: the deviation is the mean of an exponential scatter after the NIC's queue, and the
rest a delay in the stack. One pair of numbers for both hosts and for all cases.
"""

import json
import platform
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, median, pstdev
from subprocess import PIPE, Popen

from cases import Case
from kernel import exchange, hear, say, stream
from measured import FOLDER
from netns import HERE, SYSCTLS, Bottleneck, inside, namespaces, route, shape, wire, write_settings
from placement import Placement, steer

PROBE = Case(
    flows=30, bytes=100_000, buffer_packets=200, rate_mbps=100, rto_min_ms=200, congestion_control="reno"
)
# All at once: the sender's processor always has a first window to send.
BURST = Case(
    flows=100, bytes=20_000, buffer_packets=200, rate_mbps=100, rto_min_ms=200, congestion_control="reno"
)
BURST_FRAMES = 10 * BURST.flows
REPEATS = 5


@dataclass(frozen=True)
class Seen:
    """What was seen of one probe, in nanoseconds.

    Answers by host, the handshakes' round-trip times, and when the sender's data frames came.
    """

    answers: dict[str, list[int]]
    handshakes: list[int]
    sent: list[int]


@dataclass(frozen=True)
class Late:
    """How late a host is with an answer, in nanoseconds.

    `jitter_ns` is the mean of the scatter, `delay_ns` what an answer takes besides, over both traversals of
    the stack; `handshake_ns` is what connections had measured before their flows, and `frame_ns` what each
    frame takes on the sender's processor while that has many to send.
    """

    delay_ns: int
    jitter_ns: int
    handshake_ns: int
    frame_ns: int


def run(case: Case, starts_ns: list[int], placement: Placement) -> Seen:
    """One probe."""
    with namespaces() as spaces:
        wire(spaces)
        shape(spaces.router, Bottleneck(case.rate_mbps, case.buffer_packets))
        route(spaces, case.rto_min_ms)
        steer(spaces, placement)
        for name in (spaces.sender, spaces.receiver):
            write_settings(name, SYSCTLS)
        words = inside(spaces.router, sys.executable, str(HERE / "watch.py"))
        child = Popen(words, stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True)
        try:
            hear(child)
            sent, _ = exchange(case, spaces, starts_ns, placement)
            say(child, "enough")
            told = hear(child)
            handshakes = [1000 * each["handshake_us"] for each in sent["flows"]]
            return Seen({name: told[name] for name in ("receiver", "sender")}, handshakes, told["sent"])
        finally:
            stream(child, "stdin").close()
            child.wait(10)


def frame_ns(bursts: list[Seen]) -> float:
    """What a frame of the first windows takes, on average over all bursts."""
    return mean((seen.sent[BURST_FRAMES - 1] - seen.sent[0]) / (BURST_FRAMES - 1) for seen in bursts)


def late(probes: list[Seen], bursts: list[Seen]) -> Late:
    """The mean of both hosts over all probes."""
    frame = frame_ns(bursts)
    # What an answer takes without scatter, as `ours.py` has links: two of them at 1 us, an ACK of 66 B on one
    # of the bottleneck's rate, or a segment on the sender's.
    alone = {"receiver": 2_000 + 66 * 8_000 / PROBE.rate_mbps, "sender": 2_000 + frame}
    beyond, deviation = [], []
    for name, least in alone.items():
        answers = [each for seen in probes for each in seen.answers[name]]
        beyond.append(max(0.0, mean(answers) - least))
        deviation.append(pstdev(answers))
    jitter = min(mean(beyond), mean(deviation))
    handshakes = [each for seen in probes for each in seen.handshakes]
    return Late(round(mean(beyond) - jitter), round(jitter), round(median(handshakes)), round(frame))


def kept(file: Path, under: dict[str, object]) -> Late | None:
    """What was found here earlier, unless under other conditions."""
    try:
        found = json.loads(file.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    return Late(**found["late"]) if found["conditions"] == under else None


def probe(placement: Placement) -> Late:
    """As it was measured when kernel runs were first made here."""
    under: dict[str, object] = {
        "release": platform.release(),
        "probes": [PROBE.name, BURST.name],
        "repeats": REPEATS,
        "placement": placement.kind,
    }
    file = FOLDER.parent / f"late-{placement.kind}.json"
    found = kept(file, under)
    if found is None:
        probes = [run(PROBE, PROBE.starts_ns(repeat, 1000), placement) for repeat in range(REPEATS)]
        found = late(probes, [run(BURST, [0] * BURST.flows, placement) for _ in range(REPEATS)])
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"conditions": under, "late": asdict(found)}) + "\n")
    return found
