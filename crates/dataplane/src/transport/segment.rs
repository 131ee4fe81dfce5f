//! Construction of the packets that senders and receivers send.

use super::{FlowInfo, Io, TcpConfig, unwrap_offset};
use crate::{NO_EXT, PacketExtension, Pkt};
use core::ops::Range;
use mech::{Ecn, Flags, Head};
use units::Time;

/// Returns a data segment, without additions by ECN, retransmission and timestamps.
/// `range` is the number of its first byte, and its length.
#[inline]
pub(super) fn data_segment(flow: &FlowInfo, range: (u64, u32), rank: u64, cfg: &TcpConfig) -> Pkt {
    let (start, len) = range;
    let size = cfg.framing.frame_size(len as u16, cfg.data_option_bytes());
    let head = Head {
        flow: flow.flow,
        src: flow.src,
        dst: flow.dst,
        hash: flow.hash,
        rank: u32::try_from(rank).unwrap_or(u32::MAX),
        size,
        orig_size: size,
        flags: Flags::ACK.with(Flags::PAYLOAD),
        tos: flow.tos() | cfg.tos,
        ttl: cfg.ttl,
        ..Head::default()
    };
    Pkt { head, seq: start as u32, ext: NO_EXT, payload: len as u16, window: cfg.window_field(), ..Pkt::default() }
}

/// Returns a segment in the direction of data without data or options: a SYN, or a handshake's last ACK.
/// A SYN has the number before the first byte. The segment is not ECN-capable (RFC 3168 §6.1.1, §6.1.4), unless
/// `TcpConfig::ack_ecn` is set, and has the most urgent rank.
pub(super) fn empty_segment(flow: &FlowInfo, seq: u32, flags: Flags, cfg: &TcpConfig) -> Pkt {
    let mut pkt = data_segment(flow, (0, 0), 0, cfg);
    let syn = flags.has(Flags::SYN);
    pkt.head.size = cfg.framing.frame_size(0, 0);
    pkt.head.orig_size = pkt.head.size;
    pkt.head.flags = flags;
    pkt.head.tos |= cfg.ack_ecn;
    pkt.seq = seq;
    pkt.window = if syn { cfg.syn_window() } else { cfg.window_field() };
    pkt
}

/// Returns a pure ACK of everything before `next`.
/// It is not ECN-capable (RFC 3168 §6.1.4), unless `TcpConfig::ack_ecn` is set, and has the most urgent rank.
#[inline]
pub(super) fn ack_segment(flow: &FlowInfo, next: u64, ece: bool, cfg: &TcpConfig) -> Pkt {
    let size = cfg.ack_size;
    let mut flags = Flags::ACK.with(Flags::REVERSE);
    if ece {
        flags = flags.with(Flags::ECE);
    }
    let head = Head {
        flow: flow.flow,
        src: flow.dst,
        dst: flow.src,
        hash: flow.back_hash,
        size,
        orig_size: size,
        flags,
        tos: flow.tos() | cfg.ack_ecn,
        ttl: cfg.ttl,
        ..Head::default()
    };
    Pkt { head, ack: next as u32, ext: NO_EXT, window: cfg.window_field(), ..Pkt::default() }
}

/// Returns a NAK of RoCE: everything before `next` has arrived, and the next packet is missing (IBTA §9.7.5.2.8).
/// Window 0 marks it, since RoCE has no windows; a real NAK has a syndrome in that place of its header.
pub(super) fn nak_segment(flow: &FlowInfo, next: u64, cfg: &TcpConfig) -> Pkt {
    Pkt { window: 0, ..ack_segment(flow, next, false, cfg) }
}

/// Returns true if an acknowledgement of RoCE is a NAK.
pub fn is_nak(pkt: &Pkt) -> bool {
    pkt.window == 0
}

/// Adds TCP options to a packet without any, and their bytes to its frame.
pub(super) fn add_options(pkt: &mut Pkt, ext: PacketExtension, io: &mut Io) {
    let options = ext.option_bytes();
    if options > 0 {
        pkt.ext = io.exts.allocate(ext);
        pkt.head.size = io.cfg.framing.frame_size(pkt.payload, options);
        pkt.head.orig_size = pkt.head.size;
    }
}

/// Sets the send time of a packet and its emission number, and advances that number.
#[inline]
pub(super) fn stamp_packet(pkt: &mut Pkt, now: Time, emission: &mut u32) {
    pkt.sent = now;
    pkt.emission = *emission;
    *emission = emission.wrapping_add(1);
}

/// Returns the range of bytes that trimming cut off a packet, near the byte `near` (Cut Payload §4.3).
/// The packet's length as sent shows how many there were.
pub(super) fn cut_range(pkt: &Pkt, near: u64, io: &Io) -> Option<Range<u64>> {
    if !pkt.head.is_cut() {
        return None;
    }
    let options = io.exts.get(pkt.ext).map_or(0, PacketExtension::option_bytes);
    let start = unwrap_offset(pkt.seq, near)?;
    Some(start..start + u64::from(pkt.original_payload(&io.cfg.framing, options)))
}

/// Returns true if a packet carries a congestion mark.
#[inline]
pub(super) fn is_marked(pkt: &Pkt) -> bool {
    pkt.head.ecn() == Ecn::Ce
}
