//! All outstanding segments, with the time of their last sending and their state (RFC 8985 §5.2).
//!
//! Sums over them give the bytes in flight.

mod linux;

use super::is_lost_params::IsLostParams;
use core::ops::Range;
use std::collections::VecDeque;
use units::Time;

/// Flags of an outstanding segment, such as SACKed, lost or retransmitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::transport) struct SegmentTags(u8);

impl SegmentTags {
    /// Segment that was selectively acknowledged.
    pub const SACKED: SegmentTags = SegmentTags(1);
    /// Segment.lost: its first sending, or a later one, is lost.
    pub const LOST: SegmentTags = SegmentTags(1 << 1);
    /// Segment with a retransmission that counts as in flight.
    pub const RETRANSMISSION_IN_FLIGHT: SegmentTags = SegmentTags(1 << 2);
    /// Segment.retransmitted: sent more than once.
    pub const RETRANSMITTED: SegmentTags = SegmentTags(1 << 3);
    /// Segment found lost by time, which is not examined until it is sent again; in Linux not even after an undo.
    pub const EXCLUDED_FROM_SEARCH: SegmentTags = SegmentTags(1 << 4);

    pub fn has(self, other: SegmentTags) -> bool {
        self.0 & other.0 != 0
    }
    fn with(self, other: SegmentTags) -> SegmentTags {
        SegmentTags(self.0 | other.0)
    }
    fn without(self, other: SegmentTags) -> SegmentTags {
        SegmentTags(self.0 & !other.0)
    }
    /// Returns true for a lost segment that was not sent again since.
    pub fn awaits_retransmission(self) -> bool {
        self.has(SegmentTags::LOST) && !self.has(SegmentTags::RETRANSMISSION_IN_FLIGHT)
    }
    /// Returns true for a segment that was sent again without being lost.
    fn is_sent_twice(self) -> bool {
        self.has(SegmentTags::RETRANSMISSION_IN_FLIGHT) && !self.has(SegmentTags::LOST)
    }
}

/// Outstanding segment: its bytes, the time of its last sending, and its flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::transport) struct SentSegment {
    /// First byte of the segment.
    pub start: u64,
    /// Segment.end_seq: one past the last byte of the segment.
    pub end: u64,
    /// Segment.xmit_ts: time of the last sending.
    pub at: Time,
    pub tags: SegmentTags,
    /// Sender's counter at the last sending: segments delivered (Linux 6.18) or low half of SND.NXT (Linux 2.6.38).
    pub stamp: u32,
}

impl SentSegment {
    pub fn len(&self) -> u64 {
        self.end - self.start
    }
}

/// Outstanding segments in the order of their bytes, and sums over them.
#[derive(Clone, Debug, Default)]
pub(in crate::transport) struct Segments {
    list: VecDeque<SentSegment>,
    /// Number of SACKed bytes.
    reported: u64,
    /// RACK.segs_sacked: number of SACKed segments.
    reports: u32,
    /// Number of lost segments that were not sent again.
    /// The second field counts retransmissions in flight of segments that are not known to be lost.
    waits: u32,
    doubles: u32,
    /// Bytes of lost segments that were not sent again.
    waiting: u64,
    /// Bytes of retransmissions in flight of segments not known to be lost, such as probes.
    doubled: u64,
    /// Bytes of retransmissions in flight.
    again: u64,
    /// Byte from which all data was sent only once.
    once_from: u64,
    /// Bytes and segments that a sender without SACK assumes to be delivered, because of duplicate ACKs.
    assumed: (u64, u32),
}

impl Segments {
    /// Adds a segment of new data that was sent.
    pub fn push(&mut self, range: Range<u64>, at: Time, stamp: u32) {
        self.list.push_back(SentSegment {
            start: range.start,
            end: range.end,
            at,
            tags: SegmentTags::default(),
            stamp,
        });
    }
    /// Bytes in flight: neither acknowledged nor SACKed, and not lost unless sent again.
    /// A probe and the data that it repeats both count.
    pub fn pipe(&self) -> u64 {
        self.flight() + self.doubled
    }
    /// Bytes in flight without probes, from which a recovery reduces the window (RecoverFS of RFC 9937).
    pub fn flight(&self) -> u64 {
        (self.outstanding() - self.reported - self.waiting).saturating_sub(self.assumed.0)
    }
    /// Number of outstanding bytes: sent, and without a cumulative ACK.
    pub fn outstanding(&self) -> u64 {
        match (self.list.front(), self.list.back()) {
            (Some(first), Some(last)) => last.end - first.start,
            _ => 0,
        }
    }
    pub fn sacked_bytes(&self) -> u64 {
        self.reported
    }
    pub fn sacked_segments(&self) -> u32 {
        self.reports
    }
    /// Returns true if any lost segment was not sent again.
    pub fn has_lost_to_resend(&self) -> bool {
        self.waiting > 0
    }
    /// Bytes of retransmissions in flight.
    pub fn retransmitted_bytes(&self) -> u64 {
        self.again
    }
    pub fn len(&self) -> usize {
        self.list.len()
    }
    pub fn get(&self, i: usize) -> Option<&SentSegment> {
        self.list.get(i)
    }
    pub fn first(&self) -> Option<&SentSegment> {
        self.list.front()
    }
    /// Byte from which all data was sent only once.
    pub fn sent_once_from(&self) -> u64 {
        self.once_from
    }

