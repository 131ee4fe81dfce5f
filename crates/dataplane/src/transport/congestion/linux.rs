//! Reno and DCTCP congestion control as in Linux, with windows in whole segments.
//!
//! The window grows by the bytes acknowledged, however few ACKs there are, and only while it is used. A cut reduces the
//! window, not FlightSize. RFC 5681 §3.1 counts ACKs and halves FlightSize.

use super::usage::WindowUsage;
use super::{AckInfo, CongestionWindows};
use crate::transport::TcpConfig;

/// State of Linux's Reno or DCTCP congestion control of one sender.
#[derive(Clone, Debug)]
pub(super) struct LinuxRenoDctcp {
    pub usage: WindowUsage,
    /// Acknowledged bytes that have not yet increased the window.
    counted: u64,
    /// DCTCP's estimate of the marked share of segments; `None` with Reno.
    pub dctcp: Option<DctcpEstimate>,
}

impl LinuxRenoDctcp {
    pub fn new(dctcp: Option<DctcpEstimate>) -> LinuxRenoDctcp {
        LinuxRenoDctcp { usage: WindowUsage::default(), counted: 0, dctcp }
    }

    /// Returns the congestion window after an ACK of new data.
    #[inline(never)]
    pub fn on_ack(&mut self, at: CongestionWindows, ack: &AckInfo, cfg: &TcpConfig) -> u32 {
        let mss = u32::from(cfg.mss);
        if !ack.sampled {
            self.on_sample(ack, 0, cfg);
            self.usage.note_ack(at.cwnd, ack, mss);
        }
        if !ack.open || ack.ece || at.cwnd >= ack.rwnd || !self.usage.is_full(at) {
            return at.cwnd;
        }
        let (cwnd, left) = slow_start(at, ack.bytes);
        cwnd + self.avoidance_growth(cwnd, left, mss)
    }

    /// Adds an ACK that newly SACKs `reported` segments to DCTCP's estimate.
    pub fn on_sample(&mut self, ack: &AckInfo, reported: u32, cfg: &TcpConfig) {
        if let Some(dctcp) = &mut self.dctcp {
            dctcp.on_ack(ack, reported, cfg);
        }
    }

    /// Returns the growth of the window in congestion avoidance after `acked` bytes, in whole segments.
    /// Bytes that were counted at a larger window are worth one segment, however many they are (`tcp_cong_avoid_ai`).
    fn avoidance_growth(&mut self, cwnd: u32, acked: u32, mss: u32) -> u32 {
        let window = u64::from((cwnd / mss).max(1) * mss);
        let mut more = 0;
        if self.counted >= window {
            self.counted = 0;
            more = 1;
        }
        self.counted += u64::from(acked);
        more += (self.counted / window) as u32;
        self.counted %= window;
        more * mss
    }

    /// Returns the slow start threshold after a loss: half of the window in whole segments, without its lower limit.
    pub fn cut(&mut self, cwnd: u32, mss: u32) -> u32 {
        self.counted = 0;
        cwnd / mss / 2 * mss
    }

    /// Returns the window after an ECN mark in whole segments, without its lower limit.
    pub fn window_after_mark(&mut self, cwnd: u32, mss: u32) -> u32 {
        match &self.dctcp {
            Some(dctcp) => {
                self.counted = 0;
                dctcp.reduced_window(cwnd / mss) * mss
            }
            None => self.cut(cwnd, mss),
        }
    }

    /// Forgets acknowledged bytes that have not increased the window yet, after a timeout.
    pub fn on_timeout(&mut self) {
        self.counted = 0;
    }
}

/// DCTCP's estimate in 1024ths as in Linux (`tcp_dctcp.c`), from the segments delivered in a window of data.
#[derive(Clone, Copy, Debug)]
pub(super) struct DctcpEstimate {
    /// DCTCP's α in 1024ths.
    alpha: u32,
    /// End of the current window of data: it is over once everything before this byte is acknowledged.
    until: u64,
    /// Segments delivered in the current window of data, and those delivered by ACKs with ECN-Echo.
    delivered: u32,
    marked: u32,
}

/// Value of DCTCP's α = 1, in 1024ths.
const ALPHA_ONE: u32 = 1024;

