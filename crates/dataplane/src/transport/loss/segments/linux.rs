//! Functions on the list of outstanding segments for Linux's sender, in addition to those of RFC 8985.

use super::{SegmentTags, Segments, SentSegment};
use units::Time;

impl Segments {
    /// Number of bytes of segments marked as lost, sent again or not.
    pub fn lost(&self) -> u64 {
        self.waiting + self.again - self.doubled
    }
    /// Number of segments in flight, whatever their lengths (`tcp_packets_in_flight`).
    /// It is [`pipe`](Segments::pipe) in segments.
    pub fn in_flight(&self) -> u32 {
        (self.len() as u32 - self.sacked_segments() - self.waits).saturating_sub(self.assumed_delivered())
            + self.doubles
    }
    /// Number of retransmissions in flight.
    pub fn retransmissions_in_flight(&self) -> u32 {
        self.list.iter().filter(|s| s.tags.has(SegmentTags::RETRANSMISSION_IN_FLIGHT)).count() as u32
    }
    /// Number of segments assumed to be delivered because of duplicate ACKs without SACK.
    pub fn assumed_delivered(&self) -> u32 {
        self.assumed.1
    }
    /// Sets the number of segments assumed to be delivered because of duplicate ACKs without SACK.
    pub fn set_assumed_delivered(&mut self, segments: u32, mss: u32) {
        self.assumed = (u64::from(segments) * u64::from(mss), segments);
    }
    /// Returns the index of the first segment that begins at or beyond a byte.
    pub fn index_from(&self, byte: u64) -> usize {
        self.list.partition_point(|s| s.start < byte)
    }
    /// Returns true if the first segment was sent more than once.
    pub fn is_first_retransmitted(&self) -> bool {
        self.list.front().is_some_and(|s| s.tags.has(SegmentTags::RETRANSMITTED))
    }
    /// Returns true if the next segment without SACK after the first segment was sent more than once.
    pub fn is_second_retransmitted(&self) -> bool {
        let second = self.list.iter().skip(1).find(|s| !s.tags.has(SegmentTags::SACKED));
        second.is_some_and(|s| s.tags.has(SegmentTags::RETRANSMITTED))
    }
    /// Removes and returns the first segment if it ends at or before byte `una`.
    pub fn pop_before(&mut self, una: u64) -> Option<SentSegment> {
        let first = self.list.front().copied().filter(|s| s.end <= una)?;
        self.subtract_from_sums(&first);
        self.list.pop_front()
    }
    /// Shortens the first segment to its part from byte `una` on.
    pub fn trim_first(&mut self, una: u64) {
        if let Some(first) = self.list.front().copied().filter(|s| s.start < una) {
            self.subtract_from_sums(&first);
            self.list[0].start = una;
            let rest = self.list[0];
            self.add_to_sums(&rest);
        }
    }
    /// Returns true if segment `i` is not SACKed and the one before it is.
    pub fn continues_sacked_run(&self, i: usize) -> bool {
        let is_reported = |i: usize| self.list.get(i).is_some_and(|s| s.tags.has(SegmentTags::SACKED));
        i > 0 && !is_reported(i) && is_reported(i - 1)
    }
    /// Returns the end of the run of SACKed segments from `i` on; `None` if segment `i` is not SACKed.
    pub fn end_of_sacked_run(&self, i: usize) -> Option<u64> {
        let run = self.list.iter().skip(i).take_while(|s| s.tags.has(SegmentTags::SACKED));
        run.last().map(|s| s.end)
    }
    /// Marks a segment as SACKed. As in Linux, a retransmission of a segment that is not lost stays in flight.
    pub fn mark_sacked(&mut self, i: usize) {
        self.change_tags(i, |t| match t.has(SegmentTags::LOST) {
            true => {
                t.with(SegmentTags::SACKED).without(SegmentTags::LOST).without(SegmentTags::RETRANSMISSION_IN_FLIGHT)
            }
            false => t.with(SegmentTags::SACKED),
        });
    }
    /// Excludes a segment from the search for losses until it is sent again.
    pub fn exclude_from_search(&mut self, i: usize) {
        self.change_tags(i, |t| t.with(SegmentTags::EXCLUDED_FROM_SEARCH));
    }
    /// Marks a segment as lost, unless it is SACKed. Its retransmission stays in flight.
    pub fn mark_lost(&mut self, i: usize) {
        self.change_tags(i, |t| if t.has(SegmentTags::SACKED) { t } else { t.with(SegmentTags::LOST) });
    }
    /// Marks a segment as having no retransmission in flight.
    pub fn clear_retransmission(&mut self, i: usize) {
        self.change_tags(i, |t| t.without(SegmentTags::RETRANSMISSION_IN_FLIGHT));
    }
    /// Records that a segment was sent again as a tail loss probe. As in Linux it counts as in flight once.
    pub fn mark_probed(&mut self, i: usize, at: Time, stamp: u32) {
        self.change_tags(i, |t| t.with(SegmentTags::RETRANSMITTED).without(SegmentTags::EXCLUDED_FROM_SEARCH));
        (self.list[i].at, self.list[i].stamp) = (at, stamp);
        self.once_from = self.once_from.max(self.list[i].end);
    }
}
