"""Packet trace as text: one row per visit to a node, and a summary."""

from collections.abc import Mapping
from typing import Any

from overspill.results import formats, header
from overspill.tracing.packet_trace import (
    ARRIVED,
    BOUNCED,
    CROSSED,
    DETOURED,
    HELD,
    MARKED,
    MOVED,
    TRIMMED,
    PacketTrace,
    Visit,
    compressed,
)

HEADS = ("time (us)", "node", "events", "next hop", "queue", "waited (us)")


def cells(traced: PacketTrace, visit: Visit) -> list[str]:
    """Returns the row of a visit: time, node, events, next node, queued frames ahead, waiting time."""
    waited = ""
    if visit.left_ps is not None and visit.stored_ps is not None:
        waited = us(visit.left_ps - visit.stored_ps)
    elif visit.stored_ps is not None and visit is traced.visits[-1] and traced.fate == "under_way":
        waited = f"> {us(traced.times_ps[1] - visit.stored_ps)}"
    to = "" if visit.to is None else traced.names[visit.to]
    before = "" if visit.before is None else str(visit.before)
    return [us(visit.since_ps), traced.names[visit.node], "; ".join(visit.happened), to, before, waited]


def us(picoseconds: int) -> str:
    """Formats picoseconds as microseconds, to the nanosecond."""
    return formats.number(picoseconds / 1e6, 3)


def summary(traced: PacketTrace) -> list[str]:
    """Returns the summary of a trace: outcome and counts, path, feedback, end of the run."""
    start, end = traced.times_ps
    under_way = f"in flight when the run ended at {formats.time(end)},"
    fates = {
        "delivered": f"delivered to {traced.path[-1]}",
        "came_back": f"returned to its source {traced.path[-1]}",
        "under_way": under_way,
    }
    fate = fates.get(traced.fate, f"lost at {traced.path[-1]} ({traced.fate})")
    counts = [(ARRIVED, "hop"), (DETOURED, "detour"), (BOUNCED, "bounce"), (MARKED, "mark")]
    counts += [(TRIMMED, "cut"), (HELD, "hold"), (CROSSED, "crossing"), (MOVED, "move")]
    parts = [
        counted(traced.count(what), name) for what, name in counts if what == ARRIVED or traced.count(what)
    ]
    return [
        f"{fate} after {formats.time(end - start)}: {', '.join(parts)}",
        f"path: {compressed(traced.path)}",
        *said(traced.message),
        *run_end(traced.facts.get("run_end") or {}),
    ]


def said(message: Mapping[str, Any] | None) -> list[str]:
    """Returns the feedback of a congestion message as a line; empty for other packets."""
    if message is None:
        return []
    above, more = message["q_off"], message["q_delta"]
    length = f"{formats.number(abs(above))} B {'above' if above >= 0 else 'below'} the set point"
    change = f"{formats.number(abs(more))} B {'more' if more >= 0 else 'less'} than at the last sample"
    return [
        f"message: feedback {message['feedback']} of 63 at the port to {message['to']}: {length}, {change}"
    ]


def run_end(found: Mapping[str, Any]) -> list[str]:
    """Returns lines on a deadlock or a failed run, which kept the packet from its destination."""
    deadlock, failed = found.get("deadlock"), found.get("failed")
    told = [f"DEADLOCK: {header.circle(deadlock, 1)}"] if deadlock else []
    return [*told, f"FAILED: the run failed: {failed}"] if failed else told


def counted(count: int, name: str) -> str:
    """Formats a count with its noun: `1 hop`, `2 hops`."""
    return f"{count} {name}{'' if count == 1 else 's'}"
