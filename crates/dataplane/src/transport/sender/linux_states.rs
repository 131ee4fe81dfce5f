//! States of Linux's sender (`tcp_fastretrans_alert`): start, end and undo of recoveries, and retransmissions.

use super::Sender;
use super::linux::{Ack, Again};
use crate::transport::config::{EcnMode, Recovery};
use crate::transport::loss::{Awaited, Frto, Phase, RackTlp};
use crate::transport::{Io, TcpConfig};

impl Sender {
    /// Processes an ACK with news of loss or congestion, or any ACK outside of the open state.
    pub(super) fn alert(&mut self, ack: &mut Ack, r: &mut RackTlp, io: &mut Io) -> Again {
        if ack.ece {
            r.undo.on_mark();
        }
        if r.phase == Phase::Open {
            r.undo.rest();
        } else if self.una >= self.loss.recovery_point() && self.reach_end(ack, r, io.cfg) {
            return Again::Nothing;
        }
        match r.phase {
            Phase::Recovery => {
                if !ack.advanced {
                    self.assume(ack, r, io.cfg);
                } else if self.undo_partial(ack, r, io.cfg) {
                    return Again::Nothing;
                }
                if self.undo_by_duplicates(r, io.cfg) {
                    self.keep_open(r);
                }
                self.identify(ack, r, io);
                if r.phase != Phase::Recovery {
                    if r.segments.lost() == 0 {
                        return Again::Nothing;
                    }
                    self.enter_recovery(ack.ece, r, io.cfg);
                }
                Again::Lost
            }
            Phase::Loss { .. } => {
                let again = self.process_loss(ack, r, io.cfg);
                self.identify(ack, r, io);
                match r.phase == Phase::Open || ack.lost_again {
                    true => self.alert_outside(again, ack, r, io),
                    false => again,
                }
            }
            Phase::Open | Phase::Disorder | Phase::Reducing => self.alert_outside(Again::Nothing, ack, r, io),
        }
    }

    /// Processes an ACK outside a recovery. A recovery begins if any segment is lost, even one that was sent again.
    fn alert_outside(&mut self, again: Again, ack: &mut Ack, r: &mut RackTlp, io: &mut Io) -> Again {
        if ack.advanced && io.cfg.recovery != Recovery::Rack {
            r.forget_assumed();
        }
        self.assume(ack, r, io.cfg);
        if r.phase <= Phase::Disorder {
            self.undo_by_duplicates(r, io.cfg);
        }
        self.identify(ack, r, io);
        // Data that only a PACK reports as lost is sent again without a recovery, if a PACK stands for a mark.
        let by_mark = self.takes_pack_for_mark(io.cfg) && ack.lost <= ack.told.packed;
        if r.segments.lost() > 0 && !by_mark {
            self.enter_recovery(ack.ece, r, io.cfg);
            return Again::Lost;
        }
        let again = if r.segments.lost() > 0 { Again::Lost } else { again };
        if !has_sent_again(r) {
            r.undo.rest();
        }
        if ack.ece {
            self.answer_mark(r, io.cfg);
        }
        if r.phase != Phase::Reducing {
            self.keep_open(r);
        }
        again
    }

