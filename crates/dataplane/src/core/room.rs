//! Room for an arrival at the cost of a packet that waits, and packets that go back to where they came from.

use super::agents::{NOBODY, Work};
use super::moved::Frame;
use super::{Core, Decision, Step};
use crate::packet_store::Fib;
use crate::{Out, Pkt};
use mech::overflow::{DropReason, Fate};
use mech::{Flags, PktId, PortId};

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
        while let Fate::Evict(id) | Fate::TrimWaiting(id) = decision.fate {
            if self.store.arena.stamp(id.0) == decision.victim {
                match decision.fate {
                    Fate::Evict(_) => self.evict(id, port, step),
                    _ if self.trim_waiting(id, port, step) => {}
                    _ => return Decision { fate: Fate::Drop(DropReason::BufferFull), ..decision },
                }
            }
            decision = self.question(pkt, port, step);
        }
        decision
    }

    fn evict<F: Fib, O: Out>(&mut self, id: PktId, port: PortId, step: &mut Step<F, O>) {
        let Some(at) = self.store.find(port, id.0) else { return };
        let Some((pkt, empty)) = self.store.remove(at, id.0) else { return };
        self.taken_out(Frame { at, slot: id.0, head: &pkt.head }, self.store.buffered(), step);
        if empty {
            self.run_empty(step.now, port);
        }
        self.drop(&pkt, port, DropReason::Evicted, step);
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
        self.ready_ports.push(NOBODY);
    }
}
