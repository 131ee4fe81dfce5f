//! What is told of a sender.

use super::Sender;
use units::Dur;

/// What a sender has done, and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderStats {
    /// Segments sent, retransmissions and those without data included.
    pub segments: u32,
    /// Segments sent that had been sent before, in whole or in part.
    pub retransmissions: u32,
    /// Losses found by duplicate ACKs or selective acknowledgements: recoveries.
    pub fast_retransmits: u32,
    /// Expiries of the retransmission timer.
    pub timeouts: u32,
    /// ACKs that carried an echo of congestion.
    pub echoes: u32,
    /// Cuts of the window because of an echo, or of frames that came back.
    pub cuts: u32,
    /// Notices from the network.
    pub notices: u32,
    /// Duplicates that the receiver reported (RFC 2883).
    pub dsacks: u32,
    /// PACKs (CP §4.3).
    pub packs: u32,
    /// Tail loss probes (RFC 8985 §7).
    pub tlp_probes: u32,
    /// Recoveries and timeouts that turned out to have had no reason (RFC 3522, RFC 3708, RFC 5682).
    pub undos: u32,
    /// Bytes acknowledged.
    pub acked: u64,
    /// Next byte to send.
    pub next: u64,
    /// Bytes selectively acknowledged beyond those.
    pub sacked: u32,
    /// Congestion window, bytes.
    pub cwnd: u32,
    /// Slow start threshold, bytes.
    pub ssthresh: u32,
    /// Receiver's window, bytes.
    pub rwnd: u32,
    /// Whether fast recovery is under way.
    pub in_recovery: bool,
    /// DCTCP's α in units of 2⁻³⁰; `None` for others.
    pub alpha: Option<u32>,
    /// Smoothed round-trip time; `None` before the first sample.
    pub srtt: Option<Dur>,
    /// Retransmission timeout, backoff included; where its floor comes after that, before it.
    pub rto: Dur,
}

impl Sender {
    /// What it has done, and where it stands.
    pub fn stats(&self) -> SenderStats {
        let (state, rack) = (self.loss.state(), self.loss.timed());
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
            rto: self.rto.unbounded(),
        }
    }
}
