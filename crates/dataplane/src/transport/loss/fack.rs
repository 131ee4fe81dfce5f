//! Losses as Linux 2.6.38 finds them: by forward acknowledgements (FACK; Mathis and Mahdavi, SIGCOMM 1996), or once
//! reordering is known by the number of reports (RFC 3517), and retransmissions by what was sent after them.

use super::rack_tlp::RackTlp;
use super::segments::Tags;
use units::Time;

impl RackTlp {
    /// Returns true if forward acknowledgements say what is lost.
    pub fn uses_fack(&self, is_on: bool) -> bool {
        is_on && !self.fack.is_off
    }
    /// Number of segments up to the highest reported one (`fackets_out`).
    pub fn fackets(&self, una: u64) -> u32 {
        self.segments.index_from(self.highest_report(una)) as u32
    }
    /// Segments reported, or without SACK assumed to be delivered (`sacked_out`).
    pub fn delivered_beyond(&self) -> u32 {
        self.segments.reports() + self.segments.assumed()
    }
    /// Marks the first so many segments as lost that end at or before `high` (`tcp_mark_head_lost` with FACK).
    pub fn lose_head(&mut self, segments: u32, high: u64) {
        for i in 0..self.segments.len().min(segments as usize) {
            if self.segments.get(i).is_none_or(|s| s.end > high) {
                return;
            }
            self.segments.mark_lost(i);
        }
    }
    /// Marks segments below the one after so many reported ones as lost (`tcp_mark_head_lost` without FACK).
    pub fn lose_below_reports(&mut self, reports: u32, high: u64) {
        let mut seen = 0;
        for i in 0..self.segments.len() {
            let Some(s) = self.segments.get(i).copied().filter(|s| s.end <= high) else { return };
            seen += u32::from(s.tags.has(Tags::REPORTED));
            if seen > reports {
                return;
            }
            self.segments.mark_lost(i);
        }
    }
    /// Marks the first segments as lost as long as they are overdue (`tcp_timeout_skbs`).
    pub fn lose_overdue(&mut self, is_overdue: impl Fn(Time) -> bool) {
        for i in 0..self.segments.len() {
            if !self.segments.get(i).is_some_and(|s| is_overdue(s.at)) {
                return;
            }
            self.segments.mark_lost(i);
        }
    }
    /// Marks retransmissions as lost that were sent before something reported was (`tcp_mark_lost_retrans`).
    pub(super) fn lose_retransmissions(&mut self, una: u64) {
        if self.segments.again() == 0 {
            return;
        }
        let reported = self.highest_report(una);
        for i in 0..self.segments.len() {
            let Some(s) = self.segments.get(i).copied().filter(|s| s.tags.has(Tags::AGAIN)) else { continue };
            // The stamp is the low half of SND.NXT when the segment was sent again.
            if (reported as u32).wrapping_sub(s.stamp) as i32 > 0 {
                self.segments.settle_again(i);
                self.segments.mark_lost(i);
            }
        }
    }
    /// First segment below the highest report that is neither reported, lost nor sent again.
    pub fn next_hole(&self, una: u64) -> Option<usize> {
        let below = self.highest_report(una);
        let is_hole = |i: &usize| {
            self.segments.get(*i).is_some_and(|s| {
                s.start < below && !s.tags.has(Tags::REPORTED) && !s.tags.has(Tags::LOST) && !s.tags.has(Tags::AGAIN)
            })
        };
        (0..self.segments.len()).find(is_hole)
    }
    /// Marks everything as lost that is not reported (`tcp_enter_loss`). With `keeps_first` the retransmission of the first
    /// segment is still in flight (`tcp_enter_frto_loss`). Returns true if any other segment was ever sent again.
    pub fn lose_everything(&mut self, keeps_first: bool) -> bool {
        let mut was_repeated = false;
        for i in 0..self.segments.len() {
            let tags = self.segments.get(i).map(|s| s.tags).unwrap_or_default();
            if !(keeps_first && i == 0) {
                was_repeated |= tags.has(Tags::RETRANSMITTED);
                self.segments.settle_again(i);
            }
            self.segments.mark_lost(i);
        }
        was_repeated
    }
}
