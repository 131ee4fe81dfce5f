//! The sending end of a flow.
//!
//! After a timeout it goes back to the first byte not acknowledged and sends from there as its
//! window opens (RFC 5681 §3.1, RFC 6582 §3.2 step 4); from then on FlightSize counts from there.

use super::config::EcnMode;
use super::timing::Timing;
use super::{AckEvent, Acked, Congestion, DuplicateEvent, FlowInfo, Io, LossDetection, Lost, Notice, Pacing, Rto};
use super::{TcpConfig, segment, unwrap};
use crate::Pkt;
use mech::{Ecn, Flags};
use units::{Dur, Time};

/// The sender of one flow.
#[derive(Clone, Debug)]
pub struct Sender {
    congestion: Congestion,
    loss: LossDetection,
    pacing: Pacing,
    rto: Rto,
    timing: Timing,
    flow: FlowInfo,
    /// SND.UNA: first byte not acknowledged.
    una: u64,
    /// SND.NXT: next byte to send.
    nxt: u64,
    /// One past the highest byte ever sent.
    sent: u64,
    /// SND.WND, bytes.
    rwnd: u32,
    /// Largest window ever advertised, bytes.
    widest: u32,
    /// Bytes outstanding that limited transmit sent.
    limited: u32,
    emission: u32,
    retransmissions: u32,
    fast_retransmits: u32,
    timeouts: u32,
    echoes: u32,
    cuts: u32,
    notices: u32,
    /// The first byte not acknowledged was already sent again by the timer.
    timed_out: bool,
    /// The next new segment says CWR (RFC 3168 §6.1.2).
    cwr: bool,
}

/// What a sender has done, and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderStats {
    /// Segments sent, retransmissions included.
    pub segments: u32,
    /// Segments sent that had been sent before, in whole or in part.
    pub retransmissions: u32,
    /// Losses found by duplicate ACKs.
    pub fast_retransmits: u32,
    /// Expiries of the retransmission timer.
    pub timeouts: u32,
    /// ACKs that carried an echo of congestion.
    pub echoes: u32,
    /// Cuts of the window because of an echo.
    pub cuts: u32,
    /// Notices from the network.
    pub notices: u32,
    /// Bytes acknowledged.
    pub acked: u64,
    /// Next byte to send.
    pub next: u64,
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
    /// Retransmission timeout, backoff included.
    pub rto: Dur,
}

impl Sender {
    /// A sender that has not started.
    pub fn new(flow: &FlowInfo, cfg: &TcpConfig) -> Sender {
        Sender {
            congestion: Congestion::new(cfg),
            loss: LossDetection::default(),
            pacing: Pacing::default(),
            rto: Rto::new(cfg),
            timing: Timing::default(),
            flow: *flow,
            una: 0,
            nxt: 0,
            sent: 0,
            rwnd: cfg.receive_window,
            widest: cfg.receive_window,
            limited: 0,
            emission: 0,
            retransmissions: 0,
            fast_retransmits: 0,
            timeouts: 0,
            echoes: 0,
            cuts: 0,
            notices: 0,
            timed_out: false,
            cwr: false,
        }
    }

    /// The application hands over all its bytes.
    pub fn start(&mut self, io: &mut Io) {
        self.transmit(0, io);
    }

    /// A packet for this sender has come: an ACK. Others, and ACKs of what was never sent, do nothing.
    #[inline]
    pub fn receive(&mut self, pkt: &Pkt, io: &mut Io) {
        let cfg = io.cfg;
        let Some(ack) = unwrap(pkt.ack, self.una) else { return };
        if !pkt.head.is_pure_ack() || ack < self.una || ack > self.sent {
            return;
        }
        let ece = cfg.ecn != EcnMode::Off && pkt.head.flags.has(Flags::ECE);
        self.echoes += u32::from(ece);
        let rwnd = u32::from(pkt.window) << cfg.window_shift;
        let same_window = rwnd == self.rwnd;
        self.rwnd = rwnd;
        self.widest = self.widest.max(rwnd);
        if ack > self.una {
            self.on_ack(Arrived { ack, ece }, io);
        } else {
            self.on_duplicate(Arrived { ack, ece }, same_window, io);
        }
    }