    /// Ends a state whose outstanding data is acknowledged. Returns true if the ACK has no further effect.
    fn reach_end(&mut self, ack: &Ack, r: &mut RackTlp, cfg: &TcpConfig) -> bool {
        match r.phase {
            // The state ends only at an ACK beyond the recovery point, so that CWR reaches the receiver.
            Phase::Reducing if self.una != self.loss.recovery_point() => {
                self.congestion.end_reduction();
                self.set_phase(Phase::Open, r);
            }
            Phase::Recovery => {
                if cfg.recovery != Recovery::Rack {
                    r.forget_assumed();
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
    fn assume(&mut self, ack: &mut Ack, r: &mut RackTlp, cfg: &TcpConfig) {
        if cfg.recovery != Recovery::Rack && ack.is_duplicate() {
            let segments = r.assume_delivered(cfg.mss.into(), &cfg.sack_rules());
            r.count_delivered(segments);
            ack.told.delivered += u64::from(segments) * u64::from(cfg.mss);
        }
    }

    /// Searches for losses (`tcp_identify_packet_loss`).
    fn identify(&mut self, ack: &mut Ack, r: &mut RackTlp, io: &mut Io) {
        if r.segments.len() == 0 {
            return;
        }
        if io.cfg.recovery != Recovery::Rack {
            ack.lost += r.lose_first(ack.advanced, io.cfg.dupack_threshold);
            return;
        }
        if !r.rack.take_advance() {
            return;
        }
        let settling = self.settling(r, io.cfg);
        let again = r.segments.again();
        let found = r.rack.detect(&mut r.segments, io.now, settling);
        ack.lost += found.lost;
        ack.lost_again |= r.segments.again() < again;
        if found.wait.0 > 0 {
            ack.sets_timer = false;
            r.awaited = Awaited::Reordering;
            // The kernel bounds the wait by the timeout (`tcp_rack_mark_lost`).
            let wait = found.wait.saturating_add(io.cfg.rack.slack).min(self.rto.timeout(io.cfg));
            self.wake_after(wait, io);
        }
    }

    fn set_phase(&mut self, phase: Phase, r: &mut RackTlp) {
        r.phase = phase;
        self.loss.leave_recovery();
    }

    /// Begins a reduction from the present window (`tcp_init_cwnd_reduction`).
    pub(super) fn begin_reduction(&mut self, by_mark: bool, r: &mut RackTlp, cfg: &TcpConfig) {
        self.loss.recover_until(self.sent);
        r.tlp.end();
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
            r.undo.rest();
        }
        let mss = u64::from(cfg.mss);
        let under_way = r.segments.again().div_ceil(mss) as u32 + u32::from(r.tlp.repeats());
        let reduces = matches!(r.phase, Phase::Reducing | Phase::Recovery);
        // A mark, or a reduction in progress, forbids an undo: `prior_ssthresh` stays 0 in the kernel.
        r.undo.begin(self.congestion.saved_as_linux(cfg.mss.into()), self.una, under_way, marked || reduces);
        match reduces {
            true => self.congestion.on_lost_in_reduction(cfg),
            false => self.begin_reduction(false, r, cfg),
        }
        self.loss.recover(self.loss.recovery_point(), self.loss.recovery_point());
        self.fast_retransmits += 1;
        r.phase = Phase::Recovery;
    }

    /// Reacts to an echo of congestion (`tcp_enter_cwr`): the window falls over a round trip.
    fn answer_mark(&mut self, r: &mut RackTlp, cfg: &TcpConfig) {
        r.undo.on_mark();
        if r.phase < Phase::Reducing {
            r.undo.close();
            self.begin_reduction(true, r, cfg);
            self.set_phase(Phase::Reducing, r);
            self.cuts += 1;
        }
    }

    /// Sets the state to open, or to disorder if data is SACKed or was sent again (`tcp_try_keep_open`).
    pub(super) fn keep_open(&mut self, r: &mut RackTlp) {
        let is_out = r.segments.reported() > 0 || r.segments.lost() > 0 || r.segments.assumed() > 0;
        let phase = if is_out || has_sent_again(r) { Phase::Disorder } else { Phase::Open };
        if r.phase != phase {
            self.set_phase(phase, r);
            self.loss.recover_until(self.sent);
        }
    }

    /// Returns true if the last cut was unnecessary (`tcp_may_undo`).
    fn had_no_reason(&self, ack: &Ack, r: &RackTlp, cfg: &TcpConfig) -> bool {
        r.undo.is_open() && (cfg.rack.dsack_undo && r.undo.all_twice() || self.was_delayed(ack, r, cfg))
    }
    /// Returns true if the acknowledged data is a first sending (`tcp_packet_delayed`).
    fn was_delayed(&self, ack: &Ack, r: &RackTlp, cfg: &TcpConfig) -> bool {
        let is_over = cfg.recovery != Recovery::Rack && self.una >= self.loss.recovery_point();
        if r.undo.was_sent_again() { r.undo.was_delayed(ack.echo) } else { !is_over }
    }

    /// Restores what the last cut took (`tcp_undo_cwnd_reduction`). With `all`, no segment counts as lost any more.
    fn give_back(&mut self, all: bool, r: &mut RackTlp) {
        if all {
            r.segments.find_all();
        }
        if let Some(saved) = r.undo.take() {
            self.congestion.undo(&saved);
            self.cwr = false;
        }
        // Losses are to be examined again: `tcp_undo_cwnd_reduction` sets `rack.advanced`.
        r.rack.look_again();
    }

    /// Ends a recovery (`tcp_try_undo_recovery`). Returns true if the state stays.
    /// Without SACK it stays until a byte beyond the recovery point is acknowledged.
    fn undo_recovery(&mut self, ack: &Ack, r: &mut RackTlp, cfg: &TcpConfig) -> bool {
        match self.had_no_reason(ack, r, cfg) {
            true => self.give_back(false, r),
            false => r.rack.count_recovery(true),
        }
        if self.is_kept(r, cfg) {
            return true;
        }
        self.set_phase(Phase::Open, r);
        false
    }
    fn is_kept(&self, r: &mut RackTlp, cfg: &TcpConfig) -> bool {
        let kept = cfg.recovery != Recovery::Rack && self.una == self.loss.recovery_point();
        if kept && !has_sent_again(r) {
            r.undo.rest();
        }
        kept
    }

    /// Undoes a spurious cut that DSACKs alone reveal (`tcp_try_undo_dsack`). Returns true if there was one.
    fn undo_by_duplicates(&mut self, r: &mut RackTlp, cfg: &TcpConfig) -> bool {
        let undoes = cfg.rack.dsack_undo && r.undo.all_twice();
        if undoes {
            r.rack.count_recovery(false);
            self.give_back(false, r);
        }
        undoes
    }

    /// Undoes a recovery if a partial ACK is that of a first sending (`tcp_try_undo_partial`).
    /// Returns true if the ACK has no further effect: retransmissions are not all accounted for yet.
    fn undo_partial(&mut self, ack: &Ack, r: &mut RackTlp, cfg: &TcpConfig) -> bool {
        if !r.undo.is_open() || !self.was_delayed(ack, r, cfg) {
            return false;
        }
        r.note_reordering(ack.before, self.una, (cfg.mss.into(), cfg.sack_rules().most_reordering));
        if r.segments.again() > 0 {
            return true;
        }
        if !has_sent_again(r) {
            r.undo.rest();
        }
        self.give_back(true, r);
        self.keep_open(r);
        false
    }

    /// Processes an ACK during the recovery after a timeout (`tcp_process_loss`).
    fn process_loss(&mut self, ack: &mut Ack, r: &mut RackTlp, cfg: &TcpConfig) -> Again {
        let Phase::Loss { frto } = r.phase else { return Again::Nothing };
        let is_over = self.una >= self.loss.recovery_point();
        if ack.advanced && self.had_no_reason(ack, r, cfg) {
            self.undo_timeout(false, r, cfg);
            return Again::Nothing;
        }
        if frto != Frto::Off {
            if ack.told.original {
                self.undo_timeout(true, r, cfg);
                return Again::Nothing;
            }
            let mut next = Frto::Asked;
            if self.sent > self.loss.recovery_point() {
                // The ACK of new data shows that there was a loss (RFC 5682 §3.1 step 3.a).
                if ack.told.reported || ack.is_duplicate() {
                    next = Frto::Off;
                }
            } else if ack.advanced && !is_over {
                // New data, if there is any, shows more than another retransmission (step 2.b).
                self.loss.recover_until(self.sent);
                if self.written > self.nxt && self.rwnd > self.flight() {
                    r.phase = Phase::Loss { frto: Frto::Asked };
                    return Again::New;
                }
                next = Frto::Off;
            }
            r.phase = Phase::Loss { frto: next };
        }
        if is_over {
            self.undo_recovery(ack, r, cfg);
            return Again::Nothing;
        }
        if cfg.recovery != Recovery::Rack {
            if self.sent > self.loss.recovery_point() && ack.is_duplicate() {
                self.assume(ack, r, cfg);
            } else if ack.advanced {
                r.forget_assumed();
            }
        }
        Again::Lost
    }

    /// Undoes a spurious timeout (`tcp_try_undo_loss`): no segment counts as lost.
    fn undo_timeout(&mut self, by_frto: bool, r: &mut RackTlp, cfg: &TcpConfig) {
        self.give_back(true, r);
        self.loss.expiries = 0;
        if !self.is_kept(r, cfg) && (by_frto || cfg.recovery == Recovery::Rack) {
            self.set_phase(Phase::Open, r);
        }
    }

    /// Sends lost segments again while the window exceeds the segments in flight (`tcp_xmit_recovery`).
    pub(super) fn send_lost(&mut self, again: Again, r: &mut RackTlp, io: &mut Io) {
        if again == Again::Nothing {
            return;
        }
        if again == Again::New {
            self.send_new(r, io);
            if self.sent > self.loss.recovery_point() {
                return;
            }
            r.phase = Phase::Loss { frto: Frto::Off };
        }
        r.pace.look_again();
        let window = u64::from(self.congestion.window());
        while let Some(i) = r.segments.next_waiting() {
            let len = r.segments.get(i).map_or(0, |s| s.len());
            let is_full = r.pipe() + len > window || r.segments.again() >= r.segments.lost();
            if is_full || io.cfg.pacing.on && r.pace.holds(io.now) || !self.pacing.ready() {
                return;
            }
            self.send_again(i, r, io);
        }
    }
}

/// Returns true if a retransmitted segment is not acknowledged yet (`tcp_any_retrans_done`).
fn has_sent_again(r: &RackTlp) -> bool {
    r.segments.again() > 0 || r.segments.is_first_repeated()
}
