//! Transfers through the fabric of a `cioq` switch, from the memory of an input to the buffer of an output.
//!
//! An output takes one frame at a time. Its arbiter chooses near the end of a step: all arrivals are stored by then,
//! and idle ports have begun to send. The end of a transfer is an event of the same phase as the end of a transmission;
//! its index is the number of ports plus the output.

use super::agents::Ready;
use super::moved::Frame;
use super::{Core, Step};
use crate::accounts::Sides;
use crate::packet_store::Fib;
use crate::port::{Port, QueueAt};
use crate::{Observer, Out, Pkt};
use mech::overflow::DropReason;
use mech::{PacketKind, PortId};

impl Core {
    /// Schedules the arbiter of an output for the end of this step, since a frame waits for the output or space became
    /// free.
    pub(super) fn ask_arbiter(&mut self, output: PortId) {
        if let Some(stages) = self.stages() {
            stages.ask(output.0);
            return self.ready.push(Ready::Work);
        }
        if self.store.inputs.as_mut().is_some_and(|inputs| inputs.ask(output)) {
            self.ready.push(Ready::Work);
        }
    }

    /// Schedules the arbiter that may move a frame from `input`, where it waits for the port `output`.
    pub(super) fn ask_for(&mut self, input: PortId, output: PortId) {
        if let Some(stages) = self.stages() {
            stages.ask_for_input(input);
            return self.ready.push(Ready::Work);
        }
        self.ask_arbiter(output);
    }

    /// Lets idle outputs take the frames that their arbiters choose.
    pub(super) fn begin_transfers<F, O: Out>(&mut self, step: &mut Step<F, O>) {
        if self.stages().is_some() {
            return self.begin_moves(step);
        }
        let ports = self.store.ports.len() as u16;
        while let Some(output) = self.store.inputs.as_mut().and_then(|inputs| inputs.next_asking()) {
            if let Some(time) = self.store.grant(output, step.now) {
                step.out.wake(PortId(ports + output.0), step.now + time);
            }
            self.check_arbiter(output);
        }
    }

    /// Breaks the rule that the arbiter of an output has broken, if it has broken one.
    #[inline]
    pub(super) fn check_arbiter(&mut self, output: PortId) {
        if let Some((slot, rule)) = self.store.inputs.as_mut().and_then(|inputs| inputs.broken.take()) {
            self.break_rule(slot, output, rule);
        }
    }

    /// Handles the end of a transfer: the frame joins its queue at the output, or is lost if the output's link has
    /// died.
    pub(super) fn transfer_ended<F: Fib, O: Out>(&mut self, output: PortId, step: &mut Step<F, O>) {
        if self.stages().is_some() {
            return self.move_ended(output.0, step);
        }
        let Some(done) = self.store.inputs.as_mut().and_then(|inputs| inputs.end(output)) else { return };
        self.tell_crossed(output, self.store.arena.get(done.slot), step.out);
        if self.join(done.slot, QueueAt { port: output, queue: done.queue }, Sides::INPUT, step) {
            self.ask_arbiter(output);
        }
    }

    /// Reports that a frame has left the memory of its input.
    pub(super) fn tell_crossed<O: Out>(&self, output: PortId, pkt: &Pkt, out: &mut O) {
        if pkt.head.kind() != PacketKind::Notice {
            let (at, input) = (out.spot(output), out.spot(pkt.head.ingress).port);
            out.observer().crossed(at, input, pkt);
        }
    }

    /// Appends a frame that is counted at a port to its queue there, and returns true; drops it and returns false if
    /// the link of the port has died. `from` are the memories that it was in.
    pub(super) fn join<F: Fib, O: Out>(&mut self, slot: u32, to: QueueAt, from: Sides, step: &mut Step<F, O>) -> bool {
        let port = to.port;
        // `take_waiting` reaches queues only. A frame that was crossing or being cut when the link died arrives here
        // later.
        if self.store.ports[usize::from(port.0)].closed {
            let pkt = self.store.arena.discard(slot);
            self.taken_out(Frame { at: to, slot, head: &pkt.head }, from, step);
            self.drop(&pkt, port, DropReason::LinkDown, step);
            return false;
        }
        self.store.append(to, slot);
        if from == Sides::INPUT {
            let head = self.store.arena.get(slot).head;
            self.count_crossed(Frame { at: to, slot, head: &head }, step);
        }
        self.try_schedule(port, step.now, step.out);
        true
    }

    /// Checks that each port's count equals the frames in its queues and at inputs, and that the memory of inputs holds
    /// exactly the frames there.
    pub(crate) fn inputs_balance(&self) -> bool {
        let Some(inputs) = &self.store.inputs else { return true };
        let whole = |(port, p): (u16, &Port)| {
            let queues = p.rest.queues.iter().map(|queue| (queue.packets(), queue.bytes()));
            let sum = queues.fold(inputs.held_for(PortId(port)), |sum, own| (sum.0 + own.0, sum.1 + own.1));
            sum == (p.waiting(), p.waiting_bytes())
        };
        inputs.balanced(&self.store.arena) && (0..).zip(&self.store.ports).all(whole)
    }
}
