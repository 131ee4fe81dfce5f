//! Sender that finds losses by time (RFC 8985): processing of ACKs, and start, end and undo of recoveries.
//!
//! The order of steps is Linux's. A sender that learns of losses from PACKs (CP §4.4) uses the same code. If it does
//! not find losses by time, it counts SACKed data (RFC 6675 §4). Rules 3 and 4 of NextSeg() are not built for it.

use super::ack_reading::AckReading;
use super::{ConnectionState, Sender};
use crate::Pkt;
use crate::transport::config::{EcnMode, Recovery};
use crate::transport::kernel::Kernel;
use crate::transport::loss::IsLostParams;
use crate::transport::loss::{
    AckOutcome, Delivery, DetectedLosses, Frto, Phase, ProbeAck, RackTlp, ReorderingWindowParams, TimerPurpose,
};
use crate::transport::option_values::PackReaction;
use crate::transport::{AckInfo, Io, LossInfo, TcpConfig, segment};

/// Contents of an ACK that affect loss recovery.
pub(super) struct RecoveryEffects {
    pub outcome: AckOutcome,
    /// True if the ACK acknowledges new data.
    pub advanced: bool,
    /// True if the ACK carries ECN-Echo.
    ece: bool,
    /// True if the ACK has no news: no new data, SACK, DSACK or window. False for an old ACK and for a PACK.
    bare: bool,
    /// Echoed timestamp, if it may undo a cut.
    echo: Option<u32>,
    /// Bytes in flight before the ACK, without probes.
    flight: u64,
}

impl Sender {
    /// Calls `f` with the sender and its RACK-TLP state, which is created at the first call.
    pub(super) fn with_rack_tlp(&mut self, f: impl FnOnce(&mut Sender, &mut RackTlp)) {
        // The state is taken out of the sender, so that `f` may use both.
        let mut rack = self.loss.take_rack_tlp();
        // If the single timer is set for pacing, `f` sees the expiry of its other event instead.
        if let Some(other) = rack.pace.other_expiry() {
            self.rto.set(other);
        }
        f(self, &mut rack);
        if let Some(first) = rack.pace.expiry(self.rto.expires()) {
            self.rto.set(first);
        }
        self.loss.put_rack_tlp(rack);
    }

    /// Processes an ACK of everything before `ack`, all of which was sent.
    #[inline(never)]
    pub(super) fn receive_by_rack(&mut self, pkt: &Pkt, ack: u64, io: &mut Io) {
        self.with_rack_tlp(|s, r| {
            match io.cfg.kernel {
                _ if io.cfg.follows_linux_6_18() => return s.receive_as_linux(pkt, ack, r, io),
                Kernel::Linux2_6_38 => return s.receive_2_6_38(pkt, ack, r, io),
                Kernel::None | Kernel::Linux6_18 => {}
            }
            let event = s.read_ack_by_rack(pkt, ack, r, io);
            s.apply_ack(event, r, io);
        });
    }

    /// Processes a trimmed header that a switch without buffer space for it has sent back (NDP §3.2.4).
    /// It has the information of a PACK, by a shorter path.
    pub(crate) fn on_returned(&mut self, pkt: &Pkt, io: &mut Io) {
        let Some(range) = segment::cut_range(pkt, self.una, io) else { return };
        if !self.supports_packs() || self.state != ConnectionState::Established {
            return;
        }
        self.with_rack_tlp(|s, r| {
            let (mut outcome, flight) = (AckOutcome::default(), r.segments.flight());
            r.mark_range_lost(range.start.max(s.una)..range.end, true, io.now, &mut outcome);
            let ece = outcome.packed > 0 && s.treats_pack_as_mark(io.cfg);
            if io.cfg.follows_linux_6_18() || io.cfg.follows_linux_2_6_38() {
                return s.process_returned_header(outcome, ece, r, io);
            }
            s.apply_ack(RecoveryEffects { outcome, advanced: false, ece, bare: false, echo: None, flight }, r, io);
        });
    }

    /// Applies the effects of an ACK: recovery, congestion window, pacing, timer, transmission.
    fn apply_ack(&mut self, event: RecoveryEffects, r: &mut RackTlp, io: &mut Io) {
        let lost = self.update_recovery(&event, r, io);
        self.set_window(&event, lost, r, io);
        self.set_pacing_rate(r, io.cfg);
        self.set_timer(&event, r, io);
        self.send_lost_and_new(r, io);
    }

