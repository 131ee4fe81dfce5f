"""Facts from a run's tables that warnings need, for a summary that is kept without the tables."""

from __future__ import annotations

from typing import Any

from overspill.results import changes, deadlocks, equal_variants, fairness
from overspill.results.measures import rates
from overspill.results.rundata import RunData

# If one of these is missing, an older version stored the run, and its warnings are not known.
NEEDED = (fairness.MET, rates.ACHIEVED, changes.COSTS, deadlocks.MAY_PAUSE)


def facts(run: RunData) -> dict[str, Any]:
    """Returns the entries that are added to a run's summary before its tables are dropped."""
    return {
        equal_variants.QUIET: equal_variants.quiet(run),
        fairness.MET: fairness.kept_traffic(run),
        rates.ACHIEVED: rates.achieved_loads(run),
        changes.COSTS: changes.costs(run),
        deadlocks.MAY_PAUSE: deadlocks.may_pause(run),
    }


def known(summary: dict[str, Any]) -> bool:
    """Returns true if a kept summary has all that warnings need."""
    return all(name in summary for name in NEEDED)
