//! Workloads: the flows and raw packets that hosts send, by time, source, destination and size.

mod all_reduce;
mod all_to_all;
mod collective;
mod common;
mod draft;
mod draws;
mod flow_rows;
mod flows;
mod follow_ups;
mod hpcc;
mod htsim;
mod incast;
mod load;
mod long_lived;
mod permutation;
mod poisson;
mod query;
mod query_arrivals;
mod query_size;
mod raw;
mod request_reply;
mod sizes;
mod trace;

pub use flows::Flows;
pub use follow_ups::FollowUps;
pub use load::{Capacities, LoadBytes, LoadOf, OfferedLoad, capacity};
pub use query_size::{QueryRounds, QuerySize};
pub use raw::RawSource;
pub use sizes::{SPECS as SIZES, Sizes};

use crate::fault::Fault;
use crate::topology::Topology;
use dataplane::Framing;
use mech::params::{Spec, Values};
use mech::{ClassSet, HostId};
use std::cell::RefCell;
use std::io::BufRead;
use units::{Dur, Time};

/// Specifications of all kinds of traffic that a scenario may name.
pub const SPECS: &[&Spec] = &[
    &incast::SPEC,
    &permutation::SPEC,
    &all_to_all::SPEC,
    &poisson::SPEC,
    &query::SPEC,
    &request_reply::SPEC,
    &all_reduce::SPEC,
    &long_lived::SPEC,
    &trace::SPEC,
    &hpcc::SPEC,
    &htsim::SPEC,
    &htsim::OPERA,
    &raw::CONSTANT,
    &raw::BURSTS,
];

/// Function that opens a file by name, or returns the reason why it cannot.
pub type FileOpener<'a> = dyn Fn(&str) -> Result<Box<dyn BufRead>, String> + 'a;

/// Parts of a scenario with which a workload is checked and built.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Network of the scenario.
    pub topology: &'a Topology,
    /// Duration of the run; all flows start before it is over.
    pub duration: Dur,
    /// Framing of the network, for loads in wire bytes.
    pub framing: Framing,
    /// Segment sizes of the workload's transport, if they are known.
    pub segments: Option<SegmentSizes>,
    /// Function that returns the text of a file of the scenario, or the reason why it cannot be read.
    pub files: &'a dyn Fn(&str) -> Result<String, String>,
    /// Function that opens a file of the scenario for reading line by line, or returns the reason why it cannot.
    pub open: &'a FileOpener<'a>,
    /// Notes for the user about assumptions that fill gaps in a file.
    pub notes: &'a RefCell<Vec<String>>,
    /// Capacities of the network that a load may refer to, shared by all workloads.
    pub capacities: &'a Capacities,
}

/// Sizes of a transport's segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentSizes {
    /// Payload of a full segment in bytes.
    pub mss: u16,
    /// Bytes of headers in each segment beyond those of the framing.
    pub options: u16,
}

/// Returns true if a kind of traffic sends packets without a transport.
pub fn is_raw_kind(kind: &str) -> bool {
    [&raw::CONSTANT, &raw::BURSTS].iter().any(|spec| spec.kind == kind)
}

/// Workload: one entry of the scenario's `[[traffic]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// Name of the workload.
    pub name: String,
    /// Kind of traffic, as a scenario names it.
    pub kind: &'static str,
    class: u8,
    dscp: Option<u8>,
    jitter: Dur,
    source: WorkloadKind,
}

/// Parameters of a workload, by its kind.
#[derive(Clone, Debug, PartialEq)]
enum WorkloadKind {
    Incast(incast::Incast),
    Permutation(permutation::Permutation),
    AllToAll(all_to_all::AllToAll),
    Poisson(poisson::Poisson),
    Query(query::Query),
    Sessions(request_reply::Sessions),
    AllReduce(all_reduce::AllReduce),
    LongLived(long_lived::LongLived),
    Trace(flow_rows::FlowTrace),
    Raw(raw::RawWorkload),
}

