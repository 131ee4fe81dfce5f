//! Frames that never leave the memory of inputs while outputs may not send some classes, for the search for deadlocks.
//!
//! A frame stays if it does not fit beside the frames that stay where it would go next, and so do all frames behind it.
//! Inside a `fabric` switch, all frames are assumed to stay at first. Then those that can move on are removed, which
//! may free space for others, until none can.
//!
//! A frame that can move on counts as gone for good, although it may come to stay one buffer further on. So the result
//! is never too large, and while frames move it may be too small. When nothing moves any more, it is complete.

use super::buffer::StageFrame;
use super::stages::Stages;
use super::{Inputs, uses_input_memory};
use crate::arena::Arena;
use crate::port::QueueAt;
use mech::{PortId, QueueId};

/// Bytes of a class that stay in the memory of a node forever, and the port that they wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StuckBytes {
    /// Input port by which the bytes came in.
    pub ingress: PortId,
    /// Port that the bytes wait for: their own output, or the output of frames that block them.
    pub port: PortId,
    /// Traffic class of the bytes.
    pub class: u8,
    /// Number of bytes that stay.
    pub bytes: u64,
}

/// Frames that stay in the buffers inside a `fabric` switch forever.
struct StuckInFabric<'a> {
    stages: &'a Stages,
    /// Returns true if a frame of a size fits a queue of an output beside the frames that stay there forever.
    joins: &'a dyn Fn(QueueAt, u16) -> bool,
    /// Bytes that stay forever, by buffer and queue.
    stays: Vec<Vec<u64>>,
}

impl<'a> StuckInFabric<'a> {
    fn new(stages: &'a Stages, joins: &'a dyn Fn(QueueAt, u16) -> bool) -> StuckInFabric<'a> {
        // `used` includes frames that are moving to the buffer: they have their space there and will arrive.
        let stays = stages.buffers.iter().map(|own| own.used.to_vec()).collect();
        let mut inside = StuckInFabric { stages, joins, stays };
        while inside.drain() {}
        inside
    }

    /// Subtracts the frames that can move on from `stays`, nearest to outputs first; returns true if there were any.
    fn drain(&mut self) -> bool {
        let mut any = false;
        for target in (self.stages.ports..self.stages.targets()).rev() {
            let at = usize::from(target - self.stages.ports);
            for queue in 0..self.stays[at].len() {
                let stays =
                    self.frames(target, QueueId(queue as u8)).iter().map(|(_, item)| u64::from(item.size)).sum();
                any |= self.stays[at][queue] != stays;
                self.stays[at][queue] = stays;
            }
        }
        any
    }

    fn bytes(&self, target: u16, queue: QueueId) -> u64 {
        self.stays[usize::from(target - self.stages.ports)][usize::from(queue.0)]
    }
    fn fits(&self, target: u16, to: QueueAt, size: u16) -> bool {
        if self.stages.is_output(target) {
            return (self.joins)(to, size);
        }
        self.bytes(target, to.queue) + u64::from(size) <= self.stages.buffer(target).limit()
    }

    /// Returns the frames of a queue that stay in a buffer forever, each with the target that holds it up.
    /// This is its own target, or that of the first frame ahead of it. A frame that moves to the buffer comes last.
    fn frames(&self, target: u16, queue: QueueId) -> Vec<(u16, &'a StageFrame)> {
        // `drain` only decreases these bytes, so nothing can come back to an empty queue.
        if self.bytes(target, queue) == 0 {
            return Vec::new();
        }
        let (stages, own) = (self.stages, self.stages.buffer(target));
        let comes = stages.incoming_frame(target).filter(|item| item.to.queue == queue);
        let comes =
            comes.map(|item| (stages.next_target(target, item.to.port, item.hash).unwrap_or(own.exits[0]), item));
        let mut stuck: Vec<u16> = Vec::new();
        let mut all = Vec::new();
        for (next, item) in own.frames_with_targets(queue).into_iter().chain(comes) {
            let ahead = stuck.iter().copied().find(|ahead| own.blocks(*ahead, next));
            if ahead.is_none() && self.fits(next, item.to, item.size) {
                continue;
            }
            stuck.extend(ahead.is_none().then_some(next));
            all.push((ahead.unwrap_or(next), item));
        }
        all
    }

    /// Returns the output port for which the frames that stay in a queue of a target finally wait.
    fn blocking_output(&self, mut target: u16, queue: QueueId) -> Option<PortId> {
        // No path is longer. The bound ends the loop if stages in a circle wait for each other.
        for _ in 0..self.stages.targets() {
            if self.stages.is_output(target) {
                return Some(PortId(target));
            }
            target = self.frames(target, queue).first()?.0;
        }
        None
    }

    /// Appends to `all` the bytes of the copies that inputs keep of frames stuck in stages.
    /// A copy stays as long as its frame.
    fn push_stuck_copies(&self, arena: &Arena, all: &mut Vec<StuckBytes>) {
        for target in self.stages.ports..self.stages.targets() {
            let queues =
                (0..self.stages.buffer(target).used.len() as u8).map(QueueId).filter(|queue| uses_input_memory(*queue));
            for (next, item) in queues.flat_map(|queue| self.frames(target, queue)) {
                let port = self.blocking_output(next, item.to.queue).unwrap_or(item.to.port);
                let ingress = arena.get(item.slot).head.ingress;
                all.push(StuckBytes { ingress, port, class: item.to.queue.class(), bytes: u64::from(item.size) });
            }
        }
    }
}

impl Inputs {
    /// Returns the bytes that stay in the memory of inputs forever.
    /// `joins` returns true if a frame joins a queue of an output beside the frames that stay there. A frame that moves
    /// out of the memory leaves it.
    pub(crate) fn stuck_bytes(&self, arena: &Arena, joins: &dyn Fn(QueueAt, u16) -> bool) -> Vec<StuckBytes> {
        let inside = self.stages.as_deref().map(|stages| StuckInFabric::new(stages, joins));
        let mut all = Vec::new();
        for (to, ingress, frames) in self.virtual_queues() {
            let first = inside.as_ref().map(|inside| (inside, inside.stages.ports + ingress.0));
            let fits = |size: &u16| match first {
                Some((inside, target)) => inside.fits(target, to, *size),
                None => joins(to, *size),
            };
            let sizes = arena.ids(frames).map(|slot| arena.get(slot).head.size);
            let bytes = sizes.skip_while(fits).map(u64::from).sum();
            if bytes > 0 {
                let port =
                    first.and_then(|(inside, target)| inside.blocking_output(target, to.queue)).unwrap_or(to.port);
                all.push(StuckBytes { ingress, port, class: to.queue.class(), bytes });
            }
        }
        let copies = inside.filter(|inside| inside.stages.keeps_copies());
        copies.into_iter().for_each(|inside| inside.push_stuck_copies(arena, &mut all));
        all
    }

    /// Returns the bytes of the frame that is on its last move to a queue of an output; 0 if there is none.
    pub(crate) fn incoming_bytes(&self, to: QueueAt) -> u16 {
        match &self.stages {
            Some(stages) => stages.incoming_frame(to.port.0).filter(|item| item.to == to).map_or(0, |item| item.size),
            None => self.bytes_in_transfer(to.port, to.queue),
        }
    }
}
