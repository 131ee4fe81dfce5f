//! Processing of SACK blocks and cumulative ACKs as in Linux 6.18, and the degree of reordering.
//!
//! The code follows `tcp_sacktag_write_queue` and `tcp_clean_rtx_queue`. The sender of Linux 2.6.38 uses it too, with
//! rules of its own (`SackRules`).
//!
//! Blocks are processed in the order of their bytes. A block that covers only a part of a segment does not count for
//! it. A DSACK counts as delivered. A sender without SACK assumes that each duplicate ACK stands for a delivered
//! segment.

use super::rack_tlp::{AckInput, AckOutcome, Phase, RackTlp};
use super::segments::{SegmentTags, SentSegment};
use crate::transport::kernel::SackRules;
use crate::transport::{clock, unwrap_offset};
use core::ops::Range;

/// Largest number of SACK blocks in an ACK.
const MAX_BLOCKS: usize = 4;

/// Walk over the segments that the SACK blocks of one ACK cover.
struct BlockWalk<'a> {
    of: &'a AckInput<'a>,
    outcome: &'a mut AckOutcome,
    /// Highest cumulative ACK, of this ACK or an earlier one.
    una: u64,
    /// First byte of the lowest segment that shows reordering.
    low: u64,
    duplicate: Option<Range<u64>>,
    /// End of the SACKed segments that have merged with a newly SACKed one before them.
    merged: u64,
}

impl RackTlp {
    /// Processes the SACK blocks and the acknowledgement number of an ACK, as Linux does.
    pub fn process_ack_as_linux(&mut self, of: &AckInput, has_sack: bool) -> AckOutcome {
        let mut outcome = AckOutcome::default();
        self.counts.newest = None;
        let fack = self.highest_sacked_end(of.una);
        if has_sack && !of.blocks.is_empty() {
            self.process_blocks(of, &mut outcome);
        }
        outcome.by_blocks = outcome.segments;
        if of.ack > of.una {
            self.acknowledge(of, fack, has_sack, &mut outcome);
            self.segments.forget_if_reneged();
        }
        let (since, mss) = (|at| of.now.since(at), u64::from(of.mss));
        outcome.rtt =
            outcome.acked_at.map(|at| at.0).filter(|_| !outcome.again_acked).or(outcome.reported_at).map(since);
        let last = outcome.last_reported_at.or(outcome.acked_at.map(|at| at.1).filter(|_| !outcome.again_acked));
        outcome.last_rtt = last.map(since);
        outcome.least_rtt = outcome.last_rtt;
        outcome.delivered = u64::from(outcome.segments) * mss;
        self.count_delivered(outcome.segments);
        outcome
    }

    /// End of the highest SACKed segment (`tcp_highest_sack_seq`); `una` if no segment is SACKed.
    pub fn highest_sacked_end(&self, una: u64) -> u64 {
        if self.segments.sacked_bytes() == 0 { una } else { self.rack.fack() }
    }

    fn process_blocks(&mut self, of: &AckInput, outcome: &mut AckOutcome) {
        let una = of.una.max(of.ack);
        let read = |block: &(u32, u32)| Some(unwrap_offset(block.0, of.ack)?..unwrap_offset(block.1, of.ack)?);
        let first = of.blocks.first().and_then(read).filter(|_| of.duplicate);
        let duplicate = first.filter(|range| self.process_dsack(range, of, outcome));
        let mut blocks: [(Range<u64>, bool); MAX_BLOCKS] = Default::default();
        let mut n = 0;
        for (i, block) in of.blocks.iter().take(MAX_BLOCKS).enumerate() {
            let Some(range) = read(block).filter(|b| b.start < b.end && b.end <= of.sent) else { continue };
            let is_duplicate = i == 0 && duplicate.is_some();
            // A DSACK of acknowledged data counts only towards an undo.
            let counts_below = is_duplicate
                && of.rules.counts_acked_duplicates
                && self.undo.is_open()
                && range.end <= una
                && range.end > of.una;
            if range.start > una || counts_below {
                blocks[n] = (range, is_duplicate);
                n += 1;
            }
        }
        blocks[..n].sort_by_key(|(block, _)| block.start);
        outcome.highest_block = blocks[..n].iter().map(|(block, _)| block.end).max().unwrap_or_default();
        let mut walk = BlockWalk { of, outcome, una, low: of.sent, duplicate, merged: 0 };
        for (block, is_duplicate) in &blocks[..n] {
            // A DSACK inside the previous block has been processed with it.
            if *is_duplicate && walk.duplicate.is_none() {
                continue;
            }
            let holds = walk.duplicate.as_ref().is_some_and(|d| block.start <= d.start && d.end <= block.end);
            self.walk_block(block, &mut walk);
            if holds {
                walk.duplicate = None;
            }
        }
        let low = walk.low;
        if self.phase == Phase::Recovery && self.uses_fack(of.rules.fack) {
            self.mark_retransmissions_lost(una);
        }
        let is_asked = self.fack.highmark > 0 && una <= self.fack.highmark;
        if (!matches!(self.phase, Phase::Loss { .. }) || self.undo.is_open()) && !is_asked {
            self.record_reordering(low, una, (of.mss, of.rules.most_reordering));
        }
    }