    /// Processes the contents of an ACK, and takes its round-trip samples.
    fn read_ack_by_rack(&mut self, pkt: &Pkt, ack: u64, r: &mut RackTlp, io: &mut Io) -> RecoveryEffects {
        let cfg = io.cfg;
        let read = self.read_ack((pkt, ack), r, io, RackTlp::process_ack);
        let AckReading { outcome, rtt_by_timestamps, echo, advanced, ece, flight, .. } = read;
        if let Some(rtt) = outcome.rtt.or(rtt_by_timestamps.filter(|_| advanced)).or(outcome.packed_rtt) {
            self.rto.sample_by_rack(rtt, &mut r.spread, self.una..self.nxt, cfg);
            r.on_rtt_sample(outcome.least_rtt.unwrap_or(rtt));
        }
        let same_window = self.rwnd == read.rwnd_before;
        let is_new = !read.is_old && !read.is_pack;
        let bare = !advanced && !outcome.reported && !outcome.duplicate && same_window && is_new;
        let ece = ece || outcome.packed > 0 && self.treats_pack_as_mark(cfg);
        RecoveryEffects { outcome, advanced, ece, bare, echo: echo.filter(|_| cfg.rack.eifel), flight }
    }

    /// Updates recovery after an ACK, and returns the number of bytes that are newly lost.
    fn update_recovery(&mut self, event: &RecoveryEffects, r: &mut RackTlp, io: &mut Io) -> u64 {
        let outcome = &event.outcome;
        if event.ece {
            r.undo.on_mark();
        }
        if r.tlp.on_ack(ProbeAck { ack: self.una, twice: outcome.probe_twice, bare: event.bare }) {
            self.on_loss_repaired_by_probe(event.flight, io);
        }
        if r.phase == Phase::Recovery && self.una >= self.loss.recovery_point() {
            self.end_recovery(event, r, io.cfg);
        }
        match r.phase {
            Phase::Recovery if event.advanced && r.undo.is_open() && r.undo.was_delayed(event.echo) => {
                // The ACK shows reordering. As in Linux (`tcp_try_undo_partial`), nothing more is marked as lost while
                // retransmissions are in flight.
                if r.segments.retransmitted_bytes() > 0 {
                    return 0;
                }
                self.undo_cut(true, r);
            }
            Phase::Loss { .. } => self.process_ack_after_timeout(event, r, io.cfg),
            Phase::Recovery | Phase::Open | Phase::Disorder | Phase::Reducing => {}
        }
        if !matches!(r.phase, Phase::Loss { .. }) && io.cfg.rack.dsack_undo && r.undo.all_duplicated() {
            self.undo_cut(false, r);
        }
        let found = self.find_losses(outcome, r, io);
        let may_begin = match r.phase {
            Phase::Open | Phase::Disorder | Phase::Reducing => true,
            Phase::Recovery => false,
            Phase::Loss { .. } => found.again,
        };
        // If a PACK counts as a mark, the data that it reports is sent again without a recovery.
        let waits = if self.treats_pack_as_mark(io.cfg) { found.lost > 0 } else { r.segments.has_lost_to_resend() };
        if may_begin && waits {
            self.begin_recovery(event.flight, event.ece, r, io);
        }
        if r.phase == Phase::Open && r.segments.retransmitted_bytes() == 0 {
            r.undo.forget_first_retransmission();
        }
        found.lost
    }

    /// Marks segments as lost: by time, or by count if anything was newly SACKed.
    fn find_losses(&mut self, outcome: &AckOutcome, r: &mut RackTlp, io: &mut Io) -> DetectedLosses {
        match io.cfg.recovery {
            Recovery::Rack => self.detect_and_set_timer(r, io),
            _ if outcome.reported => r.detect_losses_by_count(IsLostParams {
                threshold: self.dupack_threshold(io.cfg),
                mss: u32::from(io.cfg.mss),
            }),
            _ => DetectedLosses::default(),
        }
    }
    /// Returns DupThresh, which has a value of its own if PACKs report losses (Cut Payload §4.4).
    pub(super) fn dupack_threshold(&self, cfg: &TcpConfig) -> Option<u32> {
        let with_pack = cfg.pack.filter(|_| self.supports_packs());
        with_pack.map_or(cfg.dupack_threshold, |pack| pack.threshold)
    }
    /// Returns true if a PACK (precise ACK) affects the window as ECN-Echo does.
    pub(super) fn treats_pack_as_mark(&self, cfg: &TcpConfig) -> bool {
        cfg.pack.is_some_and(|pack| pack.reaction == PackReaction::Mark)
    }

