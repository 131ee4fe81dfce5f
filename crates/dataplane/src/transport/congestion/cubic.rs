//! CUBIC (RFC 9438): the window is a cubic function of the time since the last cut, at least as large as Reno's.
//!
//! Windows are whole bytes, and time is whole microseconds. Cubes are computed exactly in 128 bits, and the remainder
//! of a division is kept for the next ACK. ACKs count by the bytes that they acknowledge, so that delayed ACKs do not
//! slow growth.
//! The clock of the function stops while application or receiver leave the window unused (§4.2), as does growth (§5.8).
//! Section references are to RFC 9438.

use super::hystart::HyStart;
use super::usage::WindowUsage;
use super::{AckInfo, CongestionWindows};
use crate::transport::TcpConfig;
use units::{Dur, Time};

/// CUBIC's β in tenths: the part of the window that remains after a cut (RFC 9438 §4.6).
const BETA: u64 = 7;
/// CUBIC's α as numerator and denominator: 3 (1 - β) / (1 + β) = 9 / 17 (RFC 9438 §4.3).
const ALPHA: (u64, u64) = (9, 17);
/// Inverse of CUBIC's C in cubic microseconds per segment: C is 0.4 segments per cubic second (RFC 9438 §4.1).
const CUBED_US_PER_SEGMENT: u128 = 2_500_000_000_000_000_000;
/// Upper limit of the time from the cubic curve's origin in microseconds, so that its cube does not overflow.
const FLAT_AFTER_US: u64 = 100_000_000_000;
/// Fractional bits of W_est, the Reno-friendly window of CUBIC in bytes.
const FRACTION_BITS: u32 = 16;

/// State of CUBIC congestion control (RFC 9438) of one sender.
#[derive(Clone, Debug)]
pub(super) struct Cubic {
    usage: WindowUsage,
    curve: CubicCurve,
    /// Time of the last ACK of new data, or of the end of a later idle time.
    last: Time,
    hystart: HyStart,
}

/// Cubic window function since the last cut: the part of CUBIC's state that a cut changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct CubicCurve {
    /// Start of congestion avoidance, moved later by time with an unused window; [`Time::NEVER`] before it.
    epoch: Time,
    /// K in microseconds (RFC 9438 §4.2): time until the cubic function reaches its plateau.
    k: u64,
    /// W_est (RFC 9438 §4.3), the Reno-friendly window, in units of 2⁻¹⁶ bytes.
    estimate: u64,
    /// Growth below one byte that is carried to the next ACK, times the window.
    rest: u64,
    /// W_max of CUBIC after the last cut; 0 if unknown (RFC 9438 §4.8, §4.10).
    w_max: u32,
    /// Window at the plateau of the cubic function in this epoch: W_max, or the first window if that is larger.
    origin: u32,
    /// cwnd_prior of RFC 9438: congestion window before the last cut.
    prior: u32,
}

impl Cubic {
    pub fn new() -> Cubic {
        let curve = CubicCurve { epoch: Time::NEVER, k: 0, estimate: 0, rest: 0, w_max: 0, origin: 0, prior: 0 };
        Cubic { usage: WindowUsage::default(), curve, last: Time::ZERO, hystart: HyStart::default() }
    }

    /// Returns cwnd and ssthresh after an ACK of new data.
    #[inline(never)]
    pub fn on_ack(&mut self, mut at: CongestionWindows, ack: &AckInfo, cfg: &TcpConfig) -> CongestionWindows {
        let mss = u32::from(cfg.mss);
        self.usage.note_ack(at.cwnd, ack, mss);
        let begun = (self.curve.epoch != Time::NEVER).then(|| ack.now.since(self.curve.epoch));
        if self.hystart.on_ack(at, ack, begun, cfg) {
            at.ssthresh = at.cwnd;
        }
        let gone = ack.now.since(self.last);
        self.last = ack.now;
        if at.cwnd >= ack.rwnd || !self.usage.is_full(at) {
            self.exclude_idle_time(gone);
            return at;
        }
        if !ack.open || ack.ece {
            return at;
        }
        let cwnd = match at.cwnd >= at.ssthresh {
            true => self.curve.avoidance_window(at.cwnd, ack, cfg),
            false => at.cwnd + ack.bytes.min(mss),
        };
        CongestionWindows { cwnd, ..at }
    }

    /// Excludes the time in which nothing was outstanding from the time of the cubic function (RFC 9438 §4.2).
    pub fn on_idle_end(&mut self, now: Time) {
        self.exclude_idle_time(now.since(self.last));
        self.last = now;
    }

    fn exclude_idle_time(&mut self, gone: Dur) {
        let curve = &mut self.curve;
        if curve.epoch != Time::NEVER {
            curve.epoch = curve.epoch.saturating_add(gone);
        }
    }

