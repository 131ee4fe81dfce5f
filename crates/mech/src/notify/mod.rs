//! Notify slot: sends congestion messages to the sources of flows.
//!
//! An [`crate::Agent`] fills it, a congestion point. It follows [`crate::Account::Arrived`] or
//! [`crate::Account::Entered`], requests [`crate::Act::Emit`], and declares [`crate::Needs::sends_notices`].

mod qcn;

pub use qcn::{PathIndex, Qcn};

use crate::Mechanism;
use crate::params::Spec;

agent_slot! {
    /// Slot `notify` of a port: an agent that sends congestion messages to sources of flows, or none.
    NotifySlot
}

const NONE_SPEC: Spec =
    Spec { slot: "switch.notify", kind: "none", doc: "Notifies no source of congestion.", cite: "", params: &[] };

/// Mechanisms of the slot `notify`.
pub const ALL: &[Mechanism<NotifySlot>] = &[
    Mechanism::new(&NONE_SPEC, |_| NotifySlot::NONE),
    Mechanism::new(&qcn::SPEC, |values| NotifySlot::new(Qcn::new(values))),
];
