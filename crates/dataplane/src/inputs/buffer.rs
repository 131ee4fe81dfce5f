//! Buffer inside a `fabric` switch: its frames, and the order in which they may move on.

use super::uses_input_memory;
use crate::port::QueueAt;
use mech::QueueId;
use std::collections::VecDeque;

/// Frame inside the stages of a `fabric` switch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StageFrame {
    /// Memory slot of the frame: its index in the node's arena.
    pub(crate) slot: u32,
    /// Output queue that the frame is for.
    pub(crate) to: QueueAt,
    pub(crate) size: u16,
    /// Arena slot of the copy that its input keeps; [`NIL`](crate::arena::NIL) if there is none.
    pub(crate) copy: u32,
    pub(crate) stamp: u64,
    pub(crate) hash: u32,
}

/// Buffer inside a `fabric` switch: at the input of a stage, or one that feeds an internal link.
#[derive(Clone, Debug)]
pub(super) struct StageBuffer {
    pub(super) stage: u16,
    /// Capacity in bytes for each queue.
    pub(super) limit: u64,
    pub(super) used: Box<[u64]>,
    /// Exits of the buffer: numbers of the targets to which its frames move next.
    pub(super) exits: Box<[u16]>,
    /// Queues with a frame for each exit, as a bit set.
    pub(super) waits: Box<[u32]>,
    /// Frames by exit and queue, in order of arrival.
    pub(super) lists: Box<[VecDeque<StageFrame>]>,
    /// Exits of the frames of each queue in order of arrival, if frames of all exits share one list.
    order: Option<Box<[VecDeque<u16>]>>,
}

impl StageBuffer {
    /// Creates an empty buffer with a number of queues, from which frames move to the targets `exits`.
    pub(super) fn new(stage: u16, limit: u64, (exits, queues): (&[u16], usize), fifo: bool) -> StageBuffer {
        StageBuffer {
            stage,
            limit,
            used: vec![0; queues].into(),
            exits: exits.into(),
            waits: vec![0; exits.len()].into(),
            lists: vec![VecDeque::new(); exits.len() * queues].into(),
            order: fifo.then(|| vec![VecDeque::new(); queues].into()),
        }
    }
    fn list_index(&self, exit: u16, queue: QueueId) -> usize {
        usize::from(exit) * self.used.len() + usize::from(queue.0)
    }
    pub(super) fn has_room(&self, queue: QueueId, size: u16) -> bool {
        self.used_bytes(queue) + u64::from(size) <= self.limit
    }
    pub(super) fn used_bytes(&self, queue: QueueId) -> u64 {
        self.used[usize::from(queue.0)]
    }
    /// Returns the bytes taken by all queues except those of congestion messages.
    pub(super) fn data_bytes(&self) -> u64 {
        let counted = (0..).map(QueueId).zip(&self.used).filter(|(queue, _)| uses_input_memory(*queue));
        counted.map(|(_, bytes)| *bytes).sum()
    }
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }
    /// Returns the frame of a queue that may move to an exit next.
    pub(super) fn first(&self, exit: u16, queue: QueueId) -> Option<&StageFrame> {
        let turn = self.order.as_ref().is_none_or(|order| order[usize::from(queue.0)].front() == Some(&exit));
        self.lists[self.list_index(exit, queue)].front().filter(|_| turn)
    }
    /// Removes the next frame of a queue for an exit, and returns it.
    /// If frames are in one list, also returns the target of the frame behind it.
    pub(super) fn pop(&mut self, exit: u16, queue: QueueId) -> (Option<StageFrame>, Option<u16>) {
        let list = self.list_index(exit, queue);
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
    pub(super) fn push(&mut self, exit: u16, item: StageFrame) {
        let (list, queue) = (self.list_index(exit, item.to.queue), item.to.queue);
        self.lists[list].push_back(item);
        self.waits[usize::from(exit)] |= queue.bit();
        if let Some(order) = &mut self.order {
            order[usize::from(queue.0)].push_back(exit);
        }
    }
    /// Returns the frames of a queue, each with the target to which it moves next.
    /// Frames of one list are in their order.
    pub(super) fn frames_with_targets(&self, queue: QueueId) -> Vec<(u16, &StageFrame)> {
        let mut lists: Vec<_> =
            (0..).zip(&self.exits).map(|(exit, _)| self.lists[self.list_index(exit, queue)].iter()).collect();
        match &self.order {
            Some(order) => {
                let each = order[usize::from(queue.0)].iter().map(|exit| usize::from(*exit));
                each.filter_map(|exit| Some((self.exits[exit], lists[exit].next()?))).collect()
            }
            None => self.exits.iter().zip(lists).flat_map(|(exit, list)| list.map(|item| (*exit, item))).collect(),
        }
    }
    /// Returns true if a frame for the target `ahead` holds up a frame behind it for the target `behind`.
    pub(super) fn blocks(&self, ahead: u16, behind: u16) -> bool {
        self.order.is_some() || ahead == behind
    }
}
