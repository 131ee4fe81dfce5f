//! The receiving end of a flow.
//!
//! The application reads at once, so the advertised window is always the same. The flow's last
//! missing byte is acknowledged at once, as a FIN with it would be.

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
    reorder: Reorder,
    /// When a delayed ACK must leave; never while none is.
    ack_by: Time,
    emission: u32,
    segments: u32,
    duplicates: u32,
    out_of_order: u32,
    marked: u32,
    /// Segments that arrived in order and are not acknowledged.
    pending: u8,
    /// What ACKs echo: latched until CWR, or the mark of the last segment (DCTCP.CE).
    echo: bool,
}

/// What a receiver has seen and done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverStats {
    /// Data segments that arrived.
    pub segments: u32,
    /// Those of which no byte was new.
    pub duplicates: u32,
    /// Those that arrived beyond a gap, with a new byte.
    pub out_of_order: u32,
    /// Those with a congestion mark.
    pub marked: u32,
    /// ACKs sent: the number of the next emission.
    pub acks: u32,
    /// Bytes that wait beyond a gap.
    pub waiting: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Arrival {
    InOrder,
    /// In order, with something waiting beyond a gap before or after.
    Filling,
    OutOfOrder,
    Duplicate,
}

impl Receiver {
    /// A receiver that has seen nothing.
    pub fn new(flow: &FlowInfo, _cfg: &TcpConfig) -> Receiver {
        Receiver {
            flow: *flow,
            next: 0,
            reorder: Reorder::default(),
            ack_by: Time::NEVER,
            emission: 0,
            segments: 0,
            duplicates: 0,
            out_of_order: 0,
            marked: 0,
            pending: 0,
            echo: false,
        }
    }

    /// A packet for this receiver has come. One without payload does nothing.
    #[inline]
    pub fn receive(&mut self, pkt: &Pkt, io: &mut Io) {
        let cfg = io.cfg;
        if !pkt.head.flags.has(Flags::PAYLOAD) || pkt.payload == 0 {
            return;
        }
        let Some(start) = unwrap(pkt.seq, self.next) else { return };
        let (before, marked) = (self.next, is_marked(pkt));
        self.segments += 1;
        self.marked += u32::from(marked);
        let arrival = self.place(start, (start + u64::from(pkt.payload)).min(self.flow.bytes), cfg);
        let mut at_once = cfg.delayed_ack.is_none() || arrival != Arrival::InOrder || self.complete();
        match cfg.ecn {
            EcnMode::Off => {}
            EcnMode::Latched => self.latch(pkt, marked && arrival != Arrival::Duplicate),
            EcnMode::Exact if marked == self.echo => {}
            // RFC 8257 §3.2: what came before is acknowledged with the echo that it had.
            EcnMode::Exact => {
                if self.pending > 0 {
                    self.acknowledge(before, io);
                }
                self.echo = marked;
                at_once = true;
            }
        }
        self.pending += 1;
        if at_once || self.pending >= 2 {
            self.acknowledge(self.next, io);
        } else if let Some(wait) = cfg.delayed_ack {
            self.ack_by = io.now.saturating_add(wait);
        }
    }

    /// Takes in bytes `start..end`.
    #[inline]
    fn place(&mut self, start: u64, end: u64, cfg: &TcpConfig) -> Arrival {
        if end <= self.next {
            self.duplicates += 1;
            return Arrival::Duplicate;
        }
        if start > self.next {
            // Beyond the window nothing is kept (RFC 9293 §3.10.7.4).
            let fits = end - self.next <= u64::from(cfg.receive_window);
            let new = fits && start < end && self.reorder.insert(start, end);
            self.out_of_order += u32::from(new);
            self.duplicates += u32::from(!new);
            return if new { Arrival::OutOfOrder } else { Arrival::Duplicate };
        }
        self.next = end;
        if self.reorder.is_empty() {
            return Arrival::InOrder;
        }
        self.next = self.reorder.take_from(end);
        Arrival::Filling
    }

    /// RFC 3168 §6.1.3: echoed from a mark until CWR; a segment with both starts anew.
    fn latch(&mut self, pkt: &Pkt, marked: bool) {
        if pkt.head.flags.has(Flags::CWR) {
            self.echo = false;
        }
        self.echo |= marked;
    }

    fn acknowledge(&mut self, next: u64, io: &mut Io) {
        let mut pkt = segment::ack(&self.flow, next, self.echo, io.cfg);
        segment::stamp(&mut pkt, io.now, &mut self.emission);
        io.out.push(pkt);
        self.pending = 0;
        self.ack_by = Time::NEVER;
    }

    /// `deadline()` has come: the delayed ACK leaves.
    pub fn timer(&mut self, io: &mut Io) {
        if io.now >= self.ack_by {
            self.acknowledge(self.next, io);
        }
    }

    /// When `timer` wants to be called; `None` while no ACK is delayed.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        (self.ack_by != Time::NEVER).then_some(self.ack_by)
    }

    /// Whether all bytes have arrived.
    #[inline]
    pub fn complete(&self) -> bool {
        self.next >= self.flow.bytes
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
            waiting: self.reorder.bytes(),
        }
    }
}

/// The reply to a packet of a flow whose receiver was freed when all had arrived: an ACK of
/// everything, with the mark of this packet echoed for DCTCP (as RFC 3168 §6.1.5 says of data
/// outside the window, not otherwise). Its time of sending is the packet's: the caller stamps its own.
pub fn ack_of_finished(flow: &FlowInfo, pkt: &Pkt, emission: u32, cfg: &TcpConfig) -> Pkt {
    let ece = cfg.ecn == EcnMode::Exact && is_marked(pkt);
    let mut ack = segment::ack(flow, flow.bytes, ece, cfg);
    ack.sent = pkt.sent;
    ack.emission = emission;
    ack
}
