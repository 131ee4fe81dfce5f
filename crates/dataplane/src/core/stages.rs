//! Frames that move inside a `fabric` switch, from the memory of an input through its stages to the buffer of an output, and
//! the copies that inputs keep until these are acknowledged.
//!
//! The end of a move is an event of the same phase as the end of a transmission; its index is that of the target, counted on
//! from the last port, and acknowledgements have the one after the last target.

use super::moved::Frame;
use super::{Core, Step};
use crate::accounts::{Delta, Sides};
use crate::inputs::{Item, Source, Stages};
use crate::packet_store::Fib;
use crate::port::QueueAt;
use crate::{Observer, Out};
use mech::{Lane, PacketKind, PortId};

impl Core {
    #[inline]
    pub(super) fn stages(&mut self) -> Option<&mut Stages> {
        self.store.inputs.as_mut()?.stages.as_deref_mut()
    }

    /// Idle targets take the frames that their arbiters choose.
    pub(super) fn begin_moves<F, O: Out>(&mut self, step: &mut Step<F, O>) {
        let ports = self.store.ports.len() as u16;
        while let Some(target) = self.stages().and_then(Stages::next_asking) {
            if let Some(time) = self.store.grant_inside(target, step.now) {
                step.out.wake(PortId(ports + target), step.now + time);
                self.tell_occupied(target, step.out);
            }
            self.check_arbiter(PortId(target.min(ports - 1)));
        }
    }

    /// A frame has got to a target, or an acknowledgement to an input.
    #[cold]
    pub(super) fn move_ended<F: Fib, O: Out>(&mut self, target: u16, step: &mut Step<F, O>) {
        self.ready.push(super::agents::Ready::Work);
        let Some(stages) = self.stages() else { return };
        if target == stages.targets() {
            return self.free_copies(step);
        }
        let Some(done) = stages.arrived(target) else { return };
        let at_output = stages.is_output(target);
        if let Source::Buffer(from) = done.from {
            self.tell_room(from, done.item.to, step.out);
        }
        let mut item = done.item;
        if done.from == Source::Input {
            self.left_input(&mut item, step);
        }
        if at_output {
            return self.leave_fabric(&item, step);
        }
        let (pkt, at) = (self.store.arena.get(item.slot), step.out.spot(item.to.port));
        if pkt.head.kind() != PacketKind::Notice {
            step.out.observer().moved(at, target - self.store.ports.len() as u16, pkt);
        }
        let Some(stages) = self.stages() else { return };
        stages.put(target, item);
        if let Some(rule) = stages.broken.take() {
            self.break_rule("fabric", item.to.port, rule);
        }
    }

    /// A frame begins to move to a target, where it has room.
    fn tell_occupied<O: Out>(&mut self, target: u16, out: &mut O) {
        let to = self.stages().filter(|stages| !stages.is_output(target)).and_then(|stages| stages.goal(target));
        to.into_iter().for_each(|to| self.tell_room(target, to, out));
    }

    /// How much room is taken in the buffer that a target is, after a frame for this queue has got it or left.
    fn tell_room<O: Out>(&mut self, target: u16, of: QueueAt, out: &mut O) {
        let ports = self.store.ports.len() as u16;
        let (stages, at) = (self.stages().filter(|_| of.queue.lane() != Lane::Notice), out.spot(of.port));
        stages.into_iter().for_each(|all| out.observer().occupied(at, target - ports, all.occupied(target)));
    }

    /// A frame has left its virtual output queue for good: its memory is free, or its copy's now.
    fn left_input<F: Fib, O: Out>(&mut self, item: &mut Item, step: &mut Step<F, O>) {
        let pkt = *self.store.arena.get(item.slot);
        let (counted, frame) =
            (item.to.queue.lane() != Lane::Notice, Frame { at: item.to, slot: item.slot, head: &pkt.head });
        if !counted || !self.stages().is_some_and(|stages| stages.keeps_copies()) {
            self.store.inputs.iter_mut().for_each(|inputs| inputs.free(pkt.head.ingress, item.to.queue, item.size));
            self.tell_crossed(item.to.port, &pkt, step.out);
            return self.count_from_input(frame, step);
        }
        item.copy = self.store.arena.lay(pkt, item.stamp);
        let (to, copy) = (item.to, item.copy);
        self.stages().into_iter().for_each(|stages| stages.keep(copy, to));
        self.count_copied(frame, Frame { slot: copy, ..frame });
    }

    /// A frame is in the buffer of its output, or is lost where the link there has died.
    fn leave_fabric<F: Fib, O: Out>(&mut self, item: &Item, step: &mut Step<F, O>) {
        let ports = self.store.ports.len() as u16;
        let head = self.store.arena.get(item.slot).head;
        if let Some(at) = self.stages().and_then(|stages| stages.acknowledge(item, step.now)) {
            let index = ports + self.stages().map_or(0, |stages| stages.targets());
            step.out.wake(PortId(index), at);
        }
        // Lost, it is gone from no memory but that of its way.
        if self.join(item.slot, item.to, Sides::OUTPUT, step) {
            self.count_to_output(Frame { at: item.to, slot: item.slot, head: &head }, step);
        }
    }

    /// Copies whose acknowledgements have come are freed.
    fn free_copies<F: Fib, O: Out>(&mut self, step: &mut Step<F, O>) {
        while let Some((copy, to)) = self.stages().and_then(|stages| stages.next_acknowledged(step.now)) {
            let pkt = self.store.arena.discard(copy);
            let (input, size) = (pkt.head.ingress, pkt.head.size);
            self.store.inputs.iter_mut().for_each(|inputs| inputs.free(input, to.queue, size));
            let (at, from) = (step.out.spot(to.port), step.out.spot(input).port);
            step.out.observer().acknowledged(at, from, &pkt);
            self.count_from_input(Frame { at: to, slot: copy, head: &pkt.head }, step);
        }
        let index = self.store.ports.len() as u16 + self.stages().map_or(0, |stages| stages.targets());
        if let Some(at) = self.stages().and_then(|stages| stages.next_ack()) {
            step.out.wake(PortId(index), at);
        }
    }

    /// A frame, or its copy, is gone from the memory of its input, and waits for its port as before.
    fn count_from_input<F: Fib, O>(&mut self, frame: Frame, step: &Step<F, O>) {
        if self.is_counted(frame.at) {
            self.leave_units(frame, Sides::INPUT);
            self.count_bytes(Delta::released(frame.head), None, step);
        }
    }

    /// A copy has the memory that a frame had.
    fn count_copied(&mut self, frame: Frame, copy: Frame) {
        if self.is_counted(frame.at) {
            self.leave_units(frame, Sides::INPUT);
            self.join_units(copy, Sides::INPUT);
        }
    }

    /// A frame has come out of the stages to the buffer of its output, for which it has waited all the while.
    fn count_to_output<F: Fib, O>(&mut self, frame: Frame, step: &Step<F, O>) {
        if self.is_counted(frame.at) {
            self.join_units(frame, Sides::OUTPUT);
            self.count_bytes(Delta::came_out(frame.at.port, frame.head), Some(frame.head), step);
        }
    }
}
