//! Queries and changes of the list of segments that Linux's sender needs beside RFC 8985.

use super::{Segments, Sent, Tags};
use units::Time;

impl Segments {
    /// Bytes that are lost, sent again or not.
    pub fn lost(&self) -> u64 {
        self.waiting + self.again - self.doubled
    }
    /// Segments under way: [`pipe`](Segments::pipe) in segments, of whatever length (`tcp_packets_in_flight`).
    pub fn in_flight(&self) -> u32 {
        (self.len() as u32 - self.reports() - self.waits).saturating_sub(self.assumed()) + self.doubles
    }
    /// Retransmissions under way.
    pub fn under_way_again(&self) -> u32 {
        self.list.iter().filter(|s| s.tags.has(Tags::AGAIN)).count() as u32
    }
    /// Segments that are assumed to be delivered.
    pub fn assumed(&self) -> u32 {
        self.assumed.1
    }
    /// Assumes that so many segments are delivered.
    pub fn assume(&mut self, segments: u32, mss: u32) {
        self.assumed = (u64::from(segments) * u64::from(mss), segments);
    }
    /// The first segment that begins at a byte or beyond.
    pub fn index_from(&self, byte: u64) -> usize {
        self.list.partition_point(|s| s.start < byte)
    }
    /// Returns true if the first segment was sent more than once.
    pub fn is_first_repeated(&self) -> bool {
        self.list.front().is_some_and(|s| s.tags.has(Tags::RETRANSMITTED))
    }
    /// Returns true if the first segment after the first that is not reported was sent more than once.
    pub fn is_second_repeated(&self) -> bool {
        let second = self.list.iter().skip(1).find(|s| !s.tags.has(Tags::REPORTED));
        second.is_some_and(|s| s.tags.has(Tags::RETRANSMITTED))
    }
    /// Takes out the first segment if it ends before this byte.
    pub fn pop_before(&mut self, una: u64) -> Option<Sent> {
        let first = self.list.front().copied().filter(|s| s.end <= una)?;
        self.leave(&first);
        self.list.pop_front()
    }
    /// Shortens the first segment to what lies beyond this byte.
    pub fn trim(&mut self, una: u64) {
        if let Some(first) = self.list.front().copied().filter(|s| s.start < una) {
            self.leave(&first);
            self.list[0].start = una;
            let rest = self.list[0];
            self.enter(&rest);
        }
    }
    /// Returns true if segment `i` is not reported and the one before it is.
    pub fn merges(&self, i: usize) -> bool {
        let is_reported = |i: usize| self.list.get(i).is_some_and(|s| s.tags.has(Tags::REPORTED));
        i > 0 && !is_reported(i) && is_reported(i - 1)
    }
    /// Returns the end of the run of reported segments from `i` on; `None` if segment `i` is not reported.
    pub fn end_of_reported(&self, i: usize) -> Option<u64> {
        let run = self.list.iter().skip(i).take_while(|s| s.tags.has(Tags::REPORTED));
        run.last().map(|s| s.end)
    }
    /// A segment is reported. A retransmission of what is not lost is under way still, as in Linux.
    pub fn mark_reported(&mut self, i: usize) {
        self.tag(i, |t| match t.has(Tags::LOST) {
            true => t.with(Tags::REPORTED).without(Tags::LOST).without(Tags::AGAIN),
            false => t.with(Tags::REPORTED),
        });
    }
    /// A segment is not looked at again until it is sent again.
    pub fn set_aside(&mut self, i: usize) {
        self.tag(i, |t| t.with(Tags::SET_ASIDE));
    }
    /// Marks a segment as lost, unless it is SACKed. Its retransmission stays in flight.
    pub fn mark_lost(&mut self, i: usize) {
        self.tag(i, |t| if t.has(Tags::REPORTED) { t } else { t.with(Tags::LOST) });
    }
    /// No retransmission of a segment is under way.
    pub fn settle_again(&mut self, i: usize) {
        self.tag(i, |t| t.without(Tags::AGAIN));
    }
    /// A segment was sent again as a probe: as in Linux it is under way once.
    pub fn probed(&mut self, i: usize, at: Time, stamp: u32) {
        self.tag(i, |t| t.with(Tags::RETRANSMITTED).without(Tags::SET_ASIDE));
        (self.list[i].at, self.list[i].stamp) = (at, stamp);
        self.once_from = self.once_from.max(self.list[i].end);
    }
}
