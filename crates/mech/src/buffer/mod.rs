//! Buffer slot: allocates memory to queues. A queue orders packets; a buffer allocates memory.

mod extra_memory;
mod per_port;
mod pools;
mod shared;
mod threshold;
mod unlimited;

pub use extra_memory::ExtraMemory;
pub use per_port::PerPort;
pub use pools::{AccountRules, BufferPort, LosslessRules, MemoryLayout, PoolLimits, Pools, ProfileRules, UnusedEntry};
pub use shared::Shared;
pub use threshold::{Dynamic, Fixed, MemoryView, Reclaim, Threshold, ThresholdSlot};
pub use unlimited::Unlimited;

use crate::{CheckContext, Fill, Mechanism, PortThresholds, PriorityGroups, Report};
use std::sync::Arc;
use units::{Amount, Bytes};

/// Memory in use at an instant: by the queues of one port that share its limit, and by the whole switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// Number of frames in the queues of the port.
    pub packets: u64,
    /// Bytes in the queues of the port.
    pub bytes: u64,
    /// Bytes in use in the whole switch.
    pub pool_bytes: u64,
    /// Bytes in use in the whole switch, beyond the reserve of each port.
    pub pool_shared_bytes: u64,
}

/// Mechanism that allocates buffer memory to queues.
///
/// ```
/// use mech::buffer::{Buffer, MemoryUse};
/// use mech::Fill;
/// use units::Amount;
///
/// /// Memory of this number of bytes that all ports share without thresholds (complete sharing).
/// #[derive(Clone)]
/// struct Common(u64);
///
/// impl Buffer for Common {
///     fn admits(&self, now: &MemoryUse, size: u16) -> bool {
///         now.pool_bytes + u64::from(size) <= self.0
///     }
///     fn fill(&self, now: &MemoryUse) -> Fill {
///         Fill { used: now.pool_bytes, limit: Some(self.0) }
///     }
///     fn total_memory(&self, _ports: u16) -> Option<Amount> {
///         Some(Amount::Bytes(self.0))
///     }
///     fn free_shared_bytes(&self, pool_shared_bytes: u64) -> Option<u64> {
///         Some(self.0.saturating_sub(pool_shared_bytes))
///     }
///     fn guaranteed_bytes(&self, _frame: u16) -> Option<u64> {
///         Some(self.0)
///     }
///     fn clone_boxed(&self) -> Box<dyn Buffer> {
///         Box::new(self.clone())
///     }
/// }
///
/// let now = MemoryUse { packets: 1, bytes: 1500, pool_bytes: 9000, pool_shared_bytes: 9000 };
/// assert!(Common(10_500).admits(&now, 1500));
/// assert!(!Common(10_499).admits(&now, 1500));
/// ```
pub trait Buffer: Send + Sync {
    /// Returns true if a frame of `size` bytes may be stored while the memory `now` is in use.
    fn admits(&self, now: &MemoryUse, size: u16) -> bool;
    /// Returns true if a frame of `size` bytes may be stored beyond the limit of its port (CP §4.2).
    ///
    /// The backlog `waits`, without the frame and as a part of `now`, may exceed the current limit by `extra` bytes.
    /// The default is for limits in bytes.
    fn admits_with_extra_memory(&self, now: &MemoryUse, size: u16, (waits, extra): (u64, Bytes)) -> bool {
        let is_within = self.fill(now).limit.is_none_or(|limit| waits <= limit.saturating_add(extra.0));
        is_within && self.has_memory(now, size)
    }
    /// Returns true if the whole memory has space for a frame of `size` bytes, whatever the limit of its port is.
    fn has_memory(&self, _now: &MemoryUse, _size: u16) -> bool {
        true
    }
    /// Returns used capacity and limit of a port while the memory `now` is in use.
    fn fill(&self, now: &MemoryUse) -> Fill;
    /// Returns the whole memory of a switch with this number of ports; `None` if it is unlimited.
    fn total_memory(&self, ports: u16) -> Option<Amount>;
    /// Returns the bytes reserved for each port, which other ports cannot use.
    fn reserved_bytes(&self) -> u64 {
        0
    }
    /// Returns the free shared bytes, given the shared bytes in use beyond all reserves; `None` if no memory is shared.
    fn free_shared_bytes(&self, _pool_shared_bytes: u64) -> Option<u64> {
        None
    }
    /// Returns the bytes that always fit, whichever ports they are queued for: no arrival is refused up to this total.
    /// `None` is unlimited. Memory in frames is taken to hold frames of `frame` bytes.
    fn guaranteed_bytes(&self, frame: u16) -> Option<u64>;
    /// Returns the fixed thresholds of a port, if nothing else limits its backlog.
    /// Departures of the port may then be computed at arrival.
    fn fixed_thresholds(&self) -> Option<PortThresholds> {
        None
    }
    /// Prepares accounts of groups and queues for a switch with these ports.
    fn for_links(&mut self, _ports: &[BufferPort]) {}
    /// Returns true if groups and queues have accounts, whose rules are those of [`Buffer::layout`].
    fn has_accounts(&self) -> bool {
        false
    }
    /// Returns the kind of priority groups at ingress, whose profiles have the thresholds of pauses.
    fn priority_groups(&self) -> PriorityGroups {
        PriorityGroups::Unsupported
    }
    /// Returns the pools and accounts of the switch; `None` without accounts, or before [`Buffer::for_links`].
    /// The switch keeps the accounts, and calls neither [`Buffer::admits`] nor [`Buffer::fill`].
    fn layout(&self) -> Option<Arc<MemoryLayout>> {
        None
    }
    /// Prepares the buffer for a switch with this number of ports. The reserves of all ports reduce the shared memory.
    fn for_ports(&mut self, _ports: u16) {}
    /// Reports conflicts of the buffer's parameters with the switch, such as its number of ports.
    fn check(&self, _beside: &CheckContext, _report: &mut Report) {}
    /// Returns a short description of the buffer for frames of `frame` bytes; `None` if its name suffices.
    fn describe(&self, _frame: u16) -> Option<String> {
        None
    }
    /// Returns a boxed copy of the buffer, with its state.
    fn clone_boxed(&self) -> Box<dyn Buffer>;
}

