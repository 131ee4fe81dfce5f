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
    started: BTreeMap<(u16, u32), StartedQuery>,
    /// Number of messages that have not started, in measured queries.
    unstarted_messages: u64,
}

#[derive(Clone, Copy, Debug)]
struct StartedQuery {
    unstarted_messages: u64,
    is_measured: bool,
}

impl Queries {
    pub(crate) fn new(traffic: &[Traffic], (from, to): (Time, Time)) -> Queries {
        let sizes = traffic.iter().map(Traffic::query_size).collect();
        Queries { from, to, sizes, started: BTreeMap::new(), unstarted_messages: 0 }
    }

    /// Counts a message that starts. Returns true if its query is measured.
    pub(crate) fn count_started_message(&mut self, message: &FlowRecord) -> bool {
        let key = (message.traffic, message.query);
        if message.query == u32::MAX || (message.start >= self.to && !self.started.contains_key(&key)) {
            return false;
        }
        let size = || self.sizes.get(usize::from(key.0)).map_or(0, |size| size.count_messages(key.1));
        let begun = self.started.entry(key).or_insert_with(|| {
            let begun = StartedQuery { unstarted_messages: size(), is_measured: message.start >= self.from };
            self.unstarted_messages += if begun.is_measured { begun.unstarted_messages } else { 0 };
            begun
        });
        let one = begun.unstarted_messages.min(1);
        begun.unstarted_messages -= one;
        let (counts, is_whole) = (begun.is_measured, begun.unstarted_messages == 0);
        if counts {
            self.unstarted_messages -= one;
        }
        if is_whole {
            self.started.remove(&key);
        }
        counts
    }

    /// Returns true if a query with messages that have not started is measured.
    pub(crate) fn is_measured(&self, traffic: u16, query: u32) -> bool {
        self.started.get(&(traffic, query)).is_some_and(|begun| begun.is_measured)
    }

    /// Returns the number of messages that have not started, in measured queries.
    pub(crate) fn unstarted_messages(&self) -> u64 {
        self.unstarted_messages
    }

    /// Returns the number of messages that have not started for each measured query, with its workload and number.
    pub(crate) fn unstarted_by_query(&self) -> Vec<(u16, u32, u64)> {
        let counting = self.started.iter().filter(|(_, begun)| begun.is_measured);
        counting.map(|((traffic, query), begun)| (*traffic, *query, begun.unstarted_messages)).collect()
    }
}