impl DctcpEstimate {
    /// Creates DCTCP's estimate with this initial α, which is in units of 2⁻³⁰.
    pub fn new(alpha: u32) -> DctcpEstimate {
        DctcpEstimate { alpha: alpha >> 20, until: 0, delivered: 0, marked: 0 }
    }
    /// Returns DCTCP's α in units of 2⁻³⁰.
    pub fn alpha(&self) -> u32 {
        self.alpha << 20
    }
    /// Adds the segments that an ACK delivers to DCTCP's estimate.
    /// Its newly SACKed segments count for the present update of the estimate, its other segments for the next.
    fn on_ack(&mut self, ack: &AckInfo, reported: u32, cfg: &TcpConfig) {
        let all = ack.bytes.div_ceil(u32::from(cfg.mss));
        self.count_delivered(reported, ack.ece);
        if ack.una >= self.until {
            self.update(cfg.g);
            (self.until, self.delivered, self.marked) = (ack.nxt, 0, 0);
        }
        self.count_delivered(all.saturating_sub(reported), ack.ece);
    }
    fn count_delivered(&mut self, segments: u32, marked: bool) {
        self.delivered += segments;
        self.marked += if marked { segments } else { 0 };
    }
    /// Updates DCTCP's α at the end of a window of data; the weight g is in units of 2⁻³⁰.
    /// α falls by g α, or to 0 if that is less than one, and rises by g times the share of marked segments. Without the
    /// fall to 0 it would stay above 0 forever.
    fn update(&mut self, g: u32) {
        let part = |of: u64| (of * u64::from(g)) >> 30;
        let fall = match part(self.alpha.into()) as u32 {
            0 => self.alpha,
            fall => fall,
        };
        let rise = part(u64::from(self.marked) * u64::from(ALPHA_ONE)) / u64::from(self.delivered.max(1));
        self.alpha = (self.alpha - fall + rise as u32).min(ALPHA_ONE);
    }
    /// Returns the window of this many segments after DCTCP's cut, which removes the fraction α/2.
    fn reduced_window(&self, segments: u32) -> u32 {
        segments - ((u64::from(segments) * u64::from(self.alpha)) >> 11) as u32
    }
}

/// Returns the window after `bytes` are acknowledged in slow start, and the bytes left over at the threshold.
pub(super) fn slow_start(at: CongestionWindows, bytes: u32) -> (u32, u32) {
    let fast = bytes.min(at.ssthresh.saturating_sub(at.cwnd));
    (at.cwnd + fast, bytes - fast)
}

/// Returns 3/4 of a window in whole segments: the slow start threshold that remembers it (`tcp_current_ssthresh`).
pub(super) fn remembered_threshold(cwnd: u32, mss: u32) -> u32 {
    let segments = cwnd / mss;
    ((segments >> 1) + (segments >> 2)) * mss
}

/// Returns the window after an idle time of this many timeouts, in whole segments (RFC 2861).
/// It is halved for each timeout, but stays at or above the restart window.
pub(super) fn window_after_idle(cwnd: u32, timeouts: u64, restart: u32, mss: u32) -> u32 {
    let halves = timeouts.min(31) as u32;
    (((cwnd / mss) >> halves) * mss).max(restart.min(cwnd))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(alpha: u32) -> DctcpEstimate {
        DctcpEstimate { alpha, until: 0, delivered: 10, marked: 0 }
    }

    #[test]
    fn dctcp_cuts_whole_segments() {
        let after = |alpha: u32, segments: u32| estimate(alpha).reduced_window(segments);
        assert_eq!((after(682, 3), after(683, 3)), (3, 2), "3 682 / 2048 is less than one");
        assert_eq!((after(1024, 10), after(0, 10), after(1024, 3)), (5, 10, 2));
    }

    #[test]
    fn dctcp_estimate_below_16_falls_to_zero() {
        let sixteenth = 1 << 26;
        let updated = |mut of: DctcpEstimate| {
            of.update(sixteenth);
            of.alpha
        };
        assert_eq!([updated(estimate(1024)), updated(estimate(16)), updated(estimate(15))], [960, 15, 0]);
        assert_eq!(updated(DctcpEstimate { marked: 5, ..estimate(15) }), 32, "half of 64");
        assert_eq!(updated(DctcpEstimate { marked: 10, ..estimate(1020) }), 1020 - 63 + 64);
    }
}
