//! SACK blocks that a Linux receiver reports: the four that grew last (`tcp_sack_new_ofo_skb`).
//!
//! A block that a fifth one pushes out is no longer reported. If more of it arrives, only that part is reported again.

use crate::MAX_BLOCKS;

/// SACK blocks of a Linux receiver: byte ranges beyond the first gap, the one that grew last first.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    list: [(u64, u64); MAX_BLOCKS],
    count: usize,
}

/// Returns true if two ranges touch or overlap.
fn touches(a: (u64, u64), b: (u64, u64)) -> bool {
    a.0 <= b.1 && b.0 <= a.1
}

impl Blocks {
    /// Adds the bytes of a segment beyond a gap to the SACK blocks, even if they had arrived before.
    pub fn add(&mut self, segment: (u64, u64)) {
        match self.list[..self.count].iter().position(|block| touches(*block, segment)) {
            Some(i) => {
                self.list[..=i].rotate_right(1);
                self.grow(segment);
                self.merge();
            }
            None => {
                self.count = (self.count + 1).min(MAX_BLOCKS);
                self.list[..self.count].rotate_right(1);
                self.list[0] = segment;
            }
        }
    }
    /// Extends the first SACK block so that it includes a range.
    fn grow(&mut self, by: (u64, u64)) {
        let first = &mut self.list[0];
        *first = (first.0.min(by.0), first.1.max(by.1));
    }
    /// Merges the SACK blocks that touch the first one into it.
    fn merge(&mut self) {
        let mut i = 1;
        while i < self.count {
            if touches(self.list[0], self.list[i]) {
                self.grow(self.list[i]);
                self.list[i..self.count].rotate_left(1);
                self.count -= 1;
            } else {
                i += 1;
            }
        }
    }
    /// Removes the SACK blocks that begin at or before `next`, since everything before it has arrived.
    pub fn advance(&mut self, next: u64) {
        let mut kept = 0;
        for i in 0..self.count {
            if self.list[i].0 > next {
                self.list[kept] = self.list[i];
                kept += 1;
            }
        }
        self.count = kept;
    }
    /// Returns all SACK blocks, the one that grew last first.
    pub fn latest(&self) -> &[(u64, u64)] {
        &self.list[..self.count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifth_block_replaces_oldest() {
        let mut blocks = Blocks::default();
        for start in [10, 20, 30, 40, 50] {
            blocks.add((start, start + 2));
        }
        assert_eq!(blocks.latest(), [(50, 52), (40, 42), (30, 32), (20, 22)]);
        blocks.add((12, 14));
        assert_eq!(blocks.latest(), [(12, 14), (50, 52), (40, 42), (30, 32)], "not what waits before it");
    }

    #[test]
    fn grown_block_comes_first_and_absorbs_neighbours() {
        let mut blocks = Blocks::default();
        for start in [10, 20, 30] {
            blocks.add((start, start + 2));
        }
        blocks.add((12, 20));
        assert_eq!(blocks.latest(), [(10, 22), (30, 32)]);
        blocks.advance(25);
        assert_eq!(blocks.latest(), [(30, 32)]);
    }
}
