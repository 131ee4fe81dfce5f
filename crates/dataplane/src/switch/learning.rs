//! Forwarding in switches that learn addresses and flood, on a code path of its own.
//!
//! One copy of a flooded frame is on the path to the destination, by the routes of the network. This copy is the
//! packet; the others are flagged as misdirected, so that each packet ends once. No mechanism sees the flag. All copies
//! share one extension, which is freed when the last copy has ended. The overflow slot is not called for copies: they
//! are stored or lost, never bounced.

use super::{Routes, Switch, SwitchFib, SwitchStep};
use crate::core::{Decision, StepContext};
use crate::end_table::PacketTally;
use crate::packet_store::Fib;
use crate::{Out, Pkt};
use mech::fib::{AddressTable, LookupDecision};
use mech::overflow::DropReason;
use mech::routing::{Hop, NextHops};
use mech::{Flags, PortId};

/// Address table of a switch that learns addresses, and its count of flood copies.
#[derive(Clone)]
pub(super) struct LearningState {
    pub(super) table: Box<dyn AddressTable>,
    /// Tally of copies made by flooding, without the frames that came in.
    pub(super) created: PacketTally,
}

impl LearningState {
    pub(super) fn new(table: Box<dyn AddressTable>) -> LearningState {
        LearningState { table, created: PacketTally::default() }
    }
}

/// Result of the lookup of an arrival: the packet ends or is held, is flooded, or leaves by a port.
enum LookupOutcome {
    Gone,
    Flood,
    By(PortId),
}

impl Switch {
    /// Handles all arrivals of an instant at a switch that learns addresses, in their order.
    #[cold]
    pub(super) fn receive_learning<R: Routes, O: Out>(&mut self, arrivals: &mut [Pkt], step: &mut SwitchStep<R, O>) {
        if self.snapshot && arrivals.len() > 1 {
            let mut planned: Vec<(&mut Pkt, PortId, Option<Decision>)> = Vec::with_capacity(arrivals.len());
            for pkt in arrivals.iter_mut() {
                match self.learn_and_look_up(pkt, step) {
                    LookupOutcome::Gone => {}
                    LookupOutcome::Flood => planned.push((pkt, PortId(0), None)),
                    LookupOutcome::By(port) => {
                        let decision = self.core.decide(pkt, port, &mut step_context!(self, step));
                        planned.push((pkt, port, Some(decision)));
                    }
                }
            }
            self.core.begin_snapshot();
            for (pkt, port, decision) in planned {
                match decision {
                    None => self.flood(pkt, step),
                    Some(decision) => {
                        self.core.apply(pkt, port, decision, &mut step_context!(self, step));
                    }
                }
            }
            self.core.end_snapshot();
            self.do_pending_work(step);
        } else {
            for pkt in arrivals.iter_mut() {
                match self.learn_and_look_up(pkt, step) {
                    LookupOutcome::Gone => {}
                    LookupOutcome::Flood => self.flood(pkt, step),
                    LookupOutcome::By(port) => {
                        self.core.admit(pkt, port, &mut step_context!(self, step));
                    }
                }
                self.do_pending_work(step);
            }
        }
    }

    /// Counts an arrival, learns its source address, and looks up its destination.
    fn learn_and_look_up<R: Routes, O: Out>(&mut self, pkt: &mut Pkt, step: &mut SwitchStep<R, O>) -> LookupOutcome {
        if !self.accept_arrival(pkt, step) {
            return LookupOutcome::Gone;
        }
        // Learning precedes the lookup and `ack_hold`: the source address counts even if the packet is held.
        if let Some(learnt) = &mut self.learnt {
            learnt.table.learn(&pkt.head, step.now);
        }
        match self.core.intercepts && !self.agents_let_pass(pkt, step) {
            true => LookupOutcome::Gone,
            false => self.look_up(pkt, step),
        }
    }

    /// Forwards a packet that this switch has held, made or sent back.
    pub(super) fn forward_learning<R: Routes, O: Out>(&mut self, pkt: &mut Pkt, step: &mut SwitchStep<R, O>) {
        match switch_fib!(self, step).port_toward(pkt.head.dst, pkt.head.hash) {
            None => self.flood(pkt, step),
            Some(port) if !self.has_port(port) => self.drop_invalid_address(pkt, port, step),
            // The output may be the input port: a packet that is sent back leaves by it.
            Some(port) => self.core.admit(pkt, port, &mut step_context!(self, step)),
        }
    }

    fn look_up<R: Routes, O: Out>(&mut self, pkt: &Pkt, step: &mut SwitchStep<R, O>) -> LookupOutcome {
        let (now, misdirected) = (step.now, pkt.head.flags.has(Flags::MISDIRECTED));
        let Some(learnt) = &self.learnt else { return LookupOutcome::Gone };
        let toward = match learnt.table.is_preset(pkt.head.dst) {
            false => learnt.table.learned_port(pkt.head.dst, now),
            true => match self.look_up_routes(pkt, step) {
                None => return LookupOutcome::Gone,
                port => port,
            },
        };
        let fib = switch_fib!(self, step);
        let back = fib.port_toward(pkt.head.src, pkt.head.hash);
        match self.learnt.as_ref().map(|learnt| learnt.table.decide(&pkt.head, (toward, back))) {
            Some(LookupDecision::Forward(port)) if !self.has_port(port) => {
                self.drop_invalid_address(pkt, port, step);
                LookupOutcome::Gone
            }
            // A bounced frame may leave by its input port. A bounced copy must not: it would reach the destination in
            // addition to the packet.
            Some(LookupDecision::Forward(port)) if misdirected && port == pkt.head.ingress => {
                self.drop_before_output(pkt, DropReason::NoRoute, step);
                LookupOutcome::Gone
            }
            Some(LookupDecision::Forward(port)) => LookupOutcome::By(port),
            Some(LookupDecision::Flood) => LookupOutcome::Flood,
            Some(LookupDecision::Filter) | None => {
                self.drop_before_output(pkt, DropReason::NoRoute, step);
                LookupOutcome::Gone
            }
        }
    }

    /// Floods a packet: sends it out by every port except the one by which it came in.
    fn flood<R: Routes, O: Out>(&mut self, pkt: &Pkt, step: &mut SwitchStep<R, O>) {
        let misdirected = pkt.head.flags.has(Flags::MISDIRECTED);
        let others = (0..self.core.ports().len() as u16).map(PortId).filter(|port| *port != pkt.head.ingress);
        // The copy toward the destination counts as the packet itself. It is absent if the packet came in by that port:
        // then every copy is misdirected, and the packet is lost here.
        let right = match step.routes.next_hops(self.node, pkt.head.dst) {
            NextHops::Only(port) | NextHops::Several(&[Hop { port, .. }])
                if !misdirected && port != pkt.head.ingress =>
            {
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
        // All copies are counted before any copy is stored or lost: otherwise a lost copy could free the extension that
        // the others still use.
        if made > 0 {
            step.exts.add_frames(pkt.ext, made);
        }
        if !goes_on {
            self.drop_before_output(pkt, DropReason::NoRoute, step);
        }
        for port in others {
            let mut copy = *pkt;
            copy.head.flags = copy.head.flags.with(Flags::FLOODED);
            if Some(port) != right {
                copy.head.flags = copy.head.flags.with(Flags::MISDIRECTED);
            }
            self.core.store_flood_copy(&mut copy, port, &mut step_context!(self, step));
        }
    }
}
