//! One memory for all ports, each port's share growing with what is free (Choudhury and Hahne,
//! "Dynamic queue length thresholds for shared-memory packet switches", ToN 1998), above a minimum
//! that is set aside for every port.

use super::{Buffer, Use};
use crate::Fill;
use crate::params::{Kind, Param, Spec, Values};
use units::Amount;

/// See the module.
#[derive(Clone, Debug)]
pub struct Shared {
    size: u64,
    alpha: f64,
    reserved: u64,
    /// Bytes that are not set aside; needs the number of ports, see [`Shared::for_ports`].
    pool: u64,
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.buffer",
    kind: "shared",
    doc: "All ports draw on one memory, each up to a dynamic threshold.",
    cite: "Choudhury and Hahne 1998; DIBS §5.5.2",
    params: &[
        Param {
            name: "size",
            doc: "Memory of the switch, the reserved minimum of all ports included.",
            kind: Kind::Size { min: 64 },
            default: None,
        },
        Param {
            name: "alpha",
            doc: "A port may hold its reserve and α times what is free in the pool.",
            kind: Kind::Number { min: 0.0, max: 1e9, below_max: false },
            default: Some("1"),
        },
        Param {
            name: "reserved",
            doc: "Memory that each port keeps for itself.",
            kind: Kind::Size { min: 0 },
            default: Some("0B"),
        },
    ],
};

impl Shared {
    /// From validated parameters.
    pub fn new(values: &Values) -> Shared {
        let size = values.size("size");
        Shared { size, alpha: values.number("alpha"), reserved: values.size("reserved"), pool: size }
    }
    /// The same for a switch with so many ports. PRECONDITION: the reserves fit into `size`.
    #[must_use]
    pub fn for_ports(mut self, ports: u16) -> Shared {
        self.pool = self.size.saturating_sub(self.reserved * u64::from(ports));
        self
    }
    /// Whether a switch with so many ports has memory for every reserve.
    pub fn reserves_fit(&self, ports: u16) -> bool {
        self.reserved * u64::from(ports) <= self.size
    }
    fn limit(&self, now: &Use) -> u64 {
        let free = self.pool.saturating_sub(now.pool_shared_bytes);
        let own = now.bytes.saturating_sub(self.reserved);
        let threshold = (self.alpha * free as f64).min(u64::MAX as f64 / 2.0) as u64;
        self.reserved + threshold.min(own + free)
    }
}

impl Buffer for Shared {
    fn admits(&self, now: &Use, size: u16) -> bool {
        now.bytes + u64::from(size) <= self.limit(now)
    }
    fn fill(&self, now: &Use) -> Fill {
        Fill { used: now.bytes, limit: Some(self.limit(now)) }
    }
    fn budget(&self, _ports: u16) -> Option<Amount> {
        Some(Amount::Bytes(self.size))
    }
    fn reserved(&self) -> u64 {
        self.reserved
    }
    fn boxed(&self) -> Box<dyn Buffer> {
        Box::new(self.clone())
    }
}
