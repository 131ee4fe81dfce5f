"""Response times of the hosts of this machine, measured by a probe before the cases.

Hosts respond with a delay that varies, since interrupts and programs share processors. The probe watches an
incast, which is none of the cases, at the router. The excess of a host's response time over Overspill's has a
mean and a standard deviation. The standard deviation becomes the mean of an exponential jitter after the
NIC's queue. The rest of the mean becomes a delay in the stack. Both numbers hold for both hosts and for all
cases.
"""

import json
import platform
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, median, pstdev
from subprocess import PIPE, Popen

from cases import Case
from kernel import child_pipe, read_message, run_flows, write_line
from kernel_runs import RUNS_FOLDER
from netns import (
    HERE,
    SYSCTLS,
    Bottleneck,
    command_in_namespace,
    connect_namespaces,
    create_namespaces,
    limit_rate,
    set_up_routes,
    write_settings,
)
from placement import Placement, steer_frames

PROBE = Case(
    flows=30, bytes=100_000, buffer_packets=200, rate_mbps=100, rto_min_ms=200, congestion_control="reno"
)
# All flows start together, so that the sender's processor always has a first window to send.
BURST = Case(
    flows=100, bytes=20_000, buffer_packets=200, rate_mbps=100, rto_min_ms=200, congestion_control="reno"
)
BURST_FRAMES = 10 * BURST.flows
REPEATS = 5


@dataclass(frozen=True)
class ProbeObservations:
    """Observations of one probe, in nanoseconds.

    `answers` are response times by host, `handshakes` the round-trip times of handshakes, and `sent` the
    arrival times of the sender's data frames at the router.
    """

    answers: dict[str, list[int]]
    handshakes: list[int]
    sent: list[int]


@dataclass(frozen=True)
class HostDelays:
    """Delays of hosts, in nanoseconds.

    - `jitter_ns`: mean of the random delay.
    - `delay_ns`: rest of a response time, over both traversals of the stack.
    - `handshake_ns`: round-trip time that connections measured before their flows.
    - `frame_ns`: time of the sender's processor for each frame of a long burst.
    """

    delay_ns: int
    jitter_ns: int
    handshake_ns: int
    frame_ns: int


def run_probe(case: Case, starts_ns: list[int], placement: Placement) -> ProbeObservations:
    """Runs one probe."""
    with create_namespaces() as spaces:
        connect_namespaces(spaces)
        limit_rate(spaces.router, Bottleneck(case.rate_mbps, case.buffer_packets))
        set_up_routes(spaces, case.rto_min_ms)
        steer_frames(spaces, placement)
        for name in (spaces.sender, spaces.receiver):
            write_settings(name, SYSCTLS)
        words = command_in_namespace(spaces.router, sys.executable, str(HERE / "watch.py"))
        child = Popen(words, stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True)
        try:
            read_message(child)
            sent, _ = run_flows(case, spaces, starts_ns, placement)
            write_line(child, "enough")
            told = read_message(child)
            handshakes = [1000 * each["handshake_us"] for each in sent["flows"]]
            return ProbeObservations(
                {name: told[name] for name in ("receiver", "sender")}, handshakes, told["sent"]
            )
        finally:
            child_pipe(child, "stdin").close()
            child.wait(10)


def mean_frame_ns(bursts: list[ProbeObservations]) -> float:
    """Returns the mean time per frame of the first windows, over all bursts, in nanoseconds."""
    return mean((seen.sent[BURST_FRAMES - 1] - seen.sent[0]) / (BURST_FRAMES - 1) for seen in bursts)


def compute_host_delays(probes: list[ProbeObservations], bursts: list[ProbeObservations]) -> HostDelays:
    """Returns the delays of hosts: means of both hosts over all probes."""
    frame = mean_frame_ns(bursts)
    # Response times without jitter in nanoseconds, with the links of `replay.py`. Both have two link delays
    # of 1 us. One has an ACK of 66 B at the bottleneck's rate, the other a segment at the sender's.
    alone = {"receiver": 2_000 + 66 * 8_000 / PROBE.rate_mbps, "sender": 2_000 + frame}
    beyond, deviation = [], []
    for name, least in alone.items():
        answers = [each for seen in probes for each in seen.answers[name]]
        beyond.append(max(0.0, mean(answers) - least))
        deviation.append(pstdev(answers))
    jitter = min(mean(beyond), mean(deviation))
    handshakes = [each for seen in probes for each in seen.handshakes]
    return HostDelays(round(mean(beyond) - jitter), round(jitter), round(median(handshakes)), round(frame))


def load_host_delays(file: Path, under: dict[str, object]) -> HostDelays | None:
    """Reads stored delays; returns `None` if there are none, or if their conditions differ."""
    try:
        found = json.loads(file.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    return HostDelays(**found["late"]) if found["conditions"] == under else None


def measure_host_delays(placement: Placement) -> HostDelays:
    """Returns the delays of hosts: those stored with the first kernel runs, or else a new measurement."""
    under: dict[str, object] = {
        "release": platform.release(),
        "probes": [PROBE.name, BURST.name],
        "repeats": REPEATS,
        "placement": placement.kind,
    }
    file = RUNS_FOLDER.parent / f"late-{placement.kind}.json"
    found = load_host_delays(file, under)
    if found is None:
        probes = [run_probe(PROBE, PROBE.starts_ns(repeat, 1000), placement) for repeat in range(REPEATS)]
        found = compute_host_delays(
            probes, [run_probe(BURST, [0] * BURST.flows, placement) for _ in range(REPEATS)]
        )
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"conditions": under, "late": asdict(found)}) + "\n")
    return found
