//! Switch: lookup, decision points and queues, one step per instant.
//!
//! # Entry points
//!
//! All arrivals of an instant enter by [`Switch::receive`], after [`Switch::on_transmit_end`] for the transmissions
//! that have ended. Two entry points do the same for a single arrival, and are faster. [`Switch::receive_single`] is
//! for an instant at which nothing else happens here. [`Switch::try_fast_path`] is for a packet whose departure is also
//! computed: no slot is called, and there is no event for the departure. [`Switch::step`] does a whole instant in one
//! call, for tests and drivers without an event queue. Golden runs are made with and without the fast entry points, and
//! their digests are equal.
//!
//! ECN marks are set in two places: `Core::store_packet` calls the `marking` slot (`marking_verdict`), and
//! `Core::forward_computed`, behind [`Switch::try_fast_path`], compares with the threshold of a port whose departures
//! are computed.

/// Creates the forwarding table of a switch at an instant. A macro, since a method would borrow the output side too.
macro_rules! switch_fib {
    ($switch:ident, $step:ident) => {
        SwitchFib {
            node: $switch.node,
            routes: $step.routes,
            routing: &$switch.routing,
            now: $step.now,
            learnt: $switch.learnt.as_deref(),
        }
    };
}

/// Creates the `StepContext` of a switch: instant, forwarding table, packet extensions and driver.
macro_rules! step_context {
    ($switch:ident, $step:ident) => {
        StepContext { now: $step.now, fib: &switch_fib!($switch, $step), exts: &mut *$step.exts, out: &mut *$step.out }
    };
}

mod invalid_ports;
mod learning;
mod link_failure;
mod totals;

use crate::core::{Core, CoreSetup, Decision, StepContext};
use crate::packet_store::Fib;
use crate::{ExtensionSlab, Observer, Out, Pkt};
use learning::LearningState;
use mech::fib::FibSlot;
use mech::overflow::DropReason;
use mech::routing::{Hop, NextHops, RoutingSlot, hop_port};
use mech::{Acts, Env, Flags, Head, HostId, PacketKind, PortId, Stream, StreamPurpose, hash_mix};
use prefetch_index::prefetch_index;
use std::collections::BTreeMap;
use units::Time;

/// Tables of next hops, from every switch toward each host.
///
/// ```
/// use dataplane::Routes;
/// use mech::routing::{Hop, NextHops};
/// use mech::{HostId, PortId};
///
/// /// Routes of leaf switches with 16 hosts each, and the uplinks of every leaf.
/// struct Leaves {
///     uplinks: [Hop; 2],
/// }
///
/// impl Routes for Leaves {
///     fn next_hops(&self, switch: u32, host: HostId) -> NextHops<'_> {
///         match host.0 / 16 == switch {
///             true => NextHops::Only(PortId((host.0 % 16) as u16)),
///             false => NextHops::Several(&self.uplinks),
///         }
///     }
/// }
///
/// let leaves = Leaves { uplinks: [16, 17].map(|port| Hop { port: PortId(port), weight: 1.0 }) };
/// assert_eq!(leaves.next_hops(1, HostId(19)), NextHops::Only(PortId(3)));
/// assert_eq!(leaves.next_hops(0, HostId(19)), NextHops::Several(&leaves.uplinks));
/// ```
pub trait Routes {
    /// Returns the equal-cost next hops of `switch` toward `host`.
    fn next_hops(&self, switch: u32, host: HostId) -> NextHops<'_>;
    /// Returns the number of hosts of the network.
    fn network_hosts(&self) -> u32 {
        u32::MAX
    }
    /// Returns the node and port of the first dead link on the latest route from a switch to a host.
    /// `choose` gives the port at the switch if that route had several.
    fn first_dead_link(
        &self,
        _switch: u32,
        _host: HostId,
        _choose: &dyn Fn(&[Hop]) -> PortId,
    ) -> Option<(u32, PortId)> {
        None
    }
}

/// Parameters and mechanisms of a switch.
pub struct SwitchSetup {
    /// Parameters and mechanisms of the output side.
    pub core: CoreSetup,
    /// Mechanism in the `fib` slot, which is the forwarding table.
    pub fib: FibSlot,
    /// Mechanism in the `routing` slot.
    pub routing: RoutingSlot,
    /// True if simultaneous arrivals are all decided before any is stored.
    pub snapshot: bool,
    /// True if simultaneous arrivals are taken in random order, false if by port.
    pub shuffle: bool,
}

