//! Queries with messages that have not started: the run waits for those that are measured.
//!
//! A query is measured if its first message starts inside the measurement window. Then all its messages are measured,
//! whenever they start: those delayed by jitter, later rounds and replies may start after the window. Both ends of
//! the window are milestones of a run, and a divided run hands over its flows there. All partitions thus have the
//! same list of queries that began inside the window when a later message starts.

use crate::progress::FlowRecord;
use scenario::traffic::{QuerySize, Traffic};
use std::collections::BTreeMap;
use std::sync::Arc;
use units::Time;

/// Queries of a run.
#[derive(Clone, Debug)]
pub(crate) struct Queries {
    from: Time,
    to: Time,
    /// Number of messages in each query, by workload.
    sizes: Arc<[QuerySize]>,
    /// Queries that began before the window's end and have messages that have not started, by workload and number.
    begun: BTreeMap<(u16, u32), Begun>,
    /// Number of messages that have not started, in measured queries.
    missing: u64,
}

#[derive(Clone, Copy, Debug)]
struct Begun {
    missing: u64,
    counts: bool,
}

impl Queries {
    pub(crate) fn new(traffic: &[Traffic], (from, to): (Time, Time)) -> Queries {
        let sizes = traffic.iter().map(Traffic::query_size).collect();
        Queries { from, to, sizes, begun: BTreeMap::new(), missing: 0 }
    }

    /// Counts a message that starts. Returns true if its query is measured.
    pub(crate) fn start(&mut self, message: &FlowRecord) -> bool {
        let key = (message.traffic, message.query);
        if message.query == u32::MAX || (message.start >= self.to && !self.begun.contains_key(&key)) {
            return false;
        }
        let size = || self.sizes.get(usize::from(key.0)).map_or(0, |size| size.messages(key.1));
        let begun = self.begun.entry(key).or_insert_with(|| {
            let begun = Begun { missing: size(), counts: message.start >= self.from };
            self.missing += if begun.counts { begun.missing } else { 0 };
            begun
        });
        let one = begun.missing.min(1);
        begun.missing -= one;
        let (counts, is_whole) = (begun.counts, begun.missing == 0);
        if counts {
            self.missing -= one;
        }
        if is_whole {
            self.begun.remove(&key);
        }
        counts
    }

    /// Returns true if a query with messages that have not started is measured.
    pub(crate) fn counts(&self, traffic: u16, query: u32) -> bool {
        self.begun.get(&(traffic, query)).is_some_and(|begun| begun.counts)
    }

    /// Returns the number of messages that have not started, in measured queries.
    pub(crate) fn missing(&self) -> u64 {
        self.missing
    }

    /// Returns the number of messages that have not started for each measured query, with its workload and number.
    pub(crate) fn owed(&self) -> Vec<(u16, u32, u64)> {
        let counting = self.begun.iter().filter(|(_, begun)| begun.counts);
        counting.map(|((traffic, query), begun)| (*traffic, *query, begun.missing)).collect()
    }
}
