//! Moves of frames inside a `fabric` switch, from the memory of an input through the stages to the buffer of an output.
//! Inputs may keep copies until the acknowledgements arrive.
//!
//! A frame inside the fabric is in neither memory of [`MemorySides`], and still counts as queued for its port. A copy
//! has an arena slot of its own, which counts in the account and the memory units of its input. It is no packet that
//! the node holds.
//!
//! The end of a move is an event of the same phase as the end of a transmission. Its index is the number of ports plus
//! the target; acknowledgements have the index after the last target.

use super::memory_accounting::Frame;
use super::{Core, StepContext};
use crate::accounts::{AccountDelta, MemorySides};
use crate::inputs::{MoveSource, StageFrame, Stages};
use crate::packet_store::Fib;
use crate::port::QueueAt;
use crate::{Observer, Out};
use mech::{Lane, PacketKind, PortId};

impl Core {
    #[inline]
    pub(super) fn stages(&mut self) -> Option<&mut Stages> {
        self.store.inputs.as_mut()?.stages.as_deref_mut()
    }

    /// Begins moves inside a `fabric` switch: each idle buffer takes the frame that its arbiter chooses.
    pub(super) fn begin_moves<F, O: Out>(&mut self, step: &mut StepContext<F, O>) {
        let ports = self.store.ports.len() as u16;
        while let Some(target) = self.stages().and_then(Stages::next_scheduled) {
            if let Some(time) = self.store.begin_inside_move(target, step.now) {
                step.out.schedule_wake(PortId(ports + target), step.now + time);
                self.report_occupied(target, step.out);
            }
            self.check_arbiter(PortId(target.min(ports - 1)));
        }
    }

    /// Handles the end of a move inside a `fabric` switch, or the arrival of an acknowledgement at an input.
    #[cold]
    pub(super) fn on_move_end<F: Fib, O: Out>(&mut self, target: u16, step: &mut StepContext<F, O>) {
        // Space became free somewhere, so arbiters must choose again: an entry on the list makes the step reach
        // `start_idle_ports`.
        self.ready.push(super::agents::ReadyEntry::Work);
        let Some(stages) = self.stages() else { return };
        if target == stages.targets() {
            return self.free_acknowledged_copies(step);
        }
        let Some(done) = stages.end_move(target) else { return };
        let at_output = stages.is_output(target);
        if let MoveSource::Buffer(from) = done.from {
            self.report_occupancy_change(from, done.item.to, step.out);
        }
        let mut item = done.item;
        if done.from == MoveSource::Input {
            self.release_input_memory(&mut item, step);
        }
        if at_output {
            return self.leave_fabric(&item, step);
        }
        let (pkt, at) = (self.store.arena.get(item.slot), step.out.event_location(item.to.port));
        if pkt.head.kind() != PacketKind::Notice {
            step.out.observer().on_stage_arrival(at, target - self.store.ports.len() as u16, pkt);
        }
        let Some(stages) = self.stages() else { return };
        stages.store(target, item);
        if let Some(rule) = stages.broken.take() {
            self.record_broken_rule("fabric", item.to.port, rule);
        }
    }

    /// Reports the occupancy of a buffer inside the switch when a frame begins to move to it and takes space there.
    fn report_occupied<O: Out>(&mut self, target: u16, out: &mut O) {
        let to =
            self.stages().filter(|stages| !stages.is_output(target)).and_then(|stages| stages.move_destination(target));
        to.into_iter().for_each(|to| self.report_occupancy_change(target, to, out));
    }

    /// Reports the occupancy of a buffer inside the switch after a frame for queue `of` took space there or left it.
    fn report_occupancy_change<O: Out>(&mut self, target: u16, of: QueueAt, out: &mut O) {
        let ports = self.store.ports.len() as u16;
        let (stages, at) = (self.stages().filter(|_| of.queue.lane() != Lane::Notice), out.event_location(of.port));
        stages
            .into_iter()
            .for_each(|all| out.observer().on_stage_occupancy(at, target - ports, all.occupied_bytes(target)));
    }

