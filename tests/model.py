"""A second, independent model of a run, packet by packet, to compare Overspill with.

docs/internals/model.md describes it. It is written from the RFCs, the papers and docs/, and shares no code
with Overspill. Time is in whole picoseconds. It supports `custom` topologies with one shortest path between
any two nodes, and flows from a file.
"""

import heapq
import tomllib
from collections import deque
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace as Box
from typing import Any

UNITS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12, "bps": 1, "Mbps": 10**6, "Gbps": 10**9}
UNITS |= {"pkt": 1, "B": 1, "KB": 1000, "KiB": 1024, "MiB": 2**20, "GiB": 2**30}


def parse_quantity(text: str) -> int:
    """Parses a quantity in ps, bit/s, packets or bytes."""
    unit = "".join(filter(str.isalpha, text))
    return int(Fraction(text.removesuffix(unit)) * UNITS[unit])


class World:
    """Nodes, links and the order of events."""

    def __init__(self, path: Path) -> None:
        config = tomllib.loads(path.read_text())
        switch, nodes, transport = config["switch"], config["topology"]["node"], config["transport"]
        self.overflow, self.marking = switch["overflow"], switch["marking"]
        most = self.overflow.get("max_detours", "off")
        self.most_detours = 255 if most == "off" else most
        self.limits = [
            parse_quantity(switch["buffer"]["size"]),
            parse_quantity(self.overflow.get("bounce_size", "0B")),
        ]
        place = [node["name"] for node in nodes].index
        self.is_switch = [node["kind"] == "switch" for node in nodes]
        self.ports: list[list[Any]] = [[] for _ in nodes]
        for link in config["topology"]["link"]:
            ends = [place(link[end]) for end in "ab"]
            for node, peer in (ends, ends[::-1]):
                port = Box(
                    node=node,
                    peer=peer,
                    rate=parse_quantity(link["rate"]),
                    delay=parse_quantity(link["delay"]),
                )
                port.queues, port.busy, port.index = (deque(), deque()), False, len(self.ports[node])
                self.ports[node].append(port)
        self.far = [self.distances(node) for node in range(len(nodes))]
        self.events, self.records, self.now, self.count = [], {}, 0, 0
        rows = (path.parent / config["traffic"][0]["file"]).read_text().split()[1:]
        for index, row in enumerate(rows):
            start, source, destination, size = row.split(",")
            flow = Box(id=index, src=place(source), dst=place(destination), size=int(size))
            flow.ends = Sender(self, flow, transport), Receiver(self, flow, transport)
            self.at((parse_quantity(start), flow.src, 2, 2 * index), flow.ends[0].send)

    def distances(self, root: int) -> dict[int, int]:
        found, todo = {root: 0}, [root]
        for node in todo:
            fresh = [port.peer for port in self.ports[node] if port.peer not in found]
            found |= dict.fromkeys(fresh, found[node] + 1)
            todo += fresh
        return found

    def toward(self, node: int, target: int) -> Any:
        """Returns the only port on a shortest path."""
        (port,) = [p for p in self.ports[node] if self.far[target][p.peer] < self.far[target][node]]
        return port

    def at(self, key: tuple[int, int, int, int], act: Any) -> None:
        """Schedules an event, ordered by time; node; end of transmission, arrival or timer; port or timer."""
        self.count += 1
        heapq.heappush(self.events, (*key, self.count, act))

    def run(self) -> dict[Any, Any]:
        """Returns the outcome of each packet by (flow, reverse, emission).

        An outcome is (sent, end, hops, detours, bounces, farthest back, node, fate).
        """
        while self.events:
            self.now, node = self.events[0][:2]
            while self.events and self.events[0][:2] == (self.now, node):
                heapq.heappop(self.events)[-1]()
            for port in self.ports[node]:
                self.start(port)
        return self.records

    def start(self, port: Any, ended: bool = False) -> None:
        """Starts the next frame of an idle port, a bounced one first."""
        queue, port.busy = port.queues[1] or port.queues[0], port.busy and not ended
        if port.busy or not queue:
            return
        packet, port.busy = queue.popleft(), True
        packet.via = port.node
        over = self.now + -(-packet.wire * 8 * 10**12 // port.rate)
        self.at((over, port.node, 0, port.index), lambda: self.start(port, True))
        ingress = next(back.index for back in self.ports[port.peer] if back.peer == port.node)
        self.at((over + port.delay, port.peer, 1, ingress), lambda: self.arrive(port.peer, packet))

    def emit(self, flow: Any, reverse: int, **fields: Any) -> None:
        end, zero = flow.ends[reverse], dict.fromkeys(("ce", "hops", "detours", "bounces", "back", "most"), 0)
        packet = Box(flow=flow, reverse=reverse, sent=self.now, ttl=end.o["ttl"], **zero, **fields)
        packet.emission, end.emitted = end.emitted, end.emitted + 1
        packet.src, packet.dst = (flow.src, flow.dst)[:: 1 - 2 * reverse]
        packet.wire = max(packet.length + 40 + 18, 64) + 20
        self.ports[packet.src][0].queues[0].append(packet)

    def end(self, p: Any, node: int, fate: str) -> None:
        seen = p.sent, self.now, p.hops, p.detours, p.bounces, p.most, node, fate
        self.records[p.flow.id, p.reverse, p.emission] = seen

    def arrive(self, node: int, packet: Any) -> None:
        packet.hops += 1
        if self.is_switch[node]:
            self.forward(node, packet)
        elif packet.dst != node:  # PABO: a packet bounced to its host leaves again
            self.ports[node][0].queues[1].append(packet)
            packet.back = max(packet.back - 1, 0)
        else:
            self.end(packet, node, "delivered")
            packet.flow.ends[1 - packet.reverse].take(packet)

    def forward(self, node: int, packet: Any) -> None:
        """Selects the queue that an arrival at a switch enters, if any."""
        packet.ttl -= 1
        if packet.ttl == 0:
            return self.end(packet, node, "ttl_expired")
        port, kind = self.toward(node, packet.dst), int(packet.bounces > 0)
        if self.overflow["kind"] == "bounce" and self.bounces(len(port.queues[kind]), self.limits[kind]):
            port, kind, packet.bounces = self.toward(node, packet.src), 1, packet.bounces + 1
            packet.back, packet.most = packet.back + 1, max(packet.back + 1, packet.most)
        else:  # PABO §III: bouncedDistance
            packet.back = max(packet.back - 1, 0)
        full = len(port.queues[kind]) >= self.limits[kind]
        if full and self.overflow["kind"] == "detour":
            if packet.detours >= self.most_detours:
                return self.end(packet, node, "detours_spent")
            closed = None if self.overflow.get("ingress", True) else packet.via
            switches = [p for p in self.ports[node] if self.is_switch[p.peer] and p.peer != closed]
            others = [p for p in switches if len(p.queues[0]) < self.limits[0]]
            if not others:
                return self.end(packet, node, "no_detour")
            (port,) = others  # exactly one, or the run would depend on a draw
            packet.detours += 1
            packet.ce |= packet.ect and self.overflow["mark_detoured"]
        elif full:
            return self.end(packet, node, "bounce_queue_full" if kind else "buffer_full")
        if len(port.queues[kind]) >= parse_quantity(self.marking.get("k", "1GiB")):
            packet.ce |= packet.ect
        port.queues[kind].append(packet)

    def bounces(self, length: int, limit: int) -> bool:
        """Returns true if a packet bounces: PABO eq. 4 with λ so large that it is a step at θ.

        The last places of a queue count as full.
        """
        assert self.overflow["lambda"] == 1000000, "or the run would depend on a draw"
        step = self.overflow["round_to"] or 1
        places = self.overflow.get("rounding", "places") == "places"
        full = limit - step + 1 if places else limit // step * step
        used = limit if length >= max(full, 1) else length
        return Fraction(used, limit) > Fraction(str(self.overflow["theta"]))


class Sender:
    """Sender by RFC 5681, 6582, 6298 and 3042, with RFC 3168 or 8257 for marks."""

    def __init__(self, world: World, flow: Any, options: dict[str, Any]) -> None:
        self.world, self.flow, self.o = world, flow, options
        self.mss, window = parse_quantity(options["mss"]), options["initial_window"]
        self.cwnd = parse_quantity(window) * (self.mss if "pkt" in window else 1)
        self.ssthresh, self.dctcp = parse_quantity(options["initial_ssthresh"]), options["kind"] == "dctcp"
        self.ecn = self.dctcp or options["ecn"]
        self.una = self.nxt = self.top = self.emitted = self.dups = self.limited = 0
        self.recover = self.resent = self.cut_end = -1
        self.recovering = self.partial = self.cwr = False
        self.srtt, self.rttvar, self.deadline, self.timed = None, None, None, []
        self.low, self.high, self.rto = (
            parse_quantity(options[f"{key}_rto"]) for key in ("min", "max", "initial")
        )
        self.window_end = self.acked = self.marked = 0
        self.alpha, self.g = Fraction(options.get("initial_alpha", 1)), Fraction(options.get("g", 0))

    def after(self, seq: int) -> int:
        return min(seq + self.mss, self.flow.size)

    def send(self) -> None:
        while self.nxt < self.flow.size and self.after(self.nxt) - self.una <= self.cwnd:
            self.transmit(self.nxt)
            self.nxt = self.after(self.nxt)

    def transmit(self, seq: int) -> None:
        end, now, new = self.after(seq), self.world.now, seq >= self.top
        if not new:  # RFC 6298 §3: Karn's rule; a burst is time, first byte, end
            self.timed = []
        elif self.timed and self.timed[-1][0] == now and self.timed[-1][2] == seq:
            self.timed[-1][2] = end
        elif len(self.timed) < 2 and not self.recovering:
            self.timed.append([now, seq, end])
        cwr, self.cwr = self.cwr and new, self.cwr and not new
        self.top, ect = max(self.top, end), self.ecn and (new or self.dctcp)
        self.world.emit(self.flow, 0, seq=seq, length=end - seq, ect=ect, cwr=cwr)
        if self.deadline is None:
            self.arm()

    def arm(self) -> None:
        self.deadline = self.world.now + self.rto
        key = self.deadline, self.flow.src, 2, 2 * self.flow.id
        self.world.at(key, lambda: self.deadline == self.world.now and self.timer())

    def timer(self) -> None:
        """Handles an expired timer: RFC 6298 (5.4) to (5.6), RFC 5681 §3.1, RFC 6582 §3.2 step 4."""
        if self.resent != self.una:  # only once for the same segment
            self.ssthresh = max((self.nxt - self.una) // 2, 2 * self.mss)
        self.resent, self.recover, self.cut_end, self.cwr = self.una, self.top, self.top, self.ecn
        self.cwnd, self.dups, self.recovering, self.nxt, self.timed = self.mss, 0, False, self.una, []
        self.rto, self.deadline = min(2 * self.rto, self.high), None
        self.send()

    def take(self, ack: Any) -> None:
        if ack.number > self.una:
            self.advance(ack.number - self.una, ack)
        elif ack.number == self.una and self.top > self.una:
            self.duplicate(ack)

    def sample(self, rtt: int) -> None:
        if self.srtt is None:  # RFC 6298 §2
            self.srtt, self.rttvar = rtt, rtt // 2
        else:
            self.rttvar += abs(self.srtt - rtt) // 4 - self.rttvar // 4
            self.srtt += rtt // 8 - self.srtt // 8
        self.rto = self.srtt + max(parse_quantity(self.o["clock_granularity"]), 4 * self.rttvar)
        self.rto = min(max(self.rto, self.low), self.high)

    def advance(self, new: int, ack: Any) -> None:
        self.una, self.nxt, self.dups, self.limited = ack.number, max(self.nxt, ack.number), 0, 0
        for when in [when for when, start, _ in self.timed if start < self.una][-1:]:
            self.sample(self.world.now - when)
        self.timed = [burst for burst in self.timed if burst[2] > self.una]
        self.acked, self.marked = self.acked + new, self.marked + (new if ack.ece else 0)
        if self.una > self.window_end:  # RFC 8257 §3.3
            self.alpha += self.g * (Fraction(self.marked, self.acked) - self.alpha)
            self.window_end, self.acked, self.marked = self.nxt, 0, 0
        if not ack.ece and not self.recovering:  # RFC 5681 §3.1
            slow = self.cwnd < self.ssthresh
            self.cwnd += min(new, self.mss) if slow else max(self.mss * self.mss // self.cwnd, 1)
        later = False
        if self.recovering and self.una >= self.recover:
            self.recovering = False
            self.cwnd = min(self.ssthresh, max(self.top - self.una, self.mss) + self.mss)
        elif self.recovering:  # RFC 6582 §3.2 step 3; later partial ACKs leave the timer as it is
            self.transmit(self.una)
            self.cwnd = max(self.cwnd - new + (self.mss if new >= self.mss else 0), self.mss)
            later, self.partial = self.partial, True
        if ack.ece:  # relative to the window after its deflation
            self.reduce()
        if self.una == self.top:
            self.deadline = None
        elif not later:
            self.arm()
        self.send()

    def reduce(self) -> None:
        """Reduces the window once per window of data: RFC 3168 §6.1.2, RFC 8257 §3.3."""
        if self.ecn and self.una > self.cut_end:
            cut = int(self.cwnd * self.alpha / 2) if self.dctcp else self.cwnd - self.cwnd // 2
            self.ssthresh = max(self.cwnd - cut, 2 * self.mss)
            self.cwnd = min(self.cwnd, self.ssthresh)
            self.cut_end, self.cwr = self.nxt, True

    def duplicate(self, ack: Any) -> None:
        """Handles a duplicate ACK: RFC 5681 §3.2, RFC 6582 §3.2, RFC 3042."""
        if ack.ece:
            self.reduce()
        self.dups, threshold = self.dups + 1, self.o["dupack_threshold"]
        room = self.top < self.flow.size and self.after(self.top) - self.una <= self.cwnd + 2 * self.mss
        if self.recovering:
            self.cwnd += self.mss
            self.send()
        elif self.dups == threshold and self.una > self.recover:
            if self.dctcp or not self.ecn or self.una >= self.cut_end:  # RFC 3168 §6.1.2
                self.ssthresh = max((self.top - self.una - self.limited) // 2, 2 * self.mss)
            self.recover, self.recovering, self.partial = self.top, True, False
            self.cut_end, self.cwr = self.top, self.ecn
            self.cwnd = self.ssthresh + threshold * self.mss
            self.transmit(self.una)
            self.send()
        elif self.o["limited_transmit"] and self.dups <= 2 and self.una > self.recover and room:
            self.transmit(self.top)
            self.limited, self.nxt = self.limited + self.top - self.nxt, self.top


class Receiver:
    """Receiver by RFC 5681 §4.2, with RFC 3168 §6.1.3 or RFC 8257 §3.2 for marks."""

    def __init__(self, world: World, flow: Any, options: dict[str, Any]) -> None:
        self.world, self.flow, self.o = world, flow, options
        self.nxt = self.emitted = self.waiting = 0
        self.later, self.ce, self.deadline = {}, False, None

    def take(self, data: Any) -> None:
        at_once = not self.o["delayed_ack"] or bool(self.later) or data.seq != self.nxt
        if self.o["kind"] != "dctcp":
            self.ce = (data.ce and data.seq >= self.nxt) or (self.ce and not data.cwr)
        elif data.ce != self.ce:
            if self.waiting:
                self.ack()  # ACK of the earlier data, with the echo that applied to it
            self.ce, at_once = data.ce, True
        if data.seq >= self.nxt:
            self.later[data.seq] = data.seq + data.length
        while self.nxt in self.later:
            self.nxt = self.later.pop(self.nxt)
        self.waiting += 1
        if at_once or self.waiting >= 2 or self.nxt == self.flow.size:
            self.ack()
        else:
            self.deadline = self.world.now + parse_quantity(self.o["delayed_ack_timeout"])
            key = self.deadline, self.flow.dst, 2, 2 * self.flow.id + 1
            self.world.at(key, lambda: self.deadline == self.world.now and self.ack())

    def ack(self) -> None:
        self.waiting, self.deadline = 0, None
        self.world.emit(self.flow, 1, number=self.nxt, length=0, ect=False, ece=self.ce)
