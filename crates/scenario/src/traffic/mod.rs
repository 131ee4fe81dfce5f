//! Workloads: the flows and raw packets that hosts send, by time, source, destination and size.

mod all_reduce;
mod all_to_all;
mod collective;
mod common;
mod draft;
mod draws;
mod flows;
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
mod reactive;
mod request_reply;
mod rows;
mod sizes;
mod trace;

pub use flows::Flows;
pub use load::{Capacities, LoadBytes, LoadOf, Offered, capacity};
pub use query_size::{QueryRounds, QuerySize};
pub use raw::RawSpec;
pub use reactive::Reaction;
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

/// Function that opens a file, or returns the reason why it cannot.
pub type Open<'a> = dyn Fn(&str) -> Result<Box<dyn BufRead>, String> + 'a;

/// Parts of a scenario with which a workload is checked and built.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Network of the scenario.
    pub topology: &'a Topology,
    /// Time before which all flows start.
    pub duration: Dur,
    /// Framing of the network, for loads in wire bytes.
    pub framing: Framing,
    /// Segment sizes of the workload's transport, if they are known.
    pub segments: Option<Segments>,
    /// Function that returns the text of a file of the scenario, or the reason why it cannot be read.
    pub files: &'a dyn Fn(&str) -> Result<String, String>,
    /// Function that opens a file of the scenario for reading line by line, or returns the reason why it cannot.
    pub open: &'a Open<'a>,
    /// Notes that a run prints about assumptions for what a file leaves open.
    pub notes: &'a RefCell<Vec<String>>,
    /// Capacities of the network, shared by all workloads.
    pub capacities: &'a Capacities,
}

/// Sizes of a transport's segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    /// Payload of a full segment in bytes.
    pub mss: u16,
    /// Bytes of headers in each segment beyond those of the framing.
    pub options: u16,
}

/// Returns true if a kind of traffic sends packets without a transport.
pub fn is_raw(kind: &str) -> bool {
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
    jitter: Dur,
    source: Source,
}

/// Parameters of a workload, by its kind.
#[derive(Clone, Debug, PartialEq)]
enum Source {
    Incast(incast::Incast),
    Permutation(permutation::Permutation),
    AllToAll(all_to_all::AllToAll),
    Poisson(poisson::Poisson),
    Query(query::Query),
    Sessions(request_reply::Sessions),
    AllReduce(all_reduce::AllReduce),
    LongLived(long_lived::LongLived),
    Trace(rows::Trace),
    Raw(raw::Raw),
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
    /// Payload in bytes, at least 1; [`ENDLESS`] for a flow without end.
    pub bytes: u64,
    /// Number of the workload in `[[traffic]]`.
    pub traffic: u16,
    /// Number of the flow's query, counted per workload; `u32::MAX` if the workload has no queries.
    pub query: u32,
    /// Traffic class, 0 to 7.
    pub class: u8,
    /// Role of the flow: data, or the request for data.
    pub role: Role,
    /// Number by which the workload identifies the flow.
    pub tag: u64,
    /// Number, within the workload, of the persistent connection from `src` to `dst` that carries the flow. The first
    /// message opens the connection and the others continue it. [`OWN`] if the flow has its own connection.
    pub connection: u32,
}

/// Size of a flow without end: more than any link carries in the longest run.
pub const ENDLESS: u64 = 1 << 62;

/// Number of a connection that carries one flow alone.
pub const OWN: u32 = u32::MAX;

