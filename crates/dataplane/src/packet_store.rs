//! The memory of a node: packets, ports, and the buffer that lends to them, as mechanisms see it.

use crate::accounts::{Accounts, Sides};
use crate::arena::Arena;
use crate::cutting::Cutting;
use crate::inputs::{AtOutput, Inputs};
use crate::port::{Port, QueueAt};
use crate::ranked::Ranked;
use crate::sampled::Sampled;
use mech::buffer::{BufferSlot, ExtraRoom, Use};
use mech::overflow::DropReason;
use mech::{Head, HostId, Lane, Lanes, PortId, QueueId};
use units::{Dur, Time};

mod look;
mod memories;
mod queued;

pub(crate) use look::Look;
pub(crate) use memories::Lying;

/// Packets, queues and the memory allocated to them.
#[derive(Clone)]
pub struct PacketStore {
    pub(crate) arena: Arena,
    pub(crate) ports: Vec<Port>,
    pub(crate) buffer: BufferSlot,
    pub(crate) lanes: Lanes,
    /// By queue as packets ask for it: the one that they wait in here.
    pub(crate) waits_in: [QueueId; QueueId::COUNT as usize],
    pub(crate) pool: Pool,
    /// What agents follow.
    pub(crate) accounts: Accounts,
    /// The units of what they sample.
    pub(crate) sampled: Option<Box<Sampled>>,
    /// Long queues by rank, where a mechanism searches them.
    pub(crate) ranked: Option<Box<Ranked>>,
    /// Where arrivals wait at their inputs first.
    pub(crate) inputs: Option<Box<Inputs>>,
    /// Where cutting takes a time.
    pub(crate) cutting: Option<Box<Cutting>>,
}

/// What is allocated in all, where ports share.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pool {
    pub(crate) on: bool,
    bytes: u64,
    shared_bytes: u64,
    reserved: u64,
}

/// The tables of a node.
pub trait Fib {
    /// The port toward a host for a flow hash, without a draw.
    fn port_toward(&self, host: HostId, hash: u32) -> Option<PortId>;
    /// Returns true if the network has this host.
    fn has_host(&self, _host: HostId) -> bool {
        true
    }
    /// Slot that names the port toward a host.
    fn slot(&self) -> &'static str {
        "routing"
    }
}

impl Pool {
    pub(crate) fn new(buffer: &BufferSlot) -> Pool {
        Pool { on: buffer.peek().plain().is_none(), reserved: buffer.peek().reserved(), ..Pool::default() }
    }
    fn beyond_reserve(&self, bytes: u64) -> u64 {
        bytes.saturating_sub(self.reserved)
    }
    /// One port's bytes go from `before` to `after`.
    fn moved(&mut self, before: u64, after: u64) {
        self.bytes = self.bytes + after - before;
        self.shared_bytes = self.shared_bytes + self.beyond_reserve(after) - self.beyond_reserve(before);
    }
}

/// By queue as packets ask for it, the one that they wait in: the normal one where their lane is not there, and
/// that of the highest class in use where theirs is higher.
pub(crate) fn waits_in(lanes: &Lanes, top_class: u8) -> [QueueId; QueueId::COUNT as usize] {
    std::array::from_fn(|number| {
        let asked = QueueId(number as u8);
        let lane = if lanes.has(asked.lane()) { asked.lane() } else { Lane::Normal };
        QueueId::new(asked.class().min(top_class), lane)
    })
}

/// So many frames and bytes.
fn uses((packets, bytes): (u32, u64)) -> Use {
    Use { packets: u64::from(packets), bytes, ..Use::default() }
}

/// Whether a frame that has crossed may join a queue of its output beside what counts against the limit there.
fn joins(buffer: &BufferSlot, lanes: &Lanes, (queue, used): (QueueId, &Use), size: u16) -> bool {
    match queue.lane() {
        Lane::Normal => buffer.peek().admits(used, size),
        lane => lanes.limit(lane).accepts((used.packets as u32, used.bytes), size),
    }
}

impl PacketStore {
    fn usage(&self, port: &Port) -> Use {
        let (packets, bytes) = if self.pool.on { port.counted() } else { port.normal() };
        Use {
            packets: u64::from(packets),
            bytes,
            pool_bytes: self.pool.bytes,
            pool_shared_bytes: self.pool.shared_bytes,
        }
    }

    /// Whether a frame of `size` bytes is accepted.
    #[inline]
    pub(crate) fn accepts(&self, port: PortId, queue: QueueId, size: u16) -> bool {
        let p = &self.ports[usize::from(port.0)];
        if p.closed {
            return false;
        }
        if queue.lane() != Lane::Normal {
            return self.lane_accepts(p, queue, size);
        }
        self.buffer.admits(|| self.usage(p), size)
    }

