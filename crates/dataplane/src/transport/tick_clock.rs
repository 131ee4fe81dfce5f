//! Timers of a host whose clock ticks, as in a Linux kernel: a timer waits for a number of ticks, and fires at one.
//!
//! There are two timer wheels.
//!
//! **Linux 6.18.** A wait that is no whole number of ticks is rounded up. The part of the current tick that has passed
//! does not count. So a timer is never early, and up to two ticks late.
//! Longer timers are coarser: from 63 ticks on they fire only at every eighth tick, from 504 on at every 64th, and so
//! on (Linux's timer wheel, `kernel/time/timer.c`).
//!
//! Timers of one tick are handled one after the other, coarser ones first. Within a level, the timer set last
//! comes first, since a bucket of the wheel is a list to whose head timers are added.
//! This order decides which flows lose packets if many of them time out in the same tick and overflow a buffer.
//!
//! **Linux 2.6.38.** A timer of n ticks fires at the n-th tick from now, so up to one tick early. From 256 ticks on the
//! kernel may delay it by up to 1/256 (`apply_slack`), to the tick in that span with the most trailing zeros.
//! Timers of one tick are handled in the order in which they were set.

use units::{Dur, Time};

/// Clock of a host, at whose ticks timers fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TickClock {
    /// Length of a tick; zero for continuous time.
    pub every: Dur,
    /// Time of the first tick after the start of the run.
    pub phase: Dur,
    /// Timer wheel of the kernel.
    pub wheel: TimerWheel,
}

/// Timer wheel of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimerWheel {
    /// Wheel with levels that grow coarser with the wait (Linux since 4.8).
    Levels,
    /// Wheel with a list of timers for every tick (Linux before 4.8).
    Exact,
}

/// Shortest wait with slack on the exact timer wheel, in ticks; also the divisor of a wait that gives its slack.
const SLACK_FROM: u64 = 256;

/// Shortest wait in ticks of a timer beyond the finest level, and binary logarithm of the ratio of two levels.
const FINEST_LEVEL_TICKS: u64 = 63;
const COARSER_BITS: u32 = 3;

/// Span in picoseconds over which the timers of one wheel level at one tick are spread, at least one picosecond apart.
/// A timer's place in the order is coded in its time. The packets that the timers release queue at the NIC anyway.
const LEVEL_HANDLING_TIME: u64 = 1 << 22;
/// Number of wheel levels that are handled one after the other; still coarser levels join the coarsest of these.
const ORDERED_LEVELS: u64 = 4;

/// Expiry of a timer: its tick, and its order among the timers of that tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimerExpiry {
    /// Tick at which the timer fires; its exact time if time is continuous.
    pub at: Time,
    /// Delay from the tick until the timer's wheel level is handled; `None` if time is continuous.
    level_from: Option<Dur>,
    /// True if timers of one tick are handled in the order in which they were set, false for the reverse order.
    in_order: bool,
}

impl TimerExpiry {
    /// Returns the time at which the timer is handled; `set` is the number of timers set so far, this one included.
    pub fn handling_time(self, set: u64) -> Time {
        match self.level_from {
            Some(_) if self.in_order => self.at.saturating_add(Dur(set % LEVEL_HANDLING_TIME)),
            Some(from) => self.at.saturating_add(Dur(from.0 + LEVEL_HANDLING_TIME - 1 - set % LEVEL_HANDLING_TIME)),
            None => self.at,
        }
    }

    /// Returns true if a timer that is handled at `other` is in the same bucket of the wheel.
    pub fn is_same_bucket(self, other: Time) -> bool {
        self.level_from.is_some_and(|from| {
            let first = self.at.saturating_add(from);
            first <= other && other < first.saturating_add(Dur(LEVEL_HANDLING_TIME))
        })
    }
}

