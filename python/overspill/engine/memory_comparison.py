"""Limits of switch memory by closed form and by the dataplane, with reasons for differences."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from overspill.engine import congestion, core, memory_limits, memory_reasons, port_memory, switch_memory
from overspill.engine.memory_limits import Case, Limits, Stream
from overspill.engine.memory_reasons import MEASURES, Measured
from overspill.engine.port_memory import PortMemory
from overspill.engine.switch_memory import Link, Marking, SwitchMemory
from overspill.errors import BadInput, cut_user_text

if TYPE_CHECKING:
    from overspill._core import Scenario

MOST_GROUPS = 4  # largest default number of congested groups
KINDS = ("pools", "shared", "per_port")


@dataclass(frozen=True)
class Probe:
    """Switch, ports and frames of a measurement."""

    variant: str
    switch: str
    ingress: int
    egress: int
    size: int


@dataclass(frozen=True)
class ComparedCase:
    """Limits of one class with a number of congested groups or queues, by both methods."""

    congested: int
    closed: Limits
    measured: Measured
    differences: Sequence[str]  # one sentence or two for each difference of more than a frame
    filled: str = ""  # ports and classes of the congested groups or queues


@dataclass(frozen=True)
class ComparedClass:
    """Limits of a class: its group and queue, what is congested, and a case for each number of these."""

    class_: int
    group: int | None
    queue: int | None
    congests: str  # groups, queues or ports
    cases: Sequence[ComparedCase]
    notes: Sequence[str] = ()  # sentences about what both methods leave out


@dataclass(frozen=True)
class ProbedSwitch:
    """Switch under measurement: its links, its settings and its memory."""

    scenario: "Scenario"
    probe: Probe
    links: Sequence[Link]
    settings: Mapping[str, Any]
    nodes: Mapping[str, bool]
    links_change: bool = False  # true if events change the network during the run

    @property
    def kind(self) -> str:
        """Kind of the buffer."""
        return str(self.settings["buffer"]["kind"])

    @property
    def memory(self) -> SwitchMemory | None:
        """Pools and accounts of the switch; `None` for other buffers."""
        if self.kind != "pools":
            return None
        return switch_memory.read_switch_memory(self.settings, self.links, self.nodes)

    def port_memory(self, class_: int) -> PortMemory:
        """Returns the memory of the output port of a switch without pools."""
        probe = self.probe
        out, into = (
            switch_memory.port_settings(self.settings, self.links[port], self.nodes)
            for port in (probe.egress, probe.ingress)
        )
        marking = switch_memory.read_marking(out["marking"], class_)
        buffer = self.settings["buffer"]
        return port_memory.read_port_memory(buffer, len(self.links), marking, into["pause"], class_)

    def marking(self, class_: int) -> Marking | None:
        """Returns the marks or early drops of the measured queue of a class."""
        memory, port = self.memory, self.probe.egress
        if memory is None:
            return self.port_memory(class_).marking
        return memory.marking.get((port, memory.class_to_queue[class_]))

    def measure(self, streams: Sequence[Stream]) -> Measured:
        """Measures the frames that the dataplane admits."""
        probe = self.probe
        try:
            text = self.scenario.probe_memory(probe.variant, probe.switch, streams, probe.size)
        except core.backend().ScenarioError as error:
            lines = core.error_lines(error)
            raise BadInput([f"explain memory: found {line}" for line in lines]) from error
        return {name: json.loads(text)[name] for name in MEASURES}


def select_switch(
    document: Mapping[str, Any], variant: str, wanted: str | None
) -> tuple[str, dict[str, Any]]:
    """Returns the name and settings of a switch: the wanted one, or the first if all are of one kind."""
    kinds = document["resolved"][variant]["switches"]
    if wanted is None:
        if len(kinds) > 1:
            firsts = ", ".join(f"{kind['nodes'][0]} ({kind['buffer']['kind']})" for kind in kinds)
            raise BadInput(f"--switch: found none; expected one, as settings differ: {firsts}")
        return kinds[0]["nodes"][0], kinds[0]
    for kind in kinds:
        if wanted in kind["nodes"]:
            return wanted, kind
    known = [name for kind in kinds for name in kind["nodes"]]
    shown = ", ".join(known[:20]) + (", …" if len(known) > 20 else "")
    raise BadInput(f"--switch: found {cut_user_text(wanted)!r}; expected one of {shown}")


def open_switch(
    scenario: "Scenario", probe: Probe, settings: Mapping[str, Any], links_change: bool = False
) -> ProbedSwitch:
    """Returns a switch for measurement; raises `BadInput` if ports or memory do not allow one."""
    links = [Link.read(one) for one in json.loads(scenario.switch_links(probe.variant, probe.switch))]
    network = json.loads(scenario.network(probe.variant))
    nodes = {node["name"]: node["host"] for node in network["nodes"]}
    switch = ProbedSwitch(scenario, probe, links, settings, nodes, links_change)
    last = len(links) - 1
    for option, port in (("--port", probe.ingress), ("--egress", probe.egress)):
        if not 0 <= port <= last:
            raise BadInput(f"{option}: found {port}; expected a port of {probe.switch}, from 0 to {last}")
    if probe.ingress == probe.egress:
        raise BadInput(f"--egress: found {probe.egress}, the input port; expected another port")
    if switch.kind not in KINDS or settings["model"] != "output_queued":
        found = switch.kind if switch.kind not in KINDS else f"model = {settings['model']}"
        raise BadInput(
            f"explain memory: found {found} in switch {probe.switch}; expected an output-queued switch with "
            f"a buffer of kind {', '.join(KINDS)}"
        )
    paused = switch_memory.port_settings(settings, links[probe.ingress], nodes)["pause"]["kind"]
    if switch.kind == "pools" and paused != "none" and not settings["buffer"].get("groups"):
        raise BadInput(
            f"explain memory: found {paused} with `xoff` beside pools without priority groups in switch "
            f"{probe.switch}; expected pfc with `switch.buffer.groups`, or pause of kind none"
        )
    return switch


def compare_class(switch: ProbedSwitch, class_: int, groups: int | None) -> ComparedClass:
    """Compares the limits of a class, alone and with this number of groups; `None` takes up to four."""
    if switch.memory is None:
        return compare_port(switch, class_, groups)
    memory, probe = switch.memory, switch.probe
    own = (probe.ingress, probe.egress, class_)
    congests = "groups" if memory.is_paused(probe.ingress, class_) else "queues"
    streams = congestion.choose_streams(memory, probe.size, own, groups or MOST_GROUPS)
    known = len(streams)
    if groups is not None and known < groups:
        most = f"1, the only {congests[:-1]}" if known == 1 else f"at most {known}, the {congests}"
        raise BadInput(
            f"--groups: found {groups}; expected {most} in the slice of class {class_} with the same "
            "profiles, pauses and marks"
        )
    cases = []
    for congested in dict.fromkeys((1, len(streams))):
        case = Case(memory, probe.size, streams[:congested])
        closed, measured = memory_limits.compute_limits(case), switch.measure(case.streams)
        if congested > 1:
            # A group is resumed alone: others that stay as full move the number by no more than rounding.
            closed = replace(closed, resume=None)
        told = memory_reasons.explain_case(case, closed, measured, switch.links_change)
        filled = congestion.describe_streams(case.streams, case.is_paused)
        cases.append(ComparedCase(congested, closed, measured, told, filled))
    group, queue = memory.class_to_group[class_], memory.class_to_queue[class_]
    notes = describe_limits_of_methods(switch, class_, cases[0].closed)
    return ComparedClass(class_, group, queue, congests, cases, notes)


def compare_port(switch: ProbedSwitch, class_: int, groups: int | None) -> ComparedClass:
    """Compares the limits of a class in a buffer without pools, for one port or queue."""
    if groups not in (None, 1):
        raise BadInput(f"--groups: found {groups}; expected 1, as a {switch.kind} buffer has no groups")
    probe, memory = switch.probe, switch.port_memory(class_)
    closed, measured = memory.limits(probe.size), switch.measure([(probe.ingress, probe.egress, class_)])
    told = memory_reasons.explain_port(switch.kind, memory.marking, closed, measured)
    congests = "queues" if switch.settings["buffer"].get("per") == "queue" else "ports"
    notes = describe_limits_of_methods(switch, class_, closed)
    return ComparedClass(class_, None, None, congests, [ComparedCase(1, closed, measured, told)], notes)


def describe_limits_of_methods(switch: ProbedSwitch, class_: int, closed: Limits) -> list[str]:
    """Describes what both methods leave out: drops of WRED, and frames beyond the computed headroom."""
    probe, memory, marking, notes = switch.probe, switch.memory, switch.marking(class_), []
    if marking is not None and marking.drops:
        begin, loss = marking.frames(probe.size) + 1, closed.egress_loss or closed.ingress_loss
        if loss is None or begin < loss:
            drops = "may drop" if marking.is_random else "drops"
            found = f"WRED {drops} packets of this queue from packet {begin:,} on."
            notes.append(f"{found} Both methods leave these drops out.")
    largest = switch.links[probe.ingress].frame
    if probe.size > largest and has_computed_headroom(memory, probe.ingress, class_):
        notes.append(
            f"Computed headroom covers frames up to {largest:,} B, the largest of the scenario. Frames of "
            f"{probe.size:,} B may need more."
        )
    return notes


def has_computed_headroom(memory: SwitchMemory | None, port: int, class_: int) -> bool:
    """Returns true if the switch pauses a class, with headroom that the link of its port decides."""
    group = None if memory is None else memory.group(port, class_)
    return memory is not None and memory.is_paused(port, class_) and group is not None and group.xoff is None
