//! Catalogue of switch and host mechanisms, such as the overflow mechanisms of a switch; one mechanism a file.
//!
//! A switch has a fixed row of slots, and one mechanism fills each slot. A mechanism decides from a packet's [`Head`],
//! a read-only [`ForwardingContext`] and an [`Env`]. It returns a decision such as [`overflow::Fate`], or appends to
//! [`Acts`]. It never touches bytes, queues or a clock.

#[macro_use]
mod slot;

pub mod ack_hold;
mod actions;
mod agent;
mod alias;
pub mod arbiter;
pub mod buffer;
mod check;
pub mod curve;
mod dscp;
pub mod fabric;
pub mod fib;
mod fill;
mod headroom;
pub mod host;
mod ids;
mod lanes;
pub mod marking;
mod mechanism;
mod needs;
pub mod notify;
pub mod overflow;
mod packet_head;
pub mod params;
pub mod pause;
mod pause_levels;
mod preset;
mod registry;
mod rng;
pub mod routing;
mod rule;
pub mod scheduler;
mod view;
mod watchdog;

#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use actions::{Act, Acts, Env, Notice};
pub use agent::{Account, Agent, AgentContext, AgentSlot, ArrivalDecision};
pub use alias::{ALIASES, Alias};
pub use check::{CheckContext, ParamError, PriorityGroups, Report};
pub use dscp::DscpTable;
pub use fill::Fill;
pub use ids::{ClassSet, FlowId, HostId, PktId, PortId, QueueId, TimerId};
pub use lanes::{Lane, LaneLimit, Lanes};
pub use mechanism::{Mechanism, ParamCondition};
pub use needs::{AdmitCalls, MemorySampling, MemorySide, NO_RANKS_WARNING, Needs, PortThresholds};
pub use packet_head::{Ecn, Flags, Head, PacketKind};
pub use preset::{DcqcnConstants, Preset, PresetValue};
pub use registry::{HOST_SLOTS, PORT_SLOTS, Registry, RegistrySlot, SLOTS};
pub use rng::{Stream, StreamPurpose, hash_mix};
pub use routing::SwitchContext;
pub use rule::Rule;
/// Types of quantities, re-exported for mechanisms of other crates.
pub use units;
pub use view::{ForwardingContext, Occupant, PortView, QueueView, View, search_least_urgent, search_most_urgent};
