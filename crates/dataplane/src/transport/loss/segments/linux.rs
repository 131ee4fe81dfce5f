//! Queries and changes of the list of segments for Linux's sender, beside those of RFC 8985.

use super::{Segments, Sent, Tags};
use units::Time;

impl Segments {
    /// Bytes of lost segments, sent again or not.
    pub fn lost(&self) -> u64 {
        self.waiting + self.again - self.doubled
    }
    /// Number of segments in flight: [`pipe`](Segments::pipe) in segments of whatever length (`tcp_packets_in_flight`).
    pub fn in_flight(&self) -> u32 {
        (self.len() as u32 - self.reports() - self.waits).saturating_sub(self.assumed()) + self.doubles
    }
    /// Number of retransmissions in flight.
    pub fn under_way_again(&self) -> u32 {
        self.list.iter().filter(|s| s.tags.has(Tags::AGAIN)).count() as u32
    }
    /// Number of segments assumed to be delivered.
    pub fn assumed(&self) -> u32 {
        self.assumed.1
    }
    /// Sets the number of segments assumed to be delivered.
    pub fn assume(&mut self, segments: u32, mss: u32) {
        self.assumed = (u64::from(segments) * u64::from(mss), segments);
    }
    /// Returns the index of the first segment that begins at or beyond a byte.
    pub fn index_from(&self, byte: u64) -> usize {
        self.list.partition_point(|s| s.start < byte)
    }
    /// Returns true if the first segment was sent more than once.
    pub fn is_first_repeated(&self) -> bool {
        self.list.front().is_some_and(|s| s.tags.has(Tags::RETRANSMITTED))
    }
    /// Returns true if the first segment after the head that is not SACKed was sent more than once.
    pub fn is_second_repeated(&self) -> bool {
        let second = self.list.iter().skip(1).find(|s| !s.tags.has(Tags::REPORTED));
        second.is_some_and(|s| s.tags.has(Tags::RETRANSMITTED))
    }
    /// Removes and returns the first segment if it ends at or before this byte.
    pub fn pop_before(&mut self, una: u64) -> Option<Sent> {
        let first = self.list.front().copied().filter(|s| s.end <= una)?;
        self.leave(&first);
        self.list.pop_front()
    }
    /// Shortens the first segment to its part beyond this byte.
    pub fn trim(&mut self, una: u64) {
        if let Some(first) = self.list.front().copied().filter(|s| s.start < una) {
            self.leave(&first);
            self.list[0].start = una;
            let rest = self.list[0];
            self.enter(&rest);
        }
    }
    /// Returns true if segment `i` is not SACKed and the one before it is.
    pub fn merges(&self, i: usize) -> bool {
        let is_reported = |i: usize| self.list.get(i).is_some_and(|s| s.tags.has(Tags::REPORTED));
        i > 0 && !is_reported(i) && is_reported(i - 1)
    }
    /// Returns the end of the run of SACKed segments from `i` on; `None` if segment `i` is not SACKed.
    pub fn end_of_reported(&self, i: usize) -> Option<u64> {
        let run = self.list.iter().skip(i).take_while(|s| s.tags.has(Tags::REPORTED));
        run.last().map(|s| s.end)
    }
    /// Marks a segment as SACKed. As in Linux, a retransmission of a segment that is not lost stays in flight.
    pub fn mark_reported(&mut self, i: usize) {
        self.tag(i, |t| match t.has(Tags::LOST) {
            true => t.with(Tags::REPORTED).without(Tags::LOST).without(Tags::AGAIN),
            false => t.with(Tags::REPORTED),
        });
    }
    /// Excludes a segment from the search for losses until it is sent again.
    pub fn set_aside(&mut self, i: usize) {
        self.tag(i, |t| t.with(Tags::SET_ASIDE));
    }
    /// Marks a segment as lost, unless it is SACKed. Its retransmission stays in flight.
    pub fn mark_lost(&mut self, i: usize) {
        self.tag(i, |t| if t.has(Tags::REPORTED) { t } else { t.with(Tags::LOST) });
    }
    /// Notes that no retransmission of a segment is in flight any more.
    pub fn settle_again(&mut self, i: usize) {
        self.tag(i, |t| t.without(Tags::AGAIN));
    }
    /// Notes that a segment was sent again as a probe. As in Linux it counts as in flight once.
    pub fn probed(&mut self, i: usize, at: Time, stamp: u32) {
        self.tag(i, |t| t.with(Tags::RETRANSMITTED).without(Tags::SET_ASIDE));
        (self.list[i].at, self.list[i].stamp) = (at, stamp);
        self.once_from = self.once_from.max(self.list[i].end);
    }
}
