//! Memory of a node: packets, ports, and the buffer slot that limits them.

use crate::accounts::{Accounts, MemorySides};
use crate::arena::Arena;
use crate::cut_stage::CutStage;
use crate::inputs::{Inputs, OutputBufferState};
use crate::pool_accounts::{CountedFrame, PoolAccounts};
use crate::port::{Port, QueueAt};
use crate::rank_index::RankIndices;
use crate::sampled_memories::SampledMemories;
use mech::buffer::{BufferSlot, ExtraMemory, MemoryUse};
use mech::overflow::DropReason;
use mech::{Head, HostId, Lane, Lanes, MemorySide, PortId, QueueId};
use units::{Bytes, Dur, Time};

mod memories;
mod node_view;
mod port_queues;

pub(crate) use memories::SampledFrame;
pub(crate) use node_view::NodeView;

/// Packets, queues and the memory allocated to them.
#[derive(Clone)]
pub struct PacketStore {
    pub(crate) arena: Arena,
    pub(crate) ports: Vec<Port>,
    pub(crate) buffer: BufferSlot,
    pub(crate) lanes: Lanes,
    /// Queue of this node in which a packet waits, by the queue for which it is meant.
    pub(crate) waits_in: [QueueId; QueueId::COUNT as usize],
    pub(crate) pool: SharedPool,
    /// Accounts of groups and queues, if the buffer has them. They limit memory in its place.
    pub(crate) pools: Option<Box<PoolAccounts>>,
    /// Byte counters (accounts) that agents follow.
    pub(crate) accounts: Accounts,
    /// Units of the memories from which agents draw samples.
    pub(crate) sampled: Option<Box<SampledMemories>>,
    /// Indices of long queues by rank, if a mechanism searches them.
    pub(crate) ranked: Option<Box<RankIndices>>,
    /// Input side, if arrivals first wait in the memory of their input.
    pub(crate) inputs: Option<Box<Inputs>>,
    /// Headers of packets whose trimming takes time and is in progress.
    pub(crate) cutting: Option<Box<CutStage>>,
}

/// Memory allocated in the whole node, if ports share it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SharedPool {
    pub(crate) on: bool,
    bytes: u64,
    shared_bytes: u64,
    reserved: u64,
}

/// Input port and class of a frame, as far as the accounts of groups need them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// Input port; `None` if it is not known, so that only the queue's account is asked.
    pub(crate) ingress: Option<PortId>,
    pub(crate) class: u8,
}

impl Origin {
    pub(crate) fn from_head(head: &Head) -> Origin {
        Origin { ingress: Some(head.ingress), class: head.class() }
    }
}

/// Forwarding table of a node.
///
/// ```
/// use dataplane::Fib;
/// use mech::{HostId, PortId};
///
/// /// Table of a rack switch: host `n` is behind port `n`, hosts of other racks are behind port 48.
/// struct Rack;
///
/// impl Fib for Rack {
///     fn port_toward(&self, host: HostId, _hash: u32) -> Option<PortId> {
///         Some(PortId(host.0.min(48) as u16))
///     }
/// }
///
/// assert_eq!(Rack.port_toward(HostId(3), 0), Some(PortId(3)));
/// assert_eq!(Rack.port_toward(HostId(700), 0), Some(PortId(48)));
/// ```
pub trait Fib {
    /// Returns the port toward a host for a flow hash, without a random draw.
    fn port_toward(&self, host: HostId, hash: u32) -> Option<PortId>;
    /// Returns true if the network has this host.
    fn has_host(&self, _host: HostId) -> bool {
        true
    }
    /// Returns the name of the slot that chooses the port toward a host.
    fn slot_name(&self) -> &'static str {
        "routing"
    }
}

impl SharedPool {
    pub(crate) fn new(buffer: &BufferSlot) -> SharedPool {
        SharedPool {
            on: buffer.peek().fixed_thresholds().is_none() && !buffer.peek().has_accounts(),
            reserved: buffer.peek().reserved_bytes(),
            ..SharedPool::default()
        }
    }
    fn bytes_beyond_reserve(&self, bytes: u64) -> u64 {
        bytes.saturating_sub(self.reserved)
    }
    /// Updates the counts of shared memory when a port's allocation changes from `before` to `after` bytes.
    fn update_allocation(&mut self, before: u64, after: u64) {
        self.bytes = self.bytes + after - before;
        self.shared_bytes = self.shared_bytes + self.bytes_beyond_reserve(after) - self.bytes_beyond_reserve(before);
    }
}

