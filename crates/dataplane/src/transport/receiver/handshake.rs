//! Passive side of a handshake (RFC 9293 §3.5): a SYN is answered until data or an ACK arrives.
//!
//! The SYN has the sequence number before that of the first byte. The SYN-ACK uses no number, since this end sends no
//! data.

use super::{Bits, Receiver, options};
use crate::Pkt;
use crate::Timestamps;
use crate::transport::clock::{older, ticks};
use crate::transport::config::EcnMode;
use crate::transport::syn_options::syn_options;
use crate::transport::{Io, segment, unwrap};
use mech::Flags;
use units::{Dur, Time};

impl Receiver {
    /// Processes a packet without data, or the first packet of an open connection.
    /// A packet whose data was cut off is discarded unless PACK was agreed on.
    #[cold]
    pub(super) fn control(&mut self, pkt: &Pkt, io: &mut Io) {
        if pkt.head.is_cut() {
            if self.bits.any(Bits::PACK) {
                self.on_ack(pkt, io);
                self.on_cut(pkt, io);
            }
        } else if pkt.head.flags.has(Flags::SYN) {
            self.on_syn(pkt, io);
        } else if pkt.head.flags.has(Flags::ACK) && !self.bits.any(Bits::LISTEN) {
            // Before a SYN the reply would be a reset (RFC 9293 §3.10.7.2), which no sender here reads.
            self.on_ack(pkt, io);
        }
    }

    fn on_syn(&mut self, pkt: &Pkt, io: &mut Io) {
        if !self.bits.any(Bits::LISTEN.with(Bits::ANSWERED)) {
            // RFC 9293 §3.10.7.4: the reply to a SYN on an open connection is an ACK.
            return self.acknowledge(None, io);
        }
        if self.bits.any(Bits::LISTEN) {
            self.agree(pkt, io);
        }
        let newer = |stamp: &u32| self.recent_at == Time::NEVER || !older(*stamp, self.recent);
        if let Some(stamp) = options::stamp_of(pkt, io).filter(newer) {
            self.recent = stamp;
            self.recent_at = io.now;
        }
        self.answer(io);
        // RFC 6298 (5.1): a timer that runs is not restarted.
        if self.ack_by == Time::NEVER && io.cfg.retransmission_timer {
            self.ack_by = io.now.saturating_add(io.cfg.initial_rto);
        }
    }

    /// Agrees on the options that both ends have (RFC 2018 §2, RFC 7323 §2.2, §3.2, RFC 3168 §6.1.1).
    fn agree(&mut self, pkt: &Pkt, io: &Io) {
        let cfg = io.cfg;
        let ext = io.exts.get(pkt.ext).copied().unwrap_or_default();
        let syn = ext.syn.unwrap_or_default();
        let ecn = cfg.ecn != EcnMode::Off && pkt.head.flags.has(Flags::ECE.with(Flags::CWR));
        self.bits = Bits::ANSWERED
            .with(Bits::SACK.when(syn.sack_permitted && cfg.recovery.has_sack()))
            .with(Bits::STAMPS.when(ext.timestamps.is_some() && cfg.timestamps))
            .with(Bits::PACK.when(syn.pack_permitted && cfg.takes_packs()))
            .with(Bits::SCALED.when(syn.window_scale.is_some()))
            .with(Bits::ECN.when(ecn));
    }

    /// Sends the SYN-ACK. ECE alone agrees to ECN (RFC 3168 §6.1.1), and the window is not scaled.
    fn answer(&mut self, io: &mut Io) {
        let mut pkt = segment::ack(&self.flow, 0, self.bits.any(Bits::ECN), io.cfg);
        pkt.head.flags = pkt.head.flags.with(Flags::SYN);
        // Linux 2.6.38's DCTCP patch makes packets of sockets ECN-capable, and a SYN-ACK has no socket yet.
        pkt.head.tos &= !io.cfg.ack_ecn;
        pkt.window = io.cfg.syn_window();
        let mut ext = syn_options(io.cfg, Timestamps { val: ticks(io.now, io.cfg), ecr: self.recent });
        ext.timestamps = ext.timestamps.filter(|_| self.bits.any(Bits::STAMPS));
        if let Some(syn) = &mut ext.syn {
            syn.sack_permitted = self.bits.any(Bits::SACK);
            syn.pack_permitted = self.bits.any(Bits::PACK);
            syn.window_scale = syn.window_scale.filter(|_| self.bits.any(Bits::SCALED));
        }
        segment::with_options(&mut pkt, ext, io);
        segment::stamp(&mut pkt, io.now, &mut self.emission);
        io.out.push(pkt);
    }

    /// Repeats the SYN-ACK with backoff, RFC 6298 (5.4) to (5.6).
    pub(super) fn answer_again(&mut self, io: &mut Io) {
        self.count = self.count.saturating_add(1);
        let factor = 1u64.checked_shl(u32::from(self.count)).unwrap_or(u64::MAX);
        let rto = Dur(io.cfg.initial_rto.0.saturating_mul(factor)).min(io.cfg.max_rto);
        self.ack_by = io.now.saturating_add(rto);
        self.answer(io);
    }

    /// Opens the connection at an ACK without data, and takes its timestamp to echo.
    fn on_ack(&mut self, pkt: &Pkt, io: &mut Io) {
        if self.bits.any(Bits::ANSWERED) {
            self.bits = self.bits.without(Bits::ANSWERED);
            self.ack_by = Time::NEVER;
            self.count = super::quick::at_first(io.cfg);
        }
        // This holds for a cut packet, too: its timestamp is valid without its payload.
        let at_next = unwrap(pkt.seq, self.next) == Some(self.next) && self.unacked == 0;
        let newer = |stamp: &u32| !older(*stamp, self.recent);
        if self.bits.any(Bits::STAMPS) && pkt.payload == 0 && at_next {
            if let Some(stamp) = options::stamp_of(pkt, io).filter(newer) {
                self.recent = stamp;
                self.recent_at = io.now;
            }
        }
    }
}
