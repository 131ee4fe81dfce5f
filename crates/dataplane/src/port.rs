//! An output port: queues, the transmitter, and what has passed.

use crate::arena::{NIL, Queue};
use mech::QueueId;
use mech::overflow::DropReason;
use units::{Clock, Time};

/// One output port. What every packet touches comes first, in two cache lines.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Port {
    /// The frame under way ends here.
    pub(crate) free_at: Time,
    /// How long a byte takes.
    pub(crate) clock: Clock,
    /// Bytes that wait in all queues.
    bytes: u64,
    /// Frames that wait in all queues.
    packets: u32,
    /// Departures computed at arrival, where the port works so.
    pub(crate) plan: Plan,
    /// Bit `q` is set where queue `q` is not empty.
    pub(crate) eligible: u16,
    /// A wake-up is pending.
    pub(crate) waking: bool,
    /// It is on the list of idle ports that got a packet in this step.
    pub(crate) kicked: bool,
    /// The far end is a switch.
    pub(crate) is_switch: bool,
    /// What has passed.
    pub counts: PortCounts,
    /// By [`QueueId`].
    pub(crate) queues: Box<[Queue]>,
    /// Frames and bytes that wait in bounce queues.
    bounced: (u32, u64),
    /// Arrivals so far: the stamp of the next.
    pub(crate) stamp: u64,
}

/// The first and last of a port's entries in an [`Agenda`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    head: u32,
    tail: u32,
    /// Whether the port works so.
    pub(crate) on: bool,
}

/// Departures that were computed when the packets arrived: possible where ports are plain first in,
/// first out. The packet is on its way already; only its share of the memory waits here.
#[derive(Clone, Debug, Default)]
pub(crate) struct Agenda {
    entries: Vec<Planned>,
    free: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Planned {
    start: Time,
    next: u32,
    size: u16,
    /// Starts in the very step in which it came: it still waits while that step decides.
    at_once: bool,
}

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
    /// Lost on the way to this port, by [`DropReason`].
    pub dropped: [u64; DropReason::ALL.len()],
    /// Bytes of these.
    pub dropped_bytes: u64,
}

impl Port {
    /// A port with queues for classes up to `top_class`.
    pub(crate) fn new(clock: Clock, is_switch: bool, top_class: u8, plans: bool) -> Port {
        Port {
            queues: vec![Queue::default(); usize::from(top_class) * 2 + 2].into_boxed_slice(),
            packets: 0,
            bytes: 0,
            bounced: (0, 0),
            eligible: 0,
            waking: false,
            kicked: false,
            is_switch,
            free_at: Time::ZERO,
            clock,
            stamp: 0,
            plan: Plan { head: NIL, tail: NIL, on: plans },
            counts: PortCounts::default(),
        }
    }

    /// Frames and bytes that wait in all queues.
    #[inline]
    pub(crate) fn all(&self) -> (u32, u64) {
        (self.packets, self.bytes)
    }
    /// Frames and bytes that wait in normal queues.
    #[inline]
    pub(crate) fn normal(&self) -> (u32, u64) {
        match self.plan.on {
            true => self.all(),
            false => (self.packets - self.bounced.0, self.bytes - self.bounced.1),
        }
    }

    /// Books `size` bytes in.
    #[inline]
    pub(crate) fn take(&mut self, queue: QueueId, size: u16) {
        if queue.is_bounce() {
            self.bounced.0 += 1;
            self.bounced.1 += u64::from(size);
        }
        self.packets += 1;
        self.bytes += u64::from(size);
        self.counts.enqueued += 1;
        self.counts.enqueued_bytes += u64::from(size);
        self.counts.max_packets = self.counts.max_packets.max(self.packets);
        self.counts.max_bytes = self.counts.max_bytes.max(self.bytes);
    }

