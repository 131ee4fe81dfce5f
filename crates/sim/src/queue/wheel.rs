//! Timing wheel that sorts a slot only when it is opened, and that adapts the width of slots to the run.
//!
//! The design combines the timing wheel of Varghese and Lauck, "Hashed and hierarchical timing wheels" (SOSP 1987),
//! with the resizing of the calendar queue (Brown, CACM 1988). Pending events are in three places:
//!
//! - The *open* slot is that of the event taken last, or a later one. Its events are sorted.
//! - Slots ahead of it are unordered lists in one arena.
//! - A heap has the events beyond the wheel, those before the open slot, and those that would be slow to insert into
//!   it.
//!
//! Three invariants make the order exact:
//!
//! - A list has events of one slot number only, since only slots less than the wheel's size ahead are listed.
//! - The open slot never passes an occupied one, so that its events precede all listed ones.
//! - The next event is therefore the lesser of the open slot's first and the heap's first.
//!
//! No event ever moves from the heap to the wheel. A badly shaped wheel is as slow as a heap, but not slower.

use super::wheel_shape::{ShapeStatistics, WheelShape};
use super::{FourAryHeap, Key};

const NO_NODE: u32 = u32::MAX;
/// Number of later events in the open slot beyond which an insertion before them costs more than the heap.
const MAX_PASSED_EVENTS: usize = 32;
/// Smallest number of pops between two decisions about the width and number of the wheel's slots.
const MIN_DECISION_POPS: u64 = 1024;
/// Largest factor by which the number of pops grows between two decisions about the width and number of slots.
const MAX_DECISION_FACTOR: u64 = 1 << 12;

#[derive(Clone, Copy, Debug)]
struct SlotNode {
    key: Key,
    next: u32,
}

/// Timing wheel. The times of pushed events may not precede that of the event taken last.
#[derive(Clone, Debug)]
pub struct Wheel {
    shape: WheelShape,
    /// Number of the open slot: its time without the low `shift` bits. It is the slot of the event taken last, or a
    /// later one. Events pushed before it go to the heap.
    current: u64,
    /// Events of the open slot, ascending; those before index `taken` have been taken.
    open: Vec<Key>,
    taken: usize,
    /// First event of the heap, or [`Key::MAX`].
    first_in_heap: Key,
    heap: FourAryHeap,
    /// First node of each slot's list, at the index (slot number modulo slots).
    heads: Vec<u32>,
    /// Bit of each slot, set if its list is not empty.
    occupied: Vec<u64>,
    nodes: Vec<SlotNode>,
    free: u32,
    events_in_slots: usize,
    last: Key,
    statistics: ShapeStatistics,
    /// Number of events that were pending at the last decision about the shape.
    len_then: usize,
    reshapes: u64,
    /// Shape of the wheel before the present one. `decision_factor` is the factor by which the number of pops between
    /// decisions is larger than usual; it doubles with each return to the shape before.
    before: WheelShape,
    decision_factor: u64,
    /// Number of pops at which the wheel next decides about its shape.
    next_decision: u64,
}

impl Default for Wheel {
    fn default() -> Wheel {
        Wheel::new()
    }
}

impl Wheel {
    /// Returns an empty wheel.
    pub fn new() -> Wheel {
        let shape = WheelShape::FIRST;
        Wheel {
            shape,
            current: 0,
            open: Vec::new(),
            taken: 0,
            first_in_heap: Key::MAX,
            heap: FourAryHeap::new(),
            heads: vec![NO_NODE; shape.slots],
            occupied: vec![0; shape.slots / 64],
            nodes: Vec::new(),
            free: NO_NODE,
            events_in_slots: 0,
            last: Key::MIN,
            statistics: ShapeStatistics::default(),
            len_then: 0,
            reshapes: 0,
            before: shape,
            decision_factor: 1,
            next_decision: MIN_DECISION_POPS,
        }
    }
    /// Returns the number of pending events.
    #[inline]
    pub fn len(&self) -> usize {
        self.open.len() - self.taken + self.events_in_slots + self.heap.len()
    }
    /// Returns true if no event is pending.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Returns the present width and number of slots.
    pub fn shape(&self) -> WheelShape {
        self.shape
    }
    /// Returns how often the shape has changed.
    pub fn shape_changes(&self) -> u64 {
        self.reshapes
    }

