//! ACK holding slot, before lookup: holds back ACKs from the device behind the port.
//!
//! An [`crate::Agent`] fills it. The agent follows [`crate::Account::Output`] of the port whose device sends the ACKs,
//! holds them by [`crate::ArrivalDecision::Hold`], and releases them by [`crate::Act::ReleaseHeld`].

mod abq;

pub use abq::Abq;

use crate::Mechanism;
use crate::params::Spec;

agent_slot! {
    /// Slot `ack_hold` of a port: an agent that holds ACKs, or none.
    AckHoldSlot
}

const NONE_SPEC: Spec = Spec { slot: "switch.ack_hold", kind: "none", doc: "Holds no ACKs.", cite: "", params: &[] };

/// Mechanisms of the slot `ack_hold`.
pub const ALL: &[Mechanism<AckHoldSlot>] = &[
    Mechanism::new(&NONE_SPEC, |_| AckHoldSlot::NONE),
    Mechanism::new(&abq::SPEC, |values| AckHoldSlot::new(Abq::new(values))).with_conditions(abq::PARAM_CONDITIONS),
];
