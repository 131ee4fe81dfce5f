//! Use of the congestion window: ACKs of a flow that does not fill its window do not justify a larger one.
//!
//! See RFC 7661 §4.1 and RFC 9438 §5.8.

use super::{AckInfo, CongestionWindows};
use units::{Dur, Time};

/// Record of how far a sender has filled its congestion window in the last round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowUsage {
    /// Byte that ends the measured round trip. Before it is acknowledged, only a fuller window changes the record.
    until: u64,
    /// Largest number of outstanding bytes in the round trip.
    most: u32,
    /// True if the window had no space for another segment.
    full: bool,
    /// Largest number of bytes outstanding since the window was full, and time of its last full use or change.
    used: u32,
    full_at: Time,
}

impl WindowUsage {
    /// Records the bytes outstanding before an ACK. As in Linux, the largest number of a round trip counts.
    pub fn note_ack(&mut self, cwnd: u32, ack: &AckInfo, mss: u32) {
        let full = ack.flight.saturating_add(mss) > cwnd;
        // With RACK, `bytes` includes bytes SACKed beyond `una`, so the difference could be negative.
        let is_new = ack.una.saturating_sub(u64::from(ack.bytes)) >= self.until;
        if is_new || full || (!self.full && ack.flight > self.most) {
            *self = WindowUsage { until: ack.nxt, most: ack.flight, full, ..*self };
        }
    }
    /// Records data sent up to `nxt` while all data before `una` was acknowledged (`tcp_cwnd_validate`).
    /// `limited` is true if the window has no space for more.
    pub fn note_sent(&mut self, una: u64, nxt: u64, limited: bool) {
        let outstanding = (nxt - una) as u32;
        if una >= self.until || limited || (!self.full && outstanding > self.most) {
            *self = WindowUsage { until: nxt, most: outstanding, full: limited, ..*self };
        }
    }
    /// Records the time at which an ACK, a cut or an undo has set the window.
    pub fn note_window_change(&mut self, now: Time) {
        self.full_at = now;
    }
    /// Records that the congestion window is full at `now`.
    pub fn note_full(&mut self, now: Time) {
        (self.used, self.full_at) = (0, now);
    }
    /// Records data sent into a congestion window that is not full.
    /// Returns the largest use of the window in bytes, once it was not full for a timeout (RFC 2861;
    /// `tcp_cwnd_application_limited`).
    pub fn idle_timeout_window(&mut self, outstanding: u32, timeout: Dur, now: Time) -> Option<u32> {
        self.used = self.used.max(outstanding);
        if now.since(self.full_at) < timeout {
            return None;
        }
        let used = self.used;
        self.note_full(now);
        Some(used)
    }
    /// Returns true if the window may grow: it is full, or half full in slow start, where it doubles in a round trip.
    pub fn is_full(&self, at: CongestionWindows) -> bool {
        self.full || (at.cwnd < at.ssthresh && u64::from(at.cwnd) < 2 * u64::from(self.most))
    }
}