/// Role of a flow in its application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
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
            return Err(vec![common::fault("kind", format!("`{kind}`"), kinds.join(", "))]);
        };
        if ctx.topology.hosts < 2 {
            let found = format!("a network of {} hosts", ctx.topology.hosts);
            return Err(vec![common::fault("kind", found, "at least two hosts")]);
        }
        let source = match kind {
            "incast" => Source::Incast(incast::Incast::build(name, values, ctx)?),
            "permutation" => Source::Permutation(permutation::Permutation::build(name, values, ctx)?),
            "all_to_all" => Source::AllToAll(all_to_all::AllToAll::build(name, values, ctx)?),
            "all_reduce" => Source::AllReduce(all_reduce::AllReduce::build(values, ctx)?),
            "long_lived" => Source::LongLived(long_lived::LongLived::build(values, ctx)?),
            "poisson" => Source::Poisson(poisson::Poisson::build(name, values, ctx)?),
            "query" => Source::Query(query::Query::build(name, values, ctx)?),
            "request_reply" => Source::Sessions(request_reply::Sessions::build(name, values, ctx)?),
            "trace" => Source::Trace(trace::build(name, values, ctx)?),
            "hpcc" => Source::Trace(hpcc::build(name, values, ctx)?),
            "htsim" => Source::Trace(htsim::build(name, values, ctx)?),
            "opera" => Source::Trace(htsim::opera(name, values, ctx)?),
            _ => Source::Raw(raw::Raw::build(kind, values, ctx)?),
        };
        let (class, jitter) = (values.count("class") as u8, values.time("jitter"));
        Ok(Traffic { name: name.into(), kind: spec.kind, class, jitter, source })
    }

    /// Returns the highest traffic class of the workload's packets, 0 to 7. All have one unless a file lists others.
    pub fn class(&self) -> u8 {
        match &self.source {
            Source::Trace(trace) => trace.class().unwrap_or(self.class),
            _ => self.class,
        }
    }

    /// Returns the traffic classes of the workload's packets; if a file lists them, all up to the highest.
    pub fn classes(&self) -> ClassSet {
        match &self.source {
            Source::Trace(trace) => match trace.class() {
                Some(highest) => (0..=highest).fold(ClassSet::NONE, |set, class| set.union(ClassSet::single(class))),
                None => ClassSet::single(self.class),
            },
            _ => ClassSet::single(self.class),
        }
    }

    /// Returns the payload in bytes of each packet of a raw workload; `None` for flows.
    pub fn raw_payload(&self) -> Option<u16> {
        match &self.source {
            Source::Raw(raw) => Some(raw.payload()),
            _ => None,
        }
    }

    /// Returns true if sources stop making packets while a bounded backlog of theirs is queued at their NIC.
    pub fn is_bounded(&self) -> bool {
        matches!(&self.source, Source::Raw(raw) if raw.is_bounded())
    }

    /// Returns true if raw packets of the workload may be marked.
    pub fn is_ecn_capable(&self) -> bool {
        matches!(&self.source, Source::Raw(raw) if raw.is_ecn_capable())
    }

    /// Returns the flows of this workload only, the `index`-th of the scenario; none if it is raw.
    pub fn flows(&self, index: u16, topology: &Topology, seed: u64, horizon: Time) -> Flows {
        let mut flows = Flows::empty(horizon);
        flows.add(self, index, topology, seed);
        flows
    }

    /// Returns the raw sources of this workload, the `index`-th of the scenario, with drawn start jitter; none if its
    /// flows have a transport.
    pub fn raw(&self, index: u16, seed: u64) -> Vec<RawSpec> {
        match &self.source {
            Source::Raw(raw) => raw.specs(self, index, seed),
            _ => Vec::new(),
        }
    }

    /// Returns the source of flows that start when others end, for the `index`-th workload of the scenario; `None`
    /// if it has no such flows.
    pub fn reaction(&self, index: u16, seed: u64) -> Option<Reaction> {
        match &self.source {
            Source::AllReduce(job) => Some(Reaction::Collective(job.collective(index, self.jitter, seed))),
            Source::Query(query) => query.answers(index, seed).map(Reaction::Answers),
            Source::Sessions(sessions) => Some(Reaction::Sessions(sessions.replies(index, self.class, seed))),
            _ => None,
        }
    }

    /// Returns the number of messages of each query.
    pub fn query_size(&self) -> QuerySize {
        match &self.source {
            Source::Incast(incast) => QuerySize::Fixed(incast.messages()),
            Source::Query(query) => QuerySize::Fixed(query.messages()),
            // Request and reply.
            Source::Sessions(_) => QuerySize::Fixed(2),
            Source::AllToAll(shuffle) => QuerySize::Rounds(shuffle.rounds()),
            Source::AllReduce(job) => QuerySize::Fixed(job.messages()),
            Source::Permutation(_) | Source::Poisson(_) | Source::LongLived(_) | Source::Raw(_) => QuerySize::None,
            Source::Trace(trace) => trace.query_size(),
        }
    }

    /// Estimates the number of flows that start before an instant: the average if they start at random, and a lower
    /// bound if they depend on others.
    pub fn flows_before(&self, end: Time, topology: &Topology) -> f64 {
        match &self.source {
            Source::Incast(incast) => incast.flows_before(end),
            Source::Query(query) => query.flows_before(end),
            Source::Poisson(poisson) => poisson.flows_before(end, topology),
            Source::Sessions(sessions) => sessions.flows_before(end),
            Source::AllToAll(shuffle) => shuffle.flows_before(end),
            Source::Permutation(_) => f64::from(topology.hosts),
            Source::LongLived(pairs) => pairs.count(topology.hosts) as f64,
            Source::Trace(trace) => trace.len() as f64,
            Source::AllReduce(job) => job.messages() as f64,
            Source::Raw(_) => 0.0,
        }
    }

    /// Estimates the largest number of flows that start within a time, and their average bytes. It counts flows that
    /// start together by the parameters, with or without jitter.
    pub fn at_once(&self, topology: &Topology, within: Dur) -> (f64, f64) {
        match &self.source {
            Source::Incast(incast) => incast.at_once(within),
            Source::Query(query) => query.at_once(within),
            Source::AllToAll(shuffle) => shuffle.at_once(),
            Source::Permutation(permutation) => (f64::from(topology.hosts), permutation.mean()),
            Source::LongLived(pairs) => (pairs.at_once(topology.hosts) as f64, ENDLESS as f64),
            Source::Poisson(poisson) => poisson.at_once(within, topology),
            Source::Sessions(sessions) => sessions.at_once(within),
            Source::AllReduce(job) => (job.ranks() as f64, ENDLESS as f64),
            Source::Trace(trace) => trace.at_once(within),
            Source::Raw(_) => (0.0, 0.0),
        }
    }

    /// Estimates the largest number of packets without a transport that sources make within a time, bounded by
    /// `backlog`.
    pub fn raw_packets_within(&self, within: Dur) -> f64 {
        match &self.source {
            Source::Raw(raw) => raw.packets_within(within),
            _ => 0.0,
        }
    }

    /// Returns true if flows of the workload start when others have ended.
    pub fn is_closed_loop(&self) -> bool {
        match &self.source {
            Source::Sessions(_) | Source::AllReduce(_) => true,
            Source::Query(query) => query.asks(),
            _ => false,
        }
    }

    /// Returns true if connections of the workload carry message after message.
    pub fn keeps_connections(&self) -> bool {
        match &self.source {
            Source::Sessions(sessions) => sessions.is_persistent(),
            Source::AllReduce(job) => job.is_persistent(),
            _ => false,
        }
    }

    /// Returns true if the workload's flows have no end. They never count as unfinished and have no completion time.
    pub fn is_endless(&self) -> bool {
        match &self.source {
            Source::LongLived(_) => true,
            Source::Trace(trace) => trace.is_endless(),
            _ => false,
        }
    }

    /// Returns the time from one shuffle to the next, if a load sets it.
    pub fn paced(&self) -> Option<Dur> {
        match &self.source {
            Source::AllToAll(shuffle) => shuffle.paced(),
            _ => None,
        }
    }

    /// Returns the load that the parameters request or result in; `None` if they set no rate.
    pub fn offered(&self) -> Option<Offered> {
        match &self.source {
            Source::Incast(incast) => incast.offered(),
            Source::Poisson(poisson) => poisson.offered(),
            Source::Query(query) => query.offered(),
            Source::AllToAll(shuffle) => shuffle.offered(),
            Source::Permutation(_) | Source::Sessions(_) | Source::AllReduce(_) => None,
            Source::LongLived(_) | Source::Trace(_) | Source::Raw(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
