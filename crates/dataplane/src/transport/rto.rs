//! The retransmission timer (RFC 6298).
//!
//! Times are picoseconds; the divisions by 4 and 8 of (2.3) round down. The clock granularity G
//! enters the formula only: samples are exact. Section references are to RFC 6298.

use super::TcpConfig;
use units::{Dur, Time};

/// Round-trip estimate, timeout and timer of one sender.
#[derive(Clone, Copy, Debug)]
pub struct Rto {
    /// SRTT; zero before the first sample.
    srtt: Dur,
    /// RTTVAR.
    rttvar: Dur,
    /// RTO, with its backoff.
    rto: Dur,
    /// When it expires; never while it is off.
    expires: Time,
}

impl Rto {
    /// A timer that is off, with the timeout of (2.1).
    pub fn new(cfg: &TcpConfig) -> Rto {
        Rto { srtt: Dur::ZERO, rttvar: Dur::ZERO, rto: cfg.initial_rto, expires: Time::NEVER }
    }
    /// Takes a sample of the round-trip time, (2.2) to (2.5); ends a backoff (§5, last note).
    #[inline]
    pub fn sample(&mut self, rtt: Dur, cfg: &TcpConfig) {
        let r = rtt.0.max(1);
        if self.srtt == Dur::ZERO {
            self.srtt = Dur(r);
            self.rttvar = Dur(r / 2);
        } else {
            self.rttvar = Dur(self.rttvar.0 - self.rttvar.0 / 4 + self.srtt.0.abs_diff(r) / 4);
            self.srtt = Dur(self.srtt.0 - self.srtt.0 / 8 + r / 8);
        }
        let spread = Dur(self.rttvar.0.saturating_mul(4)).max(cfg.granularity);
        self.rto = self.srtt.saturating_add(spread).clamp(cfg.min_rto, cfg.max_rto);
    }
    /// Data was sent: starts the timer unless it runs (5.1).
    #[inline]
    pub fn start(&mut self, now: Time, cfg: &TcpConfig) {
        if self.expires == Time::NEVER {
            self.restart(now, cfg);
        }
    }
    /// New data was acknowledged: starts the timer anew (5.3). Where there is no retransmission timer
    /// it never runs.
    #[inline]
    pub fn restart(&mut self, now: Time, cfg: &TcpConfig) {
        if cfg.retransmission_timer {
            self.expires = now.saturating_add(self.rto);
        }
    }
    /// All is acknowledged: the timer is off (5.2).
    #[inline]
    pub fn stop(&mut self) {
        self.expires = Time::NEVER;
    }
    /// The timer expired: doubles the timeout (5.5) and starts anew (5.6).
    pub fn back_off(&mut self, now: Time, cfg: &TcpConfig) {
        self.rto = Dur(self.rto.0.saturating_mul(2)).min(cfg.max_rto);
        self.restart(now, cfg);
    }
    /// Data transmission begins after the timer had to repeat the SYN (5.7): 3 s, within the bounds
    /// of the run. Where these allow more than 3 s it is what the backoff has made of it, if longer.
    pub fn after_lost_syn(&mut self, cfg: &TcpConfig) {
        self.rto = self.rto.max(Dur::s(3)).clamp(cfg.min_rto, cfg.max_rto);
    }
    /// When it expires; [`Time::NEVER`] while it is off.
    #[inline]
    pub fn expires(&self) -> Time {
        self.expires
    }
    /// The timeout as it is now, backoff included.
    pub fn timeout(&self) -> Dur {
        self.rto
    }
    /// The smoothed round-trip time; `None` before the first sample.
    pub fn srtt(&self) -> Option<Dur> {
        (self.srtt != Dur::ZERO).then_some(self.srtt)
    }
}
