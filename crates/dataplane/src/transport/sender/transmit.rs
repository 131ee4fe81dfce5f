//! What may leave, and how a segment is made.

use super::Sender;
use crate::transport::config::{EcnMode, Recovery};
use crate::transport::{Io, TcpConfig, clock, segment};
use crate::{Ext, Timestamps};
use mech::{Ecn, Flags};

impl Sender {
    /// Sends what may be sent now: what the scoreboard asks for, or what both windows allow.
    #[inline]
    pub(super) fn send(&mut self, io: &mut Io) {
        if io.cfg.recovery == Recovery::Sack && self.loss.in_recovery() {
            self.mend(io);
        } else {
            self.transmit(0, io);
        }
    }

    /// Sends what both windows allow. With `extra` bytes beyond cwnd it sends one segment.
    #[inline]
    pub(super) fn transmit(&mut self, extra: u32, io: &mut Io) {
        if self.nxt >= self.written {
            return;
        }
        self.restart_if_idle(io);
        let window = self.congestion.window().saturating_add(extra);
        if self.nxt < self.sent && !self.resend(window, io) {
            return;
        }
        let under_way = self.flight() - self.loss.spared(self.una);
        let mut room = u64::from(window).saturating_sub(u64::from(under_way));
        while self.nxt < self.written && self.pacing.ready(io.now) {
            let full = u64::from(io.cfg.mss).min(self.written - self.nxt);
            let len = self.allowed(full as u32, io.cfg);
            if len == 0 || full > room {
                break;
            }
            self.emit((self.nxt, len), io);
            room -= u64::from(len);
            if extra > 0 {
                self.limited += len;
                break;
            }
        }
    }

    /// How much of a new segment of `full` bytes the receiver's window and Nagle's algorithm allow
    /// (RFC 9293 §3.7.4, §3.8.6.2.1).
    #[inline]
    pub(super) fn allowed(&self, full: u32, cfg: &TcpConfig) -> u32 {
        let room = self.rwnd.saturating_sub(self.flight());
        let len = full.min(room);
        // A short segment because of the receiver's window: RFC 9293 §3.8.6.2.1 (3).
        let silly = len < full && len < self.widest.div_ceil(2);
        // One because there is no more: RFC 9293 §3.7.4.
        let waits = cfg.nagle && len < u32::from(cfg.mss) && self.nxt > self.una;
        if silly || waits { 0 } else { len }
    }

    /// RFC 5681 §4.1. Nothing is sent by it: cwnd is lowered before what is to be sent now.
    #[inline]
    fn restart_if_idle(&mut self, io: &Io) {
        if io.cfg.restart_after_idle && io.now > self.last_sent.saturating_add(self.rto.timeout()) {
            self.congestion.on_idle(io.cfg);
        }
    }

    /// Goes on from where it went back to after a timeout. Whether all that was outstanding then has
    /// been sent again.
    #[cold]
    fn resend(&mut self, window: u32, io: &mut Io) -> bool {
        while self.nxt < self.sent {
            let board = self.loss.board();
            let at = board.map_or(self.nxt, |b| b.skip(self.nxt));
            if at >= self.sent {
                self.nxt = at;
                break;
            }
            let (spared, hole) = match board {
                Some(b) => (b.sacked_before(at), b.hole(at)),
                None => (0, None),
            };
            let full = u64::from(io.cfg.mss).min(hole.map_or(self.written, |hole| hole.end) - at);
            // What was sent once stays inside the window, should that have shrunk (RFC 9293 §3.8.6).
            let edge = (self.una + u64::from(self.rwnd)).max(self.sent);
            let len = full.min(edge - at) as u32;
            let under_way = at - self.una - u64::from(spared);
            if under_way + full > u64::from(window) || !self.pacing.ready(io.now) {
                return false;
            }
            self.nxt = at;
            self.emit((at, len), io);
        }
        true
    }

    /// Sends one segment, and moves SND.NXT where it begins there. Data is ECT(0); data sent before
    /// is so only for DCTCP (RFC 3168 §6.1.5).
    #[inline]
    pub(super) fn emit(&mut self, range: (u64, u32), io: &mut Io) {
        let (now, cfg) = (io.now, io.cfg);
        let (start, len) = range;
        let (again, end) = (start < self.sent, start + u64::from(len));
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
            if !self.loss.in_recovery() && !cfg.timestamps {
                self.timing.sent(now, start as u32, end as u32);
            }
        }
        if cfg.ecn == EcnMode::Exact || (cfg.ecn == EcnMode::Latched && !again) {
            pkt.head.set_ecn(Ecn::Ect0);
        }
        if let Some(stamps) = self.stamps(io) {
            pkt.ext = io.exts.take(stamps);
        }
        if start == self.nxt {
            self.nxt = end;
            self.sent = self.sent.max(end);
        }
        self.last_sent = now;
        self.pacing.on_sent(now, len);
        self.rto.start(now, cfg);
        io.out.push(pkt);
    }

    /// The options of a segment: timestamps or none (RFC 7323 §3.2).
    #[inline]
    pub(super) fn stamps(&self, io: &Io) -> Option<Ext> {
        let stamps = || Timestamps { val: clock::ticks(io.now, io.cfg), ecr: self.peer_clock };
        io.cfg.timestamps.then(|| Ext { timestamps: Some(stamps()), ..Ext::default() })
    }
}
