//! States of Linux 2.6.38's sender (`tcp_fastretrans_alert`): start and end of recoveries, reduction of the window, and
//! undos.

use super::LinuxAck;
use crate::transport::config::EcnMode;
use crate::transport::loss::{Phase, RackTlp};
use crate::transport::sender::Sender;
use crate::transport::{Io, TcpConfig};

impl Sender {
    /// Processes a dubious ACK: with SACKs, ECN-Echo or a PACK, a duplicate, or any ACK outside `TCP_CA_Open`.
    pub(super) fn process_dubious_ack_2_6_38(&mut self, ack: &LinuxAck, r: &mut RackTlp, io: &mut Io) {
        let cfg = io.cfg;
        let is_duplicate = self.is_duplicate(ack);
        let exceeds = self.fackets(r, cfg) > self.reordering_degree(r, cfg);
        if ack.ece {
            r.fack.prior = None;
        }
        let tells_of_loss = ack.outcome.highest_block > self.loss.recovery_point();
        if r.uses_fack(cfg.rack.fack)
            && tells_of_loss
            && exceeds
            && self.una < self.loss.recovery_point()
            && r.phase != Phase::Open
        {
            r.mark_head_lost(self.fackets(r, cfg) - self.reordering_degree(r, cfg), self.loss.recovery_point());
        }
        if r.phase == Phase::Open {
            r.undo.forget_first_retransmission();
        } else if self.una >= self.loss.recovery_point() && self.leave_state(ack, r, io) {
            return;
        }
        let looks = is_duplicate || ack.outcome.reported && exceeds;
        if r.phase == Phase::Recovery {
            let looks = match ack.advanced {
                true => self.undo_partial_2_6_38(ack, r, io),
                false => {
                    self.count_assumed_delivered_2_6_38(is_duplicate, r, cfg);
                    looks
                }
            };
            return self.reduce_and_send(ack, looks, false, r, io);
        }
        let is_loss = matches!(r.phase, Phase::Loss { .. });
        if (!is_loss || self.process_ack_in_loss(ack, r, io)) && self.enter_recovery_2_6_38(ack, is_duplicate, r, io) {
            self.reduce_and_send(ack, looks, true, r, io);
        }
    }

    /// Returns true for a plain duplicate ACK. A PACK is not one: it names the lost segment (Cut Payload §4.4).
    fn is_duplicate(&self, ack: &LinuxAck) -> bool {
        !ack.advanced && !ack.moves_window && ack.outcome.acked == 0 && !ack.is_pack
    }

    /// Number of segments up to the highest SACK; without SACK one more than the duplicates (`tcp_fackets_out`).
    fn fackets(&self, r: &RackTlp, cfg: &TcpConfig) -> u32 {
        match Sender::has_sack(cfg) {
            true => r.fackets(self.una),
            false => r.delivered_beyond() + 1,
        }
    }

    /// Leaves a recovery state whose outstanding data is acknowledged. Returns true if the ACK is fully processed.
    fn leave_state(&mut self, ack: &LinuxAck, r: &mut RackTlp, io: &Io) -> bool {
        let is_beyond = self.una > self.loss.recovery_point();
        let has_sack = Sender::has_sack(io.cfg);
        match r.phase {
            Phase::Loss { .. } => return self.undo_recovery_2_6_38(ack, r, io),
            // The state ends only at an ACK beyond the recovery point, so that CWR reaches the receiver.
            Phase::Reducing if is_beyond => {
                self.congestion.complete_reduction(io.now);
                self.set_phase_2_6_38(Phase::Open, r);
            }
            Phase::Disorder => {
                self.undo_by_duplicates_2_6_38(r, io);
                if !r.undo.is_open() || !has_sack || is_beyond {
                    r.undo.close();
                    self.set_phase_2_6_38(Phase::Open, r);
                }
            }
            Phase::Recovery => {
                if !has_sack {
                    r.reset_assumed_delivered();
                }
                if self.undo_recovery_2_6_38(ack, r, io) {
                    return true;
                }
                self.congestion.complete_reduction(io.now);
            }
            Phase::Reducing | Phase::Open => {}
        }
        false
    }

