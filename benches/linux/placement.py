"""Placement of work on processors: one forwards frames, another runs both hosts and their programs.

On a single processor, a burst of the sender would delay the router that forwards it, which no switch does.
`rps_cpus` of the receiving devices steers frames to processors.
"""

import os
from dataclasses import dataclass
from enum import StrEnum

from netns import Namespaces, Unavailable, command_in_namespace, run_command

# Devices of hosts and router. The processor of the device that receives a frame does the work for it.
HOST_DEVICES, ROUTER_DEVICES = ("s0", "d0"), ("r0", "r1")


class PlacementKind(StrEnum):
    """Distribution of work over processors."""

    APART = "apart"
    TOGETHER = "together"


@dataclass(frozen=True)
class Placement:
    """Processor numbers of hosts and router."""

    kind: PlacementKind
    hosts: int
    router: int

    @property
    def description(self) -> str:
        """Description for the page."""
        if self.kind == PlacementKind.APART:
            return "one processor forwards frames, another has both hosts"
        return "one processor has the hosts and forwards frames"


def choose_placement(kind: PlacementKind) -> Placement:
    """Chooses the first and the last processor that this process may use, or the first alone."""
    have = sorted(os.sched_getaffinity(0))
    if kind == PlacementKind.APART and len(have) < 2:
        raise Unavailable("there is one processor, and frames are to be forwarded on another; see --together")
    return Placement(kind, have[0], have[-1] if kind == PlacementKind.APART else have[0])


def processor_mask(processor: int) -> str:
    """Returns a processor mask in the format of sysfs: hexadecimal words of 32 bits."""
    words = [0] * (processor // 32 + 1)
    words[-1 - processor // 32] = 1 << processor % 32
    return ",".join(f"{word:08x}" for word in words)


def steer_frames(spaces: Namespaces, placement: Placement) -> None:
    """Steers each device's frames to the processor of its namespace."""
    for namespace, device, processor in (
        (spaces.sender, HOST_DEVICES[0], placement.hosts),
        (spaces.receiver, HOST_DEVICES[1], placement.hosts),
        (spaces.router, ROUTER_DEVICES[0], placement.router),
        (spaces.router, ROUTER_DEVICES[1], placement.router),
    ):
        file = f"/sys/class/net/{device}/queues/rx-0/rps_cpus"
        run_command(
            *command_in_namespace(namespace, "sh", "-ec", f"echo {processor_mask(processor)} > {file}")
        )
