//! Reasons for which there is no packet trace.

use super::Often;
use crate::BuildError;
use crate::identity::PacketId;
use std::fmt::{Display, Formatter};

/// Reason for which there is no packet trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// No packet was detoured, bounced, cut or held, or no congestion message was sent.
    None(Often),
    /// The flow does not exist; with the number of flows.
    Flow(PacketId, u32),
    /// The end of the flow sent fewer packets; with their number.
    Packet(PacketId, u32),
    /// The packet is missing, and the run failed; with the failure.
    Failed(Box<Missing>, String),
    /// The run cannot be built: a fault of the program.
    Build(BuildError),
}

impl Display for Missing {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (found, why) = match self {
            Missing::None(Often::Detoured) => {
                ("most_detoured".into(), "a run that detours packets; none was detoured".into())
            }
            Missing::None(Often::Bounced) => {
                ("most_bounced".into(), "a run that bounces packets; none was bounced".into())
            }
            Missing::None(Often::Trimmed) => ("first_trimmed".into(), "a run that cuts packets; none was cut".into()),
            Missing::None(Often::Held) => ("first_held".into(), "a run that holds ACKs; none was held".into()),
            Missing::None(Often::Tells) => {
                ("first_cnm".into(), "a run with congestion notification messages; none was sent".into())
            }
            Missing::Flow(id, 0) => (describe(id), "a run with flows; there are none".to_string()),
            Missing::Flow(id, flows) => (describe(id), format!("a flow from 0 to {}", flows - 1)),
            Missing::Packet(id, sent) => (describe(id), range(id, *sent)),
            Missing::Failed(why, how) => return write!(f, "{why}; the run failed: {how}"),
            Missing::Build(error) => return error.fmt(f),
        };
        write!(f, "packet: found {found}; expected {why}")
    }
}

fn describe(id: &PacketId) -> String {
    let reverse = if id.is_reverse() { ",reverse" } else { "" };
    format!("flow={},n={}{reverse}", id.flow, id.emission)
}

fn range(id: &PacketId, sent: u32) -> String {
    let who = if id.is_reverse() { "receiver" } else { "sender" };
    match sent {
        0 => format!("another flow: the {who} of flow {} sent no packet", id.flow),
        1 => format!("n = 0: the {who} of flow {} sent 1 packet", id.flow),
        _ => format!("n from 0 to {}: the {who} of flow {} sent {sent} packets", sent - 1, id.flow),
    }
}
