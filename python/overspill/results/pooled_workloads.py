"""Metrics of flows and queries by workload, in place of a value over workloads of different kinds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from overspill.results.metric_key import Key, parse_known_key

POOLED_FAMILIES = (
    "fct",
    "slowdown",
    "qct",
)  # times of single flows and queries, whose mean is over all workloads
MAX_WORKLOADS_SHOWN = 4  # workloads that a printed table has; files and `--all` have every one

KindOfWorkload = Mapping[str, str]  # kind of traffic by workload


def workload_kinds(workloads: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Returns the kind of each workload from summaries of runs; `a/b` if runs have the kinds `a` and `b`."""
    found: dict[str, str] = {}
    for one in workloads:
        kind = str(one.get("kind", ""))
        known = found.setdefault(str(one["name"]), kind)
        if kind not in known.split("/"):
            found[str(one["name"])] = f"{known}/{kind}"
    return found


def metric_keys_by_workload(name: str, known: Collection[str]) -> list[Key]:
    """Returns a metric's keys by workload, if it is of `POOLED_FAMILIES` and several workloads have it."""
    key = parse_known_key(name)
    if key.by or key.metric.partition("_")[0] not in POOLED_FAMILIES:
        return []
    found = [one for one in map(parse_known_key, known) if one.metric == key.metric and one.by == "traffic"]
    return found if len(found) > 1 else []


def metric_keys_of_mixed_workloads(name: str, known: Collection[str], kinds: KindOfWorkload) -> list[Key]:
    """Returns a metric's keys by workload if workloads differ in kind; else empty."""
    found = metric_keys_by_workload(name, known)
    return found if len({kinds.get(one.of) for one in found}) > 1 else []


def shown_keys(name: str, known: Collection[str], kinds: KindOfWorkload) -> list[Key]:
    """Returns the keys shown for a metric: by workload, and of all unless workloads differ in kind."""
    found = metric_keys_by_workload(name, known)
    return found if metric_keys_of_mixed_workloads(name, known, kinds) else [parse_known_key(name), *found]


def hidden_metrics(known: Collection[str], kinds: KindOfWorkload) -> set[str]:
    """Returns the metrics whose value over all workloads is not shown."""
    return {name for name in known if metric_keys_of_mixed_workloads(name, known, kinds)}


def pooled_note(name: str, known: Collection[str], kinds: KindOfWorkload) -> str:
    """Returns the note beside a value over workloads of different kinds; empty for other values."""
    found = metric_keys_of_mixed_workloads(name, known, kinds)
    if not found:
        return ""
    each = ", ".join(f"{one.of}: {kinds.get(one.of) or 'unknown'}" for one in found)
    return (
        f"pooled over workloads of different kinds ({each}): use {found[0]}, and the same metric of each "
        "other workload"
    )