    /// Adds an event. PRECONDITION: it is not earlier than the event taken last.
    #[inline(always)]
    pub fn push(&mut self, key: Key) {
        debug_assert!(key.time() >= self.last.time(), "{key:?} pushed after {:?}", self.last);
        // For a slot before the open one, the difference wraps to a large distance, so that the event goes to the
        // heap. Such events exist since `pop` opens a slot before the run gets there.
        let slot = key.time().0 >> self.shape.shift;
        let ahead = slot.wrapping_sub(self.current);
        if ahead.wrapping_sub(1) < self.shape.slots as u64 - 1 {
            self.statistics.outer += u64::from(ahead > self.shape.slots as u64 / 2);
            self.insert_in_slot(slot, key);
        } else if ahead == 0 {
            self.insert_in_open_slot(key);
        } else {
            self.statistics.far += u64::from(slot > self.current);
            self.statistics.beyond += u64::from(ahead < self.shape.slots as u64 * 8);
            self.push_to_heap(key);
        }
    }

    #[inline(always)]
    fn insert_in_slot(&mut self, slot: u64, key: Key) {
        let at = slot as usize & (self.heads.len() - 1);
        let node = SlotNode { key, next: self.heads[at] };
        let id = self.free;
        if let Some(place) = self.nodes.get_mut(id as usize) {
            self.free = place.next;
            *place = node;
            self.heads[at] = id;
        } else {
            self.heads[at] = self.nodes.len() as u32;
            self.nodes.push(node);
        }
        self.occupied[at / 64] |= 1 << (at % 64);
        self.events_in_slots += 1;
    }

    fn insert_in_open_slot(&mut self, key: Key) {
        // Taken events are removed when they are half of the slot, so that moving the others costs O(1) per event.
        if self.taken >= 256 && self.taken * 2 >= self.open.len() || self.taken == self.open.len() {
            self.open.drain(..self.taken);
            self.taken = 0;
        }
        let lowest = self.taken.max(self.open.len().saturating_sub(MAX_PASSED_EVENTS));
        let after = self.open[lowest..].iter().rev().take_while(|&&other| other > key).count();
        let at = self.open.len() - after;
        if at == lowest && lowest > self.taken {
            self.push_to_heap(key);
        } else {
            self.open.insert(at, key);
        }
    }

    fn push_to_heap(&mut self, key: Key) {
        self.heap.push(key);
        self.first_in_heap = self.first_in_heap.min(key);
    }

    /// Returns the next event without removing it.
    #[inline]
    pub fn peek(&self) -> Option<Key> {
        let near = match self.open.get(self.taken) {
            Some(&key) => key,
            None => self.min_in_slots(),
        };
        Some(near.min(self.first_in_heap)).filter(|&key| key != Key::MAX)
    }

    fn min_in_slots(&self) -> Key {
        let mut least = Key::MAX;
        if self.events_in_slots > 0 {
            let mut id = self.heads[self.next_occupied_slot()];
            while let Some(node) = self.nodes.get(id as usize) {
                least = least.min(node.key);
                id = node.next;
            }
        }
        least
    }

