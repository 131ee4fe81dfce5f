//! Links that die and return, and ports whose rate changes.

use super::moved::Frame;
use super::{Core, Step};
use crate::accounts::Sides;
use crate::packet_store::{Fib, PacketStore};
use crate::port::QueueAt;
use crate::{Freed, Out, Pkt};
use mech::overflow::DropReason;
use mech::{PortId, QueueId};
use units::Clock;

mech::choice! {
    /// Outcome for the frames that are queued at a port when its link is known to be dead.
    #[derive(Default)]
    pub enum DeadPort {
        /// Drops them, and frames that are sent to the port later.
        #[default]
        Drop = "drop",
        /// Keeps them until the link is back, and frames that are sent to the port later.
        Wait = "wait",
        /// Looks them up again, once. Frames that are sent to the dead port all the same are dropped.
        LookUp = "look_up",
    }
}

impl Core {
    /// Changes the rate of a port for frames that begin to leave from now on. The frame in transmission keeps the old
    /// rate.
    pub fn set_clock(&mut self, port: PortId, clock: Clock) {
        self.store.ports[usize::from(port.0)].set_clock(clock);
    }

    /// Closes a port whose link is known to be dead: nothing leaves by it, and the pause state of both its ends is
    /// void.
    pub(crate) fn close<F: Fib, O: Out>(&mut self, port: PortId, waits: bool, step: &mut Step<F, O>) {
        self.forget_pause(port, step.now, step.out);
        self.agents_forget(port, step.now);
        let p = &mut self.store.ports[usize::from(port.0)];
        // After `forget_pause`, which would clear these bits. With `waits` the port still stores frames but sends none.
        (p.closed, p.rest.dead, p.rest.paused) = (!waits, true, u32::MAX);
    }

    /// Reopens a port whose link is known to be back.
    pub(crate) fn reopen<F: Fib, O: Out>(&mut self, port: PortId, step: &mut Step<F, O>) {
        let p = &mut self.store.ports[usize::from(port.0)];
        // Before `forget_pause`, which schedules the port for each class that it resumes.
        (p.closed, p.rest.dead, p.rest.paused) = (false, false, 0);
        self.forget_pause(port, step.now, step.out);
        self.agents_forget(port, step.now);
        self.try_schedule(port, step.now, step.out);
    }

    /// Removes all frames that wait for a port, from the most urgent queue to the least urgent, each from its front.
    pub(crate) fn take_waiting<F: Fib, O: Out>(&mut self, port: PortId, step: &mut Step<F, O>) -> Vec<Pkt> {
        let mut taken = Vec::new();
        for queue in (0..self.store.ports[usize::from(port.0)].rest.queues.len()).rev() {
            while let Some(pkt) = self.take_first(port, QueueId(queue as u8), step) {
                taken.push(pkt);
            }
        }
        self.take_at_inputs(port, &mut taken, step);
        if !taken.is_empty() {
            self.run_empty(step.now, port);
        }
        taken
    }

    fn take_at_inputs<F: Fib, O: Out>(&mut self, port: PortId, taken: &mut Vec<Pkt>, step: &mut Step<F, O>) {
        let waits = self.store.inputs.as_ref().map_or(0, |inputs| inputs.waits(port));
        for queue in QueueId::each(waits).rev() {
            let at = QueueAt { port, queue };
            while let Some((slot, pkt)) = self.take_first_at_inputs(at) {
                self.tell_crossed(port, &pkt, step.out);
                self.taken_out(Frame { at, slot, head: &pkt.head }, Sides::INPUT, step);
                taken.push(pkt);
            }
        }
    }

    fn take_first_at_inputs(&mut self, at: QueueAt) -> Option<(u32, Pkt)> {
        let PacketStore { inputs, arena, .. } = &mut self.store;
        inputs.as_mut()?.take_first(at, arena)
    }

    fn take_first<F: Fib, O: Out>(&mut self, port: PortId, queue: QueueId, step: &mut Step<F, O>) -> Option<Pkt> {
        let (id, _) =
            self.store.arena.first(&self.store.ports[usize::from(port.0)].rest.queues[usize::from(queue.0)])?;
        let at = QueueAt { port, queue };
        let (pkt, _) = self.store.take_out(at, id);
        let frame = Frame { at, slot: id, head: &pkt.head };
        self.taken_out(frame, self.store.buffered(), step);
        Some(pkt)
    }

    /// Counts a packet that left its queue at a port before its turn.
    pub(super) fn taken_out<F: Fib, O: Out>(&mut self, frame: Frame, leaves: Sides, step: &mut Step<F, O>) {
        let QueueAt { port, queue } = frame.at;
        self.store.free(port, queue, frame.head);
        let p = &mut self.store.ports[usize::from(port.0)];
        // Not `sent`: the invariant `enqueued = sent + evicted + queued` must hold for frames that leave without
        // transmission.
        p.counts_mut().evicted += 1;
        p.counts_mut().evicted_bytes += u64::from(frame.head.size);
        let freed = Freed { queue, after: p.waiting(), started: None };
        Core::tell_freed(port, freed, step.out);
        self.count_left(frame, leaves, step);
    }

    /// Drops all frames that wait for a port whose link is dead.
    pub(crate) fn drop_waiting<F: Fib, O: Out>(&mut self, port: PortId, step: &mut Step<F, O>) {
        for pkt in self.take_waiting(port, step) {
            self.drop(&pkt, port, DropReason::LinkDown, step);
        }
    }
}
