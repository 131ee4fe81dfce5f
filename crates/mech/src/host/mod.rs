//! Host halves of mechanisms: actions of a host that the switch's half requires. The host half of a mechanism has the
//! same file name as its switch half.

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

/// Mechanisms of the slot `reaction` of hosts.
pub const REACTIONS: &[Mechanism<ReactionSlot>] = &[
    Mechanism::new(&reaction::NONE, |_| ReactionSlot::NONE),
    Mechanism::new(&qcn::SPEC, qcn::Qcn::slot),
    Mechanism::new(&dcqcn::SPEC, dcqcn::Dcqcn::slot),
];
