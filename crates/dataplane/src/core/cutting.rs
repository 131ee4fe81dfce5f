//! Cuts of arriving and of queued packets, with their counts and notifications. [`Core::store`] tests the capacity for
//! the header that remains, as for any packet.

use super::alarm::Timer;
use super::moved::Frame;
use super::{Core, Step};
use crate::cutting::{BeingCut, Onward};
use crate::packet_store::Fib;
use crate::port::QueueAt;
use crate::{Freed, Leaves, Observer, Out, Pkt, Stored};
use mech::{Ecn, PktId, PortId};

impl Core {
    /// Cuts a packet, and returns true if it is shorter now.
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

    /// Stores the header of a cut packet. If cutting takes time, the header has its memory now and joins its queue
    /// afterwards.
    pub(super) fn store_cut<F: Fib, O: Out>(&mut self, pkt: &mut Pkt, to: QueueAt, mark: bool, step: &mut Step<F, O>) {
        let Some(to) = self.take(pkt, to, mark, step) else { return };
        if self.store.cutting.is_none() {
            return self.put(pkt, to, step);
        }
        let QueueAt { port, queue } = to;
        let before = self.store.ports[usize::from(port.0)].waiting();
        // Memory is allocated from the cut on, so that decisions, marks and accounts see the header before it joins its
        // queue.
        self.store.allocate(port, queue, &pkt.head);
        let p = &mut self.store.ports[usize::from(port.0)];
        p.rest.stamp += 1;
        let slot = self.store.arena.allocate(*pkt, p.rest.stamp);
        Core::tell_stored(port, pkt, Stored { queue, before, leaves: Leaves::Slot(PktId(slot)) }, step.out);
        self.count_stored(Frame { at: to, slot, head: &pkt.head }, self.store.buffered(), step);
        self.begin_cut((slot, pkt.head.size), Onward::Queue(to), step);
    }

    /// Returns the header of a cut packet to its source, after the time of cutting.
    pub(super) fn send_back_cut<F: Fib, O: Out>(&mut self, pkt: &mut Pkt, port: PortId, step: &mut Step<F, O>) {
        if self.store.cutting.is_none() {
            return self.send_back(pkt, port, step);
        }
        // This header has no port yet and is counted at none; `going_back` counts it for conservation.
        let slot = self.store.arena.allocate(*pkt, 0);
        self.begin_cut((slot, pkt.head.size), Onward::Back(port), step);
    }

    fn begin_cut<F: Fib, O: Out>(&mut self, header: (u32, u16), onward: Onward, step: &mut Step<F, O>) {
        let first = self.store.cutting.as_mut().and_then(|cutting| cutting.begin(step.now, header, onward));
        first.into_iter().for_each(|at| self.wake_me(Timer::Cut, at, step.out));
    }

    /// Ends the cuts whose time is over.
    pub(super) fn end_cuts<F: Fib, O: Out>(&mut self, step: &mut Step<F, O>) {
        loop {
            let Some(cutting) = &mut self.store.cutting else { return };
            match cutting.next(step.now) {
                Ok(BeingCut { slot, onward: Onward::Queue(to), .. }) => {
                    self.join(slot, to, self.store.buffered(), step);
                }
                Ok(BeingCut { slot, onward: Onward::Back(port), .. }) => {
                    let mut pkt = self.store.arena.discard(slot);
                    self.send_back(&mut pkt, port, step);
                }
                Err(again) => return again.into_iter().for_each(|at| self.wake_me(Timer::Cut, at, step.out)),
            }
        }
    }

    /// Frames and bytes of headers that are being cut and will go back to their sources.
    pub(crate) fn going_back(&self) -> (u64, u64) {
        self.store.cutting.as_ref().map_or((0, 0), |cutting| cutting.going_back())
    }

    /// Cuts a queued packet, and returns true if it is shorter now; `None` if the packet is not queued at the port. The
    /// packet keeps its position, or moves to the queue of cut packets.
    pub(super) fn trim_waiting<F: Fib, O: Out>(
        &mut self,
        id: PktId,
        port: PortId,
        step: &mut Step<F, O>,
    ) -> Option<bool> {
        let from = self.store.find(port, id.0)?;
        let (before, mut cut) = (*self.store.arena.get(id.0), *self.store.arena.get(id.0));
        if !self.trim(&mut cut, port, step) {
            return Some(false);
        }
        let to = QueueAt { port, queue: self.store.queue(cut.head.queue()) };
        match to.queue == from.queue {
            true => self.shorten(id, from, &cut, step),
            false => {
                self.take_again(id, from, &before, step);
                self.store_cut(&mut cut, to, false, step);
            }
        }
        Some(true)
    }

    /// Replaces a queued packet by its shorter form.
    fn shorten<F: Fib, O: Out>(&mut self, id: PktId, at: QueueAt, cut: &Pkt, step: &mut Step<F, O>) {
        let QueueAt { port, queue } = at;
        let bytes = self.store.shorten(at, id.0, cut);
        self.store.shrink(port, queue, bytes);
        self.count_trimmed(Frame { at, slot: id.0, head: &cut.head }, bytes, step);
    }

    /// Removes a packet from its queue so that it can join another queue of the same port.
    fn take_again<F: Fib, O: Out>(&mut self, id: PktId, at: QueueAt, pkt: &Pkt, step: &mut Step<F, O>) {
        let QueueAt { port, queue } = at;
        self.store.take_out(at, id.0);
        self.store.free(port, queue, &pkt.head);
        let p = &mut self.store.ports[usize::from(port.0)];
        let counts = p.counts_mut();
        counts.evicted += 1;
        counts.evicted_bytes += u64::from(pkt.head.size);
        let frame = Freed { queue, after: p.waiting(), started: None };
        Core::tell_freed(port, frame, step.out);
        self.count_left(Frame { at, slot: id.0, head: &pkt.head }, self.store.buffered(), step);
    }
}
