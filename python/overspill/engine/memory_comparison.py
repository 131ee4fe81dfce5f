"""Limits of switch memory by closed form and by the dataplane, with reasons for differences."""

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from overspill.engine import core, memory_limits, port_memory, switch_memory
from overspill.engine.memory_limits import Case, Limits
from overspill.engine.port_memory import PortMemory
from overspill.engine.switch_memory import Link, SwitchMemory
from overspill.errors import BadInput, cut_user_text

if TYPE_CHECKING:
    from overspill._core import Scenario

MEASURES = tuple(field.name for field in fields(Limits))
MOST_GROUPS = 4  # largest default number of congested groups
KINDS = ("pools", "shared", "per_port")
MOST_FRAMES = 5_000_000  # frames that a measurement sends at most

Measured = Mapping[str, int | None]


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


@dataclass(frozen=True)
class ComparedClass:
    """Limits of a class: its group and queue, what is congested, and a case for each number of these."""

    class_: int
    group: int | None
    queue: int | None
    congests: str  # groups or queues
    cases: Sequence[ComparedCase]


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

    def measure(self, class_: int, congested: int) -> Measured:
        """Measures the frames that the dataplane admits."""
        probe = self.probe
        try:
            text = self.scenario.probe_memory(
                probe.variant, probe.switch, probe.ingress, probe.egress, class_, probe.size, congested
            )
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
    if switch.kind == "pools" and paused not in ("none", "pfc"):
        raise BadInput(f"explain memory: found pause of kind {paused} beside pools; expected pfc or none")
    return switch


def compare_class(switch: ProbedSwitch, class_: int, groups: int | None) -> ComparedClass:
    """Compares the limits of a class, alone and with this number of groups; `None` takes up to four."""
    memory, probe = switch.memory, switch.probe
    if memory is None:
        if groups not in (None, 1):
            raise BadInput(f"--groups: found {groups}; expected 1, as a {switch.kind} buffer has no groups")
        closed = switch.port_memory(class_).limits(probe.size)
        measured = switch.measure(class_, 1)
        told = [one for name in MEASURES if (one := explain_port(switch, name, closed, measured))]
        return ComparedClass(class_, None, None, "ports", [ComparedCase(1, closed, measured, told)])
    own = (probe.ingress, probe.egress, class_)
    congests = "groups" if memory.is_paused(probe.ingress, class_) else "queues"
    known = len(memory_limits.congested_streams(memory, own, groups or MOST_GROUPS))
    if groups is not None and known < groups:
        raise BadInput(
            f"--groups: found {groups}; expected at most {known}, the {congests} in the slice of class "
            f"{class_}"
        )
    cases = []
    for congested in dict.fromkeys((1, known)):
        case = Case(memory, probe.size, memory_limits.congested_streams(memory, own, congested))
        closed, measured = memory_limits.compute_limits(case), switch.measure(class_, congested)
        if congested > 1:
            # A group is resumed alone: others that stay as full move the number by no more than rounding.
            closed, measured = drop_resume(closed), {**measured, "resume": None}
        told = [one for name in MEASURES if (one := explain_difference(name, case, closed, measured))]
        if switch.links_change and case.is_paused:
            told = [one.replace(FAULT, CHANGED_LINKS) for one in told]
        cases.append(ComparedCase(congested, closed, measured, told))
    group, queue = memory.class_to_group[class_], memory.class_to_queue[class_]
    return ComparedClass(class_, group, queue, congests, cases)


def drop_resume(limits: Limits) -> Limits:
    """Returns limits without the departures until a group is resumed."""
    return Limits(**{name: None if name == "resume" else getattr(limits, name) for name in MEASURES})


def differs(name: str, closed: Fraction | None, measured: int | None) -> bool:
    """Returns true if two counts differ by more than a frame, or if only one exists."""
    if name == "headroom":
        closed, measured = closed or Fraction(0), measured or 0  # no headroom stores no frame
    if closed is None or measured is None:
        return (closed is None) != (measured is None)
    return abs(closed - measured) > 1


NAMES = {
    "mark": "until a mark",
    "pause": "until a pause",
    "ingress_loss": "until a loss at ingress",
    "egress_loss": "until a loss at egress",
    "headroom": "headroom in frames",
    "resume": "departures until the resume",
}
CHANGED_LINKS = (
    "Computed headroom covers all rates and delays that events give a link. The closed form takes the first."
)
FAULT = "Rounding does not explain this: the closed form or the dataplane is wrong. Please report it."


def describe(name: str, closed: Fraction | None, measured: int | None, why: str) -> str:
    """Describes a difference and its reason."""
    texts = [
        "none" if count is None else f"{float(count):,.1f}".removesuffix(".0") for count in (closed, measured)
    ]
    return f"{NAMES[name]}: closed form {texts[0]}, dataplane {texts[1]}. {why}"


def explain_mark(case_marks: bool, limits: Limits, measured: Measured) -> str | None:
    """Returns the reason why marks differ, for all kinds of buffers."""
    if case_marks:
        return "RED and WRED mark at random above their minimum. The closed form is the earliest mark."
    pause = measured["pause"]
    if measured["mark"] is None and limits.mark is not None and pause is not None and limits.mark >= pause:
        return "The measurement counts marks until the pause, and the mark comes later."
    return None


