//! What is counted for agents where a frame comes to a memory of a node, goes on to another, or is gone from one. Messages
//! about congestion are in no account.

use super::{Core, Step};
use crate::accounts::{Delta, Sides};
use crate::packet_store::{Fib, Lying};
use crate::port::{Port, QueueAt};
use crate::sampled::InMemory;
use mech::{Head, Lane, PortId, Side};

/// A frame that lies here.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    /// The queue that it waits in, or is to join.
    pub(super) at: QueueAt,
    /// Where it lies in the arena.
    pub(super) slot: u32,
    pub(super) head: &'a Head,
}

impl Frame<'_> {
    /// The memories of ports that it lies in, of these.
    fn memories(&self, sides: Sides) -> impl Iterator<Item = InMemory> + use<> {
        let Frame { at: QueueAt { port, .. }, slot, head } = *self;
        let input = sides.input.then_some(InMemory { port: head.ingress, side: Side::Input, slot });
        let output = sides.output.then_some(InMemory { port, side: Side::Output, slot });
        input.into_iter().chain(output)
    }
}

impl Core {
    /// A frame takes units of memories that are sampled.
    #[inline]
    pub(super) fn join_units(&mut self, frame: Frame, sides: Sides) {
        if let Some(sampled) = &mut self.store.sampled {
            let of = (frame.head.class(), frame.head.size);
            frame.memories(sides).for_each(|at| sampled.join(at, of, frame.at.port));
        }
    }

    /// Its units are free.
    #[inline]
    pub(super) fn leave_units(&mut self, frame: Frame, sides: Sides) {
        if let Some(sampled) = &mut self.store.sampled {
            frame.memories(sides).for_each(|at| sampled.leave(at));
        }
    }

    /// Whether what happens to a frame of a queue is counted.
    #[inline]
    pub(super) fn is_counted(&self, at: QueueAt) -> bool {
        self.agents.is_some() && at.queue.lane() != Lane::Notice
    }

    /// A frame is stored.
    #[inline]
    pub(super) fn count_stored<F: Fib, O>(&mut self, frame: Frame, joins: Sides, step: &Step<F, O>) {
        if self.is_counted(frame.at) {
            self.join_units(frame, joins);
            self.count_bytes(Delta::stored(frame.at.port, frame.head, joins), Some(frame.head), step);
        }
    }

    /// A frame that waited here is gone.
    #[inline]
    pub(super) fn count_left<F: Fib, O>(&mut self, frame: Frame, leaves: Sides, step: &Step<F, O>) {
        if self.is_counted(frame.at) {
            self.leave_units(frame, leaves);
            self.count_bytes(Delta::left(frame.at.port, frame.head, leaves), None, step);
        }
    }

    /// A frame has crossed from the memory of its input to the buffer of its output.
    #[inline]
    pub(super) fn count_crossed<F: Fib, O>(&mut self, frame: Frame, step: &Step<F, O>) {
        if self.is_counted(frame.at) {
            self.leave_units(frame, Sides::INPUT);
            self.join_units(frame, Sides::OUTPUT);
            self.count_bytes(Delta::crossed(frame.at.port, frame.head), Some(frame.head), step);
        }
    }

    /// So many bytes of a frame that waits in the buffer of its port are cut off.
    #[inline]
    pub(super) fn count_trimmed<F: Fib, O>(&mut self, frame: Frame, bytes: u16, step: &Step<F, O>) {
        if self.is_counted(frame.at) {
            let sides = self.store.buffered();
            if let Some(sampled) = &mut self.store.sampled {
                let of = (frame.head.class(), frame.head.size);
                frame.memories(sides).for_each(|at| sampled.shorten(at, of, bytes));
            }
            let delta = Delta::trimmed(frame.at.port, frame.head, bytes, sides);
            self.count_bytes(delta, None, step);
        }
    }

    /// Checks that the accounts that agents follow are of what lies here.
    pub(crate) fn accounts_balance(&self) -> bool {
        let Some(agents) = &self.agents else { return true };
        let accounts = &self.store.accounts;
        let output =
            |(port, p): (PortId, &Port)| p.computed || accounts.output(port).is_none_or(|bytes| bytes == p.counted().1);
        let outputs = (0..).map(PortId).zip(&self.store.ports).all(output);
        let ports = || (0..self.store.ports.len() as u16).map(PortId);
        let inputs = ports().filter_map(|port| Some((port, accounts.of_input(port)?)));
        let inputs = match &self.store.inputs {
            Some(own) => inputs.into_iter().all(|(port, bytes)| bytes == own.used(port).1 + agents.held_at(port)),
            None => {
                let (many, bytes) = inputs.fold((0, 0), |sum, (_, bytes)| (sum.0 + 1, sum.1 + bytes));
                let waits = self.store.ports.iter().map(|p| p.counted().1).sum::<u64>();
                many == 0 || bytes == waits + agents.held().1
            }
        };
        outputs && inputs && accounts.balanced() && self.units_balance()
    }

    /// Checks that memories that are sampled have the units of the frames that are in them.
    fn units_balance(&self) -> bool {
        let Some(sampled) = &self.store.sampled else { return true };
        let sides = self.store.buffered();
        let all = self.store.lying().into_iter().flat_map(|Lying { at, slot, at_input }| {
            let head = &self.store.arena.get(slot).head;
            let memories = Frame { at, slot, head }.memories(if at_input { Sides::INPUT } else { sides });
            memories.map(|memory| (memory, (head.class(), head.size)))
        });
        sampled.balanced(all)
    }
}
