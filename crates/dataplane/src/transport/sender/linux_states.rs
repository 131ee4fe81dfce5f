//! States of Linux's sender (`tcp_fastretrans_alert`): start, end and undo of recoveries, and retransmissions.

use super::Sender;
use super::linux::{AllowedRetransmissions, LinuxAck};
use crate::transport::config::{EcnMode, Recovery};
use crate::transport::loss::{Frto, Phase, RackTlp, TimerPurpose};
use crate::transport::{Io, TcpConfig};

impl Sender {
    /// Processes an ACK with news of loss or congestion, or any ACK outside `TCP_CA_Open`.
    pub(super) fn process_dubious_ack(
        &mut self,
        ack: &mut LinuxAck,
        r: &mut RackTlp,
        io: &mut Io,
    ) -> AllowedRetransmissions {
        if ack.ece {
            r.undo.on_mark();
        }
        if r.phase == Phase::Open {
            r.undo.forget_first_retransmission();
        } else if self.una >= self.loss.recovery_point() && self.end_acknowledged_state(ack, r, io.cfg) {
            return AllowedRetransmissions::Nothing;
        }
        match r.phase {
            Phase::Recovery => {
                if !ack.advanced {
                    self.count_assumed_delivered(ack, r, io.cfg);
                } else if self.undo_partial(ack, r, io.cfg) {
                    return AllowedRetransmissions::Nothing;
                }
                if self.undo_by_duplicates(r, io.cfg) {
                    self.try_keep_open(r);
                }
                self.identify_lost_segments(ack, r, io);
                if r.phase != Phase::Recovery {
                    if r.segments.lost() == 0 {
                        return AllowedRetransmissions::Nothing;
                    }
                    self.enter_recovery(ack.ece, r, io.cfg);
                }
                AllowedRetransmissions::Lost
            }
            Phase::Loss { .. } => {
                let again = self.process_loss(ack, r, io.cfg);
                self.identify_lost_segments(ack, r, io);
                match r.phase == Phase::Open || ack.lost_again {
                    true => self.process_dubious_ack_outside_recovery(again, ack, r, io),
                    false => again,
                }
            }
            Phase::Open | Phase::Disorder | Phase::Reducing => {
                self.process_dubious_ack_outside_recovery(AllowedRetransmissions::Nothing, ack, r, io)
            }
        }
    }

    /// Processes an ACK outside a recovery. A recovery begins if any segment is lost, even one that was sent again.
    fn process_dubious_ack_outside_recovery(
        &mut self,
        again: AllowedRetransmissions,
        ack: &mut LinuxAck,
        r: &mut RackTlp,
        io: &mut Io,
    ) -> AllowedRetransmissions {
        if ack.advanced && io.cfg.recovery != Recovery::Rack {
            r.reset_assumed_delivered();
        }
        self.count_assumed_delivered(ack, r, io.cfg);
        if r.phase <= Phase::Disorder {
            self.undo_by_duplicates(r, io.cfg);
        }
        self.identify_lost_segments(ack, r, io);
        // Data that only a PACK reports as lost is sent again without a recovery, if a PACK stands for a mark.
        let by_mark = self.treats_pack_as_mark(io.cfg) && ack.lost <= ack.outcome.packed;
        if r.segments.lost() > 0 && !by_mark {
            self.enter_recovery(ack.ece, r, io.cfg);
            return AllowedRetransmissions::Lost;
        }
        let again = if r.segments.lost() > 0 { AllowedRetransmissions::Lost } else { again };
        if !has_sent_again(r) {
            r.undo.forget_first_retransmission();
        }
        if ack.ece {
            self.enter_cwr(r, io.cfg);
        }
        if r.phase != Phase::Reducing {
            self.try_keep_open(r);
        }
        again
    }

