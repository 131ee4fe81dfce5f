//! Why there is no packet trace.

use super::Often;
use crate::BuildError;
use crate::identity::PacketId;
use std::fmt::{Display, Formatter};

/// Why there is no packet trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// No packet was detoured, or bounced, or cut, or held, or told of congestion.
    None(Often),
    /// There is no such flow; how many there are.
    Flow(PacketId, u32),
    /// This end of the flow sent fewer packets; how many it did.
    Packet(PacketId, u32),
    /// The same, of a run that failed, and how it did.
    Failed(Box<Missing>, String),
    /// A fault of the program.
    Build(BuildError),
}

impl Display for Missing {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (found, why) = match self {
            Missing::None(Often::Detoured) => {
                ("most_detoured".into(), "a run that detours; none of its packets was".into())
            }
            Missing::None(Often::Bounced) => {
                ("most_bounced".into(), "a run that bounces; none of its packets was".into())
            }
            Missing::None(Often::Trimmed) => {
                ("first_trimmed".into(), "a run that cuts; none of its packets was".into())
            }
            Missing::None(Often::Held) => {
                ("first_held".into(), "a run that holds ACKs; none of its packets was".into())
            }
            Missing::None(Often::Tells) => {
                ("first_cnm".into(), "a run with messages about congestion; none was made".into())
            }
            Missing::Flow(id, 0) => (describe(id), "a run with flows; it has none".to_string()),
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
