//! Updates of the accounts that agents follow, when a frame joins, changes or leaves a memory of a node.
//! Congestion messages are in no account.

use super::{Core, StepContext};
use crate::accounts::{AccountDelta, MemorySides};
use crate::packet_store::{Fib, Origin, SampledFrame, counted_frame};
use crate::port::{Port, QueueAt};
use crate::sampled_memories::FrameLocation;
use mech::{Head, Lane, MemorySide, PortId};

/// Frame in a memory of this node: its queue, its slot and its head.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    /// Queue that the frame waits in or is to join.
    pub(super) at: QueueAt,
    /// Memory slot of the frame: its index in the node's arena.
    pub(super) slot: u32,
    pub(super) head: &'a Head,
}

impl Frame<'_> {
    /// Returns the locations of the frame in those memories of its ports that `sides` names.
    fn memories(&self, sides: MemorySides) -> impl Iterator<Item = FrameLocation> + use<> {
        let Frame { at: QueueAt { port, .. }, slot, head } = *self;
        let input = sides.input.then_some(FrameLocation { port: head.ingress, side: MemorySide::Input, slot });
        let output = sides.output.then_some(FrameLocation { port, side: MemorySide::Output, slot });
        input.into_iter().chain(output)
    }
}

impl Core {
    /// Counts the units that a frame occupies in memories from which agents draw samples.
    #[inline]
    pub(super) fn add_frame_units(&mut self, frame: Frame, sides: MemorySides) {
        if let Some(sampled) = &mut self.store.sampled {
            let of = (frame.head.class(), frame.head.size);
            frame.memories(sides).for_each(|at| sampled.join(at, of, frame.at.port));
        }
    }

    /// Frees the units that a frame occupied in memories from which agents draw samples.
    #[inline]
    pub(super) fn free_frame_units(&mut self, frame: Frame, sides: MemorySides) {
        if let Some(sampled) = &mut self.store.sampled {
            frame.memories(sides).for_each(|at| sampled.leave(at));
        }
    }

    /// Returns true if frames of a queue count in accounts: the node has agents, and the lane is not `notice`.
    #[inline]
    pub(super) fn is_counted(&self, at: QueueAt) -> bool {
        self.agents.is_some() && at.queue.lane() != Lane::Notice
    }

    /// Adds a frame that was stored to the accounts.
    #[inline]
    pub(super) fn count_stored<F: Fib, O>(&mut self, frame: Frame, joins: MemorySides, step: &StepContext<F, O>) {
        if self.is_counted(frame.at) {
            // Units change before agents are called: an agent may draw a unit in the same call and must see this
            // frame's.
            self.add_frame_units(frame, joins);
            self.count_bytes(AccountDelta::for_stored(frame.at.port, frame.head, joins), Some(frame.head), step);
            self.signal_groups(step);
        }
    }

    /// Removes a frame that has left from the accounts.
    #[inline]
    pub(super) fn count_departed<F: Fib, O>(&mut self, frame: Frame, leaves: MemorySides, step: &StepContext<F, O>) {
        if self.is_counted(frame.at) {
            self.free_frame_units(frame, leaves);
            self.count_bytes(AccountDelta::for_departure(frame.at.port, frame.head, leaves), None, step);
            self.signal_groups(step);
        }
    }

    /// Updates the accounts after a frame has moved from the memory of its input to the buffer of its output.
    #[inline]
    pub(super) fn count_crossed<F: Fib, O>(&mut self, frame: Frame, step: &StepContext<F, O>) {
        if self.is_counted(frame.at) {
            self.free_frame_units(frame, MemorySides::INPUT);
            self.add_frame_units(frame, MemorySides::OUTPUT);
            self.count_bytes(AccountDelta::for_crossing(frame.at.port, frame.head), Some(frame.head), step);
        }
    }

    /// Subtracts bytes that were cut off a frame in the buffer of its port from the accounts.
    #[inline]
    pub(super) fn count_trimmed<F: Fib, O>(&mut self, frame: Frame, bytes: u16, step: &StepContext<F, O>) {
        if self.is_counted(frame.at) {
            let sides = self.store.buffer_memories();
            if let Some(sampled) = &mut self.store.sampled {
                let of = (frame.head.class(), frame.head.size);
                frame.memories(sides).for_each(|at| sampled.shorten(at, of, bytes));
            }
            let delta = AccountDelta::for_trim(frame.at.port, frame.head, bytes, sides);
            self.count_bytes(delta, None, step);
            self.signal_groups(step);
        }
    }

    /// Checks that the accounts of groups and queues equal the cells of the frames in this node.
    pub(crate) fn pools_are_consistent(&self) -> bool {
        let Some(pools) = &self.store.pools else { return true };
        let queued = self.store.sampled_frames().into_iter();
        let queued = queued.map(|frame| (frame.at, self.store.arena.get(frame.slot).head));
        let leaving = (0..).map(PortId).zip(&self.store.ports).filter_map(|(port, own)| {
            let (queue, head) = own.rest.leaving.as_deref()?;
            Some((QueueAt { port, queue: *queue }, *head))
        });
        pools.equal(queued.chain(leaving).map(|(at, head)| counted_frame(at, head.size, Origin::from_head(&head))))
    }

    /// Checks that the accounts equal the bytes of the frames in the memories of this node.
    pub(crate) fn accounts_are_consistent(&self) -> bool {
        if !self.pools_are_consistent() {
            return false;
        }
        let Some(agents) = &self.agents else { return true };
        let accounts = &self.store.accounts;
        let output = |(port, p): (PortId, &Port)| {
            p.computed || accounts.output_bytes(port).is_none_or(|bytes| bytes == p.queued_without_notices().1)
        };
        let outputs = (0..).map(PortId).zip(&self.store.ports).all(output);
        let ports = || (0..self.store.ports.len() as u16).map(PortId);
        let inputs = ports().filter_map(|port| Some((port, accounts.input_bytes(port)?)));
        let inputs = match &self.store.inputs {
            Some(own) => {
                inputs.into_iter().all(|(port, bytes)| bytes == own.used_by_input(port).1 + agents.held_bytes_at(port))
            }
            // Without input memories a frame stays in the account of its input port until it leaves by an output. Only
            // the sums over all ports can be compared.
            None => {
                let (many, bytes) = inputs.fold((0, 0), |sum, (_, bytes)| (sum.0 + 1, sum.1 + bytes));
                let waits = self.store.ports.iter().map(|p| p.queued_without_notices().1).sum::<u64>();
                many == 0 || bytes == waits + agents.held_total().1
            }
        };
        outputs && inputs && accounts.is_consistent() && self.units_are_consistent()
    }

    /// Checks that memories from which agents draw samples have exactly the units of the frames in them.
    fn units_are_consistent(&self) -> bool {
        let Some(sampled) = &self.store.sampled else { return true };
        let sides = self.store.buffer_memories();
        let all = self.store.sampled_frames().into_iter().flat_map(|SampledFrame { at, slot, at_input }| {
            let head = &self.store.arena.get(slot).head;
            let memories = Frame { at, slot, head }.memories(if at_input { MemorySides::INPUT } else { sides });
            memories.map(|memory| (memory, (head.class(), head.size)))
        });
        sampled.is_consistent(all)
    }
}
