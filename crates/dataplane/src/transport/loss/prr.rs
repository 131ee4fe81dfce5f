//! Proportional rate reduction: in recovery, the data sent follows the data delivered (RFC 6937, RFC 9937).
//!
//! Names are those of RFC 9937 §6; quantities are in bytes.

/// State of proportional rate reduction (PRR) in one recovery.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::transport) struct Prr {
    /// RecoverFS: bytes in flight when the recovery began.
    flight: u64,
    /// prr_delivered: bytes delivered in the recovery.
    delivered: u64,
    /// prr_out: bytes sent in the recovery.
    out: u64,
}

/// Properties of an ACK in a recovery that PRR needs.
#[derive(Clone, Copy, Debug)]
pub(in crate::transport) struct Delivery {
    /// DeliveredData: bytes newly acknowledged or SACKed.
    pub bytes: u64,
    /// safeACK: true if the ACK acknowledges new data and shows no further loss.
    pub safe: bool,
    /// inflight: bytes in flight after the ACK.
    pub pipe: u64,
    pub ssthresh: u64,
    pub mss: u64,
    /// True if the data to send is rounded up to whole segments, as in Linux.
    pub whole: bool,
}

impl Prr {
    /// Starts PRR for a recovery that begins with this number of bytes in flight.
    pub fn begin(&mut self, flight: u64) {
        *self = Prr { flight: flight.max(1), delivered: 0, out: 0 };
    }
    /// Adds bytes sent in the recovery to PRR's count (prr_out).
    pub fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
    }
    /// Returns the congestion window after an ACK of the recovery; `None` if the ACK delivers nothing.
    pub fn window(&mut self, of: Delivery) -> Option<u64> {
        if of.bytes == 0 {
            return None;
        }
        self.delivered += of.bytes;
        let mut send = if of.pipe > of.ssthresh {
            // Data sent is ssthresh / RecoverFS of the data delivered, so the window falls to ssthresh gradually.
            let due = u128::from(self.delivered) * u128::from(of.ssthresh);
            (due.div_ceil(u128::from(self.flight)) as u64).saturating_sub(self.out)
        } else {
            // Conservative bound (PRR-CRB). If the ACK is safe, the slow start bound (PRR-SSRB) adds one segment.
            let bound = self.delivered.saturating_sub(self.out).max(of.bytes);
            let more = if of.safe { of.mss } else { 0 };
            (bound + more).min(of.ssthresh - of.pipe)
        };
        if of.whole {
            send = send.next_multiple_of(of.mss);
        }
        // The fast retransmit leaves even if the window has no space for it.
        if self.out == 0 && send < of.mss {
            send = of.mss;
        }
        Some(of.pipe + send)
    }
}