    /// New data is acknowledged.
    #[inline]
    fn on_ack(&mut self, arrived: Arrived, io: &mut Io) {
        let (now, cfg) = (io.now, io.cfg);
        let bytes = (arrived.ack - self.una) as u32;
        self.una = arrived.ack;
        self.nxt = self.nxt.max(self.una);
        self.limited = 0;
        self.timed_out = false;
        if let Some(rtt) = self.timing.acked(now, self.una as u32) {
            self.rto.sample(rtt, cfg);
        }
        let event = self.loss.on_ack(self.una);
        let acked = self.acked(bytes, arrived.ece, event == AckEvent::Open);
        self.congestion.on_ack(&acked, cfg);
        if arrived.ece {
            self.on_mark(&acked, cfg);
        }
        match event {
            AckEvent::Open => self.rearm(now),
            AckEvent::Full => {
                self.congestion.on_recovered(self.flight(), cfg);
                self.rearm(now);
            }
            AckEvent::Partial { first } => {
                self.congestion.on_partial(bytes, cfg);
                self.retransmit_first(io);
                // RFC 6582 §3.2 step 3: only the first partial ACK restarts the timer.
                if first {
                    self.rto.restart(now);
                }
            }
        }
        self.transmit(0, io);
    }

    /// Nothing new is acknowledged. A duplicate ACK is one while data is outstanding that does not
    /// move the window (RFC 5681 §2).
    fn on_duplicate(&mut self, arrived: Arrived, same_window: bool, io: &mut Io) {
        let cfg = io.cfg;
        let acked = self.acked(0, arrived.ece, false);
        if arrived.ece {
            self.on_mark(&acked, cfg);
        }
        let event = match same_window && self.sent > self.una {
            true => self.loss.on_duplicate(self.una, self.sent, cfg.dupack_threshold),
            false => DuplicateEvent::Ignored,
        };
        let mut extra = 0;
        match event {
            DuplicateEvent::Lost => self.on_lost(io),
            DuplicateEvent::More => self.congestion.on_duplicate(cfg),
            // RFC 3042 §2; it is new data, since duplicates up to `recover` are ignored.
            DuplicateEvent::Early(1..=2) if cfg.limited_transmit => extra = 2 * u32::from(cfg.mss),
            DuplicateEvent::Early(_) | DuplicateEvent::Ignored => {}
        }
        self.transmit(extra, io);
    }

    fn on_mark(&mut self, acked: &Acked, cfg: &TcpConfig) {
        if self.congestion.on_mark(acked, cfg) {
            self.cuts += 1;
            self.cwr = true;
        }
    }

    /// The first segment outstanding is lost: fast retransmit (RFC 5681 §3.2).
    fn on_lost(&mut self, io: &mut Io) {
        let cfg = io.cfg;
        let first = u64::from(cfg.mss).min(self.sent - self.una);
        let lost = Lost {
            range: self.una..self.una + first,
            flight: self.flight() - self.limited,
            sent: self.sent,
            left: cfg.dupack_threshold.unwrap_or(0),
        };
        self.fast_retransmits += 1;
        self.limited = 0;
        self.congestion.on_lost(&lost, cfg);
        self.cwr = cfg.ecn != EcnMode::Off;
        self.retransmit_first(io);
    }

    /// `deadline()` has come.
    pub fn timer(&mut self, io: &mut Io) {
        if io.now >= self.rto.expires() {
            self.on_timeout(io.now, io.cfg);
        }
        self.transmit(0, io);
    }

    /// RFC 6298 (5.4) to (5.6), RFC 5681 §3.1, RFC 6582 §3.2 step 4.
    fn on_timeout(&mut self, now: Time, cfg: &TcpConfig) {
        let lost = Lost { range: self.una..self.nxt, flight: self.flight(), sent: self.sent, left: 0 };
        self.congestion.on_timeout(&lost, self.timed_out, cfg);
        self.loss.on_timeout(self.sent);
        self.timeouts += 1;
        self.timed_out = true;
        self.cwr = cfg.ecn != EcnMode::Off;
        self.limited = 0;
        self.nxt = self.una;
        self.timing.clear();
        self.rto.back_off(now, cfg);
    }

    /// The network has told something; nothing here sends because of it.
    pub fn on_notice(&mut self, notice: &Notice, cfg: &TcpConfig) {
        self.notices += 1;
        self.congestion.on_notice(notice, cfg);
    }

