//! Timeouts of Linux 2.6.38 (`tcp_retransmit_timer`), and F-RTO (RFC 4138), which detects spurious timeouts.
//!
//! The sender resends the first segment and waits. The first new ACK allows two new segments, and the second ACK
//! decides.

use super::LinuxAck;
use crate::transport::config::EcnMode;
use crate::transport::loss::{Frto, Phase, RackTlp};
use crate::transport::sender::Sender;
use crate::transport::{Io, TcpConfig};

/// Recovery state after a timeout without F-RTO.
const LOSS_WITHOUT_FRTO: Phase = Phase::Loss { frto: Frto::Off };

impl Sender {
    /// Reacts to the expiry of the retransmission timer as Linux 2.6.38 does.
    pub(in crate::transport::sender) fn on_expiry_2_6_38(&mut self, r: &mut RackTlp, io: &mut Io) {
        if r.segments.len() == 0 {
            return self.rto.stop();
        }
        self.timeouts += 1;
        match io.cfg.rack.frto && self.may_use_frto(r, io.cfg) {
            true => self.enter_frto(r, io),
            false => self.enter_loss(r, io),
        }
        self.resend_lost(0, r, io);
        self.loss.expiries = self.loss.expiries.saturating_add(1);
        self.rto.back_off(io.now, io.cfg);
        self.rearm_timeout(r, io);
    }

    /// Returns true if F-RTO is possible (`tcp_use_frto`).
    /// It always is with SACK, and otherwise if only the first segment was ever resent.
    fn may_use_frto(&self, r: &RackTlp, cfg: &TcpConfig) -> bool {
        Sender::has_sack(cfg) || r.segments.retransmissions_in_flight() <= 1 && !r.segments.is_second_retransmitted()
    }

    /// Returns true if a timeout cuts the slow start threshold: once for the same outstanding data.
    fn cuts_threshold(&self, r: &RackTlp) -> bool {
        let asked = r.fack.frto > 0;
        let is_loss = matches!(r.phase, Phase::Loss { .. }) || asked;
        !asked && r.phase <= Phase::Disorder
            || self.una == self.loss.recovery_point()
            || is_loss && self.loss.expiries == 0
    }

    /// Begins F-RTO, which resends only the first segment (`tcp_enter_frto`).
    fn enter_frto(&mut self, r: &mut RackTlp, io: &mut Io) {
        let mss = u32::from(io.cfg.mss);
        if self.cuts_threshold(r) {
            r.fack.prior = Some(self.congestion.current_threshold(Sender::is_reducing(r), mss));
            match r.fack.frto > 0 {
                // F-RTO of the previous timeout has not reduced the window yet, so Linux computes the threshold as for
                // a window of two segments (`tcp_enter_frto`).
                true => self.congestion.cut_threshold_of(2, mss),
                false => self.congestion.cut_threshold(mss),
            }
        }
        match r.segments.is_first_retransmitted() {
            true => r.undo.close(),
            false => r.undo.begin_cut(self.congestion.save_window(), self.una, 0),
        }
        r.segments.clear_retransmission(0);
        self.congestion.limit_window(r.segments.in_flight() + 1, mss);
        let goes_on = r.fack.frto > 0 || r.phase >= Phase::Recovery;
        let is_earlier = Sender::has_sack(io.cfg) && goes_on && self.loss.recovery_point() > self.una;
        r.fack.highmark = if is_earlier { self.loss.recovery_point() } else { self.sent };
        self.set_phase_2_6_38(Phase::Disorder, r);
        self.loss.set_recovery_point(self.sent);
        r.fack.frto = 1;
    }
    /// Returns true while the window is being reduced to a threshold that was cut.
    pub(super) fn is_reducing(r: &RackTlp) -> bool {
        matches!(r.phase, Phase::Reducing | Phase::Recovery)
    }

