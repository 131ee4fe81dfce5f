//! Report of a lost packet of a lossless class, which ends the run.

use mech::{Fill, PortId};
use units::Dur;

/// Packet of a lossless class that was lost because it found no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LosslessViolation {
    /// Input port of the packet.
    pub ingress: PortId,
    /// Traffic class of the packet.
    pub class: u8,
    /// Output port of the packet.
    pub out: PortId,
    /// True if the memory of the input port was full; false if that of the output port was.
    pub at_input: bool,
    /// Priority group that had no headroom left, in memory with pools.
    pub group: Option<LosslessGroup>,
    /// Used part and limit of the memory that was full.
    pub fill: Fill,
    /// Bytes held of all classes that are paused together with the packet's class, the packet included.
    pub held: u64,
    /// True if the shared memory had space for the packet, so that only the threshold of the output port refused it.
    pub over_threshold: bool,
    /// XOFF threshold of the input port in bytes.
    pub xoff: u64,
    /// Headroom in bytes above the XOFF threshold.
    pub headroom: u64,
    /// Duration of a pause at the far end, if one may have expired before it was refreshed.
    pub expired: Option<Dur>,
    /// Sizes of the buffers inside the switch, if one of them could never hold the packet.
    pub inside: Option<OversizedFrame>,
}

/// Priority group of a lossless class that refused a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LosslessGroup {
    /// Number of the group.
    pub number: u8,
    /// Used part and size of its headroom, in the slice with the least free headroom.
    pub headroom: Fill,
}

/// Packet that is larger than a buffer inside a `fabric` switch, with the sizes of these buffers in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OversizedFrame {
    /// Size of the packet's frame in bytes.
    pub size: u16,
    /// Size of the input buffer of a stage in bytes.
    pub stage_buffer: u64,
    /// Size in bytes of a buffer that feeds an internal link.
    pub link_buffer: u64,
}