impl TickClock {
    /// Returns the expiry of a timer that is set at `now` to wait for `wait`.
    pub fn expiry(self, now: Time, wait: Dur) -> TimerExpiry {
        if self.every == Dur::ZERO {
            return TimerExpiry { at: now.saturating_add(wait), level_from: None, in_order: false };
        }
        let (passed, ticks) = (self.ticks_at(now), self.ticks_of(wait));
        let (tick, from) = match self.wheel {
            TimerWheel::Levels => {
                let level = level_of(ticks);
                let finer = ORDERED_LEVELS - 1 - u64::from(level).min(ORDERED_LEVELS - 1);
                (fire_tick_of_level(passed.saturating_add(ticks), level), finer * LEVEL_HANDLING_TIME)
            }
            TimerWheel::Exact => (fire_tick_with_slack(passed, ticks), 0),
        };
        TimerExpiry { at: self.time_at(tick), level_from: Some(Dur(from)), in_order: self.wheel == TimerWheel::Exact }
    }

    /// Instant of the tick with this number.
    fn time_at(self, tick: u64) -> Time {
        Time(tick.saturating_mul(self.every.0).saturating_sub(self.every.0 - self.phase.0))
    }

    /// Returns the number of ticks until `now`; microseconds if time is continuous.
    pub fn ticks_at(self, now: Time) -> u64 {
        // The first tick is at `phase`, so that the start of a run is between two ticks as well.
        let every = self.tick_length().0;
        now.0.saturating_add(every - self.phase.0) / every
    }

    /// Returns a time in ticks, or microseconds if time is continuous, rounded up.
    pub fn ticks_of(self, time: Dur) -> u64 {
        time.0.div_ceil(self.tick_length().0)
    }

    /// Returns the length of a number of ticks, or of microseconds if time is continuous.
    pub fn time_of(self, ticks: u64) -> Dur {
        Dur(ticks.saturating_mul(self.tick_length().0))
    }

    fn tick_length(self) -> Dur {
        if self.every == Dur::ZERO { Dur::us(1) } else { self.every }
    }
}

/// Returns the level of the timer wheel for a timer that waits this number of ticks.
fn level_of(ticks: u64) -> u32 {
    let mut level = 0;
    while level < 20 && ticks >= FINEST_LEVEL_TICKS << (level * COARSER_BITS) {
        level += 1;
    }
    level
}

/// Returns the tick at which a timer fires on the exact wheel: that with most trailing zeros within its slack.
fn fire_tick_with_slack(passed: u64, ticks: u64) -> u64 {
    let due = passed.saturating_add(ticks);
    if ticks < SLACK_FROM {
        return due;
    }
    let limit = due.saturating_add(ticks / SLACK_FROM);
    match (due ^ limit).checked_ilog2() {
        None => due,
        Some(bit) => limit >> bit << bit,
    }
}

