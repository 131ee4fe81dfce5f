"""Variants whose runs are one and the same: equal in every number, whatever they are called."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from typing import Any

from overspill.results import formats
from overspill.results.key import Key
from overspill.stats.quantiles import Value

BySeed = Mapping[int, Mapping[Key, Value]]
NOTHING = Value(0.0)
# What a switch does only where a buffer is short, or seems so.
DROPS = Key("drops")
SHORT = (DROPS, Key("marks"), Key("detours"), Key("bounces"), Key("pauses"))
NAMED = 4  # of equal variants that a label names


def groups(values: Mapping[str, BySeed]) -> list[tuple[str, ...]]:
    """Variants (`variant -> seed -> metric`) that are equal to another in all seeds, in groups."""
    return [names for names in classes(values, equal) if len(names) > 1]


def classes(values: Mapping[str, Sized], alike: Callable[[Any, Any], bool]) -> list[tuple[str, ...]]:
    """All names that have values, those that are alike together, in their order."""
    found: list[tuple[Sized, list[str]]] = []
    for name, one in values.items():
        if not one:
            continue
        for known, names in found:
            if alike(known, one):
                names.append(name)
                break
        else:
            found.append((one, [name]))
    return [tuple(names) for _, names in found]


def label(names: Sequence[str]) -> str:
    """`a025 = a1 = a8`; of many the first alone are named."""
    left = len(names) - NAMED + 1
    if left < 2:
        return " = ".join(names)
    return " = ".join([*names[: NAMED - 1], f"{left} others"])


def equal(one: BySeed, other: BySeed) -> bool:
    """Whether all numbers are the same; a count that only one of both has is 0 there."""
    return one.keys() == other.keys() and all(
        one[seed].get(name, NOTHING) == other[seed].get(name, NOTHING)
        for seed in one
        for name in one[seed].keys() | other[seed].keys()
    )


def never_short(runs: Iterable[Mapping[Key, Value]]) -> bool:
    """Whether no buffer was short in any run, as far as all counted what is lost."""
    return all(
        DROPS in values and not any(values[name].value for name in SHORT if name in values) for values in runs
    )


def told(values: Mapping[str, BySeed]) -> list[str]:
    """A sentence for each group: `the buffer was never short: a, b and c are one and the same run`."""
    found = []
    for names in groups(values):
        why = never_short(run for name in names for run in values[name].values())
        reason = "the buffer was never short" if why else "every number is the same"
        found.append(f"{reason}: {formats.joined(names)} are one and the same run")
    return found