    pub(super) fn set_phase_2_6_38(&mut self, phase: Phase, r: &mut RackTlp) {
        r.phase = phase;
        self.loss.leave_recovery();
    }

    /// Counts a duplicate ACK without SACK as a delivered segment (`tcp_add_reno_sack`).
    fn count_assumed_delivered_2_6_38(&mut self, is_duplicate: bool, r: &mut RackTlp, cfg: &TcpConfig) {
        if is_duplicate && !Sender::has_sack(cfg) {
            _ = r.assume_delivered(cfg.mss.into(), &cfg.sack_rules());
        }
    }

    /// Processes an ACK after a timeout: resends lost segments, unless the timeout was spurious.
    /// Returns true if the ACK is then processed as in the open state.
    fn process_ack_in_loss(&mut self, ack: &LinuxAck, r: &mut RackTlp, io: &mut Io) -> bool {
        let has_sack = Sender::has_sack(io.cfg);
        if !has_sack && ack.advanced {
            r.reset_assumed_delivered();
        }
        if !self.may_undo_2_6_38(ack, r) {
            self.moderate_2_6_38(r, io);
            self.send_lost_2_6_38(r, io);
            return false;
        }
        r.segments.clear_lost_marks();
        self.undo_cut_2_6_38(true, r, io);
        r.undo.close();
        self.loss.expiries = 0;
        if has_sack {
            self.set_phase_2_6_38(Phase::Open, r);
        }
        has_sack
    }

    /// Begins a recovery if a loss is detected (`tcp_time_to_recover`), else reacts to a mark.
    /// Returns true if a recovery begins.
    fn enter_recovery_2_6_38(&mut self, ack: &LinuxAck, is_duplicate: bool, r: &mut RackTlp, io: &mut Io) -> bool {
        let cfg = io.cfg;
        if !Sender::has_sack(cfg) {
            if ack.advanced {
                r.reset_assumed_delivered();
            }
            self.count_assumed_delivered_2_6_38(is_duplicate, r, cfg);
            self.disable_fack(r, cfg);
        }
        if r.phase == Phase::Disorder {
            self.undo_by_duplicates_2_6_38(r, io);
        }
        // Data that only a PACK reports as lost is sent again without a recovery, if a PACK stands for a mark.
        let by_mark = self.treats_pack_as_mark(cfg) && ack.outcome.packed > 0;
        if by_mark || !self.should_recover(r, io) {
            self.try_to_open(ack, r, io);
            if by_mark {
                self.send_lost_2_6_38(r, io);
            }
            return false;
        }
        let reduces = r.phase == Phase::Reducing;
        let mss = u32::from(cfg.mss);
        self.loss.begin_recovery(self.sent, self.sent);
        r.fack.prior = (!reduces && !ack.ece).then(|| self.congestion.current_threshold(false, mss));
        r.undo.begin_cut(self.congestion.save_window(), self.una, r.segments.retransmissions_in_flight());
        self.congestion.begin_recovery(!reduces, mss);
        self.cwr |= !reduces && cfg.ecn != EcnMode::Off;
        self.fast_retransmits += 1;
        r.phase = Phase::Recovery;
        true
    }

    /// Returns true if a recovery should begin (`tcp_time_to_recover`).
    fn should_recover(&self, r: &RackTlp, io: &Io) -> bool {
        let cfg = io.cfg;
        if r.fack.frto > 0 {
            return false;
        }
        let (degree, fack) = (self.reordering_degree(r, cfg), r.uses_fack(cfg.rack.fack) && Sender::has_sack(cfg));
        let seen = if fack { r.fackets(self.una) } else { r.delivered_beyond() + 1 };
        if r.segments.lost() > 0 || seen > degree || fack && self.is_head_overdue(r, io) {
            return true;
        }
        let out = r.segments.len() as u32;
        let enough = self.dupack_threshold(cfg).is_some_and(|least| r.delivered_beyond() >= least.max(out / 2));
        out <= degree && enough && !self.may_send_new(r, cfg)
    }

