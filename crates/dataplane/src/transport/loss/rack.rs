//! RACK: what was sent long enough before something that has arrived is lost (RFC 8985 §6).
//!
//! The least round-trip time is that of the whole flow, where Linux takes that of the last five minutes.
//! Section references are to RFC 8985.

use super::segments::{Segments, Sent, Tags};
use units::{Dur, Time};

/// What DupThresh counts for the reordering window, and the rest that it depends on (§6.2 step 4).
#[derive(Clone, Copy, Debug)]
pub(in crate::transport) struct Settling {
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Dur,
    /// DupThresh; `None` while it is off.
    pub threshold: Option<u32>,
    /// Fast recovery or recovery after a timeout is under way.
    pub in_recovery: bool,
    /// True if segments that are found lost are set aside until they are sent again, as in Linux.
    pub sets_aside: bool,
}

/// The newest of what has arrived, and how long to wait for what was sent before it (§5.3).
#[derive(Clone, Debug)]
pub(in crate::transport) struct Rack {
    /// RACK.xmit_ts and RACK.end_seq: of all that has arrived, what was sent last.
    at: Time,
    end: u64,
    /// RACK.rtt.
    rtt: Dur,
    /// RACK.min_RTT; the longest there is before the first sample.
    min_rtt: Dur,
    /// RACK.fack: one past the highest byte that has arrived.
    fack: u64,
    /// RACK.dsack_round.
    dsack_round: Option<u64>,
    /// RACK.reo_wnd_mult and RACK.reo_wnd_persist.
    steps: u32,
    persist: u32,
    /// RACK.reordering_seen.
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

/// Recoveries without a report of duplicates after which the window is as at first (§6.2 step 4).
const PERSIST: u32 = 16;

/// RACK_sent_after(): bytes of one instant leave in their order.
fn sent_after(a: (Time, u64), b: (Time, u64)) -> bool {
    a > b
}

impl Rack {
    /// RACK.min_RTT.
    pub fn min_rtt(&self) -> Dur {
        self.min_rtt
    }
    /// The handshake took so long, which counts for a segment (Linux).
    pub fn begin(&mut self, rtt: Dur) {
        self.rtt = rtt;
    }
    /// A sample of the round-trip time (§6.2 step 1).
    pub fn sample(&mut self, rtt: Dur) {
        self.min_rtt = self.min_rtt.min(rtt);
    }
    /// A segment has arrived (§6.2 step 2). Of one that was sent more than once it is the last sending only
    /// where that was a round trip ago, and `late` says that its ACK is not of an earlier one.
    pub fn arrived(&mut self, s: &Sent, now: Time, late: bool) {
        let rtt = now.since(s.at);
        if s.tags.has(Tags::RETRANSMITTED) && (!late || rtt < self.min_rtt) {
            return;
        }
        self.advanced = true;
        // Of each that arrives (§6.2 step 2). The RFC takes what one ACK tells of in the order in which it was sent; here
        // it is the order of what is told, as in Linux.
        self.rtt = rtt;
        if sent_after((s.at, s.end), (self.at, self.end)) {
            (self.at, self.end) = (s.at, s.end);
        }
    }
    /// RACK_detect_reordering() for a segment that has arrived, where everything known to have arrived
    /// before this ACK lies below `fack` (§6.2 step 3).
    pub fn order(&mut self, s: &Sent, fack: u64) {
        self.reordered |= s.end < fack && !s.tags.has(Tags::RETRANSMITTED);
        self.fack = self.fack.max(s.end);
    }
    pub fn fack(&self) -> u64 {
        self.fack
    }
    pub fn set_fack(&mut self, end: u64) {
        self.fack = end;
    }
    /// RACK.reordering_seen.
    pub fn has_reordered(&self) -> bool {
        self.reordered
    }
    pub fn note_reordered(&mut self) {
        self.reordered = true;
    }
    /// Lets losses be looked for although nothing has arrived.
    pub fn look_again(&mut self) {
        self.advanced = true;
    }
    /// Returns true once after an arrival: losses are to be searched (Linux: `rack.advanced`).
    pub fn take_advance(&mut self) -> bool {
        core::mem::take(&mut self.advanced)
    }
    /// The window after an ACK, which a duplicate widens (Linux: `tcp_rack_update_reo_wnd`).
    pub fn update_window(&mut self, widens: bool) {
        if widens {
            self.steps = (self.steps + 1).min(255);
            self.persist = PERSIST;
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }
    /// A recovery is over, or duplicates have shown that it had no reason: how long a wider window lasts.
    pub fn count_recovery(&mut self, had_reason: bool) {
        self.persist = if had_reason { self.persist.saturating_sub(1) } else { (self.persist + 1).min(PERSIST) };
    }
    /// The ACK reports a duplicate that no probe explains: the window grows, once a round trip (§6.2 step 4).
    pub fn on_duplicate(&mut self, una: u64, sent: u64) {
        if self.dsack_round.is_none_or(|end| una >= end) {
            self.dsack_round = Some(sent);
            self.steps = (self.steps + 1).min(255);
            self.persist = PERSIST;
        }
    }
    /// A recovery is over (§6.2 step 4).
    pub fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.steps = 1;
        }
    }
    /// RACK_update_reo_wnd(): how long what was overtaken may take (§6.2 step 4).
    fn window(&self, reports: u32, of: Settling) -> Dur {
        let shown = of.threshold.is_some_and(|n| reports >= n);
        if !self.reordered && (of.in_recovery || shown) {
            return Dur::ZERO;
        }
        match self.min_rtt {
            Dur(u64::MAX) => of.srtt,
            least => Dur((least.0 / 4).saturating_mul(u64::from(self.steps))).min(of.srtt),
        }
    }
    /// RACK_detect_loss(): marks what is lost, and says how long to wait for the rest that was overtaken
    /// (§6.2 step 5). Whether anything was lost now is told by the segments.
    pub fn detect(&self, segments: &mut Segments, now: Time, of: Settling) -> Detected {
        let patience = self.rtt.saturating_add(self.window(segments.reports(), of));
        let mut found = Detected::default();
        for i in 0..segments.len() {
            let Some(s) = segments.get(i).copied() else { break };
            if s.tags.has(Tags::REPORTED) || s.tags.has(Tags::SET_ASIDE) {
                continue;
            }
            if !sent_after((self.at, self.end), (s.at, s.end)) {
                // What was sent once was sent in this order: nothing beyond is older.
                if s.start >= segments.once_from() {
                    break;
                }
                continue;
            }
            let due = s.at.saturating_add(patience);
            if due > now {
                if !s.tags.waits() {
                    found.wait = found.wait.max(due.since(now));
                }
            } else if segments.lose(i) {
                if of.sets_aside {
                    segments.set_aside(i);
                }
                found.lost += s.len();
                found.again |= s.tags.has(Tags::AGAIN);
            }
        }
        found
    }
    /// Marks segments older than a round trip as lost, without a window for reordering, as in Linux.
    pub fn lose_old(&self, segments: &mut Segments, now: Time) {
        for i in 0..segments.len() {
            let old = segments.get(i).is_some_and(|s| s.at.saturating_add(self.rtt) <= now);
            if i == 0 || old {
                segments.lose(i);
            }
        }
    }
    /// RACK_mark_losses_on_RTO(): the first segment, and what was sent long enough ago (§6.3).
    pub fn on_timeout(&self, segments: &mut Segments, now: Time, of: Settling) {
        let patience = self.rtt.saturating_add(self.window(segments.reports(), of));
        for i in 0..segments.len() {
            let old = segments.get(i).is_some_and(|s| s.at.saturating_add(patience) <= now);
            if i == 0 || old {
                segments.lose_wholly(i);
            }
        }
    }
}

