//! Partition and aggregate: a host asks many, and all answer it.

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
    doc: "Partition and aggregate: a host sends a request to many, and each answers when it has it: once, every \
          `interval`, or as `qps` Poisson queries a second over the whole network.",
    cite: "DCTCP §2.1; DIBS §5.3",
    params: &[
        Param {
            name: "degree",
            doc: "Responses in a query; where there are more than other hosts, hosts give several.",
            kind: Kind::Count { min: 1, max: 1_000_000 },
            default: None,
        },
        Param {
            name: "target",
            doc: "The host that asks and is answered, or `random`: drawn anew for every query.",
            kind: Kind::Text,
            default: Some("random"),
        },
        Param {
            name: "responders",
            doc: "Who answers: `random`, distinct hosts drawn anew for every query; `first`, the first hosts other than \
                  the target; `spread`, hosts at equal distances in their order.",
            kind: Pick::KIND,
            default: Some("random"),
        },
        Param {
            name: "request",
            doc: "Payload of a request. With `0B` none is sent, and all answer at the query's start, as with `incast`.",
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

/// A workload.
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
                faults.push(fault(field, found, "left out where `request` is 0B: nothing is asked"));
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

    /// Payload, requests included, over the capacity of all host links; nothing for a single query.
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

    /// Messages of queries that start before an instant, on average.
    pub fn flows_before(&self, end: Time) -> f64 {
        self.rounds.queries_before(end) * self.messages() as f64
    }

    /// Messages that a query begins with, and the mean bytes of each.
    pub fn at_once(&self, within: Dur) -> (f64, f64) {
        let bytes = if self.asks() { self.request as f64 } else { self.response.mean() };
        (self.rounds.queries_within(within) * self.rounds.degree() as f64, bytes)
    }

    /// Messages of a query, requests included.
    pub fn messages(&self) -> u64 {
        self.rounds.degree() * if self.asks() { 2 } else { 1 }
    }

    /// Whether hosts are asked.
    pub fn asks(&self) -> bool {
        self.request > 0
    }

    /// What follows upon its requests; `None` where nothing is asked.
    pub fn answers(&self, workload: u16, seed: u64) -> Option<Answers> {
        let draws = Draws { seed, workload };
        self.asks().then(|| Answers { response: self.response.clone(), service: self.service, draws })
    }
}

/// What follows upon the requests of queries.
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
