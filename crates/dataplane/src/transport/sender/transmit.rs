//! Transmission at a sender: data that may leave now, and construction of its segments.

use super::Sender;
use super::peer_facts::PeerFacts;
use crate::transport::config::{EcnMode, Recovery};
use crate::transport::{Io, TcpConfig, segment};
use crate::{PacketExtension, Pkt, Timestamps};
use mech::{Ecn, Flags};

impl Sender {
    /// Sends all data that may leave now: segments that the scoreboard selects, or data that both windows allow.
    /// Sends nothing while the sender probes.
    pub(super) fn send(&mut self, io: &mut Io) {
        if self.keeps_segments(io.cfg) {
            return self.with_rack_tlp(|s, r| s.send_lost_and_new(r, io));
        }
        if self.only_probes(io.cfg) {
            return;
        }
        if io.cfg.recovery == Recovery::Sack && self.loss.in_recovery() {
            self.send_selected_segments(io);
        } else {
            self.transmit(io);
        }
    }

    /// Sends data that the congestion window and the receiver's window allow.
    pub(super) fn transmit(&mut self, io: &mut Io) {
        if self.nxt >= self.written {
            return;
        }
        self.update_after_idle(io);
        let window = self.congestion.window();
        if self.nxt == self.sent || self.resend(window, io) {
            let under_way = self.flight_size() - self.loss.bytes_not_to_resend(self.una, io.cfg.sack_opens_window);
            self.send_new_within(u64::from(window.saturating_sub(under_way)), io);
        }
    }

    /// Sends new data that fits into `room` bytes of the congestion window.
    /// PRECONDITION: all data sent before is acknowledged or in flight.
    #[inline]
    pub(super) fn send_new_within(&mut self, mut room: u64, io: &mut Io) {
        while self.nxt < self.written {
            let mut full = u64::from(io.cfg.mss).min(self.written - self.nxt);
            if full > room {
                if !io.cfg.short_segments || room == 0 {
                    break;
                }
                full = room;
            }
            let len = self.allowed_length(full as u32, io.cfg);
            // Pacing comes last, since `may_send` records that a segment waits for the NIC.
            if len == 0 || !self.pacing.may_send() {
                break;
            }
            self.emit_new(len, io);
            room -= u64::from(len);
        }
    }

    /// Sends one segment of new data beyond cwnd, two of them at most (RFC 3042 §2).
    /// It does not wait for the NIC, which would not request it later.
    pub(super) fn transmit_limited(&mut self, io: &mut Io) {
        let len = self.next_new_length(io.cfg);
        let window = self.congestion.window().saturating_add(2 * u32::from(io.cfg.mss));
        if len > 0 && self.flight_size() + len <= window {
            self.emit_new(len, io);
            self.limited += len;
        }
    }

    /// Returns the length of the next new segment that receiver's window, application and Nagle's algorithm allow.
    pub(super) fn next_new_length(&self, cfg: &TcpConfig) -> u32 {
        let full = u64::from(cfg.mss).min(self.written - self.nxt);
        if full == 0 { 0 } else { self.allowed_length(full as u32, cfg) }
    }

    /// Returns the length of a new segment of `full` bytes that the receiver's window and Nagle's algorithm allow.
    /// See RFC 9293 §3.7.4 and §3.8.6.2.1.
    #[inline]
    pub(super) fn allowed_length(&self, full: u32, cfg: &TcpConfig) -> u32 {
        let room = self.rwnd.saturating_sub(self.flight_size());
        let len = full.min(room);
        if len == u32::from(cfg.mss) {
            return len;
        }
        // Silly window syndrome avoidance, if the receiver's window makes the segment short: RFC 9293 §3.8.6.2.1 (3).
        let silly = !cfg.short_segments && len < full && len < self.max_rwnd.div_ceil(2);
        // Nagle's algorithm, if there is no more data for a full segment: RFC 9293 §3.7.4.
        let waits = cfg.nagle && self.nxt > self.una && !self.peer_facts.has(PeerFacts::ACK);
        if silly || waits { 0 } else { len }
    }

    /// Updates congestion control before new data that may follow an idle time.
    pub(super) fn update_after_idle(&mut self, io: &Io) {
        if self.sent == self.una {
            self.congestion.on_idle_end(io.now, self.last_sent);
        }
        self.restart_if_idle(io);
    }

    /// Lowers cwnd after an idle time (RFC 5681 §4.1), before new data is sent.
    #[inline]
    pub(super) fn restart_if_idle(&mut self, io: &Io) {
        if io.cfg.follows_linux_6_18() && self.sent > self.una {
            return;
        }
        if io.cfg.restart_after_idle && io.now > self.last_sent.saturating_add(self.rto.timeout(io.cfg)) {
            let timeouts = (io.now.since(self.last_sent).0 - 1) / self.rto.timeout(io.cfg).0;
            self.congestion.on_idle(timeouts, io.cfg);
        }
    }

