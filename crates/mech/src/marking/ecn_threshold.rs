//! A step: every packet that finds at least K waiting is marked (Alizadeh et al., "Data Center TCP
//! (DCTCP)", SIGCOMM 2010, §3.1; RFC 8257 §3.1).
//!
//! The queue is looked at when the packet arrives, the frame on the wire not counted. A packet is
//! marked where the queue *with* it would exceed K.

use super::Marking;
use crate::params::{Kind, Param, Spec, Values};
use crate::{Env, Head, QueueView};
use units::Amount;

/// See the module.
#[derive(Clone, Debug)]
pub struct EcnThreshold {
    k: Amount,
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.marking",
    kind: "ecn_threshold",
    doc: "A packet that would make the queue longer than K is marked.",
    cite: "DCTCP §3.1, RFC 8257 §3.1",
    params: &[Param {
        name: "k",
        doc: "Threshold K on the instantaneous queue, in packets or bytes.",
        kind: Kind::Amount { min: 0 },
        default: Some("20pkt"),
    }],
};

impl EcnThreshold {
    /// From validated parameters.
    pub fn new(values: &Values) -> EcnThreshold {
        EcnThreshold { k: values.amount("k") }
    }
}

impl Marking for EcnThreshold {
    #[inline]
    fn mark(&mut self, pkt: &Head, q: &QueueView, _env: &mut Env) -> bool {
        match self.k {
            Amount::Packets(k) => u64::from(q.packets) + 1 > k,
            Amount::Bytes(k) => q.bytes + u64::from(pkt.size) > k,
        }
    }
    fn boxed(&self) -> Box<dyn Marking> {
        Box::new(self.clone())
    }
}
