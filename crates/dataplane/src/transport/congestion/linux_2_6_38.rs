//! Congestion windows of Linux 2.6.38 in whole segments: Reno, BIC, or DCTCP by its authors' patch.
//!
//! One counter of ACKs serves growth and reduction (`snd_cwnd_cnt`). An ACK counts once, whatever it acknowledges.
//! A window that is being reduced falls by one segment for every two ACKs (rate halving). It is never more than one
//! segment above the segments in flight.

use super::bic::Bic;
use super::{Congestion, CongestionState};
use crate::transport::TcpConfig;
use crate::transport::tick_clock::TickClock;
use units::Time;

/// Divisor of the window: with segmentation offload, a window counts as full if less than a third of it, and less than
/// [`MAX_BURST_BYTES`], is unused (`sysctl_tcp_tso_win_divisor`).
const TSO_WIN_DIVISOR: u32 = 3;
/// Largest burst of segmentation offload in bytes (`sk_gso_max_size`).
const MAX_BURST_BYTES: u64 = 65_536;
/// Bytes that a duplicate ACK adds to DCTCP's estimate (`TCP_MSS_DEFAULT`).
/// This is the kernel's first guess of the peer's segment size, which never changes if a host receives no data.
const DUPLICATE_ACK_BYTES: u64 = 536;

/// Congestion control of a Linux 2.6.38 sender: growth law, counter of ACKs, and use of the window.
#[derive(Clone, Debug)]
pub(super) struct Linux2_6_38 {
    /// `snd_cwnd_cnt`: ACKs counted toward the next growth, or toward the next reduction, of the window.
    count: u32,
    /// `snd_cwnd_used`: largest number of outstanding segments since the window was last full.
    used: u32,
    /// `snd_cwnd_stamp`: tick of the last change or full use of the window.
    stamp: u64,
    clock: TickClock,
    control: GrowthLaw,
}

#[derive(Clone, Debug)]
enum GrowthLaw {
    Reno,
    Bic(Bic),
    Dctcp(DctcpEstimate),
}

/// DCTCP's estimate by the patch for this kernel: share of marked bytes in a window of data, in 1024ths.
#[derive(Clone, Copy, Debug, Default)]
struct DctcpEstimate {
    alpha: u32,
    /// `next_seq`: end of the current window of data.
    until: u64,
    marked: u64,
    total: u64,
}

/// Value of DCTCP's α = 1, in 1024ths.
const ALPHA_ONE: u64 = 1024;

impl DctcpEstimate {
    /// Adds an ACK of this many bytes to DCTCP's estimate; `shift` is the binary logarithm of 1/g.
    fn on_ack(&mut self, bytes: u64, ece: bool, (una, nxt): (u64, u64), shift: u32) {
        self.total += bytes;
        self.marked += if ece { bytes } else { 0 };
        if una < self.until {
            return;
        }
        let rise = (self.marked << (10 - shift)) / self.total.max(1);
        self.alpha = (u64::from(self.alpha - (self.alpha >> shift)) + rise).min(ALPHA_ONE) as u32;
        *self = DctcpEstimate { alpha: self.alpha, until: nxt, ..DctcpEstimate::default() };
    }
}

/// Properties of an ACK that DCTCP's estimate needs.
#[derive(Clone, Copy, Debug)]
pub(in crate::transport) struct DctcpAck {
    /// First unacknowledged byte, and next byte to send, after the ACK.
    pub una: u64,
    pub nxt: u64,
    /// Bytes that the ACK newly acknowledges.
    pub bytes: u64,
    /// True if the ACK carries ECN-Echo.
    pub ece: bool,
    /// True if the ACK moves or enlarges the receiver's window.
    pub opens_window: bool,
}

