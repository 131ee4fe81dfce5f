//! Flows of all workloads, merged in order of their start and made when needed.

use super::all_reduce::Ranks;
use super::all_to_all::Shifts;
use super::draft::Draft;
use super::draws::Draws;
use super::long_lived::Starts;
use super::permutation::Shuffle;
use super::poisson::Arrivals;
use super::query_arrivals::{Queries, QueryStreams};
use super::request_reply::Session;
use super::rows::Rows;
use super::{FlowSpec, Source, Traffic, common};
use crate::topology::Topology;
use mech::{HostId, Purpose, Stream};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::{Dur, Time};

/// Flows of a run, sorted by (start, source, workload, order within the workload).
///
/// A copy continues exactly as the original. Memory grows with the number of hosts and the largest query, not with the
/// number of flows. With jitter it also grows with the flows that start within the longest jitter.
#[derive(Clone, Debug)]
pub struct Flows {
    horizon: Time,
    cursors: Vec<Cursor>,
    /// Start of each cursor's next flows, before jitter.
    upcoming: BinaryHeap<Reverse<(Time, u32)>>,
    /// Flows that are made; those before the first of `upcoming` are final.
    ready: BinaryHeap<Reverse<Ready>>,
    batch: Vec<Draft>,
}

/// Sequence of flows of a workload, or of one host of it.
#[derive(Clone, Debug)]
struct Cursor {
    traffic: u16,
    class: u8,
    jitter: Dur,
    shake: Stream,
    made: u64,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Queries(Queries),
    Shuffle(Shuffle),
    Arrivals(Arrivals),
    Rows(Rows),
    Session(Session),
    Shifts(Shifts),
    Ranks(Ranks),
    Starts(Starts),
}