    /// Marks all segments as lost that are not SACKed, and begins recovery after a timeout (`tcp_enter_loss`).
    fn enter_loss(&mut self, r: &mut RackTlp, io: &mut Io) {
        let mss = u32::from(io.cfg.mss);
        if self.cuts_threshold(r) {
            r.fack.prior = Some(self.congestion.current_threshold(Sender::is_reducing(r), mss));
            self.congestion.cut_threshold(mss);
        }
        r.reset_assumed_delivered();
        match r.mark_everything_lost(false) {
            true => r.undo.close(),
            false => r.undo.begin_cut(self.congestion.save_window(), self.una, 0),
        }
        self.begin_loss(1, r, io);
    }

    fn begin_loss(&mut self, window: u32, r: &mut RackTlp, io: &Io) {
        self.congestion.begin_loss(window, io.now, io.cfg.mss.into());
        r.fack.frto = 0;
        r.reset_reordering_degree();
        self.set_phase_2_6_38(LOSS_WITHOUT_FRTO, r);
        self.loss.set_recovery_point(self.sent);
        self.cwr = io.cfg.ecn != EcnMode::Off;
    }

    /// Ends F-RTO after a genuine timeout (`tcp_enter_frto_loss`).
    /// Everything is lost, and `allowed` segments may leave in addition to those in flight.
    fn enter_frto_loss(&mut self, allowed: u32, acked: bool, r: &mut RackTlp, io: &Io) {
        if !Sender::has_sack(io.cfg) {
            r.reset_assumed_delivered();
        }
        let keeps_first = r.fack.frto == 1 && !acked;
        if r.mark_everything_lost(keeps_first) {
            r.undo.close();
        }
        let window = r.segments.in_flight() + allowed;
        self.begin_loss(window, r, io);
    }

    /// Processes an ACK during F-RTO (`tcp_process_frto`). Returns true if the window must not grow by it.
    pub(super) fn process_frto(&mut self, ack: &LinuxAck, r: &mut RackTlp, io: &Io) -> bool {
        let (step, acked, outcome) = (r.fack.frto, ack.outcome.acked > 0, &ack.outcome);
        if outcome.later_again_acked || step >= 2 && outcome.again_acked {
            r.undo.close();
        }
        if self.una >= r.fack.highmark {
            self.enter_frto_loss(if step == 1 { 2 } else { 3 }, acked, r, io);
            return true;
        }
        let progresses = acked || outcome.reported;
        let is_duplicate = !ack.advanced && !ack.moves_window && !acked;
        if !Sender::has_sack(io.cfg) {
            if !progresses && !ack.advanced && !is_duplicate {
                return true;
            }
            if !acked {
                self.enter_frto_loss(if step == 1 { 0 } else { 3 }, acked, r, io);
                return true;
            }
        } else if !acked && step == 1 {
            // In F-RTO, no new data leaves until an ACK acknowledges data.
            self.congestion.limit_window(r.segments.in_flight(), io.cfg.mss.into());
            return true;
        } else if step >= 2 && (!progresses || outcome.reported && !self.is_all_original(ack, r)) {
            if progresses || is_duplicate {
                self.enter_frto_loss(3, acked, r, io);
            }
            return true;
        }
        self.decide_frto(ack, r, io)
    }

    /// Returns true if the SACKs cover only data that was sent once, before the timeout.
    fn is_all_original(&self, ack: &LinuxAck, r: &RackTlp) -> bool {
        ack.outcome.original_reported && ack.outcome.highest_block <= r.fack.highmark
    }

    /// Advances F-RTO after an ACK of new data: the first allows two new segments, the second shows a spurious timeout.
    fn decide_frto(&mut self, ack: &LinuxAck, r: &mut RackTlp, io: &Io) -> bool {
        if r.fack.frto > 1 {
            // The window falls by rate halving to the threshold of the timeout (`tcp_frto_response` 0).
            self.enter_cwr_2_6_38(false, r, io);
            r.fack.frto = 0;
            r.undo.close();
            r.undo.done += 1;
            return false;
        }
        self.congestion.set_window_2_6_38(r.segments.in_flight() + 2, io.cfg.mss.into());
        r.fack.frto = 2;
        if !self.may_send_new(r, io.cfg) {
            self.enter_frto_loss(2, ack.outcome.acked > 0, r, io);
        }
        true
    }
}