    /// Processes a DSACK, and returns true if it counts as delivered segments.
    /// If there are more DSACKs than retransmissions, the network itself duplicates packets.
    fn process_dsack(&mut self, range: &Range<u64>, of: &AckInput, outcome: &mut AckOutcome) -> bool {
        let mss = u64::from(of.mss);
        let Some(len) = range.end.checked_sub(range.start).filter(|len| *len > 0) else { return false };
        let segments = len.div_ceil(mss) as u32;
        outcome.probe_twice = len <= mss && self.tlp.is_probe_end(range.end);
        self.counts.duplicates += segments;
        if self.counts.duplicates > of.retransmissions && !of.rules.trusts_duplicates {
            return false;
        }
        self.counts.widens |= self.rack.has_reordered() && !outcome.probe_twice;
        self.dsacks += 1;
        outcome.duplicate = true;
        outcome.segments += segments;
        if range.end <= of.una {
            self.undo.on_dsack(if of.rules.trusts_duplicates { 1 } else { segments }, range.end);
        }
        true
    }

    fn walk_block(&mut self, block: &Range<u64>, walk: &mut BlockWalk) {
        let mut i = self.segments.index_from(block.start);
        while let Some(s) = self.segments.get(i).copied().filter(|s| s.end <= block.end) {
            let is_twice = walk.duplicate.as_ref().is_some_and(|d| d.start <= s.start && s.end <= d.end);
            let is_twice = is_twice && s.start >= walk.merged;
            if walk.of.rules.merges && self.segments.continues_sacked_run(i) {
                walk.merged = self.segments.end_of_sacked_run(i + 1).unwrap_or(walk.merged);
            }
            self.sack_segment(i, &s, is_twice, walk);
            i += 1;
        }
    }

    /// Processes a segment that a SACK block covers; `is_twice` is true if the receiver reports it as a duplicate.
    fn sack_segment(&mut self, i: usize, s: &SentSegment, is_twice: bool, walk: &mut BlockWalk) {
        let is_reported = s.tags.has(SegmentTags::SACKED);
        if is_twice && s.tags.has(SegmentTags::RETRANSMITTED) {
            self.undo.on_dsack(1, s.end);
            if is_reported {
                walk.low = walk.low.min(s.start);
            }
        }
        if s.end <= walk.una {
            return;
        }
        if !is_reported {
            self.rack.on_arrived(s, walk.of.now, true);
            if !s.tags.has(SegmentTags::RETRANSMITTED) {
                if s.start < self.highest_sacked_end(walk.una) {
                    walk.low = walk.low.min(s.start);
                }
                walk.outcome.original |= s.end <= walk.of.recover;
                walk.outcome.original_reported |= s.end <= self.fack.highmark;
                walk.outcome.reported_at = walk.outcome.reported_at.or(Some(s.at));
                walk.outcome.last_reported_at = Some(s.at);
            }
            let fack = self.highest_sacked_end(walk.una).max(s.end);
            self.segments.mark_sacked(i);
            self.rack.set_fack(fack);
            walk.outcome.reported = true;
            walk.outcome.segments += 1;
            self.record_newest(s);
        }
        if is_twice {
            self.segments.clear_retransmission(i);
        }
    }

    /// Removes the segments that an ACK acknowledges cumulatively, and adds them to its outcome.
    fn acknowledge(&mut self, of: &AckInput, fack: u64, has_sack: bool, outcome: &mut AckOutcome) {
        let (mut low, before) = (of.sent, self.highest_sacked_end(of.una));
        while let Some(s) = self.segments.pop_before(of.ack) {
            outcome.acked += 1;
            let is_again = s.tags.has(SegmentTags::RETRANSMITTED);
            outcome.again_acked |= is_again;
            outcome.later_again_acked |= is_again && outcome.acked > 1;
            if s.tags.has(SegmentTags::SACKED) {
                continue;
            }
            if !is_again {
                let first = outcome.acked_at.map_or(s.at, |at| at.0);
                outcome.acked_at = Some((first, s.at));
                low = low.min(s.start);
                outcome.original |= s.end <= of.recover;
            }
            if has_sack {
                outcome.segments += 1;
                let is_older = |(echo, tick)| clock::is_older(echo, clock::tsval_with_tick(s.at, tick));
                if !is_again || !of.echo.is_some_and(is_older) {
                    self.rack.on_arrived(&s, of.now, true);
                }
            }
            self.record_newest(&s);
        }
        self.segments.trim_first(of.ack);
        if outcome.acked > 0 && !has_sack {
            outcome.segments += self.settle_assumed_delivered(outcome.acked, of);
            outcome.original &= !outcome.again_acked;
        }
        if outcome.acked > 0 && has_sack && low < fack {
            let highest = if of.rules.measures_before_ack { before } else { self.highest_sacked_end(of.ack) };
            self.record_reordering_below(low, highest, (of.mss, of.rules.most_reordering));
        }
    }

