//! Reasons for which there is no packet trace.

use super::PacketProperty;
use crate::BuildError;
use crate::identity::PacketId;
use std::fmt::{Display, Formatter};

/// Reason why a packet trace cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceError {
    /// No packet was detoured, bounced, trimmed or held, or no congestion message was sent.
    None(PacketProperty),
    /// The flow does not exist; with the number of flows.
    Flow(PacketId, u32),
    /// The end of the flow sent fewer packets; with their number.
    Packet(PacketId, u32),
    /// The packet is missing, and the run failed; with the failure.
    Failed(Box<TraceError>, String),
    /// The run cannot be built, which is a fault of the program.
    Build(BuildError),
}

impl Display for TraceError {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (found, why) = match self {
            TraceError::None(PacketProperty::Detoured) => {
                ("most_detoured".into(), "a run that detours packets, because this run detoured none".into())
            }
            TraceError::None(PacketProperty::Bounced) => {
                ("most_bounced".into(), "a run that bounces packets, because this run bounced none".into())
            }
            TraceError::None(PacketProperty::Trimmed) => {
                ("first_trimmed".into(), "a run that trims packets, because this run trimmed none".into())
            }
            TraceError::None(PacketProperty::Held) => {
                ("first_held".into(), "a run that holds ACKs, because this run held none".into())
            }
            TraceError::None(PacketProperty::Notice) => {
                ("first_cnm".into(), "a run with congestion notification messages, because this run had none".into())
            }
            TraceError::Flow(id, 0) => (describe_packet(id), "a run with flows, because this run had none".to_string()),
            TraceError::Flow(id, flows) => (describe_packet(id), format!("a flow from 0 to {}", flows - 1)),
            TraceError::Packet(id, sent) => (describe_packet(id), describe_packet_range(id, *sent)),
            TraceError::Failed(why, how) => return write!(f, "{why}; the run failed: {how}"),
            TraceError::Build(error) => return error.fmt(f),
        };
        write!(f, "packet: found {found}; expected {why}")
    }
}

fn describe_packet(id: &PacketId) -> String {
    let reverse = if id.is_reverse() { ",reverse" } else { "" };
    format!("flow={},n={}{reverse}", id.flow, id.emission)
}

fn describe_packet_range(id: &PacketId, sent: u32) -> String {
    let who = if id.is_reverse() { "receiver" } else { "sender" };
    match sent {
        0 => format!("another flow: the {who} of flow {} sent no packet", id.flow),
        1 => format!("n = 0: the {who} of flow {} sent 1 packet", id.flow),
        _ => format!("n from 0 to {}: the {who} of flow {} sent {sent} packets", sent - 1, id.flow),
    }
}
