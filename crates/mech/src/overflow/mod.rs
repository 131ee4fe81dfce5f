//! The overflow slot, asked for every arrival: what becomes of it?

mod bounce;
mod detour;
mod evict;
mod tail_drop;

pub use bounce::{Bounce, probability};
pub use detour::{Detour, ENTRY_BYTES};
pub use evict::Evict;
pub use tail_drop::TailDrop;

use crate::params::{Spec, Values};
use crate::{Env, ForwardingContext, Head, HostId, Interests, PktId, PortId, QueueId};
use units::{Amount, Bytes};

/// What becomes of an arrival.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Into this queue of the port that lookup chose.
    Enqueue(QueueId),
    /// Back: into the bounce queue of this port (PABO).
    Bounce(PortId),
    /// Aside: into this queue of another port (DIBS).
    Detour(PortId, QueueId),
    /// Cut to its header, then into this queue of the port that lookup chose (CP).
    Trim(QueueId),
    /// This waiting packet is dropped, and the question asked again (pFabric); asked again, too,
    /// where it is gone already, as when simultaneous arrivals chose the same one.
    Evict(PktId),
    /// Lost.
    Drop(DropReason),
}

/// Why a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropReason {
    /// The queue had no room.
    BufferFull = 0,
    /// The bounce queue had no room (PABO §II-E).
    BounceQueueFull = 1,
    /// Queue full and nowhere to detour to (DIBS §2).
    NoDetour = 2,
    /// Too many switches entered.
    TtlExpired = 3,
    /// Pushed out by a more urgent packet (pFabric §4.1).
    Evicted = 4,
    /// Not ECN-capable where a mark was due (RFC 3168 §7).
    EarlyDrop = 5,
    /// The switch knows no way to the destination.
    NoRoute = 6,
    /// No room for a held ACK.
    HoldFull = 7,
    /// Queue full, and detoured as often as a packet may be.
    DetoursSpent = 8,
}

impl DropReason {
    /// All reasons, in the order of their numbers.
    pub const ALL: [DropReason; 9] = [
        DropReason::BufferFull,
        DropReason::BounceQueueFull,
        DropReason::NoDetour,
        DropReason::TtlExpired,
        DropReason::Evicted,
        DropReason::EarlyDrop,
        DropReason::NoRoute,
        DropReason::HoldFull,
        DropReason::DetoursSpent,
    ];
    /// The name in results.
    pub const fn name(self) -> &'static str {
        match self {
            DropReason::BufferFull => "buffer_full",
            DropReason::BounceQueueFull => "bounce_queue_full",
            DropReason::NoDetour => "no_detour",
            DropReason::TtlExpired => "ttl_expired",
            DropReason::Evicted => "evicted",
            DropReason::EarlyDrop => "early_drop",
            DropReason::NoRoute => "no_route",
            DropReason::HoldFull => "hold_full",
            DropReason::DetoursSpent => "detours_spent",
        }
    }
    /// Whether memory was wanting: what pausing is there to prevent.
    pub const fn wants_memory(self) -> bool {
        match self {
            DropReason::BufferFull
            | DropReason::BounceQueueFull
            | DropReason::NoDetour
            | DropReason::Evicted
            | DropReason::HoldFull
            | DropReason::DetoursSpent => true,
            DropReason::TtlExpired | DropReason::EarlyDrop | DropReason::NoRoute => false,
        }
    }
}

/// An answer to overflow.
pub trait Overflow: Send + Sync {
    /// What becomes of `pkt`, which lookup would send out by `at.out`. Of the acts it may ask for a mark.
    fn admit(&mut self, pkt: &Head, at: &ForwardingContext, env: &mut Env) -> Fate;
    /// Room beyond the limit that a packet may use, as it is about to be stored: cut or not. The
    /// dataplane adds it wherever it tests capacity, with [`crate::buffer::Buffer::admits_beyond`]
    /// (CP §4.2, where the backlog is compared before the packet is added).
    fn extra_room(&self, _pkt: &Head) -> Bytes {
        Bytes(0)
    }
    /// The size of the bounce queue that it wants at every port, if any.
    fn bounce_queue(&self) -> Option<Amount> {
        None
    }
    /// What it wants from the dataplane.
    fn interests(&self) -> Interests {
        Interests::default()
    }
    /// A copy, with its state.
    fn boxed(&self) -> Box<dyn Overflow>;
}

