//! What ACKs say beyond their number: SACK blocks, timestamps, and the window.

use super::{Again, Aside, Bits, Receiver};
use crate::transport::clock::{COMPARABLE, older, tick, ticks};
use crate::transport::{Io, TcpConfig, segment};
use crate::{Ext, MAX_BLOCKS, Pkt, Timestamps};
use units::Time;

/// TSval of a segment.
#[inline]
pub(super) fn stamp_of(pkt: &Pkt, io: &Io) -> Option<u32> {
    io.exts.get(pkt.ext)?.timestamps.map(|t| t.val)
}

/// `range` as a SACK block.
fn block(range: (u64, u64)) -> (u32, u32) {
    (range.0 as u32, range.1 as u32)
}

impl Receiver {
    /// Gives the ACK that was sent last its options and its window.
    #[inline(never)]
    pub(super) fn dress(&mut self, again: Again, io: &mut Io) {
        let Some(mut pkt) = io.out.pop() else { return };
        pkt.window = self.advertise(io.cfg);
        let mut ext = self.stamped(io);
        if self.bits.any(Bits::SACK) {
            self.report(again, io.cfg.as_linux(), &mut ext);
        }
        segment::with_options(&mut pkt, ext, io);
        io.out.push(pkt);
    }

    /// Timestamps, where there are any.
    pub(super) fn stamped(&self, io: &Io) -> Ext {
        let stamps = Timestamps { val: ticks(io.now, io.cfg), ecr: self.recent };
        Ext { timestamps: self.bits.any(Bits::STAMPS).then_some(stamps), ..Ext::default() }
    }

    /// SACK blocks behind those that are there: what has come again (RFC 2883 §4), then what waits, the block of the last
    /// arrival before what was told last (RFC 2018 §4), as many as fit 40 bytes of options.
    pub(super) fn report(&self, again: Again, as_linux: bool, ext: &mut Ext) {
        let room = if ext.timestamps.is_some() { MAX_BLOCKS - 1 } else { MAX_BLOCKS };
        let mut n = usize::from(ext.blocks);
        if let Some(range) = again {
            ext.sack[n] = block(range);
            n += 1;
        }
        if let Some(aside) = self.waiting() {
            n += match as_linux {
                true => {
                    let blocks = aside.blocks.latest().iter().map(|range| block(*range));
                    let places = ext.sack[n..room].iter_mut();
                    places.zip(blocks).map(|(place, range)| *place = range).count()
                }
                false => aside.reorder.latest(&mut ext.sack[n..room]),
            };
        }
        ext.blocks = n as u8;
    }

    pub(super) fn waiting(&self) -> Option<&Aside> {
        self.aside.as_deref().filter(|_| self.bits.any(Bits::GAP))
    }

    /// The largest window, and its scale (RFC 7323 §2.2).
    fn largest(&self, cfg: &TcpConfig) -> (u64, u8) {
        match self.bits.any(Bits::SCALED) {
            true => (u64::from(cfg.receive_window), cfg.window_shift),
            false => (u64::from(cfg.syn_window()), 0),
        }
    }

    /// The right edge of the window that the sender has been told.
    pub(super) fn edge(&self, cfg: &TcpConfig) -> u64 {
        match self.waiting().filter(|_| cfg.window_less_out_of_order) {
            Some(aside) => aside.edge,
            None => self.next - u64::from(self.unacked) + self.largest(cfg).0,
        }
    }

    /// The window of the next ACK: all, or less what waits. Its right edge never moves back (RFC
    /// 9293 §3.8.6), not even by the scale: an edge that stays is rounded up, one that moves, down.
    pub(super) fn advertise(&mut self, cfg: &TcpConfig) -> u16 {
        let (largest, scale) = self.largest(cfg);
        if let Some(aside) =
            self.aside.as_deref_mut().filter(|_| cfg.window_less_out_of_order && self.bits.any(Bits::GAP))
        {
            let room = largest.saturating_sub(aside.reorder.bytes()) >> scale;
            let field = room.max((aside.edge - self.next).div_ceil(1 << scale));
            aside.edge = self.next + (field << scale);
            return field as u16;
        }
        (largest >> scale) as u16
    }

    /// Whether a data segment passes: it carries a timestamp (RFC 7323 §3.2), and none that is older
    /// than TS.Recent, for that is acknowledged and dropped (§5.3 R1). Linux lets it be older by a tick (`TCP_PAWS_WINDOW`).
    pub(super) fn admits(&mut self, stamp: Option<u32>, range: (u64, u64), io: &mut Io) -> bool {
        let Some(stamp) = stamp else { return false };
        let slack = u32::from(io.cfg.as_linux());
        if !older(stamp.wrapping_add(slack), self.recent) || !self.is_comparable(io) {
            return true;
        }
        self.segments += 1;
        self.duplicates += 1;
        self.acknowledge(self.below(range), io);
        false
    }

    /// Whether TS.Recent is there and not too old (RFC 7323 §5.5).
    fn is_comparable(&self, io: &Io) -> bool {
        self.recent_at != Time::NEVER && io.now.since(self.recent_at).0 / tick(io.cfg).0 < COMPARABLE
    }

    /// RFC 7323 §4.3 (2), §5.3 R3: of a segment that begins at or before Last.ACK.sent and has
    /// something new, the timestamp is echoed; so it is the earliest of a delayed ACK, and the last
    /// in order while there is a gap. Linux also echoes that of a duplicate that ends at Last.ACK.sent or above
    /// (`tcp_sequence`): if the ACK of the last segment was lost, the timeout's retransmission gives the sample.
    #[inline]
    pub(super) fn note(&mut self, stamp: u32, range: (u64, u64), io: &Io) {
        let unacked = u64::from(self.unacked);
        if range.0 + unacked > self.next {
            return;
        }
        // Only Linux admits what is older.
        if older(stamp, self.recent) && self.is_comparable(io) {
            return;
        }
        if range.1 > self.next {
            self.recent = stamp;
            self.recent_at = io.now;
        } else if io.cfg.as_linux() && range.1 + unacked >= self.next {
            self.recent = stamp;
        }
    }
}
