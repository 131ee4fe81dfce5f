//! Receiving end of a flow: arrival of data, and generation of ACKs.
//!
//! The application reads all data immediately, so that only data beyond a gap can reduce the advertised window. The
//! last missing byte of a flow is acknowledged without delay, as a FIN with it would be. A persistent connection has no
//! last byte.

mod blocks;
mod finished;
mod go_back_n;
mod handshake;
mod options;
mod packs;
mod quick_acks;

pub use finished::{FinishedReceiver, ack_of_finished};

use super::config::EcnMode;
use super::reorder_buffer::ReorderBuffer;
use super::segment::{self, is_marked};
use super::{FlowInfo, Io, TcpConfig, unwrap_offset};
use crate::Pkt;
use mech::Flags;
use units::Time;

/// Receiver of one flow.
#[derive(Clone, Debug)]
pub struct Receiver {
    flow: FlowInfo,
    /// RCV.NXT: first missing byte.
    next: u64,
    /// State for gaps and trimmed packets, which few flows need; allocated at the first of them.
    aside: Option<Box<OutOfOrderState>>,
    /// Time at which a delayed ACK, or a repeated SYN-ACK, must leave; [`Time::NEVER`] if neither is pending.
    ack_by: Time,
    /// Time at which TS.Recent was updated last; [`Time::NEVER`] before the first update.
    recent_at: Time,
    /// TS.Recent (RFC 7323 §4.3).
    recent: u32,
    /// Bytes that arrived in order beyond Last.ACK.sent.
    unacked: u32,
    emission: u32,
    segments: u32,
    duplicates: u32,
    out_of_order: u32,
    marked: u32,
    /// Segments that arrived in order and are not acknowledged.
    pending: u8,
    /// Number of repeated SYN-ACKs while a SYN is unanswered; afterwards the number of quick ACKs left.
    count: u8,
    /// ECN-Echo of the next ACK: latched until CWR, or the mark of the last segment (DCTCP.CE).
    echo: bool,
    bits: ReceiverFlags,
}

/// State of a receiver for data beyond a gap, and for trimmed packets.
#[derive(Clone, Debug, Default)]
struct OutOfOrderState {
    reorder: ReorderBuffer,
    /// Right edge of the last advertised window; in use only while there is a gap.
    edge: u64,
    lost: packs::LastLostRange,
    /// SACK blocks that a Linux receiver reports.
    blocks: blocks::Blocks,
}

/// Flags of a receiver: options that both ends agreed on, and the state of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ReceiverFlags(u8);

impl ReceiverFlags {
    /// SACK is permitted (RFC 2018 §2).
    const SACK: ReceiverFlags = ReceiverFlags(1);
    /// Segments carry timestamps (RFC 7323 §3.2).
    const TIMESTAMPS: ReceiverFlags = ReceiverFlags(1 << 1);
    /// Windows are scaled (RFC 7323 §2.2).
    const SCALED: ReceiverFlags = ReceiverFlags(1 << 2);
    /// ECN was offered by the SYN (RFC 3168 §6.1.1).
    const ECN: ReceiverFlags = ReceiverFlags(1 << 3);
    /// LISTEN: no SYN has come (RFC 9293 §3.3.2).
    const LISTEN: ReceiverFlags = ReceiverFlags(1 << 4);
    /// SYN-RECEIVED: the SYN-ACK is not acknowledged (RFC 9293 §3.3.2).
    const SYN_ACK_SENT: ReceiverFlags = ReceiverFlags(1 << 5);
    /// A gap: data waits beyond the first missing byte.
    const GAP: ReceiverFlags = ReceiverFlags(1 << 6);
    /// PACK is permitted: precise ACKs for trimmed packets (Cut Payload §4.3).
    const PACK: ReceiverFlags = ReceiverFlags(1 << 7);

