//! How many messages a query has, before any of them has started.

use std::sync::Arc;
use units::{Dur, Time};

/// How many messages each query of a workload has, those that follow upon others included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuerySize {
    /// There are no queries.
    None,
    /// All are alike.
    Fixed(u64),
    /// Rounds, the flows of each at one instant, of which those that would start too late are left out.
    Rounds(QueryRounds),
    /// By number, as a file lists them.
    Listed(Arc<[u32]>),
}

/// Queries of several rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryRounds {
    /// The first query begins then.
    pub start: Time,
    /// From one query to the next.
    pub interval: Dur,
    /// From one round to the next.
    pub gap: Dur,
    /// Rounds of a query.
    pub rounds: u64,
    /// Flows of a round.
    pub flows: u64,
    /// No round starts from then on.
    pub stop: Time,
}

impl QuerySize {
    /// Messages of the query of this number.
    pub fn messages(&self, query: u32) -> u64 {
        match self {
            QuerySize::None => 0,
            QuerySize::Fixed(messages) => *messages,
            QuerySize::Rounds(rounds) => rounds.flows * rounds.begun_in(query),
            QuerySize::Listed(sizes) => sizes.get(query as usize).map_or(0, |size| u64::from(*size)),
        }
    }
}

impl QueryRounds {
    /// Rounds of a query that start before the workload stops.
    fn begun_in(&self, query: u32) -> u64 {
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
        let of = |stop, query| QuerySize::Rounds(rounds(stop)).messages(query);
        assert_eq!([of(1000, 0), of(120, 0), of(121, 0), of(110, 0), of(100, 0)], [12, 8, 12, 4, 0]);
        assert_eq!([of(160, 0), of(160, 1), of(160, 2), of(171, 1)], [12, 4, 0, 12]);
        let at_once = QueryRounds { gap: Dur(0), rounds: 1, flows: 12, ..rounds(101) };
        assert_eq!([QuerySize::Rounds(at_once).messages(0), QuerySize::Rounds(at_once).messages(1)], [12, 0]);
    }
}
