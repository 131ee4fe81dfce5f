//! Ports whose link fails and comes back, and ports whose rate changes.

use super::memory_accounting::Frame;
use super::{Core, StepContext};
use crate::accounts::MemorySides;
use crate::packet_store::{Fib, PacketStore};
use crate::port::QueueAt;
use crate::{DequeuedFrame, Out, Pkt};
use mech::overflow::DropReason;
use mech::{ClassSet, PortId, QueueId};
use units::{ByteClock, Time};

mech::choice! {
    /// Treatment of the frames that are queued at a port when its link is known to be dead.
    #[derive(Default)]
    pub enum DeadPortPolicy {
        /// Drops the queued frames, and frames that are sent to the port later.
        #[default]
        Drop = "drop",
        /// Keeps the queued frames, and frames that are sent to the port later, until the link is back.
        Wait = "wait",
        /// Looks up a new output port for the queued frames, once.
        /// Frames that are sent to the dead port nevertheless are dropped.
        LookUp = "look_up",
    }
}

impl Core {
    /// Changes the rate of a port for frames that begin to leave from now on.
    /// The frame in transmission keeps the old rate.
    pub fn set_clock(&mut self, port: PortId, clock: ByteClock) {
        self.store.ports[usize::from(port.0)].set_clock(clock);
    }

    /// Stops or restarts the transmissions of a port. While it is stopped, its frames stay in memory.
    pub(crate) fn stop_output<O: Out>(&mut self, port: PortId, stopped: bool, now: Time, out: &mut O) {
        self.store.ports[usize::from(port.0)].rest.paused = if stopped { u32::MAX } else { 0 };
        self.try_schedule(port, now, out);
    }

    /// Closes a port whose link is known to be dead: it sends nothing, and its pause state is cleared.
    pub(crate) fn close_port<F: Fib, O: Out>(&mut self, port: PortId, waits: bool, step: &mut StepContext<F, O>) {
        self.reset_pause_state(port, step.now, step.out);
        self.reset_agents(port, step.now);
        let p = &mut self.store.ports[usize::from(port.0)];
        // After `reset_pause_state`, which would clear these bits. With `waits` the port still stores frames but sends
        // none.
        (p.rest.dead, p.rest.paused) = (true, u32::MAX);
        p.refuse_queues(if waits { 0 } else { u32::MAX });
    }

    /// Reopens a port whose link is known to be back.
    pub(crate) fn reopen_port<F: Fib, O: Out>(&mut self, port: PortId, step: &mut StepContext<F, O>) {
        let p = &mut self.store.ports[usize::from(port.0)];
        // Before `reset_pause_state`, which schedules the port for each class that it resumes.
        (p.rest.dead, p.rest.paused) = (false, 0);
        p.refuse_queues(0);
        self.reset_pause_state(port, step.now, step.out);
        self.reset_agents(port, step.now);
        self.try_schedule(port, step.now, step.out);
    }

    /// Removes all frames that wait for a port, and returns them.
    /// The most urgent queue comes first, and each queue is emptied from its front.
    pub(crate) fn remove_queued<F: Fib, O: Out>(&mut self, port: PortId, step: &mut StepContext<F, O>) -> Vec<Pkt> {
        let (mut taken, mut emptied) = (Vec::new(), ClassSet::NONE);
        for queue in (0..self.store.ports[usize::from(port.0)].rest.queues.len() as u8).rev().map(QueueId) {
            while let Some(pkt) = self.pop_queued(port, queue, step) {
                taken.push(pkt);
                emptied = emptied.union(ClassSet::single(queue.class()));
            }
        }
        emptied = emptied.union(self.remove_at_inputs(port, &mut taken, step));
        for class in (0..8).filter(|class| emptied.has(*class)) {
            self.on_queue_empty(step.now, QueueAt { port, queue: QueueId::normal(class) });
        }
        taken
    }

    /// Removes all frames that wait for a port at inputs, and returns the classes of their queues.
    fn remove_at_inputs<F: Fib, O: Out>(
        &mut self,
        port: PortId,
        taken: &mut Vec<Pkt>,
        step: &mut StepContext<F, O>,
    ) -> ClassSet {
        let waits = self.store.inputs.as_ref().map_or(0, |inputs| inputs.waiting_queues(port));
        for queue in QueueId::iter_set(waits).rev() {
            let at = QueueAt { port, queue };
            while let Some((slot, pkt)) = self.pop_at_inputs(at) {
                self.report_crossing(port, &pkt, step.out);
                self.count_removed(Frame { at, slot, head: &pkt.head }, MemorySides::INPUT, step);
                taken.push(pkt);
            }
        }
        QueueId::iter_set(waits).fold(ClassSet::NONE, |set, queue| set.union(ClassSet::single(queue.class())))
    }

    pub(super) fn pop_at_inputs(&mut self, at: QueueAt) -> Option<(u32, Pkt)> {
        let PacketStore { inputs, arena, .. } = &mut self.store;
        inputs.as_mut()?.pop_first(at, arena)
    }

    pub(super) fn pop_queued<F: Fib, O: Out>(
        &mut self,
        port: PortId,
        queue: QueueId,
        step: &mut StepContext<F, O>,
    ) -> Option<Pkt> {
        let (id, _) =
            self.store.arena.first(&self.store.ports[usize::from(port.0)].rest.queues[usize::from(queue.0)])?;
        let at = QueueAt { port, queue };
        let (pkt, _) = self.store.remove_known(at, id);
        let frame = Frame { at, slot: id, head: &pkt.head };
        self.count_removed(frame, self.store.buffer_memories(), step);
        Some(pkt)
    }

    /// Frees the memory of a packet that left its queue before its turn, and counts it.
    pub(super) fn count_removed<F: Fib, O: Out>(
        &mut self,
        frame: Frame,
        leaves: MemorySides,
        step: &mut StepContext<F, O>,
    ) {
        let QueueAt { port, queue } = frame.at;
        self.store.free(port, queue, frame.head);
        let p = &mut self.store.ports[usize::from(port.0)];
        // Not `sent`: the invariant `enqueued = sent + evicted + queued` must hold for frames that leave without
        // transmission.
        p.counts_mut().evicted += 1;
        p.counts_mut().evicted_bytes += u64::from(frame.head.size);
        let freed = DequeuedFrame { queue, after: p.queued_frames(), started: None };
        Core::report_dequeued(port, freed, step.out);
        self.count_departed(frame, leaves, step);
    }

    /// Drops all frames that wait for a port whose link is dead.
    pub(crate) fn drop_queued<F: Fib, O: Out>(&mut self, port: PortId, step: &mut StepContext<F, O>) {
        for pkt in self.remove_queued(port, step) {
            self.drop(&pkt, port, DropReason::LinkDown, step);
        }
    }
}
