//! Scoreboard of RFC 6675 §4: selectively acknowledged data, lost data, and the next segment to send.
//!
//! Sequence numbers here are ends, one past the last byte, while RFC 6675 names the last byte. `una` is HighACK + 1,
//! and `sent` is HighData + 1.
//! A receiver may discard data that it has SACKed (RFC 2018 §8). The cumulative ACK then stops at a SACKed byte, which
//! shows it.

use super::super::unwrap_offset;
use super::is_lost_params::IsLostParams;
use super::rack_tlp::RackTlp;
use core::ops::Range;

/// Segment to send next: the result of NextSeg() (RFC 6675 §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::transport) enum NextSegment {
    /// Data sent before, by rules 1 and 3 of NextSeg(): its first byte and its length.
    Again(u64, u32),
    /// New data, by rule 2 of NextSeg() (RFC 6675 §4).
    New,
    /// Rescue retransmission, by rule 4 of NextSeg(): its first byte and its length.
    Rescue(u64, u32),
}

/// Scoreboard of one sender: data SACKed beyond the cumulative ACK.
#[derive(Clone, Debug, Default)]
pub(in crate::transport) struct Scoreboard {
    /// SACKed byte ranges in ascending order, which neither overlap nor touch.
    ranges: Vec<Range<u64>>,
    /// Number of bytes in the SACKed ranges.
    sacked: u64,
    /// HighRxt + 1: all data before it was retransmitted in this recovery, or has arrived.
    high_rxt: u64,
    /// RescueRxt + 1: the next rescue retransmission waits until more than this is acknowledged.
    rescue_rxt: u64,
    dsacks: u32,
    /// State of RACK-TLP, which keeps the SACKed ranges itself; this scoreboard then has only their sum.
    pub timed: Option<Box<RackTlp>>,
}

