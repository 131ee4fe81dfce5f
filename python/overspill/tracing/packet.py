"""Parsing of the arguments of `overspill trace`: the packet, its variant, and times to record queues."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from overspill.errors import BadInput
from overspill.results import formats

U32_MAX, U64_MAX = 2**32 - 1, 2**64 - 1
FORMS = "expected most_detoured, most_bounced, first_trimmed, first_held, first_cnm or flow=F,n=N[,reverse]"
# A packet is trimmed at most once; among equals, the first to end is found.
NAMED = {
    "most_detoured": "detoured",
    "most_bounced": "bounced",
    "first_trimmed": "trimmed",
    "first_held": "held",
    "first_cnm": "tells",
}
# Slot and kind of the mechanism that causes each event.
DOES = {
    "detoured": ("overflow", "detour"),
    "bounced": ("overflow", "bounce"),
    "trimmed": ("overflow", "trim"),
    "held": ("ack_hold", "abq"),
    "tells": ("notify", "qcn"),
}
ONE = re.compile(r"flow=([0-9]{1,10}),n=([0-9]{1,10})(,reverse)?")
TIME = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(ps|ns|us|ms|s)")
UNITS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
INSTANTS = 3


@dataclass(frozen=True)
class Packet:
    """Packet given by its identity, or by the event that it has the most of, a value of `NAMED`."""

    most: str = ""
    flow: int = 0
    n: int = 0
    reverse: bool = False

    @staticmethod
    def parse(text: str) -> "Packet":
        """Parses the value of `--packet`; raises `BadInput` if it is not valid."""
        bare = text.replace(" ", "")
        if bare in NAMED:
            return Packet(NAMED[bare])
        found = ONE.fullmatch(bare)
        if found is None:
            raise BadInput(f"--packet: found {text!r}; {FORMS}")
        flow, n = int(found[1]), int(found[2])
        if max(flow, n) > U32_MAX:
            raise BadInput(f"--packet: found {text!r}; expected numbers from 0 to {U32_MAX}")
        return Packet("", flow, n, bool(found[3]))

    def __str__(self) -> str:
        """Formats the packet in the syntax of `--packet`."""
        if self.most:
            return next(name for name, most in NAMED.items() if most == self.most)
        return f"flow={self.flow},n={self.n}{',reverse' if self.reverse else ''}"

    @property
    def asked(self) -> str | tuple[int, bool, int]:
        """Packet in the form that the core takes."""
        return self.most or (self.flow, self.reverse, self.n)


def instants(text: str | None) -> tuple[int, int, int] | None:
    """Parses the value of `--at`, `t1,t2,t3`, into picoseconds; `None` if the option is not given."""
    if text is None:
        return None
    found = [TIME.fullmatch(part.strip()) for part in text.split(",")]
    times = [picoseconds(one) for one in found if one is not None]
    if len(times) != len(found) or len(times) != INSTANTS or max(times) > U64_MAX:
        raise BadInput(f"--at: found {text!r}; expected three times, such as 1.2ms,1.5ms,2ms")
    first, second, third = times
    if not first <= second <= third:
        raise BadInput(f"--at: found {text!r}; expected times in ascending order")
    return first, second, third


def picoseconds(found: re.Match[str]) -> int:
    """Converts a matched time to picoseconds."""
    return int(Fraction(found[1]) * UNITS[found[2]])


def variant(loaded: Mapping[str, Any], wanted: str | None, packet: Packet) -> str:
    """Returns the variant named by the user, or the first whose switches cause the event of `packet`.

    For a packet given by its number, it is the first that detours. Without one, it is the first that bounces,
    trims, holds ACKs, or sends congestion messages, in this order of preference, or the first of all. Raises
    `BadInput` if there is no such variant.
    """
    names: Sequence[str] = loaded["variants"]
    if wanted is not None and wanted not in names:
        raise BadInput(f"--variants: found {wanted!r}; expected one of {', '.join(names)}")
    kinds = [DOES[packet.most]] if packet.most else list(DOES.values())
    able = [name for kind in kinds for name in names if does(loaded["resolved"][name], kind)]
    if packet.most and not able:
        raise BadInput(
            f"--packet: found {packet}; expected a scenario with a variant that has {' '.join(kinds[0])}"
        )
    if packet.most and wanted is not None and wanted not in able:
        raise BadInput(
            f"--variants: found {wanted!r}, which has no {' '.join(kinds[0])}; "
            f"for {packet} expected one of {', '.join(able)}"
        )
    return wanted or next(iter(able), names[0])


def does(resolved: Mapping[str, Any], wanted: tuple[str, str]) -> bool:
    """Returns true if a slot of any switch or port of a variant has this kind of mechanism."""
    slot, kind = wanted
    tables = [table for one in resolved["switches"] for table in (one, *one.get("ports", {}).values())]
    return any(table[slot]["kind"] == kind for table in tables if slot in table)


def within(instants: tuple[int, int, int] | None, resolved: Mapping[str, Any]) -> None:
    """Raises `BadInput` if a time is after the latest end that a run of the variant can have."""
    spans = [TIME.fullmatch(text) for text in (resolved["duration"], resolved["measure"]["drain"])]
    end = sum(picoseconds(one) for one in spans if one is not None)
    if instants is not None and all(spans) and instants[-1] > end:
        raise BadInput(
            f"--at: found {formats.time(instants[-1])}; expected times up to the end of the run and of its "
            f"drain, {formats.time(end)}"
        )
