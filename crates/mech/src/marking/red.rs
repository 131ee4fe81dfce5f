//! Random early detection (Floyd and Jacobson 1993; RFC 2309 §3, with Floyd's "gentle" variant).
//!
//! The average queue moves at every arrival by `weight`; while the queue is empty it decays as if
//! small packets had passed (§11 of the 1993 paper), one every `idle_packet`.

use super::Marking;
use crate::params::{Kind, Param, Spec, Values};
use crate::{Env, Head, QueueView};
use units::{Amount, Dur, Time};

/// See the module.
#[derive(Clone, Debug)]
pub struct Red {
    min: f64,
    max: f64,
    in_packets: bool,
    max_p: f64,
    weight: f64,
    gentle: bool,
    drop_not_ect: bool,
    idle_packet: Dur,
    average: f64,
    since_mark: i64,
    idle_from: Option<Time>,
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.marking",
    kind: "red",
    doc: "Marks at random, more often the longer the average queue is.",
    cite: "Floyd and Jacobson 1993; RFC 2309 §3",
    params: &[
        Param {
            name: "min",
            doc: "Average queue from which marks are given.",
            kind: Kind::Amount { min: 0 },
            default: Some("5pkt"),
        },
        Param {
            name: "max",
            doc: "Average queue at which the probability is max_p; in the same unit as min.",
            kind: Kind::Amount { min: 1 },
            default: Some("15pkt"),
        },
        Param {
            name: "max_p",
            doc: "Probability of a mark at `max`.",
            kind: Kind::Number { min: 0.0, max: 1.0, below_max: false },
            default: Some("0.1"),
        },
        Param {
            name: "weight",
            doc: "Weight of the newest sample in the average; 1 is the instantaneous queue.",
            kind: Kind::Number { min: 0.0, max: 1.0, below_max: false },
            default: Some("0.002"),
        },
        Param {
            name: "gentle",
            doc: "Between max and twice max the probability rises from max_p to 1, instead of at once.",
            kind: Kind::Flag,
            default: Some("true"),
        },
        Param {
            name: "not_ect",
            doc: "What becomes of a packet due a mark that cannot carry one (RFC 3168 §7).",
            kind: Kind::Choice(&["drop", "pass"]),
            default: Some("drop"),
        },
        Param {
            name: "idle_packet",
            doc: "Time of one packet, by which the average decays while the queue is empty.",
            kind: Kind::Time { min: 1 },
            default: Some("12us"),
        },
    ],
};

fn plain(amount: Amount) -> f64 {
    match amount {
        Amount::Packets(n) | Amount::Bytes(n) => n as f64,
    }
}

impl Red {
    /// From validated parameters. PRECONDITION: `min` and `max` are in the same unit, `min < max`.
    pub fn new(values: &Values) -> Red {
        Red {
            min: plain(values.amount("min")),
            max: plain(values.amount("max")),
            in_packets: matches!(values.amount("max"), Amount::Packets(_)),
            max_p: values.number("max_p"),
            weight: values.number("weight"),
            gentle: values.flag("gentle"),
            drop_not_ect: values.word("not_ect") == "drop",
            idle_packet: values.time("idle_packet"),
            average: 0.0,
            since_mark: -1,
            idle_from: Some(Time::ZERO),
        }
    }
    fn probability(&self) -> f64 {
        if self.average < self.max {
            self.max_p * (self.average - self.min) / (self.max - self.min)
        } else if self.gentle && self.average < 2.0 * self.max {
            self.max_p + (1.0 - self.max_p) * (self.average / self.max - 1.0)
        } else {
            1.0
        }
    }
    fn follow(&mut self, queue: f64, now: Time) {
        if let Some(from) = self.idle_from.take() {
            let missed = now.since(from).0 / self.idle_packet.0;
            self.average *= libm::pow(1.0 - self.weight, missed as f64);
        }
        self.average += self.weight * (queue - self.average);
    }
}

impl Marking for Red {
    fn mark(&mut self, _pkt: &Head, q: &QueueView, env: &mut Env) -> bool {
        self.follow(if self.in_packets { f64::from(q.packets) } else { q.bytes as f64 }, env.now);
        if self.average < self.min {
            self.since_mark = -1;
            return false;
        }
        self.since_mark += 1;
        let p = self.probability();
        // Spread: p / (1 - count * p) makes the gaps between marks uniform (1993, §7).
        let rest = 1.0 - self.since_mark as f64 * p;
        let marked = p >= 1.0 || rest <= 0.0 || env.rng.unit() < p / rest;
        if marked {
            self.since_mark = 0;
        }
        marked
    }
    fn drops_not_ect(&self) -> bool {
        self.drop_not_ect
    }
    fn idle(&mut self, env: &mut Env) {
        self.idle_from = Some(env.now);
    }
    fn boxed(&self) -> Box<dyn Marking> {
        Box::new(self.clone())
    }
}
