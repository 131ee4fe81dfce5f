//! Sending end of a flow: processing of ACKs, and of the timer.
//!
//! `open` begins a connection and takes data from the application, `transmit` sends, and `recovery` repairs losses.
//!
//! After a timeout the sender goes back to the first unacknowledged byte (RFC 5681 §3.1, RFC 6582 §3.2 step 4). It
//! sends from there as its window opens, without SACKed data (RFC 6675 §5.1). FlightSize then counts from there, too.
//!
//! There is no persist timer (RFC 9293 §3.8.6.1), because a window cannot stay closed:
//! - Only bytes beyond a gap reduce the window of a receiver here. While it is narrow, the bytes of the gap are
//!   outstanding, inside an edge that was granted before.
//! - Retransmissions keep to that edge, and their ACK opens the window again. If that ACK is lost, the same data is
//!   still outstanding.
//! - With nothing outstanding the window is open.

mod ack_reading;
mod bursts;
mod go_back_n;
mod handshake;
mod linux;
mod linux_2_6_38;
mod linux_states;
mod linux_timers;
pub(crate) mod notice;
mod peer_facts;
mod rack;
mod rack_timers;
mod rack_transmit;
mod recovery;
mod stats;
mod transmit;

pub use stats::SenderStats;

use super::config::EcnMode;
use super::loss::IsLostParams;
use super::rtt_timing::RttTiming;
use super::unwrap_offset;
use super::{AckEvent, AckInfo, Congestion, FlowInfo, Io, LossDetection, Pacing, Rto, TcpConfig};
use crate::{NO_EXT, Pkt};
use mech::Flags;
use peer_facts::PeerFacts;
use units::{Dur, Time};

/// Sender of one flow.
#[derive(Clone, Debug)]
pub struct Sender {
    congestion: Congestion,
    loss: LossDetection,
    pacing: Pacing,
    rto: Rto,
    timing: RttTiming,
    flow: FlowInfo,
    /// SND.UNA: first unacknowledged byte.
    una: u64,
    /// SND.NXT: next byte to send.
    nxt: u64,
    /// End of the data sent so far, one past its highest byte.
    sent: u64,
    /// End of the data that the application has written, one past its last byte.
    written: u64,
    /// Time at which the last segment was sent.
    last_sent: Time,
    /// SND.WND: receiver's window in bytes.
    rwnd: u32,
    /// Largest window ever advertised, bytes.
    max_rwnd: u32,
    /// Outstanding bytes that limited transmit (RFC 3042) sent.
    limited: u32,
    /// TS.Recent: the peer's timestamp, to be echoed (RFC 7323 §4.3).
    peer_clock: u32,
    emission: u32,
    retransmissions: u32,
    fast_retransmits: u32,
    timeouts: u32,
    echoes: u32,
    cuts: u32,
    notices: u32,
    state: ConnectionState,
    peer_facts: PeerFacts,
    /// True if the next new segment carries CWR (RFC 3168 §6.1.2).
    cwr: bool,
}

/// State of the connection (RFC 9293 §3.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConnectionState {
    Closed,
    SynSent,
    Established,
}

/// Parts of an ACK that the sender uses.
#[derive(Clone, Copy)]
struct AckFields {
    ack: u64,
    ece: bool,
    /// True if SACK blocks of the ACK report bytes that were not SACKed before (RFC 6675 §2).
    sacked: bool,
    /// Round-trip time measured by the timestamps of the ACK.
    rtt: Option<Dur>,
}

impl Sender {
    /// Creates a sender that has not started.
    pub fn new(flow: &FlowInfo, cfg: &TcpConfig) -> Sender {
        Sender {
            congestion: Congestion::new(cfg, cfg.host_ticks(flow.src)),
            loss: LossDetection::default(),
            pacing: Pacing::default(),
            rto: Rto::new(cfg),
            timing: RttTiming::default(),
            flow: *flow,
            una: 0,
            nxt: 0,
            sent: 0,
            written: 0,
            last_sent: Time::ZERO,
            rwnd: cfg.peer_window,
            max_rwnd: cfg.peer_window,
            limited: 0,
            peer_clock: 0,
            peer_facts: PeerFacts::initial(cfg),
            emission: 0,
            retransmissions: 0,
            fast_retransmits: 0,
            timeouts: 0,
            echoes: 0,
            cuts: 0,
            notices: 0,
            state: if cfg.handshake { ConnectionState::Closed } else { ConnectionState::Established },
            cwr: false,
        }
    }

