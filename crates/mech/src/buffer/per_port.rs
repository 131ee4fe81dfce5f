//! A static share of memory for each output port, in frames or in bytes.

use super::{Buffer, Use};
use crate::Fill;
use crate::params::{Kind, Param, Spec, Values};
use units::Amount;

/// See the module.
#[derive(Clone, Debug)]
pub struct PerPort {
    size: Amount,
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.buffer",
    kind: "per_port",
    doc: "Every output port has memory of its own.",
    cite: "DIBS §5.3, PABO §II-E",
    params: &[Param {
        name: "size",
        doc: "Memory of a port. In packets every frame counts as one, ACKs and cut headers too.",
        kind: Kind::Amount { min: 1 },
        default: Some("100pkt"),
    }],
};

impl PerPort {
    /// From validated parameters.
    pub fn new(values: &Values) -> PerPort {
        PerPort { size: values.amount("size") }
    }
    /// A port's memory of this size.
    pub const fn of(size: Amount) -> PerPort {
        PerPort { size }
    }
}

impl Buffer for PerPort {
    #[inline]
    fn admits(&self, now: &Use, size: u16) -> bool {
        match self.size {
            Amount::Packets(limit) => now.packets < limit,
            Amount::Bytes(limit) => now.bytes + u64::from(size) <= limit,
        }
    }
    fn fill(&self, now: &Use) -> Fill {
        match self.size {
            Amount::Packets(limit) => Fill { used: now.packets, limit: Some(limit) },
            Amount::Bytes(limit) => Fill { used: now.bytes, limit: Some(limit) },
        }
    }
    fn budget(&self, ports: u16) -> Option<Amount> {
        Some(match self.size {
            Amount::Packets(n) => Amount::Packets(n * u64::from(ports)),
            Amount::Bytes(n) => Amount::Bytes(n * u64::from(ports)),
        })
    }
    fn boxed(&self) -> Box<dyn Buffer> {
        Box::new(self.clone())
    }
}
