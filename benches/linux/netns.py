"""Three network namespaces in a row: senders, a router with the bottleneck, and the receiver.

The bottleneck has a namespace of its own. A packet belongs to its socket until it has crossed a veth, and the
kernel limits the bytes below a socket (TCP small queues). With the bottleneck in the sender's namespace, this
limit would hold senders back before the queue is full, which no switch does.
"""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SENDER, RECEIVER = "10.77.0.1", "10.77.1.1"
MTU = 1500
# Bytes of an Ethernet frame as the kernel counts them: without FCS, preamble and gap.
FRAME_BYTES = MTU + 14
# Depth of the token bucket in frames. With one frame, each delay of the timer would reduce the rate.
BURST_FRAMES = 2
# The kernel's backlog between two namespaces must not drop packets; its default is 1000 packets.
BACKLOG_SYSCTL = Path("/proc/sys/net/core/netdev_max_backlog")
BACKLOG_PACKETS = 100_000
# Values of the kernel's defaults, set explicitly so that the machine's own settings have no effect.
# The exception is `tcp_no_metrics_save`: earlier runs must not affect later ones.
SYSCTLS = {
    "tcp_no_metrics_save": "1",
    "tcp_slow_start_after_idle": "1",
    "tcp_sack": "1",
    "tcp_dsack": "1",
    "tcp_timestamps": "1",
    "tcp_window_scaling": "1",
    "tcp_frto": "2",
    "tcp_early_retrans": "3",
    "tcp_recovery": "1",
    "tcp_reordering": "3",
    "tcp_max_reordering": "300",
    "tcp_ecn": "0",
    "tcp_moderate_rcvbuf": "1",
    "tcp_rmem": "4096 131072 6291456",
    "tcp_wmem": "4096 16384 4194304",
}


class Unavailable(Exception):
    """Namespaces, or tools needed in them, are not available on this machine."""


def run_command(*words: str) -> str:
    """Runs a command and returns its output; raises `Unavailable` with its error message if it fails."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise Unavailable(f"there is no command `{words[0]}` (of the package iproute2)") from None
    if done.returncode:
        told = (done.stderr.strip() or done.stdout.strip() or f"exit status {done.returncode}").splitlines()
        raise Unavailable(f"`{' '.join(words)}` says: {told[-1]}")
    return done.stdout


@dataclass(frozen=True)
class Bottleneck:
    """Rate and buffer of the router's port toward the receiver."""

    rate_mbps: int
    buffer_packets: int


@dataclass(frozen=True)
class Namespaces:
    """Names of the three namespaces."""

    sender: str
    router: str
    receiver: str

    def __iter__(self) -> Iterator[str]:
        """Iterates over the names in the order of a packet's path."""
        return iter((self.sender, self.router, self.receiver))


def command_in_namespace(namespace: str, *words: str) -> list[str]:
    """Returns the words of a command that runs in a namespace."""
    return ["ip", "netns", "exec", namespace, *words]


def write_settings(namespace: str, settings: dict[str, str]) -> None:
    """Sets sysctls of `net.ipv4`; fails with the name of a sysctl that this kernel does not have."""
    lines = [f"echo '{value}' > /proc/sys/net/ipv4/{name}" for name, value in settings.items()]
    run_command(*command_in_namespace(namespace, "sh", "-ec", "\n".join(lines)))


def connect_namespaces(spaces: Namespaces) -> None:
    """Sets up links and addresses, with permanent neighbour entries so that no ARP is needed."""
    for left, right, ends in (
        (spaces.sender, spaces.router, "s0 r0"),
        (spaces.router, spaces.receiver, "r1 d0"),
    ):
        a, b = ends.split()
        run_command("ip", "link", "add", a, "netns", left, "type", "veth", "peer", "name", b, "netns", right)
    places = [
        (spaces.sender, "s0", "10.77.0.1/24"),
        (spaces.router, "r0", "10.77.0.2/24"),
        (spaces.router, "r1", "10.77.1.2/24"),
        (spaces.receiver, "d0", "10.77.1.1/24"),
    ]
    hardware = {}
    for namespace, device, address in places:
        run_command(
            *command_in_namespace(
                namespace, "sh", "-ec", "echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6 || true"
            )
        )
        run_command("ip", "-n", namespace, "addr", "add", address, "dev", device)
        run_command("ip", "-n", namespace, "link", "set", device, "mtu", str(MTU), "up")
        run_command(*command_in_namespace(namespace, sys.executable, str(HERE / "offloads.py"), device))
        told = json.loads(run_command("ip", "-n", namespace, "-j", "link", "show", device))
        hardware[device] = told[0]["address"], address.split("/")[0]
    for (namespace, device, _), other in zip(places, ("r0", "s0", "d0", "r1"), strict=True):
        mac, address = hardware[other]
        run_command(
            "ip",
            "-n",
            namespace,
            "neigh",
            "replace",
            address,
            "lladdr",
            mac,
            "nud",
            "permanent",
            "dev",
            device,
        )


