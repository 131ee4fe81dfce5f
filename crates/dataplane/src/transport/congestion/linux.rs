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
    /// Growth that was less than a byte, times the window.
    rest: u64,
    /// The estimate of DCTCP; none of Reno.
    pub dctcp: Option<Dctcp>,
}

impl Linux {
    pub fn new(dctcp: Option<Dctcp>) -> Linux {
        Linux { usage: Usage::default(), rest: 0, dctcp }
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
        self.rest += u64::from(left) * u64::from(mss);
        let more = self.rest / u64::from(cwnd);
        self.rest %= u64::from(cwnd);
        cwnd + more as u32
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