    /// Returns true if the first segment is older than the timeout (`tcp_head_timedout`).
    fn is_head_overdue(&self, r: &RackTlp, io: &Io) -> bool {
        r.segments.first().is_some_and(|s| self.is_overdue(s.at, io))
    }
    fn is_overdue(&self, at: units::Time, io: &Io) -> bool {
        self.since_in_ticks(at, io) > self.rto.timeout(io.cfg)
    }

    /// Processes a dubious ACK without a loss: reacts to a mark and updates the recovery state (`tcp_try_to_open`).
    fn try_to_open(&mut self, ack: &LinuxAck, r: &mut RackTlp, io: &Io) {
        if r.fack.frto == 0 && !Sender::was_sent_again(r) {
            r.undo.forget_first_retransmission();
        }
        if ack.ece {
            self.enter_cwr_2_6_38(true, r, io);
        }
        if r.phase != Phase::Reducing {
            self.try_keep_open_2_6_38(r);
            self.moderate_2_6_38(r, io);
        } else if !self.congestion.is_cut_by_marks() {
            self.halve_rate(ack, r, io);
        }
    }

    /// Begins rate halving after ECN-Echo or a spurious timeout (`tcp_enter_cwr`); `cuts` sets a new threshold.
    pub(super) fn enter_cwr_2_6_38(&mut self, cuts: bool, r: &mut RackTlp, io: &Io) {
        r.fack.prior = None;
        if r.phase >= Phase::Reducing {
            return;
        }
        r.undo.close();
        self.congestion.on_mark_2_6_38(r.segments.in_flight(), cuts, io.now, io.cfg.mss.into());
        self.loss.set_recovery_point(self.sent);
        self.cwr = io.cfg.ecn != EcnMode::Off;
        self.set_phase_2_6_38(Phase::Reducing, r);
        self.cuts += 1;
    }

    /// Sets `TCP_CA_Open`, or `TCP_CA_Disorder` if a segment is SACKed, lost or retransmitted (`tcp_try_keep_open`).
    pub(super) fn try_keep_open_2_6_38(&mut self, r: &mut RackTlp) {
        let is_out = r.delivered_beyond() > 0 || r.segments.lost() > 0 || r.undo.is_open();
        let phase = if is_out || Sender::was_sent_again(r) { Phase::Disorder } else { Phase::Open };
        if r.phase != phase {
            self.set_phase_2_6_38(phase, r);
            self.loss.set_recovery_point(self.sent);
        }
    }
    /// Returns true if a retransmission is in flight, or the first segment was retransmitted (`tcp_any_retrans_done`).
    fn was_sent_again(r: &RackTlp) -> bool {
        r.segments.retransmitted_bytes() > 0 || r.segments.is_first_retransmitted()
    }

    /// Marks lost segments if necessary, reduces the window, and resends lost segments during a recovery.
    fn reduce_and_send(&mut self, ack: &LinuxAck, looks: bool, begins: bool, r: &mut RackTlp, io: &mut Io) {
        let fack = r.uses_fack(io.cfg.rack.fack) && Sender::has_sack(io.cfg);
        if looks || fack && self.is_head_overdue(r, io) {
            self.mark_losses(begins, r, io);
        }
        self.halve_rate(ack, r, io);
        self.send_lost_2_6_38(r, io);
    }

    /// Marks segments as lost by FACK, by counting SACKs, or by duplicate ACKs (`tcp_update_scoreboard`).
    fn mark_losses(&mut self, begins: bool, r: &mut RackTlp, io: &Io) {
        let (cfg, high) = (io.cfg, self.loss.recovery_point());
        let degree = self.reordering_degree(r, cfg);
        if !Sender::has_sack(cfg) {
            return r.mark_head_lost(1, high);
        }
        if !r.uses_fack(cfg.rack.fack) {
            return match r.delivered_beyond().checked_sub(degree) {
                Some(reports) => r.mark_lost_below_sacks(reports, high),
                None if begins => r.mark_head_lost(1, high),
                None => {}
            };
        }
        r.mark_head_lost(r.fackets(self.una).saturating_sub(degree).max(1), high);
        r.mark_overdue_lost(|at| self.is_overdue(at, io));
    }

