//! Passive side of a handshake (RFC 9293 §3.5): each SYN gets a SYN-ACK, which repeats until data or an ACK arrives.
//!
//! The SYN has the sequence number before that of the first byte. The SYN-ACK uses no number, since this end sends no
//! data.

use super::{Receiver, ReceiverFlags, options};
use crate::Pkt;
use crate::Timestamps;
use crate::transport::clock::{is_older, tsval};
use crate::transport::config::EcnMode;
use crate::transport::syn_options::syn_options;
use crate::transport::{Io, segment, unwrap_offset};
use mech::Flags;
use units::{Dur, Time};

impl Receiver {
    /// Processes a packet without data, or a packet that arrives before the connection is open.
    /// A packet whose data was cut off is discarded unless PACK was agreed on.
    #[cold]
    pub(super) fn on_control_packet(&mut self, pkt: &Pkt, io: &mut Io) {
        if pkt.head.is_cut() {
            if self.bits.any(ReceiverFlags::PACK) {
                self.on_ack(pkt, io);
                self.on_cut(pkt, io);
            }
        } else if pkt.head.flags.has(Flags::SYN) {
            self.on_syn(pkt, io);
        } else if pkt.head.flags.has(Flags::ACK) && !self.bits.any(ReceiverFlags::LISTEN) {
            // An ACK before any SYN is ignored. RFC 9293 §3.10.7.2 requires a reset, but no simulated sender would read
            // it.
            self.on_ack(pkt, io);
        }
    }

    fn on_syn(&mut self, pkt: &Pkt, io: &mut Io) {
        if !self.bits.any(ReceiverFlags::LISTEN.with(ReceiverFlags::SYN_ACK_SENT)) {
            // RFC 9293 §3.10.7.4: the reply to a SYN on an open connection is an ACK.
            return self.send_ack_slowly(None, io);
        }
        if self.bits.any(ReceiverFlags::LISTEN) {
            self.negotiate_options(pkt, io);
        }
        let newer = |stamp: &u32| self.recent_at == Time::NEVER || !is_older(*stamp, self.recent);
        if let Some(stamp) = options::tsval_of(pkt, io).filter(newer) {
            self.recent = stamp;
            self.recent_at = io.now;
        }
        self.send_syn_ack(io);
        // RFC 6298 (5.1): a timer that runs is not restarted.
        if self.ack_by == Time::NEVER && io.cfg.retransmission_timer {
            self.ack_by = io.now.saturating_add(io.cfg.initial_rto);
        }
    }

    /// Agrees on the options that both ends have (RFC 2018 §2, RFC 7323 §2.2, §3.2, RFC 3168 §6.1.1).
    fn negotiate_options(&mut self, pkt: &Pkt, io: &Io) {
        let cfg = io.cfg;
        let ext = io.exts.get(pkt.ext).copied().unwrap_or_default();
        let syn = ext.syn.unwrap_or_default();
        let ecn = cfg.ecn != EcnMode::Off && pkt.head.flags.has(Flags::ECE.with(Flags::CWR));
        self.bits = ReceiverFlags::SYN_ACK_SENT
            .with(ReceiverFlags::SACK.only_if(syn.sack_permitted && cfg.recovery.has_sack()))
            .with(ReceiverFlags::TIMESTAMPS.only_if(ext.timestamps.is_some() && cfg.timestamps))
            .with(ReceiverFlags::PACK.only_if(syn.pack_permitted && cfg.supports_packs()))
            .with(ReceiverFlags::SCALED.only_if(syn.window_scale.is_some()))
            .with(ReceiverFlags::ECN.only_if(ecn));
    }

    /// Sends the SYN-ACK. ECE alone agrees to ECN (RFC 3168 §6.1.1), and the window is not scaled.
    fn send_syn_ack(&mut self, io: &mut Io) {
        let mut pkt = segment::ack_segment(&self.flow, 0, self.bits.any(ReceiverFlags::ECN), io.cfg);
        pkt.head.flags = pkt.head.flags.with(Flags::SYN);
        // Linux 2.6.38's DCTCP patch makes packets of sockets ECN-capable, and a SYN-ACK has no socket yet.
        pkt.head.tos &= !io.cfg.ack_ecn;
        pkt.window = io.cfg.syn_window();
        let mut ext = syn_options(io.cfg, Timestamps { val: tsval(io.now, io.cfg), ecr: self.recent });
        ext.timestamps = ext.timestamps.filter(|_| self.bits.any(ReceiverFlags::TIMESTAMPS));
        if let Some(syn) = &mut ext.syn {
            syn.sack_permitted = self.bits.any(ReceiverFlags::SACK);
            syn.pack_permitted = self.bits.any(ReceiverFlags::PACK);
            syn.window_scale = syn.window_scale.filter(|_| self.bits.any(ReceiverFlags::SCALED));
        }
        segment::add_options(&mut pkt, ext, io);
        segment::stamp_packet(&mut pkt, io.now, &mut self.emission);
        io.out.push(pkt);
    }

    /// Repeats the SYN-ACK with backoff, RFC 6298 (5.4) to (5.6).
    pub(super) fn repeat_syn_ack(&mut self, io: &mut Io) {
        self.count = self.count.saturating_add(1);
        let factor = 1u64.checked_shl(u32::from(self.count)).unwrap_or(u64::MAX);
        let rto = Dur(io.cfg.initial_rto.0.saturating_mul(factor)).min(io.cfg.max_rto);
        self.ack_by = io.now.saturating_add(rto);
        self.send_syn_ack(io);
    }

    /// Opens the connection at an ACK without data, and takes its timestamp to echo.
    fn on_ack(&mut self, pkt: &Pkt, io: &mut Io) {
        if self.bits.any(ReceiverFlags::SYN_ACK_SENT) {
            self.bits = self.bits.without(ReceiverFlags::SYN_ACK_SENT);
            self.ack_by = Time::NEVER;
            self.count = super::quick_acks::initial_quick_acks(io.cfg);
        }
        // This holds for a cut packet, too: its timestamp is valid without its payload.
        let at_next = unwrap_offset(pkt.seq, self.next) == Some(self.next) && self.unacked == 0;
        let newer = |stamp: &u32| !is_older(*stamp, self.recent);
        if self.bits.any(ReceiverFlags::TIMESTAMPS) && pkt.payload == 0 && at_next {
            if let Some(stamp) = options::tsval_of(pkt, io).filter(newer) {
                self.recent = stamp;
                self.recent_at = io.now;
            }
        }
    }
}
