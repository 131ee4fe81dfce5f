//! Timers of Linux's sender, beside those of every sender with RACK-TLP.

use super::Sender;
use super::linux::Again;
use crate::transport::loss::{Awaited, Phase, RackTlp};
use crate::transport::{Io, Saved, Sending, TcpConfig};

impl Sender {
    /// Processes the expiry of the reordering timer (`tcp_rack_reo_timeout`). It sends lost segments, and no new data.
    pub(super) fn on_reordering_as_linux(&mut self, r: &mut RackTlp, io: &mut Io) {
        let before = r.pipe();
        let settling = self.settling(r, io.cfg);
        _ = r.rack.detect(&mut r.segments, io.now, settling);
        if r.pipe() != before {
            if r.phase != Phase::Recovery {
                self.enter_recovery(false, r, io.cfg);
                if io.cfg.rack.prr {
                    self.reduce(u64::from(io.cfg.mss), false, r, io.cfg);
                }
            }
            self.send_lost(Again::Lost, r, io);
        }
        if r.awaited != Awaited::Retransmission {
            self.rearm_timeout(r, io);
        }
    }

    /// Marks segments as lost at a timeout (`tcp_timeout_mark_lost`): the first, and all older than a round trip.
    pub(super) fn mark_lost_at_timeout(&mut self, r: &mut RackTlp, io: &Io) {
        if r.phase <= Phase::Disorder && self.dupack_threshold(io.cfg).is_some_and(|n| r.segments.reports() >= n) {
            r.forget_degree();
        }
        r.forget_assumed();
        r.rack.lose_old(&mut r.segments, io.now);
    }

    /// Returns the congestion state that an undo of a cut made now would restore.
    pub(super) fn saved(&self, cfg: &TcpConfig) -> Saved {
        if cfg.follows_linux() { self.congestion.saved_as_linux(cfg.mss.into()) } else { self.congestion.saved() }
    }

    /// Returns true if a tail loss probe may be scheduled (`tcp_schedule_loss_probe`).
    pub(super) fn may_await_probe(r: &RackTlp) -> bool {
        r.segments.len() > 0 && matches!(r.phase, Phase::Open | Phase::Reducing)
    }

    /// Notes the use of the window after new data was sent, or did not fit (`tcp_cwnd_validate`).
    pub(super) fn note_use(&mut self, sent: bool, r: &RackTlp, io: &Io) {
        let cfg = io.cfg;
        if !cfg.follows_linux() {
            return;
        }
        let limited = r.limited || r.pipe() + u64::from(cfg.mss) > u64::from(self.congestion.window());
        if sent || limited {
            let (open, timeout) = (r.phase == Phase::Open, self.rto.timeout(cfg));
            let sending = Sending { una: self.una, nxt: self.sent, limited, open, timeout, now: io.now };
            self.congestion.note_use(&sending, cfg);
        }
    }
}
