"""Parsing of the arguments of `overspill trace`: the packet, its variant, and times to record queues."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from overspill.errors import BadInput
from overspill.results import formats

U32_MAX, U64_MAX = 2**32 - 1, 2**64 - 1
EXPECTED_FORMS = (
    "expected most_detoured, most_bounced, first_trimmed, first_held, first_cnm or flow=F,n=N[,reverse]"
)
# The packet with most of these events is traced, or of several the first to end. As no packet is trimmed
# twice, `first_trimmed` is the first trimmed packet to end.
EVENT_OF_CHOICE = {
    "most_detoured": "detoured",
    "most_bounced": "bounced",
    "first_trimmed": "trimmed",
    "first_held": "held",
    "first_cnm": "tells",
}
# Slot and kind of the mechanism that causes each event.
MECHANISM_OF_EVENT = {
    "detoured": ("overflow", "detour"),
    "bounced": ("overflow", "bounce"),
    "trimmed": ("overflow", "trim"),
    "held": ("ack_hold", "abq"),
    "tells": ("notify", "qcn"),
}
PACKET_PATTERN = re.compile(r"flow=([0-9]{1,10}),n=([0-9]{1,10})(,reverse)?")
TIME_PATTERN = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(ps|ns|us|ms|s)")
PS_PER_UNIT = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
INSTANT_COUNT = 3


@dataclass(frozen=True)
class PacketChoice:
    """Packet to trace, given by its identity, or as the one with most events of a kind (`most_of_event`)."""

    most_of_event: str = ""
    flow: int = 0
    n: int = 0
    reverse: bool = False

    @staticmethod
    def parse(text: str) -> "PacketChoice":
        """Parses the value of `--packet`; raises `BadInput` if it is not valid."""
        bare = text.replace(" ", "")
        if bare in EVENT_OF_CHOICE:
            return PacketChoice(EVENT_OF_CHOICE[bare])
        found = PACKET_PATTERN.fullmatch(bare)
        if found is None:
            raise BadInput(f"--packet: found {text!r}; {EXPECTED_FORMS}")
        flow, n = int(found[1]), int(found[2])
        if max(flow, n) > U32_MAX:
            raise BadInput(f"--packet: found {text!r}; expected numbers from 0 to {U32_MAX}")
        return PacketChoice("", flow, n, bool(found[3]))

    def __str__(self) -> str:
        """Formats the packet in the syntax of `--packet`."""
        if self.most_of_event:
            return next(name for name, most in EVENT_OF_CHOICE.items() if most == self.most_of_event)
        return f"flow={self.flow},n={self.n}{',reverse' if self.reverse else ''}"

    @property
    def core_argument(self) -> str | tuple[int, bool, int]:
        """Packet in the form that the core takes."""
        return self.most_of_event or (self.flow, self.reverse, self.n)


def parse_instants(text: str | None) -> tuple[int, int, int] | None:
    """Parses the value of `--at`, `t1,t2,t3`, into picoseconds; `None` if the option is not given."""
    if text is None:
        return None
    found = [TIME_PATTERN.fullmatch(part.strip()) for part in text.split(",")]
    times = [match_to_ps(one) for one in found if one is not None]
    if len(times) != len(found) or len(times) != INSTANT_COUNT or max(times) > U64_MAX:
        raise BadInput(f"--at: found {text!r}; expected three times, such as 1.2ms,1.5ms,2ms")
    first, second, third = times
    if not first <= second <= third:
        raise BadInput(f"--at: found {text!r}; expected times in ascending order")
    return first, second, third


def match_to_ps(found: re.Match[str]) -> int:
    """Converts a time that a pattern has matched, such as `1.5ms`, to picoseconds."""
    return int(Fraction(found[1]) * PS_PER_UNIT[found[2]])


def select_variant(loaded: Mapping[str, Any], wanted: str | None, packet: PacketChoice) -> str:
    """Returns the variant that the user named, or the first one whose switches cause the packet's event.

    For a packet given by its number, it is the first that detours. Without one, it is the first that bounces,
    trims, holds ACKs, or sends congestion messages, in this order of preference, or the first of all. Raises
    `BadInput` if there is no such variant.
    """
    names: Sequence[str] = loaded["variants"]
    if wanted is not None and wanted not in names:
        raise BadInput(f"--variants: found {wanted!r}; expected one of {', '.join(names)}")
    kinds = (
        [MECHANISM_OF_EVENT[packet.most_of_event]]
        if packet.most_of_event
        else list(MECHANISM_OF_EVENT.values())
    )
    able = [name for kind in kinds for name in names if has_mechanism(loaded["resolved"][name], kind)]
    if packet.most_of_event and not able:
        raise BadInput(
            f"--packet: found {packet}; expected a scenario with a variant that has {' '.join(kinds[0])}"
        )
    if packet.most_of_event and wanted is not None and wanted not in able:
        raise BadInput(
            f"--variants: found {wanted!r}, which has no {' '.join(kinds[0])}; "
            f"for {packet} expected one of {', '.join(able)}"
        )
    return wanted or next(iter(able), names[0])


def has_mechanism(resolved: Mapping[str, Any], wanted: tuple[str, str]) -> bool:
    """Returns true if any switch or port of a variant has a mechanism of this kind."""
    slot, kind = wanted
    tables = [table for one in resolved["switches"] for table in (one, *one.get("ports", {}).values())]
    return any(table[slot]["kind"] == kind for table in tables if slot in table)


def check_instants(instants: tuple[int, int, int] | None, resolved: Mapping[str, Any]) -> None:
    """Raises `BadInput` if a time is after the latest end that a run of the variant can have."""
    spans = [TIME_PATTERN.fullmatch(text) for text in (resolved["duration"], resolved["measure"]["drain"])]
    end = sum(match_to_ps(one) for one in spans if one is not None)
    if instants is not None and all(spans) and instants[-1] > end:
        raise BadInput(
            f"--at: found {formats.format_time(instants[-1])}; expected times up to the end of the run and "
            "of its "
            f"drain, {formats.format_time(end)}"
        )