    /// Frees the input memory of a frame that has entered the stages, or hands it to the copy that the input keeps.
    fn release_input_memory<F: Fib, O: Out>(&mut self, item: &mut StageFrame, step: &mut StepContext<F, O>) {
        let pkt = *self.store.arena.get(item.slot);
        let (counted, frame) =
            (item.to.queue.lane() != Lane::Notice, Frame { at: item.to, slot: item.slot, head: &pkt.head });
        // Congestion messages use no memory of inputs, so no copy of them is kept either.
        if !counted || !self.stages().is_some_and(|stages| stages.keeps_copies()) {
            self.store
                .inputs
                .iter_mut()
                .for_each(|inputs| inputs.free_input_memory(pkt.head.ingress, item.to.queue, item.size));
            self.report_crossing(item.to.port, &pkt, step.out);
            return self.count_from_input(frame, step);
        }
        item.copy = self.store.arena.allocate(pkt, item.stamp);
        let (to, copy) = (item.to, item.copy);
        self.stages().into_iter().for_each(|stages| stages.record_copy(copy, to));
        self.count_copied(frame, Frame { slot: copy, ..frame });
    }

    /// Delivers a frame from the stages to the buffer of its output; drops it if the link there has died.
    fn leave_fabric<F: Fib, O: Out>(&mut self, item: &StageFrame, step: &mut StepContext<F, O>) {
        let ports = self.store.ports.len() as u16;
        let head = self.store.arena.get(item.slot).head;
        // The acknowledgement is for the delivery to the output. It is sent even if the link there has died.
        if let Some(at) = self.stages().and_then(|stages| stages.acknowledge(item, step.now)) {
            let index = ports + self.stages().map_or(0, |stages| stages.targets());
            step.out.schedule_wake(PortId(index), at);
        }
        // If the frame is lost here, only the account of its output changes: it has left its input already.
        if self.join_output_queue(item.slot, item.to, MemorySides::OUTPUT, step) {
            self.count_to_output(Frame { at: item.to, slot: item.slot, head: &head }, step);
        }
    }

    /// Frees the copies at inputs whose acknowledgements have arrived.
    fn free_acknowledged_copies<F: Fib, O: Out>(&mut self, step: &mut StepContext<F, O>) {
        while let Some((copy, to)) = self.stages().and_then(|stages| stages.pop_acknowledged(step.now)) {
            let pkt = self.store.arena.discard(copy);
            let (input, size) = (pkt.head.ingress, pkt.head.size);
            self.store.inputs.iter_mut().for_each(|inputs| inputs.free_input_memory(input, to.queue, size));
            let (at, from) = (step.out.event_location(to.port), step.out.event_location(input).port);
            step.out.observer().on_copy_freed(at, from, &pkt);
            self.count_from_input(Frame { at: to, slot: copy, head: &pkt.head }, step);
        }
        let index = self.store.ports.len() as u16 + self.stages().map_or(0, |stages| stages.targets());
        if let Some(at) = self.stages().and_then(|stages| stages.next_ack_time()) {
            step.out.schedule_wake(PortId(index), at);
        }
    }

    /// Removes a frame, or its copy, from the account of its input. The frame still counts as queued for its port.
    fn count_from_input<F: Fib, O>(&mut self, frame: Frame, step: &StepContext<F, O>) {
        if self.is_counted(frame.at) {
            self.free_frame_units(frame, MemorySides::INPUT);
            self.count_bytes(AccountDelta::for_release(frame.head), None, step);
        }
    }

    /// Moves the sampled units of input memory from a frame to its copy.
    fn count_copied(&mut self, frame: Frame, copy: Frame) {
        if self.is_counted(frame.at) {
            self.free_frame_units(frame, MemorySides::INPUT);
            self.add_frame_units(copy, MemorySides::INPUT);
        }
    }

    /// Adds a frame that has left the stages to the accounts of its output's buffer.
    /// It has counted as waiting for that port since its arrival.
    fn count_to_output<F: Fib, O>(&mut self, frame: Frame, step: &StepContext<F, O>) {
        if self.is_counted(frame.at) {
            self.add_frame_units(frame, MemorySides::OUTPUT);
            self.count_bytes(AccountDelta::for_fabric_exit(frame.at.port, frame.head), Some(frame.head), step);
        }
    }
}