/// Switch, with an input side in the models `cioq` and `fabric`.
#[derive(Clone)]
pub struct Switch {
    node: u32,
    core: Core,
    routing: RoutingSlot,
    routing_rng: Stream,
    acts: Acts,
    snapshot: bool,
    /// Seed for the order of simultaneous arrivals; `None` for the order of ports.
    ties: Option<u64>,
    received: u64,
    received_bytes: u64,
    /// Packets lost before a port was chosen, by reason.
    lost: [u64; DropReason::ALL.len()],
    lost_bytes: u64,
    lost_payload: u64,
    /// Packets lost without a route, by the node and port of the dead link that cut off their destination.
    unreachable_drops: BTreeMap<(u32, PortId), u64>,
    /// Address table and flood counts, if the switch learns addresses.
    learnt: Option<Box<LearningState>>,
}

/// Context of one instant at a switch: time, routes, packet extensions and driver.
pub struct SwitchStep<'a, R, O> {
    /// Instant of the step.
    pub now: Time,
    /// Routes of the network.
    pub routes: &'a R,
    /// Extensions (TCP options) of the packets of the run.
    pub exts: &'a mut ExtensionSlab,
    /// Driver of the switch.
    pub out: &'a mut O,
}

/// Forwarding table of one switch at an instant.
struct SwitchFib<'a, R: Routes> {
    node: u32,
    routes: &'a R,
    routing: &'a RoutingSlot,
    now: Time,
    learnt: Option<&'a LearningState>,
}

impl<R: Routes> Fib for SwitchFib<'_, R> {
    fn port_toward(&self, host: HostId, hash: u32) -> Option<PortId> {
        if let Some(learnt) = self.learnt.filter(|learnt| !learnt.table.is_preset(host)) {
            return learnt.table.learned_port(host, self.now);
        }
        match self.routes.next_hops(self.node, host) {
            NextHops::None => None,
            NextHops::Only(port) => Some(port),
            NextHops::Several(hops) => Some(hop_port(hops, self.routing.peek().hop_by_hash(host, hash, hops))),
        }
    }
    fn has_host(&self, host: HostId) -> bool {
        host.0 < self.routes.network_hosts()
    }
    fn slot_name(&self) -> &'static str {
        if self.learnt.is_some() { "fib" } else { "routing" }
    }
}

impl Switch {
    /// Creates a switch from its parameters and mechanisms.
    pub fn new(setup: SwitchSetup) -> Switch {
        let (node, seed) = (setup.core.node, setup.core.seed);
        Switch {
            node,
            routing: setup.routing,
            routing_rng: Stream::new(seed, node, StreamPurpose::Routing),
            acts: Acts::default(),
            snapshot: setup.snapshot,
            ties: setup.shuffle.then(|| Stream::new(seed, node, StreamPurpose::Ties).u64()),
            core: Core::new(setup.core),
            received: 0,
            received_bytes: 0,
            lost: Default::default(),
            lost_bytes: 0,
            lost_payload: 0,
            unreachable_drops: BTreeMap::new(),
            learnt: setup.fib.into_table().map(|table| Box::new(LearningState::new(table))),
        }
    }

    /// Handles everything that happens at an instant: ends of transmission, then arrivals, then starts of idle ports.
    /// `arrivals` is put into the order in which they were taken.
    pub fn step<R: Routes, O: Out>(&mut self, ended: &[PortId], arrivals: &mut [Pkt], step: &mut SwitchStep<R, O>) {
        ended.iter().for_each(|port| self.on_transmit_end(*port, step));
        self.receive(arrivals, step);
        self.finish_step(step);
    }

    /// Stops or restarts the transmissions of a port, for measurements of memory. PRECONDITION: no link has failed, and
    /// the port is not paused. A restarted port begins to send in the next step.
    pub fn stop_output<R: Routes, O: Out>(&mut self, port: PortId, stopped: bool, step: &mut SwitchStep<R, O>) {
        self.core.stop_output(port, stopped, step.now, step.out);
    }

    /// Handles the end of a transmission of `port` after which something waits.
    #[inline]
    pub fn on_transmit_end<R: Routes, O: Out>(&mut self, port: PortId, step: &mut SwitchStep<R, O>) {
        self.core.on_transmit_end(port, &mut step_context!(self, step));
    }

    /// Returns the port by which a packet will leave if no slot decides otherwise and no random draw is needed.
    /// Prefetches that port. PRECONDITION: the table does not learn.
    #[inline(always)]
    pub fn predict_route<R: Routes>(&self, head: &Head, routes: &R) -> Option<PortId> {
        let port = match routes.next_hops(self.node, head.dst) {
            NextHops::None => return None,
            NextHops::Only(port) => port,
            NextHops::Several(hops) => self.routing.predict_port(head, hops)?,
        };
        prefetch_index(self.core.ports(), usize::from(port.0));
        Some(port)
    }