impl Scoreboard {
    /// Adds the SACK blocks of an ACK of everything before `ack`, and returns true if any byte is newly SACKed.
    /// An ACK of everything before `una` may have overtaken it. A first block that reports a duplicate has no news (RFC
    /// 2883 §4). Blocks of data that was never sent are ignored.
    pub fn update(&mut self, blocks: &[(u32, u32)], ack: u64, una: u64, sent: u64) -> bool {
        let block = |b: &(u32, u32)| Some(unwrap_offset(b.0, ack)?..unwrap_offset(b.1, ack)?);
        let mut blocks = blocks;
        if reports_duplicate(blocks, ack) {
            self.dsacks += 1;
            blocks = &blocks[1..];
        }
        let before = self.sacked;
        // The 32-bit edges are unwrapped near `ack`, the number of their own ACK. If a newer ACK has overtaken it,
        // bytes before `una` are acknowledged already and left out.
        for b in blocks.iter().filter_map(block).filter(|b| b.end <= sent) {
            self.insert(b.start.max(ack.max(una))..b.end);
        }
        self.sacked > before
    }
    fn insert(&mut self, new: Range<u64>) {
        if new.is_empty() {
            return;
        }
        // The ranges from `lo` until `hi` touch or overlap the new one, and merge with it: stored ranges never touch.
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
    /// Removes SACKed ranges after everything before `una` was acknowledged; the byte at `una` has not arrived.
    pub fn advance(&mut self, una: u64) {
        let gone = self.ranges.partition_point(|r| r.end <= una);
        for old in self.ranges.drain(..gone) {
            self.sacked -= old.end - old.start;
        }
        self.forget_if_reneged(una);
    }
    /// Removes all SACKs if the first outstanding byte was SACKed before: the receiver has discarded it (RFC 2018 §8).
    /// A receiver that keeps its data would have acknowledged that byte, in whatever order its ACKs arrive.
    pub fn forget_if_reneged(&mut self, una: u64) {
        if self.ranges.first().is_some_and(|r| r.start <= una) {
            self.ranges.clear();
            self.sacked = 0;
        }
    }
    /// Begins a recovery: HighRxt and RescueRxt are the end of the first retransmission (RFC 6675 §5 (4.3)).
    pub fn begin_recovery(&mut self, first: u64) {
        (self.high_rxt, self.rescue_rxt) = (first, first);
    }
    /// Records a retransmission up to `end` by rule 1 or 3 of NextSeg() (RFC 6675 §5 (C.2)).
    pub fn on_retransmitted(&mut self, end: u64) {
        self.high_rxt = self.high_rxt.max(end);
    }
    /// Records the rescue retransmission, the only one until `recover` (RFC 6675 §4, NextSeg() rule 4).
    pub fn on_rescued(&mut self, recover: u64) {
        self.rescue_rxt = recover;
    }

    /// Returns the byte below which all data that is not SACKed is lost, by IsLost() (RFC 6675 §4).
    pub fn lost_below(&self, reach: IsLostParams) -> u64 {
        let Some(threshold) = reach.threshold else { return 0 };
        let most = u64::from(threshold.saturating_sub(1)) * u64::from(reach.mss);
        let (mut ranges, mut bytes) = (0, 0);
        for r in self.ranges.iter().rev() {
            ranges += 1;
            bytes += r.end - r.start;
            // IsLost(): DupThresh SACKed ranges, or more than (DupThresh - 1) * SMSS SACKed bytes, from here on.
            if ranges >= threshold || bytes > most {
                return r.start;
            }
        }
        0
    }
    /// Returns the pipe, SetPipe() of RFC 6675 §4: bytes not considered lost, plus bytes retransmitted.
    pub fn pipe(&self, una: u64, sent: u64, reach: IsLostParams) -> u64 {
        self.unsacked_bytes(self.lost_below(reach).max(una)..sent) + self.unsacked_bytes(una..self.high_rxt)
    }
    /// Number of bytes of a range that are not SACKed.
    fn unsacked_bytes(&self, of: Range<u64>) -> u64 {
        if of.is_empty() {
            return 0;
        }
        let from = self.ranges.partition_point(|r| r.end <= of.start);
        let inside = self.ranges[from..].iter().take_while(|r| r.start < of.end);
        let there: u64 = inside.map(|r| r.end.min(of.end) - r.start.max(of.start)).sum();
        of.end - of.start - there
    }
    /// Returns the next segment to send, NextSeg() of RFC 6675 §4; `new` is true if new data may be sent.
    pub fn next_segment(&self, outstanding: Range<u64>, new: bool, reach: IsLostParams) -> Option<NextSegment> {
        let length = |hole: &Range<u64>| (hole.end - hole.start).min(u64::from(reach.mss)) as u32;
        let hole = self.next_hole(self.high_rxt.max(outstanding.start));
        // The arms have the order of rules 1, 2 and 3 of NextSeg(): the first that applies decides.
        match hole {
            Some(h) if h.start < self.lost_below(reach) => return Some(NextSegment::Again(h.start, length(&h))),
            _ if new => return Some(NextSegment::New),
            Some(h) => return Some(NextSegment::Again(h.start, length(&h))),
            None => {}
        }
        if outstanding.start <= self.rescue_rxt {
            return None;
        }
        let last = self.last_hole(outstanding);
        let start = last.start.max(last.end.saturating_sub(u64::from(reach.mss)));
        (!last.is_empty()).then(|| NextSegment::Rescue(start, length(&(start..last.end))))
    }
    /// Returns the first gap without SACK at or after `from` that has SACKed data beyond it.
    pub fn next_hole(&self, from: u64) -> Option<Range<u64>> {
        let next = self.ranges.partition_point(|r| r.end <= from);
        let (first, rest) = self.ranges[next..].split_first()?;
        match first.start > from {
            true => Some(from..first.start),
            false => rest.first().map(|second| first.end..second.start),
        }
    }
    /// Returns the gap between SACKed ranges, or the data above them, that has the highest byte without a SACK.
    fn last_hole(&self, outstanding: Range<u64>) -> Range<u64> {
        match &self.ranges[..] {
            [.., last] if last.end < outstanding.end => last.end..outstanding.end,
            [.., before, last] => before.end..last.start,
            [last] => outstanding.start..last.start,
            [] => outstanding,
        }
    }
    /// Returns the end of the SACKed range around `at`, or `at` itself if it is not SACKed.
    pub fn skip_sacked(&self, at: u64) -> u64 {
        let next = self.ranges.partition_point(|r| r.end <= at);
        self.ranges.get(next).filter(|r| r.start <= at).map_or(at, |r| r.end)
    }
    /// Number of SACKed bytes.
    #[inline]
    pub fn sacked(&self) -> u32 {
        self.sacked as u32
    }
    /// Sets the number of SACKed bytes.
    pub fn set_sacked(&mut self, bytes: u64) {
        self.sacked = bytes;
    }
    /// Number of SACKed bytes before `end`.
    pub fn sacked_before(&self, end: u64) -> u32 {
        self.ranges.iter().take_while(|r| r.start < end).map(|r| (r.end.min(end) - r.start) as u32).sum()
    }
    /// Number of DSACKs received.
    pub fn dsacks(&self) -> u32 {
        self.dsacks
    }
}

/// Returns true if the first SACK block reports a segment that had arrived before (DSACK, RFC 2883 §4).
/// Such a block is below the cumulative ACK, or inside the second block.
pub(in crate::transport) fn reports_duplicate(blocks: &[(u32, u32)], ack: u64) -> bool {
    let within = |a: u32, b: u32| a.wrapping_sub(b) as i32 >= 0;
    match blocks {
        [first, ..] if within(ack as u32, first.1) => true,
        [first, second, ..] => within(first.0, second.0) && within(second.1, first.1),
        _ => false,
    }
}
