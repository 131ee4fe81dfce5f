//! The retransmission timer (RFC 6298).
//!
//! Times are picoseconds; the divisions by 4 and 8 of (2.3) round down. The clock granularity G is used only in the
//! formula: samples are exact. Section references are to RFC 6298.

use super::TcpConfig;
use super::option_values::RtoFloor;
use super::rtt_ticks::RttTicks;
use super::tick_clock::TickClock;
use core::ops::Range;
use units::{Dur, Time};

/// Round-trip estimate, timeout and timer of one sender.
#[derive(Clone, Copy, Debug)]
pub struct Rto {
    /// SRTT; zero before the first sample.
    srtt: Dur,
    /// RTTVAR: deviation of the round-trip time.
    rttvar: Dur,
    /// RTO with its backoff, below the minimum RTO only with `RtoFloor::Backoff`, which applies the minimum later.
    rto: Dur,
    /// Time at which the timer expires; [`Time::NEVER`] while it is off.
    expires: Time,
}

impl Rto {
    /// Creates a retransmission timer that is off, with the initial timeout (RFC 6298 (2.1)).
    pub fn new(cfg: &TcpConfig) -> Rto {
        Rto { srtt: Dur::ZERO, rttvar: Dur::ZERO, rto: cfg.initial_rto, expires: Time::NEVER }
    }
    /// Updates the estimate with a round-trip sample (RFC 6298 (2.2) to (2.5)), which ends a backoff (§5, last note).
    #[inline]
    pub fn sample(&mut self, rtt: Dur, cfg: &TcpConfig) {
        // Zero means that there is no sample yet, so a sample is at least 1 ps.
        let r = rtt.0.max(1);
        if self.srtt == Dur::ZERO {
            self.srtt = Dur(r);
            self.rttvar = Dur(r / 2);
        } else {
            self.rttvar = Dur(self.rttvar.0 - self.rttvar.0 / 4 + self.srtt.0.abs_diff(r) / 4);
            self.srtt = Dur(self.srtt.0 - self.srtt.0 / 8 + r / 8);
        }
        let spread = Dur(self.rttvar.0.saturating_mul(4)).max(cfg.granularity);
        self.rto = match cfg.rto_floor {
            RtoFloor::Sum => self.srtt.saturating_add(spread).clamp(cfg.min_rto, cfg.max_rto),
            RtoFloor::Deviation => self.srtt.saturating_add(spread.max(cfg.min_rto)).min(cfg.max_rto),
            RtoFloor::Backoff => self.srtt.saturating_add(spread).min(cfg.max_rto),
        };
    }
    /// Updates the estimate with a round-trip sample, and uses Linux's deviation instead of RTTVAR if configured.
    /// `outstanding` is the range from SND.UNA to SND.NXT.
    pub(super) fn sample_by_rack(
        &mut self,
        rtt: Dur,
        spread: &mut LinuxDeviation,
        outstanding: Range<u64>,
        cfg: &TcpConfig,
    ) {
        let before = self.srtt;
        self.sample(rtt, cfg);
        if cfg.rto_floor == RtoFloor::Deviation {
            let spread = spread.sample(rtt.max(Dur(1)), before, cfg.min_rto, outstanding);
            self.rto = self.srtt.saturating_add(spread).min(cfg.max_rto);
        }
        if cfg.tick > Dur::ZERO {
            // The kernel keeps the timeout in ticks. The time that remains of it later counts from this rounded value.
            self.rto = Dur(self.rto.0.checked_next_multiple_of(cfg.tick.0).unwrap_or(self.rto.0));
        }
    }
    /// Sets the timeout from an estimate in whole ticks (Linux 2.6.38), which ends a backoff.
    pub(super) fn set_estimate(&mut self, estimate: &RttTicks, clock: TickClock, cfg: &TcpConfig) {
        self.srtt = Dur(clock.time_of(estimate.srtt).0 / 8);
        self.rto = clock.time_of(estimate.timeout()).min(cfg.max_rto);
    }
    /// Starts the retransmission timer after data was sent, unless it runs (RFC 6298 (5.1)).
    #[inline]
    pub fn start(&mut self, now: Time, cfg: &TcpConfig) {
        if self.expires == Time::NEVER {
            self.restart(now, cfg);
        }
    }
    /// Restarts the retransmission timer after new data was acknowledged (RFC 6298 (5.3)).
    /// Without a retransmission timer it never runs, so this is the only place that starts it.
    #[inline]
    pub fn restart(&mut self, now: Time, cfg: &TcpConfig) {
        if cfg.retransmission_timer {
            self.expires = now.saturating_add(self.timeout(cfg));
        }
    }
    /// Sets the expiry of the timer to `at`, for uses other than those of RFC 6298 (5.1) to (5.6).
    pub fn set(&mut self, at: Time) {
        self.expires = at;
    }
    /// Stops the retransmission timer after all data was acknowledged (RFC 6298 (5.2)).
    #[inline]
    pub fn stop(&mut self) {
        self.expires = Time::NEVER;
    }
    /// Doubles the timeout and restarts the timer after it expired (RFC 6298 (5.5), (5.6)).
    pub fn back_off(&mut self, now: Time, cfg: &TcpConfig) {
        self.rto = Dur(self.rto.0.saturating_mul(2)).min(cfg.max_rto);
        self.restart(now, cfg);
    }
    /// Sets the timeout of data to 3 s, within its limits, after the SYN had to be repeated (RFC 6298 (5.7)).
    /// If the backed-off timeout is longer than that, it stays.
    pub fn after_lost_syn(&mut self, cfg: &TcpConfig) {
        self.rto = self.rto.max(Dur::s(3)).clamp(cfg.min_rto, cfg.max_rto);
    }
    /// Returns the time at which the timer expires; [`Time::NEVER`] while it is off.
    #[inline]
    pub fn expires(&self) -> Time {
        self.expires
    }
    /// Returns the current timeout, backoff included.
    #[inline]
    pub fn timeout(&self, cfg: &TcpConfig) -> Dur {
        match cfg.rto_floor {
            RtoFloor::Sum | RtoFloor::Deviation => self.rto,
            RtoFloor::Backoff => self.rto.max(cfg.min_rto),
        }
    }
    /// Returns the current timeout before `RtoFloor::Backoff` raises it to the minimum RTO.
    pub fn timeout_without_floor(&self) -> Dur {
        self.rto
    }
    /// Returns the smoothed round-trip time; `None` before the first sample.
    pub fn srtt(&self) -> Option<Dur> {
        (self.srtt != Dur::ZERO).then_some(self.srtt)
    }
}

