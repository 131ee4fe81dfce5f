//! Whether a flow uses its window: one that does not is told nothing by its ACKs about a larger one
//! (RFC 7661 §4.1, RFC 9438 §5.8).

use super::{Acked, Windows};
use units::{Dur, Time};

/// What of the window was used in the last round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// Until this byte is acknowledged only a fuller window changes what follows.
    until: u64,
    /// Bytes outstanding, at most.
    most: u32,
    /// Another segment did not fit.
    full: bool,
    /// Bytes outstanding at most since the window was full, and when that was, or an ACK let it grow.
    used: u32,
    full_at: Time,
}

impl Usage {
    /// What was outstanding as an ACK came. The largest of a round trip counts, as Linux does.
    pub fn note(&mut self, cwnd: u32, ack: &Acked, mss: u32) {
        let full = ack.flight.saturating_add(mss) > cwnd;
        // With RACK the bytes may be beyond: reported ones.
        let is_new = ack.una.saturating_sub(u64::from(ack.bytes)) >= self.until;
        if is_new || full || (!self.full && ack.flight > self.most) {
            *self = Usage { until: ack.nxt, most: ack.flight, full, ..*self };
        }
    }
    /// Data up to `nxt` was sent, and all before `una` is acknowledged; `limited` says that the window has no room for more
    /// (`tcp_cwnd_validate`).
    pub fn note_sent(&mut self, una: u64, nxt: u64, limited: bool) {
        let outstanding = (nxt - una) as u32;
        if una >= self.until || limited || (!self.full && outstanding > self.most) {
            *self = Usage { until: nxt, most: outstanding, full: limited, ..*self };
        }
    }
    /// An ACK, a cut or what undoes one has set the window.
    pub fn note_stamp(&mut self, now: Time) {
        self.full_at = now;
    }
    /// The window was full.
    pub fn note_full(&mut self, now: Time) {
        (self.used, self.full_at) = (0, now);
    }
    /// Data was sent into a window that is not full: how much of it was used, once that has been so for a timeout
    /// (RFC 2861; `tcp_cwnd_application_limited`).
    pub fn unused_for(&mut self, outstanding: u32, timeout: Dur, now: Time) -> Option<u32> {
        self.used = self.used.max(outstanding);
        if now.since(self.full_at) < timeout {
            return None;
        }
        let used = self.used;
        self.note_full(now);
        Some(used)
    }
    /// Whether the window may grow: it is full, or half full in slow start, where it doubles in a round trip.
    pub fn is_full(&self, at: Windows) -> bool {
        self.full || (at.cwnd < at.ssthresh && u64::from(at.cwnd) < 2 * u64::from(self.most))
    }
}
