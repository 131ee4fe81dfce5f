//! Received data beyond the first gap: disjoint byte ranges in order, each with the number of its last arrival.
//!
//! The buffer is empty while there is no gap.

use crate::MAX_BLOCKS;

/// Byte ranges at a receiver that wait for missing data before them.
#[derive(Clone, Debug, Default)]
pub(super) struct ReorderBuffer {
    ranges: Vec<Range>,
    bytes: u64,
    arrivals: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    start: u64,
    end: u64,
    /// Serial number of the last segment that arrived in the range.
    arrival: u64,
}

impl ReorderBuffer {
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
    /// Number of bytes that wait for missing data before them.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
    /// Adds `start..end`, and returns true if any byte of it is new. PRECONDITION: `start < end`.
    pub fn insert(&mut self, start: u64, end: u64) -> bool {
        self.arrivals += 1;
        let arrival = self.arrivals;
        // The ranges from `lo` until `hi` touch or overlap the new one, and merge with it: stored ranges never touch.
        let lo = self.ranges.partition_point(|r| r.end < start);
        let hi = self.ranges.partition_point(|r| r.start <= end);
        if lo == hi {
            self.ranges.insert(lo, Range { start, end, arrival });
            self.bytes += end - start;
            return true;
        }
        let there: u64 = self.ranges[lo..hi].iter().map(Range::len).sum();
        let merged = Range { start: start.min(self.ranges[lo].start), end: end.max(self.ranges[hi - 1].end), arrival };
        self.ranges.drain(lo + 1..hi);
        self.ranges[lo] = merged;
        self.bytes = self.bytes - there + merged.len();
        merged.len() > there
    }
    /// Returns the first contiguous bytes of `start..end` that have arrived before.
    pub fn overlap(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let first = self.ranges.get(self.ranges.partition_point(|r| r.end <= start))?;
        (first.start < end).then(|| (first.start.max(start), first.end.min(end)))
    }
    /// Removes the ranges that touch `next`, before which everything has arrived, and returns their end.
    pub fn take_from(&mut self, next: u64) -> u64 {
        let reached = self.ranges.partition_point(|r| r.start <= next);
        let mut far = next;
        for range in self.ranges.drain(..reached) {
            self.bytes -= range.len();
            far = far.max(range.end);
        }
        far
    }
    /// Fills `blocks` with ranges modulo 2³², that of the last arrival first (RFC 2018 §4), and returns their number.
    /// PRECONDITION: `blocks` has at most [`MAX_BLOCKS`] entries.
    pub fn latest(&self, blocks: &mut [(u32, u32)]) -> usize {
        let (mut arrivals, mut n) = ([0; MAX_BLOCKS], 0);
        for range in &self.ranges {
            let at = arrivals[..n].iter().position(|a| *a < range.arrival).unwrap_or(n);
            if at < blocks.len() {
                n = (n + 1).min(blocks.len());
                arrivals[at..n].rotate_right(1);
                blocks[at..n].rotate_right(1);
                arrivals[at] = range.arrival;
                blocks[at] = (range.start as u32, range.end as u32);
            }
        }
        n
    }
}

impl Range {
    fn len(&self) -> u64 {
        self.end - self.start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(r: &ReorderBuffer) -> Vec<(u64, u64)> {
        r.ranges.iter().map(|r| (r.start, r.end)).collect()
    }

    #[test]
    fn touching_ranges_merge_and_old_bytes_are_not_new() {
        let mut r = ReorderBuffer::default();
        assert!(r.insert(10, 20) && r.insert(30, 40) && r.insert(50, 60));
        assert!(!r.insert(12, 20) && !r.insert(30, 40));
        assert!(r.insert(20, 30));
        assert_eq!(all(&r), [(10, 40), (50, 60)]);
        assert!(r.insert(35, 70));
        assert_eq!(all(&r), [(10, 70)]);
        assert_eq!((r.bytes(), r.take_from(9)), (60, 9));
        assert_eq!(r.take_from(10), 70);
        assert!(r.is_empty());
    }

    #[test]
    fn take_from_stops_at_next_gap() {
        let mut r = ReorderBuffer::default();
        assert!(r.insert(50, 60) && r.insert(10, 20) && r.insert(30, 40));
        assert_eq!(r.take_from(15), 20);
        assert_eq!(r.take_from(35), 40);
        assert_eq!(r.bytes(), 10);
    }

    #[test]
    fn overlap_is_first_contiguous_part_that_arrived_before() {
        let mut r = ReorderBuffer::default();
        assert!(r.insert(10, 20) && r.insert(30, 40));
        assert_eq!([r.overlap(0, 10), r.overlap(20, 30), r.overlap(40, 90)], [None; 3]);
        assert_eq!((r.overlap(5, 15), r.overlap(12, 14)), (Some((10, 15)), Some((12, 14))));
        assert_eq!(r.overlap(15, 50), Some((15, 20)));
    }

    #[test]
    fn latest_lists_ranges_from_last_arrival_to_first() {
        let mut r = ReorderBuffer::default();
        for start in [50, 10, 90, 30, 70] {
            r.insert(start, start + 5);
        }
        let mut blocks = [(0, 0); MAX_BLOCKS];
        assert_eq!(r.latest(&mut blocks), 4);
        assert_eq!(blocks.map(|b| b.0), [70, 30, 90, 10]);
        r.insert(50, 55);
        assert_eq!((r.latest(&mut blocks[..3]), blocks.map(|b| b.0)), (3, [50, 70, 30, 10]));
        r.insert(15, 30);
        assert_eq!((r.latest(&mut blocks), blocks), (4, [(10, 35), (50, 55), (70, 75), (90, 95)]));
        assert_eq!((r.take_from(60), r.latest(&mut blocks), blocks[0]), (60, 2, (70, 75)));
        assert_eq!((r.bytes(), r.latest(&mut [])), (10, 0));
    }
}
