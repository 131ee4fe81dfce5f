//! PABO: excess packets go back to where they came from (Shi et al., "PABO: Mitigating Congestion
//! via Packet Bounce in Data Center Networks", Computer Communications 2018).
//!
//! On arrival, before enqueue, the switch looks at the one queue that the packet would enter: the
//! normal queue of its output port, or the bounce queue once it was bounced. With probability
//! eq. 4 of that queue's utilisation it goes to the bounce queue of the port that the switch's own
//! table gives for the packet's source. A queue that has no room for the packet counts as full,
//! whatever its unit, so that only a full bounce queue loses packets. The paper does not say what becomes
//! of a packet whose way back is full: with `bounce_full = "drop"` the back port's queue is not tested and
//! the packet is lost there, with `forward` it tries its own queue instead. With `back_port = "ingress"` a
//! packet that came in by the port it would leave by goes on toward its source, since it was bounced here
//! from there before. What a source does that gets its packets back (§II-G) is in [`crate::host`].

#[cfg(test)]
mod tests;

use super::{DropReason, Fate, Overflow};
use crate::check::in_words;
use crate::params::{Kind, Spec, Values};
use crate::{Beside, Env, Fill, ForwardingContext, Head, Lane, Needs, PortId, QueueId, Report, choice, params};
use units::Amount;

/// See the module.
#[derive(Clone, Debug)]
pub struct Bounce {
    theta: f64,
    lambda: f64,
    bounce_size: Amount,
    round_to: u64,
    to_multiple: bool,
    by_source: bool,
    tests_back: bool,
}

choice! {
    /// From where on a queue counts as full.
    pub(crate) enum Rounding {
        Places = "places",
        Multiple = "multiple",
    }
}

choice! {
    /// Which port is the way back.
    pub(crate) enum BackPort {
        Source = "source",
        Ingress = "ingress",
    }
}

choice! {
    /// What becomes of a packet whose bounce queue has no room.
    pub(crate) enum BounceFull {
        Drop = "drop",
        Forward = "forward",
    }
}

params! {
    /// The values of its parameters.
    pub(crate) struct Given {
        theta: f64 = {
            doc: "Utilisation θ up to which nothing is bounced (PABO eq. 4).",
            kind: Kind::Number { min: 0.0, max: 1.0, below_max: true },
            default: Some("0.8"),
        },
        lambda: f64 = {
            doc: "Decay constant λ; 0 is the limit, a straight line (PABO eq. 1).",
            kind: Kind::Number { min: 0.0, max: 1e6, below_max: false },
            default: Some("50"),
        },
        bounce_size: Amount = {
            doc: "Size of the bounce queue of every port, in the unit of the buffer (PABO §II-E).",
            kind: Kind::Amount { min: 1 },
            default: Some("100pkt"),
        },
        round_to: u64 = {
            doc: "N upstream switches, whose packets may arrive at one instant and be decided on the same length: a \
                  queue counts as full early, from where `rounding` says; 0 is never.",
            kind: Kind::Count { min: 0, max: 1024 },
            default: Some("3"),
        },
        rounding: Rounding = {
            doc: "From where on a queue of C places counts as full: the last multiple of N up to C, or as soon as \
                  fewer than N places are left. They are the same where N divides C - N + 1: of 500 places and N = 3 \
                  both are 498, of 100 they are 99 and 98, and only from 98 on do three arrivals always fit.",
            kind: Rounding::KIND,
            default: Some("places"),
        },
        back_port: BackPort = {
            doc: "The port of the way back: the table's port for the packet's source, or the port of its arrival.",
            kind: BackPort::KIND,
            default: Some("source"),
        },
        bounce_full: BounceFull = {
            doc: "Where the bounce queue that a packet is sent back to has no room: it is lost there, or tries its own \
                  queue of the output port instead.",
            kind: BounceFull::KIND,
            default: Some("drop"),
        },
    }
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.overflow",
    kind: "bounce",
    doc: "The fuller its queue, the more likely a packet is sent back toward its source.",
    cite: "PABO §II",
    params: Given::PARAMS,
};

/// What a bounce with endless memory says of itself.
const NEVER_BOUNCES: &str = "bounce with an unlimited buffer never bounces: its utilisation is always 0";
/// What a bounce with shared memory says of itself.
const SHARED_BOUNCES: &str = "bounce with a shared buffer: utilisation is measured against the dynamic threshold of \
                              the instant, and the bounce queues are memory beside the shared one";

