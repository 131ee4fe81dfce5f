//! Host parts of mechanisms: actions of a host that the switch part requires, such as reactions to congestion messages.
//! The host part of a mechanism has the same file name as its switch part.

mod bounce;
mod dcqcn;
mod fixed_point;
mod limiter;
mod nic;
mod qcn;
mod reaction;

pub use bounce::{ALL, BounceSignal, Reinject, ReturnedFrames, WindowCut};
pub use limiter::RateLimiter;
pub use nic::{ALL as NIC_ORDERS, FlowQueues, NicOrder};
pub use reaction::{FlowAtNic, Reaction, ReactionHost, ReactionSlot};

use crate::Mechanism;

/// Mechanisms of the slot `reaction` of hosts.
pub const REACTIONS: &[Mechanism<ReactionSlot>] = &[
    Mechanism::new(&reaction::NONE_SPEC, |_| ReactionSlot::NONE),
    Mechanism::new(&qcn::SPEC, qcn::Qcn::slot),
    Mechanism::new(&dcqcn::SPEC, dcqcn::Dcqcn::slot),
];
