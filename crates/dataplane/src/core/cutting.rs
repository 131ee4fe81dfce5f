//! Trimming of arriving and of queued packets, with counts and reports to the observer.
//! `Core::accept_or_drop` tests the capacity for the header that remains, as for any packet.

use super::alarm::CoreTimer;
use super::memory_accounting::Frame;
use super::{Core, StepContext};
use crate::cut_stage::{CutDestination, HeaderInCut};
use crate::packet_store::Fib;
use crate::port::QueueAt;
use crate::{Departure, DequeuedFrame, EnqueuedFrame, Observer, Out, Pkt};
use mech::{Ecn, PktId, PortId};

impl Core {
    /// Trims a packet, and returns true if it is shorter now.
    pub(super) fn trim_packet<F: Fib, O: Out>(
        &mut self,
        pkt: &mut Pkt,
        port: PortId,
        step: &mut StepContext<F, O>,
    ) -> bool {
        let (had_mark, carried) = (pkt.head.ecn() == Ecn::Ce, pkt.payload_bytes());
        let bytes = pkt.cut(&self.overflow.peek().cut_effect(), self.framing.min_frame);
        if bytes == 0 {
            return false;
        }
        let counts = self.port_counts_mut(port);
        counts.trimmed += 1;
        counts.trimmed_bytes += u64::from(bytes);
        counts.trimmed_payload += carried - u64::from(pkt.payload);
        let at = step.out.event_location(port);
        step.out.observer().on_trim(at, bytes, pkt);
        if pkt.head.ecn() == Ecn::Ce && !had_mark {
            self.port_counts_mut(port).marked += 1;
            step.out.observer().on_mark(at, pkt);
        }
        true
    }

    /// Stores the header of a trimmed packet.
    /// If trimming takes time, the header has its memory now and joins its queue afterwards.
    pub(super) fn store_cut_header<F: Fib, O: Out>(
        &mut self,
        pkt: &mut Pkt,
        to: QueueAt,
        mark: bool,
        step: &mut StepContext<F, O>,
    ) {
        let Some(to) = self.accept_or_drop(pkt, to, mark, step) else { return };
        if self.store.cutting.is_none() {
            return self.enqueue(pkt, to, step);
        }
        let QueueAt { port, queue } = to;
        let before = self.store.ports[usize::from(port.0)].queued_frames();
        // Memory is allocated when trimming begins, so that decisions, marks and accounts count the header before it
        // joins its queue.
        self.store.allocate(port, queue, &pkt.head);
        let p = &mut self.store.ports[usize::from(port.0)];
        p.rest.stamp += 1;
        let slot = self.store.arena.allocate(*pkt, p.rest.stamp);
        Core::report_enqueued(
            port,
            pkt,
            EnqueuedFrame { queue, before, leaves: Departure::Slot(PktId(slot)) },
            step.out,
        );
        self.count_stored(Frame { at: to, slot, head: &pkt.head }, self.store.buffer_memories(), step);
        self.begin_cut((slot, pkt.head.size), CutDestination::Queue(to), step);
    }

    /// Sends the header of a trimmed packet back to its source, after the time that trimming takes.
    pub(super) fn return_cut_header<F: Fib, O: Out>(
        &mut self,
        pkt: &mut Pkt,
        port: PortId,
        step: &mut StepContext<F, O>,
    ) {
        if self.store.cutting.is_none() {
            return self.return_to_source(pkt, port, step);
        }
        // No port counts this header, because its output is not known yet. `returning_headers` counts it, so that the
        // check of packet conservation finds it.
        let slot = self.store.arena.allocate(*pkt, 0);
        self.begin_cut((slot, pkt.head.size), CutDestination::Back(port), step);
    }

    fn begin_cut<F: Fib, O: Out>(&mut self, header: (u32, u16), onward: CutDestination, step: &mut StepContext<F, O>) {
        let first = self.store.cutting.as_mut().and_then(|cutting| cutting.begin(step.now, header, onward));
        first.into_iter().for_each(|at| self.schedule_timer(CoreTimer::Cut, at, step.out));
    }

    /// Completes the trimming of packets whose cutting time is over.
    pub(super) fn finish_cuts<F: Fib, O: Out>(&mut self, step: &mut StepContext<F, O>) {
        loop {
            let Some(cutting) = &mut self.store.cutting else { return };
            match cutting.pop_finished(step.now) {
                Ok(HeaderInCut { slot, onward: CutDestination::Queue(to), .. }) => {
                    self.join_output_queue(slot, to, self.store.buffer_memories(), step);
                }
                Ok(HeaderInCut { slot, onward: CutDestination::Back(port), .. }) => {
                    let mut pkt = self.store.arena.discard(slot);
                    self.return_to_source(&mut pkt, port, step);
                }
                Err(again) => {
                    return again.into_iter().for_each(|at| self.schedule_timer(CoreTimer::Cut, at, step.out));
                }
            }
        }
    }

    /// Returns the number and the bytes of headers that are being cut and will go back to their sources.
    pub(crate) fn returning_headers(&self) -> (u64, u64) {
        self.store.cutting.as_ref().map_or((0, 0), |cutting| cutting.returning_headers())
    }

    /// Trims a queued packet, and returns true if it is shorter now; `None` if it is not queued at the port.
    /// The packet keeps its position, or moves to the queue of trimmed packets.
    pub(super) fn trim_queued<F: Fib, O: Out>(
        &mut self,
        id: PktId,
        port: PortId,
        step: &mut StepContext<F, O>,
    ) -> Option<bool> {
        let from = self.store.find(port, id.0)?;
        let (before, mut cut) = (*self.store.arena.get(id.0), *self.store.arena.get(id.0));
        if !self.trim_packet(&mut cut, port, step) {
            return Some(false);
        }
        let to = QueueAt { port, queue: self.store.resolve_queue(cut.head.queue()) };
        match to.queue == from.queue {
            true => self.shorten_queued(id, from, (&before, &cut), step),
            false => {
                self.remove_for_requeue(id, from, &before, step);
                let asked = QueueAt { port, queue: cut.head.queue() };
                self.store_cut_header(&mut cut, asked, false, step);
            }
        }
        Some(true)
    }

    /// Replaces a queued packet by its trimmed form, at the same position.
    fn shorten_queued<F: Fib, O: Out>(
        &mut self,
        id: PktId,
        at: QueueAt,
        (before, cut): (&Pkt, &Pkt),
        step: &mut StepContext<F, O>,
    ) {
        let bytes = self.store.shorten(at, id.0, cut);
        self.store.shrink(at, &before.head, &cut.head);
        self.count_trimmed(Frame { at, slot: id.0, head: &cut.head }, bytes, step);
    }

    /// Removes a packet from its queue so that it can join another queue of the same port.
    fn remove_for_requeue<F: Fib, O: Out>(&mut self, id: PktId, at: QueueAt, pkt: &Pkt, step: &mut StepContext<F, O>) {
        let QueueAt { port, queue } = at;
        self.store.remove_known(at, id.0);
        self.store.free(port, queue, &pkt.head);
        let p = &mut self.store.ports[usize::from(port.0)];
        let counts = p.counts_mut();
        counts.evicted += 1;
        counts.evicted_bytes += u64::from(pkt.head.size);
        let frame = DequeuedFrame { queue, after: p.queued_frames(), started: None };
        Core::report_dequeued(port, frame, step.out);
        self.count_departed(Frame { at, slot: id.0, head: &pkt.head }, self.store.buffer_memories(), step);
    }
}
