//! Whether a flow uses its window: one that does not is told nothing by its ACKs about a larger one
//! (RFC 7661 §4.1, RFC 9438 §5.8).

use super::{Acked, Windows};

/// What of the window was used in the last round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// Until this byte is acknowledged only a fuller window changes what follows.
    until: u64,
    /// Bytes outstanding, at most.
    most: u32,
    /// Another segment did not fit.
    full: bool,
}

impl Usage {
    /// What was outstanding as an ACK came. The largest of a round trip counts, as Linux does.
    pub fn note(&mut self, cwnd: u32, ack: &Acked, mss: u32) {
        let full = ack.flight.saturating_add(mss) > cwnd;
        // With RACK the bytes may be beyond: reported ones.
        let is_new = ack.una.saturating_sub(u64::from(ack.bytes)) >= self.until;
        if is_new || full || (!self.full && ack.flight > self.most) {
            *self = Usage { until: ack.nxt, most: ack.flight, full };
        }
    }
    /// Whether the window may grow: it is full, or half full in slow start, where it doubles in a round trip.
    pub fn is_full(&self, at: Windows) -> bool {
        self.full || (at.cwnd < at.ssthresh && u64::from(at.cwnd) < 2 * u64::from(self.most))
    }
}
