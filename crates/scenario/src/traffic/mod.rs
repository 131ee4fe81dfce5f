//! Who sends what to whom, when.

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
mod queries;
mod query;
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

/// The kinds of traffic that a scenario may name.
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

/// Opens a file; the error says why it cannot be.
pub type Open<'a> = dyn Fn(&str) -> Result<Box<dyn BufRead>, String> + 'a;

/// What a workload is checked against.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The network.
    pub topology: &'a Topology,
    /// Flows start before this.
    pub duration: Dur,
    /// What a frame costs, for loads in wire bytes.
    pub framing: Framing,
    /// How its flows fill frames, where it is known of the workload.
    pub segments: Option<Segments>,
    /// The text of a file of the scenario, or why it cannot be read.
    pub files: &'a dyn Fn(&str) -> Result<String, String>,
    /// A file of the scenario to be read as it comes, or why it cannot be.
    pub open: &'a Open<'a>,
    /// Sentences that a run prints: what was assumed where a file leaves it open.
    pub notes: &'a RefCell<Vec<String>>,
    /// Shared by all workloads on this network.
    pub capacities: &'a Capacities,
}

/// How a transport fills frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    /// Payload of a full one, bytes.
    pub mss: u16,
    /// Bytes of headers in each beyond those of the framing.
    pub options: u16,
}

/// Whether the packets of a kind are sent without a transport.
pub fn is_raw(kind: &str) -> bool {
    [&raw::CONSTANT, &raw::BURSTS].iter().any(|spec| spec.kind == kind)
}

/// One workload of the scenario's `[[traffic]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// Its name.
    pub name: String,
    /// Its kind, as a scenario names it.
    pub kind: &'static str,
    class: u8,
    jitter: Dur,
    source: Source,
}

/// The kinds.
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

/// A flow to be sent by the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowSpec {
    /// When its first byte is handed to the transport.
    pub start: Time,
    /// The host that sends.
    pub src: HostId,
    /// The host that receives.
    pub dst: HostId,
    /// Payload bytes, at least 1; [`ENDLESS`] where there is no end.
    pub bytes: u64,
    /// Which workload of `[[traffic]]` it comes from.
    pub traffic: u16,
    /// Flows of one query share a number, counted per workload; `u32::MAX` where there are no queries.
    pub query: u32,
    /// Traffic class, 0 to 7.
    pub class: u8,
    /// What it is for.
    pub role: Role,
    /// What its workload knows it by.
    pub tag: u64,
    /// The number, within the workload, of the persistent connection that carries it from `src` to `dst`:
    /// opened by its first message, gone on with by the others. [`OWN`] for one of its own.
    pub connection: u32,
}

/// The size of a flow without end: more than any link carries in the longest run that one can wait for.
pub const ENDLESS: u64 = 1 << 62;

/// The connection of a flow that has one of its own.
pub const OWN: u32 = u32::MAX;

/// What a flow is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// What an application is after.
    #[default]
    Data = 0,
    /// What asks for it.
    Request = 1,
}

impl Traffic {
    /// The workload of a name and kind with its validated parameters.
    ///
    /// # Errors
    /// A [`Fault`] for each parameter that does not fit the others, the network or the duration,
    /// and for each line of a file that cannot be.
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

    /// The highest traffic class of its packets, 0 to 7: all have the same where a file does not tell others.
    pub fn class(&self) -> u8 {
        match &self.source {
            Source::Trace(trace) => trace.class().unwrap_or(self.class),
            _ => self.class,
        }
    }

    /// The traffic classes of its packets; where a file tells them, all up to the highest.
    pub fn classes(&self) -> ClassSet {
        match &self.source {
            Source::Trace(trace) => match trace.class() {
                Some(highest) => (0..=highest).fold(ClassSet::NONE, |set, class| set.union(ClassSet::of(class))),
                None => ClassSet::of(self.class),
            },
            _ => ClassSet::of(self.class),
        }
    }

    /// Payload of each of its packets where it is raw.
    pub fn raw_payload(&self) -> Option<u16> {
        match &self.source {
            Source::Raw(raw) => Some(raw.payload()),
            _ => None,
        }
    }