    /// Whether it accepts a frame for such room beyond the limit; other lanes do not go beyond theirs.
    pub(crate) fn accepts_beyond(&self, to: QueueAt, size: u16, extra: ExtraRoom) -> bool {
        let port = &self.ports[usize::from(to.port.0)];
        if to.queue.lane() != Lane::Normal || port.closed {
            return false;
        }
        let of_class = |class| self.backlog(to.port, self.queue(QueueId::normal(class))).1;
        let apart = extra.apart(to.queue.class()).map_or(0, of_class);
        extra.admits(self.buffer.peek(), &self.usage(port), apart, size)
    }

    /// The queue in which packets meant for `queue` wait here.
    #[inline]
    pub(crate) fn queue(&self, queue: QueueId) -> QueueId {
        self.waits_in[usize::from(queue.0 % QueueId::COUNT)]
    }

    /// A lane has a limit of its own. What waits in it draws on shared memory too, unless it is a message about
    /// that memory.
    fn lane_accepts(&self, port: &Port, queue: QueueId, size: u16) -> bool {
        let own = self.lanes.limit(queue.lane()).accepts(port.backlog(queue), size);
        let draws = self.pool.on && queue.lane() != Lane::Notice;
        own && (!draws || self.buffer.peek().admits(&self.usage(port), size))
    }

    /// The memories that a frame in the buffer of a port lies in.
    #[inline]
    pub(crate) fn buffered(&self) -> Sides {
        if self.inputs.is_some() { Sides::OUTPUT } else { Sides::BOTH }
    }

    /// Whether a frame that came in by `ingress` waits there first. Messages that go back by the port at which they were
    /// made do not cross: a congestion point at an input tells its sources over the link that its frames come by
    /// (QCN-OS §II-B).
    #[inline]
    pub(crate) fn waits_at_input(&self, ingress: PortId, to: QueueAt) -> bool {
        self.inputs.is_some() && (to.queue.lane() != Lane::Notice || ingress != to.port)
    }

    /// Why a frame that came in by `ingress` has no room at its input; `None` where it has. What the empty buffer of
    /// its output could not hold would wait for ever. Messages about congestion take no memory of inputs.
    pub(crate) fn input_refuses(&self, ingress: PortId, to: QueueAt, size: u16) -> Option<DropReason> {
        let inputs = self.inputs.as_ref()?;
        let holds = match to.queue.lane() {
            Lane::Normal => self.buffer.peek().admits(&Use::default(), size),
            lane => self.lanes.limit(lane).accepts((0, 0), size),
        };
        let holds =
            holds && inputs.stages.as_ref().is_none_or(|stages| stages.too_small((ingress, to.port), size).is_none());
        match (self.ports[usize::from(to.port.0)].closed, holds) {
            (true, _) => Some(DropReason::LinkDown),
            (false, false) => Some(DropReason::of_full(to.queue.lane())),
            (false, true) if to.queue.lane() == Lane::Notice => None,
            (false, true) => (!inputs.accepts(ingress, size)).then_some(DropReason::InputFull),
        }
    }

    /// Whether the input that a frame came in by is there and has no memory for it: by whichever port it is to leave, it is
    /// lost.
    pub(crate) fn lacks_input(&self, head: &Head) -> bool {
        self.inputs.as_ref().is_some_and(|inputs| !inputs.accepts(head.ingress, head.size))
    }

    /// Whether a frame of `size` bytes is accepted: where arrivals wait at their inputs, by the memory of its own.
    #[inline]
    pub(crate) fn takes(&self, ingress: Option<PortId>, to: QueueAt, size: u16) -> bool {
        match (&self.inputs, ingress) {
            (Some(_), Some(ingress)) => self.input_refuses(ingress, to, size).is_none(),
            _ => self.accepts(to.port, to.queue, size),
        }
    }

    /// Whether a frame is accepted and what waits for its output is then within the limit there: in its buffer, at inputs
    /// and on the way across together.
    #[inline]
    pub(crate) fn has_place(&self, ingress: Option<PortId>, to: QueueAt, size: u16) -> bool {
        self.takes(ingress, to, size) && (self.inputs.is_none() || self.is_within_limit(to, size))
    }

    fn is_within_limit(&self, to: QueueAt, size: u16) -> bool {
        match to.queue.lane() {
            Lane::Normal => self.buffer.peek().admits(&self.usage(&self.ports[usize::from(to.port.0)]), size),
            lane => self.lanes.limit(lane).accepts(self.backlog(to.port, to.queue), size),
        }
    }

