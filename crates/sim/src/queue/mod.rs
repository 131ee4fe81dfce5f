//! Event queue: pending events, taken in the order of their keys.
//!
//! Every queue here gives the same order. An event is its [`Key`], and keys that are pending together are distinct. The
//! order is thus total and has no ties for a queue to break. Runs use [`Wheel`] by default; tests compare it with
//! [`FourAryHeap`].

mod heap;
mod key;
#[cfg(test)]
mod tests;
mod wheel;
mod wheel_shape;

pub use heap::FourAryHeap;
pub use key::{Key, StepPhase};
pub use wheel::Wheel;
pub use wheel_shape::WheelShape;

/// Queue of the pending events of a run.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a world has one; a box would cost every event an indirection")]
pub enum EventQueue {
    /// Timing wheel, used by default.
    Wheel(Wheel),
    /// Plain heap, with which tests compare the wheel.
    Heap(FourAryHeap),
}

impl Default for EventQueue {
    fn default() -> EventQueue {
        EventQueue::wheel()
    }
}

impl EventQueue {
    /// Returns an empty timing wheel.
    pub fn wheel() -> EventQueue {
        EventQueue::Wheel(Wheel::new())
    }
    /// Returns an empty heap.
    pub fn heap() -> EventQueue {
        EventQueue::Heap(FourAryHeap::new())
    }
    /// Adds an event. PRECONDITION: its time is not before that of the event taken last. At that same time, its key
    /// may precede that of the event taken last (another node); it then comes out next.
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
    /// Takes the next event if it is of the same step (time and node) as `key`, which was popped last. This is
    /// cheaper than to peek and pop. PRECONDITION: nothing pending is earlier than `key`.
    #[inline(always)]
    pub fn pop_if_same_step(&mut self, key: Key) -> Option<Key> {
        match self {
            EventQueue::Wheel(queue) => queue.pop_if_same_step(key),
            EventQueue::Heap(queue) => match queue.peek() {
                Some(next) if next.is_same_step(key) => queue.pop(),
                _ => None,
            },
        }
    }
    /// Returns the event that is probably next without removing it; `None` if finding it has a cost.
    #[inline(always)]
    pub fn peek_if_cheap(&self) -> Option<Key> {
        match self {
            EventQueue::Wheel(queue) => queue.first_of_open_slot(),
            EventQueue::Heap(_) => None,
        }
    }
    /// Returns the next event without removing it.
    #[inline]
    pub fn peek(&self) -> Option<Key> {
        match self {
            EventQueue::Wheel(queue) => queue.peek(),
            EventQueue::Heap(queue) => queue.peek(),
        }
    }
    /// Returns the number of pending events.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            EventQueue::Wheel(queue) => queue.len(),
            EventQueue::Heap(queue) => queue.len(),
        }
    }
    /// Returns true if no event is pending.
    #[inline]
    pub fn is_empty(&self) -> bool {
        match self {
            EventQueue::Wheel(queue) => queue.is_empty(),
            EventQueue::Heap(queue) => queue.is_empty(),
        }
    }
}