    const fn any(self, other: ReceiverFlags) -> bool {
        self.0 & other.0 != 0
    }
    const fn with(self, other: ReceiverFlags) -> ReceiverFlags {
        ReceiverFlags(self.0 | other.0)
    }
    const fn without(self, other: ReceiverFlags) -> ReceiverFlags {
        ReceiverFlags(self.0 & !other.0)
    }
    /// Returns these flags if `holds` is true, else no flags.
    const fn only_if(self, holds: bool) -> ReceiverFlags {
        if holds { self } else { ReceiverFlags(0) }
    }
    /// Returns true for an established connection with scaled windows and no gap.
    const fn is_plain(self) -> bool {
        let special = ReceiverFlags::SCALED
            .with(ReceiverFlags::LISTEN)
            .with(ReceiverFlags::SYN_ACK_SENT)
            .with(ReceiverFlags::GAP);
        self.0 & special.0 == ReceiverFlags::SCALED.0
    }
    /// Returns true for a plain connection without timestamps, whose ACKs have no options.
    const fn has_no_options(self) -> bool {
        self.is_plain() && !self.any(ReceiverFlags::TIMESTAMPS)
    }
}

/// Counters of a receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverStats {
    /// Data segments received.
    pub segments: u32,
    /// Data segments without a new byte, or whose bytes were all discarded.
    pub duplicates: u32,
    /// Data segments with a new byte beyond a gap.
    pub out_of_order: u32,
    /// Data segments with a congestion mark.
    pub marked: u32,
    /// ACKs sent, SYN-ACKs included; also the number of the next emitted packet.
    pub acks: u32,
    /// PACKs (precise ACKs of Cut Payload) sent, included in `acks`.
    pub packs: u32,
    /// Bytes that wait for missing data before them.
    pub waiting: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Arrival {
    InOrder,
    /// A segment at RCV.NXT that is partly old, or that has a gap before or after it.
    Filling,
    OutOfOrder,
    Duplicate,
}

/// Range of bytes that had arrived before, for a DSACK block.
type DuplicateRange = Option<(u64, u64)>;

impl Receiver {
    /// Creates a receiver that has received nothing.
    pub fn new(flow: &FlowInfo, cfg: &TcpConfig) -> Receiver {
        let sack = ReceiverFlags::SACK.only_if(cfg.recovery.has_sack());
        let pack = ReceiverFlags::PACK.only_if(cfg.supports_packs());
        let established =
            ReceiverFlags::SCALED.with(sack).with(ReceiverFlags::TIMESTAMPS.only_if(cfg.timestamps)).with(pack);
        Receiver {
            flow: *flow,
            next: 0,
            aside: None,
            ack_by: Time::NEVER,
            recent_at: Time::NEVER,
            recent: 0,
            unacked: 0,
            emission: 0,
            segments: 0,
            duplicates: 0,
            out_of_order: 0,
            marked: 0,
            pending: 0,
            count: if cfg.handshake { 0 } else { quick_acks::initial_quick_acks(cfg) },
            echo: false,
            bits: if cfg.handshake { ReceiverFlags::LISTEN } else { established },
        }
    }

    /// Processes a packet for this receiver.
    /// On an open connection, a packet without payload has no effect unless it is a SYN or was trimmed.
    #[inline]
    pub fn receive(&mut self, pkt: &Pkt, io: &mut Io) {
        let data = pkt.head.flags.has(Flags::PAYLOAD) && pkt.payload > 0;
        if !data || self.bits.any(ReceiverFlags::LISTEN.with(ReceiverFlags::SYN_ACK_SENT)) {
            self.on_control_packet(pkt, io);
        }
        if data && !self.bits.any(ReceiverFlags::LISTEN) {
            self.process_data(pkt, io);
        }
    }

