"""Grouping of values by a common key."""

from collections.abc import Iterable
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


def group_by_key(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """Returns the values of each key, keys and values in the order of the pairs."""
    found: dict[Key, list[Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found
