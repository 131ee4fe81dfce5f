//! Queries of which not all messages have started: the run waits for those that count.
//!
//! A query counts where its first message starts inside the measurement window, and then with all its messages,
//! whenever they start: jitter, rounds and answers may come after the window. Both ends of the window are milestones
//! of a run, also of one that is divided, so what a partition knows of starts before the window's end is the same in
//! all of them when a later message starts.

use crate::progress::FlowRecord;
use scenario::traffic::{QuerySize, Traffic};
use std::collections::BTreeMap;
use std::sync::Arc;
use units::Time;

/// The queries of a run.
#[derive(Clone, Debug)]
pub(crate) struct Queries {
    from: Time,
    to: Time,
    /// By workload.
    sizes: Arc<[QuerySize]>,
    /// By workload and number, those that began before the window's end and have messages to start still.
    begun: BTreeMap<(u16, u32), Begun>,
    /// Messages that queries that count have to start still.
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

    /// A message starts; whether its query counts.
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

    /// Whether a query counts that has messages to start still.
    pub(crate) fn counts(&self, traffic: u16, query: u32) -> bool {
        self.begun.get(&(traffic, query)).is_some_and(|begun| begun.counts)
    }

    /// Messages that queries that count have to start still.
    pub(crate) fn missing(&self) -> u64 {
        self.missing
    }

    /// The same by workload and query.
    pub(crate) fn owed(&self) -> Vec<(u16, u32, u64)> {
        let counting = self.begun.iter().filter(|(_, begun)| begun.counts);
        counting.map(|((traffic, query), begun)| (*traffic, *query, begun.missing)).collect()
    }
}