/// Returns the queue of a node in which packets wait, for each queue for which they may be meant.
/// An absent lane becomes the normal one, and a class above those in use the highest of them. `queues` holds the
/// queue of each class.
pub(crate) fn queue_mapping(lanes: &Lanes, top_class: u8, queues: &[u8; 8]) -> [QueueId; QueueId::COUNT as usize] {
    std::array::from_fn(|number| {
        let asked = QueueId(number as u8);
        let lane = if lanes.has(asked.lane()) { asked.lane() } else { Lane::Normal };
        QueueId::new(queues[usize::from(asked.class())].min(top_class), lane)
    })
}

/// Returns a frame in a queue as the accounts count it.
pub(crate) fn counted_frame(at: QueueAt, size: u16, origin: Origin) -> CountedFrame {
    let Origin { ingress, class } = origin;
    CountedFrame { ingress, class, egress: at.port, queue: at.queue.class(), size }
}

/// Converts numbers of frames and bytes to the form in which the buffer slot gets them.
fn memory_use((packets, bytes): (u32, u64)) -> MemoryUse {
    MemoryUse { packets: u64::from(packets), bytes, ..MemoryUse::default() }
}

/// Returns true if a frame may move from its input to a queue of its output, where `used` counts against the limit.
fn may_join_output(buffer: &BufferSlot, lanes: &Lanes, (queue, used): (QueueId, &MemoryUse), size: u16) -> bool {
    match queue.lane() {
        Lane::Normal => buffer.peek().admits(used, size),
        lane => lanes.limit(lane).accepts((used.packets as u32, used.bytes), size),
    }
}

impl PacketStore {
    fn usage(&self, port: &Port) -> MemoryUse {
        // Shared memory also holds the bounce lane. Memory of a port alone does not: each other lane has a limit of its
        // own.
        let (packets, bytes) = if self.pool.on { port.queued_without_notices() } else { port.queued_normal() };
        MemoryUse {
            packets: u64::from(packets),
            bytes,
            pool_bytes: self.pool.bytes,
            pool_shared_bytes: self.pool.shared_bytes,
        }
    }

    /// Returns true if a frame of `size` bytes fits a queue of a port.
    #[inline]
    pub(crate) fn accepts(&self, to: QueueAt, size: u16, origin: Origin) -> bool {
        let QueueAt { port, queue } = to;
        let p = &self.ports[usize::from(port.0)];
        if p.refusal(queue).is_some() {
            return false;
        }
        if queue.lane() != Lane::Normal {
            return self.lane_accepts(to, size, origin);
        }
        match &self.pools {
            None => self.buffer.admits(|| self.usage(p), size),
            Some(_) => self.pools_accept(to, size, origin, 0),
        }
    }

    /// Sets the time that thresholds see, if there are accounts.
    #[inline]
    pub(crate) fn set_time(&mut self, now: Time) {
        if let Some(pools) = &mut self.pools {
            pools.now = now;
        }
    }

    /// Returns true if the accounts of a frame admit it, or if there are none. `extra` raises the limit of its queue.
    fn pools_accept(&self, to: QueueAt, size: u16, origin: Origin, extra: u64) -> bool {
        self.pools.as_ref().is_none_or(|pools| pools.refusal(&counted_frame(to, size, origin), extra).is_none())
    }

    /// Returns true if the group of a frame refuses it, whatever the memory of its queue.
    pub(crate) fn group_refuses(&self, to: QueueAt, size: u16, origin: Origin) -> bool {
        let frame = counted_frame(to, size, origin);
        to.queue.lane() != Lane::Notice
            && self.pools.as_ref().is_some_and(|pools| pools.refusal(&frame, 0) == Some(MemorySide::Input))
    }

