//! Use of the window: the ACKs of a flow that does not use its window do not justify a larger one.
//!
//! See RFC 7661 §4.1 and RFC 9438 §5.8.

use super::{AckInfo, CongestionWindows};
use units::{Dur, Time};

/// Use of the window in the last round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowUsage {
    /// End of the measured round trip. Before it is acknowledged, only a fuller window changes the record.
    until: u64,
    /// Largest number of bytes outstanding.
    most: u32,
    /// True if another segment did not fit.
    full: bool,
    /// Largest number of bytes outstanding since the window was full, and time of its last full use or change.
    used: u32,
    full_at: Time,
}

impl WindowUsage {
    /// Notes the bytes outstanding when an ACK came. As in Linux, the largest number of a round trip counts.
    pub fn note_ack(&mut self, cwnd: u32, ack: &AckInfo, mss: u32) {
        let full = ack.flight.saturating_add(mss) > cwnd;
        // With RACK the bytes may lie beyond the ACK, since SACKed bytes are included.
        let is_new = ack.una.saturating_sub(u64::from(ack.bytes)) >= self.until;
        if is_new || full || (!self.full && ack.flight > self.most) {
            *self = WindowUsage { until: ack.nxt, most: ack.flight, full, ..*self };
        }
    }
    /// Notes data sent up to `nxt`, with all data before `una` acknowledged (`tcp_cwnd_validate`).
    /// `limited` is true if the window has no space for more.
    pub fn note_sent(&mut self, una: u64, nxt: u64, limited: bool) {
        let outstanding = (nxt - una) as u32;
        if una >= self.until || limited || (!self.full && outstanding > self.most) {
            *self = WindowUsage { until: nxt, most: outstanding, full: limited, ..*self };
        }
    }
    /// Notes that an ACK, a cut or an undo has set the window.
    pub fn note_window_change(&mut self, now: Time) {
        self.full_at = now;
    }
    /// Notes that the window is full.
    pub fn note_full(&mut self, now: Time) {
        (self.used, self.full_at) = (0, now);
    }
    /// Notes data sent into a window that is not full.
    /// Returns the largest use of the window, once it was not full for a timeout (RFC 2861;
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
