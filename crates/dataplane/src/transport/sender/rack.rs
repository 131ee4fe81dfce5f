//! Sender that finds losses by time (RFC 8985): processing of ACKs, and start, end and undo of recoveries.
//!
//! The order of steps is Linux's. A sender that learns of losses from PACKs (CP §4.4) uses the same code. If it does
//! not find losses by time, it counts SACKed data (RFC 6675 §4). Rules 3 and 4 of NextSeg() are not built for it.

use super::by_time::Reading;
use super::{Sender, State};
use crate::Pkt;
use crate::transport::choices::PackReaction;
use crate::transport::config::{EcnMode, Recovery};
use crate::transport::kernel::Kernel;
use crate::transport::loss::Reach;
use crate::transport::loss::{Awaited, Delivery, Detected, Frto, OfProbe, Phase, RackTlp, Settling, Told};
use crate::transport::{Acked, Io, Lost, TcpConfig, segment};

/// Effects of an ACK on recovery.
pub(super) struct Event {
    pub told: Told,
    /// True if the ACK acknowledges new data.
    pub advanced: bool,
    /// True if the ACK carries an echo of congestion.
    ece: bool,
    /// True if the ACK has no news.
    bare: bool,
    /// Echoed timestamp, if it may undo a cut.
    echo: Option<u32>,
    /// Bytes in flight before the ACK, without probes.
    flight: u64,
}

impl Sender {
    /// Calls `f` with the state of RACK-TLP, which is created at the first call.
    pub(super) fn by_rack(&mut self, f: impl FnOnce(&mut Sender, &mut RackTlp)) {
        // Taken out, so that `f` may use the whole sender beside it.
        let mut rack = self.loss.take_timed();
        // The one timer is set for pacing or for another event, whichever comes first.
        if let Some(other) = rack.pace.other() {
            self.rto.set(other);
        }
        f(self, &mut rack);
        if let Some(first) = rack.pace.with_timer(self.rto.expires()) {
            self.rto.set(first);
        }
        self.loss.put_timed(rack);
    }

    /// Processes an ACK of everything before `ack`, all of which was sent.
    #[inline(never)]
    pub(super) fn receive_by_rack(&mut self, pkt: &Pkt, ack: u64, io: &mut Io) {
        self.by_rack(|s, r| {
            match io.cfg.kernel {
                _ if io.cfg.follows_linux() => return s.receive_as_linux(pkt, ack, r, io),
                Kernel::Linux2_6_38 => return s.receive_2_6_38(pkt, ack, r, io),
                Kernel::None | Kernel::Linux6_18 => {}
            }
            let event = s.hear(pkt, ack, r, io);
            s.settle(event, r, io);
        });
    }

    /// Processes the header of a cut packet that a switch without buffer space for it has sent back (NDP §3.2.4).
    /// It has the information of a PACK, by a shorter path.
    pub(crate) fn on_returned(&mut self, pkt: &Pkt, io: &mut Io) {
        let Some(range) = segment::cut_range(pkt, self.una, io) else { return };
        if !self.takes_packs() || self.state != State::Established {
            return;
        }
        self.by_rack(|s, r| {
            let (mut told, flight) = (Told::default(), r.segments.flight());
            r.lose_range(range.start.max(s.una)..range.end, true, io.now, &mut told);
            let ece = told.packed > 0 && s.takes_pack_for_mark(io.cfg);
            if io.cfg.follows_linux() || io.cfg.follows_linux_2_6_38() {
                return s.settle_returned(told, ece, r, io);
            }
            s.settle(Event { told, advanced: false, ece, bare: false, echo: None, flight }, r, io);
        });
    }

    /// Applies the effects of an ACK: recovery, window, pacing, timer, transmission.
    fn settle(&mut self, event: Event, r: &mut RackTlp, io: &mut Io) {
        let lost = self.judge(&event, r, io);
        self.set_window(&event, lost, r, io);
        self.set_pace(r, io.cfg);
        self.set_timer(&event, r, io);
        self.send_lost_and_new(r, io);
    }

    /// Processes the contents of an ACK, and takes its samples.
    fn hear(&mut self, pkt: &Pkt, ack: u64, r: &mut RackTlp, io: &mut Io) -> Event {
        let cfg = io.cfg;
        let read = self.read_ack((pkt, ack), r, io, RackTlp::hear);
        let Reading { told, by_stamps, echo, advanced, ece, flight, .. } = read;
        if let Some(rtt) = told.rtt.or(by_stamps.filter(|_| advanced)).or(told.packed_rtt) {
            self.rto.sample_by_rack(rtt, &mut r.spread, self.una..self.nxt, cfg);
            r.on_sample(told.least_rtt.unwrap_or(rtt));
        }
        let same_window = self.rwnd == read.rwnd_before;
        let is_new = !read.is_old && !read.is_pack;
        let bare = !advanced && !told.reported && !told.duplicate && same_window && is_new;
        let ece = ece || told.packed > 0 && self.takes_pack_for_mark(cfg);
        Event { told, advanced, ece, bare, echo: echo.filter(|_| cfg.rack.eifel), flight }
    }

