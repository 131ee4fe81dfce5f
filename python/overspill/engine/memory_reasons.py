"""Reasons for differences between the closed form of switch memory and the dataplane."""

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import fields
from fractions import Fraction

from overspill.engine.memory_limits import Case, Limits
from overspill.engine.switch_memory import Marking

MEASURES = tuple(field.name for field in fields(Limits))
MOST_FRAMES = 5_000_000  # frames that a measurement sends at most

Measured = Mapping[str, int | None]

NAMES = {
    "mark": "until a mark",
    "pause": "until a pause",
    "ingress_loss": "until a loss at ingress",
    "egress_loss": "until a loss at egress",
    "headroom": "headroom in frames",
    "resume": "departures until the resume",
}
CHANGED_LINKS = (
    "Computed headroom covers all rates and delays that events give a link. The closed form takes the first."
)
FAULT = "Rounding does not explain this: the closed form or the dataplane is wrong. Please report it."


def differs(name: str, closed: Fraction | None, measured: int | None) -> bool:
    """Returns true if two counts differ by more than a frame, or if only one exists.

    The nearest whole number of the closed form must differ too, so that rounding alone is no difference.
    """
    if name == "headroom":
        closed, measured = closed or Fraction(0), measured or 0  # no headroom stores no frame
    if closed is None or measured is None:
        return (closed is None) != (measured is None)
    return abs(closed - measured) > 1 and abs(nearest(closed) - measured) > 1


def nearest(count: Fraction) -> int:
    """Returns the nearest whole number of frames, half a frame up."""
    return math.floor(count + Fraction(1, 2))


def describe(name: str, closed: Fraction | None, measured: int | None, why: str) -> str:
    """Describes a difference and its reason."""
    texts = [
        "none" if count is None else f"{float(count):,.1f}".removesuffix(".0") for count in (closed, measured)
    ]
    return f"{NAMES[name]}: closed form {texts[0]}, dataplane {texts[1]}. {why}"


def explain_mark(markings: Iterable[Marking], closed: Fraction | None, found: int | None) -> str | None:
    """Returns the reason why a mark comes later than in the closed form, for all kinds of buffers."""
    if closed is None or (found is not None and found < closed):
        return None
    known = list(markings)
    if any(marking.is_random for marking in known):
        return "RED and WRED mark at random above their minimum. The closed form is the earliest mark."
    if any(marking.is_averaged for marking in known):
        return (
            "With a weight below 1, an average queue decides on marks. The closed form is the earliest mark."
        )
    return None


def explain_end(name: str, limits: Limits, found: int | None) -> str | None:
    """Returns a reason if the measurement ends before an event, because it sends no more frames."""
    before = limits.pause if name in ("headroom", "resume") else None
    counts = [count for count in (getattr(limits, name), before) if count is not None]
    ended = found is None or (name == "headroom" and found == MOST_FRAMES)
    if ended and counts and max(counts) > MOST_FRAMES:
        return f"A measurement sends {MOST_FRAMES:,} frames at most."
    return None


def explain_port(kind: str, marking: Marking | None, limits: Limits, measured: Measured) -> list[str]:
    """Explains the differences for a buffer without pools."""
    told = []
    for name in MEASURES:
        closed, found = getattr(limits, name), measured[name]
        if differs(name, closed, found):
            why = explain_end(name, limits, found)
            if name == "mark" and marking is not None:
                why = why or explain_mark([marking], closed, found)
            if name in ("pause", "headroom", "resume") and limits.pause is None:
                why = f"The closed form covers a {kind} buffer with a fixed `xoff` only."
            told.append(describe(name, closed, found, why or FAULT))
    return told


def explain_case(case: Case, limits: Limits, measured: Measured, links_change: bool = False) -> list[str]:
    """Explains the differences of a case; `links_change` is true if events change links during the run."""
    told = [one for name in MEASURES if (one := explain_difference(name, case, limits, measured))]
    return [one.replace(FAULT, CHANGED_LINKS) for one in told] if links_change and case.is_paused else told


