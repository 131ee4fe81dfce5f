//! Packets, queues, ports, switches, hosts and transports, without a clock or a socket.
//!
//! A driver calls a node for arrivals, ends of transmission and timers. Through [`Out`] the node sends frames and
//! requests wake-ups; an [`Observer`] records what happens. A node changes only its own state, so the same code can run
//! under the simulator or on real frames.

mod accounts;
mod arena;
mod body;
mod broken_rule;
mod control;
mod core;
mod cut_stage;
mod end_table;
mod ext;
mod flow_queues;
mod flows;
mod host;
mod inputs;
mod lossless_violation;
mod observer;
mod out;
mod packet;
mod packet_store;
mod payload;
mod pool_accounts;
mod port;
mod rank_index;
mod raw;
mod sampled_memories;
mod stack;
mod switch;
pub mod transport;

pub use crate::core::{Core, CoreSetup, DeadPortPolicy, PauseSetup, PauseStorm, PortSetup, ReceivedPauses, SentPauses};
pub use body::{CNM_UNIT, NoticeSetup, PacketBody, Segment};
pub use broken_rule::BrokenRule;
pub use control::PauseFrame;
pub use ext::{ExtensionSlab, MAX_BLOCKS, PacketExtension, SynOptions, Timestamps};
pub use flows::{FlowTable, Message, NewFlow};
pub use host::{FLOW_START, Host, HostPauses, HostSetup, HostStep, MESSAGE_START, PauseCause, PausePeriod};
pub use inputs::{InputSetup, StagesSetup, StuckBytes};
pub use lossless_violation::{LosslessGroup, LosslessViolation, OversizedFrame};
pub use observer::{Departure, DequeuedFrame, EnqueuedFrame, EventLocation, ObservedEvents, Observer};
pub use out::{Out, Outcome};
pub use packet::{Framing, NO_EXT, Pkt};
pub use packet_store::Fib;
pub use payload::PayloadCounts;
pub use pool_accounts::GroupLosses;
pub use port::{Port, PortCounts};
pub use raw::RawSetup;
pub use switch::{Routes, Switch, SwitchSetup, SwitchStep};
