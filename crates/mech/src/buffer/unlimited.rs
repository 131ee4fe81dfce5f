//! Endless memory: the ideal that the papers compare with.

use super::{Buffer, Use};
use crate::Fill;
use crate::params::Spec;
use units::Amount;

/// See the module.
#[derive(Clone, Debug)]
pub struct Unlimited;

pub(super) const SPEC: Spec = Spec {
    slot: "switch.buffer",
    kind: "unlimited",
    doc: "Nothing is ever full; utilisation is 0.",
    cite: "DIBS §5.2",
    params: &[],
};

impl Buffer for Unlimited {
    fn admits(&self, _now: &Use, _size: u16) -> bool {
        true
    }
    fn fill(&self, now: &Use) -> Fill {
        Fill { used: now.packets, limit: None }
    }
    fn budget(&self, _ports: u16) -> Option<Amount> {
        None
    }
    fn boxed(&self) -> Box<dyn Buffer> {
        Box::new(self.clone())
    }
}
