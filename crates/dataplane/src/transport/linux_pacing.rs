//! Pacing as Linux's TCP does it itself (`tcp_pacing_check`, `tcp_update_skb_after_send`; Linux 6.18): what leaves at once
//! is a burst (`sender/bursts.rs`), or a segment that is sent again, and each says when the next may leave.
//!
//! The rate is that of a window a smoothed round-trip time, more of it in slow start than after (`tcp_update_pacing_rate`).
//! It is set by ACKs; timeouts leave it. Bytes are those of payload. The first ten segments of a connection wait for nothing,
//! and where a sender was late half of the next gap may be made up for. Its timer is exact, whatever its host's clock.

use mech::params::Values;
use units::{Dur, Time};

/// Segments that wait for nothing (Linux: `TCP_INIT_CWND`, whatever the initial window is).
const UNPACED: u32 = 10;
/// A second, in picoseconds.
const SECOND: u128 = Dur::s(1).0 as u128;

/// What is chosen of pacing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PacingChoices {
    pub on: bool,
    /// Windows a round trip, in per cent, below half of the slow start threshold and from there on.
    ss_ratio: u32,
    ca_ratio: u32,
}

impl PacingChoices {
    /// Those of a transport; of one that does not know pacing what Linux has. `by_time` is whether losses are found by time.
    pub fn new(values: &Values, by_time: bool) -> PacingChoices {
        if !values.has("pacing") {
            return PacingChoices { on: false, ss_ratio: 200, ca_ratio: 120 };
        }
        let ratio = |name| values.count(name) as u32;
        let (ss_ratio, ca_ratio) = (ratio("pacing_ss_ratio"), ratio("pacing_ca_ratio"));
        PacingChoices { on: values.flag("pacing"), ss_ratio, ca_ratio }.only_if(by_time)
    }

    /// The same where losses are found by time; else nothing is paced.
    pub fn only_if(self, by_time: bool) -> PacingChoices {
        PacingChoices { on: self.on && by_time, ..self }
    }

    /// How much of a window is sent in a round trip, in per cent.
    pub fn percent(&self, window: u32, ssthresh: u32) -> u32 {
        if window < ssthresh / 2 { self.ss_ratio } else { self.ca_ratio }
    }
}

/// When one sender may send next.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    /// Bytes a second; 0 before the first sample of the round-trip time.
    rate: u64,
    /// Nothing leaves before.
    next: Time,
    /// Segments that have left.
    sent: u32,
    /// Something that may be sent waits for `next`.
    waits: bool,
    /// When the sender's other timer expires, while its one timer is set for what waits.
    other: Time,
}

impl Pace {
    /// The rate of this many bytes a round trip.
    pub fn set_rate(&mut self, bytes: u64, percent: u32, srtt: Dur) {
        let a_second = u128::from(bytes) * u128::from(percent) * SECOND / (100 * u128::from(srtt.0.max(1)));
        self.rate = u64::try_from(a_second).unwrap_or(u64::MAX);
    }

    /// What may be sent is about to be looked for anew: nothing waits until it is found to.
    pub fn look_again(&mut self) {
        self.waits = false;
    }

    /// Whether what may be sent has to wait.
    pub fn holds(&mut self, now: Time) -> bool {
        self.waits = self.next > now;
        self.waits
    }

    /// So much has left at once.
    pub fn on_sent(&mut self, bytes: u64, segments: u32, now: Time) {
        let late = now.since(self.next);
        self.next = self.next.max(now);
        self.sent = self.sent.saturating_add(segments);
        if self.sent < UNPACED || self.rate == 0 {
            return;
        }
        let gap = u128::from(bytes) * SECOND / u128::from(self.rate);
        let gap = Dur(u64::try_from(gap).unwrap_or(u64::MAX));
        self.next = self.next.saturating_add(gap.saturating_sub(late.min(Dur(gap.0 / 2))));
    }

    /// How long until something may leave.
    pub fn delay(&self, now: Time) -> Dur {
        self.next.since(now)
    }

    /// Whether what has waited may leave.
    pub fn is_due(&self, now: Time) -> bool {
        self.waits && self.next <= now
    }

    /// When the one timer of a sender expires whose other timer does at this time.
    pub fn with_timer(&mut self, other: Time) -> Option<Time> {
        self.other = other;
        self.waits.then(|| other.min(self.next))
    }

    /// When that other timer expires, where the one timer may be set for what waits.
    pub fn other(&self) -> Option<Time> {
        self.waits.then_some(self.other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Dur::us(us)
    }

    /// One that has sent ten segments at the start, at 1 MB/s: a byte takes a microsecond.
    fn paced() -> Pace {
        let mut pace = Pace::default();
        pace.set_rate(500, 200, Dur::ms(1));
        pace.on_sent(9_000, 9, at(0));
        assert!(!pace.holds(at(0)), "nine wait for nothing");
        pace.on_sent(1_000, 1, at(0));
        pace
    }

    #[test]
    fn a_burst_says_when_the_next_may_leave() {
        let mut pace = paced();
        assert!(pace.holds(at(999)) && !pace.is_due(at(999)) && pace.is_due(at(1_000)) && !pace.holds(at(1_000)));
        assert_eq!(pace.delay(at(400)), Dur::us(600));
    }

    #[test]
    fn half_of_a_gap_at_most_is_made_up_for() {
        let next = |late: u64| {
            let mut pace = paced();
            pace.on_sent(1_000, 1, at(1_000 + late));
            pace.next
        };
        assert_eq!([next(0), next(300), next(500)], [at(2_000); 3]);
        assert_eq!(next(900), at(2_400));
    }

    #[test]
    fn without_a_rate_nothing_waits() {
        let mut pace = Pace::default();
        pace.on_sent(90_000, 90, at(5));
        assert!(!pace.holds(at(5)));
    }

    #[test]
    fn no_rate_is_too_slow_or_too_fast() {
        let mut pace = paced();
        pace.set_rate(u64::MAX, 1000, Dur::ZERO);
        pace.on_sent(65_536, 1, at(1_000));
        assert_eq!(pace.next, at(1_000));
        pace.set_rate(1, 1, Dur(u64::MAX));
        pace.on_sent(65_536, 1, at(1_000));
        assert_eq!(pace.next, at(1_000), "less than a byte a second is no rate");
    }
}
