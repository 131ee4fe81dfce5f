//! Deficit round robin between classes (Shreedhar and Varghese, "Efficient Fair Queuing Using Deficit Round-Robin",
//! IEEE/ACM Transactions on Networking 4(3), 1996, §III). In its turn, a class may send its quantum of bytes and the
//! bytes saved in the turn before. So classes share the port by bytes, in proportion to their weights, whatever the
//! sizes of their frames. Strict classes, if any, are served before all others, the highest first (IEEE 802.1Q §8.6.8
//! allows strict classes above weighted ones).
//!
//! Within a class the order is that of [`super::StrictPriority`]. A class that may not send (empty, paused by the far
//! end, or at its maximum rate) loses its saved bytes. A class is not charged while it alone may send. Hierarchies of
//! schedulers are not modelled.

use super::{ClassSetting, RateLimits, Scheduler, rate_limits};
use crate::params::{Param, ParamKind, Spec, Values, join_params};
use crate::{CheckContext, ClassSet, Env, Needs, PktId, PortView, QueueId, Report, choice, params};
use units::Bytes;

/// Deficit round robin at one port.
#[derive(Clone, Debug)]
pub struct RoundRobin {
    /// Number of bytes that each class may send in a turn.
    quantum: [u64; 8],
    /// Classes with a weight other than 1.
    weighted: ClassSet,
    /// Weights given in the scenario, from class 0 on.
    weights: Vec<u64>,
    /// Strict classes, as given in the scenario.
    strict: Vec<u64>,
    /// Queues of the strict classes, as a bit set.
    strict_queues: u32,
    /// Bytes by which the counted size of a frame exceeds its stored size.
    overhead: u64,
    /// True if frames count with preamble and gap.
    counts_wire: bool,
    /// Number of bytes that each class may still send, in its turn or in the next.
    deficit: [u64; 8],
    /// Class whose turn it is.
    current_class: u8,
    limits: Option<RateLimits>,
}

choice! {
    /// Bytes of a frame that weights and `quantum` count.
    pub(crate) enum CountedBytes {
        Wire = "wire",
        Stored = "stored",
    }
}

params! {
    /// Parameter values of `round_robin`.
    pub(crate) struct Params {
        weights: Option<Vec<u64>> = {
            doc: "Weights of classes 0, 1, 2 and so on. Classes left out have weight 1. A strict class in the \
                  list must have weight 1.",
            kind: ParamKind::Counts { min: 1, max: 1_000_000 },
            default: Some(""),
        },
        quantum: Bytes = {
            doc: "Bytes that a class of weight 1 may send in a turn.",
            kind: ParamKind::Size { min: 64 },
            default: Some("1518B"),
        },
        count: CountedBytes = {
            doc: "Bytes that weights share: those on the wire, with preamble and gap, or those stored in memory.",
            kind: CountedBytes::KIND,
            default: Some("wire"),
        },
        strict: Option<Vec<u64>> = {
            doc: "Strict classes. They are served before all others, the highest first.",
            kind: ParamKind::Counts { min: 0, max: 7 },
            default: Some(""),
        },
    }
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.scheduler",
    kind: "round_robin",
    doc: "Serves strict classes first and the others in turn, which share the rest by bytes in proportion to their \
          weights (deficit round robin).",
    cite: "Shreedhar and Varghese 1996, §III",
    params: &ALL_PARAMS,
};

const ALL_PARAMS: [Param; 6] = join_params(&[Params::PARAMS, rate_limits::Params::PARAMS]);

/// Queues of class 0, as a bit set.
const CLASS_QUEUES: u32 = (1 << QueueId::LANES) - 1;

