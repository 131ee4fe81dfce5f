//! Switches whose table learns, on a code path of their own.
//!
//! One copy of a flooded frame is on the path to the destination, by the routes of the network. This copy is the
//! packet; the others are flagged as misdirected, so that each packet ends once. No mechanism sees the flag. All copies
//! share one extension, which is freed when the last copy has ended. The overflow slot is not called for copies: they
//! are stored or lost, never bounced.

use super::{Routes, Switch, SwitchStep, Table};
use crate::core::{Decision, Step};
use crate::ends::Tally;
use crate::packet_store::Fib;
use crate::{Out, Pkt};
use mech::fib::{AddressTable, Onward};
use mech::overflow::DropReason;
use mech::routing::{Hop, NextHops};
use mech::{Flags, PortId};

/// Address table and flood counts of a switch that learns.
#[derive(Clone)]
pub(super) struct Learnt {
    pub(super) table: Box<dyn AddressTable>,
    /// Flood copies made, without the frame that came in.
    pub(super) created: Tally,
}

impl Learnt {
    pub(super) fn new(table: Box<dyn AddressTable>) -> Learnt {
        Learnt { table, created: Tally::default() }
    }
}

/// Outcome of the lookup of an arrival.
enum Next {
    Gone,
    Flood,
    By(PortId),
}

impl Switch {
    /// Handles all arrivals of an instant, in their order.
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

    /// Counts an arrival, learns from it, and looks up its destination.
    fn next<R: Routes, O: Out>(&mut self, pkt: &mut Pkt, step: &mut SwitchStep<R, O>) -> Next {
        if !self.take_in(pkt, step) {
            return Next::Gone;
        }
        // Learning precedes the lookup and `ack_hold`: the source address counts even if the packet is held.
        if let Some(learnt) = &mut self.learnt {
            learnt.table.learn(&pkt.head, step.now);
        }
        match self.core.intercepts && !self.passes(pkt, step) {
            true => Next::Gone,
            false => self.look_up(pkt, step),
        }
    }

    /// Forwards a packet that this switch has held, made or sent back.
    pub(super) fn forward_learning<R: Routes, O: Out>(&mut self, pkt: &mut Pkt, step: &mut SwitchStep<R, O>) {
        match table!(self, step).port_toward(pkt.head.dst, pkt.head.hash) {
            None => self.flood(pkt, step),
            Some(port) if !self.has_port(port) => self.refuse_address(pkt, port, step),
            // The output may be the input port: a packet that is sent back leaves by it.
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

    /// Sends a packet out by every port except the one it came in by.
    fn flood<R: Routes, O: Out>(&mut self, pkt: &Pkt, step: &mut SwitchStep<R, O>) {
        let misdirected = pkt.head.flags.has(Flags::MISDIRECTED);
        let others = (0..self.core.ports().len() as u16).map(PortId).filter(|port| *port != pkt.head.ingress);
        // The copy toward the destination is the packet. There is none if the packet came in by that port: then every
        // copy is misdirected, and the packet is lost here.
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
        // The extension is shared before any copy is stored or lost, so that none frees it for the others.
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
