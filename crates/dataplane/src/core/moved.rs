//! What is counted for agents where a frame comes to a memory of a node, goes on to another, or is gone from one. Messages
//! about congestion are in no account.

use super::{Core, Step};
use crate::accounts::{Delta, Sides};
use crate::packet_store::Fib;
use crate::port::{Port, QueueAt};
use mech::{Head, Lane, PortId};

/// A frame that lies here.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    /// The queue that it waits in, or is to join.
    pub(super) at: QueueAt,
    pub(super) head: &'a Head,
}

impl Core {
    /// Whether what happens to a frame of a queue is counted.
    #[inline]
    fn is_counted(&self, at: QueueAt) -> bool {
        self.agents.is_some() && at.queue.lane() != Lane::Notice
    }

    /// A frame is stored.
    #[inline]
    pub(super) fn count_stored<F: Fib, O>(&mut self, frame: Frame, joins: Sides, step: &Step<F, O>) {
        if self.is_counted(frame.at) {
            self.count_bytes(Delta::stored(frame.at.port, frame.head, joins), Some(frame.head), step);
        }
    }

    /// A frame that waited here is gone.
    #[inline]
    pub(super) fn count_left<F: Fib, O>(&mut self, frame: Frame, leaves: Sides, step: &Step<F, O>) {
        if self.is_counted(frame.at) {
            self.count_bytes(Delta::left(frame.at.port, frame.head, leaves), None, step);
        }
    }

    /// A frame has crossed from the memory of its input to the buffer of its output.
    #[inline]
    pub(super) fn count_crossed<F: Fib, O>(&mut self, frame: Frame, step: &Step<F, O>) {
        if self.is_counted(frame.at) {
            self.count_bytes(Delta::crossed(frame.at.port, frame.head), Some(frame.head), step);
        }
    }

    /// So many bytes of a frame that waits in the buffer of its port are cut off.
    #[inline]
    pub(super) fn count_trimmed<F: Fib, O>(&mut self, frame: Frame, bytes: u16, step: &Step<F, O>) {
        if self.is_counted(frame.at) {
            let delta = Delta::trimmed(frame.at.port, frame.head, bytes, self.store.buffered());
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
        outputs && inputs && accounts.balanced()
    }
}