/// Deviation of the round-trip time as in Linux: the largest of a round trip (`tcp_rtt_estimator`).
/// It decays by a quarter of its excess per round trip.
/// Linux calls it `rttvar`. It is four times RTTVAR, and never below the minimum RTO.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LinuxDeviation {
    /// Smoothed deviation times four, and its largest value in this round trip.
    now: u64,
    most: u64,
    /// Deviation that is part of the timeout.
    held: u64,
    /// End of this round trip: it is over when a byte beyond this one is acknowledged.
    until: u64,
}

impl LinuxDeviation {
    /// Updates the deviation with a round-trip sample, and returns the term to add to the smoothed time in the timeout.
    fn sample(&mut self, rtt: Dur, srtt: Dur, floor: Dur, outstanding: Range<u64>) -> Dur {
        if srtt == Dur::ZERO {
            let held = (rtt.0 / 2 * 4).max(floor.0);
            *self = LinuxDeviation { now: rtt.0 / 2 * 4, most: held, held, until: outstanding.end };
            return Dur(held);
        }
        let (off, expected) = (rtt.0.abs_diff(srtt.0), self.now / 4);
        self.now = match off >= expected {
            // A round trip that is shorter than usual is no sign of a larger deviation: Linux weighs it by an eighth.
            true if rtt < srtt => self.now + (off - expected) / 8,
            true => self.now + (off - expected),
            false => self.now - (expected - off),
        };
        if self.now > self.most {
            self.most = self.now;
            self.held = self.held.max(self.most);
        }
        if outstanding.start > self.until {
            self.held -= self.held.saturating_sub(self.most) / 4;
            (self.until, self.most) = (outstanding.end, floor.0);
        }
        Dur(self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviation_is_largest_of_round_trip_and_falls_by_a_quarter() {
        let (floor, mut s) = (Dur::us(10), LinuxDeviation::default());
        let mut of = |rtt: u64, srtt: u64, una: u64, nxt: u64| s.sample(Dur::us(rtt), Dur::us(srtt), floor, una..nxt);
        assert_eq!(of(80, 0, 0, 100), Dur::us(160), "four times half of the first");
        assert_eq!(of(80, 80, 50, 100), Dur::us(160), "it is 120 now, and held");
        assert_eq!(of(280, 80, 60, 100), Dur::us(290), "120 + 200 - 30");
        assert_eq!(of(105, 105, 70, 100), Dur::us(290), "217.5");
        assert_eq!(of(105, 105, 101, 200), Dur::us(290), "the round trip ends, and 290 was its largest");
        assert_eq!(
            of(105, 105, 201, 300),
            Dur(290_000_000 - (290_000_000 - 122_343_750) / 4),
            "122.34375 was that of the next"
        );
    }

    #[test]
    fn shorter_round_trip_counts_an_eighth_and_floor_holds() {
        let mut s = LinuxDeviation::default();
        assert_eq!(s.sample(Dur::us(2), Dur::ZERO, Dur::us(10), 0..9), Dur::us(10));
        s = LinuxDeviation { now: 40_000_000, most: 0, held: 0, until: 9 };
        assert_eq!(s.sample(Dur::us(10), Dur::us(100), Dur::us(1), 0..9), Dur::us(50), "40 + (90 - 10) / 8");
    }
}
