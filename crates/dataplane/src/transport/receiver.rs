//! The receiving end of a flow.
//!
//! The application reads at once, so that only what waits beyond a gap may take from the advertised
//! window. The flow's last missing byte is acknowledged at once, as a FIN with it would be; a connection
//! that is kept has none.

mod blocks;
mod finished;
mod go_back_n;
mod handshake;
mod options;
mod packs;
mod quick;

pub use finished::{Finished, ack_of_finished};

use super::config::EcnMode;
use super::reorder::Reorder;
use super::segment::{self, is_marked};
use super::{FlowInfo, Io, TcpConfig, unwrap};
use crate::Pkt;
use mech::Flags;
use units::Time;

/// The receiver of one flow.
#[derive(Clone, Debug)]
pub struct Receiver {
    flow: FlowInfo,
    /// RCV.NXT: first byte that is missing.
    next: u64,
    /// What few flows have; there from the first gap on.
    aside: Option<Box<Aside>>,
    /// When a delayed ACK must leave, or a SYN must be answered again; never while neither is.
    ack_by: Time,
    /// When TS.Recent was taken; never before it was.
    recent_at: Time,
    /// TS.Recent (RFC 7323 §4.3).
    recent: u32,
    /// Bytes that arrived in order after Last.ACK.sent.
    unacked: u32,
    emission: u32,
    segments: u32,
    duplicates: u32,
    out_of_order: u32,
    marked: u32,
    /// Segments that arrived in order and are not acknowledged.
    pending: u8,
    /// While a SYN is answered: how often because of the timer. Then: ACKs that are yet sent at once.
    count: u8,
    /// What ACKs echo: latched until CWR, or the mark of the last segment (DCTCP.CE).
    echo: bool,
    bits: Bits,
}

/// What a receiver needs beyond a gap, or where packets are cut.
#[derive(Clone, Debug, Default)]
struct Aside {
    reorder: Reorder,
    /// The right edge of the window as last advertised; counts while something waits.
    edge: u64,
    lost: packs::LastLost,
    /// SACK blocks that a Linux receiver reports.
    blocks: blocks::Blocks,
}

/// What the ends agreed upon, and where the connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bits(u8);

impl Bits {
    /// SACK is permitted (RFC 2018 §2).
    const SACK: Bits = Bits(1);
    /// Segments carry timestamps (RFC 7323 §3.2).
    const STAMPS: Bits = Bits(1 << 1);
    /// Windows are scaled (RFC 7323 §2.2).
    const SCALED: Bits = Bits(1 << 2);
    /// Explicit congestion notification was offered by the SYN (RFC 3168 §6.1.1).
    const ECN: Bits = Bits(1 << 3);
    /// No SYN has come (RFC 9293 §3.3.2: LISTEN).
    const LISTEN: Bits = Bits(1 << 4);
    /// The answer to a SYN is not acknowledged (RFC 9293 §3.3.2: SYN-RECEIVED).
    const ANSWERED: Bits = Bits(1 << 5);
    /// Something waits beyond a gap.
    const GAP: Bits = Bits(1 << 6);
    /// PACK is permitted (CP §4.3).
    const PACK: Bits = Bits(1 << 7);

    const fn any(self, other: Bits) -> bool {
        self.0 & other.0 != 0
    }
    const fn with(self, other: Bits) -> Bits {
        Bits(self.0 | other.0)
    }
    const fn without(self, other: Bits) -> Bits {
        Bits(self.0 & !other.0)
    }
    /// `self` where it holds, nothing otherwise.
    const fn when(self, holds: bool) -> Bits {
        if holds { self } else { Bits(0) }
    }
    /// Established with scaled windows, and nothing waits.
    const fn plain(self) -> bool {
        let special = Bits::SCALED.with(Bits::LISTEN).with(Bits::ANSWERED).with(Bits::GAP);
        self.0 & special.0 == Bits::SCALED.0
    }
    /// Plain, and without timestamps: an ACK has no options.
    const fn bare(self) -> bool {
        self.plain() && !self.any(Bits::STAMPS)
    }
}

/// What a receiver has seen and done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverStats {
    /// Data segments that arrived.
    pub segments: u32,
    /// Those of which no byte was new, or none was taken.
    pub duplicates: u32,
    /// Those that arrived beyond a gap, with a new byte.
    pub out_of_order: u32,
    /// Those with a congestion mark.
    pub marked: u32,
    /// ACKs sent, answers to a SYN included: the number of the next emission.
    pub acks: u32,
    /// PACKs among them.
    pub packs: u32,
    /// Bytes that wait beyond a gap.
    pub waiting: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Arrival {
    InOrder,
    /// In order, but in part old, or with something waiting beyond a gap before or after.
    Filling,
    OutOfOrder,
    Duplicate,
}

