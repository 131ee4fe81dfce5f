//! Number of messages in a query, which is known before any of them starts.
//!
//! A run waits for all messages of a query whose first message is measured. It needs their number even if the others
//! start late, outside of the measurement window.

use std::sync::Arc;
use units::{Dur, Time};

/// Number of messages of each query of a workload, including those that answer others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuerySize {
    /// No queries in the workload.
    None,
    /// Same number of messages in all queries.
    Fixed(u64),
    /// Rounds of simultaneous flows in each query. Rounds that would start too late do not count.
    Rounds(QueryRounds),
    /// Messages of each query, as a file lists them.
    Listed(Arc<[u32]>),
}

/// Queries with several rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryRounds {
    /// Start of the first query.
    pub start: Time,
    /// Time from one query to the next.
    pub interval: Dur,
    /// Time from one round to the next.
    pub gap: Dur,
    /// Number of rounds of a query.
    pub rounds: u64,
    /// Number of flows of a round.
    pub flows: u64,
    /// Instant from which no round starts.
    pub stop: Time,
}

impl QuerySize {
    /// Returns the number of messages in the query with this number.
    pub fn count_messages(&self, query: u32) -> u64 {
        match self {
            QuerySize::None => 0,
            QuerySize::Fixed(messages) => *messages,
            QuerySize::Rounds(rounds) => rounds.flows * rounds.rounds_before_stop(query),
            QuerySize::Listed(sizes) => sizes.get(query as usize).map_or(0, |size| u64::from(*size)),
        }
    }
}

impl QueryRounds {
    /// Returns the number of rounds of a query that start before the workload stops.
    fn rounds_before_stop(&self, query: u32) -> u64 {
        let begin = u128::from(self.start.0) + u128::from(self.interval.0) * u128::from(query);
        let left = u128::from(self.stop.0).saturating_sub(begin);
        match u128::from(self.gap.0) {
            0 if left > 0 => self.rounds,
            0 => 0,
            gap => left.div_ceil(gap).min(u128::from(self.rounds)) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_from_the_stop_on_are_not_of_a_query() {
        let rounds = |stop| QueryRounds {
            start: Time(100),
            interval: Dur(50),
            gap: Dur(10),
            rounds: 3,
            flows: 4,
            stop: Time(stop),
        };
        let of = |stop, query| QuerySize::Rounds(rounds(stop)).count_messages(query);
        assert_eq!([of(1000, 0), of(120, 0), of(121, 0), of(110, 0), of(100, 0)], [12, 8, 12, 4, 0]);
        assert_eq!([of(160, 0), of(160, 1), of(160, 2), of(171, 1)], [12, 4, 0, 12]);
        let at_once = QueryRounds { gap: Dur(0), rounds: 1, flows: 12, ..rounds(101) };
        assert_eq!(
            [QuerySize::Rounds(at_once).count_messages(0), QuerySize::Rounds(at_once).count_messages(1)],
            [12, 0]
        );
    }
}
