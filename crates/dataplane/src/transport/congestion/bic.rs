//! BIC congestion control as Linux 2.6.38 computes it (`tcp_bic.c`).
//!
//! Source: Xu et al., "Binary Increase Congestion Control for Fast Long-Distance Networks", INFOCOM 2004.
//!
//! Below 15 segments BIC is Reno. BIC defines a number of ACKs after which the window grows by one segment. The kernel
//! divides this number by a smoothed ratio of acknowledged segments to ACKs. The ratio begins at 2, and ends at 31/16
//! if every segment is acknowledged. A window then needs 16/31 of the ACKs that the paper requires per segment.

use crate::transport::tick_clock::TickClock;
use units::Dur;

/// Limits of BIC in segments: largest growth per window of ACKs, and largest window that grows as Reno's.
const MAX_INCREMENT: u32 = 16;
const LOW_WINDOW: u32 = 14;
/// BIC's divisor of the distance to the largest window, which gives one search step; and slowdown of the last steps.
const BINARY_SEARCH_DIVISOR: u32 = 4;
const SMOOTH_PART: u32 = 20;
/// Share of the window that remains after a cut by BIC, in 1024ths.
const BETA: u32 = 819;
/// Largest number of ACKs that BIC needs to add a segment to the window, before the first loss.
const MAX_FIRST_ACKS_PER_SEGMENT: u32 = 20;
/// Fractional bits of BIC's ratio of segments to ACKs.
const RATIO_BITS: u32 = 4;
/// Shortest time between two updates of BIC at an unchanged window: a 32nd of a second.
const MIN_UPDATE_INTERVAL: Dur = Dur::us(31_250);

/// State of BIC congestion control of one sender, in segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bic {
    /// Number of ACKs after which the window grows by one segment.
    needed: u32,
    /// Window before the last cut, reduced by fast convergence if cuts come at falling windows; 0 before the first cut.
    largest: u32,
    /// Congestion window at the last loss; 0 before the first loss.
    at_loss: u32,
    /// Congestion window and clock tick at the last update of `needed`.
    last: Option<(u32, u64)>,
    /// Smoothed number of segments that each ACK acknowledges, times 16.
    ratio: u32,
}

impl Default for Bic {
    fn default() -> Bic {
        Bic { needed: 0, largest: 0, at_loss: 0, last: None, ratio: 2 << RATIO_BITS }
    }
}

impl Bic {
    pub fn max_window(&self) -> u32 {
        self.largest
    }
    /// Updates the ratio of segments to ACKs (weight 1/16) after an ACK of `segments` in state `TCP_CA_Open`.
    pub fn on_acked(&mut self, segments: u32) {
        self.ratio = (self.ratio + segments).saturating_sub(self.ratio >> RATIO_BITS);
    }
    /// Returns the number of ACKs after which this window grows by one segment (`bictcp_update`).
    pub fn update(&mut self, cwnd: u32, tick: u64, clock: TickClock) -> u32 {
        let is_fresh = |(at, then): (u32, u64)| at == cwnd && clock.time_of(tick - then) <= MIN_UPDATE_INTERVAL;
        if self.last.is_some_and(is_fresh) {
            return self.needed;
        }
        self.last = Some((cwnd, tick));
        if cwnd <= LOW_WINDOW {
            self.needed = cwnd;
            return cwnd;
        }
        let acks = self.acks_for_one_more(cwnd);
        let acks = if self.at_loss == 0 { acks.min(MAX_FIRST_ACKS_PER_SEGMENT) } else { acks };
        self.needed = ((acks << RATIO_BITS) / self.ratio).max(1);
        self.needed
    }
    fn acks_for_one_more(&self, cwnd: u32) -> u32 {
        let smooth = cwnd * SMOOTH_PART / BINARY_SEARCH_DIVISOR;
        if cwnd < self.largest {
            return match (self.largest - cwnd) / BINARY_SEARCH_DIVISOR {
                0 | 1 => smooth,
                far if far > MAX_INCREMENT => cwnd / MAX_INCREMENT,
                far => cwnd / far,
            };
        }
        match cwnd - self.largest {
            over if over < BINARY_SEARCH_DIVISOR => smooth,
            over if over < MAX_INCREMENT * (BINARY_SEARCH_DIVISOR - 1) => cwnd * (BINARY_SEARCH_DIVISOR - 1) / over,
            _ => cwnd / MAX_INCREMENT,
        }
    }
    /// Returns the slow start threshold after a loss at this window (`bictcp_recalc_ssthresh`).
    pub fn threshold(&mut self, cwnd: u32) -> u32 {
        self.largest = match cwnd < self.largest {
            true => cwnd * (1024 + BETA) / 2048,
            false => cwnd,
        };
        self.at_loss = cwnd;
        let left = if cwnd <= LOW_WINDOW { cwnd >> 1 } else { cwnd * BETA / 1024 };
        left.max(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::tick_clock::TimerWheel;

    const CLOCK: TickClock = TickClock { every: Dur::ms(1), phase: Dur::ZERO, wheel: TimerWheel::Exact };

    #[test]
    fn bic_follows_reno_up_to_fourteen_segments() {
        let mut bic = Bic::default();
        assert_eq!((bic.update(14, 1, CLOCK), bic.threshold(14)), (14, 7));
        assert_eq!(bic.threshold(15), 11, "15 819 / 1024");
    }

    #[test]
    fn search_takes_a_quarter_of_the_distance() {
        let mut bic = Bic { ratio: 1 << RATIO_BITS, ..Bic::default() };
        assert_eq!(bic.threshold(100), 79);
        // A quarter of the distance to 100, which is 21 segments, is 5: the step takes 79 / 5 ACKs.
        assert_eq!(bic.update(79, 1, CLOCK), 15);
        assert_eq!(bic.update(79, 32, CLOCK), 15, "31 ms later it is not computed again");
        assert_eq!(bic.update(97, 2, CLOCK), 485, "the last steps are smoothed");
        assert_eq!(bic.update(108, 3, CLOCK), 40, "3 / 8 of a window beyond");
        assert_eq!(bic.update(160, 4, CLOCK), 10);
    }

    #[test]
    fn ratio_falls_to_31_sixteenths_at_one_segment_per_ack() {
        let mut bic = Bic::default();
        (0..50).for_each(|_| bic.on_acked(1));
        assert_eq!(bic.ratio, 31);
        bic.at_loss = 1;
        // 32 × 20 / 4 = 160 ACKs, times 16 / 31 for the ratio.
        bic.largest = 32;
        assert_eq!(bic.update(32, 1, CLOCK), 82);
    }

    #[test]
    fn fast_convergence_lowers_the_largest_window() {
        let mut bic = Bic::default();
        _ = (bic.threshold(100), bic.threshold(90));
        assert_eq!(bic.max_window(), 80, "90 1843 / 2048");
    }
}
