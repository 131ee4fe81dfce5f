//! The event key: when, where, in which phase and on which port or timer, in 16 bytes.
//!
//! The key *is* the event. It is a pure function of the state that caused it, with no insertion
//! counter, so that the order of events depends neither on the queue's structure nor on who pushed
//! first. Keys that are pending together are distinct: a link is FIFO and a frame takes time.

use core::fmt;
use units::Time;

/// In which part of a node's step an event is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Phase {
    /// A port's transmission has ended. Departures come before arrivals at the same instant.
    Ended = 0,
    /// A frame has arrived at a port.
    Arrival = 1,
    /// A timer's event has come.
    Timer = 2,
}

/// An event: (time, node, phase, index), packed so that the order of keys is the order of events.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(u128);

const INDEX_BITS: u32 = 30;
const STEP_SHIFT: u32 = 32;

impl Key {
    /// The greatest index (port or timer) that a key can hold.
    pub const MAX_INDEX: u32 = (1 << INDEX_BITS) - 1;
    /// No event is less.
    pub(super) const FIRST: Key = Key(0);
    /// Greater than every event, since its phase is none.
    pub(super) const BEYOND: Key = Key(u128::MAX);

    /// The event of a node's port or timer. PRECONDITION: `index <= Key::MAX_INDEX`.
    #[inline]
    pub const fn new(time: Time, node: u32, phase: Phase, index: u32) -> Key {
        debug_assert!(index <= Key::MAX_INDEX);
        let low = (phase as u32) << INDEX_BITS | (index & Key::MAX_INDEX);
        Key((time.0 as u128) << 64 | (node as u128) << STEP_SHIFT | low as u128)
    }
    /// When it happens.
    #[inline]
    pub const fn time(self) -> Time {
        Time((self.0 >> 64) as u64)
    }
    /// The node to which it happens.
    #[inline]
    pub const fn node(self) -> u32 {
        (self.0 >> STEP_SHIFT) as u32
    }
    /// The part of the node's step.
    #[inline]
    pub const fn phase(self) -> Phase {
        match (self.0 as u32) >> INDEX_BITS {
            0 => Phase::Ended,
            1 => Phase::Arrival,
            _ => Phase::Timer,
        }
    }
    /// The port or the timer.
    #[inline]
    pub const fn index(self) -> u32 {
        self.0 as u32 & Key::MAX_INDEX
    }
    /// Whether both belong to one step: the same time and the same node.
    #[inline]
    pub const fn same_step(self, other: Key) -> bool {
        (self.0 ^ other.0) >> STEP_SHIFT == 0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} n{} {:?} {}", self.time(), self.node(), self.phase(), self.index())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_gives_back_what_it_was_made_of() {
        for time in [0, 1, 12_304_000, u64::MAX] {
            for node in [0, 7, u32::MAX] {
                for phase in [Phase::Ended, Phase::Arrival, Phase::Timer] {
                    for index in [0, 3, Key::MAX_INDEX] {
                        let key = Key::new(Time(time), node, phase, index);
                        assert_eq!((key.time(), key.node()), (Time(time), node));
                        assert_eq!((key.phase(), key.index()), (phase, index));
                        assert!(key < Key::BEYOND);
                    }
                }
            }
        }
        assert_eq!(size_of::<Key>(), 16);
    }

    #[test]
    fn time_outranks_node_outranks_phase_outranks_index() {
        let key = |time, node, phase, index| Key::new(Time(time), node, phase, index);
        let ascending = [
            key(1, 9, Phase::Timer, 9),
            key(2, 1, Phase::Timer, 9),
            key(2, 2, Phase::Ended, Key::MAX_INDEX),
            key(2, 2, Phase::Arrival, 0),
            key(2, 2, Phase::Arrival, 1),
            key(2, 2, Phase::Timer, 0),
        ];
        assert!(ascending.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn a_step_is_one_node_at_one_time() {
        let key = |time, node, phase, index| Key::new(Time(time), node, phase, index);
        let first = key(5, 2, Phase::Ended, 0);
        assert!(first.same_step(key(5, 2, Phase::Timer, Key::MAX_INDEX)));
        assert!(!first.same_step(key(5, 3, Phase::Ended, 0)));
        assert!(!first.same_step(key(6, 2, Phase::Ended, 0)));
    }
}
