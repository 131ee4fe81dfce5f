//! The marking slot, asked of the queue finally chosen: a congestion mark?

mod ecn_threshold;
mod none;
mod red;

pub use ecn_threshold::EcnThreshold;
pub use red::Red;
pub(crate) use red::{probability as red_probability, range as red_range};

use crate::params::{Spec, Values};
use crate::{Env, Head, Interests, QueueView};

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
    /// What it wants from the dataplane.
    fn interests(&self) -> Interests {
        Interests::default()
    }
    /// A copy, with its state.
    fn boxed(&self) -> Box<dyn Marking>;
}

/// The mechanisms of this slot.
pub const SPECS: &[&Spec] = &[&none::SPEC, &ecn_threshold::SPEC, &red::SPEC];

/// One mechanism, or a caller's own.
pub enum MarkingSlot {
    /// `none`
    None,
    /// `ecn_threshold`
    EcnThreshold(EcnThreshold),
    /// `red`
    Red(Box<Red>),
    /// A mechanism from outside the catalogue.
    Custom(Box<dyn Marking>),
}

impl MarkingSlot {
    /// The mechanism named `kind`; `None` where the catalogue has none of that name.
    pub fn build(kind: &str, values: &Values) -> Option<MarkingSlot> {
        Some(match kind {
            "none" => MarkingSlot::None,
            "ecn_threshold" => MarkingSlot::EcnThreshold(EcnThreshold::new(values)),
            "red" => MarkingSlot::Red(Box::new(Red::new(values))),
            _ => return None,
        })
    }
    /// The mechanism; `None` for `none`.
    #[inline]
    pub fn get(&mut self) -> Option<&mut dyn Marking> {
        match self {
            MarkingSlot::None => None,
            MarkingSlot::EcnThreshold(m) => Some(m),
            MarkingSlot::Red(m) => Some(&mut **m),
            MarkingSlot::Custom(m) => Some(&mut **m),
        }
    }
}

impl Clone for MarkingSlot {
    fn clone(&self) -> MarkingSlot {
        match self {
            MarkingSlot::None => MarkingSlot::None,
            MarkingSlot::EcnThreshold(m) => MarkingSlot::EcnThreshold(m.clone()),
            MarkingSlot::Red(m) => MarkingSlot::Red(m.clone()),
            MarkingSlot::Custom(m) => MarkingSlot::Custom(m.boxed()),
        }
    }
}
