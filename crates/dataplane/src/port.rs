//! An output port: queues, the transmitter, and what has passed.

use crate::arena::Queue;
use mech::QueueId;
use mech::overflow::DropReason;
use std::collections::VecDeque;
use units::{Clock, Time};

/// One output port.
#[derive(Clone, Debug)]
pub struct Port {
    /// By [`QueueId`].
    pub(crate) queues: Box<[Queue]>,
    /// Frames and bytes that wait in normal queues.
    pub(crate) normal: (u32, u64),
    /// Frames and bytes that wait in all queues.
    pub(crate) all: (u32, u64),
    /// Bit `q` is set where queue `q` is not empty.
    pub(crate) eligible: u16,
    /// A wake-up is pending.
    pub(crate) waking: bool,
    /// It is on the list of idle ports that got a packet in this step.
    pub(crate) kicked: bool,
    /// The far end is a switch.
    pub(crate) is_switch: bool,
    /// The frame under way ends here.
    pub(crate) free_at: Time,
    /// How long a byte takes.
    pub(crate) clock: Clock,
    /// Arrivals so far: the stamp of the next.
    pub(crate) stamp: u64,
    /// Departures computed at arrival, where the port works so.
    pub(crate) plan: Option<Plan>,
    /// What has passed.
    pub counts: PortCounts,
}

/// Departures that were computed when the packets arrived: possible where the port is plain first
/// in, first out. The packet is on its way already; only its share of the memory waits here.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    waiting: VecDeque<Planned>,
}

#[derive(Clone, Copy, Debug)]
struct Planned {
    start: Time,
    size: u16,
    /// Starts in the very step in which it came: it still waits while that step decides.
    at_once: bool,
}

/// What has passed a port. Every count is of frames or of their bytes without preamble and gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounts {
    /// Stored.
    pub enqueued: u64,
    /// Bytes stored.
    pub enqueued_bytes: u64,
    /// Transmission begun.
    pub sent: u64,
    /// Bytes of these.
    pub sent_bytes: u64,
    /// Removed again before their turn.
    pub evicted: u64,
    /// Bytes of these.
    pub evicted_bytes: u64,
    /// Given a congestion mark.
    pub marked: u64,
    /// Wanted this port and were detoured.
    pub detoured: u64,
    /// Wanted this port and were bounced.
    pub bounced: u64,
    /// Cut to their header.
    pub trimmed: u64,
    /// Bytes that were cut off.
    pub trimmed_bytes: u64,
    /// Lost on the way to this port, by [`DropReason`].
    pub dropped: [u64; DropReason::ALL.len()],
    /// Bytes of these.
    pub dropped_bytes: u64,
    /// Most frames that ever waited.
    pub max_packets: u32,
    /// Most bytes that ever waited.
    pub max_bytes: u64,
}

impl Port {
    /// A port with queues for classes up to `top_class`.
    pub(crate) fn new(clock: Clock, is_switch: bool, top_class: u8) -> Port {
        Port {
            queues: vec![Queue::default(); usize::from(top_class) * 2 + 2].into_boxed_slice(),
            normal: (0, 0),
            all: (0, 0),
            eligible: 0,
            waking: false,
            kicked: false,
            is_switch,
            free_at: Time::ZERO,
            clock,
            stamp: 0,
            plan: None,
            counts: PortCounts::default(),
        }
    }

    /// Books `size` bytes in.
    #[inline]
    pub(crate) fn take(&mut self, queue: QueueId, size: u16) {
        if !queue.is_bounce() {
            self.normal.0 += 1;
            self.normal.1 += u64::from(size);
        }
        self.all.0 += 1;
        self.all.1 += u64::from(size);
        self.counts.enqueued += 1;
        self.counts.enqueued_bytes += u64::from(size);
        self.counts.max_packets = self.counts.max_packets.max(self.all.0);
        self.counts.max_bytes = self.counts.max_bytes.max(self.all.1);
    }

    /// Books `size` bytes out.
    #[inline]
    pub(crate) fn give(&mut self, queue: QueueId, size: u16) {
        if !queue.is_bounce() {
            self.normal.0 -= 1;
            self.normal.1 -= u64::from(size);
        }
        self.all.0 -= 1;
        self.all.1 -= u64::from(size);
    }

    /// Frames and bytes that wait in one queue.
    #[inline]
    pub(crate) fn backlog(&self, queue: QueueId) -> (u32, u64) {
        match self.plan {
            Some(_) => self.all,
            None => self.queues.get(usize::from(queue.0)).map_or((0, 0), |q| (q.packets(), q.bytes())),
        }
    }

    /// Books out what has left by `now`, where departures are computed.
    #[inline]
    pub(crate) fn settle(&mut self, now: Time) {
        let Some(plan) = &mut self.plan else { return };
        while let Some(first) = plan.waiting.front() {
            if first.start > now || (first.start == now && first.at_once) {
                break;
            }
            let size = first.size;
            plan.waiting.pop_front();
            self.normal.0 -= 1;
            self.normal.1 -= u64::from(size);
            self.all.0 -= 1;
            self.all.1 -= u64::from(size);
            self.counts.sent += 1;
            self.counts.sent_bytes += u64::from(size);
        }
    }

    /// Books a frame in whose departure is computed now, and tells when its last bit leaves.
    #[inline]
    pub(crate) fn schedule(&mut self, now: Time, size: u16, on_wire: u64) -> Time {
        let at_once = self.free_at <= now;
        let start = if at_once { now } else { self.free_at };
        self.free_at = start + self.clock.time(on_wire);
        if let Some(plan) = &mut self.plan {
            plan.waiting.push_back(Planned { start, size, at_once });
        }
        self.free_at
    }

    /// Checks `enqueued = sent + evicted + queued`, in frames and in bytes.
    pub fn balanced(&self) -> bool {
        let c = &self.counts;
        c.enqueued == c.sent + c.evicted + u64::from(self.all.0)
            && c.enqueued_bytes == c.sent_bytes + c.evicted_bytes + self.all.1
    }

    /// Frames that wait.
    pub fn waiting(&self) -> u32 {
        self.all.0
    }
}
