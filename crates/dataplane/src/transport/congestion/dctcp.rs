//! DCTCP: a cut reduces the window by the fraction of bytes that were marked (RFC 8257 §3.3).
//!
//! α, g and the fraction are integers in units of 2⁻³⁰. Products round down once per update, so that α decays to
//! exactly 0, and stays at exactly 1 under marks.
//! The estimate changes at the end of each observation window. The cut comes with the first echo, and the next one not
//! before an ACK of data sent after it. Linux does the same, while RFC 8257 step 9 names only the end of the window.
//! A loss has the effect that it has in conventional TCP, under each of the three recoveries (§3.5).
//! Retransmissions are ECN-capable, as in Linux. RFC 8257 does not mention them, and RFC 3168 §6.1.5 forbids it; but a
//! switch that marks by threshold would drop them.

use super::AckInfo;
use crate::transport::fraction::FRACTION_ONE;

/// Estimate of the fraction of marked bytes (DCTCP's α) of one sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dctcp {
    alpha: u32,
    /// DCTCP.WindowEnd: end of the current observation window.
    window_end: u64,
    /// DCTCP.BytesAcked and DCTCP.BytesMarked of this observation window.
    acked: u32,
    marked: u32,
}

impl Dctcp {
    pub fn new(alpha: u32) -> Dctcp {
        Dctcp { alpha, window_end: 0, acked: 0, marked: 0 }
    }
    /// Adds an ACK to DCTCP's estimate α (RFC 8257 §3.3, steps 1 to 8).
    #[inline]
    pub fn on_ack(&mut self, ack: &AckInfo, g: u32) {
        self.acked = self.acked.saturating_add(ack.bytes);
        if ack.ece {
            self.marked = self.marked.saturating_add(ack.bytes);
        }
        if ack.una <= self.window_end {
            return;
        }
        self.update(g);
        self.window_end = ack.nxt;
        (self.acked, self.marked) = (0, 0);
    }
    fn update(&mut self, g: u32) {
        let one = u64::from(FRACTION_ONE);
        let fraction = u64::from(self.marked) * one / u64::from(self.acked.max(1));
        let sum = u64::from(self.alpha) * (one - u64::from(g)) + u64::from(g) * fraction;
        self.alpha = (sum >> 30) as u32;
    }
    /// Returns the window after DCTCP's cut, cwnd (1 - α/2), without its lower limit (RFC 8257 §3.3, step 9).
    pub fn window_after_mark(&self, cwnd: u32) -> u32 {
        cwnd - ((u64::from(cwnd) * u64::from(self.alpha)) >> 31) as u32
    }
    pub fn alpha(&self) -> u32 {
        self.alpha
    }
}