/// Flow that a transport will send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowSpec {
    /// Time at which the first byte is handed to the transport.
    pub start: Time,
    /// Host that sends the flow.
    pub src: HostId,
    /// Host that receives the flow.
    pub dst: HostId,
    /// Payload in bytes, at least 1; [`ENDLESS_BYTES`] for a flow without end.
    pub bytes: u64,
    /// Number of the workload in `[[traffic]]`.
    pub traffic: u16,
    /// Number of the flow's query, counted per workload; `u32::MAX` if the workload has no queries.
    pub query: u32,
    /// Traffic class, 0 to 7.
    pub class: u8,
    /// Role of the flow: data, or the request for data.
    pub role: FlowRole,
    /// Tag of the flow, by which its workload recognises it.
    pub tag: u64,
    /// Number, within the workload, of the persistent connection from `src` to `dst` that carries the flow. The first
    /// message opens the connection and the others continue it. [`OWN_CONNECTION`] if the flow has its own connection.
    pub connection: u32,
}

/// Size in bytes of a flow without end: more than any link carries in the longest run.
pub const ENDLESS_BYTES: u64 = 1 << 62;

/// Connection number of a flow that has a connection for itself.
pub const OWN_CONNECTION: u32 = u32::MAX;

/// Role of a flow in its application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FlowRole {
    /// Data that an application requests.
    #[default]
    Data = 0,
    /// Request for data.
    Request = 1,
}

impl Traffic {
    /// Builds a workload from its name, kind and validated parameters.
    ///
    /// # Errors
    /// Returns a [`Fault`] for each parameter that does not fit the others, the network or the duration. Each wrong
    /// line of a file is a fault too.
    pub fn build(name: &str, kind: &str, values: &Values, ctx: &Context) -> Result<Traffic, Vec<Fault>> {
        let Some(spec) = SPECS.iter().find(|spec| spec.kind == kind) else {
            let kinds: Vec<_> = SPECS.iter().map(|spec| format!("`{}`", spec.kind)).collect();
            return Err(vec![common::make_fault("kind", format!("`{kind}`"), kinds.join(", "))]);
        };
        if ctx.topology.hosts < 2 {
            let found = format!("a network of {} hosts", ctx.topology.hosts);
            return Err(vec![common::make_fault("kind", found, "at least two hosts")]);
        }
        let source = match kind {
            "incast" => WorkloadKind::Incast(incast::Incast::build(name, values, ctx)?),
            "permutation" => WorkloadKind::Permutation(permutation::Permutation::build(name, values, ctx)?),
            "all_to_all" => WorkloadKind::AllToAll(all_to_all::AllToAll::build(name, values, ctx)?),
            "all_reduce" => WorkloadKind::AllReduce(all_reduce::AllReduce::build(values, ctx)?),
            "long_lived" => WorkloadKind::LongLived(long_lived::LongLived::build(values, ctx)?),
            "poisson" => WorkloadKind::Poisson(poisson::Poisson::build(name, values, ctx)?),
            "query" => WorkloadKind::Query(query::Query::build(name, values, ctx)?),
            "request_reply" => WorkloadKind::Sessions(request_reply::Sessions::build(name, values, ctx)?),
            "trace" => WorkloadKind::Trace(trace::build(name, values, ctx)?),
            "hpcc" => WorkloadKind::Trace(hpcc::build(name, values, ctx)?),
            "htsim" => WorkloadKind::Trace(htsim::build(name, values, ctx)?),
            "opera" => WorkloadKind::Trace(htsim::build_opera(name, values, ctx)?),
            _ => WorkloadKind::Raw(raw::RawWorkload::build(kind, values, ctx)?),
        };
        let (class, jitter) = (values.count("class") as u8, values.time("jitter"));
        let dscp = values.has("dscp").then(|| values.count("dscp") as u8);
        Ok(Traffic { name: name.into(), kind: spec.kind, class, dscp, jitter, source })
    }

    /// Returns the highest traffic class of the workload's packets, 0 to 7. Classes differ only if a file gives a class
    /// to each flow.
    pub fn class(&self) -> u8 {
        match &self.source {
            WorkloadKind::Trace(trace) => trace.class().unwrap_or(self.class),
            _ => self.class,
        }
    }

