//! Rule of a slot that a mechanism broke.

use mech::{PortId, Rule};

/// Rule that a mechanism broke, and its place in the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokenRule {
    /// Slot of the mechanism, as in [`mech::SLOTS`] and [`mech::HOST_SLOTS`].
    pub slot: &'static str,
    /// Port that the mechanism decided about.
    pub port: PortId,
    /// Rule that was broken.
    pub rule: Rule,
}
