"""Absence of deadlocks, said where hosts or switches may pause each other."""

from __future__ import annotations

from collections.abc import Iterator

from overspill.results.finished import Finished
from overspill.results.labels import Line


def none_found(results: Finished) -> Iterator[Line]:
    """One line with the variants that may pause and have no deadlock in any run, if there are any."""
    may_pause = [
        variant
        for variant in results.variants
        if any(len(run.column("pauses", "node")) for run in results.of(variant))
    ]
    free = [name for name in may_pause if not any(run.deadlock for run in results.of(name))]
    if free:
        named = "" if len(free) == len(results.variants) else f"{', '.join(free)}: "
        text = "no deadlock found: no ports waited for each other in a circle until the end"
        yield Line("deadlock", f"{named}{text}")
