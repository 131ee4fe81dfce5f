"""Variants whose runs are one and the same: equal in every number, whatever they are called."""

from collections.abc import Iterable, Mapping

from overspill.results import formats
from overspill.stats.quantiles import Value

BySeed = Mapping[int, Mapping[str, Value]]
NOTHING = Value(0.0)
# What a switch does only where a buffer is short, or seems so.
SHORT = ("drops", "marks", "detours", "bounces", "pauses")


def groups(values: Mapping[str, BySeed]) -> list[tuple[str, ...]]:
    """Variants (`variant -> seed -> metric`) that are equal to another in all seeds, in groups."""
    found: list[tuple[BySeed, list[str]]] = []
    for variant, by_seed in values.items():
        if not by_seed:
            continue
        for known, names in found:
            if equal(known, by_seed):
                names.append(variant)
                break
        else:
            found.append((by_seed, [variant]))
    return [tuple(names) for _, names in found if len(names) > 1]


def equal(one: BySeed, other: BySeed) -> bool:
    """Whether all numbers are the same; a count that only one of both has is 0 there."""
    return one.keys() == other.keys() and all(
        one[seed].get(name, NOTHING) == other[seed].get(name, NOTHING)
        for seed in one
        for name in one[seed].keys() | other[seed].keys()
    )


def never_short(runs: Iterable[Mapping[str, Value]]) -> bool:
    """Whether no buffer was short in any run, as far as all counted what is lost."""
    return all(
        "drops" in values and not any(values[name].value for name in SHORT if name in values)
        for values in runs
    )


def told(values: Mapping[str, BySeed]) -> list[str]:
    """A sentence for each group: `the buffer was never short: a, b and c are one and the same run`."""
    found = []
    for names in groups(values):
        why = never_short(run for name in names for run in values[name].values())
        reason = "the buffer was never short" if why else "every number is the same"
        found.append(f"{reason}: {formats.joined(names)} are one and the same run")
    return found
