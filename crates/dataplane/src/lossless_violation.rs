//! Loss of a packet of a lossless class.

use mech::{Fill, PortId};
use units::Dur;

/// Packet of a lossless class that found no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LosslessViolation {
    /// Input port of the packet.
    pub ingress: PortId,
    /// Class of the packet.
    pub class: u8,
    /// Output port of the packet.
    pub out: PortId,
    /// True if the memory of the input port was full; false if that of the output port was.
    pub at_input: bool,
    /// Fill of that memory.
    pub fill: Fill,
    /// Bytes held of the classes that are paused together with the packet's, the packet included.
    pub held: u64,
    /// XOFF threshold in bytes.
    pub xoff: u64,
    /// Headroom in bytes above the XOFF threshold.
    pub headroom: u64,
    /// Duration of a pause, if one may have expired before it was refreshed.
    pub expired: Option<Dur>,
    /// Buffers inside the switch, if one of them could never hold the packet.
    pub inside: Option<OversizedFrame>,
}

/// Packet that is larger than a buffer inside a switch of several stages, with the sizes of these buffers. All in
/// bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OversizedFrame {
    /// Size of the packet's frame.
    pub size: u16,
    /// Size of the input buffer of a stage.
    pub stage_buffer: u64,
    /// Size of the buffer in front of an internal link.
    pub link_buffer: u64,
}
