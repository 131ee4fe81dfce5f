//! Timing wheel whose slots are sorted when they are opened, and whose slot width follows the run.
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

use super::tune::{Shape, Tally};
use super::{FourAryHeap, Key};

const NONE: u32 = u32::MAX;
/// Number of events in the open slot that an insertion may pass before the heap is cheaper.
const PATIENCE: usize = 32;
/// Shortest stretch of the run between decisions about the shape, in pops.
const STRETCH: u64 = 1024;
/// Largest factor by which a stretch grows.
const MAX_HOLD: u64 = 1 << 12;

#[derive(Clone, Copy, Debug)]
struct Node {
    key: Key,
    next: u32,
}

/// Timing wheel. The times of pushed events may not precede that of the event taken last.
#[derive(Clone, Debug)]
pub struct Wheel {
    shape: Shape,
    /// Number of the open slot: its time without the low `shift` bits. It is the slot of the event taken last, or a
    /// later one. Events pushed before it go to the heap.
    current: u64,
    /// Events of the open slot, ascending; those before index `taken` are gone.
    open: Vec<Key>,
    taken: usize,
    /// First event of the heap, or [`Key::BEYOND`].
    far_first: Key,
    far: FourAryHeap,
    /// First node of each slot's list, at the index (slot number modulo slots).
    heads: Vec<u32>,
    /// Bit of each slot, set if its list is not empty.
    occupied: Vec<u64>,
    nodes: Vec<Node>,
    free: u32,
    listed: usize,
    last: Key,
    tally: Tally,
    /// Number of events pending when the tally began.
    len_then: usize,
    reshapes: u64,
    /// Shape before this one. `hold` is the factor by which a stretch is longer than usual; it doubles with each
    /// return to the shape before.
    before: Shape,
    hold: u64,
    /// Number of pops at which the next decision is due.
    due: u64,
}

impl Default for Wheel {
    fn default() -> Wheel {
        Wheel::new()
    }
}