def explain_port(switch: ProbedSwitch, name: str, limits: Limits, measured: Measured) -> str | None:
    """Explains a difference for a buffer without pools; `None` if there is none."""
    closed, found = getattr(limits, name), measured[name]
    if not differs(name, closed, found):
        return None
    out = switch_memory.port_settings(switch.settings, switch.links[switch.probe.egress], switch.nodes)
    why = (
        explain_mark(out["marking"]["kind"] in ("red", "wred"), limits, measured) if name == "mark" else None
    )
    if found is None and closed is not None and closed > MOST_FRAMES:
        why = f"A measurement sends {MOST_FRAMES:,} frames at most."
    elif name in ("pause", "headroom", "resume") and limits.pause is None:
        why = f"The closed form covers a {switch.kind} buffer with a fixed `xoff` only."
    return describe(name, closed, found, why or FAULT)


def explain_difference(name: str, case: Case, limits: Limits, measured: Measured) -> str | None:
    """Explains a difference of more than a frame; `None` if there is none."""
    closed, found = getattr(limits, name), measured[name]
    if not differs(name, closed, found):
        return None
    return describe(name, closed, found, reason(name, case, limits, measured) or FAULT)


def reason(name: str, case: Case, limits: Limits, measured: Measured) -> str | None:
    """Returns the reason for a difference: settings, the order of limits, or rounding; `None` without one."""
    closed, found = getattr(limits, name), measured[name]
    marking = case.memory.marking
    if name == "mark":
        queues = ((port, case.memory.class_to_queue[class_]) for _, port, class_ in case.streams)
        red = any(marking[at].is_random for at in queues if at in marking)
        if why := explain_mark(red, limits, measured):
            return why
    if found is None and closed is not None and closed > MOST_FRAMES:
        return f"A measurement sends {MOST_FRAMES:,} frames at most."
    if name == "resume" and case.memory.frees_at_end:
        return "Memory becomes free at the end of a transmission, when the next one has begun already."
    return (
        explain_unequal_streams(case)
        or explain_other_side(name, limits, measured)
        or explain_rounding(case, limits, (closed, found))
    )


def explain_unequal_streams(case: Case) -> str | None:
    """Returns a reason if the first limit does not end all streams, or two limits are near each other."""
    if limits_are_near(case):
        return (
            "Two limits (of a group, a queue or a pool) are within two frames of each other, and rounding "
            "decides which is first. A frame that no longer fits into the pool takes headroom or is lost."
        )
    profiles = memory_profiles(case)
    if len(profiles) > 1:
        return (
            f"The congested accounts have different profiles ({', '.join(sorted(profiles))}). After the "
            "first is at its limit, the others go on, and the closed form does not follow them."
        )
    if (
        len(case.streams) > 1
        and not case.is_paused
        and any(at in case.memory.headrooms for at in case.groups)
    ):
        return (
            "The groups are lossless, but nothing pauses them. After the first is at its limit, the others "
            "go on, and the closed form does not follow them."
        )
    return None


def explain_rounding(case: Case, limits: Limits, counts: tuple[Fraction | None, int | None]) -> str | None:
    """Returns the reason for a difference of a few frames: groups that fill in turn, and whole frames."""
    closed, found = counts
    if closed is None or found is None:
        return None
    if len(case.streams) > 1 and abs(closed - found) <= 3:
        return (
            "The groups or queues fill in turn. The first reaches its limit while others are a frame behind, "
            "and a frame that finds the use just below the limit is stored whole."
        )
    gets_rest = limits.pause is not None and limits.egress_loss is not None
    if gets_rest and abs(closed - found) <= len(case.streams) + 1:
        return (
            "The last group gets the space that others leave at egress, and each of these is within a frame."
        )
    if abs(closed - found) <= 2:
        return "Frames take whole cells, and a frame that finds the use just below the limit is stored whole."
    return None


def explain_other_side(name: str, limits: Limits, measured: Measured) -> str | None:
    """Returns a reason if the two methods find the loss at different sides, within a few frames."""
    if not name.endswith("_loss") or (getattr(limits, name) is None) == (measured[name] is None):
        return None
    closed = limits.ingress_loss if limits.ingress_loss is not None else limits.egress_loss
    losses = [measured[side] for side in ("ingress_loss", "egress_loss")]
    found = next((loss for loss in losses if loss is not None), None)
    if closed is not None and found is not None and abs(closed - found) <= 3:
        return (
            "Ingress and egress reach their limits within a few frames, and rounding decides which is first."
        )
    return None


def memory_profiles(case: Case) -> set[str]:
    """Returns the profiles of the accounts that are congested: groups of paused streams, otherwise queues."""
    names = case.memory.groups if case.is_paused else case.memory.queues
    return {names[at] for at in (case.groups if case.is_paused else case.queues)}


def limits_are_near(case: Case) -> bool:
    """Returns true if two points at which groups, queues or pools are full are within two frames."""
    points = []
    for side, accounts in (("groups", case.groups), ("queues", case.queues)):
        for find in (case.limit_point, case.full_point):
            found = (find(side, at) for at in accounts)
            points += [min(present)] if (present := [point for point in found if point is not None]) else []
    points.sort()
    return any(after - before <= 2 * case.frame for before, after in itertools.pairwise(points[:3]))
