//! Counters and state of a sender.

use super::Sender;
use units::Dur;

/// Counters of a sender, and its present state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderStats {
    /// Segments sent, including retransmissions and segments without data.
    pub segments: u32,
    /// Segments sent of which any byte was sent before.
    pub retransmissions: u32,
    /// Recoveries: losses detected by duplicate ACKs or SACKs.
    pub fast_retransmits: u32,
    /// Number of expiries of the retransmission timer.
    pub timeouts: u32,
    /// ACKs that carried ECN-Echo.
    pub echoes: u32,
    /// Cuts of the congestion window because of ECN-Echo, or of bounced frames.
    pub cuts: u32,
    /// Messages from switches and NICs, other than ACKs.
    pub notices: u32,
    /// DSACKs: duplicates that the receiver reported (RFC 2883).
    pub dsacks: u32,
    /// PACKs (precise ACKs of Cut Payload) received.
    pub packs: u32,
    /// Tail loss probes sent (RFC 8985 §7).
    pub tlp_probes: u32,
    /// Spurious recoveries and timeouts that were undone (RFC 3522, RFC 3708, RFC 5682).
    pub undos: u32,
    /// Bytes acknowledged.
    pub acked: u64,
    /// Next byte to send.
    pub next: u64,
    /// Bytes SACKed beyond the acknowledged ones.
    pub sacked: u32,
    /// Congestion window, bytes.
    pub cwnd: u32,
    /// Slow start threshold, bytes.
    pub ssthresh: u32,
    /// Receiver's window, bytes.
    pub rwnd: u32,
    /// True during fast recovery.
    pub in_recovery: bool,
    /// DCTCP's α in units of 2⁻³⁰; `None` for other congestion controls.
    pub alpha: Option<u32>,
    /// Smoothed round-trip time; `None` before the first sample.
    pub srtt: Option<Dur>,
    /// Retransmission timeout with its backoff; with `RtoFloor::Backoff`, before the minimum RTO applies.
    pub rto: Dur,
}

impl Sender {
    /// Returns the counters and the present state of the sender.
    pub fn stats(&self) -> SenderStats {
        let (state, rack) = (self.loss.scoreboard(), self.loss.rack_tlp());
        SenderStats {
            segments: self.emission,
            retransmissions: self.retransmissions,
            fast_retransmits: self.fast_retransmits,
            timeouts: self.timeouts,
            echoes: self.echoes,
            cuts: self.cuts,
            notices: self.notices,
            dsacks: state.map_or(0, |b| b.dsacks()) + rack.map_or(0, |r| r.dsacks),
            packs: rack.map_or(0, |r| r.packs),
            tlp_probes: rack.map_or(0, |r| r.tlp.sent),
            undos: rack.map_or(0, |r| r.undo.done),
            acked: self.una,
            next: self.nxt,
            sacked: state.map_or(0, |b| b.sacked()),
            cwnd: self.congestion.window(),
            ssthresh: self.congestion.ssthresh(),
            rwnd: self.rwnd,
            in_recovery: self.loss.in_recovery(),
            alpha: self.congestion.alpha(),
            srtt: self.rto.srtt(),
            rto: self.rto.timeout_without_floor(),
        }
    }
}
