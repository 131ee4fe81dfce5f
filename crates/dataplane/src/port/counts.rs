//! Counters of a port: frames and bytes that were stored, sent, marked, trimmed, lost and so on.

use mech::overflow::DropReason;

/// Counters of a port, in frames or in bytes of frames without preamble and gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct PortCounts {
    /// Maximum number of frames queued at the port.
    pub max_packets: u32,
    /// Maximum number of bytes queued at the port.
    pub max_bytes: u64,
    /// Frames that were stored in queues of the port.
    pub enqueued: u64,
    /// Bytes of the frames that were stored in queues of the port.
    pub enqueued_bytes: u64,
    /// Frames whose transmission has begun.
    pub sent: u64,
    /// Bytes of the frames whose transmission has begun.
    pub sent_bytes: u64,
    /// Frames that got a congestion mark.
    pub marked: u64,
    /// Frames for this port that were detoured.
    pub detoured: u64,
    /// Frames for this port that were bounced.
    pub bounced: u64,
    /// Frames removed from a queue before their turn.
    pub evicted: u64,
    /// Bytes of the frames removed before their turn.
    pub evicted_bytes: u64,
    /// Frames that were trimmed to their header.
    pub trimmed: u64,
    /// Bytes of frames removed by trimming.
    pub trimmed_bytes: u64,
    /// Payload bytes removed by trimming.
    /// If part of a payload stays in its frame, more than the removed bytes of the frame.
    pub trimmed_payload: u64,
    /// Packets that a switch sent back and that have reached this port, the NIC of their source.
    pub returned: u64,
    /// Frames for this port that were lost, by [`DropReason`].
    pub dropped: [u64; DropReason::ALL.len()],
    /// Bytes of the frames that were lost.
    pub dropped_bytes: u64,
    /// Payload bytes of the frames that were lost.
    pub dropped_payload: u64,
}
