//! RACK: a segment is lost if another one, sent long enough after it, has arrived (RFC 8985 §6).
//!
//! The least round-trip time is that of the whole flow; Linux takes that of the last five minutes. Section references
//! are to RFC 8985.

use super::segments::{SegmentTags, Segments, SentSegment};
use units::{Dur, Time};

/// Parameters of RACK's reordering window (RFC 8985 §6.2 step 4).
#[derive(Clone, Copy, Debug)]
pub(in crate::transport) struct ReorderingWindowParams {
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Dur,
    /// DupThresh; `None` while it is off.
    pub threshold: Option<u32>,
    /// True during fast recovery, or recovery after a timeout.
    pub in_recovery: bool,
    /// True if segments that are found lost are not examined until they are sent again, as in Linux.
    pub excludes_found_losses: bool,
}

/// State of RACK: the last-sent segment that has arrived, and the reordering window (RFC 8985 §5.3).
#[derive(Clone, Debug)]
pub(in crate::transport) struct Rack {
    /// RACK.xmit_ts and RACK.end_seq: of all segments that have arrived, the one sent last.
    at: Time,
    end: u64,
    /// RACK.rtt: round-trip time of the segment that arrived last.
    rtt: Dur,
    /// RACK.min_RTT; the largest duration before the first sample.
    min_rtt: Dur,
    /// RACK.fack: one past the highest byte that has arrived.
    fack: u64,
    /// RACK.dsack_round: end of the round trip in which a DSACK last widened the window; `None` before.
    dsack_round: Option<u64>,
    /// RACK.reo_wnd_mult: width of the reordering window in quarters of the minimum round-trip time.
    /// RACK.reo_wnd_persist is the number of recoveries for which that width lasts.
    steps: u32,
    persist: u32,
    /// RACK.reordering_seen: true once a segment has arrived out of order.
    reordered: bool,
    /// True if a segment has arrived since the last search for losses.
    advanced: bool,
}

impl Default for Rack {
    fn default() -> Rack {
        Rack {
            at: Time::ZERO,
            end: 0,
            rtt: Dur::ZERO,
            min_rtt: Dur(u64::MAX),
            fack: 0,
            dsack_round: None,
            steps: 1,
            persist: 0,
            reordered: false,
            advanced: false,
        }
    }
}

/// Number of recoveries without a DSACK after which the reordering window is narrow again (RFC 8985 §6.2 step 4).
const RECOVERIES_UNTIL_RESET: u32 = 16;

/// Returns RACK_sent_after(): true if segment `a` left after `b`; their bytes decide if both left at one instant.
fn sent_after(a: (Time, u64), b: (Time, u64)) -> bool {
    a > b
}

