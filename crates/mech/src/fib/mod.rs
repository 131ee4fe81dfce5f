//! Forwarding table slot (`fib`): gives a switch the ports of addresses, from routes or by learning.

mod learning;
mod routes;

pub use learning::Learning;

use crate::{Head, HostId, Mechanism, PortId, SwitchContext};
use units::Time;

/// Decision of the forwarding table for a frame: forward, flood or discard.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookupDecision {
    /// Forwards the frame by this port.
    Forward(PortId),
    /// Floods the frame by every port but the ingress, since the destination is unknown.
    Flood,
    /// Discards the frame: its destination is behind the ingress port, so the frame has reached it without this switch.
    Filter,
}

/// Addresses that a forwarding table has from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownAddresses<'a> {
    /// Absence of any address known from the start.
    None,
    /// Addresses of all hosts.
    All,
    /// Addresses of the hosts with these names, and the parameter that lists them.
    Hosts(&'static str, &'a [String]),
}

/// Forwarding table that learns addresses, in addition to those known from the start.
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
    /// Returns true if the address of a host is known from the start, so that the routes give its port.
    fn is_preset(&self, host: HostId) -> bool;
    /// Returns the port learnt for a host, if the entry has not aged out.
    fn learned_port(&self, host: HostId, now: Time) -> Option<PortId>;
    /// Learns the port of a frame's source from the port by which the frame came in.
    fn learn(&mut self, pkt: &Head, now: Time);
    /// Returns the decision for a frame, given the ports toward its destination and its source, if known.
    fn decide(&self, pkt: &Head, ports: (Option<PortId>, Option<PortId>)) -> LookupDecision;
    /// Returns the addresses known from the start; frames for others may be flooded.
    fn known_addresses(&self) -> KnownAddresses<'_> {
        KnownAddresses::None
    }
    /// Prepares the forwarding table for one switch.
    fn for_switch(&mut self, _own: &SwitchContext) {}
    /// Returns a boxed copy of the table, with its entries.
    fn clone_boxed(&self) -> Box<dyn AddressTable>;
}

impl Clone for Box<dyn AddressTable> {
    fn clone(&self) -> Box<dyn AddressTable> {
        self.clone_boxed()
    }
}

/// Mechanisms of the slot `fib`.
pub const ALL: &[Mechanism<FibSlot>] = &[
    Mechanism::new(&routes::SPEC, |_| FibSlot::from_routes()),
    Mechanism::new(&learning::SPEC, |values| FibSlot::from_table(Learning::new(values))),
];

/// Slot `fib`: gives the ports of addresses from the routes alone, or from a table of its own.
#[derive(Clone)]
pub struct FibSlot(Option<Box<dyn AddressTable>>);

impl FibSlot {
    /// Creates a `fib` slot that uses the routes alone.
    pub const fn from_routes() -> FibSlot {
        FibSlot(None)
    }
    /// Creates a `fib` slot with a table of its own.
    pub fn from_table(table: impl AddressTable + 'static) -> FibSlot {
        FibSlot(Some(Box::new(table)))
    }
    /// Returns the `fib` slot, prepared for one switch.
    #[must_use]
    pub fn for_switch(mut self, own: &SwitchContext) -> FibSlot {
        self.0.iter_mut().for_each(|table| table.for_switch(own));
        self
    }
    /// Returns the forwarding table of the slot, read-only; `None` if it uses the routes alone.
    pub fn peek(&self) -> Option<&dyn AddressTable> {
        self.0.as_deref()
    }
    /// Takes the forwarding table out of its slot; `None` if the slot uses the routes alone.
    pub fn into_table(self) -> Option<Box<dyn AddressTable>> {
        self.0
    }
}

impl core::fmt::Debug for FibSlot {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(if self.0.is_some() { "table" } else { "routes" })
    }
}
