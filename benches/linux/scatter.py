"""How late hosts are by chance, found by a probe on this machine before the cases.

No host answers at once, nor twice alike: interrupts, and the programs, share a processor. An incast that is
no case is watched at the router, and what a host takes on average beyond what Overspill's takes there is the
scatter of both hosts, one number for all cases.
"""

import json
import platform
import sys
from statistics import mean
from subprocess import PIPE, Popen
from typing import Any

from cases import Case
from kernel import exchange, hear, say, stream
from measured import FOLDER
from netns import HERE, SYSCTLS, Bottleneck, inside, namespaces, route, shape, wire, write_settings

PROBE = Case(
    flows=30, bytes=100_000, buffer_packets=200, rate_mbps=100, rto_min_ms=200, congestion_control="reno"
)
REPEATS = 5
FILE = FOLDER.parent / "scatter.json"
# What an answer takes without scatter, as `ours.py` has links: two of them at 1 us, an ACK of 66 B on one of
# the bottleneck's rate, or a segment on one of 10 Gb/s.
ALONE_NS = {"receiver": 2_000 + 66 * 8_000 // PROBE.rate_mbps, "sender": 2_000 + 1_514 * 8 // 10}


def run(repeat: int) -> dict[str, list[int]]:
    """What the watcher saw of one probe."""
    with namespaces() as spaces:
        wire(spaces)
        shape(spaces.router, Bottleneck(PROBE.rate_mbps, PROBE.buffer_packets))
        route(spaces, PROBE.rto_min_ms)
        for name in (spaces.sender, spaces.receiver):
            write_settings(name, SYSCTLS)
        words = inside(spaces.router, sys.executable, str(HERE / "watch.py"))
        child = Popen(words, stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True)
        try:
            hear(child)
            exchange(PROBE, spaces, PROBE.starts_ns(repeat, 1000))
            say(child, "enough")
            told: dict[str, list[int]] = hear(child)
            return told
        finally:
            stream(child, "stdin").close()
            child.wait(10)


def probe() -> dict[str, Any]:
    """The mean of both hosts, as it was measured when kernel runs were first made here."""
    under = {"release": platform.release(), "probe": PROBE.name, "repeats": REPEATS}
    if FILE.exists():
        found: dict[str, Any] = json.loads(FILE.read_text())
        if found["conditions"] == under:
            return found
    runs = [run(repeat) for repeat in range(REPEATS)]
    beyond = {
        name: max(0.0, mean(each for seen in runs for each in seen[name]) - alone)
        for name, alone in ALONE_NS.items()
    }
    found = {"conditions": under, "mean_ns": beyond, "scatter_ns": round(mean(beyond.values()))}
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(json.dumps(found) + "\n")
    return found
