//! The sending end of a flow: how it takes in packets and time. `open` begins a connection and
//! takes data from the application, `transmit` sends, `recovery` mends losses.
//!
//! After a timeout it goes back to the first byte not acknowledged and sends from there as its
//! window opens (RFC 5681 §3.1, RFC 6582 §3.2 step 4), without what was selectively acknowledged
//! (RFC 6675 §5.1); from then on FlightSize counts from there.
//!
//! There is no persist timer (RFC 9293 §3.8.6.1). Only bytes beyond a gap take from the window of a
//! receiver here: while it is narrow, the bytes of the gap are outstanding and inside an edge that
//! was granted, retransmissions keep to that edge, and the ACK of them opens the window again. If
//! that ACK is lost the same data are still outstanding. With nothing outstanding it is open.

mod bursts;
mod by_time;
mod go_back_n;
mod heard;
mod linux;
mod linux_2_6_38;
mod linux_states;
mod linux_timers;
pub(crate) mod notice;
mod open;
mod rack;
mod rack_timers;
mod rack_transmit;
mod recovery;
mod stats;
mod transmit;

pub use stats::SenderStats;

use super::config::EcnMode;
use super::loss::Reach;
use super::timing::Timing;
use super::unwrap;
use super::{AckEvent, Acked, Congestion, FlowInfo, Io, LossDetection, Pacing, Rto, TcpConfig};
use crate::{NO_EXT, Pkt};
use heard::Heard;
use mech::Flags;
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
    /// One past the last byte that the application has handed over.
    written: u64,
    /// When the last segment was sent.
    last_sent: Time,
    /// SND.WND, bytes.
    rwnd: u32,
    /// Largest window ever advertised, bytes.
    widest: u32,
    /// Bytes outstanding that limited transmit sent.
    limited: u32,
    /// TS.Recent: the peer's clock, to be echoed (RFC 7323 §4.3).
    peer_clock: u32,
    emission: u32,
    retransmissions: u32,
    fast_retransmits: u32,
    timeouts: u32,
    echoes: u32,
    cuts: u32,
    notices: u32,
    state: State,
    heard: Heard,
    /// The next new segment says CWR (RFC 3168 §6.1.2).
    cwr: bool,
}

/// Where the connection stands (RFC 9293 §3.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed,
    SynSent,
    Established,
}

/// What counts of an ACK.
#[derive(Clone, Copy)]
struct Arrived {
    ack: u64,
    ece: bool,
    /// Its options tell of bytes that were not acknowledged before (RFC 6675 §2).
    sacked: bool,
    /// The round-trip time that its timestamps tell.
    rtt: Option<Dur>,
}

impl Sender {
    /// A sender that has not started.
    pub fn new(flow: &FlowInfo, cfg: &TcpConfig) -> Sender {
        Sender {
            congestion: Congestion::new(cfg, cfg.ticks(flow.src)),
            loss: LossDetection::default(),
            pacing: Pacing::default(),
            rto: Rto::new(cfg),
            timing: Timing::default(),
            flow: *flow,
            una: 0,
            nxt: 0,
            sent: 0,
            written: 0,
            last_sent: Time::ZERO,
            rwnd: cfg.peer_window,
            widest: cfg.peer_window,
            limited: 0,
            peer_clock: 0,
            heard: Heard::at_first(cfg),
            emission: 0,
            retransmissions: 0,
            fast_retransmits: 0,
            timeouts: 0,
            echoes: 0,
            cuts: 0,
            notices: 0,
            state: if cfg.handshake { State::Closed } else { State::Established },
            cwr: false,
        }
    }

    /// A packet for this sender has come: an ACK, or the answer to its SYN. Others, and ACKs of what
    /// was never sent, do nothing.
    #[inline]
    pub fn receive(&mut self, pkt: &Pkt, io: &mut Io) {
        let cfg = io.cfg;
        let Some(ack) = unwrap(pkt.ack, self.una) else { return };
        if !pkt.head.is_pure_ack() || self.state != State::Established {
            return self.receive_syn(pkt, io);
        }
        if ack > self.sent {
            return;
        }
        if cfg.tail_on_ack {
            self.heard.set(Heard::ACK);
        }
        if cfg.go_back_n {
            return self.receive_in_order(pkt, ack, io);
        }
        if self.keeps_segments(cfg) {
            return self.receive_by_rack(pkt, ack, io);
        }
        let (sacked, rtt) = if pkt.ext == NO_EXT { (false, None) } else { self.options(pkt.ext, ack, io) };
        if ack < self.una {
            return self.on_old(sacked, io);
        }
        let ece = cfg.ecn != EcnMode::Off && pkt.head.flags.has(Flags::ECE);
        self.echoes += u32::from(ece);
        let rwnd = u32::from(pkt.window) << cfg.peer_shift;
        let same_window = rwnd == self.rwnd;
        self.rwnd = rwnd;
        self.widest = self.widest.max(rwnd);
        let arrived = Arrived { ack, ece, sacked, rtt };
        if ack == self.una {
            self.on_duplicate(arrived, same_window, io);
        } else if self.loss.is_quiet() {
            self.on_quiet_ack(arrived, io);
        } else {
            self.on_ack(arrived, io);
        }
    }

    /// An ACK that a newer one has overtaken counts only for what it selectively acknowledges (RFC
    /// 6675 §5).
    #[cold]
    fn on_old(&mut self, sacked: bool, io: &mut Io) {
        if sacked {
            self.on_sacked(io.cfg, io);
            self.send(io);
        }
    }