    /// Handles an arrival whose departure by `port` can be computed; returns false for any other arrival.
    /// The arrival is the only event here, and `port` is from [`Switch::predict_route`]. If the result is false,
    /// nothing was done.
    #[inline(always)]
    pub fn try_fast_path<O: Out>(&mut self, pkt: &mut Pkt, port: PortId, now: Time, out: &mut O) -> bool {
        if self.ends_here(pkt) || self.core.intercepts || !self.core.fits_computed_port(port, pkt.head.size, now) {
            return false;
        }
        self.count_received(pkt);
        self.core.forward_computed(pkt, port, now, out);
        true
    }

    /// Handles an arrival that is the only event here, with its ingress port set.
    /// `known` is the result of [`Switch::predict_route`].
    #[inline(always)]
    pub fn receive_single<R: Routes, O: Out>(
        &mut self,
        pkt: &mut Pkt,
        known: Option<PortId>,
        step: &mut SwitchStep<R, O>,
    ) {
        if known.is_none() && self.learnt.is_some() {
            self.receive_learning(std::slice::from_mut(pkt), step);
            return self.finish_step(step);
        }
        if let Some(port) = self.look_up_output(pkt, known, step) {
            self.core.admit(pkt, port, &mut step_context!(self, step));
        }
        self.finish_step(step);
    }

    /// Handles all arrivals of an instant, each with its ingress port set, after all ends of transmission.
    #[inline]
    pub fn receive<R: Routes, O: Out>(&mut self, arrivals: &mut [Pkt], step: &mut SwitchStep<R, O>) {
        // Ends of transmission may have caused acts. Packets that they release are decided before the arrivals of this
        // instant.
        self.do_pending_work(step);
        if arrivals.len() > 1 {
            self.order_arrivals(step.now, arrivals);
        }
        if self.learnt.is_some() {
            return self.receive_learning(arrivals, step);
        }
        if self.snapshot && arrivals.len() > 1 {
            // On a snapshot every decision sees the queues without the other arrivals. Pending work would change these
            // queues, so it waits until all decisions are applied.
            let mut decided: Vec<(&mut Pkt, PortId, Decision)> = Vec::with_capacity(arrivals.len());
            for pkt in arrivals.iter_mut() {
                if let Some(port) = self.look_up_output(pkt, None, step) {
                    let decision = self.core.decide(pkt, port, &mut step_context!(self, step));
                    decided.push((pkt, port, decision));
                }
            }
            self.core.begin_snapshot();
            let core_step = &mut step_context!(self, step);
            for (pkt, port, decision) in decided {
                self.core.apply(pkt, port, decision, core_step);
            }
            self.core.end_snapshot();
            self.do_pending_work(step);
        } else {
            for pkt in arrivals.iter_mut() {
                if let Some(port) = self.look_up_output(pkt, None, step) {
                    self.core.admit(pkt, port, &mut step_context!(self, step));
                }
                // The decision about the next arrival must see the effects of this one, so no work stays pending.
                self.do_pending_work(step);
            }
        }
    }

    /// Orders simultaneous arrivals by port, or at random.
    /// A fixed order would always favour one port, so the random order is drawn again at every instant. It depends on
    /// the seed, the switch, the instant and the ports only.
    fn order_arrivals(&self, now: Time, arrivals: &mut [Pkt]) {
        match self.ties {
            None => arrivals.sort_unstable_by_key(|pkt| pkt.head.ingress),
            Some(seed) => {
                let at = hash_mix(seed, now.0);
                arrivals.sort_unstable_by_key(|pkt| hash_mix(at, u64::from(pkt.head.ingress.0) + 1));
            }
        }
    }

    /// Counts an arrival and decrements its time to live. Returns true if it goes on to lookup.
    #[inline(always)]
    fn accept_arrival<R: Routes, O: Out>(&mut self, pkt: &mut Pkt, step: &mut SwitchStep<R, O>) -> bool {
        let ends = self.ends_here(pkt);
        self.count_received(pkt);
        if ends {
            self.end_packet(pkt, step);
        }
        !ends
    }

    /// Returns true if a packet ends at this switch: it is a PAUSE or PFC frame, or its time to live expires.
    #[inline(always)]
    fn ends_here(&self, pkt: &Pkt) -> bool {
        pkt.head.ttl == 1 || pkt.head.kind() == PacketKind::Pause
    }

    #[inline(always)]
    fn count_received(&mut self, pkt: &mut Pkt) {
        self.received += 1;
        self.received_bytes += u64::from(pkt.head.size);
        pkt.head.ttl = pkt.head.ttl.saturating_sub(1);
    }

