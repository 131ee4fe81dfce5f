//! Step marking: a packet is marked if at least K packets or bytes are queued when it arrives.
//! Sources: Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, §3.1; RFC 8257 §3.1.
//!
//! The queue is read when the packet arrives, without that packet and without the frame in transmission. So the
//! comparison does not depend on the packet's own size, in packets or in bytes.

use super::Marking;
use crate::params;
use crate::params::{ParamKind, Spec, Values};
use crate::{Env, Head, PortThresholds, QueueView};
use units::Amount;

/// Marking of every packet that arrives while at least K packets or bytes are queued.
#[derive(Clone, Debug)]
pub struct EcnThreshold {
    k: Amount,
}

params! {
    /// Parameter values of `ecn_threshold`.
    pub(crate) struct Params {
        k: Amount = {
            doc: "Threshold K on the instantaneous queue, in packets or bytes.",
            kind: ParamKind::Amount { min: 0 },
            default: Some("20pkt"),
        },
    }
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.marking",
    kind: "ecn_threshold",
    doc: "Marks a packet that arrives at a queue of K or more packets or bytes.",
    cite: "DCTCP §3.1, RFC 8257 §3.1",
    params: Params::PARAMS,
};

impl EcnThreshold {
    /// Creates `ecn_threshold` from validated parameters.
    pub fn new(values: &Values) -> EcnThreshold {
        EcnThreshold { k: Params::read(values).k }
    }
}

impl Marking for EcnThreshold {
    #[inline]
    fn mark(&mut self, _pkt: &Head, q: &QueueView, _env: &mut Env) -> bool {
        match self.k {
            Amount::Packets(k) => u64::from(q.packets) >= k,
            Amount::Bytes(k) => q.bytes >= k,
        }
    }
    fn fixed_thresholds(&self) -> Option<PortThresholds> {
        Some(PortThresholds::new(self.k))
    }
    fn clone_boxed(&self) -> Box<dyn Marking> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{DecisionInputs, buffer_of_packets, parse_head, switch_without_packets, values};
    use crate::{PortId, QueueId};

    fn is_marked(k: &str, waiting: &[u32]) -> bool {
        let mut state = switch_without_packets(1, buffer_of_packets(1000));
        for size in waiting {
            state.fill_up(1, parse_head(&format!("size={size}")), (PortId(0), QueueId::normal(0)));
        }
        let q = QueueView::new(&state, PortId(0), QueueId::normal(0));
        let mut mechanism = EcnThreshold::new(&values(&SPEC, &format!("k={k}")));
        let ack = mechanism.mark(&parse_head("size=64"), &q, &mut DecisionInputs::with_draws(&[]).env());
        assert_eq!(ack, mechanism.mark(&parse_head("size=1518"), &q, &mut DecisionInputs::with_draws(&[]).env()));
        ack
    }

    #[test]
    fn packet_is_marked_from_k_queued_packets_on() {
        assert!(!is_marked("20pkt", &[1500; 19]));
        assert!(is_marked("20pkt", &[1500; 20]));
        assert!(is_marked("20pkt", &[64; 20]));
    }

    #[test]
    fn threshold_in_bytes_counts_bytes_not_packets() {
        // 60,000 B are 40 packets of 1500 B (ABQ). As many small packets do not reach the threshold.
        assert!(!is_marked("60000B", &[1500; 39]));
        assert!(is_marked("60000B", &[1500; 40]));
        assert!(!is_marked("60000B", &[64; 40]));
    }

    #[test]
    fn threshold_zero_marks_every_packet() {
        assert!(is_marked("0pkt", &[]) && is_marked("0B", &[]));
        assert!(!is_marked("1pkt", &[]) && !is_marked("1B", &[]));
    }
}
