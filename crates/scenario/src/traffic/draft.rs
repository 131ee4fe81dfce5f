//! Flows before they are assigned to their workload.

use super::{FlowRole, FlowSpec, OWN_CONNECTION};
use mech::HostId;
use units::Time;

/// Flow before it gets a start time, and the number and class of its workload.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowDraft {
    pub src: HostId,
    pub dst: HostId,
    pub bytes: u64,
    pub query: u32,
    pub role: FlowRole,
    pub tag: u64,
    pub connection: u32,
}

impl FlowDraft {
    /// Creates a flow on a connection of its own; `query` is `u32::MAX` without queries.
    pub fn on_own_connection(src: HostId, dst: HostId, bytes: u64, query: u32) -> FlowDraft {
        FlowDraft { src, dst, bytes, query, role: FlowRole::Data, tag: 0, connection: OWN_CONNECTION }
    }
    /// Completes a flow with its start time, and the number and class of its workload.
    pub fn into_flow(self, start: Time, traffic: u16, class: u8) -> FlowSpec {
        let FlowDraft { src, dst, bytes, query, role, tag, connection } = self;
        FlowSpec { start, src, dst, bytes, traffic, query, class, role, tag, connection }
    }
}
