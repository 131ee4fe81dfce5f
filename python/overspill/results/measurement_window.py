"""Measurement window in words, with cautions about values that are rough, missing, or from outside of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from overspill.results import formats
from overspill.results.finished_runs import FinishedRuns
from overspill.results.metric_key import Key
from overspill.results.rundata import RunData

CAPACITY_SHARES = ("load_wire", "load_payload", "link_utilisation_max")  # shares of the capacity of links


def describe_window(results: FinishedRuns, variant: str) -> str | None:
    """Returns a variant's window, warm-up and drain in words."""
    runs = results.runs_of(variant)
    if not runs:
        return None
    start, end = runs[0].summary["window_ps"]
    warm = f"warm-up of {formats.format_time(start)} excluded" if start else "no warm-up"
    after = f"drain of up to {formats.format_time(runs[0].summary['drain_ps'])}"
    more = [
        *over_capacity_caution(results, variant),
        *endless_goodput_caution(results, runs),
        *data_drops_caution(results, variant),
    ]
    between = f"flows that start from {formats.format_time(start)} to {formats.format_time(end)}"
    return "; ".join([between, warm, after, *more])


def over_capacity_caution(results: FinishedRuns, variant: str) -> Iterable[str]:
    """Yields a caution if a load or utilisation exceeds 100%, which whole frames cause in a short window."""
    shares = [
        value.value
        for by_seed in results.values[variant].values()
        for key, value in by_seed.items()
        if key.metric in CAPACITY_SHARES
    ]
    if any(share > 1 for share in shares):
        yield (
            "the measurement window is so short that loads and utilisations exceed 100%, because a frame "
            "counts in full when its transmission begins. Use a longer window"
        )


def endless_goodput_caution(results: FinishedRuns, runs: Sequence[RunData]) -> Iterable[str]:
    """Yields a caution if the goodput of endless flows covers more than the measurement window."""
    summary = runs[0].summary
    resolved = (results.facts.get("resolved") or {}).get(runs[0].variant) or {}
    binned = (resolved.get("measure") or {}).get("goodput") == "flows"
    whole = not summary["window_ps"][0] and all(run.end_ps <= run.summary["window_ps"][1] for run in runs)
    if any(one.get("endless") for one in summary["traffic"]) and not binned and not whole:
        yield (
            "`flow_goodput` of endless flows covers the whole life of each flow. Set "
            '`measure.goodput = "flows"` to cover the measurement window only'
        )


def data_drops_caution(results: FinishedRuns, variant: str) -> Iterable[str]:
    """Yields a caution that a variant has no value of `data_drops`, if other runs have one."""
    missing = [Key("data_drops") not in one for one in results.values[variant].values()]
    known = any(Key("data_drops") in one for by_seed in results.values.values() for one in by_seed.values())
    if known and any(missing):
        yield "`data_drops` has no value, because only some messages of a persistent connection are measured"