    /// Begins a transfer to an idle output: of messages about congestion before all else, then from the queue of which
    /// the fewest bytes wait in its buffer, so that the scheduler there finds all that it may choose from; among equals
    /// from the most urgent. The time that it takes.
    pub(crate) fn grant(&mut self, output: PortId, now: Time) -> Option<Dur> {
        let port = &self.ports[usize::from(output.0)];
        let inputs = self.inputs.as_deref_mut()?;
        let mut left = inputs.waits(output);
        while left != 0 {
            let last = |queue: &QueueId| {
                let waits = queue.lane() != Lane::Notice;
                (waits, port.backlog(*queue).1, u8::MAX - queue.0)
            };
            let queue = QueueId::each(left).min_by_key(last)?;
            left &= !queue.bit();
            let (all, at_inputs) = (port.normal(), inputs.normal(output));
            let used = uses((all.0 - at_inputs.0, all.1 - at_inputs.1));
            let used = if queue.lane() == Lane::Normal { used } else { uses(port.backlog(queue)) };
            let fits = |size| joins(&self.buffer, &self.lanes, (queue, &used), size);
            if let Some(time) = inputs.grant(QueueAt { port: output, queue }, &mut self.arena, now, fits) {
                return Some(time);
            }
        }
        None
    }

    /// The same inside a `fabric` switch, for a target of which it is the turn.
    pub(crate) fn grant_inside(&mut self, target: u16, now: Time) -> Option<Dur> {
        let inputs = self.inputs.as_deref_mut()?;
        let Some(port) = self.ports.get(usize::from(target)) else {
            return inputs.grant_inside(target, &AtOutput { waits: &|_| 0, fits: &|_, _| false }, &mut self.arena, now);
        };
        let output = PortId(target);
        let (all, elsewhere) = (port.normal(), inputs.normal(output));
        let normal = uses((all.0 - elsewhere.0, all.1 - elsewhere.1));
        let fits = |queue: QueueId, size| {
            let used = if queue.lane() == Lane::Normal { normal } else { uses(port.backlog(queue)) };
            joins(&self.buffer, &self.lanes, (queue, &used), size)
        };
        let out = AtOutput { waits: &|queue| port.backlog(queue).1, fits: &fits };
        inputs.grant_inside(target, &out, &mut self.arena, now)
    }

    /// Frames and bytes that wait in one queue, or elsewhere here until they join it.
    #[inline]
    pub(crate) fn backlog(&self, port: PortId, queue: QueueId) -> (u32, u64) {
        let own = self.ports[usize::from(port.0)].backlog(queue);
        let elsewhere = match (&self.inputs, &self.cutting) {
            (None, None) => return own,
            (Some(inputs), _) => inputs.held_for_queue(QueueAt { port, queue }),
            (None, Some(cutting)) => cutting.backlog(QueueAt { port, queue }),
        };
        (own.0 + elsewhere.0, own.1 + elsewhere.1)
    }

    /// Whether something that lies elsewhere here is to join a queue.
    pub(crate) fn more_comes(&self, at: QueueAt) -> bool {
        let inputs = self.inputs.as_ref().is_some_and(|inputs| inputs.has_more(at.port, at.queue));
        inputs || self.cutting.as_ref().is_some_and(|cutting| cutting.backlog(at).0 > 0)
    }

    /// Accounts for what has left one port by `now`, where departures are computed.
    #[inline]
    pub(crate) fn settle(&mut self, port: PortId, now: Time) {
        let p = &mut self.ports[usize::from(port.0)];
        if p.computed {
            p.settle(now);
        }
    }

    /// The same for all ports.
    pub(crate) fn settle_all(&mut self, now: Time) {
        self.ports.iter_mut().filter(|port| port.computed).for_each(|port| port.settle(now));
    }

    /// Allocates memory to a frame.
    #[inline]
    pub(crate) fn allocate(&mut self, port: PortId, queue: QueueId, head: &Head) {
        let size = head.size;
        let p = &mut self.ports[usize::from(port.0)];
        p.allocate(queue, size);
        if self.pool.on && queue.lane() != Lane::Notice {
            let after = p.counted().1;
            self.pool.moved(after - u64::from(size), after);
        }
    }

    /// Frees a part of the memory of a frame, which waits on.
    pub(crate) fn shrink(&mut self, port: PortId, queue: QueueId, bytes: u16) {
        let p = &mut self.ports[usize::from(port.0)];
        p.shrink(queue, bytes);
        if self.pool.on && queue.lane() != Lane::Notice {
            let after = p.counted().1;
            self.pool.moved(after + u64::from(bytes), after);
        }
    }

    /// Frees the memory of a frame.
    #[inline]
    pub(crate) fn free(&mut self, port: PortId, queue: QueueId, head: &Head) {
        let size = head.size;
        let p = &mut self.ports[usize::from(port.0)];
        p.free(queue, size);
        if self.pool.on && queue.lane() != Lane::Notice {
            let after = p.counted().1;
            self.pool.moved(after + u64::from(size), after);
        }
    }
}
