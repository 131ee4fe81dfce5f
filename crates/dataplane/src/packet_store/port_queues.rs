//! Queues of ports: packets join at the end and leave from any position.
//! Long queues keep an index if a mechanism searches for packets by rank.
//!
//! All changes of these queues go through this file, so that the indices and `eligible` are always right.

use super::PacketStore;
use crate::Pkt;
use crate::port::QueueAt;
use mech::{PortId, QueueId};

impl PacketStore {
    /// Appends a packet to a queue of a port, and returns its slot.
    #[inline]
    pub(crate) fn push(&mut self, at: QueueAt, pkt: Pkt, stamp: u64) -> u32 {
        let slot = self.arena.allocate(pkt, stamp);
        self.append(at, slot);
        slot
    }

    /// Appends a packet to a queue of a port. PRECONDITION: the packet is in the arena but in no queue.
    #[inline]
    pub(crate) fn append(&mut self, at: QueueAt, slot: u32) {
        let rest = &mut self.ports[usize::from(at.port.0)].rest;
        rest.eligible |= at.queue.bit();
        let queue = &mut rest.queues[usize::from(at.queue.0)];
        self.arena.append(queue, slot);
        if let Some(ranked) = &mut self.ranked {
            ranked.join(at, queue, &self.arena);
        }
    }

    /// Removes a packet from a queue of a port, and returns it; `None` if it is not in that queue.
    /// The second value is true if the queue is now empty.
    #[inline]
    pub(crate) fn remove(&mut self, at: QueueAt, slot: u32) -> Option<(Pkt, bool)> {
        self.is_queued(at, slot).then(|| self.remove_known(at, slot))
    }

    /// Removes a packet that is known to be in a queue, and returns it with true if the queue is now empty.
    #[inline]
    pub(crate) fn remove_known(&mut self, at: QueueAt, slot: u32) -> (Pkt, bool) {
        let rest = &mut self.ports[usize::from(at.port.0)].rest;
        let queue = &mut rest.queues[usize::from(at.queue.0)];
        let pkt = self.arena.take(queue, slot);
        if let Some(ranked) = &mut self.ranked {
            ranked.leave(at, queue, &pkt.head, slot);
        }
        let empty = queue.packets() == 0;
        rest.eligible &= !(u32::from(empty) << at.queue.0);
        (pkt, empty)
    }

    /// Returns true if a packet waits in a queue of a port.
    #[inline]
    fn is_queued(&self, at: QueueAt, slot: u32) -> bool {
        let indexed = self.ranked.as_ref().and_then(|ranked| ranked.contains(at, slot, &self.arena));
        let queue = self.ports[usize::from(at.port.0)].rest.queues.get(usize::from(at.queue.0));
        indexed.unwrap_or_else(|| queue.is_some_and(|queue| self.arena.contains(queue, slot)))
    }

    /// Replaces a queued packet by a shorter one, and returns the number of bytes that this frees.
    pub(crate) fn shorten(&mut self, at: QueueAt, slot: u32, shorter: &Pkt) -> u16 {
        if let Some(ranked) = &mut self.ranked {
            ranked.replace(at, slot, &self.arena.get(slot).head, &shorter.head);
        }
        let queue = &mut self.ports[usize::from(at.port.0)].rest.queues[usize::from(at.queue.0)];
        self.arena.shorten(queue, slot, shorter)
    }

    /// Returns the queue of a port in which a packet waits.
    /// The queue that its head names is searched first, since the packet waits there unless a mechanism chose another.
    pub(crate) fn find(&self, port: PortId, slot: u32) -> Option<QueueAt> {
        let at = |queue| QueueAt { port, queue };
        let likely = at(self.resolve_queue(self.arena.get(slot).head.queue()));
        if self.is_queued(likely, slot) {
            return Some(likely);
        }
        let queues = self.ports[usize::from(port.0)].rest.queues.len() as u8;
        (0..queues).map(|queue| at(QueueId(queue))).find(|at| self.is_queued(*at, slot))
    }
}