/// The probability with which a packet that was bounced `np` times is bounced again at
/// utilisation `u`, 0 to 1 (PABO eq. 4). λ = 0 is the limit (u - θ)/(1 - θ).
pub fn probability(u: f64, np: u8, theta: f64, lambda: f64) -> f64 {
    if u <= theta {
        return 0.0;
    }
    if u >= 1.0 {
        return 1.0;
    }
    let k = lambda / (f64::from(np) + 1.0);
    if k == 0.0 {
        return (u - theta) / (1.0 - theta);
    }
    libm::expm1(k * (theta - u)) / libm::expm1(k * (theta - 1.0))
}

impl Bounce {
    /// From validated parameters.
    pub fn new(values: &Values) -> Bounce {
        let given = Given::read(values);
        Bounce {
            theta: given.theta,
            lambda: given.lambda,
            bounce_size: given.bounce_size,
            round_to: given.round_to,
            to_multiple: given.rounding == Rounding::Multiple,
            by_source: given.back_port == BackPort::Source,
            tests_back: given.bounce_full == BounceFull::Forward,
        }
    }
    /// How full the queue counts as, 0 to 1. With N arrivals at one instant the last of them decide
    /// on a length that is out of date, hence full N places early; but an empty queue is never full.
    fn utilisation(&self, fill: Fill, fits: bool, size: u16) -> f64 {
        let Some(limit) = fill.limit else { return 0.0 };
        match !fits || fill.used >= self.full_from(limit, size) {
            true => 1.0,
            false => fill.used as f64 / limit as f64,
        }
    }
    /// A place is a packet, or the bytes of one like that which asks.
    fn full_from(&self, limit: u64, size: u16) -> u64 {
        let place = match self.bounce_size {
            Amount::Packets(_) => 1,
            Amount::Bytes(_) => u64::from(size.max(1)),
        };
        let last = match self.round_to * place {
            0 => limit,
            all if self.to_multiple => limit / all * all,
            all => (limit + 1).saturating_sub(all),
        };
        last.max(1).min(limit)
    }
    fn back(&self, pkt: &Head, at: &ForwardingContext) -> Option<PortId> {
        match self.by_source || at.ingress == at.out {
            true => at.port_toward_source(pkt),
            false => Some(at.ingress),
        }
    }
}

impl Overflow for Bounce {
    fn admit(&mut self, pkt: &Head, at: &ForwardingContext, env: &mut Env) -> Fate {
        let queue = pkt.queue();
        let fits = at.has_place(at.out, queue, pkt.size);
        let u = self.utilisation(at.fill(at.out, queue), fits, pkt.size);
        let p = probability(u, pkt.bounces, self.theta, self.lambda);
        let forward = match fits {
            true => Fate::Enqueue(queue),
            false => Fate::without_place(queue, DropReason::of_full(queue.lane()), at),
        };
        if p <= 0.0 || (p < 1.0 && env.rng.unit() > p) {
            return forward;
        }
        match self.back(pkt, at) {
            Some(back) if !self.tests_back || at.has_place(back, QueueId::new(pkt.class(), Lane::Bounce), pkt.size) => {
                Fate::Bounce(back)
            }
            _ => forward,
        }
    }
    fn needs(&self) -> Needs {
        Needs { back: Some(self.bounce_size), ..Needs::default() }
    }
    /// The bounce queue is in the unit of the buffer; where an override has put a buffer of another unit
    /// there, both stand, with a note.
    fn check(&self, beside: &Beside, report: &mut Report) {
        if self.round_to <= 1 && (beside.given)("rounding") {
            let round_to = self.round_to;
            report.note(format!(
                "bounce: rounding has no effect with round_to = {round_to}: no queue counts as full early"
            ));
        }
        let Some(memory) = beside.memory else { return report.note(NEVER_BOUNCES) };
        if beside.shared {
            report.note(SHARED_BOUNCES);
        }
        let (size, (_, unit), (_, buffer_unit)) = (self.bounce_size, in_words(self.bounce_size), in_words(memory));
        if unit != buffer_unit && beside.overridden {
            report.note(format!("bounce queues of {size} beside a buffer of {memory}: two units in one switch"));
        } else if unit != buffer_unit {
            let found = format!("{size}, in {unit} beside a buffer in {buffer_unit}");
            report.wrong("bounce_size", found, format!("the unit of the buffer, {buffer_unit}"));
        }
    }
    fn acts_from(&self) -> f64 {
        self.theta
    }
    fn full_from_packets(&self, limit: u64) -> u64 {
        match self.bounce_size {
            Amount::Packets(_) => self.full_from(limit, 0),
            Amount::Bytes(_) => limit,
        }
    }
    fn boxed(&self) -> Box<dyn Overflow> {
        Box::new(self.clone())
    }
}
