//! Instants at which a run checks the whole network for its end, overload, failure and deadlock.
//!
//! The instants depend on the scenario alone. A run therefore ends at the same instant, whatever the number of its
//! partitions or the events of each call. A check sees the state before its instant: no event of that instant has
//! happened.

use scenario::limits::grid_step;
use units::{Dur, Time};

/// Equally spaced instants, one of which is the end of the scenario's duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InstantGrid {
    origin: Time,
    /// Time between two instants in picoseconds, a power of two.
    step: u64,
}

impl InstantGrid {
    /// Returns the grid of a run. Its step is the largest power of two of picoseconds up to `duration` / 8192, within
    /// bounds.
    pub(crate) fn for_run(duration: Dur) -> InstantGrid {
        InstantGrid { origin: Time(duration.0), step: grid_step(duration).0 }
    }

    /// Returns the first instant of the grid after `at`.
    #[inline]
    pub(crate) fn next_instant(self, at: Time) -> Time {
        let next = at.saturating_add(Dur(1));
        next.saturating_add(Dur(self.origin.0.wrapping_sub(next.0) & (self.step - 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grid_includes_the_duration_and_bounds_its_step() {
        let step = |duration| InstantGrid::for_run(duration).step;
        assert_eq!([Dur(0), Dur::us(1), Dur::ms(20)].map(step), [1 << 17, 1 << 17, 1 << 21]);
        assert_eq!([Dur::ms(200), Dur::ms(3_600_000)].map(step), [1 << 24; 2]);
        for duration in [1, 131_071, 20_000_000_000, 7_777_777_777_777].map(Dur) {
            let grid = InstantGrid::for_run(duration);
            assert_eq!(grid.next_instant(Time(duration.0 - 1)), Time(duration.0));
            assert_eq!(grid.next_instant(Time(duration.0)), Time(duration.0 + grid.step));
        }
    }

    #[test]
    fn next_instant_is_at_most_one_step_later() {
        let grid = InstantGrid::for_run(Dur(20_000_000_123));
        let mut at = Time(7);
        for _ in 0..100 {
            let next = grid.next_instant(at);
            assert!(next > at && next.0 - at.0 <= grid.step && (next.0 % grid.step) == 20_000_000_123 % grid.step);
            assert_eq!(grid.next_instant(Time(next.0 - 1)), next);
            at = next;
        }
        assert_eq!(grid.next_instant(Time::NEVER), Time::NEVER);
    }
}
