//! CUBIC as in Linux 6.x (`net/ipv4/tcp_cubic.c`): in whole segments, and by the ticks of the host's clock.
//!
//! `per` (`cnt` in Linux) is the number of segments to be acknowledged for one more in the window. It is computed again
//! when the window has changed, in one ACK per tick. While the window stays, it is kept for 31.25 ms. Within a tick
//! only the estimate of Reno's window may lower it.
//! In a data center the cube is flat, so growth comes in steps. The estimate counts once in 32 ms, and then for one
//! tick at each ACK, until the window has reached it.
//! The time of the curve is in 1024ths of a second, from the tick of the first ACK after a cut, plus the least
//! round-trip time.
//! The cube root is Linux's, except that its table is computed here.

use super::cubic::cube_root;
use super::hystart::HyStart;
use super::usage::WindowUsage;
use super::{AckInfo, CongestionWindows, LossInfo};
use crate::transport::TcpConfig;
use crate::transport::tick_clock::TickClock;
use units::{Dur, Time};

/// Part of the window that remains after a cut by Linux's CUBIC, in 1024ths.
const BETA: u64 = 717;
/// Eighths of the window whose ACKs add a segment to the estimate of Reno's window: 8 (1 + β) / (3 (1 - β)).
const RENO_SCALE: u64 = 15;
/// CUBIC's C: 410 / 2¹⁰ segments per cubic second, and the shift for cubes of time in units of 2⁻¹⁰ seconds.
const CUBE_FACTOR_AND_SHIFT: (u128, u32) = (410, 40);
/// Units of time of the cubic curve in one second.
const UNITS_PER_SECOND: u128 = 1024;
/// Time for which an unchanged window keeps `per`, Linux's `cnt`: acknowledged segments per segment of growth.
const UPDATE_INTERVAL: Dur = Dur(31_250_000_000);
/// Limits of `per` (Linux's `cnt`): largest value before any cut has set W_max, and smallest value at any time.
const MAX_FIRST_ACKS_PER_SEGMENT: u64 = 20;
const MIN_ACKS_PER_SEGMENT: u64 = 2;
/// Scale of the first estimate of a cube root, in 64ths: half of 64³ times 1.028³.
const CUBE_ROOT_SCALE: u128 = 142_393;
/// Value of `per` (Linux's `cnt`) in windows, if the cubic curve is not above the window.
const FLAT_WINDOWS_PER_SEGMENT: u64 = 100;

/// State of Linux's CUBIC congestion control of one sender.
#[derive(Clone, Debug)]
pub(super) struct CubicLinux {
    pub usage: WindowUsage,
    hystart: HyStart,
    clock: TickClock,
    curve: LinuxCurve,
    /// Acknowledged segments that have not yet increased the window.
    counted: u64,
    /// Clock tick up to which idle time was excluded from the cubic curve.
    rested: u64,
}

/// Cubic curve of Linux: the state that a timeout resets. Windows are in segments, times in ticks.
#[derive(Clone, Copy, Debug, Default)]
struct LinuxCurve {
    /// Tick at which congestion avoidance began, moved later by idle times; `None` until the first ACK after a cut.
    epoch: Option<u64>,
    /// W_max of CUBIC in segments; 0 before any cut.
    w_max: u64,
    /// Plateau of the cubic curve in segments, and the time from the epoch to it (K) in 1024ths of a second.
    origin: u64,
    k: u64,
    /// Number of acknowledged segments per segment of growth (`cnt` in Linux).
    per: u64,
    /// Congestion window and tick for which `per` was computed.
    of: u64,
    at: u64,
    /// Estimate of Reno's window, and segments acknowledged toward its next growth.
    estimate: u64,
    acked: u64,
}

impl CubicLinux {
    pub fn new(clock: TickClock) -> CubicLinux {
        CubicLinux {
            usage: WindowUsage::default(),
            hystart: HyStart::default(),
            clock,
            curve: LinuxCurve::default(),
            counted: 0,
            rested: 0,
        }
    }

