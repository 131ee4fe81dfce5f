//! Estimate of the round-trip time in whole ticks, as Linux 2.6.38 keeps it (`tcp_rtt_estimator`).
//!
//! A sample is at least one tick. The smoothed time has three binary places, its deviation two; divisions round down.
//! The timeout is the whole ticks of the smoothed time, plus the largest deviation of a round trip. That deviation is
//! never below the minimum RTO: with 10 ms and ticks of 1 ms, a short path has a timeout of 11 ticks.

use core::ops::Range;

/// Round-trip estimate of one Linux 2.6.38 sender, in clock ticks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RttTicks {
    /// `srtt`, in eighths of a tick; 0 before the first sample.
    pub srtt: u64,
    /// `mdev`, in quarters of a tick: read as whole ticks, it is four times the deviation.
    pub mdev: u64,
    /// `mdev_max`: largest `mdev` of the current round trip.
    most: u64,
    /// `rttvar`: part of the timeout above the smoothed time, in ticks.
    held: u64,
    /// `rtt_seq`: the current round trip ends once a byte beyond it is acknowledged.
    until: u64,
}

impl RttTicks {
    /// Adds a round-trip sample in ticks.
    /// `floor` is the minimum RTO in ticks, and `outstanding` the range from SND.UNA to SND.NXT.
    pub fn sample(&mut self, ticks: u64, floor: u64, outstanding: &Range<u64>) {
        let sample = ticks.max(1);
        if self.srtt == 0 {
            (self.srtt, self.mdev) = (sample << 3, sample << 1);
            self.most = self.mdev.max(floor);
            (self.held, self.until) = (self.most, outstanding.end);
            return;
        }
        let smoothed = self.srtt >> 3;
        self.srtt = self.srtt + sample - smoothed;
        let (off, expected) = (sample.abs_diff(smoothed), self.mdev >> 2);
        self.mdev = match off >= expected {
            // A round trip that is shorter than usual is no sign of a larger deviation: it counts an eighth.
            true if sample < smoothed => self.mdev + ((off - expected) >> 3),
            true => self.mdev + (off - expected),
            false => self.mdev - (expected - off),
        };
        if self.mdev > self.most {
            self.most = self.mdev;
            self.held = self.held.max(self.most);
        }
        if outstanding.start > self.until {
            self.held -= self.held.saturating_sub(self.most) >> 2;
            (self.until, self.most) = (outstanding.end, floor);
        }
    }

    /// Raises the estimate to that of an earlier connection to the destination, if it is larger (`tcp_init_metrics`).
    pub fn raise_from_metrics(&mut self, srtt: u64, mdev: u64, floor: u64, sent: u64) {
        if srtt > self.srtt {
            (self.srtt, self.until) = (srtt, sent);
        }
        if mdev > self.mdev {
            self.mdev = mdev;
            self.most = mdev.max(floor);
            self.held = self.most;
        }
    }

    /// Retransmission timeout in ticks, before any backoff.
    pub fn timeout(&self) -> u64 {
        (self.srtt >> 3) + self.held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeout_on_a_short_path_is_the_floor_and_one_tick() {
        let mut rtt = RttTicks::default();
        rtt.sample(0, 10, &(0..9));
        assert_eq!((rtt.srtt, rtt.mdev, rtt.timeout()), (8, 2, 11), "no ticks count as one");
        rtt.sample(1, 10, &(1..9));
        assert_eq!((rtt.srtt, rtt.mdev, rtt.timeout()), (8, 2, 11));
    }

    #[test]
    fn deviation_is_the_largest_of_a_round_trip_and_falls_by_a_quarter() {
        let mut rtt = RttTicks::default();
        rtt.sample(4, 10, &(0..100));
        assert_eq!((rtt.srtt, rtt.mdev, rtt.timeout()), (32, 8, 14));
        rtt.sample(20, 10, &(50..100));
        // The sample is 16 ticks off, 2 are expected: mdev = 8 + 14, and srtt = 32 + 16.
        assert_eq!((rtt.srtt, rtt.mdev, rtt.timeout()), (48, 22, 28));
        rtt.sample(2, 10, &(101..200));
        // The sample is 4 ticks off, 5 are expected: mdev = 22 - 1. The round trip ends, and 22 was its largest mdev.
        assert_eq!((rtt.srtt, rtt.mdev, rtt.timeout()), (44, 21, 27));
        rtt.sample(5, 10, &(201..300));
        // The sample is 0 ticks off, 5 are expected: mdev = 21 - 5 = 16 is the largest of this round trip. The term
        // above the smoothed time falls by a quarter of the excess: 22 - (22 - 16) / 4 = 21 whole ticks.
        assert_eq!((rtt.srtt, rtt.mdev, rtt.timeout()), (44, 16, 26));
    }

    #[test]
    fn new_connection_takes_larger_stored_estimates() {
        let mut rtt = RttTicks::default();
        rtt.sample(1, 10, &(0..0));
        rtt.raise_from_metrics(32, 1, 10, 0);
        assert_eq!((rtt.srtt, rtt.mdev, rtt.timeout()), (32, 2, 14));
        rtt.raise_from_metrics(16, 30, 10, 0);
        assert_eq!((rtt.srtt, rtt.mdev, rtt.timeout()), (32, 30, 34));
    }
}