    /// Returns true if a frame fits a queue of a port with extra space beyond the limit.
    /// Only the normal lane has extra space.
    pub(crate) fn accepts_with_extra(&self, to: QueueAt, size: u16, extra: ExtraMemory, origin: Origin) -> bool {
        let port = &self.ports[usize::from(to.port.0)];
        if to.queue.lane() != Lane::Normal || port.refusal(to.queue).is_some() {
            return false;
        }
        if self.pools.is_some() {
            // The memory of a class or of cut packets is that of their queue, which has an account of its own.
            return match extra {
                ExtraMemory::Port(Bytes(bytes)) => self.pools_accept(to, size, origin, bytes),
                ExtraMemory::Class(Bytes(bytes)) => {
                    self.backlog(to.port, to.queue).1 <= bytes && self.pools_accept(to, size, origin, 0)
                }
                ExtraMemory::Separate(_) => self.pools_accept(to, size, origin, 0),
            };
        }
        let of_class = |class| self.backlog(to.port, self.resolve_queue(QueueId::normal(class))).1;
        let apart = extra.separate_class(to.queue.class()).map_or(0, of_class);
        extra.admits(self.buffer.peek(), &self.usage(port), apart, size)
    }

    /// Returns the queue of this node in which packets meant for `queue` wait.
    #[inline]
    pub(crate) fn resolve_queue(&self, queue: QueueId) -> QueueId {
        self.waits_in[usize::from(queue.0 % QueueId::COUNT)]
    }

    /// Returns true if a frame fits a queue of a lane that has a limit of its own.
    /// Its frames draw on shared memory too, except congestion messages.
    fn lane_accepts(&self, to: QueueAt, size: u16, origin: Origin) -> bool {
        let port = &self.ports[usize::from(to.port.0)];
        if !self.lanes.limit(to.queue.lane()).accepts(port.backlog(to.queue), size) {
            return false;
        }
        if to.queue.lane() == Lane::Notice {
            return true;
        }
        (!self.pool.on || self.buffer.peek().admits(&self.usage(port), size)) && self.pools_accept(to, size, origin, 0)
    }

    /// Returns the memories in which a frame in the buffer of a port counts.
    #[inline]
    pub(crate) fn buffer_memories(&self) -> MemorySides {
        if self.inputs.is_some() { MemorySides::OUTPUT } else { MemorySides::BOTH }
    }

    /// Returns true if a frame that came in by `ingress` first waits in the memory of that input.
    /// Congestion messages that leave by the port at which they were made do not cross. A congestion point at an input
    /// notifies sources over the link by which their frames came in (QCN-OS §II-B).
    #[inline]
    pub(crate) fn waits_at_input(&self, ingress: PortId, to: QueueAt) -> bool {
        self.inputs.is_some() && (to.queue.lane() != Lane::Notice || ingress != to.port)
    }

    /// Returns the reason why a frame that came in by `ingress` does not fit its input; `None` if it fits.
    /// Congestion messages use no memory of inputs.
    pub(crate) fn input_drop_reason(&self, ingress: PortId, to: QueueAt, size: u16) -> Option<DropReason> {
        let inputs = self.inputs.as_ref()?;
        // A frame that even the empty buffer of its output could not hold would wait at its input forever.
        let holds = match to.queue.lane() {
            Lane::Normal => self.buffer.peek().admits(&MemoryUse::default(), size),
            lane => self.lanes.limit(lane).accepts((0, 0), size),
        };
        let holds = holds
            && inputs.stages.as_ref().is_none_or(|stages| stages.oversized_frame((ingress, to.port), size).is_none());
        match (self.ports[usize::from(to.port.0)].refusal(to.queue), holds) {
            (Some(why), _) => Some(why),
            (None, false) => Some(DropReason::lane_full(to.queue.lane())),
            (None, true) if to.queue.lane() == Lane::Notice => None,
            (None, true) => (!inputs.accepts(ingress, size)).then_some(DropReason::InputFull),
        }
    }

    /// Returns true if the node has an input side and the frame's input has no memory for the frame.
    /// The frame is then lost, whichever port it leaves by.
    pub(crate) fn input_lacks_space(&self, head: &Head) -> bool {
        self.inputs.as_ref().is_some_and(|inputs| !inputs.accepts(head.ingress, head.size))
    }

