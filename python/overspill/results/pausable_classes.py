"""Traffic classes that switches may pause, from the resolved settings of a variant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

CLASSES = range(8)


def find_pausable_classes(resolved: Mapping[str, Any]) -> set[int]:
    """Returns the classes that any switch of a variant may pause at any of its ports."""
    return {
        number
        for switch in resolved.get("switches", [])
        for pause in iterate_pause_slots(switch)
        for number in classes_of_pause(pause, switch["buffer"])
    }


def iterate_pause_slots(switch: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yields the slot `pause` of a switch, or of each of its kinds of ports."""
    for settings in (switch, *switch.get("ports", {}).values()):
        if "pause" in settings:
            yield settings["pause"]


def classes_of_pause(pause: Mapping[str, Any], buffer: Mapping[str, Any]) -> set[int]:
    """Returns the classes that a mechanism may pause: with `pools`, those of lossless groups."""
    if pause["kind"] == "none":
        return set()
    if pause["kind"] != "pfc":
        return set(CLASSES)
    if buffer["kind"] == "pools":
        return find_lossless_classes(buffer)
    listed: Sequence[int] | None = pause.get("classes")
    return set(CLASSES if listed is None else listed)


def find_lossless_classes(buffer: Mapping[str, Any]) -> set[int]:
    """Returns the classes whose priority group is lossless at any port."""
    lossless: set[int] = set()
    for entry in buffer.get("groups") or []:
        groups = set(entry["group"])
        if buffer["profiles"][entry["profile"]].get("lossless", False):
            lossless |= groups
        elif entry.get("ports") is None and entry.get("rate") is None:
            # A later entry overrides earlier ones, here at all ports.
            lossless -= groups
    return {number for number in CLASSES if buffer["class_to_group"][number] in lossless}
