//! Transfers through the fabric of a `cioq` switch, from the memory of an input to the buffer of an output.
//!
//! An output takes one frame at a time. Its arbiter chooses near the end of a step: all arrivals are stored by then,
//! and idle ports have begun to send. The end of a transfer is an event of the same phase as the end of a transmission;
//! its index is the number of ports plus the output.

use super::agents::ReadyEntry;
use super::memory_accounting::Frame;
use super::{Core, StepContext};
use crate::accounts::MemorySides;
use crate::packet_store::Fib;
use crate::port::{Port, QueueAt};
use crate::{Observer, Out, Pkt};
use mech::{PacketKind, PortId};

impl Core {
    /// Schedules the arbiter of an output for the end of this step, since a frame waits for it or space became free.
    pub(super) fn schedule_arbiter(&mut self, output: PortId) {
        if let Some(stages) = self.stages() {
            stages.schedule_arbiter(output.0);
            return self.ready.push(ReadyEntry::Work);
        }
        if self.store.inputs.as_mut().is_some_and(|inputs| inputs.schedule_arbiter(output)) {
            self.ready.push(ReadyEntry::Work);
        }
    }

    /// Schedules the arbiter that may choose a frame at `input` that waits for the port `output`.
    pub(super) fn schedule_arbiter_for(&mut self, input: PortId, output: PortId) {
        if let Some(stages) = self.stages() {
            stages.schedule_arbiter_for_input(input);
            return self.ready.push(ReadyEntry::Work);
        }
        self.schedule_arbiter(output);
    }

    /// Begins transfers from inputs: each idle output takes the frame that its arbiter chooses.
    pub(super) fn begin_transfers<F, O: Out>(&mut self, step: &mut StepContext<F, O>) {
        if self.stages().is_some() {
            return self.begin_moves(step);
        }
        let ports = self.store.ports.len() as u16;
        while let Some(output) = self.store.inputs.as_mut().and_then(|inputs| inputs.next_scheduled()) {
            if let Some(time) = self.store.begin_transfer(output, step.now) {
                step.out.schedule_wake(PortId(ports + output.0), step.now + time);
            }
            self.check_arbiter(output);
        }
    }

    /// Records the rule that an arbiter or the fabric has broken, if any.
    #[inline]
    pub(super) fn check_arbiter(&mut self, output: PortId) {
        if let Some((slot, rule)) = self.store.inputs.as_mut().and_then(|inputs| inputs.broken.take()) {
            self.record_broken_rule(slot, output, rule);
        }
    }

    /// Handles the end of a transfer: the frame joins its queue at the output, or is dropped if the link is dead.
    pub(super) fn on_transfer_end<F: Fib, O: Out>(&mut self, output: PortId, step: &mut StepContext<F, O>) {
        if self.stages().is_some() {
            return self.on_move_end(output.0, step);
        }
        let Some(done) = self.store.inputs.as_mut().and_then(|inputs| inputs.end_transfer(output)) else { return };
        self.report_crossing(output, self.store.arena.get(done.slot), step.out);
        if self.join_output_queue(done.slot, QueueAt { port: output, queue: done.queue }, MemorySides::INPUT, step) {
            self.schedule_arbiter(output);
        }
    }

    /// Reports that a frame has left the memory of its input.
    pub(super) fn report_crossing<O: Out>(&self, output: PortId, pkt: &Pkt, out: &mut O) {
        if pkt.head.kind() != PacketKind::Notice {
            let (at, input) = (out.event_location(output), out.event_location(pkt.head.ingress).port);
            out.observer().on_input_dequeue(at, input, pkt);
        }
    }

    /// Appends a frame to its queue at the output and returns true, or drops it if the queue refuses frames by now.
    /// The port counts the frame already. `from` are the memories that the frame was in.
    pub(super) fn join_output_queue<F: Fib, O: Out>(
        &mut self,
        slot: u32,
        to: QueueAt,
        from: MemorySides,
        step: &mut StepContext<F, O>,
    ) -> bool {
        let port = to.port;
        // `remove_queued` reaches queues only. A frame that was crossing or being cut when the link died, or when a
        // pause storm was detected, arrives here later.
        if let Some(why) = self.store.ports[usize::from(port.0)].refusal(to.queue) {
            let pkt = self.store.arena.discard(slot);
            self.count_removed(Frame { at: to, slot, head: &pkt.head }, from, step);
            self.drop(&pkt, port, why, step);
            return false;
        }
        self.store.append(to, slot);
        if from == MemorySides::INPUT {
            let head = self.store.arena.get(slot).head;
            self.count_crossed(Frame { at: to, slot, head: &head }, step);
        }
        self.try_schedule(port, step.now, step.out);
        true
    }

    /// Checks that each port's count equals the frames in its queues and at inputs.
    /// Also checks that the memory of inputs holds exactly the frames there.
    pub(crate) fn inputs_are_consistent(&self) -> bool {
        let Some(inputs) = &self.store.inputs else { return true };
        let whole = |(port, p): (u16, &Port)| {
            let queues = p.rest.queues.iter().map(|queue| (queue.packets(), queue.bytes()));
            let sum = queues.fold(inputs.waiting_for_output(PortId(port)), |sum, own| (sum.0 + own.0, sum.1 + own.1));
            sum == (p.queued_frames(), p.queued_bytes())
        };
        inputs.is_consistent(&self.store.arena) && (0..).zip(&self.store.ports).all(whole)
    }
}