    /// Changes the flags of a segment, and with them all sums over the list.
    /// No other function changes flags, so sums and flags always agree.
    fn change_tags(&mut self, i: usize, change: impl FnOnce(SegmentTags) -> SegmentTags) {
        let old = self.list[i];
        self.subtract_from_sums(&old);
        self.list[i].tags = change(old.tags);
        let new = self.list[i];
        self.add_to_sums(&new);
    }
    fn add_to_sums(&mut self, s: &SentSegment) {
        let sums = self.sums_with_bytes(s);
        for (sum, bytes) in sums {
            *sum += bytes;
        }
        self.reports += u32::from(s.tags.has(SegmentTags::SACKED));
        self.waits += u32::from(s.tags.awaits_retransmission());
        self.doubles += u32::from(s.tags.is_sent_twice());
    }
    fn subtract_from_sums(&mut self, s: &SentSegment) {
        let sums = self.sums_with_bytes(s);
        for (sum, bytes) in sums {
            *sum -= bytes;
        }
        self.reports -= u32::from(s.tags.has(SegmentTags::SACKED));
        self.waits -= u32::from(s.tags.awaits_retransmission());
        self.doubles -= u32::from(s.tags.is_sent_twice());
    }
    /// Returns each sum over the list, with the bytes that a segment adds to it.
    fn sums_with_bytes(&mut self, s: &SentSegment) -> [(&mut u64, u64); 4] {
        let bytes = |counts: bool| if counts { s.len() } else { 0 };
        [
            (&mut self.reported, bytes(s.tags.has(SegmentTags::SACKED))),
            (&mut self.waiting, bytes(s.tags.awaits_retransmission())),
            (&mut self.doubled, bytes(s.tags.is_sent_twice())),
            (&mut self.again, bytes(s.tags.has(SegmentTags::RETRANSMISSION_IN_FLIGHT))),
        ]
    }

