//! Room for an arrival at the cost of a packet that waits, and packets that go back to where they came from.

use super::agents::{Ready, Work};
use super::moved::Frame;
use super::{Core, Decision, Step};
use crate::packet_store::Fib;
use crate::{Out, Pkt};
use mech::overflow::{DropReason, Fate};
use mech::{Flags, PktId, PortId, Rule};

/// Outcome of the attempt to remove or cut a packet that waits.
enum Victim {
    /// The packet does not wait at the port.
    Gone,
    /// The packet has nothing to cut.
    Uncut,
    /// The packet is removed or shorter.
    Done,
}

impl Core {
    /// Evicts or cuts what waits, and asks again, as long as something is to be. Where it is gone already,
    /// simultaneous arrivals have chosen the same one.
    #[cold]
    pub(super) fn make_room<F: Fib, O: Out>(
        &mut self,
        pkt: &Pkt,
        port: PortId,
        mut decision: Decision,
        step: &mut Step<F, O>,
    ) -> Decision {
        // Each question removes or cuts one packet, so that a mechanism that comes to an end asks no more often.
        let waiting = self.store.ports[usize::from(port.0)].waiting();
        let (mut left, mut may_be_gone) = (waiting, self.before.is_some());
        while let Fate::Evict(id) | Fate::TrimWaiting(id) = decision.fate {
            match self.remove_or_cut(id, port, decision, step) {
                Victim::Gone if !may_be_gone => return self.refuse_victim(id, port),
                Victim::Gone => {}
                Victim::Uncut => return Decision { fate: Fate::Drop(DropReason::BufferFull), ..decision },
                Victim::Done if left == 0 => {
                    self.break_rule("overflow", port, Rule::Endless { questions: waiting + 1 });
                    return Decision::lose(DropReason::BufferFull);
                }
                Victim::Done => left -= 1,
            }
            may_be_gone = false;
            decision = self.question(pkt, port, step);
        }
        decision
    }

    fn remove_or_cut<F: Fib, O: Out>(
        &mut self,
        id: PktId,
        port: PortId,
        decision: Decision,
        step: &mut Step<F, O>,
    ) -> Victim {
        let arena = &self.store.arena;
        if !arena.has(id.0) || arena.stamp(id.0) != decision.victim {
            return Victim::Gone;
        }
        let found = match decision.fate {
            Fate::TrimWaiting(_) => self.trim_waiting(id, port, step),
            _ => self.evict(id, port, step).then_some(true),
        };
        match found {
            None => Victim::Gone,
            Some(false) => Victim::Uncut,
            Some(true) => Victim::Done,
        }
    }

    /// Returns true if the packet waited at the port, and is gone now.
    fn evict<F: Fib, O: Out>(&mut self, id: PktId, port: PortId, step: &mut Step<F, O>) -> bool {
        let Some(at) = self.store.find(port, id.0) else { return false };
        let (pkt, empty) = self.store.take_out(at, id.0);
        self.taken_out(Frame { at, slot: id.0, head: &pkt.head }, self.store.buffered(), step);
        if empty {
            self.run_empty(step.now, port);
        }
        self.drop(&pkt, port, DropReason::Evicted, step);
        true
    }

    /// A packet turns round: its source is its destination now. It is looked up when this decision is over. A NIC
    /// has no way but out, and what comes back already is not sent to and fro.
    pub(super) fn send_back<F: Fib, O: Out>(&mut self, pkt: &mut Pkt, port: PortId, step: &mut Step<F, O>) {
        if self.store.ports.len() == 1 || pkt.head.flags.has(Flags::RETURNED) {
            return self.drop(pkt, port, DropReason::BufferFull, step);
        }
        std::mem::swap(&mut pkt.head.src, &mut pkt.head.dst);
        pkt.head.flags = pkt.head.flags.with(Flags::RETURNED);
        self.work.push_back(Work::Packet(*pkt));
        self.ready.push(Ready::Work);
    }
}
