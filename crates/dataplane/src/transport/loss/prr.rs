//! Proportional rate reduction: what is sent in recovery follows what arrives (RFC 6937, RFC 9937).
//!
//! Names are those of RFC 9937 §6, in bytes.

/// One recovery.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::transport) struct Prr {
    /// RecoverFS: bytes under way when it began.
    flight: u64,
    /// prr_delivered.
    delivered: u64,
    /// prr_out.
    out: u64,
}

/// What an ACK of a recovery says.
#[derive(Clone, Copy, Debug)]
pub(in crate::transport) struct Delivery {
    /// DeliveredData: bytes that it newly acknowledges or reports.
    pub bytes: u64,
    /// safeACK: it acknowledges new data, and shows no further loss.
    pub safe: bool,
    /// inflight: bytes under way after it.
    pub pipe: u64,
    pub ssthresh: u64,
    pub mss: u64,
    /// Part of a segment counts for a whole one, as in Linux, which counts in segments.
    pub whole: bool,
}

impl Prr {
    /// A recovery begins with so many bytes under way.
    pub fn begin(&mut self, flight: u64) {
        *self = Prr { flight: flight.max(1), delivered: 0, out: 0 };
    }
    /// Bytes were sent in it.
    pub fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
    }
    /// The window after an ACK of the recovery; `None` where it delivers nothing.
    pub fn window(&mut self, of: Delivery) -> Option<u64> {
        if of.bytes == 0 {
            return None;
        }
        self.delivered += of.bytes;
        let mut send = if of.pipe > of.ssthresh {
            let due = u128::from(self.delivered) * u128::from(of.ssthresh);
            (due.div_ceil(u128::from(self.flight)) as u64).saturating_sub(self.out)
        } else {
            // Conservative bound, and one segment more where that is safe (slow start bound).
            let bound = self.delivered.saturating_sub(self.out).max(of.bytes);
            let more = if of.safe { of.mss } else { 0 };
            (bound + more).min(of.ssthresh - of.pipe)
        };
        if of.whole {
            send = send.next_multiple_of(of.mss);
        }
        // The fast retransmit is sent whatever the window says.
        if self.out == 0 && send < of.mss {
            send = of.mss;
        }
        Some(of.pipe + send)
    }
}