    /// Returns cwnd and ssthresh after an ACK of new data.
    #[inline(never)]
    pub fn on_ack(&mut self, mut at: CongestionWindows, ack: &AckInfo, cfg: &TcpConfig) -> CongestionWindows {
        let mss = u32::from(cfg.mss);
        let now = self.clock.ticks_at(ack.now);
        if !ack.sampled {
            self.usage.note_ack(at.cwnd, ack, mss);
            at.ssthresh = self.on_sample(at, ack, cfg);
        }
        if !ack.open || ack.ece || !self.usage.is_full(at) {
            return at;
        }
        let (before, acked) = (to_segments(at.cwnd, mss), u64::from(ack.bytes.div_ceil(mss)));
        let fast = acked.min(u64::from(at.ssthresh / mss).saturating_sub(before));
        let mut window = before + fast;
        if acked > fast {
            let delay = self.clock.ticks_of(self.hystart.min_rtt().unwrap_or_default());
            self.curve.on_ack(window, acked - fast, AckInstant { now, delay, clock: self.clock });
            window += self.grow(acked - fast);
        }
        at.cwnd += (window - before) as u32 * mss;
        at
    }

    /// Passes the round-trip sample of an ACK to HyStart, and returns the slow start threshold.
    pub fn on_sample(&mut self, at: CongestionWindows, ack: &AckInfo, cfg: &TcpConfig) -> u32 {
        let now = self.clock.ticks_at(ack.now);
        let begun = self.curve.epoch.map(|epoch| self.clock.time_of(now - epoch));
        if self.hystart.on_ack(at, ack, begun, cfg) { at.cwnd } else { at.ssthresh }
    }

    /// Returns the growth of the window in segments after `acked` segments (`tcp_cong_avoid_ai`).
    /// Segments that were counted for slower growth add one segment to the window, however many they are.
    fn grow(&mut self, acked: u64) -> u64 {
        let per = self.curve.per;
        let mut more = 0;
        if self.counted >= per {
            self.counted = 0;
            more = 1;
        }
        self.counted += acked;
        more += self.counted / per;
        self.counted %= per;
        more
    }

    /// Excludes an idle time from the cubic curve when new data ends it; the last data before left at `last_sent`.
    pub fn on_idle_end(&mut self, now: Time, last_sent: Time) {
        let now = self.clock.ticks_at(now);
        let idle = now.saturating_sub(self.clock.ticks_at(last_sent).max(self.rested));
        self.rested = now;
        self.curve.epoch = self.curve.epoch.map(|epoch| (epoch + idle).min(now));
    }

    /// Records a cut in the cubic curve, and returns the slow start threshold without its lower limit.
    pub fn cut(&mut self, cwnd: u32, cfg: &TcpConfig) -> u32 {
        let window = to_segments(cwnd, u32::from(cfg.mss));
        let curve = &mut self.curve;
        let converges = cfg.fast_convergence && window < curve.w_max;
        curve.w_max = if converges { window * (1024 + BETA) / 2048 } else { window };
        curve.epoch = None;
        self.counted = 0;
        (window * BETA / 1024) as u32 * u32::from(cfg.mss)
    }

    /// Makes the next ACK begin a new cubic epoch, because something other than an ACK has set the window.
    pub fn restart_epoch(&mut self) {
        self.curve.epoch = None;
    }

    /// Resets the cubic curve and HyStart after a timeout.
    pub fn on_timeout(&mut self, lost: &LossInfo) {
        self.curve = LinuxCurve::default();
        self.hystart = HyStart::at_round_start(lost.now, lost.sent);
        self.counted = 0;
    }
}

/// Arrival time of an ACK and minimum round-trip time, in ticks of the host's clock.
#[derive(Clone, Copy)]
struct AckInstant {
    now: u64,
    delay: u64,
    clock: TickClock,
}

impl LinuxCurve {
    /// Updates `per` (Linux's `cnt`) after `acked` segments in congestion avoidance (`bictcp_update`).
    fn on_ack(&mut self, window: u64, acked: u64, at: AckInstant) {
        self.acked += acked;
        if self.of == window && at.clock.time_of(at.now - self.at) <= UPDATE_INTERVAL {
            return;
        }
        if self.epoch.is_none() || self.at != at.now {
            (self.of, self.at) = (window, at.now);
            let epoch = self.epoch.unwrap_or_else(|| self.begin_epoch(window, acked, at.now));
            self.per = self.acks_per_segment_on_curve(window, at.clock.time_of(at.now - epoch + at.delay));
        }
        self.per = self.per.min(self.acks_per_segment_of_reno(window)).max(MIN_ACKS_PER_SEGMENT);
    }