/// What a look for losses has found.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::transport) struct Detected {
    /// Bytes that are lost, and were not before.
    pub lost: u64,
    /// A retransmission is among them.
    pub again: bool,
    /// How long until more may be lost; zero where nothing else was overtaken.
    pub wait: Dur,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_recoveries_without_a_duplicate_end_what_one_has_widened() {
        let of = Settling { srtt: Dur::ms(9), threshold: Some(3), in_recovery: false, sets_aside: false };
        let mut rack = Rack { min_rtt: Dur::us(400), ..Rack::default() };
        assert_eq!(rack.window(0, of), Dur::us(100));
        rack.on_duplicate(0, 5000);
        rack.on_duplicate(4999, 9000);
        assert_eq!(rack.window(0, of), Dur::us(200), "the second is of the same round trip");
        rack.on_duplicate(5000, 9000);
        assert_eq!(rack.window(2, of), Dur::us(300));
        for _ in 0..15 {
            rack.on_recovered();
        }
        assert_eq!(rack.window(0, of), Dur::us(300));
        rack.on_recovered();
        assert_eq!(rack.window(0, of), Dur::us(100));
    }

    #[test]
    fn the_window_is_nothing_until_reordering_is_seen_in_recovery_or_after_dupthresh_reports() {
        let of = Settling { srtt: Dur::us(60), threshold: Some(3), in_recovery: false, sets_aside: false };
        let mut rack = Rack { min_rtt: Dur::us(400), ..Rack::default() };
        assert_eq!([rack.window(2, of), rack.window(3, of)], [Dur::us(60), Dur::ZERO]);
        assert_eq!(rack.window(0, Settling { in_recovery: true, ..of }), Dur::ZERO);
        assert_eq!(rack.window(9, Settling { threshold: None, ..of }), Dur::us(60));
        rack.reordered = true;
        assert_eq!([rack.window(3, of), rack.window(0, Settling { in_recovery: true, ..of })], [Dur::us(60); 2]);
    }
}