    /// Reduces the window by one segment at every second ACK with progress (`tcp_cwnd_down`). PACKs count as progress.
    fn halve_rate(&mut self, ack: &LinuxAck, r: &RackTlp, io: &Io) {
        let outcome = &ack.outcome;
        let progresses =
            ack.advanced || outcome.acked > 0 || outcome.reported || outcome.duplicate || outcome.packed > 0;
        if progresses || !Sender::has_sack(io.cfg) && self.is_duplicate(ack) {
            self.congestion.halve_rate(r.segments.in_flight(), io.now, io.cfg.mss.into());
        }
    }

    /// Limits the window to the segments in flight and the degree of reordering (`tcp_moderate_cwnd`).
    fn moderate_2_6_38(&mut self, r: &RackTlp, io: &Io) {
        let most = r.segments.in_flight().saturating_add(self.reordering_degree(r, io.cfg));
        self.congestion.moderate_window(most, io.now, io.cfg.mss.into());
    }

    /// Returns true if the last cut of the window was spurious (`tcp_may_undo`).
    fn may_undo_2_6_38(&self, ack: &LinuxAck, r: &RackTlp) -> bool {
        r.undo.is_open() && (r.undo.dsacks_cover_retransmissions() || r.undo.was_delayed(ack.echo))
    }

    /// Undoes the last cut of the window (`tcp_undo_cwr`); with `restores` the slow start threshold as well.
    fn undo_cut_2_6_38(&mut self, restores: bool, r: &mut RackTlp, io: &Io) {
        let mss = u32::from(io.cfg.mss);
        if self.congestion.undo_2_6_38(r.fack.prior, restores, mss) {
            self.cwr = false;
        }
        r.undo.done += 1;
        self.moderate_2_6_38(r, io);
    }

    /// Ends a recovery, and undoes it if it was spurious (`tcp_try_undo_recovery`).
    /// Returns true if the state stays: without SACK it ends once a byte beyond is acknowledged.
    fn undo_recovery_2_6_38(&mut self, ack: &LinuxAck, r: &mut RackTlp, io: &Io) -> bool {
        if self.may_undo_2_6_38(ack, r) {
            self.undo_cut_2_6_38(true, r, io);
            r.undo.close();
        }
        if self.una == self.loss.recovery_point() && !Sender::has_sack(io.cfg) {
            self.moderate_2_6_38(r, io);
            return true;
        }
        self.set_phase_2_6_38(Phase::Open, r);
        false
    }

    /// Undoes the last cut of the window if DSACKs cover all retransmissions (`tcp_try_undo_dsack`).
    fn undo_by_duplicates_2_6_38(&mut self, r: &mut RackTlp, io: &Io) {
        if r.undo.dsacks_cover_retransmissions() {
            self.undo_cut_2_6_38(true, r, io);
            r.undo.close();
        }
    }

    /// Processes a partial ACK in recovery, which may undo the cut of the window (`tcp_try_undo_partial`).
    /// Returns true if the sender should search for losses, which it should not if the ACK covers an original segment.
    fn undo_partial_2_6_38(&mut self, ack: &LinuxAck, r: &mut RackTlp, io: &Io) -> bool {
        let (cfg, fackets) = (io.cfg, self.fackets(r, io.cfg));
        if !self.may_undo_2_6_38(ack, r) {
            return !Sender::has_sack(cfg) || fackets > self.reordering_degree(r, cfg);
        }
        if !Sender::was_sent_again(r) {
            r.undo.forget_first_retransmission();
        }
        r.raise_reordering_degree(
            fackets + ack.outcome.acked,
            self.reordering_degree(r, cfg),
            cfg.sack_rules().most_reordering,
        );
        self.disable_fack(r, cfg);
        self.undo_cut_2_6_38(false, r, io);
        false
    }
}
