//! A switch whose table learns, apart from the way that frames take where every way is known.
//!
//! Of the copies of a flooded frame one is on its way to the destination, by the routes of the network.
//! It is the packet; the others are flagged as misdirected, so that each packet's fate is counted once.
//! Nothing decides by that mark where a frame goes. All of them share one extension, which is free when
//! the last has ended. Overflow is not asked about copies: they are stored or lost, never bounced.

use super::{Routes, Switch, SwitchStep, Table};
use crate::core::{Decision, Step};
use crate::ends::Tally;
use crate::packet_store::Fib;
use crate::{Out, Pkt};
use mech::fib::{AddressTable, Onward};
use mech::overflow::DropReason;
use mech::routing::{Hop, NextHops};
use mech::{Flags, PortId};

/// What such a switch has beside its table.
#[derive(Clone)]
pub(super) struct Learnt {
    pub(super) table: Box<dyn AddressTable>,
    /// Copies made, beside the frame that came in.
    pub(super) created: Tally,
}

impl Learnt {
    pub(super) fn new(table: Box<dyn AddressTable>) -> Learnt {
        Learnt { table, created: Tally::default() }
    }
}

/// What becomes of an arrival.
enum Next {
    Gone,
    Flood,
    By(PortId),
}

impl Switch {
    /// All arrivals of an instant, in their order.
    #[cold]
    pub(super) fn arrive_learning<R: Routes, O: Out>(&mut self, arrivals: &mut [Pkt], step: &mut SwitchStep<R, O>) {
        if self.snapshot && arrivals.len() > 1 {
            let mut planned: Vec<(&mut Pkt, PortId, Option<Decision>)> = Vec::with_capacity(arrivals.len());
            for pkt in arrivals.iter_mut() {
                match self.next(pkt, step) {
                    Next::Gone => {}
                    Next::Flood => planned.push((pkt, PortId(0), None)),
                    Next::By(port) => {
                        let decision = self.core.decide(pkt, port, &mut core_step!(self, step));
                        planned.push((pkt, port, Some(decision)));
                    }
                }
            }
            self.core.begin_snapshot();
            for (pkt, port, decision) in planned {
                match decision {
                    None => self.flood(pkt, step),
                    Some(decision) => {
                        self.core.apply(pkt, port, decision, &mut core_step!(self, step));
                    }
                }
            }
            self.core.end_snapshot();
            self.do_work(step);
        } else {
            for pkt in arrivals.iter_mut() {
                match self.next(pkt, step) {
                    Next::Gone => {}
                    Next::Flood => self.flood(pkt, step),
                    Next::By(port) => {
                        self.core.admit(pkt, port, &mut core_step!(self, step));
                    }
                }
                self.do_work(step);
            }
        }
    }

    /// Counts a packet in, learns from it, and looks its destination up.
    fn next<R: Routes, O: Out>(&mut self, pkt: &mut Pkt, step: &mut SwitchStep<R, O>) -> Next {
        if !self.take_in(pkt, step) {
            return Next::Gone;
        }
        if let Some(learnt) = &mut self.learnt {
            learnt.table.learn(&pkt.head, step.now);
        }
        match self.core.intercepts && !self.passes(pkt, step) {
            true => Next::Gone,
            false => self.look_up(pkt, step),
        }
    }

    /// A packet that this switch has held or made goes on like any.
    pub(super) fn forward_learning<R: Routes, O: Out>(&mut self, pkt: &mut Pkt, step: &mut SwitchStep<R, O>) {
        match table!(self, step).port_toward(pkt.head.dst, pkt.head.hash) {
            None => self.flood(pkt, step),
            Some(port) if !self.has_port(port) => self.refuse_address(pkt, port, step),
            // It may leave by the port that it came in by: what goes back does.
            Some(port) => self.core.admit(pkt, port, &mut core_step!(self, step)),
        }
    }

    fn look_up<R: Routes, O: Out>(&mut self, pkt: &Pkt, step: &mut SwitchStep<R, O>) -> Next {
        let now = step.now;
        let Some(learnt) = &self.learnt else { return Next::Gone };
        let toward = match learnt.table.is_preset(pkt.head.dst) {
            false => learnt.table.port(pkt.head.dst, now),
            true => match self.by_routes(pkt, step) {
                None => return Next::Gone,
                port => port,
            },
        };
        let fib = table!(self, step);
        let back = fib.port_toward(pkt.head.src, pkt.head.hash);
        match self.learnt.as_ref().map(|learnt| learnt.table.onward(&pkt.head, (toward, back))) {
            Some(Onward::By(port)) if !self.has_port(port) => {
                self.refuse_address(pkt, port, step);
                Next::Gone
            }
            Some(Onward::By(port)) => Next::By(port),
            Some(Onward::Flood) => Next::Flood,
            Some(Onward::Filtered) | None => {
                self.lose(pkt, DropReason::NoRoute, step);
                Next::Gone
            }
        }
    }

    /// Sends a packet out by every port but the one it came in by.
    fn flood<R: Routes, O: Out>(&mut self, pkt: &Pkt, step: &mut SwitchStep<R, O>) {
        let misdirected = pkt.head.flags.has(Flags::MISDIRECTED);
        let others = (0..self.core.ports().len() as u16).map(PortId).filter(|port| *port != pkt.head.ingress);
        let right = match step.routes.next_hops(self.node, pkt.head.dst) {
            NextHops::Only(port) | NextHops::Among(&[Hop { port, .. }]) if !misdirected && port != pkt.head.ingress => {
                Some(port)
            }
            _ => None,
        };
        let copies = others.clone().count() as u32;
        let goes_on = right.is_some() || (misdirected && copies > 0);
        let made = copies - u32::from(goes_on);
        if let Some(learnt) = &mut self.learnt {
            (0..made).for_each(|_| learnt.created.count(pkt));
        }
        if made > 0 {
            step.exts.share(pkt.ext, made);
        }
        if !goes_on {
            self.lose(pkt, DropReason::NoRoute, step);
        }
        for port in others {
            let mut copy = *pkt;
            copy.head.flags = copy.head.flags.with(Flags::FLOODED);
            if Some(port) != right {
                copy.head.flags = copy.head.flags.with(Flags::MISDIRECTED);
            }
            self.core.forward(&mut copy, port, &mut core_step!(self, step));
        }
    }
}
