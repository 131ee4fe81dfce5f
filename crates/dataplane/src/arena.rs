//! Memory slots for the packets of one node, and queues as linked lists of these slots.

use crate::Pkt;

/// Slot number that stands for no packet.
pub(crate) const NIL: u32 = u32::MAX;

/// Packets in one node: a slab of 64-byte slots with a free list, so that a hop allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Arena {
    slots: Vec<Pkt>,
    links: Vec<Link>,
    free: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    stamp: u64,
    next: u32,
    /// Slot of the previous packet in the queue; stale for the first packet.
    /// So the removal of the first packet does not write to the next one.
    before: u32,
}

/// First-in-first-out list of packets in an [`Arena`].
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    head: u32,
    tail: u32,
    packets: u32,
    bytes: u64,
}

impl Default for Queue {
    fn default() -> Queue {
        Queue { head: NIL, tail: NIL, packets: 0, bytes: 0 }
    }
}

impl Queue {
    /// Returns the number of frames in the queue.
    #[inline]
    pub fn packets(&self) -> u32 {
        self.packets
    }
    /// Returns the bytes of all frames in the queue.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Arena {
    /// Appends a packet to a queue, and returns its slot. `stamp` orders the packets of one port by age.
    #[inline]
    pub fn push(&mut self, queue: &mut Queue, pkt: Pkt, stamp: u64) -> u32 {
        let id = self.allocate(pkt, stamp);
        self.append(queue, id);
        id
    }

    /// Stores a packet that is in no queue, and returns its slot.
    #[inline]
    pub fn allocate(&mut self, pkt: Pkt, stamp: u64) -> u32 {
        // The slot that was freed last is reused first, because it is probably still in the cache.
        match self.free.pop() {
            Some(id) => {
                self.slots[id as usize] = pkt;
                self.links[id as usize] = Link { stamp, next: NIL, before: NIL };
                id
            }
            None => {
                self.slots.push(pkt);
                self.links.push(Link { stamp, next: NIL, before: NIL });
                (self.slots.len() - 1) as u32
            }
        }
    }

    /// Appends a packet to a queue. PRECONDITION: the packet is in the arena but in no queue.
    #[inline]
    pub fn append(&mut self, queue: &mut Queue, id: u32) {
        let link = &mut self.links[id as usize];
        (link.next, link.before) = (NIL, queue.tail);
        match queue.tail {
            NIL => queue.head = id,
            tail => self.links[tail as usize].next = id,
        }
        queue.tail = id;
        queue.packets += 1;
        queue.bytes += u64::from(self.slots[id as usize].head.size);
    }

    /// Payload bytes of all packets in the arena.
    pub fn payload_bytes(&self) -> u64 {
        let freed = self.free.iter().map(|id| self.slots[*id as usize].payload_bytes());
        self.slots.iter().map(Pkt::payload_bytes).sum::<u64>() - freed.sum::<u64>()
    }

    /// Removes the first packet from a queue, and returns its slot. The packet stays in the arena.
    pub fn unlink_first(&mut self, queue: &mut Queue) -> Option<u32> {
        let (id, _) = self.first(queue)?;
        queue.head = self.links[id as usize].next;
        if queue.head == NIL {
            queue.tail = NIL;
        }
        queue.packets -= 1;
        queue.bytes -= u64::from(self.slots[id as usize].head.size);
        Some(id)
    }

    /// Frees the slot of a packet that is in no queue, and returns the packet.
    pub fn discard(&mut self, id: u32) -> Pkt {
        self.free.push(id);
        self.slots[id as usize]
    }

    /// Removes the first packet from a queue and from the arena, and returns it.
    #[inline]
    pub fn pop(&mut self, queue: &mut Queue) -> Option<Pkt> {
        let id = queue.head;
        if id == NIL {
            return None;
        }
        queue.head = self.links[id as usize].next;
        if queue.head == NIL {
            queue.tail = NIL;
        }
        Some(self.free_slot(queue, id))
    }

