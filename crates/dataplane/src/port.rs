//! Output port: queues, transmitter, and counters.

use crate::arena::Queue;
use computed::FrameSizes;
pub(crate) use computed::Limits;
pub use counts::PortCounts;
use mech::overflow::DropReason;
use mech::{ClassSet, Head, Lane, PortId, QueueId};
use units::{ByteClock, Dur, Time};

mod computed;
mod counts;

/// Output port of a node: queues, state of the link, and counters.
/// The fields that a frame touches at a port with computed departures come first, in two cache lines.
///
/// Everything else is behind a pointer, so that the hot lines of a node's ports are adjacent in memory.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Port {
    /// End of the current transmission; with computed departures, of the last one that is known.
    pub(crate) free_at: Time,
    /// Bytes queued in all queues.
    bytes: u64,
    limits: Limits,
    /// Transmission time of a byte on the link in picoseconds; 0 if it is not a whole number.
    per_byte: u64,
    /// Start of the transmission of the first queued frame, if departures are computed.
    next_start: Time,
    /// Frames queued in all queues.
    packets: u32,
    /// Preamble and inter-frame gap in bytes.
    gap: u16,
    /// True if departures are computed at arrival.
    pub(crate) computed: bool,
    /// True if the first queued frame starts in the step in which it came.
    /// It counts as queued until that step is over.
    fresh: bool,
    sizes: FrameSizes,
    /// Totals of stored frames and bytes, and the maxima of queued ones.
    enqueued: u64,
    enqueued_bytes: u64,
    max_bytes: u64,
    max_packets: u32,
    /// True if the far end is a switch.
    pub(crate) is_switch: bool,
    /// True if the port stores no frames in some or all of its queues.
    refuses: bool,
    /// Fields outside the two cache lines that every frame touches.
    pub(crate) rest: Box<ColdFields>,
}

/// Identifier of a queue in a node: its port, and its number at that port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueAt {
    pub(crate) port: PortId,
    pub(crate) queue: QueueId,
}

/// Fields of a port outside the two cache lines that every frame touches.
#[derive(Clone, Debug)]
pub(crate) struct ColdFields {
    /// Counters of the port, except those that are fields of [`Port`].
    counts: PortCounts,
    /// Clock of the link, which converts numbers of bytes to transmission times.
    clock: ByteClock,
    /// Set of non-empty queues: bit `q` is set if queue `q` is not empty.
    pub(crate) eligible: u32,
    /// Set of queues that may not send: bit `q` is set if the far end has paused the class of queue `q`.
    pub(crate) paused: u32,
    /// Set of queues whose class has a maximum rate.
    pub(crate) shaped: u32,
    /// Set of queues whose class has no tokens left at its maximum rate.
    /// Bits are cleared when the port looks for the next frame, not when tokens arrive.
    pub(crate) out_of_tokens: u32,
    /// Set of queues that store no frames, because the link is known to be dead or the PFC watchdog drops them.
    pub(crate) refused: u32,
    /// True if the link is known to be dead: nothing is sent, and pause frames are ignored.
    pub(crate) dead: bool,
    /// Packets lost at this port while the node treated its link as dead.
    pub(crate) lost_while_dead: u64,
    /// True if a pause frame waits to be sent.
    pub(crate) control: bool,
    /// True if the NIC has more frames to send than are queued at this port.
    pub(crate) more: bool,
    /// True if a wake-up of the port at the end of a transmission is pending.
    pub(crate) waking: bool,
    /// True if the port is on the list of idle ports that received a frame in this step.
    pub(crate) listed: bool,
    /// Queues of the port, by [`QueueId`].
    pub(crate) queues: Box<[Queue]>,
    /// Frames and bytes queued in other lanes than the normal one.
    beside: (u32, u64),
    /// Frames and bytes of congestion messages, which are also in the counts of other lanes.
    notices: (u32, u64),
    /// Bytes that were cut off frames in the queues.
    trimmed_bytes: u64,
    /// Stamp (order of arrival) of the last frame that was stored.
    pub(crate) stamp: u64,
    /// Classes of frames that were lost because the buffer was full, or waited in it at that instant.
    pub(crate) classes_when_full: ClassSet,
    /// Frame in transmission with its queue, if its memory becomes free at the end of its transmission.
    pub(crate) leaving: Option<Box<(QueueId, Head)>>,
}

