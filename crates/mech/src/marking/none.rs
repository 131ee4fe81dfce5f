//! Marking `none`: no packet gets a congestion mark.

use super::Marking;
use crate::params::Spec;
use crate::{Env, Head, PortThresholds, QueueView};

/// Marking mechanism that never marks packets.
#[derive(Clone, Debug)]
pub struct NoMarks;

pub(super) const SPEC: Spec =
    Spec { slot: "switch.marking", kind: "none", doc: "Marks no packets.", cite: "RFC 3168 §5", params: &[] };

impl Marking for NoMarks {
    fn mark(&mut self, _pkt: &Head, _q: &QueueView, _env: &mut Env) -> bool {
        false
    }
    fn fixed_thresholds(&self) -> Option<PortThresholds> {
        Some(PortThresholds::UNLIMITED)
    }
    fn clone_boxed(&self) -> Box<dyn Marking> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::super::MarkingSlot;
    use crate::Registry;
    use crate::params::Values;

    #[test]
    fn marking_none_is_never_called() {
        let mut none = Registry::catalogue().make::<MarkingSlot>("none", &Values::default()).expect("it is there");
        assert!(none.get_if_active().is_none());
    }
}
