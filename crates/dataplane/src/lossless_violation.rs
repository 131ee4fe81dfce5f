//! A loss where there should be none.

use mech::{Fill, PortId};
use units::Dur;

/// A packet that should never be lost, and found no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LosslessViolation {
    /// The port that it came in by.
    pub ingress: PortId,
    /// Its class.
    pub class: u8,
    /// The port that it was to leave by.
    pub out: PortId,
    /// Whether the memory of the port that it came in by had no room; else that of the port that it was to leave by.
    pub at_input: bool,
    /// How full that was.
    pub fill: Fill,
    /// Bytes held of what is paused together with it, itself included.
    pub held: u64,
    /// Bytes from which the far end is paused.
    pub xoff: u64,
    /// Bytes that may come on top of that.
    pub headroom: u64,
    /// How long a pause lasts, where one may have expired before it was refreshed.
    pub expired: Option<Dur>,
    /// Where some buffer inside the switch could never hold it.
    pub inside: Option<TooLarge>,
}

/// A packet that is larger than a buffer inside a switch of several stages, and what these hold. All in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// The packet.
    pub size: u16,
    /// The input buffer of a stage.
    pub stage_buffer: u64,
    /// The buffer in front of an internal link.
    pub link_buffer: u64,
}