    /// Records a cut of the window at `flight` bytes in flight, and sets the next W_max (RFC 9438 §4.7).
    /// Returns the slow start threshold without its lower limit (§4.6).
    pub fn cut(&mut self, cwnd: u32, flight: u32, cfg: &TcpConfig) -> u32 {
        let curve = &mut self.curve;
        let converges = cfg.fast_convergence && cwnd < curve.w_max;
        curve.w_max = if converges { (u64::from(cwnd) * (10 + BETA) / 20) as u32 } else { cwnd };
        curve.prior = cwnd;
        curve.epoch = Time::NEVER;
        (u64::from(flight) * BETA / 10) as u32
    }

    /// Makes the next ACK begin a new cubic epoch, because something other than an ACK has set the window.
    pub fn restart_epoch(&mut self) {
        self.curve.epoch = Time::NEVER;
    }

    /// Forgets W_max after a timeout: the next cubic epoch begins at the window after slow start (RFC 9438 §4.8).
    pub fn on_timeout(&mut self) {
        self.curve.epoch = Time::NEVER;
        self.curve.w_max = 0;
        self.hystart = HyStart::default();
    }

    /// Returns the cubic function, which a cut would change, so that an undo can restore it.
    pub fn save_curve(&self) -> CubicCurve {
        self.curve
    }

    /// Restores the cubic function from before a spurious cut (RFC 9438 §4.9).
    pub fn undo(&mut self, saved: CubicCurve) {
        self.curve = saved;
    }
}

impl CubicCurve {
    /// Returns the window after an ACK in congestion avoidance (RFC 9438 §4.3, §4.4, §4.5).
    fn avoidance_window(&mut self, cwnd: u32, ack: &AckInfo, cfg: &TcpConfig) -> u32 {
        let mss = u32::from(cfg.mss);
        if self.epoch == Time::NEVER {
            self.begin_epoch(cwnd, ack.now, mss);
        }
        let bytes = u64::from(ack.bytes.min(cwnd));
        let estimate = self.update_reno_estimate(cwnd, bytes, mss);
        let (t, window) = (microseconds(ack.now.since(self.epoch)), u64::from(cwnd));
        if self.window_at(t, mss) < u64::from(estimate) {
            return estimate.max(cwnd);
        }
        // Target one round trip ahead, at least the present window and at most 1.5 times it (§4.2).
        let target = self.window_at(t + microseconds(ack.srtt), mss).clamp(window, window + window / 2);
        self.rest += (target - window) * bytes;
        let more = self.rest / window;
        self.rest %= window;
        cwnd + more as u32
    }

    /// Begins congestion avoidance (RFC 9438 §4.2). Without W_max the function begins at its plateau (§4.8, §4.10).
    fn begin_epoch(&mut self, cwnd: u32, now: Time, mss: u32) {
        self.epoch = now;
        self.origin = self.w_max.max(cwnd);
        self.k = cube_root(u128::from(self.origin - cwnd) * CUBED_US_PER_SEGMENT / u128::from(mss));
        self.estimate = u64::from(cwnd) << FRACTION_BITS;
        self.rest = 0;
        if self.w_max == 0 {
            self.prior = cwnd;
        }
    }

    /// Adds acknowledged bytes to W_est, the Reno-friendly window, and returns it (RFC 9438 §4.3).
    /// W_est grows by α segments per window up to the window before the last cut, then by one.
    fn update_reno_estimate(&mut self, cwnd: u32, bytes: u64, mss: u32) -> u32 {
        let is_back = self.estimate >> FRACTION_BITS >= u64::from(self.prior);
        let (times, over) = if is_back { (1, 1) } else { ALPHA };
        let grown = u128::from(bytes * u64::from(mss)) * u128::from(times << FRACTION_BITS);
        self.estimate += (grown / u128::from(u64::from(cwnd) * over)) as u64;
        (self.estimate >> FRACTION_BITS) as u32
    }

    /// Returns W_cubic(t) in bytes (RFC 9438 §4.2).
    fn window_at(&self, t: u64, mss: u32) -> u64 {
        let from = u128::from(t.abs_diff(self.k).min(FLAT_AFTER_US));
        let (cube, origin) = (from * from * from * u128::from(mss), u64::from(self.origin));
        match t < self.k {
            true => origin.saturating_sub(cube.div_ceil(CUBED_US_PER_SEGMENT) as u64),
            false => origin + (cube / CUBED_US_PER_SEGMENT) as u64,
        }
    }
}

fn microseconds(time: Dur) -> u64 {
    time.0 / 1_000_000
}

/// Returns the largest integer whose cube is at most `x`. PRECONDITION: `x` is below 2¹²⁶.
pub(super) fn cube_root(x: u128) -> u64 {
    let cube = |r: u64| u128::from(r) * u128::from(r) * u128::from(r);
    (0..42).rev().map(|bit| 1u64 << bit).fold(0, |root, bit| if cube(root | bit) <= x { root | bit } else { root })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cube_root_is_the_largest_whole_number_whose_cube_fits() {
        for (x, root) in [(0, 0), (1, 1), (7, 1), (8, 2), (26, 2), (27, 3), (1_000_000, 100), (999_999, 99)] {
            assert_eq!(cube_root(x), root, "{x}");
        }
        let most = (1u128 << 126) - 1;
        let root = u128::from(cube_root(most));
        assert!(root.pow(3) <= most && (root + 1).pow(3) > most);
    }
}
