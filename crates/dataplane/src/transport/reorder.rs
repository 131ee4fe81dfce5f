//! What has arrived beyond the first gap: disjoint ranges in order; nothing while there is no gap.

/// Ranges of bytes that wait for what is missing before them.
#[derive(Clone, Debug, Default)]
pub(super) struct Reorder {
    ranges: Vec<(u64, u64)>,
}

impl Reorder {
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
    /// Bytes that wait.
    pub fn bytes(&self) -> u64 {
        self.ranges.iter().map(|(start, end)| end - start).sum()
    }
    /// Adds `start..end`; whether any byte of it is new. PRECONDITION: `start < end`.
    pub fn insert(&mut self, start: u64, end: u64) -> bool {
        // The ranges from `lo` until `hi` touch or overlap the new one.
        let lo = self.ranges.partition_point(|r| r.1 < start);
        let hi = self.ranges.partition_point(|r| r.0 <= end);
        if lo == hi {
            self.ranges.insert(lo, (start, end));
            return true;
        }
        if hi - lo == 1 && self.ranges[lo].0 <= start && end <= self.ranges[lo].1 {
            return false;
        }
        let merged = (start.min(self.ranges[lo].0), end.max(self.ranges[hi - 1].1));
        self.ranges.drain(lo + 1..hi);
        self.ranges[lo] = merged;
        true
    }
    /// Everything before `next` is there: takes out what that reaches, and how far it then goes.
    pub fn take_from(&mut self, next: u64) -> u64 {
        let reached = self.ranges.partition_point(|r| r.0 <= next);
        self.ranges.drain(..reached).fold(next, |far, (_, end)| far.max(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_become_one_and_old_bytes_are_not_new() {
        let mut r = Reorder::default();
        assert!(r.insert(10, 20) && r.insert(30, 40) && r.insert(50, 60));
        assert!(!r.insert(12, 20) && !r.insert(30, 40));
        assert!(r.insert(20, 30));
        assert_eq!(r.ranges, [(10, 40), (50, 60)]);
        assert!(r.insert(35, 70));
        assert_eq!(r.ranges, [(10, 70)]);
        assert_eq!((r.bytes(), r.take_from(9)), (60, 9));
        assert_eq!(r.take_from(10), 70);
        assert!(r.is_empty());
    }

    #[test]
    fn a_gap_is_taken_only_as_far_as_it_is_filled() {
        let mut r = Reorder::default();
        assert!(r.insert(50, 60) && r.insert(10, 20) && r.insert(30, 40));
        assert_eq!(r.take_from(15), 20);
        assert_eq!(r.take_from(35), 40);
        assert_eq!(r.bytes(), 10);
    }
}
