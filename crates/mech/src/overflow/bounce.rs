//! PABO: excess packets return toward their source (Shi et al., "PABO: Mitigating Congestion via Packet Bounce in Data
//! Center Networks", Computer Communications 2018).
//!
//! On arrival, before enqueue, the switch reads the utilisation of the queue that the packet would enter. That is the
//! normal queue of its output port, or the bounce queue if the packet was bounced before. With the probability of eq. 4
//! the packet goes to the bounce queue of the port that the switch's own table gives for its source.
//!
//! A queue without free buffer space for the packet counts as full, in packets and in bytes, so that only full bounce
//! queues lose packets. The paper does not define the case of a full bounce queue on the return path.
//!
//! With `bounce_full = "drop"`, that queue is not tested, and the packet is dropped there. With `"forward"`, the packet
//! tries its own queue instead.
//!
//! With `back_port = "ingress"` a packet that came in by its own output port goes on toward its source, since it was
//! bounced here before. The reaction of a source whose packets come back (§II-G) is in [`crate::host`].

#[cfg(test)]
mod tests;

use super::{DropReason, Fate, Overflow};
use crate::check::number_and_unit;
use crate::params::{ParamKind, Spec, Values};
use crate::{CheckContext, Env, Fill, ForwardingContext, Head, Lane, Needs, PortId, QueueId, Report, choice, params};
use units::Amount;

/// PABO's bounce mechanism at one switch.
#[derive(Clone, Debug)]
pub struct Bounce {
    theta: f64,
    lambda: f64,
    bounce_size: Amount,
    round_to: u64,
    to_multiple: bool,
    by_source: bool,
    tests_return_port: bool,
}

choice! {
    /// Choice of the rounding by which a queue counts as full before its limit.
    pub(crate) enum FullQueueRounding {
        Places = "places",
        Multiple = "multiple",
    }
}

choice! {
    /// Choice of the port by which a bounced packet returns: toward its source, or its ingress port.
    pub(crate) enum ReturnPort {
        Source = "source",
        Ingress = "ingress",
    }
}

choice! {
    /// Choice of the treatment of a packet whose bounce queue is full: drop, or forward.
    pub(crate) enum FullLaneAction {
        Drop = "drop",
        Forward = "forward",
    }
}

params! {
    /// Parameter values of `bounce`.
    pub(crate) struct Params {
        theta: f64 = {
            doc: "Utilisation θ up to which no packet is bounced (PABO eq. 4).",
            kind: ParamKind::Number { min: 0.0, max: 1.0, below_max: true },
            default: Some("0.8"),
        },
        lambda: f64 = {
            doc: "Decay constant λ (PABO eq. 1). 0 is the limit of the curve, a straight line.",
            kind: ParamKind::Number { min: 0.0, max: 1e6, below_max: false },
            default: Some("50"),
        },
        bounce_size: Amount = {
            doc: "Capacity of the bounce queue of every port, in the unit of the buffer (PABO §II-E).",
            kind: ParamKind::Amount { min: 1 },
            default: Some("100pkt"),
        },
        round_to: u64 = {
            doc: "Number N of upstream switches, whose packets may arrive simultaneously and be decided on the same \
                  length. A queue then counts as full early, by the rule of `rounding`. With 0, no queue does.",
            kind: ParamKind::Count { min: 0, max: 1024 },
            default: Some("3"),
        },
        rounding: FullQueueRounding = {
            doc: "Length from which on a queue with a capacity of C packets counts as full. `multiple`: the last \
                  multiple of N up to C. `places`: C - N + 1, from which on fewer than N packets fit. Both are equal \
                  if N divides C - N + 1. With N = 3 both are 498 for C = 500; for C = 100 they are 99 and 98. Three \
                  arrivals always fit only with 98.",
            kind: FullQueueRounding::KIND,
            default: Some("places"),
        },
        back_port: ReturnPort = {
            doc: "Port of the return path: the table's port toward the packet's source (`source`), or the port of its \
                  arrival (`ingress`).",
            kind: ReturnPort::KIND,
            default: Some("source"),
        },
        bounce_full: FullLaneAction = {
            doc: "Treatment of a packet if the bounce queue of its return path is full. `drop`: it is dropped there. \
                  `forward`: its own queue at the output port is tried.",
            kind: FullLaneAction::KIND,
            default: Some("drop"),
        },
    }
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.overflow",
    kind: "bounce",
    doc: "Returns packets toward their source, with a probability that grows with the utilisation of the output queue.",
    cite: "PABO §II",
    params: Params::PARAMS,
};

/// Warning about `bounce` with an unlimited buffer.
const NEVER_BOUNCES_WARNING: &str = "bounce has no effect with an unlimited buffer, because the utilisation is always \
                                     0. Set a buffer size";
/// Warning about `bounce` with a shared buffer.
const SHARED_BUFFER_WARNING: &str = "bounce with a shared buffer: utilisation is relative to the current dynamic \
                                     threshold, and bounce queues are memory in addition to the shared buffer";

