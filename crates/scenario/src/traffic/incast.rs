//! Incast: many hosts send to one host at the same instant.

use super::common::{CLASS, JITTER, START, STOP};
use super::load::{LOAD_BYTES, LOAD_FRACTION, LOAD_OF, LOAD_SEGMENT, OfferedLoad};
use super::query_arrivals::{
    HostSelection, INTERVAL, ParameterNames, QPS, Queries, QueryFlows, QuerySchedule, QueryStreams, REPEAT,
};
use super::{Context, Sizes};
use crate::fault::Fault;
use mech::params::{Param, ParamKind, Spec, Values};
use units::{Dur, Time};

pub(super) const SPEC: Spec = Spec {
    slot: "traffic",
    kind: "incast",
    doc: "Queries in which many hosts send to one simultaneously: once, every `interval`, or at random at `qps` \
          queries per second over the whole network (Poisson).",
    cite: "DIBS §5.3",
    params: &[
        Param {
            name: "senders",
            doc: "Number of flows in a query (degree). If there are fewer other hosts, some hosts send several flows.",
            kind: ParamKind::Count { min: 1, max: 1_000_000 },
            default: None,
        },
        Param {
            name: "receiver",
            doc: "Host that receives all flows, or `random`: drawn for every query.",
            kind: ParamKind::Text,
            default: None,
        },
        Param { name: "size", doc: "Payload of each flow.", kind: ParamKind::Size { min: 1 }, default: None },
        Param {
            name: "pick",
            doc: "Selection of senders. `random`: drawn for every query. `first`: the first hosts other than the \
                  receiver. `spread`: hosts at equal distances in their order. Hosts are distinct unless `senders` \
                  exceeds their number.",
            kind: HostSelection::KIND,
            default: Some("random"),
        },
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

/// Parameters of an incast workload.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Incast {
    rounds: QuerySchedule,
    bytes: u64,
}

impl Incast {
    pub fn build(name: &str, values: &Values, ctx: &Context) -> Result<Incast, Vec<Fault>> {
        let names = ParameterNames { degree: "senders", target: "receiver", pick: "pick" };
        let bytes = values.size("size");
        let rounds =
            QuerySchedule::build(name, names, values, ctx)?.with_load(values, ctx, &[&Sizes::fixed_size(bytes)])?;
        Ok(Incast { rounds, bytes })
    }

    /// Returns the offered load: payload over the capacity of all host links; `None` for a single query.
    pub fn offered_load(&self) -> Option<OfferedLoad> {
        self.rounds.offered_load(self.bytes as f64)
    }

    /// Returns the average number of flows that start before the instant `end`.
    pub fn flows_before(&self, end: Time) -> f64 {
        self.rounds.queries_before(end) * self.flows_per_query() as f64
    }

    /// Returns the number of flows that start within a length of time, and the payload of each.
    pub fn flows_within(&self, within: Dur) -> (f64, f64) {
        (self.rounds.queries_within(within) * self.flows_per_query() as f64, self.bytes as f64)
    }

    /// Returns the number of flows of a query.
    pub fn flows_per_query(&self) -> u64 {
        self.rounds.hosts_per_query()
    }

    pub fn queries(&self, hosts: u32, streams: QueryStreams) -> Queries {
        self.rounds.queries(QueryFlows::FixedSize(self.bytes), hosts, streams)
    }
}