    /// Removes a packet from any position of a queue and from the arena, and returns it.
    /// PRECONDITION: the packet is in the queue.
    pub fn take(&mut self, queue: &mut Queue, id: u32) -> Pkt {
        let Link { next, before, .. } = self.links[id as usize];
        match queue.head == id {
            true => queue.head = next,
            false => self.links[before as usize].next = next,
        }
        match queue.tail == id {
            // `before` is stale for a packet at the head, and must not become the tail.
            true => queue.tail = if queue.head == NIL { NIL } else { before },
            false => self.links[next as usize].before = before,
        }
        self.free_slot(queue, id)
    }

    /// Returns true if a packet is in a queue.
    /// The search starts at both ends, since the packet is near one of them most often.
    pub fn contains(&self, queue: &Queue, id: u32) -> bool {
        let (mut first, mut last) = (queue.head, queue.tail);
        for _ in 0..queue.packets.div_ceil(2) {
            if first == id || last == id {
                return true;
            }
            (first, last) = (self.links[first as usize].next, self.links[last as usize].before);
        }
        false
    }

    fn free_slot(&mut self, queue: &mut Queue, id: u32) -> Pkt {
        let pkt = self.slots[id as usize];
        queue.packets -= 1;
        queue.bytes -= u64::from(pkt.head.size);
        self.free.push(id);
        pkt
    }

    /// Replaces a queued packet by a shorter one, and returns the number of bytes that this frees.
    pub fn shorten(&mut self, queue: &mut Queue, id: u32, shorter: &Pkt) -> u16 {
        let pkt = &mut self.slots[id as usize];
        let bytes = pkt.head.size - shorter.head.size;
        *pkt = *shorter;
        queue.bytes -= u64::from(bytes);
        bytes
    }

    /// Returns the slot and the stamp (order of arrival) of the first packet of a queue.
    #[inline]
    pub fn first(&self, queue: &Queue) -> Option<(u32, u64)> {
        (queue.head != NIL).then(|| (queue.head, self.links[queue.head as usize].stamp))
    }