    /// Marks segments as lost, and sets the timer for those that may be lost soon (RFC 8985 §6.2 step 5).
    pub(super) fn detect_and_set_timer(&mut self, r: &mut RackTlp, io: &mut Io) -> DetectedLosses {
        let settling = self.reordering_window_params(r, io.cfg);
        let found = r.rack.detect_losses(&mut r.segments, io.now, settling);
        if found.wait.0 > 0 {
            r.awaited = TimerPurpose::Reordering;
            self.set_timer_after(found.wait.saturating_add(io.cfg.rack.slack), io);
        } else if r.awaited == TimerPurpose::Reordering {
            self.rearm_timeout(r, io);
        }
        found
    }
    pub(super) fn reordering_window_params(&self, r: &RackTlp, cfg: &TcpConfig) -> ReorderingWindowParams {
        let srtt = self.rto.srtt().unwrap_or_default();
        let threshold = self.dupack_threshold(cfg);
        let threshold = if cfg.follows_linux_6_18() { Some(r.reordering_degree(threshold)) } else { threshold };
        ReorderingWindowParams {
            srtt,
            threshold,
            in_recovery: r.in_recovery(),
            excludes_found_losses: cfg.follows_linux_6_18(),
        }
    }

    /// Begins fast recovery with `flight` bytes in flight (RFC 5681 §3.2, RFC 8985 §6.2).
    pub(super) fn begin_recovery(&mut self, flight: u64, marked: bool, r: &mut RackTlp, io: &mut Io) {
        let under_way = r.segments.retransmitted_bytes().div_ceil(u64::from(io.cfg.mss)) as u32;
        r.undo.begin(self.congestion.save_window(), self.una, under_way, marked);
        // Linux reduces from the window, the RFC from the bytes in flight.
        let from = if io.cfg.is_linux() { self.congestion.window().into() } else { flight };
        self.cut_window(flight, io);
        self.loss.begin_recovery(self.sent, self.sent);
        self.fast_retransmits += 1;
        r.prr.begin(from);
        r.tlp.forget_probe();
        r.phase = Phase::Recovery;
        r.ignores_window = io.cfg.recovery != Recovery::Rack;
    }
    /// Cuts the window for a loss with `flight` bytes in flight.
    fn cut_window(&mut self, flight: u64, io: &Io) {
        let (range, now) = (self.una..self.una + 1, io.now);
        let lost = LossInfo { range, flight: flight as u32, sent: self.sent, left: 0, now };
        self.congestion.on_lost(&lost, io.cfg);
        self.cwr = io.cfg.ecn != EcnMode::Off;
    }
    /// Cuts the window after a probe has repaired a loss that nothing else shows (RFC 8985 §7.4.2).
    fn on_loss_repaired_by_probe(&mut self, flight: u64, io: &Io) {
        self.cut_window(flight, io);
    }

    /// Ends a recovery, after all data outstanding at its start was acknowledged.
    fn end_recovery(&mut self, event: &RecoveryEffects, r: &mut RackTlp, cfg: &TcpConfig) {
        match self.may_undo(event, r, cfg) {
            true => self.undo_cut(false, r),
            false => {
                r.rack.on_recovered();
                if r.phase == Phase::Recovery {
                    self.congestion.on_recovered(self.flight_size(), cfg);
                }
                self.return_to_open(r);
            }
        }
    }
    fn return_to_open(&mut self, r: &mut RackTlp) {
        r.phase = Phase::Open;
        self.loss.leave_recovery();
    }

