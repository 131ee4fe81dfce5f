//! The forwarding table of a switch: where does its knowledge of addresses come from?

mod learning;
mod routed;

pub use learning::Learning;

use crate::{Head, HostId, Mechanism, PortId, SwitchContext};
use units::Time;

/// What becomes of a frame.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Onward {
    /// It would leave by this port.
    By(PortId),
    /// Nobody knows: by every port but its own.
    Flood,
    /// It came from where its destination is, and has reached it without this switch.
    Filtered,
}

/// The addresses that are known from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known<'a> {
    /// None.
    None,
    /// All.
    All,
    /// Those of the hosts of these names, as this parameter lists them.
    Hosts(&'static str, &'a [String]),
}

/// A table that knows some addresses and finds out others.
pub trait AddressTable: Send + Sync {
    /// Whether the routes are to be asked for an address.
    fn is_preset(&self, host: HostId) -> bool;
    /// The port that was learnt for an address and is still known.
    fn port(&self, host: HostId, now: Time) -> Option<PortId>;
    /// A frame has come in.
    fn learn(&mut self, pkt: &Head, now: Time);
    /// What becomes of a frame whose destination is behind `out` and whose source is behind `back`,
    /// as far as that is known.
    fn onward(&self, pkt: &Head, ways: (Option<PortId>, Option<PortId>)) -> Onward;
    /// The addresses that are known from the start; frames for others may be flooded.
    fn known(&self) -> Known<'_> {
        Known::None
    }
    /// Makes it ready for one switch.
    fn for_switch(&mut self, _own: &SwitchContext) {}
    /// A copy, with its state.
    fn boxed(&self) -> Box<dyn AddressTable>;
}

impl Clone for Box<dyn AddressTable> {
    fn clone(&self) -> Box<dyn AddressTable> {
        self.boxed()
    }
}

/// The mechanisms of this slot.
pub const ALL: &[Mechanism<FibSlot>] = &[
    Mechanism::new(&routed::SPEC, |_| FibSlot::routes()),
    Mechanism::new(&learning::SPEC, |values| FibSlot::table(Learning::new(values))),
];

/// Where a switch's knowledge of addresses comes from: the routes alone, or a table of its own.
#[derive(Clone)]
pub struct FibSlot(Option<Box<dyn AddressTable>>);

impl FibSlot {
    /// The routes alone.
    pub const fn routes() -> FibSlot {
        FibSlot(None)
    }
    /// A table of its own.
    pub fn table(own: impl AddressTable + 'static) -> FibSlot {
        FibSlot(Some(Box::new(own)))
    }
    /// The same for one switch.
    #[must_use]
    pub fn for_switch(mut self, own: &SwitchContext) -> FibSlot {
        self.0.iter_mut().for_each(|table| table.for_switch(own));
        self
    }
    /// The table, to read; `None` for the routes alone.
    pub fn peek(&self) -> Option<&dyn AddressTable> {
        self.0.as_deref()
    }
    /// The table; `None` for the routes alone.
    pub fn into_table(self) -> Option<Box<dyn AddressTable>> {
        self.0
    }
}

impl core::fmt::Debug for FibSlot {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(if self.0.is_some() { "table" } else { "routes" })
    }
}