    /// Updates recovery after an ACK, and returns the number of bytes that are newly lost.
    fn judge(&mut self, event: &Event, r: &mut RackTlp, io: &mut Io) -> u64 {
        let told = &event.told;
        if event.ece {
            r.undo.on_mark();
        }
        if r.tlp.on_ack(OfProbe { ack: self.una, twice: told.probe_twice, bare: event.bare }) {
            self.on_mended_by_probe(event.flight, io);
        }
        if r.phase == Phase::Recovery && self.una >= self.loss.recovery_point() {
            self.end_recovery(event, r, io.cfg);
        }
        match r.phase {
            Phase::Recovery if event.advanced && r.undo.is_open() && r.undo.was_delayed(event.echo) => {
                // Nothing more counts as lost until all retransmissions are accounted for.
                if r.segments.again() > 0 {
                    return 0;
                }
                self.undo(true, r);
            }
            Phase::Loss { .. } => self.judge_timeout(event, r, io.cfg),
            Phase::Recovery | Phase::Open | Phase::Disorder | Phase::Reducing => {}
        }
        if !matches!(r.phase, Phase::Loss { .. }) && io.cfg.rack.dsack_undo && r.undo.all_twice() {
            self.undo(false, r);
        }
        let found = self.find(told, r, io);
        let may_begin = match r.phase {
            Phase::Open | Phase::Disorder | Phase::Reducing => true,
            Phase::Recovery => false,
            Phase::Loss { .. } => found.again,
        };
        // Data that a PACK reports is sent again even if no recovery begins.
        let waits = if self.takes_pack_for_mark(io.cfg) { found.lost > 0 } else { r.segments.has_waiting() };
        if may_begin && waits {
            self.begin_recovery(event.flight, event.ece, r, io);
        }
        if r.phase == Phase::Open && r.segments.again() == 0 {
            r.undo.rest();
        }
        found.lost
    }

    /// Searches for losses: by time, or by count if anything was newly SACKed.
    fn find(&mut self, told: &Told, r: &mut RackTlp, io: &mut Io) -> Detected {
        match io.cfg.recovery {
            Recovery::Rack => self.detect(r, io),
            _ if told.reported => {
                r.count(Reach { threshold: self.dupack_threshold(io.cfg), mss: u32::from(io.cfg.mss) })
            }
            _ => Detected::default(),
        }
    }
    /// Returns DupThresh, which is another one if PACKs report losses (CP §4.4).
    pub(super) fn dupack_threshold(&self, cfg: &TcpConfig) -> Option<u32> {
        let with_pack = cfg.pack.filter(|_| self.takes_packs());
        with_pack.map_or(cfg.dupack_threshold, |pack| pack.threshold)
    }
    /// Returns true if a PACK affects the window as an echo of congestion does.
    pub(super) fn takes_pack_for_mark(&self, cfg: &TcpConfig) -> bool {
        cfg.pack.is_some_and(|pack| pack.reaction == PackReaction::Mark)
    }

    /// Searches for losses, and sets the timer for segments that may be lost soon (RFC 8985 §6.2 step 5).
    pub(super) fn detect(&mut self, r: &mut RackTlp, io: &mut Io) -> Detected {
        let settling = self.settling(r, io.cfg);
        let found = r.rack.detect(&mut r.segments, io.now, settling);
        if found.wait.0 > 0 {
            r.awaited = Awaited::Reordering;
            self.wake_after(found.wait.saturating_add(io.cfg.rack.slack), io);
        } else if r.awaited == Awaited::Reordering {
            self.rearm_timeout(r, io);
        }
        found
    }
    pub(super) fn settling(&self, r: &RackTlp, cfg: &TcpConfig) -> Settling {
        let srtt = self.rto.srtt().unwrap_or_default();
        let threshold = self.dupack_threshold(cfg);
        let threshold = if cfg.follows_linux() { Some(r.degree(threshold)) } else { threshold };
        Settling { srtt, threshold, in_recovery: r.in_recovery(), sets_aside: cfg.follows_linux() }
    }

    /// Begins fast recovery with `flight` bytes in flight (RFC 5681 §3.2, RFC 8985 §6.2).
    pub(super) fn begin_recovery(&mut self, flight: u64, marked: bool, r: &mut RackTlp, io: &mut Io) {
        let under_way = r.segments.again().div_ceil(u64::from(io.cfg.mss)) as u32;
        r.undo.begin(self.congestion.saved(), self.una, under_way, marked);
        // Linux reduces from the window, the RFC from the bytes in flight.
        let from = if io.cfg.as_linux() { self.congestion.window().into() } else { flight };
        self.cut(flight, io);
        self.loss.recover(self.sent, self.sent);
        self.fast_retransmits += 1;
        r.prr.begin(from);
        r.tlp.end();
        r.phase = Phase::Recovery;
        r.at_once = io.cfg.recovery != Recovery::Rack;
    }
    /// Cuts the window for a loss with `flight` bytes in flight.
    fn cut(&mut self, flight: u64, io: &Io) {
        let (range, now) = (self.una..self.una + 1, io.now);
        let lost = Lost { range, flight: flight as u32, sent: self.sent, left: 0, now };
        self.congestion.on_lost(&lost, io.cfg);
        self.cwr = io.cfg.ecn != EcnMode::Off;
    }
    /// Cuts the window after a probe has repaired a loss that nothing else shows (RFC 8985 §7.4.2).
    fn on_mended_by_probe(&mut self, flight: u64, io: &Io) {
        self.cut(flight, io);
    }

