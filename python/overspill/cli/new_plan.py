"""Contents of a scenario that `overspill new` prints: mechanisms, and the settings that they need."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from overspill.cli.new_examples import (
    MIN_RTO,
    NEEDS,
    RAW_TRAFFIC,
    REASONS,
    TRANSPORTS,
    VALUES,
    Need,
    Network,
    second_class,
    traffic_values,
)

Spec = dict[str, Any]
NOT_OPTIONS = ("topology", "traffic", "traffic.sizes", "event")  # slots that are no options for a mechanism
COMPARISONS = ("first", "all", "none")


@dataclass(frozen=True)
class Choices:
    """Names that the user gave: the topology, the kind of each slot in the order given, traffic and files."""

    topology: str
    kinds: Mapping[str, str] = field(default_factory=dict)
    traffic: tuple[str, ...] = ("incast",)
    topology_file: str | None = None
    flow_files: tuple[str, ...] = ()


@dataclass
class Part:
    """Table of the scenario: its kind, values with the reason for each, and a comment."""

    kind: str
    values: dict[str, Any] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    comment: str = ""
    is_addition: bool = False  # adds values to the table of another variant, which has the kind
    full: bool = False  # also lists the optional parameters


@dataclass
class Workload:
    """Entry of `[[traffic]]`."""

    name: str
    kind: str
    values: dict[str, Any]
    reasons: dict[str, str] = field(default_factory=dict)
    comment: str = ""


class Catalogue:
    """Entries of the core's catalogue by slot and kind."""

    def __init__(self, specs: list[Spec], model_kinds: Mapping[str, Mapping[str, str]]) -> None:
        self.kinds: dict[str, dict[str, Spec]] = {}
        self.tables: dict[str, Spec] = {}
        for spec in specs:
            if spec["slot"].count(".") > 1:
                continue  # table within the table of a mechanism
            if spec["kind"]:
                self.kinds.setdefault(spec["slot"], {})[spec["kind"]] = spec
            else:
                self.tables[spec["slot"]] = spec
        known = {f"{slot}.{one['name']}" for slot, spec in self.tables.items() for one in spec["params"]}
        # Settings of `[switch]` whose values are kinds of switches.
        self.scalars = {name: kinds for name, kinds in model_kinds.items() if name in known}

    @cached_property
    def options(self) -> dict[str, str]:
        """Slots by the name of their option; a second slot with the same last word has its full name."""
        names: dict[str, str] = {}
        for slot in (*self.scalars, *self.kinds):
            if slot not in NOT_OPTIONS:
                last = slot.rpartition(".")[2]
                names[slot.replace(".", "_") if last in names else last] = slot
        return names

    def docs(self, slot: str) -> dict[str, str]:
        """Returns the names of a slot with their descriptions."""
        if slot in self.scalars:
            return dict(self.scalars[slot])
        return {kind: spec["doc"] for kind, spec in self.kinds.get(slot, {}).items()}

    def parameters(self, slot: str, kind: str) -> list[Spec]:
        """Returns the parameters of a kind, or those of a table without kinds.

        A host has some slots of a switch, which the catalogue has only once.
        """
        if not kind:
            return list(self.tables[slot]["params"]) if slot in self.tables else []
        found = self.kinds.get(slot) or self.kinds.get(slot.replace("host.", "switch."), {})
        return list(found[kind]["params"]) if kind in found else []

    def file_readers(self, slot: str) -> dict[str, bool]:
        """Returns the kinds of a slot that read a file, with true if they need one."""
        return {
            kind: bool(one["required"])
            for kind in self.kinds.get(slot, {})
            for one in self.parameters(slot, kind)
            if one["name"] == "file"
        }

    def entry_name(self, slot: str, kind: str) -> str:
        """Returns the name by which `overspill explain` finds an entry alone."""
        owners = [one for one, kinds in self.kinds.items() if kind in kinds]
        return kind if owners == [slot] else f"{slot}.{kind}"

    def has_parameter(self, slot: str, kind: str, name: str, value: Any) -> bool:
        """Returns true if a kind has a parameter that does not have this value by default."""
        found = [one for one in self.parameters(slot, kind) if one["name"] == name]
        return bool(found) and found[0]["default"] != str(value).lower()


