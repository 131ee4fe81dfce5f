//! Links of a switch that die and return.

use super::{Routes, Switch, SwitchStep, Table};
use crate::core::{DeadPort, Step};
use crate::packet_store::Fib;
use crate::{Out, Pkt};
use mech::overflow::DropReason;
use mech::routing::Hop;
use mech::{Flags, PortId};

impl Switch {
    /// Closes ports whose links are known to be dead. The caller has put the new routes in place, and calls
    /// [`Switch::finish`].
    pub fn links_died<R: Routes, O: Out>(&mut self, ports: &[PortId], then: DeadPort, step: &mut SwitchStep<R, O>) {
        // All ports close first, so that no packet is looked up into a queue that is about to be emptied.
        ports.iter().for_each(|port| self.core.close(*port, then == DeadPort::Wait, &mut core_step!(self, step)));
        for port in ports {
            match then {
                DeadPort::Wait => {}
                DeadPort::Drop => self.core.drop_waiting(*port, &mut core_step!(self, step)),
                DeadPort::LookUp => self.look_up_again(*port, step),
            }
        }
    }

    /// Loses a packet that has no route, and counts it for the dead end that cuts its destination off.
    #[cold]
    pub(super) fn lose_cut_off<R: Routes, O: Out>(&mut self, pkt: &Pkt, step: &mut SwitchStep<R, O>) {
        let (dst, hash) = (pkt.head.dst, pkt.head.hash);
        // A routing mechanism that names no hop of the list breaks a rule elsewhere; the first hop serves here.
        let choose = |hops: &[Hop]| hops.get(self.routing.peek().table(dst, hash, hops)).unwrap_or(&hops[0]).port;
        let dead_end = step.routes.dead_end(self.node, dst, &choose);
        if let Some(dead_end) = dead_end.filter(|_| !pkt.head.flags.has(Flags::MISDIRECTED)) {
            *self.cut_off.entry(dead_end).or_default() += 1;
        }
        self.lose(pkt, DropReason::NoRoute, step);
    }

    /// Returns the number of packets lost here without a route because the link of a port is dead.
    pub fn lost_by(&self, node: u32, port: PortId) -> u64 {
        self.cut_off.get(&(node, port)).copied().unwrap_or(0)
    }

    /// Reopens a port whose link is known to be back. The caller calls [`Switch::finish`].
    pub fn link_returned<R: Routes, O: Out>(&mut self, port: PortId, step: &mut SwitchStep<R, O>) {
        self.core.reopen(port, &mut core_step!(self, step));
    }

    fn look_up_again<R: Routes, O: Out>(&mut self, dead: PortId, step: &mut SwitchStep<R, O>) {
        for mut pkt in self.core.take_waiting(dead, &mut core_step!(self, step)) {
            if let Some(port) = self.another_port(&pkt, dead, step) {
                self.core.admit(&mut pkt, port, &mut core_step!(self, step));
            }
        }
    }

    /// Returns the port for a packet that must leave the queues of a dead port; loses the packet if there is none.
    ///
    /// A table that learns has no second port for an address, and forgets the first only when its entry ages out.
    fn another_port<R: Routes, O: Out>(
        &mut self,
        pkt: &Pkt,
        dead: PortId,
        step: &mut SwitchStep<R, O>,
    ) -> Option<PortId> {
        if self.learnt.is_none() {
            return self.by_routes(pkt, step);
        }
        let port = table!(self, step).port_toward(pkt.head.dst, pkt.head.hash);
        if let Some(port) = port.filter(|port| !self.has_port(*port)) {
            self.refuse_address(pkt, port, step);
            return None;
        }
        if port.is_none() {
            self.core.drop(pkt, dead, DropReason::LinkDown, &mut core_step!(self, step));
        }
        port
    }
}
