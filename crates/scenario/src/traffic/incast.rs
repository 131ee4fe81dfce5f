//! Incast: many hosts send to one host at the same instant.

use super::common::{CLASS, JITTER, START, STOP};
use super::load::{BYTES, FRACTION, OF, Offered, SEGMENT};
use super::query_arrivals::{INTERVAL, Names, Pick, QPS, Queries, QueryStreams, REPEAT, Rounds, Shape};
use super::{Context, Sizes};
use crate::fault::Fault;
use mech::params::{Kind, Param, Spec, Values};
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
            doc: "Number of flows in a query (its degree); if it exceeds the number of other hosts, hosts send \
                  several.",
            kind: Kind::Count { min: 1, max: 1_000_000 },
            default: None,
        },
        Param {
            name: "receiver",
            doc: "Host that receives all flows, or `random`: drawn for every query.",
            kind: Kind::Text,
            default: None,
        },
        Param { name: "size", doc: "Payload of each flow.", kind: Kind::Size { min: 1 }, default: None },
        Param {
            name: "pick",
            doc: "Selection of senders. `random`: distinct hosts drawn for every query. `first`: the first hosts \
                  other than the receiver. `spread`: hosts at equal distances in their order.",
            kind: Pick::KIND,
            default: Some("random"),
        },
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

/// Parameters of an incast workload.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Incast {
    rounds: Rounds,
    bytes: u64,
}

impl Incast {
    pub fn build(name: &str, values: &Values, ctx: &Context) -> Result<Incast, Vec<Fault>> {
        let names = Names { degree: "senders", target: "receiver", pick: "pick" };
        let bytes = values.size("size");
        let rounds = Rounds::build(name, names, values, ctx)?.at_load(values, ctx, &[&Sizes::fixed(bytes)])?;
        Ok(Incast { rounds, bytes })
    }

    /// Returns the offered payload over the capacity of all host links; `None` for a single query.
    pub fn offered(&self) -> Option<Offered> {
        self.rounds.offered(self.bytes as f64)
    }

    /// Returns the average number of flows that start before an instant.
    pub fn flows_before(&self, end: Time) -> f64 {
        self.rounds.queries_before(end) * self.messages() as f64
    }

    /// Returns the number of flows that start within a time, and the payload of each.
    pub fn at_once(&self, within: Dur) -> (f64, f64) {
        (self.rounds.queries_within(within) * self.messages() as f64, self.bytes as f64)
    }

    /// Returns the number of flows of a query.
    pub fn messages(&self) -> u64 {
        self.rounds.degree()
    }

    pub fn queries(&self, hosts: u32, streams: QueryStreams) -> Queries {
        self.rounds.queries(Shape::Same(self.bytes), hosts, streams)
    }
}
