"""Which processor does what: one forwards frames, another has both hosts and their programs.

With all on one processor a burst of the sender's holds up the router that is to forward it, which no switch
does. Frames are steered by `rps_cpus` of the devices that take them in.
"""

import os
from dataclasses import dataclass
from enum import StrEnum

from netns import Namespaces, Unavailable, command, inside

# Whose the devices are: a frame is worked on by the processor of the device that takes it in.
HOSTS, ROUTER = ("s0", "d0"), ("r0", "r1")


class Kind(StrEnum):
    """How work is spread over processors."""

    APART = "apart"
    TOGETHER = "together"


@dataclass(frozen=True)
class Placement:
    """Numbers of processors."""

    kind: Kind
    hosts: int
    router: int

    @property
    def described(self) -> str:
        """For the page."""
        if self.kind == Kind.APART:
            return "one processor forwards frames, another has both hosts"
        return "one processor has the hosts and forwards frames"


def place(kind: Kind) -> Placement:
    """The first processors that this process may use."""
    have = sorted(os.sched_getaffinity(0))
    if kind == Kind.APART and len(have) < 2:
        raise Unavailable("there is one processor, and frames are to be forwarded on another; see --together")
    return Placement(kind, have[0], have[-1] if kind == Kind.APART else have[0])


def mask(processor: int) -> str:
    """As sysfs wants it: hexadecimal words of 32 bits."""
    words = [0] * (processor // 32 + 1)
    words[-1 - processor // 32] = 1 << processor % 32
    return ",".join(f"{word:08x}" for word in words)


def steer(spaces: Namespaces, placement: Placement) -> None:
    """Each device's frames to the processor of its namespace."""
    for namespace, device, processor in (
        (spaces.sender, HOSTS[0], placement.hosts),
        (spaces.receiver, HOSTS[1], placement.hosts),
        (spaces.router, ROUTER[0], placement.router),
        (spaces.router, ROUTER[1], placement.router),
    ):
        file = f"/sys/class/net/{device}/queues/rx-0/rps_cpus"
        command(*inside(namespace, "sh", "-ec", f"echo {mask(processor)} > {file}"))
