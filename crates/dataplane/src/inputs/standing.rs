//! What never leaves the memory of inputs while outputs may not send some classes: for the search for deadlocks, and asked by
//! nobody else.
//!
//! A frame stays where it has no room beside what stays where it would go next, and so does all that is behind it. Inside a
//! `fabric` switch all is taken to stay at first. Then what can move on is taken out, which may make room for more, until
//! nothing can. A frame that can move on counts as gone for good, although it may come to stay one buffer on: so what is said
//! is true at any time, and while frames move it may be too little. When nothing moves any more, it is all.

use super::buffer::Item;
use super::stages::Stages;
use super::{Inputs, takes_memory};
use crate::arena::Arena;
use crate::port::QueueAt;
use mech::{PortId, QueueId};

/// Bytes of a class that never leave the memory of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stays {
    /// The port that they came in by.
    pub ingress: PortId,
    /// The port that they wait for: their own, or that of frames that keep them from getting there.
    pub port: PortId,
    /// Their class.
    pub class: u8,
    /// How many.
    pub bytes: u64,
}

/// What stays in the buffers inside a `fabric` switch.
struct Inside<'a> {
    stages: &'a Stages,
    /// Whether a frame of so many bytes joins a queue of an output beside what stays there.
    joins: &'a dyn Fn(QueueAt, u16) -> bool,
    /// By buffer and queue: bytes.
    stays: Vec<Vec<u64>>,
}

impl<'a> Inside<'a> {
    fn new(stages: &'a Stages, joins: &'a dyn Fn(QueueAt, u16) -> bool) -> Inside<'a> {
        // A frame that moves has room where it goes, which is where it will be.
        let stays = stages.buffers.iter().map(|own| own.used.to_vec()).collect();
        let mut inside = Inside { stages, joins, stays };
        while inside.take_out() {}
        inside
    }

    /// Takes out what can move on; whether anything could. What lies nearer to outputs comes first.
    fn take_out(&mut self) -> bool {
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

    /// The frames of a queue that stay in a buffer, with the one that moves to it behind those that lie there. Each with the
    /// target for which the first of those waits that it is behind.
    fn frames(&self, target: u16, queue: QueueId) -> Vec<(u16, &'a Item)> {
        // What stays only ever becomes less.
        if self.bytes(target, queue) == 0 {
            return Vec::new();
        }
        let (stages, own) = (self.stages, self.stages.buffer(target));
        let comes = stages.coming(target).filter(|item| item.to.queue == queue);
        let comes = comes.map(|item| (stages.next(target, item.to.port, item.hash).unwrap_or(own.exits[0]), item));
        let mut stuck: Vec<u16> = Vec::new();
        let mut all = Vec::new();
        for (next, item) in own.lying(queue).into_iter().chain(comes) {
            let ahead = stuck.iter().copied().find(|ahead| own.holds_up(*ahead, next));
            if ahead.is_none() && self.fits(next, item.to, item.size) {
                continue;
            }
            stuck.extend(ahead.is_none().then_some(next));
            all.push((ahead.unwrap_or(next), item));
        }
        all
    }

    /// The output at which that which stays in a queue of a target waits in the end.
    fn waits_at(&self, mut target: u16, queue: QueueId) -> Option<PortId> {
        // No way is longer, unless stages were joined in a circle and waited for each other.
        for _ in 0..self.stages.targets() {
            if self.stages.is_output(target) {
                return Some(PortId(target));
            }
            target = self.frames(target, queue).first()?.0;
        }
        None
    }

    /// Copies of what stays inside: each stays as long as its frame.
    fn copies(&self, arena: &Arena, all: &mut Vec<Stays>) {
        for target in self.stages.ports..self.stages.targets() {
            let queues =
                (0..self.stages.buffer(target).used.len() as u8).map(QueueId).filter(|queue| takes_memory(*queue));
            for (next, item) in queues.flat_map(|queue| self.frames(target, queue)) {
                let port = self.waits_at(next, item.to.queue).unwrap_or(item.to.port);
                let ingress = arena.get(item.slot).head.ingress;
                all.push(Stays { ingress, port, class: item.to.queue.class(), bytes: u64::from(item.size) });
            }
        }
    }
}

impl Inputs {
    /// What never leaves the memory of inputs, where a frame joins a queue of an output or not beside what stays there. A frame
    /// that moves out of it leaves.
    pub(crate) fn stays(&self, arena: &Arena, joins: &dyn Fn(QueueAt, u16) -> bool) -> Vec<Stays> {
        let inside = self.stages.as_deref().map(|stages| Inside::new(stages, joins));
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
                let port = first.and_then(|(inside, target)| inside.waits_at(target, to.queue)).unwrap_or(to.port);
                all.push(Stays { ingress, port, class: to.queue.class(), bytes });
            }
        }
        let copies = inside.filter(|inside| inside.stages.keeps_copies());
        copies.into_iter().for_each(|inside| inside.copies(arena, &mut all));
        all
    }

    /// Bytes of the frame that is on its last way to a queue of an output; 0 where none is.
    pub(crate) fn coming(&self, to: QueueAt) -> u16 {
        match &self.stages {
            Some(stages) => stages.coming(to.port.0).filter(|item| item.to == to).map_or(0, |item| item.size),
            None => self.crossing(to.port, to.queue),
        }
    }
}
