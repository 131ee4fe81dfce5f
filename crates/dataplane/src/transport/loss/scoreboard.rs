//! The scoreboard: what was selectively acknowledged, and what follows from it (RFC 6675 §4).
//!
//! Sequence numbers here are ends, one past the last byte, where RFC 6675 names the last byte:
//! `una` is HighACK + 1, `sent` is HighData + 1. A receiver may give back what it has reported (RFC
//! 2018 §8); that is seen when the cumulative ACK stops at a byte that was reported.

use super::super::unwrap;
use super::rack_tlp::RackTlp;
use super::reach::Reach;
use core::ops::Range;

/// What NextSeg() answers (RFC 6675 §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::transport) enum Segment {
    /// Rules 1 and 3: so many bytes from this one on, sent before.
    Again(u64, u32),
    /// Rule 2: new data.
    New,
    /// Rule 4: the rescue retransmission.
    Rescue(u64, u32),
}

/// What was selectively acknowledged beyond the cumulative ACK.
#[derive(Clone, Debug, Default)]
pub(in crate::transport) struct Scoreboard {
    /// Disjoint ranges in order that do not touch.
    ranges: Vec<Range<u64>>,
    /// Bytes in them.
    sacked: u64,
    /// HighRxt + 1: everything before was retransmitted in this recovery, or has arrived.
    high_rxt: u64,
    /// RescueRxt + 1.
    rescue_rxt: u64,
    dsacks: u32,
    /// What RACK-TLP keeps, which then knows what was reported, and here only the sum of it.
    pub timed: Option<Box<RackTlp>>,
}

impl Scoreboard {
    /// Takes in the blocks of an ACK of everything before `ack`, which may have been overtaken by one
    /// of everything before `una`; whether any byte is new. A first
    /// block that reports a duplicate tells nothing new (RFC 2883 §4); blocks of what was never sent
    /// are no blocks.
    pub fn update(&mut self, blocks: &[(u32, u32)], ack: u64, una: u64, sent: u64) -> bool {
        let block = |b: &(u32, u32)| Some(unwrap(b.0, ack)?..unwrap(b.1, ack)?);
        let mut blocks = blocks;
        if reports_duplicate(blocks, ack) {
            self.dsacks += 1;
            blocks = &blocks[1..];
        }
        let before = self.sacked;
        for b in blocks.iter().filter_map(block).filter(|b| b.end <= sent) {
            self.insert(b.start.max(ack.max(una))..b.end);
        }
        self.sacked > before
    }
    fn insert(&mut self, new: Range<u64>) {
        if new.is_empty() {
            return;
        }
        // The ranges from `lo` until `hi` touch or overlap the new one.
        let lo = self.ranges.partition_point(|r| r.end < new.start);
        let hi = self.ranges.partition_point(|r| r.start <= new.end);
        let mut merged = new;
        for old in &self.ranges[lo..hi] {
            merged = merged.start.min(old.start)..merged.end.max(old.end);
            self.sacked -= old.end - old.start;
        }
        self.sacked += merged.end - merged.start;
        self.ranges.splice(lo..hi, [merged]);
    }
    /// Everything before `una` is acknowledged, and the byte there has not arrived.
    pub fn advance(&mut self, una: u64) {
        let gone = self.ranges.partition_point(|r| r.end <= una);
        for old in self.ranges.drain(..gone) {
            self.sacked -= old.end - old.start;
        }
        self.forget_if_reneged(una);
    }
    /// Where the first byte outstanding was reported once, the receiver has given it back and nothing
    /// that it reported counts (RFC 2018 §8). A receiver that keeps what it has would have
    /// acknowledged it, in whatever order its ACKs come.
    pub fn forget_if_reneged(&mut self, una: u64) {
        if self.ranges.first().is_some_and(|r| r.start <= una) {
            self.ranges.clear();
            self.sacked = 0;
        }
    }
    /// Recovery begins: HighRxt and RescueRxt are the end of the first retransmission (§5 (4.3)).
    pub fn enter(&mut self, first: u64) {
        (self.high_rxt, self.rescue_rxt) = (first, first);
    }
    /// A segment of rule 1 or 3 up to `end` was sent (§5 (C.2)).
    pub fn retransmitted(&mut self, end: u64) {
        self.high_rxt = self.high_rxt.max(end);
    }
    /// The rescue retransmission was sent, the only one until `recover` (§4, NextSeg() rule 4).
    pub fn rescued(&mut self, recover: u64) {
        self.rescue_rxt = recover;
    }