    /// Returns true if a frame fits the memory of its input, or of its output in a node without input memory.
    #[inline]
    pub(crate) fn accepts_arrival(&self, origin: Origin, to: QueueAt, size: u16) -> bool {
        match (&self.inputs, origin.ingress) {
            (Some(_), Some(ingress)) => self.input_drop_reason(ingress, to, size).is_none(),
            _ => self.accepts(to, size, origin),
        }
    }

    /// Returns true if a frame is accepted and the backlog of its output stays within the limit.
    /// The backlog is in the buffer, at inputs and in transfer.
    #[inline]
    pub(crate) fn accepts_within_limit(&self, origin: Origin, to: QueueAt, size: u16) -> bool {
        self.accepts_arrival(origin, to, size) && (self.inputs.is_none() || self.is_within_limit(to, size))
    }

    fn is_within_limit(&self, to: QueueAt, size: u16) -> bool {
        match to.queue.lane() {
            Lane::Normal => self.buffer.peek().admits(&self.usage(&self.ports[usize::from(to.port.0)]), size),
            lane => self.lanes.limit(lane).accepts(self.backlog(to.port, to.queue), size),
        }
    }

    /// Begins a transfer from an input to an idle output, and returns its duration.
    /// Congestion messages come first, then the queue with the fewest bytes in the output buffer, and among equals the
    /// most urgent.
    pub(crate) fn begin_transfer(&mut self, output: PortId, now: Time) -> Option<Dur> {
        let port = &self.ports[usize::from(output.0)];
        let inputs = self.inputs.as_deref_mut()?;
        let mut left = inputs.waiting_queues(output);
        while left != 0 {
            // The output's scheduler can choose only among frames in its buffer, so the queue with the fewest bytes
            // there comes first.
            let last = |queue: &QueueId| {
                let waits = queue.lane() != Lane::Notice;
                (waits, port.backlog(*queue).1, u8::MAX - queue.0)
            };
            let queue = QueueId::iter_set(left).min_by_key(last)?;
            left &= !queue.bit();
            let (all, at_inputs) = (port.queued_normal(), inputs.waiting_normal(output));
            // A port counts a frame from its arrival at the input on; only the part in the output buffer counts against
            // the limit.
            let used = memory_use((all.0 - at_inputs.0, all.1 - at_inputs.1));
            let used = if queue.lane() == Lane::Normal { used } else { memory_use(port.backlog(queue)) };
            let fits = |size| may_join_output(&self.buffer, &self.lanes, (queue, &used), size);
            if let Some(time) = inputs.grant(QueueAt { port: output, queue }, &mut self.arena, now, fits) {
                return Some(time);
            }
        }
        None
    }

    /// Begins a move to an idle target inside a `fabric` switch, and returns its duration.
    pub(crate) fn begin_inside_move(&mut self, target: u16, now: Time) -> Option<Dur> {
        let inputs = self.inputs.as_deref_mut()?;
        let Some(port) = self.ports.get(usize::from(target)) else {
            return inputs.grant_inside(
                target,
                &OutputBufferState { waits: &|_| 0, fits: &|_, _| false },
                &mut self.arena,
                now,
            );
        };
        let output = PortId(target);
        let (all, elsewhere) = (port.queued_normal(), inputs.waiting_normal(output));
        let normal = memory_use((all.0 - elsewhere.0, all.1 - elsewhere.1));
        let fits = |queue: QueueId, size| {
            let used = if queue.lane() == Lane::Normal { normal } else { memory_use(port.backlog(queue)) };
            may_join_output(&self.buffer, &self.lanes, (queue, &used), size)
        };
        let out = OutputBufferState { waits: &|queue| port.backlog(queue).1, fits: &fits };
        inputs.grant_inside(target, &out, &mut self.arena, now)
    }

    /// Returns the frames and bytes that wait in one queue, or elsewhere in this node until they join it.
    #[inline]
    pub(crate) fn backlog(&self, port: PortId, queue: QueueId) -> (u32, u64) {
        let own = self.ports[usize::from(port.0)].backlog(queue);
        let elsewhere = match (&self.inputs, &self.cutting) {
            (None, None) => return own,
            (Some(inputs), _) => inputs.waiting_for_queue(QueueAt { port, queue }),
            (None, Some(cutting)) => cutting.backlog(QueueAt { port, queue }),
        };
        (own.0 + elsewhere.0, own.1 + elsewhere.1)
    }