    /// Begins congestion avoidance, and returns its first tick.
    fn begin_epoch(&mut self, window: u64, acked: u64, now: u64) -> u64 {
        let short = u128::from(self.w_max.saturating_sub(window));
        self.k = linux_cube_root((1 << CUBE_FACTOR_AND_SHIFT.1) / CUBE_FACTOR_AND_SHIFT.0 * short);
        self.origin = self.w_max.max(window);
        (self.acked, self.estimate) = (acked, window);
        self.epoch = Some(now);
        now
    }

    /// Returns the segments per growth step with which the window reaches the cubic curve at `time` after the epoch.
    fn acks_per_segment_on_curve(&self, window: u64, time: Dur) -> u64 {
        let t = (u128::from(time.0) * UNITS_PER_SECOND / u128::from(Dur::s(1).0)) as u64;
        let off = u128::from(t.abs_diff(self.k));
        let cube = ((CUBE_FACTOR_AND_SHIFT.0 * off * off * off) >> CUBE_FACTOR_AND_SHIFT.1) as u64;
        let target = if t < self.k { self.origin.saturating_sub(cube) } else { self.origin.saturating_add(cube) };
        let per = if target > window { window / (target - window) } else { FLAT_WINDOWS_PER_SEGMENT * window };
        if self.w_max == 0 { per.min(MAX_FIRST_ACKS_PER_SEGMENT) } else { per }
    }

    /// Returns the segments per growth step with which the window reaches Reno's, if that is larger; else `u64::MAX`.
    fn acks_per_segment_of_reno(&mut self, window: u64) -> u64 {
        let each = window * RENO_SCALE / 8;
        // Linux compares with `>`: exactly `each` acknowledged segments add nothing to the estimate.
        let more = self.acked.saturating_sub(1) / each;
        self.estimate += more;
        self.acked -= more * each;
        if self.estimate > window { window / (self.estimate - window) } else { u64::MAX }
    }
}

/// Returns the cube root as Linux computes it: one step of Newton's method from the first digits.
/// The step takes 341/1024 for a third.
/// The first digits are 2.8% too large, as in the kernel's table, which makes up for that factor. PRECONDITION: `of` is
/// 0 or at least 64.
fn linux_cube_root(of: u128) -> u64 {
    if of == 0 {
        return 0;
    }
    let bits = (((128 - of.leading_zeros()) * 84) >> 8) - 1;
    let first = of >> (3 * bits);
    let near = u128::from(cube_root(8 * (2 * first + 1) * CUBE_ROOT_SCALE).div_ceil(2) << bits >> 6);
    (((2 * near + of / (near * (near - 1))) * 341) >> 10) as u64
}

