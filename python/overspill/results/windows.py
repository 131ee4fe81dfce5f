"""Measurement window in words, with cautions about values that it does not bound or makes rough."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from overspill.results import formats
from overspill.results.finished_runs import Finished
from overspill.results.key import Key
from overspill.results.rundata import RunData

SHARES = ("load_wire", "load_payload", "link_utilisation_max")  # shares of the capacity of links


def text(results: Finished, variant: str) -> str | None:
    """Returns a variant's window, warm-up and drain in words."""
    runs = results.runs_of(variant)
    if not runs:
        return None
    start, end = runs[0].summary["window_ps"]
    warm = f"warm-up of {formats.time(start)} excluded" if start else "no warm-up"
    after = f"drain of up to {formats.time(runs[0].summary['drain_ps'])}"
    more = [*exceeding(results, variant), *endless(results, runs), *partial(results, variant)]
    between = f"flows that start from {formats.time(start)} to {formats.time(end)}"
    return "; ".join([between, warm, after, *more])


def exceeding(results: Finished, variant: str) -> Iterable[str]:
    """Yields a caution if links carry more than their capacity, since frames count whole where they begin."""
    shares = [
        value.value
        for by_seed in results.values[variant].values()
        for key, value in by_seed.items()
        if key.metric in SHARES
    ]
    if any(share > 1 for share in shares):
        yield (
            "a frame counts in full when its transmission begins; in so short a window loads and "
            "utilisations exceed 100%"
        )


def endless(results: Finished, runs: Sequence[RunData]) -> Iterable[str]:
    """Yields a caution if the goodput of endless flows is not that of the window."""
    summary = runs[0].summary
    resolved = (results.facts.get("resolved") or {}).get(runs[0].variant) or {}
    binned = (resolved.get("measure") or {}).get("goodput") == "flows"
    whole = not summary["window_ps"][0] and all(run.end_ps <= run.summary["window_ps"][1] for run in runs)
    if any(one.get("endless") for one in summary["traffic"]) and not binned and not whole:
        yield (
            "`flow_goodput` of endless flows covers the whole life of each flow; "
            '`measure.goodput = "flows"` limits it to the window'
        )


def partial(results: Finished, variant: str) -> Iterable[str]:
    """Yields a caution if only other runs have a value of `data_drops`."""
    missing = [Key("data_drops") not in one for one in results.values[variant].values()]
    known = any(Key("data_drops") in one for by_seed in results.values.values() for one in by_seed.values())
    if known and any(missing):
        yield "`data_drops` has no value: only some messages of a persistent connection are measured"
