//! Opening of a connection, and data from the application.
//!
//! The number of the SYN is that before the first byte, 2³² - 1 (RFC 9293 §3.4.1). A SYN is repeated until it is
//! answered, without limit (RFC 9293 §3.8.3 lets a user choose when to give up).

use super::peer_facts::PeerFacts;
use super::{ConnectionState, Sender};
use crate::transport::config::{EcnMode, Recovery};
use crate::transport::{Io, TcpConfig, segment, syn_options};
use crate::{PacketExtension, Pkt, Timestamps};
use mech::Flags;
use units::Dur;

/// Sequence number of the SYN.
const ISN: u32 = u32::MAX;

impl Sender {
    /// Opens the connection, and takes all bytes of the flow from the application.
    pub fn start(&mut self, io: &mut Io) {
        self.written = self.flow.bytes;
        self.peer_facts.clear(PeerFacts::ACK);
        self.open(io);
    }

    /// Opens the connection: sends a SYN, or the written data if the connection is established.
    pub fn open(&mut self, io: &mut Io) {
        match self.state {
            ConnectionState::Closed => {
                self.state = ConnectionState::SynSent;
                self.send_syn(io);
            }
            ConnectionState::SynSent => {}
            ConnectionState::Established => {
                self.take_handshake_sample(io.cfg);
                self.send(io);
            }
        }
    }

    /// Takes the round-trip sample of a handshake that took place before the flow.
    fn take_handshake_sample(&mut self, cfg: &TcpConfig) {
        let has_sample = cfg.handshake_rtt > Dur::ZERO || cfg.follows_linux_2_6_38();
        if has_sample && self.rto.srtt().is_none() {
            self.on_handshake_rtt(cfg.handshake_rtt, cfg);
        }
    }

    /// Takes the round-trip time of the handshake as first sample (RFC 6298 (2.2)).
    fn on_handshake_rtt(&mut self, rtt: Dur, cfg: &TcpConfig) {
        match self.keeps_segments(cfg) {
            true if cfg.follows_linux_2_6_38() => self.with_rack_tlp(|s, r| s.on_handshake_2_6_38(rtt, r, cfg)),
            true => self.with_rack_tlp(|s, r| {
                s.rto.sample_by_rack(rtt, &mut r.spread, 0..0, cfg);
                r.on_rtt_sample(rtt);
                if cfg.follows_linux_6_18() {
                    r.rack.on_handshake(if cfg.recovery == Recovery::Rack { rtt } else { Dur::ZERO });
                }
                s.set_pacing_rate(r, cfg);
            }),
            false => self.rto.sample(rtt, cfg),
        }
    }

    /// Adds `bytes` of application data, up to the size of the flow. They wait until the connection is open.
    pub fn write(&mut self, bytes: u64, io: &mut Io) {
        self.written = self.written.saturating_add(bytes).min(self.flow.bytes);
        self.peer_facts.clear(PeerFacts::ACK);
        if self.state == ConnectionState::Established {
            // The first data may leave before `open` is called, which otherwise takes this sample.
            if io.cfg.follows_linux_2_6_38() {
                self.take_handshake_sample(io.cfg);
            }
            self.send(io);
        }
    }

    /// Sends the SYN (RFC 9293 §3.5). With ECE and CWR it is an ECN-setup SYN (RFC 3168 §6.1.1).
    fn send_syn(&mut self, io: &mut Io) {
        let mut flags = Flags::SYN;
        if io.cfg.ecn != EcnMode::Off {
            flags = flags.with(Flags::ECE).with(Flags::CWR);
        }
        if self.loss.expiries > 0 {
            flags = flags.with(Flags::RETRANSMIT);
        }
        let mut pkt = segment::empty_segment(&self.flow, ISN, flags, io.cfg);
        let stamps = Timestamps { val: self.current_tsval(io), ecr: 0 };
        segment::add_options(&mut pkt, syn_options::syn_options(io.cfg, stamps), io);
        self.push_empty(pkt, io);
        self.rto.start(io.now, io.cfg);
    }

    /// Sends the SYN again after the timer expired.
    pub(super) fn repeat_syn(&mut self, io: &mut Io) {
        self.timeouts += 1;
        self.retransmissions += 1;
        self.loss.expiries = self.loss.expiries.saturating_add(1);
        self.rto.back_off(io.now, io.cfg);
        self.send_syn(io);
    }

    /// Processes a packet that is no pure ACK, or that comes before the connection is open.
    /// Only the SYN-ACK counts (RFC 9293 §3.10.7.3). On an open connection it is acknowledged again (§3.10.7.4).
    #[cold]
    pub(super) fn receive_syn(&mut self, pkt: &Pkt, io: &mut Io) {
        let answer = Flags::SYN.with(Flags::ACK).with(Flags::REVERSE);
        if !pkt.head.flags.has(answer) || pkt.head.flags.has(Flags::RST) || pkt.ack != ISN.wrapping_add(1) {
            return;
        }
        let (_, rtt) = self.process_options(pkt.ext, 0, io);
        let syn = io.exts.get(pkt.ext).and_then(|ext| ext.syn).unwrap_or_default();
        match self.state {
            ConnectionState::Closed => {}
            ConnectionState::SynSent => {
                if syn.pack_permitted && io.cfg.supports_packs() {
                    self.peer_facts.set(PeerFacts::PACK);
                }
                let timed = (self.loss.expiries == 0).then(|| io.now.since(self.last_sent));
                // Linux prefers its own clock, which is finer than that of the timestamps.
                let rtt = if io.cfg.follows_linux_6_18() { timed.or(rtt) } else { rtt.or(timed) };
                if let Some(rtt) = rtt {
                    self.on_handshake_rtt(rtt, io.cfg);
                }
                self.on_established(u32::from(pkt.window), io);
            }
            ConnectionState::Established => self.send_empty_ack(io),
        }
    }

    /// Opens the connection. The window of a SYN is not scaled (RFC 7323 §2.2).
    /// After a repeated SYN, the window is one segment (RFC 5681 §3.1) and the timeout 3 s (RFC 6298 (5.7)).
    fn on_established(&mut self, rwnd: u32, io: &mut Io) {
        self.state = ConnectionState::Established;
        (self.rwnd, self.max_rwnd) = (rwnd, rwnd);
        self.rto.stop();
        if self.loss.expiries > 0 {
            self.loss.expiries = 0;
            // Linux has both rules about a repeated SYN only since 3.1.
            if !io.cfg.follows_linux_2_6_38() {
                self.rto.after_lost_syn(io.cfg);
                self.congestion.on_lost_syn(io.cfg);
            }
        }
        let before = self.emission;
        self.send(io);
        if self.emission == before {
            self.send_empty_ack(io);
        }
    }

    /// Sends an ACK without data, which this direction needs only in a handshake.
    fn send_empty_ack(&mut self, io: &mut Io) {
        let stamps = Timestamps { val: self.current_tsval(io), ecr: self.peer_clock };
        let ext = PacketExtension { timestamps: io.cfg.timestamps.then_some(stamps), ..PacketExtension::default() };
        let mut pkt = segment::empty_segment(&self.flow, self.nxt as u32, Flags::ACK, io.cfg);
        segment::add_options(&mut pkt, ext, io);
        self.push_empty(pkt, io);
    }

    fn push_empty(&mut self, mut pkt: Pkt, io: &mut Io) {
        segment::stamp_packet(&mut pkt, io.now, &mut self.emission);
        if self.state == ConnectionState::SynSent {
            self.last_sent = io.now;
        }
        io.out.push(pkt);
    }
}