impl Linux2_6_38 {
    pub fn reno(clock: TickClock) -> Linux2_6_38 {
        Linux2_6_38 { count: 0, used: 0, stamp: 0, clock, control: GrowthLaw::Reno }
    }
    pub fn bic(clock: TickClock) -> Linux2_6_38 {
        Linux2_6_38 { control: GrowthLaw::Bic(Bic::default()), ..Linux2_6_38::reno(clock) }
    }
    pub fn dctcp(clock: TickClock) -> Linux2_6_38 {
        Linux2_6_38 { control: GrowthLaw::Dctcp(DctcpEstimate::default()), ..Linux2_6_38::reno(clock) }
    }
    /// DCTCP's α in units of 2⁻³⁰; `None` for Reno and BIC.
    pub fn alpha(&self) -> Option<u32> {
        match &self.control {
            GrowthLaw::Dctcp(estimate) => Some(estimate.alpha << 20),
            GrowthLaw::Reno | GrowthLaw::Bic(_) => None,
        }
    }
    /// Returns the window in segments after an ACK of new data (`tcp_reno_cong_avoid`, `bictcp_cong_avoid`).
    fn grow(&mut self, cwnd: u32, ssthresh: u32, now: Time) -> u32 {
        if cwnd <= ssthresh {
            return self.slow_start(cwnd);
        }
        let tick = self.clock.ticks_at(now);
        let needed = match &mut self.control {
            GrowthLaw::Bic(bic) => bic.update(cwnd, tick, self.clock),
            GrowthLaw::Reno | GrowthLaw::Dctcp(_) => cwnd,
        };
        if self.count >= needed {
            self.count = 0;
            return cwnd + 1;
        }
        self.count += 1;
        cwnd
    }
    /// Returns the window in segments after an ACK in slow start (`tcp_slow_start`).
    /// It grows by one segment, and by one for each whole window in the counter.
    fn slow_start(&mut self, mut cwnd: u32) -> u32 {
        self.count += cwnd;
        while self.count >= cwnd {
            self.count -= cwnd;
            cwnd += 1;
        }
        cwnd
    }
    /// Returns the slow start threshold in segments after a loss at window `cwnd`.
    pub fn threshold_after_loss(&mut self, cwnd: u32) -> u32 {
        match &mut self.control {
            GrowthLaw::Bic(bic) => bic.threshold(cwnd),
            GrowthLaw::Reno | GrowthLaw::Dctcp(_) => (cwnd >> 1).max(2),
        }
    }
    /// Smallest window that rate halving leaves, in segments (`min_cwnd`).
    fn min_window(&self, ssthresh: u32) -> u32 {
        match &self.control {
            GrowthLaw::Bic(_) => ssthresh,
            GrowthLaw::Reno | GrowthLaw::Dctcp(_) => ssthresh / 2,
        }
    }
}

