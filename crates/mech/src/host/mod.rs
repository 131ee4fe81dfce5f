//! Host halves of mechanisms: what a host must do so that the switch's half works. A mechanism's
//! host half stands under the same stem as its switch half.

mod bounce;
mod limiter;
mod nic;
mod qcn;
mod reaction;

pub use bounce::{ALL, BounceSignal, Reinject, Returned, WindowCut};
pub use limiter::RateLimiter;
pub use nic::{ALL as NIC_ORDERS, FlowOrder, NicOrder};
pub use reaction::{ALL as REACTIONS, FlowAtNic, Reaction, ReactionHost, ReactionSlot};
