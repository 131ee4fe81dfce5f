//! Instants at which the frames in the memory of every switch were stored. They are kept by slot, so that no packet
//! carries its own and frames may leave in any order.

use mech::PktId;
use units::Time;

/// Instants by switch and slot.
#[derive(Clone, Debug, Default)]
pub(crate) struct StorageTimes {
    /// Instants of each switch, by slot.
    slots: Vec<Vec<Time>>,
}

impl StorageTimes {
    pub(crate) fn new(switches: usize) -> StorageTimes {
        StorageTimes { slots: vec![Vec::new(); switches] }
    }

    /// Sets the instant at which the frame in a slot was stored.
    #[inline]
    pub(crate) fn set(&mut self, now: Time, switch: usize, slot: PktId) {
        let (slots, slot) = (&mut self.slots[switch], slot.0 as usize);
        if slots.len() <= slot {
            slots.resize(slot + 1, Time::ZERO);
        }
        slots[slot] = now;
    }

    /// Returns the instant at which the frame in a slot was stored. PRECONDITION: the slot has a frame.
    #[inline]
    pub(crate) fn get(&self, switch: usize, slot: PktId) -> Time {
        self.slots[switch][slot.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::super::{QueueRecord, Scope};
    use super::*;

    const SCOPE: Scope = Scope { to: Time(1000), ..Scope::EMPTY };

    /// Test of waiting times of frames in slots that are used again and leave out of order.
    /// Slot 1 is evicted at 30 and used again. Slots leave out of order. The frame that leaves at 1000 is outside the
    /// window.
    #[test]
    fn slots_are_timed_separately_and_evictions_are_left_out() {
        let (mut stored, mut queue) = (StorageTimes::new(2), QueueRecord::new(0));
        for (now, slot) in [(10, 0), (20, 1), (25, 2), (40, 1), (50, 3)] {
            stored.set(Time(now), 1, PktId(slot));
        }
        for (now, slot) in [(60, 2), (100, 1), (104, 0), (1000, 3)] {
            queue.record_waiting_time(&SCOPE, Time(now), stored.get(1, PktId(slot)));
        }
        let low: Vec<u64> = queue.sojourn.buckets().map(|(low, ..)| low).collect();
        assert_eq!((low, queue.sojourn.sum()), (vec![35, 60, 94], 189));
    }
}
