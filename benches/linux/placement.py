"""Placement of work on processors: one forwards frames, another runs both hosts and their programs.

On a single processor, a burst of the sender would delay the router that forwards it, which no switch does.
`rps_cpus` of the receiving devices steers frames to processors.
"""

import os
from dataclasses import dataclass
from enum import StrEnum

from netns import Namespaces, Unavailable, command, inside

# Devices of hosts and router. The processor of the device that receives a frame does the work for it.
HOSTS, ROUTER = ("s0", "d0"), ("r0", "r1")


class Kind(StrEnum):
    """Distribution of work over processors."""

    APART = "apart"
    TOGETHER = "together"


@dataclass(frozen=True)
class Placement:
    """Processor numbers of hosts and router."""

    kind: Kind
    hosts: int
    router: int

    @property
    def described(self) -> str:
        """Description for the page."""
        if self.kind == Kind.APART:
            return "one processor forwards frames, another has both hosts"
        return "one processor has the hosts and forwards frames"


def place(kind: Kind) -> Placement:
    """Chooses the first and the last processor that this process may use, or the first alone."""
    have = sorted(os.sched_getaffinity(0))
    if kind == Kind.APART and len(have) < 2:
        raise Unavailable("there is one processor, and frames are to be forwarded on another; see --together")
    return Placement(kind, have[0], have[-1] if kind == Kind.APART else have[0])


def mask(processor: int) -> str:
    """Returns a processor mask in the format of sysfs: hexadecimal words of 32 bits."""
    words = [0] * (processor // 32 + 1)
    words[-1 - processor // 32] = 1 << processor % 32
    return ",".join(f"{word:08x}" for word in words)


def steer(spaces: Namespaces, placement: Placement) -> None:
    """Steers each device's frames to the processor of its namespace."""
    for namespace, device, processor in (
        (spaces.sender, HOSTS[0], placement.hosts),
        (spaces.receiver, HOSTS[1], placement.hosts),
        (spaces.router, ROUTER[0], placement.router),
        (spaces.router, ROUTER[1], placement.router),
    ):
        file = f"/sys/class/net/{device}/queues/rx-0/rps_cpus"
        command(*inside(namespace, "sh", "-ec", f"echo {mask(processor)} > {file}"))