fn to_segments(bytes: u32, mss: u32) -> u64 {
    u64::from((bytes / mss).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::tests::pair::config;

    /// Clock of a host at 250 Hz.
    const CLOCK: TickClock =
        TickClock { every: Dur::ms(4), phase: Dur::ZERO, wheel: crate::transport::tick_clock::TimerWheel::Levels };

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::ms(ms)
    }

    /// Returns CUBIC after a cut from 100 segments to 70, of which one is acknowledged 3 ms after a tick.
    fn after_a_cut() -> (CubicLinux, TcpConfig) {
        let cfg = config("linux", &[]);
        let mut c = CubicLinux::new(CLOCK);
        assert_eq!(c.cut(100 * u32::from(cfg.mss), &cfg), 70 * u32::from(cfg.mss));
        c.curve.on_ack(70, 1, AckInstant { now: CLOCK.ticks_at(at(1003)), delay: 0, clock: CLOCK });
        (c, cfg)
    }

    #[test]
    fn acks_per_segment_lead_to_the_cubic_curve() {
        // K is (30 × 2⁴⁰ / 410)^⅓ = 4316.9, in 1024ths of a second; 4316 of them are 4.21484375 s.
        let (c, _) = after_a_cut();
        let per = |window, time| c.curve.acks_per_segment_on_curve(window, time);
        assert_eq!((c.curve.k, c.curve.origin), (4316, 100));
        assert_eq!(per(70, Dur::ZERO), 70, "410 4316³ / 2⁴⁰ is 29.98: to 71");
        assert_eq!(per(70, Dur::s(1)), 70 / 17, "410 3292³ / 2⁴⁰ is 13.3: to 87");
        assert_eq!(per(70, Dur(4_214_843_750_000)), 70 / 30, "to 100");
        assert_eq!(per(100, Dur(4_214_843_750_000)), 10_000, "there already");
        assert_eq!(per(100, Dur::s(7)), 100 / 8, "410 2852³ / 2⁴⁰ is 8.65: to 108");
    }

    #[test]
    fn target_is_one_minimum_round_trip_ahead() {
        let (mut c, _) = after_a_cut();
        assert_eq!(c.curve.per, 70);
        // The ACK comes 2 ticks after the epoch, and a round trip takes 248 ticks: at 1 s the target is 87 segments.
        c.curve.on_ack(71, 1, AckInstant { now: CLOCK.ticks_at(at(1008)), delay: 248, clock: CLOCK });
        assert_eq!(c.curve.per, 71 / 16);
    }

    #[test]
    fn reno_estimate_grows_after_15_eighths_of_a_window() {
        let mut curve = LinuxCurve { estimate: 16, acked: 30, ..LinuxCurve::default() };
        assert_eq!(curve.acks_per_segment_of_reno(16), u64::MAX, "16 15 / 8 is 30, and more than that is needed");
        curve.acked = 31;
        assert_eq!((curve.acks_per_segment_of_reno(16), curve.estimate, curve.acked), (16, 17, 1));
        curve.acked = 100;
        assert_eq!((curve.acks_per_segment_of_reno(16), curve.estimate, curve.acked), (4, 20, 10), "four short");
    }

    #[test]
    fn growth_takes_at_least_two_acknowledged_segments() {
        let (mut c, _) = after_a_cut();
        c.curve.on_ack(71, 1, AckInstant { now: CLOCK.ticks_at(at(5000)), delay: 250, clock: CLOCK });
        assert_eq!(c.curve.per, 2, "71 / 29");
        c.curve.on_ack(72, 1, AckInstant { now: CLOCK.ticks_at(at(11_000)), delay: 250, clock: CLOCK });
        assert_eq!(c.curve.per, 2, "72 / 147");
    }

    #[test]
    fn idle_time_moves_the_epoch_once_and_never_past_now() {
        let (mut c, _) = after_a_cut();
        let began = c.curve.epoch.expect("congestion avoidance");
        c.on_idle_end(at(1043), at(1023));
        assert_eq!(c.curve.epoch, Some(began + 5));
        c.on_idle_end(at(1047), at(1023));
        assert_eq!(c.curve.epoch, Some(began + 6), "what was asked in vain is not counted twice");
        c.on_idle_end(at(2000), at(1001));
        assert_eq!(c.curve.epoch, Some(CLOCK.ticks_at(at(2000)) - (CLOCK.ticks_at(at(1047)) - began - 6)));
        c.curve.epoch = Some(CLOCK.ticks_at(at(2500)));
        c.on_idle_end(at(3000), at(2001));
        assert_eq!(c.curve.epoch, Some(CLOCK.ticks_at(at(3000))));
    }

    #[test]
    fn cut_leaves_whole_segments_and_lowers_w_max() {
        let (mut c, cfg) = after_a_cut();
        let mss = u32::from(cfg.mss);
        assert_eq!(c.cut(80 * mss + 1, &cfg), 56 * mss, "56.02");
        assert_eq!(c.curve.w_max, 68, "80 1741 / 2048");
        assert_eq!(c.cut(5120 * mss, &cfg), 3585 * mss, "717 / 1024, not 0.7");
        assert_eq!(c.curve.w_max, 5120);
        assert_eq!(c.curve.epoch, None);
    }

    #[test]
    fn cut_resets_the_count_and_timeout_resets_the_curve() {
        let (mut c, cfg) = after_a_cut();
        assert_eq!((c.grow(69), c.counted), (0, 69));
        c.cut(70 * u32::from(cfg.mss), &cfg);
        assert_eq!((c.counted, c.curve.w_max), (0, 59));
        c.on_timeout(&LossInfo { range: 0..1, flight: 0, sent: 9000, left: 0, now: at(1100) });
        c.curve.on_ack(70, 1, AckInstant { now: CLOCK.ticks_at(at(1100)), delay: 0, clock: CLOCK });
        assert_eq!((c.curve.w_max, c.curve.per), (0, 20));
    }

    #[test]
    fn acks_counted_for_slower_growth_add_one_segment() {
        let (mut c, _) = after_a_cut();
        assert_eq!(c.grow(69), 0);
        c.curve.per = 10;
        assert_eq!((c.grow(1), c.counted), (1, 1), "not seven");
        assert_eq!((c.grow(25), c.counted), (2, 6));
    }
}
