//! Loss detection of Linux 2.6.38 by forward acknowledgements (FACK; Mathis and Mahdavi, SIGCOMM 1996).
//!
//! After reordering it counts SACKed segments (RFC 3517). A retransmission is lost if later data overtakes it.

use super::rack_tlp::RackTlp;
use super::segments::SegmentTags;
use units::Time;

impl RackTlp {
    /// Returns true if forward acknowledgements (FACK) are in use; `is_on` is the scenario's parameter `fack`.
    pub fn uses_fack(&self, is_on: bool) -> bool {
        is_on && !self.fack.is_off
    }
    /// Number of segments up to the highest SACKed one (`fackets_out`).
    pub fn fackets(&self, una: u64) -> u32 {
        self.segments.index_from(self.highest_sacked_end(una)) as u32
    }
    /// Number of SACKed segments, or without SACK of segments assumed to be delivered (`sacked_out`).
    pub fn delivered_beyond(&self) -> u32 {
        self.segments.sacked_segments() + self.segments.assumed_delivered()
    }
    /// Marks the first `segments` segments as lost, if they end at or before `high` (`tcp_mark_head_lost` with FACK).
    pub fn mark_head_lost(&mut self, segments: u32, high: u64) {
        for i in 0..self.segments.len().min(segments as usize) {
            if self.segments.get(i).is_none_or(|s| s.end > high) {
                return;
            }
            self.segments.mark_lost(i);
        }
    }
    /// Marks all segments before SACKed segment number `reports` + 1 as lost (`tcp_mark_head_lost` without FACK).
    pub fn mark_lost_below_sacks(&mut self, reports: u32, high: u64) {
        let mut seen = 0;
        for i in 0..self.segments.len() {
            let Some(s) = self.segments.get(i).copied().filter(|s| s.end <= high) else { return };
            seen += u32::from(s.tags.has(SegmentTags::SACKED));
            if seen > reports {
                return;
            }
            self.segments.mark_lost(i);
        }
    }
    /// Marks the first outstanding segments as lost, as far as they are overdue (`tcp_timeout_skbs`).
    pub fn mark_overdue_lost(&mut self, is_overdue: impl Fn(Time) -> bool) {
        for i in 0..self.segments.len() {
            if !self.segments.get(i).is_some_and(|s| is_overdue(s.at)) {
                return;
            }
            self.segments.mark_lost(i);
        }
    }
    /// Marks retransmissions as lost if data sent after them is SACKed (`tcp_mark_lost_retrans`).
    pub(super) fn mark_retransmissions_lost(&mut self, una: u64) {
        if self.segments.retransmitted_bytes() == 0 {
            return;
        }
        let reported = self.highest_sacked_end(una);
        for i in 0..self.segments.len() {
            let Some(s) = self.segments.get(i).copied().filter(|s| s.tags.has(SegmentTags::RETRANSMISSION_IN_FLIGHT))
            else {
                continue;
            };
            // The stamp is the low half of SND.NXT when the segment was sent again.
            if (reported as u32).wrapping_sub(s.stamp) as i32 > 0 {
                self.segments.clear_retransmission(i);
                self.segments.mark_lost(i);
            }
        }
    }
    /// Index of the first segment below the highest SACK that is neither SACKed, lost nor retransmitted.
    pub fn next_hole(&self, una: u64) -> Option<usize> {
        let below = self.highest_sacked_end(una);
        let is_hole = |i: &usize| {
            self.segments.get(*i).is_some_and(|s| {
                s.start < below
                    && !s.tags.has(SegmentTags::SACKED)
                    && !s.tags.has(SegmentTags::LOST)
                    && !s.tags.has(SegmentTags::RETRANSMISSION_IN_FLIGHT)
            })
        };
        (0..self.segments.len()).find(is_hole)
    }
    /// Marks all segments as lost that are not SACKed (`tcp_enter_loss`).
    /// With `keeps_first` the retransmission of the first segment stays in flight (`tcp_enter_frto_loss`).
    /// Returns true if any other segment was ever retransmitted.
    pub fn mark_everything_lost(&mut self, keeps_first: bool) -> bool {
        let mut was_repeated = false;
        for i in 0..self.segments.len() {
            let tags = self.segments.get(i).map(|s| s.tags).unwrap_or_default();
            if !(keeps_first && i == 0) {
                was_repeated |= tags.has(SegmentTags::RETRANSMITTED);
                self.segments.clear_retransmission(i);
            }
            self.segments.mark_lost(i);
        }
        was_repeated
    }
}
