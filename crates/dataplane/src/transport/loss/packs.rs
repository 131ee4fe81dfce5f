//! Losses that a sender learns from PACKs (Cut Payload §4.3, §4.4), or by counting SACKs if headers or PACKs are lost.
//!
//! CP §4.4 has four states of a segment. "Received" is SACKed here, "lost" is lost and not sent again, "retransmitted"
//! is sent again, and "out-of-order" is any other segment in flight.

use super::is_lost_params::IsLostParams;
use super::rack::DetectedLosses;
use super::rack_tlp::{AckOutcome, RackTlp};
use super::segments::SegmentTags;
use crate::transport::unwrap_offset;
use crate::{MAX_BLOCKS, PacketExtension};
use core::ops::Range;
use units::Time;

/// SACK blocks of an ACK or PACK, separated into lost and received ranges.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::transport) struct PackBlocks {
    all: [(u32, u32); MAX_BLOCKS],
    lost: usize,
    end: usize,
}

impl PackBlocks {
    /// Returns the SACK blocks of a packet. Swapped edges report a lost range (Cut Payload §4.3, Fig. 4).
    pub fn from_ext(ext: &PacketExtension) -> PackBlocks {
        let given = &ext.sack[..usize::from(ext.blocks).min(MAX_BLOCKS)];
        let is_lost = |block: &&(u32, u32)| (block.1.wrapping_sub(block.0) as i32) < 0;
        let mut blocks = PackBlocks { end: given.len(), ..PackBlocks::default() };
        blocks.lost = given.iter().filter(is_lost).count();
        let received = given.iter().filter(|block| !is_lost(block));
        let sorted = given.iter().filter(is_lost).chain(received);
        blocks.all.iter_mut().zip(sorted).for_each(|(to, from)| *to = *from);
        blocks
    }
    /// Returns the blocks of lost ranges, each with its right edge first.
    pub fn lost_blocks(&self) -> &[(u32, u32)] {
        &self.all[..self.lost]
    }
    /// Returns the blocks of received ranges, which are usual SACK blocks.
    pub fn received_blocks(&self) -> &[(u32, u32)] {
        &self.all[self.lost..self.end]
    }
}

impl RackTlp {
    /// Marks the ranges beyond `una` that a PACK reports as lost (Cut Payload §4.4 steps 1 and 2).
    /// The first range is news. The others repeat earlier PACKs, and do not tell which sending was lost. So they count
    /// only for segments that were never sent again.
    pub fn on_pack(&mut self, blocks: &PackBlocks, ack: u64, (una, now): (u64, Time), outcome: &mut AckOutcome) {
        self.packs += 1;
        for (i, block) in blocks.lost_blocks().iter().enumerate() {
            let (Some(start), Some(end)) = (unwrap_offset(block.1, ack), unwrap_offset(block.0, ack)) else { continue };
            self.mark_range_lost(start.max(una)..end, i == 0, now, outcome);
        }
    }
    /// Marks a range of bytes as lost; `again` is true if the loss may be that of a retransmission.
    pub fn mark_range_lost(&mut self, range: Range<u64>, again: bool, now: Time, outcome: &mut AckOutcome) {
        self.segments.mark_range_lost(range, again, |s| {
            outcome.packed += s.len();
            // The trimmed packet's header has made the round trip, so the segment's age is a sample, unless the segment
            // was sent again (Karn's rule: RFC 6298 §3).
            if !s.tags.has(SegmentTags::RETRANSMITTED) {
                outcome.packed_rtt = Some(now.since(s.at));
            }
        });
    }
    /// Marks segments as lost by counting SACKs (IsLost(), RFC 6675 §4), except those marked as lost before.
    pub fn detect_losses_by_count(&mut self, reach: IsLostParams) -> DetectedLosses {
        let mut found = DetectedLosses::default();
        let below = self.segments.lost_below(reach);
        for i in 0..self.segments.len() {
            let Some(s) = self.segments.get(i).copied().filter(|s| s.start < below) else { break };
            if !s.tags.has(SegmentTags::SACKED) && !s.tags.has(SegmentTags::LOST) && self.segments.mark_lost_again(i) {
                found.lost += s.len();
            }
        }
        found
    }
    /// Marks all segments as lost that are not SACKed (RFC 6675 §5.1).
    pub fn mark_unsacked_lost(&mut self) {
        (0..self.segments.len()).for_each(|i| self.segments.mark_wholly_lost(i));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapped_edges_report_lost_range_even_across_wraparound() {
        let mut ext = PacketExtension { blocks: 3, ..PacketExtension::default() };
        ext.sack[..3].copy_from_slice(&[(500, u32::MAX - 499), (3000, 4000), (900, 500)]);
        let blocks = PackBlocks::from_ext(&ext);
        assert_eq!(blocks.lost_blocks(), [(500, u32::MAX - 499), (900, 500)]);
        assert_eq!(blocks.received_blocks(), [(3000, 4000)]);
    }
}
