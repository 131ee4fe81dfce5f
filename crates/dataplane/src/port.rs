//! An output port: queues, the transmitter, and what has passed.

use crate::arena::Queue;
pub(crate) use computed::Limits;
use computed::Sizes;
pub use counts::PortCounts;
use mech::{Lane, PortId, QueueId};
use units::{Clock, Dur, Time};

mod computed;
mod counts;

/// One output port. What a frame touches on its way through a port whose departures are computed
/// comes first, in two cache lines.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Port {
    /// The frame under way ends here; where departures are computed, the last that is known.
    pub(crate) free_at: Time,
    /// Bytes that wait in all queues.
    bytes: u64,
    limits: Limits,
    /// Picoseconds a byte; 0 where that is not whole.
    per_byte: u64,
    /// When the first that waits starts, where departures are computed.
    next_start: Time,
    /// Frames that wait in all queues.
    packets: u32,
    /// Preamble and gap, bytes.
    gap: u16,
    /// Departures are computed at arrival.
    pub(crate) computed: bool,
    /// The first that waits starts in the very step in which it came: it still waits while that
    /// step decides.
    fresh: bool,
    sizes: Sizes,
    /// Frames and bytes that were stored, and the most that ever waited.
    enqueued: u64,
    enqueued_bytes: u64,
    max_bytes: u64,
    max_packets: u32,
    /// The far end is a switch.
    pub(crate) is_switch: bool,
    /// Nothing is stored here: its link is known to be dead.
    pub(crate) closed: bool,
    /// What not every frame touches.
    pub(crate) rest: Box<Rest>,
}

/// A queue of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueAt {
    pub(crate) port: PortId,
    pub(crate) queue: QueueId,
}

/// What a port has beside the two lines that every frame touches.
#[derive(Clone, Debug)]
pub(crate) struct Rest {
    /// What has passed, but for the fields of [`Port`].
    counts: PortCounts,
    /// How long a byte takes.
    clock: Clock,
    /// Bit `q` is set where queue `q` is not empty.
    pub(crate) eligible: u32,
    /// Bit `q` is set where queue `q` may not leave: the far end has paused its class.
    pub(crate) paused: u32,
    /// Its link is known to be dead: nothing is sent, and no frame of the far end counts.
    pub(crate) dead: bool,
    /// Packets lost at this port while the node treated its link as dead.
    pub(crate) lost_while_dead: u64,
    /// A frame that pauses or resumes the far end waits to be sent.
    pub(crate) control: bool,
    /// Its NIC has more to send than waits here.
    pub(crate) more: bool,
    /// A wake-up is pending.
    pub(crate) waking: bool,
    /// It is on the list of idle ports that got a packet in this step.
    pub(crate) listed: bool,
    /// By [`QueueId`].
    pub(crate) queues: Box<[Queue]>,
    /// Frames and bytes that wait in other lanes than the normal one.
    beside: (u32, u64),
    /// Those of them that are messages about congestion.
    notices: (u32, u64),
    /// Bytes that were cut off frames while they waited.
    trimmed_bytes: u64,
    /// Arrivals so far: the stamp of the next.
    pub(crate) stamp: u64,
}

impl Rest {
    /// So many more frames and bytes wait in a lane other than the normal one.
    fn count_beside(&mut self, lane: Lane, frames: i32, bytes: i64) {
        let notices = (lane == Lane::Notice).then_some(&mut self.notices);
        for (count, sum) in [&mut self.beside].into_iter().chain(notices) {
            (*count, *sum) = (count.wrapping_add_signed(frames), sum.wrapping_add_signed(bytes));
        }
    }
    /// Whether anything may leave.
    #[inline]
    pub(crate) fn is_ready(&self) -> bool {
        self.eligible & !self.paused != 0 || self.control || (self.more && !self.dead)
    }
}

/// How a port is made.
pub(crate) struct PortShape {
    pub(crate) clock: Clock,
    pub(crate) gap: u16,
    pub(crate) is_switch: bool,
    pub(crate) top_class: u8,
    pub(crate) last_lane: Lane,
    /// Where departures are computed at arrival, against what.
    pub(crate) computed: Option<Limits>,
}

impl Port {
    /// A port with nothing in it.
    pub(crate) fn new(shape: PortShape) -> Port {
        let last = QueueId::new(shape.top_class, shape.last_lane);
        let queues = vec![Queue::default(); usize::from(last.0) + 1].into_boxed_slice();
        let rest = Rest {
            counts: PortCounts::default(),
            clock: shape.clock,
            eligible: 0,
            paused: 0,
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
        };
        Port {
            free_at: Time::ZERO,
            bytes: 0,
            limits: shape.computed.unwrap_or(Limits::STEPPED),
            per_byte: shape.clock.per_byte().map_or(0, |dur| dur.0),
            // Where departures are not computed, nothing ever leaves by itself.
            next_start: if shape.computed.is_some() { Time::ZERO } else { Time::NEVER },
            packets: 0,
            gap: shape.gap,
            computed: shape.computed.is_some(),
            fresh: false,
            sizes: Sizes::default(),
            enqueued: 0,
            enqueued_bytes: 0,
            max_bytes: 0,
            max_packets: 0,
            is_switch: shape.is_switch,
            closed: false,
            rest: Box::new(rest),
        }
    }

