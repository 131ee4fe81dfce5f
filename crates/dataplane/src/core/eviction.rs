//! Eviction and trimming of queued packets for an arrival, and return of packets to their source.

use super::agents::{PendingWork, ReadyEntry};
use super::memory_accounting::Frame;
use super::{Core, Decision, StepContext};
use crate::packet_store::Fib;
use crate::{Out, Pkt};
use mech::overflow::{DropReason, Fate};
use mech::{Flags, PktId, PortId, Rule};

/// Outcome of the attempt to remove or trim a queued packet.
enum VictimOutcome {
    /// The packet is not queued at the port.
    Gone,
    /// The packet cannot get shorter.
    Uncut,
    /// The packet was removed or trimmed.
    Done,
}

impl Core {
    /// Evicts or trims queued packets for an arrival, and repeats the decision until it names no further packet.
    #[cold]
    pub(super) fn free_buffer_space<F: Fib, O: Out>(
        &mut self,
        pkt: &Pkt,
        port: PortId,
        mut decision: Decision,
        step: &mut StepContext<F, O>,
    ) -> Decision {
        // Each round removes or cuts one packet, so a mechanism that converges needs at most one round more than there
        // are packets.
        let waiting = self.store.ports[usize::from(port.0)].queued_frames();
        // Only the first choice may be stale: on a snapshot another arrival may have removed the same packet meanwhile.
        let (mut left, mut may_be_gone) = (waiting, self.before.is_some());
        while let Fate::Evict(id) | Fate::TrimQueued(id) = decision.fate {
            match self.remove_or_cut(id, port, decision, step) {
                VictimOutcome::Gone if !may_be_gone => return self.drop_for_invalid_victim(id, port),
                VictimOutcome::Gone => {}
                VictimOutcome::Uncut => return Decision { fate: Fate::Drop(DropReason::BufferFull), ..decision },
                VictimOutcome::Done if left == 0 => {
                    self.record_broken_rule("overflow", port, Rule::TooManyRemovals { removals: waiting + 1 });
                    return Decision::drop_frame(DropReason::BufferFull);
                }
                VictimOutcome::Done => left -= 1,
            }
            may_be_gone = false;
            decision = self.call_overflow_slot(pkt, port, step);
        }
        decision
    }

    fn remove_or_cut<F: Fib, O: Out>(
        &mut self,
        id: PktId,
        port: PortId,
        decision: Decision,
        step: &mut StepContext<F, O>,
    ) -> VictimOutcome {
        let arena = &self.store.arena;
        if !arena.has_slot(id.0) || arena.stamp(id.0) != decision.victim {
            return VictimOutcome::Gone;
        }
        let found = match decision.fate {
            Fate::TrimQueued(_) => self.trim_queued(id, port, step),
            _ => self.evict(id, port, step).then_some(true),
        };
        match found {
            None => VictimOutcome::Gone,
            Some(false) => VictimOutcome::Uncut,
            Some(true) => VictimOutcome::Done,
        }
    }

    /// Evicts a packet, and returns true if it was queued at the port.
    fn evict<F: Fib, O: Out>(&mut self, id: PktId, port: PortId, step: &mut StepContext<F, O>) -> bool {
        let Some(at) = self.store.find(port, id.0) else { return false };
        let (pkt, empty) = self.store.remove_known(at, id.0);
        self.count_removed(Frame { at, slot: id.0, head: &pkt.head }, self.store.buffer_memories(), step);
        if empty {
            self.on_queue_empty(step.now, at);
        }
        self.drop(&pkt, port, DropReason::Evicted, step);
        true
    }

    /// Sends a packet back to its source, which becomes its destination.
    /// The packet is looked up after this decision. It is dropped at a NIC, which has no other port, or if it is on its
    /// way back already.
    pub(super) fn return_to_source<F: Fib, O: Out>(
        &mut self,
        pkt: &mut Pkt,
        port: PortId,
        step: &mut StepContext<F, O>,
    ) {
        if self.store.ports.len() == 1 || pkt.head.flags.has(Flags::RETURNED) {
            return self.drop(pkt, port, DropReason::BufferFull, step);
        }
        std::mem::swap(&mut pkt.head.src, &mut pkt.head.dst);
        pkt.head.flags = pkt.head.flags.with(Flags::RETURNED);
        self.work.push_back(PendingWork::Packet(*pkt));
        self.ready.push(ReadyEntry::Work);
    }
}
