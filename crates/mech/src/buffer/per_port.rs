//! Fixed memory for each output port, in frames or in bytes.

use super::{Buffer, MemoryUse};
use crate::params;
use crate::params::{ParamKind, Spec, Values};
use crate::{Fill, PortThresholds};
use units::{Amount, Bytes};

/// Buffer with a fixed size for each port.
#[derive(Clone, Debug)]
pub struct PerPort {
    size: Amount,
}

params! {
    /// Parameter values of `per_port`.
    pub(crate) struct Params {
        size: Amount = {
            doc: "Memory of a port, in packets or bytes. In packets every frame counts as one, including ACKs and cut \
                  headers.",
            kind: ParamKind::Amount { min: 1 },
            default: Some("100pkt"),
        },
    }
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.buffer",
    kind: "per_port",
    doc: "Fixed memory for each output port.",
    cite: "DIBS §5.3, PABO §II-E",
    params: Params::PARAMS,
};

impl PerPort {
    /// Creates the buffer from validated parameters.
    pub fn new(values: &Values) -> PerPort {
        PerPort { size: Params::read(values).size }
    }
    /// Creates a buffer of this size for each port.
    pub const fn with_size(size: Amount) -> PerPort {
        PerPort { size }
    }
}

impl Buffer for PerPort {
    #[inline]
    fn admits(&self, now: &MemoryUse, size: u16) -> bool {
        match self.size {
            Amount::Packets(limit) => now.packets < limit,
            Amount::Bytes(limit) => now.bytes + u64::from(size) <= limit,
        }
    }
    /// Returns true if the backlog exceeds the limit by at most `extra`; a limit in frames grows by one for every 64 B.
    fn admits_with_extra_memory(&self, now: &MemoryUse, _size: u16, (waits, extra): (u64, Bytes)) -> bool {
        match self.size {
            Amount::Packets(limit) => now.packets < limit.saturating_add(extra.0 / 64),
            Amount::Bytes(limit) => waits <= limit.saturating_add(extra.0),
        }
    }
    fn fill(&self, now: &MemoryUse) -> Fill {
        match self.size {
            Amount::Packets(limit) => Fill { used: now.packets, limit: Some(limit) },
            Amount::Bytes(limit) => Fill { used: now.bytes, limit: Some(limit) },
        }
    }
    fn total_memory(&self, ports: u16) -> Option<Amount> {
        Some(match self.size {
            Amount::Packets(n) => Amount::Packets(n.saturating_mul(u64::from(ports))),
            Amount::Bytes(n) => Amount::Bytes(n.saturating_mul(u64::from(ports))),
        })
    }
    fn guaranteed_bytes(&self, frame: u16) -> Option<u64> {
        Some(match self.size {
            Amount::Packets(n) => n.saturating_mul(u64::from(frame)),
            Amount::Bytes(n) => n,
        })
    }
    fn fixed_thresholds(&self) -> Option<PortThresholds> {
        Some(PortThresholds::new(self.size))
    }
    fn describe(&self, frame: u16) -> Option<String> {
        Some(match self.size {
            Amount::Packets(n) => format!("per_port, {n}pkt of {frame}B"),
            bytes @ Amount::Bytes(_) => format!("per_port, {bytes}"),
        })
    }
    fn clone_boxed(&self) -> Box<dyn Buffer> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(packets: u64, bytes: u64) -> MemoryUse {
        MemoryUse { packets, bytes, ..MemoryUse::default() }
    }

    #[test]
    fn limit_in_packets_ignores_packet_size() {
        let memory = PerPort::with_size(Amount::Packets(100));
        assert!(memory.admits(&used(99, 9_000_000), 1518));
        assert!(!memory.admits(&used(100, 6400), 64));
        assert_eq!(memory.fill(&used(99, 5)), Fill { used: 99, limit: Some(100) });
        assert_eq!(memory.total_memory(8), Some(Amount::Packets(800)));
    }

    #[test]
    fn limit_in_bytes_includes_arriving_frame() {
        let memory = PerPort::with_size(Amount::Bytes(3000));
        assert!(memory.admits(&used(1, 1500), 1500));
        assert!(!memory.admits(&used(1, 1501), 1500));
        assert!(memory.admits(&used(40, 2936), 64));
        assert_eq!(memory.fill(&used(40, 2936)), Fill { used: 2936, limit: Some(3000) });
    }

    #[test]
    fn zero_memory_admits_no_frame() {
        assert!(!PerPort::with_size(Amount::Packets(0)).admits(&used(0, 0), 64));
        assert!(!PerPort::with_size(Amount::Bytes(0)).admits(&used(0, 0), 1));
    }

    #[test]
    fn extra_memory_is_bytes_or_one_frame_per_64_bytes() {
        let bytes = PerPort::with_size(Amount::Bytes(3000));
        assert!(bytes.admits_with_extra_memory(&used(2, 3066), 1500, (3066, Bytes(66))));
        assert!(!bytes.admits_with_extra_memory(&used(2, 3066), 1500, (3066, Bytes(65))));
        let packets = PerPort::with_size(Amount::Packets(10));
        assert!(packets.admits_with_extra_memory(&used(10, 0), 66, (0, Bytes(64))));
        assert!(!packets.admits_with_extra_memory(&used(10, 0), 66, (0, Bytes(63))));
        assert!(!packets.admits_with_extra_memory(&used(11, 0), 66, (0, Bytes(64))));
    }

    #[test]
    fn huge_size_does_not_overflow() {
        assert_eq!(PerPort::with_size(Amount::Bytes(u64::MAX)).total_memory(64), Some(Amount::Bytes(u64::MAX)));
    }
}
