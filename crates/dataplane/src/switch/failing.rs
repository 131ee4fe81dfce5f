//! What a switch does when it learns that links of it are dead, or back.

use super::{Routes, Switch, Table};
use crate::core::{DeadPort, Step};
use crate::packet_store::Fib;
use crate::{Out, Pkt};
use mech::PortId;
use mech::overflow::DropReason;
use units::Time;

impl Switch {
    /// The links of these ports are known to be dead. The caller has put the new routes in place, and calls
    /// [`Switch::finish`].
    pub fn links_died<R: Routes, O: Out>(
        &mut self,
        now: Time,
        (ports, then): (&[PortId], DeadPort),
        routes: &R,
        out: &mut O,
    ) {
        let fib = &table!(self, routes, now);
        let step = &mut Step { now, fib, out };
        ports.iter().for_each(|port| self.core.close(*port, then == DeadPort::Wait, step));
        for port in ports {
            match then {
                DeadPort::Wait => {}
                DeadPort::Drop => {
                    self.core.drop_waiting(*port, &mut Step { now, fib: &table!(self, routes, now), out })
                }
                DeadPort::LookUp => self.look_up_again(now, *port, routes, out),
            }
        }
    }

    /// The link of a port is known to be back. The caller calls [`Switch::finish`].
    pub fn link_returned<R: Routes, O: Out>(&mut self, now: Time, port: PortId, routes: &R, out: &mut O) {
        let fib = &table!(self, routes, now);
        self.core.reopen(port, &mut Step { now, fib, out });
    }

    fn look_up_again<R: Routes, O: Out>(&mut self, now: Time, dead: PortId, routes: &R, out: &mut O) {
        let fib = &table!(self, routes, now);
        for mut pkt in self.core.take_waiting(dead, &mut Step { now, fib, out }) {
            if let Some(port) = self.another_port(now, (&pkt, dead), routes, out) {
                let fib = &table!(self, routes, now);
                self.core.admit((&mut pkt, port), &mut Step { now, fib, out });
            }
        }
    }

    /// A table that learns knows no other way, and forgets the one that it has only in its own time.
    fn another_port<R: Routes, O: Out>(
        &mut self,
        now: Time,
        (pkt, dead): (&Pkt, PortId),
        routes: &R,
        out: &mut O,
    ) -> Option<PortId> {
        if self.learnt.is_none() {
            return self.by_routes(now, pkt, routes, out);
        }
        let port = table!(self, routes, now).port_toward(pkt.head.dst, pkt.head.hash);
        if port.is_none() {
            self.core.drop(pkt, dead, (DropReason::LinkDown, now), out);
        }
        port
    }
}