    /// Resends data after a timeout, from the byte to which the sender went back.
    /// Returns true if all data that was outstanding at the timeout has been sent again.
    #[cold]
    fn resend(&mut self, window: u32, io: &mut Io) -> bool {
        while self.nxt < self.sent {
            let state = self.loss.scoreboard();
            let at = state.map_or(self.nxt, |b| b.skip_sacked(self.nxt));
            if at >= self.sent {
                self.nxt = at;
                break;
            }
            let (spared, hole) = match state {
                Some(b) => (b.sacked_before(at), b.next_hole(at)),
                None => (0, None),
            };
            let full = u64::from(io.cfg.mss).min(hole.map_or(self.written, |hole| hole.end) - at);
            // Data sent before stays inside the window that was granted then, even if it has shrunk (RFC 9293 §3.8.6).
            let edge = (self.una + u64::from(self.rwnd)).max(self.sent);
            let len = full.min(edge - at) as u32;
            let under_way = at - self.una - u64::from(spared);
            if under_way + full > u64::from(window) || !self.pacing.may_send() {
                return false;
            }
            self.nxt = at;
            self.emit(at, len, io);
        }
        true
    }

    /// Sends one segment of new data with ECT(0), and with CWR after a reduction (RFC 3168 §6.1.2).
    #[inline]
    pub(super) fn emit_new(&mut self, len: u32, io: &mut Io) {
        let (start, cfg) = (self.nxt, io.cfg);
        let end = start + u64::from(len);
        let mut pkt = segment::data_segment(&self.flow, (start, len), self.rank(cfg), cfg);
        if self.cwr {
            pkt.head.flags = pkt.head.flags.with(Flags::CWR);
            self.cwr = false;
        }
        // In a recovery an ACK also depends on other segments, so it gives no sample.
        if !self.loss.in_recovery() && !cfg.measures_rtt_by_timestamps() {
            self.timing.on_sent(io.now, start as u32, end as u32);
        }
        if cfg.ecn != EcnMode::Off {
            pkt.head.set_ecn(Ecn::Ect0);
        }
        (self.nxt, self.sent) = (end, end);
        self.push_packet(pkt, io);
    }

    /// Sends one segment, and advances SND.NXT if the segment begins there.
    /// Data that was sent before has ECT(0) only for DCTCP and RoCE (RFC 3168 §6.1.5 forbids it).
    pub(super) fn emit(&mut self, start: u64, len: u32, io: &mut Io) {
        if start == self.sent {
            return self.emit_new(len, io);
        }
        let rank = self.rank(io.cfg);
        self.emit_ranked(start, len, rank, io);
    }

    /// Sends data again as a segment with this rank (pFabric priority), as [`Sender::emit`] describes.
    pub(super) fn emit_ranked(&mut self, start: u64, len: u32, rank: u64, io: &mut Io) {
        let mut pkt = segment::data_segment(&self.flow, (start, len), rank, io.cfg);
        pkt.head.flags = pkt.head.flags.with(Flags::RETRANSMIT);
        self.retransmissions += 1;
        self.timing.clear();
        if matches!(io.cfg.ecn, EcnMode::Exact | EcnMode::ByNic) {
            pkt.head.set_ecn(Ecn::Ect0);
        }
        if start == self.nxt {
            self.nxt = start + u64::from(len);
            self.sent = self.sent.max(self.nxt);
        }
        self.push_packet(pkt, io);
    }

    /// Bytes of the flow without an ACK or SACK, if they are its priority (pFabric §4.3); else 0.
    #[inline]
    pub(super) fn rank(&self, cfg: &TcpConfig) -> u64 {
        if !cfg.by_remaining {
            return 0;
        }
        self.written - self.una - self.loss.scoreboard().map_or(0, |state| u64::from(state.sacked()))
    }

    #[inline]
    fn push_packet(&mut self, mut pkt: Pkt, io: &mut Io) {
        segment::stamp_packet(&mut pkt, io.now, &mut self.emission);
        if io.cfg.timestamps {
            pkt.ext = self.timestamp_extension(io);
        }
        // CP §4.1: all data carries CPA, retransmissions included.
        if self.supports_packs() {
            pkt.head.flags = pkt.head.flags.with(Flags::CPA);
        }
        self.last_sent = io.now;
        self.pacing.on_sent();
        self.rto.start(io.now, io.cfg);
        io.out.push(pkt);
    }

    /// Allocates a packet extension with the timestamps of a segment (RFC 7323 §3.2), and returns its index.
    #[inline(never)]
    pub(super) fn timestamp_extension(&self, io: &mut Io) -> u32 {
        let stamps = Timestamps { val: self.current_tsval(io), ecr: self.peer_clock };
        io.exts.allocate(PacketExtension { timestamps: Some(stamps), ..PacketExtension::default() })
    }
}
