"""Statement that no deadlock was found, if hosts or switches may pause each other."""

from __future__ import annotations

from collections.abc import Iterator

from overspill.results.finished_runs import FinishedRuns
from overspill.results.line_labels import Line
from overspill.results.rundata import RunData

MAY_PAUSE_KEY = "may_pause"  # entry of a kept summary


def may_pause(run: RunData) -> bool:
    """Returns true if ports of a run may pause each other, from the summary if tables are not kept."""
    kept = run.summary.get(MAY_PAUSE_KEY)
    return len(run.column("pauses", "node")) > 0 if kept is None else bool(kept)


def no_deadlock_lines(results: FinishedRuns) -> Iterator[Line]:
    """Yields one line that names the variants that may pause and had no deadlock in any run, if any."""
    pausing = [name for name in results.variants if any(map(may_pause, results.runs_of(name)))]
    free = [name for name in pausing if not any(run.deadlock for run in results.runs_of(name))]
    if free:
        named = "" if len(free) == len(results.variants) else f"{', '.join(free)}: "
        text = "no deadlock found: no cycle of ports waiting for each other lasted until the end"
        yield Line("deadlock", f"{named}{text}")