    /// Returns the traffic classes of the workload's packets.
    /// If a file gives a class for each flow, these are all classes from 0 to the highest in the file.
    pub fn classes(&self) -> ClassSet {
        match &self.source {
            WorkloadKind::Trace(trace) => match trace.class() {
                Some(highest) => (0..=highest).fold(ClassSet::NONE, |set, class| set.union(ClassSet::single(class))),
                None => ClassSet::single(self.class),
            },
            _ => ClassSet::single(self.class),
        }
    }

    /// Returns the traffic classes that flows of the workload have; for a file with a class for each flow, only those
    /// in the file.
    pub fn sent_classes(&self) -> ClassSet {
        match &self.source {
            WorkloadKind::Trace(trace) if trace.class().is_some() => trace.classes(),
            _ => ClassSet::single(self.class),
        }
    }

    /// Returns the DSCP that the workload names for its packets.
    pub fn named_dscp(&self) -> Option<u8> {
        self.dscp
    }

    /// Returns the payload in bytes of each packet of a raw workload; `None` for flows.
    pub fn raw_payload(&self) -> Option<u16> {
        match &self.source {
            WorkloadKind::Raw(raw) => Some(raw.payload()),
            _ => None,
        }
    }

    /// Returns true if raw sources make no packets while their backlog at the NIC has reached a limit.
    pub fn is_bounded(&self) -> bool {
        matches!(&self.source, WorkloadKind::Raw(raw) if raw.is_bounded())
    }

    /// Returns true if the workload's raw packets are ECN-capable, so that they may be marked.
    pub fn is_ecn_capable(&self) -> bool {
        matches!(&self.source, WorkloadKind::Raw(raw) if raw.is_ecn_capable())
    }

    /// Returns the flows of this workload alone; none if it is raw. `index` is its number in the scenario.
    pub fn flows(&self, index: u16, topology: &Topology, seed: u64, horizon: Time) -> Flows {
        let mut flows = Flows::empty(horizon);
        flows.add_workload(self, index, topology, seed);
        flows
    }

    /// Returns the sources of raw packets of this workload, with drawn start jitter; none if its flows have a
    /// transport. `index` is the workload's number in the scenario.
    pub fn raw_sources(&self, index: u16, seed: u64) -> Vec<RawSource> {
        match &self.source {
            WorkloadKind::Raw(raw) => raw.raw_sources(self, index, seed),
            _ => Vec::new(),
        }
    }

    /// Returns the generator of flows that start when others have arrived; `None` if the workload has no such flows.
    /// `index` is the workload's number in the scenario.
    pub fn follow_ups(&self, index: u16, seed: u64) -> Option<FollowUps> {
        match &self.source {
            WorkloadKind::AllReduce(job) => Some(FollowUps::Collective(job.place_ranks(index, self.jitter, seed))),
            WorkloadKind::Query(query) => query.answer_source(index, seed).map(FollowUps::Answers),
            WorkloadKind::Sessions(sessions) => {
                Some(FollowUps::Sessions(sessions.reply_source(index, self.class, seed)))
            }
            _ => None,
        }
    }

    /// Returns the number of messages of each query.
    pub fn query_size(&self) -> QuerySize {
        match &self.source {
            WorkloadKind::Incast(incast) => QuerySize::Fixed(incast.flows_per_query()),
            WorkloadKind::Query(query) => QuerySize::Fixed(query.messages_per_query()),
            // Request and reply.
            WorkloadKind::Sessions(_) => QuerySize::Fixed(2),
            WorkloadKind::AllToAll(shuffle) => QuerySize::Rounds(shuffle.query_rounds()),
            WorkloadKind::AllReduce(job) => QuerySize::Fixed(job.messages_per_iteration()),
            WorkloadKind::Permutation(_)
            | WorkloadKind::Poisson(_)
            | WorkloadKind::LongLived(_)
            | WorkloadKind::Raw(_) => QuerySize::None,
            WorkloadKind::Trace(trace) => trace.query_size(),
        }
    }