    /// Processes a data segment (RFC 9293 §3.10.7.4).
    #[inline]
    fn process_data(&mut self, pkt: &Pkt, io: &mut Io) {
        let cfg = io.cfg;
        let Some(start) = unwrap_offset(pkt.seq, self.next) else { return };
        let range = (start, (start + u64::from(pkt.payload)).min(self.flow.bytes));
        let marked = is_marked(pkt);
        let mut stamp = None;
        if self.bits.any(ReceiverFlags::TIMESTAMPS) {
            stamp = options::tsval_of(pkt, io);
            if !self.passes_paws(stamp, range, io) {
                return;
            }
        }
        self.segments += 1;
        self.marked += u32::from(marked);
        if cfg.go_back_n {
            return self.take_in_order(range, io);
        }
        if cfg.quick_acks > 0 {
            self.allow_quick_acks(pkt, range, io);
        }
        let turned = cfg.ecn == EcnMode::Exact && marked != self.echo;
        if turned {
            self.on_echo_change(marked, io);
        }
        // Called before the segment moves RCV.NXT: RFC 7323 §4.3 compares it with the ACK that was sent last.
        if let Some(stamp) = stamp {
            self.update_ts_recent(stamp, range, io);
        }
        let (arrival, again) = self.insert_range(range, cfg);
        if cfg.quick_acks > 0 && arrival == Arrival::Duplicate {
            self.allow_quick_acks_after_duplicate(range, cfg);
        }
        if cfg.ecn == EcnMode::Latched {
            match cfg.is_linux() {
                true => self.latch_echo_as_linux(pkt, range, arrival),
                false => self.latch_echo(pkt, marked && arrival != Arrival::Duplicate),
            }
        }
        self.pending += 1;
        // Linux acknowledges CWR without delay: after its cut, the sender may have no window for a second segment.
        let is_now = cfg.is_linux() && cfg.ecn == EcnMode::Latched && pkt.head.flags.has(Flags::CWR);
        match cfg.delayed_ack {
            // RFC 5681 §4.2: only one segment may wait for its ACK. Two are at most 2·RMSS (RFC 9293 §3.8.6.3).
            Some(wait)
                if arrival == Arrival::InOrder && !turned && self.pending < 2 && !self.is_complete() && !is_now =>
            {
                if self.is_quick(pkt, io) {
                    self.send_ack_slowly(again, io);
                } else {
                    self.ack_by = io.timer_expiry(self.flow.dst, wait, self.ack_by);
                }
            }
            _ => self.send_ack(again, io),
        }
    }

    /// Acknowledges earlier segments with their own ECN-Echo when marks begin or end (RFC 8257 §3.2).
    #[inline(never)]
    fn on_echo_change(&mut self, marked: bool, io: &mut Io) {
        if self.pending > 0 {
            self.send_ack_slowly(None, io);
        }
        self.echo = marked;
    }

    /// Adds a range of bytes to the received data, and returns how it arrived and what had arrived before.
    #[inline]
    fn insert_range(&mut self, range: (u64, u64), cfg: &TcpConfig) -> (Arrival, DuplicateRange) {
        let (start, end) = range;
        let reach = end.saturating_sub(start) + u64::from(self.unacked);
        // The usual case is the next bytes, without a gap and inside the window. Only this case is inlined.
        if start != self.next || end <= start || !self.bits.is_plain() || reach > u64::from(cfg.receive_window) {
            return self.insert_out_of_order(range, cfg);
        }
        self.next = end;
        self.unacked = reach as u32;
        (Arrival::InOrder, None)
    }

    /// Adds a range outside of the usual case: old bytes, bytes beyond a gap or the window, or bytes that fill a gap.
    #[inline(never)]
    fn insert_out_of_order(&mut self, range: (u64, u64), cfg: &TcpConfig) -> (Arrival, DuplicateRange) {
        let (before, edge) = (self.next, self.window_edge(cfg));
        // Bytes beyond the window are discarded (RFC 9293 §3.10.7.4).
        let (start, end) = (range.0, range.1.min(edge));
        if end <= before || end <= start {
            self.duplicates += 1;
            return (Arrival::Duplicate, self.duplicate_in_order(range));
        }
        if start > before {
            return self.insert_beyond_gap((start, end), edge, cfg.is_linux());
        }
        let waiting = self.aside.as_mut().filter(|_| self.bits.any(ReceiverFlags::GAP));
        let arrival = if start == before && waiting.is_none() { Arrival::InOrder } else { Arrival::Filling };
        let mut again = (start < before).then_some((start, before));
        self.next = end;
        if let Some(aside) = waiting {
            again = again.or_else(|| aside.reorder.overlap(start, end));
            self.next = aside.reorder.take_from(end);
            if cfg.is_linux() {
                aside.blocks.advance(self.next);
            }
            if aside.reorder.is_empty() {
                self.bits = self.bits.without(ReceiverFlags::GAP);
            }
        }
        self.unacked += (self.next - before) as u32;
        (arrival, again)
    }