    /// Returns true if the last cut of the window was spurious.
    fn may_undo(&self, event: &RecoveryEffects, r: &RackTlp, cfg: &TcpConfig) -> bool {
        let all_twice = cfg.rack.dsack_undo && r.undo.all_duplicated();
        r.undo.is_open() && (all_twice || r.undo.was_delayed(event.echo))
    }
    /// Undoes the last cut of the window. With `all`, lost segments count as in flight again.
    fn undo_cut(&mut self, all: bool, r: &mut RackTlp) {
        if all {
            r.segments.clear_lost_marks();
        }
        if let Some(saved) = r.undo.take_saved_window() {
            self.congestion.undo(&saved);
            self.cwr = false;
        }
        self.return_to_open(r);
    }

    /// Processes an ACK during the recovery after a timeout.
    /// The timeout was spurious if data sent only once has arrived (RFC 5682 §3.1, with SACK), or for the reasons of
    /// fast recovery.
    fn process_ack_after_timeout(&mut self, event: &RecoveryEffects, r: &mut RackTlp, cfg: &TcpConfig) {
        let Phase::Loss { frto } = r.phase else { return };
        if event.advanced && self.may_undo(event, r, cfg) {
            return self.undo_cut(true, r);
        }
        let over = self.una >= self.loss.recovery_point();
        if frto != Frto::Off {
            if event.outcome.original {
                return self.undo_cut(true, r);
            }
            let mut next = Frto::Asked;
            if self.sent > self.loss.recovery_point() {
                // RFC 5682 §3.1 step 3.a: after new data, a duplicate ACK or a new SACK shows that there was a loss.
                if event.outcome.reported || event.bare {
                    next = Frto::Off;
                }
            } else if event.advanced && !over {
                // RFC 5682 §3.1 step 2.b: new data, if there is any, shows more than another retransmission.
                self.loss.set_recovery_point(self.sent);
                let may = self.written > self.nxt && self.rwnd > self.flight_size();
                next = if may { Frto::New } else { Frto::Off };
            }
            r.phase = Phase::Loss { frto: next };
            if next == Frto::New {
                return;
            }
        }
        if over {
            self.end_recovery(event, r, cfg);
        }
    }

    /// Sets the congestion window after an ACK: by PRR in recovery, otherwise by congestion control.
    fn set_window(&mut self, event: &RecoveryEffects, lost: u64, r: &mut RackTlp, io: &mut Io) {
        let cfg = io.cfg;
        let recovering = r.phase == Phase::Recovery;
        let open = event.advanced && !recovering;
        let marked = if self.treats_pack_as_mark(cfg) { event.outcome.packed } else { 0 };
        let bytes = (event.outcome.delivered + marked) as u32;
        // Data that waits for a larger burst counts as use of the window.
        let flight = (event.flight as u32).max(if r.limited { self.congestion.window() } else { 0 });
        let acked = AckInfo { bytes, flight, open, rtt: event.outcome.last_rtt, ..self.ack_info(event.ece, io) };
        if acked.bytes > 0 {
            self.congestion.on_ack(&acked, cfg);
        }
        if event.ece {
            self.on_mark(&acked, cfg);
        }
        if recovering && cfg.rack.prr {
            self.reduce_by_prr(event.outcome.delivered, event.advanced && lost == 0, r, cfg);
        }
    }
    /// Sets the pacing rate from the congestion window, or from the unacknowledged bytes if they exceed it.
    pub(super) fn set_pacing_rate(&self, r: &mut RackTlp, cfg: &TcpConfig) {
        if let Some(srtt) = self.rto.srtt().filter(|_| cfg.pacing.on) {
            let window = self.congestion.window();
            let percent = cfg.pacing.rate_percent(window, self.congestion.ssthresh());
            r.pace.set_rate(u64::from(window).max(self.sent - self.una), percent, srtt);
        }
    }
    /// Sets the congestion window in a recovery by PRR (RFC 9937 §6).
    pub(super) fn reduce_by_prr(&mut self, delivered: u64, safe: bool, r: &mut RackTlp, cfg: &TcpConfig) {
        let of = Delivery {
            bytes: delivered,
            safe,
            pipe: r.pipe(),
            ssthresh: u64::from(self.congestion.ssthresh()),
            mss: u64::from(cfg.mss),
            whole: cfg.is_linux(),
        };
        if let Some(window) = r.prr.window(of) {
            self.congestion.set_window(u32::try_from(window).unwrap_or(u32::MAX));
        }
    }
}