/// Operations of Linux 2.6.38's sender on its congestion control, with sizes in segments.
impl Congestion {
    fn linux_2_6_38_mut(&mut self) -> Option<&mut Linux2_6_38> {
        match &mut self.law {
            CongestionState::Linux2_6_38(old) => Some(old),
            _ => None,
        }
    }
    /// Congestion window in whole segments.
    pub(in crate::transport) fn window_segments(&self, mss: u32) -> u32 {
        self.cwnd / mss
    }
    /// Slow start threshold in segments; larger than any window if it was never set.
    fn threshold_segments(&self, mss: u32) -> u32 {
        self.ssthresh / mss
    }
    fn set_window_segments(&mut self, segments: u32, mss: u32) {
        self.cwnd = segments.saturating_mul(mss);
    }
    /// Adds an ACK to the estimate of DCTCP, if the sender uses it. A duplicate ACK counts for 536 bytes.
    pub(in crate::transport) fn update_estimate(&mut self, ack: &DctcpAck, cfg: &TcpConfig) {
        let bytes = match (ack.bytes, ack.opens_window) {
            (0, false) => DUPLICATE_ACK_BYTES,
            (bytes, _) => bytes,
        };
        if let Some(Linux2_6_38 { control: GrowthLaw::Dctcp(estimate), .. }) = self.linux_2_6_38_mut() {
            estimate.on_ack(bytes, ack.ece, (ack.una, ack.nxt), 30 - cfg.g.trailing_zeros());
        }
    }
    /// Updates BIC's ratio of segments to ACKs after an ACK in state `TCP_CA_Open` (`bictcp_acked`).
    pub(in crate::transport) fn note_acked(&mut self, segments: u32) {
        if let Some(Linux2_6_38 { control: GrowthLaw::Bic(bic), .. }) = self.linux_2_6_38_mut() {
            bic.on_acked(segments);
        }
    }
    /// Increases the window after an ACK of new data, if the flow fills its window (`tcp_is_cwnd_limited`).
    /// `in_flight` counts the segments in flight before the ACK, and `burst` is the degree of reordering.
    pub(in crate::transport) fn grow(&mut self, in_flight: u32, burst: u32, now: Time, cfg: &TcpConfig) {
        let mss = u32::from(cfg.mss);
        let (cwnd, ssthresh) = (self.window_segments(mss), self.threshold_segments(mss));
        let left = cwnd.saturating_sub(in_flight);
        let is_share = cfg.rack.tso && left * TSO_WIN_DIVISOR < cwnd && u64::from(left * mss) < MAX_BURST_BYTES;
        let Some(old) = self.linux_2_6_38_mut() else { return };
        old.stamp = old.clock.ticks_at(now);
        if left == 0 || is_share || left <= burst {
            let cwnd = old.grow(cwnd, ssthresh, now);
            self.set_window_segments(cwnd, mss);
        }
    }
    /// Reacts to ECN-Echo (`tcp_enter_cwr`); the slow start threshold changes only if `cuts` is true.
    /// With Reno and BIC the window then falls with the following ACKs, with DCTCP immediately.
    pub(in crate::transport) fn on_mark_2_6_38(&mut self, in_flight: u32, cuts: bool, now: Time, mss: u32) {
        let cwnd = self.window_segments(mss);
        let Some(old) = self.linux_2_6_38_mut() else { return };
        let (threshold, window) = match &old.control {
            GrowthLaw::Dctcp(estimate) => {
                let cut = (u64::from(cwnd) * u64::from(estimate.alpha)) >> 11;
                let window = (cwnd - cut as u32).max(2);
                (window, window)
            }
            GrowthLaw::Reno | GrowthLaw::Bic(_) => {
                (if cuts { old.threshold_after_loss(cwnd) } else { 0 }, cwnd.min(in_flight + 1))
            }
        };
        old.count = 0;
        old.stamp = old.clock.ticks_at(now);
        if cuts {
            self.ssthresh = threshold * mss;
        }
        self.set_window_segments(window, mss);
    }
    /// Returns true if marks cut the window immediately (DCTCP), without rate halving.
    pub(in crate::transport) fn is_cut_by_marks(&self) -> bool {
        self.alpha().is_some()
    }
    /// Begins a recovery, and cuts the slow start threshold if `cuts` is true.
    pub(in crate::transport) fn begin_recovery(&mut self, cuts: bool, mss: u32) {
        if cuts {
            self.cut_threshold(mss);
        }
        if let Some(old) = self.linux_2_6_38_mut() {
            old.count = 0;
        }
    }
    /// Cuts the slow start threshold as after a loss; the window stays.
    pub(in crate::transport) fn cut_threshold(&mut self, mss: u32) {
        let cwnd = self.window_segments(mss);
        if let Some(threshold) = self.linux_2_6_38_mut().map(|old| old.threshold_after_loss(cwnd)) {
            self.ssthresh = threshold * mss;
        }
    }
    /// Reduces the window by one segment at every second ACK (`tcp_cwnd_down`).
    pub(in crate::transport) fn halve_rate(&mut self, in_flight: u32, now: Time, mss: u32) {
        let (cwnd, ssthresh) = (self.window_segments(mss), self.threshold_segments(mss));
        let Some(old) = self.linux_2_6_38_mut() else { return };
        let least = old.min_window(ssthresh);
        let due = old.count + 1;
        old.count = due & 1;
        old.stamp = old.clock.ticks_at(now);
        let fewer = if cwnd > least { due >> 1 } else { 0 };
        self.set_window_segments((cwnd - fewer.min(cwnd)).min(in_flight + 1), mss);
    }
    /// Limits the congestion window to `most` segments (`tcp_moderate_cwnd`), and records the time of the change.
    pub(in crate::transport) fn moderate_window(&mut self, most: u32, now: Time, mss: u32) {
        self.limit_window(most, mss);
        if let Some(old) = self.linux_2_6_38_mut() {
            old.stamp = old.clock.ticks_at(now);
        }
    }
    /// Limits the congestion window to `most` segments, which does not count as a change or full use of the window.
    pub(in crate::transport) fn limit_window(&mut self, most: u32, mss: u32) {
        let cwnd = self.window_segments(mss).min(most);
        self.set_window_segments(cwnd, mss);
    }
    /// Limits the window to the threshold at the end of a reduction (`tcp_complete_cwr`).
    pub(in crate::transport) fn complete_reduction(&mut self, now: Time) {
        self.cwnd = self.cwnd.min(self.ssthresh);
        if let Some(old) = self.linux_2_6_38_mut() {
            old.stamp = old.clock.ticks_at(now);
        }
    }
    /// Undoes the last cut of the window (`tcp_undo_cwr`), and returns true if the threshold was restored.
    /// The window becomes twice the threshold (BIC: the largest window before the cut). With `restores` the threshold
    /// returns to `prior`. If an echo of congestion has erased `prior`, the window only rises to the threshold.
    pub(in crate::transport) fn undo_2_6_38(&mut self, prior: Option<u32>, restores: bool, mss: u32) -> bool {
        let (cwnd, ssthresh) = (self.window_segments(mss), self.threshold_segments(mss));
        let Some(old) = self.linux_2_6_38_mut() else { return false };
        let Some(prior) = prior else {
            self.set_window_segments(cwnd.max(ssthresh), mss);
            return false;
        };
        let before = match &old.control {
            GrowthLaw::Bic(bic) => bic.max_window(),
            GrowthLaw::Reno | GrowthLaw::Dctcp(_) => ssthresh << 1,
        };
        self.set_window_segments(cwnd.max(before), mss);
        let raises = restores && prior > self.ssthresh;
        if raises {
            self.ssthresh = prior;
        }
        raises
    }
    /// Sets the window in segments after a timeout. BIC forgets its largest window (`TCP_CA_Loss`).
    pub(in crate::transport) fn begin_loss(&mut self, segments: u32, now: Time, mss: u32) {
        if let Some(old) = self.linux_2_6_38_mut() {
            old.count = 0;
            old.stamp = old.clock.ticks_at(now);
            if let GrowthLaw::Bic(bic) = &mut old.control {
                *bic = Bic::default();
            }
        }
        self.set_window_segments(segments, mss);
    }
    /// Sets the window in segments while F-RTO decides if a timeout was spurious.
    pub(in crate::transport) fn set_window_2_6_38(&mut self, segments: u32, mss: u32) {
        self.set_window_segments(segments, mss);
    }
    /// Sets the slow start threshold as after a loss at a window of `segments`; keeps the window (`tcp_enter_frto`).
    pub(in crate::transport) fn cut_threshold_of(&mut self, segments: u32, mss: u32) {
        let cwnd = self.cwnd;
        self.set_window_segments(segments, mss);
        self.cut_threshold(mss);
        self.cwnd = cwnd;
    }
    /// Slow start threshold to restore after an undo, in bytes (`tcp_current_ssthresh`).
    /// It is at least three quarters of the window, unless the window is being reduced (`reduces`).
    pub(in crate::transport) fn current_threshold(&self, reduces: bool, mss: u32) -> u32 {
        let remembered = super::linux::remembered_threshold(self.cwnd, mss);
        if reduces { self.ssthresh } else { self.ssthresh.max(remembered) }
    }
    /// Updates the record of window use after new data left, with `out` segments outstanding (`tcp_cwnd_validate`).
    /// A window that was not full for `timeout` ticks loses half of its unused part, unless a recovery is in progress.
    pub(in crate::transport) fn validate_window(
        &mut self,
        out: u32,
        timeout: u64,
        is_open: bool,
        now: Time,
        cfg: &TcpConfig,
    ) {
        let mss = u32::from(cfg.mss);
        let cwnd = self.window_segments(mss);
        let first = cfg.initial_window / mss;
        let threshold = self.current_threshold(!is_open, mss);
        let Some(old) = self.linux_2_6_38_mut() else { return };
        let tick = old.clock.ticks_at(now);
        if out >= cwnd {
            (old.used, old.stamp) = (0, tick);
            return;
        }
        old.used = old.used.max(out);
        if !cfg.restart_after_idle || tick - old.stamp < timeout {
            return;
        }
        let used = old.used.max(first);
        old.stamp = tick;
        if is_open {
            old.used = 0;
            if used < cwnd {
                self.ssthresh = threshold;
                self.set_window_segments((cwnd + used) >> 1, mss);
            }
        }
    }
    /// Halves the window for each timeout of an idle time, down to the initial window (`tcp_cwnd_restart`).
    /// `reduces` is true while the window is being reduced.
    pub(in crate::transport) fn restart_after_idle(
        &mut self,
        timeouts: u64,
        reduces: bool,
        now: Time,
        cfg: &TcpConfig,
    ) {
        let mss = u32::from(cfg.mss);
        self.ssthresh = self.current_threshold(reduces, mss);
        self.cwnd = super::linux::window_after_idle(self.cwnd, timeouts, cfg.initial_window, mss);
        if let Some(old) = self.linux_2_6_38_mut() {
            (old.used, old.stamp) = (0, old.clock.ticks_at(now));
        }
    }
    /// Sets the slow start threshold to that of an earlier connection, in segments.
    pub(in crate::transport) fn recall_threshold(&mut self, segments: u32, mss: u32) {
        self.ssthresh = segments.saturating_mul(mss);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::tick_clock::TimerWheel;
    use units::Dur;

    fn reno() -> Linux2_6_38 {
        Linux2_6_38::reno(TickClock { every: Dur::ms(1), phase: Dur::ZERO, wheel: TimerWheel::Exact })
    }

    #[test]
    fn growth_counts_one_ack_more_than_the_window_has_segments() {
        let mut old = reno();
        let windows: Vec<u32> = (0..5).map(|_| old.grow(4, 3, Time::ZERO)).collect();
        assert_eq!(windows, [4, 4, 4, 4, 5], "the fifth ACK of a window of four");
        assert_eq!(old.count, 0);
    }

    #[test]
    fn slow_start_continues_at_the_threshold() {
        let mut old = reno();
        assert_eq!([old.grow(3, 4, Time::ZERO), old.grow(4, 4, Time::ZERO)], [4, 5]);
        assert_eq!(old.grow(5, 4, Time::ZERO), 5, "above it an ACK counts one");
    }

    #[test]
    fn estimate_counts_bytes_and_rounds_down() {
        let mut of = DctcpEstimate::default();
        of.on_ack(1448, true, (1448, 4344), 4);
        assert_eq!((of.alpha, of.until), (64, 4344), "1024 / 16 of one marked ACK");
        of.on_ack(1448, true, (2896, 5792), 4);
        of.on_ack(536, false, (2896, 5792), 4);
        assert_eq!(of.alpha, 64, "the window of data has not ended");
        of.on_ack(1448, false, (4344, 7240), 4);
        // 64 - 4 + 1448 64 / 3432.
        assert_eq!((of.alpha, of.until), (60 + 27, 7240));
    }
}
