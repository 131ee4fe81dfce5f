//! An output-queued switch: lookup, decision points, queues, in one step per instant.

/// What the tables of a switch say at an instant; not a method, for the output side is borrowed beside it.
macro_rules! table {
    ($switch:ident, $routes:ident, $now:ident) => {
        Table {
            node: $switch.node,
            routes: $routes,
            routing: &$switch.routing,
            now: $now,
            learnt: $switch.learnt.as_deref(),
        }
    };
}

mod failing;
mod learnt;

use crate::core::{Core, CoreSetup, Decision, Step};
use crate::packet_store::Fib;
use crate::{Out, Pkt};
use learnt::Learnt;
use mech::fib::FibSlot;
use mech::overflow::DropReason;
use mech::routing::{Hop, NextHops, RoutingSlot};
use mech::{Acts, Env, Flags, Head, HostId, PacketKind, PortId, Purpose, Stream, hash_mix};
use prefetch_index::prefetch_index;
use units::Time;

/// The next hops toward each host, as a node's tables give them.
pub trait Routes {
    /// The equal-cost ways of `switch` toward `host`.
    fn next_hops(&self, switch: u32, host: HostId) -> NextHops<'_>;
}

/// A switch as it is to be built.
pub struct SwitchSetup {
    /// Its output side.
    pub core: CoreSetup,
    /// The forwarding table.
    pub fib: FibSlot,
    /// The routing slot.
    pub routing: RoutingSlot,
    /// Whether simultaneous arrivals are all decided before any is stored.
    pub snapshot: bool,
    /// Whether simultaneous arrivals are taken in a random order instead of by port.
    pub shuffle: bool,
}

/// An output-queued switch.
#[derive(Clone)]
pub struct Switch {
    node: u32,
    core: Core,
    routing: RoutingSlot,
    routing_rng: Stream,
    acts: Acts,
    snapshot: bool,
    /// Seed of the order of simultaneous arrivals; `None` is by port.
    ties: Option<u64>,
    received: u64,
    received_bytes: u64,
    /// Lost before a port was chosen.
    lost: [u64; DropReason::ALL.len()],
    lost_bytes: u64,
    /// Where its table learns.
    learnt: Option<Box<Learnt>>,
}

/// What one switch's tables say.
struct Table<'a, R: Routes> {
    node: u32,
    routes: &'a R,
    routing: &'a RoutingSlot,
    now: Time,
    learnt: Option<&'a Learnt>,
}

impl<R: Routes> Fib for Table<'_, R> {
    fn port_toward(&self, host: HostId, hash: u32) -> Option<PortId> {
        if let Some(learnt) = self.learnt.filter(|learnt| !learnt.table.is_preset(host)) {
            return learnt.table.port(host, self.now);
        }
        match self.routes.next_hops(self.node, host) {
            NextHops::None => None,
            NextHops::Only(port) => Some(port),
            NextHops::Among(hops) => Some(hops[self.routing.peek().table(host, hash, hops)].port),
        }
    }
}

impl Switch {
    /// The switch described by `setup`.
    pub fn new(setup: SwitchSetup) -> Switch {
        let (node, seed) = (setup.core.node, setup.core.seed);
        Switch {
            node,
            routing: setup.routing,
            routing_rng: Stream::new(seed, node, Purpose::Routing),
            acts: Acts::default(),
            snapshot: setup.snapshot,
            ties: setup.shuffle.then(|| Stream::new(seed, node, Purpose::Ties).u64()),
            core: Core::new(setup.core),
            received: 0,
            received_bytes: 0,
            lost: Default::default(),
            lost_bytes: 0,
            learnt: setup.fib.into_table().map(|table| Box::new(Learnt::new(table))),
        }
    }

    /// Everything that happens here at `now`: ends of transmission first, then arrivals, then idle
    /// ports begin to send. `arrivals` is put into the order in which it was taken.
    pub fn step<R: Routes, O: Out>(
        &mut self,
        now: Time,
        ended: &[PortId],
        arrivals: &mut [Pkt],
        routes: &R,
        out: &mut O,
    ) {
        ended.iter().for_each(|port| self.ended(now, *port, routes, out));
        self.arrive(now, arrivals, routes, out);
        self.finish(now, routes, out);
    }

    /// The frame on the wire of `port` has ended and something waits.
    #[inline]
    pub fn ended<R: Routes, O: Out>(&mut self, now: Time, port: PortId, routes: &R, out: &mut O) {
        let fib = &table!(self, routes, now);
        self.core.ended(port, &mut Step { now, fib, out });
    }

    /// The port that a packet will leave by if nothing else is decided, where that is known without
    /// a draw; and brings the port near the processor. PRECONDITION: its table does not learn.
    #[inline(always)]
    pub fn predict_route<R: Routes>(&self, head: &Head, routes: &R) -> Option<PortId> {
        let port = match routes.next_hops(self.node, head.dst) {
            NextHops::None => return None,
            NextHops::Only(port) => port,
            NextHops::Among(hops) => self.routing.predict(head, hops)?,
        };
        prefetch_index(self.core.ports(), usize::from(port.0));
        Some(port)
    }