    /// New data is acknowledged while all is well: `on_ack` without what then does nothing.
    #[inline]
    fn on_quiet_ack(&mut self, arrived: Arrived, io: &mut Io) {
        let (now, cfg) = (io.now, io.cfg);
        let acked = self.advance(arrived, true, io);
        self.congestion.on_ack(&acked, cfg);
        if arrived.ece {
            self.on_mark(&acked, cfg);
        }
        self.rearm(now, cfg);
        if self.nxt < self.written {
            self.restart_if_idle(io);
            self.fill(u64::from(self.congestion.window().saturating_sub(self.flight())), io);
        }
    }

    /// New data is acknowledged.
    #[cold]
    fn on_ack(&mut self, arrived: Arrived, io: &mut Io) {
        let (now, cfg) = (io.now, io.cfg);
        let mut acked = self.advance(arrived, false, io);
        self.nxt = self.nxt.max(self.una);
        acked.nxt = self.nxt;
        self.limited = 0;
        self.loss.expiries = 0;
        let event = self.loss.on_ack(self.una, cfg.recovery);
        acked.open = event == AckEvent::Open;
        self.congestion.on_ack(&acked, cfg);
        match event {
            AckEvent::Open | AckEvent::Ongoing => self.rearm(now, cfg),
            AckEvent::Full => {
                self.congestion.on_recovered(self.flight(), cfg);
                self.rearm(now, cfg);
            }
            AckEvent::Partial { first } => self.on_partial(acked.bytes, first, io),
        }
        // After the window is deflated: what a recovery inflated it by is no window to cut.
        if arrived.ece {
            self.on_mark(&acked, cfg);
        }
        if arrived.sacked {
            self.on_sacked(cfg, io);
        }
        self.send(io);
    }

    /// Moves SND.UNA and takes a sample.
    #[inline]
    fn advance(&mut self, arrived: Arrived, open: bool, io: &Io) -> Acked {
        let (bytes, flight) = ((arrived.ack - self.una) as u32, self.flight());
        self.una = arrived.ack;
        let rtt = if io.cfg.times_by_stamps() { arrived.rtt } else { self.timing.acked(io.now, self.una as u32) };
        if let Some(rtt) = rtt {
            self.rto.sample(rtt, io.cfg);
        }
        Acked { bytes, flight, open, rtt, ..self.acked(arrived.ece, io) }
    }

    fn on_mark(&mut self, acked: &Acked, cfg: &TcpConfig) {
        if self.congestion.on_mark(acked, cfg) {
            self.cuts += 1;
            self.cwr = cfg.echoes();
        }
    }

    /// From now on a segment that the windows allow leaves when the NIC asks for it, by [`pull`](Sender::pull).
    pub(crate) fn wait_for_nic(&mut self) {
        self.pacing = Pacing::Pulled;
    }
    /// Whether a segment waits for the NIC.
    #[inline]
    pub(crate) fn waits(&self) -> bool {
        self.pacing.waits()
    }
    /// The NIC asks for one segment: it is made now, if there still is one.
    pub(crate) fn pull(&mut self, io: &mut Io) {
        self.pacing = Pacing::Granted;
        if self.state == State::Established {
            self.send(io);
        }
        if self.pacing == Pacing::Granted {
            self.pacing = Pacing::Pulled;
        }
    }

    /// `deadline()` has come.
    pub fn timer(&mut self, io: &mut Io) {
        let expired = io.now >= self.rto.expires();
        if self.state != State::Established {
            if expired {
                self.repeat_syn(io);
            }
            return;
        }
        if self.keeps_segments(io.cfg) {
            if expired {
                self.timer_by_rack(io);
            }
            return;
        }
        if expired {
            self.on_timeout(io.now, io.cfg);
            if self.probes(io.cfg) {
                return self.probe(io);
            }
        }
        self.send(io);
    }

    /// When `timer` wants to be called; `None` while nothing is awaited.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        let at = self.rto.expires();
        (at != Time::NEVER).then_some(at)
    }

    /// Whether the connection is open and every byte is acknowledged.
    #[inline]
    pub fn done(&self) -> bool {
        self.una >= self.flow.bytes && self.state == State::Established
    }

    /// Whether it is never done.
    #[inline]
    pub(crate) fn is_persistent(&self) -> bool {
        self.flow.is_persistent()
    }

    /// SND.UNA: bytes acknowledged.
    #[inline]
    pub(crate) fn acknowledged(&self) -> u64 {
        self.una
    }

    /// An ACK of nothing new, as it is now.
    #[inline]
    fn acked(&self, ece: bool, io: &Io) -> Acked {
        Acked {
            bytes: 0,
            una: self.una,
            nxt: self.nxt,
            ece,
            open: false,
            rwnd: self.rwnd,
            now: io.now,
            flight: 0,
            srtt: self.rto.srtt().unwrap_or_default(),
            rtt: None,
            sampled: false,
        }
    }

    /// Whether it knows of each segment what has become of it: to find losses by time, or by PACKs.
    #[inline]
    fn keeps_segments(&self, cfg: &TcpConfig) -> bool {
        cfg.keeps_segments() || self.takes_packs()
    }

    /// Whether both ends take PACKs.
    #[inline]
    fn takes_packs(&self) -> bool {
        self.heard.has(Heard::PACK)
    }

    /// FlightSize (RFC 5681 §2), from where it went back to after a timeout.
    #[inline]
    fn flight(&self) -> u32 {
        (self.nxt - self.una) as u32
    }

    /// RFC 6298 (5.2), (5.3).
    #[inline]
    fn rearm(&mut self, now: Time, cfg: &TcpConfig) {
        match self.sent == self.una {
            true => self.rto.stop(),
            false => self.rto.restart(now, cfg),
        }
    }
}

impl TcpConfig {
    /// What a scoreboard measures with.
    fn reach(&self) -> Reach {
        Reach { threshold: self.dupack_threshold, mss: u32::from(self.mss) }
    }
}
