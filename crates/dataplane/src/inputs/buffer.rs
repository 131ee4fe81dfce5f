//! A buffer inside a `fabric` switch: what lies in it, and in which order that may go on.

use super::takes_memory;
use crate::port::QueueAt;
use mech::QueueId;
use std::collections::VecDeque;

/// A frame inside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    /// Where it lies in the arena.
    pub(crate) slot: u32,
    /// The queue of its output that it is for.
    pub(crate) to: QueueAt,
    pub(crate) size: u16,
    /// Where its copy lies, which its input keeps; [`NIL`](crate::arena::NIL) where there is none.
    pub(crate) copy: u32,
    pub(crate) stamp: u64,
    pub(crate) hash: u32,
}

/// A buffer inside: of a stage's input, or in front of an internal link.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    pub(super) stage: u16,
    /// Bytes for each queue.
    pub(super) limit: u64,
    pub(super) used: Box<[u64]>,
    /// Targets that it feeds.
    pub(super) exits: Box<[u16]>,
    /// By exit: queues with something for it.
    pub(super) waits: Box<[u32]>,
    /// By exit and queue.
    pub(super) lists: Box<[VecDeque<Item>]>,
    /// By queue: exits in the order of arrival, where there is one list.
    order: Option<Box<[VecDeque<u16>]>>,
}

impl Buffer {
    /// An empty one, that feeds these targets from so many queues.
    pub(super) fn new(stage: u16, limit: u64, (exits, queues): (&[u16], usize), fifo: bool) -> Buffer {
        Buffer {
            stage,
            limit,
            used: vec![0; queues].into(),
            exits: exits.into(),
            waits: vec![0; exits.len()].into(),
            lists: vec![VecDeque::new(); exits.len() * queues].into(),
            order: fifo.then(|| vec![VecDeque::new(); queues].into()),
        }
    }
    fn at(&self, exit: u16, queue: QueueId) -> usize {
        usize::from(exit) * self.used.len() + usize::from(queue.0)
    }
    pub(super) fn has_room(&self, queue: QueueId, size: u16) -> bool {
        self.used(queue) + u64::from(size) <= self.limit
    }
    pub(super) fn used(&self, queue: QueueId) -> u64 {
        self.used[usize::from(queue.0)]
    }
    /// The same of all queues that count.
    pub(super) fn counted(&self) -> u64 {
        let counted = (0..).map(QueueId).zip(&self.used).filter(|(queue, _)| takes_memory(*queue));
        counted.map(|(_, bytes)| *bytes).sum()
    }
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }
    /// The frame of a queue that may go on to an exit next.
    pub(super) fn first(&self, exit: u16, queue: QueueId) -> Option<&Item> {
        let turn = self.order.as_ref().is_none_or(|order| order[usize::from(queue.0)].front() == Some(&exit));
        self.lists[self.at(exit, queue)].front().filter(|_| turn)
    }
    /// Takes that frame; the target whose turn it is now, where there is one list.
    pub(super) fn take(&mut self, exit: u16, queue: QueueId) -> (Option<Item>, Option<u16>) {
        let list = self.at(exit, queue);
        let item = self.lists[list].pop_front();
        if self.lists[list].is_empty() {
            self.waits[usize::from(exit)] &= !queue.bit();
        }
        let next = self.order.as_mut().and_then(|order| {
            let order = &mut order[usize::from(queue.0)];
            order.pop_front();
            order.front().map(|exit| self.exits[usize::from(*exit)])
        });
        (item, next)
    }
    pub(super) fn put(&mut self, exit: u16, item: Item) {
        let (list, queue) = (self.at(exit, item.to.queue), item.to.queue);
        self.lists[list].push_back(item);
        self.waits[usize::from(exit)] |= queue.bit();
        if let Some(order) = &mut self.order {
            order[usize::from(queue.0)].push_back(exit);
        }
    }
    /// What lies here of a queue, each frame with the target that it goes on to; those of a list in their order.
    pub(super) fn lying(&self, queue: QueueId) -> Vec<(u16, &Item)> {
        let mut lists: Vec<_> =
            (0..).zip(&self.exits).map(|(exit, _)| self.lists[self.at(exit, queue)].iter()).collect();
        match &self.order {
            Some(order) => {
                let each = order[usize::from(queue.0)].iter().map(|exit| usize::from(*exit));
                each.filter_map(|exit| Some((self.exits[exit], lists[exit].next()?))).collect()
            }
            None => self.exits.iter().zip(lists).flat_map(|(exit, list)| list.map(|item| (*exit, item))).collect(),
        }
    }
    /// Whether a frame that waits to go on to a target holds up one behind it for another.
    pub(super) fn holds_up(&self, ahead: u16, behind: u16) -> bool {
        self.order.is_some() || ahead == behind
    }
}
