"""Closed form for buffers without pools (`per_port`, `shared`): frames until a mark, a pause and a loss."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from overspill.engine import axis_values
from overspill.engine.memory_limits import Limits
from overspill.engine.switch_memory import CLASSES, Marking, size_in_bytes


@dataclass(frozen=True)
class PortMemory:
    """Memory of one output port or queue: a fixed size, or a reserve and a share of `shared` bytes."""

    fixed: int = 0
    in_packets: bool = False
    alpha: Fraction | None = None
    shared: int = 0
    reserve: int = 0
    marking: Marking | None = None
    xoff: int | None = (
        None  # bytes of a class from one input; None if nothing is paused, or by a moving limit
    )
    xon: int = 0

    def stored(self, size: int) -> Fraction:
        """Returns the number of frames of this size that fit."""
        if self.alpha is not None:
            share = self.alpha * self.shared / (1 + self.alpha)
            return (self.reserve + share) / size
        return Fraction(self.fixed if self.in_packets else self.fixed // size)

    def limits(self, size: int) -> Limits:
        """Returns the frames until a mark, a pause and a loss, and the departures until the resume."""
        stored, pause, resume = self.stored(size), None, None
        if self.xoff is not None and self.xoff <= stored * size:
            pause = Fraction(-(-self.xoff // size))
            resume = Fraction(max(1, math.ceil(Fraction(pause * size - self.xon, size))))
        mark = None
        if self.marking is not None and not self.marking.drops:
            mark = Fraction(self.marking.frames(size)) + 1
        return Limits(
            mark if mark is not None and mark <= stored else None,
            pause,
            None,
            stored + 1,
            None if pause is None else stored - pause,
            resume,
        )


def read_port_memory(
    buffer: Mapping[str, Any], ports: int, marking: Marking | None, pause: Mapping[str, Any], class_: int
) -> PortMemory:
    """Reads the memory of a port from the slots of a resolved scenario."""
    pauses = pause["kind"] != "none" and class_ in (pause.get("classes") or range(8))
    xoff = size_in_bytes(pause["xoff"]) if pauses and pause.get("xoff") is not None else None
    xon = size_in_bytes(pause.get("xon"))
    if buffer["kind"] == "shared":
        reserve = size_in_bytes(buffer["reserved"])
        accounts = ports * CLASSES if buffer["per"] == "queue" else ports
        shared = size_in_bytes(buffer["size"]) - reserve * accounts
        return PortMemory(0, False, Fraction(buffer["alpha"]), shared, reserve, marking, xoff, xon)
    found = axis_values.in_base_unit(str(buffer["size"]))
    if found is None:
        raise ValueError(f"{buffer['size']!r} is not a size")
    return PortMemory(math.floor(found[0]), found[1] == "pkt", None, 0, 0, marking, xoff, xon)
