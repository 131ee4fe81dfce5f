//! Links of a switch that fail and come back.

use super::{Routes, Switch, SwitchFib, SwitchStep};
use crate::core::{DeadPortPolicy, StepContext};
use crate::packet_store::Fib;
use crate::{Out, Pkt};
use mech::overflow::DropReason;
use mech::routing::Hop;
use mech::{Flags, PortId};

impl Switch {
    /// Closes ports whose links are known to be dead, and treats their queued frames by the policy `then`.
    /// The caller has put the new routes in place, and calls [`Switch::finish_step`].
    pub fn on_links_down<R: Routes, O: Out>(
        &mut self,
        ports: &[PortId],
        then: DeadPortPolicy,
        step: &mut SwitchStep<R, O>,
    ) {
        // All ports close first, so that no packet is looked up into a queue that is about to be emptied.
        ports
            .iter()
            .for_each(|port| self.core.close_port(*port, then == DeadPortPolicy::Wait, &mut step_context!(self, step)));
        for port in ports {
            match then {
                DeadPortPolicy::Wait => {}
                DeadPortPolicy::Drop => self.core.drop_queued(*port, &mut step_context!(self, step)),
                DeadPortPolicy::LookUp => self.look_up_queued_again(*port, step),
            }
        }
    }

    /// Drops a packet that has no route, and counts it for the dead link that cuts off its destination.
    #[cold]
    pub(super) fn drop_unreachable<R: Routes, O: Out>(&mut self, pkt: &Pkt, step: &mut SwitchStep<R, O>) {
        let (dst, hash) = (pkt.head.dst, pkt.head.hash);
        // A routing mechanism may break a rule and name no hop of the list. This walk then takes the first hop; lookups
        // report the broken rule (`drop_invalid_route`).
        let choose = |hops: &[Hop]| hops.get(self.routing.peek().hop_by_hash(dst, hash, hops)).unwrap_or(&hops[0]).port;
        let dead_end = step.routes.first_dead_link(self.node, dst, &choose);
        if let Some(dead_end) = dead_end.filter(|_| !pkt.head.flags.has(Flags::MISDIRECTED)) {
            *self.unreachable_drops.entry(dead_end).or_default() += 1;
        }
        self.drop_before_output(pkt, DropReason::NoRoute, step);
    }

    /// Returns the number of packets that this switch dropped for want of a route because the link of a port is dead.
    /// The port may be at any node.
    pub fn drops_by_dead_port(&self, node: u32, port: PortId) -> u64 {
        self.unreachable_drops.get(&(node, port)).copied().unwrap_or(0)
    }

    /// Reopens a port whose link is known to be back. The caller calls [`Switch::finish_step`].
    pub fn on_link_up<R: Routes, O: Out>(&mut self, port: PortId, step: &mut SwitchStep<R, O>) {
        self.core.reopen_port(port, &mut step_context!(self, step));
    }

    fn look_up_queued_again<R: Routes, O: Out>(&mut self, dead: PortId, step: &mut SwitchStep<R, O>) {
        for mut pkt in self.core.remove_queued(dead, &mut step_context!(self, step)) {
            if let Some(port) = self.alternative_port(&pkt, dead, step) {
                self.core.admit(&mut pkt, port, &mut step_context!(self, step));
            }
        }
    }

    /// Returns a port for a packet that must leave the queues of a dead port; drops the packet if there is none.
    ///
    /// A table that learns has no second port for an address, and forgets the first only when its entry ages out.
    fn alternative_port<R: Routes, O: Out>(
        &mut self,
        pkt: &Pkt,
        dead: PortId,
        step: &mut SwitchStep<R, O>,
    ) -> Option<PortId> {
        if self.learnt.is_none() {
            return self.look_up_routes(pkt, step);
        }
        let port = switch_fib!(self, step).port_toward(pkt.head.dst, pkt.head.hash);
        if let Some(port) = port.filter(|port| !self.has_port(*port)) {
            self.drop_invalid_address(pkt, port, step);
            return None;
        }
        if port.is_none() {
            self.core.drop(pkt, dead, DropReason::LinkDown, &mut step_context!(self, step));
        }
        port
    }
}