    /// Ends a recovery, after all data outstanding at its start was acknowledged.
    fn end_recovery(&mut self, event: &Event, r: &mut RackTlp, cfg: &TcpConfig) {
        match self.may_undo(event, r, cfg) {
            true => self.undo(false, r),
            false => {
                r.rack.on_recovered();
                if r.phase == Phase::Recovery {
                    self.congestion.on_recovered(self.flight(), cfg);
                }
                self.open_again(r);
            }
        }
    }
    fn open_again(&mut self, r: &mut RackTlp) {
        r.phase = Phase::Open;
        self.loss.leave_recovery();
    }

    /// Returns true if the last cut was spurious.
    fn may_undo(&self, event: &Event, r: &RackTlp, cfg: &TcpConfig) -> bool {
        let all_twice = cfg.rack.dsack_undo && r.undo.all_twice();
        r.undo.is_open() && (all_twice || r.undo.was_delayed(event.echo))
    }
    /// Undoes the last cut. With `all`, lost segments count as in flight again.
    fn undo(&mut self, all: bool, r: &mut RackTlp) {
        if all {
            r.segments.find_all();
        }
        if let Some(saved) = r.undo.take() {
            self.congestion.undo(&saved);
            self.cwr = false;
        }
        self.open_again(r);
    }

    /// Processes an ACK during the recovery after a timeout.
    /// The timeout was spurious if data sent only once has arrived (RFC 5682 §3.1, with SACK), or for the reasons of
    /// fast recovery.
    fn judge_timeout(&mut self, event: &Event, r: &mut RackTlp, cfg: &TcpConfig) {
        let Phase::Loss { frto } = r.phase else { return };
        if event.advanced && self.may_undo(event, r, cfg) {
            return self.undo(true, r);
        }
        let over = self.una >= self.loss.recovery_point();
        if frto != Frto::Off {
            if event.told.original {
                return self.undo(true, r);
            }
            let mut next = Frto::Asked;
            if self.sent > self.loss.recovery_point() {
                // Step 3.a: the ACK of new data shows that there was a loss.
                if event.told.reported || event.bare {
                    next = Frto::Off;
                }
            } else if event.advanced && !over {
                // Step 2.b: new data, if there is any, shows more than another retransmission.
                self.loss.recover_until(self.sent);
                let may = self.written > self.nxt && self.rwnd > self.flight();
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

    /// Sets the window after an ACK: by PRR in recovery, otherwise by congestion control.
    fn set_window(&mut self, event: &Event, lost: u64, r: &mut RackTlp, io: &mut Io) {
        let cfg = io.cfg;
        let recovering = r.phase == Phase::Recovery;
        let open = event.advanced && !recovering;
        let marked = if self.takes_pack_for_mark(cfg) { event.told.packed } else { 0 };
        let bytes = (event.told.delivered + marked) as u32;
        // Data that waits for a larger burst counts as use of the window.
        let flight = (event.flight as u32).max(if r.limited { self.congestion.window() } else { 0 });
        let acked = Acked { bytes, flight, open, rtt: event.told.last_rtt, ..self.acked(event.ece, io) };
        if acked.bytes > 0 {
            self.congestion.on_ack(&acked, cfg);
        }
        if event.ece {
            self.on_mark(&acked, cfg);
        }
        if recovering && cfg.rack.prr {
            self.reduce(event.told.delivered, event.advanced && lost == 0, r, cfg);
        }
    }
    /// Sets the rate of pacing from the window, or from the unacknowledged bytes if they exceed it.
    pub(super) fn set_pace(&self, r: &mut RackTlp, cfg: &TcpConfig) {
        if let Some(srtt) = self.rto.srtt().filter(|_| cfg.pacing.on) {
            let window = self.congestion.window();
            let percent = cfg.pacing.percent(window, self.congestion.ssthresh());
            r.pace.set_rate(u64::from(window).max(self.sent - self.una), percent, srtt);
        }
    }
    /// Sets the window in a recovery by PRR (RFC 9937 §6).
    pub(super) fn reduce(&mut self, delivered: u64, safe: bool, r: &mut RackTlp, cfg: &TcpConfig) {
        let of = Delivery {
            bytes: delivered,
            safe,
            pipe: r.pipe(),
            ssthresh: u64::from(self.congestion.ssthresh()),
            mss: u64::from(cfg.mss),
            whole: cfg.as_linux(),
        };
        if let Some(window) = r.prr.window(of) {
            self.congestion.set_window(u32::try_from(window).unwrap_or(u32::MAX));
        }
    }
}
