//! What is counted at a port.

use mech::overflow::DropReason;

/// What has passed a port. Every count is of frames or of their bytes without preamble and gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct PortCounts {
    /// Most frames that ever waited.
    pub max_packets: u32,
    /// Most bytes that ever waited.
    pub max_bytes: u64,
    /// Stored.
    pub enqueued: u64,
    /// Bytes stored.
    pub enqueued_bytes: u64,
    /// Transmission begun.
    pub sent: u64,
    /// Bytes of these.
    pub sent_bytes: u64,
    /// Given a congestion mark.
    pub marked: u64,
    /// Wanted this port and were detoured.
    pub detoured: u64,
    /// Wanted this port and were bounced.
    pub bounced: u64,
    /// Removed again before their turn.
    pub evicted: u64,
    /// Bytes of these.
    pub evicted_bytes: u64,
    /// Cut to their header.
    pub trimmed: u64,
    /// Bytes that were cut off.
    pub trimmed_bytes: u64,
    /// Bytes of payload that were there before and are not now; where some of a frame stays, more than were cut off.
    pub trimmed_payload: u64,
    /// Come back to this port, that of their source, since a switch sent them back.
    pub returned: u64,
    /// Lost on the way to this port, by [`DropReason`].
    pub dropped: [u64; DropReason::ALL.len()],
    /// Bytes of these.
    pub dropped_bytes: u64,
    /// Payload in these.
    pub dropped_payload: u64,
}