impl Wheel {
    /// Returns an empty wheel.
    pub fn new() -> Wheel {
        let shape = Shape::FIRST;
        Wheel {
            shape,
            current: 0,
            open: Vec::new(),
            taken: 0,
            far_first: Key::BEYOND,
            far: FourAryHeap::new(),
            heads: vec![NONE; shape.slots],
            occupied: vec![0; shape.slots / 64],
            nodes: Vec::new(),
            free: NONE,
            listed: 0,
            last: Key::FIRST,
            tally: Tally::default(),
            len_then: 0,
            reshapes: 0,
            before: shape,
            hold: 1,
            due: STRETCH,
        }
    }
    /// Returns the number of pending events.
    #[inline]
    pub fn len(&self) -> usize {
        self.open.len() - self.taken + self.listed + self.far.len()
    }
    /// Returns true if no event is pending.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Returns the present width and number of slots.
    pub fn shape(&self) -> Shape {
        self.shape
    }
    /// Returns how often the shape has changed.
    pub fn reshapes(&self) -> u64 {
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
            self.tally.outer += u64::from(ahead > self.shape.slots as u64 / 2);
            self.list(slot, key);
        } else if ahead == 0 {
            self.insert_open(key);
        } else {
            self.tally.far += u64::from(slot > self.current);
            self.tally.beyond += u64::from(ahead < self.shape.slots as u64 * 8);
            self.push_far(key);
        }
    }

    #[inline(always)]
    fn list(&mut self, slot: u64, key: Key) {
        let at = slot as usize & (self.heads.len() - 1);
        let node = Node { key, next: self.heads[at] };
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
        self.listed += 1;
    }

    fn insert_open(&mut self, key: Key) {
        // Taken events are removed when they are half of the slot, so that moving the others costs O(1) an event.
        if self.taken >= 256 && self.taken * 2 >= self.open.len() || self.taken == self.open.len() {
            self.open.drain(..self.taken);
            self.taken = 0;
        }
        let lowest = self.taken.max(self.open.len().saturating_sub(PATIENCE));
        let after = self.open[lowest..].iter().rev().take_while(|&&other| other > key).count();
        let at = self.open.len() - after;
        if at == lowest && lowest > self.taken {
            self.push_far(key);
        } else {
            self.open.insert(at, key);
        }
    }

    fn push_far(&mut self, key: Key) {
        self.far.push(key);
        self.far_first = self.far_first.min(key);
    }

    /// Returns the next event.
    #[inline]
    pub fn peek(&self) -> Option<Key> {
        let near = match self.open.get(self.taken) {
            Some(&key) => key,
            None => self.least_listed(),
        };
        Some(near.min(self.far_first)).filter(|&key| key != Key::BEYOND)
    }

    fn least_listed(&self) -> Key {
        let mut least = Key::BEYOND;
        if self.listed > 0 {
            let mut id = self.heads[self.next_occupied()];
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
            Some(&key) if key < self.far_first => {
                self.taken += 1;
                self.take(key)
            }
            near => {
                let exhausted = near.is_none();
                self.pop_elsewhere(exhausted)?
            }
        };
        if self.taken == self.open.len() && self.listed > 0 {
            self.open_next();
        }
        Some(key)
    }

    /// Takes the next event if it is not the first of the open slot.
    fn pop_elsewhere(&mut self, exhausted: bool) -> Option<Key> {
        if exhausted && self.listed > 0 {
            self.open_next();
        }
        match self.open.get(self.taken) {
            Some(&key) if key < self.far_first => {
                self.taken += 1;
                Some(self.take(key))
            }
            _ => self.pop_far(),
        }
    }

    /// Returns the first event of the open slot, which is usually the next event.
    #[inline(always)]
    pub fn ahead(&self) -> Option<Key> {
        self.open.get(self.taken).copied()
    }

    /// Takes the next event if it is of the same step as `key`, which was popped last. PRECONDITION: nothing pending
    /// is earlier than `key`.
    #[inline(always)]
    pub fn pop_if_same_step(&mut self, key: Key) -> Option<Key> {
        let near = self.ahead().unwrap_or(Key::BEYOND);
        match near.min(self.far_first).same_step(key) {
            true => self.pop(),
            false => None,
        }
    }

    #[inline]
    fn take(&mut self, key: Key) -> Key {
        self.tally.pops += 1;
        self.tally.times += u64::from(key.time() != self.last.time());
        self.last = key;
        key
    }

    fn pop_far(&mut self) -> Option<Key> {
        let key = self.far.pop()?;
        self.far_first = self.far.peek().unwrap_or(Key::BEYOND);
        // After a silence the wheel continues at this event; otherwise all later ones would be beyond its horizon. No
        // occupied slot is passed, since `open_next` opens each slot that the heap's first event does not precede.
        self.current = self.current.max(key.time().0 >> self.shape.shift);
        self.tally.pops += 1;
        self.last = key;
        if self.tally.pops >= self.due {
            self.judge();
        }
        Some(key)
    }

    /// Opens the next occupied slot, unless the heap's first event comes before that slot: opened too early, the slot
    /// would send all events pushed before it to the heap. PRECONDITION: the open slot is exhausted and some slot is
    /// occupied.
    fn open_next(&mut self) {
        if self.tally.pops >= self.due {
            self.judge();
            if self.taken < self.open.len() || self.listed == 0 {
                return;
            }
        }
        let at = self.next_occupied();
        let ahead = at.wrapping_sub(self.current as usize) & (self.heads.len() - 1);
        let slot = self.current + ahead as u64;
        if self.far_first.time().0 >> self.shape.shift < slot {
            return;
        }
        self.current = slot;
        self.tally.opened += 1;
        self.occupied[at / 64] &= !(1 << (at % 64));
        self.open.clear();
        self.taken = 0;
        let mut id = core::mem::replace(&mut self.heads[at], NONE);
        while let Some(node) = self.nodes.get_mut(id as usize) {
            self.open.push(node.key);
            let next = core::mem::replace(&mut node.next, self.free);
            self.free = id;
            id = next;
        }
        self.listed -= self.open.len();
        if self.open.len() > 1 {
            sort_few(&mut self.open);
        }
    }

    /// Returns the index of the first occupied slot ahead. PRECONDITION: there is one.
    #[inline]
    fn next_occupied(&self) -> usize {
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

    /// Changes the shape if the counts since the last decision call for it.
    #[cold]
    fn judge(&mut self) {
        self.due = (2 * self.listed as u64).max(STRETCH) * self.hold;
        if self.tally.pops < self.due {
            return;
        }
        self.due = STRETCH;
        let pushes = self.tally.pops + self.len() as u64 - self.len_then as u64;
        let shape = self.tally.judge(self.shape, pushes);
        if shape != self.shape {
            // Times on a lattice can make each of two shapes look worse than the other. Ever longer stretches bound
            // the cost of going back and forth.
            let back = shape == self.before;
            self.hold = if back { (self.hold * 2).min(MAX_HOLD) } else { 1 };
            self.before = self.shape;
            self.reshape(shape);
        }
        self.tally = Tally::default();
        self.len_then = self.len();
    }

    /// Moves all events of the wheel into slots of another shape. The heap keeps its own.
    fn reshape(&mut self, shape: Shape) {
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
        self.heads.resize(shape.slots, NONE);
        self.occupied.clear();
        self.occupied.resize(shape.slots / 64, 0);
        self.nodes.clear();
        self.free = NONE;
        self.listed = 0;
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