    /// Leaves a recovery state whose outstanding data is acknowledged. Returns true if the ACK has no further effect.
    fn end_acknowledged_state(&mut self, ack: &LinuxAck, r: &mut RackTlp, cfg: &TcpConfig) -> bool {
        match r.phase {
            // The state ends only at an ACK beyond the recovery point, so that CWR reaches the receiver.
            Phase::Reducing if self.una != self.loss.recovery_point() => {
                self.congestion.end_reduction();
                self.set_phase(Phase::Open, r);
            }
            Phase::Recovery => {
                if cfg.recovery != Recovery::Rack {
                    r.reset_assumed_delivered();
                }
                if self.undo_recovery(ack, r, cfg) {
                    return true;
                }
                if r.undo.is_open() {
                    self.congestion.end_reduction();
                }
            }
            _ => {}
        }
        false
    }

    /// Counts a duplicate ACK without SACK as a delivered segment.
    fn count_assumed_delivered(&mut self, ack: &mut LinuxAck, r: &mut RackTlp, cfg: &TcpConfig) {
        if cfg.recovery != Recovery::Rack && ack.is_duplicate() {
            let segments = r.assume_delivered(cfg.mss.into(), &cfg.sack_rules());
            r.count_delivered(segments);
            ack.outcome.delivered += u64::from(segments) * u64::from(cfg.mss);
        }
    }

    /// Marks segments as lost after an ACK (`tcp_identify_packet_loss`).
    fn identify_lost_segments(&mut self, ack: &mut LinuxAck, r: &mut RackTlp, io: &mut Io) {
        if r.segments.len() == 0 {
            return;
        }
        if io.cfg.recovery != Recovery::Rack {
            ack.lost += r.mark_first_lost(ack.advanced, io.cfg.dupack_threshold);
            return;
        }
        if !r.rack.take_advance() {
            return;
        }
        let settling = self.reordering_window_params(r, io.cfg);
        let again = r.segments.retransmitted_bytes();
        let found = r.rack.detect_losses(&mut r.segments, io.now, settling);
        ack.lost += found.lost;
        ack.lost_again |= r.segments.retransmitted_bytes() < again;
        if found.wait.0 > 0 {
            ack.sets_timer = false;
            r.awaited = TimerPurpose::Reordering;
            // The kernel bounds the wait by the timeout (`tcp_rack_mark_lost`).
            let wait = found.wait.saturating_add(io.cfg.rack.slack).min(self.rto.timeout(io.cfg));
            self.set_timer_after(wait, io);
        }
    }

    fn set_phase(&mut self, phase: Phase, r: &mut RackTlp) {
        r.phase = phase;
        self.loss.leave_recovery();
    }

    /// Begins a reduction of the present congestion window (`tcp_init_cwnd_reduction`).
    pub(super) fn begin_reduction(&mut self, by_mark: bool, r: &mut RackTlp, cfg: &TcpConfig) {
        self.loss.set_recovery_point(self.sent);
        r.tlp.forget_probe();
        r.prr.begin(self.congestion.window().into());
        self.congestion.begin_reduction(by_mark, cfg);
        if !cfg.rack.prr {
            self.congestion.end_reduction();
        }
        self.cwr = cfg.ecn != EcnMode::Off;
    }

    /// Begins fast recovery (`tcp_enter_recovery`). A reduction in progress continues.
    pub(super) fn enter_recovery(&mut self, marked: bool, r: &mut RackTlp, cfg: &TcpConfig) {
        if !has_sent_again(r) {
            r.undo.forget_first_retransmission();
        }
        let mss = u64::from(cfg.mss);
        let under_way = r.segments.retransmitted_bytes().div_ceil(mss) as u32 + u32::from(r.tlp.repeats());
        let reduces = matches!(r.phase, Phase::Reducing | Phase::Recovery);
        // A mark, or a reduction in progress, forbids an undo: `prior_ssthresh` stays 0 in the kernel.
        r.undo.begin(self.congestion.save_linux_window(cfg.mss.into()), self.una, under_way, marked || reduces);
        match reduces {
            true => self.congestion.on_lost_in_reduction(cfg),
            false => self.begin_reduction(false, r, cfg),
        }
        self.loss.begin_recovery(self.loss.recovery_point(), self.loss.recovery_point());
        self.fast_retransmits += 1;
        r.phase = Phase::Recovery;
    }

