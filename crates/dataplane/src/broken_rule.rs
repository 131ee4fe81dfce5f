//! Report of a rule that a mechanism broke, which ends the run with an error.

use mech::{PortId, Rule};

/// Rule that a mechanism broke, with its slot and the port that it decided about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokenRule {
    /// Name of the slot that the mechanism fills, as in [`mech::SLOTS`] and [`mech::HOST_SLOTS`].
    pub slot: &'static str,
    /// Port that the mechanism decided about.
    pub port: PortId,
    /// Rule that the mechanism broke.
    pub rule: Rule,
}
