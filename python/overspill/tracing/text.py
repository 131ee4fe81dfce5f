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
    NodeVisit,
    PacketTrace,
    format_path,
)

COLUMN_HEADS = ("time (us)", "node", "events", "next hop", "queue", "waited (us)")


def visit_cells(traced: PacketTrace, visit: NodeVisit) -> list[str]:
    """Returns the table row of a visit: time, node, events, next node, frames queued ahead, waiting time."""
    waited = ""
    if visit.left_ps is not None and visit.stored_ps is not None:
        waited = format_us(visit.left_ps - visit.stored_ps)
    elif visit.stored_ps is not None and visit is traced.visits[-1] and traced.fate == "under_way":
        waited = f"> {format_us(traced.times_ps[1] - visit.stored_ps)}"
    to = "" if visit.next_node is None else traced.names[visit.next_node]
    before = "" if visit.frames_ahead is None else str(visit.frames_ahead)
    return [
        format_us(visit.arrived_ps),
        traced.names[visit.node],
        "; ".join(visit.events),
        to,
        before,
        waited,
    ]


def format_us(picoseconds: int) -> str:
    """Formats picoseconds as a number of microseconds with three decimals."""
    return formats.format_number(picoseconds / 1e6, 3)


def summary_lines(traced: PacketTrace) -> list[str]:
    """Returns the summary of a trace: outcome and counts, path, feedback, end of the run."""
    start, end = traced.times_ps
    under_way = f"in flight when the run ended at {formats.format_time(end)},"
    fates = {
        "delivered": f"delivered to {traced.path[-1]}",
        "came_back": f"returned to its source {traced.path[-1]}",
        "under_way": under_way,
    }
    fate = fates.get(traced.fate, f"lost at {traced.path[-1]} ({traced.fate})")
    counts = [(ARRIVED, "hop"), (DETOURED, "detour"), (BOUNCED, "bounce"), (MARKED, "mark")]
    counts += [(TRIMMED, "cut"), (HELD, "hold"), (CROSSED, "crossing"), (MOVED, "move")]
    parts = [
        format_count(traced.count(what), name)
        for what, name in counts
        if what == ARRIVED or traced.count(what)
    ]
    return [
        f"{fate} after {formats.format_time(end - start)}: {', '.join(parts)}",
        f"path: {format_path(traced.path)}",
        *feedback_lines(traced.message),
        *run_end_lines(traced.facts.get("run_end") or {}),
    ]


def feedback_lines(message: Mapping[str, Any] | None) -> list[str]:
    """Returns the feedback of a congestion message as a line; empty for other packets."""
    if message is None:
        return []
    above, more = message["q_off"], message["q_delta"]
    length = f"{formats.format_number(abs(above))} B {'above' if above >= 0 else 'below'} the set point"
    change = f"{formats.format_number(abs(more))} B {'more' if more >= 0 else 'less'} than at the last sample"
    return [
        f"message: feedback {message['feedback']} of 63 at the port to {message['to']}: {length}, {change}"
    ]


def run_end_lines(found: Mapping[str, Any]) -> list[str]:
    """Returns lines on a deadlock or a failed run, which kept the packet from its destination."""
    deadlock, failed = found.get("deadlock"), found.get("failed")
    told = [f"DEADLOCK: {header.describe_deadlock(deadlock, 1)}"] if deadlock else []
    return [*told, f"FAILED: the run failed: {failed}"] if failed else told


def format_count(count: int, name: str) -> str:
    """Formats a count with its noun: `1 hop`, `2 hops`."""
    return f"{count} {name}{'' if count == 1 else 's'}"