    /// Reacts to ECN-Echo (`tcp_enter_cwr`): the window falls over a round trip.
    fn enter_cwr(&mut self, r: &mut RackTlp, cfg: &TcpConfig) {
        r.undo.on_mark();
        if r.phase < Phase::Reducing {
            r.undo.close();
            self.begin_reduction(true, r, cfg);
            self.set_phase(Phase::Reducing, r);
            self.cuts += 1;
        }
    }

    /// Sets `TCP_CA_Open`, or `TCP_CA_Disorder` if data is SACKed or was sent again (`tcp_try_keep_open`).
    pub(super) fn try_keep_open(&mut self, r: &mut RackTlp) {
        let is_out = r.segments.sacked_bytes() > 0 || r.segments.lost() > 0 || r.segments.assumed_delivered() > 0;
        let phase = if is_out || has_sent_again(r) { Phase::Disorder } else { Phase::Open };
        if r.phase != phase {
            self.set_phase(phase, r);
            self.loss.set_recovery_point(self.sent);
        }
    }

    /// Returns true if the last cut of the window was spurious (`tcp_may_undo`).
    fn may_undo_cut(&self, ack: &LinuxAck, r: &RackTlp, cfg: &TcpConfig) -> bool {
        r.undo.is_open() && (cfg.rack.dsack_undo && r.undo.all_duplicated() || self.was_delayed(ack, r, cfg))
    }
    /// Returns true if the ACK was caused by a first transmission, not a retransmission (`tcp_packet_delayed`).
    fn was_delayed(&self, ack: &LinuxAck, r: &RackTlp, cfg: &TcpConfig) -> bool {
        let is_over = cfg.recovery != Recovery::Rack && self.una >= self.loss.recovery_point();
        if r.undo.was_sent_again() { r.undo.was_delayed(ack.echo) } else { !is_over }
    }

    /// Restores the window before the last cut (`tcp_undo_cwnd_reduction`). With `all`, no segment counts as lost.
    fn restore_window(&mut self, all: bool, r: &mut RackTlp) {
        if all {
            r.segments.clear_lost_marks();
        }
        if let Some(saved) = r.undo.take_saved_window() {
            self.congestion.undo(&saved);
            self.cwr = false;
        }
        // Losses are to be examined again: `tcp_undo_cwnd_reduction` sets `rack.advanced`.
        r.rack.force_search();
    }

    /// Ends a recovery, and undoes it if it was spurious (`tcp_try_undo_recovery`). Returns true if the state stays.
    /// Without SACK it stays until a byte beyond the recovery point is acknowledged.
    fn undo_recovery(&mut self, ack: &LinuxAck, r: &mut RackTlp, cfg: &TcpConfig) -> bool {
        match self.may_undo_cut(ack, r, cfg) {
            true => self.restore_window(false, r),
            false => r.rack.count_recovery(true),
        }
        if self.keeps_recovery_state(r, cfg) {
            return true;
        }
        self.set_phase(Phase::Open, r);
        false
    }
    fn keeps_recovery_state(&self, r: &mut RackTlp, cfg: &TcpConfig) -> bool {
        let kept = cfg.recovery != Recovery::Rack && self.una == self.loss.recovery_point();
        if kept && !has_sent_again(r) {
            r.undo.forget_first_retransmission();
        }
        kept
    }

    /// Undoes a window cut that DSACKs alone show to be spurious (`tcp_try_undo_dsack`). Returns true if there was one.
    fn undo_by_duplicates(&mut self, r: &mut RackTlp, cfg: &TcpConfig) -> bool {
        let undoes = cfg.rack.dsack_undo && r.undo.all_duplicated();
        if undoes {
            r.rack.count_recovery(false);
            self.restore_window(false, r);
        }
        undoes
    }

    /// Undoes a recovery if a first transmission caused the partial ACK (`tcp_try_undo_partial`).
    /// Returns true if the ACK has no further effect: retransmissions are not all accounted for yet.
    fn undo_partial(&mut self, ack: &LinuxAck, r: &mut RackTlp, cfg: &TcpConfig) -> bool {
        if !r.undo.is_open() || !self.was_delayed(ack, r, cfg) {
            return false;
        }
        r.record_reordering(ack.before, self.una, (cfg.mss.into(), cfg.sack_rules().most_reordering));
        if r.segments.retransmitted_bytes() > 0 {
            return true;
        }
        if !has_sent_again(r) {
            r.undo.forget_first_retransmission();
        }
        self.restore_window(true, r);
        self.try_keep_open(r);
        false
    }