impl Rack {
    /// RACK.min_RTT: minimum round-trip time.
    pub fn min_rtt(&self) -> Dur {
        self.min_rtt
    }
    /// Sets RACK.rtt to the round-trip time of the handshake, whose SYN Linux counts as a segment.
    pub fn on_handshake(&mut self, rtt: Dur) {
        self.rtt = rtt;
    }
    /// Updates RACK.min_RTT with a round-trip sample (RFC 8985 §6.2 step 1).
    pub fn sample(&mut self, rtt: Dur) {
        self.min_rtt = self.min_rtt.min(rtt);
    }
    /// Updates RACK for a segment that has arrived (RFC 8985 §6.2 step 2).
    /// If it was sent more than once, the ACK must be of the last sending: it is at least a round trip old, and `late`
    /// is true, which means that no timestamp shows an earlier one.
    pub fn on_arrived(&mut self, s: &SentSegment, now: Time, late: bool) {
        let rtt = now.since(s.at);
        if s.tags.has(SegmentTags::RETRANSMITTED) && (!late || rtt < self.min_rtt) {
            return;
        }
        self.advanced = true;
        // Every arrival sets RACK.rtt (RFC 8985 §6.2 step 2). The RFC takes the segments of one ACK in the order of
        // their sending; Linux and this code take them in the order of the blocks.
        self.rtt = rtt;
        if sent_after((s.at, s.end), (self.at, self.end)) {
            (self.at, self.end) = (s.at, s.end);
        }
    }
    /// Detects reordering from a segment that has arrived: RACK_detect_reordering() (RFC 8985 §6.2 step 3).
    /// All segments known to have arrived before this ACK end at or below `fack`.
    pub fn detect_reordering(&mut self, s: &SentSegment, fack: u64) {
        self.reordered |= s.end < fack && !s.tags.has(SegmentTags::RETRANSMITTED);
        self.fack = self.fack.max(s.end);
    }
    pub fn fack(&self) -> u64 {
        self.fack
    }
    pub fn set_fack(&mut self, end: u64) {
        self.fack = end;
    }
    /// RACK.reordering_seen: returns true once a segment has arrived out of order.
    pub fn has_reordered(&self) -> bool {
        self.reordered
    }
    pub fn note_reordered(&mut self) {
        self.reordered = true;
    }
    /// Makes the next search for losses run even if no segment has arrived since the last one.
    pub fn force_search(&mut self) {
        self.advanced = true;
    }
    /// Returns true, once, if a segment has arrived since the last search for losses (`rack.advanced` in Linux).
    pub fn take_advance(&mut self) -> bool {
        core::mem::take(&mut self.advanced)
    }
    /// Updates RACK's reordering window after an ACK; a DSACK widens it (`tcp_rack_update_reo_wnd` in Linux).
    pub fn update_window(&mut self, widens: bool) {
        if widens {
            self.steps = (self.steps + 1).min(255);
            self.persist = RECOVERIES_UNTIL_RESET;
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }
    /// Counts a recovery toward the end of a wider reordering window; a spurious one (not `had_reason`) prolongs it.
    pub fn count_recovery(&mut self, had_reason: bool) {
        self.persist =
            if had_reason { self.persist.saturating_sub(1) } else { (self.persist + 1).min(RECOVERIES_UNTIL_RESET) };
    }
    /// Widens the reordering window after a DSACK that no probe explains, once per round trip (RFC 8985 §6.2 step 4).
    pub fn on_dsack(&mut self, una: u64, sent: u64) {
        if self.dsack_round.is_none_or(|end| una >= end) {
            self.dsack_round = Some(sent);
            self.steps = (self.steps + 1).min(255);
            self.persist = RECOVERIES_UNTIL_RESET;
        }
    }
    /// Counts an ended recovery, of which sixteen make the reordering window narrow again (RFC 8985 §6.2 step 4).
    pub fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.steps = 1;
        }
    }
    /// Returns RACK's reordering window: how long an overtaken segment may still arrive (RFC 8985 §6.2 step 4).
    fn reordering_window(&self, reports: u32, of: ReorderingWindowParams) -> Dur {
        let shown = of.threshold.is_some_and(|n| reports >= n);
        if !self.reordered && (of.in_recovery || shown) {
            return Dur::ZERO;
        }
        match self.min_rtt {
            Dur(u64::MAX) => of.srtt,
            least => Dur((least.0 / 4).saturating_mul(u64::from(self.steps))).min(of.srtt),
        }
    }
    /// Marks lost segments, and returns how long to wait for other overtaken ones.
    /// Implements RACK_detect_loss() (RFC 8985 §6.2 step 5).
    pub fn detect_losses(&self, segments: &mut Segments, now: Time, of: ReorderingWindowParams) -> DetectedLosses {
        let patience = self.rtt.saturating_add(self.reordering_window(segments.sacked_segments(), of));
        let mut found = DetectedLosses::default();
        for i in 0..segments.len() {
            let Some(s) = segments.get(i).copied() else { break };
            if s.tags.has(SegmentTags::SACKED) || s.tags.has(SegmentTags::EXCLUDED_FROM_SEARCH) {
                continue;
            }
            if !sent_after((self.at, self.end), (s.at, s.end)) {
                // Segments sent only once left in the order of their bytes, so none beyond this one was sent earlier.
                if s.start >= segments.sent_once_from() {
                    break;
                }
                continue;
            }
            let due = s.at.saturating_add(patience);
            if due > now {
                // A segment that is lost already needs no timer.
                if !s.tags.awaits_retransmission() {
                    found.wait = found.wait.max(due.since(now));
                }
            } else if segments.mark_lost_again(i) {
                if of.excludes_found_losses {
                    segments.exclude_from_search(i);
                }
                found.lost += s.len();
                found.again |= s.tags.has(SegmentTags::RETRANSMISSION_IN_FLIGHT);
            }
        }
        found
    }
    /// Marks the first segment and all older than a round trip as lost, without a reordering window, as in Linux.
    pub fn mark_old_lost(&self, segments: &mut Segments, now: Time) {
        for i in 0..segments.len() {
            let old = segments.get(i).is_some_and(|s| s.at.saturating_add(self.rtt) <= now);
            if i == 0 || old {
                segments.mark_lost_again(i);
            }
        }
    }
    /// Marks the first segment and all sent long enough ago as lost: RACK_mark_losses_on_RTO() (RFC 8985 §6.3).
    pub fn on_timeout(&self, segments: &mut Segments, now: Time, of: ReorderingWindowParams) {
        let patience = self.rtt.saturating_add(self.reordering_window(segments.sacked_segments(), of));
        for i in 0..segments.len() {
            let old = segments.get(i).is_some_and(|s| s.at.saturating_add(patience) <= now);
            if i == 0 || old {
                segments.mark_wholly_lost(i);
            }
        }
    }
}

