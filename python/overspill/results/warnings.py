"""What makes results less than whole: runs that are missing, cut, unfinished or in a deadlock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from overspill.results import formats, header
from overspill.results.labels import Line

if TYPE_CHECKING:
    from overspill.results.finished import Finished


def warnings(results: Finished) -> list[Line]:
    """Every warning, of a single point or of a sweep."""
    return of_sweep(results) if results.of_sweep else header.warnings(results)


def of_sweep(sweep: Finished) -> list[Line]:
    """What makes a sweep less than whole."""
    found = []
    if sweep.interrupted:
        text = f"stopped by the user: {sweep.finished} of {sweep.planned} runs are finished and shown"
        found.append(Line("INTERRUPTED", f"{text}; the same command goes on where it was stopped", True))
    found += [Line("FAILED", line, True) for line in sweep.failures]
    for one in sweep.told.partial:
        found.append(Line("PARTIAL RESULT", f"{where(sweep, one)} {one['why']}", True))
    for one in sweep.told.unfinished:
        counts = f"{one['unfinished']} of {one['measured']} measured flows did not finish"
        found.append(Line("UNFINISHED FLOWS", f"{where(sweep, one)}: {counts}", True))
    for one in sweep.told.deadlocks:
        found.append(Line("DEADLOCK", f"{where(sweep, one)}: {header.circle(one, len(one['seeds']))}", True))
    return found


def where(sweep: Finished, one: dict[str, Any]) -> str:
    """A point, a variant, and seeds."""
    point = zip(sweep.axes, one["point"], strict=True)
    at = ", ".join(f"{axis.path}={text}" for axis, text in point)
    place = f"{at}: {one['variant']}" if at else one["variant"]
    return f"{place}, seed{'s' if len(one['seeds']) > 1 else ''} {formats.seeds(one['seeds'])}"
