//! The scheduler slot: who leaves next?

mod fifo;
mod round_robin;
mod srpt;
mod strict_priority;

pub use fifo::Fifo;
pub use round_robin::RoundRobin;
pub use srpt::Srpt;
pub use strict_priority::StrictPriority;

use crate::{Beside, ClassSet, Env, Mechanism, Needs, PktId, PortView, QueueId, Report};

/// A way to choose the next packet of a port.
pub trait Scheduler: Send + Sync {
    /// The queue and packet that leave next; any packet, not only a queue's first. `None` where
    /// nothing may leave.
    fn next(&mut self, port: &PortView, env: &mut Env) -> Option<(QueueId, PktId)>;
    /// What it needs of the port.
    fn needs(&self) -> Needs {
        Needs { reorders: true, ..Needs::default() }
    }
    /// Whether it goes by classes and lanes alone: where packets wait in one queue, they leave first in, first out.
    fn is_by_queue(&self) -> bool {
        false
    }
    /// The classes that it prefers or puts back by a number given for each.
    fn weighs(&self) -> ClassSet {
        ClassSet::NONE
    }
    /// What is wrong with it.
    fn check(&self, _beside: &Beside, _report: &mut Report) {}
    /// A copy, with its state.
    fn boxed(&self) -> Box<dyn Scheduler>;
}

/// The mechanisms of this slot.
pub const ALL: &[Mechanism<SchedulerSlot>] = &[
    Mechanism::new(&fifo::SPEC, |_| Fifo.into()),
    Mechanism::new(&strict_priority::SPEC, |_| StrictPriority.into()).at_nic(),
    Mechanism::new(&srpt::SPEC, |_| Srpt.into()).at_nic(),
    Mechanism::new(&round_robin::SPEC, |values| RoundRobin::new(values).into()),
];

slot! {
    /// How a port chooses what leaves next.
    SchedulerSlot(Order) of Scheduler {
        Fifo(Fifo),
        StrictPriority(StrictPriority),
        Srpt(Srpt),
        RoundRobin(RoundRobin),
    }
}

impl SchedulerSlot {
    /// Whether the next packet to leave is not always the oldest of its queue.
    #[inline]
    pub fn reorders(&self) -> bool {
        match &self.0 {
            Order::Fifo(_) | Order::StrictPriority(_) | Order::RoundRobin(_) => false,
            _ => self.peek().needs().reorders,
        }
    }
}
