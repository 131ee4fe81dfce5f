//! Marking slot: decides whether a packet gets a congestion mark, from the queue that was finally chosen for it.

mod ecn_threshold;
mod none;
mod red;
mod wred;

pub use ecn_threshold::EcnThreshold;
pub use none::NoMarks;
pub use red::Red;
pub(crate) use red::{Params as RedGiven, probability as red_probability, probability_range as red_range};
pub use wred::Wred;

use crate::{CheckContext, ClassSet, Env, Head, Mechanism, Needs, PortThresholds, QueueId, QueueView, Report};

/// Mechanism that sets congestion marks.
///
/// ```
/// use mech::marking::Marking;
/// use mech::{Acts, Env, Head, PortId, StreamPurpose, QueueId, QueueView, Stream};
#[doc = include_str!("../view/one_port.txt")]
///
/// /// Marks packets that arrive at a queue with at least this number of bytes.
/// #[derive(Clone)]
/// struct FromBytes(u64);
///
/// impl Marking for FromBytes {
///     fn mark(&mut self, _pkt: &Head, q: &QueueView, _env: &mut Env) -> bool {
///         q.bytes >= self.0
///     }
///     fn clone_boxed(&self) -> Box<dyn Marking> {
///         Box::new(self.clone())
///     }
/// }
///
/// let pkt = Head { size: 1500, ..Head::default() };
/// let view = OnePort(vec![pkt; 2]);
/// let queue = QueueView::new(&view, PortId(0), QueueId::normal(0));
/// let (mut rng, mut acts) = (Stream::new(1, 0, StreamPurpose::Marking(0, 0)), Acts::default());
/// let mut env = Env { now: units::Time::ZERO, rng: &mut rng, acts: &mut acts };
/// assert!(FromBytes(3000).mark(&pkt, &queue, &mut env));
/// assert!(!FromBytes(3001).mark(&pkt, &queue, &mut env));
/// ```
pub trait Marking: Send + Sync {
    /// Returns true if `pkt`, which is about to enter queue `q`, gets a congestion mark. `q` does not count it yet.
    fn mark(&mut self, pkt: &Head, q: &QueueView, env: &mut Env) -> bool;
    /// Returns true if a packet due for a mark is dropped when it is not ECN-capable (RFC 3168 §7).
    fn drops_not_ect(&self) -> bool {
        false
    }
    /// Returns the queues of each setting that applies to some queues only.
    fn queue_profiles(&self) -> Vec<ClassSet> {
        Vec::new()
    }
    /// Returns true if an ECN-capable packet of this queue that is due for a mark gets it. Otherwise it is dropped.
    fn marks_queue(&self, _queue: QueueId) -> bool {
        true
    }
    /// Handles a queue that has just become empty, so that average queue lengths start to decay.
    fn on_queue_empty(&mut self, _env: &mut Env) {}
    /// Returns the fixed thresholds of a port's backlog, if packets are marked from these on and for no other reason.
    /// Departures may then be computed at arrival.
    fn fixed_thresholds(&self) -> Option<PortThresholds> {
        None
    }
    /// Returns the backlog of a port below which the mechanism never marks; `None` if it is unknown.
    fn never_marks_below(&self) -> Option<PortThresholds> {
        self.fixed_thresholds()
    }
    /// Returns the features that the mechanism requires, such as `reads_packets` to read single packets.
    fn needs(&self) -> Needs {
        Needs::default()
    }
    /// Reports conflicts between the marking mechanism's parameters, or of these with the rest of the switch.
    fn check(&self, _beside: &CheckContext, _report: &mut Report) {}
    /// Returns a boxed copy of the marking mechanism, with its state.
    fn clone_boxed(&self) -> Box<dyn Marking>;
}

/// Mechanisms of the slot `marking`.
pub const ALL: &[Mechanism<MarkingSlot>] = &[
    Mechanism::new(&none::SPEC, |_| MarkingSlot::none()).allowed_at_nic(),
    Mechanism::new(&ecn_threshold::SPEC, |values| EcnThreshold::new(values).into()).allowed_at_nic(),
    Mechanism::new(&red::SPEC, |values| Red::new(values).into()).allowed_at_nic(),
    Mechanism::new(&wred::SPEC, |values| Wred::new(values).into()),
];

slot! {
    /// Slot `marking` of a port: decides which packets get a congestion mark.
    MarkingSlot(Marker) of Marking {
        None(NoMarks),
        EcnThreshold(EcnThreshold),
        Red(Red),
        Wred(Wred),
    }
}

impl MarkingSlot {
    /// Creates a marking slot that never marks packets.
    pub fn none() -> MarkingSlot {
        NoMarks.into()
    }
    /// Returns the marking mechanism of the slot; `None` if it never marks.
    #[inline]
    pub fn get_if_active(&mut self) -> Option<&mut dyn Marking> {
        match self.0 {
            Marker::None(_) => None,
            _ => Some(self.get()),
        }
    }
}
