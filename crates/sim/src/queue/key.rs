//! Event key: time, node, phase, and port or timer, in 16 bytes.
//!
//! The key *is* the event. It is a function of the state that caused it alone, without an insertion counter. The
//! order of events therefore depends neither on the structure of the queue nor on the order of insertion. A counter
//! would number events differently in a divided run, where each partition inserts only its own.
//!
//! Keys that are pending together are distinct: a link is first in, first out, and each frame takes time, so that no
//! two frames of a link arrive at one instant.

use core::fmt;
use units::Time;

/// Part of a node's step in which an event is processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum StepPhase {
    /// End of a port's transmission. Departures come before arrivals at the same instant.
    Ended = 0,
    /// Arrival of a frame at a port.
    Arrival = 1,
    /// Expiry of a timer.
    Timer = 2,
}

/// Event as (time, node, phase, index), packed so that the order of keys is the order of events.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(u128);

const INDEX_BITS: u32 = 30;
const STEP_SHIFT: u32 = 32;

impl Key {
    /// Largest index (port or timer) of a key.
    pub const MAX_INDEX: u32 = (1 << INDEX_BITS) - 1;
    /// Key that no event precedes.
    pub(super) const MIN: Key = Key(0);
    /// Key that follows every event: no phase has the phase bits of this key.
    pub(super) const MAX: Key = Key(u128::MAX);

    /// Creates the key of an event at a port or timer of a node. PRECONDITION: `index <= Key::MAX_INDEX`.
    #[inline]
    pub const fn new(time: Time, node: u32, phase: StepPhase, index: u32) -> Key {
        debug_assert!(index <= Key::MAX_INDEX);
        let low = (phase as u32) << INDEX_BITS | (index & Key::MAX_INDEX);
        Key((time.0 as u128) << 64 | (node as u128) << STEP_SHIFT | low as u128)
    }
    /// Returns the time of the event.
    #[inline]
    pub const fn time(self) -> Time {
        Time((self.0 >> 64) as u64)
    }
    /// Returns the node of the event.
    #[inline]
    pub const fn node(self) -> u32 {
        (self.0 >> STEP_SHIFT) as u32
    }
    /// Returns the part of the node's step.
    #[inline]
    pub const fn phase(self) -> StepPhase {
        match (self.0 as u32) >> INDEX_BITS {
            0 => StepPhase::Ended,
            1 => StepPhase::Arrival,
            _ => StepPhase::Timer,
        }
    }
    /// Returns the number of the port or of the timer.
    #[inline]
    pub const fn index(self) -> u32 {
        self.0 as u32 & Key::MAX_INDEX
    }
    /// Returns true if both keys belong to one step: the same time and the same node.
    #[inline]
    pub const fn is_same_step(self, other: Key) -> bool {
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
    fn key_returns_its_time_node_phase_and_index() {
        for time in [0, 1, 12_304_000, u64::MAX] {
            for node in [0, 7, u32::MAX] {
                for phase in [StepPhase::Ended, StepPhase::Arrival, StepPhase::Timer] {
                    for index in [0, 3, Key::MAX_INDEX] {
                        let key = Key::new(Time(time), node, phase, index);
                        assert_eq!((key.time(), key.node()), (Time(time), node));
                        assert_eq!((key.phase(), key.index()), (phase, index));
                        assert!(key < Key::MAX);
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
            key(1, 9, StepPhase::Timer, 9),
            key(2, 1, StepPhase::Timer, 9),
            key(2, 2, StepPhase::Ended, Key::MAX_INDEX),
            key(2, 2, StepPhase::Arrival, 0),
            key(2, 2, StepPhase::Arrival, 1),
            key(2, 2, StepPhase::Timer, 0),
        ];
        assert!(ascending.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn a_step_is_one_node_at_one_time() {
        let key = |time, node, phase, index| Key::new(Time(time), node, phase, index);
        let first = key(5, 2, StepPhase::Ended, 0);
        assert!(first.is_same_step(key(5, 2, StepPhase::Timer, Key::MAX_INDEX)));
        assert!(!first.is_same_step(key(5, 3, StepPhase::Ended, 0)));
        assert!(!first.is_same_step(key(6, 2, StepPhase::Ended, 0)));
    }
}
