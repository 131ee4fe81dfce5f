//! Forwarding table slot: the source of a switch's addresses.

mod learning;
mod routes;

pub use learning::Learning;

use crate::{Head, HostId, Mechanism, PortId, SwitchContext};
use units::Time;

/// Forwarding decision for a frame.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookupDecision {
    /// Forward by this port.
    Forward(PortId),
    /// Flood by every port but the ingress, since the destination is unknown.
    Flood,
    /// Discard: the destination is behind the ingress port, so the frame has reached it without this switch.
    Filter,
}

/// Addresses known from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownAddresses<'a> {
    /// No address.
    None,
    /// All addresses.
    All,
    /// Addresses of the hosts with these names, and the parameter that lists them.
    Hosts(&'static str, &'a [String]),
}

/// Table with some known addresses that learns others.
///
/// ```
/// use mech::fib::{AddressTable, LookupDecision};
/// use mech::{Head, HostId, PortId};
/// use std::collections::BTreeMap;
/// use units::Time;
///
/// /// Learning table whose entries never age out.
/// #[derive(Clone, Default)]
/// struct Ageless(BTreeMap<HostId, PortId>);
///
/// impl AddressTable for Ageless {
///     fn is_preset(&self, _host: HostId) -> bool {
///         false
///     }
///     fn learned_port(&self, host: HostId, _now: Time) -> Option<PortId> {
///         self.0.get(&host).copied()
///     }
///     fn learn(&mut self, pkt: &Head, _now: Time) {
///         self.0.insert(pkt.src, pkt.ingress);
///     }
///     fn decide(&self, pkt: &Head, (out, _back): (Option<PortId>, Option<PortId>)) -> LookupDecision {
///         match out {
///             Some(port) if port == pkt.ingress => LookupDecision::Filter,
///             Some(port) => LookupDecision::Forward(port),
///             None => LookupDecision::Flood,
///         }
///     }
///     fn clone_boxed(&self) -> Box<dyn AddressTable> {
///         Box::new(self.clone())
///     }
/// }
///
/// let mut table = Ageless::default();
/// let pkt = Head { src: HostId(4), ingress: PortId(2), ..Head::default() };
/// table.learn(&pkt, Time::ZERO);
/// assert_eq!(table.learned_port(HostId(4), Time::ZERO), Some(PortId(2)));
/// assert_eq!(table.decide(&pkt, (None, Some(PortId(2)))), LookupDecision::Flood);
/// ```
pub trait AddressTable: Send + Sync {
    /// Returns true if the routes have the port of an address.
    fn is_preset(&self, host: HostId) -> bool;
    /// Returns the learnt port of an address, if it has not aged out.
    fn learned_port(&self, host: HostId, now: Time) -> Option<PortId>;
    /// Learns from a frame that has come in.
    fn learn(&mut self, pkt: &Head, now: Time);
    /// Decides about a frame, given the ports toward its destination (`out`) and its source (`back`), as far as they
    /// are known.
    fn decide(&self, pkt: &Head, ways: (Option<PortId>, Option<PortId>)) -> LookupDecision;
    /// Returns the addresses known from the start; frames for others may be flooded.
    fn known_addresses(&self) -> KnownAddresses<'_> {
        KnownAddresses::None
    }
    /// Prepares the table for one switch.
    fn for_switch(&mut self, _own: &SwitchContext) {}
    /// Returns a boxed copy with its state.
    fn clone_boxed(&self) -> Box<dyn AddressTable>;
}

impl Clone for Box<dyn AddressTable> {
    fn clone(&self) -> Box<dyn AddressTable> {
        self.clone_boxed()
    }
}

/// Mechanisms of this slot.
pub const ALL: &[Mechanism<FibSlot>] = &[
    Mechanism::new(&routes::SPEC, |_| FibSlot::from_routes()),
    Mechanism::new(&learning::SPEC, |values| FibSlot::from_table(Learning::new(values))),
];

/// Source of a switch's addresses: the routes alone, or a table of its own.
#[derive(Clone)]
pub struct FibSlot(Option<Box<dyn AddressTable>>);

impl FibSlot {
    /// Creates a slot that uses the routes alone.
    pub const fn from_routes() -> FibSlot {
        FibSlot(None)
    }
    /// Creates a slot with a table of its own.
    pub fn from_table(own: impl AddressTable + 'static) -> FibSlot {
        FibSlot(Some(Box::new(own)))
    }
    /// Returns the slot, prepared for one switch.
    #[must_use]
    pub fn for_switch(mut self, own: &SwitchContext) -> FibSlot {
        self.0.iter_mut().for_each(|table| table.for_switch(own));
        self
    }
    /// Returns the table, read-only; `None` for the routes alone.
    pub fn peek(&self) -> Option<&dyn AddressTable> {
        self.0.as_deref()
    }
    /// Takes the table out of its slot; `None` for the routes alone.
    pub fn into_table(self) -> Option<Box<dyn AddressTable>> {
        self.0
    }
}

impl core::fmt::Debug for FibSlot {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(if self.0.is_some() { "table" } else { "routes" })
    }
}
