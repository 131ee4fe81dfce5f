//! The catalogue: what a switch may do when its buffer overflows, one mechanism a file.
//!
//! A switch is a row of slots; each slot asks one question and each mechanism answers one. A
//! mechanism sees a packet's [`Head`], a read-only [`ForwardingContext`], and an [`Env`]; it returns a fate or
//! appends to [`Acts`]. It never touches bytes, queues or a clock.

#[macro_use]
mod slot;

pub mod ack_hold;
mod act;
pub mod buffer;
pub mod curve;
pub mod fib;
mod fill;
mod head;
pub mod host;
mod ids;
mod lanes;
pub mod marking;
mod needs;
pub mod notify;
pub mod overflow;
pub mod params;
pub mod pause;
mod place;
mod rng;
pub mod routing;
pub mod scheduler;
mod watch;

#[cfg(test)]
mod testing;

pub use act::{Act, Acts, Env, Notice};
pub use fill::Fill;
pub use head::{Ecn, Flags, Head, PacketKind};
pub use ids::{ClassSet, FlowId, HostId, PktId, PortId, QueueId, TimerId};
pub use lanes::{Lane, LaneLimit, Lanes};
pub use needs::{Asks, Needs, Room};
pub use place::{ForwardingContext, PortView, QueueView, View};
pub use rng::{Purpose, Stream, hash_mix};
pub use routing::SwitchContext;
pub use watch::{Change, Interests, Watch};

/// Every mechanism that a scenario may name, slot by slot, in the order of the slots.
pub fn catalogue() -> Vec<&'static params::Spec> {
    let slots: [&[&'static params::Spec]; 8] = [
        fib::SPECS,
        routing::SPECS,
        buffer::SPECS,
        overflow::SPECS,
        marking::SPECS,
        pause::SPECS,
        scheduler::SPECS,
        host::SPECS,
    ];
    slots.concat()
}