    /// Books `size` bytes out.
    #[inline]
    pub(crate) fn give(&mut self, queue: QueueId, size: u16) {
        if queue.is_bounce() {
            self.bounced.0 -= 1;
            self.bounced.1 -= u64::from(size);
        }
        self.packets -= 1;
        self.bytes -= u64::from(size);
    }

    /// Frames and bytes that wait in one queue.
    #[inline]
    pub(crate) fn backlog(&self, queue: QueueId) -> (u32, u64) {
        match self.plan.on {
            true => self.all(),
            false => self.queues.get(usize::from(queue.0)).map_or((0, 0), |q| (q.packets(), q.bytes())),
        }
    }

    /// Checks `enqueued = sent + evicted + queued`, in frames and in bytes.
    pub fn balanced(&self) -> bool {
        let c = &self.counts;
        c.enqueued == c.sent + c.evicted + u64::from(self.packets)
            && c.enqueued_bytes == c.sent_bytes + c.evicted_bytes + self.bytes
    }

    /// Frames that wait.
    pub fn waiting(&self) -> u32 {
        self.packets
    }
    /// Bytes that wait.
    pub fn waiting_bytes(&self) -> u64 {
        self.bytes
    }
}

impl Agenda {
    /// Books out what has left `port` by `now`.
    #[inline]
    pub(crate) fn settle(&mut self, port: &mut Port, now: Time) {
        while port.plan.head != NIL {
            let first = self.entries[port.plan.head as usize];
            if first.start > now || (first.start == now && first.at_once) {
                return;
            }
            self.free.push(port.plan.head);
            port.plan.head = first.next;
            port.packets -= 1;
            port.bytes -= u64::from(first.size);
            port.counts.sent += 1;
            port.counts.sent_bytes += u64::from(first.size);
        }
        port.plan.tail = NIL;
    }

    /// Computes the departure of a frame that comes to `port` now, and tells when its last bit
    /// leaves.
    #[inline]
    pub(crate) fn plan(&mut self, port: &mut Port, now: Time, (size, on_wire): (u16, u64)) -> Time {
        let at_once = port.free_at <= now;
        let start = if at_once { now } else { port.free_at };
        port.free_at = start + port.clock.time(on_wire);
        let id = self.store(Planned { start, next: NIL, size, at_once });
        match std::mem::replace(&mut port.plan.tail, id) {
            NIL => port.plan.head = id,
            before => self.entries[before as usize].next = id,
        }
        port.free_at
    }

    #[inline]
    fn store(&mut self, entry: Planned) -> u32 {
        if let Some(id) = self.free.pop() {
            self.entries[id as usize] = entry;
            return id;
        }
        self.entries.push(entry);
        (self.entries.len() - 1) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Dur, Rate};

    #[test]
    fn what_every_packet_touches_is_two_cache_lines() {
        assert_eq!(std::mem::offset_of!(Port, counts), 64);
        assert!(std::mem::offset_of!(PortCounts, sent_bytes) + 8 <= 64);
    }

    #[test]
    fn a_frame_that_starts_at_once_waits_until_its_instant_is_over() {
        let (mut agenda, mut port) = (Agenda::default(), Port::new(Rate::gbps(1).clock(), true, 0, true));
        for (now, before) in [(0, 0), (0, 1), (672_000, 0), (672_001, 1), (672_002, 2), (2_016_000, 1), (9_000_000, 0)]
        {
            agenda.settle(&mut port, Time(now));
            assert_eq!(port.waiting(), before, "at {now} ps");
            port.take(QueueId(0), 64);
            let end = agenda.plan(&mut port, Time(now), (64, 84));
            assert!(end >= Time(now) + Dur::ns(672));
        }
        assert_eq!(agenda.entries.len(), 3, "places are used again");
        agenda.settle(&mut port, Time::NEVER);
        assert_eq!((port.waiting(), port.waiting_bytes(), port.counts.sent), (0, 0, 7));
        assert!(port.balanced());
    }
}
