//! PABO: excess packets go back to where they came from (Shi et al., "PABO: Mitigating Congestion
//! via Packet Bounce in Data Center Networks", Computer Communications 2018).
//!
//! On arrival, before enqueue, the switch looks at the one queue that the packet would enter: the
//! normal queue of its output port, or the bounce queue once it was bounced. With probability
//! eq. 4 of that queue's utilisation it goes to the bounce queue of the port that the switch's own
//! table gives for the packet's source. The back port's queue is not tested: a full bounce queue
//! loses the packet. Not modelled: the rate reduction of a source that gets its packets back
//! (§II-G), which the paper leaves open and uses in no experiment.

use super::{DropReason, Fate, Overflow};
use crate::params::{Kind, Param, Spec, Values};
use crate::{Env, Fill, Head, Place};
use units::Amount;

/// See the module.
#[derive(Clone, Debug)]
pub struct Bounce {
    theta: f64,
    lambda: f64,
    bounce_size: Amount,
    round_to: u64,
    by_source: bool,
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.overflow",
    kind: "bounce",
    doc: "A packet that finds its queue well filled is sent back toward its source.",
    cite: "PABO §II",
    params: &[
        Param {
            name: "theta",
            doc: "Utilisation θ up to which nothing is bounced (PABO eq. 4).",
            kind: Kind::Number { min: 0.0, max: 1.0, below_max: true },
            default: Some("0.8"),
        },
        Param {
            name: "lambda",
            doc: "Decay constant λ; 0 is the limit, a straight line (PABO eq. 1).",
            kind: Kind::Number { min: 0.0, max: 1e6, below_max: false },
            default: Some("50"),
        },
        Param {
            name: "bounce_size",
            doc: "Size of the bounce queue of every port, in the unit of the buffer (PABO §II-E).",
            kind: Kind::Amount { min: 1 },
            default: Some("100pkt"),
        },
        Param {
            name: "round_to",
            doc: "N upstream switches: a queue within its last N places counts as full; 0 is never.",
            kind: Kind::Count { min: 0, max: 1024 },
            default: Some("3"),
        },
        Param {
            name: "back_port",
            doc: "Where back is: the table's port for the packet's source, or the port it came in by.",
            kind: Kind::Choice(&["source", "ingress"]),
            default: Some("source"),
        },
    ],
};

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
        Bounce {
            theta: values.number("theta"),
            lambda: values.number("lambda"),
            bounce_size: values.amount("bounce_size"),
            round_to: values.count("round_to"),
            by_source: values.word("back_port") == "source",
        }
    }
    fn utilisation(&self, fill: Fill) -> f64 {
        match fill.limit {
            None => 0.0,
            Some(0) => 1.0,
            Some(limit) if self.round_to > 0 && fill.used >= limit / self.round_to * self.round_to => 1.0,
            Some(limit) => fill.used as f64 / limit as f64,
        }
    }
}

impl Overflow for Bounce {
    fn admit(&mut self, pkt: &Head, at: &Place, env: &mut Env) -> Fate {
        let queue = pkt.queue();
        let p = probability(self.utilisation(at.fill(at.out, queue)), pkt.bounces, self.theta, self.lambda);
        let forward = match at.fits(at.out, queue, pkt.size) {
            true => Fate::Enqueue(queue),
            false if queue.is_bounce() => Fate::Drop(DropReason::BounceQueueFull),
            false => Fate::Drop(DropReason::BufferFull),
        };
        if p <= 0.0 || (p < 1.0 && env.rng.unit() > p) {
            return forward;
        }
        let back = if self.by_source { at.port_toward_source(pkt) } else { Some(at.ingress) };
        back.map_or(forward, Fate::Bounce)
    }
    fn bounce_queue(&self) -> Option<Amount> {
        Some(self.bounce_size)
    }
    fn boxed(&self) -> Box<dyn Overflow> {
        Box::new(self.clone())
    }
}