    /// When `timer` wants to be called; `None` while nothing is awaited.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        let at = self.rto.expires().min(self.pacing.deadline());
        (at != Time::NEVER).then_some(at)
    }

    /// Whether every byte is acknowledged.
    #[inline]
    pub fn done(&self) -> bool {
        self.una >= self.flow.bytes
    }

    /// What it has done, and where it stands.
    pub fn stats(&self) -> SenderStats {
        SenderStats {
            segments: self.emission,
            retransmissions: self.retransmissions,
            fast_retransmits: self.fast_retransmits,
            timeouts: self.timeouts,
            echoes: self.echoes,
            cuts: self.cuts,
            notices: self.notices,
            acked: self.una,
            next: self.nxt,
            cwnd: self.congestion.window(),
            ssthresh: self.congestion.ssthresh(),
            rwnd: self.rwnd,
            in_recovery: self.loss.in_recovery(),
            alpha: self.congestion.alpha(),
            srtt: self.rto.srtt(),
            rto: self.rto.timeout(),
        }
    }

    fn acked(&self, bytes: u32, ece: bool, open: bool) -> Acked {
        Acked { bytes, una: self.una, nxt: self.nxt, ece, open, rwnd: self.rwnd }
    }

    #[inline]
    fn flight(&self) -> u32 {
        (self.nxt - self.una) as u32
    }

    /// RFC 6298 (5.2), (5.3).
    #[inline]
    fn rearm(&mut self, now: Time) {
        match self.nxt == self.una {
            true => self.rto.stop(),
            false => self.rto.restart(now),
        }
    }

    /// Sends what both windows allow. With `extra` bytes beyond cwnd it sends one segment.
    #[inline]
    fn transmit(&mut self, extra: u32, io: &mut Io) {
        let window = self.congestion.window().saturating_add(extra);
        while self.nxt < self.flow.bytes && self.pacing.ready(io.now) {
            let full = u64::from(io.cfg.mss).min(self.flow.bytes - self.nxt) as u32;
            let flight = self.flight();
            let room = self.rwnd.saturating_sub(flight);
            // A short segment because of the receiver's window: RFC 9293 §3.8.6.2.1 (3).
            let len = full.min(room);
            if u64::from(flight) + u64::from(full) > u64::from(window)
                || len == 0
                || (len < full && len < self.widest.div_ceil(2))
            {
                break;
            }
            self.emit((self.nxt, len), io);
            self.nxt += u64::from(len);
            self.sent = self.sent.max(self.nxt);
            if extra > 0 {
                self.limited += len;
                break;
            }
        }
    }

    fn retransmit_first(&mut self, io: &mut Io) {
        let len = u64::from(io.cfg.mss).min(self.sent - self.una) as u32;
        self.emit((self.una, len), io);
    }

    /// Sends one segment. Data is ECT(0); data sent before is so only for DCTCP (RFC 3168 §6.1.5).
    #[inline]
    fn emit(&mut self, range: (u64, u32), io: &mut Io) {
        let (now, cfg) = (io.now, io.cfg);
        let (start, len) = range;
        let again = start < self.sent;
        let mut pkt = segment::data(&self.flow, range, self.flow.bytes - self.una, cfg);
        segment::stamp(&mut pkt, now, &mut self.emission);
        if again {
            pkt.head.flags = pkt.head.flags.with(Flags::RETRANSMIT);
            self.retransmissions += 1;
            self.timing.clear();
        } else {
            if self.cwr {
                pkt.head.flags = pkt.head.flags.with(Flags::CWR);
                self.cwr = false;
            }
            // While losses are mended an ACK also waits for other segments than its own.
            if !self.loss.in_recovery() {
                self.timing.sent(now, start as u32, start.wrapping_add(u64::from(len)) as u32);
            }
        }
        if cfg.ecn == EcnMode::Exact || (cfg.ecn == EcnMode::Latched && !again) {
            pkt.head.set_ecn(Ecn::Ect0);
        }
        self.pacing.on_sent(now, len);
        self.rto.start(now);
        io.out.push(pkt);
    }
}

/// What counts of an ACK.
#[derive(Clone, Copy)]
struct Arrived {
    ack: u64,
    ece: bool,
}
