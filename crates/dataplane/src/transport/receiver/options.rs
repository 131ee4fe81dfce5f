//! Contents of ACKs besides the acknowledgement number: SACK blocks, timestamps, and the window.

use super::{DuplicateRange, OutOfOrderState, Receiver, ReceiverFlags};
use crate::transport::clock::{COMPARABLE_TICKS, is_older, tick_length, tsval};
use crate::transport::{Io, TcpConfig, segment};
use crate::{MAX_BLOCKS, PacketExtension, Pkt, Timestamps};
use units::Time;

/// Returns the TSval of a segment; `None` if it has no timestamps.
#[inline]
pub(super) fn tsval_of(pkt: &Pkt, io: &Io) -> Option<u32> {
    io.exts.get(pkt.ext)?.timestamps.map(|t| t.val)
}

/// Returns `range` as a SACK block.
fn block(range: (u64, u64)) -> (u32, u32) {
    (range.0 as u32, range.1 as u32)
}

impl Receiver {
    /// Adds options and window to the ACK that was sent last.
    #[inline(never)]
    pub(super) fn add_options(&mut self, again: DuplicateRange, io: &mut Io) {
        let Some(mut pkt) = io.out.pop() else { return };
        pkt.window = self.advertise(io.cfg);
        let mut ext = self.timestamp_option(io);
        if self.bits.any(ReceiverFlags::SACK) {
            self.add_sack_blocks(again, io.cfg.is_linux(), &mut ext);
        }
        segment::add_options(&mut pkt, ext, io);
        io.out.push(pkt);
    }

    /// Returns the timestamps of an ACK, if the connection has timestamps.
    pub(super) fn timestamp_option(&self, io: &Io) -> PacketExtension {
        let stamps = Timestamps { val: tsval(io.now, io.cfg), ecr: self.recent };
        PacketExtension {
            timestamps: self.bits.any(ReceiverFlags::TIMESTAMPS).then_some(stamps),
            ..PacketExtension::default()
        }
    }

    /// Adds SACK blocks after those that `ext` has already, as many as fit into 40 bytes of options.
    /// First comes the range that has arrived again (RFC 2883 §4). Then come the ranges beyond the gap, that of the
    /// last arrival first (RFC 2018 §4).
    pub(super) fn add_sack_blocks(&self, again: DuplicateRange, as_linux: bool, ext: &mut PacketExtension) {
        let room = if ext.timestamps.is_some() { MAX_BLOCKS - 1 } else { MAX_BLOCKS };
        let mut n = usize::from(ext.blocks);
        if let Some(range) = again {
            ext.sack[n] = block(range);
            n += 1;
        }
        if let Some(aside) = self.out_of_order_state() {
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

    pub(super) fn out_of_order_state(&self) -> Option<&OutOfOrderState> {
        self.aside.as_deref().filter(|_| self.bits.any(ReceiverFlags::GAP))
    }

    /// Returns the largest window that the receiver may advertise in bytes, and its scale (RFC 7323 §2.2).
    fn max_window(&self, cfg: &TcpConfig) -> (u64, u8) {
        match self.bits.any(ReceiverFlags::SCALED) {
            true => (u64::from(cfg.receive_window), cfg.window_shift),
            false => (u64::from(cfg.syn_window()), 0),
        }
    }

    /// Returns the right edge of the window that was advertised last.
    pub(super) fn window_edge(&self, cfg: &TcpConfig) -> u64 {
        match self.out_of_order_state().filter(|_| cfg.window_less_out_of_order) {
            Some(aside) => aside.edge,
            None => self.next - u64::from(self.unacked) + self.max_window(cfg).0,
        }
    }

    /// Returns the window field of the next ACK: the whole window, or the window less the bytes beyond a gap.
    /// The right edge never moves back (RFC 9293 §3.8.6), not even by the scale: an edge that stays is rounded up, one
    /// that moves is rounded down.
    pub(super) fn advertise(&mut self, cfg: &TcpConfig) -> u16 {
        let (largest, scale) = self.max_window(cfg);
        if let Some(aside) =
            self.aside.as_deref_mut().filter(|_| cfg.window_less_out_of_order && self.bits.any(ReceiverFlags::GAP))
        {
            // Rounded down, so that the window never exceeds the free buffer space.
            let room = largest.saturating_sub(aside.reorder.bytes()) >> scale;
            let field = room.max((aside.edge - self.next).div_ceil(1 << scale));
            aside.edge = self.next + (field << scale);
            return field as u16;
        }
        (largest >> scale) as u16
    }

    /// Returns true if a data segment has an acceptable timestamp (PAWS, RFC 7323 §5).
    /// It must have one (RFC 7323 §3.2). One that is older than TS.Recent is acknowledged and dropped (§5.3 R1). Linux
    /// lets it be older by one tick (`TCP_PAWS_WINDOW`).
    pub(super) fn passes_paws(&mut self, stamp: Option<u32>, range: (u64, u64), io: &mut Io) -> bool {
        let Some(stamp) = stamp else { return false };
        let slack = u32::from(io.cfg.is_linux());
        if !is_older(stamp.wrapping_add(slack), self.recent) || !self.is_comparable(io) {
            return true;
        }
        self.segments += 1;
        self.duplicates += 1;
        self.send_ack_slowly(self.duplicate_in_order(range), io);
        false
    }

    /// Returns true if TS.Recent exists and is not too old to compare (RFC 7323 §5.5).
    fn is_comparable(&self, io: &Io) -> bool {
        self.recent_at != Time::NEVER && io.now.since(self.recent_at).0 / tick_length(io.cfg).0 < COMPARABLE_TICKS
    }

    /// Updates TS.Recent from a segment with new data that begins at or before Last.ACK.sent.
    /// The rules are RFC 7323 §4.3 (2) and §5.3 R3.
    /// So a delayed ACK echoes the earliest timestamp of its segments. While there is a gap, ACKs echo the last one in
    /// order.
    /// Linux also takes that of a duplicate that ends at or above Last.ACK.sent (`tcp_sequence`). If the ACK of a
    /// flow's last segment is lost, the sender would otherwise take its timeout for a round-trip time.
    #[inline]
    pub(super) fn update_ts_recent(&mut self, stamp: u32, range: (u64, u64), io: &Io) {
        let unacked = u64::from(self.unacked);
        if range.0 + unacked > self.next {
            return;
        }
        // Older timestamps come here only on Linux, whose PAWS test lets them be older by one tick.
        if is_older(stamp, self.recent) && self.is_comparable(io) {
            return;
        }
        if range.1 > self.next {
            self.recent = stamp;
            self.recent_at = io.now;
        } else if io.cfg.is_linux() && range.1 + unacked >= self.next {
            self.recent = stamp;
        }
    }
}
