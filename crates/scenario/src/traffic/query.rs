//! Partition and aggregate: one host sends requests to many, and all of them answer.

use super::common::{CLASS, JITTER, SERVICE, SERVICE_JITTER, START, STOP, ServiceTime, make_fault};
use super::draws::{DrawPurpose, MessageDraws};
use super::load::{LOAD_BYTES, LOAD_FRACTION, LOAD_OF, LOAD_SEGMENT, OfferedLoad};
use super::query_arrivals::{
    HostSelection, INTERVAL, ParameterNames, QPS, Queries, QueryFlows, QuerySchedule, QueryStreams, REPEAT,
};
use super::{Context, FlowRole, FlowSpec, SIZES, Sizes};
use crate::fault::Fault;
use mech::params::{Param, ParamKind, Spec, Values};
use std::sync::Arc;
use units::{Dur, Time};

pub(super) const SPEC: Spec = Spec {
    slot: "traffic",
    kind: "query",
    doc: "Partition/aggregate queries: one host sends a request to many hosts, and each of them responds when the \
          request has arrived. Queries start once, every `interval`, or at random at `qps` queries per second over the \
          whole network (Poisson).",
    cite: "DCTCP §2.1; DIBS §5.3",
    params: &[
        Param {
            name: "degree",
            doc: "Number of responses in a query. If there are fewer other hosts, some hosts send several responses.",
            kind: ParamKind::Count { min: 1, max: 1_000_000 },
            default: None,
        },
        Param {
            name: "target",
            doc: "Host that sends the requests and receives the responses, or `random`: drawn for every query.",
            kind: ParamKind::Text,
            default: Some("random"),
        },
        Param {
            name: "responders",
            doc: "Selection of responders. `random`: drawn for every query. `first`: the first hosts other than the \
                  target. `spread`: hosts at equal distances in their order. Hosts are distinct unless `degree` \
                  exceeds their number.",
            kind: HostSelection::KIND,
            default: Some("random"),
        },
        Param {
            name: "request",
            doc: "Payload of a request. With `0B` no request is sent, and all hosts respond at the start of the \
                  query, as with `incast`.",
            kind: ParamKind::Size { min: 0 },
            default: Some("200B"),
        },
        Param {
            name: "response",
            doc: "Payload of a response: a size, or a distribution as in `sizes` of `poisson`.",
            kind: ParamKind::Sizes(SIZES),
            default: None,
        },
        SERVICE,
        SERVICE_JITTER,
        START,
        STOP,
        INTERVAL,
        REPEAT,
        QPS,
        LOAD_FRACTION,
        LOAD_OF,
        LOAD_BYTES,
        LOAD_SEGMENT,
        JITTER,
        CLASS,
    ],
};

/// Parameters of a query workload.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Query {
    rounds: QuerySchedule,
    request: u64,
    response: Arc<Sizes>,
    service: ServiceTime,
}

impl Query {
    pub fn build(name: &str, values: &Values, ctx: &Context) -> Result<Query, Vec<Fault>> {
        let names = ParameterNames { degree: "degree", target: "target", pick: "responders" };
        let mut faults = Vec::new();
        let rounds = QuerySchedule::build(name, names, values, ctx).map_err(|more| faults.extend(more)).ok();
        let response = Sizes::read_sizes("response", values, name, ctx).map_err(|more| faults.extend(more)).ok();
        let request = values.size("request");
        if request == 0 {
            for field in ["service", "service_jitter"].into_iter().filter(|field| values.time(field) > Dur::ZERO) {
                let found = values.time(field).to_string();
                faults.push(make_fault(field, found, "no value if `request` is 0B, because there are no requests"));
            }
        }
        match (rounds, response) {
            (Some(rounds), Some(response)) if faults.is_empty() => {
                let asking = Sizes::fixed_size(request.max(1));
                let both = [&response, &asking];
                let rounds = rounds.with_load(values, ctx, &both[..if request == 0 { 1 } else { 2 }])?;
                Ok(Query { rounds, request, response: Arc::new(response), service: ServiceTime::from_values(values) })
            }
            _ => Err(faults),
        }
    }

    /// Returns the offered load: payload with requests, over the capacity of all host links; `None` for a single query.
    pub fn offered_load(&self) -> Option<OfferedLoad> {
        self.rounds.offered_load(self.response.mean_bytes() + self.request as f64)
    }

    pub fn queries(&self, hosts: u32, draws: MessageDraws, streams: QueryStreams) -> Queries {
        let shape = match self.request {
            0 => QueryFlows::DrawnSize(self.response.clone(), draws),
            bytes => QueryFlows::Request(bytes),
        };
        self.rounds.queries(shape, hosts, streams)
    }

    /// Returns the average total number of messages in the queries that start before the instant `end`.
    pub fn flows_before(&self, end: Time) -> f64 {
        self.rounds.queries_before(end) * self.messages_per_query() as f64
    }

    /// Returns the number of first messages of queries that start within a length of time, and their mean bytes.
    pub fn messages_within(&self, within: Dur) -> (f64, f64) {
        let bytes = if self.has_requests() { self.request as f64 } else { self.response.mean_bytes() };
        (self.rounds.queries_within(within) * self.rounds.hosts_per_query() as f64, bytes)
    }

    /// Returns the number of messages of a query, requests included.
    pub fn messages_per_query(&self) -> u64 {
        self.rounds.hosts_per_query() * if self.has_requests() { 2 } else { 1 }
    }

    /// Returns true if queries begin with requests.
    pub fn has_requests(&self) -> bool {
        self.request > 0
    }

    /// Returns the generator of answers to requests; `None` if queries have no requests.
    pub fn answer_source(&self, workload: u16, seed: u64) -> Option<QueryAnswers> {
        let draws = MessageDraws { seed, workload };
        self.has_requests().then(|| QueryAnswers { response: self.response.clone(), service: self.service, draws })
    }
}

/// Generator of answers to the requests of queries.
#[derive(Clone, Debug)]
pub struct QueryAnswers {
    response: Arc<Sizes>,
    service: ServiceTime,
    draws: MessageDraws,
}

impl QueryAnswers {
    pub(super) fn on_delivered(&mut self, message: &FlowSpec, now: Time, out: &mut Vec<FlowSpec>) {
        if message.role != FlowRole::Request {
            return;
        }
        let FlowSpec { src, dst, query, tag, .. } = *message;
        let service = self.service.draw(|| self.draws.stream(query, DrawPurpose::Service, tag));
        let bytes = self.response.quantile(self.draws.stream(query, DrawPurpose::Size, tag).uniform());
        let start = now.saturating_add(service);
        out.push(FlowSpec { start, src: dst, dst: src, bytes, role: FlowRole::Data, ..*message });
    }
}