    /// Removes all data before `una`, and calls `visit` with each removed segment, or with its removed part.
    pub fn acknowledge(&mut self, una: u64, mut visit: impl FnMut(&SentSegment)) {
        while let Some(first) = self.list.front().copied().filter(|s| s.start < una) {
            self.subtract_from_sums(&first);
            visit(&SentSegment { end: first.end.min(una), ..first });
            if first.end <= una {
                self.list.pop_front();
                continue;
            }
            let rest = SentSegment { start: una, ..first };
            self.list[0] = rest;
            self.add_to_sums(&rest);
        }
    }
    /// Marks the data of a SACK block as SACKed, and calls `visit` with each newly SACKed segment.
    /// A segment of which only a part is SACKed becomes two.
    pub fn mark_range_sacked(&mut self, block: Range<u64>, mut visit: impl FnMut(&SentSegment)) {
        let mut i = self.list.partition_point(|s| s.end <= block.start);
        while let Some(s) = self.list.get(i).copied().filter(|s| s.start < block.end) {
            if !s.tags.has(SegmentTags::SACKED) {
                if s.start < block.start {
                    self.split(i, block.start);
                    i += 1;
                    continue;
                }
                if s.end > block.end {
                    self.split(i, block.end);
                }
                visit(&self.list[i]);
                self.change_tags(i, |t| {
                    t.with(SegmentTags::SACKED)
                        .without(SegmentTags::LOST)
                        .without(SegmentTags::RETRANSMISSION_IN_FLIGHT)
                });
            }
            i += 1;
        }
    }
    /// Marks a range of bytes as lost, and calls `visit` with each newly lost segment (Cut Payload §4.4 steps 1 and 2).
    /// Segments that were sent again are marked only if `again` is true.
    pub fn mark_range_lost(&mut self, range: Range<u64>, again: bool, mut visit: impl FnMut(&SentSegment)) {
        let mut i = self.list.partition_point(|s| s.end <= range.start);
        while let Some(s) = self.list.get(i).copied().filter(|s| s.start < range.end) {
            let known = s.tags.has(SegmentTags::SACKED) || s.tags.awaits_retransmission();
            if !known && (again || !s.tags.has(SegmentTags::RETRANSMITTED)) {
                if s.start < range.start {
                    self.split(i, range.start);
                    i += 1;
                    continue;
                }
                if s.end > range.end {
                    self.split(i, range.end);
                }
                visit(&self.list[i]);
                self.mark_lost_again(i);
            }
            i += 1;
        }
    }
    /// Returns the byte below which all data that is not SACKed is lost, by IsLost() (RFC 6675 §4).
    pub fn lost_below(&self, reach: IsLostParams) -> u64 {
        let Some(threshold) = reach.threshold else { return 0 };
        let most = u64::from(threshold.saturating_sub(1)) * u64::from(reach.mss);
        let (mut ranges, mut bytes, mut start) = (0, 0, None);
        for s in self.list.iter().rev().filter(|s| s.tags.has(SegmentTags::SACKED)) {
            ranges += u32::from(start != Some(s.end));
            bytes += s.len();
            start = Some(s.start);
            if ranges >= threshold || bytes > most {
                // The whole SACKed range counts, which may be several segments: RFC 6675 counts contiguous ranges.
                return self.start_of_range(s.start);
            }
        }
        0
    }
    fn start_of_range(&self, of: u64) -> u64 {
        let before = self.list.iter().rev().filter(|s| s.end <= of);
        before.take_while(|s| s.tags.has(SegmentTags::SACKED)).last().map_or(of, |s| s.start)
    }
    fn split(&mut self, i: usize, at: u64) {
        let whole = self.list[i];
        let (low, high) = (SentSegment { end: at, ..whole }, SentSegment { start: at, ..whole });
        self.subtract_from_sums(&whole);
        self.add_to_sums(&low);
        self.add_to_sums(&high);
        self.list[i] = low;
        self.list.insert(i + 1, high);
    }
    /// Returns true if any byte of the range was sent more than once.
    pub fn was_retransmitted(&self, range: &Range<u64>) -> bool {
        let from = self.list.partition_point(|s| s.end <= range.start);
        let inside = self.list.iter().skip(from).take_while(|s| s.start < range.end);
        inside.into_iter().any(|s| s.tags.has(SegmentTags::RETRANSMITTED))
    }

