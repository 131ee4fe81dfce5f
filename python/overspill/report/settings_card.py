"""Table of a scenario's settings: the network, traffic, switches, transports, and events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from overspill.results import formats

if TYPE_CHECKING:
    from overspill.results.results import Results

INPUT_KEYS = ("model", "input_buffer", "speedup", "arbiter", "fabric")
MECHANISM_SLOTS = (
    "buffer",
    "overflow",
    "marking",
    "scheduler",
    "routing",
    "fib",
    "pause",
    "notify",
    "ack_hold",
)
HOST_KEYS = ("marking", "overflow", "reaction", "bounce_signal", "nic")
DEFAULT_KINDS = ("none", "tail_drop", "fifo")  # kinds that have no row
TRANSPORT_KEYS = ("kind", "initial_window", "min_rto", "dupack_threshold")
MAX_EVENTS_LISTED = 6  # events that are spelled out
INEFFECTIVE_VALUES: Mapping[str, Any] = {
    "class": 0,
    "jitter": "0ps",
    "allow_unfinished": False,
    "symmetric": False,
}


@dataclass(frozen=True)
class SettingRow:
    """Setting with one text for each variant; one cell if all are equal."""

    label: str
    texts: dict[str, str]

    @property
    def common_text(self) -> str | None:
        """Text of the setting if it is equal in all variants, or `None`."""
        every = set(self.texts.values())
        return next(iter(every)) if len(every) == 1 else None


def setting_rows(results: Results) -> list[SettingRow]:
    """Returns the rows of the table, without settings that no variant has."""
    resolved = {one: results.facts["resolved"].get(one) or {} for one in results.variants}
    facts = {variant: dict(variant_settings(one)) for variant, one in resolved.items()}
    differing = transport_keys(resolved.values())
    for variant, one in resolved.items():
        transport = one.get("transport") or {}
        facts[variant] |= {
            f"transport: {key_to_words(key)}": format_setting(transport.get(key)) for key in differing
        }
    every = list(dict.fromkeys(label for one in facts.values() for label in one))
    subjects = list(dict.fromkeys(label_subject(label) for label in every))
    labels = sorted(every, key=lambda label: subjects.index(label_subject(label)))
    found = [
        SettingRow(label, {variant: one.get(label, "-") for variant, one in facts.items()})
        for label in labels
    ]
    return [row for row in found if row.common_text not in ("none", "-", "output_queued")]


def label_subject(label: str) -> str:
    """Returns the part of a setting's label before the colon, by which table rows are grouped."""
    return label.partition(":")[0]


def transport_keys(resolved: Iterable[Mapping[str, Any]]) -> list[str]:
    """Returns the transport settings in which variants differ, beside those that are always shown."""
    transports = [one.get("transport") or {} for one in resolved]
    keys = dict.fromkeys(key for one in transports for key in one)
    return [
        key
        for key in keys
        if key not in TRANSPORT_KEYS and len({format_setting(one.get(key)) for one in transports}) > 1
    ]


def variant_settings(resolved: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Yields label and value of each setting of a variant, as text."""
    if resolved.get("topology"):
        yield "network", format_setting(resolved["topology"])
    own: list[tuple[str, Mapping[str, Any]]] = [
        (describe_host_transports(one), one["transport"]) for one in resolved.get("transports") or []
    ]
    for workload in resolved.get("traffic") or []:
        # Without `fraction`, `load` has only terms such as `of` and `bytes`, which have no effect.
        without = ("name",) if "fraction" in (workload.get("load") or {}) else ("name", "load")
        name = workload.get("name", "")
        yield f"traffic {name}".strip(), format_setting(workload, (*without, "transport", "transports"))
        if workload.get("transport"):
            own.append((str(name), workload["transport"]))
        own += [
            (f"{name}, {describe_host_transports(one)}", one["transport"])
            for one in workload.get("transports") or []
        ]
    if classes := resolved.get("dscp_to_class"):
        pairs = sorted((int(dscp), number) for dscp, number in classes.items())
        yield "class by DSCP", ", ".join(f"{dscp}: {number}" for dscp, number in pairs)
    transport = resolved.get("transport") or {}
    for key in TRANSPORT_KEYS:
        if key in transport:
            label = "transport" if key == "kind" else f"transport: {key_to_words(key)}"
            yield label, format_setting(transport[key])
    yield from ((f"transport ({whose})", format_setting(one)) for whose, one in own)
    yield from switch_and_host_mechanisms(resolved)
    yield from describe_events(resolved)
    measure = resolved.get("measure") or {}
    if "from" in measure and "to" in measure:
        yield "measured", f"{measure['from']} to {measure['to']}"


def switch_and_host_mechanisms(resolved: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Yields the mechanisms of switches, and those of hosts that are not of a default kind."""
    groups = resolved.get("switches") or []
    for group in groups:
        nodes = [str(one) for one in group.get("nodes", [])]
        which = f" ({formats.format_listing(nodes, 2)})" if len(groups) > 1 and nodes else ""
        for slot in (*INPUT_KEYS, *MECHANISM_SLOTS):
            if slot in group:
                yield f"{key_to_words(slot)}{which}", format_setting(group[slot])
    for slot in HOST_KEYS:
        own_slot = (resolved.get("host") or {}).get(slot) or {}
        if own_slot.get("kind", "none") not in DEFAULT_KINDS:
            yield f"host: {key_to_words(slot)}", format_setting(own_slot)


def describe_host_transports(own: Mapping[str, Any]) -> str:
    """Returns the hosts that have a transport of their own, as text."""
    return formats.format_listing([str(one) for one in own["hosts"]], 2)


def describe_events(resolved: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Yields the events of the network, and the reactions of nodes to them."""
    every = resolved.get("event") or []
    if every:
        left = len(every) - MAX_EVENTS_LISTED
        yield (
            "events",
            "; ".join(
                [*map(describe_event, every[:MAX_EVENTS_LISTED]), *([f"{left} more"] if left > 0 else [])]
            ),
        )
    for key in ("reroute_delay", "dead_port"):
        if key in resolved:
            yield f"events: {key_to_words(key)}", format_setting(resolved[key])


def describe_event(one: Mapping[str, Any]) -> str:
    """Describes an event: `5ms leaf0:spine1 link down`, `5ms h3 pause storm until 7ms`."""
    named = ("until", "xoff", "xon", "classes")
    rest = [
        f"{key} {format_setting(value)}" if key in named else format_setting(value)
        for key, value in one.items()
        if key not in ("kind", "at", "link", "host")
    ]
    target = one["link"] if "link" in one else one["host"]
    return " ".join([str(one["at"]), str(target), key_to_words(str(one["kind"])), *rest])


def key_to_words(key: str) -> str:
    """Returns a key as words, with spaces for underscores."""
    return key.replace("_", " ")


def format_setting(value: Any, without: tuple[str, ...] = ()) -> str:
    """Formats a setting or table as text: `incast, senders 40, receiver h0`."""
    if isinstance(value, Mapping):
        parts = [str(value["kind"])] if "kind" in value else []
        for key, one in value.items():
            if (
                key != "kind"
                and key not in without
                and one is not None
                and INEFFECTIVE_VALUES.get(key, key) != one
            ):
                inner = format_setting(one)
                parts.append(f"{key_to_words(key)} {f'({inner})' if isinstance(one, Mapping) else inner}")
        return ", ".join(parts)
    if isinstance(value, list | tuple):
        return formats.format_listing([format_setting(one) for one in value], 6)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return formats.format_trimmed(value)
    return "-" if value is None else str(value)
