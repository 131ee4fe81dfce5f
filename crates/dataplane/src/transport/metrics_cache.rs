//! Measurements that a Linux 2.6.38 host keeps by destination for new connections.
//!
//! The functions follow `tcp_update_metrics` and `tcp_init_metrics`.
//!
//! The kernel drops an entry with its route, after minutes; here entries last for the run. The kernel also stores the
//! window, but never reads it. It writes an entry when the connection closes; here the entry is written once all bytes
//! are acknowledged.

use super::rtt_ticks::RttTicks;
use units::Dur;

/// Measurements of earlier connections to one destination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Length of the tick in which `srtt` and `rttvar` are counted; zero before the first update.
    pub(super) tick: Dur,
    /// Smoothed round-trip time, in eighths of a tick; 0 for none.
    pub(super) srtt: u64,
    /// Deviation of the round-trip time, in quarters of a tick.
    pub(super) rttvar: u64,
    /// Slow start threshold, in segments; 0 for none.
    pub(super) ssthresh: u32,
    /// Degree of reordering, in segments; 0 for none.
    pub(super) reordering: u32,
}

/// State of a finished connection, from which the entry of its destination is updated.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndedConnection {
    pub rtt: RttTicks,
    /// Window in segments, and slow start threshold in segments; the threshold is `None` if it was never set.
    pub cwnd: u32,
    pub ssthresh: Option<u32>,
    /// True if no recovery was in progress.
    pub is_open: bool,
    /// True if the timeout was doubled and no round-trip sample has come since.
    pub is_backed_off: bool,
    /// Degree of reordering, and its value at the start of a connection, in segments.
    pub reordering: u32,
    pub least_reordering: u32,
}

impl Metrics {
    /// Converts the times of the entry to another tick. Connections of one host differ in ticks if its workloads do.
    pub(super) fn in_ticks(self, tick: Dur) -> Metrics {
        if self.tick == tick || self.tick == Dur::ZERO {
            return Metrics { tick, ..self };
        }
        let convert = |count: u64| (u128::from(count) * u128::from(self.tick.0) / u128::from(tick.0)) as u64;
        Metrics { tick, srtt: convert(self.srtt), rttvar: convert(self.rttvar), ..self }
    }

    /// Updates the entry of a destination after a connection to it has ended.
    pub(super) fn update(&mut self, of: &EndedConnection) {
        // A connection without a sample, or without one since its last timeout, has no valid estimate. Linux then
        // resets the stored round-trip time (`tcp_update_metrics`).
        if of.is_backed_off || of.rtt.srtt == 0 {
            self.srtt = 0;
            return;
        }
        let before = self.srtt;
        self.srtt = match before > of.rtt.srtt {
            true => before - ((before - of.rtt.srtt) >> 3),
            false => of.rtt.srtt,
        };
        let deviation = (before.abs_diff(of.rtt.srtt) >> 1).max(of.rtt.mdev);
        self.rttvar = match deviation >= self.rttvar {
            true => deviation,
            false => self.rttvar - ((self.rttvar - deviation) >> 2),
        };
        self.update_threshold(of);
        if self.reordering < of.reordering && of.reordering != of.least_reordering {
            self.reordering = of.reordering;
        }
    }

    /// Stores the slow start threshold of a connection in congestion avoidance. Others can only raise a stored one.
    fn update_threshold(&mut self, of: &EndedConnection) {
        let half = of.cwnd >> 1;
        match of.ssthresh {
            Some(ssthresh) if of.cwnd > ssthresh && of.is_open => self.ssthresh = half.max(ssthresh),
            Some(ssthresh) if self.ssthresh > 0 => self.ssthresh = self.ssthresh.max(ssthresh),
            None if self.ssthresh > 0 => self.ssthresh = self.ssthresh.max(half),
            Some(_) | None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended_connection(cwnd: u32, ssthresh: Option<u32>) -> EndedConnection {
        let mut rtt = RttTicks::default();
        rtt.sample(2, 10, &(0..0));
        EndedConnection { rtt, cwnd, ssthresh, is_open: true, is_backed_off: false, reordering: 3, least_reordering: 3 }
    }

    #[test]
    fn only_congestion_avoidance_stores_or_lowers_threshold() {
        let mut of = Metrics::default();
        of.update(&ended_connection(40, None));
        assert_eq!(of.ssthresh, 0, "slow start has not ended");
        of.update(&EndedConnection { is_open: false, ..ended_connection(9, Some(5)) });
        assert_eq!(of.ssthresh, 0, "a recovery has not ended");
        of.update(&ended_connection(9, Some(5)));
        assert_eq!(of.ssthresh, 5);
        of.update(&ended_connection(3, Some(4)));
        assert_eq!(of.ssthresh, 5, "slow start again: it only rises");
        of.update(&ended_connection(3, Some(7)));
        assert_eq!(of.ssthresh, 7);
        of.update(&ended_connection(40, None));
        assert_eq!(of.ssthresh, 20);
        of.update(&ended_connection(4, Some(3)));
        assert_eq!(of.ssthresh, 3, "and it falls in congestion avoidance");
    }

    #[test]
    fn stored_rtt_rises_immediately_and_falls_by_an_eighth() {
        let mut of = Metrics::default();
        of.update(&ended_connection(4, Some(3)));
        assert_eq!((of.srtt, of.rttvar), (16, 8), "16 from 0: half of that is more than 4");
        let mut long = ended_connection(4, Some(3));
        (long.rtt.srtt, long.rtt.mdev) = (80, 3);
        of.update(&long);
        assert_eq!((of.srtt, of.rttvar), (80, 32));
        of.update(&ended_connection(4, Some(3)));
        assert_eq!((of.srtt, of.rttvar), (72, 32), "80 - 64 / 8; the deviation is 32 again");
        of.update(&EndedConnection { is_backed_off: true, ..ended_connection(4, Some(3)) });
        assert_eq!((of.srtt, of.rttvar, of.ssthresh), (0, 32, 3), "a timeout without a later sample resets srtt");
    }

    #[test]
    fn times_are_converted_between_ticks() {
        let of = Metrics { tick: Dur::us(10), srtt: 160, rttvar: 80, ssthresh: 7, reordering: 4 };
        let longer = Metrics { tick: Dur::ms(1), srtt: 1, rttvar: 0, ..of };
        assert_eq!(of.in_ticks(Dur::ms(1)), longer, "200 us are a fifth of a tick");
        assert_eq!(longer.in_ticks(Dur::us(10)).srtt, 100);
        assert_eq!(Metrics::default().in_ticks(Dur::ms(1)).tick, Dur::ms(1));
    }

    #[test]
    fn largest_learnt_degree_of_reordering_is_stored() {
        let mut of = Metrics::default();
        of.update(&ended_connection(4, Some(3)));
        assert_eq!(of.reordering, 0);
        of.update(&EndedConnection { reordering: 9, ..ended_connection(4, Some(3)) });
        of.update(&EndedConnection { reordering: 5, ..ended_connection(4, Some(3)) });
        assert_eq!(of.reordering, 9);
    }
}
