//! Who sends what to whom, when.

use mech::HostId;
use units::Time;

/// One entry of the scenario's `[[traffic]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// Its name.
    pub name: String,
}

/// A flow to be sent by the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowSpec {
    /// When its first byte is handed to the transport.
    pub start: Time,
    /// The host that sends.
    pub src: HostId,
    /// The host that receives.
    pub dst: HostId,
    /// Payload bytes, at least 1.
    pub bytes: u64,
    /// Which entry of `[[traffic]]` it comes from.
    pub traffic: u16,
    /// Flows of one query share a number, counted per entry; `u32::MAX` where there are no queries.
    pub query: u32,
    /// Traffic class, 0 to 7.
    pub class: u8,
}