    /// Returns the index of the first lost segment that was not sent again.
    pub fn next_lost_to_resend(&self) -> Option<usize> {
        if self.waiting == 0 {
            return None;
        }
        self.list.iter().position(|s| s.tags.awaits_retransmission())
    }
    /// Records that a segment was sent again (RFC 8985 §6.1).
    pub fn mark_sent_again(&mut self, i: usize, at: Time, stamp: u32) {
        self.change_tags(i, |t| {
            t.with(SegmentTags::RETRANSMISSION_IN_FLIGHT)
                .with(SegmentTags::RETRANSMITTED)
                .without(SegmentTags::EXCLUDED_FROM_SEARCH)
        });
        (self.list[i].at, self.list[i].stamp) = (at, stamp);
        self.once_from = self.once_from.max(self.list[i].end);
    }
    /// Marks a transmission of a segment as lost, and returns true if that is new. It is the last one, or the first one
    /// if the segment was sent twice without being lost.
    pub fn mark_lost_again(&mut self, i: usize) -> bool {
        let tags = self.list[i].tags;
        if tags.has(SegmentTags::SACKED) || tags.awaits_retransmission() {
            return false;
        }
        // If a segment was sent twice without being lost, the first call marks its first sending, the next its
        // retransmission.
        let again = tags.has(SegmentTags::LOST);
        self.change_tags(i, |t| {
            if again { t.without(SegmentTags::RETRANSMISSION_IN_FLIGHT) } else { t.with(SegmentTags::LOST) }
        });
        true
    }
    /// Marks a segment and its retransmission as lost, unless the segment is SACKed.
    pub fn mark_wholly_lost(&mut self, i: usize) {
        if !self.list[i].tags.has(SegmentTags::SACKED) {
            self.change_tags(i, |t| t.with(SegmentTags::LOST).without(SegmentTags::RETRANSMISSION_IN_FLIGHT));
        }
    }
    /// Removes the lost mark of all segments, after an undo.
    pub fn clear_lost_marks(&mut self) {
        for i in 0..self.list.len() {
            self.change_tags(i, |t| t.without(SegmentTags::LOST));
        }
    }
    /// Forgets all SACKs if the first outstanding byte was SACKed: the receiver has discarded it (RFC 2018 §8).
    pub fn forget_if_reneged(&mut self) {
        if self.list.front().is_some_and(|s| s.tags.has(SegmentTags::SACKED)) {
            for i in 0..self.list.len() {
                self.change_tags(i, |t| t.without(SegmentTags::SACKED));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mech::{Stream, StreamPurpose};
    use units::Dur;

    /// Returns the sums over the list, counted again from all segments.
    fn recount_sums(s: &Segments) -> (u64, u32, u64, u64) {
        let bytes =
            |f: &dyn Fn(SegmentTags) -> bool| s.list.iter().filter(|s| f(s.tags)).map(SentSegment::len).sum::<u64>();
        let (lost, again) =
            (|t: SegmentTags| t.has(SegmentTags::LOST), |t: SegmentTags| t.has(SegmentTags::RETRANSMISSION_IN_FLIGHT));
        let reported = bytes(&|t| t.has(SegmentTags::SACKED));
        let under_way = bytes(&|t| !t.has(SegmentTags::SACKED) && (!lost(t) || again(t)));
        let twice = bytes(&|t| !t.has(SegmentTags::SACKED) && !lost(t) && again(t));
        let reports = s.list.iter().filter(|s| s.tags.has(SegmentTags::SACKED)).count() as u32;
        (reported, reports, under_way, under_way + twice)
    }

    #[test]
    fn segment_sums_agree_with_a_recount_at_every_step() {
        for seed in 0..200 {
            let mut stream = Stream::new(seed, 0, StreamPurpose::Custom(0));
            let (mut s, mut una, mut sent) = (Segments::default(), 0, 0);
            for step in 0..200 {
                let (now, span) = (Time::ZERO + Dur::us(step), stream.uniform_below(3000));
                let somewhere = una + stream.uniform_below(sent - una + 1);
                let some = stream.uniform_below(s.len() as u64 + 1) as usize;
                match stream.uniform_below(10) {
                    0..=2 => {
                        s.push(sent..sent + 1 + span % 1000, now, 0);
                        sent += 1 + span % 1000;
                    }
                    3 => s.mark_range_sacked(somewhere..(somewhere + span).min(sent), |_| {}),
                    4 => {
                        una = (una + span / 4).min(sent);
                        s.acknowledge(una, |_| {});
                        s.forget_if_reneged();
                    }
                    5 if some < s.len() => drop(s.mark_lost_again(some)),
                    6 if some < s.len() => s.mark_wholly_lost(some),
                    7 => s.next_lost_to_resend().into_iter().for_each(|i| s.mark_sent_again(i, now, 0)),
                    8 if step % 20 == 0 => s.clear_lost_marks(),
                    9 => s.mark_range_lost(somewhere..(somewhere + span).min(sent), span % 2 == 0, |_| {}),
                    _ => {}
                }
                assert_eq!(
                    (s.sacked_bytes(), s.sacked_segments(), s.flight(), s.pipe()),
                    recount_sums(&s),
                    "seed {seed}, step {step}"
                );
                assert_eq!(s.outstanding(), sent - una);
                assert_eq!(s.has_lost_to_resend(), s.next_lost_to_resend().is_some());
                assert!(s.list.iter().zip(s.list.iter().skip(1)).all(|(a, b)| a.end == b.start && a.start < a.end));
            }
        }
    }

    #[test]
    fn partly_sacked_segment_is_split() {
        let mut s = Segments::default();
        s.push(0..1000, Time::ZERO, 0);
        let mut told = Vec::new();
        s.mark_range_sacked(200..700, |s| told.push((s.start, s.end)));
        s.mark_range_sacked(100..800, |s| told.push((s.start, s.end)));
        assert_eq!(told, [(200, 700), (100, 200), (700, 800)]);
        assert_eq!((s.sacked_bytes(), s.pipe(), s.len()), (700, 300, 5));
        s.acknowledge(150, |s| told.push((s.start, s.end)));
        assert_eq!((&told[3..], s.sacked_bytes()), (&[(0, 100), (100, 150)][..], 650));
    }
}
