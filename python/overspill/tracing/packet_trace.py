"""Trace of one packet: visits to nodes, events there, and the state of switches nearby."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from overspill.grouping import group_by_key
from overspill.results import columns, formats
from overspill.results.names import DROP_REASONS, PACKET_EVENTS

EMITTED, ARRIVED, DETOURED, BOUNCED, MARKED, TRIMMED = range(6)
HELD, RELEASED, STORED, CROSSED, MOVED, STARTED, DELIVERED, CAME_BACK = range(6, len(PACKET_EVENTS))
NO_PORT, NO_COUNT = 0xFFFF, 0xFFFF_FFFF
# Losses that may happen before a next hop is chosen: the port of such a step is the input port.
LOSSES_WITHOUT_NEXT_HOP = ("ttl_expired", "no_route", "link_down", "link_loss", "corrupted")
MAX_LOOP_LENGTH = 4  # nodes of the longest loop that a path prints once with its count


@dataclass
class NodeVisit:
    """Visit of the traced packet to a node: events there, and the next hop."""

    node: int
    arrived_ps: int
    events: list[str] = field(default_factory=list)
    frames_ahead: int | None = None
    held_ps: int | None = None
    stored_ps: int | None = None
    left_ps: int | None = None
    next_node: int | None = None
    cause: str = ""  # `detour`, `bounce`, or empty for a normal next hop


@dataclass(frozen=True)
class CrossedLink:
    """Link crossed by the traced packet in one direction, with the number of crossings by cause."""

    start: int
    end: int
    count: int
    cause: str


class PacketTrace:
    """Trace of one packet of one run.

    `facts` identify the packet and its run, `tables` have the recorded steps, and `network` is the network as
    the core describes it.
    """

    def __init__(self, facts: dict[str, Any], tables: dict[str, pa.Table], network: dict[str, Any]) -> None:
        self.facts, self.tables, self.network = facts, tables, network
        self.names = [str(node["name"]) for node in network["nodes"]]
        self.peers: dict[tuple[int, int], int] = {}
        for link in network["links"]:
            self.peers[link["a"], link["a_port"]] = link["b"]
            self.peers[link["b"], link["b_port"]] = link["a"]

    def numbers(self, table: str, *names: str) -> list[np.ndarray]:
        """Returns columns of one of the trace's tables as numpy arrays."""
        return [columns.column_to_numpy(self.tables[table], name) for name in names]

    @cached_property
    def steps(self) -> list[dict[str, int]]:
        """Events of the traced packet in order of time, each as a dictionary."""
        found: list[dict[str, int]] = self.tables["steps"].to_pylist()
        return found

    def count(self, what: int) -> int:
        """Returns the number of the traced packet's events of one kind, an index of `PACKET_EVENTS`."""
        return sum(step["what"] == what for step in self.steps)

    @property
    def fate(self) -> str:
        """Outcome of the packet: `delivered`, `came_back`, the reason of its loss, or `under_way`."""
        last = self.steps[-1]["what"]
        if not self.facts["ended"]:
            return "under_way"
        ends = {DELIVERED: "delivered", CAME_BACK: "came_back"}
        return ends[last] if last in ends else DROP_REASONS[last - len(PACKET_EVENTS)]

    @property
    def times_ps(self) -> tuple[int, int]:
        """Time of emission, and time of delivery, return, loss or the end of the run, both in ps."""
        end, last = self.facts.get("run_end"), self.steps[-1]["time_ps"]
        return self.steps[0]["time_ps"], end["at_ps"] if end and not self.facts["ended"] else last

    @property
    def which(self) -> str:
        """Name of the packet: `flow 3, packet 7`, `flow 3, reverse packet 7`, `CNM 0 of s0 about flow 3`."""
        facts = self.facts
        if facts.get("notice"):
            return f"CNM {facts['n']} of {self.names[facts['src']]} about flow {facts['flow']}"
        return f"flow {facts['flow']}, {'reverse ' if facts['reverse'] else ''}packet {facts['n']}"

    @property
    def message(self) -> dict[str, Any] | None:
        """Feedback of a congestion message in bytes, and its port; `None` for other packets."""
        said: dict[str, Any] | None = self.facts.get("message")
        return said and said | {"to": self.name(self.peers.get((self.facts["src"], said["port"])))}

    @cached_property
    def visits(self) -> list[NodeVisit]:
        """Visits of the packet to nodes, from its source on."""
        found = [NodeVisit(self.steps[0]["node"], self.steps[0]["time_ps"])]
        for step in self.steps:
            if step["what"] == ARRIVED:
                found.append(NodeVisit(step["node"], step["time_ps"]))
            else:
                self.add(found[-1], step)
        return found

    def add(self, visit: NodeVisit, step: dict[str, int]) -> None:
        """Adds an event of the traced packet to a visit."""
        what, port = step["what"], self.peers.get((step["node"], step["port"]))
        if what == STORED:
            # A packet that is trimmed in a queue may move to another one; it has waited since it was first
            # stored.
            if visit.stored_ps is None:
                visit.frames_ahead, visit.stored_ps = step["before"], step["time_ps"]
        elif what in (CROSSED, MOVED):
            since = step["time_ps"] - (visit.stored_ps or 0)
            where = f" {self.inside(step)}" if what == MOVED else ""
            visit.events.append(f"{PACKET_EVENTS[what]}{where} after {formats.format_time(since)}")
        elif what == STARTED:
            visit.left_ps, visit.next_node = step["time_ps"], port
        elif what in (DETOURED, BOUNCED):
            visit.cause = "detour" if what == DETOURED else "bounce"
            visit.events.append(f"{PACKET_EVENTS[what]}, not to {self.name(port)}")
        elif what == HELD:
            visit.held_ps = step["time_ps"]
            visit.events.append(PACKET_EVENTS[what])
        elif what == RELEASED:
            since = step["time_ps"] - (visit.held_ps or 0)
            visit.events.append(f"{PACKET_EVENTS[what]} after {formats.format_time(since)}")
        elif what == TRIMMED:
            visit.events.append(f"{PACKET_EVENTS[what]} to {step['size']} B")
        elif what >= len(PACKET_EVENTS):
            reason = DROP_REASONS[what - len(PACKET_EVENTS)]
            to = "" if reason in LOSSES_WITHOUT_NEXT_HOP else f", on the way to {self.name(port)}"
            visit.events.append(f"lost: {reason}{to}")
        else:
            visit.events.append(PACKET_EVENTS[what])

    def inside(self, step: dict[str, int]) -> str:
        """Returns the name of the buffer inside a switch to which a packet moved.

        It is that of its stage, or one before or behind an internal link.
        """
        ports = sum(node == step["node"] for node, _ in self.peers)
        link, behind = divmod(step["buffer"] - ports, 2)
        if link < 0:
            return "into its stage"
        return f"behind link {link}" if behind else f"before link {link}"

    def name(self, node: int | None) -> str:
        """Returns the name of a node, or `?` for `None`."""
        return "?" if node is None else self.names[node]

    @cached_property
    def arcs(self) -> list[CrossedLink]:
        """Links that the traced packet crossed, in the order of the first crossing."""
        stays = zip(self.visits[:-1], self.visits[1:], strict=True)
        counts = Counter((a.node, b.node, a.cause) for a, b in stays)
        return [CrossedLink(start, end, count, turned) for (start, end, turned), count in counts.items()]

    @property
    def path(self) -> list[str]:
        """Names of the nodes that the traced packet visited."""
        return [self.names[visit.node] for visit in self.visits]

    @cached_property
    def pod(self) -> list[int]:
        """Switches around the destination, the destination's own first.

        In a fat-tree these are the switches of its pod, elsewhere its switch and the neighbours of that
        switch.
        """
        near = group_by_key((node, peer) for (node, _), peer in sorted(self.peers.items()))
        hosts = {at for at, node in enumerate(self.network["nodes"]) if node["host"]}
        edge = near[self.facts["dst"]][0]
        if edge in hosts:
            return []
        others = [peer for peer in dict.fromkeys(near[edge]) if peer not in hosts]
        if self.facts["topology"] != "fat_tree":
            return [edge, *others]
        below = {peer for agg in others for peer in near[agg] if self.tier(peer) == self.tier(edge)}
        return [edge, *sorted(below - {edge}), *others]

    def tier(self, node: int) -> str:
        """Returns the tier of a node in the traced network."""
        return str(self.network["nodes"][node]["tier"])

    def waiting(self) -> Iterator[dict[str, Any]]:
        """Yields the ports of switches in `pod` that had queued packets at one of the three instants."""
        pod = set(self.pod)
        for row in self.tables["occupancy"].to_pylist():
            if row["node"] in pod:
                to = self.name(self.peers.get((row["node"], row["port"])))
                yield row | {"node": self.names[row["node"]], "to": to}

    def document(self) -> dict[str, Any]:
        """Returns the packet trace as the JSON document that `--json` prints."""
        facts, (start, end) = self.facts, self.times_ps
        nodes, times = self.numbers("detours", "node", "time_ps")
        seen = {int(node): [int(at) for at in times[nodes == node]] for node in sorted(set(nodes.tolist()))}
        return {
            "scenario": facts["scenario"],
            "variant": facts["variant"],
            "seed": facts["seed"],
            "packet": {key: facts[key] for key in ("flow", "n", "reverse", "notice")},
            "message": self.message,
            "src": self.names[facts["src"]],
            "dst": self.names[facts["dst"]],
            "fate": self.fate,
            "sent_ps": start,
            "end_ps": end,
            "run_end": facts.get("run_end"),
            "hops": self.count(ARRIVED),
            "detours": self.count(DETOURED),
            "bounces": self.count(BOUNCED),
            "trims": self.count(TRIMMED),
            "holds": self.count(HELD),
            "crossings": self.count(CROSSED),
            "moves": self.count(MOVED),
            "path": self.path,
            "steps": [self.named_step(step) for step in self.steps],
            "arcs": [
                {"from": self.names[one.start], "to": self.names[one.end], "count": one.count}
                | {"turned": one.cause or None}
                for one in self.arcs
            ],
            "pod": [self.names[node] for node in self.pod],
            "window_ps": facts["window_ps"],
            "instants_ps": facts["instants_ps"],
            "detours_ps": {self.names[node]: all_of for node, all_of in seen.items()},
            "detours_left_out": facts["detours_left_out"],
            "occupancy": list(self.waiting()),
        }

    def named_step(self, step: dict[str, int]) -> dict[str, Any]:
        """Returns an event of the trace with names of nodes and events in place of numbers."""
        what = step["what"]
        found: dict[str, Any] = {"time_ps": step["time_ps"], "node": self.names[step["node"]]}
        found["what"] = PACKET_EVENTS[what] if what < len(PACKET_EVENTS) else "lost"
        if what >= len(PACKET_EVENTS):
            found["reason"] = DROP_REASONS[what - len(PACKET_EVENTS)]
        if what not in (EMITTED, DELIVERED, CAME_BACK):
            far = self.peers.get((step["node"], step["port"]))
            came = what in (ARRIVED, HELD, RELEASED) or found.get("reason") in LOSSES_WITHOUT_NEXT_HOP
            found |= {"port": step["port"], "from" if came else "to": self.name(far)}
        if step["taken"] != NO_PORT:
            found |= {
                "taken": step["taken"],
                "taken_to": self.name(self.peers.get((step["node"], step["taken"]))),
            }
        if step["before"] != NO_COUNT:
            found["before"] = step["before"]
        if what == MOVED:
            found["buffer"] = step["buffer"]
        return found | {"size": step["size"]}


def format_path(path: Sequence[str]) -> str:
    """Returns a path as text, in which a repeated loop is printed once with its count."""
    parts, at = list[str](), 0
    while at < len(path):
        size, times = find_loop(path[at:])
        text = " ".join(path[at : at + size])
        parts.append(text if times == 1 else f"({text}) x{times}")
        at += size * times
    return " ".join(parts)


def find_loop(path: Sequence[str]) -> tuple[int, int]:
    """Returns the length of the loop at the beginning of a path, and how often it is repeated."""
    best = (1, 1)
    for size in range(1, min(MAX_LOOP_LENGTH, len(path) // 2) + 1):
        times = 1
        while list(path[times * size : (times + 1) * size]) == list(path[:size]):
            times += 1
        if times > 1 and size * times > best[0] * best[1]:
            best = (size, times)
    return best