/// Mechanisms of the slot `buffer`.
pub const ALL: &[Mechanism<BufferSlot>] = &[
    Mechanism::new(&per_port::SPEC, |values| PerPort::new(values).into()),
    Mechanism::new(&shared::SPEC, |values| Shared::new(values).into()),
    Mechanism::new(&pools::SPEC, |values| Pools::new(values).into()),
    Mechanism::new(&unlimited::SPEC, |_| Unlimited.into()),
];

slot! {
    /// Slot `buffer`: allocates the memory of a switch or a NIC.
    BufferSlot(Lender) of Buffer {
        PerPort(PerPort),
        Shared(Shared),
        Pools(Pools),
        Unlimited(Unlimited),
    }
}

impl BufferSlot {
    /// Creates a buffer slot with this size for each port; `None` is unlimited.
    pub fn per_port(size: Option<Amount>) -> BufferSlot {
        size.map_or_else(|| Unlimited.into(), |size| PerPort::with_size(size).into())
    }
    /// Returns the buffer slot, prepared for a switch with this number of ports.
    #[must_use]
    pub fn for_ports(mut self, ports: u16) -> BufferSlot {
        self.get().for_ports(ports);
        self
    }
    /// Returns the buffer slot with its accounts, prepared for a switch with these ports.
    #[must_use]
    pub fn for_links(mut self, ports: &[BufferPort]) -> BufferSlot {
        self.get().for_links(ports);
        self
    }
    /// Returns true if a frame of `size` bytes may be stored while the memory `now` is in use.
    #[inline(always)]
    pub fn admits(&self, now: impl FnOnce() -> MemoryUse, size: u16) -> bool {
        match &self.0 {
            Lender::PerPort(own) => own.admits(&now(), size),
            Lender::Unlimited(_) => true,
            _ => self.peek().admits(&now(), size),
        }
    }
}