    /// Estimates the number of flows that start before the instant `end`: the average if they start at random, and a
    /// lower bound if they depend on other flows.
    pub fn flows_before(&self, end: Time, topology: &Topology) -> f64 {
        match &self.source {
            WorkloadKind::Incast(incast) => incast.flows_before(end),
            WorkloadKind::Query(query) => query.flows_before(end),
            WorkloadKind::Poisson(poisson) => poisson.flows_before(end, topology),
            WorkloadKind::Sessions(sessions) => sessions.flows_before(end),
            WorkloadKind::AllToAll(shuffle) => shuffle.flows_before(end),
            WorkloadKind::Permutation(_) => f64::from(topology.hosts),
            WorkloadKind::LongLived(pairs) => pairs.count_flows(topology.hosts) as f64,
            WorkloadKind::Trace(trace) => trace.count_flows() as f64,
            WorkloadKind::AllReduce(job) => job.messages_per_iteration() as f64,
            WorkloadKind::Raw(_) => 0.0,
        }
    }

    /// Estimates the largest number of flows that start within a length of time, and their average bytes. Flows that
    /// the parameters start together count as simultaneous, with or without jitter.
    pub fn simultaneous_flows(&self, topology: &Topology, within: Dur) -> (f64, f64) {
        match &self.source {
            WorkloadKind::Incast(incast) => incast.flows_within(within),
            WorkloadKind::Query(query) => query.messages_within(within),
            WorkloadKind::AllToAll(shuffle) => shuffle.flows_per_round(),
            WorkloadKind::Permutation(permutation) => (f64::from(topology.hosts), permutation.mean_bytes()),
            WorkloadKind::LongLived(pairs) => (pairs.simultaneous_flows(topology.hosts) as f64, ENDLESS_BYTES as f64),
            WorkloadKind::Poisson(poisson) => poisson.flows_within(within, topology),
            WorkloadKind::Sessions(sessions) => sessions.requests_within(within),
            WorkloadKind::AllReduce(job) => (job.count_ranks() as f64, ENDLESS_BYTES as f64),
            WorkloadKind::Trace(trace) => trace.flows_within(within),
            WorkloadKind::Raw(_) => (0.0, 0.0),
        }
    }

    /// Estimates the largest number of packets without a transport that sources make within a length of time, bounded
    /// by `backlog`.
    pub fn raw_packets_within(&self, within: Dur) -> f64 {
        match &self.source {
            WorkloadKind::Raw(raw) => raw.packets_within(within),
            _ => 0.0,
        }
    }

    /// Returns true if flows of the workload start when others have ended.
    pub fn is_closed_loop(&self) -> bool {
        match &self.source {
            WorkloadKind::Sessions(_) | WorkloadKind::AllReduce(_) => true,
            WorkloadKind::Query(query) => query.has_requests(),
            _ => false,
        }
    }

    /// Returns true if the workload uses persistent connections, which may carry several messages.
    pub fn keeps_connections(&self) -> bool {
        match &self.source {
            WorkloadKind::Sessions(sessions) => sessions.is_persistent(),
            WorkloadKind::AllReduce(job) => job.is_persistent(),
            _ => false,
        }
    }

    /// Returns true if the workload's flows have no end. They never count as unfinished and have no completion time.
    pub fn is_endless(&self) -> bool {
        match &self.source {
            WorkloadKind::LongLived(_) => true,
            WorkloadKind::Trace(trace) => trace.is_endless(),
            _ => false,
        }
    }

    /// Returns the time from one shuffle to the next, if `load` sets it.
    pub fn shuffle_interval(&self) -> Option<Dur> {
        match &self.source {
            WorkloadKind::AllToAll(shuffle) => shuffle.shuffle_interval(),
            _ => None,
        }
    }

    /// Returns the offered load, which the parameters set directly or through rates; `None` if they set no rate.
    pub fn offered_load(&self) -> Option<OfferedLoad> {
        match &self.source {
            WorkloadKind::Incast(incast) => incast.offered_load(),
            WorkloadKind::Poisson(poisson) => poisson.offered_load(),
            WorkloadKind::Query(query) => query.offered_load(),
            WorkloadKind::AllToAll(shuffle) => shuffle.offered_load(),
            WorkloadKind::Permutation(_) | WorkloadKind::Sessions(_) | WorkloadKind::AllReduce(_) => None,
            WorkloadKind::LongLived(_) | WorkloadKind::Trace(_) | WorkloadKind::Raw(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
