//! Flows of all workloads, merged in order of their start and made when needed.

use super::all_reduce::FirstMessages;
use super::all_to_all::ShuffleRounds;
use super::draft::FlowDraft;
use super::draws::MessageDraws;
use super::flow_rows::TracedFlows;
use super::long_lived::FlowStarts;
use super::permutation::Shuffle;
use super::poisson::Arrivals;
use super::query_arrivals::{Queries, QueryStreams};
use super::request_reply::Session;
use super::{FlowSpec, Traffic, WorkloadKind, common};
use crate::topology::Topology;
use mech::{HostId, Stream, StreamPurpose};
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
    cursors: Vec<FlowCursor>,
    /// Cursors by the start of their next flows, before jitter.
    upcoming: BinaryHeap<Reverse<(Time, u32)>>,
    /// Flows that are already made; those that start before the first of `upcoming` are final.
    ready: BinaryHeap<Reverse<ReadyFlow>>,
    batch: Vec<FlowDraft>,
}

/// Generator of the flows of a workload, or of one host of it.
#[derive(Clone, Debug)]
struct FlowCursor {
    traffic: u16,
    class: u8,
    jitter: Dur,
    jitter_draws: Stream,
    flow_count: u64,
    kind: CursorKind,
}

#[derive(Clone, Debug)]
enum CursorKind {
    Queries(Queries),
    Shuffle(Shuffle),
    Arrivals(Arrivals),
    TracedFlows(TracedFlows),
    Session(Session),
    ShuffleRounds(ShuffleRounds),
    FirstMessages(FirstMessages),
    FlowStarts(FlowStarts),
}

