"""Metrics of flows and queries by workload, in place of a value over workloads of different kinds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from overspill.results.key import Key, parsed

FAMILIES = ("fct", "slowdown", "qct")  # times of single flows and queries, whose mean is over all workloads
MOST = 4  # workloads that a printed table has; files and `--all` have every one

Kinds = Mapping[str, str]  # kind of traffic by workload


def kinds_of(workloads: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Returns the kind of each workload, as summaries of runs have it."""
    found: dict[str, str] = {}
    for one in workloads:
        kind = str(one.get("kind", ""))
        known = found.setdefault(str(one["name"]), kind)
        if kind not in known.split("/"):
            found[str(one["name"])] = f"{known}/{kind}"
    return found


def parts(name: str, known: Collection[str]) -> list[Key]:
    """Returns a metric by workload, if it is one of `FAMILIES` and several workloads have it."""
    key = parsed(name)
    if key.by or key.metric.partition("_")[0] not in FAMILIES:
        return []
    found = [one for one in map(parsed, known) if one.metric == key.metric and one.by == "traffic"]
    return found if len(found) > 1 else []


def mixed(name: str, known: Collection[str], kinds: Kinds) -> list[Key]:
    """Returns the parts of a metric whose workloads differ in kind; empty if its value may be shown."""
    found = parts(name, known)
    return found if len({kinds.get(one.of) for one in found}) > 1 else []


def shown(name: str, known: Collection[str], kinds: Kinds) -> list[Key]:
    """Returns the keys shown for a metric: by workload, and of all unless workloads differ in kind."""
    found = parts(name, known)
    return found if mixed(name, known, kinds) else [parsed(name), *found]


def hidden(known: Collection[str], kinds: Kinds) -> set[str]:
    """Returns the metrics whose value over all workloads is not shown."""
    return {name for name in known if mixed(name, known, kinds)}


def note(name: str, known: Collection[str], kinds: Kinds) -> str:
    """Returns the note beside a value over workloads of different kinds; empty for other values."""
    found = mixed(name, known, kinds)
    if not found:
        return ""
    each = ", ".join(f"{one.of}: {kinds.get(one.of) or 'unknown'}" for one in found)
    return (
        f"pooled over workloads of different kinds ({each}): use {found[0]} and those of the other workloads"
    )
