//! Many hosts send to one host at the same instant.

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
    doc: "Many hosts send to one at the same instant: once, every `interval`, or as `qps` Poisson queries a second \
          over the whole network.",
    cite: "DIBS §5.3",
    params: &[
        Param {
            name: "senders",
            doc: "Flows in a query (its degree); where there are more than other hosts, hosts send several.",
            kind: Kind::Count { min: 1, max: 1_000_000 },
            default: None,
        },
        Param {
            name: "receiver",
            doc: "The host that all send to, or `random`: drawn anew for every query.",
            kind: Kind::Text,
            default: None,
        },
        Param { name: "size", doc: "Payload of each flow.", kind: Kind::Size { min: 1 }, default: None },
        Param {
            name: "pick",
            doc: "Who sends: `random`, distinct hosts drawn anew for every query; `first`, the first hosts other than \
                  the receiver; `spread`, hosts at equal distances in their order.",
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

/// A workload.
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

    /// Payload over the capacity of all host links; nothing for a single query.
    pub fn offered(&self) -> Option<Offered> {
        self.rounds.offered(self.bytes as f64)
    }

    /// Flows that start before an instant, on average.
    pub fn flows_before(&self, end: Time) -> f64 {
        self.rounds.queries_before(end) * self.messages() as f64
    }

    /// Flows that start within a time, and the payload of each.
    pub fn at_once(&self, within: Dur) -> (f64, f64) {
        (self.rounds.queries_within(within) * self.messages() as f64, self.bytes as f64)
    }

    /// Flows of a query.
    pub fn messages(&self) -> u64 {
        self.rounds.degree()
    }

    pub fn queries(&self, hosts: u32, streams: QueryStreams) -> Queries {
        self.rounds.queries(Shape::Same(self.bytes), hosts, streams)
    }
}
