//! Timers of a host whose clock ticks, as those of a Linux kernel do: a timer is set for a number of ticks,
//! and fires at one.
//!
//! A time that is not a whole number of ticks is rounded up, and what has passed of the tick in which it is
//! set does not count. So a timer is never early, and up to two ticks late. Longer ones are coarser: from 63
//! ticks on they fire at every eighth tick alone, from 504 on at every 64th, and so on (Linux's timer wheel,
//! `kernel/time/timer.c`).

use units::{Dur, Time};

/// The clock of one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticks {
    /// Length of a tick; zero where time is continuous.
    pub every: Dur,
    /// When the first tick is.
    pub phase: Dur,
}

/// The longest timer of the finest level, in ticks, and how much coarser each level is than the one before.
const FINEST: u64 = 63;
const COARSER_BITS: u32 = 3;

impl Ticks {
    /// When a timer fires that is set now for so long.
    pub fn expiry(self, now: Time, wait: Dur) -> Time {
        if self.every == Dur::ZERO {
            return now.saturating_add(wait);
        }
        let ticks = self.ticks_of(wait);
        let at = coarse(self.passed(now).saturating_add(ticks), ticks);
        Time(at.saturating_mul(self.every.0).saturating_sub(self.every.0 - self.phase.0))
    }

    /// How many ticks there were; microseconds where time is continuous.
    pub fn passed(self, now: Time) -> u64 {
        // One tick is at `phase`, so that the first instants of a run lie between two as well.
        let every = self.length().0;
        now.0.saturating_add(every - self.phase.0) / every
    }

    /// A time in ticks, or microseconds, rounded up.
    pub fn ticks_of(self, time: Dur) -> u64 {
        time.0.div_ceil(self.length().0)
    }

    /// How long so many ticks are, or microseconds.
    pub fn time_of(self, ticks: u64) -> Dur {
        Dur(ticks.saturating_mul(self.length().0))
    }

    fn length(self) -> Dur {
        if self.every == Dur::ZERO { Dur::us(1) } else { self.every }
    }
}

/// The tick at which a timer for tick `due` fires that is set `ticks` ticks ahead.
fn coarse(due: u64, ticks: u64) -> u64 {
    let mut bits = 0;
    while bits < 60 && ticks >= FINEST << bits {
        bits += COARSER_BITS;
    }
    ((due >> bits) + 1) << bits
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOCK: Ticks = Ticks { every: Dur::ms(4), phase: Dur::ms(1) };

    fn at(us: u64) -> Time {
        Time::ZERO + Dur::us(us)
    }

    #[test]
    fn a_timer_fires_at_the_tick_after_the_last_that_it_waits_for() {
        // Ticks are at 1, 5, 9, 13 ms.
        assert_eq!(CLOCK.expiry(at(1_000), Dur::us(2_000)), at(9_000), "one whole tick, from a tick on");
        assert_eq!(CLOCK.expiry(at(4_900), Dur::us(2_000)), at(9_000), "and just before the next");
        assert_eq!(CLOCK.expiry(at(5_000), Dur::us(4_000)), at(13_000));
        assert_eq!(CLOCK.expiry(at(5_000), Dur::us(4_001)), at(17_000), "a little more is a tick more");
        assert_eq!(CLOCK.expiry(at(0), Dur::us(4_000)), at(5_000), "before the first tick");
    }

    #[test]
    fn a_least_timeout_of_ten_milliseconds_takes_sixteen_to_twenty() {
        // 12 ms are three ticks of 4 ms; with any round-trip time on top, four.
        for set in [5_000, 6_000, 8_999] {
            assert_eq!(CLOCK.expiry(at(set), Dur::us(12_005)), at(25_000));
        }
    }

    #[test]
    fn long_timers_are_coarse() {
        let clock = Ticks { every: Dur::ms(1), phase: Dur::ZERO };
        assert_eq!(clock.expiry(at(500), Dur::ms(62)), at(63_000), "62 ticks: to the tick");
        assert_eq!(clock.expiry(at(500), Dur::ms(63)), at(71_000), "63: to eight");
        assert_eq!(clock.expiry(at(500), Dur::ms(504)), at(511_000), "504: to 64");
    }

    #[test]
    fn without_ticks_time_is_continuous() {
        let clock = Ticks { every: Dur::ZERO, phase: Dur::ZERO };
        assert_eq!(clock.expiry(at(7), Dur::us(5)), at(12));
        assert_eq!(clock.expiry(at(7), Dur(u64::MAX)), Time::NEVER);
    }
}
