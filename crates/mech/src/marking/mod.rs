//! The marking slot, asked of the queue finally chosen: a congestion mark?

mod ecn_threshold;
mod none;
mod red;

pub use ecn_threshold::EcnThreshold;
pub use none::NoMarks;
pub use red::Red;
pub(crate) use red::{Given as RedGiven, probability as red_probability, range as red_range};

use crate::{Beside, Env, Head, Mechanism, Needs, QueueView, Report, Room};

/// A way to mark.
pub trait Marking: Send + Sync {
    /// Whether `pkt`, about to enter `q` (seen without it), gets a congestion mark.
    fn mark(&mut self, pkt: &Head, q: &QueueView, env: &mut Env) -> bool;
    /// Whether a packet that is due a mark and not ECN-capable is dropped (RFC 3168 §7).
    fn drops_not_ect(&self) -> bool {
        false
    }
    /// The queue has just run empty: averages start to decay.
    fn idle(&mut self, _env: &mut Env) {}
    /// Where it compares what waits at a port with fixed thresholds and marks from there on: these.
    /// Departures may then be computed.
    fn plain(&self) -> Option<Room> {
        None
    }
    /// As long as less waits at a port than this, it marks nothing; `None` where that is not known.
    fn begins(&self) -> Option<Room> {
        self.plain()
    }
    /// Needs of the mechanism: `visits` to look at single packets.
    fn needs(&self) -> Needs {
        Needs::default()
    }
    /// What is wrong with it.
    fn check(&self, _beside: &Beside, _report: &mut Report) {}
    /// A copy, with its state.
    fn boxed(&self) -> Box<dyn Marking>;
}

/// The mechanisms of this slot.
pub const ALL: &[Mechanism<MarkingSlot>] = &[
    Mechanism::new(&none::SPEC, |_| MarkingSlot::none()).at_nic(),
    Mechanism::new(&ecn_threshold::SPEC, |values| EcnThreshold::new(values).into()).at_nic(),
    Mechanism::new(&red::SPEC, |values| Red::new(values).into()).at_nic(),
];

slot! {
    /// How a port marks.
    MarkingSlot(Marker) of Marking {
        None(NoMarks),
        EcnThreshold(EcnThreshold),
        Red(Red),
    }
}

impl MarkingSlot {
    /// Nothing is marked.
    pub fn none() -> MarkingSlot {
        NoMarks.into()
    }
    /// The mechanism, unless it never marks.
    #[inline]
    pub fn active(&mut self) -> Option<&mut dyn Marking> {
        match self.0 {
            Marker::None(_) => None,
            _ => Some(self.get()),
        }
    }
}
