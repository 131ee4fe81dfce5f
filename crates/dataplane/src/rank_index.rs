//! Indices of long queues by rank and flow, for mechanisms that search for the most or least urgent packet.
//!
//! A queue has an index while it is long. A short queue is searched, which costs less than an index. Both find the same
//! packet, so results do not depend on the limit.

use crate::arena::{Arena, Queue};
use crate::port::QueueAt;
use mech::{FlowId, Head, HostId, Needs};
use std::collections::BTreeSet;

/// Length in packets above which a queue gets an index. It loses the index at half of this length.
const MIN_INDEXED_LENGTH: u32 = 128;

/// Search indices of the long queues of one node.
#[derive(Clone, Debug)]
pub(crate) struct RankIndices {
    /// Index of each long queue, by port and queue.
    queues: Vec<Option<Box<RankIndex>>>,
    queues_each: usize,
    /// Number of each packet in the order in which packets joined indexed queues, by arena slot.
    joined: Vec<u64>,
    next: u64,
    /// True if mechanisms also search for packets by flow.
    by_flow: bool,
}

/// Packet in an index: its number in the order of joining, and its slot in the arena.
type IndexedPacket = (u64, u32);

/// Search index of one queue, by rank and by flow.
#[derive(Clone, Debug, Default)]
struct RankIndex {
    by_rank: BTreeSet<(u32, IndexedPacket)>,
    by_flow: BTreeSet<(FlowId, HostId, IndexedPacket)>,
}

impl RankIndex {
    fn insert(&mut self, head: &Head, member: IndexedPacket, by_flow: bool) {
        self.by_rank.insert((head.rank, member));
        if by_flow {
            self.by_flow.insert((head.flow, head.src, member));
        }
    }

    fn remove(&mut self, head: &Head, member: IndexedPacket) -> bool {
        self.by_flow.remove(&(head.flow, head.src, member));
        self.by_rank.remove(&(head.rank, member))
    }
}

impl RankIndices {
    /// Creates the indices that mechanisms need; `None` if no mechanism searches for packets by rank.
    pub(crate) fn new(
        needs: impl Iterator<Item = Needs>,
        ports: usize,
        queues_each: usize,
    ) -> Option<Box<RankIndices>> {
        let (least, most) = needs.fold((false, false), |(least, most), own| {
            (least || own.finds_least_urgent, most || own.finds_most_urgent)
        });
        let ranked = RankIndices {
            queues: vec![None; ports * queues_each],
            queues_each,
            joined: Vec::new(),
            next: 0,
            by_flow: most,
        };
        (least || most).then(|| Box::new(ranked))
    }

    fn queue_index(&self, at: QueueAt) -> usize {
        usize::from(at.port.0) * self.queues_each + usize::from(at.queue.0)
    }

    fn index(&self, at: QueueAt) -> Option<&RankIndex> {
        self.queues.get(self.queue_index(at))?.as_deref()
    }

    fn new_member(&mut self, slot: u32) -> IndexedPacket {
        let at = slot as usize;
        if at >= self.joined.len() {
            self.joined.resize(at + 1, 0);
        }
        // Slots are reused in any order, so the order of joining needs numbers of its own.
        self.joined[at] = self.next;
        self.next += 1;
        (self.joined[at], slot)
    }

    fn member(&self, slot: u32) -> Option<IndexedPacket> {
        Some((*self.joined.get(slot as usize)?, slot))
    }

    /// Adds the packet that has just joined a queue at its end to the index of the queue.
    /// Creates the index if the queue is now long.
    pub(crate) fn join(&mut self, at: QueueAt, queue: &Queue, arena: &Arena) {
        let place = self.queue_index(at);
        if self.queues[place].is_none() && queue.packets() <= MIN_INDEXED_LENGTH {
            return;
        }
        match self.queues[place].take() {
            Some(mut index) => {
                let last = arena.ids_from_tail(queue).next();
                last.into_iter()
                    .for_each(|slot| index.insert(&arena.get(slot).head, self.new_member(slot), self.by_flow));
                self.queues[place] = Some(index);
            }
            None => {
                let mut index = Box::<RankIndex>::default();
                for slot in arena.ids(queue) {
                    index.insert(&arena.get(slot).head, self.new_member(slot), self.by_flow);
                }
                self.queues[place] = Some(index);
            }
        }
    }

    /// Returns true if a packet waits in a queue; `None` if the queue has no index.
    pub(crate) fn contains(&self, at: QueueAt, slot: u32, arena: &Arena) -> Option<bool> {
        let index = self.index(at)?;
        let is_there = |member| index.by_rank.contains(&(arena.get(slot).head.rank, member));
        Some(self.member(slot).is_some_and(is_there))
    }

    /// Removes a packet from the index of its queue; does nothing for a queue without an index.
    pub(crate) fn leave(&mut self, at: QueueAt, queue: &Queue, head: &Head, slot: u32) {
        let (place, member) = (self.queue_index(at), self.member(slot));
        let own = &mut self.queues[place];
        let Some((index, member)) = own.as_mut().zip(member) else { return };
        index.remove(head, member);
        // The limit for removal is lower than that for creation: otherwise a queue near a common limit would build its
        // index again and again.
        if queue.packets() <= MIN_INDEXED_LENGTH / 2 {
            *own = None;
        }
    }

    /// Replaces the index entry of a queued packet that has changed; its position stays.
    pub(crate) fn replace(&mut self, at: QueueAt, slot: u32, before: &Head, after: &Head) {
        let (place, member, by_flow) = (self.queue_index(at), self.member(slot), self.by_flow);
        if let Some((index, member)) = self.queues[place].as_mut().zip(member) {
            if index.remove(before, member) {
                index.insert(after, member, by_flow);
            }
        }
    }

    /// Returns the newest packet of the largest rank in a queue; `None` if the queue has no index.
    pub(crate) fn least_urgent(&self, at: QueueAt) -> Option<u32> {
        let (_, (_, slot)) = *self.index(at)?.by_rank.last()?;
        Some(slot)
    }

    /// Returns the oldest packet of the flow that has the smallest rank in a queue; `None` if the queue has no index.
    /// Of packets with equal rank, the oldest one decides.
    pub(crate) fn most_urgent(&self, at: QueueAt, arena: &Arena) -> Option<u32> {
        let index = self.index(at)?;
        let (_, (_, slot)) = *index.by_rank.first()?;
        let Head { flow, src, .. } = arena.get(slot).head;
        let (.., (_, oldest)) = *index.by_flow.range((flow, src, (0, 0))..).next()?;
        Some(oldest)
    }
}