impl ColdFields {
    /// Adds frames and bytes to the counts of lanes other than the normal one.
    fn count_other_lane(&mut self, lane: Lane, frames: i32, bytes: i64) {
        let notices = (lane == Lane::Notice).then_some(&mut self.notices);
        for (count, sum) in [&mut self.beside].into_iter().chain(notices) {
            (*count, *sum) = (count.wrapping_add_signed(frames), sum.wrapping_add_signed(bytes));
        }
    }
    /// Returns the set of non-empty queues that may send.
    #[inline]
    pub(crate) fn sendable(&self) -> u32 {
        self.eligible & !(self.paused | self.out_of_tokens)
    }
    /// Returns true if the port has anything that it may send.
    #[inline]
    pub(crate) fn may_send(&self) -> bool {
        self.sendable() != 0 || self.control || (self.more && !self.dead)
    }
}

/// Parameters of a new port.
pub(crate) struct PortShape {
    pub(crate) clock: ByteClock,
    pub(crate) gap: u16,
    pub(crate) is_switch: bool,
    pub(crate) top_class: u8,
    pub(crate) last_lane: Lane,
    /// Limits for arrivals, if departures are computed.
    pub(crate) computed: Option<Limits>,
}

impl Port {
    /// Creates an empty port from its parameters.
    pub(crate) fn new(shape: PortShape) -> Port {
        let last = QueueId::new(shape.top_class, shape.last_lane);
        let queues = vec![Queue::default(); usize::from(last.0) + 1].into_boxed_slice();
        let rest = ColdFields {
            counts: PortCounts::default(),
            clock: shape.clock,
            eligible: 0,
            paused: 0,
            shaped: 0,
            out_of_tokens: 0,
            refused: 0,
            dead: false,
            lost_while_dead: 0,
            control: false,
            more: false,
            waking: false,
            listed: false,
            queues,
            beside: (0, 0),
            notices: (0, 0),
            trimmed_bytes: 0,
            stamp: 0,
            classes_when_full: ClassSet::NONE,
            leaving: None,
        };
        Port {
            free_at: Time::ZERO,
            bytes: 0,
            limits: shape.computed.unwrap_or(Limits::NOT_COMPUTED),
            per_byte: shape.clock.time_per_byte().map_or(0, |dur| dur.0),
            // `Time::NEVER` makes `settle_departures` remove nothing, so that it may be called for any port.
            next_start: if shape.computed.is_some() { Time::ZERO } else { Time::NEVER },
            packets: 0,
            gap: shape.gap,
            computed: shape.computed.is_some(),
            fresh: false,
            sizes: FrameSizes::default(),
            enqueued: 0,
            enqueued_bytes: 0,
            max_bytes: 0,
            max_packets: 0,
            is_switch: shape.is_switch,
            refuses: false,
            rest: Box::new(rest),
        }
    }

    /// Sets the queues that store no frames.
    pub(crate) fn refuse_queues(&mut self, queues: u32) {
        (self.refuses, self.rest.refused) = (queues != 0, queues);
    }
    /// Returns the reason why a queue stores no frame at all; `None` if it may store frames.
    #[inline]
    pub(crate) fn refusal(&self, queue: QueueId) -> Option<DropReason> {
        if self.refuses { self.refusal_of_some(queue) } else { None }
    }
    #[cold]
    fn refusal_of_some(&self, queue: QueueId) -> Option<DropReason> {
        let why = if self.rest.dead { DropReason::LinkDown } else { DropReason::Watchdog };
        (self.rest.refused & queue.bit() != 0).then_some(why)
    }

    /// Restarts the maxima of queued frames and bytes from their present values.
    pub(crate) fn restart_maxima(&mut self) {
        (self.max_packets, self.max_bytes) = (self.packets, self.bytes);
    }

    /// Returns the counters of the port.
    pub fn counts(&self) -> PortCounts {
        let mut counts = self.rest.counts;
        (counts.enqueued, counts.enqueued_bytes) = (self.enqueued, self.enqueued_bytes);
        (counts.max_packets, counts.max_bytes) = (self.max_packets, self.max_bytes);
        if self.computed {
            // With computed departures, frames leave only by being sent, so these counts follow from the others.
            // Separate counters would cost a write for each frame.
            counts.sent = counts.enqueued - u64::from(self.packets);
            counts.sent_bytes = counts.enqueued_bytes - self.bytes;
        }
        counts
    }
    /// Returns the counters of the port for an update, except those that are fields of [`Port`].
    pub(crate) fn counts_mut(&mut self) -> &mut PortCounts {
        &mut self.rest.counts
    }
    /// Returns the transmission time of a frame of `size` bytes, preamble and gap included.
    #[inline(always)]
    pub(crate) fn transmission_time(&self, size: u16) -> Dur {
        let bytes = u64::from(size) + u64::from(self.gap);
        match self.per_byte {
            0 => self.rest.clock.time(bytes),
            ps => Dur(bytes * ps),
        }
    }