/// Returns the bounce probability of a packet bounced `np` times before, at utilisation `u` from 0 to 1 (PABO eq. 4).
/// With λ = 0 it is the limit (u - θ)/(1 - θ).
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
    // `expm1` stays exact for small λ, where the difference to 1 would be lost. `libm` is bit-identical on every
    // machine.
    libm::expm1(k * (theta - u)) / libm::expm1(k * (theta - 1.0))
}

impl Bounce {
    /// Creates `bounce` from validated parameters.
    pub fn new(values: &Values) -> Bounce {
        let given = Params::read(values);
        Bounce {
            theta: given.theta,
            lambda: given.lambda,
            bounce_size: given.bounce_size,
            round_to: given.round_to,
            to_multiple: given.rounding == FullQueueRounding::Multiple,
            by_source: given.back_port == ReturnPort::Source,
            tests_return_port: given.bounce_full == FullLaneAction::Forward,
        }
    }
    /// Returns the utilisation of a queue, from 0 to 1; an empty queue never counts as full.
    /// Of N simultaneous arrivals the last ones may decide on an outdated length, so a queue counts as full N packets
    /// early.
    fn utilisation(&self, fill: Fill, fits: bool, size: u16) -> f64 {
        let Some(limit) = fill.limit else { return 0.0 };
        match !fits || fill.used >= self.full_length(limit, size) {
            true => 1.0,
            false => fill.used as f64 / limit as f64,
        }
    }
    /// Returns the queue length from which a queue counts as full.
    /// In bytes, room for N packets means packets of this `size`.
    fn full_length(&self, limit: u64, size: u16) -> u64 {
        let place = match self.bounce_size {
            Amount::Packets(_) => 1,
            Amount::Bytes(_) => u64::from(size.max(1)),
        };
        let last = match self.round_to * place {
            0 => limit,
            all if self.to_multiple => limit / all * all,
            all => (limit + 1).saturating_sub(all),
        };
        // At least 1, so that an empty queue is never full: otherwise a queue of fewer than N packets would bounce
        // everything.
        last.max(1).min(limit)
    }
    fn return_port(&self, pkt: &Head, at: &ForwardingContext) -> Option<PortId> {
        match self.by_source || at.ingress == at.output {
            true => at.port_toward_source(pkt),
            false => Some(at.ingress),
        }
    }
}

impl Overflow for Bounce {
    fn admit(&mut self, pkt: &Head, at: &ForwardingContext, env: &mut Env) -> Fate {
        let queue = pkt.queue();
        let fits = at.fits_port_limit(at.output, queue, pkt.size);
        let u = self.utilisation(at.fill(at.output, queue), fits, pkt.size);
        let p = probability(u, pkt.bounces, self.theta, self.lambda);
        let forward = match fits {
            true => Fate::Enqueue(queue),
            false => Fate::when_full(queue, DropReason::lane_full(queue.lane()), at),
        };
        // Certain outcomes draw no number. So a queue up to θ does not change the random stream.
        if p <= 0.0 || (p < 1.0 && env.rng.uniform() > p) {
            return forward;
        }
        match self.return_port(pkt, at) {
            Some(back)
                if !self.tests_return_port
                    || at.fits_port_limit(back, QueueId::new(pkt.class(), Lane::Bounce), pkt.size) =>
            {
                Fate::Bounce(back)
            }
            _ => forward,
        }
    }
    fn needs(&self) -> Needs {
        Needs { bounce_lane: Some(self.bounce_size), ..Needs::default() }
    }
    /// Reports bounce queues in another unit than the buffer, and parameters that have no effect.
    /// If an override has set a buffer with another unit, both are kept with a warning.
    fn check(&self, beside: &CheckContext, report: &mut Report) {
        if self.round_to <= 1 && (beside.is_set)("rounding") {
            let round_to = self.round_to;
            report.add_warning(format!(
                "bounce: rounding has no effect with round_to = {round_to}, because no queue counts as full early"
            ));
        }
        let Some(memory) = beside.memory else { return report.add_warning(NEVER_BOUNCES_WARNING) };
        if beside.shared {
            report.add_warning(SHARED_BUFFER_WARNING);
        }
        let (size, (_, unit), (_, buffer_unit)) =
            (self.bounce_size, number_and_unit(self.bounce_size), number_and_unit(memory));
        if unit != buffer_unit && beside.overridden {
            report.add_warning(format!("bounce queues of {size} beside a buffer of {memory}: two units in one switch"));
        } else if unit != buffer_unit {
            let found = format!("{size}, a size in {unit}, with a buffer in {buffer_unit}");
            report.add_error("bounce_size", found, format!("the unit of the buffer, {buffer_unit}"));
        }
    }
    fn min_fill_to_act(&self) -> f64 {
        self.theta
    }
    fn full_length_in_packets(&self, limit: u64) -> u64 {
        match self.bounce_size {
            // The size of the next packet is unknown, so in bytes only the limit itself is sure.
            Amount::Packets(_) => self.full_length(limit, 0),
            Amount::Bytes(_) => limit,
        }
    }
    fn clone_boxed(&self) -> Box<dyn Overflow> {
        Box::new(self.clone())
    }
}
