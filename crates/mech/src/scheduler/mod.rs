//! The scheduler slot: who leaves next?

mod fifo;
mod srpt;
mod strict_priority;

pub use fifo::Fifo;
pub use srpt::Srpt;
pub use strict_priority::StrictPriority;

use crate::params::{Spec, Values};
use crate::{Env, Needs, PktId, PortView, QueueId};

/// A way to choose the next packet of a port.
pub trait Scheduler: Send + Sync {
    /// The queue and packet that leave next; any packet, not only a queue's first. `None` where
    /// nothing may leave.
    fn next(&mut self, port: &PortView, env: &mut Env) -> Option<(QueueId, PktId)>;
    /// What it needs of the port.
    fn needs(&self) -> Needs {
        Needs { reorders: true, ..Needs::default() }
    }
    /// A copy, with its state.
    fn boxed(&self) -> Box<dyn Scheduler>;
}

/// The mechanisms of this slot.
pub const SPECS: &[&Spec] = &[&fifo::SPEC, &strict_priority::SPEC, &srpt::SPEC];

slot! {
    /// How a port chooses what leaves next.
    SchedulerSlot(Order) of Scheduler {
        Fifo(Fifo),
        StrictPriority(StrictPriority),
        Srpt(Srpt),
    }
}

impl SchedulerSlot {
    /// The mechanism named `kind`; `None` where the catalogue has none of that name.
    pub fn build(kind: &str, _values: &Values) -> Option<SchedulerSlot> {
        Some(match kind {
            "fifo" => Fifo.into(),
            "strict_priority" => StrictPriority.into(),
            "srpt" => Srpt.into(),
            _ => return None,
        })
    }
    /// Whether the next packet to leave is not always the oldest of its queue.
    #[inline]
    pub fn reorders(&self) -> bool {
        match &self.0 {
            Order::Fifo(_) | Order::StrictPriority(_) => false,
            _ => self.peek().needs().reorders,
        }
    }
}