    /// Returns the duration of a pause from its quanta of 512 bit times (802.3 §31B.2).
    pub(crate) fn pause_duration(&self, quanta: u16) -> Dur {
        self.rest.clock.time(u64::from(quanta) * 64)
    }
    /// Changes the rate for frames that begin to leave from now on. PRECONDITION: departures are not computed.
    pub(crate) fn set_clock(&mut self, clock: ByteClock) {
        self.rest.clock = clock;
        self.per_byte = clock.time_per_byte().map_or(0, |dur| dur.0);
    }
    /// Returns the number of classes that have queues.
    pub(crate) fn classes(&self) -> usize {
        self.rest.queues.len().div_ceil(usize::from(QueueId::LANES))
    }

    /// Returns the frames and bytes queued in all queues.
    #[inline]
    pub(crate) fn queued_total(&self) -> (u32, u64) {
        (self.packets, self.bytes)
    }
    /// Returns the frames and bytes queued in all queues except those of congestion messages.
    #[inline]
    pub(crate) fn queued_without_notices(&self) -> (u32, u64) {
        match self.computed {
            true => self.queued_total(),
            false => (self.packets - self.rest.notices.0, self.bytes - self.rest.notices.1),
        }
    }
    /// Returns the frames and bytes queued in normal queues.
    #[inline]
    pub(crate) fn queued_normal(&self) -> (u32, u64) {
        match self.computed {
            true => self.queued_total(),
            false => (self.packets - self.rest.beside.0, self.bytes - self.rest.beside.1),
        }
    }

    /// Counts a frame of `size` bytes as stored in the memory of the port.
    #[inline]
    pub(crate) fn allocate(&mut self, queue: QueueId, size: u16) {
        if queue.lane() != Lane::Normal {
            self.rest.count_other_lane(queue.lane(), 1, i64::from(size));
        }
        self.count_in(size);
    }

    #[inline(always)]
    fn count_in(&mut self, size: u16) {
        self.packets += 1;
        self.bytes += u64::from(size);
        self.enqueued += 1;
        self.enqueued_bytes += u64::from(size);
        self.max_packets = self.max_packets.max(self.packets);
        self.max_bytes = self.max_bytes.max(self.bytes);
    }

    /// Counts a frame of `size` bytes as removed from the memory of the port.
    #[inline]
    pub(crate) fn free(&mut self, queue: QueueId, size: u16) {
        if queue.lane() != Lane::Normal {
            self.rest.count_other_lane(queue.lane(), -1, -i64::from(size));
        }
        self.packets -= 1;
        self.bytes -= u64::from(size);
    }

    /// Counts `bytes` cut off a queued frame.
    pub(crate) fn shrink(&mut self, queue: QueueId, bytes: u16) {
        if queue.lane() != Lane::Normal {
            self.rest.count_other_lane(queue.lane(), 0, -i64::from(bytes));
        }
        self.bytes -= u64::from(bytes);
        self.rest.trimmed_bytes += u64::from(bytes);
    }

    /// Returns the frames and bytes queued in one queue.
    #[inline]
    pub(crate) fn backlog(&self, queue: QueueId) -> (u32, u64) {
        match self.computed {
            true => self.queued_total(),
            false => self.rest.queues.get(usize::from(queue.0)).map_or((0, 0), |q| (q.packets(), q.bytes())),
        }
    }

    /// Checks `enqueued = sent + evicted + queued` for the frames and the bytes of the port.
    /// Bytes include those that were cut off in the queues. With computed departures, checks that the queued frames add
    /// up to the queued bytes.
    pub fn conserves_frames(&self) -> bool {
        if self.computed {
            let mut sizes = self.sizes.clone();
            return (0..self.packets).map(|_| u64::from(sizes.pop())).sum::<u64>() == self.bytes;
        }
        let c = self.counts();
        c.enqueued == c.sent + c.evicted + u64::from(self.packets)
            && c.enqueued_bytes == c.sent_bytes + c.evicted_bytes + self.rest.trimmed_bytes + self.bytes
    }

    /// Returns the start of transmission and the bytes of each queued frame with a computed departure.
    pub fn computed_departures(&self) -> Vec<(Time, u16)> {
        let count = if self.computed { self.packets } else { 0 };
        let (mut sizes, mut start) = (self.sizes.clone(), self.next_start);
        let mut next = |_| {
            let (at, size) = (start, sizes.pop());
            start = start.saturating_add(self.transmission_time(size));
            (at, size)
        };
        (0..count).map(&mut next).collect()
    }

    /// Returns the number of packets lost at this port while the node treated its link as dead.
    pub fn drops_while_dead(&self) -> u64 {
        self.rest.lost_while_dead
    }

    /// Returns the number of frames queued at the port.
    pub fn queued_frames(&self) -> u32 {
        self.packets
    }
    /// Returns the number of bytes queued at the port.
    pub fn queued_bytes(&self) -> u64 {
        self.bytes
    }
}
