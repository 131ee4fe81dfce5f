//! An output-queued switch: lookup, decision points, queues, in one step per instant.
//!
//! # Entrances
//!
//! All arrivals of an instant enter by [`Switch::arrive`], after [`Switch::ended`] for the frames whose transmission has ended.
//! Two entrances do the same for a single arrival, and are faster. [`Switch::arrive_alone`] is for an instant at which nothing
//! else happens here. [`Switch::passes_at_once`] is for a packet that also leaves at a time known at its arrival: no slot is
//! asked, the event of its departure is not made. [`Switch::step`] is all of an instant in one call, for tests and drivers
//! that have no event queue. Golden runs are made with and without the fast ways, and their digests are equal.
//!
//! ECN marks are set at two places: `Core::store` asks the `marking` slot (`due_mark`), and `Core::pass`, behind
//! [`Switch::passes_at_once`], has the threshold of a port whose departures are computed.

/// What the tables of a switch say at an instant; not a method, for the output side is borrowed beside it.
macro_rules! table {
    ($switch:ident, $step:ident) => {
        Table {
            node: $switch.node,
            routes: $step.routes,
            routing: &$switch.routing,
            now: $step.now,
            learnt: $switch.learnt.as_deref(),
        }
    };
}

/// One instant at the output side of a switch.
macro_rules! core_step {
    ($switch:ident, $step:ident) => {
        Step { now: $step.now, fib: &table!($switch, $step), exts: &mut *$step.exts, out: &mut *$step.out }
    };
}

mod failing;
mod learnt;
mod refusing;
mod totals;

use crate::core::{Core, CoreSetup, Decision, Step};
use crate::packet_store::Fib;
use crate::{Exts, Observer, Out, Pkt};
use learnt::Learnt;
use mech::fib::FibSlot;
use mech::overflow::DropReason;
use mech::routing::{Hop, NextHops, RoutingSlot, port_of};
use mech::{Acts, Env, Flags, Head, HostId, PacketKind, PortId, Purpose, Stream, hash_mix};
use prefetch_index::prefetch_index;
use std::collections::BTreeMap;
use units::Time;

/// The next hops toward each host, as a node's tables give them.
pub trait Routes {
    /// The equal-cost ways of `switch` toward `host`.
    fn next_hops(&self, switch: u32, host: HostId) -> NextHops<'_>;
    /// Number of hosts of the network.
    fn hosts(&self) -> u32 {
        u32::MAX
    }
    /// Returns the node and port of the first dead link on the latest route from a switch to a host. `choose` gives the port
    /// at the switch if that route had several.
    fn dead_end(&self, _switch: u32, _host: HostId, _choose: &dyn Fn(&[Hop]) -> PortId) -> Option<(u32, PortId)> {
        None
    }
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
    lost_payload: u64,
    /// Packets lost without a route, by the dead end that cut their destination off.
    cut_off: BTreeMap<(u32, PortId), u64>,
    /// Where its table learns.
    learnt: Option<Box<Learnt>>,
}

