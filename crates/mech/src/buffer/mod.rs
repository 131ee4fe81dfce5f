//! The buffer slot: how much memory may a queue have? A queue orders packets; a buffer allocates memory.

mod extra;
mod per_port;
mod shared;
mod unlimited;

pub use extra::ExtraRoom;
pub use per_port::PerPort;
pub use shared::Shared;
pub use unlimited::Unlimited;

use crate::{Beside, Fill, Mechanism, Report, Room};
use units::{Amount, Bytes};

/// What is allocated at an instant: to one port's normal queues, or to one bounce queue, and in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// Frames.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
    /// Bytes allocated in the whole switch.
    pub pool_bytes: u64,
    /// Bytes allocated in the whole switch beyond what is reserved for each port.
    pub pool_shared_bytes: u64,
}

/// A way to allocate memory.
pub trait Buffer: Send + Sync {
    /// Whether a frame of `size` bytes may be stored on top of `now`.
    fn admits(&self, now: &Use, size: u16) -> bool;
    /// Whether a frame of `size` bytes may be stored since what waits without it, so many of the bytes of `now`, is
    /// at most so much beyond the limit of this instant (CP §4.2). As it stands, for limits in bytes.
    fn admits_beyond(&self, now: &Use, size: u16, (waits, extra): (u64, Bytes)) -> bool {
        let is_within = self.fill(now).limit.is_none_or(|limit| waits <= limit.saturating_add(extra.0));
        is_within && self.has_memory(now, size)
    }
    /// Whether there is memory for a frame of `size` bytes beyond any limit of its port.
    fn has_memory(&self, _now: &Use, _size: u16) -> bool {
        true
    }
    /// How full that is.
    fn fill(&self, now: &Use) -> Fill;
    /// All the memory of a switch with so many ports; `None` where it is endless.
    fn budget(&self, ports: u16) -> Option<Amount>;
    /// Bytes set aside for each port, out of reach of the others.
    fn reserved(&self) -> u64 {
        0
    }
    /// Bytes of the shared memory that are free while so many are allocated beyond what is reserved; `None`
    /// where nothing is shared.
    fn free(&self, _pool_shared_bytes: u64) -> Option<u64> {
        None
    }
    /// Bytes that fit whichever ports they wait for: no arrival is refused that makes no more of them. `None`
    /// is endless; memory in frames is taken to hold frames of `frame` bytes.
    fn guaranteed_bytes(&self, frame: u16) -> Option<u64>;
    /// Where all that counts for a port is what waits there, against fixed thresholds: these. Its departures
    /// may then be computed.
    fn plain(&self) -> Option<Room> {
        None
    }
    /// Makes it ready for a switch with so many ports: memory that is set aside for each leaves the rest to
    /// share.
    fn for_ports(&mut self, _ports: u16) {}
    /// What is wrong with it at a switch with so many ports.
    fn check(&self, _beside: &Beside, _report: &mut Report) {}
    /// It in a few words, holding frames of `frame` bytes; `None` where its name says it.
    fn described(&self, _frame: u16) -> Option<String> {
        None
    }
    /// A copy, with its state.
    fn boxed(&self) -> Box<dyn Buffer>;
}

/// The mechanisms of this slot.
pub const ALL: &[Mechanism<BufferSlot>] = &[
    Mechanism::new(&per_port::SPEC, |values| PerPort::new(values).into()),
    Mechanism::new(&shared::SPEC, |values| Shared::new(values).into()),
    Mechanism::new(&unlimited::SPEC, |_| Unlimited.into()),
];

slot! {
    /// How a switch or a NIC lends memory.
    BufferSlot(Lender) of Buffer {
        PerPort(PerPort),
        Shared(Shared),
        Unlimited(Unlimited),
    }
}

impl BufferSlot {
    /// So much for each port; `None` is endless.
    pub fn per_port(size: Option<Amount>) -> BufferSlot {
        size.map_or_else(|| Unlimited.into(), |size| PerPort::of_size(size).into())
    }
    /// The same for a switch with so many ports.
    #[must_use]
    pub fn for_ports(mut self, ports: u16) -> BufferSlot {
        self.get().for_ports(ports);
        self
    }
    /// Whether a frame of `size` bytes may be stored on top of what `now` says.
    #[inline(always)]
    pub fn admits(&self, now: impl FnOnce() -> Use, size: u16) -> bool {
        match &self.0 {
            Lender::PerPort(own) => own.admits(&now(), size),
            Lender::Unlimited(_) => true,
            _ => self.peek().admits(&now(), size),
        }
    }
}