impl RoundRobin {
    /// Creates deficit round robin from validated parameters.
    pub fn new(values: &Values) -> RoundRobin {
        let Params { weights, quantum, count, strict } = Params::read(values);
        let (weights, strict) = (weights.unwrap_or_default(), strict.unwrap_or_default());
        let weight = |class: usize| weights.get(class).copied().unwrap_or(1);
        RoundRobin {
            quantum: std::array::from_fn(|class| quantum.0.saturating_mul(weight(class))),
            weighted: (0..8)
                .filter(|class| weight(usize::from(*class)) != 1)
                .map(ClassSet::single)
                .fold(ClassSet::NONE, ClassSet::union),
            weights,
            strict_queues: strict.iter().fold(0, |set, class| set | CLASS_QUEUES << (*class as u8 * QueueId::LANES)),
            strict,
            overhead: 0,
            counts_wire: count == CountedBytes::Wire,
            deficit: [0; 8],
            current_class: 7,
            limits: RateLimits::read(values),
        }
    }
    /// Returns the first packet of a class's most urgent lane that may leave, and its counted bytes.
    fn first_allowed_packet(&self, port: &PortView, class: u8) -> Option<(QueueId, PktId, u64)> {
        let lanes = port.eligible >> (class * QueueId::LANES) & CLASS_QUEUES;
        let queue = QueueId(class * QueueId::LANES + lanes.checked_ilog2()? as u8);
        port.view.first_packet_size(port.port, queue).map(|(pkt, size)| (queue, pkt, u64::from(size) + self.overhead))
    }
    /// Returns the strict classes.
    fn strict_classes(&self) -> ClassSet {
        self.strict.iter().map(|class| ClassSet::single(*class as u8)).fold(ClassSet::NONE, ClassSet::union)
    }
}

impl Scheduler for RoundRobin {
    fn next_packet(&mut self, port: &PortView, _env: &mut Env) -> Option<(QueueId, PktId)> {
        if port.eligible == 0 {
            return None;
        }
        if let Some(urgent) = (port.eligible & self.strict_queues).checked_ilog2() {
            let queue = QueueId(urgent as u8);
            return port.view.first_packet(port.port, queue).map(|(pkt, _)| (queue, pkt));
        }
        // The loop ends, because some class is not empty and its deficit grows by at least 64 bytes a round.
        loop {
            let class = usize::from(self.current_class);
            match self.first_allowed_packet(port, self.current_class) {
                Some((queue, pkt, size)) if size <= self.deficit[class] => {
                    self.deficit[class] -= size;
                    return Some((queue, pkt));
                }
                Some(_) => {}
                None => self.deficit[class] = 0,
            }
            self.current_class = (self.current_class + 1) % 8;
            let next = usize::from(self.current_class);
            self.deficit[next] = self.deficit[next].saturating_add(self.quantum[next]);
        }
    }
    fn needs(&self) -> Needs {
        Needs::default()
    }
    fn keeps_queue_order(&self) -> bool {
        true
    }
    fn set_gap(&mut self, gap: u16) {
        self.overhead = if self.counts_wire { u64::from(gap) } else { 0 };
    }
    fn class_settings(&self) -> Vec<ClassSetting> {
        let rates = self.limits.as_ref().map_or(ClassSet::NONE, RateLimits::classes);
        vec![("weight", self.weighted), ("strict priority", self.strict_classes()), ("max_rate", rates)]
    }
    fn rate_limits(&self) -> Option<&RateLimits> {
        self.limits.as_ref()
    }
    /// Reports more weights than the eight classes, strict classes listed twice, and weights of strict classes.
    fn check(&self, beside: &CheckContext, report: &mut Report) {
        if self.weights.len() > self.quantum.len() {
            report.add_error("weights", format!("{} weights", self.weights.len()), "at most 8, for classes 0 to 7");
        }
        if let Some((_, twice)) = (1..).zip(&self.strict).find(|(next, class)| self.strict[*next..].contains(class)) {
            report.add_error("strict", format!("class {twice} twice"), "each class once");
        }
        let weighed = |class: &&u64| self.weights.get(**class as usize).is_some_and(|weight| *weight != 1);
        if let Some(class) = self.strict.iter().find(weighed) {
            let found = format!("weight {} for class {class}", self.weights[*class as usize]);
            let rule = "1 for a strict class, because strict classes share nothing by weights";
            report.add_error("weights", found, rule);
        }
        RateLimits::check(self.limits.as_ref(), beside, report);
    }
    fn clone_boxed(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests;
