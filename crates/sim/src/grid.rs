//! Instants at which a run checks the whole network for its end, overload, failure and deadlock.
//!
//! They depend on the scenario alone, so that a run ends at the same instant however it is driven and into how
//! many partitions it is divided. A check sees the state before its instant: the events of that instant have not
//! begun.

use scenario::limits::grid_step;
use units::{Dur, Time};

/// Equally distant instants, the end of the scenario's duration among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    origin: Time,
    /// A power of two of picoseconds.
    step: u64,
}

impl Grid {
    /// That of a run: the power of two of picoseconds that is next below its duration over 8192, within bounds.
    pub(crate) fn for_run(duration: Dur) -> Grid {
        Grid { origin: Time(duration.0), step: grid_step(duration).0 }
    }

    /// The first instant after `at`.
    #[inline]
    pub(crate) fn after(self, at: Time) -> Time {
        let next = at.saturating_add(Dur(1));
        next.saturating_add(Dur(self.origin.0.wrapping_sub(next.0) & (self.step - 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_duration_is_an_instant_and_the_step_follows_it_within_bounds() {
        let step = |duration| Grid::for_run(duration).step;
        assert_eq!([Dur(0), Dur::us(1), Dur::ms(20)].map(step), [1 << 17, 1 << 17, 1 << 21]);
        assert_eq!([Dur::ms(200), Dur::ms(3_600_000)].map(step), [1 << 24; 2]);
        for duration in [1, 131_071, 20_000_000_000, 7_777_777_777_777].map(Dur) {
            let grid = Grid::for_run(duration);
            assert_eq!(grid.after(Time(duration.0 - 1)), Time(duration.0));
            assert_eq!(grid.after(Time(duration.0)), Time(duration.0 + grid.step));
        }
    }

    #[test]
    fn the_instant_after_one_is_later_by_at_most_a_step_and_the_end_of_time_is_its_own() {
        let grid = Grid::for_run(Dur(20_000_000_123));
        let mut at = Time(7);
        for _ in 0..100 {
            let next = grid.after(at);
            assert!(next > at && next.0 - at.0 <= grid.step && (next.0 % grid.step) == 20_000_000_123 % grid.step);
            assert_eq!(grid.after(Time(next.0 - 1)), next);
            at = next;
        }
        assert_eq!(grid.after(Time::NEVER), Time::NEVER);
    }
}