    /// The only thing that happens here at `now`: one arrival, its ingress port set, and what
    /// [`Switch::predict_route`] has said of it.
    #[inline(always)]
    pub fn arrive_alone<R: Routes, O: Out>(
        &mut self,
        now: Time,
        (pkt, known): (&mut Pkt, Option<PortId>),
        routes: &R,
        out: &mut O,
    ) {
        if known.is_none() && self.learnt.is_some() {
            self.arrive_learning(now, std::slice::from_mut(pkt), routes, out);
            return self.finish(now, routes, out);
        }
        if let Some(port) = self.lookup(now, (pkt, known), routes, out) {
            let fib = &table!(self, routes, now);
            self.core.admit((pkt, port), &mut Step { now, fib, out });
        }
        self.finish(now, routes, out);
    }

    /// All arrivals of an instant, each with its ingress port set, after all ends of transmission.
    #[inline]
    pub fn arrive<R: Routes, O: Out>(&mut self, now: Time, arrivals: &mut [Pkt], routes: &R, out: &mut O) {
        self.do_work(now, routes, out);
        if arrivals.len() > 1 {
            self.order(now, arrivals);
        }
        if self.learnt.is_some() {
            return self.arrive_learning(now, arrivals, routes, out);
        }
        if self.snapshot && arrivals.len() > 1 {
            let mut decided: Vec<((&mut Pkt, PortId), Decision)> = Vec::with_capacity(arrivals.len());
            for pkt in arrivals.iter_mut() {
                if let Some(port) = self.lookup(now, (pkt, None), routes, out) {
                    let fib = &table!(self, routes, now);
                    let decision = self.core.decide(pkt, port, &mut Step { now, fib, out });
                    decided.push(((pkt, port), decision));
                }
            }
            let fib = &table!(self, routes, now);
            for (arrival, decision) in decided {
                self.core.apply(arrival, decision, &mut Step { now, fib, out });
            }
            self.do_work(now, routes, out);
        } else {
            for pkt in arrivals.iter_mut() {
                if let Some(port) = self.lookup(now, (pkt, None), routes, out) {
                    let fib = &table!(self, routes, now);
                    self.core.admit((pkt, port), &mut Step { now, fib, out });
                }
                self.do_work(now, routes, out);
            }
        }
    }

    /// A fixed order would always favour one port, so the order is drawn anew at every instant; it
    /// depends on the seed, the switch, the instant and the ports, and on nothing else.
    fn order(&self, now: Time, arrivals: &mut [Pkt]) {
        match self.ties {
            None => arrivals.sort_unstable_by_key(|pkt| pkt.head.ingress),
            Some(seed) => {
                let at = hash_mix(seed, now.0);
                arrivals.sort_unstable_by_key(|pkt| hash_mix(at, u64::from(pkt.head.ingress.0) + 1));
            }
        }
    }

    /// Counts a packet in and ages it; whether it may go on.
    #[inline(always)]
    fn take_in<O: Out>(&mut self, now: Time, pkt: &mut Pkt, out: &mut O) -> bool {
        self.received += 1;
        self.received_bytes += u64::from(pkt.head.size);
        let ends = pkt.head.ttl == 1 || pkt.head.kind() == PacketKind::Pause;
        pkt.head.ttl = pkt.head.ttl.saturating_sub(1);
        if ends {
            self.end(now, pkt, out);
        }
        !ends
    }

    /// No switch sends this packet on.
    #[cold]
    fn end<O: Out>(&mut self, now: Time, pkt: &Pkt, out: &mut O) {
        match pkt.head.kind() {
            PacketKind::Pause => self.core.on_pause_frame(pkt, now, out),
            _ => self.lose(pkt, DropReason::TtlExpired, out),
        }
    }

    /// A timer of this switch has run out, after all arrivals of its instant.
    pub fn timer<R: Routes, O: Out>(&mut self, now: Time, index: u32, routes: &R, out: &mut O) {
        self.do_work(now, routes, out);
        let fib = &table!(self, routes, now);
        self.core.timer(index, &mut Step { now, fib, out });
        self.do_work(now, routes, out);
    }

    /// The last call of every step that is more than one arrival: idle ports begin to send.
    #[inline]
    pub fn finish<R: Routes, O: Out>(&mut self, now: Time, routes: &R, out: &mut O) {
        if self.core.is_quiet() {
            return;
        }
        loop {
            self.do_work(now, routes, out);
            let fib = &table!(self, routes, now);
            self.core.finish(&mut Step { now, fib, out });
            if !self.core.has_work() {
                return;
            }
            self.core.begin_round();
        }
    }

    /// Does what has been asked for, first to last; packets that come of it are looked up like any.
    #[inline]
    fn do_work<R: Routes, O: Out>(&mut self, now: Time, routes: &R, out: &mut O) {
        if self.core.has_work() {
            self.do_all_work(now, routes, out);
        }
    }