    /// Processes a packet for this sender: an ACK, or a SYN-ACK.
    /// Other packets, and ACKs of data never sent, have no effect.
    #[inline]
    pub fn receive(&mut self, pkt: &Pkt, io: &mut Io) {
        let cfg = io.cfg;
        let Some(ack) = unwrap_offset(pkt.ack, self.una) else { return };
        if !pkt.head.is_pure_ack() || self.state != ConnectionState::Established {
            return self.receive_syn(pkt, io);
        }
        // By RFC 9293 §3.10.7.4 an ACK replies to an ACK of data never sent. This sender only ignores it.
        if ack > self.sent {
            return;
        }
        if cfg.tail_on_ack {
            self.peer_facts.set(PeerFacts::ACK);
        }
        if cfg.go_back_n {
            return self.receive_in_order(pkt, ack, io);
        }
        if self.keeps_segments(cfg) {
            return self.receive_by_rack(pkt, ack, io);
        }
        let (sacked, rtt) = if pkt.ext == NO_EXT { (false, None) } else { self.process_options(pkt.ext, ack, io) };
        if ack < self.una {
            return self.on_old_ack(sacked, io);
        }
        let ece = cfg.ecn != EcnMode::Off && pkt.head.flags.has(Flags::ECE);
        self.echoes += u32::from(ece);
        let rwnd = u32::from(pkt.window) << cfg.peer_shift;
        let same_window = rwnd == self.rwnd;
        self.rwnd = rwnd;
        self.max_rwnd = self.max_rwnd.max(rwnd);
        let arrived = AckFields { ack, ece, sacked, rtt };
        if ack == self.una {
            self.on_ack_without_new_data(arrived, same_window, io);
        } else if self.loss.has_no_loss_state() {
            self.on_quiet_ack(arrived, io);
        } else {
            self.on_ack(arrived, io);
        }
    }

    /// Processes an ACK that a newer one has overtaken: only its SACKs count (RFC 6675 §5).
    #[cold]
    fn on_old_ack(&mut self, sacked: bool, io: &mut Io) {
        if sacked {
            self.on_sacked(io.cfg, io);
            self.send(io);
        }
    }

    /// Processes an ACK of new data while nothing is lost: `on_ack` without the steps that have no effect then.
    #[inline]
    fn on_quiet_ack(&mut self, arrived: AckFields, io: &mut Io) {
        let (now, cfg) = (io.now, io.cfg);
        let acked = self.advance(arrived, true, io);
        self.congestion.on_ack(&acked, cfg);
        if arrived.ece {
            self.on_mark(&acked, cfg);
        }
        self.restart_timer(now, cfg);
        if self.nxt < self.written {
            self.restart_if_idle(io);
            self.send_new_within(u64::from(self.congestion.window().saturating_sub(self.flight_size())), io);
        }
    }

    /// Processes an ACK of new data while there are duplicate ACKs, a recovery, SACKed data or data to resend.
    #[cold]
    fn on_ack(&mut self, arrived: AckFields, io: &mut Io) {
        let (now, cfg) = (io.now, io.cfg);
        let mut acked = self.advance(arrived, false, io);
        // After a timeout the ACK may be beyond the byte to which the sender went back.
        self.nxt = self.nxt.max(self.una);
        acked.nxt = self.nxt;
        self.limited = 0;
        self.loss.expiries = 0;
        let event = self.loss.on_ack(self.una, cfg.recovery);
        acked.open = event == AckEvent::Open;
        self.congestion.on_ack(&acked, cfg);
        match event {
            AckEvent::Open | AckEvent::Ongoing => self.restart_timer(now, cfg),
            AckEvent::Full => {
                self.congestion.on_recovered(self.flight_size(), cfg);
                self.restart_timer(now, cfg);
            }
            AckEvent::Partial { first } => self.on_partial(acked.bytes, first, io),
        }
        // Marks come after `on_recovered`, which deflates the window. A mark must not cut a window that a recovery has
        // inflated.
        if arrived.ece {
            self.on_mark(&acked, cfg);
        }
        if arrived.sacked {
            self.on_sacked(cfg, io);
        }
        self.send(io);
    }

