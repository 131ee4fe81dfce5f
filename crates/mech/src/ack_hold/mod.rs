//! The ack_hold slot, before lookup: are ACKs from this port's device held back?
//!
//! It is filled by an [`crate::Agent`] that follows [`crate::Account::Output`] of the port whose device sends the
//! ACKs, holds them by [`crate::Pass::Hold`] and releases them by [`crate::Act::ReleaseHeld`].

mod abq;

pub use abq::Abq;

use crate::Mechanism;
use crate::params::Spec;

agent_slot! {
    /// Whether ACKs are held back.
    AckHoldSlot
}

const NONE: Spec = Spec { slot: "switch.ack_hold", kind: "none", doc: "No ACK is held.", cite: "", params: &[] };

/// The mechanisms of this slot.
pub const ALL: &[Mechanism<AckHoldSlot>] = &[
    Mechanism::new(&NONE, |_| AckHoldSlot::NONE),
    Mechanism::new(&abq::SPEC, |values| AckHoldSlot::new(Abq::new(values))).only(abq::ONLY),
];