/// Returns the tick at which a timer of this wheel level fires if its wait ends at `due`.
fn fire_tick_of_level(due: u64, level: u32) -> u64 {
    let bits = level * COARSER_BITS;
    ((due >> bits) + 1) << bits
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOCK: TickClock = TickClock { every: Dur::ms(4), phase: Dur::ms(1), wheel: TimerWheel::Levels };

    fn at(us: u64) -> Time {
        Time::ZERO + Dur::us(us)
    }

    #[test]
    fn timer_waits_n_whole_ticks_and_fires_at_the_next() {
        // Ticks are at 1, 5, 9, 13 ms.
        assert_eq!(CLOCK.expiry(at(1_000), Dur::us(2_000)).at, at(9_000), "one whole tick, from a tick on");
        assert_eq!(CLOCK.expiry(at(4_900), Dur::us(2_000)).at, at(9_000), "and just before the next");
        assert_eq!(CLOCK.expiry(at(5_000), Dur::us(4_000)).at, at(13_000));
        assert_eq!(CLOCK.expiry(at(5_000), Dur::us(4_001)).at, at(17_000), "a little more is a tick more");
        assert_eq!(CLOCK.expiry(at(0), Dur::us(4_000)).at, at(5_000), "before the first tick");
    }

    #[test]
    fn a_minimum_rto_of_ten_milliseconds_takes_sixteen_to_twenty() {
        // 12 ms are three ticks of 4 ms; with any round-trip time on top, four.
        for set in [5_000, 6_000, 8_999] {
            assert_eq!(CLOCK.expiry(at(set), Dur::us(12_005)).at, at(25_000));
        }
    }

    #[test]
    fn long_timers_are_coarse() {
        let clock = TickClock { every: Dur::ms(1), phase: Dur::ZERO, wheel: TimerWheel::Levels };
        assert_eq!(clock.expiry(at(500), Dur::ms(62)).at, at(63_000), "62 ticks: to the tick");
        assert_eq!(clock.expiry(at(500), Dur::ms(63)).at, at(71_000), "63: to eight");
        assert_eq!(clock.expiry(at(500), Dur::ms(504)).at, at(511_000), "504: to 64");
    }

    #[test]
    fn last_set_timer_of_a_tick_is_handled_first() {
        let found = CLOCK.expiry(at(1_000), Dur::us(2_000));
        let handled: Vec<Time> = (1..100).map(|set| found.handling_time(set)).collect();
        assert!(handled.is_sorted_by(|a, b| a > b), "each before those that were set before it");
        assert!(handled.iter().all(|at| *at >= found.at && *at < found.at + Dur::us(20)));
        assert!(handled.iter().all(|at| found.is_same_bucket(*at)));
        assert!(!CLOCK.expiry(at(5_000), Dur::us(2_000)).is_same_bucket(handled[0]), "another tick");
    }

    #[test]
    fn coarser_timers_of_a_tick_are_handled_first() {
        let clock = TickClock { every: Dur::ms(1), phase: Dur::ZERO, wheel: TimerWheel::Levels };
        let coarse = clock.expiry(at(500), Dur::ms(64));
        let fine = clock.expiry(at(12_500), Dur::ms(58));
        assert_eq!((coarse.at, fine.at), (at(71_000), at(71_000)));
        assert!(coarse.handling_time(1) < fine.handling_time(2));
        assert!(!fine.is_same_bucket(coarse.handling_time(1)), "it moves to another bucket");
    }

    #[test]
    fn an_exact_wheel_fires_at_the_nth_tick_from_now() {
        let clock = TickClock { wheel: TimerWheel::Exact, ..CLOCK };
        // Ticks are at 1, 5, 9, 13 ms.
        assert_eq!(clock.expiry(at(1_000), Dur::ms(4)).at, at(5_000));
        assert_eq!(clock.expiry(at(4_900), Dur::ms(4)).at, at(5_000), "up to a tick early");
        assert_eq!(clock.expiry(at(5_000), Dur::us(4_001)).at, at(13_000), "a part of a tick is one");
        let handled: Vec<Time> = (1..100).map(|set| clock.expiry(at(1_000), Dur::ms(4)).handling_time(set)).collect();
        assert!(handled.is_sorted() && handled[0] >= at(5_000), "in the order of their setting");
    }

    #[test]
    fn slack_of_a_256th_delays_timer_to_rounder_tick() {
        assert_eq!(fire_tick_with_slack(0, 255), 255);
        // The kernel compares 401 (…0001) with 402 (…0010): the highest bit that differs is the second. Lower bits of
        // 402 are cleared, so 402 remains.
        assert_eq!(fire_tick_with_slack(0, 401), 402);
        assert_eq!(fire_tick_with_slack(0, 402), 403, "402 and 403 differ in the lowest bit only, so 403 remains");
        assert_eq!(fire_tick_with_slack(7, 1000), 1008, "1007 to 1010: 1008 has the most trailing zeros");
    }

    #[test]
    fn without_ticks_time_is_continuous() {
        let clock = TickClock { every: Dur::ZERO, phase: Dur::ZERO, wheel: TimerWheel::Levels };
        let found = clock.expiry(at(7), Dur::us(5));
        assert_eq!((found.at, found.handling_time(3)), (at(12), at(12)));
        assert!(!found.is_same_bucket(at(12)));
        assert_eq!(clock.expiry(at(7), Dur(u64::MAX)).at, Time::NEVER);
    }
}