    /// Returns true if a frame that is elsewhere in this node will join a queue.
    pub(crate) fn has_more_incoming(&self, at: QueueAt) -> bool {
        let inputs = self.inputs.as_ref().is_some_and(|inputs| inputs.has_frames_before_output(at.port, at.queue));
        inputs || self.cutting.as_ref().is_some_and(|cutting| cutting.backlog(at).0 > 0)
    }

    /// Settles a port with computed departures: frames that have left by `now` no longer count as queued.
    #[inline]
    pub(crate) fn settle_departures(&mut self, port: PortId, now: Time) {
        let p = &mut self.ports[usize::from(port.0)];
        if p.computed {
            p.settle_departures(now);
        }
    }

    /// Settles all ports with computed departures: frames that have left by `now` no longer count as queued.
    pub(crate) fn settle_all_departures(&mut self, now: Time) {
        self.ports.iter_mut().filter(|port| port.computed).for_each(|port| port.settle_departures(now));
    }

    /// Allocates memory of a port, and shared memory if there is any, to a frame.
    #[inline]
    pub(crate) fn allocate(&mut self, port: PortId, queue: QueueId, head: &Head) {
        let size = head.size;
        let p = &mut self.ports[usize::from(port.0)];
        p.allocate(queue, size);
        if self.pool.on && queue.lane() != Lane::Notice {
            // Congestion messages take nothing from the pool: they report about this memory.
            let after = p.queued_without_notices().1;
            self.pool.update_allocation(after - u64::from(size), after);
        }
        if let Some(pools) = self.pools.as_mut().filter(|_| queue.lane() != Lane::Notice) {
            pools.store(&counted_frame(QueueAt { port, queue }, size, Origin::from_head(head)));
        }
    }

    /// Frees the memory of bytes that were cut off a frame; the rest of the frame, `cut`, stays queued.
    pub(crate) fn shrink(&mut self, at: QueueAt, before: &Head, cut: &Head) {
        let (QueueAt { port, queue }, bytes) = (at, before.size - cut.size);
        let p = &mut self.ports[usize::from(port.0)];
        p.shrink(queue, bytes);
        if let Some(pools) = self.pools.as_mut().filter(|_| queue.lane() != Lane::Notice) {
            let of = |head: &Head| counted_frame(at, head.size, Origin::from_head(head));
            pools.shorten(&of(before), &of(cut));
        }
        if self.pool.on && queue.lane() != Lane::Notice {
            let after = p.queued_without_notices().1;
            self.pool.update_allocation(after + u64::from(bytes), after);
        }
    }

    /// Frees the memory of a frame that is no longer queued.
    #[inline]
    pub(crate) fn free(&mut self, port: PortId, queue: QueueId, head: &Head) {
        self.leave_queue(port, queue, head);
        self.free_accounts(QueueAt { port, queue }, head);
    }

    /// Removes a frame that begins to leave from the counts of its port. Its accounts keep it until it has left.
    pub(crate) fn begin_leaving(&mut self, at: QueueAt, head: &Head) {
        self.leave_queue(at.port, at.queue, head);
        self.ports[usize::from(at.port.0)].rest.leaving = Some(Box::new((at.queue, *head)));
    }

    /// Removes a frame from the accounts of its group and its queue.
    #[inline]
    pub(crate) fn free_accounts(&mut self, at: QueueAt, head: &Head) {
        if let Some(pools) = self.pools.as_mut().filter(|_| at.queue.lane() != Lane::Notice) {
            pools.free(&counted_frame(at, head.size, Origin::from_head(head)));
        }
    }

    /// Removes a frame from the counts of its port and of the memory that ports share.
    #[inline]
    pub(crate) fn leave_queue(&mut self, port: PortId, queue: QueueId, head: &Head) {
        let size = head.size;
        let p = &mut self.ports[usize::from(port.0)];
        p.free(queue, size);
        if self.pool.on && queue.lane() != Lane::Notice {
            let after = p.queued_without_notices().1;
            self.pool.update_allocation(after + u64::from(size), after);
        }
    }
}