/// The mechanisms of this slot.
pub const SPECS: &[&Spec] = &[&tail_drop::SPEC, &detour::SPEC, &bounce::SPEC, &evict::SPEC];

/// What a switch's answer to overflow is made from beside its parameters.
#[derive(Clone, Copy)]
pub struct SwitchContext<'a> {
    /// The seed of the switch's flow hash.
    pub hash_seed: u64,
    /// The host of a name.
    pub host: &'a dyn Fn(&str) -> Option<HostId>,
}

/// One mechanism, or a caller's own.
pub enum OverflowSlot {
    /// `tail_drop`
    TailDrop(TailDrop),
    /// `detour`
    Detour(Detour),
    /// `bounce`
    Bounce(Bounce),
    /// `evict`
    Evict(Evict),
    /// A mechanism from outside the catalogue.
    Custom(Box<dyn Overflow>),
}

impl OverflowSlot {
    /// The mechanism named `kind`, for no switch in particular; `None` where the catalogue has none of that
    /// name.
    pub fn build(kind: &str, values: &Values) -> Option<OverflowSlot> {
        Some(match kind {
            "tail_drop" => OverflowSlot::TailDrop(TailDrop),
            "detour" => OverflowSlot::Detour(Detour::new(values)),
            "bounce" => OverflowSlot::Bounce(Bounce::new(values)),
            "evict" => OverflowSlot::Evict(Evict),
            _ => return None,
        })
    }
    /// The same for one switch; `None` where `values` name a host that does not exist.
    pub fn for_switch(self, values: &Values, own: SwitchContext) -> Option<OverflowSlot> {
        Some(match self {
            OverflowSlot::Detour(m) => OverflowSlot::Detour(m.for_switch(values, own)?),
            other => other,
        })
    }
    /// The mechanism.
    #[inline]
    pub fn get(&mut self) -> &mut dyn Overflow {
        match self {
            OverflowSlot::TailDrop(m) => m,
            OverflowSlot::Detour(m) => m,
            OverflowSlot::Bounce(m) => m,
            OverflowSlot::Evict(m) => m,
            OverflowSlot::Custom(m) => &mut **m,
        }
    }
    /// The mechanism, to read.
    pub fn peek(&self) -> &dyn Overflow {
        match self {
            OverflowSlot::TailDrop(m) => m,
            OverflowSlot::Detour(m) => m,
            OverflowSlot::Bounce(m) => m,
            OverflowSlot::Evict(m) => m,
            OverflowSlot::Custom(m) => &**m,
        }
    }
}

impl Clone for OverflowSlot {
    fn clone(&self) -> OverflowSlot {
        match self {
            OverflowSlot::TailDrop(m) => OverflowSlot::TailDrop(m.clone()),
            OverflowSlot::Detour(m) => OverflowSlot::Detour(m.clone()),
            OverflowSlot::Bounce(m) => OverflowSlot::Bounce(m.clone()),
            OverflowSlot::Evict(m) => OverflowSlot::Evict(m.clone()),
            OverflowSlot::Custom(m) => OverflowSlot::Custom(m.boxed()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::DropReason;

    #[test]
    fn a_packet_is_lost_for_want_of_memory_or_by_its_own_fault() {
        let not_wanting = [DropReason::TtlExpired, DropReason::EarlyDrop, DropReason::NoRoute];
        for (number, reason) in DropReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, number);
            assert_eq!(reason.wants_memory(), !not_wanting.contains(&reason), "{}", reason.name());
        }
    }
}
