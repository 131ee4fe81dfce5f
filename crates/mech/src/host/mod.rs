//! Host halves of mechanisms: what a host must do so that the switch's half works. A mechanism's
//! host half stands under the same stem as its switch half.

mod bounce;
mod dcqcn;
mod limiter;
mod nic;
mod qcn;
mod reaction;
mod shares;

pub use bounce::{ALL, BounceSignal, Reinject, Returned, WindowCut};
pub use limiter::RateLimiter;
pub use nic::{ALL as NIC_ORDERS, FlowOrder, NicOrder};
pub use reaction::{FlowAtNic, Reaction, ReactionHost, ReactionSlot};

use crate::Mechanism;

/// What fills the slot `reaction` of hosts.
pub const REACTIONS: &[Mechanism<ReactionSlot>] = &[
    Mechanism::new(&reaction::NONE, |_| ReactionSlot::NONE),
    Mechanism::new(&qcn::SPEC, qcn::Qcn::slot),
    Mechanism::new(&dcqcn::SPEC, dcqcn::Dcqcn::slot),
];
