//! Scheduler slot: chooses the next packet to leave a port.

mod fifo;
mod rate_limits;
mod round_robin;
mod srpt;
mod strict_priority;

pub use fifo::Fifo;
pub use rate_limits::RateLimits;
pub use round_robin::RoundRobin;
pub use srpt::Srpt;
pub use strict_priority::StrictPriority;

use crate::{CheckContext, ClassSet, Env, Mechanism, Needs, PktId, PortView, QueueId, Report};

/// Name of a scheduler setting, and the classes to which it applies.
pub type ClassSetting = (&'static str, ClassSet);

/// Mechanism that chooses the next packet to leave a port.
///
/// ```
/// use mech::scheduler::Scheduler;
/// use mech::{Acts, Env, Head, PktId, PortId, PortView, StreamPurpose, QueueId, Stream};
#[doc = include_str!("../view/one_port.txt")]
///
/// /// Serves the queue with the most bytes first.
/// #[derive(Clone)]
/// struct LongestQueue;
///
/// impl Scheduler for LongestQueue {
///     fn next_packet(&mut self, port: &PortView, _env: &mut Env) -> Option<(QueueId, PktId)> {
///         let bytes = |queue: &QueueId| port.view.backlog(port.port, *queue).1;
///         let queue = QueueId::iter_set(port.eligible).max_by_key(bytes)?;
///         port.view.first_packet(port.port, queue).map(|(pkt, _)| (queue, pkt))
///     }
///     fn keeps_queue_order(&self) -> bool {
///         false // the order depends on queue lengths, too
///     }
///     fn clone_boxed(&self) -> Box<dyn Scheduler> {
///         Box::new(self.clone())
///     }
/// }
///
/// let (mut urgent, bulk) = (Head { size: 64, ..Head::default() }, Head { size: 1500, ..Head::default() });
/// urgent.set_class(1);
/// let view = OnePort(vec![urgent, bulk]);
/// let eligible = QueueId::normal(0).bit() | QueueId::normal(1).bit();
/// let (mut rng, mut acts) = (Stream::new(1, 0, StreamPurpose::Custom(0)), Acts::default());
/// let mut env = Env { now: units::Time::ZERO, rng: &mut rng, acts: &mut acts };
/// let next = LongestQueue.next_packet(&PortView { view: &view, port: PortId(0), eligible }, &mut env);
/// assert_eq!(next, Some((QueueId::normal(0), PktId(1))));
/// ```
pub trait Scheduler: Send + Sync {
    /// Returns the queue and packet to leave next, or `None` if nothing may leave.
    /// The packet need not be the first of its queue.
    fn next_packet(&mut self, port: &PortView, env: &mut Env) -> Option<(QueueId, PktId)>;
    /// Returns the features that the scheduler requires of its port.
    fn needs(&self) -> Needs {
        Needs { reorders: true, ..Needs::default() }
    }
    /// Returns true if the order depends on classes and lanes alone: packets of one queue leave first in, first out.
    fn keeps_queue_order(&self) -> bool {
        false
    }
    /// Sets the bytes that a frame takes on the link beside its own: preamble and gap.
    fn set_gap(&mut self, _gap: u16) {}
    /// Returns the settings that apply to some classes only, such as weights, each with its classes.
    fn class_settings(&self) -> Vec<ClassSetting> {
        Vec::new()
    }
    /// Returns the maximum rates of classes, which the port enforces; `None` if no class has one.
    /// A class that has reached its maximum rate is not eligible.
    fn rate_limits(&self) -> Option<&RateLimits> {
        None
    }
    /// Reports conflicts between parameters of the scheduler.
    fn check(&self, _beside: &CheckContext, _report: &mut Report) {}
    /// Returns a boxed copy of the scheduler, with its state.
    fn clone_boxed(&self) -> Box<dyn Scheduler>;
}

/// Mechanisms of the slot `scheduler`.
pub const ALL: &[Mechanism<SchedulerSlot>] = &[
    Mechanism::new(&fifo::SPEC, |_| Fifo.into()),
    Mechanism::new(&strict_priority::SPEC, |values| StrictPriority::new(values).into()).allowed_at_nic(),
    Mechanism::new(&srpt::SPEC, |_| Srpt.into()).allowed_at_nic(),
    Mechanism::new(&round_robin::SPEC, |values| RoundRobin::new(values).into()),
];

slot! {
    /// Slot `scheduler` of a port: chooses the next packet to leave.
    SchedulerSlot(Order) of Scheduler {
        Fifo(Fifo),
        StrictPriority(StrictPriority),
        Srpt(Srpt),
        RoundRobin(RoundRobin),
    }
}

impl SchedulerSlot {
    /// Returns true if the scheduler does not always send the oldest packet of a queue.
    #[inline]
    pub fn reorders(&self) -> bool {
        match &self.0 {
            Order::Fifo(_) | Order::StrictPriority(_) | Order::RoundRobin(_) => false,
            _ => self.peek().needs().reorders,
        }
    }
}
