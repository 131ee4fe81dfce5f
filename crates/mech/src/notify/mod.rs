//! The notify slot: who is told, by a message upstream?
//!
//! It is filled by an [`crate::Agent`], a congestion point: it follows [`crate::Account::Arrived`] or
//! [`crate::Account::Entered`] and asks for [`crate::Act::Emit`]; it says in [`crate::Needs::notices`] that it does.

mod qcn;

pub use qcn::{PathIndex, Qcn};

use crate::Mechanism;
use crate::params::Spec;

agent_slot! {
    /// Whether sources are told of congestion.
    NotifySlot
}

const NONE: Spec =
    Spec { slot: "switch.notify", kind: "none", doc: "No source is told of congestion.", cite: "", params: &[] };

/// The mechanisms of this slot.
pub const ALL: &[Mechanism<NotifySlot>] = &[
    Mechanism::new(&NONE, |_| NotifySlot::NONE),
    Mechanism::new(&qcn::SPEC, |values| NotifySlot::new(Qcn::new(values))),
];