    fn record_newest(&mut self, s: &SentSegment) {
        if self.counts.newest.is_none_or(|(at, end, _)| (s.at, s.end) > (at, end)) {
            self.counts.newest = Some((s.at, s.end, s.stamp));
        }
    }

    /// Updates the degree of reordering: the segment at `low` came after those above it (`tcp_check_sack_reordering`).
    pub fn record_reordering(&mut self, low: u64, una: u64, (mss, most): (u32, u32)) {
        self.record_reordering_below(low, self.highest_sacked_end(una), (mss, most));
    }
    /// Updates the degree of reordering, at most `most` segments: the one at `low` came after data up to `highest`.
    fn record_reordering_below(&mut self, low: u64, highest: u64, (mss, most): (u32, u32)) {
        let Some(metric) = highest.checked_sub(low).filter(|metric| *metric > 0) else { return };
        let degree = metric.div_ceil(u64::from(mss)) as u32;
        if metric > u64::from(self.counts.degree) * u64::from(mss) {
            self.counts.degree = degree.min(most);
        }
        self.rack.note_reordered();
    }

    /// Sets the degree of reordering to `segments`, at most `most`, if that is above `least`.
    pub fn raise_reordering_degree(&mut self, segments: u32, least: u32, most: u32) {
        if segments > least {
            self.counts.degree = segments.min(most);
        }
    }
    /// Degree of reordering, at least `threshold` (DupThresh); `u32::MAX` if that is off.
    pub fn reordering_degree(&self, threshold: Option<u32>) -> u32 {
        self.counts.degree.max(threshold.unwrap_or(u32::MAX))
    }
    /// Forgets the degree of reordering, after a timeout with DupThresh SACKed segments has shown it to be less.
    pub fn reset_reordering_degree(&mut self) {
        self.counts.degree = 0;
    }
    /// Adds to the number of delivered segments, which Linux senders keep.
    pub fn count_delivered(&mut self, segments: u32) {
        self.counts.delivered = self.counts.delivered.wrapping_add(segments);
    }

    /// Updates the reordering window after an ACK (`tcp_rack_update_reo_wnd`). A DSACK widens it once per round trip.
    pub fn update_window(&mut self) {
        let Some((_, _, delivered)) = self.counts.newest else { return };
        if (delivered.wrapping_sub(self.counts.widened) as i32) < 0 {
            self.counts.widens = false;
        }
        let widens = core::mem::take(&mut self.counts.widens);
        if widens {
            self.counts.widened = self.counts.delivered_stamp();
        }
        self.rack.update_window(widens);
    }

    /// Counts a duplicate ACK without SACK as a delivered segment, and returns the number of segments that this adds.
    pub fn assume_delivered(&mut self, mss: u32, rules: &SackRules) -> u32 {
        let before = self.segments.assumed_delivered();
        self.segments.set_assumed_delivered(before + 1, mss);
        self.limit_assumed_delivered(0, mss, rules);
        self.segments.assumed_delivered().saturating_sub(before)
    }
    /// Removes acknowledged segments from those assumed to be delivered, and returns how many were not among them.
    fn settle_assumed_delivered(&mut self, acked: u32, of: &AckInput) -> u32 {
        let mss = of.mss;
        let assumed = self.segments.assumed_delivered();
        let more = acked.saturating_sub(assumed).max(1);
        self.segments.set_assumed_delivered(assumed.saturating_sub(acked - 1), mss);
        self.limit_assumed_delivered(acked, mss, &of.rules);
        more
    }
    fn limit_assumed_delivered(&mut self, acked: u32, mss: u32, rules: &SackRules) {
        let out = self.segments.len() as u32;
        let holes = (self.segments.lost().div_ceil(u64::from(mss)) as u32).max(1).min(out);
        if self.segments.assumed_delivered() + holes > out {
            self.segments.set_assumed_delivered(out - holes, mss);
            let least = if rules.keeps_largest_degree { self.counts.degree } else { 0 };
            self.counts.degree = (out + acked).min(rules.most_reordering).max(least);
            self.rack.note_reordered();
        }
    }
    /// Resets the number of segments assumed to be delivered because of duplicate ACKs.
    pub fn reset_assumed_delivered(&mut self) {
        self.segments.set_assumed_delivered(0, 1);
    }
    /// Marks the first segment as lost if duplicate ACKs or a partial ACK show it, without SACK
    /// (`tcp_newreno_mark_lost`). Returns its bytes; 0 if it is not marked.
    pub fn mark_first_lost(&mut self, advanced: bool, threshold: Option<u32>) -> u64 {
        let is_shown =
            self.phase < Phase::Recovery && self.segments.assumed_delivered() >= self.reordering_degree(threshold);
        let is_partial = self.phase == Phase::Recovery && advanced;
        match self.segments.first().copied() {
            Some(s) if (is_shown || is_partial) && !s.tags.has(SegmentTags::LOST) => {
                self.segments.mark_lost_again(0);
                s.len()
            }
            _ => 0,
        }
    }
}