def limit_rate(router: str, bottleneck: Bottleneck) -> None:
    """Sets up a token bucket that limits the rate, with the buffer as its child queue."""
    rate, burst = f"{bottleneck.rate_mbps}mbit", BURST_FRAMES * FRAME_BYTES
    # The child queue of the next command replaces the queue that this `limit` of `tbf` is for.
    run_command("tc", "-n", router, "qdisc", "add", "dev", "r1", "root", "handle", "1:",
            "tbf", "rate", rate, "burst", str(burst), "limit", "10000000")  # fmt: skip
    run_command("tc", "-n", router, "qdisc", "add", "dev", "r1", "parent", "1:1", "handle", "10:",
            "pfifo", "limit", str(bottleneck.buffer_packets))  # fmt: skip


def set_up_routes(spaces: Namespaces, rto_min_ms: int) -> None:
    """Sets up routes with the minimum RTO, which also limits how long a receiver delays ACKs."""
    least = ("rto_min", f"{rto_min_ms}ms")
    run_command("ip", "-n", spaces.sender, "route", "add", "10.77.1.0/24", "via", "10.77.0.2", *least)
    run_command("ip", "-n", spaces.receiver, "route", "add", "10.77.0.0/24", "via", "10.77.1.2", *least)
    write_settings(spaces.router, {"ip_forward": "1"})


@contextlib.contextmanager
def enlarged_backlog() -> Iterator[None]:
    """Enlarges the backlog between namespaces, so that it drops no packets, and restores it at the end."""
    try:
        was = BACKLOG_SYSCTL.read_text()
        BACKLOG_SYSCTL.write_text(str(BACKLOG_PACKETS))
    except OSError as error:
        raise Unavailable(f"{BACKLOG_SYSCTL} cannot be set: {error.strerror}") from None
    try:
        yield
    finally:
        BACKLOG_SYSCTL.write_text(was)


@contextlib.contextmanager
def real_time_ksoftirqd() -> Iterator[None]:
    """Gives the `ksoftirqd` threads real-time priority, and restores their priority at the end.

    A burst wakes these threads. While one of them waits for a processor, all timers of this processor wait
    too.
    """
    first = os.sched_param(os.sched_get_priority_max(os.SCHED_FIFO) // 2)
    was: dict[int, tuple[int, os.sched_param]] = {}
    for name in Path("/proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):
            if name.read_text().startswith("ksoftirqd/"):
                pid = int(name.parent.name)
                was[pid] = os.sched_getscheduler(pid), os.sched_getparam(pid)
                os.sched_setscheduler(pid, os.SCHED_FIFO, first)
    try:
        yield
    finally:
        for pid, (policy, param) in was.items():
            os.sched_setscheduler(pid, policy, param)


@contextlib.contextmanager
def create_namespaces() -> Iterator[Namespaces]:
    """Creates three namespaces and removes them at the end, even after an error."""
    names = Namespaces(*(f"overspill-{os.getpid()}-{end}" for end in ("s", "r", "d")))
    made: list[str] = []
    try:
        for name in names:
            run_command("ip", "netns", "add", name)
            made.append(name)
        yield names
    finally:
        for name in made:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)


def check_availability() -> None:
    """Raises `Unavailable` if a run cannot be set up here, before any run starts."""
    with create_namespaces() as spaces:
        connect_namespaces(spaces)
        limit_rate(spaces.router, Bottleneck(100, 20))
        set_up_routes(spaces, 10)
        for name in (spaces.sender, spaces.receiver):
            write_settings(name, SYSCTLS)


def queue_counters(router: str) -> dict[str, int]:
    """Returns the packets and drops of the bottleneck's buffer."""
    told: list[dict[str, Any]] = json.loads(
        run_command("tc", "-n", router, "-s", "-j", "qdisc", "show", "dev", "r1")
    )
    (queue,) = (each for each in told if each["kind"] == "pfifo")
    return {"packets": queue["packets"], "drops": queue["drops"]}