    /// Begins the largest numbers of waiting frames and bytes anew, with those of now.
    pub(crate) fn restart_largest(&mut self) {
        (self.max_packets, self.max_bytes) = (self.packets, self.bytes);
    }

    /// What has passed.
    pub fn counts(&self) -> PortCounts {
        let mut counts = self.rest.counts;
        (counts.enqueued, counts.enqueued_bytes) = (self.enqueued, self.enqueued_bytes);
        (counts.max_packets, counts.max_bytes) = (self.max_packets, self.max_bytes);
        if self.computed {
            counts.sent = counts.enqueued - u64::from(self.packets);
            counts.sent_bytes = counts.enqueued_bytes - self.bytes;
        }
        counts
    }
    /// The same to count in; what [`Port`] itself counts is elsewhere.
    pub(crate) fn counts_mut(&mut self) -> &mut PortCounts {
        &mut self.rest.counts
    }
    /// The time that a frame of `size` bytes takes on the wire.
    #[inline(always)]
    pub(crate) fn time(&self, size: u16) -> Dur {
        let bytes = u64::from(size) + u64::from(self.gap);
        match self.per_byte {
            0 => self.rest.clock.time(bytes),
            ps => Dur(bytes * ps),
        }
    }

    /// So many quanta of 512 bit times (802.3 §31B.2).
    pub(crate) fn quanta(&self, quanta: u16) -> Dur {
        self.rest.clock.time(u64::from(quanta) * 64)
    }
    /// Frames that begin to leave from now on take the times of another rate. PRECONDITION: departures are
    /// not computed.
    pub(crate) fn set_clock(&mut self, clock: Clock) {
        self.rest.clock = clock;
        self.per_byte = clock.per_byte().map_or(0, |dur| dur.0);
    }
    /// How many classes have queues.
    pub(crate) fn classes(&self) -> usize {
        self.rest.queues.len().div_ceil(usize::from(QueueId::LANES))
    }

    /// Frames and bytes that wait in all queues.
    #[inline]
    pub(crate) fn all(&self) -> (u32, u64) {
        (self.packets, self.bytes)
    }
    /// Frames and bytes that wait in all queues but those of messages about congestion.
    #[inline]
    pub(crate) fn counted(&self) -> (u32, u64) {
        match self.computed {
            true => self.all(),
            false => (self.packets - self.rest.notices.0, self.bytes - self.rest.notices.1),
        }
    }
    /// Frames and bytes that wait in normal queues.
    #[inline]
    pub(crate) fn normal(&self) -> (u32, u64) {
        match self.computed {
            true => self.all(),
            false => (self.packets - self.rest.beside.0, self.bytes - self.rest.beside.1),
        }
    }

    /// Counts `size` bytes as stored.
    #[inline]
    pub(crate) fn allocate(&mut self, queue: QueueId, size: u16) {
        if queue.lane() != Lane::Normal {
            self.rest.count_beside(queue.lane(), 1, i64::from(size));
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

    /// Counts `size` bytes as freed.
    #[inline]
    pub(crate) fn free(&mut self, queue: QueueId, size: u16) {
        if queue.lane() != Lane::Normal {
            self.rest.count_beside(queue.lane(), -1, -i64::from(size));
        }
        self.packets -= 1;
        self.bytes -= u64::from(size);
    }

    /// A frame that waits is so many bytes shorter.
    pub(crate) fn shrink(&mut self, queue: QueueId, bytes: u16) {
        if queue.lane() != Lane::Normal {
            self.rest.count_beside(queue.lane(), 0, -i64::from(bytes));
        }
        self.bytes -= u64::from(bytes);
        self.rest.trimmed_bytes += u64::from(bytes);
    }

    /// Frames and bytes that wait in one queue.
    #[inline]
    pub(crate) fn backlog(&self, queue: QueueId) -> (u32, u64) {
        match self.computed {
            true => self.all(),
            false => self.rest.queues.get(usize::from(queue.0)).map_or((0, 0), |q| (q.packets(), q.bytes())),
        }
    }

    /// Checks `enqueued = sent + evicted + queued`, in frames and, with what was cut off meanwhile, in bytes; where departures are
    /// computed, that the frames that wait are the bytes that wait.
    pub fn balanced(&self) -> bool {
        if self.computed {
            let mut sizes = self.sizes.clone();
            return (0..self.packets).map(|_| u64::from(sizes.pop())).sum::<u64>() == self.bytes;
        }
        let c = self.counts();
        c.enqueued == c.sent + c.evicted + u64::from(self.packets)
            && c.enqueued_bytes == c.sent_bytes + c.evicted_bytes + self.rest.trimmed_bytes + self.bytes
    }

    /// The frames that wait where departures are computed: when each begins to leave, and its bytes.
    pub fn ahead(&self) -> Vec<(Time, u16)> {
        let count = if self.computed { self.packets } else { 0 };
        let (mut sizes, mut start) = (self.sizes.clone(), self.next_start);
        let mut next = |_| {
            let (at, size) = (start, sizes.pop());
            start = start.saturating_add(self.time(size));
            (at, size)
        };
        (0..count).map(&mut next).collect()
    }

    /// Packets lost at this port while the node treated its link as dead.
    pub fn lost_while_dead(&self) -> u64 {
        self.rest.lost_while_dead
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