    /// IsLost() of every byte at once: what is not selectively acknowledged before this byte is lost.
    pub fn lost_below(&self, reach: Reach) -> u64 {
        let Some(threshold) = reach.threshold else { return 0 };
        let most = u64::from(threshold.saturating_sub(1)) * u64::from(reach.mss);
        let (mut ranges, mut bytes) = (0, 0);
        for r in self.ranges.iter().rev() {
            ranges += 1;
            bytes += r.end - r.start;
            if ranges >= threshold || bytes > most {
                return r.start;
            }
        }
        0
    }
    /// SetPipe(): bytes that are not taken for lost, and bytes that were retransmitted.
    pub fn pipe(&self, una: u64, sent: u64, reach: Reach) -> u64 {
        self.missing(self.lost_below(reach).max(una)..sent) + self.missing(una..self.high_rxt)
    }
    /// Bytes of a range that are not selectively acknowledged.
    fn missing(&self, of: Range<u64>) -> u64 {
        if of.is_empty() {
            return 0;
        }
        let from = self.ranges.partition_point(|r| r.end <= of.start);
        let inside = self.ranges[from..].iter().take_while(|r| r.start < of.end);
        let there: u64 = inside.map(|r| r.end.min(of.end) - r.start.max(of.start)).sum();
        of.end - of.start - there
    }
    /// NextSeg(), where `new` says whether new data may be sent.
    pub fn next_segment(&self, outstanding: Range<u64>, new: bool, reach: Reach) -> Option<Segment> {
        let length = |hole: &Range<u64>| (hole.end - hole.start).min(u64::from(reach.mss)) as u32;
        let hole = self.hole(self.high_rxt.max(outstanding.start));
        match hole {
            Some(h) if h.start < self.lost_below(reach) => return Some(Segment::Again(h.start, length(&h))),
            _ if new => return Some(Segment::New),
            Some(h) => return Some(Segment::Again(h.start, length(&h))),
            None => {}
        }
        if outstanding.start <= self.rescue_rxt {
            return None;
        }
        let last = self.last_hole(outstanding);
        let start = last.start.max(last.end.saturating_sub(u64::from(reach.mss)));
        (!last.is_empty()).then(|| Segment::Rescue(start, length(&(start..last.end))))
    }
    /// The first hole at or after `from` that something was reported beyond.
    pub fn hole(&self, from: u64) -> Option<Range<u64>> {
        let next = self.ranges.partition_point(|r| r.end <= from);
        let (first, rest) = self.ranges[next..].split_first()?;
        match first.start > from {
            true => Some(from..first.start),
            false => rest.first().map(|second| first.end..second.start),
        }
    }
    /// The hole, or the end, that holds the highest outstanding byte not reported.
    fn last_hole(&self, outstanding: Range<u64>) -> Range<u64> {
        match &self.ranges[..] {
            [.., last] if last.end < outstanding.end => last.end..outstanding.end,
            [.., before, last] => before.end..last.start,
            [last] => outstanding.start..last.start,
            [] => outstanding,
        }
    }
    /// Past what was reported around `at`, or `at` itself.
    pub fn skip(&self, at: u64) -> u64 {
        let next = self.ranges.partition_point(|r| r.end <= at);
        self.ranges.get(next).filter(|r| r.start <= at).map_or(at, |r| r.end)
    }
    /// Bytes reported.
    #[inline]
    pub fn sacked(&self) -> u32 {
        self.sacked as u32
    }
    /// So many bytes were reported.
    pub fn set_sacked(&mut self, bytes: u64) {
        self.sacked = bytes;
    }
    /// Bytes reported before `end`.
    pub fn sacked_before(&self, end: u64) -> u32 {
        self.ranges.iter().take_while(|r| r.start < end).map(|r| (r.end.min(end) - r.start) as u32).sum()
    }
    /// Duplicates reported.
    pub fn dsacks(&self) -> u32 {
        self.dsacks
    }
}

/// Whether the first block reports a segment that had arrived before: it lies below the cumulative
/// ACK or inside the second block (RFC 2883 §4).
pub(in crate::transport) fn reports_duplicate(blocks: &[(u32, u32)], ack: u64) -> bool {
    let within = |a: u32, b: u32| a.wrapping_sub(b) as i32 >= 0;
    match blocks {
        [first, ..] if within(ack as u32, first.1) => true,
        [first, second, ..] => within(first.0, second.0) && within(second.1, first.1),
        _ => false,
    }
}
