//! Reno and DCTCP as Linux has them: the window grows by what is acknowledged, however few ACKs tell of it, and
//! only while it is used; a cut is of the window, not of what is under way (RFC 5681 §3.1 counts ACKs and halves
//! FlightSize).

use super::dctcp::Dctcp;
use super::usage::Usage;
use super::{Acked, Windows};
use crate::transport::TcpConfig;

/// One sender's.
#[derive(Clone, Debug)]
pub(super) struct Linux {
    usage: Usage,
    /// Bytes that were acknowledged, and did not open the window yet.
    counted: u64,
    /// The estimate of DCTCP; none of Reno.
    pub dctcp: Option<Dctcp>,
}

impl Linux {
    pub fn new(dctcp: Option<Dctcp>) -> Linux {
        Linux { usage: Usage::default(), counted: 0, dctcp }
    }

    /// The window after an ACK of new data.
    #[inline(never)]
    pub fn on_ack(&mut self, at: Windows, ack: &Acked, cfg: &TcpConfig) -> u32 {
        let mss = u32::from(cfg.mss);
        if let Some(dctcp) = &mut self.dctcp {
            dctcp.on_ack(ack, cfg.g);
        }
        self.usage.note(at.cwnd, ack, mss);
        if !ack.open || ack.ece || at.cwnd >= ack.rwnd || !self.usage.is_full(at) {
            return at.cwnd;
        }
        let (cwnd, left) = slow_start(at, ack.bytes);
        cwnd + self.avoid(cwnd, left, mss)
    }

    /// Congestion avoidance: how much the window grows by after so many bytes were acknowledged, in whole segments. What
    /// was counted towards the growth of a larger one is worth a segment, however much it is.
    fn avoid(&mut self, cwnd: u32, acked: u32, mss: u32) -> u32 {
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

    /// A loss is seen: the slow start threshold, before its floor, in whole segments.
    pub fn cut(&mut self, cwnd: u32, mss: u32) -> u32 {
        self.counted = 0;
        cwnd / mss / 2 * mss
    }

    /// The window after a mark, before the floor.
    pub fn after_mark(&self, cwnd: u32) -> u32 {
        self.dctcp.as_ref().map_or(cwnd / 2, |dctcp| dctcp.after_mark(cwnd))
    }
}

/// The window after so many bytes in slow start, and those that go beyond its threshold.
pub(super) fn slow_start(at: Windows, bytes: u32) -> (u32, u32) {
    let fast = bytes.min(at.ssthresh.saturating_sub(at.cwnd));
    (at.cwnd + fast, bytes - fast)
}

/// The window after an idle time of so many timeouts: half for each after the first, no less than the restart
/// window (RFC 2861).
pub(super) fn after_idle(cwnd: u32, timeouts: u64, restart: u32) -> u32 {
    let halves = timeouts.min(31) as u32;
    (cwnd >> halves).max(restart.min(cwnd))
}
