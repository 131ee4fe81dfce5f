//! Timers of Linux's sender, in addition to those of every sender with RACK-TLP.

use super::Sender;
use super::linux::AllowedRetransmissions;
use crate::transport::loss::{Phase, RackTlp, TimerPurpose};
use crate::transport::{Io, SavedWindow, SendInfo, TcpConfig};

impl Sender {
    /// Processes the expiry of the reordering timer (`tcp_rack_reo_timeout`). It sends lost segments, and no new data.
    pub(super) fn on_reordering_as_linux(&mut self, r: &mut RackTlp, io: &mut Io) {
        let before = r.pipe();
        let settling = self.reordering_window_params(r, io.cfg);
        _ = r.rack.detect_losses(&mut r.segments, io.now, settling);
        if r.pipe() != before {
            if r.phase != Phase::Recovery {
                self.enter_recovery(false, r, io.cfg);
                if io.cfg.rack.prr {
                    self.reduce_by_prr(u64::from(io.cfg.mss), false, r, io.cfg);
                }
            }
            self.send_lost(AllowedRetransmissions::Lost, r, io);
        }
        if r.awaited != TimerPurpose::Retransmission {
            self.rearm_timeout(r, io);
        }
    }

    /// Marks segments as lost at a timeout (`tcp_timeout_mark_lost`): the first, and all older than a round trip.
    pub(super) fn mark_lost_at_timeout(&mut self, r: &mut RackTlp, io: &Io) {
        if r.phase <= Phase::Disorder
            && self.dupack_threshold(io.cfg).is_some_and(|n| r.segments.sacked_segments() >= n)
        {
            r.reset_reordering_degree();
        }
        r.reset_assumed_delivered();
        r.rack.mark_old_lost(&mut r.segments, io.now);
    }

    /// Returns the congestion state that an undo would restore if the window were cut now.
    pub(super) fn save_window(&self, cfg: &TcpConfig) -> SavedWindow {
        if cfg.follows_linux_6_18() {
            self.congestion.save_linux_window(cfg.mss.into())
        } else {
            self.congestion.save_window()
        }
    }

    /// Returns true if a tail loss probe may be scheduled (`tcp_schedule_loss_probe`).
    pub(super) fn may_schedule_probe(r: &RackTlp) -> bool {
        r.segments.len() > 0 && matches!(r.phase, Phase::Open | Phase::Reducing)
    }

    /// Updates the record of window use after new data was sent or did not fit (`tcp_cwnd_validate`).
    pub(super) fn note_window_use(&mut self, sent: bool, r: &RackTlp, io: &Io) {
        let cfg = io.cfg;
        if !cfg.follows_linux_6_18() {
            return;
        }
        let limited = r.limited || r.pipe() + u64::from(cfg.mss) > u64::from(self.congestion.window());
        if sent || limited {
            let (open, timeout) = (r.phase == Phase::Open, self.rto.timeout(cfg));
            let sending = SendInfo { una: self.una, nxt: self.sent, limited, open, timeout, now: io.now };
            self.congestion.note_window_use(&sending, cfg);
        }
    }
}