    /// Whether its sources make nothing while so much of theirs waits at their NIC.
    pub fn is_bounded(&self) -> bool {
        matches!(&self.source, Source::Raw(raw) if raw.is_bounded())
    }

    /// Whether its packets may be marked, where they have no transport.
    pub fn is_ecn_capable(&self) -> bool {
        matches!(&self.source, Source::Raw(raw) if raw.is_ecn_capable())
    }

    /// The flows of this workload alone, the `index`-th of the scenario; none where it is raw.
    pub fn flows(&self, index: u16, topology: &Topology, seed: u64, horizon: Time) -> Flows {
        let mut flows = Flows::empty(horizon);
        flows.add(self, index, topology, seed);
        flows
    }

    /// The raw sources of this workload, the `index`-th of the scenario, start jitter drawn; empty
    /// where its flows have a transport.
    pub fn raw(&self, index: u16, seed: u64) -> Vec<RawSpec> {
        match &self.source {
            Source::Raw(raw) => raw.specs(self, index, seed),
            _ => Vec::new(),
        }
    }

    /// What follows upon its messages, it being the `index`-th workload of the scenario; `None` where
    /// nothing does.
    pub fn reaction(&self, index: u16, seed: u64) -> Option<Reaction> {
        match &self.source {
            Source::AllReduce(job) => Some(Reaction::Collective(job.collective(index, self.jitter, seed))),
            Source::Query(query) => query.answers(index, seed).map(Reaction::Answers),
            Source::Sessions(sessions) => Some(Reaction::Sessions(sessions.replies(index, self.class, seed))),
            _ => None,
        }
    }

    /// How many messages each of its queries has.
    pub fn query_size(&self) -> QuerySize {
        match &self.source {
            Source::Incast(incast) => QuerySize::Fixed(incast.messages()),
            Source::Query(query) => QuerySize::Fixed(query.messages()),
            // A request and its reply.
            Source::Sessions(_) => QuerySize::Fixed(2),
            Source::AllToAll(shuffle) => QuerySize::Rounds(shuffle.rounds()),
            Source::AllReduce(job) => QuerySize::Fixed(job.messages()),
            Source::Permutation(_) | Source::Poisson(_) | Source::LongLived(_) | Source::Raw(_) => QuerySize::None,
            Source::Trace(trace) => trace.query_size(),
        }
    }

    /// How many flows it starts before an instant, about: on average where they come at random, and at least so many
    /// where they depend on others.
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

    /// How many of its flows start at most within a time, about, and the bytes of each on average: of those that start at
    /// once by its parameters, jitter or not.
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

    /// How many packets without a transport its sources make at most within a time, about; those that wait at their NIC
    /// at most, where `backlog` bounds them.
    pub fn raw_packets_within(&self, within: Dur) -> f64 {
        match &self.source {
            Source::Raw(raw) => raw.packets_within(within),
            _ => 0.0,
        }
    }

    /// Whether its flows start when others have ended.
    pub fn is_closed_loop(&self) -> bool {
        match &self.source {
            Source::Sessions(_) | Source::AllReduce(_) => true,
            Source::Query(query) => query.asks(),
            _ => false,
        }
    }

    /// Whether connections of it carry message after message.
    pub fn keeps_connections(&self) -> bool {
        match &self.source {
            Source::Sessions(sessions) => sessions.is_persistent(),
            Source::AllReduce(job) => job.is_persistent(),
            _ => false,
        }
    }

    /// Whether its flows have no end: they never count as unfinished, and have no completion time.
    pub fn is_endless(&self) -> bool {
        match &self.source {
            Source::LongLived(_) => true,
            Source::Trace(trace) => trace.is_endless(),
            _ => false,
        }
    }

    /// The time from one shuffle to the next, where a load has set it and not the scenario.
    pub fn paced(&self) -> Option<Dur> {
        match &self.source {
            Source::AllToAll(shuffle) => shuffle.paced(),
            _ => None,
        }
    }

    /// The load that the parameters ask for or amount to; `None` where they say nothing of a rate.
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
