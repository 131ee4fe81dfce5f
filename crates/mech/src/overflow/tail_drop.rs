//! Tail drop: a packet that does not fit is dropped. It is the baseline of every paper here.

use super::{DropReason, Fate, Overflow};
use crate::params::Spec;
use crate::{AdmitCalls, Env, ForwardingContext, Head};

/// Overflow mechanism that drops every packet whose queue is full.
#[derive(Clone, Debug)]
pub struct TailDrop;

pub(super) const SPEC: Spec = Spec {
    slot: "switch.overflow",
    kind: "tail_drop",
    doc: "Drops an arriving packet if its queue is full.",
    cite: "RFC 7567 §2",
    params: &[],
};

impl Overflow for TailDrop {
    fn admit(&mut self, pkt: &Head, at: &ForwardingContext, _env: &mut Env) -> Fate {
        match at.fits(at.output, pkt.queue(), pkt.size) {
            true => Fate::Enqueue(pkt.queue()),
            false => Fate::Drop(DropReason::BufferFull),
        }
    }
    fn admit_calls(&self) -> AdmitCalls {
        AdmitCalls::Never
    }
    fn clone_boxed(&self) -> Box<dyn Overflow> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{DecisionInputs, buffer_of_packets, parse_head, switch_without_packets};
    use crate::{PortId, QueueId};

    fn fate(waiting: u32, text: &str) -> Fate {
        let mut state = switch_without_packets(2, buffer_of_packets(3));
        state.fill_up(waiting, parse_head(""), (PortId(0), QueueId::normal(0)));
        let at = ForwardingContext { view: &state, ingress: PortId(1), output: PortId(0) };
        TailDrop.admit(&parse_head(text), &at, &mut DecisionInputs::with_draws(&[]).env())
    }

    #[test]
    fn tail_drop_stores_up_to_the_limit_and_drops_the_next() {
        assert_eq!(fate(2, ""), Fate::Enqueue(QueueId::normal(0)));
        assert_eq!(fate(3, ""), Fate::Drop(DropReason::BufferFull));
        assert_eq!(fate(3, "ack size=64"), Fate::Drop(DropReason::BufferFull));
    }

    #[test]
    fn classes_have_separate_queues_in_one_memory() {
        assert_eq!(fate(2, "class=5"), Fate::Enqueue(QueueId::normal(5)));
        assert_eq!(fate(3, "class=5"), Fate::Drop(DropReason::BufferFull));
    }
}