    /// Applies a received pause frame, or drops a packet whose time to live has expired.
    #[cold]
    fn end_packet<R: Routes, O: Out>(&mut self, pkt: &Pkt, step: &mut SwitchStep<R, O>) {
        match pkt.head.kind() {
            PacketKind::Pause => self.core.on_pause_frame(pkt, step.now, step.out),
            _ => self.drop_before_output(pkt, DropReason::TtlExpired, step),
        }
    }

    /// Handles the expiry of a timer of this switch, after all arrivals of its instant.
    pub fn on_timer<R: Routes, O: Out>(&mut self, index: u32, step: &mut SwitchStep<R, O>) {
        self.do_pending_work(step);
        self.core.on_timer(index, &mut step_context!(self, step));
        self.do_pending_work(step);
    }

    /// Ends a step of the switch: idle ports begin to send.
    /// The last call of every step except after [`Switch::receive_single`] and [`Switch::try_fast_path`].
    #[inline(always)]
    pub fn finish_step<R: Routes, O: Out>(&mut self, step: &mut SwitchStep<R, O>) {
        if !self.core.is_step_complete() {
            self.start_ready_ports(step);
        }
    }

    #[inline(never)]
    fn start_ready_ports<R: Routes, O: Out>(&mut self, step: &mut SwitchStep<R, O>) {
        loop {
            self.do_pending_work(step);
            self.core.start_idle_ports(&mut step_context!(self, step));
            if !self.core.has_pending_work() {
                return;
            }
            // Pending work stores more frames, whose ports start in another round. Frames that have started no longer
            // count as queued then, as with stepped departures.
            self.core.begin_round();
        }
    }

    /// Performs the pending acts of agents in order, and looks up the packets that result.
    #[inline]
    fn do_pending_work<R: Routes, O: Out>(&mut self, step: &mut SwitchStep<R, O>) {
        if self.core.has_pending_work() {
            self.do_all_pending_work(step);
        }
    }

    #[cold]
    fn do_all_pending_work<R: Routes, O: Out>(&mut self, step: &mut SwitchStep<R, O>) {
        loop {
            let Some(mut pkt) = self.core.next_packet_to_look_up(&mut step_context!(self, step)) else { return };
            if self.learnt.is_some() {
                self.forward_learning(&mut pkt, step);
            } else if let Some(port) = self.look_up_routes(&pkt, step) {
                self.core.admit(&mut pkt, port, &mut step_context!(self, step));
            }
        }
    }

    /// Counts an arrival, decrements its time to live, and returns the output port of its lookup.
    #[inline(always)]
    fn look_up_output<R: Routes, O: Out>(
        &mut self,
        pkt: &mut Pkt,
        known: Option<PortId>,
        step: &mut SwitchStep<R, O>,
    ) -> Option<PortId> {
        if !self.accept_arrival(pkt, step) || (self.core.intercepts && !self.agents_let_pass(pkt, step)) {
            return None;
        }
        if known.is_some() {
            return known;
        }
        self.look_up_routes(pkt, step)
    }

    /// Returns true if the agents of a packet's input port let it go on to lookup.
    fn agents_let_pass<R: Routes, O: Out>(&mut self, pkt: &Pkt, step: &mut SwitchStep<R, O>) -> bool {
        self.core.agents_let_pass(pkt, &mut step_context!(self, step))
    }

    /// Returns the output port from the routes and the routing slot; drops the packet if there is none.
    #[inline(always)]
    fn look_up_routes<R: Routes, O: Out>(&mut self, pkt: &Pkt, step: &mut SwitchStep<R, O>) -> Option<PortId> {
        let hops = match step.routes.next_hops(self.node, pkt.head.dst) {
            NextHops::Only(port) => return Some(port),
            NextHops::Several(hops) => hops,
            NextHops::None => {
                self.drop_unreachable(pkt, step);
                return None;
            }
        };
        let mut env = Env { now: step.now, rng: &mut self.routing_rng, acts: &mut self.acts };
        let port = self.routing.choose_port(&pkt.head, hops, &mut env);
        if !self.has_port(port) || !self.acts.list.is_empty() {
            self.drop_invalid_route(pkt, port, step);
            return None;
        }
        Some(port)
    }

    fn drop_before_output<R: Routes, O: Out>(&mut self, pkt: &Pkt, reason: DropReason, step: &mut SwitchStep<R, O>) {
        if pkt.head.flags.has(Flags::MISDIRECTED) {
            return self.core.end_flood_copy(pkt, step.exts);
        }
        self.lost[reason as usize] += 1;
        self.lost_bytes += u64::from(pkt.head.size);
        self.lost_payload += pkt.payload_bytes();
        let at = step.out.event_location(pkt.head.ingress);
        step.out.observer().on_drop(at, pkt, reason);
        step.exts.free_shared(pkt.ext);
    }
}

#[cfg(test)]
mod tests;