    /// Returns the slots of all packets of a queue, first to last.
    pub fn ids<'a>(&'a self, queue: &Queue) -> impl Iterator<Item = u32> + 'a {
        let real = |id: u32| (id != NIL).then_some(id);
        std::iter::successors(real(queue.head), move |id| real(self.links[*id as usize].next))
    }

    /// Returns the least urgent packet of a queue: the last one with the largest rank.
    pub fn least_urgent(&self, queue: &Queue) -> Option<u32> {
        let (mut id, mut worst, mut largest) = (queue.head, NIL, 0);
        while id != NIL {
            let rank = self.slots[id as usize].head.rank;
            if rank >= largest {
                (worst, largest) = (id, rank);
            }
            id = self.links[id as usize].next;
        }
        (worst != NIL).then_some(worst)
    }

    /// Returns the first packet of the most urgent flow in a queue: the flow with the packet of smallest rank.
    /// Both directions of a flow count as two flows here. Of packets with equal rank, the first one decides.
    pub fn most_urgent(&self, queue: &Queue) -> Option<u32> {
        let (mut id, mut best, mut smallest) = (queue.head, NIL, u32::MAX);
        while id != NIL {
            let rank = self.slots[id as usize].head.rank;
            if rank < smallest || best == NIL {
                (best, smallest) = (id, rank);
            }
            id = self.links[id as usize].next;
        }
        let chosen = self.slots.get(best as usize)?.head;
        let mut id = queue.head;
        while id != best {
            let own = &self.slots[id as usize].head;
            if (own.flow, own.src) == (chosen.flow, chosen.src) {
                break;
            }
            id = self.links[id as usize].next;
        }
        Some(id)
    }

    /// Returns the slots of all packets of a queue, last to first.
    pub fn ids_from_tail<'a>(&'a self, queue: &Queue) -> impl Iterator<Item = u32> + 'a {
        let (head, tail) = (queue.head, (queue.tail != NIL).then_some(queue.tail));
        std::iter::successors(tail, move |id| (*id != head).then(|| self.links[*id as usize].before))
    }

    /// Returns the number of packets in the arena.
    pub fn packet_count(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Returns true if a slot holds a packet, or held one before.
    pub fn has_slot(&self, id: u32) -> bool {
        (id as usize) < self.slots.len()
    }

    /// Returns the stamp (order of arrival) modulo 2³² of the packet in a slot, or of the last one there.
    /// Returns 0 if the arena has no such slot.
    pub fn stamp(&self, id: u32) -> u32 {
        self.links.get(id as usize).map_or(0, |link| link.stamp as u32)
    }

    /// Returns the packet in a slot.
    pub fn get(&self, id: u32) -> &Pkt {
        &self.slots[id as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pkt(emission: u32) -> Pkt {
        let mut pkt = Pkt { emission, ..Pkt::default() };
        pkt.head.size = 100 + emission as u16;
        pkt
    }

    #[test]
    fn taking_a_packet_keeps_the_order_of_the_others() {
        for gone in 0..4 {
            let (mut arena, mut queue) = (Arena::default(), Queue::default());
            (0..4).for_each(|n| {
                arena.push(&mut queue, pkt(n), u64::from(n));
            });
            let id = arena.ids(&queue).nth(gone as usize).unwrap();
            assert!(arena.contains(&queue, id) && !arena.contains(&queue, 99));
            assert_eq!(arena.take(&mut queue, id).emission, gone);
            assert!(!arena.contains(&queue, id));
            arena.push(&mut queue, pkt(4), 4);
            let rest: Vec<u32> = std::iter::from_fn(|| arena.pop(&mut queue)).map(|p| p.emission).collect();
            let expected: Vec<u32> = (0..5).filter(|n| *n != gone).collect();
            assert_eq!(rest, expected);
            assert_eq!((queue.packets(), queue.bytes()), (0, 0));
        }
    }

    #[test]
    fn two_queues_share_an_arena_and_reuse_its_slots() {
        let (mut arena, mut a, mut b) = (Arena::default(), Queue::default(), Queue::default());
        for round in 0..10 {
            arena.push(&mut a, pkt(round), 0);
            arena.push(&mut b, pkt(round + 100), 1);
            assert_eq!(arena.pop(&mut a).unwrap().emission, round);
            assert_eq!(arena.pop(&mut b).unwrap().emission, round + 100);
        }
        assert_eq!(arena.slots.len(), 2);
    }

    #[test]
    fn packet_keeps_its_slot_when_it_changes_queue() {
        let (mut arena, mut a, mut b) = (Arena::default(), Queue::default(), Queue::default());
        let ids = [0, 1, 2].map(|n| arena.push(&mut a, pkt(n), u64::from(n)));
        let moved = arena.unlink_first(&mut a).unwrap();
        assert_eq!((moved, a.packets(), a.bytes(), arena.packet_count()), (ids[0], 2, 203, 3));
        arena.append(&mut b, moved);
        assert_eq!((arena.first(&b), b.bytes(), arena.ids(&b).count()), (Some((ids[0], 0)), 100, 1));
        let last = [arena.unlink_first(&mut a), arena.unlink_first(&mut a), arena.unlink_first(&mut a)];
        assert_eq!((last, a.packets(), a.bytes()), ([Some(ids[1]), Some(ids[2]), None], 0, 0));
        assert_eq!((arena.discard(ids[1]).emission, arena.packet_count()), (1, 2));
        arena.append(&mut b, ids[2]);
        assert_eq!([arena.pop(&mut b), arena.pop(&mut b)].map(|p| p.unwrap().emission), [0, 2]);
    }
}