impl Kind {
    /// Returns the start of the next flows, before jitter; [`Time::NEVER`] if there are none.
    fn next(&self) -> Time {
        match self {
            Kind::Queries(k) => k.next(),
            Kind::Shuffle(k) => k.next(),
            Kind::Arrivals(k) => k.next(),
            Kind::Rows(k) => k.next(),
            Kind::Session(k) => k.next(),
            Kind::Shifts(k) => k.next(),
            Kind::Ranks(k) => k.next(),
            Kind::Starts(k) => k.next(),
        }
    }
    /// Returns the class of the flows that were taken last, if they differ from the workload's.
    fn class(&self) -> Option<u8> {
        match self {
            Kind::Rows(k) => k.class(),
            _ => None,
        }
    }
    /// Appends the flows of the next instant and advances.
    fn take(&mut self, out: &mut Vec<Draft>) {
        match self {
            Kind::Queries(k) => k.take(out),
            Kind::Shuffle(k) => k.take(out),
            Kind::Arrivals(k) => k.take(out),
            Kind::Rows(k) => k.take(out),
            Kind::Session(k) => k.take(out),
            Kind::Shifts(k) => k.take(out),
            Kind::Ranks(k) => k.take(out),
            Kind::Starts(k) => k.take(out),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Ready {
    flow: FlowSpec,
    n: u64,
}

impl Ready {
    fn key(&self) -> (Time, HostId, u16, u64) {
        (self.flow.start, self.flow.src, self.flow.traffic, self.n)
    }
}
impl PartialEq for Ready {
    fn eq(&self, other: &Ready) -> bool {
        self.key() == other.key()
    }
}
impl Eq for Ready {}
impl PartialOrd for Ready {
    fn partial_cmp(&self, other: &Ready) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Ready {
    fn cmp(&self, other: &Ready) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl Flows {
    /// Returns the flows of all workloads that start before `horizon`; raw workloads have none. PRECONDITION: the
    /// workloads were built for this network.
    pub fn new(traffics: &[Traffic], topology: &Topology, seed: u64, horizon: Time) -> Flows {
        let mut flows = Flows::empty(horizon);
        for (index, traffic) in traffics.iter().enumerate() {
            flows.add(traffic, index as u16, topology, seed);
        }
        flows
    }

    pub(super) fn empty(horizon: Time) -> Flows {
        Flows { horizon, cursors: Vec::new(), upcoming: BinaryHeap::new(), ready: BinaryHeap::new(), batch: Vec::new() }
    }

    pub(super) fn add(&mut self, traffic: &Traffic, index: u16, net: &Topology, seed: u64) {
        let stream = |node| Stream::new(seed, node, Purpose::Traffic(index));
        match &traffic.source {
            Source::Incast(incast) => {
                let queries = incast.queries(net.hosts, QueryStreams::new(stream));
                self.push(traffic, stream(u32::MAX ^ common::SHAKEN), index, Kind::Queries(queries));
            }
            Source::Permutation(permutation) => {
                let shuffle = permutation.shuffle(net.hosts, stream(common::DERANGEMENT));
                self.push(traffic, stream(u32::MAX ^ common::SHAKEN), index, Kind::Shuffle(shuffle));
            }
            Source::Poisson(poisson) => {
                for host in 0..net.hosts {
                    let arrivals = poisson.arrivals(net, HostId(host), stream(host));
                    self.push(traffic, stream(host | common::SHAKEN), index, Kind::Arrivals(arrivals));
                }
            }
            Source::Query(query) => {
                let draws = Draws { seed, workload: index };
                let queries = query.queries(net.hosts, draws, QueryStreams::new(stream));
                self.push(traffic, stream(u32::MAX ^ common::SHAKEN), index, Kind::Queries(queries));
            }
            Source::Sessions(sessions) => {
                // Sessions draw their jitter themselves, so that the requests of a clock stay evenly spaced.
                let still = Traffic { jitter: Dur::ZERO, ..traffic.clone() };
                for session in sessions.all(index, seed, traffic.jitter) {
                    self.push(&still, stream(0), index, Kind::Session(session));
                }
            }
            Source::AllToAll(all) => {
                let shifts = all.shifts(stream(common::DERANGEMENT));
                self.push(traffic, stream(u32::MAX ^ common::SHAKEN), index, Kind::Shifts(shifts));
            }
            Source::AllReduce(job) => {
                // Ranks draw their jitter themselves, again for every iteration.
                let still = Traffic { jitter: Dur::ZERO, ..traffic.clone() };
                let ranks = job.collective(index, traffic.jitter, seed).first();
                self.push(&still, stream(0), index, Kind::Ranks(Ranks::new(ranks)));
            }
            Source::LongLived(pairs) => {
                let starts = pairs.starts(net.hosts, stream(common::DERANGEMENT));
                self.push(traffic, stream(u32::MAX ^ common::SHAKEN), index, Kind::Starts(starts));
            }
            Source::Trace(trace) => {
                self.push(traffic, stream(u32::MAX ^ common::SHAKEN), index, Kind::Rows(trace.rows()));
            }
            Source::Raw(_) => {}
        }
    }

    fn push(&mut self, traffic: &Traffic, shake: Stream, index: u16, kind: Kind) {
        let (class, jitter) = (traffic.class, traffic.jitter);
        self.cursors.push(Cursor { traffic: index, class, jitter, shake, made: 0, kind });
        self.await_next(self.cursors.len() as u32 - 1);
    }

    fn await_next(&mut self, cursor: u32) {
        let next = self.cursors[cursor as usize].kind.next();
        if next < self.horizon {
            self.upcoming.push(Reverse((next, cursor)));
        }
    }

    /// Makes the flows that a cursor has at `start`.
    fn make(&mut self, start: Time, at: u32) {
        let cursor = &mut self.cursors[at as usize];
        cursor.kind.take(&mut self.batch);
        let class = cursor.kind.class().unwrap_or(cursor.class);
        for draft in self.batch.drain(..) {
            let late = if cursor.jitter == Dur::ZERO { 0 } else { cursor.shake.below(cursor.jitter.0) };
            let start = start.saturating_add(Dur(late));
            let flow = draft.at(start, cursor.traffic, class);
            if start < self.horizon {
                self.ready.push(Reverse(Ready { flow, n: cursor.made }));
            }
            cursor.made += 1;
        }
        self.await_next(at);
    }
}

impl Iterator for Flows {
    type Item = FlowSpec;

    fn next(&mut self) -> Option<FlowSpec> {
        loop {
            let due = self.upcoming.peek().map_or(Time::NEVER, |next| next.0.0);
            if self.ready.peek().is_some_and(|first| first.0.flow.start < due) {
                return self.ready.pop().map(|first| first.0.flow);
            }
            let Reverse((start, cursor)) = self.upcoming.pop()?;
            self.make(start, cursor);
        }
    }
}
