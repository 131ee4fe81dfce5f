//! How long frames waited at switches: from the instant at which they were stored to that at which
//! their transmission began.

use super::{Histogram, Scope};
use mech::PktId;
use units::Time;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sojourn {
    /// By switch and slot of its memory: when what lies there was stored.
    stored: Vec<Vec<Time>>,
    /// By followed queue; picoseconds.
    pub(crate) times: Vec<Histogram>,
}

impl Sojourn {
    pub(crate) fn new(switches: usize, queues: usize) -> Sojourn {
        Sojourn { stored: vec![Vec::new(); switches], times: vec![Histogram::default(); queues] }
    }

    /// A frame was stored.
    #[inline]
    pub(crate) fn stored(&mut self, now: Time, switch: usize, slot: PktId) {
        let (slots, slot) = (&mut self.stored[switch], slot.0 as usize);
        if slots.len() <= slot {
            slots.resize(slot + 1, Time::ZERO);
        }
        slots[slot] = now;
    }

    /// The frame in a slot begins to leave.
    #[inline]
    pub(crate) fn started(&mut self, scope: &Scope, now: Time, (switch, queue): (usize, usize), slot: PktId) {
        if scope.covers(now) {
            let since = self.stored[switch].get(slot.0 as usize).copied().unwrap_or(now);
            self.times[queue].add(now.since(since).0);
        }
    }
}
