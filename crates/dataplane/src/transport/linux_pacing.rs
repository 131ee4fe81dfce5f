//! Pacing by TCP itself, as in Linux 6.18 (`tcp_pacing_check`, `tcp_update_skb_after_send`).
//!
//! The unit of pacing is a burst of new data (`sender/bursts.rs`), or one retransmitted segment. Each unit determines
//! when the next one may leave.
//!
//! The rate is one window per smoothed round-trip time, times a percentage that is larger in slow start
//! (`tcp_update_pacing_rate`). ACKs set it; timeouts leave it. Bytes are bytes of payload.
//! The first ten segments of a connection are not paced. A sender that is late may make up for half of the next gap.
//! The pacing timer is exact, whatever the clock of its host (an hrtimer in Linux).

use mech::params::Values;
use units::{Dur, Time};

/// Number of segments without pacing at the start (`TCP_INIT_CWND`, whatever the initial window is).
const UNPACED_SEGMENTS: u32 = 10;
/// Number of picoseconds in a second.
const PS_PER_SECOND: u128 = Dur::s(1).0 as u128;

/// Parameters of TCP pacing: if it is on, and its rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PacingChoices {
    pub on: bool,
    /// Pacing rates in per cent of a window per round trip: below half of the slow start threshold, and from there on.
    ss_ratio: u32,
    ca_ratio: u32,
}

impl PacingChoices {
    /// Returns the pacing parameters of a transport; pacing is off if it has none, or without `keeps_segments`.
    /// `keeps_segments` is true if senders keep the state of every segment.
    pub fn new(values: &Values, keeps_segments: bool) -> PacingChoices {
        if !values.has("pacing") {
            return PacingChoices { on: false, ss_ratio: 200, ca_ratio: 120 };
        }
        let ratio = |name| values.count(name) as u32;
        let (ss_ratio, ca_ratio) = (ratio("pacing_ss_ratio"), ratio("pacing_ca_ratio"));
        PacingChoices { on: values.flag("pacing"), ss_ratio, ca_ratio }.only_if(keeps_segments)
    }

    /// Returns these pacing parameters, with pacing off unless senders keep the state of every segment.
    pub fn only_if(self, keeps_segments: bool) -> PacingChoices {
        PacingChoices { on: self.on && keeps_segments, ..self }
    }

    /// Returns the part of a window that is sent per round trip, in per cent.
    pub fn rate_percent(&self, window: u32, ssthresh: u32) -> u32 {
        if window < ssthresh / 2 { self.ss_ratio } else { self.ca_ratio }
    }
}

/// State of TCP pacing of one sender.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PacingState {
    /// Pacing rate in bytes per second; 0 before the first sample of the round-trip time.
    rate: u64,
    /// Time before which pacing lets nothing leave.
    next: Time,
    /// Number of segments that have left.
    sent: u32,
    /// True if data that the windows allow waits for time `next`.
    waits: bool,
    /// Expiry of the retransmission, probe or reordering timer, while the sender's single timer is set for pacing.
    other: Time,
}

impl PacingState {
    /// Sets the pacing rate to `percent` of this number of bytes per smoothed round-trip time.
    pub fn set_rate(&mut self, bytes: u64, percent: u32, srtt: Dur) {
        let a_second = u128::from(bytes) * u128::from(percent) * PS_PER_SECOND / (100 * u128::from(srtt.0.max(1)));
        self.rate = u64::try_from(a_second).unwrap_or(u64::MAX);
    }

    /// Clears the note that paced data waits, before the sender looks for data to send.
    pub fn forget_waiting(&mut self) {
        self.waits = false;
    }

    /// Returns true if pacing makes data wait that the windows allow.
    pub fn must_wait(&mut self, now: Time) -> bool {
        self.waits = self.next > now;
        self.waits
    }

    /// Records a paced burst or segment that has left, and computes when the next one may leave.
    pub fn on_sent(&mut self, bytes: u64, segments: u32, now: Time) {
        let late = now.since(self.next);
        self.next = self.next.max(now);
        self.sent = self.sent.saturating_add(segments);
        if self.sent < UNPACED_SEGMENTS || self.rate == 0 {
            return;
        }
        let gap = u128::from(bytes) * PS_PER_SECOND / u128::from(self.rate);
        let gap = Dur(u64::try_from(gap).unwrap_or(u64::MAX));
        self.next = self.next.saturating_add(gap.saturating_sub(late.min(Dur(gap.0 / 2))));
    }

    /// Returns the time until pacing lets the next burst or segment leave.
    pub fn delay(&self, now: Time) -> Dur {
        self.next.since(now)
    }

    /// Returns true if data that waited for pacing may leave now.
    pub fn is_due(&self, now: Time) -> bool {
        self.waits && self.next <= now
    }

    /// Returns the expiry of the sender's single timer, which serves pacing and the timer that expires at `other`.
    /// `None` if no data waits, so that the timer stays as it is.
    pub fn expiry(&mut self, other: Time) -> Option<Time> {
        self.other = other;
        self.waits.then(|| other.min(self.next))
    }

    /// Returns the expiry of the sender's other timer if the single timer may be set for pacing; else `None`.
    pub fn other_expiry(&self) -> Option<Time> {
        self.waits.then_some(self.other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Dur::us(us)
    }

    /// Returns the pacing state of a sender that has sent ten segments, at 1 MB/s: a byte takes 1 us.
    fn paced() -> PacingState {
        let mut pace = PacingState::default();
        pace.set_rate(500, 200, Dur::ms(1));
        pace.on_sent(9_000, 9, at(0));
        assert!(!pace.must_wait(at(0)), "the first nine segments do not wait");
        pace.on_sent(1_000, 1, at(0));
        pace
    }

    #[test]
    fn next_burst_waits_for_duration_of_last_burst() {
        let mut pace = paced();
        assert!(
            pace.must_wait(at(999)) && !pace.is_due(at(999)) && pace.is_due(at(1_000)) && !pace.must_wait(at(1_000))
        );
        assert_eq!(pace.delay(at(400)), Dur::us(600));
    }

    #[test]
    fn late_burst_shortens_next_gap_by_at_most_half() {
        let next = |late: u64| {
            let mut pace = paced();
            pace.on_sent(1_000, 1, at(1_000 + late));
            pace.next
        };
        assert_eq!([next(0), next(300), next(500)], [at(2_000); 3]);
        assert_eq!(next(900), at(2_400));
    }

    #[test]
    fn data_never_waits_without_pacing_rate() {
        let mut pace = PacingState::default();
        pace.on_sent(90_000, 90, at(5));
        assert!(!pace.must_wait(at(5)));
    }

    #[test]
    fn extreme_pacing_rates_do_not_overflow() {
        let mut pace = paced();
        pace.set_rate(u64::MAX, 1000, Dur::ZERO);
        pace.on_sent(65_536, 1, at(1_000));
        assert_eq!(pace.next, at(1_000));
        pace.set_rate(1, 1, Dur(u64::MAX));
        pace.on_sent(65_536, 1, at(1_000));
        assert_eq!(pace.next, at(1_000), "less than a byte a second is no rate");
    }
}
