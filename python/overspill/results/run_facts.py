"""Facts from a run's tables that warnings need, kept in its summary if tables are not kept."""

from __future__ import annotations

from typing import Any

from overspill.results import deadlocks, fairness, identical_variants, network_changes
from overspill.results.measures import rates
from overspill.results.rundata import RunData

# If one of these is missing, an older version stored the run, and its warnings are not known.
NEEDED_KEYS = (fairness.TRAFFIC_KEY, rates.ACHIEVED_KEY, network_changes.COSTS_KEY, deadlocks.MAY_PAUSE_KEY)


def facts_for_summary(run: RunData) -> dict[str, Any]:
    """Returns the entries that are added to a run's summary before its tables are dropped."""
    return {
        identical_variants.QUIET_KEY: identical_variants.had_no_overflow(run),
        fairness.TRAFFIC_KEY: fairness.traffic_for_summary(run),
        rates.ACHIEVED_KEY: rates.achieved_loads(run),
        network_changes.COSTS_KEY: network_changes.count_frames_lost_by_event(run),
        deadlocks.MAY_PAUSE_KEY: deadlocks.may_pause(run),
    }


def has_all_facts(summary: dict[str, Any]) -> bool:
    """Returns true if a kept summary has all that warnings need."""
    return all(name in summary for name in NEEDED_KEYS)
