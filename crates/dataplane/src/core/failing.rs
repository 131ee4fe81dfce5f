//! Links that die and come back, and ports whose rate changes, as a node learns of it.

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
    /// What becomes of the frames that wait for a port when its link is known to be dead.
    #[derive(Default)]
    pub enum DeadPort {
        /// They are dropped, and so is what is sent there later.
        #[default]
        Drop = "drop",
        /// They wait until the link is back, and so does what is sent there later.
        Wait = "wait",
        /// They are looked up again, once; what is sent to the dead port all the same is dropped.
        LookUp = "look_up",
    }
}

impl Core {
    /// Frames that begin to leave by a port from now on do so at another rate; the one under way goes on at the old.
    pub fn set_clock(&mut self, port: PortId, clock: Clock) {
        self.store.ports[usize::from(port.0)].set_clock(clock);
    }

    /// The link of a port is known to be dead: nothing leaves by it any more, and what its ends had said to each
    /// other about pausing is forgotten.
    pub(crate) fn close<F: Fib, O: Out>(&mut self, port: PortId, waits: bool, step: &mut Step<F, O>) {
        self.forget_pause(port, step.now, step.out);
        self.agents_forget(port, step.now);
        let p = &mut self.store.ports[usize::from(port.0)];
        (p.closed, p.rest.dead, p.rest.paused) = (!waits, true, u32::MAX);
    }

    /// The link of a port is known to be back.
    pub(crate) fn reopen<F: Fib, O: Out>(&mut self, port: PortId, step: &mut Step<F, O>) {
        let p = &mut self.store.ports[usize::from(port.0)];
        (p.closed, p.rest.dead, p.rest.paused) = (false, false, 0);
        self.forget_pause(port, step.now, step.out);
        self.agents_forget(port, step.now);
        self.try_schedule(port, step.now, step.out);
    }

    /// Takes out all that waits for a port: the queue that is served first comes first, each from its front.
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

    /// A packet that waited for a port is taken out before its turn.
    pub(super) fn taken_out<F: Fib, O: Out>(&mut self, frame: Frame, leaves: Sides, step: &mut Step<F, O>) {
        let QueueAt { port, queue } = frame.at;
        self.store.free(port, queue, frame.head);
        let p = &mut self.store.ports[usize::from(port.0)];
        p.counts_mut().evicted += 1;
        p.counts_mut().evicted_bytes += u64::from(frame.head.size);
        let freed = Freed { queue, after: p.waiting(), started: None };
        Core::tell_freed(port, freed, step.out);
        self.count_left(frame, leaves, step);
    }

    /// Loses all that waits for a port whose link is dead.
    pub(crate) fn drop_waiting<F: Fib, O: Out>(&mut self, port: PortId, step: &mut Step<F, O>) {
        for pkt in self.take_waiting(port, step) {
            self.drop(&pkt, port, DropReason::LinkDown, step);
        }
    }
}
