"""Memory of a switch as a resolved scenario describes it: pools, profiles, accounts and marks, in bytes.

Sizes of accounts are whole cells, and a pool has its part in one slice. The closed form of
`engine/memory_limits.py` reads these records. Nothing here comes from the dataplane.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from overspill.engine import axis_values
from overspill.errors import BadInput

PAUSE_FRAME_BYTES = 64  # size of a PAUSE or PFC frame (IEEE 802.3 annex 31B)
PS_PER_SECOND = 10**12
CLASSES = 8
INGRESS, EGRESS = "ingress", "egress"

PortNumber = tuple[int, int]  # port, and number of its group or queue


@dataclass(frozen=True)
class Link:
    """Link of a switch port: rates and delays in both directions, and the response of the far end."""

    far_end: str
    rate: Fraction  # bits per second toward the far end
    back_rate: Fraction
    delays: int  # ps, of both directions together
    response: int  # ps
    frame: int  # bytes of the largest frame
    gap: int  # bytes of preamble and gap

    @staticmethod
    def read(given: Mapping[str, Any]) -> "Link":
        """Reads a link as the core describes it."""
        return Link(
            given["far_end"],
            Fraction(given["rate_bps"]),
            Fraction(given["back_rate_bps"]),
            given["delay_ps"] + given["back_delay_ps"],
            given["response_ps"],
            given["frame"],
            given["gap"],
        )

    def headroom(self, cell: int, smallest: int) -> int:
        """Returns the bytes of whole cells that may arrive after the frame that causes a pause.

        The pause frame waits for a largest frame. Then it takes its own time, the delay and the response; the
        last frame takes the delay back. Frames of the size with the most cells per byte on the wire fill this
        time, and one largest frame begins at its end.
        """
        waits = Fraction((self.frame + PAUSE_FRAME_BYTES + 2 * self.gap) * 8) / self.rate
        window = waits + Fraction(self.delays + self.response, PS_PER_SECOND)
        wire = window * self.back_rate / 8
        # A frame of k cells has most cells per byte if it is as small as k cells allow.
        first, last = -(-min(smallest, self.frame) // cell), -(-self.frame // cell)
        sizes = [max((cells - 1) * cell + 1, min(smallest, self.frame)) for cells in range(first, last + 1)]
        filled = max(wire * -(-size // cell) / (size + self.gap) for size in sizes)
        return (math.ceil(filled) + last) * cell


@dataclass(frozen=True)
class Pool:
    """Pool in one slice: its shared memory without reserves, and the headroom that its groups share."""

    side: str
    size: int
    headroom: int | None = None


@dataclass(frozen=True)
class Profile:
    """Rules of an account; without `alpha` and `limit`, only its pool limits it."""

    pool: str
    reserve: int = 0
    alpha: Fraction | None = None
    limit: int | None = None
    is_lossless: bool = False
    xoff: int | None = None  # headroom; None if it is computed
    xon: int = 0
    xon_offset: int = 0


@dataclass(frozen=True)
class Marking:
    """Queue length, in packets or bytes, from which frames are marked: all, at random or by an average."""

    queue: int
    in_packets: bool
    is_random: bool = False
    is_averaged: bool = False
    drops: bool = False  # frames are dropped instead of marked

    def frames(self, size: int) -> int:
        """Returns the number of frames in the queue that the first marked or dropped frame finds."""
        return self.queue if self.in_packets else -(-self.queue // size)


@dataclass(frozen=True)
class SwitchMemory:
    """Memory of one switch: its pools, and the profile and headroom of each account."""

    cell: int
    ports: int
    pools: Mapping[str, Pool]
    profiles: Mapping[str, Profile]
    groups: Mapping[PortNumber, str]  # names of profiles
    queues: Mapping[PortNumber, str]
    headrooms: Mapping[PortNumber, int]
    class_to_group: Sequence[int] = tuple(range(CLASSES))
    class_to_queue: Sequence[int] = tuple(range(CLASSES))
    slices: int = 1
    pipes: Sequence[int] = ()
    slice_of: Sequence[int] = ()
    frees_at_end: bool = False
    marking: Mapping[PortNumber, Marking] = field(default_factory=dict)  # by queue of an output port
    pausing: frozenset[int] = frozenset()  # input ports that pause their far end

    def cell_bytes(self, size: int) -> int:
        """Returns the bytes of the whole cells of a frame."""
        return -(-size // self.cell) * self.cell

    def slice(self, ingress: int, egress: int) -> int:
        """Returns the slice of frames from one port to another."""
        if not self.slice_of:
            return 0
        pipe = [self.pipes[port] if port < len(self.pipes) else 0 for port in (ingress, egress)]
        return self.slice_of[pipe[0] * math.isqrt(len(self.slice_of)) + pipe[1]]

    def group(self, port: int, class_: int) -> Profile | None:
        """Returns the profile of the group of a class; `None` if no pool counts at ingress."""
        name = self.groups.get((port, self.class_to_group[class_]))
        return None if name is None else self.profiles[name]

    def queue(self, port: int, class_: int) -> Profile | None:
        """Returns the profile of the queue of a class; `None` if no pool counts at egress."""
        name = self.queues.get((port, self.class_to_queue[class_]))
        return None if name is None else self.profiles[name]

    def is_paused(self, port: int, class_: int) -> bool:
        """Returns true if the switch pauses the far end for a full group of this class."""
        group = self.group(port, class_)
        return port in self.pausing and group is not None and group.is_lossless


def size_in_bytes(text: object) -> int:
    """Returns a size of a resolved scenario in bytes; 0 if it is left out."""
    return 0 if text is None else quantity(text, "B")


def quantity(text: object, unit: str) -> int:
    """Returns a quantity of a resolved scenario in this unit, as a whole number."""
    found = axis_values.in_base_unit(str(text))
    if found is None or found[1] != unit:
        raise ValueError(f"{text!r} is not a number of {unit}")
    return math.floor(found[0])


def port_settings(switch: Mapping[str, Any], link: Link, nodes: Mapping[str, bool]) -> Mapping[str, Any]:
    """Returns the slots of a port; `nodes` says of each node if it is a host.

    Ports toward hosts and toward switches may differ, and, with overrides by rate, ports of different rates.
    """
    kinds = switch.get("ports")
    if kinds is None:
        return switch
    far = "host" if nodes[link.far_end] else "switch"
    for name, settings in kinds.items():
        kind, _, rate = name.partition(" ")
        found = axis_values.in_base_unit(rate)
        if kind == far and (not rate or found is None or found[0] == link.rate):
            return dict(settings)
    raise BadInput(
        f"explain memory: found no settings of the port to {link.far_end}; expected one of {', '.join(kinds)}"
    )


def read_marking(slot: Mapping[str, Any], number: int) -> Marking | None:
    """Returns the threshold of a queue from which a mechanism marks; `None` if it does not mark.

    A profile with `min` = `max` is a step, which marks all frames from its threshold on.
    """
    if slot["kind"] == "wred":
        own = [entry for entry in slot["queues"] if number in entry["queue"]]
        if not own:
            return None
        least, most = (size_in_bytes(own[-1][key]) for key in ("min", "max"))
        averaged = float(own[-1].get("weight", 1)) < 1
        # With `ecn = "none"` the switch drops packets instead of marking them.
        return Marking(least, False, least < most, averaged, own[-1].get("ecn") == "none")
    key = {"ecn_threshold": "k", "red": "min"}.get(slot["kind"])
    found = None if key is None else axis_values.in_base_unit(str(slot[key]))
    if found is None:
        return None
    is_random, averaged = False, False
    if slot["kind"] == "red":
        is_step = slot["min"] == slot["max"] and (not slot["gentle"] or float(slot["max_p"]) == 1)
        is_random, averaged = not is_step, float(slot["weight"]) < 1
    return Marking(math.floor(found[0]), found[1] == "pkt", is_random, averaged)


def read_profile(given: Mapping[str, Any], cell: int) -> Profile:
    """Reads a profile; reserves are rounded up to whole cells, and headroom down."""
    threshold = given.get("threshold") or {"kind": "static"}
    if threshold["kind"] not in ("dynamic", "static"):
        raise BadInput(f"explain memory: found threshold {threshold['kind']}; expected dynamic or static")
    alpha = None
    if threshold["kind"] == "dynamic":
        exponent = threshold.get("dynamic_th")
        alpha = Fraction(threshold.get("alpha", 1)) if exponent is None else Fraction(2) ** int(exponent)
    limit = threshold.get("limit")
    xoff = given.get("xoff")
    return Profile(
        given["pool"],
        -(-size_in_bytes(given.get("reserve")) // cell) * cell,
        alpha,
        None if limit is None else size_in_bytes(limit),
        bool(given.get("lossless", False)),
        None if xoff is None else size_in_bytes(xoff) // cell * cell,
        size_in_bytes(given.get("xon")),
        size_in_bytes(given.get("xon_offset")),
    )


def assign_profiles(
    entries: Sequence[Mapping[str, Any]], key: str, links: Sequence[Link]
) -> dict[PortNumber, str]:
    """Returns the profile of each group or queue by entries; later ones override earlier ones."""
    found: dict[PortNumber, str] = {}
    for entry in entries:
        rate = None if entry.get("rate") is None else axis_values.in_base_unit(str(entry["rate"]))
        for port, link in enumerate(links):
            applies = port in entry["ports"] if entry.get("ports") is not None else True
            if applies and (rate is None or rate[0] == link.rate):
                found |= {(port, number): entry["profile"] for number in entry[key]}
    return found


def read_pool(given: Mapping[str, Any], buffer: Mapping[str, Any], reserves: int, headrooms: int) -> Pool:
    """Reads a pool; `reserves` and `headrooms` are the sums over its accounts in one slice."""
    cell, slices = size_in_bytes(buffer["cell"]), int(buffer["slices"])

    def part(size: object) -> int:
        return size_in_bytes(size) // slices // cell * cell

    shared = None
    if given.get("headroom") is not None:
        shared = part(given["headroom"])
    elif given.get("over_subscribe_ratio") is not None:
        shared = int(headrooms / given["over_subscribe_ratio"]) // cell * cell
    size = part(given["size"])
    if buffer["size_includes"] != "shared":
        size -= reserves
    if buffer["size_includes"] == "reserves_and_headroom":
        size -= headrooms if shared is None else shared
    return Pool(given["side"], max(size, 0), shared)


def read_switch_memory(
    switch: Mapping[str, Any], links: Sequence[Link], nodes: Mapping[str, bool]
) -> SwitchMemory:
    """Reads the memory of a switch whose buffer has pools, from its entry of a resolved scenario."""
    given = switch["buffer"]
    cell = size_in_bytes(given["cell"])
    profiles = {name: read_profile(own, cell) for name, own in given["profiles"].items()}
    groups = assign_profiles(given.get("groups") or [], "group", links)
    queues = assign_profiles(given.get("queues") or [], "queue", links)
    computed = [link.headroom(cell, size_in_bytes(given["worst_frame"])) for link in links]
    headrooms = {
        at: computed[at[0]] if (own := profiles[name].xoff) is None else own
        for at, name in groups.items()
        if profiles[name].is_lossless
    }
    pools = {}
    for name, own in given["pools"].items():
        accounts = groups if own["side"] == INGRESS else queues
        members = [at for at, profile in accounts.items() if profiles[profile].pool == name]
        reserves = sum(profiles[accounts[at]].reserve for at in members)
        of_groups = sum(headrooms.get(at, 0) for at in members) if own["side"] == INGRESS else 0
        pools[name] = read_pool(own, given, reserves, of_groups)
    marking, pausing = read_ports(switch, links, nodes)
    return SwitchMemory(
        cell,
        len(links),
        pools,
        profiles,
        groups,
        queues,
        headrooms,
        given["class_to_group"],
        given["class_to_queue"],
        int(given["slices"]),
        given["pipes"],
        given["slice_of"],
        given["release"] == "end",
        marking,
        pausing,
    )


def read_ports(
    switch: Mapping[str, Any], links: Sequence[Link], nodes: Mapping[str, bool]
) -> tuple[dict[PortNumber, Marking], frozenset[int]]:
    """Returns the marks of each queue, and the input ports that pause their far end."""
    settings = [port_settings(switch, link, nodes) for link in links]
    marks = {
        (port, number): found
        for port, own in enumerate(settings)
        for number in range(CLASSES)
        if (found := read_marking(own["marking"], number))
    }
    return marks, frozenset(port for port, own in enumerate(settings) if own["pause"]["kind"] != "none")
