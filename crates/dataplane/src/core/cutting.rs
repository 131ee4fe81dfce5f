//! What cutting does to a packet that arrives and to one that waits, and what is counted and told of it. Whether there
//! is room for what is left, [`Core::store`] says as of any packet.

use super::alarm::Timer;
use super::moved::Frame;
use super::{Core, Step};
use crate::cutting::{BeingCut, Onward};
use crate::packet_store::Fib;
use crate::port::QueueAt;
use crate::{Freed, Leaves, Observer, Out, Pkt, Stored};
use mech::{Ecn, PktId, PortId};

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

    /// Stores what is left of a packet; where cutting takes a time it has its place and is in its queue when that is over.
    pub(super) fn store_cut<F: Fib, O: Out>(&mut self, pkt: &mut Pkt, to: QueueAt, mark: bool, step: &mut Step<F, O>) {
        let Some(to) = self.take(pkt, to, mark, step) else { return };
        if self.store.cutting.is_none() {
            return self.put(pkt, to, step);
        }
        let QueueAt { port, queue } = to;
        let before = self.store.ports[usize::from(port.0)].waiting();
        self.store.allocate(port, queue, &pkt.head);
        let p = &mut self.store.ports[usize::from(port.0)];
        p.rest.stamp += 1;
        let slot = self.store.arena.lay(*pkt, p.rest.stamp);
        Core::tell_stored(port, pkt, Stored { queue, before, leaves: Leaves::Slot(PktId(slot)) }, step.out);
        self.count_stored(Frame { at: to, slot, head: &pkt.head }, self.store.buffered(), step);
        self.begin_cut((slot, pkt.head.size), Onward::Queue(to), step);
    }

    /// What is left of a packet turns round, when the time of cutting is over.
    pub(super) fn send_back_cut<F: Fib, O: Out>(&mut self, pkt: &mut Pkt, port: PortId, step: &mut Step<F, O>) {
        if self.store.cutting.is_none() {
            return self.send_back(pkt, port, step);
        }
        let slot = self.store.arena.lay(*pkt, 0);
        self.begin_cut((slot, pkt.head.size), Onward::Back(port), step);
    }

    fn begin_cut<F: Fib, O: Out>(&mut self, header: (u32, u16), onward: Onward, step: &mut Step<F, O>) {
        let first = self.store.cutting.as_mut().and_then(|cutting| cutting.begin(step.now, header, onward));
        first.into_iter().for_each(|at| self.wake_me(Timer::Cut, at, step.out));
    }

    /// The time of cutting is over for the first headers.
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

    /// Frames and bytes that are being cut out of packets and will go back to their sources.
    pub(crate) fn going_back(&self) -> (u64, u64) {
        self.store.cutting.as_ref().map_or((0, 0), |cutting| cutting.going_back())
    }

    /// Cuts a packet that waits at a port, and returns true if anything was cut; `None` if the packet does not wait there. It
    /// keeps its position, or moves to the queue of cut packets.
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

    /// A packet that waits has become this one.
    fn shorten<F: Fib, O: Out>(&mut self, id: PktId, at: QueueAt, cut: &Pkt, step: &mut Step<F, O>) {
        let QueueAt { port, queue } = at;
        let bytes = self.store.shorten(at, id.0, cut);
        self.store.shrink(port, queue, bytes);
        self.count_trimmed(Frame { at, slot: id.0, head: &cut.head }, bytes, step);
    }

    /// Takes a packet out of its queue, for another one of the same port.
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