    /// Advances SND.UNA, and takes a sample of the round-trip time.
    #[inline]
    fn advance(&mut self, arrived: AckFields, open: bool, io: &Io) -> AckInfo {
        let (bytes, flight) = ((arrived.ack - self.una) as u32, self.flight_size());
        self.una = arrived.ack;
        let rtt = if io.cfg.measures_rtt_by_timestamps() {
            arrived.rtt
        } else {
            self.timing.on_acked(io.now, self.una as u32)
        };
        if let Some(rtt) = rtt {
            self.rto.sample(rtt, io.cfg);
        }
        AckInfo { bytes, flight, open, rtt, ..self.ack_info(arrived.ece, io) }
    }

    fn on_mark(&mut self, acked: &AckInfo, cfg: &TcpConfig) {
        if self.congestion.on_mark(acked, cfg) {
            self.cuts += 1;
            self.cwr = cfg.echoes_marks();
        }
    }

    /// Makes segments that the windows allow wait until the NIC requests them by [`Sender::send_for_nic`].
    pub(crate) fn set_nic_paced(&mut self) {
        self.pacing = Pacing::Pulled;
    }
    /// Returns true if a segment waits for the NIC.
    #[inline]
    pub(crate) fn has_waiting_segment(&self) -> bool {
        self.pacing.is_waiting()
    }
    /// Sends one segment that the NIC has requested, if there still is one.
    pub(crate) fn send_for_nic(&mut self, io: &mut Io) {
        self.pacing = Pacing::Granted;
        if self.state == ConnectionState::Established {
            self.send(io);
        }
        if self.pacing == Pacing::Granted {
            self.pacing = Pacing::Pulled;
        }
    }

    /// Processes the expiry of the sender's timer at `deadline()`.
    pub fn on_timer(&mut self, io: &mut Io) {
        let expired = io.now >= self.rto.expires();
        if self.state != ConnectionState::Established {
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
            if self.only_probes(io.cfg) {
                return self.send_probe(io);
            }
        }
        self.send(io);
    }

    /// Returns the time at which to call `on_timer`; `None` if no timer runs.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        let at = self.rto.expires();
        (at != Time::NEVER).then_some(at)
    }

    /// Returns true if the connection is open and every byte is acknowledged.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.una >= self.flow.bytes && self.state == ConnectionState::Established
    }

    /// Returns true if the flow is a persistent connection, which never ends.
    #[inline]
    pub(crate) fn is_persistent(&self) -> bool {
        self.flow.is_persistent()
    }

    /// SND.UNA: bytes acknowledged.
    #[inline]
    pub(crate) fn acknowledged_bytes(&self) -> u64 {
        self.una
    }

    /// Returns the properties of an ACK that acknowledges nothing, in the sender's present state.
    #[inline]
    fn ack_info(&self, ece: bool, io: &Io) -> AckInfo {
        AckInfo {
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

    /// Returns true if the sender keeps the state of every segment, to find losses by time or by PACKs.
    #[inline]
    fn keeps_segments(&self, cfg: &TcpConfig) -> bool {
        cfg.keeps_segments() || self.supports_packs()
    }

    /// Returns true if both ends support PACK (precise ACKs of Cut Payload).
    #[inline]
    fn supports_packs(&self) -> bool {
        self.peer_facts.has(PeerFacts::PACK)
    }

    /// FlightSize (RFC 5681 §2). After a timeout it counts only the data that was sent again.
    #[inline]
    fn flight_size(&self) -> u32 {
        (self.nxt - self.una) as u32
    }

    /// Restarts or stops the timer after an ACK of new data, RFC 6298 (5.2) and (5.3).
    #[inline]
    fn restart_timer(&mut self, now: Time, cfg: &TcpConfig) {
        match self.sent == self.una {
            true => self.rto.stop(),
            false => self.rto.restart(now, cfg),
        }
    }
}

impl TcpConfig {
    /// Parameters of the scoreboard's IsLost() (RFC 6675 §4).
    fn is_lost_params(&self) -> IsLostParams {
        IsLostParams { threshold: self.dupack_threshold, mss: u32::from(self.mss) }
    }
}