impl CursorKind {
    /// Returns the start of the generator's next flows, before jitter; [`Time::NEVER`] if there are none.
    fn next_start(&self) -> Time {
        match self {
            CursorKind::Queries(k) => k.next_start(),
            CursorKind::Shuffle(k) => k.next_start(),
            CursorKind::Arrivals(k) => k.next_start(),
            CursorKind::TracedFlows(k) => k.next_start(),
            CursorKind::Session(k) => k.next_start(),
            CursorKind::ShuffleRounds(k) => k.next_start(),
            CursorKind::FirstMessages(k) => k.next_start(),
            CursorKind::FlowStarts(k) => k.next_start(),
        }
    }
    /// Returns the traffic class of the flows taken last, if it differs from the workload's.
    fn class(&self) -> Option<u8> {
        match self {
            CursorKind::TracedFlows(k) => k.class(),
            _ => None,
        }
    }
    /// Appends the generator's next simultaneous flows to `out`, and advances.
    fn take_next(&mut self, out: &mut Vec<FlowDraft>) {
        match self {
            CursorKind::Queries(k) => k.take_next(out),
            CursorKind::Shuffle(k) => k.take_next(out),
            CursorKind::Arrivals(k) => k.take_next(out),
            CursorKind::TracedFlows(k) => k.take_next(out),
            CursorKind::Session(k) => k.take_next(out),
            CursorKind::ShuffleRounds(k) => k.take_next(out),
            CursorKind::FirstMessages(k) => k.take_next(out),
            CursorKind::FlowStarts(k) => k.take_next(out),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct ReadyFlow {
    flow: FlowSpec,
    sequence: u64,
}

impl ReadyFlow {
    fn key(&self) -> (Time, HostId, u16, u64) {
        (self.flow.start, self.flow.src, self.flow.traffic, self.sequence)
    }
}
impl PartialEq for ReadyFlow {
    fn eq(&self, other: &ReadyFlow) -> bool {
        self.key() == other.key()
    }
}
impl Eq for ReadyFlow {}
impl PartialOrd for ReadyFlow {
    fn partial_cmp(&self, other: &ReadyFlow) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for ReadyFlow {
    fn cmp(&self, other: &ReadyFlow) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl Flows {
    /// Returns the flows of all workloads that start before `horizon`; raw workloads have none. PRECONDITION: the
    /// workloads were built for this network.
    pub fn new(traffics: &[Traffic], topology: &Topology, seed: u64, horizon: Time) -> Flows {
        let mut flows = Flows::empty(horizon);
        for (index, traffic) in traffics.iter().enumerate() {
            flows.add_workload(traffic, index as u16, topology, seed);
        }
        flows
    }

    pub(super) fn empty(horizon: Time) -> Flows {
        Flows { horizon, cursors: Vec::new(), upcoming: BinaryHeap::new(), ready: BinaryHeap::new(), batch: Vec::new() }
    }

    pub(super) fn add_workload(&mut self, traffic: &Traffic, index: u16, net: &Topology, seed: u64) {
        let stream = |node| Stream::new(seed, node, StreamPurpose::Traffic(index));
        match &traffic.source {
            WorkloadKind::Incast(incast) => {
                let queries = incast.queries(net.hosts, QueryStreams::new(stream));
                self.push_cursor(
                    traffic,
                    stream(u32::MAX ^ common::JITTER_STREAM_FLAG),
                    index,
                    CursorKind::Queries(queries),
                );
            }
            WorkloadKind::Permutation(permutation) => {
                let shuffle = permutation.shuffle(net.hosts, stream(common::DERANGEMENT_STREAM));
                self.push_cursor(
                    traffic,
                    stream(u32::MAX ^ common::JITTER_STREAM_FLAG),
                    index,
                    CursorKind::Shuffle(shuffle),
                );
            }
            WorkloadKind::Poisson(poisson) => {
                for host in 0..net.hosts {
                    let arrivals = poisson.arrivals(net, HostId(host), stream(host));
                    self.push_cursor(
                        traffic,
                        stream(host | common::JITTER_STREAM_FLAG),
                        index,
                        CursorKind::Arrivals(arrivals),
                    );
                }
            }
            WorkloadKind::Query(query) => {
                let draws = MessageDraws { seed, workload: index };
                let queries = query.queries(net.hosts, draws, QueryStreams::new(stream));
                self.push_cursor(
                    traffic,
                    stream(u32::MAX ^ common::JITTER_STREAM_FLAG),
                    index,
                    CursorKind::Queries(queries),
                );
            }
            WorkloadKind::Sessions(sessions) => {
                // Sessions draw their jitter themselves, so that the requests of a clock stay evenly spaced. The cursor
                // must add none.
                let still = Traffic { jitter: Dur::ZERO, ..traffic.clone() };
                for session in sessions.first_requests(index, seed, traffic.jitter) {
                    self.push_cursor(&still, stream(0), index, CursorKind::Session(session));
                }
            }
            WorkloadKind::AllToAll(all) => {
                let shifts = all.shuffle_rounds(stream(common::DERANGEMENT_STREAM));
                self.push_cursor(
                    traffic,
                    stream(u32::MAX ^ common::JITTER_STREAM_FLAG),
                    index,
                    CursorKind::ShuffleRounds(shifts),
                );
            }
            WorkloadKind::AllReduce(job) => {
                // Ranks draw their jitter themselves, again for every iteration. The cursor must add none.
                let still = Traffic { jitter: Dur::ZERO, ..traffic.clone() };
                let ranks = job.place_ranks(index, traffic.jitter, seed).first_messages();
                self.push_cursor(&still, stream(0), index, CursorKind::FirstMessages(FirstMessages::new(ranks)));
            }
            WorkloadKind::LongLived(pairs) => {
                let starts = pairs.starts(net.hosts, stream(common::DERANGEMENT_STREAM));
                self.push_cursor(
                    traffic,
                    stream(u32::MAX ^ common::JITTER_STREAM_FLAG),
                    index,
                    CursorKind::FlowStarts(starts),
                );
            }
            WorkloadKind::Trace(trace) => {
                self.push_cursor(
                    traffic,
                    stream(u32::MAX ^ common::JITTER_STREAM_FLAG),
                    index,
                    CursorKind::TracedFlows(trace.flow_iterator()),
                );
            }
            WorkloadKind::Raw(_) => {}
        }
    }

    fn push_cursor(&mut self, traffic: &Traffic, shake: Stream, index: u16, kind: CursorKind) {
        let (class, jitter) = (traffic.class, traffic.jitter);
        self.cursors.push(FlowCursor { traffic: index, class, jitter, jitter_draws: shake, flow_count: 0, kind });
        self.schedule_cursor(self.cursors.len() as u32 - 1);
    }

    fn schedule_cursor(&mut self, cursor: u32) {
        let next = self.cursors[cursor as usize].kind.next_start();
        if next < self.horizon {
            self.upcoming.push(Reverse((next, cursor)));
        }
    }

    /// Makes the flows that the generator with index `at` starts at `start`, before jitter.
    fn make_flows(&mut self, start: Time, at: u32) {
        let cursor = &mut self.cursors[at as usize];
        cursor.kind.take_next(&mut self.batch);
        let class = cursor.kind.class().unwrap_or(cursor.class);
        for draft in self.batch.drain(..) {
            let late = if cursor.jitter == Dur::ZERO { 0 } else { cursor.jitter_draws.uniform_below(cursor.jitter.0) };
            let start = start.saturating_add(Dur(late));
            let flow = draft.into_flow(start, cursor.traffic, class);
            if start < self.horizon {
                self.ready.push(Reverse(ReadyFlow { flow, sequence: cursor.flow_count }));
            }
            cursor.flow_count += 1;
        }
        self.schedule_cursor(at);
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
            self.make_flows(start, cursor);
        }
    }
}