    /// Takes the next event. If that exhausts the open slot, opens the next slot right away: its loads from memory
    /// then overlap with the processing of the event.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<Key> {
        let key = match self.open.get(self.taken) {
            Some(&key) if key < self.first_in_heap => {
                self.taken += 1;
                self.finish_pop(key)
            }
            near => {
                let exhausted = near.is_none();
                self.pop_outside_open_slot(exhausted)?
            }
        };
        if self.taken == self.open.len() && self.events_in_slots > 0 {
            self.open_next_slot();
        }
        Some(key)
    }

    /// Takes the next event if it is not the first of the open slot.
    fn pop_outside_open_slot(&mut self, exhausted: bool) -> Option<Key> {
        if exhausted && self.events_in_slots > 0 {
            self.open_next_slot();
        }
        match self.open.get(self.taken) {
            Some(&key) if key < self.first_in_heap => {
                self.taken += 1;
                Some(self.finish_pop(key))
            }
            _ => self.pop_from_heap(),
        }
    }

    /// Returns the first event of the open slot, which is usually the next event.
    #[inline(always)]
    pub fn first_of_open_slot(&self) -> Option<Key> {
        self.open.get(self.taken).copied()
    }

    /// Takes the next event if it is of the same step as `key`, which was popped last. PRECONDITION: nothing pending
    /// is earlier than `key`.
    #[inline(always)]
    pub fn pop_if_same_step(&mut self, key: Key) -> Option<Key> {
        let near = self.first_of_open_slot().unwrap_or(Key::MAX);
        match near.min(self.first_in_heap).is_same_step(key) {
            true => self.pop(),
            false => None,
        }
    }

    #[inline]
    fn finish_pop(&mut self, key: Key) -> Key {
        self.statistics.pops += 1;
        self.statistics.times += u64::from(key.time() != self.last.time());
        self.last = key;
        key
    }

    fn pop_from_heap(&mut self) -> Option<Key> {
        let key = self.heap.pop()?;
        self.first_in_heap = self.heap.peek().unwrap_or(Key::MAX);
        // After a silence the wheel continues at this event; otherwise all later ones would be beyond its horizon. No
        // occupied slot is passed, since `open_next_slot` opens each slot that the heap's first event does not precede.
        self.current = self.current.max(key.time().0 >> self.shape.shift);
        self.statistics.pops += 1;
        self.last = key;
        if self.statistics.pops >= self.next_decision {
            self.adapt_shape();
        }
        Some(key)
    }

    /// Opens the next occupied slot, unless the heap's first event comes before that slot: opened too early, the slot
    /// would send all events pushed before it to the heap. PRECONDITION: the open slot is exhausted and some slot is
    /// occupied.
    fn open_next_slot(&mut self) {
        if self.statistics.pops >= self.next_decision {
            self.adapt_shape();
            if self.taken < self.open.len() || self.events_in_slots == 0 {
                return;
            }
        }
        let at = self.next_occupied_slot();
        let ahead = at.wrapping_sub(self.current as usize) & (self.heads.len() - 1);
        let slot = self.current + ahead as u64;
        if self.first_in_heap.time().0 >> self.shape.shift < slot {
            return;
        }
        self.current = slot;
        self.statistics.opened += 1;
        self.occupied[at / 64] &= !(1 << (at % 64));
        self.open.clear();
        self.taken = 0;
        let mut id = core::mem::replace(&mut self.heads[at], NO_NODE);
        while let Some(node) = self.nodes.get_mut(id as usize) {
            self.open.push(node.key);
            let next = core::mem::replace(&mut node.next, self.free);
            self.free = id;
            id = next;
        }
        self.events_in_slots -= self.open.len();
        if self.open.len() > 1 {
            sort_few(&mut self.open);
        }
    }

    /// Returns the index of the next slot after the open one that has events. PRECONDITION: there is one.
    #[inline]
    fn next_occupied_slot(&self) -> usize {
        let start = (self.current as usize + 1) & (self.heads.len() - 1);
        let words = self.occupied.len();
        let mut word = start / 64;
        let mut bits = self.occupied[word] & (!0 << (start % 64));
        while bits == 0 {
            word = (word + 1) & (words - 1);
            bits = self.occupied[word];
        }
        word * 64 + bits.trailing_zeros() as usize
    }

    /// Changes the width and number of slots if the counts since the last decision call for it.
    #[cold]
    fn adapt_shape(&mut self) {
        self.next_decision = (2 * self.events_in_slots as u64).max(MIN_DECISION_POPS) * self.decision_factor;
        if self.statistics.pops < self.next_decision {
            return;
        }
        self.next_decision = MIN_DECISION_POPS;
        let pushes = self.statistics.pops + self.len() as u64 - self.len_then as u64;
        let shape = self.statistics.choose_shape(self.shape, pushes);
        if shape != self.shape {
            // If all times are multiples of one interval, each of two shapes can look worse than the other. A growing
            // number of pops between decisions bounds the cost of going back and forth.
            let back = shape == self.before;
            self.decision_factor = if back { (self.decision_factor * 2).min(MAX_DECISION_FACTOR) } else { 1 };
            self.before = self.shape;
            self.change_shape(shape);
        }
        self.statistics = ShapeStatistics::default();
        self.len_then = self.len();
    }

    /// Moves all events of the wheel into slots of another shape. The heap keeps its own.
    fn change_shape(&mut self, shape: WheelShape) {
        let mut keys = self.open.split_off(self.taken);
        for &head in &self.heads {
            let mut id = head;
            while let Some(node) = self.nodes.get(id as usize) {
                keys.push(node.key);
                id = node.next;
            }
        }
        self.shape = shape;
        self.current = self.last.time().0 >> shape.shift;
        self.open.clear();
        self.taken = 0;
        self.heads.clear();
        self.heads.resize(shape.slots, NO_NODE);
        self.occupied.clear();
        self.occupied.resize(shape.slots / 64, 0);
        self.nodes.clear();
        self.free = NO_NODE;
        self.events_in_slots = 0;
        keys.into_iter().for_each(|key| self.push(key));
        self.reshapes += 1;
    }
}

/// Sorts the events of a slot, usually one to four.
#[inline]
fn sort_few(keys: &mut [Key]) {
    if keys.len() > 16 {
        keys.sort_unstable();
        return;
    }
    for i in 1..keys.len() {
        let key = keys[i];
        let mut at = i;
        while at > 0 && keys[at - 1] > key {
            keys[at] = keys[at - 1];
            at -= 1;
        }
        keys[at] = key;
    }
}

#[cfg(test)]
mod tests;
