//! Unlimited memory: the ideal case that papers compare with.

use super::{Buffer, MemoryUse};
use crate::params::Spec;
use crate::{Fill, PortThresholds};
use units::Amount;

/// Buffer without a limit.
#[derive(Clone, Debug)]
pub struct Unlimited;

pub(super) const SPEC: Spec = Spec {
    slot: "switch.buffer",
    kind: "unlimited",
    doc: "Memory without a limit: no queue is ever full, and utilisation is 0.",
    cite: "DIBS §5.2",
    params: &[],
};

impl Buffer for Unlimited {
    fn admits(&self, _now: &MemoryUse, _size: u16) -> bool {
        true
    }
    fn fill(&self, now: &MemoryUse) -> Fill {
        Fill { used: now.packets, limit: None }
    }
    fn total_memory(&self, _ports: u16) -> Option<Amount> {
        None
    }
    fn guaranteed_bytes(&self, _frame: u16) -> Option<u64> {
        None
    }
    fn fixed_thresholds(&self) -> Option<PortThresholds> {
        Some(PortThresholds::UNLIMITED)
    }
    fn clone_boxed(&self) -> Box<dyn Buffer> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unlimited_buffer_is_never_full() {
        let now = MemoryUse { packets: 1 << 40, bytes: 1 << 50, ..MemoryUse::default() };
        assert!(Unlimited.admits(&now, u16::MAX));
        assert_eq!(Unlimited.fill(&now), Fill { used: 1 << 40, limit: None });
        assert_eq!(Unlimited.total_memory(8), None);
    }
}