    /// Processes an ACK during the recovery after a timeout (`tcp_process_loss`).
    fn process_loss(&mut self, ack: &mut LinuxAck, r: &mut RackTlp, cfg: &TcpConfig) -> AllowedRetransmissions {
        let Phase::Loss { frto } = r.phase else { return AllowedRetransmissions::Nothing };
        let is_over = self.una >= self.loss.recovery_point();
        if ack.advanced && self.may_undo_cut(ack, r, cfg) {
            self.undo_timeout(false, r, cfg);
            return AllowedRetransmissions::Nothing;
        }
        if frto != Frto::Off {
            if ack.outcome.original {
                self.undo_timeout(true, r, cfg);
                return AllowedRetransmissions::Nothing;
            }
            let mut next = Frto::Asked;
            if self.sent > self.loss.recovery_point() {
                // New data was sent. An ACK that is a duplicate or SACKs something now shows that the loss was genuine
                // (RFC 5682 §3.1 step 3.a).
                if ack.outcome.reported || ack.is_duplicate() {
                    next = Frto::Off;
                }
            } else if ack.advanced && !is_over {
                // New data, if there is any, shows more than another retransmission (RFC 5682 §3.1 step 2.b).
                self.loss.set_recovery_point(self.sent);
                if self.written > self.nxt && self.rwnd > self.flight_size() {
                    r.phase = Phase::Loss { frto: Frto::Asked };
                    return AllowedRetransmissions::New;
                }
                next = Frto::Off;
            }
            r.phase = Phase::Loss { frto: next };
        }
        if is_over {
            self.undo_recovery(ack, r, cfg);
            return AllowedRetransmissions::Nothing;
        }
        if cfg.recovery != Recovery::Rack {
            if self.sent > self.loss.recovery_point() && ack.is_duplicate() {
                self.count_assumed_delivered(ack, r, cfg);
            } else if ack.advanced {
                r.reset_assumed_delivered();
            }
        }
        AllowedRetransmissions::Lost
    }

    /// Undoes a spurious timeout (`tcp_try_undo_loss`): no segment counts as lost.
    fn undo_timeout(&mut self, by_frto: bool, r: &mut RackTlp, cfg: &TcpConfig) {
        self.restore_window(true, r);
        self.loss.expiries = 0;
        if !self.keeps_recovery_state(r, cfg) && (by_frto || cfg.recovery == Recovery::Rack) {
            self.set_phase(Phase::Open, r);
        }
    }

    /// Sends lost segments again while the window exceeds the segments in flight (`tcp_xmit_recovery`).
    pub(super) fn send_lost(&mut self, again: AllowedRetransmissions, r: &mut RackTlp, io: &mut Io) {
        if again == AllowedRetransmissions::Nothing {
            return;
        }
        if again == AllowedRetransmissions::New {
            self.send_new(r, io);
            if self.sent > self.loss.recovery_point() {
                return;
            }
            r.phase = Phase::Loss { frto: Frto::Off };
        }
        r.pace.forget_waiting();
        let window = u64::from(self.congestion.window());
        while let Some(i) = r.segments.next_lost_to_resend() {
            let len = r.segments.get(i).map_or(0, |s| s.len());
            let is_full = r.pipe() + len > window || r.segments.retransmitted_bytes() >= r.segments.lost();
            if is_full || io.cfg.pacing.on && r.pace.must_wait(io.now) || !self.pacing.may_send() {
                return;
            }
            self.send_again(i, r, io);
        }
    }
}

/// Returns true if a retransmitted segment is not acknowledged yet (`tcp_any_retrans_done`).
fn has_sent_again(r: &RackTlp) -> bool {
    r.segments.retransmitted_bytes() > 0 || r.segments.is_first_retransmitted()
}