/// Bytes that had arrived before.
type Again = Option<(u64, u64)>;

impl Receiver {
    /// A receiver that has seen nothing.
    pub fn new(flow: &FlowInfo, cfg: &TcpConfig) -> Receiver {
        let sack = Bits::SACK.when(cfg.recovery.has_sack());
        let pack = Bits::PACK.when(cfg.takes_packs());
        let established = Bits::SCALED.with(sack).with(Bits::STAMPS.when(cfg.timestamps)).with(pack);
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
            count: if cfg.handshake { 0 } else { quick::at_first(cfg) },
            echo: false,
            bits: if cfg.handshake { Bits::LISTEN } else { established },
        }
    }

    /// A packet for this receiver has come. One without payload does nothing once the connection is
    /// open, except a SYN.
    #[inline]
    pub fn receive(&mut self, pkt: &Pkt, io: &mut Io) {
        let data = pkt.head.flags.has(Flags::PAYLOAD) && pkt.payload > 0;
        if !data || self.bits.any(Bits::LISTEN.with(Bits::ANSWERED)) {
            self.control(pkt, io);
        }
        if data && !self.bits.any(Bits::LISTEN) {
            self.take(pkt, io);
        }
    }

    /// A data segment (RFC 9293 §3.10.7.4).
    #[inline]
    fn take(&mut self, pkt: &Pkt, io: &mut Io) {
        let cfg = io.cfg;
        let Some(start) = unwrap(pkt.seq, self.next) else { return };
        let range = (start, (start + u64::from(pkt.payload)).min(self.flow.bytes));
        let marked = is_marked(pkt);
        let mut stamp = None;
        if self.bits.any(Bits::STAMPS) {
            stamp = options::stamp_of(pkt, io);
            if !self.admits(stamp, range, io) {
                return;
            }
        }
        self.segments += 1;
        self.marked += u32::from(marked);
        if cfg.go_back_n {
            return self.take_in_order(range, io);
        }
        if cfg.quick_acks > 0 {
            self.quicken(pkt, range, io);
        }
        let turned = cfg.ecn == EcnMode::Exact && marked != self.echo;
        if turned {
            self.turn(marked, io);
        }
        if let Some(stamp) = stamp {
            self.note(stamp, range, io);
        }
        let (arrival, again) = self.place(range, cfg);
        if cfg.quick_acks > 0 && arrival == Arrival::Duplicate {
            self.quicken_again(range, cfg);
        }
        if cfg.ecn == EcnMode::Latched {
            match cfg.as_linux() {
                true => self.latch_as_linux(pkt, range, arrival),
                false => self.latch(pkt, marked && arrival != Arrival::Duplicate),
            }
        }
        self.pending += 1;
        // A sender that has just cut its window may have no other segment to send.
        let is_now = cfg.as_linux() && cfg.ecn == EcnMode::Latched && pkt.head.flags.has(Flags::CWR);
        match cfg.delayed_ack {
            // RFC 5681 §4.2; two segments are at most 2·RMSS (RFC 9293 §3.8.6.3).
            Some(wait) if arrival == Arrival::InOrder && !turned && self.pending < 2 && !self.complete() && !is_now => {
                if self.is_quick(pkt, io) {
                    self.acknowledge(again, io);
                } else {
                    self.ack_by = io.expiry(self.flow.dst, wait, self.ack_by);
                }
            }
            _ => self.send_ack(again, io),
        }
    }

    /// RFC 8257 §3.2: what came before is acknowledged with the echo that it had.
    #[inline(never)]
    fn turn(&mut self, marked: bool, io: &mut Io) {
        if self.pending > 0 {
            self.acknowledge(None, io);
        }
        self.echo = marked;
    }

    /// Takes in a range of bytes.
    #[inline]
    fn place(&mut self, range: (u64, u64), cfg: &TcpConfig) -> (Arrival, Again) {
        let (start, end) = range;
        let reach = end.saturating_sub(start) + u64::from(self.unacked);
        if start != self.next || end <= start || !self.bits.plain() || reach > u64::from(cfg.receive_window) {
            return self.place_aside(range, cfg);
        }
        self.next = end;
        self.unacked = reach as u32;
        (Arrival::InOrder, None)
    }

    /// Old bytes, bytes beyond a gap or the window, bytes that fill a gap.
    #[inline(never)]
    fn place_aside(&mut self, range: (u64, u64), cfg: &TcpConfig) -> (Arrival, Again) {
        let (before, edge) = (self.next, self.edge(cfg));
        // What lies beyond the window is cut off (RFC 9293 §3.10.7.4).
        let (start, end) = (range.0, range.1.min(edge));
        if end <= before || end <= start {
            self.duplicates += 1;
            return (Arrival::Duplicate, self.below(range));
        }
        if start > before {
            return self.place_beyond((start, end), edge, cfg.as_linux());
        }
        let waiting = self.aside.as_mut().filter(|_| self.bits.any(Bits::GAP));
        let arrival = if start == before && waiting.is_none() { Arrival::InOrder } else { Arrival::Filling };
        let mut again = (start < before).then_some((start, before));
        self.next = end;
        if let Some(aside) = waiting {
            again = again.or_else(|| aside.reorder.overlap(start, end));
            self.next = aside.reorder.take_from(end);
            if cfg.as_linux() {
                aside.blocks.advance(self.next);
            }
            if aside.reorder.is_empty() {
                self.bits = self.bits.without(Bits::GAP);
            }
        }
        self.unacked += (self.next - before) as u32;
        (arrival, again)
    }

    fn place_beyond(&mut self, range: (u64, u64), edge: u64, as_linux: bool) -> (Arrival, Again) {
        let aside = self.aside.get_or_insert_default();
        if !self.bits.any(Bits::GAP) {
            aside.edge = edge;
            self.bits = self.bits.with(Bits::GAP);
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

    /// A segment of which every byte has arrived in order.
    fn below(&self, range: (u64, u64)) -> Again {
        (range.0 < range.1 && range.1 <= self.next).then_some(range)
    }

    /// RFC 3168 §6.1.3: echoed from a mark until CWR; a segment with both starts anew.
    fn latch(&mut self, pkt: &Pkt, marked: bool) {
        if pkt.head.flags.has(Flags::CWR) {
            self.echo = false;
        }
        self.echo |= marked;
    }

    /// An ACK that is not the usual one of a segment in order.
    #[inline(never)]
    fn acknowledge(&mut self, again: Again, io: &mut Io) {
        self.send_ack(again, io);
    }

    #[inline(always)]
    fn send_ack(&mut self, again: Again, io: &mut Io) {
        let mut pkt = segment::ack(&self.flow, self.next, self.echo, io.cfg);
        segment::stamp(&mut pkt, io.now, &mut self.emission);
        // Before its options, so that an ACK without any is written but once.
        io.out.push(pkt);
        if !self.bits.bare() || again.is_some() {
            self.dress(again, io);
        }
        // Once a connection is open each takes one of those that are sent at once.
        if self.count > 0 && !self.bits.any(Bits::LISTEN.with(Bits::ANSWERED)) {
            self.count -= u8::from(!io.cfg.as_linux() || self.next > 0);
        }
        self.acknowledged();
    }

    /// All that has arrived in order is acknowledged.
    #[inline(always)]
    fn acknowledged(&mut self) {
        self.pending = 0;
        self.unacked = 0;
        self.ack_by = Time::NEVER;
    }

    /// `deadline()` has come: the delayed ACK leaves, or the answer to a SYN once more.
    pub fn timer(&mut self, io: &mut Io) {
        if io.now < self.ack_by {
            return;
        }
        match self.bits.any(Bits::ANSWERED) {
            true => self.answer_again(io),
            false => self.acknowledge(None, io),
        }
    }

    /// When `timer` wants to be called; `None` while nothing is to be sent later.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        (self.ack_by != Time::NEVER).then_some(self.ack_by)
    }

    /// Whether all bytes have arrived.
    #[inline]
    pub fn complete(&self) -> bool {
        self.next >= self.flow.bytes
    }

    /// Whether it never has everything.
    #[inline]
    pub(crate) fn is_persistent(&self) -> bool {
        self.flow.is_persistent()
    }

    /// Bytes that have arrived in order, and so can be read.
    pub fn received(&self) -> u64 {
        self.next
    }

    /// What it has seen and done.
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
    fn a_receiver_is_a_line_and_a_half() {
        assert_eq!(size_of::<Receiver>(), 96);
    }
}