/// Result of a search for lost segments.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::transport) struct DetectedLosses {
    /// Number of bytes that are newly lost.
    pub lost: u64,
    /// True if a retransmission is among the newly lost segments.
    pub again: bool,
    /// Time until more segments may be lost; zero if no other segment was overtaken.
    pub wait: Dur,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reordering_window_shrinks_after_16_recoveries_without_dsack() {
        let of = ReorderingWindowParams {
            srtt: Dur::ms(9),
            threshold: Some(3),
            in_recovery: false,
            excludes_found_losses: false,
        };
        let mut rack = Rack { min_rtt: Dur::us(400), ..Rack::default() };
        assert_eq!(rack.reordering_window(0, of), Dur::us(100));
        rack.on_dsack(0, 5000);
        rack.on_dsack(4999, 9000);
        assert_eq!(rack.reordering_window(0, of), Dur::us(200), "the second is of the same round trip");
        rack.on_dsack(5000, 9000);
        assert_eq!(rack.reordering_window(2, of), Dur::us(300));
        for _ in 0..15 {
            rack.on_recovered();
        }
        assert_eq!(rack.reordering_window(0, of), Dur::us(300));
        rack.on_recovered();
        assert_eq!(rack.reordering_window(0, of), Dur::us(100));
    }

    #[test]
    fn reordering_window_is_zero_in_recovery_or_after_dupthresh() {
        let of = ReorderingWindowParams {
            srtt: Dur::us(60),
            threshold: Some(3),
            in_recovery: false,
            excludes_found_losses: false,
        };
        let mut rack = Rack { min_rtt: Dur::us(400), ..Rack::default() };
        assert_eq!([rack.reordering_window(2, of), rack.reordering_window(3, of)], [Dur::us(60), Dur::ZERO]);
        assert_eq!(rack.reordering_window(0, ReorderingWindowParams { in_recovery: true, ..of }), Dur::ZERO);
        assert_eq!(rack.reordering_window(9, ReorderingWindowParams { threshold: None, ..of }), Dur::us(60));
        rack.reordered = true;
        assert_eq!(
            [
                rack.reordering_window(3, of),
                rack.reordering_window(0, ReorderingWindowParams { in_recovery: true, ..of })
            ],
            [Dur::us(60); 2]
        );
    }
}