def explain_difference(name: str, case: Case, limits: Limits, measured: Measured) -> str | None:
    """Explains a difference of more than a frame; `None` if there is none."""
    closed, found = getattr(limits, name), measured[name]
    if not differs(name, closed, found):
        return None
    return describe(name, closed, found, reason(name, case, limits, measured) or FAULT)


def reason(name: str, case: Case, limits: Limits, measured: Measured) -> str | None:
    """Returns the reason for a difference: settings, the order of limits, or rounding; `None` without one."""
    closed, found = getattr(limits, name), measured[name]
    if why := explain_end(name, limits, found):
        return why
    if name == "mark":
        queues = ((port, case.memory.class_to_queue[class_]) for _, port, class_ in case.streams)
        marking = case.memory.marking
        if why := explain_mark((marking[at] for at in queues if at in marking), closed, found):
            return why
    if name == "resume" and case.memory.frees_at_end and closed is not None and found is not None:
        # One frame for the end of the transmission, and one for rounding.
        if 0 < found - closed <= 2:
            return "Memory becomes free at the end of a transmission, when the next one has begun already."
        return None
    return (
        explain_unequal_streams(case)
        or explain_other_side(name, limits, measured)
        or explain_rounding(case, limits, (closed, found))
    )


def explain_unequal_streams(case: Case) -> str | None:
    """Returns a reason if the first limit does not end all streams, or two limits are near each other."""
    if limits_are_near(case):
        return (
            "Two limits (of a group, a queue or a pool) are within two frames of each other, and rounding "
            "decides which is first. A frame that no longer fits into the pool takes headroom or is lost."
        )
    if (
        len(case.streams) > 1
        and not case.is_paused
        and any(at in case.memory.headrooms for at in case.groups)
    ):
        return (
            "The groups are lossless, but nothing pauses them. After the first is at its limit, the others "
            "go on, and the closed form does not follow them."
        )
    return None


def explain_rounding(case: Case, limits: Limits, counts: tuple[Fraction | None, int | None]) -> str | None:
    """Returns the reason for a difference of a few frames: groups that fill in turn, and whole frames."""
    closed, found = counts
    if closed is None or found is None:
        return None
    if len(case.streams) > 1 and abs(closed - found) <= 3:
        return (
            "The groups or queues fill in turn. The first reaches its limit while others are a frame behind, "
            "and a frame that finds the use just below the limit is stored whole."
        )
    gets_rest = limits.pause is not None and limits.egress_loss is not None
    if gets_rest and abs(closed - found) <= len(case.streams) + 1:
        return (
            "The last group gets the space that others leave at egress, and each of these is within a frame."
        )
    if abs(closed - found) <= 2:
        return "Frames take whole cells, and a frame that finds the use just below the limit is stored whole."
    return None


def explain_other_side(name: str, limits: Limits, measured: Measured) -> str | None:
    """Returns a reason if the two methods find the loss at different sides, within a few frames."""
    if not name.endswith("_loss") or (getattr(limits, name) is None) == (measured[name] is None):
        return None
    closed = limits.ingress_loss if limits.ingress_loss is not None else limits.egress_loss
    losses = [measured[side] for side in ("ingress_loss", "egress_loss")]
    found = next((loss for loss in losses if loss is not None), None)
    if closed is not None and found is not None and abs(closed - found) <= 3:
        return (
            "Ingress and egress reach their limits within a few frames, and rounding decides which is first."
        )
    return None


def limits_are_near(case: Case) -> bool:
    """Returns true if two points at which groups, queues or pools are full are within two frames."""
    points = []
    for side, accounts in (("groups", case.groups), ("queues", case.queues)):
        for find in (case.limit_point, case.full_point):
            found = (find(side, at) for at in accounts)
            points += [min(present)] if (present := [point for point in found if point is not None]) else []
    points.sort()
    return any(after - before <= 2 * case.frame for before, after in itertools.pairwise(points[:3]))