def is_same_unit(one: Any, other: Any) -> bool:
    """Returns true unless one value is in packets, and the other one in bytes."""
    texts = [value for value in (one, other) if isinstance(value, str)]
    return len({text.endswith("pkt") for text in texts}) < 2


class Plan:
    """Tables of a scenario: those of every variant (`common`), and those of one variant (`own`).

    The first chosen mechanism that is not the default of its slot is compared with that default. By
    `comparison`, the variant has this mechanism (`first`) or all chosen ones (`all`), or is absent (`none`).
    """

    def __init__(
        self,
        choices: Choices,
        catalogue: Catalogue,
        network: Network,
        defaults: Mapping[str, str],
        comparison: str = COMPARISONS[0],
    ) -> None:
        self.choices, self.catalogue, self.network = choices, catalogue, network
        self.defaults = defaults
        self.common: dict[str, Part] = {}
        self.own: dict[str, Part] = {}
        self.needed: set[str] = set()  # tables with a mechanism that another one needs
        candidates = (
            [] if comparison == "none" else [slot for slot in choices.kinds if self.is_compared(slot)]
        )
        self.compared = next(iter(candidates), None)
        self.with_it = set(
            candidates if comparison == "all" else candidates[:1]
        )  # chosen slots of the variant
        self.workloads = list(self.choose_workloads())
        self.is_raw = all(one.kind in RAW_TRAFFIC for one in self.workloads)
        self.choose_parts()
        self.meet_needs()
        self.set_transport_defaults()
        self.set_bounce_size()

    def is_compared(self, slot: str) -> bool:
        """Returns true if a chosen mechanism of a switch or host differs from the default of its slot."""
        return slot.startswith(("switch.", "host.")) and self.choices.kinds[slot] != self.defaults.get(slot)

    def choose_parts(self) -> None:
        """Sets the tables of the names that the user gave, a transport, and a buffer."""
        for slot, kind in self.choices.kinds.items():
            place = self.own if slot in self.with_it else self.common
            if slot in self.catalogue.scalars:
                table, _, key = slot.rpartition(".")
                place.setdefault(table, Part("")).values[key] = kind
            else:
                name = f"{slot}.{kind}"
                place[slot] = Part(kind, dict(VALUES.get(name, {})), dict(REASONS.get(name, {})), full=True)
        self.common.setdefault("transport", Part(self.defaults["transport"], full=True))
        if "switch.buffer" not in self.common:
            more = " The traffic below needs more." if self.choices.traffic[0] == "incast" else ""
            comment = f"Memory for packets that wait.{more}"
            kind = self.defaults["switch.buffer"]
            values = dict(VALUES.get(f"switch.buffer.{kind}", {}))
            self.common["switch.buffer"] = Part(kind, values, comment=comment)

    def choose_workloads(self) -> Iterator[Workload]:
        """Yields the workloads that the user gave, with the values of their kinds."""
        files = list(self.choices.flow_files)
        seen: dict[str, int] = {}
        for kind in self.choices.traffic:
            seen[kind] = seen.get(kind, 0) + 1
            values = traffic_values(kind, self.network)
            if any(one["name"] == "file" for one in self.catalogue.parameters("traffic", kind)):
                values["file"] = files.pop(0)
            yield Workload(kind if seen[kind] == 1 else f"{kind}{seen[kind]}", kind, values)

    def needs_of_parts(self) -> Iterator[tuple[Need, bool]]:
        """Yields needs of the chosen mechanisms and transports, and true for those of the variant."""
        for slot, kind in {**self.choices.kinds, "transport": self.common["transport"].kind}.items():
            for need in NEEDS.get(f"{slot}.{kind}", ()):
                yield need, need.with_it and slot in self.with_it

    def meet_needs(self) -> None:
        """Sets the mechanisms that others need, also indirectly, and then the settings that they need."""
        waiting = list(self.needs_of_parts())
        done: list[tuple[Need, bool]] = []
        while waiting:
            need, with_it = waiting.pop(0)
            if (need, with_it) in done or not need.only_if(self.network):
                continue
            done.append((need, with_it))
            if need.kind and need.table != "traffic" and self.set_mechanism(need, with_it):
                further = NEEDS.get(f"{need.table}.{need.kind}", ())
                waiting += [(one, with_it and one.with_it) for one in further if one.table != "traffic"]
        for need, with_it in done:
            if need.table == "traffic" and need.kind:
                self.set_class(need)
            elif need.table == "traffic":
                self.set_traffic_values(need)
            elif not need.kind:
                self.set_values(need, with_it)

    def set_mechanism(self, need: Need, with_it: bool) -> bool:
        """Sets a mechanism that another one needs, and returns true, unless its table is already set.

        A mechanism that the user chose gets the needed values.
        """
        if self.choices.kinds.get(need.table) == need.kind and need.table not in self.needed:
            self.set_chosen_values(need)
            return False
        place = self.own if with_it else self.common
        is_set = need.table in place and not self.is_replaceable(need.table)
        if is_set or need.table in self.choices.kinds or not self.has_slot(need.table):
            return False
        place[need.table] = Part(need.kind, dict(need.settings), comment=need.why)
        self.needed.add(need.table)
        return True

    def set_chosen_values(self, need: Need) -> None:
        """Replaces values of a chosen mechanism by those that another one needs, and explains them."""
        part = self.own.get(need.table) or self.common[need.table]
        self.needed.add(need.table)
        if not need.settings.items() <= part.values.items():
            part.values.update(need.settings)
            part.comment = need.why

    def is_replaceable(self, table: str) -> bool:
        """Returns true for the default transport and the default buffer."""
        kind = self.common[table].kind if table in self.common else ""
        is_default = kind == self.defaults.get(table)
        is_free = table not in self.choices.kinds and table not in self.needed
        return table in ("transport", "switch.buffer") and is_default and is_free

    def has_slot(self, table: str) -> bool:
        """Returns true if the core has a slot, also if only that of switches is in the catalogue."""
        return table in self.catalogue.kinds or table.replace("host.", "switch.") in self.catalogue.kinds

    def set_values(self, need: Need, with_it: bool) -> None:
        """Sets values that a mechanism needs in another table, unless they are defaults or unknown there."""
        if need.table == "transport" and self.is_raw:
            return
        base = self.common.get(need.table, Part(""))
        place = self.own if with_it or need.table in self.own else self.common
        part = place.get(need.table) or Part(base.kind, is_addition=True)
        if need.beside and part.kind != need.beside:
            return
        for key, value in need.settings.items():
            is_chosen = f"{need.table}.{key}" in self.choices.kinds
            is_set = key in part.reasons or not is_same_unit(base.values.get(key), value)
            if not (is_chosen or is_set) and self.catalogue.has_parameter(need.table, part.kind, key, value):
                place[need.table] = part
                part.values[key], part.reasons[key] = value, need.why

    def set_class(self, need: Need) -> None:
        """Adds a workload in another class, or gives the second workload this class."""
        if len(self.workloads) > 1:
            self.workloads[1].values.update(need.settings)
        elif need.kind in self.catalogue.kinds.get("traffic", {}):
            values = second_class(self.network)
            self.workloads.append(Workload("second_class", need.kind, values, comment=need.why))

    def set_traffic_values(self, need: Need) -> None:
        """Replaces values of workloads that have them."""
        for one in self.workloads:
            known = {key: value for key, value in need.settings.items() if key in one.values}
            one.values.update(known)
            one.reasons.update(dict.fromkeys(known, need.why))

    def set_bounce_size(self) -> None:
        """Sets the size of bounce queues in bytes if that of the buffer is in bytes."""
        buffer = self.common["switch.buffer"]
        part = self.own.get("switch.overflow") or self.common.get("switch.overflow")
        size = {**buffer.values, **self.own.get("switch.buffer", buffer).values}.get("size")
        if part is None or not self.catalogue.has_parameter("switch.overflow", part.kind, "bounce_size", ""):
            return
        if size is not None and not is_same_unit(size, part.values.get("bounce_size", "1pkt")):
            part.values["bounce_size"] = "75KB"

    def set_transport_defaults(self) -> None:
        """Sets values of the transport; removes its table if no workload has a transport."""
        if self.is_raw:
            del self.common["transport"]
            return
        part = self.common["transport"]
        part.full = True
        for key, value in TRANSPORTS.get(part.kind, MIN_RTO).items():
            if self.catalogue.has_parameter("transport", part.kind, key, value):
                part.values.setdefault(key, value)
