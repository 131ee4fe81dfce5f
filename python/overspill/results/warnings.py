"""Facts and warnings above the tables of results, for `run` and `sweep`: warnings first."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from overspill.grouping import group_by_key
from overspill.results import failed_runs, formats, header, pointwise_lines
from overspill.results.line_labels import Line, limit_lines
from overspill.results.sweep_document import sweep_cautions

if TYPE_CHECKING:
    from overspill.results.finished_runs import FinishedRuns

MAX_TEXTS = 12  # texts of each label on a page
NUMBER = re.compile(r"\d[\d.,]*")
POINT_OF_NOTE = " (at "  # begins the points of a note that does not hold at all points
WHERE_LISTED = {"PARTIAL RESULT": "`partial`", "UNFINISHED FLOWS": "`unfinished`", "DEADLOCK": "`deadlocks`"}


def result_lines(
    results: FinishedRuns, shown: Collection[str] | None = None, page: bool = False
) -> list[Line]:
    """Returns all facts and warnings about results, those that limit what the numbers mean first.

    `shown` are the printed metrics of a sweep; a page has more texts of each label.
    """
    if not results.of_sweep:
        return header.header_lines(results)
    rough = sweep_cautions(results.facts, shown)
    more = {"loud": MAX_TEXTS, "quiet": MAX_TEXTS} if page else {}
    points = pointwise_lines.merged_lines(results.facts, **more)
    return [
        *sweep_warnings(results, page),
        *(line for line in (*points, *rough) if line.loud),
        *sweep_plan_lines(results, 20 if page else 8),
        *(line for line in (*points, *rough) if not line.loud),
        *note_lines(results, page),
    ]


def sweep_plan_lines(sweep: FinishedRuns, most: int) -> list[Line]:
    """Returns lines that describe a sweep: scenario, axes with at most `most` values each, and seeds."""
    axes = "; ".join(f"{axis.path} = {formats.format_listing(axis.texts, most)}" for axis in sweep.axes)
    count = len(sweep.seeds)
    seeds = f"seed{'s' if count > 1 else ''} {formats.format_seeds(sweep.seeds)} (n = {count})"
    sets = f"; set {', '.join(sweep.facts['sets'])}" if sweep.facts["sets"] else ""
    numbers = {"point": len(sweep.points), "variant": len(sweep.variants), "run": sweep.finished}
    points = ", ".join(f"{number} {what}{'s' * (number != 1)}" for what, number in numbers.items())
    together = [Line("together", " and ".join(paths)) for paths in sweep.facts["together"]]
    scenario = Line("scenario", f"{sweep.scenario}, {seeds}{sets}")
    return [
        scenario,
        Line("swept", axes),
        *together,
        *header.variant_names_line(sweep),
        Line("finished", points),
    ]


def warnings(results: FinishedRuns) -> list[Line]:
    """Returns the warnings about results that limit what the numbers mean."""
    return [line for line in result_lines(results) if line.loud]


def sweep_warnings(sweep: FinishedRuns, page: bool = False) -> list[Line]:
    """Returns warnings about missing, failed, cut or unfinished runs of a sweep, and deadlocks."""
    found = []
    if sweep.interrupted:
        text = f"stopped by the user: {sweep.finished} of {sweep.planned} runs are finished and shown"
        found.append(Line("INTERRUPTED", f"{text}. Run the same command to continue", True))
    found += failed_runs.failed_run_lines(sweep, page)
    most = MAX_TEXTS if page else pointwise_lines.MAX_LOUD_TEXTS
    status = sweep.run_status
    texts = {
        "PARTIAL RESULT": [(one, str(one["why"]), " ") for one in status.partial],
        "UNFINISHED FLOWS": [(one, describe_unfinished(one), ": ") for one in status.unfinished],
        "DEADLOCK": [
            (one, header.describe_deadlock(one, len(one["seeds"])), ": ") for one in status.deadlocks
        ],
    }
    for label, every in texts.items():
        named = [f"{format_place(sweep, one)}{between}{text}" for one, text, between in every]
        found += limit_lines(label, named, most, f"{WHERE_LISTED[label]} in manifest.json", loud=True)
    return found


def describe_unfinished(one: Mapping[str, Any]) -> str:
    """Describes the unfinished flows of a point and variant."""
    return f"{one['unfinished']} of {one['measured']} measured flows did not finish"


def note_lines(sweep: FinishedRuns, page: bool) -> list[Line]:
    """Returns lines with the notes of a sweep; notes that differ in numbers and points share one."""
    by_kind = group_by_key(
        (NUMBER.sub("0", note.rpartition(POINT_OF_NOTE)[0] or note), note)
        for note in header.merge_notes(sweep)
    )
    texts = []
    for notes in by_kind.values():
        left = len(notes) - 1
        more = f" (and {left} more with other numbers: `notes` in manifest.json)" if left else ""
        texts.append(notes[0] + more)
    most = MAX_TEXTS if page else pointwise_lines.MAX_LOUD_TEXTS
    return limit_lines("note", texts, most, "`notes` in manifest.json")


def format_place(sweep: FinishedRuns, one: dict[str, Any]) -> str:
    """Formats a point, a variant and seeds: `switch.buffer.size=50pkt: drop, seeds 1-3`."""
    point = zip(sweep.axes, one["point"], strict=True)
    at = ", ".join(f"{axis.path}={text}" for axis, text in point)
    place = f"{at}: {one['variant']}" if at else one["variant"]
    return f"{place}, seed{'s' if len(one['seeds']) > 1 else ''} {formats.format_seeds(one['seeds'])}"