    #[cold]
    fn do_all_work<R: Routes, O: Out>(&mut self, now: Time, routes: &R, out: &mut O) {
        loop {
            let fib = &table!(self, routes, now);
            let Some(mut pkt) = self.core.next_packet(&mut Step { now, fib, out }) else { return };
            if self.learnt.is_some() {
                self.forward_learning(now, &mut pkt, routes, out);
            } else if let Some(port) = self.by_routes(now, &pkt, routes, out) {
                let fib = &table!(self, routes, now);
                self.core.admit((&mut pkt, port), &mut Step { now, fib, out });
            }
        }
    }

    /// Counts a packet in, ages it and finds the port that it would leave by.
    #[inline(always)]
    fn lookup<R: Routes, O: Out>(
        &mut self,
        now: Time,
        (pkt, known): (&mut Pkt, Option<PortId>),
        routes: &R,
        out: &mut O,
    ) -> Option<PortId> {
        if !self.take_in(now, pkt, out) || (self.core.intercepts && !self.passes(now, pkt, routes, out)) {
            return None;
        }
        if known.is_some() {
            return known;
        }
        self.by_routes(now, pkt, routes, out)
    }

    /// Whether the agents of the port that a packet has come in by let it go on to lookup.
    fn passes<R: Routes, O: Out>(&mut self, now: Time, pkt: &Pkt, routes: &R, out: &mut O) -> bool {
        let fib = &table!(self, routes, now);
        self.core.passes(pkt, &mut Step { now, fib, out })
    }

    /// The port that the routes and the routing slot give; the packet is lost where there is none.
    #[inline(always)]
    fn by_routes<R: Routes, O: Out>(&mut self, now: Time, pkt: &Pkt, routes: &R, out: &mut O) -> Option<PortId> {
        let hops = match routes.next_hops(self.node, pkt.head.dst) {
            NextHops::Only(port) => return Some(port),
            NextHops::Among(hops) => hops,
            NextHops::None => {
                self.lose(pkt, DropReason::NoRoute, out);
                return None;
            }
        };
        let mut env = Env { now, rng: &mut self.routing_rng, acts: &mut self.acts };
        Some(self.routing.leave(&pkt.head, hops, &mut env))
    }

    fn lose<O: Out>(&mut self, pkt: &Pkt, reason: DropReason, out: &mut O) {
        if pkt.head.flags.has(Flags::MISDIRECTED) {
            return self.core.discard(pkt, out);
        }
        self.lost[reason as usize] += 1;
        self.lost_bytes += u64::from(pkt.head.size);
        out.dropped(pkt.head.ingress, pkt, reason);
    }

    /// The output side.
    pub fn core(&self) -> &Core {
        &self.core
    }
    /// The output side, to settle its counters.
    pub fn core_mut(&mut self) -> &mut Core {
        &mut self.core
    }
    /// Packets lost before a port was chosen, by reason.
    pub fn lost(&self) -> &[u64; DropReason::ALL.len()] {
        &self.lost
    }
    /// Frames that came in.
    pub fn received(&self) -> u64 {
        self.received
    }
    /// The path decision for a source, a destination and a flow hash among `hops`, without a draw.
    pub fn table_choice(&self, ends: (HostId, HostId), hash: u32, hops: &[Hop]) -> PortId {
        self.routing.peek().along(ends, hash, hops)
    }

    /// Copies that were made of flooded frames, and those that ended where they were of no use.
    pub fn flooded(&self) -> (u64, u64) {
        self.learnt.as_ref().map_or((0, 0), |learnt| (learnt.created.packets, self.core.flood_copies_discarded.packets))
    }

    /// Checks `received + created = sent + dropped + flood_copies_discarded + control_received + held + queued`, in
    /// packets and (with what was cut off) in bytes; control frames are PAUSE and PFC frames, whose sending is
    /// counted apart.
    pub fn conserves(&self) -> bool {
        let (mut packets, mut bytes) = (self.lost.iter().sum::<u64>(), self.lost_bytes);
        for port in self.core.ports() {
            let counts = port.counts();
            packets += counts.sent + counts.dropped.iter().sum::<u64>() + u64::from(port.waiting());
            bytes += counts.sent_bytes + counts.dropped_bytes + counts.trimmed_bytes + port.waiting_bytes();
        }
        let (_, control_received) = self.core.control();
        (packets, bytes) = (packets + control_received.packets, bytes + control_received.bytes);
        let (made, (held, held_bytes)) = self.core.agents_tally();
        (packets, bytes) = (packets + held, bytes + held_bytes);
        let (mut received, mut received_bytes) = (self.received + made.packets, self.received_bytes + made.bytes);
        if let Some(learnt) = &self.learnt {
            received += learnt.created.packets;
            received_bytes += learnt.created.bytes;
            packets += self.core.flood_copies_discarded.packets;
            bytes += self.core.flood_copies_discarded.bytes;
        }
        packets == received && bytes == received_bytes && self.core.ports().iter().all(|p| p.balanced())
    }
}

#[cfg(test)]
mod tests;
