//! The event queue: what is pending, taken in the order of its keys.
//!
//! Every queue here gives the same order, because an event is its [`Key`] and keys that are pending
//! together are distinct. [`Wheel`] is the one to run on, [`FourAryHeap`] the one to test against.

mod heap;
mod key;
#[cfg(test)]
mod tests;
mod tune;
mod wheel;

pub use heap::FourAryHeap;
pub use key::{Key, Phase};
pub use tune::Shape;
pub use wheel::Wheel;

/// The pending events of a world.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a world has one; a box would cost every event an indirection")]
pub enum EventQueue {
    /// A timing wheel.
    Wheel(Wheel),
    /// A heap.
    Heap(FourAryHeap),
}

impl Default for EventQueue {
    fn default() -> EventQueue {
        EventQueue::wheel()
    }
}

impl EventQueue {
    /// An empty timing wheel.
    pub fn wheel() -> EventQueue {
        EventQueue::Wheel(Wheel::new())
    }
    /// An empty heap.
    pub fn heap() -> EventQueue {
        EventQueue::Heap(FourAryHeap::new())
    }
    /// Adds an event. PRECONDITION: its time is not before that of the event taken last; it may
    /// otherwise precede it (another node at the same time), and then comes out next.
    #[inline(always)]
    pub fn push(&mut self, key: Key) {
        match self {
            EventQueue::Wheel(queue) => queue.push(key),
            EventQueue::Heap(queue) => queue.push(key),
        }
    }
    /// Takes the next event.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<Key> {
        match self {
            EventQueue::Wheel(queue) => queue.pop(),
            EventQueue::Heap(queue) => queue.pop(),
        }
    }
    /// Takes the next event if it is of the same step (time and node) as `key`, which was popped
    /// last: cheaper than to peek and pop. PRECONDITION: nothing pending is earlier than `key`.
    #[inline(always)]
    pub fn pop_if_same_step(&mut self, key: Key) -> Option<Key> {
        match self {
            EventQueue::Wheel(queue) => queue.pop_if_same_step(key),
            EventQueue::Heap(queue) => match queue.peek() {
                Some(next) if next.same_step(key) => queue.pop(),
                _ => None,
            },
        }
    }
    /// What is likely to be the next event, where that is known at no cost.
    #[inline(always)]
    pub fn ahead(&self) -> Option<Key> {
        match self {
            EventQueue::Wheel(queue) => queue.ahead(),
            EventQueue::Heap(_) => None,
        }
    }
    /// The next event.
    #[inline]
    pub fn peek(&self) -> Option<Key> {
        match self {
            EventQueue::Wheel(queue) => queue.peek(),
            EventQueue::Heap(queue) => queue.peek(),
        }
    }
    /// How many events are pending.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            EventQueue::Wheel(queue) => queue.len(),
            EventQueue::Heap(queue) => queue.len(),
        }
    }
    /// Whether nothing is pending.
    #[inline]
    pub fn is_empty(&self) -> bool {
        match self {
            EventQueue::Wheel(queue) => queue.is_empty(),
            EventQueue::Heap(queue) => queue.is_empty(),
        }
    }
}
