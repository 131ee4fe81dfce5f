//! What cutting does to a packet that arrives and to one that waits, and what is counted and told of it. Whether there
//! is room for what is left, [`Core::store`] says as of any packet.

use super::{Core, Step};
use crate::accounts::Delta;
use crate::packet_store::Fib;
use crate::port::QueueAt;
use crate::{Freed, Observer, Out, Pkt};
use mech::{Ecn, Lane, PktId, PortId, QueueId};

impl Core {
    /// Cuts a packet; whether it is any shorter now.
    pub(super) fn trim<F: Fib, O: Out>(&mut self, pkt: &mut Pkt, port: PortId, step: &mut Step<F, O>) -> bool {
        let (had_mark, carried) = (pkt.head.ecn() == Ecn::Ce, pkt.carried());
        let bytes = pkt.cut(&self.overflow.peek().cut(), self.framing.min_frame);
        if bytes == 0 {
            return false;
        }
        let counts = self.counts(port);
        counts.trimmed += 1;
        counts.trimmed_bytes += u64::from(bytes);
        counts.trimmed_payload += carried - u64::from(pkt.payload);
        let at = step.out.spot(port);
        step.out.observer().trimmed(at, bytes, pkt);
        if pkt.head.ecn() == Ecn::Ce && !had_mark {
            self.counts(port).marked += 1;
            step.out.observer().marked(at, pkt);
        }
        true
    }

    /// Cuts a packet that waits at a port; whether there was anything to cut. It keeps its place, or goes on to the
    /// queue of cut packets.
    pub(super) fn trim_waiting<F: Fib, O: Out>(&mut self, id: PktId, port: PortId, step: &mut Step<F, O>) -> bool {
        let p = &self.store.ports[usize::from(port.0)];
        let Some(at) = p.rest.queues.iter().position(|queue| self.store.arena.ids(queue).any(|own| own == id.0)) else {
            return false;
        };
        let (before, mut cut) = (*self.store.arena.get(id.0), *self.store.arena.get(id.0));
        if !self.trim(&mut cut, port, step) {
            return false;
        }
        let from = QueueAt { port, queue: QueueId(at as u8) };
        let to = QueueAt { port, queue: self.store.queue(cut.head.queue()) };
        match to.queue == from.queue {
            true => self.shorten(id, from, &cut, step),
            false => {
                self.take_again(id, from, &before, step);
                self.store(&mut cut, to, false, step);
            }
        }
        true
    }

    /// A packet that waits has become this one.
    fn shorten<F: Fib, O: Out>(&mut self, id: PktId, at: QueueAt, cut: &Pkt, step: &mut Step<F, O>) {
        let QueueAt { port, queue } = at;
        let slot = &mut self.store.ports[usize::from(port.0)].rest.queues[usize::from(queue.0)];
        let bytes = self.store.arena.shorten(slot, id.0, cut);
        self.store.shrink(port, queue, bytes);
        if self.agents.is_some() && queue.lane() != Lane::Notice {
            self.count_bytes(Delta::trimmed(port, &cut.head, bytes), None, step);
        }
    }

    /// Takes a packet out of its queue, for another one of the same port.
    fn take_again<F: Fib, O: Out>(&mut self, id: PktId, at: QueueAt, pkt: &Pkt, step: &mut Step<F, O>) {
        let QueueAt { port, queue } = at;
        let slot = &mut self.store.ports[usize::from(port.0)].rest.queues[usize::from(queue.0)];
        self.store.arena.remove(slot, id.0);
        let empty = slot.packets() == 0;
        self.store.free(port, queue, &pkt.head);
        let p = &mut self.store.ports[usize::from(port.0)];
        p.rest.eligible &= !(u32::from(empty) << queue.0);
        let counts = p.counts_mut();
        counts.evicted += 1;
        counts.evicted_bytes += u64::from(pkt.head.size);
        let frame = Freed { queue, after: p.waiting(), started: None };
        Core::tell_freed(port, frame, step.out);
        self.count_left(port, queue, &pkt.head, step);
    }
}