/// One instant at a switch: what it needs beyond itself.
pub struct SwitchStep<'a, R, O> {
    /// The instant.
    pub now: Time,
    /// The routes of the network.
    pub routes: &'a R,
    /// The extensions of the packets of the run.
    pub exts: &'a mut Exts,
    /// The driver.
    pub out: &'a mut O,
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
            NextHops::Among(hops) => Some(port_of(hops, self.routing.peek().table(host, hash, hops))),
        }
    }
    fn has_host(&self, host: HostId) -> bool {
        host.0 < self.routes.hosts()
    }
    fn slot(&self) -> &'static str {
        if self.learnt.is_some() { "fib" } else { "routing" }
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
            lost_payload: 0,
            cut_off: BTreeMap::new(),
            learnt: setup.fib.into_table().map(|table| Box::new(Learnt::new(table))),
        }
    }

    /// Everything that happens here at an instant: ends of transmission first, then arrivals, then idle
    /// ports begin to send. `arrivals` is put into the order in which it was taken.
    pub fn step<R: Routes, O: Out>(&mut self, ended: &[PortId], arrivals: &mut [Pkt], step: &mut SwitchStep<R, O>) {
        ended.iter().for_each(|port| self.ended(*port, step));
        self.arrive(arrivals, step);
        self.finish(step);
    }

    /// The frame on the wire of `port` has ended and something waits.
    #[inline]
    pub fn ended<R: Routes, O: Out>(&mut self, port: PortId, step: &mut SwitchStep<R, O>) {
        self.core.ended(port, &mut core_step!(self, step));
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

    /// Whether the only thing that happens here at an instant is an arrival that goes out by `port`, which
    /// [`Switch::predict_route`] has named, at a time that is known at once; it is then done. Otherwise nothing is.
    #[inline(always)]
    pub fn passes_at_once<O: Out>(&mut self, pkt: &mut Pkt, port: PortId, now: Time, out: &mut O) -> bool {
        if self.ends_here(pkt) || self.core.intercepts || !self.core.has_room_at_once(port, pkt.head.size, now) {
            return false;
        }
        self.count_in(pkt);
        self.core.pass(pkt, port, now, out);
        true
    }

    /// The only thing that happens here at an instant: one arrival, its ingress port set, and what
    /// [`Switch::predict_route`] has said of it.
    #[inline(always)]
    pub fn arrive_alone<R: Routes, O: Out>(
        &mut self,
        pkt: &mut Pkt,
        known: Option<PortId>,
        step: &mut SwitchStep<R, O>,
    ) {
        if known.is_none() && self.learnt.is_some() {
            self.arrive_learning(std::slice::from_mut(pkt), step);
            return self.finish(step);
        }
        if let Some(port) = self.lookup(pkt, known, step) {
            self.core.admit(pkt, port, &mut core_step!(self, step));
        }
        self.finish(step);
    }

    /// All arrivals of an instant, each with its ingress port set, after all ends of transmission.
    #[inline]
    pub fn arrive<R: Routes, O: Out>(&mut self, arrivals: &mut [Pkt], step: &mut SwitchStep<R, O>) {
        self.do_work(step);
        if arrivals.len() > 1 {
            self.order(step.now, arrivals);
        }
        if self.learnt.is_some() {
            return self.arrive_learning(arrivals, step);
        }
        if self.snapshot && arrivals.len() > 1 {
            let mut decided: Vec<(&mut Pkt, PortId, Decision)> = Vec::with_capacity(arrivals.len());
            for pkt in arrivals.iter_mut() {
                if let Some(port) = self.lookup(pkt, None, step) {
                    let decision = self.core.decide(pkt, port, &mut core_step!(self, step));
                    decided.push((pkt, port, decision));
                }
            }
            self.core.begin_snapshot();
            let core_step = &mut core_step!(self, step);
            for (pkt, port, decision) in decided {
                self.core.apply(pkt, port, decision, core_step);
            }
            self.core.end_snapshot();
            self.do_work(step);
        } else {
            for pkt in arrivals.iter_mut() {
                if let Some(port) = self.lookup(pkt, None, step) {
                    self.core.admit(pkt, port, &mut core_step!(self, step));
                }
                self.do_work(step);
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
    fn take_in<R: Routes, O: Out>(&mut self, pkt: &mut Pkt, step: &mut SwitchStep<R, O>) -> bool {
        let ends = self.ends_here(pkt);
        self.count_in(pkt);
        if ends {
            self.end(pkt, step);
        }
        !ends
    }

    /// Whether no switch sends a packet on.
    #[inline(always)]
    fn ends_here(&self, pkt: &Pkt) -> bool {
        pkt.head.ttl == 1 || pkt.head.kind() == PacketKind::Pause
    }

    #[inline(always)]
    fn count_in(&mut self, pkt: &mut Pkt) {
        self.received += 1;
        self.received_bytes += u64::from(pkt.head.size);
        pkt.head.ttl = pkt.head.ttl.saturating_sub(1);
    }

    /// No switch sends this packet on.
    #[cold]
    fn end<R: Routes, O: Out>(&mut self, pkt: &Pkt, step: &mut SwitchStep<R, O>) {
        match pkt.head.kind() {
            PacketKind::Pause => self.core.on_pause_frame(pkt, step.now, step.out),
            _ => self.lose(pkt, DropReason::TtlExpired, step),
        }
    }

    /// A timer of this switch has run out, after all arrivals of its instant.
    pub fn timer<R: Routes, O: Out>(&mut self, index: u32, step: &mut SwitchStep<R, O>) {
        self.do_work(step);
        self.core.timer(index, &mut core_step!(self, step));
        self.do_work(step);
    }

    /// The last call of every step that is more than one arrival: idle ports begin to send.
    #[inline(always)]
    pub fn finish<R: Routes, O: Out>(&mut self, step: &mut SwitchStep<R, O>) {
        if !self.core.is_quiet() {
            self.send_ready(step);
        }
    }

    #[inline(never)]
    fn send_ready<R: Routes, O: Out>(&mut self, step: &mut SwitchStep<R, O>) {
        loop {
            self.do_work(step);
            self.core.finish(&mut core_step!(self, step));
            if !self.core.has_work() {
                return;
            }
            self.core.begin_round();
        }
    }

    /// Does what has been asked for, first to last; packets that come of it are looked up like any.
    #[inline]
    fn do_work<R: Routes, O: Out>(&mut self, step: &mut SwitchStep<R, O>) {
        if self.core.has_work() {
            self.do_all_work(step);
        }
    }

    #[cold]
    fn do_all_work<R: Routes, O: Out>(&mut self, step: &mut SwitchStep<R, O>) {
        loop {
            let Some(mut pkt) = self.core.next_packet(&mut core_step!(self, step)) else { return };
            if self.learnt.is_some() {
                self.forward_learning(&mut pkt, step);
            } else if let Some(port) = self.by_routes(&pkt, step) {
                self.core.admit(&mut pkt, port, &mut core_step!(self, step));
            }
        }
    }

    /// Counts a packet in, ages it and finds the port that it would leave by.
    #[inline(always)]
    fn lookup<R: Routes, O: Out>(
        &mut self,
        pkt: &mut Pkt,
        known: Option<PortId>,
        step: &mut SwitchStep<R, O>,
    ) -> Option<PortId> {
        if !self.take_in(pkt, step) || (self.core.intercepts && !self.passes(pkt, step)) {
            return None;
        }
        if known.is_some() {
            return known;
        }
        self.by_routes(pkt, step)
    }

    /// Whether the agents of the port that a packet has come in by let it go on to lookup.
    fn passes<R: Routes, O: Out>(&mut self, pkt: &Pkt, step: &mut SwitchStep<R, O>) -> bool {
        self.core.passes(pkt, &mut core_step!(self, step))
    }

    /// The port that the routes and the routing slot give; the packet is lost where there is none.
    #[inline(always)]
    fn by_routes<R: Routes, O: Out>(&mut self, pkt: &Pkt, step: &mut SwitchStep<R, O>) -> Option<PortId> {
        let hops = match step.routes.next_hops(self.node, pkt.head.dst) {
            NextHops::Only(port) => return Some(port),
            NextHops::Among(hops) => hops,
            NextHops::None => {
                self.lose_cut_off(pkt, step);
                return None;
            }
        };
        let mut env = Env { now: step.now, rng: &mut self.routing_rng, acts: &mut self.acts };
        let port = self.routing.leave(&pkt.head, hops, &mut env);
        if !self.has_port(port) || !self.acts.list.is_empty() {
            self.refuse_route(pkt, port, step);
            return None;
        }
        Some(port)
    }

    fn lose<R: Routes, O: Out>(&mut self, pkt: &Pkt, reason: DropReason, step: &mut SwitchStep<R, O>) {
        if pkt.head.flags.has(Flags::MISDIRECTED) {
            return self.core.discard(pkt, step.exts);
        }
        self.lost[reason as usize] += 1;
        self.lost_bytes += u64::from(pkt.head.size);
        self.lost_payload += pkt.carried();
        let at = step.out.spot(pkt.head.ingress);
        step.out.observer().dropped(at, pkt, reason);
        step.exts.free_shared(pkt.ext);
    }
}

#[cfg(test)]
mod tests;
