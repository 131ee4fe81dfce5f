//! Partition and aggregate: one host sends requests to many, and all of them answer.

use super::common::{CLASS, JITTER, SERVICE, SERVICE_JITTER, START, STOP, Service, fault};
use super::draws::{Draws, What};
use super::load::{BYTES, FRACTION, OF, Offered, SEGMENT};
use super::query_arrivals::{INTERVAL, Names, Pick, QPS, Queries, QueryStreams, REPEAT, Rounds, Shape};
use super::{Context, FlowSpec, Role, SIZES, Sizes};
use crate::fault::Fault;
use mech::params::{Kind, Param, Spec, Values};
use std::sync::Arc;
use units::{Dur, Time};

pub(super) const SPEC: Spec = Spec {
    slot: "traffic",
    kind: "query",
    doc: "Partition/aggregate queries: a host sends a request to many hosts, and each responds when the request has \
          arrived. Queries start once, every `interval`, or at random at `qps` queries per second over the whole \
          network (Poisson).",
    cite: "DCTCP §2.1; DIBS §5.3",
    params: &[
        Param {
            name: "degree",
            doc: "Number of responses in a query; if it exceeds the number of other hosts, hosts send several.",
            kind: Kind::Count { min: 1, max: 1_000_000 },
            default: None,
        },
        Param {
            name: "target",
            doc: "Host that sends the requests and receives the responses, or `random`: drawn for every query.",
            kind: Kind::Text,
            default: Some("random"),
        },
        Param {
            name: "responders",
            doc: "Selection of responders. `random`: distinct hosts drawn for every query. `first`: the first hosts \
                  other than the target. `spread`: hosts at equal distances in their order.",
            kind: Pick::KIND,
            default: Some("random"),
        },
        Param {
            name: "request",
            doc: "Payload of a request. With `0B` no request is sent, and all hosts respond at the start of the \
                  query, as with `incast`.",
            kind: Kind::Size { min: 0 },
            default: Some("200B"),
        },
        Param {
            name: "response",
            doc: "Payload of a response: a size, or a distribution as in `sizes` of `poisson`.",
            kind: Kind::Sizes(SIZES),
            default: None,
        },
        SERVICE,
        SERVICE_JITTER,
        START,
        STOP,
        INTERVAL,
        REPEAT,
        QPS,
        FRACTION,
        OF,
        BYTES,
        SEGMENT,
        JITTER,
        CLASS,
    ],
};

/// Parameters of a query workload.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Query {
    rounds: Rounds,
    request: u64,
    response: Arc<Sizes>,
    service: Service,
}

impl Query {
    pub fn build(name: &str, values: &Values, ctx: &Context) -> Result<Query, Vec<Fault>> {
        let names = Names { degree: "degree", target: "target", pick: "responders" };
        let mut faults = Vec::new();
        let rounds = Rounds::build(name, names, values, ctx).map_err(|more| faults.extend(more)).ok();
        let response = Sizes::read("response", values, name, ctx).map_err(|more| faults.extend(more)).ok();
        let request = values.size("request");
        if request == 0 {
            for field in ["service", "service_jitter"].into_iter().filter(|field| values.time(field) > Dur::ZERO) {
                let found = values.time(field).to_string();
                faults.push(fault(field, found, "no value if `request` is 0B: there are no requests"));
            }
        }
        match (rounds, response) {
            (Some(rounds), Some(response)) if faults.is_empty() => {
                let asking = Sizes::fixed(request.max(1));
                let both = [&response, &asking];
                let rounds = rounds.at_load(values, ctx, &both[..if request == 0 { 1 } else { 2 }])?;
                Ok(Query { rounds, request, response: Arc::new(response), service: Service::from_values(values) })
            }
            _ => Err(faults),
        }
    }

    /// Returns the offered payload, requests included, over the capacity of all host links; `None` for a single query.
    pub fn offered(&self) -> Option<Offered> {
        self.rounds.offered(self.response.mean() + self.request as f64)
    }

    pub fn queries(&self, hosts: u32, draws: Draws, streams: QueryStreams) -> Queries {
        let shape = match self.request {
            0 => Shape::Drawn(self.response.clone(), draws),
            bytes => Shape::Request(bytes),
        };
        self.rounds.queries(shape, hosts, streams)
    }

    /// Returns the average number of messages of queries that start before an instant.
    pub fn flows_before(&self, end: Time) -> f64 {
        self.rounds.queries_before(end) * self.messages() as f64
    }

    /// Returns the number of messages that queries begin with within a time, and the mean bytes of each.
    pub fn at_once(&self, within: Dur) -> (f64, f64) {
        let bytes = if self.asks() { self.request as f64 } else { self.response.mean() };
        (self.rounds.queries_within(within) * self.rounds.degree() as f64, bytes)
    }

    /// Returns the number of messages of a query, requests included.
    pub fn messages(&self) -> u64 {
        self.rounds.degree() * if self.asks() { 2 } else { 1 }
    }

    /// Returns true if queries begin with requests.
    pub fn asks(&self) -> bool {
        self.request > 0
    }

    /// Returns the source of answers to requests; `None` without requests.
    pub fn answers(&self, workload: u16, seed: u64) -> Option<Answers> {
        let draws = Draws { seed, workload };
        self.asks().then(|| Answers { response: self.response.clone(), service: self.service, draws })
    }
}

/// Source of answers to the requests of queries.
#[derive(Clone, Debug)]
pub struct Answers {
    response: Arc<Sizes>,
    service: Service,
    draws: Draws,
}

impl Answers {
    pub(super) fn delivered(&mut self, message: &FlowSpec, now: Time, out: &mut Vec<FlowSpec>) {
        if message.role != Role::Request {
            return;
        }
        let FlowSpec { src, dst, query, tag, .. } = *message;
        let service = self.service.draw(|| self.draws.stream(query, What::Service, tag));
        let bytes = self.response.quantile(self.draws.stream(query, What::Size, tag).unit());
        let start = now.saturating_add(service);
        out.push(FlowSpec { start, src: dst, dst: src, bytes, role: Role::Data, ..*message });
    }
}
