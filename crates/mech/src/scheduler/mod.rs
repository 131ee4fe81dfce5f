//! The scheduler slot: who leaves next?

mod fifo;
mod srpt;
mod strict_priority;

pub use fifo::Fifo;
pub use srpt::Srpt;
pub use strict_priority::StrictPriority;

use crate::params::{Spec, Values};
use crate::{Env, Interests, PktId, PortView, QueueId};

/// A way to choose the next packet of a port.
pub trait Scheduler: Send + Sync {
    /// The queue and packet that leave next; any packet, not only a queue's first. `None` where
    /// nothing may leave.
    fn next(&mut self, port: &PortView, env: &mut Env) -> Option<(QueueId, PktId)>;
    /// What it wants from the dataplane.
    fn interests(&self) -> Interests {
        Interests { reorder: true, ..Interests::default() }
    }
    /// A copy, with its state.
    fn boxed(&self) -> Box<dyn Scheduler>;
}

/// The mechanisms of this slot.
pub const SPECS: &[&Spec] = &[&fifo::SPEC, &strict_priority::SPEC, &srpt::SPEC];

/// One mechanism, or a caller's own.
pub enum SchedulerSlot {
    /// `fifo`
    Fifo(Fifo),
    /// `strict_priority`
    StrictPriority(StrictPriority),
    /// `srpt`
    Srpt(Srpt),
    /// A mechanism from outside the catalogue.
    Custom(Box<dyn Scheduler>),
}

impl SchedulerSlot {
    /// The mechanism named `kind`; `None` where the catalogue has none of that name.
    pub fn build(kind: &str, _values: &Values) -> Option<SchedulerSlot> {
        Some(match kind {
            "fifo" => SchedulerSlot::Fifo(Fifo),
            "strict_priority" => SchedulerSlot::StrictPriority(StrictPriority),
            "srpt" => SchedulerSlot::Srpt(Srpt),
            _ => return None,
        })
    }
    /// The mechanism.
    #[inline]
    pub fn get(&mut self) -> &mut dyn Scheduler {
        match self {
            SchedulerSlot::Fifo(m) => m,
            SchedulerSlot::StrictPriority(m) => m,
            SchedulerSlot::Srpt(m) => m,
            SchedulerSlot::Custom(m) => &mut **m,
        }
    }
    /// What it wants from the dataplane.
    pub fn interests(&self) -> Interests {
        match self {
            SchedulerSlot::Fifo(m) => m.interests(),
            SchedulerSlot::StrictPriority(m) => m.interests(),
            SchedulerSlot::Srpt(m) => m.interests(),
            SchedulerSlot::Custom(m) => m.interests(),
        }
    }
}

impl Clone for SchedulerSlot {
    fn clone(&self) -> SchedulerSlot {
        match self {
            SchedulerSlot::Fifo(m) => SchedulerSlot::Fifo(m.clone()),
            SchedulerSlot::StrictPriority(m) => SchedulerSlot::StrictPriority(m.clone()),
            SchedulerSlot::Srpt(m) => SchedulerSlot::Srpt(m.clone()),
            SchedulerSlot::Custom(m) => SchedulerSlot::Custom(m.boxed()),
        }
    }
}
