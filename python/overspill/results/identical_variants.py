"""Variants whose runs are identical in all that is known of them, except their names."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from typing import Any

from overspill.grouping import group_by_key
from overspill.results import formats
from overspill.results.metric_key import Key
from overspill.results.metrics import MECHANISM_COUNTS
from overspill.results.rundata import RunData
from overspill.stats.quantiles import Value

ZERO = Value(0.0)
DROPS_KEY = Key("drops")
QUIET_KEY = "quiet"  # entry of a summary that is kept without tables: true if the tables recorded nothing
# Entries of a summary that cover the whole run; metrics cover only the measurement window.
WHOLE_RUN_KEYS = ("stop", "end_ps", "events", "hops", "flows", "deadlock")
COMPARED_TABLES = ("flows", "activity")  # also of the whole run, and compared if all else is equal
# Actions of mechanisms over the whole run: drops, marks, detours, bounces, trims and CNMs; pauses; held ACKs.
MECHANISM_TABLES = ("activity", "pause_trace", "hold_trace")
NO_OVERFLOW = "no buffer overflowed and no mechanism acted"
NO_OVERFLOW_IN_WINDOW = f"{NO_OVERFLOW} in the measurement window"
EQUAL_NUMBERS = "all numbers are equal"
MAX_VARIANTS_NAMED = 4  # equal variants that a label names, at most


@dataclass(frozen=True)
class ComparedRun:
    """Data by which a run is compared with another: metrics, summary, and tables if they are kept."""

    values: Mapping[Key, Value]
    summary: Mapping[str, Any] = field(default_factory=dict)
    run: RunData | None = None

    @property
    def comparable(self) -> tuple[dict[Key, Value], list[Any]]:
        """Metrics and summary values to compare, without counts of 0, since other runs may not count them."""
        counted = {name: one for name, one in self.values.items() if one != ZERO}
        return counted, [self.summary.get(name) for name in WHOLE_RUN_KEYS]

    @property
    def had_no_overflow_in_window(self) -> bool:
        """True if no buffer overflowed and no mechanism acted in the window, as far as that was counted."""
        known = self.values
        return DROPS_KEY in known and not any(known[name].value for name in MECHANISM_COUNTS if name in known)

    @property
    def had_no_overflow(self) -> bool:
        """True if no buffer overflowed and no mechanism acted in the whole run, as far as that is known."""
        if not self.had_no_overflow_in_window:
            return False
        start, end = self.summary.get("window_ps", (1, 0))
        if start == 0 and self.summary.get("end_ps", end + 1) <= end:
            return True
        return bool(self.summary.get(QUIET_KEY)) or (self.run is not None and had_no_overflow(self.run))


def had_no_overflow(run: RunData) -> bool:
    """Returns true if no buffer overflowed and no mechanism acted in the whole run, by its tables."""
    return "activity" in run.names and not any(map(run.recorded, MECHANISM_TABLES))


RunsBySeed = Mapping[int, ComparedRun]


def find_identical_groups(runs: Mapping[str, RunsBySeed]) -> list[tuple[str, ...]]:
    """Returns groups of variants (`variant -> seed -> run`) that are identical in all seeds."""
    return [names for names in group_names_with_equal_runs(runs, are_equal) if len(names) > 1]


def group_names_with_equal_runs(
    runs: Mapping[str, Sized], alike: Callable[[Any, Any], bool]
) -> list[tuple[str, ...]]:
    """Returns the names that have runs, in order, in groups whose runs are alike."""
    found: list[tuple[Sized, list[str]]] = []
    for name, one in runs.items():
        if not one:
            continue
        for known, names in found:
            if alike(known, one):
                names.append(name)
                break
        else:
            found.append((one, [name]))
    return [tuple(names) for _, names in found]


def group_label(names: Sequence[str]) -> str:
    """Returns the label of a group, `a025 = a1 = a8`; of many names only the first."""
    left = len(names) - MAX_VARIANTS_NAMED + 1
    if left < 2:
        return " = ".join(names)
    return " = ".join([*names[: MAX_VARIANTS_NAMED - 1], f"{left} others"])


def are_equal(one: RunsBySeed, other: RunsBySeed) -> bool:
    """Returns true if all numbers and all flow outcomes are equal in all seeds, over the whole run."""
    if one.keys() != other.keys() or any(one[seed].comparable != other[seed].comparable for seed in one):
        return False
    return all(have_equal_tables(one[seed].run, other[seed].run) for seed in one)


def have_equal_tables(one: RunData | None, other: RunData | None) -> bool:
    """Returns true if the tables of two runs are equal, as far as both have them."""
    if one is None or other is None:
        return True
    for name in COMPARED_TABLES:
        file = f"{name}.parquet"
        digest = one.digests.get(file)
        if digest is not None and digest == other.digests.get(file):
            continue
        mine, its = one.table(name), other.table(name)
        if mine is not None and its is not None and not mine.equals(its):
            return False
    return True


def find_reason(runs: Iterable[ComparedRun]) -> str:
    """Returns the reason why runs are identical: no overflow, none in the window, or only equal numbers."""
    every = list(runs)
    if all(one.had_no_overflow for one in every):
        return NO_OVERFLOW
    return NO_OVERFLOW_IN_WINDOW if all(one.had_no_overflow_in_window for one in every) else EQUAL_NUMBERS


def describe_group(reason: str, names: Sequence[str], where: str = "") -> str:
    """Returns a sentence: `all numbers are equal: a, b and c are identical runs`."""
    return f"{reason}: {formats.join_with_and(names)} are identical runs{where}"


def describe_groups(
    runs: Mapping[str, RunsBySeed], found: Iterable[Sequence[str]] | None = None
) -> list[str]:
    """Returns a sentence for each group of identical variants; `found` are the groups if known."""
    every = find_identical_groups(runs) if found is None else [names for names in found if len(names) > 1]
    return [
        describe_group(find_reason(one for name in names for one in runs[name].values()), names)
        for names in every
    ]


@dataclass
class IdenticalVariantsSearch:
    """Search for variants of a sweep that are identical at every point, while its runs are read."""

    hashes: dict[str, Any] = field(default_factory=dict)  # SHA-256 of all data of the runs so far, by variant
    reasons: dict[str, set[str]] = field(default_factory=dict)

    def add(self, point: Iterable[str], variant: str, runs: RunsBySeed) -> None:
        """Adds the runs of a variant at a point."""
        made = self.hashes.setdefault(variant, hashlib.sha256())
        made.update(repr(tuple(point)).encode())
        for seed, one in runs.items():
            values, whole = one.comparable
            cells = sorted((str(name), known.value, known.censored) for name, known in values.items())
            made.update(repr((seed, cells, whole)).encode())
        self.reasons.setdefault(variant, set()).add(find_reason(runs.values()))

    @property
    def facts(self) -> list[dict[str, Any]]:
        """Groups of identical variants, each with its variants and the reason."""
        by_hash = group_by_key((made.hexdigest(), variant) for variant, made in self.hashes.items())
        return [{"variants": names, "why": self.reason(names)} for names in by_hash.values() if names[1:]]

    def reason(self, names: Sequence[str]) -> str:
        """Returns the weakest reason why these variants are identical, over all points."""
        found = set().union(*(self.reasons[name] for name in names))
        return next(one for one in (EQUAL_NUMBERS, NO_OVERFLOW_IN_WINDOW, NO_OVERFLOW) if one in found)


def sentences_from_facts(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yields a sentence for each group of identical variants in the manifest of a sweep."""
    where = " at every point" if len(facts.get("points", ())) > 1 else ""
    for one in facts.get("same") or ():
        yield describe_group(str(one["why"]), one["variants"], where)