    fn insert_beyond_gap(&mut self, range: (u64, u64), edge: u64, as_linux: bool) -> (Arrival, DuplicateRange) {
        let aside = self.aside.get_or_insert_default();
        if !self.bits.any(ReceiverFlags::GAP) {
            aside.edge = edge;
            self.bits = self.bits.with(ReceiverFlags::GAP);
        }
        let again = aside.reorder.overlap(range.0, range.1);
        let new = aside.reorder.insert(range.0, range.1);
        if as_linux {
            aside.blocks.add(range);
        }
        self.out_of_order += u32::from(new);
        self.duplicates += u32::from(!new);
        (if new { Arrival::OutOfOrder } else { Arrival::Duplicate }, again)
    }

    /// Returns the range for a DSACK if all of its bytes have arrived in order before.
    fn duplicate_in_order(&self, range: (u64, u64)) -> DuplicateRange {
        (range.0 < range.1 && range.1 <= self.next).then_some(range)
    }

    /// Latches ECN-Echo from a mark until CWR (RFC 3168 §6.1.3). A segment with both mark and CWR sets it again.
    fn latch_echo(&mut self, pkt: &Pkt, marked: bool) {
        if pkt.head.flags.has(Flags::CWR) {
            self.echo = false;
        }
        self.echo |= marked;
    }

    /// Sends an ACK outside of the usual case of a segment in order.
    #[inline(never)]
    // Not inlined, so that the usual ACK of a segment in order stays short in `process_data`.
    fn send_ack_slowly(&mut self, again: DuplicateRange, io: &mut Io) {
        self.send_ack(again, io);
    }

    #[inline(always)]
    fn send_ack(&mut self, again: DuplicateRange, io: &mut Io) {
        let mut pkt = segment::ack_segment(&self.flow, self.next, self.echo, io.cfg);
        segment::stamp_packet(&mut pkt, io.now, &mut self.emission);
        // Pushed before its options, so that an ACK without options is written only once.
        io.out.push(pkt);
        if !self.bits.has_no_options() || again.is_some() {
            self.add_options(again, io);
        }
        // Each ACK of an open connection uses up one quick ACK. Linux grants them at the first data in order, so
        // earlier ACKs use up none.
        if self.count > 0 && !self.bits.any(ReceiverFlags::LISTEN.with(ReceiverFlags::SYN_ACK_SENT)) {
            self.count -= u8::from(!io.cfg.is_linux() || self.next > 0);
        }
        self.reset_pending_acks();
    }

    /// Clears the counts of unacknowledged data and the delayed ACK, since an ACK has left.
    #[inline(always)]
    fn reset_pending_acks(&mut self) {
        self.pending = 0;
        self.unacked = 0;
        self.ack_by = Time::NEVER;
    }

    /// Sends the delayed ACK, or repeats the SYN-ACK, once `deadline()` has passed.
    pub fn on_timer(&mut self, io: &mut Io) {
        if io.now < self.ack_by {
            return;
        }
        match self.bits.any(ReceiverFlags::SYN_ACK_SENT) {
            true => self.repeat_syn_ack(io),
            false => self.send_ack_slowly(None, io),
        }
    }

    /// Returns the time at which to call `on_timer`; `None` if nothing is to be sent later.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        (self.ack_by != Time::NEVER).then_some(self.ack_by)
    }

    /// Returns true if all bytes of the flow have arrived.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.next >= self.flow.bytes
    }

    /// Returns true if the connection is persistent, so that its receiver never completes.
    #[inline]
    pub(crate) fn is_persistent(&self) -> bool {
        self.flow.is_persistent()
    }

    /// Number of bytes that have arrived in order and can be read.
    pub fn received_bytes(&self) -> u64 {
        self.next
    }

    /// Returns the counters of the receiver.
    pub fn stats(&self) -> ReceiverStats {
        ReceiverStats {
            segments: self.segments,
            duplicates: self.duplicates,
            out_of_order: self.out_of_order,
            marked: self.marked,
            acks: self.emission,
            packs: self.packs(),
            waiting: self.aside.as_ref().map_or(0, |aside| aside.reorder.bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receiver_has_96_bytes() {
        assert_eq!(size_of::<Receiver>(), 96);
    }
}
