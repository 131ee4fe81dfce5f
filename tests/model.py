"""A second, separate model of a scenario, packet by packet, to compare Overspill with.

Written from the RFCs, the papers and docs/ alone; it shares no code with Overspill and is as plain as it can be.
Time is whole picoseconds. It knows `custom` topologies with one shortest path between any two nodes.
"""

import csv
import heapq
import tomllib
from collections import deque
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace as Box

UNITS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12, "bps": 1, "Mbps": 10**6, "Gbps": 10**9}
UNITS |= {"pkt": 1, "B": 1, "KB": 1000, "KiB": 1024, "MiB": 2**20, "GiB": 2**30}


def number(text):
    """A quantity in ps, bit/s, packets or bytes."""
    digits = text.rstrip("abcdefghijklmnopqrstuvwxyzBGKMiT")
    return int(Fraction(digits) * UNITS[text[len(digits) :]])


class Port:
    """An output: a normal and a bounce queue before one link."""

    def __init__(self, node, rate, delay):
        self.node, self.rate, self.delay, self.peer = node, rate, delay, None
        self.queues, self.busy = (deque(), deque()), False


class World:
    """Nodes, links and the order of events."""

    def __init__(self, path):
        config = tomllib.loads(Path(path).read_text())
        topology, switch = config["topology"], config["switch"]
        self.limits = [number(switch["buffer"]["size"]), 0]
        self.overflow, self.marking = switch["overflow"], switch["marking"]
        if self.overflow["kind"] == "bounce":
            self.limits[1] = number(self.overflow["bounce_size"])
        self.names = [node["name"] for node in topology["node"]]
        self.is_switch = [node["kind"] == "switch" for node in topology["node"]]
        self.ports = [[] for _ in self.names]
        for link in topology["link"]:
            ends = [self.names.index(link[end]) for end in "ab"]
            pair = [Port(end, number(link["rate"]), number(link["delay"])) for end in ends]
            for port, peer in (pair, pair[::-1]):
                port.peer = peer
                self.ports[port.node].append(port)
        self.routes = [self.distances(node) for node in range(len(self.names))]
        self.events, self.now, self.records = [], 0, []
        self.flows = []
        with open(Path(path).parent / config["traffic"][0]["file"]) as file:
            for number_, row in enumerate(csv.DictReader(file)):
                src, dst = (self.names.index(row[end]) for end in ("source", "destination"))
                flow = Box(id=number_, src=src, dst=dst, size=int(row["bytes"]), start=number(row["start"]))
                flow.sender, flow.receiver = Sender(self, flow, config["transport"]), Receiver(self, flow, config["transport"])
                self.flows.append(flow)
                self.at(flow.start, src, 2, 2 * number_, flow.sender.start)

    def distances(self, root):
        """Links to `root` from everywhere."""
        found, todo = {root: 0}, deque([root])
        while todo:
            node = todo.popleft()
            for port in self.ports[node]:
                if port.peer.node not in found:
                    found[port.peer.node] = found[node] + 1
                    todo.append(port.peer.node)
        return found

    def toward(self, node, target):
        """The only port on a shortest way."""
        far = self.routes[target]
        (port,) = [port for port in self.ports[node] if far[port.peer.node] == far[node] - 1]
        return port

    def at(self, time, node, phase, index, act):
        heapq.heappush(self.events, (time, node, phase, index, len(self.records), act))

    def run(self):
        """Everything that happens, and then a record of every packet."""
        while self.events:
            self.now, node = self.events[0][:2]
            while self.events and self.events[0][:2] == (self.now, node):
                heapq.heappop(self.events)[-1]()
            for port in self.ports[node]:
                self.start(port)
        return self.records

    def start(self, port):
        """Put the next frame on the wire: bounced ones first."""
        queue = port.queues[1] or port.queues[0]
        if port.busy or not queue:
            return
        packet, port.busy = queue.popleft(), True
        ended = self.now + -(-packet.wire * 8 * 10**12 // port.rate)
        peer = port.peer
        self.at(ended, port.node, 0, self.ports[port.node].index(port), lambda: self.ended(port))
        index = self.ports[peer.node].index(peer)
        self.at(ended + port.delay, peer.node, 1, index, lambda: self.arrive(peer.node, packet))

    def ended(self, port):
        port.busy = False
        self.start(port)

    def emit(self, flow, reverse, **fields):
        """A host's new packet enters its NIC."""
        side = flow.receiver if reverse else flow.sender
        packet = Box(flow=flow, reverse=reverse, emission=side.emitted, sent=self.now, ce=False, **fields)
        packet.hops = packet.detours = packet.bounces = 0
        packet.src, packet.dst = (flow.dst, flow.src) if reverse else (flow.src, flow.dst)
        packet.wire = max(packet.length + 40 + 18, 64) + 20
        side.emitted += 1
        self.ports[packet.src][0].queues[0].append(packet)

    def end(self, packet, node, fate):
        p = packet
        self.records.append(
            (p.flow.id, p.reverse, p.emission, p.sent, self.now, p.hops, p.detours, p.bounces, node, fate)
        )

    def arrive(self, node, packet):
        packet.hops += 1
        if self.is_switch[node]:
            self.forward(node, packet)
        elif packet.dst != node:  # PABO: what came all the way back goes out again
            self.ports[node][0].queues[1].append(packet)
        else:
            self.end(packet, node, "delivered")
            (packet.flow.sender if packet.reverse else packet.flow.receiver).take(packet)

    def forward(self, node, packet):
        """Which queue an arrival at a switch enters, if any."""
        packet.ttl -= 1
        if packet.ttl == 0:
            return self.end(packet, node, "ttl_expired")
        port, bounced = self.toward(node, packet.dst), int(packet.bounces > 0)
        full = len(port.queues[bounced]) >= self.limits[bounced]
        if self.overflow["kind"] == "bounce" and self.bounces(len(port.queues[bounced]), self.limits[bounced]):
            packet.bounces, bounced = packet.bounces + 1, 1
            port = self.toward(node, packet.src)
            full = len(port.queues[1]) >= self.limits[1]
        elif self.overflow["kind"] == "detour" and full:
            others = [p for p in self.ports[node] if self.is_switch[p.peer.node] and p is not port]
            others = [p for p in others if len(p.queues[0]) < self.limits[0]]
            if not others:
                return self.end(packet, node, "no_detour")
            (port,), full = others, False  # one, or the run would depend on a draw
            packet.detours += 1
            packet.ce |= packet.ect
        if full:
            return self.end(packet, node, "bounce_queue_full" if bounced else "buffer_full")
        if self.marking["kind"] == "ecn_threshold" and len(port.queues[bounced]) >= number(self.marking["k"]):
            packet.ce |= packet.ect
        port.queues[bounced].append(packet)

    def bounces(self, length, limit):
        """PABO eq. 4 with λ so great that it is a step at θ, and catalogue 1.3's rounding."""
        step, theta = self.overflow["round_to"], Fraction(str(self.overflow["theta"]))
        assert self.overflow["lambda"] == 1000000
        if step and length >= limit // step * step:
            length = limit
        return Fraction(length, limit) > theta


class Sender:
    """RFC 5681, 6582, 6298, 3042; RFC 3168 or 8257 for marks."""

    def __init__(self, world, flow, options):
        self.world, self.flow, self.o = world, flow, options
        self.mss = number(options["mss"])
        self.cwnd = number(options["initial_window"]) * (self.mss if "pkt" in options["initial_window"] else 1)
        self.ssthresh = number(options["initial_ssthresh"])
        self.dctcp = options["kind"] == "dctcp"
        self.ecn = self.dctcp or options["ecn"]
        self.una = self.nxt = self.top = self.emitted = self.dups = self.counted = 0
        self.recover, self.recovering, self.partial = -1, False, False
        self.srtt = self.rttvar = self.deadline = None
        self.timed = []
        self.low, self.high = number(options["min_rto"]), number(options["max_rto"])
        self.rto = max(number(options["initial_rto"]), self.low)
        self.grain = number(options["clock_granularity"])
        self.resent = None
        self.cwr, self.cut_end = False, -1
        self.window_end = self.acked = self.marked = 0
        if self.dctcp:
            self.alpha, self.g = Fraction(options["initial_alpha"]), Fraction(options["g"])

    def start(self):
        self.send(0)

    def send(self, extra):
        """As much as the window and `extra` bytes allow."""
        while self.nxt < self.flow.size:
            length = min(self.mss, self.flow.size - self.nxt)
            if self.nxt + length - self.una > self.cwnd + extra:
                break
            self.transmit(self.nxt)
            self.nxt += length

    def transmit(self, seq):
        length = min(self.mss, self.flow.size - seq)
        new = seq >= self.top
        if not new:
            self.timed = []  # RFC 6298 §3: Karn's rule
        elif self.timed and self.timed[-1][0] == self.world.now and self.timed[-1][2] == seq:
            self.timed[-1][2] += length
        elif len(self.timed) < 2:
            self.timed.append([self.world.now, seq, seq + length])
        cwr, self.cwr = (new and self.cwr), (self.cwr and not new)
        self.top = max(self.top, seq + length)
        ect = self.ecn and (new or self.dctcp)
        self.world.emit(self.flow, 0, seq=seq, length=length, ect=ect, cwr=cwr, ttl=self.o["ttl"])
        if self.deadline is None:
            self.arm()

    def arm(self):
        """RFC 6298 (5.1), (5.3), (5.6)."""
        self.deadline = self.world.now + self.rto
        self.world.at(self.deadline, self.flow.src, 2, 2 * self.flow.id, self.timer)

    def timer(self):
        if self.deadline != self.world.now:
            return
        if self.resent != self.una:  # RFC 5681 §3.1 (4): not again for the same segment
            self.ssthresh = max((self.nxt - self.una) // 2, 2 * self.mss)
        self.resent, self.recover, self.cut_end, self.cwr = self.una, self.top, self.top, self.ecn
        self.cwnd, self.dups, self.recovering, self.counted = self.mss, 0, False, 0
        self.rto = min(2 * self.rto, self.high)
        self.nxt, self.deadline, self.timed = self.una, None, []
        self.send(0)

    def take(self, ack):
        if ack.number > self.una:
            self.advance(ack)
        elif ack.number == self.una and self.top > self.una:
            self.duplicate(ack)

    def sample(self, rtt):
        """RFC 6298 §2."""
        if self.srtt is None:
            self.srtt, self.rttvar = rtt, rtt // 2
        else:
            self.rttvar += abs(self.srtt - rtt) // 4 - self.rttvar // 4
            self.srtt += rtt // 8 - self.srtt // 8
        self.rto = min(max(self.srtt + max(self.grain, 4 * self.rttvar), self.low), self.high)

    def advance(self, ack):
        """An ACK of new data."""
        new, self.una, self.dups = ack.number - self.una, ack.number, 0
        self.nxt = max(self.nxt, self.una)
        seen = [burst[0] for burst in self.timed if burst[1] < self.una]
        if seen:
            self.sample(self.world.now - seen[-1])
        self.timed = [burst for burst in self.timed if burst[2] > self.una]
        if self.dctcp:
            self.estimate(new, ack)
        if ack.ece:
            self.reduce()
        elif not self.recovering:
            self.grow(new)
        keep = self.mend(new) if self.recovering else False
        if self.una == self.top:
            self.deadline = None
        elif not keep:
            self.arm()
        self.send(0)

    def grow(self, new):
        """RFC 5681 §3.1."""
        if self.cwnd < self.ssthresh:
            self.cwnd += min(new, self.mss)
            return
        self.cwnd += max(self.mss * self.mss // self.cwnd, 1)

    def estimate(self, new, ack):
        """RFC 8257 §3.3."""
        self.acked += new
        self.marked += new if ack.ece else 0
        if self.una > self.window_end:
            self.alpha += self.g * (Fraction(self.marked, self.acked) - self.alpha)
            self.window_end, self.acked, self.marked = self.nxt, 0, 0

    def reduce(self):
        """Once a window: RFC 3168 §6.1.2, RFC 8257 §3.3."""
        if not self.ecn or self.una <= self.cut_end:
            return
        share = self.alpha / 2 if self.dctcp else Fraction(1, 2)
        self.ssthresh = max(int(self.cwnd * (1 - share)), 2 * self.mss)
        self.cwnd = min(self.cwnd, self.ssthresh)
        self.cut_end, self.cwr, self.counted = self.nxt, True, 0

    def duplicate(self, ack):
        """RFC 5681 §3.2, RFC 6582 §3.2, RFC 3042."""
        if ack.ece:
            self.reduce()
        self.limited = self.limited if self.dups else 0
        self.dups += 1
        threshold = self.o["dupack_threshold"]
        if self.recovering:
            self.cwnd += self.mss
            self.send(0)
        elif self.dups == threshold and self.una > self.recover:
            if self.dctcp or not self.ecn or self.una >= self.cut_end:  # RFC 3168 §6.1.2
                self.ssthresh = max((self.top - self.una - self.limited) // 2, 2 * self.mss)
            self.recover, self.recovering, self.partial = self.top, True, False
            self.cut_end, self.cwr = self.top, self.ecn
            self.cwnd = self.ssthresh + threshold * self.mss
            self.transmit(self.una)
            self.send(0)
        elif self.o["limited_transmit"] and self.dups <= 2 and self.nxt == self.top and self.una > self.recover:
            if self.top - self.una + self.mss <= self.cwnd + 2 * self.mss and self.top < self.flow.size:
                length = min(self.mss, self.flow.size - self.top)
                self.transmit(self.top)
                self.nxt, self.limited = self.top, self.limited + length

    def mend(self, new):
        """RFC 6582 §3.2 (3); true where the timer goes on as it is."""
        if self.una >= self.recover:
            self.recovering = False
            self.cwnd, self.counted = min(self.ssthresh, max(self.top - self.una, self.mss) + self.mss), 0
            return False
        self.transmit(self.una)
        self.cwnd += (self.mss if new >= self.mss else 0) - new
        later, self.partial = self.partial, True
        return later


class Receiver:
    """RFC 5681 §4.2; RFC 3168 §6.1.3 or RFC 8257 §3.2 for marks."""

    def __init__(self, world, flow, options):
        self.world, self.flow, self.o = world, flow, options
        self.nxt = self.emitted = self.waiting = 0
        self.later, self.ce, self.deadline = {}, False, None

    def take(self, data):
        changed = False
        before, self.waiting = self.waiting, self.waiting + 1
        if self.o["kind"] == "dctcp":
            if data.ce != self.ce and before:
                self.ack()  # of what came before, as it was
            changed, self.ce = data.ce != self.ce, data.ce
        else:
            self.ce = (data.ce and data.seq >= self.nxt) or (self.ce and not data.cwr)
        gap = changed or bool(self.later) or data.seq != self.nxt
        if data.seq + data.length > self.nxt:
            self.later[data.seq] = data.seq + data.length
        while self.nxt in self.later:
            self.nxt = self.later.pop(self.nxt)
        if not self.o["delayed_ack"] or gap or self.nxt == self.flow.size or self.waiting >= 2:
            self.ack()
        elif self.deadline is None:
            self.deadline = self.world.now + number(self.o["delayed_ack_timeout"])
            self.world.at(self.deadline, self.flow.dst, 2, 2 * self.flow.id + 1, self.timer)

    def timer(self):
        if self.deadline == self.world.now:
            self.ack()

    def ack(self):
        self.waiting, self.deadline = 0, None
        self.world.emit(
            self.flow, 1, number=self.nxt, length=0, ect=False, ece=self.ce, ttl=self.o["ttl"]
        )
